# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of a kernel from the text of their types, as `compile` takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..language import types as ty
from ..language.types import unwrap
from .session import Argument

_DESCRIPTOR = re.compile(r"tensordesc<\s*(\w+)\s*\[([\s\d,]*)\]\s*>")


def split_signature(text: str) -> list[str]:
    """The parts between commas that are in no brackets and no quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if character == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _descriptor(name: str, spec: str) -> Argument:
    from ..runtime.parameters import descriptor_argument
    found = _DESCRIPTOR.fullmatch(spec)
    extents = [int(extent) for extent in found[2].split(",") if extent.strip()] if found else []
    if not extents or found[1] not in ty.BY_NAME or 0 in extents:
        raise ValueError(f"{name}: a tensor descriptor has a type and a block shape, as in "
                         f"tensordesc<fp16[64, 64]>, got {spec!r}")
    return descriptor_argument(name, ty.BY_NAME[found[1]].name, tuple(extents), "zero")


class _Signature:
    """What a signature says besides types: constants and hints, by the paths of arguments: the name
    of a parameter, and the positions of elements of tuples."""

    def __init__(self, function, constexprs, attrs):
        self.function = function
        self.constants = {self.path(key, "constexprs"): value for key, value in constexprs.items()}
        self.divisible, self.others = set(), {}
        # The names of pointers so far.
        self.pointers: list[str] = []
        for key, hints in attrs.items():
            path = self.path(key, "attrs")
            if not isinstance(hints, (list, tuple)) or any(
                    not isinstance(hint, (list, tuple)) or len(hint) != 2 for hint in hints):
                raise TypeError('attrs map positions to lists of hints, as [["tt.divisibility", 16]], got '
                                f"{hints!r}")
            if any(name == "tt.divisibility" and value % 16 == 0 for name, value in hints):
                self.divisible.add(path)
            self.others.update((path, value) for name, value in hints if name == "tile.same_as")

    def path(self, key, what: str) -> tuple:
        """The path of a name, a position, or positions from the parameter's on."""
        names = self.function.arg_names
        first, *rest = key if isinstance(key, tuple) and key else (key, )
        if type(first) is int and 0 <= first < len(names):
            first = names[first]
        if first not in names:
            raise ValueError(f"{what} has {key!r}, which is no parameter of {self.function.name}: they are "
                             f"{', '.join(names)}")
        return first, *rest

    def argument(self, name: str, spec, path: tuple) -> Argument:
        if path in self.constants:
            return Argument(name, value=unwrap(self.constants[path]))
        if isinstance(spec, (tuple, list)):
            elements = tuple(self.argument(f"{name}[{i}]", part, (*path, i)) for i, part in enumerate(spec))
            return Argument(name, elements=elements, factory=type(spec) if hasattr(spec, "_fields") else tuple)
        if isinstance(spec, ty.dtype):
            spec = ty.signature_name(spec)
        if not isinstance(spec, str) or spec == "constexpr":
            raise ValueError(f"{self.function.name}: the signature has no type and no value for {name}")
        spec = spec.strip()
        if spec.startswith("tensordesc<"):
            self.pointers.append(f"{name}_base")
            return _descriptor(name, spec)
        return self.typed_argument(name, spec, path)

    def typed_argument(self, name: str, spec: str, path: tuple) -> Argument:
        """The argument of a type with hints, as `*fp32:16=x`."""
        spec, _, other = (part.strip() for part in spec.partition("="))
        spec, _, hint = (part.strip() for part in spec.partition(":"))
        if hint not in ("16", ""):
            raise ValueError(f"the only hint of a signature is 16, got {hint!r} for {name}")
        other, same_as = other or self.others.get(path, ""), None
        if other:
            if other not in self.pointers or not spec.startswith("*"):
                raise ValueError(f"{name}: {other!r} is no pointer before this one that may be the same memory")
            same_as = self.pointers.index(other)
        try:
            type_ = ty.type_of_name(spec)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if type_.is_ptr():
            self.pointers.append(name)
        return Argument(name, type_, 16 if hint or path in self.divisible else 1, same_as=same_as)


def _by_name(function, signature: str, constexprs) -> dict:
    """The types of a text, of all parameters or of those that are no constants."""
    specs = split_signature(signature) if signature.strip() else []
    names = [n for n in function.arg_names if n not in function.constexpr_names and n not in constexprs]
    if len(specs) == len(function.arg_names):
        names = function.arg_names
    if len(specs) != len(names):
        raise ValueError(f"{function.name} has {len(names)} run-time parameters, the signature {len(specs)}")
    return dict(zip(names, specs))


def arguments_of(function, signature, constexprs, attrs) -> list[Argument]:
    """The arguments that `signature`, a mapping or text, describes; the order is the function's. Raises
    TypeError or ValueError if it is wrong."""
    for what, value in (("constexprs", constexprs), ("attrs", attrs)):
        if not (value is None or isinstance(value, Mapping)):
            raise TypeError(f"{what} must be a dict by names or positions of parameters, got {value!r}")
    context = _Signature(function, constexprs or {}, attrs or {})
    if isinstance(signature, str):
        signature = _by_name(function, signature, {path[0] for path in context.constants if len(path) == 1})
    elif not (signature is None or isinstance(signature, Mapping)):
        raise TypeError("a signature is a dict of types by the names of parameters, or text with the types in "
                        f"order, got {signature!r}")
    specs = {context.path(key, "the signature")[0]: spec for key, spec in (signature or {}).items()}
    arguments = []
    for parameter in function.params:
        name, path = parameter.name, (parameter.name, )
        has_default = parameter.default is not parameter.empty
        if path not in context.constants and has_default and specs.get(name, "constexpr") == "constexpr":
            arguments.append(Argument(name, value=unwrap(parameter.default)))
        else:
            arguments.append(context.argument(name, specs.get(name), path))
    return arguments
