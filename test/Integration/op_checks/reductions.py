"""reduce, scan and histogram along every axis."""

import numpy as np

from . import formats
from .elementwise import exact, wrap
from .formats import decode
from .kernel import type_of

SHAPES = [(1,), (2,), (3,), (7,), (32,), (96,), (100,), (128,), (160,), (256,), (1024,), (1, 1), (3, 5), (5, 3), (16, 16),
          (1, 64), (64, 1), (12, 40), (7, 33), (64, 64), (8, 256), (128, 8), (100, 10), (2, 3, 4), (3, 5, 7), (4, 8, 16),
          (8, 16, 4), (1, 1, 5), (16, 1, 12), (2, 64, 8)]


def axes():
    for shape in SHAPES:
        for axis in range(len(shape)):
            yield shape, axis


def region(elems, text, result):
    """A combine region: `text` defines the values named in `result`."""
    names = [f"%l{i}" for i in range(len(elems))] + [f"%r{i}" for i in range(len(elems))]
    arguments = ", ".join(f"{n}: {e}" for n, e in zip(names, elems * 2))
    return f"{{\n^bb0({arguments}):\n  {text}\n  tile.yield {', '.join(result)} : {', '.join(elems)}\n}}"


def kinds(elem):
    """Name: (op, reference of an axis)."""
    if formats.is_float(elem):
        return {"add": ("addf", np.add), "max": ("maxnumf", np.fmax), "min": ("minnumf", np.fmin),
                "maximum": ("maximumf", np.maximum), "minimum": ("minimumf", np.minimum)}
    return {"add": ("addi", None), "mul": ("muli", None), "max": ("maxsi", np.maximum), "min": ("minsi", np.minimum),
            "and": ("andi", np.bitwise_and), "or": ("ori", np.bitwise_or), "xor": ("xori", np.bitwise_xor)}


def data(rng, elem, shape, kind):
    """Bits for a reduction. Sums of floats are of small integers, so that they are
    exact in any order; now and then with a NaN for extrema."""
    count = int(np.prod(shape))
    if not formats.is_float(elem):
        return formats.random_ints(rng, elem, count).reshape(shape)
    if kind == "add":
        narrow = formats.width(elem) == 8
        values = rng.integers(-2, 3, shape).astype(float) * (rng.random(shape) < (2.0 / shape[0] if narrow else 1))
        if narrow:
            values = np.zeros(shape)
            values.reshape(-1)[rng.integers(0, count, 3)] = 1
        return formats.encode(values, elem)
    bits = formats.random_bits(rng, elem, count, "normal").reshape(shape)
    nan = rng.random(shape) < (0.02 if rng.integers(0, 2) else 0)
    # No zeros: either sign may come out of maxnumf.
    bits = np.where(decode(bits, elem) == 0, formats.encode(np.array(1.0), elem), bits)
    return np.where(nan, formats.encode(np.array(np.nan), elem), bits)


def reference(elem, kind, bits, axis, accumulate=False):
    """The reduction, or the running one along axis."""
    if formats.is_float(elem):
        values = decode(bits, elem)
        if kind == "add":
            return np.cumsum(values, axis) if accumulate else np.sum(values, axis)
        function = kinds(elem)[kind][1]
    else:
        values = exact(bits, elem)
        if kind in ("add", "mul"):
            function = {"add": np.add, "mul": np.multiply}[kind]
        else:
            function = kinds(elem)[kind][1]
            values = bits if elem != "i1" else -bits.astype(np.int8)
    result = function.accumulate(values, axis) if accumulate else function.reduce(values, axis)
    if formats.is_float(elem):
        return result
    return wrap(np.asarray(result).astype(object), elem)


def flip(a, axis, reverse):
    return np.flip(a, axis) if reverse else a


def simple(elem, kind, shape, axis, scan=False, reverse=False):
    op = kinds(elem)[kind][0]

    def check(k, rng):
        bits = data(rng, elem, shape, kind)
        x = k.input(rng, elem, bits)
        body = region([elem], f"%s = arith.{op} %l0, %r0 : {elem}", ["%s"])
        if scan:
            z = k.same(x, f"tile.scan({x}) axis {axis}{' reverse' if reverse else ''} : ({x.type}) -> {x.type} {body}")
            want = flip(reference(elem, kind, flip(bits, axis, reverse), axis, True), axis, reverse)
        else:
            new = shape[:axis] + shape[axis + 1:]
            z = k(new, elem, f"tile.reduce({x}) axis {axis} : ({x.type}) -> {type_of(new, elem)} {body}")
            want = reference(elem, kind, bits, axis)
        k.output(rng, z, np.asarray(want))
    return check


