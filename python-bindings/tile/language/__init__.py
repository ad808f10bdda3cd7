# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel language, usually imported as `tl`."""

from builtins import slice, tuple

from . import core, extra, libdevice, math, random, semantic, standard, target_info
from .aggregate import aggregate
from .atomics import atomic_load, atomic_poll, atomic_store
from .core import (arange, associative_scan, atomic_add, atomic_and, atomic_cas, atomic_max,
                   atomic_min, atomic_or, atomic_xchg, atomic_xor, broadcast, broadcast_to, cast, cat,
                   expand_dims, full, gather, histogram, interleave, join, load, num_programs, permute,
                   program_id, ravel, reduce, reshape, split, squeeze, store, trans, unsqueeze, view,
                   zeros, zeros_like)
from .debugging import debug_barrier, device_assert, device_print, static_assert, static_print
from .elementwise import extern_elementwise, inline_asm_elementwise, map_elementwise
from .hints import assume, expect_zero, max_constancy, max_contiguous, multiple_of
from .math import (PropagateNan, abs, ceil, clamp, cos, div_rn, erf, exp, exp2, fdiv, floor, fma, log,
                   log2, maximum, minimum, rsqrt, sin, sqrt, sqrt_rn, umulhi)
from .pointers import (_experimental_descriptor_load, _experimental_descriptor_store,
                       _experimental_make_tensor_descriptor, advance, load_tensor_descriptor,
                       make_block_ptr, make_tensor_descriptor, store_tensor_descriptor,
                       tensor_descriptor)
from .random import (pair_uniform_to_normal, philox, philox_impl, rand, rand4x, randint, randint4x,
                     randn, randn4x, uint_to_uniform_float)
from .ranges import condition, range, static_range
from .semantic import to_tensor
from .standard import (argmax, argmin, bitonic_merge, cdiv, cumprod, cumsum, dot, flip, max, min,
                       reduce_or, sigmoid, softmax, sort, sum, swizzle2d, topk, where, xor_sum)
from .scaled import dot_scaled
from .tensor import tensor
from .types import (bfloat16, block_type, const, constexpr, constexpr_function, constexpr_type, dtype,
                    float8e4b8, float8e4b15, float8e4nv, float8e5, float8e5b16, float16, float32, float64,
                    int1, int8, int16, int32, int64, pi32_t, pointer_type, uint8, uint16, uint32,
                    uint64, void)
from .operators import add, logical_and, logical_or, mul, sub
