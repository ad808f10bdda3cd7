"""A fused kernel as a function of torch: bias and ReLU in one pass, with its gradient.

Kernels take torch tensors as they are. They also take what offers only a pointer (`data_ptr()`
and `dtype`) or only DLPack, as arrays of other libraries do; this example passes all three.
Without torch it shows the kernels with NumPy arrays and DLPack.

    python examples/fused_relu.py
"""

import numpy as np

from common import HAS_GPU, empty_like, report, to_device, to_host

import tile
import tile.language as tl

try:
    import torch
except ImportError:
    torch = None


@tile.jit
def forward_kernel(x_ptr, bias_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    bias = tl.load(bias_ptr + offsets % columns, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(x + bias, 0.0), mask=mask)


@tile.jit
def backward_kernel(dout_ptr, out_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    dout = tl.load(dout_ptr + offsets, mask=mask)
    out = tl.load(out_ptr + offsets, mask=mask)
    tl.store(dx_ptr + offsets, tl.where(out > 0, dout, 0.0), mask=mask)


BLOCK = 256


def forward(x, bias, out, rows, columns):
    n = rows * columns
    forward_kernel[(tile.cdiv(n, BLOCK), )](x, bias, out, n, columns, BLOCK=BLOCK)


def backward(dout, out, dx, rows, columns):
    n = rows * columns
    backward_kernel[(tile.cdiv(n, BLOCK), )](dout, out, dx, n, BLOCK=BLOCK)


class DLPackOnly:
    """An array of which nothing is known but that it speaks DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class PointerOnly:
    """An address on the GPU and the type that it points to."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def data_ptr(self):
        return self.array.data_ptr()


def expected_values(x, bias, dout):
    """Result and gradient of x, in float64."""
    out = np.maximum(x.astype(np.float64) + bias, 0)
    return out, np.where(out > 0, dout, 0)


def run_with_torch(x, bias, dout):
    """The kernels in an autograd function."""

    class FusedReLU(torch.autograd.Function):

        @staticmethod
        def forward(ctx, x, bias):
            out = torch.empty_like(x)
            forward(x, bias, out, *x.shape)
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx, dout):
            (out, ) = ctx.saved_tensors
            dx = torch.empty_like(out)
            backward(dout.contiguous(), out, dx, *out.shape)
            return dx, dx.sum(0)

    x, bias = (torch.from_numpy(a).to("cuda" if HAS_GPU else "cpu").requires_grad_() for a in (x, bias))
    out = FusedReLU.apply(x, bias)
    out.backward(torch.from_numpy(dout).to(out.device))
    return [t.detach().cpu().numpy() for t in (out, x.grad, bias.grad)]


def main():
    rng = np.random.default_rng(0)
    rows, columns = 37, 50
    x, dout = (rng.normal(size=(rows, columns)).astype(np.float32) for _ in range(2))
    bias = rng.normal(size=columns).astype(np.float32)
    expected, expected_dx = expected_values(x, bias, dout)

    kinds = {"array": lambda array: array, "DLPack": DLPackOnly}
    if HAS_GPU:
        kinds["pointer"] = PointerOnly
    for name, wrap in kinds.items():
        arrays = [to_device(a) for a in (x, bias, dout)]
        out, dx = empty_like(arrays[0]), empty_like(arrays[0])
        forward(wrap(arrays[0]), wrap(arrays[1]), wrap(out), rows, columns)
        backward(wrap(arrays[2]), wrap(out), wrap(dx), rows, columns)
        report(f"fused_relu by {name}, forward", to_host(out), expected, 1e-6)
        report(f"fused_relu by {name}, backward", to_host(dx), expected_dx, 1e-6)

    if torch is None:
        print("fused_relu: passed; torch is not installed, so that its autograd function was left out")
        return
    out, dx, dbias = run_with_torch(x, bias, dout)
    report("fused_relu in torch, forward", out, expected, 1e-6)
    report("fused_relu in torch, backward, x", dx, expected_dx, 1e-6)
    report("fused_relu in torch, backward, bias", dbias, expected_dx.sum(0), 1e-4)


if __name__ == "__main__":
    main()
