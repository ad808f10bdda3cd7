# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on GPUs, without one: a driver that records them stands in."""

import enum
import gc
import inspect
import os
import random
import struct
import subprocess
import sys
import threading
import types
import weakref

import fake_gpu
import numpy as np
import pytest
from fake_gpu import DEVICE_MEMORY, FLOAT16, INT64, CudaArray, DLPackArray, NewerTensor, PointerArray, Tensor

import tile
import tile.language as tl
from tile import _C
from tile.compiler.kernel import CompiledKernel
from tile.runtime.parameters import argument_of_key
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    driver = fake_gpu.load()
    if isinstance(driver, str):
        pytest.skip(driver)
    driver.fake_set_context(0)
    for device in (0, 1):
        driver.fake_set_stream(device, 0)
    driver.fake_set_capturing(0)
    driver.fake_set_launch_status(0)
    driver.fake_set_attribute_status(0)
    # The driver reads PTX.
    monkeypatch.setattr(CompiledKernel, "_image", lambda self: self.asm["ptx"].encode() + b"\0")
    yield driver
    driver.fake_set_context(-1)


def last_launch():
    driver = fake_gpu.load()
    record = driver.fake_launch(driver.fake_num_launches() - 1).contents
    return fake_gpu.Launch.from_buffer_copy(record)


def launched(function):
    """What `function` launched: a Launch or None."""
    before = fake_gpu.load().fake_num_launches()
    function()
    assert fake_gpu.load().fake_num_launches() - before in (0, 1)
    return last_launch() if fake_gpu.load().fake_num_launches() > before else None


def fast_launches(kernel):
    return kernel._launch_statistics()[1]


def twice(kernel, grid, *args, **kwargs):
    """Launches through Python, then on the fast path; both must do the same."""
    first = launched(lambda: kernel[grid](*args, **kwargs))
    before = fast_launches(kernel)
    second = launched(lambda: kernel[grid](*args, **kwargs))
    assert fast_launches(kernel) == before + 1, "the fast path did not know the arguments"
    assert first.same_as(second)
    return second


def fresh(**options):
    return tile.jit(_nothing, **options)


def _nothing(a, b, n, m, f=2.0, BLOCK: tl.constexpr = 64):
    pass


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


# What selects a kernel --------------------------------------------------------------------


def functions_of(kernel, position, values, args=None):
    """The functions that are launched for values of one argument, on the fast path."""
    result = []
    for value in values:
        arguments = list(args or (Tensor(), Tensor(), 2, 2, 2.0))
        arguments[position] = value
        for _ in range(2):
            before = fast_launches(kernel)
            kernel[(1, )](*arguments)
        assert fast_launches(kernel) == before + 1
        result.append(last_launch().function)
    return result


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


class Color(enum.Enum):
    RED, GREEN = 1, 2


def helper(x):
    return x


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


def test_devices_in_a_forked_child(gpu):
    """Workers that compile ask whether there is a GPU, which a forked child cannot use."""
    count = _C.cuda_device_count()
    child = os.fork()
    if child == 0:
        os._exit(0 if count > 0 and _C.cuda_device_count() == count else 1)
    assert os.waitpid(child, 0)[1] == 0


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


# Devices and streams ----------------------------------------------------------------------


def test_wrong_device(gpu):
    kernel = fresh()
    kernel[(1, )](Tensor(), Tensor(), 6, 2)
    with pytest.raises(ValueError, match="on cuda:1, but the current device is cuda:0"):
        kernel[(1, )](Tensor(device=1), Tensor(device=1), 6, 2)
    with pytest.raises(ValueError, match="must be on one device, got cuda:0 and cuda:1"):
        kernel[(1, )](Tensor(), Tensor(device=1), 6, 2)
    with pytest.raises(ValueError, match="must be on one device, got cuda:0 and host"):
        kernel[(1, )](Tensor(), np.zeros(4, np.float32), 6, 2)
    gpu.fake_set_context(1)
    with pytest.raises(ValueError, match="on cuda:0, but the current device is cuda:1"):
        kernel[(1, )](Tensor(), Tensor(), 6, 2)


