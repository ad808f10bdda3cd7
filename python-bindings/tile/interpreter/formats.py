# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the interpreter, how NumPy arrays hold them, and their bits in memory.

Integers are signed arrays, whatever the language says about their sign: as in the IR, the
operation decides. bf16 and fp8, which NumPy lacks, are arrays of fp32 whose elements are
numbers of the narrow type. Pointers are int64 addresses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Type:
    """The type of a value: the IR's name of its elements, a shape, and what pointers point to."""

    name: str
    shape: tuple = ()
    pointee: Type | None = None

    def with_shape(self, shape) -> Type:
        return Type(self.name, tuple(shape), self.pointee)

    @property
    def is_float(self):
        return self.name in FORMATS

    @property
    def is_pointer(self):
        return self.name == "ptr"


class Value:
    """A value of a running kernel."""

    __slots__ = ("array", "type")

    def __init__(self, array, type_: Type):
        self.array, self.type = array, type_


@dataclass(frozen=True)
class Format:
    """A floating-point format: bits of the mantissa, the exponent of the smallest normal number,
    and the largest finite one. `saturates`: conversions never give infinity."""

    mantissa: int
    low: int
    largest: float
    saturates: bool = False


FORMATS = {
    "f8E4M3FN": Format(3, -6, 448.0, True), "f8E5M2": Format(2, -14, 57344.0, True),
    "f16": Format(10, -14, 65504.0), "bf16": Format(7, -126, (2 - 2.0**-7) * 2.0**127),
    "f32": Format(23, -126, (2 - 2.0**-23) * 2.0**127), "f64": Format(52, -1022, np.finfo(np.float64).max),
}
# How arrays hold the elements, and how memory does.
HELD = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "f8E4M3FN": np.float32, "f8E5M2": np.float32, "f16": np.float16, "bf16": np.float32,
        "f32": np.float32, "f64": np.float64, "ptr": np.int64}
HELD = {name: np.dtype(kind) for name, kind in HELD.items()}
IN_MEMORY = {**HELD, "i1": np.dtype(np.uint8), "f8E4M3FN": np.dtype(np.uint8),
             "f8E5M2": np.dtype(np.uint8), "bf16": np.dtype(np.uint16)}


def round_to(array, name: str, toward_zero: bool = False):
    """Floats rounded once to a format, to the nearest even or toward zero."""
    held = HELD[name]
    if name == "bf16" and array.dtype == np.float32 and not toward_zero:
        return _round_bf16(array)
    if name in ("f16", "f32", "f64") and not toward_zero:
        return array.astype(held)
    form = FORMATS[name]
    exact = array.astype(np.float64)
    _, exponent = np.frexp(exact)
    # The weight of the last bit that is kept.
    last = np.maximum(exponent - 1, form.low) - form.mantissa
    scaled = np.ldexp(exact, -last)
    rounded = np.ldexp(np.trunc(scaled) if toward_zero else np.rint(scaled), last)
    finite = np.isfinite(exact)
    over = finite & (np.abs(rounded) > form.largest)
    limit = form.largest if toward_zero or form.saturates else np.inf
    rounded = np.where(over, np.copysign(limit, exact), np.where(finite, rounded, exact))
    if form.saturates:
        rounded = np.where(np.isinf(exact), np.copysign(form.largest, exact), rounded)
    return rounded.astype(held)


def _round_bf16(array):
    bits = array.view(np.uint32)
    upper = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(array), np.uint32(0x7FFF0000), upper).astype(np.uint32).view(np.float32)


def _fp8_numbers(name: str):
    """The numbers of all bytes."""
    form = FORMATS[name]
    codes = np.arange(256)
    exponent, mantissa = (codes & 0x7F) >> form.mantissa, codes & ((1 << form.mantissa) - 1)
    fraction = mantissa / 2.0**form.mantissa
    numbers = np.where(exponent == 0, np.ldexp(fraction, form.low),
                       np.ldexp(1 + fraction, exponent - 1 + form.low))
    if name == "f8E4M3FN":
        numbers[(codes & 0x7F) == 0x7F] = np.nan
    else:
        numbers[(codes & 0x7F) == 0x7C] = np.inf
        numbers[(codes & 0x7F) > 0x7C] = np.nan
    return np.where(codes & 0x80, -numbers, numbers).astype(np.float32)


_FP8_NUMBERS = {name: _fp8_numbers(name) for name in ("f8E4M3FN", "f8E5M2")}


def _encode_fp8(array, name: str):
    form = FORMATS[name]
    magnitude = np.abs(array)
    _, exponent = np.frexp(magnitude)
    exponent = np.where(magnitude > 0, np.maximum(exponent - 1, form.low), form.low)
    # Multiples of the last bit's weight, the leading one included.
    digits = np.ldexp(magnitude, form.mantissa - exponent)
    digits = np.where(np.isfinite(magnitude), digits, 0).astype(np.int64)
    code = digits + ((exponent - form.low) << form.mantissa)
    code = np.where(np.isinf(magnitude), 0x7C, code)
    code = code | np.where(np.signbit(array), 0x80, 0)
    return np.where(np.isnan(array), 0x7F, code).astype(np.uint8)


def encode(array, name: str):
    """Elements as memory has them."""
    if name == "bf16":
        return (array.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if name in _FP8_NUMBERS:
        return _encode_fp8(array, name)
    return array.astype(IN_MEMORY[name], copy=False)


def decode(stored, name: str):
    """The elements that memory has."""
    if name == "bf16":
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if name in _FP8_NUMBERS:
        return _FP8_NUMBERS[name][stored]
    if name == "i1":
        return stored != 0
    return stored


def size_of(type_: Type) -> int:
    """Bytes of an element in memory."""
    return IN_MEMORY[type_.name].itemsize


def unsigned(array):
    """Integers seen as unsigned."""
    return array if array.dtype == np.bool_ else array.view(array.dtype.str.replace("i", "u"))
