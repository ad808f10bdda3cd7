"""Floating-point arithmetic and mathematical functions."""

import math

import numpy as np

from . import formats
from .elementwise import pick_shape
from .formats import decode
from .kernel import type_of

WIDE = ("f16", "bf16", "f32", "f64")
ALL = ("f8E4M3FN", "f8E5M2") + WIDE


def sample(rng, elem, shape, kind="mixed"):
    return formats.random_bits(rng, elem, int(np.prod(shape, dtype=int)), kind).reshape(shape)


def once(values, elem):
    """Rounded once to the type; f64 keeps the extended precision of the reference."""
    return values if elem == "f64" else formats.round_to(np.asarray(values, np.float64), elem)


def binary(name, elem, shape, function, ulps=0.0, kind="mixed", op=None):
    def check(k, rng):
        a, b = sample(rng, elem, shape, kind), sample(rng, elem, shape, kind)
        same = rng.integers(0, 6, shape) == 0
        b = np.where(same, a, b)
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k.same(x, f"{op or 'arith.' + name} {x}, {y} : {x.type}")
        with np.errstate(all="ignore"):
            want = function(decode(a, elem), decode(b, elem))
        k.output(rng, z, once(want, elem), ulps if elem in ("f32", "f64") or not ulps else 1)
    return check


def maximum(a, b):
    """IEEE 754-2019 maximum: NaN wins, +0 > -0."""
    result = np.maximum(a, b)
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0), result)


def minimum(a, b):
    return -maximum(-a, -b)


def max_number(a, b):
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.maximum(a, b)))


def min_number(a, b):
    return -max_number(-a, -b)


# maxnumf and minnumf may give either zero.
ARITHMETIC = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "remf": np.fmod,
              "maximumf": maximum, "minimumf": minimum}

PREDICATES = {"eq": np.equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal}


def compare(predicate, elem, shape):
    def check(k, rng):
        a, b = sample(rng, elem, shape), sample(rng, elem, shape)
        b = np.where(rng.integers(0, 3, shape) == 0, a, b)
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k(shape, "i1", f"arith.cmpf {predicate}, {x}, {y} : {x.type}")
        p, q = decode(a, elem), decode(b, elem)
        nan = np.isnan(p) | np.isnan(q)
        if predicate in ("ord", "uno"):
            want = nan == (predicate == "uno")
        elif predicate in ("false", "true"):
            want = np.full(shape, predicate == "true")
        elif predicate == "one":
            want = (p != q) & ~nan
        elif predicate == "une":
            want = p != q
        else:
            want = np.where(nan, predicate[0] == "u", PREDICATES[predicate[1:]](p, q))
        k.output(rng, z, want.astype(np.uint8))
    return check


def negate(elem, shape):
    def check(k, rng):
        a = sample(rng, elem, shape)
        x = k.input(rng, elem, a)
        k.output(rng, k.same(x, f"arith.negf {x} : {x.type}"), -decode(a, elem))
    return check


def zero_free(elem, shape, name, function):
    """maxnumf, minnumf: operands without two zeros, of which either may come out."""
    def check(k, rng):
        a, b = sample(rng, elem, shape), sample(rng, elem, shape)
        both = (decode(a, elem) == 0) & (decode(b, elem) == 0)
        b = np.where(both, formats.encode(np.array(1.0), elem), b)
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k.same(x, f"arith.{name} {x}, {y} : {x.type}")
        k.output(rng, z, function(decode(a, elem), decode(b, elem)))
    return check


def clamp(elem, shape, propagate):
    def check(k, rng):
        x = sample(rng, elem, shape)
        b, c = sample(rng, elem, shape, "normal"), sample(rng, elem, shape, "normal")
        low, high = np.minimum(decode(b, elem), decode(c, elem)), np.maximum(decode(b, elem), decode(c, elem))
        v, l, h = (k.input(rng, elem, bits) for bits in (x, formats.encode(low, elem), formats.encode(high, elem)))
        z = k.same(v, f"tile.clamp {v}, {l}, {h}{' propagate_nan' if propagate else ''} : {v.type}")
        value = decode(x, elem)
        want = np.where(np.isnan(value), np.nan if propagate else low, np.minimum(np.maximum(value, low), high))
        k.output(rng, z, want)
    return check


