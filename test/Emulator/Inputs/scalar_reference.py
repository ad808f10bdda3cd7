#!/usr/bin/env python3
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scalar_reference.py FOLDER RESULTS: checks results of scalar kernels against exact arithmetic.

FOLDER is what generate_scalar_ptx.py wrote, RESULTS what Differential.cpp wrote. The expected
values come from Python's integers alone: a float is sign, mantissa and exponent, and each result is
rounded once. Instructions that are not modelled here (memory, warps …) are left to the comparison
with hardware.
"""
import argparse
import array
import math
import os
import struct
import sys

from scalar_cases import width
from scalar_floats import (FORMATS, INF, NAN, canonical_nan, clamped, decode, encode, exact_product,
                           exact_sum, negated, order_key, quotient, rectified, sign_bit,
                           square_root, to_integral)

LANES = 1024
MASK = {n: (1 << n) - 1 for n in (1, 2, 4, 8, 16, 32, 64, 128)}

# Instructions -------------------------------------------------------------------------------------


class Instruction:
    """Opcode, modifiers and types of an instruction."""

    def __init__(self, text):
        self.text = text
        self.opcode, *self.modifiers = text.split()[0].split(".")
        self.types = [
            m for m in self.modifiers if m.removesuffix("x2") in FORMATS or m == "pred" or (
                m[0] in "usb" and m[1:].removesuffix("x2").isdigit())
        ]
        self.mode = next((m for m in self.modifiers
                          if m in ("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")),
                         None)

    def has(self, modifier):
        return modifier in self.modifiers


def signed(value, bits):
    value &= MASK[bits]
    return value - (1 << bits) if value >> (bits - 1) else value


def number(value, kind):
    """An integer operand as a Python integer."""
    bits = int(kind[1:])
    return signed(value, bits) if kind[0] == "s" else value & MASK[bits]


def saturated(value, bits, is_signed=True):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, MASK[bits])
    return max(low, min(high, value))


def halves_of(kind):
    """The element kind of a packed kind, or None."""
    return kind[:-2] if kind in ("f16x2", "bf16x2", "u16x2", "s16x2") else None


def packed(function):
    """A function on elements applied to both halves."""
    return lambda *v: function(*(x & 0xFFFF for x in v)) | function(*(x >> 16 & 0xFFFF
                                                                      for x in v)) << 16


def truncated_division(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def integer_function(i):
    """The function of an integer arithmetic instruction, or None."""
    kind = i.types[-1]
    element = halves_of(kind) or kind
    if element[0] not in "us":
        return None
    bits = int(element[1:])

    def of(function, result=bits):
        wrapped = lambda *v: function(*(number(x, element) for x in v)) & MASK[result]
        return packed(wrapped) if halves_of(kind) else wrapped

    limit = (lambda v: saturated(v, bits)) if i.has("sat") else (lambda v: v)
    low = (lambda v: max(v, 0)) if i.has("relu") else (lambda v: v)
    unary = {"abs": abs, "neg": lambda a: -a}
    binary = {
        "add": lambda a, b: limit(a + b),
        "sub": lambda a, b: limit(a - b),
        "min": lambda a, b: low(min(a, b)),
        "max": lambda a, b: low(max(a, b)),
        "div": lambda a, b: truncated_division(a, b) if b else -1,
        "rem": lambda a, b: a - b * truncated_division(a, b) if b else -1,
        "sad": lambda a, b, c: c + abs(a - b),
    }
    if i.opcode in unary:
        return of(unary[i.opcode])
    if i.opcode in binary:
        return of(binary[i.opcode])
    if i.opcode in ("mul", "mad"):
        shift = bits if i.has("hi") else 0
        result = 2 * bits if i.has("wide") else bits
        accumulator = element[0] + str(result)
        return lambda a, b, c=0: limit((number(a, element) * number(b, element) >> shift) + number(
            c, accumulator)) & MASK[result]
    if i.opcode in ("mul24", "mad24"):
        short = lambda v: signed(v << 8, 32) >> 8 if element[0] == "s" else v & 0xFFFFFF
        shift = 16 if i.has("hi") else 0
        # Bits 16 to 47 or 0 to 31 of the product, as a number of the type.
        part = lambda a, b: number(short(a) * short(b) >> shift, element)
        return lambda a, b, c=0: limit(part(a, b) + number(c, element)) & MASK[32]
    return None


def dot_product(i):
    t, u = i.types
    width, count = (8, 4) if i.opcode == "dp4a" else (16, 2)
    first = 2 if i.has("hi") else 0

    def run(a, b, c):
        for k in range(count):
            c += number(a >> (width * k), t[0] + str(width)) * number(b >>
                                                                      (8 * (k + first)), u[0] + "8")
        return c & MASK[32]

    return run


def carry_chain(text):
    """Two to three instructions; see carry_chains in scalar_cases.py."""
    parts = [Instruction(p) for p in text.split()]
    kind = parts[0].types[0]
    bits = int(kind[1:])

    def step(i, state, a, b, c=0):
        carry = state[0] if i.opcode.endswith("c") else 0
        if i.opcode.startswith("mad"):
            product = number(a, kind) * number(b, kind)
            a, b = (product >> (bits if i.has("hi") else 0)) & MASK[bits], c
        total = a - b - carry if i.opcode.startswith("sub") else a + b + carry
        if i.has("cc"):
            state[0] = total >> bits & 1
        return total & MASK[bits]

    def run(a, b, c):
        state = [0]
        if parts[0].opcode != "mad":
            d = step(parts[0], state, a, b)
            e = step(parts[1], state, b, c)
            return d, step(parts[2], state, e, a)
        d = step(parts[0], state, a, b, c)
        if len(parts) == 2:
            return d, step(parts[1], state, a, b, c)
        e = step(parts[1], state, b, a, c)
        return step(parts[2], state, d, e), e

    return run


def bit_field_extract(kind):
    bits = int(kind[1:])

    def run(a, b, c):
        # The hardware reads the whole operands for 64 bits; PTX allows only 0 to 255.
        position, length = (b, c) if bits == 64 else (b & 0xFF, c & 0xFF)
        length = min(length, bits)
        if length == 0:
            return 0
        value = number(a, kind) if kind[0] == "s" else a
        if kind[0] == "u":
            return value >> min(position, bits) & ((1 << length) - 1) & MASK[bits]
        field = value >> min(position, bits - 1)
        return signed_field(field, min(length, bits)) & MASK[bits]

    return run


def signed_field(value, length):
    value &= (1 << length) - 1
    return value - (1 << length) if value >> (length - 1) else value


def permute(i):
    tables = {
        "f4e": "3210 4321 5432 6543",
        "b4e": "5670 6701 7012 0123",
        "rc8": "0000 1111 2222 3333",
        "ecl": "3210 3211 3222 3333",
        "ecr": "0000 1110 2210 3210",
        "rc16": "1010 3232 1010 3232"
    }
    mode = next((m for m in i.modifiers if m in tables), None)

    def run(a, b, c):
        selectors = c if mode is None else int(tables[mode].split()[c & 3], 16)
        result = 0
        for k in range(4):
            selector = selectors >> (4 * k) & 15
            byte = (b << 32 | a) >> (8 * (selector & 7)) & 255
            if selector & 8:
                byte = 255 if byte & 128 else 0
            result |= byte << (8 * k)
        return result

    return run


def find_nth(mask, base, offset):
    offset = signed(offset, 32)
    if offset == 0:
        return base if mask >> base & 1 else MASK[32]
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [p for p in places if mask >> p & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else MASK[32]


def bit_function(i):
    kind = i.types[-1]
    bits = 1 if kind == "pred" else int(kind[1:]) if kind[1:].isdigit() else 32
    mask = MASK[bits]
    wraps = i.has("wrap")
    bound = (lambda v: v & 31) if wraps else (lambda v: min(v, 32))

    def highest(a):
        a = number(a, kind)
        a = ~a if a < 0 else a
        if a == 0:
            return MASK[32]
        return bits - a.bit_length() if i.has("shiftamt") else a.bit_length() - 1

    def funnel(a, b, c):
        both, n = b << 32 | a, bound(c)
        return ((both << n) >> 32 if i.has("l") else both >> n) & MASK[32]

    def extend(a, b):
        n = bound(b)
        if n == 0:
            return 0
        return (signed_field(a, n) if kind[0] == "s" else a & ((1 << n) - 1)) & MASK[32]

    def insert(a, b, c):
        position, length = c & 127, c >> 8 & 127
        field = (((1 << length) - 1) << position) & mask
        return b & ~field | (a << position) & field

    def lop3(a, b, c):
        table = int(i.text.split()[1], 16)
        result = 0
        for k in range(8):
            if table >> k & 1:
                result |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        return result & MASK[32]

    def lop3_combined(a, b, c):
        # The table 0x28 with the constant 3 as the third operand.
        result = sum(((0x28 >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (3 >> k & 1))) & 1) << k
                     for k in range(32))
        return result, int(bool(result) or c if i.has("or") else bool(result) and c)

    functions = {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "not": lambda a: ~a & mask,
        "cnot": lambda a: int(a == 0),
        "shl": lambda a, b: a << min(b, 64) & mask,
        "shr": lambda a, b: number(a, kind) >> min(b, 64) & mask,
        "popc": lambda a: bin(a).count("1"),
        "clz": lambda a: bits - a.bit_length(),
        "brev": lambda a: int(f"{a:0{bits}b}"[::-1], 2),
        "bfi": insert,
        "bfind": highest,
        "bfe": kind[0] in "us" and bit_field_extract(kind),
        "prmt": permute(i),
        "shf": funnel,
        "szext": extend,
        "bmsk": lambda a, b: ((1 << bound(b)) - 1) << bound(a) & MASK[32],
        "fns": find_nth,
        "lop3": lop3_combined if i.has("or") or i.has("and") else lop3,
    }
    if kind[0] in "ub" or kind == "pred" or i.opcode in ("shr", "bfe", "bfind", "szext"):
        return functions.get(i.opcode)
    return None


def minimum_maximum(i, kind):
    ftz = i.has("ftz")

    def run(a, b):
        x, y = decode(a, kind, ftz), decode(b, kind, ftz)
        sign = x[0] ^ y[0]
        if i.has("xorsign"):
            x, y = (0, *x[1:]), (0, *y[1:])
        if NAN in (x[1], y[1]):
            if i.has("NaN") or x[1] == y[1]:
                return canonical_nan(kind)
            result = y if x[1] == NAN else x
        else:
            # -0 is below +0.
            low, high = sorted((x, y), key=lambda v: (order_key(v), -v[0]))
            result = high if i.opcode == "max" else low
        if i.has("xorsign"):
            result = (sign, *result[1:])
        return encode(result, kind)

    return run


def float_function(i):
    kind = i.types[-1]
    element = halves_of(kind) or kind
    if element not in FORMATS:
        return None
    ftz, mode = i.has("ftz"), i.mode or "rn"

    def finish(value):
        if i.has("sat"):
            # The bounds are values of the format, so that rounding can follow.
            value = clamped(value)
        if i.has("relu"):
            value = rectified(value)
        return encode(value, element, mode, ftz)

    def on(function):
        run = lambda *v: finish(function(*(decode(x, element, ftz) for x in v)))
        return packed(run) if halves_of(kind) else run

    def fused(a, b, c):
        return exact_sum(exact_product(a, b), c, mode)

    def oob(a, b, c):
        if 0x7FF7 in (a & 0x7FFF, b & 0x7FFF):
            return 0
        return finish(fused(*(decode(x, element, ftz) for x in (a, b, c))))

    def sign_only(keep):

        def run(a):
            width = sum(FORMATS[element])
            rest = a & ((1 << width) - 1)
            if ftz and rest >> FORMATS[element][1] == 0:
                rest = 0
            return rest | (0 if keep is None else (a >> width & 1 ^ 1) << width)

        return packed(run) if halves_of(kind) else run

    functions = {
        "add": lambda: on(lambda a, b: exact_sum(a, b, mode)),
        "sub": lambda: on(lambda a, b: exact_sum(a, negated(b), mode)),
        "mul": lambda: on(exact_product),
        "fma": lambda: on(fused),
        "mad": lambda: on(fused),
        "div": lambda: on(quotient),
        "rcp": lambda: on(lambda a: quotient((0, 1, 0), a)),
        "sqrt": lambda: on(square_root),
        "abs": lambda: sign_only(None),
        "neg": lambda: sign_only(True),
        "copysign": lambda: lambda a, b: b & ~sign_bit(1, element) | a & sign_bit(1, element),
    }
    if i.has("approx") or i.has("full"):
        return None
    if i.opcode in ("min", "max"):
        run = minimum_maximum(i, element)
        return packed(run) if halves_of(kind) else run
    if i.has("oob"):
        return packed(oob) if halves_of(kind) else oob
    return functions[i.opcode]() if i.opcode in functions else None


def test_property(i):
    kind = i.types[-1]

    def run(a):
        _, m, _ = decode(a, kind)
        subnormal = m not in (NAN, INF, 0) and m < 1 << FORMATS[kind][1]
        return int({
            "finite": m not in (NAN, INF),
            "infinite": m == INF,
            "number": m != NAN,
            "notanumber": m == NAN,
            "normal": m not in (NAN, INF) and not subnormal,
            "subnormal": subnormal
        }[i.modifiers[0]])

    return run


def approximation(i):
    """What an approximation approximates, in double precision and rounded by the caller's rule."""
    kind = i.types[-1]
    element = halves_of(kind) or kind
    functions = {
        "ex2": lambda a: 2.0**a,
        "lg2": lambda a: math.log2(a),
        "rcp": lambda a: 1 / a,
        "rsqrt": lambda a: 1 / math.sqrt(a),
        "sqrt": math.sqrt,
        "sin": math.sin,
        "cos": math.cos,
        "tanh": math.tanh,
        "div": lambda a, b: a / b
    }

    def run(*v):
        values = [decode(x, element, i.has("ftz")) for x in v]
        if any(m in (NAN, INF, 0) for _, m, _ in values):
            return None
        try:
            result = functions[i.opcode](*(math.ldexp(-m if s else m, e) for s, m, e in values))
        except (ValueError, OverflowError):
            return None
        bits = struct.unpack("<Q", struct.pack("<d", result))[0]
        return encode(decode(bits, "f64"), element, ftz=i.has("ftz"))

    # What becomes of special values is left to the comparison with hardware.
    return None if halves_of(kind) else run


