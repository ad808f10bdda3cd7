# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element-wise ops of the IR on NumPy arrays.

Integers wrap and divide as the machine does: a quotient by zero has all bits set, a remainder
by zero is the dividend. Floats of 16 bits are computed in fp32 and rounded once, functions of
fp32 in fp64.
"""

from __future__ import annotations

import math

import numpy as np

from .formats import HELD, Type, Value, decode, encode, round_to, size_of, unsigned

# Integers ---------------------------------------------------------------------------------


def _signed_quotient(a, b):
    special = (b == 0) | (b == -1)
    divisor = np.where(special, 1, b).astype(a.dtype)
    quotient = a // divisor
    quotient = quotient + ((a - quotient * divisor != 0) & ((a < 0) != (divisor < 0)))
    quotient = np.where(b == -1, -a, quotient)
    return np.where(b == 0, -1, quotient).astype(a.dtype)


def _signed_remainder(a, b):
    return np.where(b == 0, a, a - _signed_quotient(a, b) * b).astype(a.dtype)


def _unsigned_quotient(a, b):
    a, b = unsigned(a), unsigned(b)
    return np.where(b == 0, ~np.zeros((), a.dtype), a // np.where(b == 0, 1, b).astype(a.dtype))


def _unsigned_remainder(a, b):
    a, b = unsigned(a), unsigned(b)
    return np.where(b == 0, a, a % np.where(b == 0, 1, b).astype(a.dtype))


def _on_unsigned(function):
    return lambda a, b: function(unsigned(a), unsigned(b))


def _shift_right(a, b):
    # A negative amount is a large one: NumPy gives the sign for both only if it is positive.
    width = 8 * a.dtype.itemsize
    amount = np.minimum(unsigned(b), width - 1).astype(a.dtype)
    return a >> amount


def _logical_shift(function):

    def shift(a, b):
        a, b = unsigned(a), unsigned(b)
        width = 8 * a.dtype.itemsize
        return np.where(b < width, function(a, np.where(b < width, b, 0).astype(a.dtype)), 0)

    return shift


_INTEGER = {
    "arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b, "arith.muli": lambda a, b: a * b,
    "arith.divsi": _signed_quotient, "arith.divui": _unsigned_quotient,
    "arith.remsi": _signed_remainder, "arith.remui": _unsigned_remainder,
    "arith.andi": lambda a, b: a & b, "arith.ori": lambda a, b: a | b, "arith.xori": lambda a, b: a ^ b,
    "arith.shli": _logical_shift(np.left_shift), "arith.shrui": _logical_shift(np.right_shift),
    "arith.shrsi": _shift_right, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.maxui": _on_unsigned(np.maximum), "arith.minui": _on_unsigned(np.minimum),
    "math.absi": np.abs,
}


def _integer(name: str, operands, type_: Type):
    arrays = [o.array for o in operands]
    if type_.name == "i1":
        # One bit: the lowest of a byte.
        result = _INTEGER[name](*(a.astype(np.int8) for a in arrays))
        return (np.asarray(result) & 1).astype(np.bool_)
    result = np.asarray(_INTEGER[name](*arrays))
    held = HELD[type_.name]
    return result.view(held) if result.dtype.itemsize == held.itemsize else result.astype(held)


def multiply_high(a, b, is_signed: bool):
    """The upper half of a product of integers of 32 or 64 bits."""
    width = 8 * a.dtype.itemsize
    if width <= 32:
        kind = np.int64 if is_signed else np.uint64
        if not is_signed:
            a, b = unsigned(a), unsigned(b)
        return ((a.astype(kind) * b.astype(kind)) >> kind(width)).astype(f"i{width // 8}")
    x, y, half, low = a.view(np.uint64), b.view(np.uint64), np.uint64(32), np.uint64(0xFFFFFFFF)
    x1, x0, y1, y0 = x >> half, x & low, y >> half, y & low
    middle = x1 * y0 + (x0 * y0 >> half)
    high = x1 * y1 + (middle >> half) + ((x0 * y1 + (middle & low)) >> half)
    if is_signed:
        high = high - np.where(a < 0, y, 0).astype(np.uint64) - np.where(b < 0, x, 0).astype(np.uint64)
    return np.asarray(high).view(np.int64)


def compare_integers(predicate: str, a, b):
    if predicate[0] == "u" and a.dtype != np.bool_:
        a, b = unsigned(a), unsigned(b)
    return getattr(np, _RELATIONS[predicate[-2:]])(a, b)


_RELATIONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
              "ne": "not_equal"}


def compare_floats(predicate: str, a, b):
    """Ordered comparisons are false for NaN, `une` is true; NumPy's are the same."""
    return getattr(np, _RELATIONS[predicate[-2:]])(a, b)


