# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements of kernels: assignments, branches, loops, return."""

from __future__ import annotations

import ast
import contextlib
import operator

from ..errors import UnsupportedLanguageConstruct
from ..language import core, debugging, ranges, semantic
from ..language import types as ty
from ..language.aggregate import Aggregate
from ..language.semantic import is_number, show, to_tensor
from ..language.tensor import tensor
from . import analysis
from .containers import KINDS, Containers
from .values import NotCarried, Returned, Undefined, alike, describe, flatten, identical, rebuild, same


_MAXIMAL_EARLY_RETURNS = 2000
# Operators that change a container in place.
_IN_PLACE = {ast.Add: operator.iadd, ast.Mult: operator.imul, ast.Sub: operator.isub,
             ast.BitOr: operator.ior, ast.BitAnd: operator.iand, ast.BitXor: operator.ixor}


class Statements(Containers):
    """The part of the function compiler that visits statements."""

    def block(self, statements):
        """Compiles a block; `Returned` if it ends the function, else None."""
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.If) and analysis.contains_return(statement):
                return self.branch_with_return(statement, statements[index + 1:])
            result = self.visit(statement)
            if result is not None and type(result).__name__ == "Returned":
                return result
        return None

    # Simple statements --------------------------------------------------------------------

    def visit_Expr(self, node):
        self.unused = node.value
        self.visit(node.value)

    def visit_Pass(self, node):
        pass

    def visit_Return(self, node):
        if self.loop_depth:
            raise self.return_in_loop(node)
        value = None if node.value is None else self.visit(node.value)
        if value is not None and self.is_kernel:
            raise self.error(node, "a kernel cannot return a value: store it to memory")
        return Returned(value)

    def return_in_loop(self, node):
        place = next(n for n in ast.walk(node) if isinstance(n, ast.Return))
        return self.error(place, "`return` in a loop is not supported: loops of kernels run to their "
                          "end; mask what follows by `if` or tl.where", UnsupportedLanguageConstruct)

    def visit_Assert(self, node):
        condition = self.visit(node.test)
        message = "" if node.msg is None else self.visit(node.msg)
        self.at(node)
        if isinstance(condition, tensor) and condition.constant is None:
            debugging.device_assert(condition, message)
        else:
            debugging.static_assert(condition, message)

    def visit_With(self, node):
        """Context managers that are entered and left while the kernel is compiled."""
        if any(analysis.contains_return(statement) for statement in node.body[:-1]) or (
                analysis.contains_return(node.body[-1]) and not isinstance(node.body[-1], ast.Return)):
            raise self.error(node, "`return` in the middle of a `with` is not supported",
                             UnsupportedLanguageConstruct)
        with contextlib.ExitStack() as stack:
            for item in node.items:
                manager = self.visit(item.context_expr)
                if not hasattr(type(manager), "__enter__"):
                    raise self.error(item.context_expr, f"`with` needs a context manager, got "
                                     f"{show(manager)}")
                value = stack.enter_context(manager)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, self.assignable(value))
            return self.block(node.body)

    def assignable(self, value):
        """A value as a variable holds it: literals become tensors that know their value."""
        value = ty.unwrap(value)
        if is_number(value):
            return to_tensor(value)
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                return type(value)(*(self.assignable(v) for v in value))
            return tuple(self.assignable(v) for v in value)
        return value

    def visit_Assign(self, node):
        value = self.assignable(self.visit(node.value))
        self.at(node)
        for target in node.targets:
            self.assign(target, value)

    def visit_AnnAssign(self, node):
        if node.value is None:
            return
        value = self.visit(node.value)
        self.at(node)
        # As in Triton, what is only known at run time is a variable like others.
        is_variable = isinstance(value, tensor) and value.constant is None
        if analysis.is_constexpr_annotation(node.annotation) and not is_variable:
            value = core.compile_time(value, f"{ast.unparse(node.target)}, a tl.constexpr,")
            if isinstance(value, tuple):
                value = tuple(core.compile_time(v, "an element of a constexpr") for v in value)
        else:
            value = self.assignable(value)
        self.assign(node.target, value)

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "only variables can be assigned in kernels")
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        lhs = self.visit(load)
        rhs = self.visit(node.value)
        if isinstance(lhs, KINDS) and node.target.id in self.scope and type(node.op) in _IN_PLACE and (
                not isinstance(rhs, tensor)):
            result = _IN_PLACE[type(node.op)](lhs, rhs)
            self.check_fixed_containers(node)
        else:
            result = self.binary(node, type(node.op), lhs, rhs)
        self.assign(node.target, self.assignable(result))

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.scope[target.id] = value
            return
        if isinstance(target, ast.Attribute):
            owner = self.visit(target.value)
            if isinstance(owner, Aggregate):
                try:
                    setattr(owner, target.attr, value)
                except (TypeError, AttributeError) as error:
                    raise self.error(target, str(error)) from None
                return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise self.error(target, "only variables can be assigned in kernels; write to memory with "
                             "tl.store")
        if isinstance(value, tensor) or not hasattr(value, "__len__"):
            raise self.error(target, f"{show(value)} cannot be unpacked")
        stars = [i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        if stars:
            first, rest = stars[0], len(target.elts) - stars[0] - 1
            if len(value) < first + rest:
                raise self.error(target, f"{len(value)} values for at least {first + rest} variables")
            values = (list(value[:first]) + [tuple(value[first:len(value) - rest])]
                      + list(value[len(value) - rest:]))
        else:
            values = list(value)
        if len(values) != len(target.elts):
            raise self.error(target, f"{len(values)} values for {len(target.elts)} variables")
        for element, part in zip(target.elts, values):
            self.assign(element.value if isinstance(element, ast.Starred) else element, part)

    # Branches -----------------------------------------------------------------------------

    def condition(self, node):
        """The value of a condition; a tile of one element as the scalar that it holds."""
        value = self.note_object(self.visit(node))
        if not (isinstance(value, tensor) and value.shape and value.numel == 1):
            return value
        self.at(node)
        return core.item(value)

    def known_condition(self, node, condition):
        """True or False if a condition is known at compile time, else None."""
        if not isinstance(condition, tensor):
            return bool(condition)
        if condition.shape:
            raise self.error(node, f"a condition must be a scalar, got {condition.type}; use tl.where, "
                             "or reduce it first")
        return None if condition.constant is None else bool(condition.constant)

    def visit_If(self, node):
        condition = self.condition(node.test)
        known = self.known_condition(node.test, condition)
        if known is not None:
            return self.block(node.body if known else node.orelse)

        def run(statements, before):
            self.block(statements)
            return self.changes(before), self.scope

        branch, before, sides = self.both_sides(node, condition, run)
        self.at(node)
        self.merge(node, branch, before, sides)
        return None

    def both_sides(self, node, condition, run):
        """Opens a branch and gives each side of the `if` to `run(statements, before)`, in a
        scope of its own. Returns the branch, the scope before it and both results."""
        self.at(node)
        before = dict(self.scope)
        branch = self.builder.begin_if(semantic.truth(condition).handle)
        sides = []
        for statements in (node.body, node.orelse):
            if sides:
                self.builder.begin_else(branch)
            self.scope = dict(before)
            kept = self.containers()
            sides.append(run(statements, before))
            self.check_containers(node, kept, "a branch that the running kernel decides on")
        return branch, before, sides

    def changes(self, before):
        """The variables that the branch just compiled has changed: (value, structure,
        handles). Handles are made now, inside the branch."""
        changed = {}
        for name, value in self.scope.items():
            if name in before and identical(before[name], value):
                continue
            changed[name] = self.flattened(value)
        return changed

    def flattened(self, value):
        tensors = []
        try:
            structure = flatten(value, tensors)
        except NotCarried:
            return value, None, None, None
        return value, structure, tensors, [t.handle for t in tensors]

    def merge(self, node, branch, before, sides):
        """Ends a branch; variables that differ become its results."""
        scopes = [side[1] for side in sides]
        sides = [side[0] for side in sides]
        scope, names, yields = dict(before), [], ([], [])
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            values = [side[name][0] if name in side else before.get(name, Undefined("")) for side in sides]
            if any(isinstance(v, Undefined) for v in values):
                scope[name] = Undefined("in one branch of an `if`")
            elif identical(*values):
                scope[name] = values[0]
            else:
                parts = [side.get(name) for side in sides]
                self.merge_one(node, branch, name, values, parts, scope, names, yields)
        results = self.builder.end_if(branch, yields[0], yields[1])
        self.scope = scope
        position = 0
        for name, structure, tensors in names:
            made = []
            for template in tensors:
                made.append(tensor(results[position], template.dtype, template.shape))
                position += 1
            self.scope[name] = rebuild(structure, iter(made))
            self.note_merged(name, [(side[name], side) for side in scopes], self.scope[name])

    def merge_one(self, node, branch, name, values, parts, scope, names, yields):
        complete = []
        for side, (value, part) in enumerate(zip(values, parts)):
            # A side that left the variable alone has no handles yet: constants are made
            # where they are used.
            if part is None:
                self.builder.resume_branch(branch, side)
                part = self.flattened(value)
            complete.append(part)
        first, second = complete
        if first[1] is None or second[1] is None:
            scope[name] = Undefined("to values that differ at compile time, in branches of an `if`,")
            return
        if not same(first[1], second[1]):
            raise self.error(node, f"{name} has type {describe(first[1])} if the condition holds, but "
                             f"{describe(second[1])} otherwise")
        yields[0].extend(first[3])
        yields[1].extend(second[3])
        names.append((name, first[1], first[2]))

    def branch_expression(self, node, condition):
        """`x if condition else y` of a condition that is known at run time only."""
        self.at(node)
        branch = self.builder.begin_if(semantic.truth(condition).handle)
        kept = self.containers()
        first = self.flattened(self.visit(node.body))
        self.builder.begin_else(branch)
        second = self.flattened(self.visit(node.orelse))
        self.check_containers(node, kept, "a branch that the running kernel decides on")
        ways = [(side[0], self.scope) for side in (first, second)]
        if first[1] is None or second[1] is None or not same(first[1], second[1]):
            first, second = self.unify(node, branch, first, second)
        results = self.builder.end_if(branch, first[3], second[3])
        made = [tensor(r, t.dtype, t.shape) for r, t in zip(results, first[2])]
        result = rebuild(first[1], iter(made))
        self.note_merged("", ways, result)
        return result

    def unify(self, node, branch, first, second):
        """Both sides of a conditional expression in one type: a literal adapts."""
        a, b = first[0], second[0]
        if is_number(a) and isinstance(b, tensor) and not b.shape:
            self.builder.resume_branch(branch, 0)
            return self.flattened(semantic.cast(to_tensor(a), b.dtype)), second
        if is_number(b) and isinstance(a, tensor) and not a.shape:
            self.builder.resume_branch(branch, 1)
            return first, self.flattened(semantic.cast(to_tensor(b), a.dtype))
        raise self.error(node, f"the values of a conditional expression must have one type, got "
                         f"{show(a)} and {show(b)}")

    def branch_with_return(self, node, rest):
        """An `if` with a return: each branch is followed by the rest of its block."""
        if self.loop_depth:
            raise self.return_in_loop(node)
        condition = self.condition(node.test)
        known = self.known_condition(node.test, condition)
        if known is not None:
            return self.block((node.body if known else node.orelse) + rest)

        def run(statements, before):
            result = self.block(statements + rest)
            return self.flattened(None if result is None else result.value)

        # The rest of the block is compiled for each side that does not return.
        self.session.early_returns += 1
        if self.session.early_returns > _MAXIMAL_EARLY_RETURNS:
            raise self.error(node, "there are too many ways through `return`s in nested branches: each "
                             "one compiles the rest of the function again. Return at the end, or mask "
                             "what follows", UnsupportedLanguageConstruct)
        branch, before, sides = self.both_sides(node, condition, run)
        first, second = sides
        if first[1] is None or second[1] is None or not same(first[1], second[1]):
            kinds = [show(s[0]) if s[1] is None else describe(s[1]) for s in sides]
            raise self.error(node, f"the function returns {kinds[0]} if the condition holds, but "
                             f"{kinds[1]} otherwise")
        self.at(node)
        results = self.builder.end_if(branch, first[3], second[3])
        self.scope = before
        made = [tensor(r, t.dtype, t.shape) for r, t in zip(results, first[2])]
        result = rebuild(first[1], iter(made))
        self.note_merged("", [(side[0], {}) for side in sides], result)
        return Returned(result)

    # Loops --------------------------------------------------------------------------------

    def carried(self, node, statements, skip=()):
        """The variables that a loop changes, as (name, structure, tensors)."""
        result = []
        for name in analysis.assigned_names(statements):
            if name in skip or name not in self.scope or isinstance(self.scope[name], Undefined):
                continue
            tensors = []
            try:
                structure = flatten(self.scope[name], tensors)
            except NotCarried:
                continue
            if tensors:
                result.append((name, structure, tensors))
        return result

    def enter_loop(self, carried, handles, scopes=None):
        """Gives the carried variables their values inside the loop, or after it; `scopes` are the
        variables on the ways to there if they are not those at this place."""
        scopes = scopes or [dict(self.scope)]
        values = iter(handles)
        for name, structure, tensors in carried:
            made = [tensor(next(values), t.dtype, t.shape) for t in tensors]
            self.scope[name] = rebuild(structure, iter(made))
            self.note_merged(name, [(scope[name], scope) for scope in scopes], self.scope[name])

    def yields(self, node, carried):
        """The values of the carried variables at the end of the loop's body."""
        handles = []
        for name, structure, _ in carried:
            value = self.scope[name]
            _, now, _, made = self.flattened(value)
            if now is None or not same(structure, now):
                found = show(value) if now is None else describe(now)
                raise self.error(node, f"{name} has type {describe(structure)} before the loop, but "
                                 f"{found} at the end of its body: loop-carried variables cannot "
                                 "change their type")
            handles.extend(made)
        return handles

    def leave_loop(self, before, carried, results):
        """Variables after a loop: those from before, with new values if carried."""
        inside = self.scope
        self.scope = dict(before)
        for name, value in inside.items():
            if name not in before:
                self.scope[name] = Undefined("in a loop")
            elif not alike(before[name], value):
                self.scope[name] = Undefined("to something that a loop cannot carry, in a loop")
            elif not identical(before[name], value):
                self.note_merged(name, [(before[name], before), (value, inside)], before[name])
        self.enter_loop(carried, results, [before, inside])

    def static_items(self, node):
        """The items of a loop that is unrolled at compile time."""
        iterable = self.note_object(self.visit(node))
        if isinstance(iterable, (ranges.range, ranges.static_range)):
            return self.static_range(iterable)
        if isinstance(iterable, tensor):
            raise self.error(node, "a tile cannot be iterated over")
        return list(iterable)

    def static_range(self, iterable):
        bounds = [core.compile_time_int(b, "a bound of static_range")
                  for b in (iterable.start, iterable.end, iterable.step)]
        return list(range(*bounds))

    def visit_For(self, node):
        if node.orelse:
            raise self.error(node, "`else` of a loop is not supported", UnsupportedLanguageConstruct)
        iterable = self.note_object(self.visit(node.iter))
        if isinstance(iterable, ranges.range):
            self.device_loop(node, iterable)
            return
        if isinstance(iterable, ranges.static_range):
            items = self.static_range(iterable)
        elif isinstance(iterable, tensor) or not hasattr(iterable, "__iter__"):
            raise self.error(node.iter, f"loops run over range, tl.range, tl.static_range or tuples, "
                             f"not over {show(iterable)}")
        else:
            items = list(iterable)
        self.loop_depth += 1
        for item in items:
            self.assign(node.target, item)
            self.block(node.body)
        self.loop_depth -= 1

    def loop_bounds(self, node, iterable):
        """Start, end and step as tensors of one type."""
        bounds = []
        for value in (iterable.start, iterable.end, iterable.step):
            value = to_tensor(value)
            if value.shape or not value.dtype.is_int():
                raise self.error(node.iter, f"the bounds of a loop must be integer scalars, got "
                                 f"{value.type}")
            bounds.append(value)
        type_ = bounds[0].dtype
        for bound in bounds[1:]:
            type_ = semantic.computation_type(type_, False, bound.dtype, False, False)
        if type_.primitive_bitwidth < 32:
            type_ = ty.int32
        elif type_.is_int_unsigned():
            type_ = ty.int64
        return [semantic.cast(b, type_) for b in bounds], type_

    def device_loop(self, node, iterable):
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "the variable of a loop over a range must be a name")
        (start, end, step), type_ = self.loop_bounds(node, iterable)
        falls = step.constant is not None and step.constant < 0
        if step.constant == 0:
            raise self.error(node.iter, "the step of a loop must not be zero")
        self.at(node)
        if falls:
            # scf.for only rises: count the rounds, and compute the variable from them.
            size = -step.constant
            rounds = semantic.arithmetic("//", semantic.add(semantic.sub(start, end), size - 1), size)
            low, high, by = semantic.constant(0, type_), rounds, semantic.constant(1, type_)
        else:
            low, high, by = start, end, step
        name = node.target.id
        before = dict(self.scope)
        carried = self.carried(node, node.body, skip=(name, ))
        inits = [t.handle for _, _, tensors in carried for t in tensors]
        loop, induction, arguments = self.builder.begin_for(low.handle, high.handle, by.handle, inits,
                                                            iterable.hints)
        self.enter_loop(carried, arguments)
        variable = tensor(induction, type_)
        if falls:
            variable = semantic.add(start, semantic.arithmetic("*", variable, step))
        self.scope[name] = variable
        before.pop(name, None)
        handles = self.loop_body(node, carried)
        results = self.builder.end_for(loop, handles)
        self.leave_loop(before, carried, results)

    def loop_body(self, node, carried):
        """The body of a loop of the device. Returns the values for the next round."""
        self.loop_depth += 1
        kept = self.containers()
        self.block(node.body)
        self.check_containers(node, kept, "a loop of the device")
        self.loop_depth -= 1
        handles = self.yields(node, carried)
        self.at(node)
        return handles

    def visit_While(self, node):
        if node.orelse:
            raise self.error(node, "`else` of a loop is not supported", UnsupportedLanguageConstruct)
        self.at(node)
        before = dict(self.scope)
        carried = self.carried(node, node.body + [ast.Expr(node.test)])
        inits = [t.handle for _, _, tensors in carried for t in tensors]
        loop, arguments = self.builder.begin_while(inits)
        self.enter_loop(carried, arguments)
        kept = self.containers()
        condition = self.condition(node.test)
        self.check_containers(node.test, kept, "a condition of a loop of the device")
        if isinstance(condition, ranges.condition):
            condition = condition.condition
        self.known_condition(node.test, condition)  # a scalar
        self.at(node)
        condition = semantic.truth(condition)
        passed = self.yields(node, carried)
        arguments = self.builder.end_while_condition(loop, condition.handle, passed)
        self.enter_loop(carried, arguments)
        handles = self.loop_body(node, carried)
        results = self.builder.end_while(loop, handles)
        self.leave_loop(before, carried, results)
