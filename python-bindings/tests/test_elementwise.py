# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators, promotion, casts and mathematics against NumPy."""

import math

import numpy as np
import pytest

import tile
import tile.language as tl
from kernels import binary, unary

RNG = np.random.default_rng(7)
INTS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]


def sample(dtype, n=64, nonzero=False, positive=False):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.integers(0, 2, n).astype(bool)
    if dtype.kind == "f":
        values = RNG.uniform(0.25, 4, n)
        return (values if positive else values * RNG.choice([-1, 1], n)).astype(dtype)
    low, high = (1 if positive or dtype.kind == "u" else -50), 50
    values = RNG.integers(low, high, n)
    if nonzero:
        values[values == 0] = 3
    return values.astype(dtype)


@tile.jit
def add(a, b):
    return a + b


@tile.jit
def sub(a, b):
    return a - b


@tile.jit
def mul(a, b):
    return a * b


@tile.jit
def floordiv(a, b):
    return a // b


@tile.jit
def mod(a, b):
    return a % b


@tile.jit
def truediv(a, b):
    return a / b


@tile.jit
def bit_and(a, b):
    return a & b


@tile.jit
def bit_or(a, b):
    return a | b


@tile.jit
def bit_xor(a, b):
    return a ^ b


@pytest.mark.parametrize("dtype", INTS + FLOATS)
@pytest.mark.parametrize("kernel, function", [(add, np.add), (sub, np.subtract), (mul, np.multiply)])
def test_arithmetic(dtype, kernel, function):
    x, y = sample(dtype), sample(dtype)
    with np.errstate(over="ignore"):
        expected = function(x, y)
    np.testing.assert_array_equal(binary(kernel, x, y, dtype), expected)


def c_division(x, y):
    quotient = np.array([int(a) // int(b) if (a < 0) == (b < 0) else -(abs(int(a)) // abs(int(b)))
                         for a, b in zip(x.tolist(), y.tolist())])
    return quotient, np.array(x.tolist()) - quotient * np.array(y.tolist())


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_truncates(dtype):
    x, y = sample(dtype), sample(dtype, nonzero=True)
    quotient, remainder = c_division(x, y)
    np.testing.assert_array_equal(binary(floordiv, x, y, dtype), quotient.astype(dtype))
    np.testing.assert_array_equal(binary(mod, x, y, dtype), remainder.astype(dtype))


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("kernel, function",
                         [(bit_and, np.bitwise_and), (bit_or, np.bitwise_or), (bit_xor, np.bitwise_xor)])
def test_bitwise(dtype, kernel, function):
    x, y = sample(dtype), sample(dtype)
    np.testing.assert_array_equal(binary(kernel, x, y, dtype), function(x, y))


@tile.jit
def shift_left(a, b):
    return a << b


@tile.jit
def shift_right(a, b):
    return a >> b


@pytest.mark.parametrize("dtype", INTS)
def test_shifts(dtype):
    x = sample(dtype)
    y = RNG.integers(0, 7, 64).astype(dtype)
    np.testing.assert_array_equal(binary(shift_left, x, y, dtype), np.left_shift(x, y))
    np.testing.assert_array_equal(binary(shift_right, x, y, dtype), np.right_shift(x, y))