def argmax(elem, index, shape, axis, scan=False, reverse=False):
    """The largest element and the first place where it is."""
    def check(k, rng):
        count = int(np.prod(shape))
        values = rng.integers(-5, 6, shape) if rng.integers(0, 2) else rng.integers(-100, 100, shape)
        bits = formats.encode(values, elem) if formats.is_float(elem) else values.astype(formats.storage(elem))
        x = k.input(rng, elem, bits)
        i = k.index(shape, axis)
        if index != "i32":
            i = k(shape, index, f"arith.{'extsi' if index == 'i64' else 'trunci'} {i} : {i.type} to {type_of(shape, index)}")
        compare = "cmpf {}, %l0, %r0" if formats.is_float(elem) else "cmpi {}, %l0, %r0"
        gt, eq = (("ogt", "oeq") if formats.is_float(elem) else ("sgt", "eq"))
        text = (f"%gt = arith.{compare.format(gt)} : {elem}\n  %eq = arith.{compare.format(eq)} : {elem}\n"
                f"  %lt = arith.cmpi slt, %l1, %r1 : {index}\n  %tie = arith.andi %eq, %lt : i1\n"
                f"  %left = arith.ori %gt, %tie : i1\n  %v = arith.select %left, %l0, %r0 : {elem}\n"
                f"  %i = arith.select %left, %l1, %r1 : {index}")
        body = region([elem, index], text, ["%v", "%i"])
        if scan:
            # The leftmost maximum of the part so far.
            types = f"({x.type}, {i.type}) -> ({x.type}, {i.type})"
            z, w = k.multi([(shape, elem), (shape, index)], f"tile.scan({x}, {i}) axis {axis}{' reverse' if reverse else ''} : {types} {body}")
            best = flip(np.maximum.accumulate(flip(values, axis, reverse), axis), axis, reverse)
            ordered = np.moveaxis(values, axis, -1)
            where = np.empty(ordered.shape, int)
            for at in np.ndindex(ordered.shape):
                row, j = ordered[at[:-1]], at[-1]
                where[at] = j + int(np.argmax(row[j:])) if reverse else int(np.argmax(row[:j + 1]))
            where = np.moveaxis(where, -1, axis)
        else:
            new = shape[:axis] + shape[axis + 1:]
            types = f"({x.type}, {i.type}) -> ({type_of(new, elem)}, {type_of(new, index)})"
            z, w = k.multi([(new, elem), (new, index)], f"tile.reduce({x}, {i}) axis {axis} : {types} {body}")
            best, where = values.max(axis), values.argmax(axis)
        k.output(rng, z, np.asarray(best, np.float64 if formats.is_float(elem) else None))
        k.output(rng, w, np.asarray(where))
    return check


def welford(elem, shape, axis, scan=False):
    """Mean, sum of squared deviations and count, of three operands."""
    def check(k, rng):
        values = rng.standard_normal(shape) * 2 + 1
        bits = formats.encode(values, elem)
        values = decode(bits, elem)
        x = k.input(rng, elem, bits)
        zero, one = k.constant(shape, elem, 0), k.constant(shape, elem, 1)
        text = "\n  ".join(f"%{n} = arith.{op} : {elem}" for n, op in (
            ("d", "subf %r0, %l0"), ("n", "addf %l2, %r2"), ("f", "divf %r2, %n"), ("df", "mulf %d, %f"),
            ("mean", "addf %l0, %df"), ("dd", "mulf %d, %d"), ("ddf", "mulf %dd, %f"), ("c", "mulf %ddf, %l2"),
            ("mm", "addf %l1, %r1"), ("m2", "addf %mm, %c")))
        body = region([elem] * 3, text, ["%mean", "%m2", "%n"])
        new = shape if scan else shape[:axis] + shape[axis + 1:]
        op = "scan" if scan else "reduce"
        types = f"({', '.join([x.type] * 3)}) -> ({', '.join([type_of(new, elem)] * 3)})"
        outs = k.multi([(new, elem)] * 3, f"tile.{op}({x}, {zero}, {one}) axis {axis} : {types} {body}")
        n = shape[axis]
        if scan:
            counts = np.arange(1, n + 1).reshape([-1 if i == axis else 1 for i in range(len(shape))]) * np.ones(shape)
            mean = np.cumsum(values, axis) / counts
            m2 = np.cumsum(values ** 2, axis) - counts * mean ** 2
            wants = (mean, m2, counts)
        else:
            wants = (values.mean(axis), values.var(axis) * n, np.full(new, float(n)))
        tolerance = 1e-5 if elem == "f32" else 1e-12
        for out, want, scale in zip(outs, wants, (1, n, 0)):
            k.output(rng, out, np.asarray(want), 32, tolerance * scale)
    return check


def affine(elem, shape, axis, reverse):
    """Composition of maps x -> a x + b modulo 2^n: associative, not commutative."""
    def check(k, rng):
        a, b = (rng.integers(-3, 4, shape).astype(formats.storage(elem)) for _ in range(2))
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        # The left map first: (a, b) then (c, d) is (a c, b c + d).
        text = f"%a = arith.muli %l0, %r0 : {elem}\n  %bc = arith.muli %l1, %r0 : {elem}\n  %b = arith.addi %bc, %r1 : {elem}"
        types = f"({x.type}, {y.type}) -> ({x.type}, {y.type})"
        outs = k.multi([(shape, elem)] * 2, f"tile.scan({x}, {y}) axis {axis}{' reverse' if reverse else ''} : {types} {region([elem] * 2, text, ['%a', '%b'])}")
        p = np.moveaxis(flip(exact(a, elem), axis, reverse), axis, 0).copy()
        q = np.moveaxis(flip(exact(b, elem), axis, reverse), axis, 0).copy()
        modulus = 2 ** formats.width(elem)
        for i in range(1, p.shape[0]):
            p[i], q[i] = p[i - 1] * p[i] % modulus, (q[i - 1] * p[i] + q[i]) % modulus
        for out, want in zip(outs, (p, q)):
            k.output(rng, out, wrap(flip(np.moveaxis(want, 0, axis), axis, reverse), elem))
    return check


