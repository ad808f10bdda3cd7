# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What constants of kernels are compared by, so that one that has changed is another one: lists and
objects of a program do, while compiled code keeps what it has read of them."""

from __future__ import annotations

import dataclasses
import enum
import functools
import reprlib
import types

from ..language.types import ConstexprFunction, constexpr, dtype

_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
# What stays what it is. The variables that functions read are noted when kernels call them.
_FIXED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, ConstexprFunction, dtype,
          enum.Enum)
# What is nested deeper is not looked at: frozen dataclasses may have themselves as fields.
_MAXIMAL_DEPTH = 32
# Of an object that has so many others in reach kernels do not depend.
_MAXIMAL_OBJECTS = 10000
# Arrays up to this size are compared by their bytes.
_MAXIMAL_BYTES = 1 << 16


class _Itself:
    """An object that is equal to itself alone."""

    __slots__ = ("value", )

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return type(other) is _Itself and self.value is other.value

    def __hash__(self):
        return id(self.value)

    def __repr__(self):
        return f"<{type(self.value).__qualname__}>"


def frozen_fields(kind) -> tuple | None:
    """The names of the fields of a frozen dataclass, on which alone its instances depend; None for
    other classes."""
    # Instances of derived classes may have more attributes.
    parameters = kind.__dict__.get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        return None
    return tuple(field.name for field in dataclasses.fields(kind))


def _attribute_names(value):
    names = set(getattr(value, "__dict__", ()))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names.update((slots, ) if isinstance(slots, str) else slots)
    return sorted(names - {"__dict__", "__weakref__"})


def has_state(value) -> bool:
    """Whether a value is an object of a program with attributes, which may change."""
    kind = type(value)
    if kind in _ATOMS or isinstance(value, (*_FIXED, tuple, constexpr)) or (
            hasattr(value, "compiled_function")):
        return False
    return not kind.__module__.startswith("tile.") and (
        hasattr(value, "__dict__") or any(k.__dict__.get("__slots__") for k in kind.__mro__))


def has_plain_parts(value) -> bool:
    """Whether a container has numbers, strings and such containers only."""
    if isinstance(value, dict):
        return all(map(has_plain_parts, (*value, *value.values())))
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(has_plain_parts, value))
    return type(value) in _ATOMS


def is_fixed(value, depth: int = 0) -> bool:
    """Whether nothing of a value that kernels may read ever changes."""
    kind = type(value)
    if kind in _ATOMS or isinstance(value, _FIXED):
        return True
    if depth == _MAXIMAL_DEPTH:
        return False
    if isinstance(value, (tuple, frozenset)):
        return all(is_fixed(part, depth + 1) for part in value)
    names = frozen_fields(kind)
    if names is not None:
        return all(is_fixed(getattr(value, name, None), depth + 1) for name in names)
    return hasattr(value, "compiled_function") or (
        kind.__hash__ is object.__hash__ and not has_state(value))


def typed(value, seen: dict | None = None):
    """What constants are compared by: values that are equal but of different types, as 1 and
    True and 1.0, are different constants, and so are 0.0 and -0.0; NaNs are one. It has no part of a
    value that may change. `seen` numbers the objects and containers so far, by their addresses."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind in _ATOMS or isinstance(value, _FIXED) or hasattr(value, "compiled_function"):
        return kind, value
    seen = {} if seen is None else seen

    def all_of(values):
        return tuple(typed(v, seen) for v in values)

    if isinstance(value, tuple):
        return kind, all_of(value)
    names = frozen_fields(kind)
    if names is not None:
        return kind, all_of(getattr(value, name, None) for name in names)
    # These may have themselves as parts, and objects may have each other.
    if id(value) in seen:
        return kind, seen[id(value)]
    if len(seen) == _MAXIMAL_OBJECTS:
        return kind, _Itself(value)
    seen[id(value)] = len(seen)
    if isinstance(value, list):
        return kind, all_of(value)
    if isinstance(value, dict):
        return kind, all_of(value), all_of(value.values())
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(all_of(value))
    if isinstance(value, constexpr):
        return kind, typed(value.value, seen)
    if isinstance(value, functools.partial):
        return kind, all_of((value.func, value.args, value.keywords))
    if isinstance(value, types.MethodType):
        return kind, value.__func__, typed(value.__self__, seen)
    if isinstance(value, bytearray):
        return kind, bytes(value)
    if hasattr(value, "tobytes") and 0 <= getattr(value, "nbytes", -1) <= _MAXIMAL_BYTES:
        form = tuple(str(getattr(value, name, "")) for name in ("dtype", "shape", "format"))
        return kind, form, value.tobytes()
    return kind, *_of_object(value, all_of)


def _of_object(value, all_of):
    """What an object is compared by: one of a class that compares by identity by its attributes, too;
    one of another class by what this says."""
    is_dataclass = dataclasses.is_dataclass(value)
    if not is_dataclass and type(value).__hash__ is not object.__hash__:
        try:
            return hash(value), value
        except TypeError:
            pass
    names = tuple(_attribute_names(value))
    parts = names, all_of(getattr(value, name, None) for name in names)
    return parts if is_dataclass else (_Itself(value), *parts)


class Snapshot:
    """What a variable was when it was compiled in, if its value may change while it stays the same
    object."""

    def __init__(self, value, is_forgiven: bool = False):
        self.typed, self._text = typed(value), reprlib.repr(value)
        # Whether kernels are compiled anew after a change, which is an error otherwise.
        self.is_forgiven = is_forgiven

    def __repr__(self):
        return self._text