@pytest.mark.parametrize("dtype", FLOATS + [np.int32])
def test_true_division(dtype):
    x, y = sample(dtype), sample(dtype, nonzero=True)
    out = np.float64 if dtype is np.float64 else np.float32
    expected = x.astype(np.float64) / y.astype(np.float64)
    np.testing.assert_allclose(binary(truediv, x, y, out), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_remainder_has_the_sign_of_the_dividend(dtype):
    x, y = sample(dtype), sample(dtype)
    out = np.float64 if dtype is np.float64 else np.float32
    np.testing.assert_allclose(binary(mod, x, y, out), np.fmod(x.astype(out), y.astype(out)), atol=1e-6)


@tile.jit
def comparisons(a, b):
    return ((a < b).to(tl.int32) + (a <= b).to(tl.int32) * 2 + (a > b).to(tl.int32) * 4
            + (a >= b).to(tl.int32) * 8 + (a == b).to(tl.int32) * 16 + (a != b).to(tl.int32) * 32)


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_comparisons(dtype):
    x, y = sample(dtype), sample(dtype)
    y[::4] = x[::4]
    if np.dtype(dtype).kind == "f":
        x[1] = np.nan
    expected = ((x < y) + (x <= y) * 2 + (x > y) * 4 + (x >= y) * 8 + (x == y) * 16 + (x != y) * 32)
    np.testing.assert_array_equal(binary(comparisons, x, y, np.int32), expected)


@tile.jit
def unsigned_compare(a, b):
    return a < b


def test_unsigned_comparison_uses_all_bits():
    x = np.array([0xFFFFFFFF, 1, 0x80000000, 5], np.uint32).repeat(16)
    y = np.array([1, 0xFFFFFFFF, 0x7FFFFFFF, 5], np.uint32).repeat(16)
    np.testing.assert_array_equal(binary(unsigned_compare, x, y, bool), x < y)


# Promotion --------------------------------------------------------------------------------

_NAMES = {np.dtype(t): n for t, n in [
    (bool, "int1"), (np.int8, "int8"), (np.int16, "int16"), (np.int32, "int32"), (np.int64, "int64"),
    (np.uint8, "uint8"), (np.uint16, "uint16"), (np.uint32, "uint32"), (np.uint64, "uint64"),
    (np.float16, "fp16"), (np.float32, "fp32"), (np.float64, "fp64")]}


@tile.jit
def _result_type(x, y, NAME: tl.constexpr):
    value = tl.load(x) + tl.load(y)
    tl.static_assert(value.dtype.name == NAME, f"{value.dtype} is not {NAME}")


@pytest.mark.parametrize("a, b, expected", [
    (np.int8, np.int32, "int32"), (np.int32, np.int64, "int64"), (np.uint8, np.int16, "int16"),
    (np.int32, np.uint32, "uint32"), (np.uint32, np.int64, "int64"), (np.int64, np.float16, "fp16"),
    (np.float16, np.float32, "fp32"), (np.float32, np.float64, "fp64"), (bool, np.int8, "int8"),
    (bool, np.float16, "fp16"), (np.uint64, np.int8, "uint64"), (np.int64, np.float32, "fp32"),
])
def test_promotion_of_tensors(a, b, expected):
    x, y = np.ones(4, a), np.ones(4, b)
    _result_type.warmup(x, y, expected, grid=(1, ))
    _result_type.warmup(y, x, expected, grid=(1, ))


@tile.jit
def _weak_type(x, NUMBER: tl.constexpr, NAME: tl.constexpr):
    value = tl.load(x) * NUMBER
    tl.static_assert(value.dtype.name == NAME, f"{value.dtype} is not {NAME}")
    tl.static_assert((NUMBER * tl.load(x)).dtype.name == NAME)


@pytest.mark.parametrize("dtype, number, expected", [
    (np.uint8, 3, "uint8"), (np.int16, 4.0, "fp32"), (np.float16, 2, "fp16"), (np.float16, 2.5, "fp16"),
    (np.float64, 2.5, "fp64"), (np.int64, 3, "int64"), (np.float32, True, "fp32"), (bool, 3, "int32"),
    (bool, 2**40, "int64"), (np.int32, 1e300, "fp64"),
])
def test_promotion_of_numbers(dtype, number, expected):
    _weak_type.warmup(np.ones(4, dtype), number, expected, grid=(1, ))


@tile.jit
def _variable_type(x):
    half = 0.5
    tl.static_assert((tl.load(x) * half).dtype == tl.float32)
    weak: tl.constexpr = 0.5
    tl.static_assert((tl.load(x) * weak).dtype == tl.float16)


def test_a_variable_is_a_tensor_and_a_constexpr_is_weak():
    _variable_type.warmup(np.ones(4, np.float16), grid=(1, ))


# Casts ------------------------------------------------------------------------------------


@tile.jit
def _cast(x, out, N: tl.constexpr, BITCAST: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty, bitcast=BITCAST))


def cast(x, dtype, bitcast=False):
    out = np.zeros(x.shape, dtype)
    _cast[(1, )](x, out, x.size, bitcast)
    return out


