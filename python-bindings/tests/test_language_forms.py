# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to write things that public kernels use, each with its value."""

from typing import NamedTuple

import numpy as np
import pytest

import tile
import tile.language as tl
from kernels import binary, matrix, unary

DTYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]
WIDTH = tl.constexpr(8)


def run(kernel, *args, count=1, dtype=np.int32, **kwargs):
    out = np.zeros(count, dtype)
    kernel[(1, )](out, *args, **kwargs)
    return out if count > 1 else out[0]


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# Arguments --------------------------------------------------------------------------------


@tile.jit
def annotated(out, a: tl.int64, b: "i32", c: tl.tensor, d: tl.constexpr, e=5, f: tl.constexpr = None,
              G: "tl.constexpr" = "x"):
    """Annotations of all kinds."""
    tl.static_assert(a.dtype == tl.int64 and b.dtype == tl.int32)
    tl.static_assert(f is None and G == "x" and d in (3, 4))
    ...
    tl.store(out, a + b * 10 + c * 100 + d * 1000 + e * 10000)


def test_annotations_and_defaults():
    assert run(annotated, 2, 3, 4, 3) == 2 + 30 + 400 + 3000 + 50000
    assert run(annotated, b=3, a=2, c=4, d=4, e=6) == 2 + 30 + 400 + 4000 + 60000


@tile.jit
def optional(out, x, y, BLOCK: tl.constexpr, ACT: tl.constexpr, TYPE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if y is not None:
        v += tl.load(y + i)
    if ACT in ("relu", "relu6"):
        v = tl.maximum(v, 0)
        if ACT == "relu6":
            v = tl.minimum(v, 6)
    elif ACT is not None and ACT != "none":
        v = undefined_function(v)  # noqa: F821
    tl.store(out + i, v.to(TYPE).to(out.dtype.element_ty))


@pytest.mark.parametrize("act", [None, "none", "relu", "relu6"])
def test_optional_pointers_and_strings(act):
    x, y = normal(8) * 8, normal(8, seed=1)
    for other in (None, y):
        v = x if other is None else x + y
        v = v if act in (None, "none") else np.maximum(v, 0)
        v = np.minimum(v, 6) if act == "relu6" else v
        np.testing.assert_array_equal(
            run(optional, x, other, 8, act, tl.float16, count=8, dtype=np.float16), v.astype(np.float16))


class Shape(NamedTuple):
    rows: int
    columns: int


@tile.jit
def tuples(out, pointers, shape, FLAGS: tl.constexpr, nested):
    x, y = pointers
    tl.static_assert(FLAGS[0] and not FLAGS[1] and len(FLAGS) == 2)
    (a, (b, c)) = nested
    i = tl.arange(0, 4)
    total = tl.load(x + i) * shape.rows + tl.load(y + i) * shape.columns
    for k in tl.static_range(len(nested)):
        total += k
    tl.store(out + i, total + a * b + c + nested[1][0])


def test_tuples_of_arguments():
    x, y = np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32)
    found = run(tuples, (x, y), Shape(3, 5), (True, False), (7, (2, 9)), count=4)
    np.testing.assert_array_equal(found, x * 3 + y * 5 + 1 + 14 + 9 + 2)


# Names and constants ----------------------------------------------------------------------


def make_kernel(scale, function):
    """Kernels may use what surrounds them."""
    factor = tl.constexpr(scale)

    @tile.jit
    def kernel(out, n):
        tl.store(out, function(n) * factor + WIDTH)

    return kernel


@tile.jit
def triple(n):
    return n * 3


@tile.jit
def negative(n):
    return -n


def test_closures():
    assert run(make_kernel(2, triple), 5) == 38
    assert run(make_kernel(3, negative), 5) == -7


@tile.jit
def factorial(n: tl.constexpr):
    if n <= 1:
        return 1
    else:
        return n * factorial(n - 1)


