# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tensor`: a value of a kernel at compile time."""

from __future__ import annotations

import math

from .types import block_type, builder, dtype, interpreting


class ConditionError(TypeError):
    """A tile as a condition."""


class tensor:
    """A scalar (shape `()`) or a tile of a kernel.

    `constant` is the Python number of a scalar that is known at compile time: a variable
    that was assigned a literal is a tensor, but may still be used where a constexpr is
    needed. Such a tensor makes its IR value anew at each use, so that the value dominates
    the use.
    """

    def __init__(self, handle, type_: dtype, shape=(), constant=None):
        self._handle = handle
        self.dtype = type_
        self.shape = tuple(shape)
        self.constant = constant

    @property
    def handle(self):
        if self._handle is None:
            return make_constant(self.constant, self.dtype, self.shape)
        return self._handle

    @property
    def type(self):
        return block_type(self.dtype, self.shape) if self.shape else self.dtype

    @property
    def numel(self):
        return math.prod(self.shape)

    @property
    def T(self):
        from . import core
        return core.trans(self)

    def numpy(self):
        """The elements as a NumPy array, in a kernel that is interpreted. bf16 and fp8 are fp32
        there, pointers are addresses."""
        array = getattr(self._handle, "array", None)
        if array is None:
            if self.constant is None:
                raise TypeError("the elements of a tile are known in kernels that tile.interpret runs "
                                "only")
            import numpy
            return numpy.full(self.shape, self.constant)
        is_unsigned = self.dtype.kind == "uint" or self.dtype.is_ptr()
        return array.view(array.dtype.str.replace("i", "u")) if is_unsigned else array

    def _number(self):
        """The number that a scalar is, or None where only the running kernel knows it."""
        if self.shape or (self.constant is None and not hasattr(self._handle, "array")):
            return None
        return self.constant if self.constant is not None else self.numpy().item()

    def __str__(self):
        name = f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        if not self.shape:
            number = self._number()
            if number is None:
                return name
            return f"{self.dtype} {hex(number) if self.dtype.is_ptr() else number}"
        if not hasattr(self._handle, "array") and (self.constant is None or not interpreting()):
            return name
        return f"{name}\n{self.numpy()}" if len(self.shape) > 1 else f"{name} {self.numpy()}"

    __repr__ = __str__

    def __format__(self, spec):
        number = self._number() if spec else None
        return format(str(self) if number is None else number, spec)

    def __hash__(self):
        return id(self)

    def __bool__(self):
        if not self.shape and self._number() is not None:
            return bool(self._number())
        if self.numel == 1 and (self.constant is not None or hasattr(self._handle, "array")):
            return bool(self.numpy().item())
        if self.shape:
            raise ConditionError(f"a condition must be a scalar, got {self.type}; use tl.where, or reduce "
                                 "it first")
        raise TypeError("a value that is known only when the kernel runs has no truth value at "
                        "compile time")

    def __index__(self):
        number = self._number()
        if number is not None and not isinstance(number, float):
            return int(number)
        raise TypeError("expected a value that is known at compile time (tl.constexpr), got a "
                        f"value of type {self.type}")

    def __iter__(self):
        raise TypeError("a tile cannot be iterated over: use loops with tl.load, or reductions")

    def __len__(self):
        if not self.shape:
            raise TypeError("a scalar has no len()")
        return self.shape[0]

    def __getitem__(self, key):
        from . import semantic
        return semantic.subscript(self, key)


def make_constant(value, type_: dtype, shape=()):
    """The IR value of a constant, splat to `shape`."""
    b = builder()
    ir_type = b.tensor_type(list(shape), type_.to_ir())
    if type_.is_floating():
        return b.float_constant(ir_type, float(value))
    value = int(value) & ((1 << 64) - 1)
    return b.int_constant(ir_type, value - (1 << 64) if value >> 63 else value)
