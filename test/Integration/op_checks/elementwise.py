"""Integer arithmetic, comparisons, selections: exact."""

import zlib

import numpy as np

from . import formats
from .kernel import type_of

SHAPES = [(), (1,), (3,), (5,), (31,), (96,), (100,), (128,), (160,), (77,), (992,), (1, 1), (3, 5), (16, 16),
          (1, 64), (64, 1), (12, 160), (7, 33), (100, 10), (2, 3, 4), (3, 5, 7), (4, 8, 16), (1, 1, 5), (16, 1, 12), (12672,)]
INTS = ("i1", "i8", "i16", "i32", "i64")


def pick_shape(title):
    """A shape for a check; the same in each run, another one for each check."""
    return SHAPES[zlib.crc32(title.encode()) % len(SHAPES)]


def wrap(values, elem):
    """Python integers to the type, modulo 2^width."""
    bits = formats.width(elem)
    result = np.array([int(v) % 2 ** bits for v in np.ravel(values)], object).reshape(np.shape(values))
    if elem != "i1":
        result = np.where(result >= 2 ** (bits - 1), result - 2 ** bits, result)
    return result.astype(formats.storage(elem))


def exact(bits, elem, signed=True):
    """Bits as Python integers."""
    values = np.asarray(bits).astype(object)
    if elem == "i1":
        return -values if signed else values
    return values if signed else values % 2 ** formats.width(elem)


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def shifts(f):
    return lambda a, b: f(a, b)