# Comparisons --------------------------------------------------------------------------------------


def relation(name):
    """A function of (x, y) on numbers, or of unordered operands given as None."""
    plain = {
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y
    }
    alias = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
    if name in ("num", "nan"):
        return lambda x, y: (x is not None and y is not None) == (name == "num")
    unordered = name.endswith("u") and name[:-1] in plain
    compare = plain[alias.get(name, name[:-1] if unordered else name)]
    return lambda x, y: unordered if x is None or y is None else compare(x, y)


def comparison(i):
    source = i.types[-1]
    element = halves_of(source) or source
    compare = relation(i.modifiers[0])
    combine = next((m for m in i.modifiers if m in ("and", "or", "xor")), None)

    def operand(value):
        if element in FORMATS:
            decoded = decode(value, element, i.has("ftz"))
            return None if decoded[1] == NAN else order_key(decoded)
        return number(value, element)

    def join(p, c):
        return {"and": p & c, "or": p | c, "xor": p ^ c, None: p}[combine]

    def setp(a, b, c=0):
        if halves_of(source):
            return tuple(
                int(compare(operand(a >> s & 0xFFFF), operand(b >> s & 0xFFFF))) for s in (0, 16))
        p = int(compare(operand(a), operand(b)))
        return (join(p, c), join(1 - p, c)) if combine else p

    true = {
        "f32": 0x3F800000,
        "f16": 0x3C00,
        "bf16": 0x3F80,
        "f16x2": 0x3C00,
        "bf16x2": 0x3F80,
        "u16": 0xFFFF,
        "s16": 0xFFFF
    }.get(i.types[0], MASK[32])

    def set_value(a, b, c=0):
        if halves_of(source):
            low, high = setp(a, b)
            return low * true | (high * true) << 16
        return join(int(compare(operand(a), operand(b))), 1 - c) * true

    return setp if i.opcode == "setp" else set_value


