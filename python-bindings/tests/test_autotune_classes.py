# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tuners that libraries derive from `Autotuner`, as they do from Triton's class."""

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.runtime.autotuner import Autotuner

pytestmark = pytest.mark.compiled


def _scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = i.to(tl.float32) if x_ptr is None else tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, value * factor, mask=i < n)


CONFIGS = [tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 128})]


def launch(tuned, n=100, x=None):
    out = np.zeros(n, np.float32)
    tuned[lambda meta: (tile.cdiv(n, meta["BLOCK"]), )](x, out, n, 2.0)
    np.testing.assert_array_equal(out, np.arange(n) * 2)
    return tuned.best_config


def test_order_of_arguments_and_hooks():
    calls = []

    class Tuner(Autotuner):

        def __init__(self, fn, arg_names, configs, key, reset, restore, **options):
            super().__init__(fn, arg_names, configs, key, reset, restore, **options)
            assert not self.user_defined_pre_hook and not self.user_defined_post_hook
            self.pre_hook = lambda args, reset_only=False: calls.append(reset_only)
            self.post_hook = lambda args, exception: calls.append(exception)

    kernel = tile.jit(_scale)
    seen = []

    def measure(once, quantiles):
        seen.append(tuned.nargs["n"])
        once()
        return 1.0

    tuned = Tuner(kernel, kernel.arg_names, CONFIGS, ["n"], None, None, pre_hook=None, do_bench=measure)
    launch(tuned)
    # Afterwards no array is held.
    assert calls == [False, None] * 2 + [True] and seen == [100, 100] and tuned.nargs is None


def test_a_config_put_into_the_cache():
    """Under Triton's key: the values of the key, then the types of the arrays."""
    measured = []
    decorate = tile.autotune(CONFIGS, key=["n"],
                             do_bench=lambda once, quantiles: measured.append(1) or 1.0)
    tuned = decorate(tile.jit(_scale))
    tuned.cache[(100, "float32")] = CONFIGS[1]
    assert launch(tuned) == CONFIGS[1] and not measured
    launch(tuned, 200)
    assert len(measured) == 2


def test_own_run():
    """A derived class may choose by itself, with the parts of the base."""

    class Tuner(Autotuner):

        def run(self, *args, **kwargs):
            self.nargs = dict(zip(self.arg_names, args))
            times = {c: self._bench(*args, config=c, **kwargs) for c in self.prune_configs(kwargs)}
            assert all(len(t) == 3 and 0 < t[0] < float("inf") for t in times.values())
            self.best_config = max(times, key=lambda c: c.kwargs["BLOCK"])
            return self.fn.run(*args, **kwargs, **self.best_config.all_kwargs())

    kernel = tile.jit(_scale)
    prune = {"early_config_prune": lambda configs, args, **kwargs: [
        c for c in configs if args["n"] == 100 or c.kwargs["BLOCK"] == 64]}
    tuned = Tuner(kernel, kernel.arg_names, CONFIGS, [], None, None, prune_configs_by=prune)
    assert launch(tuned) == CONFIGS[1] and launch(tuned, 200) == CONFIGS[0]


def test_arguments_that_are_none():
    """What is to be reset or restored may be an optional array that is not there."""
    for options in ({"reset_to_zero": ["x_ptr"]}, {"restore_value": ["x_ptr"]}):
        launch(tile.autotune(CONFIGS, key=["n"], **options)(tile.jit(_scale)))


def test_key_that_is_no_parameter():
    with pytest.warns(UserWarning, match="key m is no parameter of _scale: it is ignored"):
        tuned = tile.autotune(CONFIGS, key=["n", "m"])(tile.jit(_scale))
    launch(tuned)
