# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tile.jit`: specialisation, the cache of compiled kernels in memory, and launches."""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
import threading
import weakref
from typing import NamedTuple

from .. import _C, knobs
from ..compiler.function import ABSENT, DEFINITIONS, Function
from ..compiler.kernel import ASTSource, announce, compile_arguments
from ..compiler.session import IGNORED_OPTIONS, Argument, Options, describe_arguments
from ..language import semantic
from ..language import types as ty
# With names that programs for Triton import from here.
from ..language.types import ConstexprFunction, constexpr, constexpr_function, unwrap  # noqa: F401
from ..tools.tensor_descriptor import TensorDescriptor
from . import background, emulator, hooks, specialization
from .arguments import CUDA, HOST, append_array, as_array, classify_int, describe_type, stand_in
from .arguments import MockTensor, TensorWrapper, reinterpret  # noqa: F401
from .driver import chip_of_device, current_device, current_stream, driver, stream_handle, use_device
from .parameters import Parameter, argument_of_key

OPTION_NAMES = tuple(Options.__dataclass_fields__)

_DEFAULT_OPTIONS = Options()
_EMULATOR_OPTIONS = Options(debug=True, sanitize_overflow=False)

_C.set_launch_helpers(describe_type, current_stream)


class _Specialization(NamedTuple):
    """What a `repr` function is told of a kernel."""

    constants: dict
    signature: dict


# All kernels, for `_renew_locks` and `_forget_launches`.
_instances = weakref.WeakSet()


def _forget_launches():
    """After a change of settings: what launches need is asked for anew."""
    for kernel in list(_instances):
        kernel._forget_kernels()


knobs.watch(_forget_launches)


def _renew_locks():
    """After a fork: a thread that is not in this process may have been compiling."""
    for kernel in _instances:
        kernel._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class DeviceCaches(dict):
    """The compiled kernels by device: a GPU's index, or "emulator", for which 0 and "cpu" stand too
    where no GPU is. As with Triton, the value is a tuple whose first element is the dict of
    kernels by their key."""

    def __init__(self, owner):
        super().__init__()
        self._forget = owner._forget_kernels

    def __missing__(self, device):
        if device in (0, "cpu") and not driver.default.is_active():
            return self["emulator"]
        return self.setdefault(device, ({}, ))

    def clear(self):
        super().clear()
        self._forget()


class KernelInterface:
    """What is launched as `kernel[grid](...)`: programs derive their own launchers from this."""

    def __class_getitem__(cls, function_type):
        """As a generic class, for annotations."""
        return cls

    # Subscripts are no elements.
    __iter__ = None

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


def _parameter_names(what: str, parameters) -> tuple:
    if isinstance(parameters, str) or not (parameters is None or hasattr(parameters, "__iter__")):
        raise TypeError(f"{what} must be a list of parameters, by name or position, got {parameters!r}")
    return tuple(parameters or ())