def test_each_device_has_its_kernel(gpu):
    kernel, functions = fresh(), []
    for device in (0, 1, 0, 1):
        gpu.fake_set_context(device)
        gpu.fake_set_stream(device, 0x100 + device)
        launch = twice(kernel, (1, ), Tensor(device=device), Tensor(device=device), 6, 2)
        assert launch.stream == 0x100 + device
        functions.append(launch.function)
    assert functions[:2] == functions[2:] and functions[0] != functions[1]
    assert [len(kernel.device_caches[device][0]) for device in (0, 1)] == [1, 1]


def test_thread_without_context():
    kernel, launches = fresh(), []
    kernel[(1, )](Tensor(), Tensor(), 6, 2)

    def work():
        for _ in range(2):
            launches.append(launched(lambda: kernel[(1, )](Tensor(), Tensor(), 6, 2)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert launches[0].same_as(launches[1])
    # The first launch of the thread chose its context.
    assert fast_launches(kernel) == 1


def test_stream_of_cuda_arrays(gpu):
    """Launches wait for the stream that an array names, unless it is their own."""
    kernel = fresh()
    for stream, waits in ((None, 0), (1, 0), (2, 1), (0x77, 1)):
        for _ in range(2):
            before = gpu.fake_num_waits()
            kernel[(1, )](CudaArray(stream=stream), CudaArray(stream=stream), 6, 2)
            assert min(1, gpu.fake_num_waits() - before) == waits
        if waits:
            assert gpu.fake_waited_for() == stream and gpu.fake_waiting() == 0
    assert fast_launches(kernel) == 7 and gpu.fake_num_live_events() == 0
    gpu.fake_set_capturing(1)
    before = gpu.fake_num_waits()
    kernel[(1, )](CudaArray(stream=2), CudaArray(stream=2), 6, 2)
    assert gpu.fake_num_waits() == before


def test_stream_of_cupy(gpu, monkeypatch):

    class Stream:
        ptr = 0x55

    class cupy:

        class cuda:
            get_current_stream = staticmethod(lambda: Stream)

    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert twice(fresh(), (1, ), CudaArray(stream=0x55), CudaArray(), 6, 2).stream == 0x55
    # Arrays of a library that names its stream itself.
    gpu.fake_set_stream(0, 0x66)
    assert twice(fresh(), (1, ), CudaArray(), Tensor(), 6, 2).stream == 0x66


def test_torch_without_exchange_api(gpu, monkeypatch):

    class OldTensor(PointerArray):
        is_cuda = True

        def get_device(self):
            return int(self.address >= 2 * DEVICE_MEMORY)

    class torch:
        Tensor = OldTensor

        class cuda:
            is_initialized = staticmethod(lambda: True)

        class _C:
            _cuda_getDevice = staticmethod(_C.cuda_current_device)
            _cuda_getCurrentRawStream = staticmethod(lambda device: 0x100 + device)

    monkeypatch.setitem(sys.modules, "torch", torch)
    kernel = fresh()
    assert twice(kernel, (1, ), OldTensor(), OldTensor(4), 6, 2).stream == 0x100
    with pytest.raises(ValueError, match="on cuda:1, but the current device is cuda:0"):
        kernel[(1, )](OldTensor(device=1), OldTensor(device=1), 6, 2)
    gpu.fake_set_context(1)
    assert twice(kernel, (1, ), OldTensor(device=1), OldTensor(device=1), 6, 2).stream == 0x101
    # Arrays of others go to torch's stream, too.
    gpu.fake_set_context(0)
    assert twice(kernel, (1, ), CudaArray(), None, 6, 2).stream == 0x100


def test_dlpack_without_exchange_api(gpu):
    array = DLPackArray(8)
    for _ in range(2):
        launch = launched(lambda: fresh()[(1, )](array, None, 6, 2))
        assert launch.parameters == struct.pack("<Qiif", DEVICE_MEMORY + 8, 6, 2, 2.0)
    # It is told of the default stream by 1.
    assert array.streams == [1, 1]
    with pytest.raises(TypeError, match="on DLPack device 10 cannot be passed"):
        fresh()[(1, )](DLPackArray(device_type=10), None, 6, 2)
    with pytest.raises(TypeError, match="DLPack element type 5 of 64 bits"):
        fresh()[(1, )](DLPackArray(dtype=(5, 64)), None, 6, 2)


def test_arrays_that_kernels_do_not_take():
    kernel = fresh()
    for array, error in ((Tensor(dtype=(5, 64)), "DLPack element type 5"),
                         (CudaArray(typestr="<c8"), "<c8"), (CudaArray(typestr=">f4"), ">f4"),
                         (CudaArray(mask=CudaArray()),
                          "masked arrays"), (PointerArray(dtype="complex64"), "complex64")):
        for _ in range(2):
            with pytest.raises(TypeError, match=error):
                kernel[(1, )](array, None, 6, 2)


def test_exchange_api_of_torch():
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has no exchange API")
    from tile.runtime.arguments import _dlpack_type, from_torch
    base = torch.ones(16)
    for tensor in (base, base[3:], torch.nn.Parameter(base), torch.empty(0), base.view(4, 4).T,
                   *(base.to(getattr(torch, name))
                     for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "int64",
                                  "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2"))):
        address, code, bits, device, index, _ = _C.read_exchange(tensor)
        assert (address, device, index) == (tensor.data_ptr(), 1, 0)
        assert _dlpack_type(code, bits, "") == from_torch(tensor).dtype


def test_empty_cuda_array():
    empty = CudaArray()
    empty.__cuda_array_interface__ = {"data": (0, False), "typestr": "<f4", "shape": (0, ), "version": 3}
    assert launched(lambda: fresh()[(1, )](empty, CudaArray(), 6, 2)).parameters.startswith(bytes(8))


# What a launch does besides ---------------------------------------------------------------


def test_returns_the_compiled_kernel():
    kernel = fresh()
    first, second = (kernel[(1, )](Tensor(), Tensor(), 6, 2) for _ in range(2))
    assert first is second and first is kernel.warmup(Tensor(), Tensor(), 6, 2, grid=(1, ))
    assert first.function == last_launch().function


def test_hooks():
    kernel, seen = fresh(), []
    x = Tensor()
    twice(kernel, (1, ), x, x, 6, 2)
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append((args, kwargs)))
    kernel[(1, )](x, x, 6, m=2)
    assert seen == [((x, x, 6), {"m": 2})]
    kernel.pre_run_hooks.clear()
    twice(kernel, (1, ), x, x, 6, 2)
    assert len(seen) == 1


