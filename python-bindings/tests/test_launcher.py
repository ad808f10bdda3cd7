# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on GPUs, without one: a driver that records them stands in."""

import struct

import fake_gpu
import numpy as np
import pytest
from fake_gpu import (DEVICE_MEMORY, FLOAT16, INT64, CudaArray, DLPackArray, NewerTensor,
                      PointerArray, Tensor)
from launching import gpu  # noqa: F401, a fixture
from launching import (Color, fast_launches, fresh, functions_of, helper, last_launch, launched,
                       twice)

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled


# What is passed ---------------------------------------------------------------------------


def test_parameters_grid_and_stream(gpu):
    gpu.fake_set_stream(0, 0x1234)
    x, y = Tensor(256), Tensor(512)
    launch = twice(fresh(), (7, 5), x, y, 6, -2**40, 0.5)
    assert launch.grid == (7, 5, 1) and launch.block == (128, 1, 1) and launch.stream == 0x1234
    assert launch.parameters == struct.pack("<QQiqf", DEVICE_MEMORY + 256, DEVICE_MEMORY + 512, 6,
                                            -2**40, 0.5)


@tile.jit
def _kinds(a, flag, small: tl.int8, half: tl.float16, brain: tl.bfloat16, wide: tl.float64, n: tl.uint32):
    pass


def test_every_kind_of_parameter():
    launch = twice(_kinds, (1, ), Tensor(), True, -3, 1.5, -2.0, 0.1, 2**32 - 1)
    assert launch.parameters == struct.pack("<Q?beHdI", DEVICE_MEMORY, True, -3, 1.5, 0xc000, 0.1,
                                            2**32 - 1)
    launch = twice(_kinds, (1, ), Tensor(), False, 1, float("inf"), 1e39, float("nan"), 16)
    assert launch.parameters[:14] == struct.pack("<Q?beH", DEVICE_MEMORY, False, 1, float("inf"), 0x7f80)


def test_integers_for_parameters_of_floating_point():
    kernel = tile.jit(_kinds.fn)
    launch = twice(kernel, (1, ), Tensor(), True, 2, 1, 16, 2**53 + 1, 5)
    assert launch.parameters == struct.pack("<Q?beHdI", DEVICE_MEMORY, True, 2, 1.0, 0x4180,
                                            float(2**53 + 1), 5)
    # One kernel for all, and the one of the floats.
    for value in (0, 1, -1, 16, 3.5, -0.0):
        assert launched(lambda: kernel[(1, )](Tensor(), True, 2, 1.0, 2, value, 5)).parameters == struct.pack(
            "<Q?beHdI", DEVICE_MEMORY, True, 2, 1.0, 0x4000, value, 5)
    assert len(kernel.device_caches[0][0]) == 1
    # Only Python has larger ones.
    assert launched(lambda: kernel[(1, )](Tensor(), True, 2, 1, 2, 2**70, 5)).parameters == struct.pack(
        "<Q?beHdI", DEVICE_MEMORY, True, 2, 1.0, 0x4000, 2.0**70, 5)


@pytest.mark.parametrize("value", [1e300, -1e300, float("inf"), 1e-46, 1 + 2.0**-24, 16777217.0, -0.0])
def test_floats_are_rounded_to_nearest(value):
    launch = twice(fresh(), (1, ), Tensor(), Tensor(), 2, 2, value)
    with np.errstate(over="ignore"):
        assert launch.parameters[-4:] == np.float32(value).tobytes()


def test_byte_offset_of_arrays():
    assert twice(fresh(), (1, ), Tensor(16, byte_offset=4), None, 2, 2).parameters.startswith(
        struct.pack("<Q", DEVICE_MEMORY + 20))


@pytest.mark.parametrize("make", [Tensor, NewerTensor, PointerArray, CudaArray])
def test_kinds_of_arrays(make):
    kernel = fresh()
    a, b = twice(kernel, (1, ), make(0), make(64), 2, 2), twice(kernel, (1, ), make(4), make(64), 2, 2)
    assert a.parameters[:8] == struct.pack("<Q", DEVICE_MEMORY)
    # Another alignment is another kernel.
    assert a.function != b.function
    assert twice(kernel, (1, ), make(32), make(96), 2, 2).function == a.function
    assert len(kernel.device_caches[0][0]) == 2


