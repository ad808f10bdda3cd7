# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that Python runs: they agree with the compiled ones in the emulator, bit for bit on
integers and within rounding on floats, and they can be debugged.

`pytest --device=interpreter` runs the kernels of all tests in the interpreter, `--device=compare`
both ways.
"""

import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.errors import MemoryAccessError
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.emulator
RNG = np.random.default_rng(23)
# Types by name: what NumPy holds the bits in, and the type that kernels see.
TYPES = {"int8": (np.int8, tl.int8), "uint8": (np.uint8, tl.uint8), "int16": (np.int16, tl.int16),
         "uint16": (np.uint16, tl.uint16), "int32": (np.int32, tl.int32), "uint32": (np.uint32, tl.uint32),
         "int64": (np.int64, tl.int64), "uint64": (np.uint64, tl.uint64), "bool": (np.bool_, tl.int1),
         "fp16": (np.float16, tl.float16), "fp32": (np.float32, tl.float32),
         "fp64": (np.float64, tl.float64), "bf16": (np.uint16, tl.bfloat16),
         "e4m3": (np.uint8, tl.float8e4nv), "e5m2": (np.uint8, tl.float8e5)}
INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["fp16", "bf16", "fp32", "fp64"]
# Relative errors that roundings may cause, and the exponent bits of the narrow types.
EPSILON = {"fp16": 2**-10, "bf16": 2**-7, "fp32": 2**-23, "fp64": 2**-52, "e4m3": 2**-3, "e5m2": 2**-2}


def argument(array, name):
    """An array as launches take it."""
    return array if array.dtype.kind in "fb" or name in INTS else tile.reinterpret(array, TYPES[name][1])


def both(kernel, grid, arrays, outputs, *rest, **keywords):
    """What a kernel writes in the interpreter and in the emulator: two lists of arrays. `arrays`
    and `outputs` are pairs of bits and type names; both are arguments, outputs come last."""
    results = []
    for run in (tile.interpret(kernel), kernel):
        copies = [(array.copy(), name) for array, name in (*arrays, *outputs)]
        run[grid](*(argument(*c) for c in copies), *rest, **keywords)
        results.append([array for array, _ in copies])
    return results


def numbers(array, name):
    """The fp64 numbers of an array of any float type."""
    if name == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    elif name == "e5m2":
        array = (array.astype(np.uint16) << 8).view(np.float16)
    elif name == "e4m3":
        exponent, mantissa = (array >> 3) & 15, array & 7
        normal = (1 + mantissa / 8) * 2.0**(exponent.astype(int) - 7)
        value = np.where(exponent == 0, mantissa / 8 * 2.0**-6, normal)
        value = np.where(array & 127 == 127, np.nan, value)
        array = np.where(array & 128, -value, value)
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)


def check(interpreted, compiled, name, ulps=2.0, tiny=0.0, what=""):
    """Integers and bools agree in all bits; floats up to some units in the last place, NaN and
    infinities included."""
    if name not in EPSILON:
        np.testing.assert_array_equal(interpreted, compiled, what)
        return
    a, b = numbers(interpreted, name), numbers(compiled, name)
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b), f"NaN {what}")
    finite = ~np.isnan(a)
    np.testing.assert_allclose(a[finite], b[finite], rtol=ulps * EPSILON[name], atol=tiny, err_msg=what)


def compare(kernel, grid, arrays, outputs, *rest, ulps=2.0, tiny=0.0, **keywords):
    """Runs a kernel both ways and checks all arrays; those of the interpreter."""
    interpreted, compiled = both(kernel, grid, arrays, outputs, *rest, **keywords)
    for i, ((_, name), a, b) in enumerate(zip((*arrays, *outputs), interpreted, compiled)):
        check(a, b, name, ulps, tiny, f"array {i}")
    return interpreted


def bits(name, n):
    """Random values of a type: all bit patterns, and the special ones among them."""
    kind = np.dtype(TYPES[name][0])
    if kind == np.bool_:
        return RNG.integers(0, 2, n).astype(bool)
    raw = RNG.integers(0, 2**64, n, dtype=np.uint64).astype(f"u{kind.itemsize}").view(kind)
    if name in INTS:
        limits = np.iinfo(kind)
        special = np.array([0, 1, limits.min, limits.max, limits.max - 1], kind)
    elif kind.kind == "f":
        special = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, np.finfo(kind).max], kind)
    else:
        return raw
    raw[:len(special)] = special[:n]
    RNG.shuffle(raw)
    return raw


def moderate(name, n):
    """Numbers of moderate size, where results neither vanish nor overflow."""
    kind = np.dtype(TYPES[name][0])
    if name in INTS or name == "bool":
        return RNG.integers(0 if kind.kind in "ub" else -50, 50, n).astype(kind)
    values = RNG.normal(size=n) * 4
    if name == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if name == "e5m2":
        return (values.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    if name == "e4m3":
        return (RNG.integers(0x20, 0x58, n) | RNG.integers(0, 2, n) << 7).astype(np.uint8)
    return values.astype(kind)


# Element-wise -----------------------------------------------------------------------------


@tile.jit
def integer_operators(x, y, out, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + N + i, a - b)
    tl.store(out + 2 * N + i, a * b)
    tl.store(out + 3 * N + i, a // tl.where(b == 0, 1, b))
    tl.store(out + 4 * N + i, a % tl.where(b == 0, 1, b))
    tl.store(out + 5 * N + i, a & b)
    tl.store(out + 6 * N + i, a | b)
    tl.store(out + 7 * N + i, a ^ b)
    tl.store(out + 8 * N + i, a << (b & 7))
    tl.store(out + 9 * N + i, a >> (b & 7))
    tl.store(out + 10 * N + i, -a)
    tl.store(out + 11 * N + i, ~a)
    tl.store(out + 12 * N + i, tl.maximum(a, b))
    tl.store(out + 13 * N + i, tl.minimum(a, b))
    tl.store(out + 14 * N + i, tl.abs(a))
    tl.store(out + 15 * N + i, tl.where(a > b, a, 3))
    tl.store(flags + i, a < b)
    tl.store(flags + N + i, a >= b)
    tl.store(flags + 2 * N + i, (a == b) | (a != 3) & (a <= b))
    tl.store(flags + 3 * N + i, not a > b)


@pytest.mark.parametrize("name", INTS)
def test_integer_operators(name):
    n = 256
    out = np.zeros(16 * n, TYPES[name][0]), name
    compare(integer_operators, (1, ), [(bits(name, n), name), (bits(name, n), name)],
            [out, (np.zeros(4 * n, bool), "bool")], n)


@tile.jit
def undefined_in_c(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a // b)
    tl.store(out + N + i, a % b)


@pytest.mark.parametrize("name", INTS)
def test_division_by_zero_and_overflow(name):
    x = bits(name, 64)
    y = np.zeros_like(x)
    # A quotient of 64 bits by zero depends on how the compiler divides.
    y[::1 if "64" in name else 2] = -1 if name.startswith("i") else 3
    x[:8] = np.iinfo(x.dtype).min
    compare(undefined_in_c, (1, ), [(x, name), (y, name)], [(np.zeros(128, x.dtype), name)], 64)


@tile.jit
def float_operators(x, y, out, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + N + i, a - b)
    tl.store(out + 2 * N + i, a * b)
    tl.store(out + 3 * N + i, a / b)
    tl.store(out + 4 * N + i, -a)
    tl.store(out + 5 * N + i, tl.abs(a))
    tl.store(out + 6 * N + i, tl.maximum(a, b))
    tl.store(out + 7 * N + i, tl.minimum(a, b))
    tl.store(out + 8 * N + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 9 * N + i, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 10 * N + i, tl.where(a > b, a, 0.5))
    tl.store(out + 11 * N + i, tl.clamp(a, -1.0, 2.0))
    tl.store(flags + i, a < b)
    tl.store(flags + N + i, a >= b)
    tl.store(flags + 2 * N + i, (a == b) | (a != a))
    tl.store(flags + 3 * N + i, not a > b)


@pytest.mark.parametrize("name", FLOATS + ["e4m3", "e5m2"])
@pytest.mark.parametrize("values", [bits, moderate])
def test_float_operators(name, values):
    n = 256
    tiny = 1e-37 if name in ("fp32", "bf16") else 0
    compare(float_operators, (1, ), [(values(name, n), name), (values(name, n), name)],
            [(np.zeros(12 * n, TYPES[name][0]), name), (np.zeros(4 * n, bool), "bool")], n, tiny=tiny)


@tile.jit
def functions(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.abs(a)
    tl.store(out + i, tl.exp(a))
    tl.store(out + N + i, tl.exp2(a))
    tl.store(out + 2 * N + i, tl.log(b))
    tl.store(out + 3 * N + i, tl.log2(b))
    tl.store(out + 4 * N + i, tl.sqrt(b))
    tl.store(out + 5 * N + i, tl.rsqrt(b))
    tl.store(out + 6 * N + i, tl.sin(a))
    tl.store(out + 7 * N + i, tl.cos(a))
    tl.store(out + 8 * N + i, tl.floor(a))
    tl.store(out + 9 * N + i, tl.ceil(a))
    tl.store(out + 10 * N + i, tl.erf(a))
    tl.store(out + 11 * N + i, tl.sigmoid(a))
    tl.store(out + 12 * N + i, tl.fma(a, b, 1.0))
    tl.store(out + 13 * N + i, a * a * a + b)
    tl.store(out + 14 * N + i, tl.extra.libdevice.tanh(a))
    tl.store(out + 15 * N + i, tl.extra.libdevice.pow(b, 1.5))


@pytest.mark.parametrize("name", FLOATS)
def test_functions(name):
    n = 128
    tiny = {"fp16": 1e-3, "bf16": 1e-2, "fp32": 3e-6, "fp64": 1e-13}[name]
    compare(functions, (1, ), [(moderate(name, n), name)], [(np.zeros(16 * n, TYPES[name][0]), name)], n,
            ulps=16 if name in ("fp32", "fp64") else 2, tiny=tiny)


@tile.jit
def cast(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty))


@pytest.mark.parametrize("source", list(TYPES))
@pytest.mark.parametrize("target", list(TYPES))
def test_casts(source, target):
    n = 256
    # Where a conversion is exact or rounds once, all bits agree.
    out = np.zeros(n, TYPES[target][0])
    compare(cast, (1, ), [(bits(source, n), source)], [(out, target)], n, ulps=0)


@tile.jit
def narrow_toward_zero(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty, fp_downcast_rounding="rtz"))


@pytest.mark.parametrize("source, target", [("fp32", "fp16"), ("fp32", "bf16"), ("fp64", "fp32"),
                                            ("fp64", "bf16"), ("fp32", "e4m3"), ("fp32", "e5m2")])
def test_casts_toward_zero(source, target):
    x = np.concatenate([bits(source, 128), moderate(source, 128)])
    out = np.zeros(256, TYPES[target][0])
    compare(narrow_toward_zero, (1, ), [(x, source)], [(out, target)], 256, ulps=0)


# Reductions, scans, sorting, products -----------------------------------------------------


@tile.jit
def smaller_product(a1, b1, a2, b2):
    return tl.where(a1 * b2 < a2 * b1, a1, a2), tl.where(a1 * b2 < a2 * b1, b1, b2)


@tile.jit
def affine(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@tile.jit
def keep_second(a, b):
    return b


@tile.jit
def branching(a, b):
    if a > b:
        result = a - b
    else:
        result = b - a
    return result


@tile.jit
def reductions(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n, tl.sum(a, 0))
    tl.store(out + N + n, tl.max(a, 0))
    tl.store(out + 2 * N + n, tl.min(a, axis=0))
    tl.store(out + 3 * N + n, tl.argmax(a, 0))
    tl.store(out + 4 * N + n, tl.argmin(a, 0))
    tl.store(out + 5 * N + n, tl.reduce(a, 0, keep_second))
    tl.store(out + 6 * N, tl.sum(a))
    tl.store(out + 6 * N + 1, tl.max(a))
    value, index = tl.max(a, 1, return_indices=True)
    tl.store(out + 7 * N + m, value)
    tl.store(out + 8 * N + m, index)
    first, second = tl.reduce((a, a + 1), 1, affine)
    tl.store(out + 9 * N + m, first)
    tl.store(out + 10 * N + m, second)


@tile.jit
def integer_reductions(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n, tl.xor_sum(a, 0))
    tl.store(out + N + n, tl.reduce_or(a, 0))
    tl.store(out + 2 * N + n, tl.cumsum(a[:, None, :] + tl.zeros((M, 2, N), a.dtype), 0).sum(1).sum(0))
    tl.store(out + 3 * N + tl.arange(0, 8), tl.histogram(tl.ravel(a & 15), 8, mask=tl.ravel(a) > 3))


@tile.jit
def scans(x, out, M: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + i)
    tl.store(out + i, tl.cumsum(a, 0, reverse=REVERSE))
    tl.store(out + M * N + i, tl.cumsum(a, 1, reverse=REVERSE))
    first, second = tl.associative_scan((a, a + 1), 1, affine, reverse=REVERSE)
    tl.store(out + 2 * M * N + i, first)
    tl.store(out + 3 * M * N + i, second)
    tl.store(out + 4 * M * N + i, tl.associative_scan(a, 0, keep_second, reverse=REVERSE))


@tile.jit
def ordered(x, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + i)
    tl.store(out + i, tl.sort(a))
    tl.store(out + M * N + i, tl.sort(a, descending=True))
    tl.store(out + 2 * M * N + i, tl.flip(a, 0))
    tl.store(out + 3 * M * N + i, tl.gather(a, i * 7 % N, 1))


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "uint32", "int64"] + FLOATS)
@pytest.mark.parametrize("m, n", [(16, 32), (4, 8)])
def test_reductions_scans_and_sorting(name, m, n):
    kind = TYPES[name][0]
    x = moderate(name, m * n)
    is_float = name in FLOATS
    out = "int64" if not is_float else "fp64" if name == "fp64" else "fp32"
    zeros = lambda rows: (np.zeros(rows * n, TYPES[out][0]), out)
    # Sums of several roundings; products of fp16 overflow in both alike, or nearly.
    ulps = {"fp16": 2**17, "bf16": 2**20}.get(name, 256)
    y = x if not is_float else (x.astype(kind) / 8 if name != "bf16" else x & 0xBF7F)
    y = y.astype(kind), name
    compare(reductions, (1, ), [y], [zeros(11)], m, n, ulps=ulps, tiny=2e-2)
    if not is_float:
        compare(integer_reductions, (1, ), [(x, name)], [zeros(4)], m, n)
    for reverse in (False, True):
        compare(scans, (1, ), [y], [zeros(5 * m)], m, n, reverse, ulps=ulps, tiny=5e-2)
    special = bits(name, m * n)
    compare(ordered, (1, ), [(special, name)], [(np.zeros(4 * m * n, kind), name)], m, n, ulps=0)


@tile.jit
def fold_with_branches(x, out, N: tl.constexpr):
    a = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.reduce(a, 0, branching))
    tl.store(out + tl.arange(0, N) + 1, tl.map_elementwise(branching, a, 10))


def test_combinations_that_branch():
    x = RNG.integers(0, 1000, 32).astype(np.int32)
    out = np.zeros(33, np.int32)
    tile.interpret(fold_with_branches)[(1, )](x, out, 32)
    np.testing.assert_array_equal(out[1:], abs(x - 10))


@tile.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    z = tl.load(c + m[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, z, input_precision=PRECISION))


@pytest.mark.parametrize("name, result", [("fp16", "fp32"), ("fp16", "fp16"), ("bf16", "fp32"),
                                          ("fp32", "fp32"), ("fp64", "fp64"), ("int8", "int32"),
                                          ("e4m3", "fp32"), ("e5m2", "fp32")])
@pytest.mark.parametrize("precision", [None, "ieee"])
def test_products(name, result, precision):
    m, n, k = 16, 16, 32
    start = moderate(result, m * n)
    # tf32 keeps ten bits of each operand.
    tiny = {"fp16": 0.5, "fp32": 1e-3}.get(result, 1e-12)
    if name == "fp32" and precision is None:
        tiny = 0.5
    a, b = moderate(name, m * k), moderate(name, k * n)
    compare(product, (1, ), [(a, name), (b, name)], [(start, result)], m, n, k, precision, ulps=8,
            tiny=tiny)


@tile.jit
def random_numbers(out, bits_out, N: tl.constexpr, seed):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(out + N + i, tl.randn(seed, i + 5))
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(bits_out + i, a ^ d)
    tl.store(bits_out + N + i, b + c)


def test_random_numbers():
    outputs = [(np.zeros(512, np.float32), "fp32"), (np.zeros(512, np.uint32), "uint32")]
    compare(random_numbers, (1, ), [], outputs, 256, (7 << 40) + 12345, ulps=64, tiny=1e-5)


# Memory -----------------------------------------------------------------------------------


@tile.jit
def masked(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=3)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a, mask=i % 3 != 0)
    tl.store(out + tl.num_programs(0) * BLOCK + i, b, mask=i < n)
    if tl.program_id(0) == 1:
        tl.store(out, tl.load(x))


@pytest.mark.parametrize("name", list(TYPES))
@pytest.mark.parametrize("n", [1, 50, 128])
def test_masked_accesses(name, n):
    x, y = bits(name, n), bits(name, n)
    compare(masked, (2, ), [(x, name), (y, name)], [(moderate(name, 256), name)], n, 64, ulps=0)


@tile.jit
def blocks(src, out, m, n, sm, sn, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr):
    p = tl.make_block_ptr(src, (m, n), (sm, sn), (tl.program_id(0) * BM - 3, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(out, (m, n), (n, 1), (tl.program_id(0) * BM - 3, 0), (BM, BN), (1, 0))
    for _ in range(tl.cdiv(n, BN)):
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option=PAD) * 2, boundary_check=(0, 1))
        p = tl.advance(p, (0, BN))
        q = tl.advance(q, (0, BN))


@tile.jit
def boxes(src, out, whole, m, n, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr):
    source = tl.make_tensor_descriptor(src, [m, n], [n, 1], [BM, BN], padding_option=PAD)
    target = tl.make_tensor_descriptor(out, [m, n], [n, 1], [BM, BN])
    row = tl.program_id(0) * BM
    for j in range(0, n, BN):
        value = source.load([row - 1, j - 2])
        target.store([row, j], value + 1)
        target.atomic_add([row, j], value)
        i = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
        tl.store(whole + (tl.program_id(0) * tl.cdiv(n, BN) + j // BN) * BM * BN + i, value)


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_blocks_and_descriptors(padding):
    x = RNG.normal(size=(20, 40)).astype(np.float32)
    out = np.zeros_like(x)
    compare(blocks, (2, ), [(x, "fp32")], [(out, "fp32")], 20, 40, 40, 1, 16, 16, padding)
    whole = np.zeros(2 * 2 * 16 * 32, np.float32)
    compare(boxes, (2, ), [(x, "fp32")], [(out, "fp32"), (whole, "fp32")], 20, 40, 16, 32, padding)


@tile.jit
def host_boxes(source, target, BM: tl.constexpr, BN: tl.constexpr):
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) * 2)


def test_descriptors_of_the_host():
    x = RNG.normal(size=(20, 48)).astype(np.float32)
    out = np.zeros_like(x)
    describe = lambda array: TensorDescriptor.from_tensor(array, [16, 32])
    tile.interpret(host_boxes)[(2, 2)](describe(x), describe(out), 16, 32)
    np.testing.assert_array_equal(out, x * 2)


@tile.jit
def atomics(x, out, old, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.atomic_add(out + i % 4, a, mask=i != 5)
    tl.atomic_max(out + 4 + i % 2, a)
    tl.atomic_min(out + 6 + i % 2, a)
    tl.store(old + i, tl.atomic_add(out + 16 + i, a))
    tl.store(old + N + i, tl.atomic_xchg(out + 16 + i, a - 1))
    tl.store(old + 2 * N + i, tl.atomic_cas(out + 16 + i, tl.where(i < 9, a - 1, a), a + 1))
    tl.store(old + 3 * N, tl.atomic_add(out + 8, tl.sum(a)))


@tile.jit
def bit_atomics(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.atomic_and(out + i % 4, a)
    tl.atomic_or(out + 4 + i % 4, a)
    tl.atomic_xor(out + 8 + i % 4, a, mask=i > 7)


@tile.jit
def half_atomics(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(out + i, tl.load(x + i))
    tl.atomic_add(out + i, tl.load(x + i), mask=i > 3)


def test_atomics():
    for name in ("int32", "uint32", "int64", "uint64", "fp32", "fp64"):
        # Small integers: sums of floats are exact in any order.
        x = RNG.integers(0, 100, 32).astype(TYPES[name][0])
        start = RNG.integers(0, 100, 48).astype(x.dtype)
        compare(atomics, (1, ), [(x, name)], [(start, name), (np.zeros(128, x.dtype), name)], 32)
        if name in INTS:
            compare(bit_atomics, (1, ), [(bits(name, 32), name)], [(bits(name, 12), name)], 32)
    for name in ("fp16", "bf16"):
        x, start = moderate(name, 32), moderate(name, 32)
        compare(half_atomics, (1, ), [(x, name)], [(start, name)], 32, ulps=0)


@tile.jit
def pointers(table, data, out, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(2):
        p = tl.load(table + k).to(tl.pointer_type(tl.float32))
        tl.store(out + k * N + i, tl.load(p + i))
    tl.store(out + 2 * N, (data + 5 == data + 5).to(tl.float32))


def test_tables_of_pointers():
    data = np.arange(64, dtype=np.float32)
    table = np.array([data.ctypes.data + 4 * k for k in (32, 8)], np.int64)
    out = np.zeros(65, np.float32)
    tile.interpret(pointers)[(1, )](table, data, out, 32)
    np.testing.assert_array_equal(out, [*data[32:], *data[8:40], 1])


@tile.jit
def copy_first(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i + n)
    tl.store(out + i, value)


def test_accesses_are_checked():
    kernel = tile.interpret(copy_first)
    x, out = np.arange(64, dtype=np.int16), np.zeros(64, np.int16)
    line = copy_first.fn.__code__.co_firstlineno + 3
    with pytest.raises(MemoryAccessError) as caught:
        kernel[(1, )](x, out, 10, 64)
    assert str(caught.value) == (
        f"{__file__}:{line}, in copy_first: error: load of element [54] is out of bounds: 2 byte(s) at "
        "offset 128 (index 64) of x, which has 128 bytes (64 elements)")
    with pytest.raises(MemoryAccessError, match=r"store of element \[32\].* of out, which has 64 bytes"):
        kernel[(1, )](x, out[:32], 0, 64)
    out.flags.writeable = False
    with pytest.raises(MemoryAccessError, match="store of element .* an array that is read-only"):
        kernel[(1, )](x, out, 0, 64)
    with pytest.raises(MemoryAccessError, match="not aligned to 4 bytes"):
        kernel[(1, )](tile.reinterpret(x[1:], tl.int32), np.zeros(16, np.int32), 0, 16)


def test_views_and_empty_arrays():
    base, out = np.arange(64, dtype=np.float32), np.zeros(16, np.float32)
    tile.interpret(copy_first)[(1, )](base[40:], out, 2, 16)
    np.testing.assert_array_equal(out, base[42:58])
    tile.interpret(copy_first)[(0, )](base[:0], out, 2, 16)


# Control flow and the differences of the language from Python ------------------------------


@tile.jit
def signs(x):
    if x > 10:
        return 1, x * 2
    elif x < -10:
        return 2, x
    return 3, 0


@tile.jit
def scalars(out, x, n, f, flag, one, K: tl.constexpr, NOTHING):
    tl.static_assert(NOTHING is None)
    count, total = 0, 0.0
    for i in range(n):
        if i % 3 == 0 and i != 6 or flag:
            count += i // 2
        elif not (0 < i < 5):
            count -= 1
        total += f if i > 2 else 0.5
    for i in range(10, 0, -3):
        count += i * 1000
    for i in tl.static_range(K):
        count += i * 7
    while count > 50 and total < 1e6:
        count = count // 2 if count % 2 == 0 else count * 3 // 4
        total *= 1.5
    kind, value = signs(n - 12)
    small = tl.load(x)  # int8
    tl.store(out, count)
    tl.store(out + 1, kind * 100 + value)
    tl.store(out + 2, total.to(tl.int64))
    tl.store(out + 3, small * one)
    tl.store(out + 4, small * kind)
    tl.store(out + 5, (small * (100 if n > 3 else 50)).to(tl.int64))
    tl.store(out + 6, min(n, 7) + max(n, 7, 9) * 100 + abs(0 - n))
    tl.store(out + 7, int(f * 10) + float(n).to(tl.int32) + (n > 3) + bool(n))
    tl.store(out + 8, -7 // n + (-7 % n) * 10)
    tl.store(out + 9, (n * n * n * n * n * n * n * n * n * n).to(tl.int64))
    tl.store(out + 10, sum([n, one, K]) + len((n, n)))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 13, 30])
@pytest.mark.parametrize("flag", [False, True])
def test_scalars_and_control_flow(n, flag):
    if n == 0:
        n = 3
    x = np.array([-100], np.int8)
    interpreted, compiled = (np.zeros(11, np.int64) for _ in range(2))
    for run, out in ((tile.interpret(scalars), interpreted), (scalars, compiled)):
        run[(1, )](out, x, n, 1.25, flag, 1, 4, None)
    np.testing.assert_array_equal(interpreted, compiled)


@tile.jit
def weak_numbers(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    half = 0.5
    weak: tl.constexpr = 0.5
    tl.static_assert((a * half).dtype == tl.float32 and (a * weak).dtype == tl.float16)
    tl.static_assert((a * N).dtype == tl.float16 and (i * weak).dtype == tl.float32)
    b = a * weak + 3 if N > 4 else None
    first, *rest = (1, 2, 3)
    names = [k for k in range(4) if k != 1]
    tl.static_assert(len(rest) == 2 and len(names) == 3)
    square = lambda v: v * v
    tl.store(out + i, square(b) + (extra := first + rest[1]) + extra, mask=i > 2 and i < N - 1)
    tl.store(out, (1 < tl.sum(i) <= 100000).to(tl.float32))


def test_numbers_lambdas_and_comprehensions():
    x, out = moderate("fp16", 32), np.zeros(32, np.float16)
    compare(weak_numbers, (1, ), [(x, "fp16")], [(out, "fp16")], 32)


@tile.jit
def one_or_two(n):
    if n > 3:
        return 1
    return 2


@tile.jit
def types_of_branches(x, out, n):
    small = tl.load(x)
    tl.static_assert((small if n > 3 else 1).dtype == tl.int8 and (7 if n > 3 else 8).dtype == tl.int32)
    tl.static_assert((n < 2 or n > 3).dtype == tl.int1 and one_or_two(n).dtype == tl.int32)
    tl.store(out, small * one_or_two(n))
    tl.store(out + 1, small * (2 if n > 3 else small))


@pytest.mark.parametrize("n", [2, 5])
def test_numbers_from_branches_of_the_device_are_tensors(n):
    x, out = np.array([-100], np.int8), np.zeros(2, np.int64)
    compare(types_of_branches, (1, ), [(x, "int8")], [(out, "int64")], n)


@tile.jit
def three_axes(out, X: tl.constexpr, Y: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out + x + X * (y + Y * z), x * 100 + y * 10 + z + tl.num_programs(1) * 1000)


def test_grids():
    compare(three_axes, (2, 3, 4), [], [(np.zeros(24, np.int32), "int32")], 2, 3)
    out = np.zeros(24, np.int32)
    tile.interpret(three_axes)[lambda meta: (meta["X"], 3, 4)](out, X=2, Y=3, num_warps=8)
    assert out.all()


@tile.jit
def machine_code(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b, c = tl.inline_asm_elementwise("add.s32 $0, $2, 1; shl.b32 $1, $2, 2;", "=r,=r,r", [a],
                                     dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
    tl.store(out + i, b * 3 + c)


def test_inline_assembly_runs_in_the_emulator():
    compare(machine_code, (1, ), [(bits("int32", 64), "int32")], [(np.zeros(64, np.int32), "int32")], 64)


# Debugging --------------------------------------------------------------------------------


@tile.jit
def helper(x):
    return x + tl.zeros((3, ), tl.int32)


@tile.jit
def calls_helper(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), helper(tl.arange(0, N)))


def test_errors_are_those_of_python():
    with pytest.raises(ValueError, match=r"shapes \[4\] and \[3\] do not match") as caught:
        tile.interpret(calls_helper)[(1, )](np.zeros(4, np.int32), 4)
    frames = traceback.extract_tb(caught.tb)[1:]
    assert [(f.name, f.line) for f in frames if f.filename == __file__] == [
        ("calls_helper", "tl.store(x + tl.arange(0, N), helper(tl.arange(0, N)))"),
        ("helper", "return x + tl.zeros((3, ), tl.int32)")]


@tile.jit
def steps(out, n, step):
    count = 0
    for _ in range(0, n, step):
        count += 1
    tl.store(out, count)


def test_steps_of_the_running_kernel_are_positive():
    out = np.zeros(1, np.int32)
    tile.interpret(steps)[(1, )](out, 10, 3)
    assert out[0] == 4
    for step in (0, -3):
        with pytest.raises(ValueError, match=f"only the running kernel knows must be positive, got {step}"):
            tile.interpret(steps)[(1, )](out, 10, step)


@tile.jit
def prints(x, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    zero, tile_of_ones = 0, tl.full((2, 2), 1, tl.int8)
    print(zero, tile_of_ones)
    print("value:", value, value.dtype, f"{tl.sum(i):>5}|")
    tl.static_print("static", N)
    tl.device_print("device", value, hex=True)
    print(x.dtype, flag, value[:, None].shape, repr(value > 4), tl.sum(value.to(tl.uint32)))
    tl.device_assert(value < 100, "too large", mask=i != 3)
    assert tl.max(value) < 200, "much too large"


def test_prints_and_assertions(capsys):
    kernel = tile.interpret(prints)
    kernel[(1, )](np.array([3, 5, 7, 150], np.int32), True, 4)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["int32 0 int8[2, 2]", "[[1 1]", " [1 1]]",
                     "value: int32[4] [  3   5   7 150] int32     6|", "static 4",
                     "pid (0, 0, 0) device: [0x3 0x5 0x7 0x96]",
                     "pointer<int32> int1 True (4, 1) int1[4] [False  True  True  True] uint32 165"]
    with pytest.raises(AssertionError, match=r"in prints: error: device assertion failed for element "
                       r"\[1\]: too large"):
        kernel[(1, )](np.array([3, 100, 7, 150], np.int32), True, 4)
    with pytest.raises(AssertionError, match="^much too large"):
        kernel[(1, )](np.array([3, 5, 7, 250], np.int32), True, 4)


DEBUGGED = """\
import numpy as np
import tile
import tile.language as tl

