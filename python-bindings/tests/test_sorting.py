# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting networks: results against NumPy, and the instructions that they take."""

import numpy as np
import pytest

import tile
import tile.language as tl

RNG = np.random.default_rng(41)


@tile.jit
def top(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DESCENDING: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    tile_ = tl.load(x + rows * N + tl.arange(0, N)[None, :])
    best = tl.topk(tile_, K, descending=DESCENDING)
    tl.store(out + rows * K + tl.arange(0, K)[None, :], best)


@tile.jit
def order(x, out, M: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), descending=DESCENDING))


@tile.jit
def reverse(x, out, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.flip(tl.load(x + at), DIM))


def rows_of(dtype, m: int, n: int):
    """Rows with equal elements, with infinities and NaNs where the type has them."""
    if dtype == np.bool_:
        return RNG.integers(0, 2, (m, n)) > 0
    low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -60
    rows = RNG.integers(low, 60, (m, n)).astype(dtype)
    if np.issubdtype(dtype, np.floating) and n > 4:
        rows[0, :4] = np.nan, np.inf, -np.inf, -0.0
    return rows


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8, np.uint8, np.int64,
                                   np.uint32, np.bool_])
@pytest.mark.parametrize("m,n,num_warps", [(4, 64, 4), (1, 256, 2), (3, 48, 1), (64, 4, 4),
                                           (2, 1, 4)])
def test_topk_of_every_length(dtype, m, n, num_warps, descending):
    x = rows_of(dtype, m, n)
    ordered = np.sort(x, axis=1)
    if descending:
        ordered = ordered[:, ::-1]
    for k in sorted({1, min(n, 3), max(1, n // 4), max(1, n // 2), n}):
        out = np.zeros((m, k), x.dtype)
        top[(1, )](x, out, m, n, k, descending, num_warps=num_warps)
        np.testing.assert_array_equal(out, ordered[:, :k])


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("m,n", [(8, 64), (64, 8), (6, 40), (1, 512)])
def test_reversal(m, n, dim):
    x = rows_of(np.float32, m, n)
    out = np.zeros_like(x)
    reverse[(1, )](x, out, m, n, dim)
    np.testing.assert_array_equal(out, np.flip(x, dim))


def compiled(kernel, **constants):
    return tile.compile(kernel, signature={"x": "*fp32", "out": "*fp32"}, constexprs=constants,
                        target="sm_90a").asm["ptx"]


def test_rows_within_a_warp_are_sorted_without_shared_memory():
    ptx = compiled(order, M=128, N=64, DESCENDING=False)
    assert "shfl.sync.bfly" in ptx
    assert ".shared" not in ptx and "bar.sync" not in ptx


def test_topk_takes_fewer_steps_than_a_sort():
    def steps(k):
        return compiled(top, M=16, N=128, K=k, DESCENDING=True).count("shfl.sync")
    assert steps(8) < steps(128) / 2