def fma(elem, shape):
    def check(k, rng):
        a, b, c = (sample(rng, elem, shape, "normal") for _ in range(3))
        x, y, w = (k.input(rng, elem, bits) for bits in (a, b, c))
        z = k.same(x, f"math.fma {x}, {y}, {w} : {x.type}")
        exact = decode(a, elem).astype(np.longdouble) * decode(b, elem) + decode(c, elem)
        k.output(rng, z, exact, 0.5000001 if elem == "f32" else 0.51 if elem != "f64" else 0.6)
    return check


def classify(name, elem, shape):
    def check(k, rng):
        a = sample(rng, elem, shape)
        x = k.input(rng, elem, a)
        z = k(shape, "i1", f"math.{name} {x} : {x.type}")
        v = decode(a, elem)
        normal = np.isfinite(v) & (np.abs(v) >= 2.0 ** (1 - formats.bias(elem)))
        want = {"isfinite": np.isfinite(v), "isinf": np.isinf(v), "isnan": np.isnan(v), "isnormal": normal}[name]
        k.output(rng, z, want.astype(np.uint8))
    return check


def arithmetic(options):
    checks = []

    def add(title, make, *arguments, **named):
        checks.append((title, make(*arguments, **named)))
    for elem in ALL:
        for name, function in ARITHMETIC.items():
            title = f"{name}-{elem}"
            add(title, binary, name, elem, pick_shape(title), function)
        title = f"divf-{elem}"
        add(title, binary, "divf", elem, pick_shape(title), lambda a, b: np.divide(a, b), ulps=0 if elem == "f64" else 2)
        add(f"negf-{elem}", negate, elem, pick_shape(f"negf-{elem}"))
        for name, function in (("maxnumf", max_number), ("minnumf", min_number)):
            add(f"{name}-{elem}", zero_free, elem, pick_shape(name + elem), name, function)
        for predicate in ["ord", "uno", "false", "true"] + [o + p for o in "ou" for p in ("eq", "gt", "ge", "lt", "le", "ne")]:
            add(f"cmpf-{predicate}-{elem}", compare, predicate, elem, pick_shape(predicate + elem))
    for elem in WIDE:
        for propagate in (False, True):
            title = f"clamp-{elem}-{propagate}"
            add(title, clamp, elem, pick_shape(title), propagate)
        add(f"fma-{elem}", fma, elem, pick_shape(f"fma-{elem}"))
        for name in ("isfinite", "isinf", "isnan", "isnormal"):
            add(f"{name}-{elem}", classify, name, elem, pick_shape(name + elem))
    for elem in ("f32", "f64"):
        add(f"precise_div-{elem}", binary, "", elem, pick_shape(elem + "d"), np.divide, op="tile.precise_div")
        add(f"precise_sqrt-{elem}", unary, "tile.precise_sqrt", elem, pick_shape(elem + "s"), np.sqrt, 0, "mixed")
    return checks


# Functions: name, reference on extended precision, error in ulp of f32 and of f64,
# where to look at it (low, high, extra points).

def _elementwise(function):
    def wrapped(x):
        with np.errstate(all="ignore"):
            return np.array([function(float(v)) for v in np.ravel(x)], np.float64).reshape(np.shape(x))
    return wrapped


def away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x) if x.dtype != np.float64 else np.where(
        np.abs(x) < 2.0 ** 52, np.copysign(np.floor(np.abs(x)) + (np.abs(x) - np.floor(np.abs(x)) >= 0.5), x), x)