LIMIT = tl.constexpr(3)


def _writes_limit(out):
    tl.store(out, LIMIT)


def test_globals_that_change(monkeypatch):
    kernel = tile.jit(_writes_limit)
    twice(kernel, (1, ), Tensor())
    monkeypatch.setitem(globals(), "LIMIT", tl.constexpr(4))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="LIMIT has changed"):
            kernel[(1, )](Tensor())
    # An equal value is no change.
    monkeypatch.setitem(globals(), "LIMIT", tl.constexpr(3))
    twice(kernel, (1, ), Tensor())


def test_caches_that_are_cleared():
    kernel = fresh()
    for clear in (lambda: kernel.device_caches[0][0].clear(), lambda: kernel.device_caches.clear()):
        twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
        clear()
        before = fast_launches(kernel)
        kernel[(1, )](Tensor(), Tensor(), 6, 2)
        assert fast_launches(kernel) == before and len(kernel.device_caches[0][0]) == 1


def test_errors_of_the_driver(gpu):
    kernel = fresh()
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    gpu.fake_set_launch_status(2)
    with pytest.raises(RuntimeError, match="cuLaunchKernel: CUDA_ERROR_OUT_OF_MEMORY: out of memory"):
        kernel[(1, )](Tensor(), Tensor(), 6, 2)
    gpu.fake_set_launch_status(0)
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)


def check_exceeded(error, name, required, limit, reason):
    assert (error.name, error.required, error.limit) == (name, required, limit)
    assert f"required {required}, limit {limit}" in str(error) and reason in str(error)
    assert isinstance(error, tile.CompilationError)


# Attributes of the driver here: numbers of devices are 1000 more than the attribute's, those of
# functions are the attribute's.
@pytest.mark.parametrize("status", [1, 701])
@pytest.mark.parametrize("name, threads, shared, required, limit", [
    ("shared memory", 128, 2000, 2001, 1097), ("threads", 1024, 0, 1024, 1001),
    ("registers", 512, 0, 2048, 1012)])
