# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the kinds that public repositories have: matrix products, attention, scans,
sorting, quantisation, routing."""

import tile
import tile.language as tl


# Matrix products --------------------------------------------------------------------------


@tile.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@tile.jit
def matmul_grouped(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
                   stride_cn, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
                   BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    tl.assume(stride_am > 0)
    offs_am = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(tl.float16)
    offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)


@tile.jit
def batched_matmul(a_ptr, b_ptr, o_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   DIVISIBLE_K: tl.constexpr):
    batch = tl.program_id(2)
    a_ptr += batch * M * K
    b_ptr += batch * K * N
    o_ptr += batch * M * N
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        if DIVISIBLE_K:
            mask_a, mask_b = rm[:, None] < M, rn[None, :] < N
        else:
            mask_a, mask_b = (rm[:, None] < M) & (rk[None, :] < K), (rk[:, None] < K) & (rn[None, :] < N)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask_a, 0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask_b, 0.0)
        acc += tl.dot(a, b, allow_tf32=False)
    tl.store(o_ptr + rm[:, None] * N + rn[None, :], acc, (rm[:, None] < M) & (rn[None, :] < N))


@tile.jit
def split_k_matmul(A, B, C, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                   SPLIT_K: tl.constexpr, EVEN_K: tl.constexpr, AB_DTYPE: tl.constexpr = None):
    pid = tl.program_id(0)
    pid_z = tl.program_id(1)
    grid_n = tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = pid // grid_n, pid % grid_n
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    rk = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    A = A + (ram[:, None] * K + rk[None, :])
    B = B + (rk[:, None] * N + rbn[None, :])
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(A)
            b = tl.load(B)
        else:
            k_remaining = K - k * (BLOCK_K * SPLIT_K)
            _0 = tl.zeros((1, 1), dtype=C.dtype.element_ty)
            a = tl.load(A, mask=rk[None, :] < k_remaining, other=_0)
            b = tl.load(B, mask=rk[:, None] < k_remaining, other=_0)
        if AB_DTYPE is not None:
            a = a.to(AB_DTYPE)
            b = b.to(AB_DTYPE)
        acc = tl.dot(a, b, acc, out_dtype=tl.float32, input_precision="ieee")
        A += BLOCK_K * SPLIT_K
        B += BLOCK_K * SPLIT_K * N
    acc = acc.to(C.dtype.element_ty)
    C = C + (rm[:, None] * N + rn[None, :])
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    if SPLIT_K == 1:
        tl.store(C, acc, mask=mask)
    else:
        tl.atomic_add(C, acc, mask=mask)


@tile.jit
def block_pointer_matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
                         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    a_block = tl.make_block_ptr(base=a_ptr, shape=(M, K), strides=(stride_am, stride_ak),
                                offsets=(pid_m * BM, 0), block_shape=(BM, BK), order=(1, 0))
    b_block = tl.make_block_ptr(base=b_ptr, shape=(K, N), strides=(stride_bk, stride_bn),
                                offsets=(0, pid_n * BN), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc)
        a_block = tl.advance(a_block, (0, BK))
        b_block = b_block.advance((BK, 0))
    c_block = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
    tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@tile.jit
def _tile_of(tile_id, num_pid_in_group, num_pid_m, GROUP_SIZE_M: tl.constexpr):
    group_id = tile_id // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    return first_pid_m + (tile_id % group_size_m), (tile_id % num_pid_in_group) // group_size_m


@tile.jit
def persistent_matmul(a_desc, b_desc, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
                      BK: tl.constexpr, GROUP_SIZE_M: tl.constexpr, NUM_SMS: tl.constexpr,
                      FLATTEN: tl.constexpr):
    dtype = c_ptr.dtype.element_ty
    start_pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BM)
    num_pid_n = tl.cdiv(N, BN)
    k_tiles = tl.cdiv(K, BK)
    num_tiles = num_pid_m * num_pid_n
    in_group = GROUP_SIZE_M * num_pid_n
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS, flatten=FLATTEN, num_stages=2):
        pid_m, pid_n = _tile_of(tile_id, in_group, num_pid_m, GROUP_SIZE_M)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for ki in range(k_tiles):
            a = a_desc.load([pid_m * BM, ki * BK])
            b = b_desc.load([pid_n * BN, ki * BK])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([pid_m * BM, pid_n * BN], acc.to(dtype))


@tile.jit
def descriptor_copy(in_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(in_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    value = tl.load_tensor_descriptor(source, at)
    target.store(at, tl.abs(value))


@tile.jit
def grouped_gemm(a_ptrs, b_ptrs, c_ptrs, sizes, lds, group_size, NUM_SM: tl.constexpr,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, T: tl.constexpr):
    tile_idx = tl.program_id(0)
    last_problem_end = 0
    for g in range(group_size):
        gm = tl.load(sizes + g * 3)
        gn = tl.load(sizes + g * 3 + 1)
        gk = tl.load(sizes + g * 3 + 2)
        num_m_tiles = tl.cdiv(gm, BM)
        num_n_tiles = tl.cdiv(gn, BN)
        num_tiles = num_m_tiles * num_n_tiles
        while (tile_idx >= last_problem_end and tile_idx < last_problem_end + num_tiles):
            k = gk
            lda = tl.load(lds + g * 3)
            ldb = tl.load(lds + g * 3 + 1)
            ldc = tl.load(lds + g * 3 + 2)
            a_ptr = tl.load(a_ptrs + g).to(tl.pointer_type(T))
            b_ptr = tl.load(b_ptrs + g).to(tl.pointer_type(T))
            c_ptr = tl.load(c_ptrs + g).to(tl.pointer_type(T))
            tile_in_gemm = tile_idx - last_problem_end
            m_idx = tile_in_gemm // num_n_tiles
            n_idx = tile_in_gemm % num_n_tiles
            rm = m_idx * BM + tl.arange(0, BM)
            rn = n_idx * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for kk in range(0, tl.cdiv(k, BK)):
                a = tl.load(a_ptr + rm[:, None] * lda + (kk * BK + rk)[None, :],
                            mask=(rm[:, None] < gm) & ((kk * BK + rk)[None, :] < gk), other=0.0)
                b = tl.load(b_ptr + (kk * BK + rk)[:, None] * ldb + rn[None, :],
                            mask=((kk * BK + rk)[:, None] < gk) & (rn[None, :] < gn), other=0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + rm[:, None] * ldc + rn[None, :], acc.to(T),
                     mask=(rm[:, None] < gm) & (rn[None, :] < gn))
            tile_idx += NUM_SM
        last_problem_end = last_problem_end + num_tiles


# Attention --------------------------------------------------------------------------------


@tile.jit
def flash_attention(Q, K, V, Out, L, sm_scale, stride_z, stride_h, stride_m, H, N_CTX,
                    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                    HEAD_DIM: tl.constexpr):
    start_m = tl.program_id(0)
    off_z = tl.program_id(1) // H
    off_h = tl.program_id(1) % H
    base = off_z.to(tl.int64) * stride_z + off_h.to(tl.int64) * stride_h
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    q = tl.load(Q + base + offs_m[:, None] * stride_m + offs_d[None, :], mask=offs_m[:, None] < N_CTX,
                other=0.0)
    hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX) if CAUSAL else N_CTX
    for start_n in range(0, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        n = start_n + offs_n
        k = tl.load(K + base + n[None, :] * stride_m + offs_d[:, None],
                    mask=n[None, :] < N_CTX,
                    other=0.0)
        qk = tl.dot(q, k) * qk_scale
        valid = n[None, :] < N_CTX
        if CAUSAL:
            valid = valid & (offs_m[:, None] >= n[None, :])
        qk = tl.where(valid, qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V + base + n[:, None] * stride_m + offs_d[None, :],
                    mask=n[:, None] < N_CTX,
                    other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(L + tl.program_id(1) * N_CTX + offs_m, m_i, mask=offs_m < N_CTX)
    tl.store(Out + base + offs_m[:, None] * stride_m + offs_d[None, :], acc.to(Out.type.element_ty),
             mask=offs_m[:, None] < N_CTX)


@tile.jit
def decode_attention(q_ptr, kv_ptr, table_ptr, len_ptr, out_ptr, scale, PAGE: tl.constexpr,
                     D: tl.constexpr, PAGES: tl.constexpr):
    # One query token against keys in pages, which a table points to; keys serve as values.
    row = tl.program_id(0)
    length = tl.load(len_ptr + row)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + row * D + d).to(tl.float32)
    e_max = -float("inf")
    e_sum = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for start in range(0, length, PAGE):
        page = tl.load(table_ptr + row * PAGES + start // PAGE)
        at = start + tl.arange(0, PAGE)
        kv = tl.load(kv_ptr + (page * PAGE + tl.arange(0, PAGE))[:, None] * D + d[None, :],
                     mask=(at < length)[:, None], other=0.0).to(tl.float32)
        qk = tl.sum(q[None, :] * kv, 1) * scale
        qk = tl.where(at < length, qk, float("-inf"))
        n_e_max = tl.maximum(tl.max(qk, 0), e_max)
        re_scale = tl.exp(e_max - n_e_max)
        p = tl.exp(qk - n_e_max)
        acc = acc * re_scale + tl.sum(p[:, None] * kv, 0)
        e_sum = e_sum * re_scale + tl.sum(p, 0)
        e_max = n_e_max
    tl.store(out_ptr + row * D + d, acc / e_sum)


# Scans, sorting, counting -----------------------------------------------------------------


@tile.jit
def blocked_cumsum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = tl.zeros((), tl.float32)
    for start in range(0, n, BLOCK):
        o = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + o, mask=o < n, other=0.0)
        tl.store(y_ptr + row * n + o, tl.cumsum(x, 0) + carry, mask=o < n)
        carry += tl.sum(x, 0)


@tile.jit
def first_order_op(fl, xl, fr, xr):
    return fr * fl, fr * xl + xr


@tile.jit
def linear_recurrence(gate_ptr, token_ptr, out_ptr, LENGTH: tl.constexpr, REVERSE: tl.constexpr):
    o = tl.program_id(0) * LENGTH + tl.arange(0, LENGTH)
    gates = tl.load(gate_ptr + o)
    tokens = tl.load(token_ptr + o)
    _, result = tl.associative_scan((gates, tokens), axis=0, combine_fn=first_order_op, reverse=REVERSE)
    tl.store(out_ptr + o, result)


@tile.jit
def row_topk(x_ptr, v_ptr, i_ptr, n, K: tl.constexpr, BLOCK: tl.constexpr):
    # Values and positions in one 64-bit integer, so that sorting the one sorts both.
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + o, mask=o < n, other=float("-inf"))
    bits = x.to(tl.uint32, bitcast=True)
    key = tl.where((bits >> 31) != 0, ~bits, bits | 0x80000000)
    packed = (key.to(tl.uint64) << 32) | (0x7FFFFFFF - o).to(tl.uint32).to(tl.uint64)
    top = tl.topk(packed, K)
    high = (top >> 32).to(tl.uint32)
    value = tl.where((high >> 31) != 0, high ^ 0x80000000, ~high).to(tl.float32, bitcast=True)
    k = tl.arange(0, K)
    tl.store(v_ptr + row * K + k, value)
    tl.store(i_ptr + row * K + k, (0x7FFFFFFF - (top & 0xFFFFFFFF).to(tl.int64)).to(tl.int32))


@tile.jit
def sort_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr, DESCENDING: tl.constexpr):
    o = tl.program_id(0) * n + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + o, mask=mask, other=float("-inf") if DESCENDING else float("inf"))
    tl.store(y_ptr + o, tl.sort(x, descending=DESCENDING), mask=mask)


@tile.jit
def histogram(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0)
    counts = tl.histogram(x, BINS, mask=o < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts, sem="relaxed")


@tile.jit
def embedding(index_ptr, table_ptr, out_ptr, n, dim, padding_idx, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    index = tl.load(index_ptr + rows, mask=rows < n, other=padding_idx)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows < n)[:, None] & (cols < dim)[None, :]
    use = mask & (index != padding_idx)[:, None]
    value = tl.load(table_ptr + index[:, None] * dim + cols[None, :], mask=use, other=0.0)
    tl.store(out_ptr + rows[:, None] * dim + cols[None, :], value, mask=mask)


@tile.jit
def moe_align_block_size(topk_ids_ptr, sorted_ids_ptr, expert_ids_ptr, total_ptr, counts_ptr, numel,
                         BLOCK: tl.constexpr, EXPERTS: tl.constexpr, SIZE: tl.constexpr):
    # Tokens in the order of their experts, each expert's part padded to whole blocks.
    e = tl.arange(0, EXPERTS)
    counts = tl.zeros((EXPERTS, ), tl.int32)
    for start in range(0, numel, SIZE):
        o = start + tl.arange(0, SIZE)
        ids = tl.load(topk_ids_ptr + o, mask=o < numel, other=EXPERTS)
        counts += tl.sum((ids[:, None] == e[None, :]).to(tl.int32), 0)
    padded = tl.cdiv(counts, BLOCK) * BLOCK
    ends = tl.cumsum(padded, 0)
    tl.store(total_ptr, tl.sum(padded, 0))
    tl.store(counts_ptr + e, ends - padded)
    blocks = tl.arange(0, SIZE)
    owner = tl.sum((blocks[:, None] * BLOCK >= ends[None, :]).to(tl.int32), 1)
    tl.store(expert_ids_ptr + blocks, owner, mask=blocks * BLOCK < tl.sum(padded, 0))
    tl.debug_barrier()
    for start in range(0, numel, SIZE):
        o = start + tl.arange(0, SIZE)
        ids = tl.load(topk_ids_ptr + o, mask=o < numel, other=0)
        rank = tl.atomic_add(counts_ptr + ids, 1, mask=o < numel)
        tl.store(sorted_ids_ptr + rank, o, mask=o < numel)


# Quantisation -----------------------------------------------------------------------------


@tile.jit
def quantise_int8(x_ptr, q_ptr, s_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    mask = o < n
    x = tl.load(x_ptr + row * n + o, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(x)), 1e-10)
    scale = absmax / 127.0
    q = tl.extra.cuda.libdevice.rint(x / scale)
    tl.store(q_ptr + row * n + o, q.to(tl.int8), mask=mask)
    tl.store(s_ptr + row, scale)


@tile.jit
def quantise_fp8(y_ptr, y_q_ptr, y_s_ptr, N, eps, fp8_min, fp8_max, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    y_ptr += group * N
    y_q_ptr += group * N
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    y = tl.load(y_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(y)), eps)
    y_s = absmax / fp8_max
    y_q = tl.clamp(y / y_s, fp8_min, fp8_max).to(tl.float8e4nv)
    tl.store(y_q_ptr + cols, y_q.to(tl.uint8, bitcast=True), mask=mask)
    tl.store(y_s_ptr + group, y_s)


@tile.jit
def dequantise_int4(packed_ptr, scale_ptr, zero_ptr, out_ptr, N: tl.constexpr, GROUP: tl.constexpr,
                    JOIN: tl.constexpr):
    # Two values a byte; the lower half is the even column.
    row = tl.program_id(0)
    o = tl.arange(0, N // 2)
    packed = tl.load(packed_ptr + row * (N // 2) + o)
    low = (packed & 0xF).to(tl.int8)
    high = ((packed >> 4) & 0xF).to(tl.int8)
    if JOIN:
        values = tl.join(low, high).reshape(N)
    else:
        values = tl.interleave(low, high)
    cols = tl.arange(0, N)
    scale = tl.load(scale_ptr + row * (N // GROUP) + cols // GROUP)
    zero = tl.load(zero_ptr + row * (N // GROUP) + cols // GROUP)
    tl.store(out_ptr + row * N + cols, (values.to(tl.float32) - zero) * scale)


@tile.jit
def int8_matmul(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                BK: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros((M, N), tl.int32)
    for k in tl.static_range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + rk[None, :])
        b = tl.load(b_ptr + rk[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    c = acc.to(tl.float32) * tl.load(sa_ptr + m)[:, None] * tl.load(sb_ptr + n)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], c.to(tl.float16))


# Others -----------------------------------------------------------------------------------


@tile.jit
def adam(p_ptr, g_ptr, m_ptr, v_ptr, n, lr, beta1, beta2, eps, weight_decay, step,
         BLOCK: tl.constexpr, AMSGRAD: tl.constexpr = False, max_ptr=None):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = o < n
    p = tl.load(p_ptr + o, mask=mask)
    g = tl.load(g_ptr + o, mask=mask)
    m = tl.load(m_ptr + o, mask=mask)
    v = tl.load(v_ptr + o, mask=mask)
    p *= 1 - lr * weight_decay
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    t = step.to(tl.float32)
    m_hat = m / (1 - tl.exp(t * tl.log(beta1)))
    v_hat = v / (1 - tl.math.pow(beta2, t))
    if AMSGRAD:
        v_max = tl.maximum(tl.load(max_ptr + o, mask=mask), v_hat)
        tl.store(max_ptr + o, v_max, mask=mask)
        v_hat = v_max
    p -= lr * m_hat / (tl.sqrt(v_hat) + eps)
    tl.store(p_ptr + o, p, mask=mask)
    tl.store(m_ptr + o, m, mask=mask)
    tl.store(v_ptr + o, v, mask=mask)


@tile.jit
def segment_sum(x_ptr, offsets_ptr, out_ptr, dim, BLOCK_R: tl.constexpr, BLOCK_D: tl.constexpr):
    segment = tl.program_id(0)
    begin = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    if begin == end:
        return
    d = tl.arange(0, BLOCK_D)
    acc = tl.zeros((BLOCK_R, BLOCK_D), tl.float32)
    r = begin
    while r < end:
        rows = r + tl.arange(0, BLOCK_R)
        mask = (rows < end)[:, None] & (d < dim)[None, :]
        acc += tl.load(x_ptr + rows[:, None] * dim + d[None, :], mask=mask, other=0.0)
        r += BLOCK_R
    tl.store(out_ptr + segment * dim + d, tl.sum(acc, 0), mask=d < dim)


@tile.jit
def causal_conv1d(x_ptr, w_ptr, b_ptr, y_ptr, length, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
                  HAS_BIAS: tl.constexpr, SILU: tl.constexpr):
    channel = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x_ptr += channel * length
    acc = tl.load(b_ptr + channel) + tl.zeros((BLOCK, ), tl.float32) if HAS_BIAS else tl.zeros(
        (BLOCK, ), tl.float32)
    for j in tl.static_range(WIDTH):
        at = o - (WIDTH - 1) + j
        acc += tl.load(w_ptr + channel * WIDTH + j) * tl.load(x_ptr + at, mask=(at >= 0) & (at < length),
                                                            other=0.0)
    if SILU:
        acc = acc / (1 + tl.exp(-acc))
    tl.store(y_ptr + channel * length + o, acc, mask=o < length)


@tile.jit
def transpose_by_blocks(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1),
                        GROUP)
    rows = i * BLOCK + tl.arange(0, BLOCK)
    cols = j * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :],
                mask=(rows < M)[:, None] & (cols < N)[None, :])
    tl.store(y_ptr + cols[:, None] * M + rows[None, :], tl.trans(x),
             mask=(cols < N)[:, None] & (rows < M)[None, :])