@pytest.mark.parametrize("source", [bool] + INTS + FLOATS)
@pytest.mark.parametrize("target", [bool] + INTS + FLOATS)
def test_casts(source, target):
    x = sample(source, positive=np.dtype(target).kind == "u" and np.dtype(source).kind == "f")
    x[:4] = 0
    np.testing.assert_array_equal(cast(x, target), x.astype(target))


def test_bitcast():
    x = sample(np.float32)
    np.testing.assert_array_equal(cast(x, np.int32, True), x.view(np.int32))
    np.testing.assert_array_equal(cast(x.view(np.uint32), np.float32, True), x)


def test_float16_rounds_to_nearest_even():
    x = np.array([1 + 2**-11, 1 + 3 * 2**-11, 65519.0, 65520.0, -1e9, np.nan, 2**-25, 6e-8],
                 np.float32).repeat(8)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(cast(x, np.float16), x.astype(np.float16))


@tile.jit
def through_bf16(x):
    return x.to(tl.bfloat16).to(tl.float32)


@tile.jit
def through_bf16_rtz(x):
    return x.to(tl.bfloat16, fp_downcast_rounding="rtz").to(tl.float32)


def test_bfloat16():
    x = sample(np.float32)
    bits = x.view(np.uint32).astype(np.uint64)
    nearest = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    np.testing.assert_array_equal(unary(through_bf16, x), nearest)
    truncated = (bits & 0xFFFF0000).astype(np.uint32).view(np.float32)
    np.testing.assert_array_equal(unary(through_bf16_rtz, x), truncated)


@tile.jit
def through_e4m3(x):
    return x.to(tl.float8e4nv).to(tl.float32)


@tile.jit
def through_e5m2(x):
    return x.to(tl.float8e5).to(tl.float32)


def test_fp8_keeps_what_it_can_represent():
    e4m3 = np.array([0, 1, 1.125, -1.5, 448, 2**-9, -2**-6, 1.75], np.float32).repeat(8)
    np.testing.assert_array_equal(unary(through_e4m3, e4m3), e4m3)
    e5m2 = np.array([0, 1, 1.25, -1.5, 57344, 2**-16, -2**-14, 1.75], np.float32).repeat(8)
    np.testing.assert_array_equal(unary(through_e5m2, e5m2), e5m2)
    # Too large: the largest finite number.
    np.testing.assert_array_equal(unary(through_e4m3, np.full(64, 1e6, np.float32)), 448)


# Functions --------------------------------------------------------------------------------


@tile.jit
def neg(x):
    return -x


@tile.jit
def invert(x):
    return ~x