@tile.jit
def twice(v):
    w = v * 2
    return w

@tile.jit
def kernel(x, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 1:
        breakpoint()
    a = tl.load(x + i)
    total = tl.sum(twice(a))
    tl.store(x + i, total)

array = np.arange(4, dtype=np.int32)
kernel[(2,)](array, 4)
print("result", array)
"""


@tile.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu", ):
        for dtype in (torch.float32, torch.bfloat16, torch.int64):
            x = torch.arange(20, device=device).to(dtype)
            tile.interpret(double)[(2, )](x[4:], 10, BLOCK=8)
            expected = [i * 2 if 4 <= i < 14 else i for i in range(20)]
            assert x.cpu().tolist() == expected


def run_script(path, commands="", **environment):
    paths = [str(Path(p).parent) for p in tile.__path__]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    return subprocess.run([sys.executable, str(path)], input=commands, capture_output=True, text=True,
                          env=environment, timeout=60)


def test_debugger(tmp_path):
    script = tmp_path / "debugged.py"
    script.write_text(DEBUGGED)
    # Breakpoints in the kernel, values, a change of one, a step into a helper.
    done = run_script(script, "\n".join(["b 16", "c", "p a", "p int(a.numpy().sum()) + N", "!a = a + 1", "s", "s",
                                         "p v", "w", "c"]), TILE_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    assert "int32[4] [12 12 12 12]" in done.stdout and "(Pdb) 52" in done.stdout
    assert re.search(r"> .*debugged.py\(7\)twice\(\)\n-> w = v \* 2\n"
                     r"\(Pdb\) int32\[4\] \[13 13 13 13\]", done.stdout)
    assert re.search(r"debugged.py\(16\)kernel\(\)\n-> total = tl.sum\(twice\(a\)\)", done.stdout)
    assert "result [104 104 104 104]" in done.stdout


def test_environment_variable(tmp_path):
    script = tmp_path / "tuned.py"
    script.write_text("""\
import numpy as np
import tile
import tile.language as tl

@tile.autotune([tile.Config({"BLOCK": 32}), tile.Config({"BLOCK": 64})], key=["n"])
@tile.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@tile.jit(do_not_specialize=["n"])
def kernel(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    print("block", BLOCK, EVEN, n.dtype)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

x = np.zeros(40, np.float32)
kernel[lambda meta: (tile.cdiv(40, meta["BLOCK"]),)](x, 40)
kernel.warmup(x, 40, grid=(1,))
assert x.tolist() == [1] * 40, x
""")
    done = run_script(script, TILE_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "block 32 True int32\n" * 2


def test_wrong_launches():
    kernel = tile.interpret(copy_first)
    assert tile.interpret(kernel) is kernel and "copy_first" in repr(kernel)
    with pytest.raises(RuntimeError, match="launch it as copy_first"):
        kernel(1, 2)
    with pytest.raises(TypeError, match="missing a required argument: 'out'"):
        kernel[(1, )](np.zeros(3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'blocks'"):
        kernel[(1, )](np.zeros(3), np.zeros(3), 0, 4, blocks=3)
    with pytest.raises(TypeError, match="the argument n of copy_first is a set"):
        kernel[(1, )](np.zeros(3), np.zeros(3), {1}, 4)
    with pytest.raises(ValueError, match="a grid has one to three extents"):
        kernel[(1, 2, 3, 4)](np.zeros(3), np.zeros(3), 0, 4)


def test_plain_functions_and_hooks():
    seen = []

    def kernel(x, N: tl.constexpr = 8):
        tl.store(x + tl.arange(0, N), SCALE * tl.arange(0, N))

    interpreted = tile.interpret(kernel)
    interpreted.add_pre_run_hook(lambda *args, **kwargs: seen.append(len(args)))
    out = np.zeros(8, np.int32)
    interpreted[1](out)
    np.testing.assert_array_equal(out, 3 * np.arange(8))
    assert seen == [1]


SCALE = tl.constexpr(3)


def test_other_suites():
    """The kernels of the other tests, in the interpreter and in the emulator."""
    folder = Path(__file__).parent
    names = ["elementwise", "memory", "control_flow", "shapes", "kernels", "public_kernels", "aggregates",
             "language_features"]
    modules = [str(folder / f"test_{name}.py") for name in names]
    command = [sys.executable, "-m", "pytest", "-q", "--device=compare", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *modules], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-8000:]