def test_launches_that_need_too_much(gpu, status, name, threads, shared, required, limit):
    kernel = fresh()
    kernel[(1, )](Tensor(), Tensor(), 6, 2)
    code = kernel.warmup(Tensor(), Tensor(), 6, 2)
    loaded = _C.CudaKernel(code._image(), code.name, code._parameters, threads, shared)
    gpu.fake_set_launch_status(status)
    expected = RuntimeError if (status, name) == (1, "registers") else tile.OutOfResources
    with pytest.raises(expected, match="cuLaunchKernel: CUDA_ERROR_") as caught:
        loaded.launch((1, 1, 1), [0, 0, 6, 2, 2.0], 0)
    if expected is tile.OutOfResources:
        check_exceeded(caught.value, name, required, limit, "cuLaunchKernel: CUDA_ERROR_")
    gpu.fake_set_launch_status(0)
    loaded.launch((1, 1, 1), [0, 0, 6, 2, 2.0], 0)


def test_fast_launches_that_need_too_much(gpu):
    kernel = fresh()
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    before = fast_launches(kernel)
    gpu.fake_set_launch_status(701)
    with pytest.raises(tile.OutOfResources) as caught:
        kernel[(1, )](Tensor(), Tensor(), 6, 2)
    assert fast_launches(kernel) == before + 1
    check_exceeded(caught.value, "registers", 4 * 128, 1012, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
    with pytest.raises(tile.CompilationError):
        kernel[(1, )](Tensor(), Tensor(), 6, 2)


def test_kernels_whose_shared_memory_the_driver_refuses(gpu):
    code = fresh().warmup(Tensor(), Tensor(), 6, 2)
    gpu.fake_set_attribute_status(1)
    with pytest.raises(tile.OutOfResources) as caught:
        _C.CudaKernel(code._image(), code.name, code._parameters, 128, 100_000)
    check_exceeded(caught.value, "shared memory", 100_001, 1097, "cuFuncSetAttribute: CUDA_ERROR_")


def test_configs_that_a_gpu_refuses_are_skipped(gpu):
    tuned = tile.autotune([tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 128})], key=[],
                          do_bench=measure)(fresh())
    gpu.fake_set_launch_status(701)
    with pytest.raises(tile.errors.TileError, match="no config(.|\n)*out of resource: registers"):
        tuned[(1, )](Tensor(), Tensor(), 6, 2)
    assert [error.name for error in tuned.failures.values()] == ["registers", "registers"]


def measure(launch, quantiles):
    launch()
    return 1.0


def test_launches_from_the_collector():
    """What dies while a grid is evaluated launches the same kernel in so many ways that the plan of
    the outer call is replaced."""
    kernel = fresh()
    x = Tensor()
    names = [("a", "b", "n", "m"), ("b", "a", "m", "n"), ("m", "n", "b", "a"), ("n", "m", "a", "b")]
    ways = [{name: {"n": 6, "m": 2}.get(name, x) for name in order} for order in names]
    calls = []

    class Dying:

        def __init__(self):
            self.itself = self

        def __del__(self):
            for i in range(9):
                kernel[(1, )](x, x, 6, **{"m": 2, "launch_pdl": True} if i % 2 else {"m": 2})
            for way in ways:
                kernel[(1, )](**way)
            calls.append(1)

    def grid(meta):
        assert meta == {"a": x, "b": x, "n": 6, "m": 2, "f": 2.0, "BLOCK": 64}
        return (meta["n"], )

    kernel[grid](x, x, n=6, m=2)
    threshold = gc.get_threshold()
    try:
        gc.set_threshold(1)
        for _ in range(200):
            Dying()
            kernel[grid](x, x, n=6, m=2)
    finally:
        gc.set_threshold(*threshold)
    assert calls and last_launch() is not None


def _named(a, mode: tl.constexpr):
    pass


def test_constant_strings_without_end():
    """The kernel keeps a limited number of them, and knows those of late."""
    kernel = tile.jit(_named)
    x = Tensor()
    twice(kernel, (1, ), x, "first")
    held = "".join(["se", "cond"])
    twice(kernel, (1, ), x, held)
    strings = [child for child in gc.get_referents(kernel) if isinstance(child, dict) and "first" in child]
    assert len(strings) == 1
    # Without the compiler: what the constants lead to does not matter.
    compiled = kernel.warmup(x, "first")
    kernel._kernel = lambda *unused: compiled
    for i in range(5000):
        kernel[(1, )](x, f"mode {i}")
    assert len(strings[0]) <= 4096
    del kernel._kernel
    twice(kernel, (1, ), x, held)


