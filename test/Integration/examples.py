#!/usr/bin/env python3
"""Runs an example kernel on random inputs and compares it with a float64 reference.

    python examples.py softmax [--device=emulator|cuda] [--chip=sm_90a]
                       [--seed=N] [--check=bounds,race] [--tile-run=PATH]

Each example runs on several shapes: full tiles, ragged edges, and a single element
or row. Prints the seed, one line for each shape, and exits non-zero on a mismatch.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def ceil_div(a, b):
    return -(-a // b)


class Case:
    """One launch: `args` are NumPy arrays and scalars; `outputs` maps the index of
    an argument to (reference, relative tolerance, absolute tolerance)."""

    def __init__(self, title, grid, args, outputs):
        self.title, self.grid, self.args, self.outputs = title, grid, args, outputs


def vector_add(rng):
    # n is a multiple of 16: the kernel's signature promises that.
    for n in (4096, 1024, 2000, 16):
        x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
        out = np.full(n, np.nan, np.float32)
        ref = x.astype(np.float64) + y
        yield Case(f"n={n}", (ceil_div(n, 1024),), [x, y, out, np.int32(n)],
                   {2: (ref, 1e-6, 1e-6)})


def softmax(rng):
    for rows, cols in ((8, 1024), (5, 1008), (1, 16), (6, 512)):
        x = (10 * rng.standard_normal((rows, cols))).astype(np.float32)
        out = np.full_like(x, np.nan)
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        yield Case(f"{rows}x{cols}", (ceil_div(rows, 4),),
                   [x, out, np.int32(rows), np.int32(cols)],
                   {1: (e / e.sum(1, keepdims=True), 1e-5, 1e-8)})


def layer_norm(rng):
    for rows, cols in ((8, 1024), (5, 1008), (1, 16)):
        x = (3 * rng.standard_normal((rows, cols)) + 1).astype(np.float16)
        weight, bias = (rng.standard_normal(cols).astype(np.float16) for _ in range(2))
        out = np.full_like(x, np.nan)
        mean, rstd = (np.full(rows, np.nan, np.float32) for _ in range(2))
        eps = np.float32(1e-5)
        a = x.astype(np.float64)
        mu = a.mean(1, keepdims=True)
        r = 1 / np.sqrt(a.var(1, keepdims=True) + float(eps))
        yield Case(f"{rows}x{cols}", (ceil_div(rows, 4),),
                   [x, weight, bias, out, mean, rstd, np.int32(rows), np.int32(cols), eps],
                   {3: ((a - mu) * r * weight.astype(np.float64) + bias, 2e-3, 2e-3),
                    4: (mu[:, 0], 1e-5, 1e-6), 5: (r[:, 0], 1e-5, 1e-6)})


def philox_uniform(seed, n):
    """Upper 24 bits of the first output of Philox 4x32-10, as a float in [0, 1)."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.arange(n, dtype=np.uint64)] + [np.zeros(n, np.uint64) for _ in range(3)]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(0)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & mask,
             (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return (c[0] >> np.uint64(8)).astype(np.float64) * 2.0**-24


def dropout(rng):
    for n, p in ((2048, 0.25), (1500, 0.5), (1, 0.0)):
        seed = int(rng.integers(0, 2**31))
        x = rng.standard_normal(n).astype(np.float32)
        out = np.full_like(x, np.nan)
        keep = philox_uniform(seed, n) >= np.float32(p)
        ref = np.where(keep, x.astype(np.float64) / (1 - np.float64(np.float32(p))), 0)
        yield Case(f"n={n} p={p}", (ceil_div(n, 1024),),
                   [x, out, np.int32(n), np.float32(p), np.int32(seed)],
                   {1: (ref, 1e-6, 0)})


def matmul_simt(rng):
    for m, n, k in ((64, 64, 32), (65, 70, 33), (1, 1, 1), (100, 30, 17), (3, 5, 0)):
        a = rng.standard_normal((m, k)).astype(np.float32)
        b = rng.standard_normal((k, n)).astype(np.float32)
        c = np.full((m, n), np.nan, np.float32)
        # An empty buffer has no address: give it one element that is not read.
        a_arg, b_arg = (v if v.size else np.zeros(1, np.float32) for v in (a, b))
        yield Case(f"{m}x{n}x{k}", (ceil_div(m, 64), ceil_div(n, 64)),
                   [a_arg, b_arg, c, np.int32(m), np.int32(n), np.int32(k)],
                   {2: (a.astype(np.float64) @ b.astype(np.float64), 1e-5, 1e-5)})


EXAMPLES = {f.__name__: f for f in (vector_add, softmax, layer_norm, dropout, matmul_simt)}


def run(case, name, options, folder):
    command = [options.tile_run, os.path.join(ROOT, "examples", f"{name}.mlir"),
               f"--kernel={name}", "--grid=" + ",".join(map(str, case.grid))]
    for index, arg in enumerate(case.args):
        if isinstance(arg, np.ndarray):
            path = os.path.join(folder, f"in{index}.npy")
            np.save(path, arg)
            command.append(f"--arg={path}")
        else:
            kind = "f32" if isinstance(arg, np.float32) else "i32"
            command.append(f"--arg={kind}:{arg}")
    for index in case.outputs:
        command.append(f"--out={index}:{folder}/out{index}.npy")
    if options.device == "cuda":
        command.append("--device=cuda")
    elif options.check:
        command.append(f"--check={options.check}")
    if options.chip:
        command.append(f"--chip={options.chip}")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return f"tile-run failed ({done.returncode}): {' '.join(command)}\n{done.stdout}{done.stderr}"
    for index, (reference, rtol, atol) in case.outputs.items():
        result = np.load(os.path.join(folder, f"out{index}.npy")).astype(np.float64)
        error = np.abs(result.reshape(reference.shape) - reference)
        # Written so that NaN fails.
        good = error <= atol + rtol * np.abs(reference)
        if not good.all():
            worst = np.unravel_index(np.argmax(np.where(good, 0, np.nan_to_num(error, nan=np.inf))), error.shape)
            return (f"argument {index}: {np.count_nonzero(~good)} of {good.size} elements are wrong, "
                    f"worst at {tuple(int(i) for i in worst)}: {result.reshape(reference.shape)[worst]} "
                    f"instead of {reference[worst]}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", choices=[*EXAMPLES, "all"])
    parser.add_argument("--device", default="emulator", choices=("emulator", "cuda"))
    parser.add_argument("--chip", default="")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--check", default="bounds,race")
    parser.add_argument("--tile-run", default="tile-run")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().entropy % 2**31)
    failures = 0
    for name in EXAMPLES if options.example == "all" else [options.example]:
        for case in EXAMPLES[name](np.random.default_rng(seed)):
            with tempfile.TemporaryDirectory() as folder:
                problem = run(case, name, options, folder)
            print(f"{name:12s} {case.title:16s} {options.device:8s} {options.chip or 'default':8s} "
                  f"seed {seed}: {problem or 'ok'}", flush=True)
            failures += problem is not None
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