@tile.jit
def halves(x, LENGTH: tl.constexpr):
    # The shape changes with the depth.
    if LENGTH == 1:
        return x
    a, b = tl.split(tl.reshape(x, LENGTH // 2, 2))
    return halves(a + b, LENGTH // 2)


@tile.jit
def recursive(out, N: tl.constexpr):
    total = halves(tl.arange(0, N), N)
    tl.store(out + tl.arange(0, 1), total + factorial(5))


def test_recursion_at_compile_time():
    assert run(recursive, 16) == 120 + 120


@tile.constexpr_function
def pick_block(n):
    return max(16, tile.next_power_of_2(n) // 2)


@tile.jit
def constants(out, N: tl.constexpr):
    BLOCK: tl.constexpr = pick_block(N)
    LOG: tl.constexpr = BLOCK.bit_length() - 1
    HALF: tl.constexpr = tl.constexpr(BLOCK / 2)
    SHAPE: tl.constexpr = (BLOCK, 2 ** 2)
    tl.static_assert(BLOCK == 32 and LOG == 5 and HALF == 16.0, "wrong constants: " + str(BLOCK))
    x = tl.zeros(SHAPE, tl.int32) + tl.full([BLOCK, 4], value=3, dtype=tl.int32)
    big: tl.constexpr = 1 << 20 | 0xF
    y = int(HALF) + min(BLOCK, 7, LOG) + max(N, 3) + abs(-5) + len(SHAPE) + (big & 0xFF) + round(2.6)
    tl.store(out, tl.sum(tl.sum(x, 1), 0) + y + N.value + tile.cdiv(N, 7))


def test_constant_expressions():
    assert run(constants, 50) == 32 * 4 * 3 + 16 + 5 + 50 + 5 + 2 + 15 + 3 + 50 + 8


@tile.jit
def dead_code(out, FLAG: tl.constexpr, NONE: tl.constexpr):
    if FLAG and NONE is None:
        x = 1
    elif not FLAG:
        x = nothing + 1  # noqa: F821
    else:
        tl.static_assert(False, "not reached")
    y = x if FLAG else nothing  # noqa: F821
    z = (FLAG or nothing) and x  # noqa: F821
    for i in tl.static_range(3):
        if i == 1:
            y += 10
    tl.store(out, x + y + z)


def test_dead_code_is_not_looked_at():
    assert run(dead_code, True, None) == 13


# Operators --------------------------------------------------------------------------------


@tile.jit
def augmented(x):
    v = x
    v += 3
    v -= 1
    v *= 5
    v //= 2
    v %= 1000
    v <<= 2
    v >>= 1
    v |= 8
    v &= 0xFFF7
    v ^= 5
    return v


def test_augmented_assignments():
    x = np.arange(64).astype(np.int32)
    expected = (((x + 2) * 5 // 2 % 1000 << 2 >> 1 | 8) & 0xFFF7) ^ 5
    np.testing.assert_array_equal(unary(augmented, x), expected)


@tile.jit
def powers(x):
    y = x
    y **= 2
    return y + x**3 - 2**3 + x**0.5


def test_powers():
    x = np.random.default_rng(0).uniform(0.1, 3, 64).astype(np.float32)
    w = x.astype(np.float64)
    np.testing.assert_allclose(unary(powers, x), w**2 + w**3 - 8 + w**0.5, 1e-5, 1e-5)


@tile.jit
def reflected(x):
    return 10 - x + 7 * x + (100 // (x + 1)) + (5 % (x + 2)) + (1 <<
                                                                (x & 3)) + (3 & x) + (2 | x) + (6 ^ x)


def test_numbers_on_the_left():
    x = np.arange(64).astype(np.int32)
    expected = 10 - x + 7 * x + 100 // (x + 1) + 5 % (x + 2) + (1 <<
                                                                (x & 3)) + (3 & x) + (2 | x) + (6 ^ x)
    np.testing.assert_array_equal(unary(reflected, x), expected)


@tile.jit
def infinities(x):
    v = tl.where(x > 0, x, float("-inf"))
    w = tl.where(x > 0, -float("inf"), x)
    return tl.where(v == -float("inf"), 1.0, 0.0) + tl.where(w == float("-inf"), 2.0, 0.0) + (
        tl.where(tl.full([1], float("nan"), tl.float32) == x, 4.0, 0.0))


def test_infinities():
    x = normal(64)
    np.testing.assert_array_equal(unary(infinities, x), np.where(x > 0, 2, 1))


@tile.jit
def booleans(out, a, b, flag):
    both = (a > 2) & (b > 2)
    either = (a > 2) | (b > 2)
    one = (a > 2) ^ (b > 2)
    x = both.to(tl.int32) + either * 2 + one.to(tl.int32) * 4 + (not flag) * 8
    x += 16 if flag and a > b else 32
    x += (a > 3 or b > 3) * 64 + (~both).to(tl.int32) * 128
    tl.store(out, x)


@pytest.mark.parametrize("a, b, flag", [(3, 2, True), (2, 4, False), (5, 5, True), (0, 0, False)])
def test_booleans(a, b, flag):
    both, either = a > 2 and b > 2, a > 2 or b > 2
    expected = (both + 2 * either + 4 * (either and not both) + 8 * (not flag) +
                (16 if flag and a > b else 32) + 64 * (a > 3 or b > 3) + 128 * (not both))
    assert run(booleans, a, b, flag) == expected


# Pointers ---------------------------------------------------------------------------------


@tile.jit
def pointer_forms(x, out, n, stride):
    p = x + n
    p -= 2
    i = tl.arange(0, 4)
    q = p + i.to(tl.int64) * stride
    a = tl.load(q)
    for _ in range(2):
        q += 4 * stride
        p += 1
    b = tl.load(q) if n > 100 else tl.load(q - stride)
    r = x if n > 3 else out
    address = (x + 5).to(tl.int64)
    again = address.to(tl.pointer_type(tl.float32), bitcast=True)
    same = (again == x + 5) & (again != x) & (x + i < x + 2)
    c = tl.load((x.to(tl.int64) + i * 4).to(tl.pointer_type(tl.float32)))
    tl.store(out + i, a + b + tl.load(p) + tl.load(r) + tl.load(again) + c + tl.where(same, 1000.0, 0.0))


def test_pointer_forms():
    x = np.arange(64, dtype=np.float32)
    out = np.zeros(4, np.float32)
    pointer_forms[(1, )](x, out, 5, 2)
    i = np.arange(4)
    expected = x[3 + 2 * i] + x[3 + 2 * i + 16 - 2] + x[5] + x[0] + x[5] + x[i] + np.where(
        i < 2, 1000, 0)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def bool_memory(mask_ptr, x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    m = tl.load(mask_ptr + i)
    v = tl.load(x + i, mask=m, other=tl.arange(0, N).to(tl.float32) * 100)
    w = tl.load(x + i, m.to(tl.int1), -1)
    tl.store(out + i, v + w, m | (i > 4))
    tl.store(mask_ptr + i, ~m)


def test_masks_in_memory():
    mask = np.random.default_rng(0).integers(0, 2, 16).astype(bool)
    x, out, before = normal(16), np.full(16, 7, np.float32), mask.copy()
    bool_memory[(1, )](mask, x, out, 16)
    i = np.arange(16)
    expected = np.where(before, x, i * 100) + np.where(before, x, -1)
    np.testing.assert_array_equal(out, np.where(before | (i > 4), expected.astype(np.float32), 7))
    np.testing.assert_array_equal(mask, ~before)


@tile.jit
def broadcast_other(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    v = tl.load(x + at, mask=(j < N - 3)[None, :], other=i.to(tl.float32)[:, None])
    tl.store(out + at, v, mask=(i > 0)[:, None])
    tl.store(out + j, 5)


def test_other_and_masks_are_broadcast():
    x = normal(4, 8)
    out = np.zeros((4, 8), np.float32)
    broadcast_other[(1, )](x, out, 4, 8)
    expected = np.where(np.arange(8) < 5, x, np.arange(4)[:, None])
    expected[0] = 5
    np.testing.assert_array_equal(out, expected)


@tile.jit
def block_pointers_3d(x, out, B, M, N, TB: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr):
    source = tl.make_block_ptr(x,
                               shape=(B, M, N),
                               strides=(M * N, N, 1),
                               offsets=(0, 0, tl.program_id(0) * TN),
                               block_shape=(TB, TM, TN),
                               order=(2, 1, 0))
    target = tl.make_block_ptr(out, (B, N, M), (M * N, M, 1), (0, tl.program_id(0) * TN, 0),
                               (TB, TN, TM), (2, 1, 0))
    for m in range(0, M, TM):
        v = tl.load(source, boundary_check=(0, 1, 2))
        tl.store(target, tl.permute(v, (0, 2, 1)), boundary_check=(0, 1, 2))
        source = tl.advance(source, (0, TM, 0))
        if m >= 0:
            target = tl.advance(target, [0, 0, TM])


def test_block_pointers_of_three_dimensions():
    x = normal(3, 10, 13)
    out = np.zeros((3, 13, 10), np.float32)
    block_pointers_3d[(4, )](x, out, 3, 10, 13, 4, 4, 4)
    np.testing.assert_array_equal(out, x.transpose(0, 2, 1))


@tile.jit
def descriptor_forms(x, y, out, n, m, PAD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    flat = tl.make_tensor_descriptor(x, [n], [1], [BN], padding_option=PAD)
    square = tl.make_tensor_descriptor(y,
                                       shape=[1, m, n],
                                       strides=[m * n, n, 1],
                                       block_shape=[1, BM, BN],
                                       padding_option=PAD)
    row = flat.load([n - BN // 2])
    rows = square.load([0, m - 2, -2])
    tl.static_assert(flat.dtype == tl.float32 and square.block_shape[2] == BN)
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(out + at, rows.reshape(BM, BN))
    tl.store(out + BM * BN + tl.arange(0, BN), row)


@pytest.mark.parametrize("padding, fill", [("zero", 0), ("nan", np.nan)])
def test_descriptors_out_of_bounds(padding, fill):
    x, y = normal(20), normal(6, 20, seed=1)
    out = np.zeros(40, np.float32)
    descriptor_forms[(1, )](x, y, out, 20, 6, padding, 4, 8)
    expected = np.full(40, fill, np.float32)
    expected[:32].reshape(4, 8)[:2, 2:] = y[4:6, :6]
    expected[32:36] = x[16:]
    np.testing.assert_array_equal(out, expected)


# Control flow -----------------------------------------------------------------------------


@tile.jit
def select_branch(x, n):
    if n > 10:
        if n > 20:
            return x + 1, n
        x = x * 2
    elif n > 5:
        y = x * 3
        return y, n + 1
    return x, n + 2


@tile.jit
def returns(out, n):
    x, m = select_branch(tl.arange(0, 4), n)
    if n < 0:
        return
    if n == 7:
        tl.store(out, 77)
        return
    tl.store(out + tl.arange(0, 4), x * 100 + m)


@pytest.mark.parametrize("n", [-1, 3, 6, 7, 15, 25])
def test_early_returns(n):
    x = np.arange(4)
    v, m = (x + 1, n) if n > 20 else (x * 2, n + 2) if n > 10 else (x * 3, n + 1) if n > 5 else (x,
                                                                                                 n + 2)
    expected = np.zeros(4) if n < 0 else np.array([77, 0, 0, 0]) if n == 7 else v * 100 + m
    np.testing.assert_array_equal(run(returns, n, count=4), expected)


@tile.jit
def loop_variables(out, n):
    i = 100
    total = 0
    first = last = tl.full((), -1, tl.int32)
    for i in range(3, n):
        j = i * 2
        i = j + 1
        total += i
        if first == -1:
            first = j
        last = j
    k = 0
    while k < n and total < 1000:
        total += k
        k += 1
    for q in range(n, 0, -1):
        total += q
    tl.store(out, total * 10000 + first * 100 + last)


def test_loop_variables():
    n = 7
    total = sum(2 * i + 1 for i in range(3, n)) + sum(range(n)) + sum(range(1, n + 1))
    assert run(loop_variables, n) == total * 10000 + 6 * 100 + 12


@tile.jit
def carried_tuple(out, n):
    state = (tl.zeros((4, ), tl.int32), 1, 0)
    for i in range(n):
        tile_, a, b = state
        state = (tile_ + a, a + b, a)
    t, a, b = state
    tl.store(out + tl.arange(0, 4), t * 1000 + a * 10 + b)


def test_tuples_in_loops():
    t, a, b = 0, 1, 0
    for _ in range(6):
        t, a, b = t + a, a + b, a
    np.testing.assert_array_equal(run(carried_tuple, 6, count=4), t * 1000 + a * 10 + b)


@tile.jit
def loop_over_tuple(out, values, N: tl.constexpr):
    total = 0
    for v in values:
        total += v
    for i, v in enumerate(values):
        total += i * v
    for a, b in zip(values, (1, 2, 3)):
        total += a * b
    for s in tl.static_range(N, 0, -2):
        total += tl.sum(tl.arange(0, 2 ** s))
    tl.store(out, total)


def test_loops_at_compile_time():
    values = (5, 7, 9)
    expected = 21 + (7 + 18) + (5 + 14 + 27) + sum(sum(range(2**s)) for s in range(4, 0, -2))
    assert run(loop_over_tuple, values, 4) == expected


# Shapes, reductions, over types -----------------------------------------------------------


@tile.jit
def last_axis(x):
    y = x.reshape(2, x.shape[0] // 2, x.shape[1])
    return tl.sum(y, axis=-1) * 100 + tl.max(y, axis=-1)


@tile.jit
def all_elements(x):
    s = tl.sum(x) + tl.max(x) * 2 + tl.min(x) * 3
    return tl.zeros((4, 8), s.dtype) + s


@tile.jit
def kept(x):
    return x - tl.max(x, axis=0, keep_dims=True) + tl.min(x, axis=1, keep_dims=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_types(dtype):
    x = np.random.default_rng(0).integers(0, 6, (4, 8)).astype(dtype)
    w = x.astype(np.float64)
    y = w.reshape(2, 2, 8)
    np.testing.assert_array_equal(matrix(last_axis, x, (2, 2), np.float64), y.sum(-1) * 100 + y.max(-1))
    np.testing.assert_array_equal(matrix(all_elements, x, (4, 8), np.float64),
                                  np.full((4, 8),
                                          w.sum() + 2 * w.max() + 3 * w.min()))
    expected = w - w.max(0) + w.min(1, keepdims=True)
    if dtype == np.uint8:  # which wraps: its minima are int32, as tl.min's always are
        expected = (x.astype(np.int32) - x.max(0) + x.min(1, keepdims=True)).astype(np.float64)
    np.testing.assert_array_equal(matrix(kept, x, x.shape, np.float64), expected)


@tile.jit
def gathered_rows(x):
    return tl.gather(x, (tl.arange(0, 4)[:, None] * 3 + tl.arange(0, 8)[None, :]) % 4, 0)


@tile.jit
def gathered_columns(x):
    return tl.gather(x, (tl.arange(0, 4)[:, None] + tl.arange(0, 4)[None, :] * 5) % 8, axis=1)


@tile.jit
def joined_and_split(x):
    a, b = tl.split(tl.join(x, x + 1))
    return tl.interleave(a, b)


@tile.jit
def permuted(x):
    y = x.reshape(2, 2, 8).permute(2, 0, 1)
    return y.permute((1, 2, 0)).reshape(4, 8).T.trans()


@pytest.mark.parametrize("dtype", DTYPES)
def test_shape_functions_of_types(dtype):
    x = np.random.default_rng(0).integers(0, 100, (4, 8)).astype(dtype)
    i, j = np.arange(4)[:, None], np.arange(8)
    np.testing.assert_array_equal(matrix(gathered_rows, x, x.shape),
                                  np.take_along_axis(x, (i * 3 + j) % 4, 0))
    np.testing.assert_array_equal(matrix(gathered_columns, x, (4, 4)),
                                  np.take_along_axis(x, (i + np.arange(4) * 5) % 8, 1))
    np.testing.assert_array_equal(matrix(joined_and_split, x, (4, 16)),
                                  np.stack([x, x + 1], -1).reshape(4, 16))
    np.testing.assert_array_equal(matrix(permuted, x, x.shape), x)


@tile.jit
def minimum_and_clamp(a, b):
    return tl.minimum(a, b) + tl.clamp(a, 3, 9) + tl.abs(a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_minimum_and_clamp_of_types(dtype):
    a, b = (np.random.default_rng(s).integers(0, 16, 64).astype(dtype) for s in (0, 1))
    np.testing.assert_array_equal(binary(minimum_and_clamp, a, b, dtype),
                                  np.minimum(a, b) + np.clip(a, 3, 9) + a)


@tile.jit
def sorted_both_ways(x):
    return tl.sort(x) * 0 + tl.sort(x, descending=True) + tl.cumsum(tl.sort(x, dim=1), 1) * 0


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float16, np.float32])
def test_sort_of_types(dtype):
    x = np.random.default_rng(0).integers(0, 50, (4, 8)).astype(dtype)
    np.testing.assert_array_equal(matrix(sorted_both_ways, x, x.shape), np.sort(x, 1)[:, ::-1])


@tile.jit
def packed_bytes(x):
    # Four bytes at a time, as fp4 and fp8 kernels do.
    return tl.inline_asm_elementwise("and.b32 $0, $1, 0x0F0F0F0F;",
                                     "=r,r", [x],
                                     dtype=tl.int8,
                                     is_pure=True,
                                     pack=4)


def test_assembly_on_packed_elements():
    x = np.random.default_rng(0).integers(-128, 128, 64).astype(np.int8)
    np.testing.assert_array_equal(unary(packed_bytes, x), x & 15)


@tile.jit
def counters(out, seed, N: tl.constexpr):
    i = tl.arange(0, N).to(tl.uint32)
    zero = i * 0
    a, b, c, d = tl.philox(seed, i, zero + 1, zero + 2, zero + 3)
    tl.store(out + tl.arange(0, N), a)
    tl.store(out + N + tl.arange(0, N), d)
    w, x, y, z = tl.randint4x(seed, tl.arange(0, N))
    n0, n1, n2, n3 = tl.randn4x(seed, tl.arange(0, N))
    tl.store(out + 2 * N + tl.arange(0, N), z)
    tl.static_assert(n0.dtype == tl.float32 and n3.dtype == tl.float32)
    fewer = tl.randint(seed, tl.arange(0, N), n_rounds=7)
    tl.store(out + 3 * N + tl.arange(0, N), fewer)


def philox(seed, counter, rounds):
    mask = 0xFFFFFFFF
    c, k = list(counter), [seed & mask, seed >> 32 & mask]
    for _ in range(rounds):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
        k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
    return c


def test_random_counters():
    n, seed = 16, 0x123456789ABC
    out = run(counters, seed, n, count=4 * n, dtype=np.uint32)
    for i in range(n):
        full = philox(seed, (i, 1, 2, 3), 10)
        assert out[i] == full[0] and out[n + i] == full[3]
        assert out[2 * n + i] == philox(seed, (i, 0, 0, 0), 10)[3]
        assert out[3 * n + i] == philox(seed, (i, 0, 0, 0), 7)[0]


@tile.jit
def dot_forms(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FORM: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + n[:, None] * K + k[None, :])
    z = tl.load(c + m[:, None] * N + n[None, :])
    if FORM == "plain":
        r = tl.dot(x, y.T)
    elif FORM == "acc":
        r = tl.dot(x, tl.trans(y), acc=z)
    elif FORM == "positional":
        r = tl.dot(x, tl.trans(y), z, input_precision="ieee")
    elif FORM == "half":
        r = tl.dot(x.to(tl.float16), y.to(tl.float16).T, out_dtype=tl.float16)
    elif FORM == "bf16":
        r = tl.dot(x.to(tl.bfloat16), y.to(tl.bfloat16).T, max_num_imprecise_acc=0)
    elif FORM == "fp8":
        r = tl.dot(x.to(tl.float8e4nv), y.to(tl.float8e5).T)
    else:
        r = tl.dot(x, y.T, allow_tf32=False) + tl.dot(x, y.T, input_precision="tf32x3") * 0
    tl.store(out + m[:, None] * N + n[None, :], r)


@pytest.mark.parametrize("form", ["plain", "acc", "positional", "half", "bf16", "fp8", "precision"])
def test_forms_of_dot(form):
    # Small integers are exact in every type.
    a, b, c = (np.random.default_rng(s).integers(-4, 5, shape).astype(np.float32)
               for s, shape in ((0, (16, 32)), (1, (16, 32)), (2, (16, 16))))
    out = np.zeros((16, 16), np.float32)
    dot_forms[(1, )](a, b, c, out, 16, 16, 32, form)
    np.testing.assert_array_equal(out, a @ b.T + (c if form in ("acc", "positional") else 0))


# Printing and assertions ------------------------------------------------------------------


@tile.jit
def prints(x, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.device_print("hexadecimal", v, hex=True)
    print("plain", v)
    tl.device_assert(v > 0, "positive", mask=tl.arange(0, N) < 1)
    assert tl.max(v) < 100, f"at most {100}"


@pytest.mark.emulator
def test_prints_and_assertions(capsys):
    prints[(1, )](np.array([10, -3], np.int32), 2, num_warps=1)
    text = capsys.readouterr().out
    assert "0x" in text and "000a" in text and "plain" in text and "-3" in text
    with pytest.raises(tile.EmulatorError, match="at most 100"):
        prints[(1, )](np.array([10, 300], np.int32), 2, num_warps=1)
