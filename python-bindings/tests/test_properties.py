# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Promotion, broadcasting, integer arithmetic and casts against a model of Triton's documented
rules that is written with Python integers and NumPy, and shares nothing with the package."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tile
import tile.language as tl

# Small and the same in every run: these tests are part of CI.
quick = settings(derandomize=True, deadline=None, database=None, max_examples=80)

# name: (kind, width). Kinds have the order of the rules: bool < int < float.
TYPES = {"int1": ("bool", 1), "int8": ("int", 8), "int16": ("int", 16), "int32": ("int", 32),
         "int64": ("int", 64), "uint8": ("uint", 8), "uint16": ("uint", 16), "uint32": ("uint", 32),
         "uint64": ("uint", 64), "float16": ("float", 16), "bfloat16": ("float", 16),
         "float32": ("float", 32), "float64": ("float", 64)}
INTS = [n for n, (kind, _) in TYPES.items() if kind in ("int", "uint")]
FLOATS = [n for n, (kind, _) in TYPES.items() if kind == "float"]
RANK = {"bool": 0, "int": 1, "uint": 1, "float": 2}
N = 16


# The model --------------------------------------------------------------------------------


def promoted(a, b):
    """The type of a + b of two tiles."""
    (kind_a, width_a), (kind_b, width_b) = TYPES[a], TYPES[b]
    if RANK[kind_a] != RANK[kind_b]:
        return a if RANK[kind_a] > RANK[kind_b] else b
    if width_a != width_b:
        return a if width_a > width_b else b
    if a == b:
        return a
    if kind_a == "float":
        return "float16"
    return a if kind_a == "uint" else b


def promoted_for_division(a, b):
    """For / and %, which narrow floats do in fp32."""
    result = promoted(a, b)
    return "float32" if result in ("float16", "bfloat16") else result


def with_number(tile_type, number):
    """The type of a tile and a Python number: a number of no higher kind does not count."""
    kind = "bool" if isinstance(number, bool) else "int" if isinstance(number, int) else "float"
    if RANK[kind] <= RANK[TYPES[tile_type][0]]:
        return tile_type
    own = {"int": "int32", "float": "float32"}[kind]
    if kind == "float" and number != 0 and not 2.0**-126 <= abs(number) <= 3.4028234663852886e38:
        own = "float64"
    if kind == "int" and not -2**31 <= number < 2**31:
        own = "uint32" if 0 <= number < 2**32 else "int64"
    return promoted(tile_type, own)


def wrap(value, name):
    """An integer as the type keeps it."""
    kind, width = TYPES[name]
    if kind == "bool":
        return int(value != 0)
    value &= (1 << width) - 1
    return value - (1 << width) if kind == "int" and value >> (width - 1) else value


def limits(name):
    kind, width = TYPES[name]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind == "int" else (0, (1 << width) - 1)


def to_bfloat16(value):
    """Rounded to the nearest even number with 8 bits; in float32 no double rounding can occur
    where `value` has at most 24 bits, which products and sums of bf16 numbers do not: hence
    the arithmetic in float64."""
    if not math.isfinite(value) or value == 0:
        return value
    exponent = max(math.frexp(value)[1] - 8, -133)
    scaled = value / 2.0**exponent
    result = float(round(scaled)) * 2.0**exponent
    return math.copysign(math.inf, value) if abs(result) > 3.3895313892515355e38 else result


def to_float(value, name):
    """A number, rounded to a floating-point type."""
    if name == "bfloat16":
        return to_bfloat16(float(value))
    with np.errstate(over="ignore"):
        return float(getattr(np, name)(value))


def converted(value, source, target):
    """C's conversion of a value between types."""
    kind = TYPES[target][0]
    if kind == "float":
        return to_float(value, target)
    if kind == "bool":
        return int(value != 0)
    return wrap(int(value), target)


def divided(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


INTEGER_OPERATORS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": divided,
    "%": lambda a, b: a - b * divided(a, b), "&": lambda a, b: a & b, "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
}
COMPARISONS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


