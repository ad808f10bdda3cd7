"""Conversions between types."""

import numpy as np

from . import formats
from .elementwise import INTS, exact, pick_shape, wrap
from .floats import ALL, sample
from .formats import decode
from .kernel import type_of


def rounds(source, target):
    """Whether a conversion can change a value."""
    return not (formats.FLOATS[source][0] <= formats.FLOATS[target][0] and formats.FLOATS[source][1] <= formats.FLOATS[target][1])


def all_bits(rng, elem, shape):
    """Any bits, and for narrow results numbers around the limits of all types."""
    bits = sample(rng, elem, shape, "any")
    limits = []
    for other in ALL:
        for value in decode(formats.special_bits(other), other):
            if np.isfinite(value):
                limits += [value, value * (1 + 2.0 ** -4), value * (1 - 2.0 ** -4), value * (1 + 2.0 ** -11), value * 1.5]
    with np.errstate(all="ignore"):
        near = formats.encode(rng.choice(np.array(limits), shape), elem)
    which = rng.integers(0, 4, shape)
    return np.where(which == 0, bits, np.where(which == 1, near, sample(rng, elem, shape)))


def fp_cast(source, target, rounding, shape):
    def check(k, rng):
        a = all_bits(rng, source, shape)
        x = k.input(rng, source, a)
        how = " round(rtz)" if rounding == "rtz" else ""
        z = k(shape, target, f"tile.fp_cast {x}{how} : {x.type} -> {type_of(shape, target)}")
        k.output(rng, z, decode(formats.encode(decode(a, source), target, rounding, saturate=formats.width(target) == 8), target))
    return check


def arith_cast(name, source, target, shape):
    def check(k, rng):
        a = all_bits(rng, source, shape)
        x = k.input(rng, source, a)
        z = k(shape, target, f"arith.{name} {x} : {x.type} to {type_of(shape, target)}")
        k.output(rng, z, formats.round_to(decode(a, source), target))
    return check


def from_int(name, source, target, shape):
    def check(k, rng):
        a = formats.random_ints(rng, source, int(np.prod(shape, dtype=int))).reshape(shape)
        x = k.input(rng, source, a)
        z = k(shape, target, f"arith.{name} {x} : {x.type} to {type_of(shape, target)}")
        values = exact(a, source, name == "sitofp")
        k.output(rng, z, formats.round_to(np.array(values, np.longdouble).astype(np.float64), target),
                 1.0 if source == "i64" and target in ("bf16", "f8E4M3FN", "f8E5M2") else 0)
    return check


def to_int(name, source, target, shape):
    def check(k, rng):
        low, high = (0, 2.0 ** formats.width(target)) if name == "fptoui" else (-2.0 ** (formats.width(target) - 1), 2.0 ** (formats.width(target) - 1))
        a = sample(rng, source, shape)
        value = np.trunc(decode(a, source))
        inside = (value >= low) & (value < high)
        a = np.where(inside, a, 0).astype(a.dtype)
        x = k.input(rng, source, a)
        z = k(shape, target, f"arith.{name} {x} : {x.type} to {type_of(shape, target)}")
        numbers = np.array([int(v) for v in np.ravel(np.trunc(decode(a, source)))], object).reshape(shape)
        k.output(rng, z, wrap(numbers, target))
    return check


def bitcast(op, source, target, shape):
    def check(k, rng):
        a = formats.random_bits(rng, source, int(np.prod(shape, dtype=int)), "any").reshape(shape)
        x = k.input(rng, source, a)
        z = k(shape, target, f"{op} {x} : {x.type} {'to' if op.startswith('arith') else '->'} {type_of(shape, target)}")
        bits = a.view(formats.storage(target))
        k.output(rng, z, decode(bits, target) if formats.is_float(target) else bits)
    return check


def casts(options):
    checks = []
    for source in ALL:
        for target in ALL:
            if source == target:
                continue
            title = f"fp_cast-{source}-{target}"
            checks.append((title, fp_cast(source, target, "rtne", pick_shape(title))))
            if rounds(source, target):
                title += "-rtz"
                checks.append((title, fp_cast(source, target, "rtz", pick_shape(title))))
            if formats.width(source) != formats.width(target):
                name = "extf" if formats.width(source) < formats.width(target) else "truncf"
                title = f"{name}-{source}-{target}"
                checks.append((title, arith_cast(name, source, target, pick_shape(title))))
    return checks


def casts2(options):
    checks = []
    for elem in ALL:
        for integer in INTS:
            for name, make, pair in (("sitofp", from_int, (integer, elem)), ("uitofp", from_int, (integer, elem)),
                                     ("fptosi", to_int, (elem, integer)), ("fptoui", to_int, (elem, integer))):
                if name.startswith("fp") and integer == "i1":
                    continue
                title = f"{name}-{'-'.join(pair)}"
                checks.append((title, make(name, *pair, pick_shape(title))))
    types = INTS[1:] + ALL
    for source in types:
        for target in types:
            if source != target and formats.width(source) == formats.width(target):
                for op in ("arith.bitcast", "tile.bitcast"):
                    title = f"{op}-{source}-{target}"
                    checks.append((title, bitcast(op, source, target, pick_shape(title))))
    return checks


GROUPS = {"casts": casts, "casts2": casts2}
