# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor descriptors that the host makes."""

from __future__ import annotations

import operator
from dataclasses import dataclass


@dataclass
class TensorDescriptor:
    """A tensor that a kernel accesses in blocks of `block_shape`; an argument of launches.
    Strides are in elements, and the last one is 1; the base and the other strides, in bytes,
    are multiples of 16. `padding` is what a load gives outside: "zero" or "nan"."""

    base: object
    shape: tuple
    strides: tuple
    block_shape: tuple
    padding: str = "zero"
    # Of Triton; only False is supported.
    round_f32_to_tf32: bool = False

    def __post_init__(self):
        from ..runtime.arguments import as_array
        array = as_array(self.base)
        if array is None:
            raise TypeError(f"a descriptor needs an array, got a {type(self.base).__name__}")
        for name in ("shape", "strides", "block_shape"):
            values = getattr(self, name)
            try:
                setattr(self, name, tuple(operator.index(value) for value in values))
            except TypeError:
                raise TypeError(f"{name} of a descriptor must be integers, got {values!r}") from None
        if self.round_f32_to_tf32:
            raise NotImplementedError("round_f32_to_tf32=True is not supported: cast what is loaded")
        if self.padding not in ("zero", "nan"):
            raise ValueError(f'the padding of a descriptor is "zero" or "nan", got {self.padding!r}')
        if not len(self.shape) == len(self.strides) == len(self.block_shape):
            raise ValueError("shape, strides and block_shape must have one length")
        if not self.shape:
            raise ValueError("a descriptor has at least one dimension")
        if min(self.block_shape) < 1:
            raise ValueError(f"the extents of block_shape must be positive, got {self.block_shape}")
        if not all(0 <= extent < 2**31 for extent in self.shape):
            raise ValueError(f"the extents of shape must be numbers from 0 to {2**31 - 1}, got {self.shape}")
        if self.strides[-1] != 1:
            raise ValueError(f"the last stride must be 1, got {self.strides[-1]}")
        if array.address % 16:
            raise ValueError("the base of a descriptor must be aligned to 16 bytes")
        for stride in self.strides[:-1]:
            if stride * array.dtype.itemsize % 16:
                raise ValueError(f"a stride of {stride} elements of {array.dtype} is no multiple of 16 "
                                 "bytes")

    @classmethod
    def from_tensor(cls, tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        """The descriptor of a whole array."""
        strides = tensor.stride() if hasattr(tensor, "stride") else [
            stride // tensor.itemsize for stride in tensor.strides]
        return cls(tensor, tuple(tensor.shape), tuple(strides), tuple(block_shape), padding, round_f32_to_tf32)
