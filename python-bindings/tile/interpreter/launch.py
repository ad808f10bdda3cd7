# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are run by Python itself."""

from __future__ import annotations

import copy
import functools
import sys

import numpy as np

from .. import knobs
from ..compiler.function import Function
from ..compiler.session import Options
from ..language import types as ty
from ..language.pointers import make_tensor_descriptor
from ..language.tensor import tensor
from ..language.types import constexpr, unwrap
from ..runtime.arguments import CUDA, as_array, classify_int
from ..runtime.driver import stream_handle
from ..runtime.jit import IGNORED_OPTIONS, OPTION_NAMES, JITFunction
from ..runtime.reachable import reachable
from ..tools.tensor_descriptor import TensorDescriptor
from .builder import Builder
from .formats import Type, Value
from .memory import Memory, Region, host_bytes
from .session import Session, native

# Keywords of launches that change nothing here.
_OPTIONS = {*OPTION_NAMES, *IGNORED_OPTIONS, "stream", "ir_override"}


def _pointer(address: int, element: ty.dtype):
    pointee = Type(element.ir)
    return tensor(Value(np.asarray(address, np.int64), Type("ptr", (), pointee)), ty.pointer_type(element))


def _scalar(value, type_: ty.dtype):
    """A number as a tensor whose value the compiler would not know."""
    from ..language import semantic
    return tensor(semantic.constant(value, type_).handle, type_)


