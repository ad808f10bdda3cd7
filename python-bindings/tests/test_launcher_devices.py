# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices, streams and errors of launches on GPUs, with the driver that records them."""

import os
import struct
import sys
import threading

import numpy as np
import pytest
from fake_gpu import DEVICE_MEMORY, INT64, CudaArray, DLPackArray, PointerArray, Tensor
from launching import gpu  # noqa: F401, a fixture
from launching import fast_launches, fresh, launched, twice

import tile
import tile.language as tl
from tile import _C

pytestmark = pytest.mark.compiled


# Devices and streams ----------------------------------------------------------------------


def test_devices_in_a_forked_child(gpu):
    """Workers that compile ask whether there is a GPU, which a forked child cannot use."""
    count = _C.cuda_device_count()
    child = os.fork()
    if child == 0:
        os._exit(0 if count > 0 and _C.cuda_device_count() == count else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_wrong_device(gpu):
    kernel = fresh()
    kernel[(1, )](Tensor(), Tensor(), 6, 2)
    with pytest.raises(ValueError, match="on cuda:1, but the current device is cuda:0"):
        kernel[(1, )](Tensor(device=1), Tensor(device=1), 6, 2)
    with pytest.raises(ValueError, match="must be on one device, got cuda:0 and cuda:1"):
        kernel[(1, )](Tensor(), Tensor(device=1), 6, 2)
    with pytest.raises(ValueError, match="must be on one device, got cuda:0 and host"):
        kernel[(1, )](Tensor(), np.zeros(4, np.float32), 6, 2)
    gpu.fake_set_context(1)
    with pytest.raises(ValueError, match="on cuda:0, but the current device is cuda:1"):
        kernel[(1, )](Tensor(), Tensor(), 6, 2)


def test_each_device_has_its_kernel(gpu):
    kernel, functions = fresh(), []
    for device in (0, 1, 0, 1):
        gpu.fake_set_context(device)
        gpu.fake_set_stream(device, 0x100 + device)
        launch = twice(kernel, (1, ), Tensor(device=device), Tensor(device=device), 6, 2)
        assert launch.stream == 0x100 + device
        functions.append(launch.function)
    assert functions[:2] == functions[2:] and functions[0] != functions[1]
    assert [len(kernel.device_caches[device][0]) for device in (0, 1)] == [1, 1]


def test_thread_without_context():
    kernel, launches = fresh(), []
    kernel[(1, )](Tensor(), Tensor(), 6, 2)

    def work():
        for _ in range(2):
            launches.append(launched(lambda: kernel[(1, )](Tensor(), Tensor(), 6, 2)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert launches[0].same_as(launches[1])
    # The first launch of the thread chose its context.
    assert fast_launches(kernel) == 1


def test_stream_of_cuda_arrays(gpu):
    """Launches wait for the stream that an array names, unless it is their own."""
    kernel = fresh()
    for stream, waits in ((None, 0), (1, 0), (2, 1), (0x77, 1)):
        for _ in range(2):
            before = gpu.fake_num_waits()
            kernel[(1, )](CudaArray(stream=stream), CudaArray(stream=stream), 6, 2)
            assert min(1, gpu.fake_num_waits() - before) == waits
        if waits:
            assert gpu.fake_waited_for() == stream and gpu.fake_waiting() == 0
    assert fast_launches(kernel) == 7 and gpu.fake_num_live_events() == 0
    gpu.fake_set_capturing(1)
    before = gpu.fake_num_waits()
    kernel[(1, )](CudaArray(stream=2), CudaArray(stream=2), 6, 2)
    assert gpu.fake_num_waits() == before


def test_stream_of_cupy(gpu, monkeypatch):

    class Stream:
        ptr = 0x55

    class cupy:

        class cuda:
            get_current_stream = staticmethod(lambda: Stream)

    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert twice(fresh(), (1, ), CudaArray(stream=0x55), CudaArray(), 6, 2).stream == 0x55
    # Arrays of a library that names its stream itself.
    gpu.fake_set_stream(0, 0x66)
    assert twice(fresh(), (1, ), CudaArray(), Tensor(), 6, 2).stream == 0x66


def test_torch_without_exchange_api(gpu, monkeypatch):

    class OldTensor(PointerArray):
        is_cuda = True

        def get_device(self):
            return int(self.address >= 2 * DEVICE_MEMORY)

    class torch:
        Tensor = OldTensor

        class cuda:
            is_initialized = staticmethod(lambda: True)

        class _C:
            _cuda_getDevice = staticmethod(_C.cuda_current_device)
            _cuda_getCurrentRawStream = staticmethod(lambda device: 0x100 + device)

    monkeypatch.setitem(sys.modules, "torch", torch)
    kernel = fresh()
    assert twice(kernel, (1, ), OldTensor(), OldTensor(4), 6, 2).stream == 0x100
    with pytest.raises(ValueError, match="on cuda:1, but the current device is cuda:0"):
        kernel[(1, )](OldTensor(device=1), OldTensor(device=1), 6, 2)
    gpu.fake_set_context(1)
    assert twice(kernel, (1, ), OldTensor(device=1), OldTensor(device=1), 6, 2).stream == 0x101
    # Arrays of others go to torch's stream, too.
    gpu.fake_set_context(0)
    assert twice(kernel, (1, ), CudaArray(), None, 6, 2).stream == 0x100


def test_dlpack_without_exchange_api(gpu):
    array = DLPackArray(8)
    for _ in range(2):
        launch = launched(lambda: fresh()[(1, )](array, None, 6, 2))
        assert launch.parameters == struct.pack("<Qiif", DEVICE_MEMORY + 8, 6, 2, 2.0)
    # It is told of the default stream by 1.
    assert array.streams == [1, 1]
    with pytest.raises(TypeError, match="on DLPack device 10 cannot be passed"):
        fresh()[(1, )](DLPackArray(device_type=10), None, 6, 2)
    with pytest.raises(TypeError, match="DLPack element type 5 of 64 bits"):
        fresh()[(1, )](DLPackArray(dtype=(5, 64)), None, 6, 2)


def test_arrays_that_kernels_do_not_take():
    kernel = fresh()
    for array, error in ((Tensor(dtype=(5, 64)), "DLPack element type 5"),
                         (CudaArray(typestr="<c8"), "<c8"), (CudaArray(typestr=">f4"), ">f4"),
                         (CudaArray(mask=CudaArray()),
                          "masked arrays"), (PointerArray(dtype="complex64"), "complex64")):
        for _ in range(2):
            with pytest.raises(TypeError, match=error):
                kernel[(1, )](array, None, 6, 2)


def test_exchange_api_of_torch():
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has no exchange API")
    from tile.runtime.arguments import _dlpack_type, from_torch
    base = torch.ones(16)
    for tensor in (base, base[3:], torch.nn.Parameter(base), torch.empty(0), base.view(4, 4).T,
                   *(base.to(getattr(torch, name))
                     for name in ("bool", "int8", "uint8", "int16", "uint16", "int32", "int64",
                                  "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2"))):
        address, code, bits, device, index, _ = _C.read_exchange(tensor)
        assert (address, device, index) == (tensor.data_ptr(), 1, 0)
        assert _dlpack_type(code, bits, "") == from_torch(tensor).dtype


def test_empty_cuda_array():
    empty = CudaArray()
    empty.__cuda_array_interface__ = {"data": (0, False), "typestr": "<f4", "shape": (0, ), "version": 3}
    assert launched(lambda: fresh()[(1, )](empty, CudaArray(), 6, 2)).parameters.startswith(bytes(8))


def test_active_driver(gpu):
    active = tile.runtime.driver.active
    gpu.fake_set_context(1)
    assert active.get_current_device() == 1 and active.get_current_stream(1) == 0
    assert active.get_current_target() == tile.GPUTarget("cuda", 90, 32)
    properties = active.utils.get_device_properties(0)
    assert properties["multiprocessor_count"] == 1016 and properties["max_shared_mem"] == 1097
    assert _C.cuda_device_name(1) == "fake 1"
    replacement = object()
    tile.runtime.driver.set_active(replacement)
    assert tile.runtime.driver.active is replacement
    tile.runtime.driver.reset_active()
    assert tile.runtime.driver.active is active


def test_host_arrays_go_to_the_emulator():

    @tile.jit
    def fill(out, n, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), n)

    out = np.zeros(64, np.int32)
    for _ in range(2):
        fill[(1, )](out, 7, 64)
        assert (out == 7).all()
    assert fast_launches(fill) == 0
    assert launched(lambda: fill[(1, )](Tensor(dtype=INT64), 7, 64)) is not None


# Errors of the driver ---------------------------------------------------------------------


def test_errors_of_the_driver(gpu):
    kernel = fresh()
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    gpu.fake_set_launch_status(2)
    with pytest.raises(RuntimeError, match="cuLaunchKernel: CUDA_ERROR_OUT_OF_MEMORY: out of memory"):
        kernel[(1, )](Tensor(), Tensor(), 6, 2)
    gpu.fake_set_launch_status(0)
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)


def check_exceeded(error, name, required, limit, reason):
    assert (error.name, error.required, error.limit) == (name, required, limit)
    assert f"required {required}, limit {limit}" in str(error) and reason in str(error)
    assert isinstance(error, tile.CompilationError)


# Attributes of the driver here: numbers of devices are 1000 more than the attribute's, those of
# functions are the attribute's.
@pytest.mark.parametrize("status", [1, 701])
@pytest.mark.parametrize("name, threads, shared, required, limit", [
    ("shared memory", 128, 2000, 2001, 1097), ("threads", 1024, 0, 1024, 1001),
    ("registers", 512, 0, 2048, 1012)])
def test_launches_that_need_too_much(gpu, status, name, threads, shared, required, limit):
    kernel = fresh()
    kernel[(1, )](Tensor(), Tensor(), 6, 2)
    code = kernel.warmup(Tensor(), Tensor(), 6, 2)
    loaded = _C.CudaKernel(code._image(), code.name, code._parameters, threads, shared)
    gpu.fake_set_launch_status(status)
    expected = RuntimeError if (status, name) == (1, "registers") else tile.OutOfResources
    with pytest.raises(expected, match="cuLaunchKernel: CUDA_ERROR_") as caught:
        loaded.launch((1, 1, 1), [0, 0, 6, 2, 2.0], 0)
    if expected is tile.OutOfResources:
        check_exceeded(caught.value, name, required, limit, "cuLaunchKernel: CUDA_ERROR_")
    gpu.fake_set_launch_status(0)
    loaded.launch((1, 1, 1), [0, 0, 6, 2, 2.0], 0)


def test_fast_launches_that_need_too_much(gpu):
    kernel = fresh()
    twice(kernel, (1, ), Tensor(), Tensor(), 6, 2)
    before = fast_launches(kernel)
    gpu.fake_set_launch_status(701)
    with pytest.raises(tile.OutOfResources) as caught:
        kernel[(1, )](Tensor(), Tensor(), 6, 2)
    assert fast_launches(kernel) == before + 1
    check_exceeded(caught.value, "registers", 4 * 128, 1012, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
    with pytest.raises(tile.CompilationError):
        kernel[(1, )](Tensor(), Tensor(), 6, 2)


def test_kernels_whose_shared_memory_the_driver_refuses(gpu):
    code = fresh().warmup(Tensor(), Tensor(), 6, 2)
    gpu.fake_set_attribute_status(1)
    with pytest.raises(tile.OutOfResources) as caught:
        _C.CudaKernel(code._image(), code.name, code._parameters, 128, 100_000)
    check_exceeded(caught.value, "shared memory", 100_001, 1097, "cuFuncSetAttribute: CUDA_ERROR_")


def test_configs_that_a_gpu_refuses_are_skipped(gpu):
    tuned = tile.autotune([tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 128})], key=[],
                          do_bench=measure)(fresh())
    gpu.fake_set_launch_status(701)
    with pytest.raises(tile.errors.TileError, match="no config(.|\n)*out of resource: registers"):
        tuned[(1, )](Tensor(), Tensor(), 6, 2)
    assert [error.name for error in tuned.failures.values()] == ["registers", "registers"]


def measure(launch, quantiles):
    launch()
    return 1.0
