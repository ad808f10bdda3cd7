# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type promotion, broadcasting, casts and operators.

A Python number (from a literal or a constexpr) is a weak operand: it takes the type of
the tile that it meets, unless its kind (bool < int < float) is higher.
"""

from __future__ import annotations

import math
import operator
import types

from . import types as ty
from .tensor import tensor
from .types import builder, dtype, unwrap

NUMBERS = (bool, int, float)


def is_number(value) -> bool:
    return isinstance(value, NUMBERS)


def show(value) -> str:
    """A value's type in the words of an error message."""
    if isinstance(value, tensor):
        return str(value.type)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if isinstance(value, types.ModuleType):
        return f"the module {name}"
    if isinstance(value, type):
        return f"the class {name}"
    if name is not None and callable(value):
        return f"the function {name}"
    if value is None:
        return "None"
    return f"{type(value).__name__} {value!r}"


def type_of_number(value) -> dtype:
    """The type of a Python number as a tensor: the narrowest of int32, uint32, int64,
    uint64, or of fp32 and fp64, that holds it."""
    if isinstance(value, bool):
        return ty.int1
    if isinstance(value, int):
        for candidate, low, high in ((ty.int32, -2**31, 2**31), (ty.uint32, 0, 2**32),
                                     (ty.int64, -2**63, 2**63), (ty.uint64, 0, 2**64)):
            if low <= value < high:
                return candidate
        raise OverflowError(f"the integer {value} does not fit in 64 bits")
    magnitude = abs(value)
    if magnitude == 0 or math.isnan(value) or math.isinf(value):
        return ty.float32
    return ty.float32 if 2.0**-126 <= magnitude <= (2 - 2.0**-23) * 2.0**127 else ty.float64


def constant(value, type_: dtype, shape=()) -> tensor:
    """A number as a tensor of a given type; a scalar remembers its value."""
    if not (type_.is_floating() or type_.is_int()):
        raise TypeError(f"there are no numbers of type {type_}")
    if type_.is_floating():
        value = float(value)
    elif type_.is_bool():
        value = bool(value)
    else:
        width = type_.primitive_bitwidth
        value = int(value) & ((1 << width) - 1)
        if type_.is_int_signed() and value >> (width - 1):
            value -= 1 << width
    return tensor(None, type_, shape, value)


def to_tensor(value) -> tensor:
    value = unwrap(value)
    if isinstance(value, tensor):
        return value
    if is_number(value):
        return constant(value, type_of_number(value))
    raise TypeError(f"expected a number or a tile, got {show(value)}")


# Casts ------------------------------------------------------------------------------------


def _ir(type_: dtype, shape):
    return builder().tensor_type(list(shape), type_.to_ir())


def _op(name: str, operands, type_: dtype, shape) -> tensor:
    return tensor(builder().op(name, [o.handle for o in operands], _ir(type_, shape)), type_, shape)


def _rounded(number: float, type_: dtype) -> float:
    """The number that a constant of a type of floats is: its Python number has more bits."""
    if type_.is_fp64() or number == 0 or not math.isfinite(number):
        largest = type_.is_fp8() and math.isinf(number)
        return math.copysign(_LARGEST_FP8[type_.name], number) if largest else number
    _, exponent = math.frexp(number)
    quantum = math.ldexp(1.0, max(exponent - 1, 1 - type_.exponent_bias) - type_.fp_mantissa_width)
    result = round(number / quantum) * quantum
    if type_.is_fp8():
        largest = _LARGEST_FP8[type_.name]
        return max(-largest, min(largest, result))
    # The exponents of the types with an infinity are as many above as below zero.
    return result if abs(result) < math.ldexp(1.0, type_.exponent_bias + 1) else math.copysign(math.inf, number)


_LARGEST_FP8 = {"fp8e4nv": 448.0, "fp8e5": 57344.0}