class _Arguments:
    """The arguments of one launch as the kernel sees them, and the memory behind them."""

    def __init__(self, function: Function, plain):
        self.function, self.plain = function, plain
        self.regions = []
        self.copies = []
        # What may be addresses of arrays: numbers, and arrays of 64-bit integers.
        self.numbers = []
        self.tables = []

    def bind(self, args, kwargs):
        bound = self.function.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for position, (name, value) in enumerate(bound.arguments.items()):
            if name in self.function.constexpr_names:
                bound.arguments[name] = ty.plain(value)
            else:
                specialise = not (name in self.plain or position in self.plain)
                bound.arguments[name] = self.value(name, name, value, specialise)
        known = [(region.start, len(region.bytes)) for region in self.regions]
        for start, size in reachable(self.numbers, self.tables, known):
            self.regions.append(Region("memory that is passed by its address", start,
                                       host_bytes(start, size), 1, False))
        return bound

    def value(self, name: str, parameter: str, value, specialise: bool):
        if isinstance(value, constexpr):
            return unwrap(value)
        annotation = self.function.annotations.get(parameter, "").split(".")[-1].strip("'\"")
        forced = ty.BY_NAME.get(annotation)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return _scalar(value, ty.int1)
        if isinstance(value, int):
            self.numbers.append(value)
            return self.integer(value, forced, specialise)
        if isinstance(value, float):
            return _scalar(value, forced if forced is not None and forced.is_floating() else ty.float32)
        if isinstance(value, TensorDescriptor):
            return self.descriptor(name, value)
        if isinstance(value, tuple):
            parts = [self.value(f"{name}[{i}]", parameter, v, specialise) for i, v in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if not isinstance(value, ty.dtype):
            try:
                array = as_array(value)
            except TypeError as error:
                raise TypeError(f"the argument {name} of {self.function.name}: {error}") from error
            if array is not None:
                pointer = self.array(name, value, array)
                if annotation == "const":
                    pointer.dtype = ty.pointer_type(pointer.dtype.element_ty, const=True)
                return pointer
            if hasattr(value, "item") and hasattr(value, "dtype") and not isinstance(value, type):
                number = value.item()  # of a NumPy scalar; those that Python has no numbers for stay
                if type(number) is not type(value):
                    return self.value(name, parameter, number, specialise)
        if callable(value):
            return value
        raise TypeError(f"the argument {name} of {self.function.name} is a {type(value).__name__}: kernels "
                        "take arrays, numbers, bools, tuples and None")

    def integer(self, value: int, forced, specialise: bool):
        if forced is not None and forced.is_floating():
            return _scalar(float(value), forced)
        if forced is not None and forced.is_int():
            return _scalar(value, forced)
        if specialise and value == 1:
            return value
        return _scalar(value, ty.BY_NAME[classify_int(value, False)[1]])

    def descriptor(self, name: str, value: TensorDescriptor):
        base = self.value(name, name, value.base, False)
        return make_tensor_descriptor(base, [_scalar(n, ty.int32) for n in value.shape],
                                      [*(_scalar(n, ty.int64) for n in value.strides[:-1]), 1],
                                      value.block_shape, value.padding)

    def array(self, name: str, value, array):
        if array.device == CUDA:
            self.copy_from_device(name, value, array)
        else:
            if array.dtype.name in ("int64", "uint64"):
                self.tables.append((array.start, array.size))
            self.regions.append(Region(name, array.start, host_bytes(array.start, array.size),
                                       array.dtype.itemsize, array.read_only))
        return _pointer(array.address, array.dtype)

    def copy_from_device(self, name: str, value, array):
        """Memory of a GPU is copied to the host and, after the launch, back."""
        torch = sys.modules.get("torch")
        value = getattr(value, "base", value)  # of tile.reinterpret
        if torch is None or not isinstance(value, torch.Tensor):
            raise TypeError(f"{name}: the interpreter reads GPU memory of torch tensors only; copy the "
                            "array to the host")
        storage = value.untyped_storage()
        device = torch.tensor([], dtype=torch.uint8, device=value.device).set_(storage)
        if all(d.data_ptr() != device.data_ptr() for d, _ in self.copies):
            host = device.cpu()
            self.copies.append((device, host))
            self.regions.append(Region(name, device.data_ptr(), host.numpy(), array.dtype.itemsize, False))

    def bring_back(self):
        for device, host in self.copies:
            device.copy_(host)


def run_kernel(function: Function, grid, args, kwargs, plain=()):
    """Runs all programs of a grid, one after the other. Returns None."""
    options = {name: value for name, value in kwargs.items() if name not in function.arg_names}
    unknown = set(options) - _OPTIONS
    if unknown:
        raise TypeError(f"{function.name}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    # They change nothing, but must be right.
    stream_handle(options.get("stream"))
    if options.get("ir_override") is not None:
        raise NotImplementedError("ir_override is not supported: kernels are interpreted")
    chosen = Options(**{name: value for name, value in options.items() if name in OPTION_NAMES})
    chosen.check()
    kwargs = {name: value for name, value in kwargs.items() if name in function.arg_names}
    named = function.signature.bind(*args, **kwargs)
    named.apply_defaults()
    if callable(grid):
        grid = grid({name: unwrap(value) for name, value in named.arguments.items()})
    grid = JITFunction.read_extents(grid)
    arguments = _Arguments(function, plain)
    # Memory looks at the regions when it is made, arguments need a builder: both see one list.
    builder = Builder(None, grid, knobs.emulator_chip, chosen.num_warps)
    with Session(builder).active(), np.errstate(all="ignore"):
        bound = arguments.bind(args, kwargs)
        builder.memory = Memory(arguments.regions)
        _run_programs(function, builder, bound, grid)
    arguments.bring_back()


def _run_programs(function, builder, bound, grid):
    kernel = native(function)
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                builder.program = (x, y, z)
                try:
                    result = kernel(*bound.args, **bound.kwargs)
                except Exception as error:
                    if hasattr(error, "add_note"):  # Python 3.11
                        error.add_note(f"in program ({x}, {y}, {z}) of {function.name}")
                    raise
                if result is not None:
                    raise TypeError(f"{function.name} returns a value: a kernel stores it to memory")


class InterpretedFunction:
    """A kernel that Python runs; `kernel[grid](...)` launches it, as that of a JITFunction."""

    is_interpreted = True
    # Subscripts are no elements.
    __iter__ = None

    def __init__(self, fn, do_not_specialize=None):
        self.fn = fn
        functools.update_wrapper(self, fn, updated=())
        self._function = Function(fn)
        self._plain = tuple(do_not_specialize or ())
        self.arg_names = self._function.arg_names
        self.pre_run_hooks = []

    def __repr__(self):
        return f"InterpretedFunction({self.__module__}:{self.__qualname__})"

    def __get__(self, instance, owner=None):
        """As functions do: a method of an aggregate."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **kwargs):
        compiler = ty.state.compiler
        if getattr(compiler, "interprets", False):
            return compiler.call(self, args, kwargs)
        raise RuntimeError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid](...), or "
                           "call it from another kernel")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def compiled_function(self) -> Function:
        """The source, for the front end."""
        return self._function

    @property
    def src(self) -> str:
        return self._function.definition

    @property
    def signature(self):
        """That of the Python function, an inspect.Signature."""
        return self._function.signature

    @property
    def cache_key(self) -> str:
        return f"interpreted {self.__module__}.{self.__qualname__}"

    def add_pre_run_hook(self, hook):
        """`hook(*args, **kwargs)` is called before each launch."""
        self.pre_run_hooks.append(hook)

    def warmup(self, *args, grid=None, **kwargs):
        """Does nothing: there is nothing to compile."""

    def run(self, *args, grid, warmup=False, **kwargs):
        if warmup:
            return
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        run_kernel(self._function, grid, args, kwargs, self._plain)


def interpret(fn):
    """The kernel `fn` (a function, a @tile.jit function, also below @tile.autotune or
    @tile.heuristics), run by Python with NumPy, line by line."""
    if isinstance(fn, InterpretedFunction):
        return fn
    if hasattr(type(fn), "base_fn"):  # an autotuner or heuristics
        made = copy.copy(fn)
        made.fn = interpret(fn.fn)
        return made
    if hasattr(fn, "compiled_function"):
        plain = [p.name for p in fn.params if not p.specialise]
        return InterpretedFunction(fn.fn, plain)
    return InterpretedFunction(fn)
