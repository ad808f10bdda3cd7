# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generators of kernels ask about NVIDIA GPUs."""

from __future__ import annotations

from collections.abc import Callable

from ..compiler import Compiler as CUDABackend
from ..compiler import GPUTarget

__all__ = ["CUDABackend", "min_dot_size"]

# An operand's row of 32 bytes is the least that a tensor core's instruction reads along k.
_ROW_BITS = 256


def min_dot_size(target: GPUTarget) -> Callable[[object, object], tuple[int, int, int]]:
    """A function from the two operands' types to the least extents (m, n, k) of a dot product."""

    def extents(lhs, rhs) -> tuple[int, int, int]:
        widths = [type_.scalar.primitive_bitwidth for type_ in (lhs, rhs)]
        if widths[0] != widths[1]:
            raise ValueError(f"operands of one width expected, got {lhs} and {rhs}")
        return (1, 1, _ROW_BITS // widths[0])

    return extents