def test_one_kernel_for_all_kinds_of_arrays():
    kernel = fresh()
    for array in (Tensor(), NewerTensor(), PointerArray(), PointerArray(dtype=tl.float32), CudaArray(),
                  DLPackArray(), tile.reinterpret(Tensor(dtype=INT64), tl.float32)):
        kernel[(1, )](array, array, 2, 2)
    assert len(kernel.device_caches[0][0]) == 1
    kernel[(1, )](Tensor(dtype=FLOAT16), Tensor(), 2, 2)
    assert len(kernel.device_caches[0][0]) == 2


@tile.jit
def _takes_tuples(pair, desc, n):
    pass


def test_tuples_and_descriptors():
    def descriptor(offset, rows, block=(16, 32), padding="zero", dtype=FLOAT16):
        return TensorDescriptor(Tensor(offset, dtype), (rows, 64), (72, 1), block, padding)

    args = (Tensor(4), (3, 1, None)), descriptor(32, 100), 5
    launch = twice(_takes_tuples, (1, ), *args)
    assert launch.parameters == struct.pack("<QiQiiqi", DEVICE_MEMORY + 4, 3, DEVICE_MEMORY + 32, 100,
                                            64, 72, 5)
    same = twice(_takes_tuples, (1, ), (Tensor(8), (7, 1, None)), descriptor(64, 1), 7)
    assert same.function == launch.function
    others = [((Tensor(4), (3, 2, None)), args[1], 5), ((Tensor(4), (3, 1)), args[1], 5),
              (args[0], args[0], 5), (args[0], descriptor(32, 100, (32, 16)), 5),
              (args[0], descriptor(32, 100, padding="nan"), 5),
              (args[0], descriptor(32, 100, dtype=fake_gpu.FLOAT32), 5)]
    assert len({launch.function, *(twice(_takes_tuples, (1, ), *a).function for a in others)}) == 7


def test_a_kernel_without_arrays_runs_on_the_gpu():
    kernel = tile.jit(_writes_nothing)
    assert launched(lambda: kernel[(2, )](5)).grid == (2, 1, 1)
    assert kernel.warmup(5, grid=(1, )) is kernel[(1, )](6)


def _writes_nothing(n):
    pass


def _has_names_of_run(a, grid, warmup: tl.constexpr = 1):
    tl.store(a, grid + warmup)


def test_parameters_with_names_of_runs_keywords():
    kernel = tile.jit(_has_names_of_run)
    expected = twice(kernel, (3, ), Tensor(), 6, 2)
    other = tile.jit(_has_names_of_run)
    for _ in range(2):
        assert launched(lambda: other[(3, )](Tensor(), grid=6, warmup=2)).grid == (3, 1, 1)
    assert fast_launches(other) == 1 and last_launch().parameters == expected.parameters
    assert expected.grid == (3, 1, 1)
    # A stream is none of them, unless the kernel has it as a parameter.
    assert launched(lambda: other[(3, )](Tensor(), grid=6, warmup=2, stream=0x77)).stream == 0x77
    assert launched(lambda: tile.jit(_has_a_stream)[(3, )](Tensor(), stream=None)).stream == 0


def _has_a_stream(a, stream):
    pass


# What selects a kernel --------------------------------------------------------------------


@pytest.mark.parametrize("same, values", [
    (False, [1, True, 1.0, 2]), (False, [15, 16]), (True, [16, 32, -48, 0]), (True, [15, 17, -1]),
    (False, [2**31 - 1, 2**31]), (True, [2**31 + 1, 2**62 + 1]), (False, [2**31, 2**31 + 1]),
    (False, [-2**31, -2**31 - 16]), (False, [None, 0, False, 0.0]), (True, [0.0, 1.0, float("nan")])])
