#!/usr/bin/env python3
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two files that Differential.cpp wrote, the emulator's and a GPU's.

Integers, copies, conversions and IEEE arithmetic must agree bit for bit. Tensor-core results are
compared with a bound relative to the largest value of the result, approximations with the bounds of
the PTX ISA (see scalar_cases.py), and CUDA programs also with the values that the host expects.
"""
import argparse
import os
import struct
import sys

import numpy as np

# Relative to the largest element: half an ulp of the type for our rounding, and what the hardware
# loses by truncating aligned products.
BOUNDS = {"f32": 2.0**-21, "f16": 2.0**-9}

# What results hold before a launch. As a float it is large: where nothing was written it would hide
# what differs elsewhere.
UNWRITTEN = 0xDEADBEEF

# CUDA programs that call approximations or add in another order than the host: the absolute
# difference and the one relative to the value.
PROGRAM_BOUNDS = {"softmax": (2e-6, 0), "functions": (1e-6, 2e-6)}


def read(path):
    records = {}
    with open(path, "rb") as file:
        while True:
            sizes = file.read(8)
            if len(sizes) < 8:
                return records
            length, words = struct.unpack("<II", sizes)
            name = file.read(length).decode().strip()
            records[name] = np.frombuffer(file.read(4 * words), np.uint32)


def first_difference(a, b, differs, name="word"):
    where = np.flatnonzero(differs)
    first = where[0]
    return (f"{len(where)} of {len(a)} {name}s differ, the first at {first}: "
            f"{a[first]:0{2 * a.itemsize}x} {b[first]:0{2 * b.itemsize}x}")


# Tensor cores, copies, programs ----------------------------------------------------------------


def result_type(name):
    kernel = name.split()[0]
    if kernel.startswith(("mma_", "wgmma_")):
        return kernel.split("_")[2]
    return "bits"


def tensor_bound(name):
    # The accumulators of fp8 products keep about 13 bits on sm_90.
    if "e4m3" in name or "e5m2" in name:
        return 2.0**-9 if result_type(name) == "f16" else 2.0**-12
    return BOUNDS[result_type(name)]


def compare_tensor(name, a, b):
    """The failure as text, or the largest relative difference."""
    kind = result_type(name)
    if np.array_equal(a, b):
        return 0.0
    if kind not in BOUNDS:
        return first_difference(a, b, a != b)
    dtype = np.float16 if kind == "f16" else np.float32
    written = (a != UNWRITTEN) | (b != UNWRITTEN)
    a, b = a[written], b[written]
    x, y = a.view(dtype).astype(np.float64), b.view(dtype).astype(np.float64)
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        return "NaN in different places"
    finite = np.isfinite(x)
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return "infinity in different places"
    difference = np.max(np.abs(x - y)[finite]) / np.max(np.abs(x[finite]))
    if not difference <= tensor_bound(name):
        return f"relative difference {difference:.3g}"
    return difference


def compare_program(name, a, b):
    program = name.split()[0].removeprefix("program_").split("_")[0]
    if program not in PROGRAM_BOUNDS:
        return 0.0 if np.array_equal(a, b) else first_difference(a, b, a != b)
    absolute, relative = PROGRAM_BOUNDS[program]
    x, y = (v.view(np.float32).astype(np.float64) for v in (a, b))
    excess = np.abs(x - y) / (absolute + relative * np.abs(y))
    worst = np.nanmax(excess)
    if not worst <= 1 or not np.array_equal(np.isnan(x), np.isnan(y)):
        return f"difference {worst:.3g} times the bound"
    return float(np.max(np.abs(x - y)))


def tensor_group(name):
    kernel = name.split()[0]
    parts = kernel.split("_")
    if kernel.startswith("program_"):
        return "CUDA program " + "_".join(p for p in parts[1:] if not p.isdigit())
    if parts[0] in ("mma", "wgmma"):
        sparse = any(p.startswith("sp") for p in parts)
        what = "wmma" if "wmma" in parts else parts[0] + (".sp" if sparse else "")
        return f"{what} {parts[3]} to {parts[2]}"
    if parts[0] == "tma":
        return "tensor copies"
    return "other asynchronous instructions"


# Scalar kernels --------------------------------------------------------------------------------


def load_manifest(folder):
    cases = {}
    with open(os.path.join(folder, "scalar.txt"), encoding="utf-8") as file:
        for line in file:
            name, _, _, threads, _, stride, kinds, rule, group, _, _ = line.rstrip("\n").split("\t")
            cases[name] = (int(threads), int(stride), kinds.split(), rule.split(), group)
    return cases


def element_columns(words, threads, stride, kinds):
    """The results by output: arrays of unsigned integers with the output's type."""
    raw = words.view(np.uint8).reshape(threads, stride)
    offset = 0
    for kind in kinds:
        size = 8 if kind.endswith("64") else 4
        column = raw[:, offset:offset + size].copy().view(np.uint64 if size == 8 else np.uint32)
        offset += size
        if kind in ("f16x2", "bf16x2"):
            yield kind[:-2], column.view(np.uint16).ravel()
        elif kind in ("f16", "bf16"):
            yield kind, (column.ravel() & 0xFFFF).astype(np.uint16)
        else:
            yield kind, column.ravel()


