# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the syntax tree of a kernel to tile IR.

The tree is walked once, as an interpreter would: expressions whose values are known are
computed in Python, the others become ops. Calls of @jit functions are inlined.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import operator
import sys
import types

from .. import knobs
from ..errors import (CompilationError, CompileTimeAssertionFailure, Frame,
                      UnsupportedLanguageConstruct)
from ..language import core, debugging, operators, ranges, semantic
from ..language.aggregate import Aggregate, BoundMethod
from ..language import types as ty
from ..language.semantic import show, to_tensor
from ..language.tensor import tensor
from ..language.types import constexpr, unwrap
from .constants import has_state
from .function import Owner, is_compiled_in, may_change, note_global, note_object, note_reads
from .python_functions import BUILTINS, REPLACED, any_runtime, is_its_own_value, is_plain_constant
from .statements import Statements
from .values import Undefined

_MAXIMAL_DEPTH = 100


def _is_runtime(value) -> bool:
    return isinstance(value, tensor)


_BINARY = {
    ast.Add: ("add", operator.add), ast.Sub: ("sub", operator.sub), ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv), ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod), ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_), ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift), ast.RShift: ("rshift", operator.rshift),
}
_COMPARE = {
    ast.Lt: ("lt", operator.lt), ast.LtE: ("le", operator.le), ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge), ast.Eq: ("eq", operator.eq), ast.NotEq: ("ne", operator.ne),
}


