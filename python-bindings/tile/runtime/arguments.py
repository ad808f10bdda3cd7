# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What launchers accept as arguments, and what they tell the compiler about them.

An argument becomes a key, which selects the compiled kernel, and a value, which is passed
to it. Keys are small hashable tuples:
    ("*", dtype name, is divisible by 16)    arrays; a fourth element, n, if this is the same
                                             memory as array number n of the launch
    ("i", dtype name, is divisible by 16)    integers
    ("f", dtype name), ("b",)                floats and bools
    ("(", class, keys)                       tuples
    ("=", value)                             constants: None, 1, constexprs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from .. import _C
from ..compiler.constants import frozen_fields, is_fixed
from ..language import types as ty
from ..tools.tensor_descriptor import TensorDescriptor
from .driver import current_device, current_stream, driver

HOST, CUDA = "host", "cuda"

# ArrayKind of the launch path in C++: how it reads the arrays of a type; 0 leaves them to Python.
_EXCHANGE, _TORCH, _DATA_POINTER, _CUDA_INTERFACE, _DESCRIPTOR = 1, 2, 3, 4, 5

# Names of NumPy and of torch (without "torch.").
_DTYPES = {
    "bool": ty.int1, "int8": ty.int8, "int16": ty.int16, "int32": ty.int32, "int64": ty.int64,
    "uint8": ty.uint8, "uint16": ty.uint16, "uint32": ty.uint32, "uint64": ty.uint64,
    "float16": ty.float16, "bfloat16": ty.bfloat16, "float32": ty.float32, "float64": ty.float64,
    "float8_e4m3fn": ty.float8e4nv, "float8_e5m2": ty.float8e5,
}
_TYPESTRS = {"b1": ty.int1, "i1": ty.int8, "i2": ty.int16, "i4": ty.int32, "i8": ty.int64,
             "u1": ty.uint8, "u2": ty.uint16, "u4": ty.uint32, "u8": ty.uint64, "f2": ty.float16,
             "f4": ty.float32, "f8": ty.float64}
# DLPack's type code and bits.
_DLPACK_TYPES = {(6, 8): ty.int1, (4, 16): ty.bfloat16, (10, 8): ty.float8e4nv, (12, 8): ty.float8e5,
                 **{(code, 8 * size): _TYPESTRS[f"{letter}{size}"]
                    for code, letter, sizes in ((0, "i", (1, 2, 4, 8)), (1, "u", (1, 2, 4, 8)),
                                                (2, "f", (2, 4, 8))) for size in sizes}}
# DLPack's devices: the host, GPUs, and memory that both share.
_DLPACK_CPU, _DLPACK_CUDA = 1, (2, 13)


@dataclass(slots=True)
class Array:
    """An array argument: where it is and what may be touched."""

    address: int
    dtype: ty.dtype
    device: str
    # The first byte of the memory, its size, and whether kernels may only read it.
    start: int = 0
    size: int = 0
    read_only: bool = False
    device_index: int = 0
    # The stream that the array's library is working on, where launches go.
    stream: int | None = None
    # Another stream, whose work launches wait for.
    pending: int | None = None
    # What must live until the kernel is launched.
    owner: object = None
    # Stands for an array in `warmup`.
    is_stand_in: bool = False


# By the objects of NumPy and torch: their names are slow to get.
_KNOWN_DTYPES = {}


def element_type(dtype, what: str) -> ty.dtype:
    """The type of a NumPy or torch dtype."""
    known = _KNOWN_DTYPES.get(dtype)
    if known is None:
        name = getattr(dtype, "name", None) or str(dtype).removeprefix("torch.")
        if name not in _DTYPES:
            raise TypeError(f"{what} has the element type {name}, which kernels do not know")
        known = _KNOWN_DTYPES[dtype] = _DTYPES[name]
    return known


def from_numpy(array) -> Array:
    if not array.dtype.isnative:
        raise TypeError("the array is not in the byte order of this machine")
    dtype = element_type(array.dtype, "the array")
    interface = array.__array_interface__
    address, read_only = interface["data"]
    start, stop = address, address
    if array.flags.c_contiguous:
        stop += array.nbytes
    elif array.size:
        for extent, stride in zip(array.shape, array.strides):
            reach = (extent - 1) * stride
            start, stop = (start + reach, stop) if reach < 0 else (start, stop + reach)
        stop += array.itemsize
    return Array(address, dtype, HOST, start, stop - start, read_only)