def is_nan(kind, column):
    infinity = {
        "f16": 0x7C00,
        "bf16": 0x7F80,
        "f32": 0x7F800000,
        "tf32": 0x7F800000,
        "f64": 0x7FF << 52
    }.get(kind)
    if infinity is None:
        return np.zeros(column.shape, bool)
    mask = column.dtype.type((1 << (8 * column.itemsize - 1)) - 1)
    return (column & mask) > column.dtype.type(infinity)


def values(kind, column):
    if kind == "bf16":
        return (column.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return column.view({
        2: np.float16,
        4: np.float32,
        8: np.float64
    }[column.itemsize]).astype(np.float64)


def compare_scalar(case, a, b):
    """The failure as text, or the largest difference as a share of the bound."""
    threads, stride, kinds, rule, _ = case
    worst = 0.0
    for (kind, x), (_, y) in zip(element_columns(a, threads, stride, kinds),
                                 element_columns(b, threads, stride, kinds)):
        differs = x != y
        if rule[0] != "bits":
            differs &= ~(is_nan(kind, x) & is_nan(kind, y))
        if rule[0] == "near" and differs.any():
            relative, absolute = float(rule[1]), float(rule[2])
            with np.errstate(all="ignore"):
                v, w = values(kind, x), values(kind, y)
                error = np.abs(v - w)
                bound = np.maximum(relative * np.abs(v), absolute)
                share = np.where(differs, error / bound, 0)
            finite = np.isfinite(share)
            differs &= ~(finite & (share <= 1))
            worst = max(worst, float(np.max(share[finite], initial=0)))
        if differs.any():
            return first_difference(x, y, differs, "result")
    return worst


# Report ----------------------------------------------------------------------------------------


class Group:

    def __init__(self):
        self.cases = self.failures = 0
        self.worst = 0.0
        self.bounded = False


def check(name, a, b, cases):
    """The group, the failure or the worst difference, and whether differences are allowed."""
    scalar = cases.get(name)
    if scalar:
        result = "lengths differ" if len(a[name]) != len(b[name]) else compare_scalar(
            scalar, a[name], b[name])
        return scalar[4], result, scalar[3][0] == "near"
    group = tensor_group(name)
    if name.startswith("program_"):
        results = [compare_program(name, side[name], a["expected " + name]) for side in (a, b)]
        texts = [
            f"{label}: {r}" for label, r in zip(("first file", "second file"), results)
            if isinstance(r, str)
        ]
        if texts:
            return group, "not as expected: " + "; ".join(texts), False
        return group, max(results), name.split("_")[1].split()[0] in PROGRAM_BOUNDS
    if len(a[name]) != len(b[name]):
        return group, "lengths differ", False
    return group, compare_tensor(name, a[name], b[name]), result_type(name) in BOUNDS


def describe(group, result):
    if result.failures:
        return f"{result.failures} differ"
    if not result.bounded or result.worst == 0:
        return "bit for bit"
    if group == "approximations":
        return f"within the PTX ISA's bounds (at most {result.worst:.0%} of them)"
    return f"up to {result.worst:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--scalar", metavar="FOLDER", help="what generate_scalar_ptx.py wrote")
    parser.add_argument("--markdown", action="store_true", help="print the summary as Markdown")
    arguments = parser.parse_args()
    a, b = read(arguments.first), read(arguments.second)
    cases = load_manifest(arguments.scalar) if arguments.scalar else {}
    groups, total, failures = {}, 0, 0
    for name in list(dict.fromkeys([*a, *b])):
        if name.startswith("expected "):
            continue
        total += 1
        if name not in a or name not in b:
            print(f"{name}: only in one file")
            failures += 1
            continue
        group, result, bounded = check(name, a, b, cases)
        entry = groups.setdefault(group, Group())
        entry.cases += 1
        entry.bounded |= bounded
        if isinstance(result, str):
            print(f"{name}: {result}")
            entry.failures += 1
            failures += 1
        else:
            entry.worst = max(entry.worst, result)
    for group, entry in groups.items():
        line = [group, str(entry.cases), describe(group, entry)]
        print("| " + " | ".join(line) + " |" if arguments.markdown else ": ".join(line))
    print(f"{total} results, {failures} differ")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
