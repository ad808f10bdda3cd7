# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers from counters: Philox4x32 (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", SC 2011), with 10 rounds by default."""

from __future__ import annotations

from . import math, semantic
from . import types as ty
from .arguments import compile_time_int
from .semantic import cast, to_tensor

N_ROUNDS_DEFAULT = 10
# By the type of the counters.
_KEY_STEPS = {ty.uint32: (0x9E3779B9, 0xBB67AE85),
              ty.uint64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
_MULTIPLIERS = {ty.uint32: (0xD2511F53, 0xCD9E8D57),
                ty.uint64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}


def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds=N_ROUNDS_DEFAULT):
    """Philox on uint32 or uint64 counters and keys."""
    c0 = to_tensor(c0)
    if c0.dtype not in _MULTIPLIERS:
        raise TypeError(f"philox_impl works on uint32 and uint64 counters, got {c0.type}")
    a, b = (semantic.constant(m, c0.dtype) for m in _MULTIPLIERS[c0.dtype])
    steps = [semantic.constant(s, c0.dtype) for s in _KEY_STEPS[c0.dtype]]
    for _ in range(compile_time_int(n_rounds, "n_rounds")):
        old0, old2 = c0, c2
        c0 = semantic.arithmetic("^", semantic.arithmetic("^", math.umulhi(b, old2), c1), k0)
        c2 = semantic.arithmetic("^", semantic.arithmetic("^", math.umulhi(a, old0), c3), k1)
        c1 = semantic.arithmetic("*", b, old2)
        c3 = semantic.arithmetic("*", a, old0)
        k0, k1 = semantic.add(k0, steps[0]), semantic.add(k1, steps[1])
    return c0, c1, c2, c3


def philox(seed, c0, c1, c2, c3, n_rounds=N_ROUNDS_DEFAULT):
    """Four tiles of random bits from a 64-bit seed and four counters: uint32, or uint64 if the first
    counter has 64 bits."""
    seed, c0 = to_tensor(seed), to_tensor(c0)
    if not seed.dtype.is_int():
        raise TypeError(f"the seed of random numbers must be an integer, got {seed.type}")
    seed = cast(seed, ty.uint64)
    if not c0.dtype.is_int() or c0.dtype.primitive_bitwidth not in (32, 64):
        raise TypeError(f"the counters of philox are integers of 32 or 64 bits, got {c0.type}")
    if c0.dtype.primitive_bitwidth == 64:
        counter_type, keys = ty.uint64, (seed, semantic.constant(0, ty.uint64))
    else:
        counter_type = ty.uint32
        keys = cast(seed, ty.uint32), cast(semantic.arithmetic(">>", seed, 32), ty.uint32)
    counters = (cast(to_tensor(c), counter_type) for c in (c0, c1, c2, c3))
    return philox_impl(*counters, *keys, n_rounds)


def randint4x(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    """Four tiles of random int32, bits as of uint32."""
    offset = to_tensor(offset)
    zero = semantic.constant(0, ty.uint32)
    high = zero
    if offset.dtype.primitive_bitwidth == 64:
        high = cast(semantic.arithmetic(">>", cast(offset, ty.uint64), 32), ty.uint32)
    zeros = semantic.broadcast_to(zero, offset.shape)
    high = semantic.broadcast_to(high, offset.shape)
    numbers = philox(seed, cast(offset, ty.uint32), high, zeros, zeros, n_rounds)
    return tuple(numbers)


def randint(seed, offset, n_rounds=N_ROUNDS_DEFAULT):
    """A tile of random uint32."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x):
    """Random bits of 32-bit or 64-bit integers as fp32 in [0, 1)."""
    x = to_tensor(x)
    if not x.dtype.is_int() or x.dtype.primitive_bitwidth not in (32, 64):
        raise TypeError(f"uint_to_uniform_float takes integers of 32 or 64 bits, got {x.type}")
    # A little less than 2^-31 and 2^-63: the product of the largest integer stays below 1.
    scale = 4.6566127342e-10
    if x.dtype.primitive_bitwidth == 64:
        x, scale = cast(x, ty.int64), 1.0842020432385337e-19
    else:
        x = cast(x, ty.int32)
    scale = semantic.constant(scale, ty.float32)
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
