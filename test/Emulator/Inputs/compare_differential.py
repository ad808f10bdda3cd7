#!/usr/bin/env python3
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare_differential.py A B: compares two files that Differential.cpp wrote.

Integers, copies and f64 must agree bit for bit; results that tensor cores round
are compared with a bound relative to the largest value of the result.
"""
import struct
import sys

import numpy as np

# Relative to the largest element: half an ulp of the type for our rounding, and
# what the hardware loses by truncating aligned products.
BOUNDS = {"f32": 2.0 ** -21, "f16": 2.0 ** -9}


def read(path):
    records = {}
    with open(path, "rb") as file:
        while True:
            sizes = file.read(8)
            if len(sizes) < 8:
                return records
            length, words = struct.unpack("<II", sizes)
            name = file.read(length).decode()
            records[name] = np.frombuffer(file.read(4 * words), np.uint32)


def result_type(name):
    kernel = name.split()[0]
    if kernel.startswith(("mma_", "wgmma_")):
        return kernel.split("_")[2]
    return "bits"


def bound(name):
    # The accumulators of fp8 products keep about 13 bits on sm_90.
    if "e4m3" in name or "e5m2" in name:
        return 2.0 ** -9 if result_type(name) == "f16" else 2.0 ** -12
    return BOUNDS[result_type(name)]


def compare(name, a, b):
    """The failure as text, or the largest relative difference."""
    if len(a) != len(b):
        return "lengths differ"
    kind = result_type(name)
    if np.array_equal(a, b):
        return 0.0
    if kind not in BOUNDS:
        where = np.flatnonzero(a != b)
        first = where[0]
        return (f"{len(where)} of {len(a)} words differ, the first at {first}: "
                f"{a[first]:08x} {b[first]:08x}")
    dtype = np.float16 if kind == "f16" else np.float32
    x, y = a.view(dtype).astype(np.float64), b.view(dtype).astype(np.float64)
    scale = np.nanmax(np.abs(x))
    difference = np.nanmax(np.abs(x - y)) / scale
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        return "NaN in different places"
    if difference > bound(name):
        return f"relative difference {difference:.3g}"
    return difference


def main():
    a, b = read(sys.argv[1]), read(sys.argv[2])
    failures = 0
    worst = {}
    for name in sorted(set(a) | set(b)):
        if name not in a or name not in b:
            print(f"{name}: only in one file")
            failures += 1
            continue
        result = compare(name, a[name], b[name])
        if isinstance(result, str):
            print(f"{name}: {result}")
            failures += 1
            continue
        group = "_".join(name.split()[0].split("_")[::2][:3])
        worst[group] = max(worst.get(group, 0.0), result)
    for group, value in sorted(worst.items()):
        if value:
            print(f"{group}: largest relative difference {value:.3g}")
    print(f"{len(a)} results, {failures} differ")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