# Running kernels --------------------------------------------------------------------------


@tile.jit
def apply(x, y, OP: tl.constexpr):
    if OP == "+":
        return x + y
    elif OP == "-":
        return x - y
    elif OP == "*":
        return x * y
    elif OP == "/":
        return x / y
    elif OP == "//":
        return x // y
    elif OP == "%":
        return x % y
    elif OP == "&":
        return x & y
    elif OP == "|":
        return x | y
    elif OP == "^":
        return x ^ y
    elif OP == "<<":
        return x << y
    elif OP == ">>":
        return x >> y
    elif OP == "<":
        return x < y
    elif OP == "<=":
        return x <= y
    elif OP == ">":
        return x > y
    elif OP == ">=":
        return x >= y
    elif OP == "==":
        return x == y
    elif OP == "!=":
        return x != y
    elif OP == "max":
        return tl.maximum(x, y)
    elif OP == "min":
        return tl.minimum(x, y)
    else:
        return tl.where(x == x, x, y)


@tile.jit
def operate(a, b, out, A: tl.constexpr, B: tl.constexpr, OP: tl.constexpr, WANTED: tl.constexpr,
            NUMBER: tl.constexpr, LEFT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    # bf16 and bool arrive as other types that hold all their values.
    x = tl.load(a + i).to(A)
    # A number that was assigned to a variable would be a tensor of its own type.
    if NUMBER is None:
        r = apply(x, tl.load(b + i).to(B), OP)
    elif LEFT:
        r = apply(NUMBER, x, OP)
    else:
        r = apply(x, NUMBER, OP)
    tl.static_assert(r.dtype == WANTED, f"expected {WANTED}, got {r.dtype}")
    tl.store(out + i, r.to(out.dtype.element_ty))


def host_type(name):
    return {"int1": np.uint8, "bfloat16": np.float32}.get(name) or getattr(np, name)


def run(a, b, type_a, type_b, operator, wanted, number=None, left=False):
    out = np.zeros(N, np.float64 if wanted in FLOATS else np.uint64 if wanted == "uint64" else np.int64)
    a = np.array(a, host_type(type_a))
    b = a if b is None else np.array(b, host_type(type_b))
    operate[(1, )](a, b, out, getattr(tl, type_a), getattr(tl, type_b), operator, getattr(tl, wanted),
                   number, left, N)
    return out.tolist()


def values(name):
    """Lists of values of a type, with its extremes."""
    if name == "int1":
        return st.lists(st.integers(0, 1), min_size=N, max_size=N)
    if name in FLOATS:
        small = st.floats(-1000, 1000, width=16)
        return st.lists(small.map(lambda v: to_float(v, name)), min_size=N, max_size=N)
    low, high = limits(name)
    edge = st.sampled_from([low, low + 1, 0, 1, high - 1, high, min(high, 3)])
    return st.lists(st.one_of(edge, st.integers(low, high)), min_size=N, max_size=N)


# Promotion --------------------------------------------------------------------------------


@pytest.mark.parametrize("division", [False, True])
def test_promotion_of_all_pairs(division):
    """Types only, of all pairs, in one kernel."""
    found = {}
    record = tile.constexpr_function(lambda a, b, type_: found.__setitem__((str(a), str(b)), str(type_)))
    names = tuple(TYPES)
    types = tuple(getattr(tl, n) for n in names)
    signed = {n for n, (kind, _) in TYPES.items() if kind == "int"}

    @tile.jit
    def kernel(x, TYPES: tl.constexpr, DIVISION: tl.constexpr):
        v = tl.load(x + tl.arange(0, 4))
        for A in TYPES:
            for B in TYPES:
                if DIVISION:
                    if not (A.is_int() and B.is_int()):
                        record(A, B, (v.to(A) % v.to(B)).dtype)
                else:
                    record(A, B, (v.to(A) + v.to(B)).dtype)

    kernel.warmup(np.zeros(4, np.float32), types, division, grid=(1, ))
    short = {n: str(getattr(tl, n)) for n in names}
    rule = promoted_for_division if division else promoted
    for a in names:
        for b in names:
            if division and a not in FLOATS and b not in FLOATS:
                continue
            assert found[short[a], short[b]] == short[rule(a, b)], (a, b)
    assert len(found) == (13 * 13 - (9 * 9 if division else 0)) and signed


@pytest.mark.parametrize("operator", ["//", "%"])
def test_division_needs_one_signedness(operator):
    for a in INTS:
        for b in INTS:
            ones = [1] * N
            if TYPES[a][0] == TYPES[b][0]:
                assert run(ones, ones, a, b, operator, promoted(a,
                                                                b)) == [1 if operator == "//" else 0] * N
            elif "8" in a + b:  # some of the pairs
                with pytest.raises(tile.CompilationError, match="same signedness"):
                    run(ones, ones, a, b, operator, promoted(a, b))


numbers = st.one_of(st.booleans(), st.integers(-2**31, 2**32 - 1), st.integers(-130, 130),
                    st.floats(-1e4, 1e4, width=16))


@quick
@given(st.sampled_from(list(TYPES)), numbers, st.booleans(), st.data())
def test_promotion_with_numbers(name, number, left, data):
    wanted = with_number(name, number)
    # The same value in each lane but a few: what matters is the type and the conversion.
    a = data.draw(values(name))
    if wanted not in FLOATS:
        low, high = (0, 1) if wanted == "int1" else limits(wanted)
        if not low <= number <= high:
            with pytest.raises(tile.CompilationError, match="out of range"):
                run(a, None, name, name, "+", wanted, number, left)
            return
    found = run(a, None, name, name, "==", "int1", number, left)
    expected = [int(converted(v, name, wanted) == converted(number, None, wanted)) for v in a]
    assert found == expected
    if wanted in FLOATS:
        chosen = run(a, None, name, name, "+", wanted, number, left)
        expected = [
            to_float(converted(v, name, wanted) + converted(number, None, wanted), wanted) for v in a
        ]
        if wanted != "float64":
            assert chosen == expected


# Arithmetic -------------------------------------------------------------------------------


@quick
@given(st.sampled_from(INTS), st.sampled_from(INTS), st.sampled_from(sorted(INTEGER_OPERATORS)),
       st.data())
def test_integer_arithmetic(type_a, type_b, operator, data):
    wanted = promoted(type_a, type_b)
    if operator in ("//", "%"):
        assume(TYPES[type_a][0] == TYPES[type_b][0])
    a, b = data.draw(values(type_a)), data.draw(values(type_b))
    width = TYPES[wanted][1]
    if operator in ("<<", ">>"):
        b = [abs(v) % width for v in b]
        assume(all(v <= limits(type_b)[1] for v in b))
    pairs = [(wrap(x, wanted), wrap(y, wanted)) for x, y in zip(a, b)]
    if operator in ("//", "%"):
        # Division by zero and the one quotient that overflows are undefined.
        low = limits(wanted)[0]
        b = [1 if y == 0 or (low and x == low and y == -1) else v for v, (x, y) in zip(b, pairs)]
        pairs = [(wrap(x, wanted), wrap(y, wanted)) for x, y in zip(a, b)]
    if operator == ">>" and TYPES[type_a][0] == "int":
        # The sign of what is shifted counts, also where the result is unsigned.
        pairs = [(wrap(x, wanted.removeprefix("u")), y) for x, y in pairs]
    expected = [wrap(INTEGER_OPERATORS[operator](x, y), wanted) for x, y in pairs]
    assert run(a, b, type_a, type_b, operator, wanted) == expected


@quick
@given(st.sampled_from(list(TYPES)), st.sampled_from(list(TYPES)), st.sampled_from(sorted(COMPARISONS)),
       st.data())
def test_comparisons(type_a, type_b, operator, data):
    common = promoted(type_a, type_b)
    a, b = data.draw(values(type_a)), data.draw(values(type_b))
    b[:4] = [converted(v, type_a, type_b) for v in a[:4]] if type_b not in FLOATS else b[:4]
    expected = [int(COMPARISONS[operator](converted(x, type_a, common), converted(y, type_b, common)))
                for x, y in zip(a, b)]
    assert run(a, b, type_a, type_b, operator, "int1") == expected


@quick
@given(st.sampled_from(FLOATS + ["int32"]), st.sampled_from(FLOATS),
       st.sampled_from(["+", "-", "*", "max", "min"]), st.data())
def test_float_arithmetic(type_a, type_b, operator, data):
    wanted = promoted(type_a, type_b)
    a, b = data.draw(values(type_a)), data.draw(values(type_b))
    if type_a == "int32":
        a = [v % 2000 - 1000 for v in a]
    function = {"max": max, "min": min}.get(operator) or INTEGER_OPERATORS[operator]
    expected = []
    for x, y in zip(a, b):
        x, y = converted(x, type_a, wanted), converted(y, type_b, wanted)
        # float64 holds sums and products of narrower numbers exactly.
        expected.append(to_float(function(x, y), wanted))
    assert run(a, b, type_a, type_b, operator, wanted) == expected


@quick
@given(st.sampled_from(FLOATS + ["int32", "uint8"]), st.sampled_from(FLOATS + ["int32", "uint8"]),
       st.data())
def test_true_division(type_a, type_b, data):
    if type_a != type_b and type_a not in FLOATS and type_b not in FLOATS:
        return  # of two signednesses
    wanted = promoted_for_division(type_a, type_b)
    wanted = wanted if wanted in FLOATS else "float32"
    a, b = data.draw(values(type_a)), data.draw(values(type_b))
    b = [v or 1 for v in b]
    expected = [converted(x, type_a, wanted) / converted(y, type_b, wanted) for x, y in zip(a, b)]
    found = run(a, b, type_a, type_b, "/", wanted)
    np.testing.assert_allclose(found, expected, 1e-15 if wanted == "float64" else 3e-7, 1e-37)


# Casts ------------------------------------------------------------------------------------


@tile.jit
def cast(a, out, A: tl.constexpr, B: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(a + i).to(A).to(B).to(out.dtype.element_ty))


def run_cast(a, source, target):
    out = np.zeros(N, np.float64 if target in FLOATS else np.uint64 if target == "uint64" else np.int64)
    cast[(1, )](np.array(a, host_type(source)), out, getattr(tl, source), getattr(tl, target), N)
    return out.tolist()


@quick
@given(st.sampled_from(list(TYPES)), st.sampled_from(list(TYPES)), st.data())
def test_casts(source, target, data):
    a = data.draw(values(source))
    if source in FLOATS and target in INTS:
        # What does not fit is undefined.
        low, high = limits(target)
        a = [v if low <= math.trunc(v) <= high else abs(v) % 100 for v in a]
    assert run_cast(a, source, target) == [converted(v, source, target) for v in a]


@quick
@given(st.sampled_from(["float64", "float32"]), st.sampled_from(["float16", "bfloat16", "float32"]),
       st.lists(st.floats(allow_nan=False, width=32), min_size=N, max_size=N))
def test_rounding_of_all_magnitudes(source, target, a):
    a = [to_float(v, source) for v in a]
    assert run_cast(a, source, target) == [to_float(v, target) for v in a]


def fp8_values(exponent_bits, mantissa_bits, bias, has_infinity):
    """The finite values that are not negative."""
    made = []
    for e in range(1 << exponent_bits):
        for m in range(1 << mantissa_bits):
            top = e == (1 << exponent_bits) - 1
            if top and (has_infinity or m == (1 << mantissa_bits) - 1):
                continue
            fraction = m / (1 << mantissa_bits)
            made.append(fraction * 2.0**(1 - bias) if e == 0 else (1 + fraction) * 2.0**(e - bias))
    return np.array(sorted(made))


FP8 = {"float8e4nv": fp8_values(4, 3, 7, False), "float8e5": fp8_values(5, 2, 15, True)}


@quick
@given(st.sampled_from(sorted(FP8)), st.lists(st.floats(-448, 448, width=32), min_size=N, max_size=N))
def test_rounding_to_fp8(target, a):
    out = np.zeros(N, np.float64)
    cast[(1, )](np.array(a, np.float32), out, tl.float32, getattr(tl, target), N)
    grid = FP8[target]
    for value, found in zip(a, out.tolist()):
        distance = np.abs(grid - abs(value))
        nearest = np.flatnonzero(distance == distance.min())
        # Of two that are equally near, the even one: values alternate in their last bit.
        best = grid[nearest[nearest % 2 == 0][0] if len(nearest) > 1 else nearest[0]]
        assert abs(found) == best and (best == 0 or (found < 0) == (value < 0)), value


# Broadcasting -----------------------------------------------------------------------------

shapes = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=0, max_size=3).map(tuple)