EXACT = {"absf": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "roundeven": np.rint, "round": away}
FUNCTIONS = {
    # name: (reference, ulp of f32, ulp of f64, ranges)
    "sqrt": (np.sqrt, 1.5, 0.5001, [(0, 1e30), (0, 1e-40), (-1, 0)]),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, 1.5, [(0, 1e30), (0, 1e-37)]),
    "exp": (np.exp, 2, 1.6, [(-1, 1), (-110, 92), (-710, 720)]),
    "exp2": (np.exp2, 2, 1.6, [(-1, 1), (-155, 130), (-1080, 1030)]),
    "log": (np.log, 2, 1.6, [(0.5, 2), (0, 1e30), (0, 1e-40), (-1, 0)]),
    "log2": (np.log2, 2, 2, [(0.5, 2), (0, 1e30), (0, 1e-40), (-1, 0)]),
    "sin": (np.sin, 2, 2, [(-4, 4), (-1000, 1000), (-1e6, 1e6)]),
    "cos": (np.cos, 2, 2, [(-4, 4), (-1000, 1000), (-1e6, 1e6)]),
    "tan": (np.tan, 4, 2, [(-4, 4), (-1000, 1000)]),
    "acos": (np.arccos, 2, 2, [(-1.1, 1.1)]), "asin": (np.arcsin, 4, 2, [(-1.1, 1.1)]),
    "atan": (np.arctan, 2, 2, [(-4, 4), (-1e9, 1e9)]),
    "acosh": (np.arccosh, 4, 3, [(0.9, 3), (1, 1e20)]), "asinh": (np.arcsinh, 3, 3, [(-2, 2), (-1e20, 1e20)]),
    "atanh": (np.arctanh, 3, 2, [(-1.1, 1.1)]), "cbrt": (np.cbrt, 1.5, 1.5, [(-10, 10), (-1e30, 1e30)]),
    "cosh": (np.cosh, 2.5, 1.6, [(-3, 3), (-95, 95)]), "sinh": (np.sinh, 3, 2, [(-3, 3), (-95, 95)]),
    "tanh": (np.tanh, 2, 1.6, [(-1, 1), (-20, 20)]),
    "erf": (_elementwise(math.erf), 2, 3, [(-1, 1), (-6, 6)]),
    "erfc": (_elementwise(math.erfc), 4, 6, [(-2, 2), (-6, 9)]),
    "expm1": (np.expm1, 1.5, 1.6, [(-1, 1), (-90, 92)]), "log1p": (np.log1p, 1.5, 1.6, [(-0.9, 1), (-1.1, 1e20)]),
    "log10": (np.log10, 2, 2, [(0.5, 2), (0, 1e30)]),
}


def points(rng, elem, shape, ranges):
    count = int(np.prod(shape, dtype=int))
    low, high = np.array(ranges)[rng.integers(0, len(ranges), count)].T
    values = low + (high - low) * rng.random(count)
    small = rng.integers(0, 6, count) == 0
    values = np.where(small, values * 2.0 ** -rng.integers(0, 40, count), values)
    bits = formats.encode(values, elem)
    special = rng.choice(formats.special_bits(elem), count)
    return np.where(rng.integers(0, 8, count) == 0, special, bits).reshape(shape)


def unary(op, elem, shape, function, ulps, ranges, absolute=0.0, suffix=""):
    def check(k, rng):
        a = sample(rng, elem, shape) if isinstance(ranges, str) else points(rng, elem, shape, ranges)
        x = k.input(rng, elem, a)
        z = k.same(x, f"{op} {x} {suffix}: {x.type}")
        value = decode(a, elem)
        with np.errstate(all="ignore"):
            want = function(value.astype(np.longdouble) if ulps else value)
        k.output(rng, z, want if ulps else once(want, elem), ulps, absolute)
    return check


def functions(options):
    checks = []
    for name, (function, ulps32, ulps64, ranges) in FUNCTIONS.items():
        for elem in WIDE:
            title = f"{name}-{elem}"
            ulps = {"f32": ulps32, "f64": ulps64}.get(elem, 1.0)
            checks.append((title, unary("math." + name, elem, (1024,) if elem == "f32" else pick_shape(title), function, ulps, ranges)))
    for name, function in EXACT.items():
        for elem in WIDE:
            title = f"{name}-{elem}"
            checks.append((title, unary("math." + name, elem, pick_shape(title), function, 0, "mixed")))
    return checks


