# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Features that few kernels use: statements, names of older versions, libdevice, shapes."""

import contextlib
import math

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.language.extra import libdevice
from kernels import binary, matrix, unary


def run(kernel, *args, count=1, dtype=np.int32, **kwargs):
    out = np.zeros(count, dtype)
    kernel[(1, )](out, *args, **kwargs)
    return out if count > 1 else out[0]


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# Statements and expressions ---------------------------------------------------------------


class Scope:
    """A context manager for kernels, as profilers offer it."""

    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(f"enter {self.name}")
        return len(self.log)

    def __exit__(self, *error):
        self.log.append(f"leave {self.name}")


@pytest.mark.unordered
def test_with():
    log = []
    scope = tile.constexpr_function(lambda name: Scope(log, name))

    @tile.jit
    def kernel(out, n):
        total = 0
        with scope("a") as depth, scope("b"):
            total += depth + n
            log_only: tl.constexpr = 3
        tl.store(out, total + log_only)

    assert run(kernel, 5) == 1 + 5 + 3
    assert log == ["enter a", "enter b", "leave b", "leave a"]


def test_with_return_at_its_end():

    @tile.jit
    def helper(n):
        with contextlib.nullcontext():
            return n + 1

    @tile.jit
    def kernel(out, n):
        tl.store(out, helper(n))

    assert run(kernel, 5) == 6


@tile.jit
def stars(a, *rest):
    total = a
    for r in tl.static_range(len(rest)):
        total += rest[r] * (r + 2)
    return total


@tile.jit
def starred(out, values):
    first, *middle, last = values
    doubled = [v * 2 for v in values if True]
    tl.static_assert(len(middle) == 2 and len(doubled) == 4)
    tl.store(out, stars(*values) + stars(first, *middle) + doubled[3] + (last if (m := 3) else 0) + m)


def test_starred_and_comprehensions():
    a, b, c, d = 3, 4, 5, 6
    assert run(starred,
               (a, b, c, d)) == (a + 2 * b + 3 * c + 4 * d) + (a + 2 * b + 3 * c) + 2 * d + d + 3


@tile.jit
def comprehension(out, N: tl.constexpr):
    sizes: tl.constexpr = [2**i for i in range(N)]
    tiles = [tl.arange(0, s) for s in sizes if s > 1]
    total = 0
    for t in tiles:
        total += tl.sum(t)
    squares = tuple(i * i for i in tl.static_range(N))
    tl.store(out, total + sum(squares) + max(sizes))


def test_comprehensions_of_tiles():
    assert run(comprehension, 4) == 1 + 6 + 28 + 14 + 8


@tile.jit
def conditions(out, n):
    i = n
    steps = 0
    while tl.condition(i > 1, disable_licm=True):
        i = i // 2 if i % 2 == 0 else 3 * i + 1
        steps += 1
    tl.store(out, steps)


def test_condition():
    assert run(conditions, 27) == 111


@tile.jit
def chained(out, a, b):
    x = y = a + b
    x += 1
    (p, q), r = (x, y), a
    p, q = q, p
    assert p == q - 1 if False else True, f"p is {p.dtype} of {[1, 2][0]:>3}"
    tl.store(out, p * 100 + q * 10 + r if not (a < b <= 10 and a != b) else -1)


def test_assignments():
    assert run(chained, 2, 3) == -1
    assert run(chained, 3, 2) == 5 * 100 + 6 * 10 + 3


@tile.jit
def nested(out, n, m):
    total = tl.zeros((4, ), tl.int32)
    last = 0
    for i in range(n):
        for j in range(i, m, 2):
            if (i + j) % 3 == 0:
                total += j
            elif j > 2:
                total -= i
            else:
                pass
        k = 0
        while k < i:
            k += 1
            if k > 3:
                last += k
    tl.store(out + tl.arange(0, 4), total + last)


def test_nested_loops():
    total = last = 0
    for i in range(6):
        for j in range(i, 9, 2):
            total += j if (i + j) % 3 == 0 else (-i if j > 2 else 0)
        last += sum(k for k in range(1, i + 1) if k > 3)
    np.testing.assert_array_equal(run(nested, 6, 9, count=4), total + last)


