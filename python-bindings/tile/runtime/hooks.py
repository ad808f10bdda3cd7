# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the hooks of `knobs.runtime` are told of compiles, loads and launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .. import _C, knobs


class LaunchMetadata(Mapping):
    """Facts about a launch by name. What has a cost to find out is found out when it is asked for."""

    def __init__(self, known: dict):
        self._known = known
        self._functions = []

    def add(self, function, args):
        """`function(*args)` returns a dict of more facts."""
        self._functions.append((function, args))

    def get(self, *name_and_default):
        """All facts; or, as with any mapping, one of them."""
        while self._functions:
            function, args = self._functions.pop(0)
            self._known.update(function(*args))
        return self._known.get(*name_and_default) if name_and_default else self._known

    def __getitem__(self, name):
        return self.get()[name]

    def __iter__(self):
        return iter(self.get())

    def __len__(self):
        return len(self.get())


class LaunchHooks:
    """The chains of hooks that are in force; launches look here, not in `knobs`."""

    before = after = None

    @classmethod
    def refresh(cls):
        cls.before, cls.after = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        _C.set_launch_hooks(cls.before.calls, cls.after.calls)


LaunchHooks.refresh()
knobs.watch(LaunchHooks.refresh)


@dataclass
class CompileTimes:
    """What a listener of compiles is told of their times, in microseconds."""

    # Of the front end.
    ir_initialization: int
    # By the name of what is made: everything up to PTX is one stage. Empty if it was on disk.
    lowering_stages: list
    # Of writing to the disk.
    store_results: int

    @classmethod
    def of_seconds(cls, front_end, lowering, storing):
        microseconds = [int(1e6 * seconds) for seconds in (front_end, lowering, storing)]
        return cls(microseconds[0], [("ptx", microseconds[1])] if lowering else [], microseconds[2])

    @property
    def total_lowering(self) -> int:
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


@dataclass
class FunctionInformation:
    """The function that a compile is about."""

    module: str
    name: str
    jit_function: object


def load(kernel, make, function_of=lambda loaded: None):
    """What `make()` returns, a kernel that is loaded, with the hooks around it."""
    start, end = knobs.runtime.kernel_load_start_hook, knobs.runtime.kernel_load_end_hook
    start(None, None, kernel.name, {}, kernel.hash)
    loaded = make()
    if end:
        end(loaded, function_of(loaded), kernel.name, {}, kernel.hash)
    return loaded


def call_compile_hook(hook, source, key, data, device, is_warmup: bool):
    """Calls a hook about a compile of `source`, the ASTSource of a launch; what it returns. `key` is
    (keys of the arguments, chip, options), `data` the text for `preload`."""
    function, signature, options = source.fn, source.signature, key[2]
    constants = {(i, ): source.constexprs[name] for i, name in enumerate(signature)
                 if name in source.constexprs}
    described = {"num_warps": options.num_warps, "num_ctas": options.num_ctas,
                 "num_stages": options.num_stages, "enable_fp_fusion": options.enable_fp_fusion}
    shown = ", ".join(f"{name}={value}" for name, value in described.items())
    texts = ", ".join(f"{name}: {type_}" for name, type_ in signature.items())
    compile_ = {"key": key, "signature": signature, "device": device, "constants": constants, **described,
                "launch_cooperative_grid": options.launch_cooperative_grid, "extern_libs": (),
                "configs": [source.attrs], "specialization_data": data, "is_warmup": is_warmup}
    return hook(key=key, repr=f"{function.__qualname__}[{shown}]({texts})",
                fn=FunctionInformation(function.__module__, function.__qualname__, function),
                compile=compile_, is_manual_warmup=is_warmup, already_compiled=False)
