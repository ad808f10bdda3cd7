# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions of the language make of their arguments: numbers that are known at compile
time, shapes, axes and types."""

from __future__ import annotations

from . import semantic
from . import types as ty
from .semantic import show
from .tensor import tensor
from .types import dtype, unwrap


def compile_time(value, what: str):
    """The plain value of something that must be known at compile time."""
    value = unwrap(value)
    if isinstance(value, tensor):
        if value.constant is None:
            raise TypeError(f"{what} must be known at compile time (tl.constexpr), got a value of "
                            f"type {value.type}")
        return value.constant
    return value


def compile_time_int(value, what: str) -> int:
    value = compile_time(value, what)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an integer, got {show(value)}")
    return value


def require_size(shape):
    """Raises ValueError for the shape of a tile that is larger than tiles can be."""
    count = 1
    for extent in shape:
        if extent < 1:
            raise ValueError(f"the extents of a tile must be at least 1, got extent {extent} in shape "
                             f"{list(shape)}")
        count *= extent
    semantic.require_count(count, shape)
    return tuple(shape)


def shape_of(shape, what: str = "an extent of the shape"):
    """A shape from one tuple, list or int, or from several ints."""
    if len(shape) == 1 and isinstance(unwrap(shape[0]), (tuple, list)):
        shape = unwrap(shape[0])
    return tuple(compile_time_int(extent, what) for extent in shape)


def _axis(axis, rank: int, what: str = "axis") -> int:
    axis = compile_time_int(axis, what)
    if not -rank <= axis < rank:
        raise ValueError(f"{what} {axis} is out of range for a tile of rank {rank}")
    return axis % rank


def _type(type_) -> dtype:
    type_ = unwrap(type_)
    if isinstance(type_, ty.block_type):
        type_ = type_.scalar
    if isinstance(type_, str):
        return ty.type_of_name(type_)
    if not isinstance(type_, dtype):
        raise TypeError(f"expected a type such as tl.float32, got {show(type_)}")
    return type_