def uses(shape, axis):
    """A reduction, used as a scalar or tile, broadcast back: softmax-like, exact."""
    def check(k, rng):
        a = rng.integers(-50, 50, shape).astype(np.int32)
        x = k.input(rng, "i32", a)
        new = shape[:axis] + shape[axis + 1:]
        body = region(["i32"], "%s = arith.maxsi %l0, %r0 : i32", ["%s"])
        m = k(new, "i32", f"tile.reduce({x}) axis {axis} : ({x.type}) -> {type_of(new, 'i32')} {body}")
        back = k.broadcast(k.expand(m, axis), shape) if new else k.splat(m, shape)
        d = k.same(x, f"arith.subi {x}, {back} : {x.type}")
        body = region(["i32"], "%s = arith.addi %l0, %r0 : i32", ["%s"])
        s = k(new, "i32", f"tile.reduce({d}) axis {axis} : ({x.type}) -> {type_of(new, 'i32')} {body}")
        k.output(rng, s, np.asarray((a - a.max(axis, keepdims=True)).sum(axis)))
        c = k.same(x, f"tile.scan({d}) axis {axis} : ({x.type}) -> {x.type} {body}")
        k.output(rng, c, np.cumsum(a - a.max(axis, keepdims=True), axis))
    return check


def histogram(count, bins, masked):
    def check(k, rng):
        a = rng.integers(-3, bins + 4, count).astype(np.int32)
        if rng.integers(0, 3) == 0:
            a[:] = a[0]
        mask = rng.integers(0, 2, count).astype(np.uint8) if masked else np.ones(count, np.uint8)
        x = k.input(rng, "i32", a)
        m = k.input(rng, "i1", mask) if masked else None
        h = k((bins,), "i32", f"tile.histogram {x}{f' mask {m}' if masked else ''} : {x.type} -> {type_of((bins,), 'i32')}")
        inside = a[(mask == 1) & (a >= 0) & (a < bins)]
        k.output(rng, h, np.bincount(inside, minlength=bins))
    return check


def name(parts):
    return "-".join("x".join(map(str, p)) if isinstance(p, tuple) else str(p) for p in parts)


def reduces(options):
    checks, elems = [], ("i32", "f32", "i1", "f16", "i64", "bf16", "i8", "f64", "i16", "f8E4M3FN", "f8E5M2")
    for number, (shape, axis) in enumerate(axes()):
        for j in range(3):
            elem = elems[(number + 4 * j) % len(elems)]
            kind = list(kinds(elem))[(number + j) % len(kinds(elem))]
            checks.append((name(("reduce", kind, elem, shape, axis)), simple(elem, kind, shape, axis)))
        elem = ("f32", "i32", "f16", "i8")[number % 4]
        checks.append((name(("argmax", elem, shape, axis)), argmax(elem, ("i32", "i64", "i32", "i16")[number % 4], shape, axis)))
        checks.append((name(("welford", shape, axis)), welford(("f32", "f64")[number % 2], shape, axis)))
        checks.append((name(("uses", shape, axis)), uses(shape, axis)))
    return checks


def scans(options):
    checks, elems = [], ("i32", "f32", "i1", "f16", "i64", "bf16", "i8", "f64", "i16", "f8E4M3FN", "f8E5M2")
    for number, (shape, axis) in enumerate(axes()):
        for j in range(2):
            elem, reverse = elems[(number + 5 * j) % len(elems)], (number + j) % 2 == 0
            kind = list(kinds(elem))[(number + j) % len(kinds(elem))]
            checks.append((name(("scan", kind, elem, shape, axis, reverse)), simple(elem, kind, shape, axis, True, reverse)))
        reverse = number % 2 == 1
        checks.append((name(("affine", shape, axis, reverse)), affine(("i32", "i64", "i16")[number % 3], shape, axis, reverse)))
        if np.prod(shape) <= 1024:
            checks.append((name(("argmax-scan", shape, axis, reverse)), argmax(("f32", "i32")[number % 2], "i32", shape, axis, True, reverse)))
        checks.append((name(("welford-scan", shape, axis)), welford("f64", shape, axis, True)))
    for count, bins in ((1, 1), (7, 3), (128, 16), (96, 256), (1024, 64), (100, 5), (512, 1000), (33, 7)):
        for masked in (False, True):
            checks.append((name(("histogram", count, bins, masked)), histogram(count, bins, masked)))
    return checks


GROUPS = {"reduces": reduces, "scans": scans}