# The first look at one type fills the table of types.
FILLS_THE_TYPES = """
import fake_gpu, tile
from fake_gpu import PointerArray
from tile import _C
from tile.compiler.kernel import CompiledKernel
from tile.runtime import arguments
from tile.runtime.driver import current_stream

fake_gpu.load().fake_set_context(0)
CompiledKernel._image = lambda self: self.asm["ptx"].encode() + b"\\0"

@tile.jit
def first(a):
    pass

@tile.jit
def other(a):
    pass

class Outer(PointerArray):
    pass

def describe(value):
    if type(value) is Outer:
        for i in range(300):
            other[(1, )](type(f"Inner{i}", (PointerArray, ), {})())
    return arguments.describe_type(value)

_C.set_launch_helpers(describe, current_stream)
for _ in range(2):
    first[(1, )](Outer())
print(first._launch_statistics()[1], fake_gpu.load().fake_num_launches())
"""


def test_types_that_are_described_at_the_same_time(tmp_path):
    """A type is left to Python if there is no room for it by the time that it is described."""
    path = tmp_path / "program.py"
    path.write_text(FILLS_THE_TYPES)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})
    assert run.returncode == 0, run.stderr
    # `first` was described in either launch.
    assert run.stdout.split() == ["0", "302"] or run.stdout.split() == ["0", "602"], run.stdout


def _of_closure(offset):

    @tile.jit
    def kernel(a, n):
        tl.store(a, n + offset)

    def change(value):
        nonlocal offset
        offset = value

    return kernel, change


def test_constants_of_closures_that_change():
    kernel, change = _of_closure(tl.constexpr(5))
    twice(kernel, (1, ), Tensor(), 6)
    change(tl.constexpr(5))
    # An equal value is looked at by Python once.
    twice(kernel, (1, ), Tensor(), 6)
    change(tl.constexpr(7))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the variable offset has changed since kernel was compiled"):
            kernel[(1, )](Tensor(), 6)
    change(tl.constexpr(5))
    twice(kernel, (1, ), Tensor(), 6)


def test_constants_of_other_modules_that_change():
    names = {"tl": tl, "FACTOR": tl.constexpr(3)}
    helper = tile.jit(types.FunctionType(_scaled.__code__, names, "_scaled"))
    kernel = tile.jit(types.FunctionType(_calls_other.__code__, {"tl": tl, "helper": helper}, "_calls_other"))
    twice(kernel, (1, ), Tensor(), 6)
    names["FACTOR"] = tl.constexpr(4)
    with pytest.raises(RuntimeError, match="the variable FACTOR has changed since _calls_other was compiled"):
        kernel[(1, )](Tensor(), 6)
    names["FACTOR"] = tl.constexpr(3)
    twice(kernel, (1, ), Tensor(), 6)


def _scaled(n):
    return n * FACTOR  # noqa: F821


def _calls_other(a, n):
    tl.store(a, helper(n))  # noqa: F821


def test_keeps_no_array():

    class Watched(PointerArray):
        pass

    kernel = fresh()
    for _ in range(2):
        array = Watched()
        kernel[lambda meta, array=array: (1, )](array, array, 6, b if (b := 2) else 0)
        watch = weakref.ref(array)
        del array
        assert watch() is None


def test_launches_leave_no_objects():
    kernel, x = fresh(), Tensor()
    launch = kernel[(1, )]
    launch(x, x, 6, 2, BLOCK="text")
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        launch(x, x, 6, 2, BLOCK="text")
        kernel[(1, )](x, b=x, n=6, m=2, BLOCK="text")
    assert abs(sys.getallocatedblocks() - before) < 50


def test_kernels_are_collected():
    kernel = fresh()
    kernel.itself = kernel
    kernel.launcher = kernel[lambda meta: (1, )]
    kernel.launcher(Tensor(), Tensor(), 6, 2)
    kernel.launcher(Tensor(), Tensor(), 6, 2, BLOCK=kernel)
    watch = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert watch() is None


