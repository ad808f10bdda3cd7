# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What launches on GPUs remember and forget, with the driver that records them: hooks and constants
that change, launches from within a launch, the lifetime of objects."""

import gc
import os
import random
import subprocess
import sys
import threading
import types
import weakref

import pytest
from fake_gpu import PointerArray, Tensor
from launching import gpu  # noqa: F401, a fixture
from launching import StubKernel, fast_launches, fresh, helper, last_launch, launched, twice

import tile
import tile.language as tl
from tile.runtime.parameters import argument_of_key

pytestmark = pytest.mark.compiled


# Hooks ------------------------------------------------------------------------------------


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


# What changes between launches ------------------------------------------------------------


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


# Launches during a launch -----------------------------------------------------------------


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
    # The first array is not aligned, aligned, or the second one; there are four kinds of integers.
    assert not errors and len(kernel.device_caches[0][0]) == 12


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


# What is kept -----------------------------------------------------------------------------


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
