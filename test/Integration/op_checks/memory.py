"""Loads, stores, pointers, atomics and descriptors."""

import numpy as np

from . import formats
from .elementwise import wrap
from .formats import decode
from .kernel import Output, positions, ptr, type_of

SHAPES = [(), (1,), (3,), (5,), (32,), (96,), (100,), (128,), (160,), (256,), (1024,), (1, 1), (3, 5), (16, 16), (1, 64),
          (64, 1), (12, 160), (7, 33), (64, 64), (2, 3, 4), (4, 8, 16), (16, 1, 12)]
ELEMS = ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2")
LOAD_MODIFIERS = ["", "cache(ca)", "cache(cg)", "cache(cv)", "cache(cs)", "evict(evict_first)", "evict(evict_last)",
                  "evict(no_allocate)", "volatile", "cache(ca) evict(evict_last)"]
STORE_MODIFIERS = ["", "cache(wb)", "cache(cg)", "cache(cs)", "cache(wt)", "evict(evict_first)", "evict(evict_last)",
                   "evict(no_allocate)", "volatile"]


def values_of(bits, elem):
    bits = np.asarray(bits)
    return decode(np.ascontiguousarray(bits), elem).reshape(bits.shape) if formats.is_float(elem) else bits


def make_mask(k, rng, shape):
    """A mask and its bits: bounds of indices, random, all or none."""
    kind = int(rng.integers(0, 6))
    if not shape or kind == 0:
        bits = rng.integers(0, 2, shape).astype(np.uint8)
        return k.input(rng, "i1", bits), bits
    if kind == 1:
        value = int(rng.integers(0, 2))
        return k.constant(shape, "i1", value), np.full(shape, value, np.uint8)
    mask, bits = None, np.ones(shape, np.uint8)
    for axis, extent in enumerate(shape):
        limit = int(rng.choice([0, 1, extent // 2, extent - 1, extent, max(extent - 3, 0), (extent // 16) * 16]))
        if kind == 5 and axis == len(shape) - 1:
            limit = 0
        index = k.index(shape, axis)
        if rng.integers(0, 2):
            bound = k.splat(k.scalar("i32", limit, 16 if limit % 16 == 0 else None), shape)
        else:
            bound = k.constant(shape, "i32", limit)
        part = k(shape, "i1", f"arith.cmpi slt, {index}, {bound} : {index.type}")
        mask = part if mask is None else k(shape, "i1", f"arith.andi {mask}, {part} : {mask.type}")
        bits &= (np.arange(extent) < limit).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return mask, bits


def load(elem, shape, modifiers):
    """A masked load with `other`; pointers of masked elements are invalid."""
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        data = formats.random_bits(rng, elem, count, "any").reshape(shape)
        strides, start, size = k.place(rng, shape)
        memory = np.zeros(size, formats.storage(elem))
        memory[positions(shape, strides, start)] = data
        base = k.buffer(elem, memory, rng)
        mask, keep = make_mask(k, rng, shape)
        offset_type = str(rng.choice(["i32", "i64"]))
        if shape:
            offsets = k.offsets(shape, strides, start, offset_type)
            wild = k.constant(shape, offset_type, 2 ** 30)
            if rng.integers(0, 2):
                offsets = k.same(offsets, f"arith.select {mask}, {offsets}, {wild} : {mask.type}, {offsets.type}")
            bases = k.splat(base, shape)
            pointers = k.same(bases, f"tile.addptr {bases}, {offsets} : {bases.type}, {offsets.type}")
        else:
            move = k.constant((), offset_type, start)
            pointers = k.same(base, f"tile.addptr {base}, {move} : {base.type}, {offset_type}")
        other = formats.random_bits(rng, elem, count, "any").reshape(shape)
        if rng.integers(0, 2):
            o = k.input(rng, elem, other)
        else:
            other = formats.encode(np.full(shape, 0.0), elem) if formats.is_float(elem) else np.zeros(shape, formats.storage(elem))
            o = k.constant(shape, elem, 0)
        x = k(shape, elem, f"tile.load {pointers} mask {mask} other {o} {modifiers} : {pointers.type}")
        k.output(rng, x, values_of(np.where(keep, data, other), elem))
    return check


def store(elem, shape, modifiers):
    """A masked store leaves other elements, and gaps, alone."""
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        data = formats.random_bits(rng, elem, count, "any").reshape(shape)
        x = k.input(rng, elem, data, str(rng.choice(LOAD_MODIFIERS)) + " ")
        strides, start, size = k.place(rng, shape)
        before = formats.random_bits(rng, elem, size, "any")
        base = k.buffer(elem, before, rng)
        mask, keep = make_mask(k, rng, shape)
        pointers = k.pointers(base, elem, shape, strides, start, str(rng.choice(["i32", "i64"])))
        if not shape:
            move = k.constant((), "i32", start)
            pointers = k.same(base, f"tile.addptr {base}, {move} : {base.type}, i32")
        k.do(f"tile.store {pointers}, {x} mask {mask} {modifiers} : {pointers.type}")
        after = before.copy()
        where = positions(shape, strides, start)
        after[where[keep == 1]] = data[keep == 1]
        buffer_out(k, base, elem, after)
    return check


def buffer_out(k, base, elem, memory, ulps=0.0, absolute=0.0):
    k.outputs.append(Output(k.check, int(base.name[2:]), elem, values_of(memory, elem), ulps, absolute, np.arange(len(memory))))


def indirect(elem, shape):
    """Pointers from loaded offsets, pointers loaded from memory order, i64."""
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        memory = formats.random_bits(rng, elem, 300, "any")
        index = rng.integers(0, 300, shape).astype(np.int64)
        base = k.buffer(elem, memory, rng)
        i = k.input(rng, "i64", index)
        bases = k.splat(base, shape)
        p = k.same(bases, f"tile.addptr {bases}, {i} : {bases.type}, {i.type}")
        x = k(shape, elem, f"tile.load {p} : {p.type}")
        k.output(rng, x, values_of(memory[index], elem))
        # Through integers and other pointees: the bytes of the elements.
        size = formats.storage(elem).itemsize
        a = k(shape, "i64", f"tile.ptr_to_int {p} : {p.type} -> {type_of(shape, 'i64')}")
        q = k(shape, ptr("i8"), f"tile.int_to_ptr {a} : {a.type} -> {type_of(shape, ptr('i8'))}")
        last = k.constant(shape, "i32", size - 1)
        q = k.same(q, f"tile.addptr {q}, {last} : {q.type}, {last.type}")
        y = k(shape, "i8", f"tile.load {q} : {q.type}")
        k.output(rng, y, memory.view(np.int8).reshape(300, size)[:, size - 1][index])
        c = k(shape, ptr("i8"), f"tile.bitcast {p} : {p.type} -> {type_of(shape, ptr('i8'))}")
        y = k(shape, "i8", f"tile.load {c} : {c.type}")
        k.output(rng, y, memory.view(np.int8).reshape(300, size)[:, 0][index])
    return check


def far(shape, elem, offset_type):
    """Addresses beyond 2^31 elements, computed only."""
    def check(k, rng):
        base = k.buffer(elem, np.zeros(16, formats.storage(elem)), divisibility=16)
        if offset_type == "i64":
            offsets = rng.integers(-2 ** 40, 2 ** 40, shape)
        else:
            offsets = rng.choice(np.array([-2 ** 31, 2 ** 31 - 1, 2 ** 30, -1, 0, 2 ** 31 - 7]), shape)
        o = k.input(rng, offset_type, offsets.astype(formats.storage(offset_type)))
        bases = k.splat(base, shape)
        p = k.same(bases, f"tile.addptr {bases}, {o} : {bases.type}, {o.type}")
        a, b = (k(shape, "i64", f"tile.ptr_to_int {v} : {v.type} -> {type_of(shape, 'i64')}") for v in (p, bases))
        d = k.same(a, f"arith.subi {a}, {b} : {a.type}")
        k.output(rng, d, offsets.astype(np.int64) * formats.storage(elem).itemsize)
        # The same number, there and back, with constants in between.
        c = k.constant(shape, "i64", -(2 ** 33) - 5)
        p = k.same(p, f"tile.addptr {p}, {c} : {p.type}, {c.type}")
        a = k(shape, "i64", f"tile.ptr_to_int {p} : {p.type} -> {type_of(shape, 'i64')}")
        d = k.same(a, f"arith.subi {a}, {b} : {a.type}")
        k.output(rng, d, (offsets.astype(np.int64) - 2 ** 33 - 5) * formats.storage(elem).itemsize)
    return check


def duplicates(elem, shape):
    """A store of equal values to one address from all elements."""
    def check(k, rng):
        k.races = True
        memory = formats.random_bits(rng, elem, 4, "any")
        base = k.buffer(elem, memory, rng)
        bits = formats.random_bits(rng, elem, 1, "any")
        x = k.splat(k.input(rng, elem, bits.reshape(())), shape)
        bases = k.splat(base, shape)
        zero = k.constant(shape, "i32", 2)
        p = k.same(bases, f"tile.addptr {bases}, {zero} : {bases.type}, {zero.type}")
        k.do(f"tile.store {p}, {x} : {p.type}")
        after = memory.copy()
        after[2] = bits[0]
        buffer_out(k, base, elem, after)
    return check


def loads(options):
    checks = []
    for number, elem in enumerate(ELEMS):
        for j, shape in enumerate(SHAPES):
            modifiers = LOAD_MODIFIERS[(number + j) % len(LOAD_MODIFIERS)]
            checks.append((f"load-{elem}-{shape}-{modifiers}", load(elem, shape, modifiers)))
    return checks


def stores(options):
    checks = []
    for number, elem in enumerate(ELEMS):
        for j, shape in enumerate(SHAPES):
            modifiers = STORE_MODIFIERS[(number + j) % len(STORE_MODIFIERS)]
            checks.append((f"store-{elem}-{shape}-{modifiers}", store(elem, shape, modifiers)))
        checks.append((f"indirect-{elem}", indirect(elem, SHAPES[1:][number * 5 % 21])))
        checks.append((f"far-{elem}-i64", far(SHAPES[1:][number * 3 % 21], elem, "i64")))
        checks.append((f"far-{elem}-i32", far(SHAPES[1:][number * 7 % 21], elem, "i32")))
        checks.append((f"duplicates-{elem}", duplicates(elem, SHAPES[1:][number * 2 % 21])))
    return checks


# Atomics: name: (function of integers, signed).
RMW = {"add": (lambda a, b: a + b, True), "max": (max, True), "min": (min, True), "umax": (max, False), "umin": (min, False),
       "and": (lambda a, b: a & b, True), "or": (lambda a, b: a | b, True), "xor": (lambda a, b: a ^ b, True)}
ORDERS = ["", "sem(relaxed)", "sem(acquire)", "sem(release)", "sem(acq_rel) scope(cta)", "sem(relaxed) scope(sys)", "scope(sys)"]


def fold(kind, elem, old, value):
    """One atomic step on stored bits."""
    if kind == "xchg":
        return value
    if kind in ("fmax", "fmin") and elem in ("f32", "f64"):
        # In IEEE 754's total order, which is that of the bits but for negative numbers.
        top = 2 ** (formats.width(elem) - 1)
        def rank(bits):
            bits = int(bits) % (2 * top)
            return bits if bits < top else top - 1 - bits
        return (max if kind == "fmax" else min)(old, value, key=rank)
    if kind[0] == "f":
        a, b = float(decode(np.array([old]), elem)[0]), float(decode(np.array([value]), elem)[0])
        if kind == "fadd":
            result = a + b
        elif np.isnan(a) or np.isnan(b):
            result = b if np.isnan(a) else a
        else:
            result = max(a, b) if kind == "fmax" else min(a, b)
        return formats.encode(np.array(result), elem)
    function, signed = RMW[kind]
    modulus = 2 ** formats.width(elem)
    a, b = (int(v) if signed else int(v) % modulus for v in (old, value))
    return wrap(np.array(function(a, b), object), elem)


def atomic(kind, elem, shape, masked, collide, use, order):
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        cells = max(2, int(np.ceil(count / 3))) if collide else count
        def numbers(n):
            if not formats.is_float(elem):
                return formats.random_ints(rng, elem, n)
            values = rng.integers(-4, 5, n).astype(float)
            if kind in ("fmax", "fmin"):
                values = np.where(rng.random(n) < 0.1, np.copysign(np.nan, values), values + 0.5)
            return formats.encode(values, elem)
        memory, value = numbers(cells), numbers(count).reshape(shape)
        index = (rng.integers(0, cells, count) if collide else rng.permutation(count)).reshape(shape).astype(np.int32)
        base = k.buffer(elem, memory, rng)
        i, v = k.input(rng, "i32", index), k.input(rng, elem, value)
        bases = k.splat(base, shape)
        p = k.same(bases, f"tile.addptr {bases}, {i} : {bases.type}, {i.type}")
        keep, mask = np.ones(shape, np.uint8), ""
        if masked:
            m, keep = make_mask(k, rng, shape)
            mask = f" mask {m}"
        old = k(shape, elem, f"tile.atomic_rmw {kind} {p}, {v}{mask} {order} : {p.type}")
        after, before = memory.copy(), np.zeros(shape, memory.dtype)
        for at in np.ndindex(shape):
            if keep[at]:
                before[at] = after[index[at]]
                after[index[at]] = fold(kind, elem, after[index[at]], value[at])
        if use and not collide:
            zero = k.constant(shape, elem, 0)
            if masked:
                old = k.same(old, f"arith.select {m}, {old}, {zero} : {m.type}, {old.type}")
            k.output(rng, old, values_of(before, elem))
        elif use and kind in ("add", "or", "max", "fadd") and not masked:
            # The order is not known, but a last one saw nearly all: only the memory counts.
            k.output(rng, k(shape, "i1", f"arith.cmp{'f uno' if formats.is_float(elem) else 'i ne'}, {old}, {old} : {old.type}"),
                     np.zeros(shape, np.uint8))
        if not (kind == "xchg" and collide):
            buffer_out(k, base, elem, after)
    return check


def placed_atomic(kind, elem, shape, use, order):
    """Where strides have it so, neighbours in memory: one access may take several."""
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        numbers = lambda n: formats.encode(rng.integers(-4, 5, n).astype(float), elem)
        strides, start, size = k.place(rng, shape)
        memory, value = numbers(size), numbers(count).reshape(shape)
        base, v = k.buffer(elem, memory, rng), k.input(rng, elem, value)
        mask, keep = "", np.ones(shape, np.uint8)
        if rng.integers(0, 4):
            m, keep = make_mask(k, rng, shape)
            mask = f" mask {m}"
        p = k.pointers(base, elem, shape, strides, start, str(rng.choice(["i32", "i64"])))
        old = k(shape, elem, f"tile.atomic_rmw {kind} {p}, {v}{mask} {order} : {p.type}")
        after, before = memory.copy(), np.zeros(shape, memory.dtype)
        where = positions(shape, strides, start)
        for at in np.ndindex(shape):
            if keep[at]:
                before[at] = after[where[at]]
                after[where[at]] = fold(kind, elem, before[at], value[at])
        if use:
            if mask:
                zero = k.constant(shape, elem, 0)
                old = k.same(old, f"arith.select {m}, {old}, {zero} : {m.type}, {old.type}")
            k.output(rng, old, values_of(before, elem))
        buffer_out(k, base, elem, after)
    return check


def compare_and_swap(elem, shape, order):
    def check(k, rng):
        count = int(np.prod(shape, dtype=int))
        memory = formats.random_bits(rng, elem, count, "any")
        index = rng.permutation(count).reshape(shape).astype(np.int32)
        compare = np.where(rng.integers(0, 2, shape), memory[index], formats.random_bits(rng, elem, count, "any").reshape(shape))
        value = formats.random_bits(rng, elem, count, "any").reshape(shape)
        base = k.buffer(elem, memory, rng)
        i, c, v = k.input(rng, "i32", index), k.input(rng, elem, compare), k.input(rng, elem, value)
        bases = k.splat(base, shape)
        p = k.same(bases, f"tile.addptr {bases}, {i} : {bases.type}, {i.type}")
        old = k(shape, elem, f"tile.atomic_cas {p}, {c}, {v} {order} : {p.type}")
        k.output(rng, old, values_of(memory[index], elem))
        after = memory.copy()
        after[index] = np.where(memory[index] == compare, value, memory[index])
        buffer_out(k, base, elem, after)
    return check


def atomics(options):
    checks, number = [], 0
    kinds = [(kind, elem) for kind in list(RMW) + ["xchg"] for elem in ("i32", "i64")]
    kinds += [("fadd", e) for e in ("f16", "bf16", "f32", "f64")] + [(kind, e) for kind in ("fmax", "fmin") for e in ("f32", "f64")]
    kinds += [("xchg", e) for e in ("f16", "bf16", "f32", "f64")]
    for kind, elem in kinds:
        for masked in (False, True):
            for collide in (False, True):
                for use in (False, True):
                    number += 1
                    shape = SHAPES[number * 5 % len(SHAPES)]
                    if np.prod(shape) > 500 and number % 4:
                        shape = (96,)
                    order = ORDERS[number % len(ORDERS)]
                    checks.append((f"{kind}-{elem}-{shape}-{masked}-{collide}-{use}", atomic(kind, elem, shape, masked, collide, use, order)))
    for elem in ("f16", "bf16", "f32", "f64"):
        for shape in SHAPES[4:]:
            number += 1
            checks.append((f"placed-{elem}-{shape}", placed_atomic("fadd", elem, shape, bool(number % 3), ORDERS[number % len(ORDERS)])))
    for j, elem in enumerate(("i16", "i32", "i64", "f16", "bf16", "f32", "f64")):
        for shape in ((), (1,), (96,), (5, 3), (128,), (16, 16)):
            checks.append((f"cas-{elem}-{shape}", compare_and_swap(elem, shape, ORDERS[j % len(ORDERS)])))
    return checks


# Descriptors.

BOXES = [(16,), (64,), (256,), (1, 16), (8, 16), (16, 64), (64, 16), (3, 32), (5, 48), (2, 4, 32), (1, 8, 16), (16, 1, 16)]


def descriptor(k, rng, elem, box, padding, memory=None):
    """A described tensor whose edge cuts some boxes; also its NumPy mirror."""
    size = formats.storage(elem).itemsize
    shape = [int(rng.choice([max(1, b - 3), b, b + 5, 2 * b, 1])) for b in box]
    align = 16 // size
    strides, step = [0] * len(box), 1
    for axis in reversed(range(len(box))):
        strides[axis] = step
        step = -(-step * shape[axis] // align) * align if axis == len(box) - 1 else step * shape[axis]
        if rng.integers(0, 2):
            step += align
        step = -(-step // align) * align
    total = max(step, 32)
    if memory is None:
        memory = formats.random_bits(rng, elem, total, "any" if formats.width(elem) == 8 else "small")
    else:
        memory = memory(total)
    base = k.buffer(elem, memory, divisibility=16)
    extents = [k.scalar("i32", n) if rng.integers(0, 2) else k.constant((), "i32", n) for n in shape]
    steps = [k.constant((), "i64", 1) if s == 1 and a == len(box) - 1 else
             (k.scalar("i64", s, align) if rng.integers(0, 2) else k.constant((), "i64", s)) for a, s in enumerate(strides)]
    kind = f"!tile.desc<{'x'.join(map(str, box))}x{elem}>"
    d = k((), kind, f"tile.make_desc {base} shape[{', '.join(map(str, extents))}] strides[{', '.join(map(str, steps))}]"
                    f"{' padding(nan)' if padding == 'nan' else ''} : {base.type} -> {kind}")
    offsets = [int(rng.choice([0, 0, -3, 1, 16, shape[a] - 1, shape[a] + 4])) for a in range(len(box))]
    names = [k.scalar("i32", o) if rng.integers(0, 2) else k.constant((), "i32", o) for o in offsets]
    where = np.zeros(box, np.int64)
    inside = np.ones(box, bool)
    for axis, extent in enumerate(box):
        index = (np.arange(extent) + offsets[axis]).reshape([-1 if i == axis else 1 for i in range(len(box))])
        inside = inside & (index >= 0) & (index < shape[axis])
        where = where + index * strides[axis]
    return d, base, memory, f"[{', '.join(map(str, names))}]", np.where(inside, where, 0), inside


def squeezed(rng, box):
    """The box, or the box without some dimensions of extent 1."""
    shape = tuple(n for n in box if n != 1 or rng.integers(0, 2))
    return shape or box


def desc_load(elem, box, padding):
    def check(k, rng):
        d, base, memory, at, where, inside = descriptor(k, rng, elem, box, padding)
        shape = squeezed(rng, box)
        x = k(shape, elem, f"tile.desc_load {d}{at} : {d.type} -> {type_of(shape, elem)}")
        fill = formats.encode(np.array(np.nan), elem) if padding == "nan" else 0
        k.output(rng, x, values_of(np.where(inside, memory[where], fill).astype(memory.dtype).reshape(shape), elem))
    return check


def desc_store(elem, box):
    def check(k, rng):
        shape = squeezed(rng, box)
        bits = formats.random_bits(rng, elem, int(np.prod(box)), "any").reshape(box)
        x = k.input(rng, elem, bits.reshape(shape))
        d, base, memory, at, where, inside = descriptor(k, rng, elem, box, "zero")
        k.do(f"tile.desc_store {d}{at}, {x} : {d.type}, {x.type}")
        after = memory.copy()
        after[where[inside]] = bits[inside]
        buffer_out(k, base, elem, after)
    return check


def desc_reduce(kind, elem, box):
    def check(k, rng):
        def numbers(n):
            if not formats.is_float(elem):
                return formats.random_ints(rng, elem, n)
            return formats.encode(rng.integers(-4, 5, n) + (0.0 if kind == "fadd" else 0.5), elem)
        bits = numbers(int(np.prod(box))).reshape(box)
        x = k.input(rng, elem, bits)
        d, base, memory, at, where, inside = descriptor(k, rng, elem, box, "zero", numbers)
        k.do(f"tile.desc_reduce {kind} {d}{at}, {x} : {d.type}, {x.type}")
        after = memory.copy()
        for i in np.argwhere(inside):
            i = tuple(i)
            after[where[i]] = fold(kind, elem, after[where[i]], bits[i])
        buffer_out(k, base, elem, after)
    return check


def descriptors(options):
    checks = []
    for j, elem in enumerate(e for e in ELEMS if e != "i1"):
        for n, box in enumerate(BOXES):
            padding = "nan" if formats.is_float(elem) and (n + j) % 2 else "zero"
            checks.append((f"desc_load-{elem}-{box}-{padding}", desc_load(elem, box, padding)))
            if (n + j) % 2:
                checks.append((f"desc_store-{elem}-{box}", desc_store(elem, box)))
    kinds = [(kind, elem) for kind in RMW for elem in ("i32", "i64")]
    kinds += [("fadd", e) for e in ("f16", "bf16", "f32", "f64")] + [(kind, e) for kind in ("fmax", "fmin") for e in ("f16", "bf16", "f32", "f64")]
    for n, (kind, elem) in enumerate(kinds):
        box = BOXES[n % len(BOXES)]
        checks.append((f"desc_reduce-{kind}-{elem}-{box}", desc_reduce(kind, elem, box)))
    return checks


GROUPS = {"loads": loads, "stores": stores, "atomics": atomics, "descriptors": descriptors}
