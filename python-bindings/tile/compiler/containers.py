# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists, dicts and sets in kernels. They exist while a kernel is compiled only: they change once,
whatever the running kernel does, and a list that comes out of a branch or loop is a new one, which no
other variable has. Code that would see the difference is an error."""

from __future__ import annotations

from ..language.aggregate import Aggregate

KINDS = (list, dict, set)


def _parts(value):
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, (tuple, list, set)):
        return list(value)
    return value.parts() if isinstance(value, Aggregate) else ()


def containers_in(value, above=()):
    """The containers that a value consists of, once for each way to them."""
    if isinstance(value, KINDS):
        if any(value is other for other in above):
            return
        above = (*above, value)
        yield value
    for part in _parts(value):
        yield from containers_in(part, above)


def _has_changed(container, before) -> bool:
    now = _parts(container)
    return len(now) != len(before) or any(a is not b for a, b in zip(now, before))


class Containers:
    """The part of the function compiler that watches containers."""

    def frames(self):
        """The function compilers from this one to the kernel's."""
        frame = self
        while frame is not None:
            yield frame
            frame = frame.caller

    def containers(self):
        """The containers of the scopes: variable, container, what is in it."""
        found = {}
        for frame in self.frames():
            for name, value in frame.scope.items():
                for container in containers_in(value):
                    found.setdefault(id(container), (name, container, _parts(container)))
        return list(found.values())

    def check_containers(self, node, kept, where: str):
        """Raises an error if one has changed since `containers` was called."""
        for name, container, before in kept:
            if _has_changed(container, before):
                kind = type(container).__name__
                raise self.error(node, f"{name} is a {kind} that is changed in {where}: use a tuple, whose "
                                 "elements keep their types, or tl.static_range")

    def note_merged(self, name: str, ways, result):
        """`result` consists of the values that a variable, or an expression without a name, has on
        several ways: (value, the variables that there are on it). If one of their lists is known by
        another name, too, neither it nor the result may change from now on."""
        merged = [container for value, _ in ways for container in containers_in(value)]
        if not merged:
            return
        is_shared = False
        for value, scope in ways:
            scopes = [scope, *(frame.scope for frame in self.frames() if frame is not self)]
            known = [id(c) for variables in scopes for v in variables.values() for c in containers_in(v)]
            own = [id(c) for c in containers_in(scope.get(name))] if name else []
            is_shared |= any(known.count(id(c)) > own.count(id(c)) for c in containers_in(value))
        if is_shared:
            self.session.fixed_containers += [(name, c, _parts(c))
                                              for c in (*merged, *containers_in(result))]

    def check_fixed_containers(self, node):
        for name, container, before in self.session.fixed_containers:
            if _has_changed(container, before):
                raise self.error(node, f"{name or 'the result'} of a branch or loop above may be one of several "
                                 f"{type(container).__name__}s, which other variables have, too: none of them "
                                 "can change after it. Copy it there, as list(...)")
