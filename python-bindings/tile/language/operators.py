# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators as functions, and the operators of `tensor`."""

from __future__ import annotations

from . import semantic
from . import types as ty
from .debugging import device_assert
from .semantic import to_tensor
from .tensor import tensor


def _check_overflow(name: str, function, x, y, result):
    """Compiles the assertion that a sum, a difference or a product of integers of less than 64
    bits is the one that has as many bits as it needs."""
    type_ = result.dtype
    if not type_.is_int() or not 8 <= type_.primitive_bitwidth <= 32 or result.constant is not None:
        return
    x, y = (semantic.cast(operand, ty.int64) for operand in semantic.promote(x, y))
    # Products of uint32 that do not fit in int64 are negative there.
    wide = function(x, y)
    bits = type_.primitive_bitwidth
    low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if type_.is_int_signed() else (0, 2**bits - 1)
    fits = semantic.arithmetic("&", semantic.compare("ge", wide, low), semantic.compare("le", wide, high))
    device_assert(fits, f"{type_} overflow detected for operation {name}")


def _checked(name: str, function):

    def compute(x, y, sanitize_overflow=True):
        result = function(x, y)
        if getattr(ty.state.compiler, "sanitize_overflow", False) and ty.unwrap(sanitize_overflow) and (
                not ty.state.combining):
            _check_overflow(name, function, x, y, result)
        return result

    return compute


add = _checked("add", semantic.add)
sub = _checked("sub", semantic.sub)
mul = _checked("mul", lambda x, y: semantic.arithmetic("*", x, y))


def logical_and(x, y):
    return semantic.logical("and", x, y)


def logical_or(x, y):
    return semantic.logical("or", x, y)


def _arithmetic(symbol):
    return lambda x, y: semantic.arithmetic(symbol, x, y)


def _comparison(predicate):
    return lambda x, y: semantic.compare(predicate, x, y)


BINARY = {
    "add": semantic.add, "sub": semantic.sub, "mul": _arithmetic("*"),
    "truediv": semantic.true_divide, "floordiv": _arithmetic("//"), "mod": _arithmetic("%"),
    "and": _arithmetic("&"), "or": _arithmetic("|"), "xor": _arithmetic("^"),
    "lshift": _arithmetic("<<"), "rshift": _arithmetic(">>"),
}

# The operators that users write.
WRITTEN = {**BINARY, "add": add, "sub": sub, "mul": mul}


def _attach():
    for name, function in BINARY.items():
        setattr(tensor, f"__{name}__", lambda self, other, f=function: f(self, other))
        setattr(tensor, f"__r{name}__", lambda self, other, f=function: f(other, self))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        compare = _comparison(name)
        setattr(tensor, f"__{name}__", lambda self, other, f=compare: f(self, other))
    tensor.__neg__ = semantic.negate
    tensor.__pos__ = lambda self: self
    tensor.__invert__ = semantic.invert
    tensor.__pow__ = power
    tensor.__rpow__ = lambda self, other: power(other, self)
    tensor.logical_and = logical_and
    tensor.logical_or = logical_or


def power(base, exponent):
    """`base ** exponent`: by multiplication for a small whole exponent, else by pow."""
    from . import libdevice
    base = to_tensor(base) if not isinstance(base, tensor) else base
    if base.dtype.is_ptr():
        raise TypeError(f"a pointer cannot be raised to a power, got {base.type}")
    number = exponent.constant if isinstance(exponent, tensor) else exponent
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 64:
        if number == 0:
            return semantic.constant(1, base.dtype, base.shape)
        result, square = None, base
        while number:
            if number & 1:
                result = square if result is None else semantic.arithmetic("*", result, square)
            number >>= 1
            if number:
                square = semantic.arithmetic("*", square, square)
        return result
    if base.dtype.is_int():
        raise TypeError("an integer tile can be raised to a small constant power only; cast it to "
                        "tl.float32")
    return libdevice.pow(base, exponent)


_attach()