def _to_integer(number: float, source: dtype, to: dtype) -> int:
    """The integer that the instruction cvt.rzi of PTX makes: toward zero, at most the largest and at
    least the smallest integer of the type's size, but of at least 16 bits. NaN is 0, or the integer
    whose only bit is the highest one if either type has 64 bits."""
    width = max(16, to.primitive_bitwidth)
    if math.isnan(number):
        return 1 << (width - 1) if width == 64 or source.is_fp64() else 0
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if to.is_int_signed() else (0, (1 << width) - 1)
    if math.isinf(number):
        return high if number > 0 else low
    return max(low, min(high, int(number)))


def _cast_constant(value: tensor, to: dtype):
    """The cast of a constant, or None where rounding or overflow needs the real op."""
    number = value.constant
    if to.is_bool():
        return constant(number != 0, to, value.shape)
    if to.is_int():
        if isinstance(number, float):
            number = _to_integer(_rounded(number, value.dtype), value.dtype, to)
        return constant(number, to, value.shape)
    if to.is_fp64() or (to.is_fp32() and (not isinstance(number, float) or value.dtype.is_fp32())
                        and abs(number) < 2**24):
        return constant(float(number), to, value.shape)
    if to.is_floating() and isinstance(number, float):
        return constant(_rounded(_rounded(number, value.dtype), to), to, value.shape)
    if to.is_floating() and not isinstance(number, float) and abs(number) <= 256:
        return constant(float(number), to, value.shape)
    return None


def cast(value: tensor, to: dtype, rounding: str | None = None, bitcast: bool = False) -> tensor:
    """`value` as type `to`, with C's rules: floats truncate toward zero to integers,
    everything else than zero is true, and integers wrap."""
    if isinstance(to, ty.block_type):
        to = to.scalar
    value = to_tensor(value)
    source, shape = value.dtype, value.shape
    if source == to:
        return value
    if bitcast and not (source.is_ptr() or to.is_ptr()):
        return _bitcast(value, to)
    if source.is_ptr() or to.is_ptr():
        return _cast_pointer(value, to)
    if value.constant is not None and rounding is None:
        folded = _cast_constant(value, to)
        if folded is not None:
            return folded
    if rounding is not None and not (source.is_floating() and to.is_floating()
                                     and to.primitive_bitwidth < source.primitive_bitwidth):
        raise ValueError(f"fp_downcast_rounding is for narrowing floats, not for {source} -> {to}")
    if source.is_floating() and to.is_floating():
        return _cast_float(value, to, rounding)
    if source.is_floating():
        return _float_to_int(value, to)
    if to.is_floating():
        name = "arith.sitofp" if source.is_int_signed() else "arith.uitofp"
        if to.is_fp32() or to.is_fp64():
            return _op(name, [value], to, shape)
        # Integers of up to 16 bits are exact in fp32.
        return _cast_float(_op(name, [value], ty.float32, shape), to, None)
    return _int_to_int(value, to)


def _bitcast(value: tensor, to: dtype) -> tensor:
    source = value.dtype
    if source.primitive_bitwidth != to.primitive_bitwidth:
        raise ValueError(f"cannot bitcast {source} to {to}: their sizes differ "
                         f"({source.primitive_bitwidth} and {to.primitive_bitwidth} bits)")
    if source.is_int() and to.is_int():
        return tensor(value.handle, to, value.shape)
    return _op("tile.bitcast", [value], to, value.shape)


def _cast_pointer(value: tensor, to: dtype) -> tensor:
    source, shape = value.dtype, value.shape
    if source.is_ptr() and to.is_ptr():
        return _op("tile.bitcast", [value], to, shape)
    if source.is_ptr():
        if to.is_bool():
            return compare("ne", cast(value, ty.int64), constant(0, ty.int64))
        if not to.is_int() or to.primitive_bitwidth != 64:
            raise TypeError(f"a pointer can be cast to int64 or uint64 only, not to {to}")
        return _op("tile.ptr_to_int", [value], to, shape)
    if not source.is_int():
        raise TypeError(f"{source} cannot be cast to a pointer")
    return _op("tile.int_to_ptr", [cast(value, ty.int64)], to, shape)