class JITFunction(_C.KernelBase, KernelInterface):
    """A kernel, or a function that kernels call. `kernel[grid](...)` launches it.

    The base class makes the launches of kernels that it knows by their arguments, and calls
    `run` for all others. `pre_run_hooks` is a member of it.
    """

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
                 debug=None, noinline=None, repr=None, launch_metadata=None):
        # Says what is wrong if this is no function.
        self._function = Function(fn)
        for name, function in (("repr", repr), ("launch_metadata", launch_metadata)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} of {fn.__name__} must be a function, got {function!r}")
        if debug not in (None, True, False):
            raise TypeError(f"debug of {fn.__name__} must be True or False, got {debug!r}")
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.debug, self.noinline = debug, bool(noinline)
        self.launch_metadata = launch_metadata
        # As programs for Triton read them, and set them to None where they pickle kernels.
        self.__globals__ = self._function.python_function.__globals__
        self.used_global_vals = {}
        self.repr = repr or (lambda specialization: self.__name__)
        self._plain = _parameter_names("do_not_specialize", do_not_specialize)
        self._unaligned = _parameter_names("do_not_specialize_on_alignment", do_not_specialize_on_alignment)
        # From here on assignments are seen by launches; see `__setattr__`.
        self.device_caches = DeviceCaches(self)
        # Code that runs while a kernel is compiled may launch it.
        self._lock = threading.RLock()
        _instances.add(self)
        self._read_function()

    def _read_function(self):
        """Takes in the source and the parameters of the function."""
        # Programs write other decorators above it.
        self._source = self._function.definition
        self.params = [Parameter(self._function, i, self._plain, self._unaligned)
                       for i in range(len(self._function.params))]
        self.arg_names = self._function.arg_names
        self.__signature__ = self._function.signature
        self._position = {name: i for i, name in enumerate(self.arg_names)}
        # Constexprs that are options of the compiler, too.
        self._shared = [(i, p.name) for i, p in enumerate(self.params)
                        if p.is_constexpr and p.name in OPTION_NAMES]
        self._configure_launches(
            tuple(parameter.launch_description(self._function.params[i].empty)
                  for i, parameter in enumerate(self.params)),
            OPTION_NAMES, IGNORED_OPTIONS, self._function.used_globals)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        self._note_change(name)

    def __delattr__(self, name):
        super().__delattr__(name)
        self._note_change(name)

    def _note_change(self, name: str):
        """What is assigned after launches is for those that follow."""
        if name in ("debug", "run"):
            self._forget_kernels()
        elif name == "repr" and "device_caches" in self.__dict__:
            self.device_caches.clear()

    @property
    def do_not_specialize(self) -> list:
        return list(self._plain)

    @do_not_specialize.setter
    def do_not_specialize(self, parameters):
        self._plain = _parameter_names("do_not_specialize", parameters)
        self._read_function()
        self.device_caches.clear()

    @property
    def do_not_specialize_on_alignment(self) -> list:
        return list(self._unaligned)

    @do_not_specialize_on_alignment.setter
    def do_not_specialize_on_alignment(self, parameters):
        self._unaligned = _parameter_names("do_not_specialize_on_alignment", parameters)
        self._read_function()
        self.device_caches.clear()

    # As for functions: copies are the kernel itself, and pickles name it.
    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        if self.fn is not None:
            return self.__qualname__
        # PyTorch Inductor has taken the function away, for the process that loads the pickle knows
        # no name for it: what describes the kernel is left.
        gone = ("_function", "_lock", "device_caches", "__signature__")
        state = {name: value for name, value in self.__dict__.items() if name not in gone}
        return JITFunction.__new__, (JITFunction, ), state

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.__qualname__})"

    def __get__(self, instance, owner=None):
        """A method of an aggregate, for the interpreter; the front end binds by itself."""
        return self if instance is None or not ty.interpreting() else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        if ty.interpreting():
            return ty.state.compiler.call(self, args, kwargs)
        raise RuntimeError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid](...), or "
                           "call it from another @tile.jit function")

    def compiled_function(self) -> Function:
        """The source, for the front end."""
        return self._function

    @property
    def src(self) -> str:
        return self._source

    @property
    def signature(self):
        """That of the Python function, an inspect.Signature."""
        return self._function.signature

    def _unsafe_update_src(self, new_src: str):
        """Takes another source, as programs do that write kernels as text. What was compiled before
        is forgotten, also of kernels that call this one."""
        with self._lock:
            self._function.replace_source(new_src)
            self._read_function()
        for kernel in list(_instances):
            kernel.device_caches.clear()

    @property
    def cache_key(self) -> str:
        """Changes with the source of the function and of those that it calls, and with constants
        outside of them."""
        return self._function.key()

    def add_pre_run_hook(self, hook):
        """`hook(*args, **kwargs)` is called before each launch."""
        if not callable(hook):
            raise TypeError(f"a hook is a function, got {hook!r}")
        self.pre_run_hooks.append(hook)

    def warmup(self, *args, grid=None, **kwargs):
        """Compiles the kernel for these arguments without launching it. Types such as
        `tl.float32` may stand for arrays of them."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    # Launches -----------------------------------------------------------------------------

    def bind(self, args, kwargs):
        """One value for each parameter, and the options."""
        options = {}
        values = list(args)
        if not kwargs and len(values) == len(self.params):
            return values, options
        if len(values) > len(self.params):
            raise TypeError(f"{self.__name__}() takes {len(self.params)} arguments, got {len(values)}")
        missing = object()
        values += [missing] * (len(self.params) - len(values))
        for name, value in kwargs.items():
            position = self._position.get(name)
            if position is None:
                if name in OPTION_NAMES:
                    options[name] = value
                elif name == "ir_override":
                    if value is not None:
                        raise NotImplementedError("ir_override is not supported: IR of another compiler cannot "
                                                  "take the place of the kernel's")
                elif name not in IGNORED_OPTIONS:
                    raise TypeError(f"{self.__name__}() got an unexpected keyword argument {name!r}; "
                                    f"options are {', '.join(OPTION_NAMES)}")
                continue
            if values[position] is not missing:
                raise TypeError(f"{self.__name__}() got several values for the argument {name!r}")
            values[position] = value
        for i, value in enumerate(values):
            if value is missing:
                default = self.params[i].default
                if default is self._function.params[i].empty:
                    raise TypeError(f"{self.__name__}() is missing the argument "
                                    f"{self.params[i].name!r}")
                values[i] = default
        return values, options

    def classify(self, parameter, value, passed, arrays):
        """The key of an argument; appends what is passed for it, and its Array if it is one."""
        kind = type(value)
        if parameter.is_constexpr or kind is constexpr:
            return ("=", specialization.constant(value, parameter.name))
        if value is None:
            return ("=", specialization.NONE)
        if kind is bool:
            passed.append(value)
            return ("b", )
        if kind is int:
            return self._classify_int(parameter, value, passed)
        if kind is float:
            passed.append(value)
            return ("f", parameter.forced.name if parameter.is_float else "fp32")
        if kind is TensorDescriptor:
            return self._classify_descriptor(value, passed, arrays)
        if isinstance(value, tuple):
            keys = tuple(self.classify(parameter, v, passed, arrays) for v in value)
            return ("(", kind if hasattr(value, "_fields") else tuple, keys)
        try:
            array = stand_in(value) if isinstance(value, ty.dtype) else as_array(value)
        except TypeError as error:
            raise TypeError(f"the argument {parameter.name} of {self.__name__}: {error}") from error
        if array is not None:
            passed.append(array.address)
            # Also if the parameter is not to be specialised: the code would be wrong.
            return append_array(arrays, array, ("*", array.dtype.name,
                                                array.address % 16 == 0 and parameter.aligned))
        if hasattr(value, "item") and hasattr(value, "dtype") and not isinstance(value, type):
            number = value.item()  # of a NumPy scalar; those that Python has no numbers for stay
            if type(number) is not kind:
                return self.classify(parameter, number, passed, arrays)
        if isinstance(value, (int, float)):  # of an IntEnum, say
            plain = int(value) if isinstance(value, int) else float(value)
            return self.classify(parameter, plain, passed, arrays)
        if callable(value) or isinstance(value, str):
            return ("=", specialization.constant(value, parameter.name))
        raise TypeError(f"the argument {parameter.name} of {self.__name__} is a "
                        f"{kind.__name__}: kernels take arrays, numbers, bools, tuples and None")

    def _classify_descriptor(self, value, passed, arrays):
        array = as_array(value.base)
        passed.extend((array.address, *value.shape, *value.strides[:-1]))
        # Hooks of autotuners set the fields of a descriptor, to lists too.
        return append_array(arrays, array, ("d", array.dtype.name, tuple(map(int, value.block_shape)),
                                            value.padding))

    def _classify_int(self, parameter, value, passed):
        forced = parameter.forced
        if parameter.is_float:
            passed.append(float(value))
            return ("f", forced.name)
        if forced is not None and forced.is_int():
            passed.append(value)
            return ("i", forced.name, parameter.specialise and value % 16 == 0)
        if parameter.specialise and value == 1:
            return ("=", specialization.ONE)
        passed.append(value)
        return classify_int(value, parameter.specialise and parameter.align)

    def run(self, /, *args, grid, warmup=False, **kwargs):
        """Compiles the kernel if these arguments need it, and launches it, on the stream that the
        keyword `stream` may name."""
        return self.run_named(grid, args, kwargs, warmup)

    def run_named(self, grid, args, kwargs, warmup=False):
        """As `run`, for kernels that have parameters `grid` or `warmup`."""
        stream = None if "stream" in self._position else stream_handle(kwargs.pop("stream", None))
        values, options = self.bind(args, kwargs)
        for position, name in self._shared:
            options[name] = unwrap(values[position])
        keys, passed, arrays = [], [], []
        for parameter, value in zip(self.params, values):
            keys.append(self.classify(parameter, value, passed, arrays))
        device, index = self._device(arrays)
        kernel = self._kernel(tuple(keys), options, device, index, warmup)
        if warmup or kernel is None:
            return kernel
        if callable(grid):
            grid = grid(dict(zip(self.arg_names, [unwrap(v) for v in values])))
        extents = self.read_extents(grid)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if 0 not in extents:
            self._launch(kernel, device, index, grid, extents, values, passed, arrays, stream)
        return kernel

    def _launch(self, kernel, device: str, index: int, grid, extents, values, passed, arrays, stream):
        """Launches a kernel, with the hooks around it; `values` are all arguments."""
        if 0 in passed and any(array.is_stand_in for array in arrays):
            raise TypeError(f"{self.__name__} is launched with a type in place of an array, which only "
                            "warmup takes")
        loaded = None
        if device == CUDA:
            use_device(index)
            loaded = kernel.loaded(index)
            if stream is None:
                stream = next((a.stream for a in arrays if a.stream is not None), None)
                stream = current_stream(index) if stream is None else stream
        before, after = hooks.LaunchHooks.before, hooks.LaunchHooks.after
        metadata = None
        if before or after:
            function = None if loaded is None else loaded.function
            metadata = kernel.describe_launch(grid, stream or 0, map(unwrap, values), function)
            before(metadata)
        if loaded is None:
            emulator.launch(kernel, extents, passed, arrays)
        else:
            for array in arrays:
                if array.pending is not None:
                    _C.cuda_wait_stream(stream, array.pending)
            loaded.launch(extents, passed, stream)
        if metadata is not None:
            after(metadata)

    def launch_compiled(self, kernel, grid, args, stream=None):
        """Launches a kernel that `warmup` returned, without a look at what the arguments would be
        specialised to. Constexprs may be left out of `args`."""
        stream = stream_handle(stream)
        places = list(zip(self.params, kernel.arguments))
        if len(args) != len(places):
            places = [p for p in places if not p[0].is_constexpr]
        if len(args) != len(places):
            raise TypeError(f"{self.__name__}() takes {len(self.params)} arguments, or {len(places)} "
                            f"without constexprs, got {len(args)}")
        given = dict(zip((parameter.name for parameter, _ in places), args))
        values = [given.get(argument.name, argument.value) for argument in kernel.arguments]
        passed, arrays = [], []
        for (parameter, argument), value in zip(places, args):
            if argument.is_constexpr:
                continue
            is_number = isinstance(value, (int, float))
            if argument.elements is None and is_number:
                passed.append(value)
                fits = not argument.type.is_ptr() and (
                    argument.type.is_floating() or isinstance(value, int) and (
                        parameter.forced is not None or semantic.fits(value, argument.type)))
            else:
                kind = self.classify(parameter, value, passed, arrays)[0]
                fits = (kind == "*") == (argument.type is not None and argument.type.is_ptr())
            if not fits:
                raise TypeError(f"the kernel was compiled for {argument.describe()} as argument "
                                f"{parameter.name} of {self.__name__}, got {value!r}")
        extents = self.read_extents(grid)
        if 0 not in extents:
            device, index = self._device(arrays)
            self._launch(kernel, device, index, grid, extents, values, passed, arrays, stream)

    def preload(self, data: str):
        """Compiles a kernel that another process has used; `data` is its
        `CompiledKernel.specialization_data`."""
        try:
            name, keys, chip, options = specialization.deserialize(data)
            if name == self.__qualname__:
                described = describe_arguments(self._arguments(keys))
                if len(described) != len(self.params):
                    raise ValueError("there is not one key for each parameter")
        except (AttributeError, ImportError, LookupError, TypeError, ValueError) as error:
            raise ValueError("the data are not what a CompiledKernel's specialization_data has given"
                             ) from error
        if name != self.__qualname__:
            raise RuntimeError(f"the data are of the kernel {name}, not of {self.__qualname__}")
        on_gpu = driver.default.is_active()
        index = max(0, current_device()) if on_gpu else 0
        if chip != (chip_of_device(index) if on_gpu else knobs.emulator_chip):
            raise RuntimeError(f"the data are for {chip}, which is not the current device")
        return self._kernel(keys, dataclasses.asdict(options), CUDA if on_gpu else HOST, index, True)

    def _loaded_kernel(self, kernel, index: int):
        """For the launch path in C++: a kernel that `run` returned, as it is loaded on a GPU, and
        the dict that it is in; None if it is not loaded, or if what it was compiled with has
        changed since: a grid's function may do that."""
        # A program that has put its own `run` in the place of ours wants to have all launches.
        loaded = None if kernel is None or "run" in self.__dict__ else kernel.loaded_on(index)
        if loaded is None or self._function.stale_globals():
            return None
        return loaded, self.device_caches[index][0]

    def _device(self, arrays):
        if not arrays:
            return (CUDA, max(0, current_device())) if driver.default.is_active() else (HOST, 0)
        first = arrays[0]
        if all(a.device_index == first.device_index and a.device == first.device for a in arrays):
            return first.device, first.device_index
        devices = {(a.device, a.device_index) for a in arrays}
        raise ValueError(f"the arrays of one launch of {self.__name__} must be on one device, got "
                         + " and ".join(sorted(d if d == HOST else f"{d}:{i}" for d, i in devices)))

    @staticmethod
    def read_extents(grid):
        """The three extents of a grid."""
        grid = unwrap(grid)
        try:
            if isinstance(grid, (str, bytes, dict, set, frozenset)):
                raise TypeError
            extents = [operator.index(unwrap(extent)) for extent in
                       (grid if hasattr(grid, "__iter__") else (grid, ))]
        except TypeError:
            raise TypeError(f"a grid has one to three integers, got {grid!r}") from None
        while len(extents) > 3 and extents[-1] == 1:
            extents.pop()
        if not 1 <= len(extents) <= 3 or any(extent < 0 for extent in extents):
            raise ValueError(f"a grid has one to three extents that are not negative, got {grid}")
        if max(extents) >= 2**32:
            raise ValueError(f"the extents of a grid must fit in 32 bits, got {grid}")
        return tuple(extents + [1] * (3 - len(extents)))

    def _options(self, given, device: str) -> Options:
        """All options of a compile. Unless somebody says so, kernels are not compiled for debugging,
        but on host arrays, where their assertions are checked."""
        debug = given.get("debug")
        debug = self.debug if debug is None else debug
        if debug is None and not knobs.debug and device == HOST:
            if not given:
                return _EMULATOR_OPTIONS
            given = {"sanitize_overflow": False, **given}
            debug = True
        if not given and not debug and not knobs.debug:
            return _DEFAULT_OPTIONS
        chosen = Options(**{**given, "debug": bool(knobs.debug) or debug})
        chosen.check()
        return chosen

    def _kernel(self, keys, options, device: str, index: int, is_warmup: bool = False):
        if self._function.stale_globals():
            self._leave_behind()
        chip = knobs.emulator_chip if device == HOST else chip_of_device(index)
        chosen = self._options(options, device)
        cache_key = (keys, chip, chosen)
        kernels = self.device_caches["emulator" if device == HOST else index][0]
        kernel = kernels.get(cache_key)
        if kernel is None:
            with self._lock:
                kernel = kernels.get(cache_key)
                if kernel is None:
                    if self._call_compile_hook("jit_cache_hook", cache_key, index, is_warmup):
                        return None
                    kernel = self._start_compile(cache_key, kernels, index, is_warmup)
        if type(kernel) is background.FutureKernel and not is_warmup:
            kernel = kernel.result()
        return kernel

    def _start_compile(self, cache_key, kernels, index: int, is_warmup: bool):
        """Enters the kernel for a key into `kernels`: compiled, or a FutureKernel."""
        keys, chip, options = cache_key

        def compile_():
            with self._lock:
                return self._compile(keys, options, chip)

        def finish(kernel):
            kernel.kernel_function, kernel.keys = self, keys
            kernels[cache_key] = kernel
            self._call_compile_hook("jit_post_compile_hook", cache_key, index, is_warmup)
            announce(kernel, ASTSource.of_arguments(self, kernel.arguments))

        def forget(future):
            if kernels.get(cache_key) is future:
                del kernels[cache_key]

        mode = background.active_mode.get()
        if mode is None:
            kernel = compile_()
            finish(kernel)
        else:
            kernel = kernels[cache_key] = mode.submit(compile_, finish, forget)
        return kernel

    def _leave_behind(self):
        """Compiles anew what uses functions and classes that were defined anew, in a notebook say;
        other globals must not change."""
        # Not while another thread compiles, which adds to `used_globals`.
        with self._lock:
            for name, before, now in self._function.stale_globals():
                if not (hasattr(now, "compiled_function") or isinstance(now, DEFINITIONS)
                        or getattr(before, "is_forgiven", False)):
                    raise RuntimeError(f"the variable {name} has changed since {self.__name__} was "
                                       f"compiled, which would use its old value: it was {before!r}, now "
                                       f"it is {'deleted' if now is ABSENT else repr(now)}")
            self.device_caches.clear()
            self._function.used_globals.clear()

    def _call_compile_hook(self, name: str, cache_key, index: int, is_warmup: bool):
        hook = getattr(knobs.runtime, name)
        if hook is None:
            return None
        keys, chip, options = cache_key
        try:
            data = specialization.serialize(self.__qualname__, keys, chip, options)
        except TypeError:  # a constexpr that has no form as text
            data = ""
        source = ASTSource.of_arguments(self, self._arguments(keys))
        return hooks.call_compile_hook(hook, source, cache_key, data, index, is_warmup)

    def _arguments(self, keys) -> list[Argument]:
        """What the compiler is told of the arguments that have these keys."""
        arguments = [argument_of_key(parameter.name, key)
                     for parameter, key in zip(self.params, keys)]
        for i, (parameter, argument) in enumerate(zip(self.params, arguments)):
            if parameter.is_const and argument.type is not None and argument.type.is_ptr():
                pointer = ty.pointer_type(argument.type.element_ty, const=True)
                arguments[i] = dataclasses.replace(argument, type=pointer)
        return arguments

    def _compile(self, keys, options, chip: str):
        arguments = self._arguments(keys)
        return compile_arguments(self._function, arguments, chip, options, self._name_for(arguments),
                                 self._function.used_globals)

    def _name_for(self, arguments) -> str:
        """The name that `repr` gives the kernel for these arguments."""
        source = ASTSource.of_arguments(self, arguments)
        name = self.repr(_Specialization(source.constexprs, source.signature))
        if not isinstance(name, str) or not name:
            raise TypeError(f"repr of {self.__name__} must return the kernel's name, got {name!r}")
        return name


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):
    """Makes a Python function a kernel.

    `do_not_specialize` names parameters (or has their positions) whose value 1 and whose
    divisibility by 16 must not lead to a kernel of their own. `noinline` changes nothing: kernels
    have the code of all functions that they call.
    """

    def decorate(function):
        if knobs.interpret:
            from ..interpreter import InterpretedFunction
            return InterpretedFunction(function, do_not_specialize)
        return JITFunction(function, version, do_not_specialize, do_not_specialize_on_alignment, debug,
                           noinline, repr, launch_metadata)

    return decorate if fn is None else decorate(fn)


def interpret(fn):
    """The kernel `fn` (a function, a @tile.jit function, also below @tile.autotune or
    @tile.heuristics), run by Python with NumPy, line by line."""
    from ..interpreter import interpret as make
    return make(fn)


def set_allocator(allocator):
    """For programs that were written for Triton: kernels here need no scratch memory, so that
    the allocator is never called."""
