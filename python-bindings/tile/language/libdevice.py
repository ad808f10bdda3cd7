# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tl.extra.libdevice`: NVIDIA's library of device functions, by name.

A function that the compiler has an op for needs no library; others are calls into
libdevice.10.bc, which the CUDA toolkit or the package nvidia-cuda-nvcc provides.
"""

from __future__ import annotations

from . import core, math, semantic
from . import types as ty
from .semantic import to_tensor

# name: op, for floats.
_OPS = {
    "exp": "math.exp", "exp2": "math.exp2", "log": "math.log", "log2": "math.log2",
    "log10": "math.log10", "log1p": "math.log1p", "expm1": "math.expm1", "sin": "math.sin",
    "cos": "math.cos", "tan": "math.tan", "asin": "math.asin", "acos": "math.acos",
    "atan": "math.atan", "atan2": "math.atan2", "sinh": "math.sinh", "cosh": "math.cosh",
    "tanh": "math.tanh", "asinh": "math.asinh", "acosh": "math.acosh", "atanh": "math.atanh",
    "sqrt": "math.sqrt", "rsqrt": "math.rsqrt", "cbrt": "math.cbrt", "erf": "math.erf",
    "erfc": "math.erfc", "floor": "math.floor", "ceil": "math.ceil", "trunc": "math.trunc",
    "rint": "math.roundeven", "nearbyint": "math.roundeven", "round": "math.round",
    "pow": "math.powf", "fabs": "math.absf", "abs": "math.absf", "fma": "math.fma",
    "copysign": "math.copysign", "sqrt_rn": "tile.precise_sqrt", "div_rn": "tile.precise_div",
}
_PREDICATES = {"isnan": "math.isnan", "isinf": "math.isinf", "finitef": "math.isfinite",
               "isfinited": "math.isfinite"}
# name: number of floating-point arguments. The symbols are __nv_NAMEf and __nv_NAME.
_CALLS = {
    "exp10": 1, "erfinv": 1, "erfcinv": 1, "erfcx": 1, "lgamma": 1, "tgamma": 1, "j0": 1, "j1": 1,
    "y0": 1, "y1": 1, "normcdf": 1, "normcdfinv": 1, "sinpi": 1, "cospi": 1, "rcbrt": 1, "logb": 1,
    "cyl_bessel_i0": 1, "cyl_bessel_i1": 1, "fmod": 2, "remainder": 2, "fdim": 2, "hypot": 2,
    "rhypot": 2, "nextafter": 2, "fmax": 2, "fmin": 2, "norm3d": 3, "rnorm3d": 3, "norm4d": 4,
    "rnorm4d": 4,
}
# name: (symbol, number of fp32 arguments).
_FAST = {
    "fast_expf": ("__nv_fast_expf", 1), "fast_exp10f": ("__nv_fast_exp10f", 1),
    "fast_logf": ("__nv_fast_logf", 1), "fast_log2f": ("__nv_fast_log2f", 1),
    "fast_log10f": ("__nv_fast_log10f", 1), "fast_sinf": ("__nv_fast_sinf", 1),
    "fast_cosf": ("__nv_fast_cosf", 1), "fast_tanf": ("__nv_fast_tanf", 1),
    "fast_powf": ("__nv_fast_powf", 2), "fast_dividef": ("__nv_fast_fdividef", 2),
    "saturatef": ("__nv_saturatef", 1),
}


def _arguments(name, arguments):
    """Floats of one type and shape; integers count as fp32."""
    tiles = []
    for argument in arguments:
        tile = to_tensor(argument)
        tiles.append(semantic.cast(tile, ty.float32) if tile.dtype.is_int() else tile)
    type_ = tiles[0].dtype
    shape = ()
    for tile in tiles:
        type_ = semantic.computation_type(type_, False, tile.dtype, False, False)
        shape = semantic.common_shape(shape, tile.shape)
    if not type_.is_floating():
        raise TypeError(f"libdevice.{name} needs floating-point values")
    wide = type_ if type_.primitive_bitwidth >= 32 else ty.float32
    return type_, [semantic.broadcast_to(semantic.cast(t, wide), shape) for t in tiles]


def _check_count(name, arguments, count):
    if len(arguments) != count:
        raise TypeError(f"libdevice.{name} takes {count} argument(s), got {len(arguments)}")


def _op_function(name, op):

    def function(*arguments):
        type_, tiles = _arguments(name, arguments)
        return semantic.cast(semantic.elementwise(op, *tiles), type_)

    return function


def _predicate_function(name, op):

    def function(x):
        _, (x, ) = _arguments(name, [x])
        # Predicates of libdevice are int32.
        return semantic.cast(semantic._op(op, [x], ty.int1, x.shape), ty.int32)

    return function


def _call_function(name, count):

    def function(*arguments):
        _check_count(name, arguments, count)
        type_, tiles = _arguments(name, arguments)
        suffix = "" if tiles[0].dtype.is_fp64() else "f"
        return semantic.cast(core.extern_elementwise(f"__nv_{name}{suffix}", tiles, tiles[0].dtype),
                             type_)

    return function


def _fast_function(name, symbol, count):

    def function(*arguments):
        _check_count(name, arguments, count)
        tiles = _arguments(name, arguments)[1]
        if not tiles[0].dtype.is_fp32():
            raise TypeError(f"libdevice.{name} works on fp32, got {tiles[0].dtype}")
        return core.extern_elementwise(symbol, tiles, ty.float32)

    return function


def _define():
    made = {}
    for name, op in _OPS.items():
        made[name] = _op_function(name, op)
    for name, op in _PREDICATES.items():
        made[name] = _predicate_function(name, op)
    for name, count in _CALLS.items():
        made[name] = _call_function(name, count)
    for name, (symbol, count) in _FAST.items():
        made[name] = _fast_function(name, symbol, count)
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"libdevice's {name}."
    globals().update(made)


_define()
umulhi = math.umulhi
mulhi = math.mulhi


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"libdevice has no function {name!r} that this compiler knows")
