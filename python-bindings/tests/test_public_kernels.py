# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of public_kernels.py and public_kernels_matrix.py against NumPy in float64."""

import math

import numpy as np
import pytest

import tile
import tile.language as tl
import public_kernels as pk
import public_kernels_matrix as pm

erf = np.vectorize(math.erf)


def rng(seed=0):
    return np.random.default_rng(seed)


def normal(*shape, seed=0, dtype=np.float32):
    return rng(seed).normal(size=shape).astype(dtype)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def close(actual, expected, rtol=1e-5, atol=1e-5):
    np.testing.assert_allclose(np.asarray(actual, np.float64), expected, rtol=rtol, atol=atol)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# Softmax and normalisation ----------------------------------------------------------------


@pytest.mark.parametrize("rows, columns", [(5, 67), (3, 128), (2, 1)])
def test_fused_softmax(rows, columns):
    x = normal(rows, columns)
    out = zeros(rows, columns)
    pk.fused_softmax[(2, )](out, x, columns, columns, rows, columns,
                            BLOCK_SIZE=tile.next_power_of_2(columns), num_stages=2)
    close(out, softmax(x), atol=1e-6)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-6), (np.float16, 1e-3)])
def test_online_softmax(dtype, tolerance):
    x = (normal(3, 75) * 5).astype(dtype)
    out = zeros(3, 75, dtype=dtype)
    pk.online_softmax[(3, )](x, out, 75, BLOCK=32)
    close(out, softmax(x), tolerance, tolerance)


def normalised(x, eps=1e-5):
    x = x.astype(np.float64)
    mean, rstd = x.mean(-1, keepdims=True), 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    return (x - mean) * rstd, mean, rstd


def test_layer_norm_forward_and_backward():
    M, N, group = 7, 45, 3
    x, dy = normal(M, N), normal(M, N, seed=1)
    w, b = normal(N, seed=2), normal(N, seed=3)
    y, mean, rstd = zeros(M, N), zeros(M), zeros(M)
    pk.layer_norm_fwd[(M, )](x, y, w, b, mean, rstd, N, N, 1e-5, BLOCK_SIZE=32)
    hat, expected_mean, expected_rstd = normalised(x)
    close(y, hat * w + b)
    close(mean, expected_mean[:, 0])
    close(rstd, expected_rstd[:, 0])

    dx, dw, db = zeros(M, N), zeros(group, N), zeros(group, N)
    final_dw, final_db = zeros(N), zeros(N)
    lock = zeros(2 * group, dtype=np.int32)
    pk.layer_norm_bwd_dx[(M, )](dx, dy, dw, db, x, w, mean, rstd, lock, N, N, GROUP_SIZE_M=group,
                                BLOCK_SIZE_N=64)
    pk.layer_norm_bwd_dwdb[(2, )](dw, db, final_dw, final_db, group, N, BLOCK_SIZE_M=4, BLOCK_SIZE_N=32)
    wdy = dy.astype(np.float64) * w
    close(dx,
          (wdy - hat * (hat * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)) * expected_rstd)
    close(final_dw, (dy * hat).sum(0))
    close(final_db, dy.astype(np.float64).sum(0))
    assert not lock[:group].any() and lock[group:].all()


@pytest.mark.parametrize("dtype, before", [(np.float32, False), (np.float16, True)])
def test_rms_norm(dtype, before):
    x, w = normal(4, 50, dtype=dtype), normal(50, seed=1, dtype=dtype)
    y, r = zeros(4, 50, dtype=dtype), zeros(4)
    pk.rms_norm[(4, )](y, x, w, r, 50, 1e-6, before, BLOCK=64)
    wide = x.astype(np.float64)
    expected = 1 / np.sqrt((wide**2).mean(1) + 1e-6)
    tolerance = 1e-5 if dtype == np.float32 else 2e-3
    close(r, expected)
    close(y, wide * expected[:, None] * w, tolerance, tolerance)


