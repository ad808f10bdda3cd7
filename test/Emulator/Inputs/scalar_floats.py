# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exact binary floats in Python's integers: (sign, mantissa, exponent), where the mantissa may be
NAN or INF, and their rounding to a format."""
import math

# Exponent bits, mantissa bits; e4m3 has no infinity and one NaN.
FORMATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "f32": (8, 23),
    "f64": (11, 52),
    "tf32": (8, 10),
    "e4m3": (4, 3),
    "e5m2": (5, 2)
}
NAN, INF = "nan", "inf"


def decode(bits, kind, ftz=False):
    """(sign, mantissa, exponent), where the mantissa may be NAN or INF."""
    exponent, mantissa = FORMATS[kind]
    sign = bits >> (exponent + mantissa) & 1
    e = bits >> mantissa & ((1 << exponent) - 1)
    m = bits & ((1 << mantissa) - 1)
    bias = (1 << (exponent - 1)) - 1
    if kind == "e4m3":
        if e == 15 and m == 7:
            return sign, NAN, 0
    elif e == (1 << exponent) - 1:
        return sign, NAN if m else INF, 0
    if e == 0:
        return sign, 0 if ftz else m, 1 - bias - mantissa
    return sign, m | 1 << mantissa, e - bias - mantissa


def largest(kind):
    exponent, mantissa = FORMATS[kind]
    return 0x7E if kind == "e4m3" else (((1 << exponent) - 1) << mantissa) - 1


def canonical_nan(kind):
    """f64's payload is open; comparisons let any NaN equal it."""
    return (1 << sum(FORMATS[kind])) - 1 if kind != "tf32" else 0x7FFFE000


def sign_bit(sign, kind):
    return sign << (31 if kind == "tf32" else sum(FORMATS[kind]))


def rounds_up(mode, sign, units, rest, half):
    """Whether what lies below the last place, `rest` of 2 * half, is rounded away from zero."""
    if not rest:
        return False
    if mode in ("rn", "rni"):
        return rest > half or (rest == half and units & 1)
    if mode == "rna":
        return rest >= half
    if mode in ("rz", "rzi"):
        return False
    return sign == (1 if mode in ("rm", "rmi") else 0)


def round_at(value, place, mode):
    """The magnitude in units of 2^place."""
    sign, m, e = value
    if place <= e:
        return m << (e - place)
    drop = place - e
    units, rest = m >> drop, m & ((1 << drop) - 1)
    return units + rounds_up(mode, sign, units, rest, 1 << (drop - 1))


def encode(value, kind, mode="rn", ftz=False, satfinite=False):
    sign, m, e = value
    exponent, mantissa = FORMATS[kind]
    shift = 13 if kind == "tf32" else 0
    most = largest(kind)
    if m == NAN:
        return canonical_nan(kind)
    infinite = most if satfinite or kind == "e4m3" else most + 1
    if m == INF:
        return sign_bit(sign, kind) | infinite << shift
    if m == 0:
        return sign_bit(sign, kind)
    least = 2 - (1 << (exponent - 1))
    top = m.bit_length() - 1 + e
    if ftz and top < least:
        # What is subnormal becomes zero, unless it reaches the normal numbers when it is rounded as
        # if exponents were unlimited.
        place = top - mantissa
        if round_at(value, place, mode).bit_length() - 1 + place < least:
            return sign_bit(sign, kind)
    place = max(top, least) - mantissa
    units = round_at(value, place, mode)
    biased = place + mantissa - least
    # A carry into the exponent, and the step from subnormal to normal, happen by themselves.
    code = units + (biased << mantissa)
    if code > most:
        stays = mode == "rz" or (mode == "rm" and not sign) or (mode == "rp" and sign)
        code = most if stays else infinite
    return sign_bit(sign, kind) | code << shift


def exact_sum(a, b, mode):
    """a + b; the sign of an exact zero depends on the rounding."""
    (sa, ma, ea), (sb, mb, eb) = a, b
    if NAN in (ma, mb) or (ma == mb == INF and sa != sb):
        return 0, NAN, 0
    if ma == INF or mb == INF:
        return (a if ma == INF else b)
    e = min(ea, eb)
    total = (-ma if sa else ma) << (ea - e)
    total += (-mb if sb else mb) << (eb - e)
    if total == 0:
        # Zeros of one sign keep it; else -0 is a result of rounding down alone.
        return sa if ma == mb == 0 and sa == sb else int(mode == "rm"), 0, 0
    return int(total < 0), abs(total), e


def exact_product(a, b):
    (sa, ma, ea), (sb, mb, eb) = a, b
    sign = sa ^ sb
    if NAN in (ma, mb):
        return 0, NAN, 0
    if INF in (ma, mb):
        return (0, NAN, 0) if 0 in (ma, mb) else (sign, INF, 0)
    return sign, ma * mb, ea + eb


def quotient(a, b):
    """a / b with enough bits, the last of which tells of a remainder."""
    (sa, ma, ea), (sb, mb, eb) = a, b
    sign = sa ^ sb
    if NAN in (ma, mb) or ma == mb == INF or ma == mb == 0:
        return 0, NAN, 0
    if ma == INF or mb == 0:
        return sign, INF, 0
    if mb == INF or ma == 0:
        return sign, 0, 0
    q, r = divmod(ma << 140, mb)
    return sign, q << 1 | (r != 0), ea - eb - 141


def square_root(a):
    sign, m, e = a
    if m == NAN or (sign and m != 0):
        return 0, NAN, 0
    if m in (INF, 0):
        return a
    m <<= 140 + (e & 1)
    e -= 140 + (e & 1)
    root = math.isqrt(m)
    return 0, root << 1 | (root * root != m), e // 2 - 1


def negated(a):
    return 1 - a[0], a[1], a[2]


def to_integral(value, mode):
    """Rounds to an integer, still as a float."""
    sign, m, e = value
    if m == 0:
        return sign, 0, 0
    if m in (NAN, INF) or e >= 0:
        return value
    units, rest = m >> -e, m & ((1 << -e) - 1)
    return sign, units + rounds_up(mode, sign, units, rest, 1 << (-e - 1)), 0


def order_key(value):
    """A number whose order is that of the floats; zeros are equal."""
    sign, m, e = value
    m = 1 if m == INF else m
    e = 5000 if value[1] == INF else e
    number = (m << (e + 1200))
    return -number if sign else number


def clamped(value):
    """.sat: into [0, 1], NaN to +0."""
    sign, m, _ = value
    if m == NAN or sign or m == 0:
        return 0, 0, 0
    if m == INF or order_key(value) > order_key((0, 1, 0)):
        return 0, 1, 0
    return value


def rectified(value):
    """.relu: negative values become +0, NaN stays."""
    return (0, 0, 0) if value[0] and value[1] != NAN else value
