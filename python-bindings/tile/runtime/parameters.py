# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters of kernels, and what the compiler is told of an argument by its key."""

from __future__ import annotations

import inspect

from ..compiler.function import Function
from ..compiler.session import Argument
from ..language import types as ty
from ..language.pointers import make_tensor_descriptor
from ..language.types import unwrap


def argument_of_key(name: str, key) -> Argument:
    """The argument that has a key: see `arguments`."""
    kind = key[0]
    if kind == "=":
        return Argument(name, value=key[1].value)
    if kind == "(":
        elements = tuple(argument_of_key(f"{name}[{i}]", k) for i, k in enumerate(key[2]))
        return Argument(name, elements=elements, factory=key[1])
    if kind == "d":
        return descriptor_argument(name, *key[1:])
    if kind == "f":
        return Argument(name, ty.BY_NAME[key[1]])
    if kind == "b":
        return Argument(name, ty.int1)
    type_, divisibility = ty.BY_NAME[key[1]], 16 if key[2] else 1
    if kind == "*":
        return Argument(name, ty.pointer_type(type_), divisibility, same_as=key[3] if key[3:] else None)
    return Argument(name, type_, divisibility)


class DescriptorFactory:
    """Makes a tensor descriptor, in a kernel, from pointer, extents and strides."""

    def __init__(self, dtype: ty.dtype, block_shape, padding: str):
        self.dtype, self.block_shape, self.padding = dtype, block_shape, padding

    def __call__(self, base, *numbers):
        rank = len(self.block_shape)
        return make_tensor_descriptor(base, numbers[:rank], (*numbers[rank:], 1), self.block_shape, self.padding)

    def signature(self) -> str:
        return f"tensordesc<{self.dtype}{list(self.block_shape)}>"


def descriptor_argument(name: str, dtype_name: str, block_shape, padding: str,
                         same_as: int | None = None) -> Argument:
    """A tensor descriptor: pointer, extents and strides, from which the kernel makes it."""
    rank, dtype = len(block_shape), ty.BY_NAME[dtype_name]
    elements = [Argument(f"{name}_base", ty.pointer_type(dtype), 16, same_as=same_as)]
    elements += [Argument(f"{name}_shape_{i}", ty.int32) for i in range(rank)]
    elements += [Argument(f"{name}_stride_{i}", ty.int64) for i in range(rank - 1)]
    return Argument(name, elements=tuple(elements), factory=DescriptorFactory(dtype, block_shape, padding))


class Parameter:
    """A parameter of a kernel, and how launches treat it."""

    def __init__(self, function: Function, index: int, plain, unaligned):
        parameter = function.params[index]
        self.name, self.num = parameter.name, index
        self.is_constexpr = self.name in function.constexpr_names
        self.default = parameter.default
        self.specialise = not (self.name in plain or index in plain)
        self.align = not (self.name in unaligned or index in unaligned)
        self.aligned = self.specialise and self.align
        annotation = function.annotations.get(self.name, "").split(".")[-1].strip("'\"")
        self.is_const = annotation == "const"
        self.forced = ty.BY_NAME.get(annotation)
        self.is_float = self.forced is not None and self.forced.is_floating()

    # Triton's names, which libraries ask for.

    @property
    def do_not_specialize(self) -> bool:
        return not self.specialise

    @property
    def do_not_specialize_on_alignment(self) -> bool:
        return not self.align

    @property
    def has_default(self) -> bool:
        return self.default is not inspect.Parameter.empty

    def launch_description(self, no_default):
        """As the launch path in C++ takes it."""
        default = () if self.default is no_default else (unwrap(self.default), )
        return (self.name, default, self.is_constexpr, self.specialise, self.align,
                self.forced is not None and self.forced.is_int(), self.is_float)
