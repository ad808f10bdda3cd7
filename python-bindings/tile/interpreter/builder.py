# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The builder of the interpreter: the interface of the compiler's, but ops are computed at once.

The functions of tile.language make a kernel through a builder. With this one they run it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import arithmetic, device
from .formats import FORMATS, HELD, Type, Value, round_to, size_of
from .memory import Memory, kernel_place

_SCALAR_ATOMICS = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "xchg": lambda a, b: b, "fadd": lambda a, b: a + b, "add": lambda a, b: a + b,
    "max": np.maximum, "min": np.minimum, "fmax": arithmetic.maximum_number,
    "fmin": arithmetic.minimum_number,
    "umax": lambda a, b: np.maximum(arithmetic.unsigned(a), arithmetic.unsigned(b)).view(a.dtype),
    "umin": lambda a, b: np.minimum(arithmetic.unsigned(a), arithmetic.unsigned(b)).view(a.dtype),
}

_TOTAL_ORDER = {"fmax": arithmetic.atomic_maximum, "fmin": arithmetic.atomic_minimum}


@dataclass
class Descriptor:
    """A tensor in memory that is accessed in boxes."""

    base: Value
    shape: list
    strides: list
    box: tuple
    pads_with_nan: bool


class Builder:
    """Computes ops on NumPy arrays, for one program at a time."""

    def __init__(self, memory: Memory, grid, chip: str, num_warps: int):
        self.memory, self.grid, self.chip, self.num_warps = memory, grid, chip, num_warps
        self.program = (0, 0, 0)
        # While an expression is evaluated for its type alone, nothing touches memory.
        self.is_muted = False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"the interpreter does not support {name} yet")

    # Types --------------------------------------------------------------------------------

    def int_type(self, width):
        return Type(f"i{width}")

    def float_type(self, name):
        return Type(name)

    def ptr_type(self, pointee, memory_space):
        return Type("ptr", (), pointee)

    def tensor_type(self, shape, element):
        return element.with_shape(shape)

    # Element-wise ops ---------------------------------------------------------------------

    def op(self, name, operands, type_):
        return arithmetic.evaluate(name, operands, type_)

    def op_without_result(self, name, operands):
        """tile.barrier: a program has one thread here."""

    def int_constant(self, type_, value):
        if type_.name == "i1":
            array = np.bool_(value & 1)
        else:
            held = HELD[type_.name]
            width = 8 * held.itemsize
            value &= (1 << width) - 1
            array = held.type(value - (1 << width) if value >> (width - 1) else value)
        return Value(np.full(type_.shape, array), type_)

    def float_constant(self, type_, value):
        return Value(np.full(type_.shape, round_to(np.asarray(value, np.float64), type_.name)), type_)

    def compare_ints(self, predicate, lhs, rhs):
        array = arithmetic.compare_integers(predicate, lhs.array, rhs.array)
        return Value(np.asarray(array), Type("i1", lhs.type.shape))

    def compare_floats(self, predicate, lhs, rhs):
        array = arithmetic.compare_floats(predicate, lhs.array, rhs.array)
        return Value(np.asarray(array), Type("i1", lhs.type.shape))

    def cast_float(self, value, type_, toward_zero):
        return Value(round_to(value.array, type_.name, toward_zero), type_)

    def clamp(self, value, low, high, propagate_nan):
        x, low, high = value.array, low.array, high.array
        if propagate_nan:
            array = arithmetic.minimum(arithmetic.maximum(x, low), high)
        else:
            array = arithmetic.minimum_number(arithmetic.maximum_number(x, low), high)
        return Value(np.asarray(array).astype(HELD[value.type.name]), value.type)

    def mul_high(self, lhs, rhs, is_signed):
        return Value(np.asarray(arithmetic.multiply_high(lhs.array, rhs.array, is_signed)), lhs.type)

    def extern_elementwise(self, symbol, arguments, type_, is_pure):
        function = arithmetic.library_function(symbol)
        if function is None:
            return device.run("extern", (symbol, ), arguments, [type_], self.chip, self.num_warps)[0]
        wide = [a.array.astype(np.float64) for a in arguments]
        return Value(round_to(np.asarray(function(*wide)), type_.name), type_)

    def inline_assembly(self, text, constraints, arguments, types, is_pure, pack):
        details = text, constraints, is_pure, pack
        return device.run("asm", details, arguments, types, self.chip, self.num_warps)

    # Program and shape --------------------------------------------------------------------

    def program_id(self, axis):
        return Value(np.asarray(self.program[axis], np.int32), Type("i32"))

    def num_programs(self, axis):
        return Value(np.asarray(self.grid[axis], np.int32), Type("i32"))

    def arange(self, start, end):
        return Value(np.arange(start, end, dtype=np.int32), Type("i32", (end - start, )))

    def _reshaped(self, value, array):
        return Value(array, value.type.with_shape(array.shape))

    def splat(self, value, shape):
        return self._reshaped(value, np.broadcast_to(value.array, tuple(shape)))

    def expand_dims(self, value, axis):
        return self._reshaped(value, np.expand_dims(value.array, axis))

    def broadcast(self, value, shape):
        return self._reshaped(value, np.broadcast_to(value.array, tuple(shape)))

    def reshape(self, value, shape, reorder):
        return self._reshaped(value, value.array.reshape(tuple(shape)))

    def transpose(self, value, order):
        return self._reshaped(value, value.array.transpose(order))

    def join(self, lhs, rhs):
        return self._reshaped(lhs, np.stack([lhs.array, rhs.array], -1))

    def split(self, value):
        return self._reshaped(value, value.array[..., 0]), self._reshaped(value, value.array[..., 1])

    def concatenate(self, lhs, rhs, axis):
        return self._reshaped(lhs, np.concatenate([lhs.array, rhs.array], axis))

    def gather(self, source, indices, axis):
        index, extent = indices.array, source.array.shape[axis]
        if ((index < 0) | (index >= extent)).any() and not self.is_muted:
            raise IndexError(f"{kernel_place()}: error: gather's indices go from {index.min()} to "
                             f"{index.max()}, but the axis has {extent} elements")
        index = np.clip(index, 0, extent - 1).astype(np.int64)
        part = tuple(slice(None) if d == axis else slice(0, n) for d, n in enumerate(index.shape))
        return self._reshaped(source, np.take_along_axis(source.array[part], index, axis))

    def histogram(self, source, mask, bins):
        values = source.array if mask is None else source.array[mask.array]
        values = values[(values >= 0) & (values < bins)]
        return Value(np.bincount(values, minlength=bins).astype(np.int32), Type("i32", (bins, )))

    # Memory -------------------------------------------------------------------------------

    def load(self, pointer, mask, other, cache, eviction, is_volatile):
        type_ = pointer.type.pointee.with_shape(pointer.type.shape)
        if self.is_muted:
            return Value(np.zeros(type_.shape, HELD[type_.name]), type_)
        return Value(self.memory.load(pointer, mask, other), type_)

    def store(self, pointer, value, mask, cache, eviction):
        if not self.is_muted:
            self.memory.store(pointer, value, mask)

    def _update(self, pointer, mask, combine):
        type_ = pointer.type.pointee.with_shape(pointer.type.shape)
        if self.is_muted:
            return Value(np.zeros(type_.shape, HELD[type_.name]), type_)
        return Value(self.memory.update(pointer, mask, combine), type_)

    def _atomic_function(self, kind, value):
        name, values = value.type.name, value.array.reshape(-1)
        function = _SCALAR_ATOMICS[kind]
        if name in ("f32", "f64"):
            function = _TOTAL_ORDER.get(kind, function)

        def combine(old, positions):
            result = np.asarray(function(old, values[positions]))
            return round_to(result, name) if name in FORMATS else result

        return combine

    def atomic(self, kind, pointer, value, mask, order, scope):
        return self._update(pointer, mask, self._atomic_function(kind, value))

    def compare_and_swap(self, pointer, compare, value, order, scope):
        expected, values = compare.array.reshape(-1), value.array.reshape(-1)
        return self._update(pointer, None, lambda old, positions: np.where(
            old == expected[positions], values[positions], old))

    # Descriptors --------------------------------------------------------------------------

    def make_descriptor(self, base, shape, strides, box, pads_with_nan):
        return Descriptor(base, [int(s.array) for s in shape], [int(s.array) for s in strides],
                          tuple(box), pads_with_nan)

    def _box(self, descriptor, offsets):
        """Pointers to the elements of a box, and which ones are inside of the tensor."""
        rank = len(descriptor.box)
        pointee = descriptor.base.type.pointee
        address, inside = np.int64(descriptor.base.array), np.bool_(True)
        for d, extent in enumerate(descriptor.box):
            index = np.arange(extent).reshape([-1 if i == d else 1 for i in range(rank)])
            index = index + int(offsets[d].array)
            address = address + index * descriptor.strides[d] * size_of(pointee)
            inside = inside & (index >= 0) & (index < descriptor.shape[d])
        address, inside = (np.broadcast_to(a, descriptor.box) for a in (address, inside))
        return (Value(address, Type("ptr", descriptor.box, pointee)),
                Value(inside, Type("i1", descriptor.box)))

    def load_descriptor(self, descriptor, offsets, type_):
        pointer, inside = self._box(descriptor, offsets)
        fill = np.full(type_.shape, np.nan if descriptor.pads_with_nan else 0, HELD[type_.name])
        if self.is_muted:
            return Value(fill, type_)
        return Value(self.memory.load(pointer, inside, Value(fill, type_)), type_)

    def store_descriptor(self, descriptor, offsets, value):
        pointer, inside = self._box(descriptor, offsets)
        self.store(pointer, value, inside, "", "")

    def reduce_descriptor(self, kind, descriptor, offsets, value):
        pointer, inside = self._box(descriptor, offsets)
        self._update(pointer, inside, self._atomic_function(kind, value))

    # Matrix products ----------------------------------------------------------------------

    def dot(self, a, b, accumulator, precision, max_num_imprecise_acc):
        """`a @ b + accumulator`; sums of floats are taken in fp64 and rounded once."""
        name = accumulator.type.name
        wide = np.int64 if name in ("i32", "i64") else np.float64
        total = np.matmul(a.array.astype(wide), b.array.astype(wide)) + accumulator.array
        rounded = round_to(total, name) if name in FORMATS else total.astype(HELD[name])
        return Value(rounded, accumulator.type)

    # Debugging and hints ------------------------------------------------------------------

    def print_values(self, prefix, values, as_hex):
        if self.is_muted:
            return
        where = ", ".join(map(str, self.program))
        shown = [np.array2string(v.array, formatter={"int": hex} if as_hex else None) for v in values]
        print(f"pid ({where}) {prefix}{' '.join(shown)}")

    def assert_true(self, condition, message):
        if self.is_muted or condition.array.all():
            return
        element = ""
        if condition.array.shape:
            first = np.argwhere(~condition.array)[0]
            element = f" for element [{', '.join(map(str, first))}]"
        raise AssertionError(f"{kernel_place()}: error: device assertion failed{element}"
                             f"{': ' if message else ''}{message}")

    def set_hint(self, value, name, values):
        """Hints are promises to the compiler."""
