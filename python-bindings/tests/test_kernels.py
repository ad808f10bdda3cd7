# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in the style of public ones: attention, persistent products, generated reductions,
quantised weights, groups of pointers."""

from typing import NamedTuple

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.language.extra import libdevice

RNG = np.random.default_rng(5)


@tile.jit
def _attn_inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, start_m, qk_scale,
                BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr,
                STAGE: tl.constexpr, offs_m: tl.constexpr, offs_n: tl.constexpr, N_CTX: tl.constexpr):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, N_CTX
    K_block_ptr = tl.advance(K_block_ptr, (0, lo))
    V_block_ptr = tl.advance(V_block_ptr, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(K_block_ptr)
        qk = tl.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * qk_scale + tl.where(mask, 0, -1.0e6)
            m_ij = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale)
            qk = qk * qk_scale - m_ij[:, None]
        p = tl.math.exp2(qk)
        l_ij = tl.sum(p, 1)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = tl.load(V_block_ptr)
        p = p.to(v.dtype)
        acc = tl.dot(p, v, acc)
        m_i = m_ij
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
    return acc, l_i, m_i


@tile.jit
def _attn_fwd(Q, K, V, sm_scale, M, Out, stride_qm, stride_qk, N_CTX,
              HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    tl.static_assert(BLOCK_N <= HEAD_DIM)
    start_m = tl.program_id(0)
    Q_block_ptr = tl.make_block_ptr(base=Q, shape=(N_CTX, HEAD_DIM), strides=(stride_qm, stride_qk),
        offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    v_order: tl.constexpr = (0, 1) if V.dtype.element_ty == tl.float8e5 else (1, 0)
    V_block_ptr = tl.make_block_ptr(base=V, shape=(N_CTX, HEAD_DIM), strides=(stride_qm, stride_qk),
        offsets=(0, 0), block_shape=(BLOCK_N, HEAD_DIM), order=v_order)
    K_block_ptr = tl.make_block_ptr(base=K, shape=(HEAD_DIM, N_CTX), strides=(stride_qk, stride_qm),
        offsets=(0, 0), block_shape=(HEAD_DIM, BLOCK_N), order=(0, 1))
    O_block_ptr = tl.make_block_ptr(base=Out, shape=(N_CTX, HEAD_DIM), strides=(stride_qm, stride_qk),
        offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale
    qk_scale *= 1.44269504
    q = tl.load(Q_block_ptr)
    if STAGE & 1:
        acc, l_i, m_i = _attn_inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, start_m, qk_scale,
                                    BLOCK_M, HEAD_DIM, BLOCK_N, 4 - STAGE, offs_m, offs_n, N_CTX)
    if STAGE & 2:
        acc, l_i, m_i = _attn_inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, start_m, qk_scale,
                                    BLOCK_M, HEAD_DIM, BLOCK_N, 2, offs_m, offs_n, N_CTX)
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    m_ptrs = M + offs_m
    tl.store(m_ptrs, m_i)
    tl.store(O_block_ptr, acc.to(Out.type.element_ty))


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    n, d = 64, 32
    q, k, v = (RNG.normal(size=(n, d)).astype(np.float16) for _ in range(3))
    m, out = np.zeros(n, np.float32), np.zeros_like(q)
    _attn_fwd[(n // 32, 1, 1)](q, k, v, 0.5, m, out, d, 1, n, HEAD_DIM=d, BLOCK_M=32, BLOCK_N=16,
                               STAGE=3 if causal else 1)
    scores = q.astype(np.float64) @ k.T.astype(np.float64) * 0.5
    if causal:
        scores = np.where(np.tril(np.ones((n, n))) > 0, scores, -1e6)
    p = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(1, keepdims=True) @ v, atol=2e-3)


@tile.jit
def triton_helpers_max(a, b):
    mask = a > b
    if a.dtype.is_floating():
        mask |= a != a
    return tl.where(mask, a, b)


@tile.jit
def inductor(in_ptr0, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    tmp_max = tl.full([XBLOCK, R0_BLOCK], float("-inf"), tl.float32)
    tmp_idx = tl.full([XBLOCK, R0_BLOCK], 9223372036854775807, tl.int64)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        tmp0 = tl.load(in_ptr0 + (r0_index + r0_numel*x0), r0_mask & xmask, eviction_policy='evict_first', other=0.0).to(tl.float32)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
        better = tmp1 > tmp_max
        tmp_max = tl.where(r0_mask & xmask & better, tmp1, tmp_max)
        tmp_idx = tl.where(r0_mask & xmask & better, r0_index.to(tl.int64), tmp_idx)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tmp4 = r0_numel
    tmp5 = tmp4.to(tl.float32)
    tmp6 = (tmp2 / tmp5)
    tmp7 = libdevice.rsqrt(tmp6 * tmp6 + 1e-05)
    tmp8 = tl.full([1, 1], 3, tl.int32)
    tmp9 = triton_helpers_max(tmp8, x0)
    tl.debug_barrier()
    tl.store(out_ptr0 + (x0), tmp7, xmask)
    tl.store(out_ptr1 + (x0), tmp9, xmask)


def test_generated_reduction():
    x = RNG.normal(size=(10, 100)).astype(np.float16)
    out, index = np.zeros(10, np.float32), np.zeros(10, np.int64)
    inductor[(2, )](x, out, index, 10, 100, XBLOCK=8, R0_BLOCK=32)
    mean = x.astype(np.float64).mean(1)
    np.testing.assert_allclose(out, 1 / np.sqrt(mean * mean + 1e-5), rtol=1e-5)
    np.testing.assert_array_equal(index, np.maximum(np.arange(10), 3))


@tile.jit
def _compute_pid(tile_id, num_pid_in_group, num_pid_m, GROUP_SIZE_M, NUM_SMS):
    group_id = tile_id // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (tile_id % group_size_m)
    pid_n = (tile_id % num_pid_in_group) // group_size_m
    return pid_m, pid_n


@tile.jit
def matmul_persistent(a_ptr, b_ptr, c_ptr, M, N, K, NUM_SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    start_pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BM)
    num_pid_n = tl.cdiv(N, BN)
    k_tiles = tl.cdiv(K, BK)
    num_tiles = num_pid_m * num_pid_n
    tile_id_c = start_pid - NUM_SMS
    offs_k_for_mask = tl.arange(0, BK)
    num_pid_in_group = GROUP * num_pid_n
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS, flatten=True):
        pid_m, pid_n = _compute_pid(tile_id, num_pid_in_group, num_pid_m, GROUP, NUM_SMS)
        offs_am = pid_m * BM + tl.arange(0, BM)
        offs_bn = pid_n * BN + tl.arange(0, BN)
        offs_am = tl.where(offs_am < M, offs_am, 0)
        offs_bn = tl.where(offs_bn < N, offs_bn, 0)
        offs_am = tl.max_contiguous(tl.multiple_of(offs_am, BM), BM)
        accumulator = tl.zeros((BM, BN), dtype=tl.float32)
        for ki in range(k_tiles):
            offs_k = ki * BK + tl.arange(0, BK)
            a = tl.load(a_ptr + (offs_am[:, None] * K + offs_k[None, :]), mask=offs_k_for_mask[None, :] < K - ki * BK, other=0.0)
            b = tl.load(b_ptr + (offs_k[:, None] * N + offs_bn[None, :]), mask=offs_k_for_mask[:, None] < K - ki * BK, other=0.0)
            accumulator = tl.dot(a, b, accumulator)
        tile_id_c += NUM_SMS
        pid_m, pid_n = _compute_pid(tile_id_c, num_pid_in_group, num_pid_m, GROUP, NUM_SMS)
        cm = pid_m * BM + tl.arange(0, BM)
        cn = pid_n * BN + tl.arange(0, BN)
        c_ptrs = c_ptr + N * cm[:, None] + cn[None, :]
        c_mask = (cm[:, None] < M) & (cn[None, :] < N)
        if c_ptr.dtype.element_ty == tl.float8e4nv:
            c = accumulator.to(tl.float8e4nv)
        else:
            c = accumulator.to(tl.float16)
        tl.store(c_ptrs, c, mask=c_mask)


def test_persistent_matmul():
    a, b = RNG.normal(size=(40, 30)).astype(np.float16), RNG.normal(size=(30, 50)).astype(np.float16)
    c = np.zeros((40, 50), np.float16)
    matmul_persistent[(3, )](a, b, c, 40, 50, 30, 3, 16, 16, 16, 2)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=2e-2)


@tile.jit
def _dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


def test_dropout():
    x = RNG.normal(size=1000).astype(np.float32)
    out = np.zeros_like(x)
    _dropout[lambda meta: (tile.cdiv(1000, meta["BLOCK_SIZE"]), )](x, out, 1000, 0.5, 123, BLOCK_SIZE=1024)
    kept = out != 0
    assert 0.4 < kept.mean() < 0.6
    np.testing.assert_allclose(out[kept], x[kept] * 2)


class Destination(NamedTuple):
    ptr: object
    n: object


@tile.jit
def tup(ins, out, strides, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    for k in tl.static_range(len(ins)):
        acc += tl.load(ins[k] + i * strides[k])
    for p in ins:
        acc += tl.load(p + i)
    parts = []
    parts.append(acc)
    parts.append(acc*2)
    tl.store(out.ptr + i, parts[0] + parts[1], mask=i < out.n)


def test_tuples_of_arrays():
    a, b = (RNG.normal(size=64).astype(np.float32) for _ in range(2))
    out = np.zeros(32, np.float32)
    tup[(1, )]((a, b), Destination(out, 20), (2, 1), 32)
    expected = 3 * (a[::2] + b[:32] + a[:32] + b[:32])
    np.testing.assert_allclose(out[:20], expected[:20], rtol=1e-5, atol=1e-6)
    assert not out[20:].any()


@tile.heuristics({"HAS_BIAS": lambda a: a["bias"] is not None, "BLOCK": lambda a: tile.next_power_of_2(a["n"])})
@tile.jit
def bias_add(x, bias, out, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + cols, mask=cols < n, other=float("-inf"))
    if HAS_BIAS:
        v += tl.load(bias + cols, mask=cols < n, other=0.).to(v.dtype)
    else:
        v = v
    m = tl.max(v, 0, return_indices=False)
    v, idx = tl.max(v, 0, return_indices=True)
    tl.store(out + row * 2, m)
    tl.store(out + row * 2 + 1, idx)


@pytest.mark.parametrize("has_bias", [False, True])
def test_optional_pointer_and_indices(has_bias):
    x, bias = RNG.normal(size=(5, 50)).astype(np.float16), RNG.normal(size=50).astype(np.float32)
    out = np.zeros((5, 2), np.float32)
    bias_add[(5, )](x, bias if has_bias else None, out, 50)
    y = x + bias.astype(np.float16) if has_bias else x
    np.testing.assert_array_equal(out[:, 0], y.max(1))
    np.testing.assert_array_equal(out[:, 1], y.argmax(1))


@tile.jit
def dequant(q, s, out, N: tl.constexpr):
    i = tl.arange(0, N)
    packed = tl.load(q + i)
    lo = (packed & 0xF).to(tl.float16) - 8
    hi = ((packed >> 4) & 0xF).to(tl.float16) - 8.0
    v = tl.interleave(lo, hi) * tl.load(s)
    tl.store(out + tl.arange(0, 2*N), v)
    bits = v.to(tl.uint16, bitcast=True)
    tl.static_assert(bits.dtype == tl.uint16 and bits.dtype.primitive_bitwidth == 16)
    tl.static_assert(v.shape[0] == 2*N and v.numel == 2 * N and v.type.is_block())


def test_quantised_weights():
    q, scale = RNG.integers(0, 256, 64).astype(np.uint8), np.array([0.5], np.float16)
    out = np.zeros(128, np.float16)
    dequant[(1, )](q, scale, out, 64)
    pairs = np.stack([(q & 15).astype(np.float16) - 8, (q >> 4).astype(np.float16) - 8], -1)
    np.testing.assert_array_equal(out, pairs.reshape(-1) * 0.5)


@tile.jit
def chunk_cumsum(s, o, T, H: tl.constexpr, BT: tl.constexpr, REVERSE: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    p_s = tl.make_block_ptr(s + i_bh * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
    p_o = tl.make_block_ptr(o + i_bh * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
    b_s = tl.load(p_s, boundary_check=(0,)).to(tl.float32)
    b_o = tl.cumsum(b_s, axis=0)
    if REVERSE:
        b_z = tl.sum(b_s, axis=0)
        b_o = -b_o + b_z[None] + b_s
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0,))


@pytest.mark.parametrize("reverse", [False, True])
def test_chunked_cumsum(reverse):
    x = RNG.normal(size=(2, 3, 50)).astype(np.float32)
    out, expected = np.zeros_like(x), np.zeros_like(x)
    chunk_cumsum[(4, 6)](x, out, 50, 3, 16, reverse)
    for c in range(0, 50, 16):
        y = x[:, :, c:c + 16]
        expected[:, :, c:c + 16] = y[:, :, ::-1].cumsum(-1)[:, :, ::-1] if reverse else y.cumsum(-1)
    np.testing.assert_allclose(out, expected, atol=1e-5)


@tile.jit
def grouped(ptrs, sizes, out, num, GS: tl.constexpr, B: tl.constexpr):
    tile_idx = tl.program_id(0)
    last = 0
    for g in range(GS):
        n = tl.load(sizes + g)
        tiles = tl.cdiv(n, B)
        while tile_idx >= last and tile_idx < last + tiles:
            a = tl.load(ptrs + g).to(tl.pointer_type(tl.float16))
            i = (tile_idx - last) * B + tl.arange(0, B)
            v = tl.load(a + i, mask=i < n, other=0.0)
            tl.atomic_add(out + g, tl.sum(v.to(tl.float32)))
            tile_idx += num
        last = last + tiles


@tile.jit
def grouped_kernel(data, ptrs, sizes, out, num, GS: tl.constexpr, B: tl.constexpr):
    # The emulator knows the memory of arrays that are arguments: here, of data.
    grouped(ptrs, sizes, out, num, GS, B)


@pytest.mark.emulator
def test_groups_of_pointers():
    data = RNG.normal(size=300).astype(np.float16)
    sizes, offsets = np.array([100, 37, 163], np.int32), np.array([0, 100, 137])
    ptrs, out = data.ctypes.data + 2 * offsets, np.zeros(3, np.float32)
    grouped_kernel[(4, )](data, ptrs.astype(np.int64), sizes, out, 4, 3, 32)
    expected = [data[a:a + n].astype(np.float32).sum() for a, n in zip(offsets, sizes)]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