def selection(i):
    if i.opcode == "selp":
        return lambda a, b, c: a if c else b
    if i.types[-1] == "s32":
        return lambda a, b, c: a if signed(c, 32) >= 0 else b

    def run(a, b, c):
        decoded = decode(c, "f32", i.has("ftz"))
        return a if decoded[1] != NAN and order_key(decoded) >= 0 else b

    return run


# Conversions --------------------------------------------------------------------------------------


def float_to_integer(value, source, to, mode):
    bits = int(to[1:])
    sign, m, _ = value
    if m == NAN:
        # PTX ISA, "cvt": zero, or the lowest number's pattern where 64 bits are involved.
        return 1 << (bits - 1) if source == "f64" or bits == 64 else 0
    if m == INF:
        result = -(1 << 100) if sign else 1 << 100
    else:
        _, m, e = to_integral(value, mode)
        result = (-m if sign else m) << e
    return saturated(result, bits, to[0] == "s") & MASK[bits]


def nearest_tf32(a, satfinite):
    """NaN and infinity are cut off; .satfinite takes a unit from both."""
    special = a >> 23 & 0xFF == 0xFF
    result = (a if special else a + 0x1000) & ~0x1FFF
    return result - 0x2000 if satfinite and result >> 23 & 0xFF == 0xFF else result


