# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Python function as the front end sees it."""

from __future__ import annotations

import ast
import inspect
import textwrap

from ..errors import CompilationError, Frame
from ..language.types import constexpr, unwrap
from . import analysis

_ABSENT = object()


class Function:
    """Source, syntax tree and surroundings of a kernel or helper."""

    def __init__(self, python_function):
        self.python_function = python_function
        self.name = python_function.__name__
        code = python_function.__code__
        self.file = code.co_filename
        try:
            lines, first = inspect.getsourcelines(python_function)
        except OSError:
            raise CompilationError(f"the source of {self.name} cannot be found: @tile.jit functions must "
                                   "be in a file or notebook cell") from None
        source = "".join(lines)
        self.source = textwrap.dedent(source)
        # Nodes count lines from 1 and columns from the dedented text.
        self.line_offset = first - 1
        self.column_offset = len(lines[0]) - len(lines[0].lstrip())
        tree = ast.parse(self.source).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise CompilationError("@tile.jit is for functions that are made with `def`",
                                   Frame(self.file, first))
        self.tree = tree
        self.signature = inspect.signature(python_function)
        self.params = list(self.signature.parameters.values())
        self.arg_names = [p.name for p in self.params]
        self.constexpr_names = {
            a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
            if a.annotation is not None and analysis.is_constexpr_annotation(a.annotation)}
        self.annotations = {a.arg: ast.unparse(a.annotation)
                            for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
                            if a.annotation is not None}
        # Globals that the compiled code depends on, with their values.
        self.used_globals = {}

    def lookup(self, name: str):
        """Whether a name is in the closure or a global, and its value."""
        code = self.python_function.__code__
        if name in code.co_freevars:
            cell = self.python_function.__closure__[code.co_freevars.index(name)]
            try:
                return True, cell.cell_contents
            except ValueError:
                return False, None
        value = self.python_function.__globals__.get(name, _ABSENT)
        if value is _ABSENT:
            return False, None
        if isinstance(value, constexpr) or self.is_constexpr_global(name):
            self.used_globals[name] = unwrap(value)
        return True, value

    def is_constexpr_global(self, name: str) -> bool:
        """Whether a module annotates its variable as constexpr."""
        annotation = self.python_function.__globals__.get("__annotations__", {}).get(name)
        if annotation is None:
            return False
        return annotation is constexpr or (isinstance(annotation, str)
                                           and annotation.split(".")[-1] == "constexpr")

    def stale_globals(self):
        """Names of globals whose values changed since they were compiled in."""
        current = self.python_function.__globals__
        return [name for name, value in self.used_globals.items()
                if unwrap(current.get(name, _ABSENT)) != value]

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
