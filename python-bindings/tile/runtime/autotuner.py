# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tile.autotune` and `@tile.heuristics`."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import contextmanager

from .. import _C, knobs
from ..errors import OutOfResources, PTXASError, TileError  # noqa: F401, programs import them from here
from . import cache
from .arguments import CUDA, as_array
from .jit import IGNORED_OPTIONS, OPTION_NAMES


class Config:
    """One candidate of an autotuner: meta-parameters and options.

    `pre_hook(args)` is called before each launch with the arguments and meta-parameters by name;
    what it changes in the dictionary does not reach the launch. `maxnreg` limits the registers
    of a thread.
    """

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None,
                 ir_override=None):
        if ir_override is not None:
            raise NotImplementedError("Config(ir_override=...) is not supported: IR of another compiler "
                                      "cannot take the place of the kernel's")
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
        # Values need not be hashable.
        return hash(str(self))


def _kernel_of(fn):
    """The kernel below launchers that a program has around it: see KernelInterface."""
    while not hasattr(fn, "compiled_function") and hasattr(fn, "run") and hasattr(fn, "fn"):
        fn = fn.fn
    return fn


class _Wrapper:
    """What autotuners and heuristics share: a kernel behind another function."""

    # Subscripts are no elements.
    __iter__ = None

    def __init__(self, fn, decorator: str):
        kernel = _kernel_of(fn)
        if not hasattr(kernel, "compiled_function"):
            raise TypeError(f"@tile.{decorator} is for kernels: write it above @tile.jit, which makes "
                            f"{getattr(fn, '__name__', fn)} one")
        self.fn = fn
        self.arg_names = kernel.arg_names
        self.__name__ = kernel.__name__
        self.__qualname__ = kernel.__qualname__
        self.__module__ = kernel.__module__
        self.__doc__ = kernel.__doc__

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def compiled_function(self):
        return _kernel_of(self.fn).compiled_function()

    @property
    def base_fn(self):
        """The kernel itself."""
        kernel = _kernel_of(self.fn)
        return getattr(kernel, "base_fn", kernel)

    @property
    def params(self):
        return self.base_fn.params

    @property
    def src(self) -> str:
        return self.base_fn.src

    @property
    def cache_key(self) -> str:
        return self.base_fn.cache_key

    def _launch(self, args, kwargs):
        """Launches what is wrapped as `fn[grid]`, whose path is shorter than that of `run`."""
        if kwargs.pop("warmup", False):
            return self._compile(args, kwargs)
        return self.fn[kwargs.pop("grid")](*args, **kwargs)

    def _compile(self, args, kwargs):
        """Compiles what is wrapped without launching it."""
        if hasattr(self.fn, "warmup"):
            return self.fn.warmup(*args, **kwargs)
        return self.fn.run(*args, **{"grid": None, **kwargs, "warmup": True})

    def named(self, args, kwargs) -> dict:
        """The arguments of a launch by name."""
        return {**dict(zip(self.arg_names, args)),
                **{name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}}


def _no_pre_hook(args, reset_only=False):
    """In place of a hook that was not given."""


def _no_post_hook(args, exception):
    """In place of a hook that was not given."""


