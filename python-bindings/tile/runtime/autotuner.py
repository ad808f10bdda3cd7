# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tile.autotune` and `@tile.heuristics`."""

from __future__ import annotations

import json
import time

from .. import _C, knobs
from ..errors import CompilationError, EmulatorError, OutOfResources, TileError
from . import cache


class Config:
    """One candidate of an autotuner: meta-parameters and options.

    `pre_hook(args)` is called before each launch with the arguments by name. `maxnreg` limits
    the registers of a thread.
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None,
                 ir_override=None):
        if ir_override is not None:
            raise NotImplementedError("Config(ir_override=...) is not supported")
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self) -> dict:
        """Meta-parameters and options, as for a launch."""
        options = {"num_warps": self.num_warps, "num_stages": self.num_stages,
                   "num_ctas": self.num_ctas}
        if self.maxnreg is not None:
            options["maxnreg"] = self.maxnreg
        return {**self.kwargs, **options}

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Config) and self.all_kwargs() == other.all_kwargs() and (
            self.pre_hook == other.pre_hook)

    def __hash__(self):
        return hash(tuple(self.all_kwargs().items()))


class _Wrapper:
    """What autotuners and heuristics share: a kernel behind another function."""

    def __init__(self, fn):
        self.fn = fn
        self.arg_names = fn.arg_names
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def compiled_function(self):
        return self.fn.compiled_function()

    @property
    def base_fn(self):
        return getattr(self.fn, "base_fn", self.fn)

    def named(self, args, kwargs) -> dict:
        return {**dict(zip(self.arg_names, args)), **kwargs}


class Autotuner(_Wrapper):
    """A kernel that measures its configs for each new key, and keeps the fastest."""

    def __init__(self, fn, configs, key, reset_to_zero=None, restore_value=None, pre_hook=None,
                 post_hook=None, prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False,
                 do_bench=None, cache_results=False):
        super().__init__(fn)
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        unknown = [name for name in self.keys if name not in self.arg_names]
        if unknown:
            raise ValueError(f"the autotuner's key {', '.join(unknown)} is no parameter of "
                             f"{fn.__name__}")
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.pre_hook, self.post_hook = pre_hook, post_hook
        prune = prune_configs_by or {}
        self.early_config_prune = prune.get("early_config_prune")
        self.perf_model = prune.get("perf_model")
        self.top_k = prune.get("top_k")
        self.warmup_ms, self.rep_ms = warmup, rep
        self.use_cuda_graph = use_cuda_graph
        self.do_bench = do_bench
        self.cache = {}
        self.cache_results = cache_results or knobs.cache_autotuning
        # Of the last run: the winner, all times in ms, and why configs failed.
        self.best_config = None
        self.configs_timings = {}
        self.failures = {}

    def _key(self, named):
        parts = [named.get(name) for name in self.keys]
        for value in named.values():
            if hasattr(value, "dtype"):
                parts.append(str(value.dtype))
        return tuple(p if isinstance(p, (int, float, str, bool, type(None))) else str(p) for p in parts)

    def run(self, *args, **kwargs):
        named = self.named(args, kwargs)
        if len(self.configs) == 1:
            config = self.configs[0]
        else:
            key = self._key(named)
            config = self.cache.get(key)
            if config is None:
                config = self._tune(named, args, kwargs)
                self.cache[key] = config
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**named, **config.all_kwargs()})
        return self.fn.run(*args, **{**kwargs, **config.all_kwargs()})

    def warmup(self, *args, **kwargs):
        """Compiles all configs."""
        return [self.fn.warmup(*args, **{**kwargs, **config.all_kwargs()})
                for config in self.prune(self.named(args, kwargs))]

    def prune(self, named):
        """The configs that are worth a try."""
        configs = self.configs
        if self.early_config_prune is not None:
            configs = self.early_config_prune(configs, named, **named)
            if not configs:
                raise ValueError(f"early_config_prune of {self.__name__} has left no config")
        if self.perf_model is not None:
            top_k = self.top_k
            if isinstance(top_k, float) and top_k <= 1:
                top_k = int(len(self.configs) * top_k)
            estimates = {c: self.perf_model(**{**named, **c.all_kwargs()}) for c in configs}
            configs = sorted(configs, key=estimates.get)[:top_k]
        return configs

    def _tune(self, named, args, kwargs):
        configs = self.prune(named)
        if len(configs) == 1:
            return configs[0]
        disk_key = self._disk_key(named, configs) if self.cache_results else None
        found = self._load(disk_key, configs)
        if found is not None:
            return found
        start = time.perf_counter()
        self.configs_timings, self.failures = {}, {}
        for config in configs:
            self.configs_timings[config] = self._measure(config, named, args, kwargs)
        if len(self.failures) == len(configs):
            reasons = "\n".join(f"  {config}: {error}" for config, error in self.failures.items())
            raise TileError(f"no config of {self.__name__} works:\n{reasons}")
        best = min(self.configs_timings, key=self.configs_timings.get)
        if disk_key is not None:
            cache.store(disk_key, json.dumps(configs.index(best)).encode(),
                        {"kind": "tuned", "kernel": self.__name__, "config": str(best)})
        if knobs.print_autotuning:
            print(f"autotuning of {self.__name__} took {time.perf_counter() - start:.2f} s; best: {best}")
        return best

    def _disk_key(self, named, configs) -> str:
        """What the choice of a config depends on: kernel, configs, arguments, device."""
        from .. import testing
        device = "emulator"
        if testing.uses_gpu(named.values()):
            device = str(_C.cuda_capability(0))
        return cache.key_of("tuned", self.base_fn.cache_key, [str(c) for c in configs],
                            self._key(named), device)

    def _load(self, disk_key, configs):
        """The config that an earlier process chose, or None."""
        found = None if disk_key is None else cache.load(disk_key)
        return None if found is None else configs[json.loads(found)]

    def _measure(self, config, named, args, kwargs) -> float:
        """The time of a config in ms; infinite if it cannot be compiled or launched."""
        conflicts = set(config.kwargs) & set(named)
        if conflicts:
            raise ValueError(f"the autotuner sets {', '.join(sorted(conflicts))}: do not pass it")
        full = {**named, **config.all_kwargs()}

        def once():
            if config.pre_hook is not None:
                config.pre_hook(full)
            saved = self._prepare(named)
            error = None
            try:
                self.fn.run(*args, **{**kwargs, **config.all_kwargs()})
            except Exception as failure:
                error = failure
                raise
            finally:
                self._finish(named, saved, error)

        try:
            return self._bench(once, named)
        except (CompilationError, OutOfResources, EmulatorError, RuntimeError) as error:
            self.failures[config] = error
            return float("inf")

    def _prepare(self, named):
        if self.pre_hook is not None:
            self.pre_hook(named, reset_only=False)
        for name in self.reset_to_zero:
            _fill_zero(named[name])
        return {name: _copy(named[name]) for name in self.restore_value}

    def _finish(self, named, saved, error):
        for name, copy in saved.items():
            _copy_back(named[name], copy)
        if self.post_hook is not None:
            self.post_hook(named, exception=error)

    def _bench(self, once, named) -> float:
        from .. import testing
        if self.do_bench is not None:
            result = self.do_bench(once, quantiles=(0.5, 0.2, 0.8))
            return result[0] if isinstance(result, (tuple, list)) else result
        if not testing.uses_gpu(named.values()):
            # Emulated times are no times of a GPU; one run tells what works.
            begin = time.perf_counter()
            once()
            return (time.perf_counter() - begin) * 1e3
        if self.use_cuda_graph:
            return testing.do_bench_cudagraph(once, rep=self.rep_ms or 20, return_mode="median")
        return testing.do_bench(once, warmup=25 if self.warmup_ms is None else self.warmup_ms,
                                rep=100 if self.rep_ms is None else self.rep_ms, return_mode="median")


def _fill_zero(array):
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def _copy(array):
    return array.clone() if hasattr(array, "clone") else array.copy()


def _copy_back(array, copy):
    if hasattr(array, "copy_"):
        array.copy_(copy)
    else:
        array[...] = copy


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None,
             pre_hook=None, post_hook=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None,
             cache_results=False):
    """Launches a kernel with the fastest of `configs`, which is measured anew when an
    argument in `key`, or the type of an array, changes.

    A config that cannot be compiled or launched is skipped; `failures` keeps the reason. With
    `cache_results` the choice is kept on disk.
    """

    def decorate(fn):
        return Autotuner(fn, configs, key, reset_to_zero, restore_value, pre_hook, post_hook,
                         prune_configs_by, warmup, rep, use_cuda_graph, do_bench, cache_results)

    return decorate


class Heuristics(_Wrapper):
    """A kernel some of whose meta-parameters are computed from the arguments."""

    def __init__(self, fn, values):
        super().__init__(fn)
        self.values = values

    def run(self, *args, **kwargs):
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.run(*args, **kwargs)

    def warmup(self, *args, **kwargs):
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args)), **kwargs})
        return self.fn.warmup(*args, **kwargs)


def heuristics(values):
    """`values` maps names of meta-parameters to functions of the arguments by name."""
    return lambda fn: Heuristics(fn, values)