@tile.jit
def loop_bounds(out, start, end, step):
    count = 0
    for i in tl.range(start, end, step, num_stages=3, loop_unroll_factor=2, flatten=True,
                      disallow_acc_multi_buffer=True, disable_licm=True, warp_specialize=True):
        count += i
    for i in range(end, start, -2):
        count += 1000 * i
    tl.store(out, count)


@pytest.mark.parametrize("start, end, step", [(0, 10, 2), (3, 4, 5), (-7, 8, 3), (4, 4, 2)])
def test_range_options(start, end, step):
    assert run(loop_bounds, start, end,
               step) == sum(range(start, end, step)) + 1000 * sum(range(end, start, -2))


@tile.jit
def names_of_types(out, x):
    tl.static_assert(tl.dtype("fp32") == tl.float32 and tl.float32.is_floating())
    tl.static_assert(x.dtype.element_ty == tl.float16 and x.type.element_ty.is_fp16())
    tl.static_assert(x.dtype.is_ptr() and not x.dtype.element_ty.is_fp8())
    tl.static_assert(tl.float8e5.is_fp8() and tl.float8e4nv.is_fp8e4nv() and not tl.float16.is_fp8())
    tl.static_assert(tl.int16.primitive_bitwidth == 16 and tl.int16.itemsize == 2)
    tl.static_assert(tl.int8.get_int_max_value() == 127 and tl.uint8.get_int_min_value() == 0)
    tl.static_assert(tl.uint16.is_uint16() and tl.uint16.is_int_unsigned() and tl.int1.is_bool())
    tl.static_assert(tl.float8e4b15 != tl.float8e4nv and tl.pi32_t.element_ty == tl.int32)
    tl.static_assert(tl.pointer_type(tl.float32).element_ty.is_fp32())
    tile_ = tl.zeros((4, 8), tl.bfloat16)
    tl.static_assert(tile_.type.is_block() and tile_.type.scalar == tl.bfloat16)
    tl.static_assert(tile_.shape[0] * tile_.shape[1] == tile_.numel and len(tile_.shape) == 2)
    tl.static_assert(tile_.dtype.fp_mantissa_width == 7 and tile_.dtype.is_bf16())
    tl.store(out, tile_.dtype.primitive_bitwidth)


def test_types():
    assert run(names_of_types, np.zeros(4, np.float16)) == 16


@tile.jit
def targets(out):
    if tl.target_info.cuda_capability_geq(9, 0):
        tl.static_assert(tl.target_info.current_target().arch >= 90)
        tl.store(out, 90)
    elif tl.target_info.is_hip():
        tl.store(out, undefined_on_purpose)  # noqa: F821
    else:
        tl.store(out, 80 if tl.target_info.is_cuda() else 0)


@pytest.mark.parametrize("chip, value", [("sm_80", 80), ("sm_90a", 90)])
def test_target_info(chip, value):
    kernel = tile.compile(targets, signature={"out": "*i32"}, target=chip)
    assert f", {value};" in kernel.asm["ptx"]


@pytest.mark.emulator
def test_target_info_of_a_launch():
    assert run(targets) == 90  # of knobs.emulator_chip


@tile.jit
def machine(out, times):
    tl.extra.cuda.gdc_wait()
    start = tl.extra.cuda.globaltimer()
    tl.store(out, tl.extra.cuda.num_warps())
    tl.store(out + 1, tl.extra.cuda.num_threads())
    tl.store(out + 2, tl.extra.cuda.smid())
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(times, tl.extra.cuda.globaltimer() - start)


@pytest.mark.unordered
def test_machine():
    times = np.full(1, -1, np.int64)
    out = np.full(3, -1, np.int32)
    machine[(1, )](out, times, num_warps=2)
    assert list(out[:2]) == [2, 64] and 0 <= out[2] < 1024 and times[0] >= 0


def test_programmatic_launch_needs_a_chip():
    with pytest.raises(tile.CompilationError, match="gdc_wait needs sm_90"):
        tile.compile(machine, signature={"out": "*i32", "times": "*i64"}, target="sm_80")


# Shapes -----------------------------------------------------------------------------------


