# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors that users see."""

from __future__ import annotations

import linecache
import os
import re
from dataclasses import dataclass, field


# How many calls an error names, from either end of a longer chain.
_SHOWN_CALLERS = 5


class TileError(Exception):
    """Base of all errors of this package."""


# As programs for Triton name it.
TritonError = TileError


@dataclass
class Frame:
    """A place in a kernel's source; `column` counts from 0."""

    file: str
    line: int
    column: int = 0
    function: str = ""

    def describe(self) -> str:
        where = f'{self.file}:{self.line}:{self.column + 1}'
        return f"{where}, in {self.function}" if self.function else where

    def excerpt(self, end_column: int | None = None) -> str:
        """The source line with a caret below the place; empty if it is not to be had."""
        text = linecache.getline(self.file, self.line).rstrip("\n").expandtabs(1)
        if not text:
            return ""
        width = max(1, (end_column or self.column + 1) - self.column)
        width = min(width, max(1, len(text) - self.column))
        return f"    {text}\n    {' ' * self.column}{'^' * width}"


@dataclass
class CompilationError(TileError):
    """A kernel that cannot be compiled: where, why, and through which calls.

    `frame` is the innermost place; `callers` are the calls that inlined it, from
    the inside out.
    """

    message: str
    frame: Frame | None = None
    end_column: int | None = None
    callers: list[Frame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = []
        if self.frame is not None:
            lines.append(f"{self.frame.describe()}: error: {self.message}")
            excerpt = self.frame.excerpt(self.end_column)
            if excerpt:
                lines.append(excerpt)
        else:
            lines.append(f"error: {self.message}")
        lines += [f"  note: {note}" for note in self.notes]
        # Of a recursion the first and the last calls say enough.
        hidden = len(self.callers) - 2 * _SHOWN_CALLERS
        for position, caller in enumerate(self.callers):
            if hidden > 0 and _SHOWN_CALLERS <= position < _SHOWN_CALLERS + hidden:
                if position == _SHOWN_CALLERS:
                    lines.append(f"  called from {hidden} more places")
                continue
            lines.append(f"  called from {caller.describe()}")
            excerpt = caller.excerpt()
            if excerpt:
                lines.append(excerpt)
        return "\n".join(lines)

    @property
    def error_message(self) -> str:
        """`message`, as programs for Triton ask for it."""
        return self.message

    # A dataclass would compare and hash by value; an exception is itself.
    __hash__ = Exception.__hash__
    __eq__ = object.__eq__


class CompileTimeAssertionFailure(CompilationError):
    """`tl.static_assert` of a condition that is false."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that kernels cannot use."""


class OutOfResources(CompilationError):
    """A kernel that needs more of `name` ("shared memory" in bytes, "threads" or "registers")
    than a block of the chip may have: `required`, where there are `limit`. Compilations raise it,
    and launches that a GPU refuses; `reason` is what compiler or driver said."""

    def __init__(self, required: int, limit: int, name: str, reason: str = "", **places):
        advice = "Reduce block sizes, num_warps or num_stages"
        text = f"out of resource: {name}: required {required}, limit {limit}. {advice}"
        super().__init__(f"{text} ({reason})" if reason else text, **places)
        self.required, self.limit, self.name = required, limit, name

    def __reduce__(self):
        """Pickles as it was made: errors of workers travel to their parents."""
        return type(self), (self.required, self.limit, self.name), self.__dict__


class PTXASError(CompilationError):
    """PTX that ptxas refuses, for another reason than the size of the kernel."""


class InternalCompilerError(TileError):
    """A kernel that this compiler should have been able to compile."""


class EmulatorError(TileError, RuntimeError):
    """What stopped a kernel in the emulator: an access out of bounds, say.

    `kind` is the emulator's name for it; `line` is 0 where the source is not known.
    """

    def __init__(self, text: str, kind: str = "", file: str = "", line: int = 0):
        excerpt = Frame(file, line).excerpt() if line else ""
        super().__init__(text + ("\n" + excerpt.split("\n")[0] if excerpt else ""))
        self.kind, self.file, self.line = kind, file, line


class MemoryAccessError(TileError, IndexError):
    """An access of an interpreted kernel outside of the arrays of its launch, or one that is not
    allowed there."""


# What compiler and ptxas say of a kernel that is too large for a block.
_EXCEEDED = (
    ("shared memory", 10, re.compile(r"needs (\d+) bytes of shared memory(?:, but a block of the target|; "
                                     r"\S+) has (\d+)")),
    ("shared memory", 16, re.compile(r"uses too much shared data \(0x([0-9a-f]+) bytes, "
                                     r"0x([0-9a-f]+) max\)")),
    ("threads", 10, re.compile(r"needs (\d+) threads; a block on \S+ has at most (\d+)")),
)


def _out_of_resources(message: str, places: dict) -> OutOfResources | None:
    for name, base, pattern in _EXCEEDED:
        found = pattern.search(message)
        if found is not None:
            required, limit = (int(number, base) for number in found.groups())
            return OutOfResources(required, limit, name, message, **places)
    return None


def from_diagnostics(diagnostics, kernel: str) -> CompilationError:
    """The error for what MLIR said; the first error leads, others are notes."""
    errors = [d for d in diagnostics if d.severity == "error"] or list(diagnostics)
    if not errors:
        return CompilationError(f"the compiler gave up on {kernel} without saying why")
    # An error in the user's source says more than one about the whole module.
    lead = next((d for d in errors if d.line and os.path.exists(d.file)), errors[0])
    frame = Frame(lead.file, lead.line, max(0, lead.column - 1)) if lead.line else None
    callers = [Frame(f, l, max(0, c - 1)) for f, l, c in lead.callers]
    notes = [_note(*note) for note in lead.notes]
    notes += [_note(d.message, d.file, d.line, d.column) for d in errors if d is not lead]
    places = {"frame": frame, "callers": callers, "notes": notes}
    return _out_of_resources(lead.message, places) or CompilationError(lead.message, **places)


def _note(text: str, file: str, line: int, column: int) -> str:
    """A note, with the source that it is about."""
    excerpt = Frame(file, line, max(0, column - 1)).excerpt() if line else ""
    return f"{text}: {file}:{line}:{column}\n{excerpt}" if excerpt else text