def two(op, elem, shape, function, ulps, first, second):
    def check(k, rng):
        a, b = points(rng, elem, shape, first), points(rng, elem, shape, second)
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k.same(x, f"math.{op} {x}, {y} : {x.type}")
        with np.errstate(all="ignore"):
            want = function(decode(a, elem).astype(np.longdouble), decode(b, elem).astype(np.longdouble))
        k.output(rng, z, want, ulps)
    return check


def power_int(elem, exponent, shape):
    def check(k, rng):
        a = points(rng, elem, shape, [(-3, 3), (0, 100)])
        b = rng.integers(-12, 13, shape).astype(formats.storage(exponent))
        x, y = k.input(rng, elem, a), k.input(rng, exponent, b)
        z = k.same(x, f"math.fpowi {x}, {y} : {x.type}, {y.type}")
        with np.errstate(all="ignore"):
            want = np.power(decode(a, elem).astype(np.longdouble), b.astype(np.longdouble))
        k.output(rng, z, want, {"f32": 16, "f64": 16}.get(elem, 1))
    return check


def sincos(elem, shape):
    def check(k, rng):
        a = points(rng, elem, shape, [(-4, 4), (-1000, 1000)])
        x = k.input(rng, elem, a)
        s, c = k.multi([(shape, elem)] * 2, f"math.sincos {x} : {x.type}")
        v = decode(a, elem).astype(np.longdouble)
        with np.errstate(all="ignore"):
            k.output(rng, s, np.sin(v), 2 if elem in ("f32", "f64") else 1)
            k.output(rng, c, np.cos(v), 2 if elem in ("f32", "f64") else 1)
    return check


def bounded(elem, shape):
    def check(k, rng):
        a = sample(rng, elem, shape)
        x = k.input(rng, elem, a)
        low, high = k.constant(shape, elem, -1.5), k.constant(shape, elem, 2.0)
        z = k.same(x, f"math.clampf {x} to [{low}, {high}] : {x.type}")
        k.output(rng, z, np.minimum(np.maximum(decode(a, elem), -1.5), 2.0))
    return check


def functions2(options):
    checks = []
    for elem in WIDE:
        narrow = elem not in ("f32", "f64")
        for title, make in (
                ("atan2", lambda e, s: two("atan2", e, s, np.arctan2, 1 if narrow else 3, [(-3, 3), (-1e9, 1e9)], [(-3, 3)])),
                ("powf", lambda e, s: two("powf", e, s, np.power, 1 if narrow else 8 if e == "f32" else 2, [(0, 3), (-4, 4)], [(-5, 5), (-40, 40)])),
                ("copysign", lambda e, s: two("copysign", e, s, np.copysign, 0, [(-3, 3)], [(-3, 3)])),
                ("fpowi-i32", lambda e, s: power_int(e, "i32", s)), ("fpowi-i16", lambda e, s: power_int(e, "i16", s)),
                ("fpowi-i64", lambda e, s: power_int(e, "i64", s)),
                ("sincos", sincos), ("clampf", bounded)):
            checks.append((f"{title}-{elem}", make(elem, pick_shape(title + elem))))
    fast = "fastmath<afn> "
    for name, tolerance in (("exp", 2 ** -18), ("exp2", 2 ** -20), ("log", 2 ** -18), ("log2", 2 ** -18), ("sin", 2 ** -19),
                            ("cos", 2 ** -19), ("tanh", 2 ** -10)):
        function = FUNCTIONS[name][0]
        checks.append((f"{name}-fast-f32", unary_fast(name, function, tolerance)))
    return checks


def unary_fast(name, function, tolerance):
    def check(k, rng):
        shape = (768,)
        values = rng.random(shape) * 3 + 0.01 if name.startswith("log") else rng.standard_normal(shape)
        a = formats.encode(values, "f32")
        x = k.input(rng, "f32", a)
        z = k.same(x, f"math.{name} {x} fastmath<afn> : {x.type}")
        want = function(decode(a, "f32"))
        k.output(rng, z, want, 0, tolerance * max(1.0, float(np.max(np.abs(want)))))
    return check


GROUPS = {"arithmetic": arithmetic, "functions": functions, "functions2": functions2}