def test_table_stays_bounded(monkeypatch):
    monkeypatch.setattr(tile.JITFunction, "_compile", lambda self, keys, options, chip: StubKernel.of(
        [argument_of_key(p.name, k) for p, k in zip(self.params, keys)], options, chip))
    kernel, x = fresh(), Tensor()
    launch, sizes = kernel[(1, )], []
    for i in range(4200):
        launch(x, x, 6, 2, BLOCK=i)
        sizes.append(kernel._launch_statistics()[0])
    assert max(sizes) == 4096 and sizes[-1] == 4200 - 4096


def test_launch_from_a_grid():
    """A grid that launches, and clears the caches."""
    kernel, x = fresh(), Tensor()
    twice(kernel, (1, ), x, x, 6, 2)

    def grid(meta):
        kernel[(1, )](x, x, 6, 2, num_warps=8)
        kernel.device_caches.clear()
        return (3, )

    for _ in range(2):
        kernel[grid](x, x, 6, 2)
        assert last_launch().grid == (3, 1, 1) and last_launch().block == (128, 1, 1)


def test_launch_while_arguments_are_read():
    kernel = fresh()

    class Nested(PointerArray):

        def data_ptr(self):
            kernel[(9, )](Tensor(), Tensor(), 6, 2)
            return self.address

    for _ in range(3):
        kernel[(1, )](Nested(), Tensor(), 6, 2)
        assert last_launch().grid == (1, 1, 1)


def test_threads_share_a_kernel(gpu):
    kernel, errors = fresh(), []

    def work(seed):
        gpu.fake_set_context(0)
        numbers = random.Random(seed)
        try:
            for _ in range(500):
                kernel[(1, )](Tensor(4 * numbers.randrange(8)), Tensor(),
                              numbers.choice([1, 15, 16, 2**40]), 2)
                if numbers.random() < 0.02:
                    kernel._forget_kernels()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i, )) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and len(kernel.device_caches[0][0]) == 8


def test_host_arrays_go_to_the_emulator():

    @tile.jit
    def fill(out, n, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), n)

    out = np.zeros(64, np.int32)
    for _ in range(2):
        fill[(1, )](out, 7, 64)
        assert (out == 7).all()
    assert fast_launches(fill) == 0
    assert launched(lambda: fill[(1, )](Tensor(dtype=INT64), 7, 64)) is not None


# What programs for Triton use -------------------------------------------------------------


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


def test_preload():
    first, second = fresh(), fresh()
    data = first.warmup(Tensor(),
                        Tensor(4),
                        16,
                        2**40,
                        0.5, (True, tl.float16, 0.5, "s", helper),
                        grid=(1, ),
                        num_warps=8).specialization_data
    preloaded = second.preload(data)
    assert second[(1, )](Tensor(), Tensor(4), 32, 2**41, 1.5, (True, tl.float16, 0.5, "s", helper),
                         num_warps=8) is preloaded
    with pytest.raises(RuntimeError, match="are of the kernel _nothing, not of _writes_limit"):
        tile.jit(_writes_limit).preload(data)


def test_active_driver(gpu):
    active = tile.runtime.driver.active
    gpu.fake_set_context(1)
    assert active.get_current_device() == 1 and active.get_current_stream(1) == 0
    assert active.get_current_target() == tile.GPUTarget("cuda", 90, 32)
    properties = active.utils.get_device_properties(0)
    assert properties["multiprocessor_count"] == 1016 and properties["max_shared_mem"] == 1097
    assert _C.cuda_device_name(1) == "fake 1"
    replacement = object()
    tile.runtime.driver.set_active(replacement)
    assert tile.runtime.driver.active is replacement
    tile.runtime.driver.reset_active()
    assert tile.runtime.driver.active is active


# The fast path against the Python path, at random -----------------------------------------


class StubKernel:
    """A compiled kernel without code: for each signature its own function."""

    made = {}

    def __init__(self, arguments):
        self.arguments = arguments
        self.types = [_ir_type(leaf.type) for argument in arguments for leaf in argument.leaves()]
        self.by_device = {}

    @classmethod
    def of(cls, arguments, *rest):
        """One for equal arguments, of any JITFunction."""
        key = repr([(a.describe(), _exact(a.value)) for a in arguments]), repr(rest)
        return cls.made.setdefault(key, cls(arguments))

    def loaded(self, device):
        if device not in self.by_device:
            sizes = {"ptr": "u64", "i64": "u64", "i32": "u32", "i1": "u8", "f32": "f32", "f16": "b16"}
            parameters = ", ".join(f".param .{sizes[t]} p" for t in self.types)
            self.by_device[device] = _C.CudaKernel(f".entry k({parameters})\0".encode(), "k", self.types,
                                                   128, 0)
        return self.by_device[device]

    def loaded_on(self, device):
        return self.by_device.get(device)