class FunctionCompiler(Statements):
    """Compiles the body of one function, and by recursion those that it calls."""

    def __init__(self, session, function, scope: dict, caller=None):
        self.session = session
        self.function = function
        self.scope = scope
        self.caller = caller
        self.depth = 0 if caller is None else caller.depth + 1
        self.loop_depth = 0
        # The expression that is the statement at hand, whose value is thrown away.
        self.unused = None
        # Whether this is the body of the kernel itself.
        self.is_kernel = False
        self.builder = session.builder

    # Places and errors --------------------------------------------------------------------

    def frame(self, node) -> Frame:
        line = getattr(node, "lineno", 1) + self.function.line_offset
        column = getattr(node, "col_offset", 0)
        return Frame(self.function.file, line, column, self.function.name)

    def at(self, node):
        """Ops that are made from now on stem from `node`."""
        self.builder.set_location(self.function.file, node.lineno + self.function.line_offset,
                                  node.col_offset + 1)

    def error(self, node, message: str, kind=CompilationError) -> CompilationError:
        end = None
        if getattr(node, "end_lineno", None) == getattr(node, "lineno", 0):
            end = node.end_col_offset
        return kind(message, self.frame(node), end)

    def visit(self, node):
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method is None:
            hint = _HINTS.get(type(node).__name__)
            raise self.error(node, f"{_describe(node)} cannot be used in kernels"
                             + (f": {hint}" if hint else ""), UnsupportedLanguageConstruct)
        try:
            return method(node)
        except CompilationError:
            raise
        except debugging.StaticAssertion as assertion:
            raise self.error(node, str(assertion), CompileTimeAssertionFailure) from None
        except RecursionError:
            raise
        except Exception as exception:
            # What a language function says about its operands, or Python about constexprs.
            text = str(exception) or type(exception).__name__
            if isinstance(exception, KeyError):
                text = f"no such key: {text}"
            raise self.error(node, text) from exception

    # Names --------------------------------------------------------------------------------

    def visit_Name(self, node):
        name = node.id
        if name in self.scope:
            value = self.scope[name]
            if isinstance(value, Undefined):
                raise self.error(node, value.message(name))
            return value
        return self.function_global(node, name)

    def function_global(self, node, name: str):
        found, value = self.function.lookup(name, self.session.used_globals)
        if not found:
            if name in BUILTINS:
                return BUILTINS[name]
            known = [*self.scope, *self.function.python_function.__globals__]
            raise self.error(node, f"{name} is not defined{_suggestion(name, known)}")
        if isinstance(value, constexpr):
            return value.value
        if self.function.is_constexpr_global(name):
            return value
        if may_change(value):
            self.session.outside[id(value)] = value
        if isinstance(value, (bool, int, float, str, list, dict)) and not name.startswith("__") and (
                not knobs.allow_non_constexpr_globals):
            raise self.error(
                node, f"{name} is a global variable of type {type(value).__name__}, which may change "
                "later: kernels can use globals that are tl.constexpr only. Write "
                f"`{name} = tl.constexpr({value!r})`, or pass it as an argument")
        try:
            return REPLACED.get(value, value)
        except TypeError:  # not hashable
            return value

    # Expressions --------------------------------------------------------------------------

    def visit_Constant(self, node):
        return node.value

    def visit_Tuple(self, node):
        return tuple(self.elements(node))

    def visit_List(self, node):
        return self.elements(node)

    def elements(self, node):
        result = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                result.extend(self.note_object(self.visit(element.value)))
            else:
                result.append(self.visit(element))
        return result

    def visit_Dict(self, node):
        result = {}
        for key, value in zip(node.keys, node.values):
            result.update(self.visit(value) if key is None else {self.visit(key): self.visit(value)})
        return result

    def visit_Slice(self, node):
        return slice(*(None if part is None else core.compile_time(self.visit(part), "a slice bound")
                       for part in (node.lower, node.upper, node.step)))

    def visit_JoinedStr(self, node):
        return "".join(self.visit(value) if isinstance(value, ast.FormattedValue) else value.value
                       for value in node.values)

    def visit_FormattedValue(self, node):
        value = self.visit(node.value)
        if isinstance(value, tensor) and value.constant is not None:
            value = value.constant
        if node.conversion == ord("r"):
            value = repr(value)
        spec = self.visit(node.format_spec) if node.format_spec else ""
        return format(value if not spec else value, spec)

    def visit_NamedExpr(self, node):
        value = self.assignable(self.visit(node.value))
        self.scope[node.target.id] = value
        return value

    def visit_BinOp(self, node):
        lhs, rhs = self.note_object(self.visit(node.left)), self.note_object(self.visit(node.right))
        return self.binary(node, type(node.op), lhs, rhs)

    def binary(self, node, kind, lhs, rhs):
        self.at(node)
        is_runtime = _is_runtime(lhs) or _is_runtime(rhs)
        if kind is ast.Pow:
            if is_runtime:
                return operators.power(lhs, rhs)
            return lhs**rhs
        if kind not in _BINARY:
            raise self.error(node, f"{_describe(node)} cannot be used in kernels",
                             UnsupportedLanguageConstruct)
        name, on_python = _BINARY[kind]
        unsupported = f"unsupported operands of '{_SYMBOLS[kind]}': {show(lhs)} and {show(rhs)}"
        if not is_runtime:
            if isinstance(lhs, (tuple, list)) and isinstance(rhs, (tuple, list)) and (
                    isinstance(lhs, tuple) or isinstance(rhs, tuple)):
                # Shapes are tuples, but are often continued by lists.
                lhs, rhs = tuple(lhs), tuple(rhs)
            try:
                return on_python(lhs, rhs)
            except TypeError:
                raise TypeError(unsupported) from None
        for operand in (lhs, rhs):
            if not (_is_runtime(operand) or semantic.is_number(operand)):
                raise TypeError(unsupported)
        return operators.WRITTEN[name](lhs, rhs)

    def visit_UnaryOp(self, node):
        value = self.visit(node.operand)
        self.at(node)
        kind = type(node.op)
        if not _is_runtime(value):
            try:
                return {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
                        ast.Not: operator.not_}[kind](value)
            except TypeError:
                raise TypeError(f"unsupported operand: {show(value)}") from None
        if kind is ast.Not and value.constant is not None and not value.shape:
            return not value.constant
        return {ast.USub: semantic.negate, ast.UAdd: lambda v: v, ast.Invert: semantic.invert,
                ast.Not: semantic.logical_not}[kind](value)

    def visit_Compare(self, node):
        lhs, result = self.note_object(self.visit(node.left)), None
        for op, right in zip(node.ops, node.comparators):
            rhs = self.note_object(self.visit(right))
            self.at(node)
            part = self.compare(node, type(op), lhs, rhs)
            result = part if result is None else self.conjunction("and", result, part)
            lhs = rhs
        return result

    def compare(self, node, kind, lhs, rhs):
        if kind in (ast.Is, ast.IsNot):
            lhs, rhs = unwrap(lhs), unwrap(rhs)
            same = lhs is rhs or (type(lhs) is type(rhs) and isinstance(lhs, (int, bool, str))
                                  and lhs == rhs)
            return same if kind is ast.Is else not same
        if kind in (ast.In, ast.NotIn):
            if any_runtime([lhs]) or isinstance(rhs, tensor):
                raise TypeError("'in' works on values that are known at compile time")
            return (lhs in rhs) if kind is ast.In else (lhs not in rhs)
        name, on_python = _COMPARE[kind]
        if isinstance(lhs, (tuple, list)) and isinstance(rhs, (tuple, list)):
            # Shapes are compared with either.
            lhs, rhs = tuple(lhs), tuple(rhs)
        if not _is_runtime(lhs) and not _is_runtime(rhs):
            try:
                return on_python(lhs, rhs)
            except TypeError:
                raise TypeError(f"{show(lhs)} and {show(rhs)} cannot be compared") from None
        if (lhs is None or rhs is None) and kind in (ast.Eq, ast.NotEq):
            return kind is ast.NotEq
        return semantic.compare(name, lhs, rhs)

    def conjunction(self, name, lhs, rhs):
        if not _is_runtime(lhs):
            return rhs if bool(lhs) == (name == "and") else lhs
        if not _is_runtime(rhs) and not semantic.is_number(rhs):
            raise TypeError(f"'{name}' of {show(lhs)} and {show(rhs)}")
        return semantic.logical(name, lhs, rhs)

    def visit_BoolOp(self, node):
        name = "and" if isinstance(node.op, ast.And) else "or"
        result = self.visit(node.values[0])
        for value in node.values[1:]:
            # Python's rule for what is known: the rest is not even typed.
            if not _is_runtime(result) and bool(result) != (name == "and"):
                return result
            rhs = self.visit(value)
            self.at(node)
            result = self.conjunction(name, result, rhs)
        return result

    def visit_IfExp(self, node):
        condition = self.condition(node.test)
        known = self.known_condition(node.test, condition)
        if known is not None:
            return self.visit(node.body if known else node.orelse)
        return self.branch_expression(node, condition)

    def visit_Attribute(self, node):
        value = self.visit(node.value)
        self.at(node)
        name = node.attr
        if name == "value" and is_its_own_value(value):
            return value
        if isinstance(value, tensor) and value.constant is not None and name == "value":
            return value.constant
        if name == "type" and is_plain_constant(value):
            return ty.constexpr_type(value)
        if isinstance(value, (int, float)) and name in ("to", "dtype", "shape"):
            value = to_tensor(value)
        try:
            found = getattr(value, name)
        except AttributeError:
            raise self.error(node, _no_attribute(value, name)) from None
        self.note_attribute(value, name, found)
        return unwrap(found)

    def note_attribute(self, value, name: str, found):
        """Notes what the kernel reads of modules, classes, functions and objects that it has from
        outside: attributes may change."""
        used = self.session.used_globals
        is_place = isinstance(value, (type, types.ModuleType, types.FunctionType))
        is_outside = id(value) in self.session.outside
        # Lists, say, that nobody calls constant: programs add to them.
        is_forgiven = not isinstance(found, constexpr)
        if (is_place or is_outside) and may_change(found):
            self.session.outside[id(found)] = found
        if is_outside and isinstance(found, types.MethodType):
            self.note_object(value)
        elif not is_compiled_in(found) or not (is_place or has_state(value)):
            pass
        elif isinstance(value, type):
            note_global(value, name, found, used, is_forgiven)
        elif name in getattr(value, "__dict__", ()):
            # Arguments of launches are compared with their attributes.
            if is_place or is_outside:
                note_global(vars(value), name, found, used, is_forgiven)
        elif any(vars(kind).get(name) is found for kind in type(value).__mro__):
            note_global(type(value), name, found, used, is_forgiven)
        elif is_outside:
            # What a module makes on demand does not change.
            note_global(Owner(value), name, found, used, is_forgiven)

    def note_object(self, value):
        """Notes all of an object that the kernel has from outside: it does more with it than to read
        attributes. Returns it."""
        if id(value) in self.session.outside:
            note_object(value, self.session.used_globals)
        return value

    def visit_Subscript(self, node):
        value = self.note_object(self.visit(node.value))
        key = self.visit(node.slice)
        self.at(node)
        if hasattr(value, "compiled_function"):
            raise self.error(node, f"kernels cannot launch kernels: call the function, as "
                             f"{ast.unparse(node.value)}(...)")
        if isinstance(value, tensor):
            return semantic.subscript(value, key)
        if isinstance(key, tensor):
            key = operator.index(key)
        if not hasattr(value, "__getitem__"):
            raise self.error(node, f"{show(value)} cannot be subscripted")
        return unwrap(value[key])

    def visit_ListComp(self, node):
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self.error(node, "only list comprehensions with one `for` can be used in kernels",
                             UnsupportedLanguageConstruct)
        generator = node.generators[0]
        saved, result = dict(self.scope), []
        for item in self.static_items(generator.iter):
            self.assign(generator.target, item)
            if all(core.compile_time(self.visit(test), "a filter") for test in generator.ifs):
                result.append(self.visit(node.elt))
        self.scope = saved
        return result

    visit_GeneratorExp = visit_ListComp

    def visit_Lambda(self, node):
        signature = self.lambda_signature(node.args)

        def function(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            saved = dict(self.scope)
            self.scope.update(bound.arguments)
            result = self.visit(node.body)
            self.scope = saved
            return result

        return function

    def lambda_signature(self, arguments):
        """The parameters of a lambda; their defaults are evaluated where it is made."""
        kinds, absent = inspect.Parameter, inspect.Parameter.empty
        names = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(names) - len(arguments.defaults)) + arguments.defaults
        parts = [(kinds.POSITIONAL_OR_KEYWORD, *pair) for pair in zip(names, defaults)]
        if arguments.vararg is not None:
            parts.append((kinds.VAR_POSITIONAL, arguments.vararg, None))
        parts += [(kinds.KEYWORD_ONLY, *pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        if arguments.kwarg is not None:
            parts.append((kinds.VAR_KEYWORD, arguments.kwarg, None))
        return inspect.Signature([
            inspect.Parameter(a.arg, kind, default=absent if d is None else self.visit(d))
            for kind, a, d in parts])

    def visit_Starred(self, node):
        raise self.error(node, "'*' can be used in calls, tuples and lists only")

    # Calls --------------------------------------------------------------------------------

    def visit_Call(self, node):
        is_unused = node is self.unused
        function = self.visit(node.func)
        if is_unused:
            self.check_unused(node, function)
        args = self.elements(_Elements(node.args))
        kwargs = {}
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            if keyword.arg is None:
                kwargs.update(self.note_object(value))
            else:
                kwargs[keyword.arg] = value
        self.at(node)
        result = self.call(function, args, kwargs, node)
        self.check_fixed_containers(node)
        return result

    def check_unused(self, node, function):
        """The call is a statement: its result is thrown away."""
        function = getattr(function, "function", function) if isinstance(function, BoundMethod) else function
        reason = getattr(function, "_must_use_result", False)
        if reason:
            text = f"The result of {ast.unparse(node.func)} is not being used."
            raise self.error(node, f"{text} {reason}" if isinstance(reason, str) else text)

    def call(self, function, args, kwargs, node=None):
        function = unwrap(function)
        try:
            function = REPLACED.get(function, function)
        except TypeError:
            pass
        if isinstance(function, BoundMethod):
            function, args = function.function, [function.instance, *args]
        if hasattr(function, "compiled_function"):
            return self.inline(function.compiled_function(), args, kwargs, node)
        for value in (function, *args, *kwargs.values()):
            self.note_object(value)
        if getattr(function, "__triton_builtin__", False):
            return self.call_builtin(function, args, kwargs)
        if isinstance(function, type) and issubclass(function, Aggregate):
            return function(*args, **kwargs)
        if isinstance(function, tensor):
            raise TypeError(f"a value of type {function.type} cannot be called")
        owner = getattr(function, "__self__", None)
        module = getattr(function, "__module__", None) or ""
        if (module.startswith("tile.language") or module.startswith("tile.compiler")
                or isinstance(function, ty.dtype) or hasattr(owner, "parts")
                or isinstance(owner, (tensor, list, dict)) or isinstance(owner, type)
                and issubclass(owner, Aggregate)):
            return self.call_language(function, args, kwargs)
        if not callable(function):
            raise TypeError(f"{show(function)} cannot be called")
        if any_runtime(args) or any_runtime(kwargs.values()):
            if function in (isinstance, hasattr, getattr, type, tuple, list, zip, enumerate, reversed,
                            callable, str, repr) or isinstance(function, type) and issubclass(function, tuple):
                return function(*args, **kwargs)
            raise TypeError(_cannot_call(function))
        if function is ranges.range:
            return function(*args, **kwargs)
        note_reads(function, self.session.used_globals)
        return ty.plain(function(*args, **kwargs))

    def call_language(self, function, args, kwargs):
        """Calls a function of the language, or of a value that the language has made."""
        try:
            return unwrap(function(*args, **kwargs))
        except AttributeError as error:
            # It took an argument for a tile that is none.
            name = getattr(function, "__name__", "this function")
            given = ", ".join(show(a) for a in (*args, *kwargs.values()))
            raise TypeError(f"{name} does not work on ({given}): {error}") from error
        except TypeError as error:
            # Python names the constructor of a class.
            raise TypeError(str(error).replace(".__init__()", "()").replace(".__call__()", "()")) from error

    def call_builtin(self, function, args, kwargs):
        """Calls a Python function that its author has marked as one of the language, as PyTorch
        Inductor does: it takes tiles as they are, and what is known at compile time as constexpr."""

        def mark(value):
            known = value is None or isinstance(value, (bool, int, float, str, ty.dtype))
            return ty.constexpr(value) if known else value

        return unwrap(function(*map(mark, args), **{name: mark(v) for name, v in kwargs.items()}))

    def inline(self, function, args, kwargs, node):
        """Compiles the body of `function` at this place; its result."""
        if self.depth >= _MAXIMAL_DEPTH:
            raise RecursionError(f"calls are nested more than {_MAXIMAL_DEPTH} deep at "
                                 f"{function.name}: kernels cannot recurse")
        scope = function.bind(args, kwargs)
        for name, value in function.changing_defaults.items():
            note_global(function.changing_defaults, name, value, self.session.used_globals, is_forgiven=True)
        inner = FunctionCompiler(self.session, function, scope, self)
        self.builder.enter_call()
        self.session.stack.append(inner)
        try:
            return inner.compile_body()
        except CompilationError as error:
            if node is not None:
                error.callers.append(self.frame(node))
            raise
        except RecursionError as error:
            if node is None:
                raise
            # Python's own limit may come first.
            raise self.error(node, f"calls of {function.name} are nested too deeply: kernels cannot "
                             "recurse, but for as long as a constexpr tells; calls that end need a larger "
                             "sys.setrecursionlimit") from error
        finally:
            self.session.stack.pop()
            self.builder.leave_call()

    def compile_body(self):
        """Compiles all statements; what the function returns."""
        body = self.function.tree.body
        result = self.block(body)
        return result.value if result is not None else None


class _Elements:
    """A list of expressions, in the form of a tuple's node."""

    def __init__(self, elts):
        self.elts = elts


_SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
            ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"}
_HINTS = {
    "Break": "loops of kernels run to their end: use `while` with a condition, or mask what follows by "
             "tl.where or `if`",
    "Continue": "put the rest of the loop's body into an `if`",
    "FunctionDef": "make it a @tile.jit function outside of the kernel",
    "ClassDef": "make it a @tl.aggregate class outside of the kernel",
    "Try": "kernels raise no exceptions; use tl.device_assert",
    "Raise": "use tl.static_assert for what is known at compile time, tl.device_assert for the rest",
    "Yield": "a kernel cannot be a generator", "YieldFrom": "a kernel cannot be a generator",
    "Import": "import outside of the kernel", "ImportFrom": "import outside of the kernel",
    "Global": "kernels cannot change global variables: write to memory with tl.store",
    "Nonlocal": "kernels cannot change variables of other functions: write to memory with tl.store",
    "Delete": "variables need no deletion", "Match": "use `if` and `elif`",
    "Set": "use a tuple", "SetComp": "use a list comprehension", "DictComp": "use a list comprehension",
}
_NAMES = {"Break": "break", "Continue": "continue", "Try": "try", "Raise": "raise", "Yield": "yield",
          "ClassDef": "class", "FunctionDef": "a nested function", "AsyncFunctionDef": "async",
          "Import": "import", "ImportFrom": "import", "Global": "global", "Nonlocal": "nonlocal",
          "Delete": "del", "Match": "match", "MatMult": "@", "BinOp": "the operator @; use tl.dot,",
          "Await": "await", "DictComp": "a dict comprehension", "SetComp": "a set comprehension",
          "Set": "a set", "YieldFrom": "yield from", "AsyncFor": "async", "AsyncWith": "async"}


def _describe(node) -> str:
    name = type(node).__name__
    return _NAMES.get(name, f"a {name} node")


def _cannot_call(function) -> str:
    """Why a Python function or class takes no values of kernels, and what may help."""
    name = getattr(function, "__qualname__", repr(function))
    short = getattr(function, "__name__", "")
    language = sys.modules["tile.language"]
    if isinstance(function, type) and not hasattr(language, short):
        return (f"{name} is a Python class, which kernels can use with values that are known at compile "
                "time only; for values of kernels make it a @tl.aggregate or a NamedTuple")
    if hasattr(language, short):
        hint = f"; use tl.{short}"
    elif hasattr(language.libdevice, short):
        hint = f"; use tl.extra.libdevice.{short}"
    else:
        hint = ""
    return (f"{name} is no @tile.jit function: it can be called with values that are known at compile "
            f"time only{hint}")


def _no_attribute(value, name: str) -> str:
    if isinstance(value, tensor):
        return f"a value of type {value.type} has no attribute {name!r}{_suggestion(name, dir(value))}"
    described = getattr(value, "__name__", None) or show(value)
    hint = _suggestion(name, dir(value))
    if not hint and described.startswith("tile."):
        hint = "; maybe this compiler does not support it yet"
    return f"{described} has no attribute {name!r}{hint}"


def _suggestion(name: str, known) -> str:
    """What may have been meant by a name that is not there."""
    known = [k for k in known if not k.startswith("_") and k != name]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f"; did you mean {close[0]!r}?" if close else ""
