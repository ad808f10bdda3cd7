"""Dropout without a mask in memory: whether an element is kept follows from a seed and its
index, so that the backward pass finds out anew.

    python examples/dropout.py
"""

import numpy as np

from common import empty_like, report, to_device, to_host

import tile
import tile.language as tl


@tile.jit
def keeps(seed, offsets, p):
    """Whether the elements at `offsets` are kept, each with probability 1 - p."""
    return tl.rand(seed, offsets) > p


@tile.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    # What is kept is scaled, so that the expected value stays the same.
    out = tl.where(keeps(seed, offsets, p), x / (1 - p), 0.0)
    tl.store(out_ptr + offsets, out, mask=mask)


def dropout(x, p, seed):
    """x with elements set to zero at random. The gradient of x is `dropout` of the gradient of
    the result, with the same p and seed."""
    out = empty_like(x)
    n = x.shape[0]
    dropout_kernel[(tile.cdiv(n, 1024), )](x, out, n, p, seed, BLOCK=1024)
    return out


def main():
    rng = np.random.default_rng(0)
    n, p = 5000, 0.3
    x, dout = (rng.normal(size=n).astype(np.float32) for _ in range(2))
    out = to_host(dropout(to_device(x), p, seed=42))
    kept = out != 0
    report("dropout forward", out, np.where(kept, x.astype(np.float64) / (1 - p), 0), 1e-5)
    dx = dropout(to_device(dout), p, seed=42)
    report("dropout backward", dx, np.where(kept, dout.astype(np.float64) / (1 - p), 0), 1e-5)
    report("dropout, share of kept elements", np.array([kept.mean()]), np.array([1 - p]), 0.02)
    other = to_host(dropout(to_device(x), p, seed=43))
    report("dropout, another seed keeps others", np.array([np.mean(kept == (other != 0))]),
           np.array([p * p + (1 - p) * (1 - p)]), 0.03)


if __name__ == "__main__":
    main()
