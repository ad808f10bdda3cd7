#!/usr/bin/env python3
"""What a launch from Python costs besides the driver, on a machine without a GPU.

usage: launch_overhead.py [--count 200000]

The driver is the one of the tests, which records launches and does nothing. The bare line
is a loop in C around it; the difference to the others is the cost of the package. Medians
of five rounds, all in turn.
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
sys.path.insert(0, str(ROOT / "python-bindings/tests"))

import fake_gpu  # noqa: E402
from bare_launch import BareLaunch  # noqa: E402

import tile  # noqa: E402
import tile.language as tl  # noqa: E402


@tile.jit
def nothing(a, b, c, n, m):
    pass


@tile.jit
def with_constant(a, b, c, n, m, BLOCK: tl.constexpr):
    pass


tuned = tile.autotune([tile.Config({"BLOCK": 64})], key=["n"])(with_constant)


def microseconds(call, count):
    for _ in range(100):
        call()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200000)
    count = parser.parse_args().count
    driver = fake_gpu.load()
    if isinstance(driver, str):
        sys.exit(driver)
    driver.fake_set_context(0)
    tile.CompiledKernel._image = lambda kernel: kernel.asm["ptx"].encode() + b"\0"

    x, pointer, interface = fake_gpu.Tensor(), fake_gpu.PointerArray(), fake_gpu.CudaArray()
    grid = lambda meta: (meta["n"], )  # noqa: E731
    compiled = nothing[(1, )](x, x, x, 5, 6)
    with tempfile.TemporaryDirectory() as folder:
        bare = BareLaunch(compiled, folder)
        cases = {
            "bare cuLaunchKernel from C": lambda count: bare.time(0, 1 << 40, count),
            "5 arguments": lambda: nothing[(1, )](x, x, x, 5, 6),
            "keywords and options": lambda: nothing[(1, )](x, x, c=x, n=5, m=6, num_warps=4),
            "grid by function": lambda: nothing[grid](x, x, x, 5, 6),
            "constexpr": lambda: with_constant[(1, )](x, x, x, 5, 6, BLOCK=64),
            "autotuned": lambda: tuned[(1, )](x, x, x, 5, 6),
            "arrays with data_ptr()": lambda: nothing[(1, )](pointer, pointer, pointer, 5, 6),
            "arrays with CUDA's interface": lambda: nothing[(1, )](interface, interface, interface, 5, 6),
            "not on the fast path": lambda: nothing.run(x, x, x, 5, 6, grid=(1, )),
        }
        times = {name: [] for name in cases}
        for _ in range(5):
            for name, call in cases.items():
                slow = name in ("autotuned", "not on the fast path")
                times[name].append(call(count) if name.startswith("bare") else microseconds(
                    call, count // 10 if slow else count))
    for name, values in times.items():
        print(f"{name:<30} {statistics.median(values):8.3f} us")


if __name__ == "__main__":
    main()