# Floats -----------------------------------------------------------------------------------


def _extremum(on_numbers, sign):
    """fmax or fmin, or their propagating twins, where +0 is larger than -0."""

    def extremum(a, b):
        zeros = (a == 0) & (b == 0)
        return np.where(zeros, sign * (sign * a + sign * b), on_numbers(a, b))

    return extremum


maximum_number, minimum_number = _extremum(np.fmax, 1), _extremum(np.fmin, -1)
maximum, minimum = _extremum(np.maximum, 1), _extremum(np.minimum, -1)


def _rank(a):
    """An integer per float: they order as IEEE 754's totalOrder does."""
    bits = a.view(np.int64 if a.dtype == np.float64 else np.int32)
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def atomic_maximum(a, b):
    return np.where(_rank(b) > _rank(a), b, a)


def atomic_minimum(a, b):
    return np.where(_rank(b) < _rank(a), b, a)


def fused_multiply_add(a, b, c):
    """`a * b + c`, rounded once if the operands are fp32; fp64 is rounded twice."""
    if a.dtype == np.float64:
        return (a.astype(np.longdouble) * b + c).astype(np.float64)
    product = a.astype(np.float64) * b  # exact
    c = c.astype(np.float64)
    total = np.asarray(product + c)
    # What the sum lost decides its last bit (rounding to odd), so that the rounding to fp32
    # that follows is the only one that counts.
    part = total - product
    lost = (product - (total - part)) + (c - part)
    bits = total.view(np.int64)
    away = np.where((lost > 0) == (total > 0), 1, -1)
    inexact = np.isfinite(total) & (lost != 0) & ((bits & 1) == 0)
    return np.where(inexact, bits + away, bits).view(np.float64)


def _round_half_away(x):
    whole = np.trunc(x)
    return np.copysign(whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0), x)


def _per_number(function):
    """A function of Python's math on arrays; NaN where it is not defined."""

    def safe(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(safe, otypes=[np.float64])


_FLOAT = {
    "arith.addf": lambda a, b: a + b, "arith.subf": lambda a, b: a - b, "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b, "arith.remf": np.fmod, "arith.negf": np.negative,
    "arith.maxnumf": maximum_number, "arith.minnumf": minimum_number, "arith.maximumf": maximum,
    "arith.minimumf": minimum, "math.absf": np.abs, "math.floor": np.floor, "math.ceil": np.ceil,
    "math.trunc": np.trunc, "math.roundeven": np.rint, "math.round": _round_half_away,
    "math.copysign": np.copysign, "math.fma": fused_multiply_add, "math.sqrt": np.sqrt,
    "tile.precise_sqrt": np.sqrt, "tile.precise_div": lambda a, b: a / b,
}
# Computed in fp64.
_FUNCTIONS = {
    "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log, "math.log2": np.log2,
    "math.log10": np.log10, "math.log1p": np.log1p, "math.expm1": np.expm1, "math.sin": np.sin,
    "math.cos": np.cos, "math.tan": np.tan, "math.asin": np.arcsin, "math.acos": np.arccos,
    "math.atan": np.arctan, "math.atan2": np.arctan2, "math.sinh": np.sinh, "math.cosh": np.cosh,
    "math.tanh": np.tanh, "math.asinh": np.arcsinh, "math.acosh": np.arccosh, "math.atanh": np.arctanh,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.cbrt": np.cbrt, "math.powf": np.power,
    "math.erf": _per_number(math.erf), "math.erfc": _per_number(math.erfc),
}
_PREDICATES = {"math.isnan": np.isnan, "math.isinf": np.isinf, "math.isfinite": np.isfinite}
# Functions of libdevice that need not run in the emulator.
LIBRARY = {
    "exp10": lambda x: np.power(10.0, x), "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)),
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)), "rcbrt": lambda x: 1 / np.cbrt(x),
    "lgamma": _per_number(math.lgamma), "tgamma": _per_number(math.gamma), "fmod": np.fmod,
    "hypot": np.hypot, "rhypot": lambda a, b: 1 / np.hypot(a, b), "fmax": np.fmax, "fmin": np.fmin,
    "fdim": lambda a, b: np.where(a > b, a - b, np.where(np.isnan(a) | np.isnan(b), np.nan, 0)),
    "fast_exp": np.exp, "fast_exp10": lambda x: np.power(10.0, x), "fast_log": np.log,
    "fast_log2": np.log2, "fast_log10": np.log10, "fast_sin": np.sin, "fast_cos": np.cos,
    "fast_tan": np.tan, "fast_pow": np.power, "fast_fdivide": np.divide,
    "saturate": lambda x: np.where(np.isnan(x), 0, np.clip(x, 0, 1)),
    "norm3d": lambda a, b, c: np.sqrt(a * a + b * b + c * c),
    "rnorm3d": lambda a, b, c: 1 / np.sqrt(a * a + b * b + c * c),
    "norm4d": lambda a, b, c, d: np.sqrt(a * a + b * b + c * c + d * d),
    "rnorm4d": lambda a, b, c, d: 1 / np.sqrt(a * a + b * b + c * c + d * d),
}