def _exact(value):
    if isinstance(value, tuple):
        return [_exact(v) for v in value]
    return type(value).__name__, id(value) if inspect.isfunction(value) else repr(value)


def _ir_type(type_):
    if type_.is_ptr():
        return "ptr"
    return f"{'f' if type_.is_floating() else 'i'}{type_.primitive_bitwidth}"


def _mixed(a, b, n, m: tl.int64, f, h: tl.float16, N: tl.constexpr, MODE: tl.constexpr = "x"):
    pass


class Size(enum.IntEnum):
    SMALL = 16


NUMBERS = [
    0, 1, -1, 2, 15, 16, 17, -16, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**63 - 1, 2**63, -2**63,
    2**64 - 16, 2**64, -2**63 - 1, True, False, 1.0, 0.0, -0.0,
    float("inf"), 1e300, 0.1, None, Size.SMALL,
    np.int32(5),
    np.int64(16),
    np.float32(1.5),
    tl.constexpr(1),
    tl.constexpr(7), (1, 2), (3, (4.0, None)), "text", helper, (1, ), (True, 2**40), ((), 16.0),
    TensorDescriptor(PointerArray(64), (4, 8), (8, 1), (2, 8)),
    TensorDescriptor(PointerArray(64), (5, 8), (8, 1), (4, 8), "nan")
]
CONSTANTS = [
    1, True, 1.0, 0.0, -0.0,
    float("nan"), None, "a", "ab", (1, True), (True, 1), [1, 2], (1, (2, "x")), tl.float32, tl.float16,
    helper, functions_of, 2**70, Color.RED, Color.GREEN, {},
    np.float32(2), (),
    tl.constexpr(3), Size.SMALL, 16, 17
]
GRIDS = [(1, ), (2, 3), (1, 2, 3), [4], 5, (0, ), lambda meta: (3, ), lambda meta: 4,
         (-1, ), (1, 2, 3, 4), ("x", ), lambda meta: (len(meta), ), (tl.constexpr(2), ), (Size.SMALL, ),
         (True, ), None, (2**40, ), lambda meta: (0, )]
OPTIONS = [("num_warps", 4), ("num_warps", 8), ("num_warps", 3), ("num_warps", True), ("num_stages", 2),
           ("num_stages", "2"), ("maxnreg", None), ("maxnreg", 32), ("launch_pdl", True),
           ("stream", 0x99), ("unknown", 1), ("n", 3), ("debug", True)]


def random_array(numbers):
    make = numbers.choice([Tensor, Tensor, Tensor, NewerTensor, PointerArray, CudaArray, DLPackArray])
    arguments = {"offset": numbers.choice([0, 4, 16, 40, 64]), "device": numbers.random() < 0.02}
    if make not in (PointerArray, CudaArray):
        arguments["dtype"] = numbers.choice([fake_gpu.FLOAT32, FLOAT16, INT64, (6, 8), (4, 16)])
    if make is PointerArray:
        arguments["dtype"] = numbers.choice(
            ["float32", "int64", "bfloat16", tl.float32,
             np.dtype("float16")])
    if make is CudaArray:
        arguments.update(typestr=numbers.choice(["<f4", "<i8", "|b1"]),
                         stream=numbers.choice([None, 1, 5]))
    return make(**arguments)


def random_call(numbers):
    """Some arguments of a usual call are replaced: what the fast path has seen must come again."""
    makers = {"a": random_array, "b": random_array, "N": lambda n: n.choice(CONSTANTS),
              "MODE": lambda n: n.choice(CONSTANTS), **dict.fromkeys("nmfh", lambda n: n.choice(NUMBERS))}
    values = {"a": Tensor(), "b": Tensor(8), "n": 6, "m": 7, "f": 0.5, "h": 0.25, "N": 4}
    for name in numbers.sample(list(makers), numbers.choice([1, 1, 2, 2, 3])):
        values[name] = makers[name](numbers)
    if numbers.random() < 0.02:
        del values[numbers.choice(list(values))]
    names = list(values)
    cut = numbers.randrange(len(names) + 1)
    keywords = names[cut:]
    numbers.shuffle(keywords)
    kwargs = {name: values[name] for name in keywords}
    if numbers.random() < 0.3:
        kwargs.update([numbers.choice(OPTIONS)])
    return [values[name] for name in names[:cut]
            ], kwargs, numbers.choice(GRIDS if numbers.random() < 0.3 else GRIDS[:3])


