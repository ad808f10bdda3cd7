# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Python function as the front end sees it."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
import tokenize
import types
import typing

from ..errors import CompilationError, Frame
from ..language.types import ConstexprFunction, constexpr, dtype, unwrap
from . import analysis
from .constants import Snapshot, has_plain_parts, has_state, is_fixed, typed

# The value of a variable that has none.
ABSENT = object()


class Owner:
    """An object as the place of attributes that are not in its dict: slots and properties."""

    def __init__(self, value):
        self.value = value


def value_at(place, name: str):
    """The value of a variable in a dict of globals, a class, an Owner or a cell."""
    if isinstance(place, dict):
        return place.get(name, ABSENT)
    try:
        if isinstance(place, type):
            return getattr(place, name)
        return getattr(place.value, name) if isinstance(place, Owner) else place.cell_contents
    except Exception:  # of a property, say
        return ABSENT


# What programs define, and may define anew.
DEFINITIONS = (type, types.FunctionType, ConstexprFunction)


def is_compiled_in(value) -> bool:
    """Whether code depends on a value that a kernel finds outside of itself: a constant, or a
    function or class of a program. Modules and what the language consists of do not change."""
    if isinstance(value, (constexpr, dtype, bool, int, float, str, tuple, list, dict, set)) or (
            hasattr(value, "compiled_function")):
        return True
    module = getattr(value, "__module__", None) or ""
    return isinstance(value, DEFINITIONS) and not module.startswith(("tile.", "builtins"))


def may_change(value) -> bool:
    """Whether a value is an object or array of a program, which is no constant by itself."""
    return not (is_compiled_in(value) or is_fixed(value) or type(value).__module__.startswith("tile."))


def note_global(place, name: str, value, used: dict, is_forgiven: bool = False):
    """Enters a variable that code depends on into `used`, the `used_globals` of a session; with the
    constants that a constexpr function finds in its module. Of a value that may change while it is
    one object a Snapshot is kept; kernels are compiled anew then if `is_forgiven`."""
    owner = place.value if isinstance(place, Owner) else place
    if (id(owner), name) in used:
        return
    plain = unwrap(value)
    entry = place, name, plain
    if isinstance(place, Owner) or not is_fixed(plain):
        # The launch path in C++, which compares addresses, leaves these to Python.
        entry = *entry, Snapshot(plain, is_forgiven)
    used[id(owner), name] = entry
    if isinstance(plain, ConstexprFunction):
        note_reads(plain, used)


def note_object(value, used: dict):
    """Enters all attributes of an object."""
    name = f"of type {type(value).__name__}"
    used.setdefault((id(value), name), ({name: value}, name, value, Snapshot(value, is_forgiven=True)))


