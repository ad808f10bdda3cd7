"""Matrix product with masked edges. Programs are grouped, so that those that run at the same
time share rows of A and columns of B in the L2 cache.

    python examples/matmul.py
"""

import numpy as np

from common import report, to_device

import tile
import tile.language as tl


@tile.autotune(
    configs=[
        tile.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 4}, num_warps=4),
        tile.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 16, "GROUP_M": 8}, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@tile.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
                  stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                  GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr):
    # The tile of C that this program computes.
    pid = tl.program_id(axis=0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * tiles_n
    first_m = pid // in_group * GROUP_M
    group_m = min(tiles_m - first_m, GROUP_M)
    pid_m = first_m + pid % in_group % group_m
    pid_n = pid % in_group // group_m

    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (rows[:, None] * stride_am + steps[None, :] * stride_ak)
    b_ptrs = b_ptr + (steps[:, None] * stride_bk + columns[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (steps[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(steps[:, None] < left) & (columns[None, :] < N), other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(tl.float16)

    c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(c_ptrs, c, mask=(rows[:, None] < M) & (columns[None, :] < N))


@tile.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


def strides_of(x):
    """Strides in elements."""
    return x.stride() if hasattr(x, "stride") else tuple(s // x.itemsize for s in x.strides)


def matmul(a, b, activation=""):
    """a @ b in fp16, accumulated in fp32."""
    (M, K), (_, N) = a.shape, b.shape
    c = to_device(np.zeros((M, N), np.float16))
    grid = lambda meta: (tile.cdiv(M, meta["BLOCK_M"]) * tile.cdiv(N, meta["BLOCK_N"]), )
    matmul_kernel[grid](a, b, c, M, N, K, *strides_of(a), *strides_of(b), *strides_of(c),
                        ACTIVATION=activation)
    return c


def main():
    rng = np.random.default_rng(0)
    for M, N, K in ((64, 64, 32), (50, 70, 40)):
        a, b = (rng.normal(size=s).astype(np.float16) for s in ((M, K), (K, N)))
        expected = a.astype(np.float64) @ b.astype(np.float64)
        expected = np.where(expected >= 0, expected, 0.01 * expected)
        report(f"matmul, {M} x {N} x {K}", matmul(to_device(a), to_device(b), "leaky_relu"), expected,
               2e-2)


if __name__ == "__main__":
    main()
