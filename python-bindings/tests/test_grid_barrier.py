# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose blocks wait for each other: launches with `launch_cooperative_grid`. And what
launches say of options for other compilers."""

import time

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.compiled


@tile.jit
def wait_for_all(counter):
    tl.debug_barrier()
    tl.atomic_add(counter, 1, sem="release")
    while tl.atomic_add(counter, 0, sem="acquire") < tl.num_programs(0):
        pass
    tl.debug_barrier()


@tile.jit
def reverse(x, out, counter, BLOCK: tl.constexpr):
    block, last = tl.program_id(0), tl.num_programs(0) - 1
    i = tl.arange(0, BLOCK)
    tl.store(x + block * BLOCK + i, block * BLOCK + i)
    wait_for_all(counter)
    # Not from a cache of this multiprocessor.
    tl.store(out + block * BLOCK + i, tl.load(x + (last - block) * BLOCK + i, cache_modifier=".cg"))


@pytest.mark.parametrize("blocks", [1, 7, 132, 1000])
def test_blocks_that_wait_for_all(blocks):
    x, out, counter = np.zeros(64 * blocks, np.int32), np.zeros(64 * blocks, np.int32), np.zeros(1, np.int32)
    reverse[(blocks, )](x, out, counter, 64, launch_cooperative_grid=True, num_warps=2)
    np.testing.assert_array_equal(out.reshape(blocks, 64), np.arange(64 * blocks).reshape(blocks, 64)[::-1])


@tile.jit(noinline=True)
def plus_one(x):
    return x + 1


@tile.jit
def store_plus_one(out, x):
    tl.store(out, plus_one(x))


def test_options_for_other_compilers():
    out = np.zeros(1, np.int32)
    store_plus_one[(1, )](out, 5, ir_override=None)
    assert out[0] == 6 and plus_one.noinline
    with pytest.raises(NotImplementedError, match="ir_override is not supported: IR of another compiler"):
        store_plus_one[(1, )](out, 5, ir_override="kernel.ttgir")
    with pytest.raises(NotImplementedError, match="knobs.runtime.add_stages_inspection_hook: it is not supported: "
                       "the stages of this compiler are others"):
        tile.knobs.runtime.add_stages_inspection_hook = print


@tile.jit
def wait_for_ever(x):
    while tl.load(x, volatile=True) == 0:
        pass


@pytest.mark.emulator
def test_many_blocks_that_wait_for_ever():
    """All are given up together, after some seconds."""
    start = time.perf_counter()
    with pytest.raises(tile.EmulatorError, match="deadlock: no warp gets on: all poll for what nobody will do"):
        wait_for_ever[(10000, )](np.zeros(1, np.int32))
    assert time.perf_counter() - start < 60
