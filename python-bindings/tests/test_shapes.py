# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shape functions, reductions, scans, sorting and matrix products against NumPy."""

import numpy as np
import pytest

import tile
import tile.language as tl
from kernels import matrix

RNG = np.random.default_rng(11)
X = RNG.normal(size=(16, 32)).astype(np.float32)
INTEGERS = RNG.integers(-100, 100, (16, 32)).astype(np.int32)


@tile.jit
def trans(x):
    return tl.trans(x)


@tile.jit
def permuted(x):
    return tl.permute(tl.reshape(x, 4, 4, 32), (2, 0, 1))


@tile.jit
def reshaped(x):
    return x.reshape((8, 64))


@tile.jit
def expanded(x):
    return x[:, None, :] + tl.zeros((16, 2, 32), tl.float32)


@tile.jit
def joined(x):
    return tl.join(x, x * 2)


@tile.jit
def interleaved(x):
    return tl.interleave(x, -x)


@tile.jit
def split_sum(x):
    a, b = tl.split(tl.reshape(x, 16, 16, 2))
    return a - b


@tile.jit
def flipped(x):
    return tl.flip(x)


@tile.jit
def concatenated(x):
    return tl.cat(x, x + 1, dim=1)


@tile.jit
def gathered(x):
    index = tl.broadcast_to((31 - tl.arange(0, 32))[None, :], (16, 32))
    return tl.gather(x, index, 1)


@pytest.mark.parametrize("kernel, function", [
    (trans, lambda x: x.T), (permuted, lambda x: x.reshape(4, 4, 32).transpose(2, 0, 1)),
    (reshaped, lambda x: x.reshape(8, 64)), (expanded, lambda x: np.repeat(x[:, None, :], 2, 1)),
    (joined, lambda x: np.stack([x, x * 2], -1)),
    (interleaved, lambda x: np.stack([x, -x], -1).reshape(16, 64)),
    (split_sum, lambda x: x[:, ::2] - x[:, 1::2]), (flipped, lambda x: x[:, ::-1]),
    (concatenated, lambda x: np.concatenate([x, x + 1], 1)), (gathered, lambda x: x[:, ::-1]),
], ids=lambda p: getattr(p, "__name__", ""))
def test_shape_functions(kernel, function):
    expected = function(X)
    np.testing.assert_array_equal(matrix(kernel, X, expected.shape), expected)


# Reductions -------------------------------------------------------------------------------


@tile.jit
def sum0(x):
    return tl.sum(x, axis=0)


@tile.jit
def sum1(x):
    return tl.sum(x, axis=1)


@tile.jit
def sum_all(x):
    return tl.zeros((1, ), x.dtype) + tl.sum(x)


@tile.jit
def sum_kept(x):
    return x - tl.sum(x, axis=1, keep_dims=True)


@tile.jit
def max1(x):
    return tl.max(x, 1)


@tile.jit
def min0(x):
    return tl.min(x, axis=0)


@tile.jit
def argmax1(x):
    return tl.argmax(x, axis=1)


@tile.jit
def argmin0(x):
    return tl.argmin(x, axis=0)


@tile.jit
def xor0(x):
    return tl.xor_sum(x, axis=0)


@pytest.mark.parametrize("kernel, function", [
    (sum0, lambda x: x.sum(0)), (sum1, lambda x: x.sum(1)), (sum_all, lambda x: x.sum()[None]),
    (sum_kept, lambda x: x - x.sum(1, keepdims=True)), (max1, lambda x: x.max(1)),
    (min0, lambda x: x.min(0)), (argmax1, lambda x: x.argmax(1)), (argmin0, lambda x: x.argmin(0)),
    (xor0, lambda x: np.bitwise_xor.reduce(x, 0)),
], ids=lambda p: getattr(p, "__name__", ""))
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64])
def test_reductions(kernel, function, dtype):
    if kernel is xor0 and dtype is np.float32:
        pytest.skip("integers only")
    x = INTEGERS.astype(dtype)
    expected = np.asarray(function(x))
    np.testing.assert_array_equal(matrix(kernel, x, expected.shape, np.int32 if "arg" in kernel.__name__
                                         else dtype), expected)


def test_argmax_takes_the_first_of_equal_ones():
    x = np.zeros((16, 32), np.float32)
    x[:, [5, 9]] = 1
    np.testing.assert_array_equal(matrix(argmax1, x, (16, ), np.int32), 5)


def test_small_integers_are_summed_in_32_bits():
    x = np.full((16, 32), 100, np.int8)
    np.testing.assert_array_equal(matrix(sum1, x, (16, ), np.int32), 3200)


@tile.jit
def combine_welford(mean1, m1, count1, mean2, m2, count2):
    count = count1 + count2
    delta = mean2 - mean1
    share = count2 / count
    return mean1 + delta * share, m1 + m2 + delta * delta * count1 * share, count


@tile.jit
def variance(x):
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), tl.full(x.shape, 1.0, tl.float32)), 1,
                                combine_welford)
    return m2 / count


@tile.jit
def multiply(a, b):
    return a * b