def convert_one(i, to, source):
    mode = i.mode or "rn"

    def finish(value):
        if mode.endswith("i") and to in FORMATS:
            value = to_integral(value, mode)
        if i.has("sat"):
            value = clamped(value)
        if i.has("relu"):
            value = rectified(value)
        return encode(value, to, mode[:2] if mode != "rna" else mode,
                      i.has("ftz") and to == "f32", i.has("satfinite"))

    def from_float(a):
        if to == "tf32" and mode == "rna":
            return nearest_tf32(a, i.has("satfinite"))
        # .ftz does not concern the subnormal operands of f16.f32, whatever PTX says.
        value = decode(a, source, i.has("ftz") and source == "f32" and to != "f16")
        return finish(value) if to in FORMATS else float_to_integer(value, source, to, mode)

    def from_integer(a):
        value = number(a, source)
        if to in FORMATS:
            return finish((int(value < 0), abs(value), 0))
        bits = int(to[1:])
        return (saturated(value, bits, to[0] == "s") if i.has("sat") else value) & MASK[bits]

    return from_float if source in FORMATS else from_integer


def extended(function, to):
    """Results of 8 bits lie in a register of 16, extended as their type says."""
    if to in ("s8", "u8"):
        return lambda a: number(function(a), to) & MASK[16]
    return function