class Autotuner(_Wrapper):
    """A kernel that measures its configs for each new key, and keeps the fastest.

    After a launch, `best_config` is the config that it had; `configs_timings` (in ms, infinite
    for a failure), `failures` (the exception of each config that did not work) and `bench_time`
    (in s) are about the last tuning.

    Libraries derive their own tuners from this class, so that the order of the constructor's
    arguments, `nargs`, `prune_configs`, `_bench`, `cache` and the hooks, which are always
    functions, are as in Triton's class of this name.
    """

    def __init__(self, fn, arg_names, configs, key, reset_to_zero=None, restore_value=None,
                 pre_hook=None, post_hook=None, prune_configs_by=None, warmup=None, rep=None,
                 use_cuda_graph=False, do_bench=None, cache_results=False):
        super().__init__(fn, "autotune")
        self.arg_names = list(arg_names)
        if not (configs is None or isinstance(configs, Iterable)):
            raise TypeError(f"the autotuner's configs is a list of tile.Config(...), got {configs!r}")
        self.configs = list(configs or ()) or [Config({})]
        for config in self.configs:
            if not isinstance(config, Config):
                raise TypeError(f"the autotuner's configs are tile.Config(...), got {config!r}")
        # What a launch must not set, too.
        self._chosen = {name for config in self.configs for name in config.all_kwargs()}
        self.keys = _names("key", key)
        self.reset_to_zero = _names("reset_to_zero", reset_to_zero)
        self.restore_value = _names("restore_value", restore_value)
        for what, names in (("key", self.keys), ("reset_to_zero", self.reset_to_zero),
                            ("restore_value", self.restore_value)):
            unknown = [name for name in names if name not in self.arg_names]
            message = f"the autotuner's {what} {', '.join(map(str, unknown))} is no parameter of {self.__name__}"
            if unknown and what == "key":
                # Public kernels have such keys, which most versions of Triton let pass.
                warnings.warn(f"{message}: it is ignored", stacklevel=3)
            elif unknown:
                raise ValueError(message)
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or _no_pre_hook
        self.post_hook = post_hook or _no_post_hook
        # The arguments of the current launch that were passed by position, for derived classes.
        self.nargs = None
        for what, value in (("pre_hook", pre_hook), ("post_hook", post_hook), ("do_bench", do_bench)):
            if value is not None and not callable(value):
                raise TypeError(f"the autotuner's {what} must be a function, got {value!r}")
        for what, value in (("warmup", warmup), ("rep", rep)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
                raise TypeError(f"the autotuner's {what} must be a time in ms, got {value!r}")
        if not (prune_configs_by is None or isinstance(prune_configs_by, Mapping)):
            raise TypeError("prune_configs_by must be a dict with early_config_prune, perf_model or top_k, got "
                            f"{prune_configs_by!r}")
        prune = dict(prune_configs_by or {})
        for what in ("early_config_prune", "perf_model"):
            if prune.get(what) is not None and not callable(prune[what]):
                raise TypeError(f"{what} of prune_configs_by must be a function, got {prune[what]!r}")
        self.early_config_prune = prune.pop("early_config_prune", None)
        self.perf_model = prune.pop("perf_model", None)
        self.top_k = prune.pop("top_k", None)
        if prune:
            raise ValueError(f"prune_configs_by knows early_config_prune, perf_model and top_k, got "
                             f"{', '.join(prune)}")
        self.warmup_ms, self.rep_ms = warmup, rep
        self.use_cuda_graph = use_cuda_graph
        self.do_bench = do_bench
        self.cache = {}
        self.cache_results = cache_results or knobs.cache_autotuning
        self.best_config = None
        self.configs_timings = {}
        self.failures = {}
        self.bench_time = 0.0

    def _key(self, named):
        parts = [named.get(name) for name in self.keys]
        for value in named.values():
            if hasattr(value, "dtype"):
                parts.append(str(value.dtype))
        # With their types, for 1 and True and 1.0 are equal; of other objects, the texts.
        return tuple((type(p).__name__, p if isinstance(p, (int, float, str, type(None))) else str(p))
                     for p in parts)

    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        try:
            self.best_config = config = self._choose(args, kwargs)
            if config.pre_hook is not None:
                config.pre_hook({**self.named(args, kwargs), **config.all_kwargs()})
            return self._launch(args, {**kwargs, **config.all_kwargs()})
        finally:
            # Which holds the arrays.
            self.nargs = None

    def _choose(self, args, kwargs):
        conflicts = self._chosen.intersection([*kwargs, *self.arg_names[:len(args)]])
        if conflicts:
            raise ValueError(f"the autotuner of {self.__name__} sets {', '.join(sorted(conflicts))}: "
                             "do not pass it")
        if len(self.configs) == 1:
            return self.configs[0]
        named = self.named(args, kwargs)
        if getattr(self.base_fn, "is_interpreted", False):
            # Times of Python say nothing: the first one.
            return self.prune(named, kwargs)[0]
        key = self._key(named)
        config = self.cache.get(key)
        if config is None:
            config = self.cache[key] = self._given(named) or self._tune(named, args, kwargs)
        return config

    def _given(self, named):
        """The config that a derived class has put into the cache, under Triton's key, or None."""
        known = {name: value for name, value in named.items() if name in self.arg_names}
        key = [known[name] for name in self.keys if name in known]
        key += [str(value.dtype) for value in known.values() if hasattr(value, "dtype")]
        try:
            return self.cache.get(tuple(key))
        except TypeError:  # a value that cannot be hashed
            return None

    def warmup(self, *args, **kwargs):
        """Compiles all configs."""
        return [self._compile(args, {**kwargs, **config.all_kwargs()})
                for config in self.prune(self.named(args, kwargs), kwargs)]

    def prune_configs(self, kwargs):
        """The configs that are worth a try for the launch with `nargs` and `kwargs`."""
        return self.prune({**(self.nargs or {}), **kwargs}, kwargs)

    def prune(self, named, kwargs):
        """The configs that are worth a try. `named` are all arguments by name, `kwargs` those that
        were passed by name."""
        configs = self.configs
        kwargs = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
        if self.early_config_prune is not None:
            configs = list(self.early_config_prune(configs, named, **kwargs) or ())
            if not configs:
                raise TileError(f"early_config_prune of {self.__name__} has left no config")
            for config in configs:
                if not isinstance(config, Config):
                    raise TypeError(f"early_config_prune of {self.__name__} must return configs, got {config!r}")
        if self.perf_model is not None:
            top_k = self.top_k
            if isinstance(top_k, float) and top_k <= 1:
                top_k = max(1, int(len(configs) * top_k))
            if top_k is not None and (not isinstance(top_k, int) or top_k < 1):
                raise TypeError(f"top_k must be a number of configs, or a fraction of them up to 1.0, "
                                f"got {self.top_k!r}")
            if top_k is None or len(configs) > top_k:
                estimates = [self.perf_model(**{**named, **c.all_kwargs()}) for c in configs]
                order = sorted(range(len(configs)), key=estimates.__getitem__)
                configs = [configs[i] for i in order[:top_k]]
        return configs

    def _tune(self, named, args, kwargs):
        configs = self.prune(named, kwargs)
        if len(configs) == 1:
            return configs[0]
        disk_key = self._disk_key(named, configs) if self.cache_results else None
        if disk_key is not None and self._load(disk_key, configs):
            best = min(self.configs_timings, key=self.configs_timings.get)
            self._announce(named, best, None)
            return best
        bench = self._bench_function(named, args, kwargs)
        start = time.perf_counter()
        self.configs_timings, self.failures = {}, {}
        with _progress(f"tuning {self.__name__}", len(configs)) as advance:
            for config in configs:
                self.configs_timings[config] = self._measure(bench, config, named, args, kwargs)
                advance(str(config))
        self.bench_time = time.perf_counter() - start
        if len(self.failures) == len(configs):
            reasons = "\n".join(f"  {config}: {error}" for config, error in self.failures.items())
            raise TileError(f"no config of {self.__name__} works:\n{reasons}")
        best = min(self.configs_timings, key=self.configs_timings.get)
        if disk_key is not None:
            self._store(disk_key, configs, best)
        if knobs.print_autotuning:
            self._report(best)
        self._announce(named, best, self.bench_time)
        # What measured launches have added up is not for the real one.
        self._reset(named, reset_only=True)
        return best

    def _announce(self, named, best, duration):
        """Tells the listener of a choice; `duration` in s is None if it was on disk."""
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(fn=self.base_fn, key=self._key(named), best_config=best,
                                      configs_timings=self.configs_timings, duration=duration,
                                      cache_hit=duration is None)

    def _report(self, best):
        print(f"autotuning of {self.__name__} took {self.bench_time:.2f} s; best: {best}")
        for config, milliseconds in self.configs_timings.items():
            error = self.failures.get(config)
            reason = "failed: " + str(error).partition("\n")[0] if error else f"{milliseconds:.4f} ms"
            print(f"  {config}: {reason}")

    # The choice on disk ---------------------------------------------------------------------

    def _disk_key(self, named, configs) -> str:
        """What the choice of a config depends on: kernel, configs, arguments, device."""
        device = _device_of(named.values())
        where = "emulator" if device is None else str(_C.cuda_capability(device))
        return cache.key_of("tuned", self.cache_key, [str(c) for c in configs], self._key(named), where)

    def _load(self, disk_key, configs) -> bool:
        """Takes over the times that an earlier process measured, if there are any."""
        found = cache.load(disk_key)
        if found is None:
            return False
        times = json.loads(found)["times"]
        self.configs_timings = {config: float("inf") if t is None else t
                                for config, t in zip(configs, times)}
        self.failures, self.bench_time = {}, 0.0
        return True

    def _store(self, disk_key, configs, best):
        # JSON has no infinity.
        times = [None if config in self.failures else self.configs_timings[config] for config in configs]
        cache.store(disk_key, json.dumps({"times": times}).encode(),
                    {"kind": "tuned", "kernel": self.__name__, "config": str(best)})

    # Measuring ------------------------------------------------------------------------------

    def _bench(self, *args, config, **kwargs):
        """The times of a config in ms: median, and two quantiles that are not measured here."""
        named = self.named(args, kwargs)
        return [self._measure(self._bench_function(named, args, kwargs), config, named, args, kwargs)] * 3

    def _measure(self, bench, config, named, args, kwargs) -> float:
        """The time of a config in ms; infinite if it cannot be compiled or launched."""
        full = {**named, **config.all_kwargs()}
        compile_only = {name: value for name, value in kwargs.items() if name != "warmup"}

        def once():
            if config.pre_hook is not None:
                config.pre_hook(full)
            self._reset(full, reset_only=False)
            saved = {name: _copy(array) for name, array in self._arrays("restore_value", named)}
            error = None
            try:
                self.fn.run(*args, **{**kwargs, **config.all_kwargs()})
            except Exception as failure:
                error = failure
                raise
            finally:
                for name, copy in saved.items():
                    _copy_back(named[name], copy)
                self.post_hook(full, exception=error)

        try:
            # The hook may set what the compiler sees, such as the blocks of descriptors.
            if config.pre_hook is not None:
                config.pre_hook(full)
            # Neither the compiler's time nor its errors are for `bench` to see.
            self._compile(args, {**compile_only, **config.all_kwargs()})
            return float(bench(once))
        except (TileError, RuntimeError, ValueError) as error:
            # A ValueError is about an option, such as a number of warps, or by the driver.
            self.failures[config] = error
            return float("inf")

    def _reset(self, named, reset_only: bool):
        """Before each measured launch, and before the real one that follows."""
        self.pre_hook(named, reset_only=reset_only)
        for _, array in self._arrays("reset_to_zero", named):
            _fill_zero(array)

    def _arrays(self, what: str, named):
        """Names and arrays that `reset_to_zero` or `restore_value` names; None stands for none."""
        found = [(name, named.get(name)) for name in getattr(self, what)]
        for name, value in found:
            is_array = hasattr(value, "zero_") or hasattr(value, "copy") and hasattr(value, "__setitem__")
            if value is not None and (not is_array or isinstance(value, (list, dict, set))):
                raise TypeError(f"{what} of {self.__name__} names {name}, which must be an array of torch, NumPy "
                                f"or CuPy, got a {type(value).__name__}")
        return [(name, value) for name, value in found if value is not None]

    def _bench_function(self, named, args, kwargs):
        """What measures: a function of the launch."""
        from .. import testing
        if self.do_bench is not None:

            def custom(once):
                result = self.do_bench(once, quantiles=(0.5, 0.2, 0.8))
                return result[0] if isinstance(result, (tuple, list)) else result

            return custom
        times = {"warmup": 25 if self.warmup_ms is None else self.warmup_ms,
                 "rep": 100 if self.rep_ms is None else self.rep_ms}
        if _device_of(named.values()) is None:
            if self.warmup_ms is None and self.rep_ms is None:
                # Emulated times are no times of a GPU; one run tells what works.
                times = {"warmup": 0, "rep": 0}
            return lambda once: testing.bench_host(once, **times)
        if self.use_cuda_graph:
            testing.require_torch("use_cuda_graph=True")
            return lambda once: testing.do_bench_cudagraph(once, rep=self.rep_ms or 20, return_mode="median")
        return lambda once: testing.do_bench(once, **times, return_mode="median")


def _device_of(values):
    """The GPU of the first array that is on one, or None."""
    for value in values:
        if isinstance(value, (int, float, str, bool, type(None))) or callable(value):
            continue
        array = as_array(value)
        if array is not None and array.device == CUDA:
            return array.device_index
    return None


@contextmanager
def _progress(title: str, total: int):
    """Shows how many of `total` steps are done, if rich is installed and somebody watches.
    Yields the function that is called after each step."""
    if not knobs.progress or not sys.stderr.isatty():
        yield lambda text: None
        return
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        yield lambda text: None
        return
    columns = (progress.TextColumn("{task.description}"), progress.BarColumn(),
               progress.MofNCompleteColumn(), progress.TextColumn("{task.fields[done]}"))
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, done="")
        yield lambda text: bar.update(task, advance=1, done=text)


