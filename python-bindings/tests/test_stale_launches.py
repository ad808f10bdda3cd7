# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changes while a kernel is launched on a GPU: the fast path must not keep what is out of date."""

import dataclasses
import gc
from typing import NamedTuple

import pytest
from fake_gpu import Tensor
from launching import functions_of, gpu, fresh, twice  # noqa: F401, a fixture

import tile
import tile.language as tl

pytestmark = pytest.mark.compiled


def _times(factor):

    @tile.jit
    def helper(n):
        return n * factor

    return helper


@pytest.mark.parametrize("changed", ["function", "setting"])
def test_changes_from_a_grid(monkeypatch, changed):
    """The kernel that the outer launch has is out of date when the launch is done."""
    helper = _times(tl.constexpr(5))

    @tile.jit
    def kernel(a, n):
        tl.device_assert(n > 0, "positive")
        tl.store(a, helper(n))

    def grid(meta):
        nonlocal helper
        if changed == "function":
            helper = _times(tl.constexpr(3))
        else:
            monkeypatch.setattr(tile.knobs, "debug", True)
        kernel[(1, )](Tensor(), 6)
        return (1, )

    old = kernel[grid](Tensor(), 6)
    for _ in range(3):
        new = kernel[(1, )](Tensor(), 6)
        assert new is not old
        assert ("constant 3 " in new.asm["tile"]) == (changed == "function")
        assert ("__assertfail" in new.asm["ptx"]) == (changed == "setting")
    assert kernel._launch_statistics()[1] > 0


def test_constants_of_classes_that_are_computed():
    """By code that makes the fast path forget the kernel that it is about to launch."""
    three = tl.constexpr(3)

    class Computed(type):

        @property
        def FACTOR(cls):
            kernel._forget_kernels()
            gc.collect()
            return three

    class Sizes(metaclass=Computed):
        pass

    @tile.jit
    def kernel(a, n):
        tl.store(a, n * Sizes.FACTOR)

    for _ in range(4):
        assert "constant 3 " in kernel[(1, )](Tensor(), 6).asm["tile"]
    assert kernel._launch_statistics() == (0, 0)


def test_metadata_of_a_launch_without_constexprs():
    """The arguments have their names even if those in front of them are left out."""
    seen = []

    def describe(grid, metadata, args):
        seen.append(args)
        return {}

    @tile.jit(launch_metadata=describe)
    def kernel(N: tl.constexpr, a, n):
        tl.store(a, n * N)

    x = Tensor()
    compiled = kernel.warmup(7, x, 6, grid=(1, ))
    tile.knobs.runtime.launch_enter_hook.add(lambda metadata: metadata.get())
    try:
        compiled[(1, )](x, 6)
        compiled[(1, )](7, x, 6)
    finally:
        tile.knobs.runtime.launch_enter_hook = None
    assert seen == [{"N": 7, "a": x, "n": 6}] * 2


class Point(NamedTuple):
    x: object
    y: object = 0


class Pair(NamedTuple):
    x: object
    y: object = 0


@dataclasses.dataclass(frozen=True)
class Setting:
    x: object
    y: object = 0


@dataclasses.dataclass(frozen=True)
class OtherSetting:
    x: object
    y: object = 0


def test_constants_with_fields():
    """They are compared without Python, with their classes and the types of what is in them."""
    values = [make(*args) for make in (Point, Pair, Setting, OtherSetting, lambda *parts: parts)
              for args in ((1, 2), (1, 3), (True, 2), (1.0, 2), (-0.0, 2), (0.0, 2), ("a", 2), (Point(1), 2),
                           (Setting(1), 2), ((1, 0), 2))]
    kernel = fresh()
    functions = functions_of(kernel, 5, values, (Tensor(), Tensor(), 2, 2, 2.0, None))
    assert len(kernel.device_caches[0][0]) == len(values)
    assert functions == functions_of(kernel, 5, values, (Tensor(), Tensor(), 2, 2, 2.0, None))