def conversion(i):
    if i.has("pack"):
        return pack_conversion(i)
    to, source = i.types
    element, source_element = to.removesuffix("x2"), source.removesuffix("x2")
    one = convert_one(i, element, source_element)
    bits = {"e4m3": 8, "e5m2": 8}.get(element, 16)
    source_bits = {"e4m3": 8, "e5m2": 8}.get(source_element, 16)
    if source.endswith("x2"):
        mask = MASK[source_bits]
        return lambda a: one(a & mask) | one(a >> source_bits & mask) << bits
    if to.endswith("x2"):
        # The first operand becomes the upper half.
        return lambda a, b: one(a) << bits | one(b)
    return extended(one, to)


def pack_conversion(i):
    to = next(m for m in i.modifiers if m[0] in "us" and m[1:].isdigit())
    bits = int(to[1:])
    one = lambda v: saturated(signed(v, 32), bits, to[0] == "s") & MASK[bits]
    return lambda a, b, c=0: (c << (2 * bits) | one(a) << bits | one(b)) & MASK[32]


# Checking -----------------------------------------------------------------------------------------


def reference(group, text):
    """The function that gives a lane's results from its operands, or None."""
    if group == "carry chains":
        return carry_chain(text)
    i = Instruction(text)
    if group == "approximations":
        return approximation(i)
    if group.startswith("cvt"):
        return conversion(i)
    if group == "comparison and selection":
        return comparison(i) if i.opcode in ("set", "setp") else selection(i)
    if group == "bits and shifts":
        return bit_function(i)
    if group.endswith("arithmetic"):
        if i.opcode in ("dp4a", "dp2a"):
            return dot_product(i)
        if i.opcode == "testp":
            return test_property(i)
        return float_function(i) or integer_function(i)
    return None


