# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tile.jit`: specialisation, the cache of compiled kernels in memory, and launches."""

from __future__ import annotations

import hashlib
import sys
import threading

from .. import _C, knobs
from ..compiler.function import Function
from ..compiler.kernel import chip_of_capability, compile_arguments
from ..compiler.session import Argument, Options
from ..language import types as ty
from ..language.pointers import make_tensor_descriptor
from ..language.types import constexpr, unwrap
from ..tools.tensor_descriptor import TensorDescriptor
from . import emulator
from .arguments import CUDA, HOST, Array, as_array, classify_int, reader_of

_OPTION_NAMES = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "debug")
# Options of Triton that change nothing here.
_IGNORED_OPTIONS = {"launch_cooperative_grid", "launch_pdl", "waves_per_eu", "matrix_instr_nonkdim",
                    "warp_size", "sanitize_overflow", "generate_native_code"}


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


class JITFunction:
    """A kernel, or a function that kernels call. `kernel[grid](...)` launches it."""

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None,
                 debug=None, noinline=None, repr=None, launch_metadata=None):
        self.fn = fn
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.debug = bool(debug)
        self.pre_run_hooks = []
        self._function = Function(fn)
        plain = do_not_specialize or ()
        unaligned = do_not_specialize_on_alignment or ()
        self.params = [Parameter(self._function, i, plain, unaligned)
                       for i in range(len(self._function.params))]
        self.arg_names = self._function.arg_names
        self._position = {name: i for i, name in enumerate(self.arg_names)}
        self._kernels = {}
        self._lock = threading.Lock()

    def __repr__(self):
        return f"JITFunction({self.__module__}:{self.__qualname__})"

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid](...), or "
                           "call it from another @tile.jit function")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

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
                if name in _OPTION_NAMES:
                    options[name] = value
                elif name not in _IGNORED_OPTIONS:
                    raise TypeError(f"{self.__name__}() got an unexpected keyword argument {name!r}; "
                                    f"options are {', '.join(_OPTION_NAMES)}")
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
        # What launches see most comes first.
        reader = reader_of(kind)
        if reader is not None and not parameter.is_constexpr:
            array = reader(value)
            passed.append(array.address)
            arrays.append(array)
            return ("*", array.dtype.name, array.address % 16 == 0 and parameter.aligned)
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
            forced = parameter.forced
            return ("f", forced.name if forced is not None and forced.is_floating() else "fp32")
        if kind is TensorDescriptor:
            return self._classify_descriptor(value, passed, arrays)
        if isinstance(value, tuple):
            keys = tuple(self.classify(parameter, v, passed, arrays) for v in value)
            return ("(", kind if hasattr(value, "_fields") else tuple, keys)
        array = Array(0, value, HOST) if isinstance(value, ty.dtype) else as_array(value)
        if array is not None:
            passed.append(array.address)
            arrays.append(array)
            return ("*", array.dtype.name, array.address % 16 == 0 and parameter.aligned)
        if hasattr(value, "item") and hasattr(value, "dtype"):  # a NumPy scalar
            return self.classify(parameter, value.item(), passed, arrays)
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
        if forced is not None and forced.is_int():
            passed.append(value)
            return ("i", forced.name, parameter.specialise and value % 16 == 0)
        if parameter.specialise and value == 1:
            return ("=", _ONE)
        passed.append(value)
        return classify_int(value, parameter.specialise and parameter.align)

    def run(self, *args, grid, warmup=False, stream=None, **kwargs):
        """Compiles the kernel if these arguments need it, and launches it."""
        values, options = self.bind(args, kwargs)
        keys, passed, arrays = [], [], []
        for parameter, value in zip(self.params, values):
            keys.append(self.classify(parameter, value, passed, arrays))
        device, index = self._device(arrays)
        kernel = self._kernel(tuple(keys), options, device, index)
        if warmup:
            return kernel
        grid = self._grid(grid, values)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        if 0 in grid:
            return kernel
        if device == CUDA:
            _check_current(index)
            kernel.loaded(index).launch(grid, passed, _current_stream(index) if stream is None else stream)
        else:
            emulator.launch(kernel, grid, passed, arrays)
        return kernel

    def _device(self, arrays):
        if not arrays:
            return HOST, 0
        first = arrays[0]
        if all(a.device_index == first.device_index and a.device == first.device for a in arrays):
            return first.device, first.device_index
        devices = {(a.device, a.device_index) for a in arrays}
        raise ValueError(f"the arrays of one launch of {self.__name__} must be on one device, got "
                         + " and ".join(sorted(d if d == HOST else f"{d}:{i}" for d, i in devices)))

    def _grid(self, grid, values):
        if callable(grid):
            grid = grid(dict(zip(self.arg_names, [unwrap(v) for v in values])))
        if isinstance(grid, int):
            grid = (grid, )
        extents = [int(unwrap(extent)) for extent in grid]
        if not 1 <= len(extents) <= 3 or any(extent < 0 for extent in extents):
            raise ValueError(f"a grid has one to three extents that are not negative, got {grid}")
        return tuple(extents + [1] * (3 - len(extents)))

    def _kernel(self, keys, options, device: str, index: int):
        for name in self._function.stale_globals() if self._function.used_globals else ():
            raise RuntimeError(f"the global variable {name} has changed since {self.__name__} was "
                               "compiled, which would use its old value")
        chip = knobs.emulator_chip if device == HOST else _chip_of_device(index)
        cache_key = (keys, chip, tuple(options.items()) if options else ())
        kernel = self._kernels.get(cache_key)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(cache_key)
                if kernel is None:
                    kernel = self._compile(keys, options, chip)
                    self._kernels[cache_key] = kernel
        return kernel

    def _compile(self, keys, options, chip: str):
        arguments = [_argument_of_key(parameter.name, key)
                     for parameter, key in zip(self.params, keys)]
        return compile_arguments(self._function, arguments, chip, Options(**options))

    @property
    def device_caches(self):
        """The compiled kernels by their key."""
        return self._kernels


