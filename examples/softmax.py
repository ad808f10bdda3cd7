"""Softmax over the rows of a matrix, fused: each row is read once and written once.

    python examples/softmax.py
"""

import numpy as np

from common import empty_like, report, to_device

import tile
import tile.language as tl


@tile.jit
def softmax_kernel(out_ptr, x_ptr, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    # Programs stride over the rows, so that any grid will do.
    first, step = tl.program_id(0), tl.num_programs(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    for row in tl.range(first, rows, step):
        x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=-float("inf"))
        # Subtracting the maximum keeps exp from overflowing and changes nothing else.
        numerator = tl.exp(x - tl.max(x, axis=0))
        denominator = tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + offsets, numerator / denominator, mask=mask)


def softmax(x):
    """The softmax of each row."""
    rows, columns = x.shape
    out = empty_like(x)
    block = tile.next_power_of_2(columns)
    softmax_kernel[(min(rows, 1024), )](out, x, columns, columns, rows, columns, BLOCK=block,
                                        num_warps=4 if block <= 2048 else 8)
    return out


def main():
    rng = np.random.default_rng(0)
    for shape in ((8, 1000), (37, 128), (3, 4096)):
        x = rng.normal(size=shape).astype(np.float32)
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        report(f"softmax, {shape[0]} x {shape[1]}", softmax(to_device(x)), e / e.sum(1, keepdims=True),
               1e-6)


if __name__ == "__main__":
    main()
