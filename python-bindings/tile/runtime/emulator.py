# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device of host arrays: PTX, run by the emulator."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar

from .. import _C, knobs
from ..errors import EmulatorError
from .reachable import reachable

_CHECKS = {"race": "check_races", "races": "check_races", "uninitialized": "check_uninitialized",
           "uninit": "check_uninitialized", "bounds": None, "deadlock": None}
# Of the checks of the blocks that the current thread or task is in.
_active: ContextVar[tuple] = ContextVar("checks", default=())
_num_launches = 0


def num_launches() -> int:
    """How many kernels were run on host arrays in this process."""
    return _num_launches


@contextmanager
def checks(*names):
    """Kernels that the current thread (or asyncio task) launches in this block are checked: "race",
    "uninit"; "bounds" and "deadlock" are always on. A finding raises EmulatorError."""
    for name in names:
        if name not in _CHECKS:
            raise ValueError(f"unknown check {name!r}, expected one of {', '.join(_CHECKS)}")
    token = _active.set((*_active.get(), *names))
    try:
        yield
    finally:
        _active.reset(token)


def _options():
    options = _C.EmulatorOptions()
    options.threads = knobs.emulator_threads
    for name in _active.get():
        if _CHECKS[name]:
            setattr(options, _CHECKS[name], True)
    return options


def launch(kernel, grid, values, arrays):
    """Runs a compiled kernel to its end on host memory."""
    global _num_launches
    _num_launches += 1
    regions = [(a.start, a.size, a.read_only) for a in arrays]
    tables = [(a.start, a.size) for a in arrays
              if a.dtype is not None and a.dtype.name in ("int64", "uint64")]
    numbers = [v for v in values if type(v) is int]
    regions += [(start, size, False)
                for start, size in reachable(numbers, tables, [r[:2] for r in regions])]
    outcome = kernel.emulated().launch(grid, values, regions, _options())
    if outcome.output:
        sys.stdout.write(outcome.output)
    if outcome.error:
        raise EmulatorError(outcome.error, outcome.error_kind, outcome.source_file,
                            outcome.source_line)
    if outcome.reports:
        raise EmulatorError("\n".join(outcome.reports), "check")
