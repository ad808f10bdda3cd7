#!/usr/bin/env python3
"""The Python package beside Triton: launch cost, cold compile, and memory-bound kernels.

usage: python.py [--rounds 5]

Needs a GPU, torch, Triton and a C compiler. One source is compiled by both, with its
imports changed. Providers run in turn, in equal windows, for some rounds; the numbers are
medians of the rounds' medians, and ratios are Triton's time divided by ours. The cost of a
launch is also compared with the one of a loop around cuLaunchKernel in C.
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


def cases(torch, kernels):
    """Name and call of each measured kernel."""
    result = {}
    for size in (1 << 20, 1 << 24):
        x, y, out = (torch.randn(size, device="cuda") for _ in range(3))
        result[f"vector_add {size}"] = lambda x=x, y=y, out=out, n=size: kernels.vector_add[
            (n // 1024, )](x, y, out, n, BLOCK=1024)
    for rows, columns in ((8192, 1024), (4096, 4096)):
        x, out = (torch.randn(rows, columns, device="cuda") for _ in range(2))
        w, b = (torch.randn(columns, device="cuda") for _ in range(2))
        result[f"softmax {rows}x{columns}"] = lambda x=x, out=out, r=rows, c=columns: kernels.softmax[
            (r, )](out, x, c, BLOCK=c, num_warps=4 if c <= 2048 else 8)
        result[f"layer_norm {rows}x{columns}"] = (
            lambda x=x, out=out, w=w, b=b, r=rows, c=columns: kernels.layer_norm[
                (r, )](out, x, w, b, c, 1e-5, BLOCK=c, num_warps=4 if c <= 2048 else 8))
    return result


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
    kernels = load(module, folder, number)
    calls = cases(torch, kernels)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for name in ("vector_add 1048576", "softmax 8192x1024", "layer_norm 8192x1024"):
        calls[name]()
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
    from tile.testing import do_bench

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

        calls = {module: cases(torch, kernels[module]) for module in compiles}
        for name in calls["tile"]:
            times = {module: [] for module in compiles}
            for _ in range(arguments.rounds):
                for module in compiles:
                    times[module].append(do_bench(calls[module][name], warmup=10, rep=40,
                                                  return_mode="median") * 1e3)
            show(name, "us", times["tile"], times["triton"])


if __name__ == "__main__":
    sys.exit(main())