def _cast_float(value: tensor, to: dtype, rounding: str | None) -> tensor:
    if rounding not in (None, "rtne", "rtz"):
        raise ValueError(f"fp_downcast_rounding is 'rtne' or 'rtz', not {rounding!r}")
    source = value.dtype
    # Neither of fp16 and bf16 holds the other, nor do the two fp8 types; fp32 holds all.
    if not source.is_fp32() and not to.is_fp32() and not to.is_fp64() and not source.is_fp64():
        value = _cast_float(value, ty.float32, None)
    handle = builder().cast_float(value.handle, _ir(to, value.shape), rounding == "rtz")
    return tensor(handle, to, value.shape)


def _float_to_int(value: tensor, to: dtype) -> tensor:
    if to.is_bool():
        return compare("ne", value, constant(0.0, value.dtype))
    if value.dtype.primitive_bitwidth < 32:
        value = cast(value, ty.float32)
    name = "arith.fptosi" if to.is_int_signed() else "arith.fptoui"
    if to.primitive_bitwidth == 8:
        # There is no such instruction: the compiler would take what one for 16 bits makes for a
        # number of 8 bits.
        wide = _op(name, [value], ty.int16 if to.is_int_signed() else ty.uint16, value.shape)
        return _int_to_int(wide, to)
    return _op(name, [value], to, value.shape)


def _int_to_int(value: tensor, to: dtype) -> tensor:
    source, shape = value.dtype, value.shape
    if to.is_bool():
        return compare("ne", value, constant(0, source))
    if to.primitive_bitwidth > source.primitive_bitwidth:
        name = "arith.extsi" if source.is_int_signed() else "arith.extui"
        return _op(name, [value], to, shape)
    if to.primitive_bitwidth < source.primitive_bitwidth:
        return _op("arith.trunci", [value], to, shape)
    return tensor(value.handle, to, shape)


# Promotion --------------------------------------------------------------------------------

_KIND_RANK = {"bool": 0, "int": 1, "uint": 1, "float": 2}


def _promote_ints(a: dtype, b: dtype) -> dtype:
    if a.is_int_signed() == b.is_int_signed():
        return a if a.primitive_bitwidth >= b.primitive_bitwidth else b
    unsigned, signed = (b, a) if a.is_int_signed() else (a, b)
    return unsigned if unsigned.primitive_bitwidth >= signed.primitive_bitwidth else signed


def computation_type(a: dtype, a_is_number: bool, b: dtype, b_is_number: bool,
                     is_division: bool) -> dtype:
    """The type in which `a op b` is computed."""
    if a_is_number != b_is_number:
        number, tile = (a, b) if a_is_number else (b, a)
        if _KIND_RANK[number.kind] <= _KIND_RANK[tile.kind]:
            if is_division and tile in (ty.float16, ty.bfloat16):
                return ty.float32
            return tile
    for wide in (ty.float64, ty.float32):
        if wide in (a, b):
            return wide
    for half in (ty.float16, ty.bfloat16):
        if half in (a, b):
            return ty.float32 if is_division else half
    if a.is_floating() and b.is_floating():
        return a if a == b else ty.float16
    if a.is_floating() or b.is_floating():
        return a if a.is_floating() else b
    if is_division and a.is_int_signed() != b.is_int_signed() and not (a.is_bool() or b.is_bool()):
        raise TypeError(f"/, // and % need operands of the same signedness, got {a} and {b}: "
                        "cast one of them")
    return _promote_ints(a, b)


def fits(value, type_: dtype) -> bool:
    """Whether a number is one of an integer type."""
    if not type_.is_int() or type_.is_bool() or isinstance(value, float):
        return True
    width = type_.primitive_bitwidth
    if type_.is_int_signed():
        return -(1 << (width - 1)) <= value < (1 << (width - 1))
    return 0 <= value < (1 << width)


