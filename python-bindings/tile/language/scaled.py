# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`dot_scaled`: products of block-scaled tiles (OCP Microscaling Formats), which are decoded
to fp32 and multiplied there."""

from __future__ import annotations

from . import core, semantic
from . import types as ty
from .semantic import cast, to_tensor
from .standard import dot
from .types import unwrap

_BLOCKS = (32, 16)  # elements along K that share a scale; 16 are NVIDIA's NVFP4
_FORMATS = {"e2m1": None, "e4m3": ty.float8e4nv, "e5m2": ty.float8e5, "bf16": ty.bfloat16,
            "fp16": ty.float16}


def _e2m1(nibble):
    """Four bits (an int32) as fp32: sign, two bits of exponent, one of mantissa."""
    exponent = (nibble >> 1) & 3
    half = cast(nibble & 1, ty.float32) * 0.5
    # 2^(exponent - 1), from the bits of fp32.
    power = cast((exponent + 126) << 23, ty.float32, bitcast=True)
    magnitude = semantic.select(exponent == 0, half, (half + 1.0) * power)
    return semantic.select((nibble & 8) != 0, -magnitude, magnitude)


def _unpack(x):
    """Bytes of two e2m1 numbers along the last dimension as fp32; the lower half comes first."""
    x = cast(cast(x, ty.uint8, bitcast=True), ty.int32)
    pair = core.join(_e2m1(x & 15), _e2m1(x >> 4))
    return core.reshape(pair, x.shape[:-1] + (2 * x.shape[-1], ))


def _decode(x, format_, k_pack: bool):
    """A tile with K as its last dimension, as fp32."""
    type_ = _FORMATS[format_]
    if type_ is None:
        if x.dtype.primitive_bitwidth != 8:
            raise TypeError(f"e2m1 operands are packed in 8-bit integers, got {x.type}")
        return _unpack(x) if k_pack else core.trans(_unpack(core.trans(x)))
    if x.dtype.is_int() and x.dtype.primitive_bitwidth == 8 and type_.is_fp8():
        x = cast(x, type_, bitcast=True)
    if x.dtype != type_:
        raise TypeError(f"an operand of format {format_} has elements of {type_}, got {x.type}")
    return cast(x, ty.float32)


def _factor(scale, fast_math: bool):
    """An fp8 scale, or 2^(scale - 127), NaN for 255."""
    if scale.dtype == ty.float8e4nv:
        return cast(scale, ty.float32)
    scale = cast(cast(scale, ty.uint8, bitcast=True), ty.int32)
    bits = semantic.select(scale == 0, 1 << 22, scale << 23)
    if not fast_math:
        bits = semantic.select(scale == 255, 0x7FC00000, bits)
    return cast(bits, ty.float32, bitcast=True)


def _scaled(x, scale, format_, k_pack, fast_math, what):
    format_ = unwrap(format_)
    if format_ not in _FORMATS:
        raise ValueError(f"the format of {what} must be one of {', '.join(_FORMATS)}, got {format_!r}")
    x = _decode(to_tensor(x), format_, bool(unwrap(k_pack)))
    if unwrap(scale) is None:
        return x
    forms = {x.shape[:-1] + (x.shape[-1] // block, ): block for block in _BLOCKS}
    is_scale = scale.dtype == ty.float8e4nv or scale.dtype.is_int()
    if scale.shape not in forms or scale.dtype.primitive_bitwidth != 8 or not is_scale:
        shapes = " or ".join(str(list(shape)) for shape in forms)
        raise ValueError(f"the scale of {what} must be a tile of 8-bit integers or fp8e4nv of shape "
                         f"{shapes}, got {scale.type}")
    factor = semantic.expand_dims(_factor(scale, bool(unwrap(fast_math))), len(x.shape))
    return core.reshape(core.reshape(x, scale.shape + (forms[scale.shape], )) * factor, x.shape)


def dot_scaled(lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False,
               lhs_k_pack=True, rhs_k_pack=True, out_dtype=ty.float32):
    """The matrix product of operands with a scale for each 32 (or 16) elements along K, added
    to `acc`. `lhs` is [M, K], `rhs` is [K, N]; the scales are [M, K / 32] and [N, K / 32], of
    8-bit integers (powers of two, biased by 127) or fp8e4nv."""
    if unwrap(out_dtype) != ty.float32:
        raise TypeError(f"dot_scaled's out_dtype is fp32, not {out_dtype}")
    a = _scaled(lhs, lhs_scale, lhs_format, lhs_k_pack, fast_math, "lhs")
    b = _scaled(core.trans(to_tensor(rhs)), rhs_scale, rhs_format, rhs_k_pack, fast_math, "rhs")
    return dot(a, core.trans(b), acc, input_precision="ieee")
