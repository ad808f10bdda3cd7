# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tile.jit`: specialisation, the cache of compiled kernels in memory, and launches."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import operator
import os
import threading
import weakref

from .. import _C, knobs
from ..compiler.function import Function, typed
from ..compiler.kernel import compile_arguments
from ..compiler.session import Argument, Options
from ..language import semantic
from ..language import types as ty
from ..language.pointers import make_tensor_descriptor
from ..language.types import constexpr, unwrap
from ..tools.tensor_descriptor import TensorDescriptor
from . import emulator, specialization
from .arguments import CUDA, HOST, Array, as_array, classify_int, describe_type
from .driver import chip_of_device, current_device, current_stream, driver, use_device

OPTION_NAMES = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug")
# Options of Triton that change nothing here.
IGNORED_OPTIONS = {"launch_cooperative_grid", "launch_pdl", "waves_per_eu", "matrix_instr_nonkdim",
                    "warp_size", "sanitize_overflow", "generate_native_code"}
_DEFAULT_OPTIONS = Options()

_C.set_launch_helpers(describe_type, current_stream)


def _argument_of_key(name: str, key) -> Argument:
    kind = key[0]
    if kind == "=":
        return Argument(name, value=key[1].value)
    if kind == "(":
        elements = tuple(_argument_of_key(f"{name}[{i}]", k) for i, k in enumerate(key[2]))
        return Argument(name, elements=elements, factory=key[1])
    if kind == "d":
        return _descriptor_argument(name, *key[1:])
    if kind == "f":
        return Argument(name, ty.BY_NAME[key[1]])
    if kind == "b":
        return Argument(name, ty.int1)
    type_ = ty.BY_NAME[key[1]]
    return Argument(name, ty.pointer_type(type_) if kind == "*" else type_, 16 if key[2] else 1)


def _descriptor_argument(name: str, dtype_name: str, block_shape, padding: str) -> Argument:
    """A tensor descriptor: pointer, extents and strides, from which the kernel makes it."""
    rank = len(block_shape)

    def make(base, *numbers):
        return make_tensor_descriptor(base, numbers[:rank], (*numbers[rank:], 1), block_shape, padding)

    elements = [Argument(f"{name}_base", ty.pointer_type(ty.BY_NAME[dtype_name]), 16)]
    elements += [Argument(f"{name}_shape_{i}", ty.int32) for i in range(rank)]
    elements += [Argument(f"{name}_stride_{i}", ty.int64) for i in range(rank - 1)]
    return Argument(name, elements=tuple(elements), factory=make)


class Parameter:
    """A parameter of a kernel, and how launches treat it."""

    def __init__(self, function: Function, index: int, plain, unaligned):
        parameter = function.params[index]
        self.name = parameter.name
        self.is_constexpr = self.name in function.constexpr_names
        self.default = parameter.default
        self.specialise = not (self.name in plain or index in plain)
        self.align = not (self.name in unaligned or index in unaligned)
        self.aligned = self.specialise and self.align
        annotation = function.annotations.get(self.name, "").split(".")[-1].strip("'\"")
        self.forced = ty.BY_NAME.get(annotation)
        self.is_float = self.forced is not None and self.forced.is_floating()

    def launch_description(self, no_default):
        """As the launch path in C++ takes it."""
        default = () if self.default is no_default else (unwrap(self.default), )
        return (self.name, default, self.is_constexpr, self.specialise, self.align,
                self.forced is not None and self.forced.is_int(), self.is_float)


# All kernels, for `_renew_locks`.
_instances = weakref.WeakSet()


def _renew_locks():
    """After a fork: a thread that is not in this process may have been compiling."""
    for kernel in _instances:
        kernel._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class DeviceCaches(dict):
    """The compiled kernels by device: a GPU's index or "emulator". As with Triton, the value is
    a tuple whose first element is the dict of kernels by their key."""

    def __init__(self, owner):
        super().__init__()
        self._forget = owner._forget_kernels

    def __missing__(self, device):
        self[device] = ({}, )
        return self[device]

    def clear(self):
        super().clear()
        self._forget()