@tile.jit
def product(x):
    return tl.reduce(x, 1, multiply)


def test_reduce_with_functions_and_tuples():
    np.testing.assert_allclose(matrix(variance, X, (16, )), X.var(1), rtol=1e-5)
    y = RNG.uniform(0.9, 1.1, (16, 32)).astype(np.float32)
    np.testing.assert_allclose(matrix(product, y, (16, )), y.prod(1), rtol=1e-5)


@tile.jit
def cumsum0(x):
    return tl.cumsum(x, 0)


@tile.jit
def cumsum_reverse(x):
    return tl.cumsum(x, axis=1, reverse=True)


@tile.jit
def cumprod1(x):
    return tl.cumprod(x, axis=1)


@tile.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@tile.jit
def recurrence(x):
    half = tl.full(x.shape, 0.5, tl.float32)
    _, b = tl.associative_scan((half, x), 1, first_order)
    return b


def test_scans():
    np.testing.assert_array_equal(matrix(cumsum0, INTEGERS, (16, 32)), INTEGERS.cumsum(0))
    np.testing.assert_array_equal(matrix(cumsum_reverse, INTEGERS, (16, 32)),
                                  INTEGERS[:, ::-1].cumsum(1)[:, ::-1])
    y = RNG.uniform(0.9, 1.1, (16, 32)).astype(np.float32)
    np.testing.assert_allclose(matrix(cumprod1, y, (16, 32)), y.cumprod(1), rtol=1e-5)
    expected = np.zeros_like(X)
    state = np.zeros(16)
    for i in range(32):
        state = state * 0.5 + X[:, i]
        expected[:, i] = state
    np.testing.assert_allclose(matrix(recurrence, X, (16, 32)), expected, rtol=1e-4, atol=1e-5)


@tile.jit
def softmax(x):
    return tl.softmax(x, 1)


@tile.jit
def sorted_up(x):
    return tl.sort(x)


@tile.jit
def sorted_down(x):
    return tl.sort(x, descending=True)


def test_softmax_and_sort():
    e = np.exp(X - X.max(1, keepdims=True))
    np.testing.assert_allclose(matrix(softmax, X, X.shape), e / e.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(matrix(sorted_up, X, X.shape), np.sort(X, 1))
    np.testing.assert_array_equal(matrix(sorted_down, INTEGERS, X.shape), np.sort(INTEGERS, 1)[:, ::-1])


@tile.jit
def count_values(x, out, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


def test_histogram():
    x, out = RNG.integers(0, 16, 256).astype(np.int32), np.zeros(16, np.int32)
    count_values[(1, )](x, out, 256, 16)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=16))


# Matrix products --------------------------------------------------------------------------


@tile.jit
def product_of(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    if ACC:
        z = tl.dot(x, y, tl.full((M, N), 1, c.dtype.element_ty))
    else:
        z = tl.dot(x, y)
    tl.store(c + m[:, None] * N + n[None, :], z)


@pytest.mark.parametrize("dtype, out", [(np.float32, np.float32), (np.float16, np.float32),
                                        (np.int8, np.int32), (np.float64, np.float64)])
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (32, 16, 8)])
@pytest.mark.parametrize("accumulate", [False, True])
def test_dot(dtype, out, m, n, k, accumulate):
    if np.dtype(dtype).kind == "i":
        a, b = RNG.integers(-50, 50, (m, k)).astype(dtype), RNG.integers(-50, 50, (k, n)).astype(dtype)
    else:
        a, b = RNG.normal(size=(m, k)).astype(dtype), RNG.normal(size=(k, n)).astype(dtype)
    c = np.zeros((m, n), out)
    product_of[(1, )](a, b, c, m, n, k, accumulate)
    expected = a.astype(np.float64) @ b.astype(np.float64) + accumulate
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


@tile.jit
def batched(a, b, c, B: tl.constexpr, N: tl.constexpr):
    i = (tl.arange(0, B)[:, None, None] * N + tl.arange(0, N)[None, :, None]) * N + tl.arange(0, N)[None, None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i)))


def test_batched_dot():
    a, b = (RNG.normal(size=(4, 16, 16)).astype(np.float32) for _ in range(2))
    c = np.zeros_like(a)
    batched[(1, )](a, b, c, 4, 16)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


