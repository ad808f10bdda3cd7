"""What the GPU benchmarks share: compiling .mlir kernels, launching them on torch
tensors through the CUDA driver, and a fair comparison of several providers."""

import ctypes
import json
import os
import statistics
import subprocess
import tempfile

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_cuda = None


def cuda():
    """libcuda, with the context that torch made."""
    global _cuda
    if _cuda is None:
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        _cuda = ctypes.CDLL("libcuda.so.1")
    return _cuda


def check(status, what):
    if status != 0:
        text = ctypes.c_char_p()
        cuda().cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode()}")


class Kernel:
    """A kernel of an .mlir source, compiled for the current device."""

    def __init__(self, source, name, translate, num_warps=4, chip=None, flags=()):
        major, minor = torch.cuda.get_device_capability()
        chip = chip or f"sm_{major}{minor}" + ("a" if major >= 9 else "")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.mlir")
            with open(path, "w") as file:
                file.write(source)
            run = subprocess.run(
                [translate, path, "--tile-to-ptx", f"--chip={chip}",
                 f"--num-warps={num_warps}", *flags, f"--metadata={folder}/meta.json",
                 "-o", f"{folder}/kernel.ptx"], capture_output=True, text=True)
            if run.returncode:
                raise RuntimeError(run.stderr)
            with open(f"{folder}/meta.json") as file:
                meta = json.load(file)
            with open(f"{folder}/kernel.ptx") as file:
                self.ptx = file.read()
        self.meta = next(k for k in meta["kernels"] if k["name"] == name)
        self.threads = 32 * num_warps
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda().cuModuleLoadData(ctypes.byref(module), self.ptx.encode()), "load")
        check(cuda().cuModuleGetFunction(ctypes.byref(self.function), module,
                                         name.encode()), "get function")

    def bind(self, grid, *args):
        """A callable that launches the kernel on torch's current stream."""
        values = []
        for arg in args:
            if isinstance(arg, torch.Tensor):
                values.append(ctypes.c_void_p(arg.data_ptr()))
            elif isinstance(arg, float):
                values.append(ctypes.c_float(arg))
            else:
                values.append(ctypes.c_int32(arg))
        pointers = (ctypes.c_void_p * len(values))(
            *[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        launch, function = cuda().cuLaunchKernel, self.function
        dims = [ctypes.c_uint(d) for d in (*grid, *(1,) * (3 - len(grid)), self.threads, 1, 1, 0)]

        def call(_keep=(args, values)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            check(launch(function, *dims, stream, pointers, None), "launch")
        return call




def row_kernel(name, rows, cols):
    """`softmax.mlir` or `layer_norm.mlir` with tiles of rows x cols."""
    with open(os.path.join(ROOT, "examples", name)) as file:
        source = file.read()
    source = source.replace("4x1024x", f"{rows}x{cols}x").replace("1x1024x", f"1x{cols}x")
    source = source.replace("<1024x", f"<{cols}x").replace("arange 0, 1024", f"arange 0, {cols}")
    source = source.replace("<4x1x", f"<{rows}x1x").replace("<4x", f"<{rows}x")
    source = source.replace("arange 0, 4 ", f"arange 0, {rows} ")
    return source.replace("arith.constant 4 : i32", f"arith.constant {rows} : i32")


def compare(title, amount, unit, providers, rounds=5, warmup=25, rep=100):
    """Times all providers in turn with equal windows, `rounds` times. Prints the
    median of medians of each and returns {name: amount per second}."""
    from triton.testing import do_bench
    times = {name: [] for name in providers}
    for call in providers.values():
        call()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, call in providers.items():
            times[name].append(do_bench(call, warmup=warmup, rep=rep, return_mode="median"))
    rates = {name: amount / statistics.median(t) * 1e3 for name, t in times.items()}
    for name, rate in rates.items():
        low, high = amount / max(times[name]) * 1e3, amount / min(times[name]) * 1e3
        print(f"{title:28s} {name:26s} {rate:9.1f} {unit}  ({low:.0f}-{high:.0f})", flush=True)
    return rates


def best(rates, prefix):
    return max(rate for name, rate in rates.items() if name.startswith(prefix))
