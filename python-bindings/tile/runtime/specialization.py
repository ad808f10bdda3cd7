# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants in the keys of compiled kernels; and these keys as text, so that another process can
compile a kernel beforehand (`kernel.preload`)."""

from __future__ import annotations

import dataclasses
import importlib
import json
import weakref

from ..compiler.constants import typed
from ..compiler.session import Options
from ..language import types as ty


class Constant:
    """A constexpr in a key."""

    __slots__ = ("value", "_typed", "_hash")

    def __init__(self, value):
        self.value = value
        self._typed = typed(value)
        self._hash = hash(self._typed)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self._typed == other._typed


ONE = Constant(1)
NONE = Constant(None)


def _plain(value):
    """The value of a constexpr, also within tuples; lists as tuples."""
    value = ty.plain(value)
    if not isinstance(value, (tuple, list)):
        return value
    elements = [_plain(element) for element in value]
    return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)


def constant(value, name: str) -> Constant:
    """The value of the constexpr `name`, for a key."""
    value = _plain(value)
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"the constexpr {name} must be hashable, got a {type(value).__name__}") from None
    return Constant(value)


# Kernels that were constexprs of others, by their names: they may be local to a function.
_kernels = weakref.WeakValueDictionary()


def _encode_constant(value):
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, ty.dtype) and value.name in ty.BY_NAME:
        return {"dtype": value.name}
    if type(value) is tuple:
        return {"tuple": [_encode_constant(v) for v in value]}
    if hasattr(value, "compiled_function") and hasattr(value, "__qualname__"):
        name = f"{value.__module__}:{value.__qualname__}"
        _kernels[name] = value
        return {"kernel": name}
    if hasattr(value, "__qualname__") and "<locals>" not in value.__qualname__:
        return {"global": [value.__module__, value.__qualname__]}
    raise TypeError(f"the constexpr {value!r} cannot be written as text")


def _decode_constant(code):
    if not isinstance(code, dict):
        return code
    (kind, content), = code.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "dtype":
        return ty.BY_NAME[content]
    if kind == "tuple":
        return tuple(_decode_constant(c) for c in content)
    if kind == "kernel":
        found = _kernels.get(content)
        if found is not None:
            return found
        content = content.split(":")
    found = importlib.import_module(content[0])
    for name in content[1].split("."):
        found = getattr(found, name)
    return found


def _encode(key):
    if key[0] == "=":
        return ["=", _encode_constant(key[1].value)]
    if key[0] == "(":
        if key[1] is not tuple:
            raise TypeError(f"an argument of type {key[1].__name__} cannot be written as text")
        return ["(", [_encode(k) for k in key[2]]]
    if key[0] == "d":
        return ["d", key[1], list(key[2]), *key[3:]]
    return list(key)


def _decode(code):
    if code[0] == "=":
        return "=", Constant(_decode_constant(code[1]))
    if code[0] == "(":
        return "(", tuple, tuple(map(_decode, code[1]))
    if code[0] == "d":
        return "d", code[1], tuple(code[2]), *code[3:]
    return tuple(code)


def serialize(name: str, keys, chip: str, options: Options) -> str:
    """Raises TypeError if a constexpr has no form as text."""
    return json.dumps({"name": name, "chip": chip, "options": dataclasses.asdict(options),
                       "keys": [_encode(key) for key in keys]})


def deserialize(data: str):
    """Name, keys, chip and options."""
    content = json.loads(data)
    keys = tuple(map(_decode, content["keys"]))
    return content["name"], keys, content["chip"], Options(**content["options"])