@tile.jit
def add_shapes(out, n, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, COUNT_A: tl.constexpr,
               COUNT_B: tl.constexpr, COUNT: tl.constexpr):
    a = n if len(A) == 0 else tl.arange(0, COUNT_A).reshape(A) + n
    b = n * 100 if len(B) == 0 else (tl.arange(0, COUNT_B).reshape(B) + n) * 100
    c = tl.where(b > a, a + b, a - b)
    if len(C) == 0:
        tl.store(out, c)
    else:
        tl.static_assert(c.shape[0] == C[0] and len(c.shape) == len(C), f"expected {C}, got {c.shape}")
        tl.store(out + tl.arange(0, COUNT), c.reshape(COUNT))


def element(shape, n):
    return np.arange(math.prod(shape)).reshape(shape) + n


@quick
@given(shapes, shapes)
def test_broadcasting(a, b):
    n = 3
    try:
        c = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(tile.CompilationError, match="do not match"):
            add_shapes[(1, )](np.zeros(1, np.int32), n, a, b, (), math.prod(a), math.prod(b), 1)
        return
    out = np.zeros(math.prod(c), np.int32)
    add_shapes[(1, )](out, n, a, b, c, math.prod(a), math.prod(b), math.prod(c))
    left, right = element(a, n), element(b, n) * 100
    np.testing.assert_array_equal(out, np.where(right > left, left + right, left - right).ravel())


