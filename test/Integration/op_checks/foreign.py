"""Inline assembly, device library functions and scalar regions for each element."""

import math

import numpy as np

from . import formats
from .elementwise import SHAPES, wrap
from .formats import decode
from .kernel import type_of

TILES = [s for s in SHAPES if s]


def bits_of(rng, elem, shape, kind="any"):
    return formats.random_bits(rng, elem, int(np.prod(shape, dtype=int)), kind).reshape(shape)


# Packed assembly: (elem, pack, text, constraints, operands, function of stored bits).
def byte_sum(a, b):
    return (a.astype(np.int64) + b).astype(a.dtype)


ASSEMBLY = {
    "add-i32": ("i32", 1, "add.s32 $0, $1, $2;", "=r,r,r", 2, byte_sum),
    "add-i64": ("i64", 1, "add.s64 $0, $1, $2;", "=l,l,l", 2, byte_sum),
    "xor-i8x4": ("i8", 4, "xor.b32 $0, $1, $2;", "=r,r,r", 2, lambda a, b: a ^ b),
    "xor-i8x2": ("i8", 2, "xor.b32 $0, $1, $2;", "=r,r,r", 2, lambda a, b: a ^ b),
    "xor-i8": ("i8", 1, "xor.b32 $0, $1, $2;", "=r,r,r", 2, lambda a, b: a ^ b),
    "not-i16x2": ("i16", 2, "not.b32 $0, $1;", "=r,r", 1, lambda a: ~a),
    "not-i16": ("i16", 1, "not.b32 $0, $1;", "=r,r", 1, lambda a: ~a),
    "and-i16x4": ("i16", 4, "and.b32 $0, $2, $4;\nand.b32 $1, $3, $5;", "=r,=r,r,r,r,r", 2, lambda a, b: a & b),
    "or-i8x8": ("i8", 8, "or.b32 $0, $2, $4;\nor.b32 $1, $3, $5;", "=r,=r,r,r,r,r", 2, lambda a, b: a | b),
    "neg-f16x2": ("f16", 2, "xor.b32 $0, $1, 0x80008000;", "=r,r", 1, lambda a: a ^ np.uint16(0x8000)),
    "neg-f8x4": ("f8E4M3FN", 4, "xor.b32 $0, $1, 0x80808080;", "=r,r", 1, lambda a: a ^ np.uint8(0x80)),
    # Arithmetic may replace a NaN by another one: move only.
    "copy-f32": ("f32", 1, "mov.b32 $0, $1;", "=f,f", 1, lambda a: a),
    "copy-f64": ("f64", 1, "mov.b64 $0, $1;", "=d,d", 1, lambda a: a),
    "mov-i32x2": ("i32", 2, "add.s32 $0, $2, 1;\nadd.s32 $1, $3, 1;", "=r,=r,r,r", 1, lambda a: (a.astype(np.int64) + 1).astype(np.int32)),
}


def assembly(name, shape, pure):
    elem, pack, text, constraints, count, function = ASSEMBLY[name]

    def check(k, rng):
        data = [bits_of(rng, elem, shape) for _ in range(count)]
        inputs = [k.input(rng, elem, d) for d in data]
        escaped = text.replace("\n", "\\0A")
        z = k.same(inputs[0], f"tile.inline_asm_elementwise {'pure ' if pure else ''}\"{escaped}\" constraints \"{constraints}\" "
                              f"{f'pack {pack} ' if pack > 1 else ''}({', '.join(map(str, inputs))}) : "
                              f"({', '.join([inputs[0].type] * count)}) -> {inputs[0].type}")
        want = function(*data)
        if formats.is_float(elem):
            # NaN payloads count here.
            as_int = {8: "i8", 16: "i16", 32: "i32", 64: "i64"}[formats.width(elem)]
            z = k(shape, as_int, f"tile.bitcast {z} : {z.type} -> {type_of(shape, as_int)}")
            want = want.view(formats.storage(as_int))
        k.output(rng, z, want)
    return check


def two_results(shape):
    """Assembly with results and operands of different types."""
    def check(k, rng):
        a, b = bits_of(rng, "i32", shape), rng.integers(0, 32, shape).astype(np.int32)
        x, y = k.input(rng, "i32", a), k.input(rng, "i32", b)
        wide = type_of(shape, "i64")
        s, t = k.multi([(shape, "i32"), (shape, "i64")],
                       f"tile.inline_asm_elementwise pure \"shl.b32 $0, $2, $3;\\0A\\09cvt.s64.s32 $1, $2;\" constraints \"=r,=l,r,r\" "
                       f"({x}, {y}) : ({x.type}, {y.type}) -> ({x.type}, {wide})")
        k.output(rng, s, wrap(a.astype(object) << b.astype(object), "i32"))
        k.output(rng, t, a.astype(np.int64))
    return check


LIBRARY = {
    "tanhf": ("f32", np.tanh, 1, 2), "erff": ("f32", np.vectorize(math.erf), 1, 2), "rintf": ("f32", np.rint, 1, 0),
    "fmodf": ("f32", np.fmod, 2, 0), "hypotf": ("f32", np.hypot, 2, 4), "tgamma": ("f64", np.vectorize(math.gamma), 1, 20),
    "pow": ("f64", np.power, 2, 3), "popc": ("i32", np.vectorize(lambda v: bin(v % 2 ** 32).count("1")), 1, 0),
    "clzll": ("i64", np.vectorize(lambda v: 64 - (v % 2 ** 64).bit_length()), 1, 0),
}


