# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that cross the border of a region: out of branches, and around loops."""

from __future__ import annotations

from ..language.aggregate import Aggregate
from ..language.pointers import block_pointer, tensor_descriptor
from ..language.semantic import is_number, show, to_tensor
from ..language.tensor import tensor


class Undefined:
    """A variable that is not defined on all ways to this place."""

    def __init__(self, where: str):
        self.where = where

    def message(self, name: str) -> str:
        return f"{name} is not defined here: it was assigned {self.where} only"


class Returned:
    """Says that a block has ended with `return`."""

    def __init__(self, value):
        self.value = value


class NotCarried(Exception):
    """A value that cannot be a result of a branch or loop."""


def _is_named_tuple(value) -> bool:
    return hasattr(value, "_fields")


def flatten(value, tensors: list):
    """Appends the tensors that `value` consists of; its structure, for `rebuild`.

    Numbers become tensors. Raises NotCarried on values that are no run-time values.
    """
    if isinstance(value, tensor) or is_number(value):
        value = to_tensor(value)
        tensors.append(value)
        return ("tensor", value.dtype, value.shape)
    if isinstance(value, (tuple, list)):
        return ("tuple", type(value), tuple(flatten(v, tensors) for v in value))
    if isinstance(value, (block_pointer, tensor_descriptor)):
        return ("block", value, tuple(flatten(p, tensors) for p in value.parts()))
    if isinstance(value, Aggregate):
        # The fields that are constexprs are no run-time values, even if they are numbers.
        parts = [("same", part) if wanted == "constexpr" else flatten(part, tensors)
                 for part, wanted in zip(value.parts(), value._aggregate_fields.values())]
        return ("aggregate", value, tuple(parts))
    if value is None or isinstance(value, (str, Undefined)) or callable(value):
        return ("same", value)
    raise NotCarried(show(value))


def rebuild(structure, tensors):
    """The value of `structure` with the tensors of an iterator."""
    kind = structure[0]
    if kind == "tensor":
        return next(tensors)
    if kind == "tuple":
        values = [rebuild(s, tensors) for s in structure[2]]
        if _is_named_tuple(structure[1]):
            return structure[1](*values)
        return values if structure[1] is list else tuple(values)
    if kind in ("block", "aggregate"):
        return structure[1].with_parts([rebuild(s, tensors) for s in structure[2]])
    return structure[1]


def same(a, b) -> bool:
    """Whether two structures fit each other."""
    if a[0] != b[0]:
        return False
    if a[0] == "tensor":
        return a[1] == b[1] and a[2] == b[2]
    if a[0] == "tuple":
        return len(a[2]) == len(b[2]) and all(same(x, y) for x, y in zip(a[2], b[2]))
    if a[0] == "block":
        return a[1].fixed() == b[1].fixed() and all(same(x, y) for x, y in zip(a[2], b[2]))
    if a[0] == "aggregate":
        return type(a[1]) is type(b[1]) and all(same(x, y) for x, y in zip(a[2], b[2]))
    return a[1] is b[1] or a[1] == b[1]


def describe(structure) -> str:
    """A structure in the words of an error message."""
    kind = structure[0]
    if kind == "tensor":
        return str(tensor(None, structure[1], structure[2], 0).type)
    if kind == "tuple":
        return f"({', '.join(describe(s) for s in structure[2])})"
    if kind == "block":
        return str(structure[1])
    if kind == "aggregate":
        return f"{type(structure[1]).__name__}({', '.join(describe(s) for s in structure[2])})"
    return show(structure[1])


def identical(a, b) -> bool:
    """Whether two values are one value, so that a branch changes nothing."""
    if isinstance(a, list) or isinstance(b, list):
        return a is b
    return _is_equal(a, b, identical)


def alike(a, b) -> bool:
    """As `identical`, but for lists, which may be two of equal values."""
    return _is_equal(a, b, alike)


def _is_equal(a, b, is_equal) -> bool:
    if a is b:
        return True
    if isinstance(a, (tensor, tuple, list)) or isinstance(b, (tensor, tuple, list)):
        is_one_kind = any(isinstance(a, kind) and isinstance(b, kind) for kind in (tuple, list))
        return is_one_kind and len(a) == len(b) and all(is_equal(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and (is_number(a) or isinstance(a, str)) and a == b
