# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device that kernels run on, and what is current on it.

`driver.active` answers what Triton's `triton.runtime.driver.active` does. Without a GPU it
describes the emulator.
"""

from __future__ import annotations

import functools
import operator
import sys

from .. import _C, knobs

# CU_DEVICE_ATTRIBUTE_* by the names that programs for Triton ask for.
_ATTRIBUTES = {"max_shared_mem": 97, "max_num_regs": 12, "multiprocessor_count": 16, "warpSize": 10,
               "sm_clock_rate": 13, "mem_clock_rate": 36, "mem_bus_width": 37}
# Of an H200; the emulator has neither clocks nor multiprocessors.
_EMULATED = {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132,
             "warpSize": 32, "sm_clock_rate": 1980000, "mem_clock_rate": 3201000,
             "mem_bus_width": 6144}


def _torch_cuda():
    """torch, if it is in use on a GPU."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def current_stream(index: int) -> int:
    """The stream that torch or CuPy is on; the default stream otherwise."""
    torch = _torch_cuda()
    if torch is not None:
        return torch._C._cuda_getCurrentRawStream(index)
    cupy = sys.modules.get("cupy")
    if cupy is not None:
        return cupy.cuda.get_current_stream().ptr
    return 0


def stream_handle(stream) -> int | None:
    """The handle of a stream that a launch names: a number, or a stream of torch, CuPy or another
    library that has `__cuda_stream__()`."""
    if stream is None or type(stream) is int and 0 <= stream < 2**64:
        return stream
    try:
        handle = stream.__cuda_stream__()[1] if hasattr(stream, "__cuda_stream__") else getattr(
            stream, "cuda_stream", getattr(stream, "ptr", stream))
        handle = operator.index(handle)
        if 0 <= handle < 2**64:
            return handle
    except (IndexError, TypeError):
        pass
    raise TypeError("stream must be the handle of a CUDA stream, a number that is not negative, or a stream of "
                    f"torch or CuPy, got {stream!r}")


def current_device() -> int:
    """The current GPU, as torch and the CUDA runtime see it; -1 if none was chosen yet."""
    torch = _torch_cuda()
    return torch._C._cuda_getDevice() if torch is not None else _C.cuda_current_device()


def use_device(index: int):
    """Kernels are launched on the current device; raises ValueError if that is another one."""
    current = current_device()
    if current not in (index, -1):
        raise ValueError(f"the arrays are on cuda:{index}, but the current device is cuda:{current}: "
                         f"use `with torch.cuda.device({index})`")
    # A thread may have no context yet.
    _C.cuda_use_device(index)


@functools.cache
def chip_of_device(index: int) -> str:
    from ..compiler.kernel import chip_of_capability
    major, minor = _C.cuda_capability(index)
    return chip_of_capability(10 * major + minor)


class _Utilities:
    """Facts about devices."""

    @staticmethod
    def get_device_properties(device: int) -> dict:
        if not _C.cuda_device_count():
            return dict(_EMULATED)
        return {name: _C.cuda_device_attribute(device, number) for name, number in _ATTRIBUTES.items()}


class Driver:
    """The GPU that is current, or the emulator where there is none."""

    utils = _Utilities()

    @staticmethod
    def is_active() -> bool:
        """Whether there is a GPU."""
        return _C.cuda_device_count() > 0

    def get_current_device(self) -> int:
        return max(0, current_device()) if self.is_active() else 0

    def set_current_device(self, device: int):
        torch = _torch_cuda()
        if torch is not None:
            torch.cuda.set_device(device)
        elif self.is_active():
            _C.cuda_use_device(device)

    def get_current_stream(self, device: int | None = None) -> int:
        """The handle of the stream that launches go to."""
        if not self.is_active():
            return 0
        return current_stream(self.get_current_device() if device is None else device)

    def get_current_target(self):
        """What kernels are compiled for, as a GPUTarget."""
        from ..compiler.kernel import GPUTarget
        if self.is_active():
            major, minor = _C.cuda_capability(self.get_current_device())
            return GPUTarget("cuda", 10 * major + minor, 32)
        return GPUTarget("cuda", int(knobs.emulator_chip.removeprefix("sm_").rstrip("af")), 32)

    def get_active_torch_device(self):
        """The device that torch tensors for kernels should be on."""
        import torch
        if self.is_active() and torch.cuda.is_available():
            return torch.device("cuda", self.get_current_device())
        return torch.device("cpu")

    def get_device_interface(self):
        import torch
        return torch.cuda

    def get_benchmarker(self):
        from ..testing import do_bench
        return do_bench

    def get_empty_cache_for_benchmark(self):
        """A tensor that fills the L2 cache when it is written; see `clear_cache`."""
        import torch
        return torch.empty(64 * 1024 * 1024, dtype=torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache):
        cache.zero_()


class _Drivers:
    """Holder of the active driver."""

    def __init__(self):
        self.default = Driver()
        self.active = self.default

    def set_active(self, driver):
        self.active = driver

    def reset_active(self):
        self.active = self.default


driver = _Drivers()
