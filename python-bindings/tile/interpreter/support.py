# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What rewritten kernels call where the language differs from Python."""

from __future__ import annotations

import builtins
import operator

from ..compiler import python_functions
from ..language import core, ranges, semantic
from ..language import types as ty
from ..language.semantic import is_number, to_tensor
from ..language.tensor import tensor


def _is_runtime(value) -> bool:
    return isinstance(value, tensor)


def _is_known(value) -> bool:
    """Whether the compiler would know the value of a condition."""
    return not _is_runtime(value) or (value.constant is not None and not value.shape)


def _bool(value) -> bool:
    return builtins.bool(value)


_IN_PLACE = {"Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv,
             "FloorDiv": operator.ifloordiv, "Mod": operator.imod, "Pow": operator.ipow,
             "LShift": operator.ilshift, "RShift": operator.irshift, "BitOr": operator.ior,
             "BitXor": operator.ixor, "BitAnd": operator.iand, "MatMult": operator.imatmul}


class _Natives(dict):
    """Python functions by the kernels that they run; other callables are themselves."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, function):
        called = ty.unwrap(function)
        if hasattr(called, "compiled_function"):
            called = self[function] = self.make(called.compiled_function())
        return called


class KernelList(list):
    """A list of a kernel, which takes tuples for lists: shapes are compared with it, say."""

    __hash__ = None

    def __eq__(self, other):
        return tuple(self) == tuple(other) if isinstance(other, (tuple, list)) else NotImplemented

    def __ne__(self, other):
        return tuple(self) != tuple(other) if isinstance(other, (tuple, list)) else NotImplemented

    def __add__(self, other):
        return tuple(self) + other if isinstance(other, tuple) else KernelList(list.__add__(self, other))

    def __radd__(self, other):
        return other + tuple(self) if isinstance(other, tuple) else NotImplemented


class Helper:
    """The functions that `rewrite` puts into a kernel. `make` gives the Python function that
    runs a `compiler.function.Function`."""

    def __init__(self, make):
        self.natives = _Natives(make)

    unwrap = staticmethod(ty.unwrap)
    builtin_range = ranges.range
    kernel_list = KernelList

    # Values -------------------------------------------------------------------------------

    def assignable(self, value):
        """A value as a variable holds it: numbers become tensors."""
        value = ty.unwrap(value)
        if is_number(value):
            return to_tensor(value)
        if isinstance(value, tuple):
            parts = [self.assignable(v) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value

    def augmented(self, operation: str, value, other):
        """`value += other` and its like; `operation` is the name of the operator's node."""
        return self.assignable(_IN_PLACE[operation](value, other))

    def parameter(self, value):
        """An argument for a parameter that is annotated as constexpr: a wish, as tiles may be
        passed all the same."""
        value = ty.unwrap(value)
        is_known = isinstance(value, tensor) and value.constant is not None and not value.shape
        return value.constant if is_known else value

    def constant(self, value):
        """A value as a variable that is annotated as constexpr holds it."""
        value = self.parameter(value)
        if isinstance(value, tensor):
            return value
        value = core.compile_time(value, "a tl.constexpr")
        if isinstance(value, tuple):
            return tuple(core.compile_time(v, "an element of a constexpr") for v in value)
        return value

    def boxed(self, value):
        """A value whose attribute is asked for: numbers have those of tensors."""
        value = ty.unwrap(value)
        return to_tensor(value) if is_number(value) else value

    def type_of(self, value):
        """`x.type`, which constants have, too."""
        value = ty.unwrap(value)
        return ty.constexpr_type(value) if python_functions.is_plain_constant(value) else value.type

    def value_of(self, value):
        """`x.value` of a constexpr, which is its value here."""
        value = ty.unwrap(value)
        if isinstance(value, tensor) and value.constant is not None:
            return value.constant
        return value if python_functions.is_its_own_value(value) else value.value

    # Logic --------------------------------------------------------------------------------

    def decides(self, name: str, value) -> bool:
        """Whether the left side of `and` or `or` is the result."""
        return not _is_runtime(value) and _bool(value) != (name == "and")

    def conjunction(self, name: str, lhs, rhs):
        if not _is_runtime(lhs):
            return rhs if _bool(lhs) == (name == "and") else lhs
        return semantic.logical(name, lhs, rhs)

    def negation(self, value):
        if _is_known(value):
            return not value
        return semantic.logical_not(value)

    def equal(self, lhs, rhs):
        if (_is_runtime(lhs) or _is_runtime(rhs)) and (lhs is None or rhs is None):
            return False
        return lhs == rhs

    def unequal(self, lhs, rhs):
        if (_is_runtime(lhs) or _is_runtime(rhs)) and (lhs is None or rhs is None):
            return True
        return lhs != rhs

    def chosen(self, condition, value, other=None):
        """One side of a conditional expression. If the condition is one of the device, numbers
        become tensors; a literal has the type of `other`."""
        if _is_known(condition):
            return value
        if other is not None:
            other = self.evaluated_for_type(other)
            if isinstance(other, tensor) and not other.shape:
                return semantic.cast(to_tensor(value), other.dtype)
        return self.assignable(value)

    def evaluated_for_type(self, expression):
        """The value of an expression that is not to be run, with the right type but meaningless
        numbers; None if it cannot be had."""
        builder = ty.builder()
        was_muted, builder.is_muted = builder.is_muted, True
        try:
            return expression()
        except Exception:
            return None
        finally:
            builder.is_muted = was_muted

    def returned(self, value, *conditions):
        """What a function returns behind branches: tensors, if the device decides on one."""
        return value if all(map(_is_known, conditions)) else self.assignable(value)

    def holds(self, condition) -> bool:
        """Whether an asserted condition holds for all elements."""
        if isinstance(condition, tensor) and condition.shape:
            return _bool(condition.numpy().all())
        return _bool(condition)

    def static_items(self, items):
        """The items of a comprehension."""
        if isinstance(items, (ranges.range, ranges.static_range)):
            bounds = [core.compile_time_int(b, "a bound of range")
                      for b in (items.start, items.end, items.step)]
            return builtins.range(*bounds)
        return items


# The language's versions of Python's functions are the compiler's.
for _name in ("min", "max", "abs", "sum", "int", "float", "bool"):
    setattr(Helper, f"builtin_{_name}", staticmethod(python_functions.BUILTINS[_name]))