def _fill_zero(array):
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def _names(what: str, names) -> list:
    if isinstance(names, str) or not (names is None or isinstance(names, Iterable)):
        raise TypeError(f"the autotuner's {what} is a list of names of parameters, got {names!r}")
    return list(names or ())


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
    """Launches a kernel with the fastest of `configs`, which are measured anew when an
    argument in `key`, or the type of an array, changes.

    A config that cannot be compiled or launched is skipped; `failures` keeps the reason.
    - `prune_configs_by` has `early_config_prune(configs, args, **kwargs)`, which returns the
      configs to try, and `perf_model(**args)`, by whose estimates the best `top_k` (a number,
      or a fraction of all) are measured.
    - Arrays that `reset_to_zero` names are zeroed before each measured launch and before the
      real one; those of `restore_value` have their old values after each measured launch.
    - `pre_hook(args, reset_only=False)` is called before each measured launch, and with True
      before the real one; `post_hook(args, exception=None)` after each measured launch.
    - `warmup` and `rep` are the times in ms that each config runs without and with a clock.
      `use_cuda_graph` measures launches in a CUDA graph (with torch). `do_bench(launch,
      quantiles=...)` measures instead, and returns ms.
    - With `cache_results` the times are kept on disk.
    """

    def decorate(fn):
        return Autotuner(fn, getattr(_kernel_of(fn), "arg_names", ()), configs, key, reset_to_zero, restore_value,
                         pre_hook, post_hook, prune_configs_by, warmup, rep, use_cuda_graph, do_bench,
                         cache_results)

    return decorate


