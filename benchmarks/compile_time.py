#!/usr/bin/env python3
"""Measures how long tile-translate takes, as a whole process.

    python benchmarks/compile_time.py [--tile-translate PATH] [--chip sm_90a]
                                      [--runs N] [--ops 100,1000,10000]

First every example, then generated chains of arithmetic on one tile, whose time
should grow linearly with the number of ops. Each figure is the median of N runs of
the process, in milliseconds, after one run that warms the file cache. Compare runs
on one idle machine only.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def generate_chain(ops):
    """A kernel with `ops` ops on a tile, each of which needs the one before it."""
    tile = "tensor<128xf32>"
    body = []
    for index in range(ops):
        # An exact sum, a product and a maximum in turn: nothing folds.
        op = ("arith.addf", "arith.mulf", "arith.maximumf")[index % 3]
        body.append(f"    %v{index + 1} = {op} %v{index}, %v0 : {tile}")
    return "\n".join([
        "gpu.module @chain {",
        "  gpu.func @chain(%x: !tile.ptr<f32>) kernel {",
        "    %range = tile.arange 0, 128 : tensor<128xi32>",
        "    %xs = tile.splat %x : tensor<128x!tile.ptr<f32>>",
        "    %ptrs = tile.addptr %xs, %range : tensor<128x!tile.ptr<f32>>, tensor<128xi32>",
        "    %v0 = tile.load %ptrs : tensor<128x!tile.ptr<f32>>",
        *body,
        f"    tile.store %ptrs, %v{ops} : tensor<128x!tile.ptr<f32>>",
        "    gpu.return",
        "  }",
        "}",
        "",
    ])


def measure(command, runs):
    """Median wall-clock time of the process in ms."""
    subprocess.run(command, check=True)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tile-translate", default=ROOT / "build/bin/tile-translate")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--ops", default="100,1000,10000")
    arguments = parser.parse_args()

    def command(source):
        return [arguments.tile_translate, source, f"--chip={arguments.chip}",
                "-o", "/dev/null"]

    print(f"{'kernel':<24} {'ms':>8}  {'us per op':>9}")
    for source in sorted((ROOT / "examples").glob("*.mlir")):
        print(f"{source.stem:<24} {measure(command(source), arguments.runs):8.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for ops in map(int, arguments.ops.split(",")):
            source = pathlib.Path(folder) / f"chain{ops}.mlir"
            source.write_text(generate_chain(ops))
            time_ms = measure(command(source), max(1, arguments.runs * 100 // max(ops, 100)))
            print(f"{f'chain of {ops} ops':<24} {time_ms:8.1f}  {time_ms * 1e3 / ops:9.1f}", flush=True)


if __name__ == "__main__":
    main()
