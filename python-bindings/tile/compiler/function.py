# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Python function as the front end sees it."""

from __future__ import annotations

import ast
import inspect
import textwrap
import tokenize
import types
import typing

from ..errors import CompilationError, Frame
from ..language.types import constexpr, unwrap
from . import analysis

# The value of a variable that has none.
ABSENT = object()


def value_at(place, name: str):
    """The value of a variable in a dict of globals or a cell."""
    if isinstance(place, dict):
        return place.get(name, ABSENT)
    try:
        return place.cell_contents
    except ValueError:
        return ABSENT


def typed(value):
    """What constants are compared by: values that are equal but of different types, as 1 and
    True and 1.0, are different constants, and so are 0.0 and -0.0; NaNs are one."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if isinstance(value, tuple):
        return kind, tuple(map(typed, value))
    return kind, value


def _plain_function(function):
    """The function that `def` has made, below decorators that keep it with functools.wraps: the
    source is its source."""
    if hasattr(function, "compiled_function"):
        raise TypeError(f"{function!r} is a kernel already")
    if isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"write @tile.jit below @{type(function).__name__}")
    unwrapped = inspect.unwrap(function) if callable(function) else function
    if not isinstance(unwrapped, types.FunctionType):
        raise TypeError(f"@tile.jit is for functions that are made with `def`, got {function!r}")
    return unwrapped


def _is_constexpr(annotation) -> bool:
    """Whether an annotation is constexpr, or a union with it, such as `tl.constexpr | None`."""
    return annotation is constexpr or constexpr in typing.get_args(annotation)


class Function:
    """Source, syntax tree and surroundings of a kernel or helper."""

    def __init__(self, python_function):
        python_function = _plain_function(python_function)
        self.python_function = python_function
        self.name = python_function.__name__
        code = python_function.__code__
        self.file = code.co_filename
        try:
            lines, first = inspect.getsourcelines(python_function)
        except (OSError, TypeError, SyntaxError, tokenize.TokenError):
            raise CompilationError(f"the source of {self.name} cannot be found: @tile.jit functions must "
                                   "be in a file or notebook cell") from None
        self._text = "".join(lines)
        self.source = textwrap.dedent(self._text)
        # Nodes count lines from the function's first one.
        self.line_offset = first - 1
        tree = self.parse()
        if not isinstance(tree, ast.FunctionDef):
            raise CompilationError("@tile.jit is for functions that are made with `def`",
                                   Frame(self.file, first))
        names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
        if tree.name != code.co_name or tuple(names) != code.co_varnames[:len(names)]:
            raise CompilationError(f"the source of {self.name} is not at its place: the file has changed "
                                   "since it was imported", Frame(self.file, first))
        self.tree = tree
        self.signature = inspect.signature(python_function)
        self.params = list(self.signature.parameters.values())
        self.arg_names = [p.name for p in self.params]
        # By the text, or by the value where the text is another name of constexpr.
        self.constexpr_names = {
            a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
            if a.annotation is not None and analysis.is_constexpr_annotation(a.annotation)}
        self.constexpr_names |= {p.name for p in self.params if _is_constexpr(p.annotation)}
        self.annotations = {a.arg: ast.unparse(a.annotation)
                            for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
                            if a.annotation is not None}
        # Variables that the compiled code depends on, constants and functions, also those of
        # functions that it calls: by the address of their place and their name the place (a dict
        # of globals or the cell of a closure), the name and the value that was compiled in.
        self.used_globals = {}

    def parse(self):
        """The syntax tree of the function, made anew; None if its text is no statement."""
        is_indented = self._text[:1].isspace()
        try:
            # Below an `if`, for text in strings and comments may be indented less.
            body = ast.parse(f"if 1:\n{self._text}" if is_indented else self._text).body
        except SyntaxError:
            return None
        if not is_indented:
            return body[0]
        return ast.increment_lineno(body[0].body[0], -1)

    def lookup(self, name: str, used: dict):
        """Whether a name is in the closure or a global, and its value. Enters it into `used`, the
        `used_globals` of the kernel, if code depends on it."""
        code = self.python_function.__code__
        if name in code.co_freevars:
            place = self.python_function.__closure__[code.co_freevars.index(name)]
        else:
            place = self.python_function.__globals__
        value = value_at(place, name)
        if value is ABSENT:
            return False, None
        if isinstance(value, constexpr) or hasattr(value, "compiled_function") or (
                isinstance(place, dict) and self.is_constexpr_global(name)):
            used[id(place), name] = place, name, unwrap(value)
        return True, value

    def is_constexpr_global(self, name: str) -> bool:
        """Whether a module annotates its variable as constexpr."""
        annotation = self.python_function.__globals__.get("__annotations__", {}).get(name)
        if annotation is None:
            return False
        return annotation is constexpr or (isinstance(annotation, str)
                                           and annotation.split(".")[-1] == "constexpr")

    def stale_globals(self):
        """Names and values now of the variables that changed since they were compiled in."""
        # Of a copy: another thread may be compiling, which adds to them.
        found = [(name, unwrap(value_at(place, name)), value)
                 for place, name, value in list(self.used_globals.values())]
        return [(name, now) for name, now, before in found
                if now is not before and typed(now) != typed(before)]

    def bind(self, args, kwargs) -> dict:
        """The scope at the start of a call: parameters and their values."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        scope = {}
        for name, value in bound.arguments.items():
            value = unwrap(value)
            # The annotation of a helper is a wish: a tile may be passed all the same, and an
            # error arises only where the value must be known.
            if name in self.constexpr_names and getattr(value, "constant", None) is not None:
                value = value.constant if not value.shape else value
            scope[name] = value
        return scope
