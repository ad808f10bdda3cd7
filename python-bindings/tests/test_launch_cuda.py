# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on a GPU, with torch: what the recording driver of fake_gpu.py cannot show."""

import importlib.util
import os
import subprocess
import sys
import threading

import pytest

import tile
import tile.language as tl

if importlib.util.find_spec("torch") is None:
    pytest.skip("needs torch", allow_module_level=True)

import torch  # noqa: E402

if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)


def _scale(x, out, n, factor, BLOCK: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def grid(meta):
    return (tile.cdiv(meta["n"], meta["BLOCK"]), )


def check(kernel, x, factor=3.0):
    """Launches twice; the second launch must be on the fast path."""
    out = torch.zeros_like(x, memory_format=torch.contiguous_format)
    kernel[grid](x, out, x.numel(), factor)
    out.zero_()
    before = kernel._launch_statistics()[1]
    kernel[grid](x, out, x.numel(), factor)
    assert kernel._launch_statistics()[1] == before + 1
    torch.testing.assert_close(out, x.detach() * factor)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_tensors(dtype):
    kernel = tile.jit(_scale)
    x = torch.randn(1000, device="cuda").to(dtype)
    for tensor in (x, x[8:], x[1:], x[:1], x[:160]):
        check(kernel, tensor)
    check(kernel, torch.nn.Parameter(x))
    kernel[(1, )](x[:0], x[:0], 0, 1.0)
    torch.cuda.synchronize()


def test_current_stream():
    kernel, x, out = tile.jit(_scale), torch.zeros(4096, device="cuda"), torch.zeros(4096, device="cuda")
    kernel[grid](x, out, 4096, 2.0)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    for value in (3.0, 4.0):
        with torch.cuda.stream(side):
            torch.cuda._sleep(100_000_000)
            x.fill_(value)
            kernel[grid](x, out, 4096, 2.0)
        side.synchronize()
        assert (out == 2 * value).all()


def test_graph_capture():
    kernel, x, out = tile.jit(_scale), torch.ones(4096, device="cuda"), torch.zeros(4096, device="cuda")
    kernel[grid](x, out, 4096, 2.0)
    kernel[grid](out, out, 4096, 2.0)
    graph = torch.cuda.CUDAGraph()
    before = kernel._launch_statistics()[1]
    with torch.cuda.graph(graph):
        kernel[grid](x, out, 4096, 2.0)
        kernel[grid](out, out, 4096, 2.0)
    assert kernel._launch_statistics()[1] == before + 2
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert (out == 4 * value).all()


class OnlyDLPack:

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **kwargs):
        return self.tensor.__dlpack__(**kwargs)


class OnlyInterface:

    def __init__(self, tensor):
        self.tensor = tensor

    @property
    def __cuda_array_interface__(self):
        return {
            **self.tensor.__cuda_array_interface__, "stream": torch.cuda.current_stream().cuda_stream
            or 1
        }


class OnlyPointer:

    def __init__(self, tensor):
        self.tensor, self.dtype = tensor, tensor.dtype

    def data_ptr(self):
        return self.tensor.data_ptr()


@pytest.mark.parametrize("wrap, is_fast", [(OnlyDLPack, False), (OnlyInterface, True),
                                           (OnlyPointer, True)])
def test_other_arrays(wrap, is_fast):
    kernel, x = tile.jit(_scale), torch.randn(1000, device="cuda")
    for _ in range(3):
        out = torch.zeros_like(x)
        kernel[grid](wrap(x), wrap(out), 1000, 3.0)
        torch.testing.assert_close(out, x * 3)
    assert kernel._launch_statistics()[1] == (2 if is_fast else 0)


def test_cupy():
    cupy = pytest.importorskip("cupy")
    kernel, x = tile.jit(_scale), cupy.arange(1000, dtype=cupy.float32)
    for _ in range(3):
        out = cupy.zeros_like(x)
        kernel[grid](x, out, 1000, 3.0)
        assert (out == x * 3).all()


def test_new_thread():
    kernel, x, results = tile.jit(_scale), torch.randn(1000, device="cuda"), []
    check(kernel, x)

    def work():
        out = torch.zeros_like(x)
        kernel[grid](x, out, 1000, 3.0)
        kernel[grid](x, out, 1000, 3.0)
        results.append(torch.equal(out, x * 3))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [True]