@quick
@given(shapes.filter(bool), st.data())
def test_expanding_reducing_and_permuting(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    order = data.draw(st.permutations(range(len(shape))))
    at = data.draw(st.integers(0, len(shape)))

    @tile.jit
    def kernel(out, SHAPE: tl.constexpr, AXIS: tl.constexpr, ORDER: tl.constexpr, AT: tl.constexpr,
               COUNT: tl.constexpr, REST: tl.constexpr):
        x = (tl.arange(0, COUNT) * 7 % 16).reshape(SHAPE)
        y = tl.expand_dims(tl.permute(x, ORDER), AT)
        tl.static_assert(y.shape[AT] == 1)
        tl.store(out + tl.arange(0, COUNT), tl.ravel(y))
        s = tl.sum(x, AXIS, keep_dims=True)
        tl.store(out + COUNT + tl.arange(0, REST), s.reshape(REST))
        m = tl.argmax(x, AXIS, keep_dims=True)
        tl.store(out + COUNT + REST + tl.arange(0, REST), m.reshape(REST))
        tl.store(out + COUNT + 2 * REST + tl.arange(0, COUNT), tl.ravel(tl.cumsum(x, AXIS)))

    count = math.prod(shape)
    rest = count // shape[axis]
    out = np.zeros(2 * count + 2 * rest, np.int32)
    kernel[(1, )](out, shape, axis, tuple(order), at, count, rest)
    x = (np.arange(count) * 7 % 16).reshape(shape)
    expected = [x.transpose(order), x.sum(axis), x.argmax(axis), x.cumsum(axis)]
    np.testing.assert_array_equal(out, np.concatenate([e.ravel() for e in expected]))
