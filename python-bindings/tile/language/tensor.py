# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tensor`: a value of a kernel at compile time."""

from __future__ import annotations

from .types import block_type, builder, dtype


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
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def T(self):
        from . import core
        return core.trans(self)

    def __str__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    __repr__ = __str__

    def __hash__(self):
        return id(self)

    def __bool__(self):
        if self.constant is not None:
            return bool(self.constant)
        raise TypeError("a value that is known only when the kernel runs has no truth value at "
                        "compile time")

    def __index__(self):
        if self.constant is not None and not isinstance(self.constant, float):
            return int(self.constant)
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