@tile.jit
def random_numbers(out, bits, normal, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(bits + i, tl.randint(seed, i))
    tl.store(normal + i, tl.randn(seed, i))


def philox(seed, counter):
    """Philox4x32-10 in Python integers."""
    c, k = [counter, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


def test_random_numbers():
    n = 1024
    out, bits, normal = np.zeros(n, np.float32), np.zeros(n, np.uint32), np.zeros(n, np.float32)
    seed = (123 << 32) + 456
    random_numbers[(1, )](out, bits, normal, seed, n)
    assert [philox(seed, i) for i in range(n)] == bits.tolist()
    assert 0 <= out.min() and out.max() < 1 and abs(out.mean() - 0.5) < 0.03
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1


@tile.jit
def scaled_product(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                   FA: tl.constexpr, FB: tl.constexpr, PACKS: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    ka, kb = tl.arange(0, K // PACKS[0]), tl.arange(0, K // PACKS[1])
    blocks = tl.arange(0, K // 32)
    x = tl.load(a + m[:, None] * (K // PACKS[0]) + ka[None, :])
    y = tl.load(b + kb[:, None] * N + n[None, :])
    sx = tl.load(a_scale + m[:, None] * (K // 32) + blocks[None, :])
    sy = tl.load(b_scale + n[:, None] * (K // 32) + blocks[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, sx, FA, y, sy, FB))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float64)


def e5m2(bits):
    return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float64)


def test_dot_scaled():
    m, n, k = 16, 16, 64
    nibbles = RNG.integers(0, 16, (m, k)).astype(np.uint8)
    a = np.where(nibbles & 8, -1, 1) * E2M1[nibbles & 7]
    packed = nibbles[:, ::2] | (nibbles[:, 1::2] << 4)
    b_bits = RNG.integers(0, 0x7B, (k, n)).astype(np.uint8)
    b_bits = np.where(b_bits > 0x48, 0x3C, b_bits).astype(np.uint8)
    sa, sb = (RNG.integers(120, 134, (r, k // 32)).astype(np.uint8) for r in (m, n))
    c = np.zeros((m, n), np.float32)
    scaled_product[(1, )](packed, sa, b_bits, sb, c, m, n, k, "e2m1", "e5m2", (2, 1))
    wide = a * np.repeat(2.0**(sa.astype(float) - 127), 32, 1)
    tall = e5m2(b_bits) * np.repeat(2.0**(sb.astype(float) - 127), 32, 1).T
    np.testing.assert_allclose(c, wide @ tall, rtol=1e-5, atol=1e-4)


@tile.jit
def nvfp4_product(a, a_scale, b, b_scale, c, K: tl.constexpr):
    i, bytes_, blocks = tl.arange(0, 16), tl.arange(0, K // 2), tl.arange(0, K // 16)
    x = tl.load(a + i[:, None] * (K // 2) + bytes_[None, :])
    y = tl.load(b + i[:, None] * (K // 2) + bytes_[None, :])
    sx = tl.load(a_scale + i[:, None] * (K // 16) + blocks[None, :]).to(tl.float8e4nv)
    sy = tl.load(b_scale + i[:, None] * (K // 16) + blocks[None, :]).to(tl.float8e4nv)
    tl.store(c + i[:, None] * 16 + i[None, :], tl.dot_scaled(x, sx, "e2m1", y.T, sy, "e2m1"))


def test_dot_scaled_by_fp8():
    """NVFP4: a scale of fp8 for each 16 elements."""
    k = 64
    nibbles = RNG.integers(0, 16, (2, 16, k)).astype(np.uint8)
    values = np.where(nibbles & 8, -1, 1) * E2M1[nibbles & 7]
    a, b = nibbles[:, :, ::2] | (nibbles[:, :, 1::2] << 4)
    scales = RNG.choice([0.125, 0.75, 1.5, 20.0, -3.5], (2, 16, k // 16)).astype(np.float32)
    c = np.zeros((16, 16), np.float32)
    nvfp4_product[(1, )](a, scales[0], b, scales[1], c, k)
    x, y = values * np.repeat(scales, 16, 2)
    np.testing.assert_allclose(c, x @ y.T, rtol=1e-5, atol=1e-3)


@tile.jit
def largest(x):
    return tl.topk(x, 4)


def test_topk():
    np.testing.assert_array_equal(matrix(largest, X, (16, 4)), np.sort(X, 1)[:, ::-1][:, :4])


@tile.jit
def compares_shapes(out, x, N: tl.constexpr):
    v = tl.arange(0, N)
    tl.static_assert(v[None, :].shape == [1, N])
    tl.static_assert(tl.broadcast_to(v, 4, N).shape == [tl.constexpr(4), N])
    tl.static_assert(out[None, None, :].shape == [1, 1])
    tl.static_assert(out[:].shape == [])
    shape = [N, 1]
    for _ in tl.static_range(2):
        shape = [shape[0], 1]
    first, second = tl.split(tl.join(tl.load(x), tl.load(x + 1)))
    tl.static_assert(first.shape == [])
    tl.store(out[None, None, :], tl.reshape(first * 10 + second, [1, 1]) + v.reshape(shape).shape[0])


def test_lists_and_scalars_as_shapes():
    out = np.zeros(1, np.int32)
    compares_shapes[(1, )](out, np.array([4, 2], np.int32), 16)
    assert out[0] == 58


@tile.jit
def unpacks_one(out, x):
    lone = tl.reshape(tl.load(x + tl.arange(0, 1)), [])
    tl.static_assert(lone.shape == [])
    tl.store(out, tl.view(tl.load(x + 1 + tl.zeros((1, 1), tl.int32)), ()) - lone)


def test_reshape_of_one_element_to_a_scalar():
    out = np.zeros(1, np.float32)
    unpacks_one[(1, )](out, np.array([-0.5, 3], np.float32))
    assert out[0] == 3.5