class JITFunction(_C.KernelBase):
    """A kernel, or a function that kernels call. `kernel[grid](...)` launches it.

    The base class makes the launches of kernels that it knows by their arguments, and calls
    `run` for all others. `pre_run_hooks` is a member of it.
    """

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
                 debug=None, noinline=None, repr=None, launch_metadata=None):
        # Says what is wrong if this is no function.
        self._function = Function(fn)
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.debug = bool(debug)
        self.launch_metadata = launch_metadata
        plain = do_not_specialize or ()
        unaligned = do_not_specialize_on_alignment or ()
        self.params = [Parameter(self._function, i, plain, unaligned)
                       for i in range(len(self._function.params))]
        self.arg_names = self._function.arg_names
        self._position = {name: i for i, name in enumerate(self.arg_names)}
        # Constexprs that are options of the compiler, too.
        self._shared = [(i, p.name) for i, p in enumerate(self.params)
                        if p.is_constexpr and p.name in OPTION_NAMES]
        self.device_caches = DeviceCaches(self)
        # Code that runs while a kernel is compiled may launch it.
        self._lock = threading.RLock()
        _instances.add(self)
        self._configure_launches(
            tuple(parameter.launch_description(self._function.params[i].empty)
                  for i, parameter in enumerate(self.params)),
            OPTION_NAMES, IGNORED_OPTIONS, self._function.used_globals)

    # As for functions: copies are the kernel itself, and pickles name it.
    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return self.__qualname__

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
        return self._function.source

    @property
    def cache_key(self) -> str:
        """Changes with the source of the function."""
        return hashlib.sha256(f"{self.src}{self._function.line_offset}".encode()).hexdigest()

    def add_pre_run_hook(self, hook):
        """`hook(*args, **kwargs)` is called before each launch."""
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
        if kind is constexpr:
            value = unwrap(value)
            kind = type(value)
        if parameter.is_constexpr:
            return ("=", _hashable(value, parameter.name))
        if value is None:
            return ("=", _NONE)
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
            array = Array(0, value, HOST) if isinstance(value, ty.dtype) else as_array(value)
        except TypeError as error:
            raise TypeError(f"the argument {parameter.name} of {self.__name__}: {error}") from error
        if array is not None:
            passed.append(array.address)
            arrays.append(array)
            return ("*", array.dtype.name, array.address % 16 == 0 and parameter.aligned)
        if hasattr(value, "item") and hasattr(value, "dtype"):  # a NumPy scalar
            return self.classify(parameter, value.item(), passed, arrays)
        if isinstance(value, (int, float)):  # of an IntEnum, say
            plain = int(value) if isinstance(value, int) else float(value)
            return self.classify(parameter, plain, passed, arrays)
        if callable(value) or isinstance(value, str):
            return ("=", _hashable(value, parameter.name))
        raise TypeError(f"the argument {parameter.name} of {self.__name__} is a "
                        f"{kind.__name__}: kernels take arrays, numbers, bools, tuples and None")

    def _classify_descriptor(self, value, passed, arrays):
        array = as_array(value.base)
        arrays.append(array)
        passed.extend((array.address, *value.shape, *value.strides[:-1]))
        return ("d", array.dtype.name, value.block_shape, value.padding)

    def _classify_int(self, parameter, value, passed):
        forced = parameter.forced
        if parameter.is_float:
            passed.append(float(value))
            return ("f", forced.name)
        if forced is not None and forced.is_int():
            passed.append(value)
            return ("i", forced.name, parameter.specialise and value % 16 == 0)
        if parameter.specialise and value == 1:
            return ("=", _ONE)
        passed.append(value)
        return classify_int(value, parameter.specialise and parameter.align)

    def run(self, /, *args, grid, warmup=False, stream=None, **kwargs):
        """Compiles the kernel if these arguments need it, and launches it."""
        if stream is not None and "stream" in self._position:
            kwargs["stream"], stream = stream, None
        values, options = self.bind(args, kwargs)
        for position, name in self._shared:
            options[name] = unwrap(values[position])
        keys, passed, arrays = [], [], []
        for parameter, value in zip(self.params, values):
            keys.append(self.classify(parameter, value, passed, arrays))
        device, index = self._device(arrays)
        kernel = self._kernel(tuple(keys), options, device, index)
        if warmup:
            return kernel
        if callable(grid):
            grid = grid(dict(zip(self.arg_names, [unwrap(v) for v in values])))
        grid = self.read_extents(grid)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if 0 in grid:
            return kernel
        if device == CUDA:
            self._launch_on_gpu(kernel, grid, passed, arrays, index, stream)
        else:
            emulator.launch(kernel, grid, passed, arrays)
        return kernel

    def _launch_on_gpu(self, kernel, grid, passed, arrays, index: int, stream):
        use_device(index)
        if stream is None:
            stream = next((a.stream for a in arrays if a.stream is not None), None)
        if stream is None:
            stream = current_stream(index)
        for array in arrays:
            if array.pending is not None:
                _C.cuda_wait_stream(stream, array.pending)
        kernel.loaded(index).launch(grid, passed, stream)

    def launch_compiled(self, kernel, grid, args, stream=None):
        """Launches a kernel that `warmup` returned, without a look at what the arguments would be
        specialised to. Constexprs may be left out of `args`."""
        places = list(zip(self.params, kernel.arguments))
        if len(args) != len(places):
            places = [p for p in places if not p[0].is_constexpr]
        if len(args) != len(places):
            raise TypeError(f"{self.__name__}() takes {len(self.params)} arguments, or {len(places)} "
                            f"without constexprs, got {len(args)}")
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
        device, index = self._device(arrays)
        grid = self.read_extents(grid)
        if 0 in grid:
            return
        if device == CUDA:
            self._launch_on_gpu(kernel, grid, passed, arrays, index, stream)
        else:
            emulator.launch(kernel, grid, passed, arrays)

    def preload(self, data: str):
        """Compiles a kernel that another process has used; `data` is its
        `CompiledKernel.specialization_data`."""
        try:
            name, keys, chip, options = specialization.deserialize(data, _Constant)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError("the data are not what a CompiledKernel's specialization_data has given"
                             ) from error
        if name != self.__qualname__:
            raise RuntimeError(f"the data are of the kernel {name}, not of {self.__qualname__}")
        on_gpu = driver.default.is_active()
        index = max(0, current_device()) if on_gpu else 0
        if chip != (chip_of_device(index) if on_gpu else knobs.emulator_chip):
            raise RuntimeError(f"the data are for {chip}, which is not the current device")
        return self._kernel(keys, dataclasses.asdict(options), CUDA if on_gpu else HOST, index)

    def _loaded_kernel(self, kernel, index: int):
        """For the launch path in C++: a kernel that `run` returned, as it is loaded on a GPU, and
        the dict that it is in; None if it is not loaded, or if what it was compiled with has
        changed since: a grid's function may do that."""
        loaded = kernel.loaded_on(index)
        if loaded is None or self._function.stale_globals():
            return None
        return loaded, self.device_caches[index][0]

    def _device(self, arrays):
        if not arrays:
            return HOST, 0
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
            extents = [operator.index(unwrap(extent)) for extent in
                       (grid if hasattr(grid, "__iter__") else (grid, ))]
        except TypeError:
            raise TypeError(f"a grid has one to three integers, got {grid!r}") from None
        if not 1 <= len(extents) <= 3 or any(extent < 0 for extent in extents):
            raise ValueError(f"a grid has one to three extents that are not negative, got {grid}")
        if max(extents) >= 2**32:
            raise ValueError(f"the extents of a grid must fit in 32 bits, got {grid}")
        return tuple(extents + [1] * (3 - len(extents)))

    def _kernel(self, keys, options, device: str, index: int):
        stale = self._function.stale_globals()
        if stale:
            self._leave_behind(stale)
        chip = knobs.emulator_chip if device == HOST else chip_of_device(index)
        chosen = _DEFAULT_OPTIONS
        if options:
            chosen = Options(**options)
            chosen.check()
        cache_key = (keys, chip, chosen)
        kernels = self.device_caches["emulator" if device == HOST else index][0]
        kernel = kernels.get(cache_key)
        if kernel is None:
            with self._lock:
                kernel = kernels.get(cache_key)
                if kernel is None:
                    kernel = self._compile(keys, chosen, chip)
                    kernel.kernel_function, kernel.keys = self, keys
                    kernels[cache_key] = kernel
        return kernel

    def _leave_behind(self, stale):
        """Compiles anew what calls functions that were defined anew, in a notebook say; other
        globals must not change."""
        for name, value in stale:
            if not hasattr(value, "compiled_function"):
                raise RuntimeError(f"the variable {name} has changed since {self.__name__} was "
                                   "compiled, which would use its old value")
        self.device_caches.clear()
        self._function.used_globals.clear()

    def _compile(self, keys, options, chip: str):
        arguments = [_argument_of_key(parameter.name, key)
                     for parameter, key in zip(self.params, keys)]
        return compile_arguments(self._function, arguments, chip, options)


class _Constant:
    """A constexpr in a key."""

    __slots__ = ("value", "_typed", "_hash")

    def __init__(self, value):
        self.value = value
        self._typed = typed(value)
        self._hash = hash(self._typed)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self._typed == other._typed


_ONE = _Constant(1)
_NONE = _Constant(None)


def _hashable(value, name: str):
    if isinstance(value, list):
        value = tuple(value)
    value = ty.plain(value)
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"the constexpr {name} must be hashable, got a {type(value).__name__}") from None
    return _Constant(value)


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):
    """Makes a Python function a kernel.

    `do_not_specialize` names parameters (or has their positions) whose value 1 and whose
    divisibility by 16 must not lead to a kernel of their own.
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


def constexpr_function(fn):
    """A Python function that kernels may call with values that are known at compile time."""
    return fn
