# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers from counters: Philox4x32 (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", SC 2011), with 10 rounds by default."""

from __future__ import annotations

from . import math, semantic
from . import types as ty
from .core import compile_time_int
from .semantic import cast, to_tensor

N_ROUNDS_DEFAULT = 10
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)


def _u32(value):
    return cast(to_tensor(value), ty.uint32)


def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds=N_ROUNDS_DEFAULT):
    """Philox on uint32 counters and keys."""
    a, b = (semantic.constant(m, ty.uint32) for m in _MULTIPLIERS)
    for _ in range(compile_time_int(n_rounds, "n_rounds")):
        old0, old2 = c0, c2
        c0 = semantic.arithmetic("^", semantic.arithmetic("^", math.umulhi(b, old2), c1), k0)
        c2 = semantic.arithmetic("^", semantic.arithmetic("^", math.umulhi(a, old0), c3), k1)
        c1 = semantic.arithmetic("*", b, old2)
        c3 = semantic.arithmetic("*", a, old0)
        k0 = semantic.add(k0, semantic.constant(_KEY_STEPS[0], ty.uint32))
        k1 = semantic.add(k1, semantic.constant(_KEY_STEPS[1], ty.uint32))
    return c0, c1, c2, c3


def philox(seed, c0, c1, c2, c3, n_rounds=N_ROUNDS_DEFAULT):
    """Four uint32 tiles from a 64-bit seed and four counters."""
    seed = cast(to_tensor(seed), ty.uint64)
    high = cast(semantic.arithmetic(">>", seed, 32), ty.uint32)
    return philox_impl(_u32(c0), _u32(c1), _u32(c2), _u32(c3), cast(seed, ty.uint32), high, n_rounds)


def randint4x(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    """Four tiles of random int32, bits as of uint32."""
    offset = to_tensor(offset)
    zero = semantic.constant(0, ty.uint32)
    high = zero
    if offset.dtype.primitive_bitwidth == 64:
        high = cast(semantic.arithmetic(">>", cast(offset, ty.uint64), 32), ty.uint32)
    zeros = semantic.broadcast_to(zero, offset.shape)
    numbers = philox(seed, offset, semantic.broadcast_to(high, offset.shape), zeros, zeros, n_rounds)
    return tuple(numbers)


def randint(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    """A tile of random uint32."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x):
    """Random bits as fp32 in [0, 1)."""
    x = cast(to_tensor(x), ty.int32)
    # 127 / 128 of 2^-31: the product of the largest integer stays below 1.
    scale = semantic.constant(4.6566127342e-10, ty.float32)
    negative = semantic.compare("lt", x, 0)
    magnitude = semantic.select(negative, semantic.sub(semantic.negate(x), 1), x)
    return semantic.arithmetic("*", cast(magnitude, ty.float32), scale)


def rand(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    """A tile of fp32, uniform in [0, 1)."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    return tuple(uint_to_uniform_float(i) for i in randint4x(seed, offset, n_rounds))


def pair_uniform_to_normal(u1, u2):
    """The Box-Muller transform."""
    u1 = math.maximum(u1, 1.0e-7)
    angle = semantic.arithmetic("*", 6.283185307179586, u2)
    radius = math.sqrt(semantic.arithmetic("*", -2.0, math.log(u1)))
    return (semantic.arithmetic("*", radius, math.cos(angle)),
            semantic.arithmetic("*", radius, math.sin(angle)))


def randn(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    """A tile of fp32, normally distributed."""
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))[0]


def randn4x(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    u = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(u[0], u[1]) + pair_uniform_to_normal(u[2], u[3])
