# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of public_kernels_more.py against NumPy in float64."""

import numpy as np
import pytest

import tile.language as tl
import public_kernels_more as pk


def rng(seed=0):
    return np.random.default_rng(seed)


def normal(*shape, seed=0, dtype=np.float32):
    return rng(seed).normal(size=shape).astype(dtype)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def close(actual, expected, rtol=1e-5, atol=1e-5):
    np.testing.assert_allclose(np.asarray(actual, np.float64), expected, rtol=rtol, atol=atol)


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_sort_with_index(descending, dtype):
    x = rng().integers(0, 20, (4, 32)).astype(dtype)
    values, indices = zeros(4, 32, dtype=dtype), zeros(4, 32, dtype=np.int32)
    pk.sort_pairs[(1, )](x, values, indices, 4, 32, descending)
    order = np.argsort(-x if descending else x, 1, kind="stable")
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


@pytest.mark.parametrize("right", [False, True])
def test_bucketize(right):
    boundaries = np.array([-1.5, -0.5, 0.0, 0.25, 1.0], np.float32)
    x = normal(75)
    x[:5] = boundaries
    out = zeros(75, dtype=np.int32)
    pk.bucketize_kernel[(2, )](x, boundaries, out, 75, right, 5, XBLOCK=64)
    np.testing.assert_array_equal(out, np.searchsorted(boundaries, x, side="right" if right else "left"))


def test_helpers_of_generated_code():
    n = 75
    x = normal(n)
    x[3] = 0
    seeds = np.array([5, 2**35 + 3], np.int64)
    mantissa, exponent = zeros(n), zeros(n, dtype=np.int32)
    ints, counts = zeros(n, dtype=np.int64), zeros(4, dtype=np.int64)
    pk.generated_others[(2, )](x, seeds, mantissa, exponent, ints, counts, 1, n, XBLOCK=64)
    expected_mantissa, expected_exponent = np.frexp(x)
    np.testing.assert_array_equal(mantissa, expected_mantissa)
    np.testing.assert_array_equal(exponent, expected_exponent)
    assert ints.min() >= -5 and ints.max() < 1000 and len(set(ints.tolist())) > 60
    bucket = np.abs(np.trunc(x * np.float32(10)).astype(np.int32) + 3) % 4
    np.testing.assert_array_equal(counts, np.bincount(bucket, minlength=4))


def test_lookback_scan():
    n = 300
    x = rng().integers(0, 100, n).astype(np.int32)
    out, flags = zeros(n, dtype=np.int32), zeros(5, dtype=np.uint64)
    pk.lookback_scan[(5, )](x, out, flags, n, BLOCK=64)
    np.testing.assert_array_equal(out, x.cumsum())


