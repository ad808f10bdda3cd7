# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of `tl.dot_scaled` on the host, as torch tensors: numbers of four bits (E2M1) and block
scales (E8M0) of the OCP Microscaling Formats. The names are those of Triton's module."""

from __future__ import annotations

import math

import torch

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS, _NAN = 127, 255


def _check_float32(dtype):
    if dtype != torch.float32:
        raise TypeError(f"these numbers are converted to torch.float32 only, not to {dtype}")


class _Encoded:
    """Numbers in `data`, a byte each: those of a tensor of floats, or of `size` for `random`."""

    def __init__(self, data=None, size=None, device=None):
        if (data is None) == (size is None):
            raise ValueError("either data or size must be given")
        self.device = device if data is None else data.device
        self.size = tuple(data.shape) if data is not None else size if isinstance(size, tuple) else (size, )
        self.data = None if data is None else self._encode(data)

    def _random(self, low: int, high: int):
        self.data = torch.randint(low, high + 1, self.size, dtype=torch.int32,
                                  device=self.device).to(torch.uint8)
        return self


class MXFP4Tensor(_Encoded):
    """Numbers of E2M1: a sign, two bits of exponent, one of mantissa; up to 6, without NaN."""

    def random(self):
        return self._random(0, 15)

    def to(self, dtype):
        _check_float32(dtype)
        values = torch.tensor(_E2M1 + tuple(-v for v in _E2M1), device=self.data.device)
        return values[self.data.long()]

    @staticmethod
    def _encode(values):
        """The nearest numbers, the even one of two; what is larger, infinite or NaN becomes 6."""
        size = values.abs().float().nan_to_num(_E2M1[-1])
        halves = torch.tensor([(a + b) / 2 for a, b in zip(_E2M1, _E2M1[1:])], device=values.device)
        below, above = (torch.bucketize(size, halves, right=right) for right in (False, True))
        code = torch.where(below % 2 == 0, below, above)
        return (code + 8 * torch.signbit(values)).to(torch.uint8)

    def to_packed_tensor(self, dim):
        """Bytes of two neighbours along a dimension, the first one in the lower half; an odd extent
        is filled with zero."""
        data = self.data.movedim(dim, -1)
        if data.shape[-1] % 2:
            data = torch.nn.functional.pad(data, (0, 1))
        return (data[..., ::2] | (data[..., 1::2] << 4)).movedim(-1, dim).contiguous()

    def unpack_packed_tensor(self, packed_tensor, dim, original_shape):
        """The bytes, of a number each, that `to_packed_tensor` has packed."""
        packed = packed_tensor.movedim(dim, -1)
        data = torch.stack((packed & 15, packed >> 4), -1).flatten(-2)
        return data[..., :original_shape[dim]].movedim(-1, dim).contiguous()


class MXScaleTensor(_Encoded):
    """Powers of two: the exponent, biased by 127, or 255 for NaN."""

    def random(self, low=None, high=None):
        """Powers from `low` to `high`, without NaN."""
        least = 0 if low is None else max(0, int(math.log2(low)) + _BIAS)
        most = _NAN - 1 if high is None else min(_NAN - 1, max(0, int(math.log2(high)) + _BIAS))
        if least > most:
            raise ValueError(f"low is {low}, which is above high, {high}")
        return self._random(least, most)

    def to(self, dtype):
        _check_float32(dtype)
        # In two steps: 2^-127 is no normal number of fp32.
        exponent = self.data.to(torch.int32) - _BIAS
        ones = torch.ones(self.data.shape, device=self.data.device)
        powers = torch.ldexp(torch.ldexp(ones, exponent // 2), exponent - exponent // 2)
        return powers.masked_fill(self.data == _NAN, math.nan)

    @staticmethod
    def _encode(values):
        """The largest powers that are not larger; NaN for what is not positive and finite."""
        exponent = torch.frexp(values.float()).exponent - 1 + _BIAS
        is_number = (values > 0) & values.isfinite()
        return torch.where(is_number, exponent.clamp(0, _NAN - 1), _NAN).to(torch.uint8)
