"""Chains of ops on shapes: elements must end up where NumPy puts them."""

import numpy as np

from . import formats
from .kernel import type_of

ELEMS = ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2")
STARTS = [(1,), (2,), (3,), (5,), (8,), (64,), (96,), (100,), (128,), (160,), (256,), (1024,), (1, 1), (3, 5), (2, 2),
          (16, 16), (32, 8), (1, 64), (64, 1), (12, 40), (7, 33), (100, 10), (128, 2), (2, 3, 4), (3, 5, 7), (4, 8, 16),
          (16, 2, 16), (1, 1, 5), (16, 1, 12)]
LIMIT = 4096


def factors(rng, count):
    """A random shape of `count` elements."""
    rank = int(rng.integers(1, 4))
    shape, rest = [], count
    for _ in range(rank - 1):
        divisors = [d for d in range(1, rest + 1) if rest % d == 0]
        d = int(rng.choice(divisors))
        shape.append(d)
        rest //= d
    return tuple(shape) + (rest,)


def step(k, rng, value, bits):
    """One random op: the value and its bits after it."""
    shape, elem = value.shape, value.elem
    choice = str(rng.choice(["reshape", "trans", "expand", "broadcast", "join", "split", "cat", "gather", "mix"]))
    rank = len(shape)
    if choice == "reshape":
        new = factors(rng, bits.size)
        return k(new, elem, f"tile.reshape {value} : {value.type} -> {type_of(new, elem)}"), bits.reshape(new)
    if choice == "trans" and rank > 1:
        order = [int(i) for i in rng.permutation(rank)]
        new = bits.transpose(order)
        return k(new.shape, elem, f"tile.trans {value} {order} : {value.type} -> {type_of(new.shape, elem)}"), new
    if choice == "expand" and rank < 3:
        axis = int(rng.integers(0, rank + 1))
        return k.expand(value, axis), np.expand_dims(bits, axis)
    if choice == "broadcast" and 1 in shape:
        factor = [int(rng.choice([1, 2, 3, 8])) if n == 1 else n for n in shape]
        if np.prod(factor) <= LIMIT:
            return k.broadcast(value, tuple(factor)), np.broadcast_to(bits, factor)
    if choice == "join" and rank < 4 and bits.size * 2 <= LIMIT:
        other = k.same(value, f"arith.select {k.constant(shape, 'i1', 'true')}, {value}, {value} : {type_of(shape, 'i1')}, {value.type}")
        new = shape + (2,)
        return k(new, elem, f"tile.join {value}, {other} : {value.type} -> {type_of(new, elem)}"), np.stack([bits, bits], -1)
    if choice == "split" and rank > 1 and shape[-1] == 2:
        halves = k.multi([(shape[:-1], elem)] * 2, f"tile.split {value} : {value.type} -> {type_of(shape[:-1], elem)}")
        which = int(rng.integers(0, 2))
        return halves[which], bits[..., which]
    if choice == "cat" and bits.size * 2 <= LIMIT:
        axis = int(rng.integers(0, rank))
        new = shape[:axis] + (2 * shape[axis],) + shape[axis + 1:]
        return (k(new, elem, f"tile.cat {value}, {value} axis {axis} : {value.type} -> {type_of(new, elem)}"),
                np.concatenate([bits, bits], axis))
    if choice == "gather":
        axis = int(rng.integers(0, rank))
        count = int(rng.choice([1, 2, 3, 8, 33]))
        new = shape[:axis] + (count,) + shape[axis + 1:]
        if np.prod(new) <= LIMIT:
            index_type = str(rng.choice(["i8", "i16", "i32", "i64"]))
            index = rng.integers(0, min(shape[axis], 127), new)
            where = k.input(rng, index_type, index.astype(formats.storage(index_type)))
            return (k(new, elem, f"tile.gather {value}[{where}] axis {axis} : {value.type}, {where.type} -> {type_of(new, elem)}"),
                    np.take_along_axis(bits, index, axis))
    if choice == "mix":
        mask = rng.integers(0, 2, shape).astype(np.uint8)
        other = formats.random_bits(rng, elem, bits.size, "any").reshape(shape)
        m, o = k.input(rng, "i1", mask), k.input(rng, elem, other)
        return k.same(value, f"arith.select {m}, {value}, {o} : {m.type}, {value.type}"), np.where(mask, bits, other)
    return value, bits


