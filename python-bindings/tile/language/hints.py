# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels promise the compiler about their values."""

from __future__ import annotations

from . import semantic
from .arguments import compile_time_int
from .debugging import device_assert, has_assertions
from .semantic import to_tensor
from .tensor import tensor
from .types import builder, unwrap


def _hint(input, name: str, values):
    values = unwrap(values)
    values = list(values) if isinstance(values, (tuple, list)) else [values]
    values = [compile_time_int(v, name) for v in values]
    rank = max(1, len(input.shape))
    if len(values) != rank:
        raise ValueError(f"{len(values)} values of {name} for a tile of rank {len(input.shape)}")
    # A fact about a constant says nothing new.
    if isinstance(input, tensor) and input.constant is None:
        builder().set_hint(input.handle, name, values)
    return input


def multiple_of(input, values):
    """Promises that the first element of each contiguous run is a multiple of `values`."""
    return _hint(to_tensor(input), "divisibility", values)


def max_contiguous(input, values):
    """Promises that runs of `values` elements are contiguous."""
    return _hint(to_tensor(input), "contiguity", values)


def max_constancy(input, values):
    """Promises that runs of `values` elements are equal."""
    return _hint(to_tensor(input), "constancy", values)


def expect_zero(x, cond) -> tensor:
    """Says that `x` is zero wherever `cond` is false, which is checked in kernels that are
    compiled for debugging. Nothing else is made of it yet."""
    cond, x = semantic.truth(cond), to_tensor(x)
    if has_assertions():
        is_zero = semantic.compare("eq", x, 0)
        device_assert(semantic.arithmetic("|", cond, is_zero), "x must be zero where cond is false")
    return x


def assume(cond):
    """Promises that a scalar condition holds. `x >= 0` and `x % 16 == 0` may widen the accesses
    whose index depends on `x`."""
    if isinstance(unwrap(cond), (bool, int)) and not unwrap(cond):
        raise ValueError("assume of a condition that is false at compile time")
    cond = semantic.truth(cond)
    if not cond.shape:
        builder().op_without_result("tile.assume", [cond.handle])