def test_values_of_numbers(same, values):
    functions = functions_of(fresh(), 2, values)
    assert len(set(functions)) == (1 if same else len(values))


def test_do_not_specialize():
    assert len(set(functions_of(fresh(do_not_specialize=["n"]), 2, [1, 15, 16]))) == 1
    unaligned = fresh(do_not_specialize_on_alignment=["n"])
    assert [len(set(functions_of(unaligned, 2, v))) for v in ([15, 16], [1, 2])] == [1, 2]
    assert len(set(functions_of(fresh(do_not_specialize=[0]), 0, [Tensor(4), Tensor(16)]))) == 1


@pytest.mark.parametrize(
    "values",
    [[1, True, 1.0, 2, None, False], [0.0, -0.0, 0, False], ["a", "b",
                                                      ("a", )], [(1, 2), (1, True), (1, 2, 3),
                                                                 ((1, 2), )], [tl.float32, tl.float16],
     [helper, functions_of], [Color.RED, Color.GREEN], [2**40, 2**40 + 1]])
def test_constexprs_are_kept_apart(values):
    assert len(set(functions_of(fresh(), 5, values, [Tensor(), Tensor(), 2, 2, 2.0, 0]))) == len(values)


@pytest.mark.parametrize("left, right", [("ab", "".join(["a", "b"])),
                                         ((1, "ab"), tuple([1, "".join(["a", "b"])])),
                                         (float("nan"), -float("nan")), (tl.float32, tl.dtype("fp32"))])
def test_equal_constexprs(left, right):
    assert len(set(functions_of(fresh(), 5, [left, right], [Tensor(), Tensor(), 2, 2, 2.0, 0]))) == 1


def test_constexpr_that_may_change():
    """A list is compared by its contents at each launch."""
    kernel, values = fresh(), [1, 2]
    launches = []
    for _ in range(2):
        kernel[(1, )](Tensor(), Tensor(), 2, 2, BLOCK=values)
        kernel[(1, )](Tensor(), Tensor(), 2, 2, BLOCK=values)
        launches.append(last_launch().function)
        values.append(3)
    assert launches[0] != launches[1] and fast_launches(kernel) == 0


def test_programmatic_launches():
    """A launch with `launch_pdl` tells the driver so, by the slow path and by the fast one; code for
    chips that have no such launch is launched as usual."""
    kernel, x, y = fresh(), Tensor(0), Tensor(16)
    plain = twice(kernel, (2, 3), x, y, 3, 5, 2.0, 64)
    launch = twice(kernel, (2, 3), x, y, 3, 5, 2.0, 64, launch_pdl=True)
    assert (plain.programmatic, launch.programmatic) == (0, 1)
    assert (launch.grid, launch.block, launch.parameters) == ((2, 3, 1), (128, 1, 1), plain.parameters)
    assert launch.function != plain.function and len(kernel.device_caches[0][0]) == 2
    assert twice(kernel, (2, 3), x, y, 3, 5, 2.0, 64, launch_pdl=False).same_as(plain)
    code = kernel.warmup(x, y, 3, 5, launch_pdl=True)
    assert code.metadata.launch_pdl and code.asm["ptx"].count("griddepcontrol") == 2


def test_keywords_defaults_and_options():
    kernel, x, y = fresh(), Tensor(0), Tensor(16)
    expected = twice(kernel, (1, ), x, y, 3, 5, 2.0, 64)
    assert twice(kernel, (1, ), x, y, m=5, n=3).same_as(expected)
    assert twice(kernel, (1, ), BLOCK=64, b=y, n=3, a=x, m=5).same_as(expected)
    assert twice(kernel, (1, ), x, y, 3, 5, num_warps=4, sanitize_overflow=False).same_as(expected)
    # A tuple of keywords that is made anew each time.
    assert twice(kernel, (1, ), x, **dict(zip(["b", "n", "m"], [y, 3, 5]))).same_as(expected)
    assert len(kernel.device_caches[0][0]) == 1
    assert twice(kernel, (1, ), x, y, 3, 5, num_warps=8).block == (256, 1, 1)
    assert twice(kernel, (1, ), x, y, 3, 5, num_warps=8, num_stages=2).block == (256, 1, 1)
    assert len(kernel.device_caches[0][0]) == 3


