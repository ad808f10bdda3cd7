# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program has stored it can load again, whichever threads do either."""

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.emulator


@pytest.fixture(autouse=True)
def race_check():
    with tile.emulator.checks("race"):
        yield


@tile.jit
def _row_sums_through_memory(x, buffer, out, n, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, n, N):
        block = tl.load(x + rows[:, None] * n + start + columns[None, :])
        # The sums are in the layout of a reduction's result, what is loaded in that of `total`.
        tl.store(buffer + rows, tl.sum(block, 1))
        sums = tl.load(buffer + rows)
        total += block * sums[:, None]
    tl.store(out + rows[:, None] * N + columns[None, :], total)


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("m, n", [(64, 16), (16, 64), (128, 32)])
def test_tile_in_a_loop(m, n, num_warps):
    x = np.random.default_rng(0).integers(-4, 5, (m, 3 * n)).astype(np.float32)
    out = np.zeros((m, n), np.float32)
    buffer = np.zeros(m, np.float32)
    _row_sums_through_memory[(1, )](x, buffer, out, 3 * n, m, n, num_warps=num_warps)
    blocks = x.reshape(m, 3, n)
    np.testing.assert_array_equal(out, (blocks * blocks.sum(2, keepdims=True)).sum(1))


@tile.jit
def _count_up(counter, out, steps, N: tl.constexpr):
    for _ in range(steps):
        tl.store(counter, tl.load(counter) + 1)
    tl.store(out + tl.arange(0, N), tl.load(counter))


@pytest.mark.parametrize("num_warps", [1, 4])
def test_scalar(num_warps):
    out = np.zeros(128, np.int32)
    _count_up[(1, )](np.zeros(1, np.int32), out, 5, 128, num_warps=num_warps)
    assert (out == 5).all()


@tile.jit
def _outer(x, buffer, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(buffer + i, tl.load(x + i) * 2)
    # Two layouts that differ from that of the store.
    tl.store(out + i[:, None] * N + i[None, :],
             tl.load(buffer + i)[:, None] - tl.load(buffer + i)[None, :])


def test_two_layouts():
    x, out = np.arange(32, dtype=np.float32) ** 2, np.zeros((32, 32), np.float32)
    _outer[(1, )](x, np.zeros(32, np.float32), out, 32)
    np.testing.assert_array_equal(out, 2 * x[:, None] - 2 * x[None, :])


@tile.jit
def _add_atomically(counters, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(counters + i // 2, i)
    tl.store(out + i, tl.load(counters + (i // 2)))


def test_atomics():
    out = np.zeros(64, np.int32)
    _add_atomically[(1, )](np.zeros(32, np.int32), out, 64, num_warps=1)
    i = np.arange(64) // 2
    np.testing.assert_array_equal(out, 4 * i + 1)


@tile.jit
def _carried_range(x, out, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    rows = tl.zeros([N], tl.float32)
    for _ in range(steps):
        rows += tl.sum(tl.load(x + i[:, None] * N + i[None, :]), 1)
        # Assigned anew, so that the loop carries it.
        i = tl.arange(0, N)
    tl.store(out + i[:, None] * N + i[None, :], rows[:, None] + tl.zeros([1, N], tl.float32))


@pytest.mark.parametrize("steps", [0, 2])
def test_a_loop_that_carries_a_range(steps):
    x, out = np.arange(32 * 32, dtype=np.float32).reshape(32, 32), np.zeros((32, 32), np.float32)
    _carried_range[(1, )](x, out, steps, 32)
    np.testing.assert_array_equal(out, np.repeat(steps * x.sum(1), 32).reshape(32, 32))


@tile.jit
def _clear_and_store(x, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + rows, tl.zeros([M], tl.float32))
    block = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(out + rows, tl.sum(block, 1), mask=rows % 2 == 0)


@pytest.mark.parametrize("num_warps", [1, 4])
def test_two_stores(num_warps):
    x = np.random.default_rng(0).integers(-4, 5, (64, 32)).astype(np.float32)
    out = np.ones(64, np.float32)
    _clear_and_store[(1, )](x, out, 64, 32, num_warps=num_warps)
    np.testing.assert_array_equal(out, np.where(np.arange(64) % 2, 0, x.sum(1)))