# Name: (function of Python integers, operands are signed, kind of right operand).
BINARY = {
    "addi": (lambda a, b: a + b, True, ""), "subi": (lambda a, b: a - b, True, ""),
    "muli": (lambda a, b: a * b, True, ""), "andi": (lambda a, b: a & b, True, ""),
    "ori": (lambda a, b: a | b, True, ""), "xori": (lambda a, b: a ^ b, True, ""),
    "divsi": (truncated, True, "divisor"), "divui": (lambda a, b: a // b, False, "divisor"),
    "remsi": (lambda a, b: a - b * truncated(a, b), True, "divisor"),
    "remui": (lambda a, b: a % b, False, "divisor"),
    "ceildivsi": (lambda a, b: -(-a // b), True, "divisor"), "ceildivui": (lambda a, b: -(-a // b), False, "divisor"),
    "floordivsi": (lambda a, b: a // b, True, "divisor"),
    "shli": (lambda a, b: a << b, False, "shift"), "shrui": (lambda a, b: a >> b, False, "shift"),
    "shrsi": (lambda a, b: a >> b, True, "shift"),
    "maxsi": (max, True, ""), "minsi": (min, True, ""), "maxui": (max, False, ""), "minui": (min, False, ""),
}
PREDICATES = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
              "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def operands(rng, elem, shape, kind):
    count = int(np.prod(shape, dtype=int))
    a, b = formats.random_ints(rng, elem, count), formats.random_ints(rng, elem, count)
    same = rng.integers(0, 4, count) == 0
    b = np.where(same, a, b).astype(a.dtype)
    if kind == "divisor":
        b = np.where(b == 0, 1, b).astype(b.dtype)
        if elem != "i1":
            # The quotient of the smallest number and -1 does not fit.
            low = -(2 ** (formats.width(elem) - 1))
            a = np.where((a == low) & (b == -1), 7, a).astype(a.dtype)
    if kind == "shift":
        b = rng.integers(0, formats.width(elem), count).astype(a.dtype)
    return a.reshape(shape), b.reshape(shape)


def apply(function, a, b, elem, signed):
    pairs = zip(np.ravel(exact(a, elem, signed)), np.ravel(exact(b, elem, signed)))
    return np.array([function(int(x), int(y)) for x, y in pairs], object).reshape(a.shape)


def binary(name, elem, shape):
    function, signed, kind = BINARY[name]

    def check(k, rng):
        a, b = operands(rng, elem, shape, kind)
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k.same(x, f"arith.{name} {x}, {y} : {x.type}")
        k.output(rng, z, wrap(apply(function, a, b, elem, signed), elem))
    return check


def by_constant(name, elem, shape):
    """The right operand is one constant: strength reduction must not be wrong."""
    function, signed, kind = BINARY[name]

    def check(k, rng):
        a, b = operands(rng, elem, shape, kind)
        b = np.full_like(b, np.ravel(b)[0])
        if kind == "divisor":
            a, _ = np.where((b == -1) & (a == a.min()), 7, a).astype(a.dtype), None
        x = k.input(rng, elem, a)
        y = k.constant(shape, elem, int(np.ravel(b)[0]))
        z = k.same(x, f"arith.{name} {x}, {y} : {x.type}")
        k.output(rng, z, wrap(apply(function, a, b, elem, signed), elem))
    return check


def compare(predicate, elem, shape):
    name = predicate[1:] if predicate[0] in "su" else predicate
    signed = predicate[0] != "u"

    def check(k, rng):
        a, b = operands(rng, elem, shape, "")
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k(shape, "i1", f"arith.cmpi {predicate}, {x}, {y} : {x.type}")
        k.output(rng, z, apply(PREDICATES[name], a, b, elem, signed).astype(np.uint8))
    return check


def select(elem, shape, scalar_condition):
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        a, b = (formats.random_bits(rng, elem, count).reshape(shape) for _ in range(2))
        c = rng.integers(0, 2, () if scalar_condition else shape).astype(np.uint8)
        p, x, y = k.input(rng, "i1", c), k.input(rng, elem, a), k.input(rng, elem, b)
        types = x.type if not p.shape else f"{p.type}, {x.type}"
        z = k.same(x, f"arith.select {p}, {x}, {y} : {types}")
        want = np.where(c, a, b)
        k.output(rng, z, formats.decode(want, elem) if formats.is_float(elem) else want)
    return check


def extend(name, source, target, shape):
    def check(k, rng):
        a = formats.random_ints(rng, source, int(np.prod(shape, dtype=int))).reshape(shape)
        x = k.input(rng, source, a)
        z = k(shape, target, f"arith.{name} {x} : {x.type} to {type_of(shape, target)}")
        k.output(rng, z, wrap(exact(a, source, name != "extui"), target))
    return check


def extended(name, elem, shape):
    def check(k, rng):
        a, b = operands(rng, elem, shape, "")
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        signed = name == "mulsi_extended"
        if name == "addui_extended":
            low, high = k.multi([(shape, elem), (shape, "i1")], f"arith.{name} {x}, {y} : {x.type}, {type_of(shape, 'i1')}")
        else:
            low, high = k.multi([(shape, elem)] * 2, f"arith.{name} {x}, {y} : {x.type}")
        both = apply((lambda p, q: p + q) if name == "addui_extended" else (lambda p, q: p * q), a, b, elem, signed)
        k.output(rng, low, wrap(both, elem))
        k.output(rng, high, wrap(both // 2 ** formats.width(elem), high.elem))
    return check


def mulhi(elem, signed, shape):
    def check(k, rng):
        a, b = operands(rng, elem, shape, "")
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k.same(x, f"tile.mulhi {'signed ' if signed else ''}{x}, {y} : {x.type}")
        k.output(rng, z, wrap(apply(lambda p, q: (p * q) >> formats.width(elem), a, b, elem, signed), elem))
    return check


def unary(name, elem, shape, function):
    def check(k, rng):
        a = formats.random_ints(rng, elem, int(np.prod(shape, dtype=int))).reshape(shape)
        x = k.input(rng, elem, a)
        z = k.same(x, f"math.{name} {x} : {x.type}")
        values = [function(int(v), formats.width(elem)) for v in np.ravel(exact(a, elem, name == "absi"))]
        k.output(rng, z, wrap(np.array(values, object).reshape(shape), elem))
    return check


UNARY = {
    "absi": lambda v, bits: abs(v), "ctpop": lambda v, bits: bin(v).count("1"),
    "ctlz": lambda v, bits: bits - v.bit_length(),
    "cttz": lambda v, bits: bits if v == 0 else (v & -v).bit_length() - 1,
}


def ipowi(elem, shape):
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        a = formats.random_ints(rng, elem, count).reshape(shape)
        b = rng.integers(-3, 40, count).astype(a.dtype).reshape(shape)
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        z = k.same(x, f"math.ipowi {x}, {y} : {x.type}")

        def power(p, q):
            if q >= 0:
                return p ** q
            return {1: 1, -1: -1 if q % 2 else 1}.get(p, 0)
        k.output(rng, z, wrap(apply(power, a, b, elem, True), elem))
    return check


def add(checks, title, make, *arguments):
    """Appends the check `make(*arguments, shape)`."""
    checks.append((title, make(*arguments, pick_shape(title))))


def integers(options):
    checks = []
    for elem in INTS:
        for name in BINARY:
            if elem == "i1" and BINARY[name][2]:
                continue
            add(checks, f"{name}-{elem}", binary, name, elem)
            if elem != "i1":
                add(checks, f"{name}-{elem}-constant", by_constant, name, elem)
    return checks


def integers2(options):
    checks = []
    for elem in INTS:
        for predicate in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
            add(checks, f"cmpi-{predicate}-{elem}", compare, predicate, elem)
        if elem != "i1":
            for name in ("addui_extended", "mulsi_extended", "mului_extended"):
                add(checks, f"{name}-{elem}", extended, name, elem)
            for name, function in UNARY.items():
                title = f"{name}-{elem}"
                checks.append((title, unary(name, elem, pick_shape(title), function)))
            add(checks, f"ipowi-{elem}", ipowi, elem)
        for other in INTS:
            if formats.width(other) > formats.width(elem):
                add(checks, f"extsi-{elem}-{other}", extend, "extsi", elem, other)
                add(checks, f"extui-{elem}-{other}", extend, "extui", elem, other)
                add(checks, f"trunci-{other}-{elem}", extend, "trunci", other, elem)
    for elem in ("i32", "i64"):
        for signed in (False, True):
            add(checks, f"mulhi-{elem}-{signed}", mulhi, elem, signed)
    for elem in INTS + tuple(formats.FLOATS):
        for scalar in (False, True):
            title = f"select-{elem}-{scalar}"
            checks.append((title, select(elem, pick_shape(title), scalar)))
    return checks


GROUPS = {"integers": integers, "integers2": integers2}