@tile.jit
def absolute(x):
    return tl.abs(x)


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_unary_operators(dtype):
    x = sample(dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(unary(neg, x), -x)
    np.testing.assert_array_equal(unary(absolute, x), np.abs(x))
    if np.dtype(dtype).kind != "f":
        np.testing.assert_array_equal(unary(invert, x), ~x)


@tile.jit
def exp(x):
    return tl.exp(x)


@tile.jit
def exp2(x):
    return tl.exp2(x)


@tile.jit
def log(x):
    return tl.log(x)


@tile.jit
def log2(x):
    return tl.log2(x)


@tile.jit
def sqrt(x):
    return tl.sqrt(x)


@tile.jit
def rsqrt(x):
    return tl.rsqrt(x)


@tile.jit
def sin(x):
    return tl.sin(x)


@tile.jit
def cos(x):
    return tl.cos(x)


@tile.jit
def floor(x):
    return tl.floor(x)


@tile.jit
def ceil(x):
    return tl.ceil(x)


@tile.jit
def erf(x):
    return tl.erf(x)


@tile.jit
def tanh(x):
    return tl.extra.libdevice.tanh(x)


@tile.jit
def sigmoid(x):
    return tl.sigmoid(x)


@tile.jit
def sqrt_rn(x):
    return tl.sqrt_rn(x)


@tile.jit
def power_of_three(x):
    return x**3


@pytest.mark.parametrize("kernel, function", [
    (exp, np.exp), (exp2, np.exp2), (log, np.log), (log2, np.log2), (sqrt, np.sqrt),
    (rsqrt, lambda x: 1 / np.sqrt(x)), (sin, np.sin), (cos, np.cos), (floor, np.floor),
    (ceil, np.ceil), (erf, np.vectorize(math.erf)), (tanh, np.tanh),
    (sigmoid, lambda x: 1 / (1 + np.exp(-x))), (sqrt_rn, np.sqrt), (power_of_three, lambda x: x**3),
], ids=lambda p: getattr(p, "__name__", ""))
def test_functions(kernel, function):
    x = sample(np.float32, positive=True)
    np.testing.assert_allclose(unary(kernel, x), function(x.astype(np.float64)), rtol=2e-6, atol=1e-6)


def test_functions_of_float16_round_once():
    x = sample(np.float16, positive=True)
    np.testing.assert_allclose(unary(exp, x), np.exp(x.astype(np.float32)).astype(np.float16), rtol=1e-3)


@tile.jit
def maximum(a, b):
    return tl.maximum(a, b)


@tile.jit
def minimum_nan(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tile.jit
def clamp(x):
    return tl.clamp(x, -1.0, 2.0)


@tile.jit
def select(a, b):
    return tl.where(a > b, a, 0.0)


def test_maximum_minimum_clamp_where():
    x, y = sample(np.float32), sample(np.float32)
    x[3] = np.nan
    np.testing.assert_array_equal(binary(maximum, x, y, np.float32), np.fmax(x, y))
    np.testing.assert_array_equal(binary(minimum_nan, x, y, np.float32), np.minimum(x, y))
    np.testing.assert_array_equal(binary(select, x, y, np.float32), np.where(x > y, x, 0))
    z = sample(np.float32)
    np.testing.assert_array_equal(unary(clamp, z), np.clip(z, -1, 2))
    i, j = sample(np.int16), sample(np.int16)
    np.testing.assert_array_equal(binary(maximum, i, j, np.int16), np.maximum(i, j))


@tile.jit
def high_product(a, b):
    return tl.umulhi(a, b)


def test_umulhi():
    x = RNG.integers(0, 2**32, 64, dtype=np.uint32)
    y = RNG.integers(0, 2**32, 64, dtype=np.uint32)
    expected = (x.astype(np.uint64) * y.astype(np.uint64) >> 32).astype(np.uint32)
    np.testing.assert_array_equal(binary(high_product, x, y, np.uint32), expected)


@tile.jit
def fused(x):
    return tl.fma(x, x, 1.0)


@tile.jit
def assembly(x):
    return tl.inline_asm_elementwise("add.f32 $0, $1, 0f3F800000;", "=f,f", [x], dtype=tl.float32,
                                     is_pure=True, pack=1)


def test_fma_and_assembly():
    x = sample(np.float32)
    np.testing.assert_allclose(unary(fused, x), x.astype(np.float64)**2 + 1, rtol=1e-7)
    np.testing.assert_array_equal(unary(assembly, x), x + 1)


@tile.jit
def collatz_steps(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@tile.jit
def collatz(n):
    return tl.map_elementwise(collatz_steps, n)


def test_map_elementwise():
    x = np.arange(1, 65, dtype=np.int32)

    def steps(n):
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    np.testing.assert_array_equal(unary(collatz, x), [steps(n) for n in x])


@tile.jit
def sums_of_bools(out, b):
    known = True
    tl.store(out, known + known)
    tl.store(out + 1, b + b)


def test_bools_wrap():
    out = np.ones(2, np.int32)
    sums_of_bools[(1, )](out, True)
    assert out.tolist() == [0, 0]


@tile.jit
def shifted_right(x, y):
    return x >> y


@pytest.mark.parametrize("left", INTS)
@pytest.mark.parametrize("count", [np.uint8, np.uint32, np.uint64])
def test_what_is_shifted_decides_on_the_sign(left, count):
    x, y = sample(left), np.arange(64).astype(count) % 7
    width = max(np.dtype(left).itemsize, np.dtype(count).itemsize)
    wide = x.astype(f"{np.dtype(left).kind}{width}")
    result = binary(shifted_right, x, y, wide.dtype)
    np.testing.assert_array_equal(result, wide >> y.astype(wide.dtype))