def want(bits, elem):
    return formats.decode(np.ascontiguousarray(bits), elem) if formats.is_float(elem) else bits


def chain(elem, shape):
    def check(k, rng):
        bits = formats.random_bits(rng, elem, int(np.prod(shape)), "any").reshape(shape)
        value = k.input(rng, elem, bits)
        for _ in range(int(rng.integers(3, 8))):
            value, bits = step(k, rng, value, bits)
            if rng.integers(0, 4) == 0:
                k.output(rng, value, want(bits, elem))
        k.output(rng, value, want(bits, elem))
    return check


def join_two(elem, shape):
    """join, then trans or reshape, then split: complex numbers, interleaving."""
    def check(k, rng):
        a, b = (formats.random_bits(rng, elem, int(np.prod(shape)), "any").reshape(shape) for _ in range(2))
        x, y = k.input(rng, elem, a), k.input(rng, elem, b)
        new = shape + (2,)
        p = k(new, elem, f"tile.join {x}, {y} : {x.type} -> {type_of(new, elem)}")
        both = np.stack([a, b], -1)
        flat = (both.size,)
        q = k(flat, elem, f"tile.reshape {p} : {p.type} -> {type_of(flat, elem)}")
        k.output(rng, q, want(both.reshape(flat), elem))
        if flat[0] % 4 == 0:
            r = k((flat[0] // 2, 2), elem, f"tile.reshape {q} : {q.type} -> {type_of((flat[0] // 2, 2), elem)}")
            half = (flat[0] // 2,)
            s, t = k.multi([(half, elem)] * 2, f"tile.split {r} : {r.type} -> {type_of(half, elem)}")
            k.output(rng, s, want(both.reshape(-1, 2)[:, 0], elem))
            k.output(rng, t, want(both.reshape(-1, 2)[:, 1], elem))
    return check


def reorder(elem, shape):
    """reshape reorder: any order, so that sorted elements are compared."""
    def check(k, rng):
        new = factors(rng, int(np.prod(shape)))
        bits = np.full(shape, 3, np.int32)
        x = k.input(rng, "i32", bits)
        z = k(new, "i32", f"tile.reshape {x} reorder : {x.type} -> {type_of(new, 'i32')}")
        k.output(rng, z, bits.reshape(new))
    return check


def dense(elem, shape):
    """A constant of different elements."""
    def check(k, rng):
        count = int(np.prod(shape))
        bits = formats.random_bits(rng, elem, count, "any").reshape(shape)

        def nest(a):
            if a.ndim == 0:
                if elem == "i1":
                    return "true" if a else "false"
                return f"0x{int(a):0{formats.width(elem) // 4}X}" if formats.is_float(elem) else str(int(a))
            return "[" + ", ".join(nest(b) for b in a) + "]"
        z = k(shape, elem, f"arith.constant dense<{nest(bits)}> : {type_of(shape, elem)}")
        k.output(rng, z, want(bits, elem))
    return check


def shapes(options):
    checks = []
    for i in range(150):
        elem, shape = ELEMS[i % len(ELEMS)], STARTS[i % len(STARTS)]
        checks.append((f"chain-{i}-{elem}-{'x'.join(map(str, shape))}", chain(elem, shape)))
    for i, shape in enumerate(STARTS):
        checks.append((f"join-{i}", join_two(ELEMS[i % len(ELEMS)], shape)))
        checks.append((f"reorder-{i}", reorder("i32", shape)))
    for i, elem in enumerate(ELEMS):
        for shape in ((4,), (3, 5), (2, 16)):
            checks.append((f"dense-{elem}-{len(shape)}-{shape[0]}", dense(elem, shape)))
    return checks


GROUPS = {"shapes": shapes}