class _Constant:
    """A constexpr in a key: values that are equal but of different types, as 1 and True
    and 1.0, are different constants."""

    __slots__ = ("value", "_hash")

    def __init__(self, value):
        self.value = value
        self._hash = hash((type(value), value))

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return type(self.value) is type(other.value) and self.value == other.value


_ONE = _Constant(1)
_NONE = _Constant(None)


def _hashable(value, name: str):
    if isinstance(value, list):
        value = tuple(value)
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"the constexpr {name} must be hashable, got a {type(value).__name__}") from None
    return _Constant(value)


_chips = {}


def _chip_of_device(index: int) -> str:
    if index not in _chips:
        major, minor = _C.cuda_capability(index)
        _chips[index] = chip_of_capability(10 * major + minor)
    return _chips[index]


def _check_current(index: int):
    """Kernels are launched on the current device, as torch and the CUDA runtime see it."""
    torch = sys.modules.get("torch")
    if torch is not None and torch._C._cuda_getDevice() != index:
        raise ValueError(f"the arrays are on cuda:{index}, but the current device is "
                         f"cuda:{torch.cuda.current_device()}: use `with torch.cuda.device({index})`")


def _current_stream(index: int) -> int:
    """The stream that torch or CuPy is on; the default stream otherwise."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return torch._C._cuda_getCurrentRawStream(index)
    cupy = sys.modules.get("cupy")
    if cupy is not None:
        return cupy.cuda.get_current_stream().ptr
    return 0


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):
    """Makes a Python function a kernel.

    `do_not_specialize` names parameters (or has their positions) whose value 1 and whose
    divisibility by 16 must not lead to a kernel of their own.
    """

    def decorate(function):
        return JITFunction(function, version, do_not_specialize, do_not_specialize_on_alignment, debug,
                           noinline, repr, launch_metadata)

    return decorate if fn is None else decorate(fn)


def set_allocator(allocator):
    """For programs that were written for Triton: kernels here need no scratch memory, so that
    the allocator is never called."""


def constexpr_function(fn):
    """A Python function that kernels may call with values that are known at compile time."""
    return fn