@functools.lru_cache(1024)
def _written_names(code) -> set:
    """The variables outside of a function that it assigns."""
    import dis  # slow, and rarely needed
    return {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_GLOBAL", "STORE_DEREF")}


def note_reads(function, used: dict):
    """Enters what a Python function that is called while a kernel is compiled finds outside of itself:
    constants, and functions of its module with what these find."""
    owner, function = getattr(function, "__self__", None), getattr(function, "__func__", function)
    function = inspect.unwrap(function) if callable(function) else function
    if not isinstance(function, types.FunctionType) or (
            function.__module__ or "").startswith("tile."):
        return
    code, names = function.__code__, function.__globals__
    defaults = function.__defaults__ or ()
    if not is_fixed(defaults):
        note_global(Owner(function), "__defaults__", defaults, used, is_forgiven=True)
    if isinstance(owner, type):  # of other objects all is noted where kernels call their methods
        _note_attributes(owner, code.co_names, used)
    written = _written_names(code)
    places = [(cell, name) for name, cell in zip(code.co_freevars, function.__closure__ or ())]
    places += [(names, name) for name in code.co_names if name in names]
    for place, name in places:
        value = value_at(place, name)
        if (id(place), name) in used or value is ABSENT or name in written:
            continue
        _note_attributes(value, code.co_names, used)
        if is_compiled_in(value):
            # It may keep what it has computed in a dict, say.
            note_global(place, name, value, used, is_forgiven=True)
            if getattr(value, "__globals__", None) is names:
                note_reads(value, used)


def _note_attributes(value, names, used: dict, depth: int = 3):
    """Enters those attributes of a module, class, function or object that have one of the names,
    which are all that a Python function reads."""
    if not isinstance(value, (type, types.ModuleType, types.FunctionType)) and not has_state(value) or (
            depth == 0 or getattr(value, "__name__", type(value).__module__).startswith("tile.")):
        return
    place = value if isinstance(value, type) else getattr(value, "__dict__", {})
    for name in names:
        found = value_at(place, name)
        if found is ABSENT or (id(place), name) in used:
            continue
        if is_compiled_in(found):
            note_global(place, name, found, used, is_forgiven=True)
        else:
            _note_attributes(found, names, used, depth - 1)


def _source_of(function) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return function.__qualname__


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
        # What the kernels that launches keep depend on: see Session.used_globals.
        self.used_globals = {}
        self._describe(tree)

    def replace_source(self, text: str):
        """Takes another source for the function, with the same parameters or those of its
        `__signature__`. Raises CompilationError if it is none."""
        previous = self._text
        self._text = text
        tree = self.parse()
        if not isinstance(tree, ast.FunctionDef):
            self._text = previous
            raise CompilationError(f"the new source of {self.name} is no function")
        self.source = textwrap.dedent(text)
        self.line_offset += self.tree.lineno - tree.lineno
        self.used_globals.clear()
        self._describe(tree)

    def _describe(self, tree):
        """Takes in what the syntax tree and the function itself say of the parameters."""
        python_function = self.python_function
        self.tree = tree
        # From `def` on, without decorators.
        self.definition = "".join(self.source.splitlines(keepends=True)[tree.lineno - 1:])
        self.signature = inspect.signature(python_function)
        self.params = list(self.signature.parameters.values())
        self.arg_names = [p.name for p in self.params]
        # A list, say, that calls may have as an argument.
        self.changing_defaults = {p.name: p.default for p in self.params
                                  if p.default is not p.empty and not is_fixed(unwrap(p.default))}
        # By the text, or by the value where the text is another name of constexpr.
        self.constexpr_names = {
            a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
            if a.annotation is not None and analysis.is_constexpr_annotation(a.annotation)}
        self.constexpr_names |= {p.name for p in self.params if _is_constexpr(p.annotation)}
        self.annotations = {a.arg: ast.unparse(a.annotation)
                            for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
                            if a.annotation is not None}
        # A decorator below may have set others; and the text may be a variable that is a type.
        for name, annotation in getattr(python_function, "__annotations__", {}).items():
            if isinstance(annotation, dtype):
                self.annotations[name] = annotation.name
            elif isinstance(annotation, str) and name not in self.annotations:
                self.annotations[name] = annotation

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
        `used_globals` of the session, if code depends on it."""
        code = self.python_function.__code__
        if name in code.co_freevars:
            place = self.python_function.__closure__[code.co_freevars.index(name)]
        else:
            place = self.python_function.__globals__
        value = value_at(place, name)
        if value is ABSENT:
            return False, None
        if is_compiled_in(value) or isinstance(place, dict) and self.is_constexpr_global(name):
            note_global(place, name, value, used)
        return True, value

    def is_constexpr_global(self, name: str) -> bool:
        """Whether a module annotates its variable as constexpr."""
        annotation = self.python_function.__globals__.get("__annotations__", {}).get(name)
        if annotation is None:
            return False
        return annotation is constexpr or (isinstance(annotation, str)
                                           and annotation.split(".")[-1] == "constexpr")

    def stale_globals(self):
        """The variables that changed since they were compiled in: names, values then (of those that
        changed within, a Snapshot) and now."""
        found = []
        # Of a copy: another thread may be done compiling, which adds to them.
        for place, name, before, *snapshot in list(self.used_globals.values()):
            now = unwrap(value_at(place, name))
            if snapshot and typed(now) != snapshot[0].typed:
                found.append((name, snapshot[0], now))
            elif not snapshot and now is not before and typed(now) != typed(before):
                found.append((name, before, now))
        return found

    def dependencies(self):
        """Names and values of what the source names outside of the function and code may depend on."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name):
                value = self.lookup(node.id, {})[1]
            elif isinstance(node, ast.Attribute):
                value = self._attribute(node)
            else:
                continue
            if is_compiled_in(value) and (not isinstance(value, (list, dict, set)) or has_plain_parts(value)):
                found[ast.unparse(node)] = unwrap(value)
        return sorted(found.items(), key=lambda item: item[0])

    def _attribute(self, node):
        """The value of an attribute of a module or class, or None."""
        if isinstance(node, ast.Name):
            return self.lookup(node.id, {})[1]
        owner = self._attribute(node.value) if isinstance(node, ast.Attribute) else None
        return getattr(owner, node.attr, None) if isinstance(owner, (type, types.ModuleType)) else None

    def key(self) -> str:
        """Changes with the source, its place, and what it depends on, called functions included."""
        parts, pending = {}, [self]
        while pending:
            function = pending.pop()
            if function not in parts:
                parts[function] = function._own_key(pending)
        return hashlib.sha256("\0".join(parts.values()).encode()).hexdigest()

    def _own_key(self, called: list) -> str:
        """What `key` is made of, but for the functions of the language that are called, which are
        appended to `called`."""
        parts = [self.definition, str(self.line_offset + self.tree.lineno)]
        for name, value in self.dependencies():
            if hasattr(value, "compiled_function"):
                called.append(value.compiled_function())
                text = called[-1].name
            elif isinstance(value, (types.FunctionType, ConstexprFunction)):
                text = _source_of(inspect.unwrap(value))
            else:
                text = getattr(value, "__qualname__", None) or repr(typed(value))
            parts.append(f"{name} = {text}")
        return "\0".join(parts)

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
