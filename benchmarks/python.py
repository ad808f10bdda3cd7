#!/usr/bin/env python3
"""The Python package beside Triton: launch cost and cold compile.

usage: python.py [--rounds 5]

Needs a GPU, torch, Triton and a C compiler. One source is compiled by both, with its
imports changed. Providers run in turn for some rounds; the numbers are medians, and ratios
are Triton's time divided by ours. The cost of a launch is also compared with the one of a
loop around cuLaunchKernel in C. python_kernels.py measures the kernels themselves.
"""

import argparse
import importlib.util
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
if importlib.util.find_spec("tile") is None:
    build = pathlib.Path(os.environ.get("TILE_BUILD_DIR", ROOT / "build"))
    sys.path[:0] = [str(ROOT / "python-bindings"), str(build / "python")]

SOURCE = '''
import {module} as compiler
import {module}.language as tl


@compiler.jit
def nothing(a, b, c, n, m):
    pass


@compiler.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@compiler.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=mask)


@compiler.jit
def layer_norm(out, x, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    d = tl.where(mask, v - mean, 0.0)
    r = tl.rsqrt(tl.sum(d * d, axis=0) / columns + eps)
    w = tl.load(weight + i, mask=mask)
    b = tl.load(bias + i, mask=mask)
    tl.store(out + row * columns + i, d * r * w + b, mask=mask)
'''


def load(module, folder, number=0):
    """The kernels of `module`, "tile" or "triton", as a fresh Python module."""
    path = pathlib.Path(folder) / f"kernels_{module}_{number}.py"
    path.write_text(SOURCE.format(module=module))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    return kernels


def calls_of(torch, kernels):
    """One call of each kernel."""
    x, y, out = (torch.randn(1 << 20, device="cuda") for _ in range(3))
    rows, columns = 1024, 1024
    return (lambda: kernels.vector_add[(1024, )](x, y, out, 1 << 20, BLOCK=1024),
            lambda: kernels.softmax[(rows, )](out, x, columns, BLOCK=columns),
            lambda: kernels.layer_norm[(rows, )](out, x, y, y, columns, 1e-5, BLOCK=columns))


LAUNCHES = 3000


def host_time(torch, call):
    """Microseconds of the host for a call."""
    for _ in range(100):
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(LAUNCHES):
        call()
    elapsed = time.perf_counter() - begin
    torch.cuda.synchronize()
    return elapsed / LAUNCHES * 1e6


def compare_launches(torch, kernels, folder, rounds):
    """Prints what launches with five arguments cost the host, and their ratio to C."""
    from bare_launch import BareLaunch
    x = torch.empty(64, device="cuda")
    ours, theirs = kernels["tile"].nothing, kernels["triton"].nothing
    bare = BareLaunch(ours[(1, )](x, x, x, 5, 6), folder)
    stream = torch.cuda.current_stream().cuda_stream
    calls = {
        "cuLaunchKernel from C": lambda: bare.time(stream, x.data_ptr(), LAUNCHES),
        "tile": lambda: host_time(torch, lambda: ours[(1, )](x, x, x, 5, 6)),
        "tile, grid by function": lambda: host_time(torch, lambda: ours[lambda meta: (1, )](x, x, x, 5, 6)),
        "tile, num_warps=4": lambda: host_time(torch, lambda: ours[(1, )](x, x, x, 5, 6, num_warps=4)),
        "triton": lambda: host_time(torch, lambda: theirs[(1, )](x, x, x, 5, 6)),
    }
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(call())
    floor = statistics.median(times["cuLaunchKernel from C"])
    print(f"{'launch, 5 arguments':<24} {'us':>10} {'to C':>10}")
    for name, values in times.items():
        value = statistics.median(values)
        print(f"  {name:<22} {value:>10.2f} {value / floor:>9.2f}x", flush=True)
    show("launch, 5 arguments", "us", times["tile"], times["triton"])


def compile_time(torch, module, folder, number):
    """Milliseconds from nothing to a loaded vector_add, softmax and layer_norm."""
    calls = calls_of(torch, load(module, folder, number))
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for call in calls:
        call()
    elapsed = time.perf_counter() - begin
    torch.cuda.synchronize()
    return elapsed * 1e3


def show(name, unit, ours, theirs):
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"{name:<24} {ours:>10.2f} {theirs:>10.2f} {unit:<3} {theirs / ours:>6.2f}x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    import torch

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
        import tile
        tile.knobs.use_cache = False
        print(f"{'':<24} {'tile':>10} {'triton':>10}     ratio")
        compiles = {"tile": [], "triton": []}
        for number in range(arguments.rounds):
            for module, times in compiles.items():
                os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, f"triton{number}")
                times.append(compile_time(torch, module, folder, number + 1))
        # The first round has imports and the start of both compilers.
        show("cold compile, 3 kernels", "ms", compiles["tile"][1:], compiles["triton"][1:])

        kernels = {module: load(module, folder) for module in compiles}
        compare_launches(torch, kernels, folder, arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())
