# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What launchers accept as arguments, and what they tell the compiler about them.

An argument becomes a key, which selects the compiled kernel, and a value, which is passed
to it. Keys are small hashable tuples:
    ("*", dtype name, is divisible by 16)    arrays
    ("i", dtype name, is divisible by 16)    integers
    ("f", dtype name), ("b",)                floats and bools
    ("(", class, keys)                       tuples
    ("=", value)                             constants: None, 1, constexprs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..language import types as ty

HOST, CUDA = "host", "cuda"

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
    address, index = tensor.data_ptr(), tensor.get_device()
    if index >= 0 and tensor.is_cuda:
        return Array(address, dtype, CUDA, device_index=index)
    if tensor.device.type != "cpu":
        raise TypeError(f"tensors on {tensor.device} cannot be passed to kernels")
    storage = tensor.untyped_storage()
    return Array(address, dtype, HOST, storage.data_ptr(), storage.nbytes())


def from_cuda_interface(array) -> Array:
    interface = array.__cuda_array_interface__
    typestr = interface["typestr"]
    if typestr[1:] not in _TYPESTRS:
        raise TypeError(f"the array has the element type {typestr}, which kernels do not know")
    device = getattr(getattr(array, "device", None), "id", 0)
    return Array(interface["data"][0], _TYPESTRS[typestr[1:]], CUDA, device_index=device)


def from_data_ptr(array) -> Array:
    """Any object with `data_ptr()` and `dtype`: a pointer on the GPU, as with Triton."""
    pointee = array.dtype if isinstance(array.dtype, ty.dtype) else element_type(array.dtype, "the argument")
    return Array(array.data_ptr(), pointee, CUDA)


class TensorWrapper:
    """An array whose elements are seen as another type: see `reinterpret`."""

    def __init__(self, base, dtype):
        self.base, self.dtype = base, dtype

    def data_ptr(self):
        return self.base.data_ptr()


def reinterpret(base, dtype):
    """The array with elements of type `dtype` of the same size."""
    return TensorWrapper(base, dtype)


def from_wrapper(wrapper) -> Array:
    array = as_array(wrapper.base)
    array.dtype = wrapper.dtype
    return array


def reader_of(kind):
    """The function that reads arrays of a type, if one was passed before."""
    return _READERS.get(kind)


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
        return from_numpy
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return from_torch
    if hasattr(type(value), "__cuda_array_interface__"):
        return from_cuda_interface
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return from_data_ptr
    if hasattr(type(value), "__dlpack__"):
        return _from_dlpack
    return None


def _from_dlpack(value):
    numpy = sys.modules.get("numpy")
    device, _ = value.__dlpack_device__()
    if device == 1 and numpy is not None:  # kDLCPU
        return from_numpy(numpy.from_dlpack(value))
    raise TypeError(f"{type(value).__name__} offers DLPack only, which is supported for host memory; "
                    "pass an object with __cuda_array_interface__ or data_ptr()")


_READERS = {TensorWrapper: from_wrapper}


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
