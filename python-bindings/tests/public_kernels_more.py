# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the kinds that public repositories have: helpers of generated code, linear attention,
routed and quantised products, backward passes."""

import tile
import tile.language as tl
from tile.language.extra.cuda import libdevice


# Helpers of generated code ----------------------------------------------------------------


@tile.jit
def compare_and_swap_with_index(x, ids, valid, flip, i: tl.constexpr, n_dims: tl.constexpr,
                                descending: tl.constexpr):
    # One step of a bitonic network on pairs; partners meet in a dimension of 2.
    n_outer: tl.constexpr = x.numel >> n_dims
    shape: tl.constexpr = [n_outer * 2**i, 2, 2**(n_dims - i - 1)]
    idtype = tl.core.dtype(f"int{x.dtype.primitive_bitwidth}")
    right_mask = tl.arange(0, 2)[None, :, None].to(idtype)
    left_mask = (1 - right_mask).to(idtype)
    y = tl.reshape(x, shape)
    iy = y.to(idtype, bitcast=True)
    ileft = tl.broadcast_to(tl.sum(iy * left_mask, 1).to(idtype)[:, None, :], shape)
    iright = tl.broadcast_to(tl.sum(iy * right_mask, 1).to(idtype)[:, None, :], shape)
    left = tl.reshape(ileft, x.shape).to(x.dtype, bitcast=True)
    right = tl.reshape(iright, x.shape).to(x.dtype, bitcast=True)
    y_ids = tl.reshape(ids, shape)
    left_ids = tl.reshape(tl.broadcast_to(tl.sum(y_ids * left_mask.to(ids.dtype), 1)[:, None, :], shape),
                          x.shape)
    right_ids = tl.reshape(
        tl.broadcast_to(tl.sum(y_ids * right_mask.to(ids.dtype), 1)[:, None, :], shape), x.shape)
    if descending:
        cond = left < right
    else:
        cond = left > right
    # Equal values keep their order.
    cond = cond | ((left == right) & (left_ids > right_ids))
    cond = (cond ^ flip).to(tl.int1)
    ix = x.to(idtype, bitcast=True)
    ret = ix ^ tl.where(cond,
                        tl.reshape(ileft, x.shape) ^ tl.reshape(iright, x.shape), tl.zeros_like(ix))
    new_ids = ids ^ tl.where(cond, left_ids ^ right_ids, tl.zeros_like(ids))
    return ret.to(x.dtype, bitcast=True), new_ids


@tile.jit
def sort_with_index(x, idxs, descending: tl.constexpr):
    n_dims: tl.constexpr = tl.standard._log2(x.shape[1])
    for stage in tl.static_range(1, n_dims + 1):
        if stage < n_dims:
            shape: tl.constexpr = [x.shape[0] * 2**(n_dims - 1 - stage), 2, 2**stage]
            flip = tl.reshape(tl.broadcast_to(tl.arange(0, 2)[None, :, None], shape), x.shape) != 0
        else:
            flip = False
        for i in tl.static_range(stage):
            x, idxs = compare_and_swap_with_index(x, idxs, None, flip, i + (n_dims - stage), n_dims,
                                                  descending)
    return x, idxs


@tile.jit
def sort_pairs(x_ptr, v_ptr, i_ptr, M: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    idx = tl.broadcast_to(tl.arange(0, N)[None, :].to(tl.int32), [M, N])
    values, indices = sort_with_index(x, idx, DESCENDING)
    tl.store(v_ptr + at, values)
    tl.store(i_ptr + at, indices)


@tile.jit
def bucketize(values, boundaries_ptr, SIZE: tl.constexpr, indexing_dtype, right: tl.constexpr,
              BLOCK_SHAPE: tl.constexpr):
    low = tl.zeros(BLOCK_SHAPE, dtype=indexing_dtype)
    high = tl.full(BLOCK_SHAPE, SIZE, dtype=indexing_dtype)
    full_range = SIZE + 1
    while full_range > 1:
        mid = (high + low) // 2
        mask = (mid < SIZE) & (low < high)
        bound = tl.load(boundaries_ptr + mid, mask=mask, other=0.0)
        if right:
            is_above = values >= bound
        else:
            is_above = values > bound
        low = tl.where(is_above & mask, mid + 1, low)
        high = tl.where(is_above, high, mid)
        full_range = (full_range + 1) // 2
    return low


@tile.jit
def bucketize_kernel(in_ptr0, in_ptr1, out_ptr0, xnumel, RIGHT: tl.constexpr, SIZE: tl.constexpr,
                     XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + xindex, xmask)
    tmp1 = bucketize(tmp0, in_ptr1, SIZE, tl.int32, RIGHT, [XBLOCK])
    tl.device_assert(((0 <= tmp1) & (tmp1 <= SIZE)) | ~(xmask), "index out of bounds: 0 <= tmp1 <= SIZE")
    tl.store(out_ptr0 + xindex, tmp1, xmask)


@tile.jit
def frexp(x):
    y = libdevice.ilogb(x) + 1
    exponent = tl.where(x == 0, 0, y)
    mantissa = tl.where(x == 0, 0, libdevice.ldexp(x, -y))
    return mantissa, exponent


@tile.jit
def randint64(seed, offset, low, high):
    r0, r1, _r2, _r3 = tl.randint4x(seed, offset)
    result = r0.to(tl.uint64) | (r1.to(tl.uint64) << 32)
    size = high - low
    result = result % size.to(tl.uint64)
    return result.to(tl.int64) + low


@tile.jit
def generated_others(in_ptr0, seeds, out_ptr0, out_ptr1, out_ptr2, out_ptr3, load_seed_offset,
                     xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + x0, xmask)
    mantissa, exponent = frexp(tmp0)
    tl.store(out_ptr0 + x0, mantissa, xmask)
    tl.store(out_ptr1 + x0, exponent, xmask)
    tmp1 = tl.load(seeds + load_seed_offset)
    tmp2 = x0
    tmp3 = tl.full([1], -5, tl.int64)
    tmp4 = tl.full([1], 1000, tl.int64)
    tl.store(out_ptr2 + x0, randint64(tmp1, (tmp2).to(tl.uint32), tmp3, tmp4), xmask)
    tmp5 = tl.broadcast_to(tl.load(seeds + 0), [XBLOCK])
    tmp6 = libdevice.trunc(tmp0 * 10).to(tl.int32) + tl.full([XBLOCK], 3, tl.int32)
    tmp7 = tl.abs(tmp6)
    tl.atomic_add(out_ptr3 + tl.broadcast_to(tmp7 % 4, [XBLOCK]), tmp5 * 0 + 1, xmask, sem="relaxed")


@tile.jit
def lookback_scan(x_ptr, out_ptr, flags_ptr, n, BLOCK: tl.constexpr):
    # A cumulative sum in one pass: each block publishes value and state in one 64-bit word
    # (state 1: its own sum, 2: the sum up to it), and adds what those before it published.
    pid = tl.program_id(0)
    o = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0)
    scan = tl.cumsum(x, 0)
    total = tl.sum(x, 0)
    pack = (total.to(tl.uint64) << 32) | tl.where(pid == 0, 2, 1).to(tl.uint64)
    tl.atomic_xchg(flags_ptr + pid, pack, sem="release")
    prefix = total * 0
    at = pid - 1
    while at >= 0:
        word = tl.full((), 0, tl.uint64)
        while word == 0:
            word = tl.atomic_add(flags_ptr + at, tl.full((), 0, tl.uint64), sem="acquire")
        prefix += (word >> 32).to(tl.int32)
        at = tl.where((word & 3) == 2, -1, at - 1)
    full = ((prefix + total).to(tl.uint64) << 32) | tl.full((), 2, tl.uint64)
    tl.atomic_xchg(flags_ptr + pid, full, sem="release")
    tl.store(out_ptr + o, scan + prefix, mask=o < n)


# Linear attention -------------------------------------------------------------------------


@tile.jit
def inverse_of_triangle(A, Ai, T, H: tl.constexpr, BT: tl.constexpr):
    # (I + A)^-1 of strictly lower triangular blocks, by forward substitution.
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    A = A + (i_b * T * H + i_h) * BT
    Ai = Ai + (i_b * T * H + i_h) * BT
    p_A = tl.make_block_ptr(A, (T, BT), (H * BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    o_i = tl.arange(0, BT)
    b_A = tl.load(p_A, boundary_check=(0, 1)).to(tl.float32)
    b_A = -tl.where(o_i[:, None] > o_i[None, :], b_A, 0)
    for i in range(1, min(BT, T - i_t * BT)):
        mask = o_i == i
        b_a = -tl.load(A + (i_t * BT + i) * H * BT + o_i).to(tl.float32)
        b_a = tl.where(o_i < i, b_a, 0.)
        b_a = b_a + tl.sum(b_a[:, None] * b_A, 0)
        b_A = tl.where(mask[:, None], b_a, b_A)
    b_A += o_i[:, None] == o_i[None, :]
    p_Ai = tl.make_block_ptr(Ai, (T, BT), (H * BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    tl.store(p_Ai, b_A.to(p_Ai.dtype.element_ty, fp_downcast_rounding="rtne"), boundary_check=(0, 1))


@tile.jit
def chunked_linear_attention(q, k, v, g, h, o, scale, T, K: tl.constexpr, V: tl.constexpr,
                             BT: tl.constexpr, STORE_STATE: tl.constexpr):
    # One head: the state that earlier chunks left, plus what is within the chunk.
    b_h = tl.zeros([K, V], dtype=tl.float32)
    o_t = tl.arange(0, BT)
    for i_t in range(tl.cdiv(T, BT)):
        p_q = tl.make_block_ptr(q, (T, K), (K, 1), (i_t * BT, 0), (BT, K), (1, 0))
        p_k = tl.make_block_ptr(k, (K, T), (1, K), (0, i_t * BT), (K, BT), (0, 1))
        p_v = tl.make_block_ptr(v, (T, V), (V, 1), (i_t * BT, 0), (BT, V), (1, 0))
        p_g = tl.make_block_ptr(g, (T, ), (1, ), (i_t * BT, ), (BT, ), (0, ))
        b_q = tl.load(p_q, boundary_check=(0, 1))
        b_q = (b_q * scale).to(b_q.dtype)
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_v = tl.load(p_v, boundary_check=(0, 1))
        b_g = tl.cumsum(tl.load(p_g, boundary_check=(0, )), 0)
        b_g_last = tl.sum(tl.where(o_t == BT - 1, b_g, 0), 0)
        b_s = tl.dot(b_q, b_k, allow_tf32=False)
        b_s = tl.where(o_t[:, None] >= o_t[None, :], b_s * tl.exp(b_g[:, None] - b_g[None, :]), 0)
        b_o = tl.dot(b_s.to(b_v.dtype), b_v) + tl.dot(b_q, b_h.to(b_q.dtype)) * tl.exp(b_g)[:, None]
        p_o = tl.make_block_ptr(o, (T, V), (V, 1), (i_t * BT, 0), (BT, V), (1, 0))
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))
        b_h *= tl.exp(b_g_last)
        b_h = tl.dot((b_k * tl.exp(b_g_last - b_g)[None, :]).to(b_v.dtype), b_v, b_h)
    if STORE_STATE:
        p_h = tl.make_block_ptr(h, (K, V), (V, 1), (0, 0), (K, V), (1, 0))
        tl.store(p_h, b_h)


# Products ---------------------------------------------------------------------------------


@tile.jit
def write_zeros(c_ptr, stride_cm, offs_cn, N, offs_token, token_mask, BM: tl.constexpr, BN: tl.constexpr,
                T):
    accumulator = tl.zeros((BM, BN), dtype=T)
    c_mask = token_mask[:, None] & (offs_cn[None, :] < N)
    tl.store(c_ptr + stride_cm * offs_token[:, None] + offs_cn[None, :], accumulator, mask=c_mask)


@tile.jit
def fused_moe(a_ptr, b_ptr, c_ptr, topk_weights_ptr, sorted_token_ids_ptr, expert_ids_ptr,
              num_tokens_post_padded_ptr, N, K, num_valid_tokens, BM: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr, MUL_ROUTED_WEIGHT: tl.constexpr, top_k: tl.constexpr,
              compute_type: tl.constexpr):
    # Blocks of tokens of one expert each, in the order of moe_align_block_size.
    pid = tl.program_id(axis=0)
    num_pid_n = tl.cdiv(N, BN)
    pid_m, pid_n = pid // num_pid_n, pid % num_pid_n
    num_tokens_post_padded = tl.load(num_tokens_post_padded_ptr)
    if pid_m * BM >= num_tokens_post_padded:
        return
    offs_token_id = pid_m * BM + tl.arange(0, BM).to(tl.int64)
    offs_token = tl.load(sorted_token_ids_ptr + offs_token_id)
    token_mask = offs_token < num_valid_tokens
    offs_bn = (pid_n * BN + tl.arange(0, BN).to(tl.int64)) % N
    offs_cn = pid_n * BN + tl.arange(0, BN)
    off_experts = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    if off_experts == -1:
        write_zeros(c_ptr, N, offs_cn, N, offs_token, token_mask, BM, BN, compute_type)
        return
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * K + offs_k[None, :])
    b_ptrs = b_ptr + off_experts * N * K + (offs_k[:, None] + offs_bn[None, :] * K)
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < K - k * BK), other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        accumulator += tl.dot(a, b)
        a_ptrs += BK
        b_ptrs += BK
    if MUL_ROUTED_WEIGHT:
        accumulator *= tl.load(topk_weights_ptr + offs_token, mask=token_mask, other=0)[:, None]
    c_mask = token_mask[:, None] & (offs_cn[None, :] < N)
    tl.store(c_ptr + N * offs_token[:, None] + offs_cn[None, :],
             accumulator.to(compute_type),
             mask=c_mask)


@tile.jit
def block_scaled_fp8_matmul(a_ptr, b_ptr, as_ptr, bs_ptr, c_ptr, M, N, K, GROUP: tl.constexpr,
                            BM: tl.constexpr, BN: tl.constexpr):
    # Scales for GROUP values of a row of A, and for GROUP x GROUP values of B.
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rm, rn = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    groups = tl.cdiv(K, GROUP)
    for k in range(groups):
        rk = k * GROUP + tl.arange(0, GROUP)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :],
                    mask=(rm < M)[:, None] & (rk < K)[None, :],
                    other=0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None],
                    mask=(rn < N)[None, :] & (rk < K)[:, None],
                    other=0)
        a_s = tl.load(as_ptr + rm * groups + k, mask=rm < M, other=0.0)
        b_s = tl.load(bs_ptr + rn // GROUP * groups + k, mask=rn < N, other=0.0)
        a, b = a.to(tl.float8e4nv, bitcast=True), b.to(tl.float8e4nv, bitcast=True)
        acc += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm < M)[:, None] & (rn < N)[None, :])


@tile.jit
def lora_shrink_expand(x_ptr, a_ptr, b_ptr, y_ptr, index_ptr, d_in: tl.constexpr, d_out: tl.constexpr,
                       R: tl.constexpr, BLOCK: tl.constexpr, scaling):
    # Each row of x goes through the adapter that its index names; -1 is none.
    row = tl.program_id(0)
    which = tl.load(index_ptr + row)
    if which < 0:
        return
    r = tl.arange(0, R)
    h = tl.zeros((R, ), tl.float32)
    for k in range(0, d_in, BLOCK):
        o = k + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * d_in + o, mask=o < d_in, other=0.0)
        a = tl.load(a_ptr + which * R * d_in + r[:, None] * d_in + o[None, :],
                    mask=(o < d_in)[None, :],
                    other=0.0)
        h += tl.sum(a * x[None, :], 1)
    h *= scaling
    for n in range(0, d_out, BLOCK):
        o = n + tl.arange(0, BLOCK)
        b = tl.load(b_ptr + which * d_out * R + o[:, None] * R + r[None, :],
                    mask=(o < d_out)[:, None],
                    other=0.0)
        y = tl.load(y_ptr + row * d_out + o, mask=o < d_out)
        tl.store(y_ptr + row * d_out + o, y + tl.sum(b * h[None, :], 1), mask=o < d_out)


# Backward passes --------------------------------------------------------------------------


@tile.jit
def attention_backward(Q, K, V, DO, DQ, DK, DV, L, Delta, sm_scale, N_CTX, BLOCK: tl.constexpr,
                       D: tl.constexpr):
    # One head; a program has a block of keys, and adds to DQ with atomics.
    start_n = tl.program_id(0) * BLOCK
    n = start_n + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    at_n = n[:, None] * D + d[None, :]
    k = tl.load(K + at_n, mask=n[:, None] < N_CTX, other=0.0)
    v = tl.load(V + at_n, mask=n[:, None] < N_CTX, other=0.0)
    dk = tl.zeros([BLOCK, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK, D], dtype=tl.float32)
    for start_m in range(start_n, N_CTX, BLOCK):
        m = start_m + tl.arange(0, BLOCK)
        at_m = m[:, None] * D + d[None, :]
        inside = m[:, None] < N_CTX
        q = tl.load(Q + at_m, mask=inside, other=0.0)
        do = tl.load(DO + at_m, mask=inside, other=0.0)
        lse = tl.load(L + m, mask=m < N_CTX, other=0.0)
        delta = tl.load(Delta + m, mask=m < N_CTX, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * sm_scale
        valid = (m[:, None] >= n[None, :]) & inside & (n[None, :] < N_CTX)
        p = tl.where(valid, tl.exp(qk - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None]) * sm_scale
        dk += tl.dot(tl.trans(ds.to(q.dtype)), q)
        tl.atomic_add(DQ + at_m, tl.dot(ds.to(k.dtype), k), mask=inside, sem="relaxed")
    tl.store(DK + at_n, dk, mask=n[:, None] < N_CTX)
    tl.store(DV + at_n, dv, mask=n[:, None] < N_CTX)


@tile.jit
def softmax_backward(output_ptr, dout_ptr, dx_ptr, n_cols, log: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    y = tl.load(output_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dout_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    if log:
        dx = dy - tl.exp(y) * tl.sum(tl.where(mask, dy, 0.0), axis=0)
    else:
        dx = y * (dy - tl.sum(y * dy, axis=0))
    tl.store(dx_ptr + row * n_cols + cols, dx, mask=mask)


@tile.jit
def max_pool2d(x_ptr, out_ptr, index_ptr, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr,
               PAD: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = o < OH * OW
    oy, ox = o // OW, o % OW
    best = tl.full([BLOCK], float("-inf"), tl.float32)
    where = tl.full([BLOCK], -1, tl.int32)
    for ky in tl.static_range(K):
        for kx in tl.static_range(K):
            y, x = oy * STRIDE - PAD + ky, ox * STRIDE - PAD + kx
            ok = inside & (y >= 0) & (y < H) & (x >= 0) & (x < W)
            v = tl.load(x_ptr + plane * H * W + y * W + x, mask=ok, other=float("-inf"))
            where = tl.where(v > best, y * W + x, where)
            best = tl.maximum(best, v)
    tl.store(out_ptr + plane * OH * OW + o, best, mask=inside)
    tl.store(index_ptr + plane * OH * OW + o, where, mask=inside)