def test_group_norm():
    N, C, HW, groups = 2, 6, 35, 3
    x, w, b = normal(N, C, HW), normal(C, seed=1), normal(C, seed=2)
    y = zeros(N, C, HW)
    pk.group_norm[(N, groups)](x, y, w, b, 2 * HW, 2, HW, 1e-5, BLOCK=32)
    hat = normalised(x.reshape(N, groups, 2 * HW))[0].reshape(N, C, HW)
    close(y, hat * w[:, None] + b[:, None], 1e-4, 1e-5)


# Activations ------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["silu", "gelu"])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 4e-3)])
def test_gated_activations(act, dtype, tolerance):
    gate, up = normal(3, 37, dtype=dtype), normal(3, 37, seed=1, dtype=dtype)
    out = zeros(3, 37, dtype=dtype)
    pk.gated_forward[(3, )](gate, up, out, 37, 37, act, BLOCK_SIZE=64)
    g = gate.astype(np.float64)
    value = g * sigmoid(g) if act == "silu" else 0.5 * g * (
        1 + np.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g**3)))
    close(out, value * up, tolerance, tolerance)


@pytest.mark.compiled
def test_unknown_activation():
    x = zeros(64)
    with pytest.raises(tile.CompileTimeAssertionFailure, match="unknown activation mish"):
        pk.gated_forward[(1, )](x, x, x, 64, 64, "mish", BLOCK_SIZE=64)


def test_gated_backward():
    gate, up, dout = (normal(75, seed=s) for s in range(3))
    a, b, d = (v.astype(np.float64) for v in (gate, up, dout))
    pk.gated_backward[(3, )](dout, gate, up, 75, BLOCK=32)
    close(gate, d * b * (a * sigmoid(a) * (1 - sigmoid(a)) + sigmoid(a)))
    close(up, d * a * sigmoid(a))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("conjugate", [False, True])