def test_named_tuples_of_arguments():

    @tile.jit
    def kernel(points, n):
        tl.store(points.x, points.y + n)

    first, second = Tensor(), Tensor(64)
    assert twice(kernel, (1, ), Point(first, 6), 6).parameters != (
        twice(kernel, (1, ), Point(second, 6), 6).parameters)
    twice(kernel, (1, ), Pair(first, 6), 6)
    with pytest.raises(tile.CompilationError, match="'x'"):
        kernel[(1, )]((first, 6), 6)
    assert len(kernel.device_caches[0][0]) == 2


@pytest.mark.parametrize("setting", [Setting([1]), dataclasses.make_dataclass(
    "Loose", ["x"], namespace={"__hash__": object.__hash__})([1])])
def test_constants_that_change_within(setting):

    @tile.jit
    def kernel(a, SETTING: tl.constexpr):
        tl.store(a, SETTING.x[-1] * 1.0)

    if isinstance(setting, Setting):
        with pytest.raises(TypeError, match="must be hashable"):
            kernel[(1, )](Tensor(), setting)
        return
    old = kernel[(1, )](Tensor(), setting)
    assert kernel[(1, )](Tensor(), setting) is old
    setting.x.append(5)
    new = kernel[(1, )](Tensor(), setting)
    assert new is not old and "5.0" in new.asm["tile"]


def test_variables_that_change_within():
    values = [1]
    held = tl.constexpr(values)

    @tile.jit
    def kernel(a):
        tl.store(a, held[-1] * 1.0)

    old = kernel[(1, )](Tensor())
    assert kernel[(1, )](Tensor()) is old
    values.append(5)
    with pytest.raises(RuntimeError, match="held has changed"):
        kernel[(1, )](Tensor())


def test_debugging_that_is_assigned():

    @tile.jit
    def kernel(a, n):
        tl.device_assert(n > 5, "small")

    plain = kernel[(1, )](Tensor(), 6)
    assert kernel[(1, )](Tensor(), 6) is plain
    kernel.debug = True
    checked = kernel[(1, )](Tensor(), 6)
    assert "__assertfail" in checked.asm["ptx"]
    kernel.debug = False
    assert kernel[(1, )](Tensor(), 6) is plain


@pytest.mark.parametrize("name, value", [("do_not_specialize", 1), ("do_not_specialize", 32),
                                         ("do_not_specialize_on_alignment", 32)])
def test_specialisation_that_is_assigned(name, value):
    kernel = fresh()
    arguments = Tensor(), Tensor(), 6, 2
    plain = kernel[(1, )](*arguments)
    assert kernel[(1, )](Tensor(), Tensor(), value, 2) is not plain and getattr(kernel, name) == []
    for names in (["n"], [2]):
        setattr(kernel, name, names)
        plain = kernel[(1, )](*arguments)
        assert getattr(kernel, name) == names and plain is kernel[(1, )](*arguments)
        twice(kernel, (1, ), Tensor(), Tensor(), value, 2)
        assert kernel[(1, )](Tensor(), Tensor(), value, 2) is plain
    setattr(kernel, name, None)
    assert kernel[(1, )](*arguments) is not kernel[(1, )](Tensor(), Tensor(), value, 2)


def test_names_that_are_assigned():
    kernel = fresh()
    assert kernel[(1, )](Tensor(), Tensor(), 6, 2).name == "_nothing"
    kernel.repr = lambda specialization: "renamed"
    for _ in range(2):
        assert kernel[(1, )](Tensor(), Tensor(), 6, 2).name == "renamed"


def test_launches_through_another_function(monkeypatch):
    kernel, seen = fresh(), []
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    original = kernel.run

    def run(*args, **kwargs):
        seen.append(args[2])
        return original(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(kernel, "run", run)
        for n in (6, 8, 6):
            kernel[(1, )](Tensor(), Tensor(), n, 2)
    assert seen == [6, 8, 6]
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    assert len(seen) == 3


def test_metadata_that_is_assigned():
    kernel, seen = fresh(), []
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    tile.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get().get("flops")))
    try:
        for flops in (None, 3, 4):
            kernel.launch_metadata = flops and (lambda grid, metadata, args, flops=flops: {"flops": flops})
            kernel[(1, )](Tensor(), Tensor(), 6, 2)
    finally:
        tile.knobs.runtime.launch_enter_hook = None
    assert seen == [None, 3, 4]