def from_torch(tensor) -> Array:
    dtype = element_type(tensor.dtype, "the tensor")
    index = tensor.get_device()
    if index >= 0 and tensor.is_cuda:
        return Array(tensor.data_ptr(), dtype, CUDA, device_index=index, stream=current_stream(index))
    if tensor.device.type != "cpu":
        raise TypeError(f"tensors on {tensor.device} cannot be passed to kernels")
    if tensor.layout is not sys.modules["torch"].strided:
        raise TypeError(f"the tensor is {tensor.layout}: kernels take dense ones")
    if tensor.is_neg():
        raise TypeError("the tensor is negated when it is read, which kernels do not: pass "
                        "tensor.resolve_neg()")
    storage = tensor.untyped_storage()
    return Array(tensor.data_ptr(), dtype, HOST, storage.data_ptr(), storage.nbytes())


def _dlpack_type(code: int, bits: int, what: str) -> ty.dtype:
    found = _DLPACK_TYPES.get((code, bits))
    if found is None:
        raise TypeError(f"{what} has the DLPack element type {code} of {bits} bits, which kernels do "
                        "not know")
    return found


def from_exchange(array) -> Array:
    """An array of a library with DLPack's exchange API in C."""
    described = _C.read_exchange(array)
    if described is None:
        return _from_dlpack(array)
    address, code, bits, device, index, stream = described
    if device not in _DLPACK_CUDA:
        return _from_dlpack(array)
    return Array(address, _dlpack_type(code, bits, "the array"), CUDA, device_index=index, stream=stream)


def _device_of(array, address) -> int:
    """The GPU that an array is on. An empty one may have no address that tells."""
    if not isinstance(address, int) or not 0 <= address < 2**64:
        raise TypeError(f"the {type(array).__name__} has the address {address!r}, which is no number of "
                        "64 bits")
    if address:
        return _C.cuda_device_of_address(address)
    return getattr(getattr(array, "device", None), "id", 0)


def from_cuda_interface(array) -> Array:
    interface = array.__cuda_array_interface__
    try:
        typestr, (address, read_only) = interface["typestr"], interface["data"]
        order, kind = typestr[:1], typestr[1:]
        mask, stream = interface.get("mask"), interface.get("stream")
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TypeError(f"the __cuda_array_interface__ of the {type(array).__name__} is not as version 3 of "
                        f"it says: {interface!r}") from None
    if kind not in _TYPESTRS or order == ">":
        raise TypeError(f"the array has the element type {typestr}, which kernels do not know")
    if mask is not None:
        raise TypeError("masked arrays cannot be passed to kernels")
    return Array(address or 0, _TYPESTRS[kind], CUDA, read_only=bool(read_only),
                 device_index=_device_of(array, address or 0), pending=stream)


def from_data_ptr(array) -> Array:
    """Any object with `data_ptr()` and `dtype`: a pointer on the GPU, as with Triton."""
    pointee = array.dtype if isinstance(array.dtype, ty.dtype) else element_type(array.dtype, "the argument")
    address = array.data_ptr()
    return Array(address, pointee, CUDA, device_index=_device_of(array, address))


class TensorWrapper:
    """An array whose elements are seen as another type: see `reinterpret`."""

    def __init__(self, base, dtype):
        self.base, self.dtype = base, dtype
        # What programs ask of a tensor that they pass on.
        self.data = getattr(base, "data", None)
        self.device = getattr(base, "device", None)
        self.shape = getattr(base, "shape", None)

    def __str__(self):
        return f"{type(self).__name__}[{self.dtype}]({self.base})"

    def data_ptr(self):
        return self.base.data_ptr()

    def stride(self, *dim):
        return self.base.stride(*dim)

    def size(self, *dim):
        return self.base.size(*dim)

    def numel(self):
        return self.base.numel()

    def element_size(self):
        return self.base.element_size()

    def copy_(self, other):
        self.base.copy_(other.base if isinstance(other, TensorWrapper) else other)
        return self

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)


def reinterpret(base, dtype):
    """The array with elements of type `dtype` of the same size."""
    return TensorWrapper(base.base if isinstance(base, TensorWrapper) else base, dtype)


def from_wrapper(wrapper) -> Array:
    array = as_array(wrapper.base)
    if array is None:
        raise TypeError(f"only arrays can be seen as another type, not a {type(wrapper.base).__name__}")
    dtype = wrapper.dtype
    if not isinstance(dtype, ty.dtype):
        dtype = element_type(dtype, "the wrapper")  # a type of NumPy or torch
    if dtype.name not in ty.BY_NAME:
        raise TypeError(f"arrays of {dtype} are not supported: kernels know the 8-bit floats "
                        "tl.float8e4nv and tl.float8e5")
    array.dtype = dtype
    return array


def stand_in(dtype) -> Array:
    """An array of which `warmup` knows the type of the elements only, on the device that kernels
    run on."""
    on_gpu = driver.default.is_active()
    return Array(0, dtype, CUDA if on_gpu else HOST,
                 device_index=max(0, current_device()) if on_gpu else 0, is_stand_in=True)