def test_devices():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    kernel = tile.jit(_scale)
    for device in (0, 1, 0, 1):
        with torch.cuda.device(device):
            check(kernel, torch.randn(1000, device=f"cuda:{device}"))
    x = torch.randn(1000, device="cuda:1")
    with pytest.raises(ValueError, match="on cuda:1, but the current device is cuda:0"):
        kernel[grid](x, x, 1000, 3.0)
    with pytest.raises(ValueError, match="must be on one device, got cuda:0 and cuda:1"):
        kernel[grid](x, x.to("cuda:0"), 1000, 3.0)


def test_host_and_gpu():
    kernel = tile.jit(_scale)
    with pytest.raises(ValueError, match="must be on one device"):
        kernel[grid](torch.zeros(8), torch.zeros(8, device="cuda"), 8, 3.0)


def test_compiled_kernel():
    """As Triton's tutorials use them."""
    x, out = torch.randn(1024, device="cuda"), torch.zeros(1024, device="cuda")
    compiled = tile.jit(_scale).warmup(x, out, 1024, 3.0, grid=(1, ))
    compiled._init_handles()
    assert compiled.function and compiled.n_regs > 0 and compiled.metadata.shared >= 0
    compiled[(8, )](x, out, 1024, 3.0)
    torch.testing.assert_close(out, x * 3)


def test_active_driver():
    active = tile.runtime.driver.active
    device = active.get_active_torch_device()
    assert device == torch.device("cuda", torch.cuda.current_device())
    properties = torch.cuda.get_device_properties(device)
    found = active.utils.get_device_properties(device.index)
    assert found["multiprocessor_count"] == properties.multi_processor_count and found["warpSize"] == 32
    assert active.get_current_target().arch == 10 * properties.major + properties.minor
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert active.get_current_stream(device.index) == side.cuda_stream


@tile.jit
def _slow_add(x, out, n, steps, BLOCK: tl.constexpr = 128):
    """out = x + 1, late: what starts too early reads or overwrites old values."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    y = value
    for _ in range(steps):
        y = (y + 1.0) - 1.0
    tl.store(out + i, tl.where(y == value, y, 0.0) + 1.0, mask=i < n)


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("n", [100, 1000, 100_000])
def test_programmatic_dependent_launches(n, captured):
    """Kernels that start while the one before them ends see what it wrote, and do not overwrite what it
    reads: along a chain through three buffers, with kernels of torch and launches of the usual kind
    in between. A block reads another part than it wrote in the launch before, as the buffers are
    turned around."""
    numbers = torch.Generator().manual_seed(n)
    steps = [int(s) for s in torch.randint(1, 200, (60, ), generator=numbers)]
    kinds = torch.randint(0, 8, (60, ), generator=numbers).tolist()
    buffers = [torch.zeros(n, device="cuda") for _ in range(3)]
    flipped = torch.zeros(n, device="cuda")

    def chain():
        for i, (step, kind) in enumerate(zip(steps, kinds)):
            x, out = buffers[i % 3], buffers[(i + 1) % 3]
            if kind == 0:
                torch.add(x, 1.0, out=out)
            elif kind == 1:
                flipped.copy_(x.flip(0))
                out.copy_(flipped + 1.0)
            else:
                _slow_add[grid](x, out, n, step, launch_pdl=kind != 2)

    start = torch.arange(1, n + 1, device="cuda", dtype=torch.float32)
    if captured:
        chain()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            chain()
    for _ in range(20):
        buffers[0].copy_(start)
        graph.replay() if captured else chain()
        expected = start if kinds.count(1) % 2 == 0 else start.flip(0)
        assert torch.equal(buffers[60 % 3], expected + 60)


FORKED = """
import os, sys, torch
torch.ones(1, device="cuda")
if sys.argv[1] == "asked":
    import tile
    assert tile.runtime.driver.active.get_current_device() == 0
child = os.fork()
if child == 0:
    import tile
    import tile.language as tl
    assert tile.backends.backends["nvidia"].driver.is_active()
    try:
        tile._C.cuda_use_device(0)
    except RuntimeError as error:
        assert "NOT_INITIALIZED" in str(error) or "forked child" in str(error), error
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("parent", ["asked", "has not asked"])
def test_forked_workers(tmp_path, parent):
    """They cannot use the GPU of their parent, but know that there is one to compile for."""
    script = tmp_path / "forked.py"
    script.write_text(FORKED)
    subprocess.run([sys.executable, script, parent], check=True, timeout=100,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