def test_rotary_embedding(interleaved, conjugate):
    batch, length, heads, half = 2, 5, 3, 6
    x = normal(batch, length, heads, 2 * half)
    angle = np.arange(length)[:, None] / 100.0**(np.arange(half) / half)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    out = zeros(*x.shape)
    stride_b, stride_s, stride_h = (s // 4 for s in x.strides[:3])
    pk.rotary[(2, heads, batch)](x, cos, sin, out, length, stride_b, stride_s, stride_h, half, BLOCK_M=4,
                                 BLOCK_K=8, INTERLEAVED=interleaved, CONJUGATE=conjugate)
    wide = x.astype(np.float64)
    x0, x1 = (wide[..., ::2], wide[..., 1::2]) if interleaved else (wide[..., :half], wide[..., half:])
    c, s = cos[:, None], sin[:, None] * (-1 if conjugate else 1)
    parts = x0 * c - x1 * s, x0 * s + x1 * c
    expected = np.stack(parts, -1).reshape(x.shape) if interleaved else np.concatenate(parts, -1)
    close(out, expected)


# Random numbers ---------------------------------------------------------------------------


def philox_words(seed, counters, rounds=10):
    """Philox4x32 on counters (n, 0, 0, 0), as Salmon et al. describe it."""
    mask = 0xFFFFFFFF
    result = []
    for n in counters:
        c, k = [int(n), 0, 0, 0], [seed & mask, seed >> 32 & mask]
        for _ in range(rounds):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
            k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
        result.append(c)
    return np.array(result, np.uint32)


def uniform(words):
    signed = words.astype(np.int32).astype(np.float64)
    return np.where(signed < 0, -signed - 1, signed) * 4.6566127342e-10


@pytest.mark.parametrize("seed", [3, 2**40 + 17])
def test_philox(seed):
    n = 64
    floats, gauss, ints = zeros(4, n), zeros(n), zeros(n, dtype=np.uint32)
    pk.philox_fill[(1, )](floats, gauss, ints, seed, n)
    words = philox_words(seed, range(n))
    np.testing.assert_array_equal(ints, words[:, 0])
    u = uniform(words)
    close(floats, u.T, 1e-6, 1e-7)
    assert floats.min() >= 0 and floats.max() < 1
    close(gauss,
          np.sqrt(-2 * np.log(np.maximum(u[:, 0], 1e-7))) * np.cos(2 * np.pi * u[:, 1]), 1e-4, 1e-5)


def test_seeded_dropout():
    n, p = 300, 0.4
    x = normal(n)
    first, again, other = zeros(n), zeros(n), zeros(n)
    for out, seed in ((first, 123), (again, 123), (other, 124)):
        pk.seeded_dropout[(3, )](x, out, n, p, seed, BLOCK_SIZE=128)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    keep = uniform(philox_words(123, range(n))[:, 0]) > p
    close(first, np.where(keep, x.astype(np.float64) / (1 - p), 0))
    assert abs(keep.mean() - (1 - p)) < 0.1


# Losses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_cross_entropy(smoothing, reduction):
    rows, columns, ignore = 4, 45, -100
    logits = normal(rows, columns)
    wide = logits.astype(np.float64)
    target = np.array([3, ignore, 44, 0], np.int64)
    loss = zeros(rows)
    used = 3
    pk.cross_entropy[(rows, )](logits,
                               columns,
                               target,
                               loss,
                               columns,
                               used,
                               ignore,
                               smoothing,
                               reduction,
                               BLOCK_SIZE=32)
    p = softmax(wide)
    wanted_loss, wanted_grad = np.zeros(rows), np.zeros((rows, columns))
    for r, y in enumerate(target):
        if y != ignore:
            q = np.full(columns, smoothing / columns)
            q[y] += 1 - smoothing
            wanted_loss[r] = -(q * np.log(p[r])).sum()
            wanted_grad[r] = p[r] - q
    scale = used if reduction == "mean" else 1
    close(loss, wanted_loss / scale)
    close(logits, wanted_grad / scale)


@pytest.mark.parametrize("log_target", [False, True])
def test_kl_divergence(log_target):
    p, t = softmax(normal(3, 37)), softmax(normal(3, 37, seed=1))
    loss = zeros(3)
    prediction = np.log(p).astype(np.float32)
    target = (np.log(t) if log_target else t).astype(np.float32)
    pk.kl_divergence[(3, )](prediction, target, loss, 37, 1e-10, BLOCK=16, LOG_TARGET=log_target)
    close(loss, (t * (np.log(t) - np.log(p))).sum(1), 1e-4)


# As Inductor writes them ------------------------------------------------------------------


def test_welford_layer_norm():
    rows, columns = 5, 37
    x, w = normal(rows, columns) + 3, normal(columns, seed=1)
    mean, out = zeros(rows), zeros(rows, columns)
    pk.native_layer_norm[(3, )](x, w, mean, out, rows, columns, XBLOCK=2, R0_BLOCK=16)
    hat, expected_mean, _ = normalised(x)
    close(mean, expected_mean[:, 0])
    close(out, hat * w, 1e-4)


def test_pointwise():
    n = 24 * 7
    x, bias = normal(n), normal(24, seed=1)
    x[5] = np.nan
    out, is_nan = zeros(n), zeros(n, dtype=bool)
    pk.pointwise[(3, )](x, bias, out, is_nan, n, XBLOCK=64)
    wide = x.astype(np.float64) + np.tile(bias, 7).astype(np.float64)
    expected = np.where(np.arange(n) // 24 < 3, wide * 0.5 * (1 + erf(wide / math.sqrt(2))),
                        np.maximum(wide, 0))
    close(out, expected, 1e-4)
    np.testing.assert_array_equal(is_nan, np.isnan(x))


def test_persistent_reduction():
    rows, columns = 5, 50
    x = normal(rows, columns)
    out, index = zeros(rows, columns), zeros(rows, dtype=np.int64)
    pk.persistent_reduction[(2, )](x, out, index, rows, columns, XBLOCK=4)
    close(out, softmax(x))
    np.testing.assert_array_equal(index, x.argmax(1))


# Matrix products --------------------------------------------------------------------------


def product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("M, N, K", [(32, 32, 32), (37, 45, 20)])
@pytest.mark.parametrize("activation", ["", "leaky_relu"])
def test_grouped_matmul(M, N, K, activation):
    a, b = normal(M, K, dtype=np.float16), normal(K, N, seed=1, dtype=np.float16)
    c = zeros(M, N, dtype=np.float16)
    grid = lambda META: (tile.cdiv(M, META["BLOCK_SIZE_M"]) * tile.cdiv(N, META["BLOCK_SIZE_N"]), )
    pm.matmul_grouped[grid](a, b, c, M, N, K, K, 1, N, 1, N, 1, BLOCK_SIZE_M=16, BLOCK_SIZE_N=16,
                            BLOCK_SIZE_K=16, GROUP_SIZE_M=2, ACTIVATION=activation)
    expected = product(a, b)
    if activation:
        expected = np.where(expected >= 0, expected, 0.01 * expected)
    close(c, expected, 2e-3, 2e-3)


@pytest.mark.parametrize("K, divisible", [(32, True), (21, False)])
def test_batched_matmul(K, divisible):
    a, b = normal(3, 20, K), normal(3, K, 18, seed=1)
    c = zeros(3, 20, 18)
    pm.batched_matmul[(2, 2, 3)](a, b, c, 20, 18, K, BM=16, BN=16, BK=16, DIVISIBLE_K=divisible)
    close(c, product(a, b))


@pytest.mark.parametrize("split_k, K", [(1, 32), (2, 64), (3, 50)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_split_k_matmul(split_k, K, dtype):
    a, b = normal(20, K, dtype=dtype), normal(K, 24, seed=1, dtype=dtype)
    c = zeros(20, 24)
    pm.split_k_matmul[(4, split_k)](a, b, c, 20, 24, K, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16,
                                    SPLIT_K=split_k, EVEN_K=K % (16 * split_k) == 0,
                                    AB_DTYPE=tl.float32 if dtype == np.float16 else None)
    close(c, product(a, b), 1e-4, 1e-4)


@pytest.mark.parametrize("order", "CF")
def test_block_pointer_matmul(order):
    M, N, K = 21, 35, 27
    a, b = np.asarray(normal(M, K), order=order), np.asarray(normal(K, N, seed=1), order=order)
    c = zeros(M, N)
    strides = [s // 4 for x in (a, b) for s in x.strides]
    pm.block_pointer_matmul[(2, 3)](a, b, c, M, N, K, *strides, BM=16, BN=16, BK=16)
    close(c, product(a, b))


@pytest.mark.parametrize("flatten", [False, True])
def test_persistent_matmul(flatten):
    from tile.tools.tensor_descriptor import TensorDescriptor
    M, N, K = 40, 48, 32
    a, b = normal(M, K, dtype=np.float16), normal(N, K, seed=1, dtype=np.float16)
    c = zeros(M, N, dtype=np.float16)
    pm.persistent_matmul[(3, )](TensorDescriptor.from_tensor(a, [16, 16]),
                                TensorDescriptor.from_tensor(b, [16, 16]),
                                c,
                                M,
                                N,
                                K,
                                BM=16,
                                BN=16,
                                BK=16,
                                GROUP_SIZE_M=2,
                                NUM_SMS=3,
                                FLATTEN=flatten)
    close(c, product(a, b.T), 2e-3, 2e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_descriptor_copy(dtype):
    x = (normal(21, 40) * 100).astype(dtype)
    out = zeros(21, 40, dtype=dtype)
    pm.descriptor_copy[(3, 3)](x, out, 21, 40, BM=8, BN=16)
    np.testing.assert_array_equal(out, np.abs(x))


@pytest.mark.emulator  # the tables hold addresses of host memory
def test_grouped_gemm():
    sizes = [(20, 17, 16), (5, 33, 24), (16, 16, 9)]
    a = [normal(m, k, seed=i) for i, (m, _, k) in enumerate(sizes)]
    b = [normal(k, n, seed=i + 5) for i, (_, n, k) in enumerate(sizes)]
    c = [zeros(m, n) for m, n, _ in sizes]
    # All matrices in one array: the emulator knows the memory of arguments only.
    memory = np.concatenate([x.ravel() for x in a + b + c])
    starts = np.cumsum([0] + [x.size for x in a + b + c])[:-1]
    tables = (memory.ctypes.data + 4 * starts).astype(np.int64).reshape(3, 3)
    lds = np.array([(k, n, n) for _, n, k in sizes], np.int32)

    @tile.jit
    def kernel(memory, a, b, c, sizes, lds, count, NUM_SM: tl.constexpr, T: tl.constexpr):
        pm.grouped_gemm(a, b, c, sizes, lds, count, NUM_SM, 16, 16, 16, T)

    kernel[(2, )](memory,
                  tables[0].copy(),
                  tables[1].copy(),
                  tables[2].copy(),
                  np.array(sizes, np.int32),
                  lds,
                  3,
                  NUM_SM=2,
                  T=tl.float32)
    for i, (m, n, _) in enumerate(sizes):
        start = starts[6 + i]
        close(memory[start:start + m * n].reshape(m, n), product(a[i], b[i]))


# Attention --------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [32, 41])
def test_flash_attention(causal, length):
    Z, H, D = 1, 2, 16
    q, k, v = (normal(Z, H, length, D, seed=s) for s in range(3))
    out, lse = zeros(Z, H, length, D), zeros(Z * H, length)
    strides = [s // 4 for s in q.strides]
    pm.flash_attention[(tile.cdiv(length, 16), Z * H)](q, k, v, out, lse, 0.3, *strides[:3], H, length,
                                                       CAUSAL=causal, BLOCK_M=16, BLOCK_N=16, HEAD_DIM=D)
    s = product(q, np.swapaxes(k, -1, -2)) * 0.3
    if causal:
        s = np.where(np.tril(np.ones((length, length), bool)), s, -np.inf)
    close(out, softmax(s) @ v.astype(np.float64), 1e-4, 1e-5)
    close(lse.reshape(Z, H, length), np.log2(np.exp(s).sum(-1)), 1e-4, 1e-5)


def test_paged_decode_attention():
    rows, page, pages, D = 3, 16, 3, 32
    lengths = np.array([5, 16, 40], np.int32)
    table = rng().permutation(rows * pages).astype(np.int32).reshape(rows, pages)
    q, kv = normal(rows, D), normal(rows * pages, page, D, seed=1)
    out = zeros(rows, D)
    pm.decode_attention[(rows, )](q, kv, table, lengths, out, 0.2, page, D, pages)
    for r in range(rows):
        keys = kv[table[r]].reshape(-1, D)[:lengths[r]].astype(np.float64)
        close(out[r], softmax(keys @ q[r].astype(np.float64) * 0.2) @ keys)


# Scans, sorting, counting -----------------------------------------------------------------


def test_blocked_cumsum():
    x = normal(3, 75)
    y = zeros(3, 75)
    pm.blocked_cumsum[(3, )](x, y, 75, BLOCK=32)
    close(y, x.astype(np.float64).cumsum(1))


@pytest.mark.parametrize("reverse", [False, True])
def test_linear_recurrence(reverse):
    gates, tokens = rng().uniform(0, 1, (3, 32)).astype(np.float32), normal(3, 32)
    out = zeros(3, 32)
    pm.linear_recurrence[(3, )](gates, tokens, out, 32, reverse)
    expected, h = np.zeros((3, 32)), np.zeros(3)
    for t in range(31, -1, -1) if reverse else range(32):
        h = gates[:, t].astype(np.float64) * h + tokens[:, t]
        expected[:, t] = h
    close(out, expected)


def test_topk_with_indices():
    n, k = 45, 8
    x = normal(4, n)
    x[1, 7] = x[1, 3] = 9.0  # of equal values the first comes first
    values, indices = zeros(4, k), zeros(4, k, dtype=np.int32)
    pm.row_topk[(4, )](x, values, indices, n, K=k, BLOCK=64)
    order = np.argsort(-x, 1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("n", [64, 50])
def test_sort_rows(descending, n):
    x = normal(3, n)
    y = zeros(3, n)
    pm.sort_rows[(3, )](x, y, n, BLOCK=64, DESCENDING=descending)
    np.testing.assert_array_equal(y, np.sort(x, 1)[:, ::-1] if descending else np.sort(x, 1))


def test_histogram():
    x = rng().integers(0, 16, 301).astype(np.int32)
    out = zeros(16, dtype=np.int32)
    pm.histogram[(3, )](x, out, 301, 16, BLOCK=128)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=16))


def test_embedding():
    table = normal(20, 35)
    index = rng().integers(0, 20, 13)
    index[4] = 7
    out = zeros(13, 35)
    pm.embedding[(2, 2)](index, table, out, 13, 35, 7, BM=8, BN=32)
    expected = np.where((index == 7)[:, None], 0, table[index])
    np.testing.assert_array_equal(out, expected)


def test_moe_align_block_size():
    experts, block, numel = 8, 4, 45
    ids = rng().integers(0, experts, numel).astype(np.int32)
    counts = np.bincount(ids, minlength=experts)
    padded = -(-counts // block) * block
    sorted_ids = np.full(128, numel, np.int32)
    expert_ids = np.full(32, -1, np.int32)
    total, scratch = zeros(1, dtype=np.int32), zeros(experts, dtype=np.int32)
    pm.moe_align_block_size[(1, )](ids, sorted_ids, expert_ids, total, scratch, numel, BLOCK=block,
                                   EXPERTS=experts, SIZE=32)
    assert total[0] == padded.sum()
    np.testing.assert_array_equal(expert_ids[:padded.sum() // block],
                                  np.repeat(np.arange(experts), padded // block))
    start = 0
    for e in range(experts):
        part = sorted_ids[start:start + padded[e]]
        np.testing.assert_array_equal(np.sort(part[:counts[e]]), np.flatnonzero(ids == e))
        assert (part[counts[e]:] == numel).all()
        start += padded[e]


# Quantisation -----------------------------------------------------------------------------


def test_quantise_int8():
    x = normal(3, 50)
    q, s = zeros(3, 50, dtype=np.int8), zeros(3)
    pm.quantise_int8[(3, )](x, q, s, 50, BLOCK=64)
    scale = np.abs(x).max(1).astype(np.float64) / 127
    close(s, scale)
    assert np.abs(q * scale[:, None] - x).max() <= scale.max() * 0.5001


def e4m3(byte):
    sign, exponent, mantissa = byte >> 7, byte >> 3 & 15, byte & 7
    value = mantissa / 8 * 2.0**-6 if exponent == 0 else (1 + mantissa / 8) * 2.0**(exponent - 7)
    return -value if sign else value


def test_quantise_fp8():
    x = normal(3, 50)
    q, s = zeros(3, 50, dtype=np.uint8), zeros(3)
    pm.quantise_fp8[(3, )](x, q, s, 50, 1e-10, -448.0, 448.0, BLOCK=64)
    close(s, np.abs(x).max(1).astype(np.float64) / 448)
    grid = np.array([e4m3(b) for b in range(256) if b & 127 != 127])
    # Each value is the nearest of those that the type has.
    wanted = x.astype(np.float64) / s[:, None].astype(np.float64)
    distance = np.abs(wanted[..., None] - grid).min(-1)
    found = np.vectorize(e4m3)(q)
    np.testing.assert_allclose(np.abs(found - wanted), distance, atol=1e-4)


@pytest.mark.parametrize("join", [False, True])
def test_dequantise_int4(join):
    N, group = 64, 16
    values = rng().integers(0, 16, (3, N))
    packed = (values[:, ::2] | values[:, 1::2] << 4).astype(np.uint8)
    scale, zero = normal(3, N // group), rng(1).integers(0, 16, (3, N // group)).astype(np.float32)
    out = zeros(3, N)
    pm.dequantise_int4[(3, )](packed, scale, zero, out, N, group, join)
    close(out, (values - np.repeat(zero, group, 1)) * np.repeat(scale, group, 1).astype(np.float64))


def test_int8_matmul():
    a, b = (rng(s).integers(-128, 128, shape).astype(np.int8)
            for s, shape in ((0, (16, 64)), (1, (64, 16))))
    sa, sb = (rng(s).uniform(1e-3, 2e-3, 16).astype(np.float32) for s in (2, 3))
    c = zeros(16, 16, dtype=np.float16)
    pm.int8_matmul[(1, )](a, b, sa, sb, c, 16, 16, 64, 32)
    close(c, product(a, b) * sa[:, None] * sb, 1e-3, 1e-4)


# Others -----------------------------------------------------------------------------------


@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam(amsgrad):
    n = 75
    p, g, m = (normal(n, seed=s) for s in range(3))
    v, largest = (rng(s).uniform(0, 1, n).astype(np.float32) for s in (3, 4))
    wide = [x.astype(np.float64) for x in (p, g, m, v, largest)]
    lr, b1, b2, eps, decay, step = 0.01, 0.9, 0.99, 1e-8, 0.1, 4
    pm.adam[(3, )](p, g, m, v, n, lr, b1, b2, eps, decay, step, 32, amsgrad,
                   largest if amsgrad else None)
    wp, wg, wm, wv, wl = wide
    wm = b1 * wm + (1 - b1) * wg
    wv = b2 * wv + (1 - b2) * wg**2
    second = wv / (1 - b2**step)
    if amsgrad:
        second = np.maximum(wl, second)
        close(largest, second, 1e-4)
    close(m, wm)
    close(v, wv)
    close(p, wp * (1 - lr * decay) - lr * wm / (1 - b1**step) / (np.sqrt(second) + eps), 1e-4)


def test_segment_sum():
    offsets = np.array([0, 3, 3, 20, 21], np.int32)
    x = normal(21, 13)
    out = np.full((4, 13), 7, np.float32)
    pm.segment_sum[(4, )](x, offsets, out, 13, BLOCK_R=4, BLOCK_D=16)
    expected = np.array([x[a:b].astype(np.float64).sum(0) for a, b in zip(offsets, offsets[1:])])
    expected[1] = 7  # nothing is stored for an empty segment
    close(out, expected)


@pytest.mark.parametrize("bias, silu", [(True, True), (False, False)])
def test_causal_convolution(bias, silu):
    channels, length, width = 3, 45, 4
    x, w, b = normal(channels, length), normal(channels, width, seed=1), normal(channels, seed=2)
    y = zeros(channels, length)
    pm.causal_conv1d[(channels, 2)](x, w, b, y, length, width, BLOCK=32, HAS_BIAS=bias, SILU=silu)
    expected = np.array([np.convolve(x[c].astype(np.float64), w[c][::-1].astype(np.float64))[:length]
                         for c in range(channels)])
    expected += b[:, None] if bias else 0
    close(y, expected * sigmoid(expected) if silu else expected)


def test_transpose_in_swizzled_order():
    x = normal(45, 70)
    y = zeros(70, 45)
    pm.transpose_by_blocks[(3, 5)](x, y, 45, 70, BLOCK=16, GROUP=2)
    np.testing.assert_array_equal(y, x.T)