class MockTensor:
    """Stands for an array of a type of torch or `tl` in `kernel.warmup(...)`."""

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = list(shape or [1])

    @staticmethod
    def wrap_dtype(value):
        """The stand-in for a dtype of torch; other values stay what they are."""
        return MockTensor(value) if _is_torch_dtype(value) else value

    @staticmethod
    def data_ptr() -> int:
        return 0


def _is_torch_dtype(value) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.dtype)


def _from_mock(mock) -> Array:
    known = isinstance(mock.dtype, ty.dtype)
    return stand_in(mock.dtype if known else element_type(mock.dtype, "the argument"))


def as_array(value) -> Array | None:
    """The array that an argument is, or None."""
    kind = type(value)
    reader = _READERS.get(kind)
    if reader is None:
        reader = _find_reader(value)
        if reader is None:
            return None
        _READERS[kind] = reader
    return reader(value)


def _find_reader(value):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        # Not `numpy.ma`, whose import might be under way in another thread while the process forks.
        masked = sys.modules.get("numpy.ma")
        if masked is not None and isinstance(value, getattr(masked, "MaskedArray", ())):
            raise TypeError("masked arrays cannot be passed to kernels: pass .data and .mask")
        return from_numpy
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return from_torch
    if _is_torch_dtype(value):
        return lambda dtype: stand_in(element_type(dtype, "the argument"))
    if hasattr(type(value), "__dlpack_c_exchange_api__"):
        return from_exchange
    if hasattr(type(value), "__cuda_array_interface__"):
        return from_cuda_interface
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return from_data_ptr
    if hasattr(type(value), "__dlpack__"):
        return _from_dlpack
    return None


def _from_dlpack(value):
    """An array that offers DLPack in Python only."""
    device, index = value.__dlpack_device__()
    if device == _DLPACK_CPU:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            raise TypeError(f"to pass a {type(value).__name__} in host memory, import numpy first")
        return from_numpy(numpy.from_dlpack(value))
    if device not in _DLPACK_CUDA:
        raise TypeError(f"a {type(value).__name__} on DLPack device {device} cannot be passed to kernels: "
                        "they take memory of the host and of NVIDIA GPUs")
    # The producer makes this stream wait for what it has not finished; 1 is the default stream.
    stream = current_stream(index)
    try:
        capsule = value.__dlpack__(stream=stream or 1, max_version=(1, 0))
    except TypeError:  # of before DLPack 1.0
        capsule = value.__dlpack__(stream=stream or 1)
    address, code, bits, device, index, read_only = _C.read_capsule(capsule)
    return Array(address, _dlpack_type(code, bits, f"the {type(value).__name__}"), CUDA,
                 read_only=read_only, device_index=index, pending=stream, owner=capsule)


def append_array(arrays: list, array: Array, key: tuple) -> tuple:
    """Appends an array to those of a launch. Returns its key, which says so if an earlier one
    begins at its address: only then kernels have to expect that both are the same memory. Of
    arrays that overlap in another way the address, all that is known on a GPU, says nothing."""
    address = array.address
    if address:
        for number, other in enumerate(arrays):
            if other.address == address:
                key = (*key, number)
                break
    arrays.append(array)
    return key


def describe_type(value):
    """How the launch path in C++ reads the arrays of the type of `value`, whether the address of such
    a constexpr stands for its value, which is known not to change, and the fields that it is
    compared by instead, or None."""
    kind = type(value)
    reader = _READERS.get(kind) or _find_reader(value)
    array = {from_torch: _TORCH, from_exchange: _EXCHANGE, from_data_ptr: _DATA_POINTER,
             from_cuda_interface: _CUDA_INTERFACE}.get(reader, 0)
    if kind is TensorDescriptor:
        array = _DESCRIPTOR
    if reader is from_torch and hasattr(kind, "__dlpack_c_exchange_api__"):
        array = _EXCHANGE
    fields = getattr(kind, "_fields", None) if isinstance(value, tuple) else frozen_fields(kind)
    return array, fields is None and not isinstance(value, (tuple, frozenset)) and is_fixed(value), fields


_READERS = {TensorWrapper: from_wrapper, MockTensor: _from_mock}


def classify_int(value: int, align: bool):
    """The key of an integer."""
    if -2**31 <= value < 2**31:
        name = "int32"
    elif -2**63 <= value < 2**63:
        name = "int64"
    elif 0 <= value < 2**64:
        name = "uint64"
    else:
        raise OverflowError(f"{value} does not fit in 64 bits")
    return ("i", name, align and value % 16 == 0)