@pytest.mark.parametrize("T", [16, 21])
def test_inverse_of_triangle(T):
    B, H, BT = 2, 2, 8
    a = (normal(B, T, H, BT) * 0.3)
    out = zeros(B, T, H, BT)
    pk.inverse_of_triangle[(-(-T // BT), B * H)](a, out, T, H, BT)
    for b in range(B):
        for h in range(H):
            for start in range(0, T, BT):
                size = min(BT, T - start)
                block = np.tril(a[b, start:start + size, h, :size].astype(np.float64), -1)
                close(out[b, start:start + size, h, :size], np.linalg.inv(np.eye(size) + block), 1e-4,
                      1e-5)


@pytest.mark.parametrize("T", [32, 41])
def test_chunked_linear_attention(T):
    K, V = 16, 16
    q, k, v = normal(T, K), normal(T, K, seed=1), normal(T, V, seed=2)
    g = -rng(3).uniform(0, 0.3, T).astype(np.float32)
    o, state = zeros(T, V), zeros(K, V)
    pk.chunked_linear_attention[(1, )](q, k, v, g, state, o, 0.25, T, K, V, 16, STORE_STATE=True)
    h, expected = np.zeros((K, V)), np.zeros((T, V))
    wq, wk, wv, wg = wide(q, k, v, g)
    for t in range(T):
        h = h * np.exp(wg[t]) + np.outer(wk[t], wv[t])
        expected[t] = 0.25 * wq[t] @ h
    close(o, expected, 1e-4, 1e-4)
    # Beyond the end there is nothing to add and nothing that decays.
    close(state, h, 1e-4, 1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_fused_moe(weighted):
    tokens, top_k, experts, N, K, block = 9, 2, 4, 21, 19, 8
    a, b = normal(tokens, K), normal(experts, N, K, seed=1)
    weights = rng(2).uniform(0, 1, tokens * top_k).astype(np.float32)
    ids = rng(3).integers(0, experts, tokens * top_k)
    order, owners = [], []
    for e in range(experts):
        mine = np.flatnonzero(ids == e).tolist()
        mine += [tokens * top_k] * (-len(mine) % block)
        order += mine
        owners += [e if e != 3 else -1] * (len(mine) // block)
    c = np.full((tokens * top_k, N), 7, np.float16)
    blocks = len(owners)
    padded = np.array([len(order)], np.int32)
    grid = ((blocks + 1) * 2, )
    pk.fused_moe[grid](a,
                       b,
                       c,
                       weights,
                       np.array(order, np.int32),
                       np.array(owners, np.int32),
                       padded,
                       N,
                       K,
                       tokens * top_k,
                       BM=block,
                       BN=16,
                       BK=16,
                       MUL_ROUTED_WEIGHT=weighted,
                       top_k=top_k,
                       compute_type=tl.float16)
    expected = np.einsum("tk,tnk->tn", *wide(np.repeat(a, top_k, 0), b[ids]))
    expected *= weights[:, None] if weighted else 1
    expected[ids == 3] = 0
    close(c, expected, 4e-3, 4e-3)


def e4m3(byte):
    byte = byte.astype(np.int64)
    sign, exponent, mantissa = byte >> 7, byte >> 3 & 15, byte & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0**(exponent - 7))
    return np.where(sign == 1, -value, value)


def test_block_scaled_fp8_matmul():
    M, N, K, group = 13, 20, 40, 16
    # Without NaN, which is 127 and 255.
    a, b = (rng(s).integers(0, 120, shape).astype(np.uint8) for s, shape in ((0, (M, K)), (1, (N, K))))
    groups = -(-K // group)
    a_s = rng(2).uniform(0.5, 1, (M, groups)).astype(np.float32)
    b_s = rng(3).uniform(0.5, 1, (-(-N // group), groups)).astype(np.float32)
    c = zeros(M, N)
    pk.block_scaled_fp8_matmul[(1, 2)](a, b, a_s, b_s, c, M, N, K, group, BM=16, BN=16)
    scaled_a = e4m3(a) * np.repeat(a_s, group, 1)[:, :K]
    scaled_b = e4m3(b) * np.repeat(np.repeat(b_s, group, 0)[:N], group, 1)[:, :K]
    close(c, scaled_a @ scaled_b.T, 1e-5, 1e-3)


def test_lora():
    rows, d_in, d_out, rank, adapters = 5, 37, 45, 8, 3
    x, y = normal(rows, d_in), normal(rows, d_out, seed=1)
    a, b = normal(adapters, rank, d_in, seed=2), normal(adapters, d_out, rank, seed=3)
    index = np.array([0, -1, 2, 2, 1], np.int32)
    before = y.astype(np.float64)
    pk.lora_shrink_expand[(rows, )](x, a, b, y, index, d_in, d_out, rank, 32, 0.5)
    for r, i in enumerate(index):
        add = 0 if i < 0 else b[i].astype(np.float64) @ (a[i].astype(np.float64) @ x[r]) * 0.5
        close(y[r], before[r] + add, 1e-4, 1e-4)


def test_attention_backward():
    T, D, scale = 41, 16, 0.3
    q, k, v, do = (normal(T, D, seed=s) for s in range(4))
    wq, wk, wv, wdo = wide(q, k, v, do)
    s = np.where(np.tril(np.ones((T, T), bool)), wq @ wk.T * scale, -np.inf)
    lse = np.log(np.exp(s).sum(1))
    p = np.exp(s - lse[:, None])
    delta = (p @ wv * wdo).sum(1)
    dq, dk, dv = zeros(T, D), zeros(T, D), zeros(T, D)
    pk.attention_backward[(3, )](q,
                                 k,
                                 v,
                                 do,
                                 dq,
                                 dk,
                                 dv,
                                 lse.astype(np.float32),
                                 delta.astype(np.float32),
                                 scale,
                                 T,
                                 BLOCK=16,
                                 D=D)
    ds = p * (wdo @ wv.T - delta[:, None]) * scale
    close(dv, p.T @ wdo, 1e-4, 1e-5)
    close(dk, ds.T @ wq, 1e-4, 1e-5)
    close(dq, ds @ wk, 1e-4, 1e-5)


@pytest.mark.parametrize("log", [False, True])
def test_softmax_backward(log):
    x, dy = normal(3, 45), normal(3, 45, seed=1)
    wx, wdy = wide(x, dy)
    p = np.exp(wx) / np.exp(wx).sum(1, keepdims=True)
    y = (np.log(p) if log else p).astype(np.float32)
    dx = zeros(3, 45)
    pk.softmax_backward[(3, )](y, dy, dx, 45, log, BLOCK=64)
    expected = wdy - p * wdy.sum(1, keepdims=True) if log else p * (wdy -
                                                                    (p * wdy).sum(1, keepdims=True))
    close(dx, expected)


def test_max_pool():
    planes, H, W, K, stride, pad = 3, 11, 13, 3, 2, 1
    OH, OW = (H + 2 * pad - K) // stride + 1, (W + 2 * pad - K) // stride + 1
    x = normal(planes, H, W)
    out, index = zeros(planes, OH, OW), zeros(planes, OH, OW, dtype=np.int32)
    pk.max_pool2d[(2, planes)](x, out, index, H, W, OH, OW, K, stride, pad, BLOCK=32)
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (K, K), (1, 2))[:, ::stride, ::stride]
    np.testing.assert_array_equal(out, windows.max((-1, -2)))
    np.testing.assert_array_equal(x.reshape(planes, -1)[np.arange(planes)[:, None, None], index], out)