def promote(lhs, rhs, is_division=False, keep_pointers=False):
    """Both operands as tensors of one type and shape."""
    lhs, rhs = unwrap(lhs), unwrap(rhs)
    lhs_is_number, rhs_is_number = is_number(lhs), is_number(rhs)
    a, b = to_tensor(lhs), to_tensor(rhs)
    if a.dtype.is_ptr() or b.dtype.is_ptr():
        if not keep_pointers:
            raise TypeError(f"this operation does not take pointers: got {a.type} and {b.type}")
        return broadcast_both(a, b)
    result = computation_type(a.dtype, lhs_is_number, b.dtype, rhs_is_number, is_division)
    for value, number in ((lhs, lhs_is_number), (rhs, rhs_is_number)):
        if number and not fits(value, result):
            raise ValueError(f"the number {value} is out of range for type {result}")
    a = constant(lhs, result) if lhs_is_number else cast(a, result)
    b = constant(rhs, result) if rhs_is_number else cast(b, result)
    return broadcast_both(a, b)


# Shapes -----------------------------------------------------------------------------------


_MAXIMAL_COUNT = 1 << 20  # elements of a tile


def require_count(count: int, shape):
    if count > _MAXIMAL_COUNT:
        raise ValueError(f"a tile of shape {list(shape)} has {count} elements; tiles can have at most "
                         f"{_MAXIMAL_COUNT}: use smaller blocks")


def broadcast_to(value: tensor, shape) -> tensor:
    """`value` repeated to `shape`; missing leading dimensions count as extents of 1."""
    shape = tuple(shape)
    if value.shape == shape:
        return value
    require_count(math.prod(shape), shape)
    if not value.shape:
        if value.constant is not None:
            return tensor(None, value.dtype, shape, value.constant)
        return tensor(builder().splat(value.handle, list(shape)), value.dtype, shape)
    if len(value.shape) > len(shape):
        raise ValueError(f"cannot broadcast shape {list(value.shape)} to {list(shape)}: "
                         "it has more dimensions")
    padded = (1,) * (len(shape) - len(value.shape)) + value.shape
    for axis, (have, want) in enumerate(zip(padded, shape)):
        if have not in (1, want):
            raise ValueError(f"cannot broadcast shape {list(value.shape)} to {list(shape)}: "
                             f"extents {have} and {want} of dimension {axis} differ")
    if value.constant is not None:
        return tensor(None, value.dtype, shape, value.constant)
    handle = value.handle
    for axis in range(len(shape) - len(value.shape)):
        handle = builder().expand_dims(handle, 0)
    if padded != shape:
        handle = builder().broadcast(handle, list(shape))
    return tensor(handle, value.dtype, shape)


def common_shape(a, b):
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + tuple(a)
    right = (1,) * (rank - len(b)) + tuple(b)
    shape = []
    for axis, (x, y) in enumerate(zip(left, right)):
        if x != y and 1 not in (x, y):
            raise ValueError(f"shapes {list(a)} and {list(b)} do not match: extents {x} and {y} of "
                             f"dimension {axis} differ, and neither is 1")
        shape.append(max(x, y))
    return tuple(shape)


def broadcast_both(a: tensor, b: tensor):
    shape = common_shape(a.shape, b.shape)
    return broadcast_to(a, shape), broadcast_to(b, shape)


def expand_dims(value: tensor, axis: int) -> tensor:
    shape = value.shape[:axis] + (1, ) + value.shape[axis:]
    if not value.shape:
        return broadcast_to(value, (1, ))
    if value.constant is not None:
        return tensor(None, value.dtype, shape, value.constant)
    return tensor(builder().expand_dims(value.handle, axis), value.dtype, shape)


def subscript(value: tensor, key) -> tensor:
    """`x[:, None]`: the only subscripts are full slices and None."""
    keys = list(key) if isinstance(key, tuple) else [key]
    keys = [unwrap(k) for k in keys]
    slices = sum(1 for k in keys if isinstance(k, slice))
    for k in keys:
        if not (k is None or k == slice(None, None, None)):
            raise TypeError(f"a tile can be subscripted with ':' and None only, got {show(k)}; "
                            "use tl.gather, or load from memory what you need")
    if not value.shape:
        # A ':' of a scalar stands for nothing, as in `pointer[None, None, :]`.
        return broadcast_to(value, (1, ) * (len(keys) - slices))
    if slices > len(value.shape):
        raise ValueError(f"{slices} ':' for a tile of shape {list(value.shape)}")
    for axis, k in enumerate(keys):
        if k is None:
            value = expand_dims(value, axis)
    return value


