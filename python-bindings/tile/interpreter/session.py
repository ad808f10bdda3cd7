# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands for the compiler while a kernel is interpreted."""

from __future__ import annotations

import inspect
from contextlib import contextmanager

import numpy as np

from ..language import semantic
from ..language import types as ty
from ..language.semantic import to_tensor
from ..language.tensor import ConditionError, tensor
from .formats import HELD, Value
from .rewrite import rewrite
from .support import Helper


def native(function):
    """The Python function that runs a `compiler.function.Function` as a kernel."""
    made = getattr(function, "interpreted", None)
    if made is None:
        helper = Helper(native)
        made, called = rewrite(function, helper)
        function.interpreted = made
        # Made now, so that a debugger that steps into a call has nothing else to walk through.
        for kernel in called:
            helper.natives[kernel]
    return made


class Session:
    """Calls functions of kernels, and combines elements with them."""

    interprets = True

    def __init__(self, builder):
        self.builder = builder
        self.chip = builder.chip

    @contextmanager
    def active(self):
        saved = ty.state.builder, ty.state.compiler
        ty.state.builder, ty.state.compiler = self.builder, self
        try:
            yield
        finally:
            ty.state.builder, ty.state.compiler = saved

    def call(self, function, args, kwargs):
        function = ty.unwrap(function)
        if not hasattr(function, "compiled_function"):
            return ty.unwrap(function(*args, **kwargs))
        function = function.compiled_function()
        bound = inspect.BoundArguments(function.signature, function.bind(args, kwargs))
        return ty.unwrap(native(function)(*bound.args, **bound.kwargs))

    # Reductions and scans -----------------------------------------------------------------

    def _combine(self, function, left, right, types):
        """The combination of tiles, element by element."""
        shape = left[0].array.shape
        operands = [tensor(v, t, shape) for v, t in zip(left + right, types + types)]
        outputs = self.call(function, operands, {})
        outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        if len(outputs) != len(types):
            raise TypeError(f"the combine function must return {len(types)} values, got {len(outputs)}")
        return [semantic.broadcast_to(semantic.cast(to_tensor(o), t), shape).handle
                for o, t in zip(outputs, types)]

    def _combined(self, function, left, right, types):
        """As `_combine`; functions that branch are called for each element."""
        shape = left[0].array.shape
        try:
            return self._combine(function, left, right, types)
        except ConditionError:
            if not shape:
                raise
        parts = [np.zeros(shape, HELD[v.type.name]) for v in left]
        for place in np.ndindex(*shape):
            scalars = [[Value(np.asarray(v.array[place]), v.type.with_shape(())) for v in side]
                       for side in (left, right)]
            for part, value in zip(parts, self._combine(function, *scalars, types)):
                part[place] = value.array
        return [Value(part, v.type.with_shape(shape)) for part, v in zip(parts, left)]

    def reduce(self, tiles, axis: int, function):
        """The combination of all elements along an axis, neighbours first."""
        types = [t.dtype for t in tiles]
        values = [Value(np.moveaxis(t.handle.array, axis, 0), t.handle.type) for t in tiles]
        while len(values[0].array) > 1:
            even = len(values[0].array) // 2 * 2
            left, right, rest = ([_part(v, s) for v in values] for s in (
                slice(0, even, 2), slice(1, even, 2), slice(even, None)))
            values = [_joined(a, b) for a, b in zip(self._combined(function, left, right, types), rest)]
        return [tensor(_part(v, 0), t, v.array.shape[1:]) for v, t in zip(values, types)]

    def scan(self, tiles, axis: int, function, reverse: bool):
        """The running combination along an axis."""
        types, shape = [t.dtype for t in tiles], tiles[0].shape
        step = -1 if reverse else 1
        values = [Value(np.moveaxis(t.handle.array, axis, 0)[::step], t.handle.type) for t in tiles]
        extent, distance = shape[axis], 1
        while distance < extent:
            first = [_part(v, slice(0, distance)) for v in values]
            left = [_part(v, slice(0, extent - distance)) for v in values]
            right = [_part(v, slice(distance, None)) for v in values]
            values = [_joined(a, b) for a, b in zip(first, self._combined(function, left, right, types))]
            distance *= 2
        arrays = [np.moveaxis(v.array[::step], 0, axis) for v in values]
        return tuple(tensor(Value(a, v.type.with_shape(shape)), t, shape)
                     for a, v, t in zip(arrays, values, types))

    def map_elementwise(self, function, tiles, pack: int):
        """A scalar function of every `pack` elements."""
        shape = tiles[0].shape
        arrays = [t.handle.array.reshape(-1) for t in tiles]
        results, types = None, None
        for start in range(0, arrays[0].size, pack):
            scalars = [tensor(Value(np.asarray(array[start + i]), t.handle.type.with_shape(())), t.dtype)
                       for array, t in zip(arrays, tiles) for i in range(pack)]
            outputs = self.call(function, scalars, {})
            outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
            outputs = [to_tensor(o) for o in outputs]
            if results is None:
                types = [o.dtype for o in outputs]
                results = [np.zeros(arrays[0].size, HELD[o.handle.type.name]) for o in outputs[::pack]]
            for i, output in enumerate(outputs):
                results[i // pack][start + i % pack] = semantic.cast(output, types[i]).handle.array
        made = []
        for result, type_ in zip(results, types[::pack]):
            value = Value(result.reshape(shape), type_.to_ir().with_shape(shape))
            made.append(tensor(value, type_, shape))
        made = tuple(made)
        return made if len(made) > 1 else made[0]

    def dot(self, a, b, accumulator):
        """The product of tiles that have the accumulator's type, and the accumulator."""
        handle = self.builder.dot(a.handle, b.handle, accumulator.handle, "ieee", 0)
        return tensor(handle, accumulator.dtype, accumulator.shape)

    def iterate(self, loop):
        """The values of the variable of a loop over a range."""
        bounds = [to_tensor(b) for b in (loop.start, loop.end, loop.step)]
        type_ = bounds[0].dtype
        for bound in bounds:
            if bound.shape or not bound.dtype.is_int():
                raise TypeError(f"the bounds of a loop must be integer scalars, got {bound.type}")
            type_ = semantic.computation_type(type_, False, bound.dtype, False, False)
        if type_.primitive_bitwidth < 32:
            type_ = ty.int32
        elif type_.is_int_unsigned():
            type_ = ty.int64
        start, end, step = (int(b) for b in bounds)
        if step <= 0 and bounds[2].constant is None:
            # The compiler has no loop that falls without knowing so.
            raise ValueError(f"a step that only the running kernel knows must be positive, got {step}")
        element = type_.to_ir()
        for number in range(start, end, step):
            yield tensor(self.builder.int_constant(element, number), type_)


def _part(value: Value, key) -> Value:
    array = value.array[key]
    return Value(np.asarray(array), value.type.with_shape(np.shape(array)))


def _joined(a: Value, b: Value) -> Value:
    if not len(b.array):
        return a
    array = np.concatenate([a.array, b.array])
    return Value(array, a.type.with_shape(array.shape))
