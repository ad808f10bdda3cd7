"""Number formats, exactly: element types of kernels as raw bits and as values."""

import numpy as np

# Type: (exponent bits, mantissa bits).
FLOATS = {"f8E4M3FN": (4, 3), "f8E5M2": (5, 2), "f16": (5, 10), "bf16": (8, 7),
          "f32": (8, 23), "f64": (11, 52)}
INTS = {"i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def is_float(elem):
    return elem in FLOATS


def width(elem):
    return sum(FLOATS[elem]) + 1 if is_float(elem) else int(elem[1:])


def storage(elem):
    """NumPy type of an element in memory: unsigned bits for floats, i1 is a byte."""
    return np.dtype(f"u{width(elem) // 8}") if is_float(elem) else np.dtype(INTS[elem])


def bias(elem):
    return 2 ** (FLOATS[elem][0] - 1) - 1


def largest(elem):
    exponent, mantissa = FLOATS[elem]
    if elem == "f8E4M3FN":
        return 448.0
    return float(2.0 ** bias(elem) * (2 - 2.0 ** -mantissa))


def decode(bits, elem):
    """The values (float64) of raw bits."""
    if elem in ("f16", "f32", "f64"):
        with np.errstate(invalid="ignore"):
            return bits.view(elem.replace("f", "float")).astype(np.float64)
    exponent_bits, mantissa_bits = FLOATS[elem]
    bits = bits.astype(np.int64)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    sign = np.where(bits >> (mantissa_bits + exponent_bits) & 1, -1.0, 1.0)
    scale = np.ldexp(1.0, np.maximum(exponent, 1) - bias(elem) - mantissa_bits)
    value = sign * scale * (mantissa + np.where(exponent > 0, 1 << mantissa_bits, 0))
    top = exponent == (1 << exponent_bits) - 1
    if elem == "f8E4M3FN":
        return np.where(top & (mantissa == 7), np.nan, value)
    return np.where(top, np.where(mantissa == 0, sign * np.inf, np.nan), value)


def ulp(values, elem):
    """Distance of neighbouring numbers of the type around finite values."""
    mantissa = FLOATS[elem][1]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(values), values, 1.0))
    return np.ldexp(1.0, np.maximum(exponent - 1, 1 - bias(elem)) - mantissa)


def encode(values, elem, rounding="rtne", saturate=False):
    """Raw bits of float64 values, rounded once to the type."""
    values = np.asarray(values, np.float64)
    exponent_bits, mantissa_bits = FLOATS[elem]
    with np.errstate(all="ignore"):
        quantum = ulp(values, elem)
        ratio = np.abs(values) / quantum
        rounded = (np.rint(ratio) if rounding == "rtne" else np.floor(ratio)) * quantum
        if elem == "f64":
            rounded = np.abs(values)
        over = rounded > largest(elem)
        nan = np.isnan(values)
        _, exponent = np.frexp(np.where(over | nan, 1.0, rounded))
        scale = ulp(np.where(over | nan, 1.0, rounded), elem)
        number = np.where(over | nan, 0, rounded) / scale
        field = np.maximum(exponent - 1 + bias(elem), 1).astype(np.int64)
        number = number.astype(np.int64)
        hidden = 1 << mantissa_bits
        bits = np.where(number >= hidden, (field << mantissa_bits) + (number - hidden), number)
    mask = (1 << (exponent_bits + mantissa_bits)) - 1
    if elem == "f8E4M3FN":
        top, bad, limit = 0x7F, 0x7F, 0x7E
    else:
        top = ((1 << exponent_bits) - 1) << mantissa_bits
        bad, limit = top | (1 << (mantissa_bits - 1)), top - 1
    keep = saturate or (rounding == "rtz")
    finite_over = over & np.isfinite(values)
    bits = np.where(over, limit if saturate else top, bits)
    if keep and not saturate:
        bits = np.where(finite_over, limit, bits)
    bits = np.where(nan, bad, bits) & mask
    sign = (np.signbit(values) & ~nan).astype(np.uint64) << np.uint64(exponent_bits + mantissa_bits)
    return (bits.astype(np.uint64) | sign).astype(storage(elem))


def round_to(values, elem):
    return decode(encode(values, elem), elem)


def special_bits(elem):
    """Zeros, subnormal numbers, ones, limits, infinities and NaN, of both signs."""
    mantissa = FLOATS[elem][1]
    tiny = 2.0 ** (1 - bias(elem))
    values = [0.0, tiny * 2.0 ** -mantissa, tiny / 2, tiny, 0.5, 1.0, 1.5, 2.0, 3.0, largest(elem), np.inf, np.nan]
    values += [-v for v in values]
    return encode(np.array(values), elem)


def random_bits(rng, elem, count, kind="mixed"):
    """`mixed`: normal numbers, any bits and special values; `normal`, `any`,
    `small` (few exponents), `positive`."""
    if not is_float(elem):
        return random_ints(rng, elem, count)
    normal = encode(rng.standard_normal(count) * 2.0 ** rng.integers(-3, 4, count), elem)
    if kind == "normal":
        return normal
    if kind == "positive":
        return normal & storage(elem).type((1 << (width(elem) - 1)) - 1)
    if kind == "small":
        return encode(rng.standard_normal(count), elem)
    anything = rng.integers(0, 2 ** 63, count, dtype=np.uint64) * np.uint64(2) + rng.integers(0, 2, count, dtype=np.uint64)
    anything = (anything & np.uint64(2 ** width(elem) - 1)).astype(storage(elem))
    if kind == "any":
        return anything
    which = rng.integers(0, 3, count)
    return np.where(which == 0, normal, np.where(which == 1, anything, rng.choice(special_bits(elem), count)))


def random_ints(rng, elem, count):
    if elem == "i1":
        return rng.integers(0, 2, count).astype(np.uint8)
    bits = width(elem)
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    anything = rng.integers(low, high, count, dtype=np.int64, endpoint=True)
    small = rng.integers(-9, 10, count)
    special = rng.choice(np.array([0, 1, -1, 2, low, low + 1, high, high - 1], np.int64), count)
    which = rng.integers(0, 3, count)
    return np.where(which == 0, anything, np.where(which == 1, small, special)).astype(storage(elem))
