# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the kernel language, and the value classes of the front end."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import sys
import textwrap
import threading
import types


class _State(threading.local):
    """What a kernel that is being compiled builds with; None outside of kernels."""

    builder = None
    compiler = None
    # Whether this is within the combine function of a reduction or scan.
    combining = 0


state = _State()


def builder():
    """The builder of the kernel that is being compiled."""
    if state.builder is None:
        raise RuntimeError("this function of tile.language works in @tile.jit kernels only")
    return state.builder


def interpreting() -> bool:
    """Whether Python runs the kernel, instead of compiling it."""
    return getattr(state.compiler, "interprets", False)


class dtype:
    """A type of numbers, or of a pointer (`pointer_type`). `dtype("fp32")` is a type by name."""

    def __init__(self, name: str, ir: str = "", kind: str = "", width: int = 0):
        if not kind:
            if not isinstance(unwrap(name), str):
                raise TypeError("a type is made from its name, as tl.dtype('fp32'); to cast a value write "
                                "value.to(tl.float32)")
            found = type_of_name(unwrap(name))
            name, ir, kind, width = found.name, found.ir, found.kind, found.primitive_bitwidth
        self.name = name
        self.ir = ir
        self.kind = kind  # "bool", "int", "uint", "float", "void" or "ptr"
        self.primitive_bitwidth = width
        self.itemsize = max(1, width // 8)

    @property
    def scalar(self):
        return self

    @property
    def element_ty(self):
        raise AttributeError(f"{self} is no pointer: it has no element_ty")

    @property
    def shape(self):
        return ()

    def is_floating(self): return self.kind == "float"
    def is_standard_floating(self): return self.is_floating() and not self.is_fp8()
    def is_fp8(self): return self.kind == "float" and self.primitive_bitwidth == 8
    def is_fp16(self): return self.name == "fp16"
    def is_bf16(self): return self.name == "bf16"
    def is_fp32(self): return self.name == "fp32"
    def is_fp64(self): return self.name == "fp64"
    def is_fp8e4nv(self): return self.name == "fp8e4nv"
    def is_fp8e5(self): return self.name == "fp8e5"
    def is_fp8e4b15(self): return self.name == "fp8e4b15"
    def is_fp8e4b8(self): return self.name == "fp8e4b8"
    def is_fp8e5b16(self): return self.name == "fp8e5b16"
    def is_int(self): return self.kind in ("bool", "int", "uint")
    def is_bool(self): return self.kind == "bool"
    def is_int1(self): return self.kind == "bool"
    def is_int8(self): return self.name == "int8"
    def is_int16(self): return self.name == "int16"
    def is_int32(self): return self.name == "int32"
    def is_int64(self): return self.name == "int64"
    def is_uint8(self): return self.name == "uint8"
    def is_uint16(self): return self.name == "uint16"
    def is_uint32(self): return self.name == "uint32"
    def is_uint64(self): return self.name == "uint64"
    def is_int_signed(self): return self.kind == "int"
    def is_int_unsigned(self): return self.kind in ("uint", "bool")
    def is_ptr(self): return self.kind == "ptr"
    def is_block(self): return False
    def is_void(self): return self.kind == "void"
    def is_const(self): return False

    @staticmethod
    def is_dtype(name) -> bool:
        """Whether a name is one of a type of numbers."""
        return name in {t.name for t in SCALARS}

    def _limits(self):
        if not self.is_int():
            raise TypeError(f"{self} is no integer type: it has no smallest and largest value")
        width = self.primitive_bitwidth
        if self.is_int_signed():
            return -(1 << (width - 1)), (1 << (width - 1)) - 1
        return 0, (1 << width) - 1

    def get_int_min_value(self) -> int: return self._limits()[0]
    def get_int_max_value(self) -> int: return self._limits()[1]

    @property
    def int_bitwidth(self): return self.primitive_bitwidth
    @property
    def int_signedness(self): return "signed" if self.kind == "int" else "unsigned"
    @property
    def fp_mantissa_width(self):
        return {"fp8e4nv": 3, "fp8e4b15": 3, "fp8e4b8": 3, "fp8e5": 2, "fp8e5b16": 2, "fp16": 10, "bf16": 7,
                "fp32": 23, "fp64": 52}[self.name]

    @property
    def exponent_bias(self):
        return {"fp8e4nv": 7, "fp8e4b15": 15, "fp8e4b8": 8, "fp8e5": 15, "fp8e5b16": 16, "fp16": 15,
                "bf16": 127, "fp32": 127, "fp64": 1023}[self.name]

    def to_ir(self):
        """The IR type of one element."""
        if self.name in _FOREIGN:
            raise TypeError(f"{self} is not supported: kernels know the 8-bit floats tl.float8e4nv and "
                            "tl.float8e5")
        if self.kind == "float":
            return builder().float_type(self.ir)
        return builder().int_type(self.primitive_bitwidth)

    def __eq__(self, other):
        other = unwrap(other)
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        """An expression for the type, for programs that write programs."""
        return f"tile.language.{_EXPRESSIONS.get(self.name, self.name)}"

    def __call__(self, value):
        """Inside a kernel, a cast."""
        from . import semantic
        return semantic.cast(semantic.to_tensor(value), self)


class pointer_type(dtype):
    """A pointer to elements of `element_ty` in global memory."""

    def __init__(self, element_ty: dtype, address_space: int = 1, const: bool = False):
        element_ty = unwrap(element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError("pointer_type needs the type of what is pointed to, such as tl.float32, got a "
                            f"{type(element_ty).__name__}")
        super().__init__(f"{'const_' if const else ''}pointer<{element_ty}>", "ptr", "ptr", 64)
        self._element_ty = element_ty
        self.address_space = address_space
        self.const = const

    @property
    def element_ty(self):
        return self._element_ty

    def __repr__(self):
        return self.name

    def is_const(self): return self.const

    def to_ir(self):
        return builder().ptr_type(self.element_ty.to_ir(), self.address_space)


class block_pointer_type(pointer_type):
    """What programs find as the `dtype` of a block pointer: one to a whole block, as with Triton."""

    def __init__(self, base: pointer_type, shape):
        super().__init__(base.element_ty, base.address_space, base.const)
        self.block_shape = shape

    @property
    def element_ty(self):
        return block_type(self._element_ty, self.block_shape)


class block_type:
    """The type of a tile: `scalar` elements in `shape`."""

    def __init__(self, element_ty: dtype, shape):
        self.element_ty = element_ty
        self.shape = tuple(shape)

    @property
    def scalar(self):
        return self.element_ty

    def is_block(self): return True
    def is_ptr(self): return False
    def is_floating(self): return self.element_ty.is_floating()
    def is_int(self): return self.element_ty.is_int()

    def get_block_shapes(self): return self.shape

    @property
    def numel(self):
        return math.prod(self.shape)

    def __eq__(self, other):
        return (isinstance(other, block_type) and self.element_ty == other.element_ty
                and self.shape == other.shape)

    def __hash__(self):
        return hash((self.element_ty, self.shape))

    def __str__(self):
        return f"<{list(self.shape)}, {self.element_ty}>"

    __repr__ = __str__


void = dtype("void", "none", "void", 0)
int1 = dtype("int1", "i1", "bool", 1)
int8 = dtype("int8", "i8", "int", 8)
int16 = dtype("int16", "i16", "int", 16)
int32 = dtype("int32", "i32", "int", 32)
int64 = dtype("int64", "i64", "int", 64)
uint8 = dtype("uint8", "i8", "uint", 8)
uint16 = dtype("uint16", "i16", "uint", 16)
uint32 = dtype("uint32", "i32", "uint", 32)
uint64 = dtype("uint64", "i64", "uint", 64)
float8e4nv = dtype("fp8e4nv", "f8E4M3FN", "float", 8)
float8e5 = dtype("fp8e5", "f8E5M2", "float", 8)
# Types of other machines; kernels may compare with them, but not use them.
float8e4b15 = dtype("fp8e4b15", "", "float", 8)
float8e4b8 = dtype("fp8e4b8", "", "float", 8)
float8e5b16 = dtype("fp8e5b16", "", "float", 8)
_FOREIGN = {"fp8e4b15", "fp8e4b8", "fp8e5b16"}
float16 = dtype("fp16", "f16", "float", 16)
bfloat16 = dtype("bf16", "bf16", "float", 16)
float32 = dtype("fp32", "f32", "float", 32)
float64 = dtype("fp64", "f64", "float", 64)

SCALARS = (int1, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float8e4nv, float8e5,
           float16, bfloat16, float32, float64)
# What floats are called in the language, where their own names are shorter.
_EXPRESSIONS = {"fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b15": "float8e4b15",
                "fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16", "fp16": "float16",
                "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
# The names of the types, by kind; programs make their tables of types from these.
dtype.SINT_TYPES = [t.name for t in SCALARS if t.is_int_signed()]
dtype.UINT_TYPES = [t.name for t in SCALARS if t.is_int_unsigned()]
dtype.FP_TYPES = [t.name for t in (float8e4b15, float8e4nv, float8e4b8, float8e5, float8e5b16, float16,
                                   bfloat16, float32, float64)]
dtype.STANDARD_FP_TYPES = [t.name for t in SCALARS if t.is_standard_floating()]
dtype.OTHER_TYPES = [void.name]
BY_NAME = {t.name: t for t in SCALARS}
# Names in signatures: "*fp16:16" is a pointer that is divisible by 16.
BY_NAME.update({"i1": int1, "u1": int1, "i8": int8, "i16": int16, "i32": int32, "i64": int64,
                "u8": uint8, "u16": uint16, "u32": uint32, "u64": uint64, "bool": int1,
                "f16": float16, "f32": float32, "f64": float64, "float16": float16,
                "bfloat16": bfloat16, "float32": float32, "float64": float64,
                "float8e4nv": float8e4nv, "float8e5": float8e5,
                "float8_e4m3fn": float8e4nv, "float8_e5m2": float8e5})


def type_of_name(name: str) -> dtype:
    """The type that a signature names; raises ValueError for an unknown one."""
    name = name.strip()
    if name.startswith("*"):
        # "*k…" is a pointer to what the kernel only reads.
        inner = name[1:].removeprefix("k")
        return pointer_type(type_of_name(inner), const=inner != name[1:])
    if name not in BY_NAME:
        raise ValueError(f"unknown type {name!r}, expected one of "
                         f"{', '.join(t.name for t in SCALARS)} or a pointer such as *fp32")
    return BY_NAME[name]


def signature_name(type_: dtype) -> str:
    """The name of a type in a signature: `type_of_name` finds it again."""
    if type_.is_ptr():
        return f"*{'k' if type_.is_const() else ''}{signature_name(type_.element_ty)}"
    prefix = {"int": "i", "uint": "u", "bool": "i"}.get(type_.kind)
    return type_.name if prefix is None else f"{prefix}{type_.primitive_bitwidth}"


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of so many bits."""
    bitwidth, signed = unwrap(bitwidth), unwrap(signed)
    if bitwidth == 1:
        return int1
    found = BY_NAME.get(f"{'int' if signed else 'uint'}{bitwidth}")
    if found is None:
        raise ValueError(f"there is no integer type of {bitwidth} bits")
    return found


class const:
    """As an annotation: a pointer to memory that the kernel only reads."""


def unwrap(value):
    """The plain Python value of a constexpr."""
    while isinstance(value, constexpr):
        value = value.value
    return value


def plain(value):
    """The value of a constexpr; a number of NumPy as Python's."""
    value = unwrap(value)
    numpy = sys.modules.get("numpy")
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


class ConstexprFunction:
    """A Python function that kernels may call with values that are known at compile time."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn = fn

    def __call__(self, *args, **kwargs):
        return self.fn(*map(unwrap, args), **{name: unwrap(value) for name, value in kwargs.items()})

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    @property
    def src(self) -> str:
        """The source, from `def` on."""
        lines = textwrap.dedent(inspect.getsource(self.fn)).splitlines(keepends=True)
        first = next((i for i, line in enumerate(lines) if line.startswith("def ")), 0)
        return "".join(lines[first:])


def constexpr_function(fn):
    """Makes a Python function one that kernels may call with values that are known at compile
    time."""
    return ConstexprFunction(fn)


class constexpr:
    """A value that is known at compile time. As an annotation it marks parameters and
    variables of kernels; as a global it may be used in kernels. In a kernel such a value
    is a plain Python value."""

    def __init__(self, value):
        object.__setattr__(self, "value", plain(value))

    def __setattr__(self, name, value):
        # Compiled code has it, and launches do not look again.
        if name == "value":
            raise AttributeError("the value of a constexpr does not change: make another one")
        object.__setattr__(self, name, value)

    def __repr__(self):
        return f"constexpr[{self.value!r}]"

    def __hash__(self):
        return hash(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __bool__(self):
        return bool(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, key):
        return self.value[unwrap(key)]


def _forward(name):
    function = getattr(operator, name)

    def binary(self, other):
        return constexpr(function(self.value, unwrap(other)))

    def reverse(self, other):
        return constexpr(function(unwrap(other), self.value))

    return binary, reverse


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
              "rshift"):
    _binary, _reverse = _forward(_name)
    setattr(constexpr, f"__{_name.strip('_')}__", _binary)
    setattr(constexpr, f"__r{_name.strip('_')}__", _reverse)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(constexpr, f"__{_name}__", _forward(_name)[0])
for _name in ("neg", "invert", "pos"):
    setattr(constexpr, f"__{_name}__",
            lambda self, function=getattr(operator, _name): constexpr(function(self.value)))


class constexpr_type:
    """The `type` of a value that is known at compile time. What a type of numbers can be asked,
    that of a number can be asked too."""

    def __init__(self, value):
        self.value = unwrap(value)

    def __eq__(self, other):
        if isinstance(other, constexpr_type):
            return type(self.value) is type(other.value) and self.value == other.value
        return isinstance(other, dtype) and self._number_type() == other

    def __hash__(self):
        number_type = self._number_type()
        return hash(self.value) if number_type is None else hash(number_type)

    def __getattr__(self, name):
        number_type = None if name.startswith("_") else self._number_type()
        if number_type is None:
            raise AttributeError(f"{self} has no attribute {name!r}")
        return getattr(number_type, name)

    def _number_type(self):
        from .semantic import is_number, type_of_number
        return type_of_number(self.value) if is_number(self.value) else None

    def __repr__(self):
        return f"constexpr_type[{self.value!r}]"


pi32_t = pointer_type(int32)
