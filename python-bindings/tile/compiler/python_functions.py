# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's built-in functions, as kernels call them: on tiles, too."""

from __future__ import annotations

import builtins

from ..language import debugging, math, ranges, semantic, standard
from ..language import types as ty
from ..language.tensor import tensor


def any_runtime(values) -> bool:
    """Whether a value that only exists when the kernel runs is among `values`."""
    for value in values:
        if isinstance(value, (tuple, list)):
            if any_runtime(value):
                return True
        elif not (value is None or isinstance(value, (bool, int, float, str, ty.dtype))) and (
                isinstance(value, tensor) or hasattr(value, "parts")):
            return True
    return False


def is_plain_constant(value) -> bool:
    """Whether a value is known at compile time, and has no attributes of its own, as fields of named
    tuples are."""
    return (value is None or isinstance(value, (int, float, str, tuple))) and not (
        hasattr(value, "_fields") or any_runtime([value]))


def is_its_own_value(value) -> bool:
    """Whether `value.value` is the value, which kernels have in place of its constexpr."""
    return (value is None or isinstance(value, (int, float, str, ty.dtype, tuple))) and (
        not hasattr(value, "_fields"))


def _builtin_min(*args):
    return _fold(args, builtins.min, math.minimum)


def _builtin_max(*args):
    return _fold(args, builtins.max, math.maximum)


def _fold(args, on_numbers, on_tensors):
    if len(args) == 1:
        if isinstance(args[0], tensor):
            return standard.min(args[0]) if on_numbers is builtins.min else standard.max(args[0])
        args = tuple(args[0])
    if not any_runtime(args):
        return on_numbers(*args)
    result = args[0]
    for arg in args[1:]:
        result = on_tensors(result, arg)
    return result


def _builtin_len(value):
    return len(value)


def _builtin_abs(value):
    return math.abs(value) if isinstance(value, tensor) else builtins.abs(value)


class _Conversion(type):
    """Python's type of numbers `python`, which kernels call to convert tiles, too. Apart from calls
    it stands for that type: in isinstance, and in comparisons with it."""

    def __new__(cls, python, type_):
        self = super().__new__(cls, python.__name__, (), {})
        self.python, self.type = python, type_
        return self

    def __init__(cls, python, type_):
        super().__init__(python.__name__, (), {})

    def __call__(cls, value=0):
        return semantic.cast(value, cls.type) if isinstance(value, tensor) else cls.python(value)

    def __instancecheck__(cls, value):
        return isinstance(value, cls.python)

    def __eq__(cls, other):
        return other is cls.python or other is cls

    def __hash__(cls):
        return hash(cls.python)


def _builtin_sum(values, start=0):
    if isinstance(values, tensor):
        return standard.sum(values)
    result = start
    for value in values:
        result = semantic.add(result, value) if any_runtime([result, value]) else result + value
    return result


def _builtin_print(*values, sep=" ", end="\n", file=None, flush=False):
    prefix = sep.join(str(v) for v in values if not isinstance(v, tensor))
    debugging.device_print(prefix, *[v for v in values if isinstance(v, tensor)])


BUILTINS = {
    "range": ranges.range, "min": _builtin_min, "max": _builtin_max, "len": _builtin_len,
    "abs": _builtin_abs, "sum": _builtin_sum, "print": _builtin_print,
    "float": _Conversion(float, ty.float32), "int": _Conversion(int, ty.int32),
    "bool": _Conversion(bool, ty.int1), "tuple": tuple, "list": list, "str": str, "repr": repr,
    "isinstance": isinstance, "hasattr": hasattr, "getattr": getattr, "type": type, "zip": zip,
    "enumerate": enumerate, "round": round, "divmod": divmod, "any": any, "all": all,
    "reversed": reversed, "True": True, "False": False, "None": None, "NotImplementedError":
    NotImplementedError, "ValueError": ValueError, "AssertionError": AssertionError,
    "callable": callable, "dict": dict, "set": set, "slice": slice, "property": property,
}
# What stands for a built-in function that reaches a kernel under another name.
REPLACED = {builtins.__dict__[name]: value for name, value in BUILTINS.items()
             if callable(builtins.__dict__.get(name))}
