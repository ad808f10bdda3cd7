# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `for` loops of kernels iterate over."""

from __future__ import annotations

import builtins
import operator

from .types import interpreting, state, unwrap


def _hint(name: str, value) -> int:
    try:
        return operator.index(value)
    except TypeError:
        name = {"unroll_factor": "loop_unroll_factor"}.get(name, name)
        raise TypeError(f"{name} of a range must be an integer or a bool, got {value!r}") from None


class range:
    """A loop that runs on the device, with hints to the compiler."""

    def __init__(self, arg1, arg2=None, step=None, num_stages=None, loop_unroll_factor=None,
                 disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False,
                 disable_licm=False):
        self.start, self.end = (0, arg1) if arg2 is None else (arg1, arg2)
        self.step = 1 if step is None else step
        hints = {"num_stages": num_stages, "unroll_factor": loop_unroll_factor,
                 "disallow_acc_multi_buffer": disallow_acc_multi_buffer, "flatten": flatten,
                 "warp_specialize": warp_specialize, "disable_licm": disable_licm}
        self.hints = [(name, _hint(name, unwrap(value))) for name, value in hints.items() if unwrap(value)]

    def __iter__(self):
        if interpreting():
            return state.compiler.iterate(self)
        raise RuntimeError("tl.range works in @tile.jit kernels only")


class static_range:
    """A loop that is unrolled at compile time; its bounds are constexprs."""

    def __init__(self, arg1, arg2=None, step=None):
        self.start, self.end = (0, arg1) if arg2 is None else (arg1, arg2)
        self.step = 1 if step is None else step

    def __iter__(self):
        if interpreting():
            return iter(builtins.range(*map(operator.index, (self.start, self.end, self.step))))
        raise RuntimeError("tl.static_range works in @tile.jit kernels only")


class condition:
    """The condition of a `while` loop, with hints."""

    def __init__(self, arg, disable_licm=False):
        self.condition = arg
        self.disable_licm = disable_licm

    def __bool__(self):
        return bool(self.condition)
