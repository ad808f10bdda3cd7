# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver of fake_gpu.c, and arrays on its devices."""

import ctypes
import functools
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

DEVICE_MEMORY = 1 << 40
FLOAT32, FLOAT16, INT64 = (2, 32), (2, 16), (0, 64)


class Launch(ctypes.Structure):
    """A launch as the driver saw it."""

    _fields_ = [("function", ctypes.c_void_p), ("stream", ctypes.c_uint64),
                ("_grid", ctypes.c_uint32 * 3), ("_block", ctypes.c_uint32 * 3),
                ("shared", ctypes.c_uint32), ("num_bytes", ctypes.c_uint32),
                ("programmatic", ctypes.c_uint32), ("cooperative", ctypes.c_uint32),
                ("_bytes", ctypes.c_uint8 * 1280)]

    @property
    def grid(self):
        return tuple(self._grid)

    @property
    def block(self):
        return tuple(self._block)

    @property
    def parameters(self):
        return bytes(self._bytes[:self.num_bytes])

    def same_as(self, other):
        return all(getattr(self, n) == getattr(other, n)
                   for n in ("function", "stream", "grid", "block", "shared", "parameters"))


@functools.cache
def load():
    """The driver, from now on the one of this process. A string says why there is none."""
    try:
        ctypes.CDLL("libcuda.so.1")
        return "there is a real driver"
    except OSError:
        pass
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "there is no C compiler"
    folder = tempfile.TemporaryDirectory(prefix="tile-fake-gpu-")
    library = Path(folder.name) / "libcuda.so.1"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1",
                    Path(__file__).with_suffix(".c"), "-o", library], check=True)
    # Opening a library by a name finds one that is loaded and calls itself so.
    driver = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    folder.cleanup()
    driver.fake_launch.restype = ctypes.POINTER(Launch)
    driver.fake_launch.argtypes = [ctypes.c_int64]
    for name in ("fake_num_launches", "fake_num_waits", "fake_num_live_events", "fake_num_modules"):
        getattr(driver, name).restype = ctypes.c_int64
    for name in ("fake_waited_for", "fake_waiting"):
        getattr(driver, name).restype = ctypes.c_uint64
    driver.fake_set_stream.argtypes = [ctypes.c_int, ctypes.c_uint64]
    driver.fake_set_header_size.argtypes = [ctypes.c_size_t]
    driver.fake_set_header_size(bytes.__basicsize__ - 1)
    driver.fake_exchange_api.restype = ctypes.c_void_p
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                                   ctypes.c_void_p]
    driver.new_capsule = new_capsule
    Tensor.__dlpack_c_exchange_api__ = new_capsule(driver.fake_exchange_api(0), b"dlpack_exchange_api", None)
    NewerTensor.__dlpack_c_exchange_api__ = new_capsule(driver.fake_exchange_api(1),
                                                        b"dlpack_exchange_api", None)
    return driver


def describe(address, code, bits, device, device_type=2, offset=0):
    """A DLTensor of DLPack."""
    return struct.pack("=QiiiBBHQQQ", address, device_type, device, 1, code, bits, 1, 0, 0,
                       offset)


class Tensor(bytes):
    """An array with DLPack's exchange API."""

    def __new__(cls, offset=0, dtype=FLOAT32, device=0, device_type=2, byte_offset=0):
        address = (device + 1) * DEVICE_MEMORY + offset
        return super().__new__(cls, describe(address, *dtype, device, device_type, byte_offset))


class NewerTensor(Tensor):
    """With a newer version of the API, which names the older one."""


class PointerArray:
    """An array as Triton knows them."""

    def __init__(self, offset=0, dtype="float32", device=0):
        self.address, self.dtype = (device + 1) * DEVICE_MEMORY + offset, dtype

    def data_ptr(self):
        return self.address


class CudaArray:
    """An array with CUDA's array interface."""

    def __init__(self, offset=0, typestr="<f4", device=0, **more):
        self.__cuda_array_interface__ = {
            "data": ((device + 1) * DEVICE_MEMORY + offset, False), "typestr": typestr, "shape": (64, ),
            "version": 3, **more}

    # Launchers look at the class.
    @property
    def __cuda_array_interface__(self):
        return self._interface

    @__cuda_array_interface__.setter
    def __cuda_array_interface__(self, value):
        self._interface = value


class _Managed(ctypes.Structure):
    """A DLManagedTensor."""

    _fields_ = [("tensor", ctypes.c_uint8 * 48), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DLPackArray:
    """An array with DLPack's methods in Python only; `streams` has those it was asked to wait
    for."""

    def __init__(self, offset=0, dtype=FLOAT32, device=0, device_type=2):
        address = (device + 1) * DEVICE_MEMORY + offset
        self.device = device_type, device
        self.managed = _Managed((ctypes.c_uint8 * 48)(*describe(address, *dtype, device, device_type)))
        self.streams = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return load().new_capsule(ctypes.addressof(self.managed), b"dltensor", None)