def outcome(function):
    """What a call launched and returned, or its error."""
    returned = []
    try:
        return launched(lambda: returned.append(function())), returned[0], None
    except Exception as error:
        return None, None, (type(error), str(error))


def test_random_calls(monkeypatch):
    monkeypatch.setattr(tile.JITFunction, "_compile", lambda self, keys, options, chip: StubKernel.of(
        [argument_of_key(p.name, k) for p, k in zip(self.params, keys)], options, chip))
    fast, slow = tile.jit(_mixed), tile.jit(_mixed)
    numbers = random.Random(5)
    calls = [random_call(numbers) for _ in range(10000)]
    errors = 0
    for args, kwargs, grid in calls + calls:
        launch, kernel, error = outcome(lambda: fast[grid](*args, **kwargs))
        expected_launch, expected_kernel, expected_error = outcome(
            lambda: slow.run(*args, grid=grid, **kwargs))
        assert error == expected_error, (args, kwargs)
        assert kernel is expected_kernel, (args, kwargs)
        assert (launch is None) == (expected_launch is None), (args, kwargs)
        assert launch is None or launch.same_as(expected_launch), (args, kwargs)
        errors += error is not None
    assert fast_launches(fast) > 6000 and fast_launches(slow) == 0 and errors > 1000


def test_launch_hooks_on_a_gpu():
    """While there are some, launches go through Python, which calls them."""
    kernel, seen = fresh(), []
    expected = twice(kernel, (4, ), Tensor(), Tensor(), 6, 2)

    def hook(metadata):
        seen.append((metadata["function"], metadata["stream"]))

    tile.knobs.runtime.launch_exit_hook.add(hook)
    before = fast_launches(kernel)
    assert launched(lambda: kernel[(4, )](Tensor(), Tensor(), 6, 2)).same_as(expected)
    assert seen == [(expected.function, 0)] and fast_launches(kernel) == before
    tile.knobs.runtime.launch_exit_hook.remove(hook)
    kernel[(4, )](Tensor(), Tensor(), 6, 2)
    assert len(seen) == 1 and fast_launches(kernel) == before + 1


def test_debugging_of_known_launches(monkeypatch):
    """A change of the setting is seen by launches that the fast path knows."""
    kernel = tile.jit(_asserts)
    plain = kernel[(1, )](Tensor())
    assert kernel[(1, )](Tensor()) is plain and "__assertfail" not in plain.asm["ptx"]
    monkeypatch.setattr(tile.knobs, "debug", True)
    checked = kernel[(1, )](Tensor())
    assert "__assertfail" in checked.asm["ptx"]
    monkeypatch.setattr(tile.knobs, "debug", False)
    assert kernel[(1, )](Tensor()) is plain


def _asserts(x):
    tl.device_assert(tl.load(x) > 0.0, "positive")


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


class _Sizes:
    FACTOR = tl.constexpr(3)


def _uses_a_class(a, n):
    tl.store(a, n * _Sizes.FACTOR)


def test_constants_of_classes_that_change(monkeypatch):
    kernel = tile.jit(_uses_a_class)
    twice(kernel, (1, ), Tensor(), 6)
    monkeypatch.setattr(_Sizes, "FACTOR", tl.constexpr(4))
    with pytest.raises(RuntimeError, match="FACTOR has changed since _uses_a_class was compiled.* 3, now it is 4"):
        kernel[(1, )](Tensor(), 6)
    monkeypatch.undo()
    kernel[(1, )](Tensor(), 6)


def test_a_kernel_without_arrays_runs_on_the_gpu():
    kernel = tile.jit(_writes_nothing)
    assert launched(lambda: kernel[(2, )](5)).grid == (2, 1, 1)
    assert kernel.warmup(5, grid=(1, )) is kernel[(1, )](6)


def _writes_nothing(n):
    pass