def library(name, shape):
    elem, function, count, ulps = LIBRARY[name]
    result = "i32" if name == "clzll" else elem

    def check(k, rng):
        if formats.is_float(elem):
            data = [formats.encode(rng.random(shape) * 4 + 0.1, elem) for _ in range(count)]
            values = [decode(d, elem) for d in data]
        else:
            data = [bits_of(rng, elem, shape)]
            values = [data[0].astype(object)]
        inputs = [k.input(rng, elem, d) for d in data]
        z = k(shape, result, f"tile.extern_elementwise pure \"__nv_{name}\"({', '.join(map(str, inputs))}) : "
                             f"({', '.join([inputs[0].type] * count)}) -> {type_of(shape, result)}")
        k.output(rng, z, np.asarray(function(*values)), ulps)
    return check


def mapped(elem, shape, pack):
    """Control flow in a region for each element: the number of halvings to reach zero."""
    def check(k, rng):
        a = np.abs(bits_of(rng, elem, shape).astype(np.int64) // 2).astype(formats.storage(elem))
        x = k.input(rng, elem, a)
        arguments = ", ".join(f"%e{i}: {elem}" for i in range(pack))
        lines, results = [f"%zero = arith.constant 0 : {elem}", f"%one = arith.constant 1 : {elem}"], []
        for i in range(pack):
            lines.append(f"%w{i}:2 = scf.while (%n{i} = %e{i}, %c{i} = %zero) : ({elem}, {elem}) -> ({elem}, {elem}) {{\n"
                         f"  %more{i} = arith.cmpi ne, %n{i}, %zero : {elem}\n  scf.condition(%more{i}) %n{i}, %c{i} : {elem}, {elem}\n"
                         f"}} do {{\n^bb0(%m{i}: {elem}, %d{i}: {elem}):\n  %h{i} = arith.shrui %m{i}, %one : {elem}\n"
                         f"  %s{i} = arith.addi %d{i}, %one : {elem}\n  scf.yield %h{i}, %s{i} : {elem}, {elem}\n}}")
            results.append(f"%w{i}#1")
        body = "\n  ".join(lines)
        z = k.same(x, f"tile.map_elementwise({x}) {f'pack {pack} ' if pack > 1 else ''}: ({x.type}) -> {x.type} {{\n^bb0({arguments}):\n  {body}\n"
                      f"  tile.yield {', '.join(results)} : {', '.join([elem] * pack)}\n}}")
        k.output(rng, z, np.vectorize(lambda v: int(v).bit_length())(a))
    return check


def mapped_two(shape):
    """Two operands and two results of different types, with a branch."""
    def check(k, rng):
        a, b = bits_of(rng, "i32", shape), formats.encode(rng.standard_normal(shape), "f32")
        x, y = k.input(rng, "i32", a), k.input(rng, "f32", b)
        body = ("{\n^bb0(%i: i32, %f: f32):\n  %zero = arith.constant 0 : i32\n  %neg = arith.cmpi slt, %i, %zero : i32\n"
                "  %r:2 = scf.if %neg -> (f32, i32) {\n    %n = arith.negf %f : f32\n    %j = arith.subi %zero, %i : i32\n"
                "    scf.yield %n, %j : f32, i32\n  } else {\n    scf.yield %f, %i : f32, i32\n  }\n  tile.yield %r#0, %r#1 : f32, i32\n}")
        s, t = k.multi([(shape, "f32"), (shape, "i32")], f"tile.map_elementwise({x}, {y}) : ({x.type}, {y.type}) -> ({y.type}, {x.type}) {body}")
        k.output(rng, s, np.where(a < 0, -1, 1) * decode(b, "f32"))
        k.output(rng, t, np.where(a < 0, (-a.astype(np.int64)), a).astype(np.int32))
    return check


def foreign(options):
    checks = []
    for j, name in enumerate(ASSEMBLY):
        pack = ASSEMBLY[name][1]
        for n in range(4):
            fitting = [s for s in TILES if np.prod(s) % pack == 0]
            shape = fitting[(5 * j + 7 * n) % len(fitting)]
            checks.append((f"asm-{name}-{shape}", assembly(name, shape, n % 2 == 0)))
        if pack == 1:
            checks.append((f"asm-{name}-scalar", assembly(name, (), True)))
    for j, name in enumerate(LIBRARY):
        checks.append((f"extern-{name}", library(name, TILES[3 * j % len(TILES)])))
        checks.append((f"extern-{name}-scalar", library(name, ())))
    for j, elem in enumerate(("i32", "i64", "i16", "i8")):
        for pack in (1, 2, 4):
            fitting = [s for s in TILES if np.prod(s) % pack == 0]
            shape = fitting[(5 * j + pack) % len(fitting)]
            checks.append((f"map-{elem}-{pack}-{shape}", mapped(elem, shape, pack)))
    for shape in ((5,), (128,), (12, 160), (2, 3, 4)):
        checks.append((f"asm-two-{shape}", two_results(shape)))
        checks.append((f"map-two-{shape}", mapped_two(shape)))
    return checks


GROUPS = {"foreign": foreign}