@pytest.mark.parametrize("args, kwargs, error", [
    ((), {}, "is missing the argument 'a'"), ((1, 2, 3, 4, 5, 6, 7), {}, "takes 6 arguments, got 7"),
    ((1, 2, 3, 4), {"n": 1}, "several values for the argument 'n'"),
    ((1, 2, 3, 4), {"warps": 1}, "unexpected keyword argument 'warps'")])
def test_wrong_calls(args, kwargs, error):
    with pytest.raises(TypeError, match=error):
        fresh()[(1, )](*args, **kwargs)


def test_many_parameters():
    """More than the fast path takes, and as many as it takes."""
    for count, is_fast in ((128, True), (129, False)):
        names = [f"p{i}" for i in range(count)]
        namespace = {}
        source = f"def kernel({', '.join(names)}):\n    pass\n"
        exec(compile(source, "<many>", "exec"), namespace)
        import linecache
        linecache.cache["<many>"] = (len(source), None, source.splitlines(True), "<many>")
        kernel = tile.jit(namespace["kernel"])
        for _ in range(2):
            kernel[(1, )](Tensor(), *range(2, count + 1))
        assert last_launch().parameters == struct.pack(f"<Q{count - 1}i", DEVICE_MEMORY,
                                                       *range(2, count + 1))
        assert fast_launches(kernel) == is_fast


# Grids ------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid, extents", [
    ((3, ), (3, 1, 1)), ((3, 4), (3, 4, 1)), ([3, 4, 5], (3, 4, 5)),
    (lambda meta: (meta["n"], meta["BLOCK"]), (6, 64, 1)), (lambda meta: meta["n"], (6, 1, 1)),
    ((np.int64(3), tl.constexpr(2)), (3, 2, 1)), (5, (5, 1, 1)), (lambda meta: [len(meta), np.int64(2)], (6, 2, 1)), (lambda meta: (tl.constexpr(9), ), (9, 1, 1))])
def test_grids(grid, extents):
    assert twice(fresh(), grid, Tensor(), Tensor(), 6, 2).grid == extents


def test_empty_grids():
    kernel = fresh()
    for grid in ((0, ), (1, 0), lambda meta: (0, 3)):
        for _ in range(2):
            compiled = []
            assert launched(lambda: compiled.append(kernel[grid](Tensor(), Tensor(), 6, 2))) is None
            assert compiled[0].name == "_nothing"


@pytest.mark.parametrize("grid", [(-1, ), (), (1, 2, 3, 4), lambda meta: (-1, ), lambda meta: ()])
def test_wrong_grids(grid):
    kernel = fresh()
    kernel[(1, )](Tensor(), Tensor(), 6, 2)
    for _ in range(2):
        with pytest.raises(ValueError, match="one to three extents that are not negative"):
            kernel[grid](Tensor(), Tensor(), 6, 2)


def test_grid_that_fails():
    kernel = fresh()
    kernel[(1, )](Tensor(), Tensor(), 6, 2)
    with pytest.raises(KeyError, match="absent"):
        kernel[lambda meta: (meta["absent"], )](Tensor(), Tensor(), 6, 2)
    for grid in ((2**32, ), lambda meta: (2**40, )):
        with pytest.raises(ValueError, match="32 bits"):
            kernel[grid](Tensor(), Tensor(), 6, 2)


def test_launcher_is_an_object():
    kernel = fresh()
    launcher = kernel[(2, )]
    assert launcher.kernel is kernel and launcher.grid == (2, )
    launcher(Tensor(), Tensor(), 6, 2)
    assert launched(lambda: launcher(Tensor(), Tensor(), 6, 2)).grid == (2, 1, 1)
    with pytest.raises(TypeError):
        type(launcher)()


# What launches return ---------------------------------------------------------------------


