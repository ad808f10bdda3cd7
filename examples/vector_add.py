"""Vector addition, tuned: the autotuner tries each config once for each new M.

    python examples/vector_add.py
"""

import numpy as np

from common import empty_like, report, to_device

import tile
import tile.language as tl


@tile.autotune(
    configs=[
        tile.Config({"BLOCK_SIZE": 128}, num_warps=4),
        tile.Config({"BLOCK_SIZE": 64}, num_warps=8),
    ],
    key=["M"],
)
@tile.jit
def vector_add(x_ptr, y_ptr, out_ptr, M, BLOCK_SIZE: tl.constexpr):
    # One program adds BLOCK_SIZE elements; the last one may reach past the end.
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < M
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y):
    """x + y, by the kernel."""
    out = empty_like(x)
    M = x.shape[0]
    grid = lambda meta: (tile.cdiv(M, meta["BLOCK_SIZE"]), )
    vector_add[grid](x, y, out, M)
    return out


def main():
    rng = np.random.default_rng(0)
    for M in (1, 1000, 4096):
        x, y = rng.normal(size=M).astype(np.float32), rng.normal(size=M).astype(np.float32)
        out = add(to_device(x), to_device(y))
        report(f"vector_add, M = {M}, {vector_add.best_config}", out, x + y, 0)


if __name__ == "__main__":
    main()
