# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assertions and printing, both while a kernel is compiled and while it runs, and barriers."""

from __future__ import annotations

from . import semantic
from .arguments import compile_time
from .semantic import show, to_tensor
from .types import builder, state, unwrap


def debug_barrier():
    """Makes stores of this program visible to its later loads."""
    builder().op_without_result("tile.barrier", [])


def static_assert(cond, msg=""):
    """Stops the compilation if a condition that is known at compile time is false."""
    if not compile_time(cond, "static_assert's condition"):
        raise StaticAssertion(f"static assertion failed{': ' if msg else ''}{unwrap(msg)}")


class StaticAssertion(AssertionError):
    """Raised by `static_assert`; the front end adds the place."""


def static_print(*values, sep=" ", end="\n", file=None, flush=False):
    """Prints while the kernel is compiled."""
    print(*[unwrap(v) for v in values], sep=unwrap(sep), end=unwrap(end), file=file, flush=flush)


def device_print(prefix, *args, hex=False):
    """Prints while the kernel runs. ": " follows the prefix if it does not end so."""
    prefix = unwrap(prefix)
    if not isinstance(prefix, str):
        raise TypeError(f"device_print's first argument must be a string, got {show(prefix)}")
    if not prefix.endswith(": "):
        prefix = f"{prefix.removesuffix(' ').removesuffix(':')}: "
    handles = [to_tensor(a).handle for a in args]
    builder().print_values(prefix, handles, bool(unwrap(hex)))


def has_assertions() -> bool:
    return getattr(state.compiler, "debug", True)


def device_assert(cond, msg="", mask=None):
    """Stops the kernel with a message if a condition is false, where the kernel is compiled for
    debugging: see `debug` of @tile.jit. In the combine function of a reduction
    or scan nothing is checked, unless the kernel is interpreted: lanes combine there what is thrown
    away."""
    cond = semantic.truth(cond)
    if mask is not None:
        cond = semantic.arithmetic("|", cond, semantic.logical_not(mask))
    if state.combining or not has_assertions():
        return
    builder().assert_true(cond.handle, str(compile_time(msg, "device_assert's message")))
