# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a kernel's function run as Python.

Most of a kernel runs as it stands. Where the language differs from Python (a variable that is
assigned a number is a tensor; `and`, `or`, `not`, chained comparisons and conditional
expressions work on tiles and scalars of the device; `range`, `min`, `max`, `abs`, `int` and the
like are the language's) the expression is wrapped in a call of `support.Helper`. Lines and
columns stay what they are, so that debuggers, tracebacks and breakpoints work.
"""

from __future__ import annotations

import ast
import copy
import types

from ..compiler import analysis
from ..language.types import constexpr

# The free variable through which rewritten code reaches its helper.
HELPER = "__tile_interpreter__"
_BUILTINS = ("range", "min", "max", "abs", "sum", "int", "float", "bool")
_ABSENT = object()
# The code of all functions that were rewritten.
CODES = set()


def _bound_names(tree) -> set:
    """All names that the function, or a function in it, binds."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def _is_number(node) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))


class _Rewriter(ast.NodeTransformer):

    def __init__(self, function, tree):
        self.function = function
        self.local = _bound_names(tree)
        self.temporaries = 0
        # The conditions of the branches with a return that decided on what is run now.
        self.deciding = []
        self.is_in_iterable = False
        # The kernels that are called by name.
        self.called = []

    def helper(self, name: str, *arguments, at):
        """A call of one of the helper's methods, at the place of a node."""
        method = ast.Attribute(ast.Name(HELPER, ast.Load()), name, ast.Load())
        return self.place(ast.Call(method, list(arguments), []), at)

    def place(self, node, at):
        ast.copy_location(node, at)
        for child in ast.walk(node):
            if not hasattr(child, "lineno") and isinstance(child, (ast.expr, ast.arg, ast.stmt)):
                ast.copy_location(child, at)
        return node

    def parameter(self, name: str, at):
        """Gives a parameter that is annotated as constexpr its plain value."""
        value = self.helper("parameter", ast.Name(name, ast.Load()), at=at)
        made = self.place(ast.Assign([ast.Name(name, ast.Store())], value), at)
        for node in ast.walk(made):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = at.lineno
        return made

    def temporary(self, value, at):
        """An expression that keeps a value, and the name under which it is kept."""
        self.temporaries += 1
        name = f"__tile_value_{self.temporaries}"
        kept = self.place(ast.NamedExpr(ast.Name(name, ast.Store()), value), at)
        return kept, lambda: self.place(ast.Name(name, ast.Load()), at)

    # Names and attributes -----------------------------------------------------------------

    def found(self, name: str):
        code = self.function.__code__
        if name in code.co_freevars:
            try:
                return self.function.__closure__[code.co_freevars.index(name)].cell_contents
            except ValueError:
                return None
        return self.function.__globals__.get(name, _ABSENT)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id in self.local:
            return node
        value = self.found(node.id)
        if value is _ABSENT and node.id in _BUILTINS:
            return self.place(ast.Attribute(ast.Name(HELPER, ast.Load()), f"builtin_{node.id}",
                                            ast.Load()), node)
        if isinstance(value, constexpr):
            return self.helper("unwrap", node, at=node)
        return node

    def visit_List(self, node):
        node = self.generic_visit(node)
        return self.helper("kernel_list", node, at=node) if isinstance(node.ctx, ast.Load) else node

    def visit_ListComp(self, node):
        return self.helper("kernel_list", self.generic_visit(node), at=node)

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        is_global = isinstance(node.value, ast.Name) and node.value.id not in self.local
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr == "value":
            return self.helper("value_of", node.value, at=node)
        if node.attr == "type" and not is_global:
            return self.helper("type_of", node.value, at=node)
        if node.attr in ("to", "dtype", "shape") and not is_global:
            node.value = self.helper("boxed", node.value, at=node.value)
        return node

    def visit_Call(self, node):
        """Calls of kernels by name go to their Python functions without a detour, so that
        debuggers step right into them."""
        node = self.generic_visit(node)
        if not isinstance(node.func, ast.Name):
            return node
        called = None if node.func.id in self.local else self.found(node.func.id)
        if node.func.id in self.local or hasattr(called, "compiled_function"):
            if called is not None:
                self.called.append(called)
            natives = ast.Attribute(ast.Name(HELPER, ast.Load()), "natives", ast.Load())
            node.func = self.place(ast.Subscript(natives, node.func, ast.Load()), node.func)
        return node

    # Statements ---------------------------------------------------------------------------

    def visit_Assign(self, node):
        node = self.generic_visit(node)
        if not (isinstance(node.value, ast.Constant) and not _is_number(node.value)):
            node.value = self.helper("assignable", node.value, at=node.value)
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return self.place(ast.Pass(), node)
        method = "constant" if analysis.is_constexpr_annotation(node.annotation) else "assignable"
        value = self.helper(method, self.visit(node.value), at=node.value)
        return self.place(ast.Assign([self.visit(node.target)], value), node)

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        loaded = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        operation = ast.Constant(type(node.op).__name__)
        result = self.helper("augmented", operation, loaded, self.visit(node.value), at=node)
        return self.place(ast.Assign([node.target], result), node)

    def visit_NamedExpr(self, node):
        node = self.generic_visit(node)
        node.value = self.helper("assignable", node.value, at=node.value)
        return node

    def visit_If(self, node):
        if not analysis.contains_return(node):
            return self.generic_visit(node)
        # What a branch of the device returns are tensors.
        node.test, load = self.temporary(self.visit(node.test), node.test)
        self.deciding.append(load)
        for side in ("body", "orelse"):
            known = len(self.deciding)
            setattr(node, side, [self.visit(statement) for statement in getattr(node, side)])
            del self.deciding[known:]
        return node

    def visit_Return(self, node):
        if node.value is None:
            return node
        node = self.generic_visit(node)
        if self.deciding:
            conditions = [load() for load in self.deciding]
            node.value = self.helper("returned", node.value, *conditions, at=node.value)
        return node

    def visit_Assert(self, node):
        node = self.generic_visit(node)
        node.test = self.helper("holds", node.test, at=node.test)
        return node

    def visit_comprehension(self, node):
        # Python allows no temporaries there.
        at, self.is_in_iterable = node.iter, True
        items = self.visit(node.iter)
        self.is_in_iterable = False
        node.iter = self.helper("static_items", items, at=at)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    # Logic --------------------------------------------------------------------------------

    def visit_BoolOp(self, node):
        node = self.generic_visit(node)
        if self.is_in_iterable:
            return node
        name = "and" if isinstance(node.op, ast.And) else "or"
        result = node.values[0]
        for value in node.values[1:]:
            kept, load = self.temporary(result, node)
            test = self.helper("decides", ast.Constant(name), kept, at=node)
            rest = self.helper("conjunction", ast.Constant(name), load(), value, at=node)
            result = self.place(ast.IfExp(test, load(), rest), node)
        return result

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return self.helper("negation", node.operand, at=node)
        return node

    def visit_Compare(self, node):
        node = self.generic_visit(node)
        if self.is_in_iterable:
            return node
        if len(node.ops) == 1:
            return self.relation(node, node.left, node.ops[0], node.comparators[0])
        left, result = node.left, None
        for op, right in zip(node.ops, node.comparators):
            kept, load = self.temporary(right, node)
            part = self.relation(node, left, op, kept)
            left = load()
            result = part if result is None else self.helper("conjunction", ast.Constant("and"), result,
                                                             part, at=node)
        return result

    def relation(self, node, left, op, right):
        if isinstance(op, (ast.Eq, ast.NotEq)):
            name = "equal" if isinstance(op, ast.Eq) else "unequal"
            return self.helper(name, left, right, at=node)
        return self.place(ast.Compare(left, [op], [right]), node)

    def visit_IfExp(self, node):
        if self.is_in_iterable:
            return self.generic_visit(node)
        # A number adapts to the type of the other value, which is then evaluated for its type
        # alone. The copy is rewritten with names of its own.
        sides = [copy.deepcopy(node.orelse), copy.deepcopy(node.body)]
        adapts = [_is_number(node.body), _is_number(node.orelse)]
        test, load = self.temporary(self.visit(node.test), node)
        values = []
        for value, other, is_number in zip((node.body, node.orelse), sides, adapts):
            arguments = [load(), self.visit(value)]
            if is_number:
                arguments.append(ast.Lambda(_no_arguments(), self.visit(other)))
            values.append(self.helper("chosen", *arguments, at=node))
        return self.place(ast.IfExp(test, *values), node)


def _no_arguments():
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def rewrite(function, helper):
    """The Python function of a `compiler.function.Function`, made to run as a kernel, and the
    kernels that it calls by name."""
    original = function.python_function
    tree = function.parse()
    body = _Rewriter(original, tree)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    tree.body = [body.parameter(name, tree) for name in sorted(function.constexpr_names)] + [
        body.visit(statement) for statement in tree.body or [ast.Pass(lineno=1, col_offset=0)]]
    tree.decorator_list, tree.returns = [], None
    arguments = tree.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg,
                     arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    # Defaults are the original's, and not evaluated anew.
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [None if d is None else ast.Constant(None) for d in arguments.kw_defaults]
    # In a function whose parameters are the free variables, these become free in the code too.
    free = [*original.__code__.co_freevars, HELPER]
    outer = ast.parse("def outer(): pass").body[0]
    outer.args.args = [ast.arg(name) for name in free]
    outer.body = [tree]
    # Under its own name, a function that calls itself would look for itself in `outer`.
    tree.name = f"{HELPER}_function"
    module = ast.fix_missing_locations(ast.Module([outer], []))
    ast.increment_lineno(tree, function.line_offset)
    code = compile(module, function.file, "exec", dont_inherit=True)
    code = _code_in(_code_in(code, "outer"), tree.name).replace(co_name=original.__name__)
    CODES.add(code)
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
    cells[HELPER] = types.CellType(helper)
    made = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__,
                              tuple(cells[name] for name in code.co_freevars))
    made.__kwdefaults__ = original.__kwdefaults__
    made.__qualname__, made.__module__, made.__doc__ = (original.__qualname__, original.__module__,
                                                        original.__doc__)
    return made, body.called


def _code_in(code, name: str):
    return next(constant for constant in code.co_consts
                if isinstance(constant, types.CodeType) and constant.co_name == name)
