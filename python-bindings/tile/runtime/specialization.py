# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The key of a compiled kernel as text, so that another process can compile it beforehand
(`kernel.preload`)."""

from __future__ import annotations

import dataclasses
import importlib
import json

from ..compiler.session import Options
from ..language import types as ty


def _encode_constant(value):
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, ty.dtype) and value.name in ty.BY_NAME:
        return {"dtype": value.name}
    if type(value) is tuple:
        return {"tuple": [_encode_constant(v) for v in value]}
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
        return ["d", key[1], list(key[2]), key[3]]
    return list(key)


def _decode(code, make_constant):
    if code[0] == "=":
        return "=", make_constant(_decode_constant(code[1]))
    if code[0] == "(":
        return "(", tuple, tuple(_decode(c, make_constant) for c in code[1])
    if code[0] == "d":
        return "d", code[1], tuple(code[2]), code[3]
    return tuple(code)


def serialize(name: str, keys, chip: str, options: Options) -> str:
    """Raises TypeError if a constexpr has no form as text."""
    return json.dumps({"name": name, "chip": chip, "options": dataclasses.asdict(options),
                       "keys": [_encode(key) for key in keys]})


def deserialize(data: str, make_constant):
    """Name, keys, chip and options; `make_constant` wraps a constexpr for a key."""
    content = json.loads(data)
    keys = tuple(_decode(code, make_constant) for code in content["keys"])
    return content["name"], keys, content["chip"], Options(**content["options"])
