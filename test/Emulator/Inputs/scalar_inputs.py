# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Input values of the scalar kernels, by kind: special values crossed with each other, then random
bits and values that make rounding interesting. Deterministic on every machine and Python."""
import math
import random
import struct

from scalar_cases import width

LANES = 1024

# Format: exponent bits, mantissa bits.
FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
NARROW = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 10),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
    "f32": (8, 23)
}


class Source(random.Random):
    """Random numbers that are the same in every version of Python."""

    def below(self, count):
        bits = count.bit_length()
        value = self.getrandbits(bits)
        while value >= count:
            value = self.getrandbits(bits)
        return value

    def randrange(self, first, end=None):
        return self.below(first) if end is None else first + self.below(end - first)

    def choice(self, values):
        return values[self.below(len(values))]

    def uniform(self, low, high):
        return low + (high - low) * self.random()


def float_bits(value, kind):
    """The nearest encoding of a Python float, infinite on overflow."""
    if kind == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind in ("f32", "bf16"):
        try:
            word = struct.unpack("<I", struct.pack("<f", value))[0]
        except OverflowError:
            word = 0x7F800000 | (0x80000000 if value < 0 else 0)
        return word if kind == "f32" else word >> 16
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 | (0x8000 if value < 0 else 0)


def float_value(bits, kind):
    if kind == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits << 16 if kind == "bf16" else bits))[0]


def float_specials(kind):
    exponent, mantissa = FLOATS[kind]
    sign = 1 << (exponent + mantissa)
    infinity = ((1 << exponent) - 1) << mantissa
    one = ((1 << (exponent - 1)) - 1) << mantissa
    quiet = 1 << (mantissa - 1)
    positive = [
        0, 1, (1 << mantissa) - 1, 1 << mantissa, one, one + 1, one - 1, one + quiet,
        one + (1 << mantissa), infinity - 1, infinity
    ]
    nans = [
        infinity | quiet, infinity | quiet | 5, infinity | 1, sign | infinity | quiet | 3, sign - 1
    ]
    return positive + [sign | v for v in positive] + nans


def is_special(bits, kind):
    """Whether a float is infinite or NaN."""
    exponent, mantissa = FLOATS[kind]
    return bits >> mantissa & ((1 << exponent) - 1) == (1 << exponent) - 1


def integer_specials(bits):
    top = 1 << (bits - 1)
    return [
        0, 1, 2, 3, 7, top - 1, top, top + 1,
        2 * top - 1, 2 * top - 2, 2 * top - 8, 1 << (bits // 2), (1 << (bits // 2)) - 1,
        (1 << (bits // 2)) + 1, top >> 1, 0x5555555555555555 & (2 * top - 1),
        0x0123456789ABCDEF & (2 * top - 1)
    ]


def random_integer(source, bits):
    """All magnitudes are likely, of either sign."""
    value = source.getrandbits(bits) >> source.randrange(bits)
    return value if source.getrandbits(1) else -value & ((1 << bits) - 1)


def random_float(source, kind):
    exponent, mantissa = FLOATS[kind]
    if source.getrandbits(2) == 0:
        return source.getrandbits(1 + exponent + mantissa)
    # Near one, so that sums cancel and round.
    middle = (1 << (exponent - 1)) - 1 + source.randrange(-4, 5)
    bits = source.getrandbits(mantissa)
    if source.getrandbits(1):
        bits &= -1 << source.randrange(mantissa)
    return source.getrandbits(1) << (exponent + mantissa) | middle << mantissa | bits


def narrow_float(source, kind):
    """Around the values, and the middles between values, of a narrower format."""
    formats = [n for n in NARROW if NARROW[n][1] < FLOATS[kind][1]]
    if not formats or source.getrandbits(3) == 0:
        return random_float(source, kind)
    exponent, mantissa = NARROW[source.choice(formats)]
    bias = (1 << (exponent - 1)) - 1
    units = source.getrandbits(mantissa + 1) | 1 << mantissa
    if source.getrandbits(2) == 0:
        units = source.getrandbits(mantissa + 1)
        e = 1 - bias
    elif source.getrandbits(2) == 0:
        units, e = (2 << mantissa) - 1 - source.getrandbits(1), source.choice([bias, bias + 1])
    else:
        e = source.randrange(-bias, bias + 1)
    value = math.ldexp(units + source.choice([0, 0.5, 0.5, 0.25, 0.75]), e - mantissa)
    bits = float_bits(value, kind) + source.choice([0, 0, 0, 1, -1])
    sign = source.getrandbits(1) << sum(FLOATS[kind])
    return max(bits, 0) | sign


def whole_float(source, kind):
    """Around integers, their halves and the limits of integer types."""
    choice = source.randrange(4)
    if choice == 0:
        return random_float(source, kind)
    if choice == 1:
        value = source.randrange(-40, 41) / 4
    elif choice == 2:
        value = math.ldexp(1, source.choice([7, 8, 15, 16, 31, 32, 63, 64]))
        value *= source.choice([1, -1])
        value += source.choice([0, -1, 1, 0.5, -0.5])
    else:
        value = source.randrange(-1 << 40, 1 << 40) / (1 << source.randrange(42))
    return float_bits(value, kind) ^ source.choice([0, 0, 1])


def ranged_float(source, kind, variant):
    if variant == "positive":
        return random_float(source, kind) & ~(1 << sum(FLOATS[kind]))
    if variant == "exponent":
        return float_bits(source.uniform(-130, 130), kind)
    if variant == "angle":
        value = source.uniform(-math.pi, math.pi)
        return float_bits(value * 2.0**-source.choice([0, 0, 1, 4, 10, 20]), kind)
    if variant == "turns":
        return float_bits(source.uniform(-100 * math.pi, 100 * math.pi), kind)
    mantissa = FLOATS[kind][1]
    return source.getrandbits(1) << 31 | source.randrange(1,
                                                          253) << mantissa | source.getrandbits(23)


def tie_integer(source, bits):
    """Integers whose rounding to 8, 11, 24 or 53 bits is a tie or nearly one."""
    kept = source.choice([8, 11, 24, 53])
    if source.getrandbits(2) == 0 or kept + 2 >= bits:
        return random_integer(source, bits)
    value = (source.getrandbits(kept) | 1 << (kept - 1)) << 1 | 1
    shift = source.randrange(bits - kept - 1)
    value = (value << shift) + source.choice([0, 0, -1, 1])
    value &= (1 << bits) - 1
    return value if source.getrandbits(1) else -value & ((1 << bits) - 1)


def special_values(name, variant):
    if variant in ("angle", "turns", "exponent", "divisor"):
        return [
            v for v in (float_bits(x, name) for x in (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0))
            if variant != "divisor" or v & 0x7FFFFFFF
        ]
    if variant == "finite":
        return [v for v in float_specials(name) if not is_special(v, name)]
    if variant == "oob":
        return [0x7FF7, 0xFFF7, 0x7FFF, 0x7FF0, 0x7FFE] + float_specials(name)
    if name in FLOATS:
        return float_specials(name)
    if variant == "shift":
        return [
            0, 1, 2, 5, 7, 8, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 127, 128, 255, 256,
            0x80000000, 0xFFFFFFFF
        ]
    if variant == "lane":
        return [0, 1, 5, 16, 30, 31]
    if variant == "count":
        return [0, 1, 2, 3, 31, 32, 33, -1 & 0xFFFFFFFF, -2 & 0xFFFFFFFF, -32 & 0xFFFFFFFF]
    if variant == "few":
        return [0, 1, 0x80000000, 0xFFFFFFFF]
    return integer_specials(width(name))


def random_value(source, name, variant):
    if variant == "narrow":
        return narrow_float(source, name)
    if variant == "whole":
        return whole_float(source, name)
    if variant in ("positive", "exponent", "angle", "turns", "divisor"):
        return ranged_float(source, name, variant)
    if name in FLOATS:
        value = random_float(source, name)
        return value & 0x3FFF if variant == "finite" and is_special(value, name) else value
    if variant == "shift":
        return source.randrange(70)
    if variant == "lane":
        return source.randrange(32)
    if variant == "count":
        return source.randrange(-34, 35) & 0xFFFFFFFF
    if variant == "few":
        return source.choice([0, 0, 1 << source.randrange(32)])
    if variant == "ties":
        return tie_integer(source, width(name))
    return random_integer(source, width(name))


def packed_parts(name):
    """The element kind and count of packed kinds, else the kind itself."""
    if name in ("f16x2", "bf16x2"):
        return name[:-2], 2
    if name in ("u16x2", "s16x2"):
        return "u16", 2
    return name, 1


def column(source, kind, index, count):
    """Operand `index` of `count`: specials crossed with those of the others, then random values."""
    name, _, variant = kind.partition(":")
    if name == "pred":
        return [source.getrandbits(1) for _ in range(LANES)]
    if name in ("e4m3x2", "e5m2x2"):
        return [(i * 257 + i // 256 * 4096) & 0xFFFF for i in range(LANES)]
    element, parts = packed_parts(name)
    if element == "tf32":
        element = "f32"
    values = special_values(element, variant)
    bits = width(element)
    result = []
    for i in range(LANES):
        lane = 0
        for part in range(parts):
            if count == 1 or index > 1:
                crossed = i < len(values) * (1 if count == 1 else 24)
                position = i if count == 1 else i * 5 + i // len(values)
            else:
                crossed = i < 576
                position = i if index == 0 else i // 24
            if part == 1:
                position = position * 7 + 3
            value = values[position %
                           len(values)] if crossed else random_value(source, element, variant)
            lane |= (value & ((1 << bits) - 1)) << (bits * part)
        result.append(lane)
    return result


def make_close(columns, source):
    """Lets many lanes of the second operand equal the first, or differ by one."""
    for i in range(LANES // 2, LANES):
        columns[1][i] = columns[0][i] + source.choice([0, 1, -1])


def make_sums(columns, kind, source):
    """Lets the third operand nearly cancel the product of the others."""
    element, parts = packed_parts(kind)
    bits = width(element)
    mask = (1 << bits) - 1
    for i in range(LANES // 2, LANES):
        lane = 0
        for part in range(parts):
            a, b = (float_value(columns[k][i] >> (bits * part) & mask, element) for k in (0, 1))
            product = -a * b
            if source.getrandbits(1):
                product *= 2.0**source.randrange(-30, 31)
            value = float_bits(product, element) + source.choice([0, 0, 1, -1, 2])
            lane |= (value & mask) << (bits * part)
        columns[2][i] = lane


def make_underflows(columns, kind, source):
    """Lets products and quotients, in turn, be the smallest normal number or nearly so."""
    element, parts = packed_parts(kind)
    bits, mantissa = width(element), FLOATS[element][1]
    least = float_value(1 << mantissa, element)
    for i in range(LANES - 128, LANES):
        lane = other = 0
        for part in range(parts):
            near = random_float(source, element) & ~(3 << (bits - 2)) | 1 << (bits - 3)
            near ^= 0 if i % 2 else 3 << (bits - 3)
            value = float_value(near, element)
            if i % 2:
                result = float_bits(least / value, element) + source.choice([0, 0, 1, -1])
            else:
                near, result = float_bits(least * value, element) + source.choice([0, 1, -1]), near
            lane |= (near & ((1 << bits) - 1)) << (bits * part)
            other |= result << (bits * part)
        columns[0][i], columns[1][i] = lane, other
        if len(columns) > 2:
            zeros = source.choice([0, 1 << (bits - 1), 1])
            columns[2][i] = sum(zeros << (bits * part) for part in range(parts))


def input_set(kinds):
    """Three columns of 64-bit slots for the kinds of up to three operands."""
    source = Source(" ".join(kinds))
    columns = [column(source, kind, i, len(kinds)) for i, kind in enumerate(kinds)]
    if len(kinds) > 1 and kinds[1].endswith(":close"):
        make_close(columns, source)
    if len(kinds) > 2 and kinds[2].endswith(":sum"):
        make_sums(columns, kinds[2].split(":")[0], source)
    if len(kinds) > 1 and packed_parts(kinds[0])[0] in FLOATS and kinds[0] == kinds[1]:
        make_underflows(columns, kinds[0], source)
    columns += [[0] * LANES] * (3 - len(columns))
    # What lies above a narrow operand must not matter, so it is not zero.
    mask = (1 << 64) - 1
    result = []
    for i, values in enumerate(columns):
        bits = width(kinds[i]) if i < len(kinds) else 64
        above = (0xA5C3960F5A3C69F0 << bits) & mask
        result.append([(v & ((1 << bits) - 1)) | above for v in values])
    return result