def library_function(symbol: str):
    """The NumPy twin of a function of libdevice, or None."""
    name = symbol.removeprefix("__nv_")
    return LIBRARY.get(name) or LIBRARY.get(name.removesuffix("f"))


def _float(name: str, operands, type_: Type):
    arrays = [o.array for o in operands]
    if name in _FUNCTIONS:
        arrays, function = [a.astype(np.float64) for a in arrays], _FUNCTIONS[name]
    else:
        function = _FLOAT[name]
        if type_.name == "f16":
            arrays = [a.astype(np.float32) for a in arrays]
    return round_to(np.asarray(function(*arrays)), type_.name)


# Conversions ------------------------------------------------------------------------------


def _float_to_integer(array, name: str, is_signed: bool):
    """Toward zero; what is out of range becomes the nearest integer of at least 16 bits. NaN
    becomes 0, or the integer whose only bit is the highest one if either type has 64 bits."""
    held = HELD[name]
    width = max(16, 8 * held.itemsize)
    low, high = (-2.0**(width - 1), 2.0**(width - 1)) if is_signed else (0.0, 2.0**width)
    whole = np.trunc(array.astype(np.float64))
    kind = np.dtype(f"{'i' if is_signed else 'u'}{width // 8}")
    limits = np.iinfo(kind)
    inside = (whole >= low) & (whole < high)
    result = np.where(inside, whole, 0).astype(kind)
    result = np.where(whole >= high, kind.type(limits.max), result)
    result = np.where(whole < low, kind.type(limits.min), result)
    if width == 64 or array.dtype == np.float64:
        highest = np.asarray(1 << (width - 1), f"u{width // 8}").view(kind)
        result = np.where(np.isnan(whole), highest, result)
    return result.astype(kind).view(f"i{width // 8}").astype(held)


def _bitcast(operand: Value, type_: Type):
    if type_.is_pointer or operand.type.is_pointer:
        return operand.array
    bits = encode(operand.array, operand.type.name)
    from .formats import IN_MEMORY
    return decode(np.ascontiguousarray(bits).view(IN_MEMORY[type_.name]).reshape(bits.shape), type_.name)


def _extend_unsigned(array, name: str):
    return unsigned(array).astype(HELD[name])


def _extend_signed(array, name: str):
    if array.dtype == np.bool_:
        return np.where(array, -1, 0).astype(HELD[name])
    return array.astype(HELD[name])


def _truncate(array, name: str):
    return (array & 1).astype(np.bool_) if name == "i1" else array.astype(HELD[name])


_CONVERSIONS = {
    "arith.sitofp": lambda a, t: (-a.astype(np.int8) if a.dtype == np.bool_ else a).astype(HELD[t]),
    "arith.uitofp": lambda a, t: unsigned(a).astype(HELD[t]),
    "arith.fptosi": lambda a, t: _float_to_integer(a, t, True),
    "arith.fptoui": lambda a, t: _float_to_integer(a, t, False),
    "arith.extsi": _extend_signed, "arith.extui": _extend_unsigned, "arith.trunci": _truncate,
    "tile.ptr_to_int": lambda a, t: a, "tile.int_to_ptr": lambda a, t: a,
}


def evaluate(name: str, operands, type_: Type) -> Value:
    """The result of an op that has a name, operands and one result."""
    if name == "arith.select":
        condition, x, y = (o.array for o in operands)
        array = np.where(condition, x, y)
    elif name == "tile.addptr":
        pointer, offset = operands
        array = pointer.array + offset.array.astype(np.int64) * size_of(pointer.type.pointee)
    elif name == "tile.bitcast":
        array = _bitcast(operands[0], type_)
    elif name in _CONVERSIONS:
        array = _CONVERSIONS[name](operands[0].array, type_.name)
    elif name in _PREDICATES:
        array = _PREDICATES[name](operands[0].array)
    elif name in _INTEGER:
        array = _integer(name, operands, type_)
    elif name in _FLOAT or name in _FUNCTIONS:
        array = _float(name, operands, type_)
    else:
        raise NotImplementedError(f"the interpreter does not know the operation {name}")
    return Value(np.asarray(array), type_)