class Heuristics(_Wrapper):
    """A kernel some of whose meta-parameters, or options such as `num_warps`, are computed from
    the arguments."""

    def __init__(self, fn, values):
        super().__init__(fn, "heuristics")
        self.values = dict(values)
        for name, compute in self.values.items():
            if not callable(compute):
                raise TypeError(f"the heuristic for {name} must be a function of the arguments, got "
                                f"{compute!r}")
        unknown = [name for name in self.values
                   if name not in {*self.arg_names, *OPTION_NAMES, *IGNORED_OPTIONS}]
        if unknown:
            raise ValueError(f"the heuristics for {', '.join(map(str, unknown))}: {self.__name__} has no such "
                             "parameter")

    def _complete(self, args, kwargs):
        """The keyword arguments of the kernel; later values may depend on earlier ones."""
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args)), **kwargs})
        return kwargs

    def run(self, *args, **kwargs):
        return self._launch(args, self._complete(args, kwargs))

    def warmup(self, *args, **kwargs):
        return self._compile(args, self._complete(args, kwargs))


def heuristics(values):
    """`values` maps names of meta-parameters to functions of the arguments by name."""
    if not isinstance(values, Mapping):
        raise TypeError(f"@tile.heuristics takes a dict of functions by the names of parameters, got {values!r}")
    return lambda fn: Heuristics(fn, values)
