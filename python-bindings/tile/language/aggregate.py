# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@aggregate`: classes whose instances kernels use as values."""

from __future__ import annotations

import inspect

from .arguments import compile_time
from .semantic import is_number, show, to_tensor
from .tensor import tensor
from .types import constexpr, state, unwrap


class Aggregate:
    """Base of the classes that `aggregate` makes. Instances do not change once `__init__` is
    done: a method that changes something returns a new instance."""

    def parts(self):
        return [getattr(self, name) for name in self._aggregate_fields]

    @property
    def type(self):
        return self

    def with_parts(self, parts):
        """An instance of the same class with other values of its fields."""
        made = object.__new__(type(self))
        for name, part in zip(self._aggregate_fields, parts):
            object.__setattr__(made, name, part)
        object.__setattr__(made, "_is_complete", True)
        return made

    def __setattr__(self, name, value):
        if getattr(self, "_is_complete", False):
            raise TypeError(f"an instance of {type(self).__name__} cannot be changed: make a new one")
        if name not in self._aggregate_fields:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; its fields are "
                                 f"{', '.join(self._aggregate_fields)}")
        object.__setattr__(self, name, _checked(self, name, unwrap(value)))

    def __eq__(self, other):
        return type(self) is type(other) and all(a is b for a, b in zip(self.parts(), other.parts()))

    def __hash__(self):
        return id(self)

    def __str__(self):
        return f"{type(self).__name__}({', '.join(show(p) for p in self.parts())})"

    __repr__ = __str__


def _checked(owner, name: str, value):
    """The value of a field, as its annotation wants it."""
    wanted = owner._aggregate_fields[name]
    what = f"the field {name} of {type(owner).__name__}"
    if wanted == "constexpr":
        return compile_time(value, what)
    if wanted == "tensor":
        if not isinstance(value, tensor) and not is_number(value):
            raise TypeError(f"{what} must be a scalar or a tile, got {show(value)}")
        return to_tensor(value)
    if isinstance(wanted, type) and not isinstance(value, wanted):
        raise TypeError(f"{what} must be a {wanted.__name__}, got {show(value)}")
    return value


def _wanted(annotation):
    """ "constexpr", "tensor", a class, or None for what is not checked."""
    if isinstance(annotation, str):
        name = annotation.split(".")[-1]
        return name if name in ("constexpr", "tensor") else None
    if annotation is constexpr:
        return "constexpr"
    if annotation is tensor:
        return "tensor"
    if isinstance(annotation, type) and issubclass(annotation, Aggregate):
        return annotation
    return None


def aggregate(cls):
    """Makes a class one of values of kernels. Its annotations are its fields: `tl.tensor`,
    `tl.constexpr`, or other aggregates. Methods may be @tile.jit functions."""
    fields = {}
    for base in reversed(cls.__mro__):
        # Python 3.14 has no annotations in a class's dictionary; older ones inherit nothing.
        annotations = inspect.get_annotations(base)
        fields.update({name: _wanted(annotation) for name, annotation in annotations.items()})
    members = {name: value for name, value in vars(cls).items()
               if name not in ("__dict__", "__weakref__")}
    initializer = members.pop("__init__", None) or _initializer(fields)
    members = {name: _Method(value) if hasattr(value, "compiled_function") else value
               for name, value in members.items()}
    made = type(cls.__name__, (Aggregate, ), members)
    made._aggregate_fields = fields
    made.__init__ = _completing(initializer)
    return made


def _initializer(fields):
    """An `__init__` that takes the fields in order."""
    signature = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
                                   for name in fields])

    def __init__(self, *args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    return __init__


def _completing(initializer):
    """`initializer`, which may be a @jit function, followed by a check of what it has set."""

    def __init__(self, *args, **kwargs):
        if hasattr(initializer, "compiled_function"):
            state.compiler.call(initializer, [self, *args], kwargs)
        else:
            initializer(self, *args, **kwargs)
        missing = [name for name in self._aggregate_fields if name not in vars(self)]
        if missing:
            raise TypeError(f"__init__ of {type(self).__name__} sets no {', '.join(missing)}")
        object.__setattr__(self, "_is_complete", True)

    return __init__


class _Method:
    """A @jit function in a class."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self.function if instance is None else BoundMethod(self.function, instance)


class BoundMethod:
    """A @jit function of an aggregate, with its instance."""

    def __init__(self, function, instance):
        self.function, self.instance = function, instance

    def __call__(self, *args, **kwargs):
        return state.compiler.call(self.function, [self.instance, *args], kwargs)