def operand_mask(kind):
    return MASK[1] if kind == "pred" else MASK[width(kind)]


def is_nan(bits, kind):
    return kind in FORMATS and decode(bits >> 13 if kind == "tf32" else bits, kind)[1] == NAN


def is_near(got, want, kind, rule):
    if want is None:
        return True
    x, y = decode(got, kind), decode(want, kind)
    if INF in (x[1], y[1]) or NAN in (x[1], y[1]):
        # At the edge of the range one may be infinite already.
        return x[1] == y[1] or got in (want - 1, want + 1)
    v, w = (math.ldexp(-m if s else m, e) for s, m, e in (x, y))
    return abs(v - w) <= max(float(rule[1]) * abs(w), float(rule[2]))


def agrees(got, want, kind, rule):
    if got == want:
        return True
    if halves_of(kind) and rule[0] != "bits":
        return all(
            agrees(got >> s & 0xFFFF, want >> s & 0xFFFF, halves_of(kind), rule) for s in (0, 16))
    if rule[0] == "near":
        return is_near(got, want, kind, rule)
    return rule[0] == "nan" and is_nan(got, kind) and is_nan(want, kind)


def check_case(function, columns, kinds, outs, rule, results, threads):
    """The first lane that differs, as text, or None."""
    masks = [operand_mask(k) for k in kinds]
    columns = [[v & m for v in column] for column, m in zip(columns, masks)]
    for lane, operands in enumerate(zip(*columns)):
        if lane == threads:
            break
        want = function(*operands)
        want = want if isinstance(want, tuple) else (want, )
        for kind, got, value in zip(outs, results[lane], want):
            if not agrees(got, value, kind, rule):
                text = ", ".join(f"{v:#x}" for v in operands)
                return f"lane {lane} of ({text}): {got:#x}, expected {value:#x}"
    return None


def read_results(path):
    results = {}
    with open(path, "rb") as file:
        while len(sizes := file.read(8)) == 8:
            length, words = struct.unpack("<II", sizes)
            name = file.read(length).decode().strip()
            results[name] = file.read(4 * words)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("results")
    parser.add_argument("--first", type=int, metavar="N", help="check the first N kernels only")
    arguments = parser.parse_args()
    words = array.array("Q")
    with open(os.path.join(arguments.folder, "scalar_inputs.bin"), "rb") as file:
        words.frombytes(file.read())
    results = read_results(arguments.results)
    checked = failures = 0
    with open(os.path.join(arguments.folder, "scalar.txt"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][:arguments.first]
    for text, _, _, threads, number_of_set, _, outs, rule, group, ins, _ in lines:
        function = reference(group, text)
        if function is None:
            continue
        first = int(number_of_set) * 3 * LANES
        kinds, outs = ins.split(), outs.split()
        columns = [words[first + k * LANES:first + (k + 1) * LANES] for k in range(len(kinds))]
        layout = "<" + "".join("Q" if k.endswith("64") else "I" for k in outs)
        found = check_case(function, columns, [k.split(":")[0] for k in kinds], outs, rule.split(),
                           list(struct.iter_unpack(layout, results[text])), int(threads))
        checked += 1
        if found:
            failures += 1
            print(f"{text}: {found}")
    print(f"{checked} of {len(lines)} kernels checked, {failures} differ")
    return failures != 0 or checked == 0


if __name__ == "__main__":
    sys.exit(main())