@tile.jit
def squeezed(x):
    v = tl.squeeze(tl.unsqueeze(x, 0), 0)
    v = v.unsqueeze(2).squeeze(-1)
    return tl.expand_dims(v, [0, -1]).reshape(x.shape)


@tile.jit
def viewed(x):
    return tl.view(x, x.shape[1], x.shape[0]).reshape(x.shape[0], x.shape[1]).trans(0, 1).trans((1, 0))


@tile.jit
def raveled(x):
    return tl.ravel(x).reshape([x.shape[0], -1])


@tile.jit
def flipped_twice(x):
    return tl.flip(tl.flip(x, 1), 1).flip(0).flip(dim=-2)


@tile.jit
def swapped_halves(x):
    a, b = tl.split(tl.reshape(x, x.shape[0], x.shape[1] // 2, 2))
    return tl.cat(a, b, dim=1)


@pytest.mark.parametrize("kernel", [squeezed, viewed, raveled, flipped_twice])
def test_shapes_that_change_nothing(kernel):
    x = normal(4, 8)
    # `view` may reorder; these views are undone.
    if kernel is viewed:
        np.testing.assert_array_equal(np.sort(matrix(kernel, x, 32)), np.sort(x.ravel()))
    else:
        np.testing.assert_array_equal(matrix(kernel, x, x.shape), x)


def test_concatenation_along_a_dimension():
    x = normal(4, 8)
    np.testing.assert_array_equal(matrix(swapped_halves, x, x.shape),
                                  np.concatenate([x[:, ::2], x[:, 1::2]], 1))


@tile.jit
def single_elements(out, n, N: tl.constexpr):
    total = tl.sum(tl.arange(0, N), keep_dims=True)
    tl.static_assert(total.shape[0] == 1)
    other = tl.full((1, 1), n, tl.int32).item()
    if total.item() > 10:
        tl.store(out, other)


def test_item():
    assert run(single_elements, 7, 8) == 7
    assert run(single_elements, 7, 4) == 0


@tile.jit
def order(out, rows, columns, GROUP: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    a, b = tl.swizzle2d(i, j, rows, columns, GROUP)
    tl.store(out + a * columns + b, i * columns + j)


@pytest.mark.parametrize("rows, columns, group", [(4, 3, 2), (5, 4, 3)])
def test_swizzle(rows, columns, group):
    out = np.full((rows, columns), -1, np.int32)
    order[(rows, columns)](out, rows, columns, group)
    expected = np.zeros((rows, columns))
    for n in range(rows * columns):
        first = n // (group * columns) * group
        height = min(rows - first, group)
        expected[first + n % (group * columns) % height, n % (group * columns) // height] = n
    np.testing.assert_array_equal(out, expected)


@tile.jit
def merged(x):
    return tl.bitonic_merge(x)


@tile.jit
def merged_down(x):
    return tl.bitonic_merge(x, descending=True)


def test_bitonic_merge():
    x = normal(64)
    bitonic = np.concatenate([np.sort(x[:32]), np.sort(x[32:])[::-1]])
    np.testing.assert_array_equal(unary(merged, bitonic), np.sort(x))
    np.testing.assert_array_equal(unary(merged_down, bitonic[::-1].copy()), np.sort(x)[::-1])


@tile.jit
def any_bit(x):
    return tl.reduce_or(x, 1, keep_dims=True)


@tile.jit
def bit_parity(x):
    return tl.xor_sum(x, axis=0)


def test_bitwise_reductions():
    x = np.random.default_rng(0).integers(0, 2**30, (8, 16)).astype(np.int32)
    np.testing.assert_array_equal(matrix(any_bit, x, (8, 1)), np.bitwise_or.reduce(x, 1, keepdims=True))
    np.testing.assert_array_equal(matrix(bit_parity, x, 16), np.bitwise_xor.reduce(x, 0))


@tile.jit
def first_extremes(x):
    v, i = tl.min(x, 1, return_indices=True)
    w, j = tl.max(x, 1, return_indices=True, return_indices_tie_break_left=True, keep_dims=True)
    return v * 1000 + i.to(tl.float32) * 10 + tl.sum(j, 1) + w.reshape(x.shape[0]) * 0


def test_extremes_with_indices():
    x = np.random.default_rng(0).integers(0, 4, (8, 16)).astype(np.float32)
    np.testing.assert_array_equal(matrix(first_extremes, x, 8),
                                  x.min(1) * 1000 + x.argmin(1) * 10 + x.argmax(1))


@tile.jit
def softmax_rows(x):
    return tl.softmax(x, dim=1, keep_dims=True, ieee_rounding=True)


@tile.jit
def softmax_columns(x):
    return tl.softmax(x)


def test_softmax_dimensions():
    x = normal(4, 8)
    for kernel, axis in ((softmax_rows, 1), (softmax_columns, 0)):
        e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
        np.testing.assert_allclose(matrix(kernel, x, x.shape), e / e.sum(axis, keepdims=True), 1e-5)


@tile.jit
def counted_down(x):
    return tl.cumsum(x, 1, reverse=True)


@tile.jit
def running_product(x):
    return tl.cumprod(x, 0, reverse=True)


@tile.jit
def running_maximum(x):
    return tl.associative_scan(x, 1, larger)


@tile.jit
def larger(a, b):
    return tl.maximum(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int64])
def test_scans_of_types(dtype):
    x = np.random.default_rng(0).integers(-3, 4, (8, 16)).astype(dtype)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(matrix(counted_down, x, x.shape), wide[:, ::-1].cumsum(1)[:, ::-1])
    np.testing.assert_array_equal(matrix(running_maximum, x, x.shape), np.maximum.accumulate(x, 1))
    np.testing.assert_array_equal(matrix(running_product, x, x.shape),
                                  wide[::-1].cumprod(0)[::-1].astype(dtype))


# NaN --------------------------------------------------------------------------------------


@tile.jit
def larger_or_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tile.jit
def smaller_or_number(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.NONE)


@tile.jit
def clamp_or_nan(a, b):
    return tl.clamp(a, -1.0, b * 0 + 1.0, propagate_nan=tl.PropagateNan.ALL)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_nan(dtype):
    a, b = normal(64, dtype=dtype), normal(64, seed=1, dtype=dtype)
    a[3] = b[5] = a[7] = b[7] = np.nan
    np.testing.assert_array_equal(binary(larger_or_nan, a, b, dtype), np.maximum(a, b))
    np.testing.assert_array_equal(binary(smaller_or_number, a, b, dtype), np.fmin(a, b))
    np.testing.assert_array_equal(binary(clamp_or_nan, a, np.zeros_like(b), dtype), np.clip(a, -1, 1))


# tl.math and libdevice --------------------------------------------------------------------

_FUNCTIONS = {
    "exp10": lambda x: 10**x,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "tan": np.tan,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "cbrt": np.cbrt,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "fabs": np.abs,
    "lgamma": np.vectorize(math.lgamma),
    "tgamma": np.vectorize(math.gamma),
    "erfc": np.vectorize(math.erfc),
    "sinpi": lambda x: np.sin(np.pi * x),
    "normcdf": np.vectorize(lambda x: (1 + math.erf(x / math.sqrt(2))) / 2),
    "logb": lambda x: np.floor(np.log2(x)),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rcp_rn": lambda x: 1 / x,
    "sqrt_rd": np.sqrt,
    "fast_expf": np.exp,
    "fast_logf": np.log,
    "fast_sinf": np.sin,
    "fast_tanhf": np.tanh,
    "rsqrt_rn": lambda x: 1 / np.sqrt(x),
    "round": lambda x: np.floor(x + 0.5),
    "saturatef": lambda x: np.clip(x, 0, 1),
}


_OF_FP32 = {"fast_expf", "fast_logf", "fast_sinf", "fast_tanhf", "saturatef", "rsqrt_rn"}


@pytest.mark.parametrize(
    "name, dtype",
    [(name, dtype) for name in _FUNCTIONS
     for dtype in (np.float32, np.float64) if dtype == np.float32 or name not in _OF_FP32])
def test_libdevice(name, dtype):
    function = getattr(libdevice, name)

    @tile.jit
    def kernel(x, out, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, function(tl.load(x + i)))

    x = np.random.default_rng(0).uniform(0.2, 3, 64).astype(dtype)
    out = np.zeros_like(x)
    kernel[(1, )](x, out, 64)
    tolerance = 1e-3 if name.startswith("fast") else 1e-5 if dtype == np.float32 else 1e-7
    np.testing.assert_allclose(out, _FUNCTIONS[name](x.astype(np.float64)), tolerance, tolerance)


_BINARY = {
    "fmod": np.fmod,
    "hypot": np.hypot,
    "fdim": lambda a, b: np.maximum(a - b, 0),
    "pow": np.power,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "add_rz": np.add,
    "mul_rd": np.multiply,
    "div_rn": np.divide,
    "nextafter": np.nextafter,
    "fast_dividef": np.divide
}


@pytest.mark.parametrize("name", _BINARY)
def test_libdevice_of_two(name):
    function = getattr(libdevice, name)

    @tile.jit
    def kernel(x, y, out, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, function(tl.load(x + i), tl.load(y + i)))

    a, b = (np.random.default_rng(s).uniform(0.2, 3, 64).astype(np.float32) for s in (0, 1))
    out = np.zeros_like(a)
    kernel[(1, )](a, b, out, 64)
    np.testing.assert_allclose(out, _BINARY[name](a, b), 2e-6)


@tile.jit
def integers(x):
    v = libdevice.popc(x) + 100 * libdevice.clz(x) + 10000 * libdevice.ffs(x)
    return v + libdevice.abs(-x) * 0 + libdevice.mulhi(x, x) * 0


@tile.jit
def reinterpreted(x):
    return libdevice.int_as_float(libdevice.float_as_int(x) + (1 << 23))


@tile.jit
def converted(x):
    return libdevice.int2float_rn(libdevice.float2int_rz(x)) + libdevice.ldexp(x, 3) * 100


@tile.jit
def classified(x):
    tl.static_assert(libdevice.isnan(x).dtype == tl.int1)
    return tl.where(libdevice.isnan(x), 1, 0) + tl.where(~libdevice.isinf(x), 0, 2) + (
        4 * libdevice.signbit(x).to(tl.int1).to(tl.int32)) + tl.where(libdevice.finitef(x), 8, 0)


def test_libdevice_of_integers_and_bits():
    x = np.random.default_rng(0).integers(1, 2**31, 64).astype(np.int32)
    expected = [
        bin(v).count("1") + 100 * (32 - int(v).bit_length()) + 10000 * ((v & -v).bit_length())
        for v in x.tolist()
    ]
    np.testing.assert_array_equal(unary(integers, x), expected)
    f = normal(64)
    np.testing.assert_array_equal(unary(reinterpreted, f), f * 2)
    np.testing.assert_allclose(unary(converted, f), np.trunc(f) + f * 800, 1e-6)
    f[:4] = np.nan, np.inf, -np.inf, -0.0
    expected = np.isnan(f) + 2 * np.isinf(f) + 4 * np.signbit(f) + 8 * np.isfinite(f)
    np.testing.assert_array_equal(
        unary(classified, f, np.int32) | 0,
        np.where(np.isnan(f), unary(classified, f, np.int32), expected))
    assert unary(classified, f, np.int32)[0] & 3 == 1


@tile.jit
def old_names(x):
    return (tl.math.max(tl.math.pow(x, 2.0), 0.5) + tl.math.tanh(x) + tl.math.log1p(x) + tl.math.rsqrt(x)
            + tl.math.exp2(x) + tl.math.abs(-x) + tl.math.fdiv(x, 2.0) + tl.math.fma(x, x, 1.0)
            + tl.math.erf(x) + tl.math.min(x, 1.0) + tl.math.sqrt_rn(x) + tl.math.div_rn(x, 3.0))


def test_names_in_math():
    x = np.random.default_rng(0).uniform(0.2, 3, 64).astype(np.float32)
    w = x.astype(np.float64)
    expected = (np.maximum(w**2, 0.5) + np.tanh(w) + np.log1p(w) + 1 / np.sqrt(w) + 2**w + w + w / 2 +
                w * w + 1 + np.vectorize(math.erf)(w) + np.minimum(w, 1) + np.sqrt(w) + w / 3)
    np.testing.assert_allclose(unary(old_names, x), expected, 1e-5)


@tile.jit
def as_members(x):
    return (x.exp() + x.abs().sqrt().log2() + x.sin() * x.cos() + x.sigmoid() + x.floor() + x.ceil()
            + x.cast(tl.float64).to(tl.float32) + x.clamp(-0.5, 0.5) + x.fma(2.0, 1.0))


def test_functions_as_members():
    x = normal(64)
    w = x.astype(np.float64)
    expected = (np.exp(w) + np.log2(np.sqrt(np.abs(w))) + np.sin(w) * np.cos(w) + 1 / (1 + np.exp(-w)) +
                np.floor(w) + np.ceil(w) + w + np.clip(w, -0.5, 0.5) + 2 * w + 1)
    np.testing.assert_allclose(unary(as_members, x), expected, 1e-4, 1e-5)


@tile.jit
def through_extern(x):
    return tl.extern_elementwise("libdevice",
                                 "", [x], {(tl.dtype("fp32"), ): ("__nv_expm1f", tl.dtype("fp32"))},
                                 is_pure=True)


def test_extern_elementwise():
    x = normal(64)
    np.testing.assert_allclose(unary(through_extern, x), np.expm1(x.astype(np.float64)), 1e-5, 1e-6)


@tile.jit
def two_results(x):
    low, high = tl.inline_asm_elementwise(
        asm="and.b32 $0, $2, 0xffff; shr.b32 $1, $2, 16;", constraints="=r,=r,r", args=[x],
        dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
    return low * 3 + high


def test_assembly_with_two_results():
    x = np.random.default_rng(0).integers(0, 2**31, 64).astype(np.int32)
    np.testing.assert_array_equal(unary(two_results, x), (x & 0xFFFF) * 3 + (x >> 16))


@tile.jit
def operators_as_functions(x):
    v = tl.add(x, 3, sanitize_overflow=False)
    v = tl.mul(tl.sub(v, 1), 2)
    flags = tl.logical_or(tl.logical_and(v > 0, v < 100), v == 2)
    return tl.where(flags, v, -1) + tl.expect_zero(x * 0, x > 5) + tl.max_constancy(x * 0, 8)


def test_operators_as_functions():
    x = np.arange(-32, 32).astype(np.int32)
    v = (x + 2) * 2
    np.testing.assert_array_equal(unary(operators_as_functions, x),
                                  np.where((v > 0) & (v < 100) | (v == 2), v, -1))


def test_static_print_and_names_outside_of_kernels(capsys):

    @tile.jit
    def kernel(out, N: tl.constexpr):
        tl.static_print("N is", N, sep="=")
        tl.store(out, N)

    run(kernel, 7)
    assert "N is=7" in capsys.readouterr().out
    assert tl.cdiv(7, 2) == 4 and tile.next_power_of_2(5) == 8
    assert tl.dtype("bf16") == tl.bfloat16
    with pytest.raises(RuntimeError, match="@tile.jit kernels only"):
        tl.arange(0, 8)


@tile.jit
def writes(x):
    tl.store(x, tl.load(x) + 1)


def test_constant_pointers():
    assert tile.compile(writes, signature="*fp32", target="sm_80").asm["ptx"]
    with pytest.raises(tile.CompilationError, match="cannot store to a constant pointer"):
        tile.compile(writes, signature="*kfp32", target="sm_80")


@tile.jit
def wide_sums(x):
    return tl.sum(x, 1, dtype=tl.int64) + tl.cumsum(x, 1, dtype=tl.int64).max(1) + (
        tl.argmin(x, 1, tie_break_left=False) * 0)


def test_types_of_sums():
    x = np.random.default_rng(0).integers(2**29, 2**31, (4, 8)).astype(np.int32)
    np.testing.assert_array_equal(matrix(wide_sums, x, 4, np.int64), 2 * x.astype(np.int64).sum(1))


@tile.jit
def double_product(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at, volatile=True), tl.load(b + at), input_precision="ieee"))


def test_dot_of_doubles():
    a, b = normal(16, 16, dtype=np.float64), normal(16, 16, seed=1, dtype=np.float64)
    out = np.zeros((16, 16))
    double_product[(1, )](a, b, out, 16)
    np.testing.assert_allclose(out, a @ b, 1e-13, 1e-13)


@tile.jit
def raw_random(x):
    low = tl.uint_to_uniform_float(x.to(tl.uint32, bitcast=True))
    a, b = tl.pair_uniform_to_normal(low, low)
    zero = x.to(tl.uint32) * 0
    c0, c1, c2, c3 = tl.philox_impl(x.to(tl.uint32), zero, zero, zero, zero, zero, 1)
    return tl.where((a * a + b * b > 0) & (c0 == 0) & (c3 == x.to(tl.uint32) * 0xD2511F53), low, -1.0)


def test_parts_of_random():
    x = np.random.default_rng(0).integers(-2**31, 2**31, 64).astype(np.int32)
    found = unary(raw_random, x, np.float32)
    np.testing.assert_allclose(found, np.where(x < 0, -(x + 1.0), x) * 4.6566127342e-10, 1e-6)


# Atomics ----------------------------------------------------------------------------------


@tile.jit
def all_atomics(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.atomic_and(out + i * 0, v, sem="acquire")
    tl.atomic_or(out + i * 0 + 1, v, sem="release", scope="cta")
    tl.atomic_xor(out + i * 0 + 2, v, mask=i < N - 3)
    tl.atomic_max(out + i * 0 + 3, v)
    tl.atomic_min(out + i * 0 + 4, v)
    old = tl.atomic_xchg(out + 8 + i, v)
    again = tl.atomic_cas(out + 8 + i, v, old + 1)
    tl.store(out + 8 + N + i, again)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_atomics(dtype):
    info = np.iinfo(dtype)
    n = 32
    x = np.random.default_rng(0).integers(info.min, info.max, n, dtype)
    out = np.zeros(8 + 2 * n, dtype)
    out[0], out[3], out[4] = info.max if info.min == 0 else -1, info.min, info.max
    all_atomics[(1, )](x, out, n)
    expected = [
        np.bitwise_and.reduce(x),
        np.bitwise_or.reduce(x),
        np.bitwise_xor.reduce(x[:-3]),
        x.max(),
        x.min()
    ]
    np.testing.assert_array_equal(out[:5], np.array(expected, dtype))
    np.testing.assert_array_equal(out[8:8 + n], 1)
    np.testing.assert_array_equal(out[8 + n:], x)


@tile.jit
def scattered_floats(x, index, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(out + tl.load(index + i), tl.load(x + i), mask=i % 3 != 0, sem="relaxed")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_atomic_add_of_tiles(dtype):
    x = np.random.default_rng(0).integers(-8, 8, 64).astype(dtype)
    index = np.random.default_rng(1).integers(0, 7, 64).astype(np.int64)
    out = np.zeros(8, dtype)
    scattered_floats[(1, )](x, index, out, 64)
    expected = np.zeros(8)
    np.add.at(expected, index, np.where(np.arange(64) % 3, x, 0).astype(np.float64))
    np.testing.assert_array_equal(out, expected)


@tile.jit
def reduced_through_descriptor(out, m, n, KIND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(out, [m, n], [n, 1], [BM, BN])
    v = (tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]).to(out.dtype.element_ty)
    at = [tl.program_id(0) * BM, 0]
    if KIND == "add":
        d.atomic_add(at, v)
    elif KIND == "max":
        d.atomic_max(at, v)
    elif KIND == "min":
        d.atomic_min(at, v)
    elif KIND == "and":
        d.atomic_and(at, v)
    elif KIND == "or":
        d.atomic_or(at, v)
    else:
        d.atomic_xor(at, v)


@pytest.mark.parametrize("kind, dtype", [("add", np.int32), ("add", np.float32), ("max", np.int32),
                                         ("min", np.int32), ("and", np.int32), ("or", np.int32),
                                         ("xor", np.int32)])
def test_reductions_through_descriptors(kind, dtype):
    x = np.random.default_rng(0).integers(0, 64, (12, 8)).astype(dtype)
    out = x.copy()
    reduced_through_descriptor[(2, )](out, 12, 8, kind, 8, 8)
    value = np.tile(np.arange(64).reshape(8, 8), (2, 1))[:12].astype(dtype)
    function = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and,
                "or": np.bitwise_or, "xor": np.bitwise_xor}[kind]
    np.testing.assert_array_equal(out, function(x, value))
