# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tl.extra.libdevice`: NVIDIA's library of device functions, by name.

A function that the compiler has an op for needs no library; others are calls into
libdevice.10.bc, which the CUDA toolkit or the package nvidia-cuda-nvcc provides.
"""

from __future__ import annotations

from . import elementwise, math, semantic
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
    "pow": "math.powf", "fabs": "math.absf", "fma": "math.fma",
    "copysign": "math.copysign", "sqrt_rn": "tile.precise_sqrt", "div_rn": "tile.precise_div",
}
_PREDICATES = {"isnan": "math.isnan", "isinf": "math.isinf", "finitef": "math.isfinite",
               "isfinited": "math.isfinite"}
_COUNTS = {"pow": 2, "atan2": 2, "copysign": 2, "div_rn": 2, "fma": 3}
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
    "fast_tanhf": ("__nv_fast_tanhf", 1), "saturatef": ("__nv_saturatef", 1),
    "rsqrt_rn": ("__nv_frsqrt_rn", 1),
}
# Functions on exact types, as SYMBOL:ARGUMENTS>RESULT without "__nv_"; of several forms, that
# for the type of the first argument is taken. The letters are those of _LETTERS.
_LETTERS = {"i": ty.int32, "u": ty.uint32, "l": ty.int64, "L": ty.uint64, "f": ty.float32,
            "d": ty.float64}
_EXACT = {
    "clz": "clz:i>i clzll:l>i", "popc": "popc:i>i popcll:l>i", "ffs": "ffs:i>i ffsll:l>i",
    "brev": "brev:i>i brevll:l>l", "byte_perm": "byte_perm:iii>i", "mul24": "mul24:ii>i umul24:uu>u",
    "sad": "sad:iiu>u usad:uuu>u", "hadd": "hadd:ii>i uhadd:uu>u", "rhadd": "rhadd:ii>i urhadd:uu>u",
    "rcp64h": "rcp64h:d>d", "hiloint2double": "hiloint2double:ii>d", "double2loint": "double2loint:d>i",
    "double2hiint": "double2hiint:d>i", "int_as_float": "int_as_float:i>f",
    "float_as_int": "float_as_int:f>i", "uint_as_float": "uint_as_float:u>f",
    "float_as_uint": "float_as_uint:f>u", "longlong_as_double": "longlong_as_double:l>d",
    "double_as_longlong": "double_as_longlong:d>l", "int2double_rn": "int2double_rn:i>d",
    "uint2double_rn": "uint2double_rn:u>d", "ldexp": "ldexpf:fi>f ldexp:di>d",
    "scalbn": "scalbnf:fi>f scalbn:di>d", "jn": "jnf:if>f jn:id>d", "yn": "ynf:if>f yn:id>d",
    "ilogb": "ilogbf:f>i ilogb:d>i", "signbit": "signbitf:f>i signbitd:d>i",
    "llrint": "llrintf:f>l llrint:d>l", "llround": "llroundf:f>l llround:d>l",
}
# The same for each rounding: to nearest, toward zero, down, up; "@" is its name.
_ROUNDED = {
    "fma": "fmaf_@:fff>f fma_@:ddd>d", "div": "fdiv_@:ff>f ddiv_@:dd>d", "rcp": "frcp_@:f>f drcp_@:d>d",
    "sqrt": "fsqrt_@:f>f dsqrt_@:d>d", "add": "fadd_@:ff>f dadd_@:dd>d",
    "sub": "fsub_@:ff>f dsub_@:dd>d", "mul": "fmul_@:ff>f dmul_@:dd>d",
    "double2float": "double2float_@:d>f", "double2int": "double2int_@:d>i",
    "double2uint": "double2uint_@:d>u", "float2int": "float2int_@:f>i", "float2uint": "float2uint_@:f>u",
    "int2float": "int2float_@:i>f", "uint2float": "uint2float_@:u>f", "float2ll": "float2ll_@:f>l",
    "float2ull": "float2ull_@:f>L", "double2ll": "double2ll_@:d>l", "double2ull": "double2ull_@:d>L",
    "ll2float": "ll2float_@:l>f", "ull2float": "ull2float_@:L>f", "ll2double": "ll2double_@:l>d",
    "ull2double": "ull2double_@:L>d",
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
    count = _COUNTS.get(name, 1)

    def function(*arguments):
        _check_count(name, arguments, count)
        type_, tiles = _arguments(name, arguments)
        return semantic.cast(semantic.elementwise(op, *tiles), type_)

    return function


def _predicate_function(name, op):

    def function(x):
        _, (x, ) = _arguments(name, [x])
        return semantic._op(op, [x], ty.int1, x.shape)

    return function


def _call_function(name, count):

    def function(*arguments):
        _check_count(name, arguments, count)
        type_, tiles = _arguments(name, arguments)
        suffix = "" if tiles[0].dtype.is_fp64() else "f"
        result = elementwise.call_library(f"__nv_{name}{suffix}", tiles, tiles[0].dtype)
        return semantic.cast(result, type_)

    return function


def _fast_function(name, symbol, count):

    def function(*arguments):
        _check_count(name, arguments, count)
        tiles = _arguments(name, arguments)[1]
        if not tiles[0].dtype.is_fp32():
            raise TypeError(f"libdevice.{name} works on fp32, got {tiles[0].dtype}")
        return elementwise.call_library(symbol, tiles, ty.float32)

    return function


def _parse_form(form: str):
    symbol, types = form.split(":")
    arguments, result = types.split(">")
    return f"__nv_{symbol}", [_LETTERS[a] for a in arguments], _LETTERS[result]


def _exact_function(name, forms):
    forms = [_parse_form(form) for form in forms.split()]
    # The argument that tells the forms apart.
    key = next((i for i in range(len(forms[0][1])) if len({f[1][i] for f in forms}) > 1), 0)

    def function(*arguments):
        _check_count(name, arguments, len(forms[0][1]))
        tiles = [to_tensor(a) for a in arguments]
        type_ = tiles[key].dtype
        for symbol, parameters, result in forms:
            if parameters[key] == type_:
                break
        else:
            # Narrow types, numbers and integers of the other signedness fit the first form
            # that holds them.
            for symbol, parameters, result in forms:
                wanted = parameters[key]
                if (wanted.is_floating() == type_.is_floating()
                        and wanted.primitive_bitwidth >= type_.primitive_bitwidth):
                    break
            else:
                accepted = " or ".join(str(f[1][key]) for f in forms)
                raise TypeError(f"libdevice.{name} works on {accepted}, got {tiles[key].type}")
        shape = ()
        for tile in tiles:
            shape = semantic.common_shape(shape, tile.shape)
        tiles = [semantic.broadcast_to(semantic.cast(t, p), shape) for t, p in zip(tiles, parameters)]
        return elementwise.call_library(symbol, tiles, result)

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
    for name, forms in _EXACT.items():
        made[name] = _exact_function(name, forms)
    for name, forms in _ROUNDED.items():
        for rounding in ("rn", "rz", "rd", "ru"):
            made.setdefault(f"{name}_{rounding}",
                            _exact_function(f"{name}_{rounding}", forms.replace("@", rounding)))
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"libdevice's {name}."
    globals().update(made)


_define()
abs = math.abs
umulhi = math.umulhi
mulhi = math.mulhi


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"libdevice has no function {name!r} that this compiler knows")