# Operators --------------------------------------------------------------------------------

_ARITHMETIC = {  # operator: (on floats, on signed integers, on unsigned ones)
    "+": ("arith.addf", "arith.addi", "arith.addi"),
    "-": ("arith.subf", "arith.subi", "arith.subi"),
    "*": ("arith.mulf", "arith.muli", "arith.muli"),
    "//": (None, "arith.divsi", "arith.divui"),
    "%": ("arith.remf", "arith.remsi", "arith.remui"),
    "&": (None, "arith.andi", "arith.andi"),
    "|": (None, "arith.ori", "arith.ori"),
    "^": (None, "arith.xori", "arith.xori"),
    "<<": (None, "arith.shli", "arith.shli"),
    ">>": (None, "arith.shrsi", "arith.shrui"),
}


def elementwise(name: str, *operands: tensor) -> tensor:
    """An op whose operands and result have one type and shape."""
    first = operands[0]
    if first.dtype.is_fp8():
        wide = [cast(o, ty.float32) for o in operands]
        return cast(elementwise(name, *wide), first.dtype)
    return _op(name, operands, first.dtype, first.shape)


def _c_division(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_FOLDS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": _c_division,
    "%": lambda a, b: a - b * _c_division(a, b), "&": lambda a, b: a & b, "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _folded(operator: str, a: tensor, b: tensor):
    """The result on two integers that are known, or None."""
    if a.constant is None or b.constant is None or not a.dtype.is_int() or operator not in _FOLDS:
        return None
    if operator in ("//", "%") and b.constant == 0:
        return None
    result = _FOLDS[operator](int(a.constant), int(b.constant))
    # One bit wraps; a cast to it would not.
    return constant(result & 1 if a.dtype.is_bool() else result, a.dtype, a.shape)


def arithmetic(operator: str, lhs, rhs) -> tensor:
    a, b = promote(lhs, rhs, is_division=operator in ("//", "%"))
    folded = _folded(operator, a, b)
    if folded is not None:
        return folded
    on_float, on_signed, on_unsigned = _ARITHMETIC[operator]
    if a.dtype.is_floating():
        if on_float is None:
            hint = "; use tl.floor(x / y) for floats" if operator == "//" else ""
            raise TypeError(f"'{operator}' needs integers, got {show(lhs)} and {show(rhs)}{hint}")
        return elementwise(on_float, a, b)
    is_signed = a.dtype.is_int_signed()
    if operator == ">>":
        # What is shifted decides, though the result may be unsigned because of the count.
        shifted = unwrap(lhs) if isinstance(unwrap(lhs), tensor) else b
        is_signed = shifted.dtype.is_int_signed()
    width = a.dtype.primitive_bitwidth
    if operator in ("<<", ">>") and b.constant is not None and not 0 <= b.constant < width:
        # As for counts that the compiler does not know; of these it would take any bits.
        if operator == "<<" or not is_signed:
            return constant(0, a.dtype, a.shape)
        b = constant(width - 1, b.dtype, b.shape)
    return elementwise(on_signed if is_signed else on_unsigned, a, b)


def add(lhs, rhs) -> tensor:
    lhs, rhs = unwrap(lhs), unwrap(rhs)
    for pointer, offset in ((lhs, rhs), (rhs, lhs)):
        if isinstance(pointer, tensor) and pointer.dtype.is_ptr():
            return _offset_pointer(pointer, offset)
    return arithmetic("+", lhs, rhs)


def sub(lhs, rhs) -> tensor:
    if isinstance(lhs, tensor) and lhs.dtype.is_ptr():
        rhs = to_tensor(rhs)
        if rhs.dtype.is_ptr():
            raise TypeError("the difference of two pointers is not supported: cast both to int64")
        return _offset_pointer(lhs, negate(rhs))
    return arithmetic("-", lhs, rhs)


def _offset_pointer(pointer: tensor, offset) -> tensor:
    offset = to_tensor(offset)
    if offset.dtype.is_ptr() or not offset.dtype.is_int():
        raise TypeError(f"only an integer can be added to a pointer, got {offset.type}")
    if offset.constant == 0:
        return broadcast_to(pointer, common_shape(pointer.shape, offset.shape))
    if offset.dtype.is_uint32():
        offset = cast(offset, ty.int64)
    elif offset.dtype.primitive_bitwidth < 32:
        offset = cast(offset, ty.int32)
    pointer, offset = broadcast_both(pointer, offset)
    return _op("tile.addptr", [pointer, offset], pointer.dtype, pointer.shape)


def true_divide(lhs, rhs) -> tensor:
    a, b = promote(lhs, rhs, is_division=True)
    if a.dtype.is_int():
        a, b = cast(a, ty.float32), cast(b, ty.float32)
    return elementwise("arith.divf", a, b)


_PREDICATES = {  # operator: (on floats, on signed integers, on unsigned ones)
    "lt": ("olt", "slt", "ult"), "le": ("ole", "sle", "ule"), "gt": ("ogt", "sgt", "ugt"),
    "ge": ("oge", "sge", "uge"), "eq": ("oeq", "eq", "eq"), "ne": ("une", "ne", "ne"),
}


def compare(predicate: str, lhs, rhs) -> tensor:
    a, b = promote(lhs, rhs, keep_pointers=True)
    if a.dtype.is_ptr() or b.dtype.is_ptr():
        a = cast(a, ty.uint64)
        b = cast(b, ty.uint64)
    if a.dtype.is_fp8():
        a, b = cast(a, ty.float32), cast(b, ty.float32)
    on_float, on_signed, on_unsigned = _PREDICATES[predicate]
    if a.constant is not None and b.constant is not None and a.dtype.is_int():
        return constant(getattr(operator, predicate)(a.constant, b.constant), ty.int1, a.shape)
    if a.dtype.is_floating():
        handle = builder().compare_floats(on_float, a.handle, b.handle)
    else:
        name = on_signed if a.dtype.is_int_signed() else on_unsigned
        handle = builder().compare_ints(name, a.handle, b.handle)
    return tensor(handle, ty.int1, a.shape)


def negate(value) -> tensor:
    value = to_tensor(value)
    if value.dtype.is_ptr():
        raise TypeError("a pointer cannot be negated")
    if value.dtype.is_floating():
        return elementwise("arith.negf", value)
    return elementwise("arith.subi", constant(0, value.dtype, value.shape), value)


def invert(value) -> tensor:
    value = to_tensor(value)
    if not value.dtype.is_int():
        raise TypeError(f"'~' needs integers, got {value.type}")
    return elementwise("arith.xori", value, constant(-1, value.dtype, value.shape))


def truth(value) -> tensor:
    """`value` as int1."""
    return cast(to_tensor(value), ty.int1)


def logical_not(value) -> tensor:
    return invert(truth(value))


def logical(operator: str, lhs, rhs) -> tensor:
    """`and` and `or` of run-time values; both sides are evaluated."""
    return arithmetic("&" if operator == "and" else "|", truth(lhs), truth(rhs))


def select(condition, x, y) -> tensor:
    condition = truth(condition)
    x, y = promote(x, y, keep_pointers=True)
    if x.dtype != y.dtype:
        raise TypeError(f"both values of a selection must have one type, got {x.type} and {y.type}")
    shape = common_shape(condition.shape, x.shape)
    condition, x, y = (broadcast_to(v, shape) for v in (condition, x, y))
    return _op("arith.select", [condition, x, y], x.dtype, shape)


def extremum(operator: str, lhs, rhs, propagate_nan: bool) -> tensor:
    """`maximum` or `minimum`; without `propagate_nan` a NaN loses against a number."""
    a, b = promote(lhs, rhs)
    if a.dtype.is_floating():
        name = f"arith.{operator}imumf" if propagate_nan else f"arith.{operator}numf"
    else:
        name = f"arith.{operator}{'si' if a.dtype.is_int_signed() else 'ui'}"
    return elementwise(name, a, b)
