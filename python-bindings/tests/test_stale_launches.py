# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changes while a kernel is launched on a GPU: the fast path must not keep what is out of date."""

import gc

import pytest
from fake_gpu import Tensor
from launching import gpu  # noqa: F401, a fixture

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
