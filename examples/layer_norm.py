"""Layer normalisation, forward and backward.

The backward kernel gives each program a group of rows, and adds its part of the gradients
of weight and bias to memory with atomics.

    python examples/layer_norm.py
"""

import numpy as np

from common import empty_like, report, to_device

import tile
import tile.language as tl


@tile.jit
def forward_kernel(x_ptr, out_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, columns, eps,
                   BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    weight = tl.load(weight_ptr + offsets, mask=mask)
    bias = tl.load(bias_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * columns + offsets, centred * rstd * weight + bias, mask=mask)


@tile.jit
def backward_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr,
                    rows, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0)
    dweight = tl.zeros((BLOCK, ), tl.float32)
    dbias = tl.zeros((BLOCK, ), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        at = row * columns + offsets
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        dout = tl.load(dout_ptr + at, mask=mask, other=0.0)
        rstd = tl.load(rstd_ptr + row)
        normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
        dnormal = dout * weight
        c1 = tl.sum(normal * dnormal, axis=0) / columns
        c2 = tl.sum(dnormal, axis=0) / columns
        tl.store(dx_ptr + at, (dnormal - (normal * c1 + c2)) * rstd, mask=mask)
        dweight += dout * normal
        dbias += dout
    tl.atomic_add(dweight_ptr + offsets, dweight, mask=mask, sem="relaxed")
    tl.atomic_add(dbias_ptr + offsets, dbias, mask=mask, sem="relaxed")


def layer_norm(x, weight, bias, eps=1e-5):
    """The normalised rows, their means and the reciprocals of their deviations."""
    rows, columns = x.shape
    out = empty_like(x)
    mean, rstd = to_device(np.zeros(rows, np.float32)), to_device(np.zeros(rows, np.float32))
    forward_kernel[(rows, )](x, out, weight, bias, mean, rstd, columns, eps,
                             BLOCK=tile.next_power_of_2(columns))
    return out, mean, rstd


def layer_norm_backward(dout, x, weight, mean, rstd):
    """The gradients of x, weight and bias."""
    rows, columns = x.shape
    dx = empty_like(x)
    dweight, dbias = (to_device(np.zeros(columns, np.float32)) for _ in range(2))
    backward_kernel[(min(rows, 64), )](dout, x, weight, mean, rstd, dx, dweight, dbias, rows, columns,
                                       BLOCK=tile.next_power_of_2(columns))
    return dx, dweight, dbias


def main():
    rng = np.random.default_rng(0)
    rows, columns = 70, 200
    x, dout = (rng.normal(size=(rows, columns)).astype(np.float32) for _ in range(2))
    weight, bias = (rng.normal(size=columns).astype(np.float32) for _ in range(2))

    wide = x.astype(np.float64)
    rstd = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    normal = (wide - wide.mean(1, keepdims=True)) * rstd
    dnormal = dout * weight
    expected_dx = (dnormal - normal * (normal * dnormal).mean(1, keepdims=True)
                   - dnormal.mean(1, keepdims=True)) * rstd

    device = [to_device(a) for a in (x, weight, bias, dout)]
    out, mean, inverse = layer_norm(device[0], device[1], device[2])
    report("layer_norm forward", out, normal * weight + bias, 1e-4)
    dx, dweight, dbias = layer_norm_backward(device[3], device[0], device[1], mean, inverse)
    report("layer_norm backward, x", dx, expected_dx, 1e-4)
    report("layer_norm backward, weight", dweight, (dout * normal).sum(0), 1e-3)
    report("layer_norm backward, bias", dbias, dout.sum(0), 1e-3)


if __name__ == "__main__":
    main()
