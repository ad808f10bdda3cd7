# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise mathematics. fp16 and bf16 are computed in fp32 and rounded once."""

from __future__ import annotations

from . import semantic
from . import types as ty
from .core import member
from .semantic import to_tensor
from .tensor import tensor
from .types import builder, unwrap


def _float(x, name: str) -> tensor:
    x = to_tensor(x)
    if not x.dtype.is_floating():
        raise TypeError(f"{name} needs floating-point values (fp32, fp64, fp16, bf16), got {x.type}; "
                        "cast with .to(tl.float32)")
    return x


def _unary(op: str, name: str, doc: str, keep_narrow: bool = False):

    def function(x) -> tensor:
        x = _float(x, name)
        if x.dtype.primitive_bitwidth < 32 and not keep_narrow:
            return semantic.cast(semantic.elementwise(op, semantic.cast(x, ty.float32)), x.dtype)
        return semantic.elementwise(op, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return member(function)


exp = _unary("math.exp", "exp", "e to the power of x.")
exp2 = _unary("math.exp2", "exp2", "2 to the power of x.")
log = _unary("math.log", "log", "The natural logarithm.")
log2 = _unary("math.log2", "log2", "The logarithm to base 2.")
sin = _unary("math.sin", "sin", "The sine.")
cos = _unary("math.cos", "cos", "The cosine.")
sqrt = _unary("math.sqrt", "sqrt", "The square root, fast.")
rsqrt = _unary("math.rsqrt", "rsqrt", "One over the square root.")
sqrt_rn = _unary("tile.precise_sqrt", "sqrt_rn", "The square root, correctly rounded.")
erf = _unary("math.erf", "erf", "The error function.")
tanh = _unary("math.tanh", "tanh", "The hyperbolic tangent.")
floor = _unary("math.floor", "floor", "The largest integer that is not larger.")
ceil = _unary("math.ceil", "ceil", "The smallest integer that is not smaller.")


@member
def abs(x) -> tensor:
    """The absolute value."""
    x = to_tensor(x)
    if x.dtype.is_floating():
        return semantic.elementwise("math.absf", x)
    if x.dtype.is_int_unsigned():
        return x
    if x.dtype.is_ptr():
        raise TypeError("abs does not work on pointers")
    return semantic.elementwise("math.absi", x)


@member
def fma(x, y, z) -> tensor:
    """`x * y + z`, rounded once."""
    x, y = semantic.promote(x, y)
    z, x = semantic.promote(z, x)
    z, y = semantic.promote(z, y)
    x, y, z = _float(x, "fma"), semantic.cast(y, x.dtype), semantic.cast(z, x.dtype)
    return semantic.elementwise("math.fma", x, semantic.broadcast_to(y, x.shape), z)


@member
def fdiv(x, y, ieee_rounding=False) -> tensor:
    """The quotient of floats."""
    _float(to_tensor(x), "fdiv"), _float(to_tensor(y), "fdiv")
    return div_rn(x, y) if unwrap(ieee_rounding) else semantic.true_divide(x, y)


@member
def div_rn(x, y) -> tensor:
    """The quotient, correctly rounded."""
    x, y = semantic.promote(x, y, is_division=True)
    if x.dtype.is_int():
        x, y = semantic.cast(x, ty.float32), semantic.cast(y, ty.float32)
    return semantic.elementwise("tile.precise_div", x, y)


@member
def umulhi(x, y) -> tensor:
    """The upper half of an unsigned product."""
    x, y = semantic.promote(x, y)
    if not x.dtype.is_int() or x.dtype.primitive_bitwidth < 32:
        raise TypeError(f"umulhi needs 32-bit or 64-bit integers, got {x.type}")
    return tensor(builder().mul_high(x.handle, y.handle, False), x.dtype, x.shape)


def mulhi(x, y) -> tensor:
    """The upper half of a signed product."""
    x, y = semantic.promote(x, y)
    return tensor(builder().mul_high(x.handle, y.handle, True), x.dtype, x.shape)


class PropagateNan:
    """What `maximum`, `minimum` and `clamp` do with NaN: `NONE` lets it lose against a
    number, `ALL` makes the result NaN."""

    NONE = "none"
    ALL = "all"


def maximum(x, y, propagate_nan=PropagateNan.NONE) -> tensor:
    """The larger value."""
    return semantic.extremum("max", x, y, unwrap(propagate_nan) == PropagateNan.ALL)


def minimum(x, y, propagate_nan=PropagateNan.NONE) -> tensor:
    """The smaller value."""
    return semantic.extremum("min", x, y, unwrap(propagate_nan) == PropagateNan.ALL)


@member
def clamp(x, min, max, propagate_nan=PropagateNan.NONE) -> tensor:
    """`x`, limited to the interval from `min` to `max`."""
    x = to_tensor(x)
    if not x.dtype.is_floating():
        return semantic.extremum("min", semantic.extremum("max", x, min, False), max, False)
    if x.dtype.is_fp8():
        return semantic.cast(clamp(semantic.cast(x, ty.float32), min, max, propagate_nan), x.dtype)
    x, low = semantic.promote(x, min)
    x, high = semantic.promote(x, max)
    low = semantic.broadcast_to(semantic.cast(low, x.dtype), x.shape)
    handle = builder().clamp(x.handle, low.handle, high.handle,
                             unwrap(propagate_nan) == PropagateNan.ALL)
    return tensor(handle, x.dtype, x.shape)


def __getattr__(name):
    """Functions of libdevice, which kernels of earlier years call through this module."""
    from . import libdevice
    if name in ("max", "min"):
        return maximum if name == "max" else minimum
    if name.startswith("__") or name not in vars(libdevice):
        raise AttributeError(f"tl.math has no function {name!r}")
    return getattr(libdevice, name)