def test_returns_the_compiled_kernel():
    kernel = fresh()
    first, second = (kernel[(1, )](Tensor(), Tensor(), 6, 2) for _ in range(2))
    assert first is second and first is kernel.warmup(Tensor(), Tensor(), 6, 2, grid=(1, ))
    assert first.function == last_launch().function


def test_compiled_kernels_launch():
    kernel = fresh()
    compiled = kernel.warmup(Tensor(), Tensor(), 6, 2, grid=(1, ))
    compiled._init_handles()
    expected = twice(kernel, (4, ), Tensor(), Tensor(), 6, 2)
    assert launched(lambda: compiled[(4, )](Tensor(), Tensor(), 6, 2, 2.0)).same_as(expected)
    assert launched(lambda: compiled[(4, )](Tensor(), Tensor(), 6, 2, 2.0, 64)).same_as(expected)
    assert compiled.function == expected.function
    with pytest.raises(TypeError, match="takes 6 arguments, or 5 without constexprs, got 2"):
        compiled[(1, )](Tensor(), Tensor())


def test_launch_metadata():
    kernel = fresh(launch_metadata=lambda grid, metadata, args: {"flops": grid[0] * args["n"]})
    compiled = kernel.warmup(Tensor(), Tensor(), 6, 2, grid=(1, ))
    assert compiled.launch_metadata((4, ), 0, Tensor(), Tensor(), 6, 2) == {
        "name": "_nothing", "function": compiled.function, "stream": 0, "flops": 24}


@pytest.mark.parametrize("make", [Tensor, NewerTensor, PointerArray, CudaArray])
@pytest.mark.parametrize("options", [{}, {"do_not_specialize": ["a", "b"]}])
def test_one_array_for_two_parameters(make, options):
    """Such launches have a kernel of their own, on the fast path, too."""
    kernel = fresh(**options)
    functions = [twice(kernel, (1, ), a, b, 2, 2).function for a, b in [
        (make(64), make(128)), (make(64), make(64)), (make(128), make(128)), (make(64), None)]]
    assert len(set(functions)) == 3 and functions[1] == functions[2]
    tuples = [twice(kernel, (1, ), (make(64), 2), (3, make(offset)), 2, 2).function for offset in (128, 64)]
    assert len({*functions, *tuples}) == 5


def test_null_is_no_array():
    kernel, null = fresh(), Tensor(-DEVICE_MEMORY)
    functions = {twice(kernel, (1, ), null, b, 2, 2).function for b in (null, Tensor(64))}
    assert len(functions) == 1


def test_one_array_in_a_descriptor():
    kernel = fresh()
    functions = {twice(kernel, (1, ), Tensor(64), TensorDescriptor(Tensor(offset), (4, 8), (8, 1), (2, 8)),
                       2, 2).function for offset in (64, 128)}
    assert len(functions) == 2


def test_cooperative_launches(gpu):
    """A launch with `launch_cooperative_grid` tells the driver so, by the slow path and by the fast one."""
    kernel = fresh()
    arguments = Tensor(), Tensor(), 3, 5
    plain = twice(kernel, (2, 3), *arguments)
    launch = twice(kernel, (2, 3), *arguments, launch_cooperative_grid=True)
    assert (plain.cooperative, launch.cooperative, launch.programmatic) == (0, 1, 0)
    both = twice(kernel, (2, 3), *arguments, launch_cooperative_grid=True, launch_pdl=True)
    assert (both.cooperative, both.programmatic) == (1, 1)
    assert twice(kernel, (2, 3), *arguments, launch_cooperative_grid=False).cooperative == 0
    assert kernel.warmup(*arguments, launch_cooperative_grid=True).metadata.launch_cooperative_grid
    gpu.fake_set_launch_status(720)
    with pytest.raises(RuntimeError, match="with launch_cooperative_grid, all blocks must find a place on the GPU"):
        kernel[(2, 3)](*arguments, launch_cooperative_grid=True)
    for value in ("x", 3):
        with pytest.raises(TypeError, match="launch_cooperative_grid must be True or False, got "):
            kernel[(2, 3)](*arguments, launch_cooperative_grid=value)
