#!/usr/bin/env python3
"""Runs small kernels, one check an op, type and shape, on random inputs, and compares
with NumPy in higher precision or with exact integers.

    python ops.py GROUP... [--chip=sm_90a] [--num-warps=N] [--seed=N] [--only=REGEX]
                  [--keep=FOLDER] [--list] [--device=emulator|cuda]

Many checks share a kernel, one after the other, so that they also test each other's
shared memory. A check that fails is run once more by itself. Prints the seed, each
failure, and a count; exits non-zero on a failure. `--keep` leaves the kernels and
inputs of failures.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from op_checks import casts, elementwise, floats, foreign, memory, programs, reductions, shapes  # noqa: E402
from op_checks.kernel import Kernel  # noqa: E402

GROUPS = {}
for module in (casts, elementwise, floats, foreign, memory, programs, reductions, shapes):
    GROUPS.update(module.GROUPS)

CHECKS_PER_KERNEL = 16
KERNELS_PER_MODULE = 4


class Runner:
    def __init__(self, options, seed):
        self.options, self.seed, self.folder = options, seed, None

    def build(self, name, checks):
        """The kernel of some checks. The random numbers of a check depend on the seed
        and its name only."""
        kernel = Kernel(name)
        for title, function in checks:
            kernel.check = title
            kernel.do(f"// {title}")
            function(kernel, np.random.default_rng([self.seed, zlib.crc32(title.encode())]))
        return kernel

    def command(self, arguments):
        done = subprocess.run(arguments, capture_output=True, text=True, errors="replace", timeout=120)
        if done.returncode == 0:
            return None
        return f"exit status {done.returncode}\n{done.stdout[-600:]}{done.stderr[:1500]}"

    def compile(self, kernels, path):
        with open(path + ".mlir", "w") as file:
            file.write(f'gpu.module @m [#nvvm.target<chip = "{self.options.chip}">] {{\n')
            for text in dict.fromkeys(h for k in kernels for h in k.helpers):
                file.write(text)
            file.writelines(k.text() for k in kernels)
            file.write("}\n")
        return self.command([self.options.tile_translate, path + ".mlir", "-o", path + ".ptx",
                             f"--num-warps={self.options.num_warps}", f"--metadata={path}.json"])

    def run(self, kernel, path):
        """{check: problem} of a compiled kernel; the key "" is a failure of the launch."""
        with open(path + ".json") as file:
            shared = {k["name"]: k["shared_bytes"]["dynamic"] for k in json.load(file)["kernels"]}
        command = [self.options.tile_run, path + ".ptx", f"--kernel={kernel.name}", f"--shared={shared[kernel.name]}",
                   "--grid=" + ",".join(map(str, kernel.grid)), f"--device={self.options.device}"]
        if self.options.device == "emulator":
            # Warps run in an order of that number.
            command.append(f"--seed={self.seed}")
        if self.options.device == "emulator" and self.options.check and not kernel.races:
            command.append(f"--check={self.options.check}")
        for index, array in enumerate(kernel.arrays):
            if isinstance(array, str):
                command.append(f"--arg={array}")
                continue
            array, misalign = array
            np.save(f"{path}.{index}.npy", array)
            command.append(f"--arg={path}.{index}.npy" + (f"@{misalign}" if misalign else ""))
        for output in kernel.outputs:
            command.append(f"--out={output.arg}:{path}.out{output.arg}.npy")
        with open(path + f".{kernel.name}.sh", "w") as file:
            file.write(" ".join(f"'{c}'" for c in command) + "\n")
        problem = self.command(command)
        if problem:
            return {"": problem}
        problems = {}
        for output in kernel.outputs:
            problem = output.problem(np.load(f"{path}.out{output.arg}.npy"))
            if problem:
                problems.setdefault(output.check, problem)
        return problems

    def run_alone(self, title, function, number):
        path = os.path.join(self.folder, f"alone{number}")
        kernel = self.build("k", [(title, function)])
        problem = self.compile([kernel], path)
        if problem:
            return "compiling: " + problem
        problems = self.run(kernel, path)
        return next(iter(problems.values()), None)

    def run_checks(self, group, checks, folder, alone=False):
        """The number of failures."""
        self.folder = folder
        size = 1 if alone else CHECKS_PER_KERNEL
        slices = [checks[i:i + size] for i in range(0, len(checks), size)]
        suspects = []
        for start in range(0, len(slices), KERNELS_PER_MODULE):
            part = slices[start:start + KERNELS_PER_MODULE]
            kernels = [self.build(f"k{i}", p) for i, p in enumerate(part)]
            path = os.path.join(folder, f"m{start}")
            problem = self.compile(kernels, path)
            if problem:
                suspects += [(c, problem) for p in part for c in p]
                continue
            for kernel, contents in zip(kernels, part):
                problems = self.run(kernel, path)
                if "" in problems:
                    suspects += [(c, problems[""]) for c in contents]
                else:
                    suspects += [(c, problems[c[0]]) for c in contents if c[0] in problems]
        failures, explained = 0, set()
        for number, ((title, function), together) in enumerate(suspects):
            alone = self.run_alone(title, function, number)
            if alone is not None:
                failures += 1
                explained.add(together)
                print(f"FAIL {group} {title} [{number}]: {alone}")
            elif " wrong, first at " in together:
                failures += 1
                print(f"FAIL {group} {title}: only together with others: {together}")
        unexplained = {t for _, t in suspects} - explained
        for together in unexplained:
            # Much shared memory is a matter of layouts, which depend on the company.
            if " wrong, first at " not in together and "bytes of shared memory" not in together:
                failures += 1
                print(f"FAIL {group}: no check fails by itself, but together: {together}")
        return failures


def main():
    np.seterr(all="ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", help="of: " + " ".join(sorted(GROUPS)) + " all")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--num-warps", type=int, default=4)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="")
    parser.add_argument("--slice", default="1/1", help="I/N: every N-th check")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--device", default="emulator", choices=("emulator", "cuda"))
    parser.add_argument("--check", default="race")
    parser.add_argument("--tile-run", default="tile-run")
    parser.add_argument("--tile-translate", default="tile-translate")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().entropy % 2**31)
    runner, failures = Runner(options, seed), 0
    for group in sorted(GROUPS) if "all" in options.groups else options.groups:
        part, parts = map(int, options.slice.split("/"))
        checks = [c for c in GROUPS[group](options) if re.search(options.only, c[0])][part - 1::parts]
        if options.list:
            print("\n".join(f"{group} {c[0]}" for c in checks))
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(options.keep, group) if options.keep else scratch
            os.makedirs(folder, exist_ok=True)
            failed = runner.run_checks(group, checks, folder, getattr(GROUPS[group], "alone", False))
        print(f"{group}: {len(checks) - failed} of {len(checks)} checks agree "
              f"(seed {seed}, {options.chip}, {options.num_warps} warps)", flush=True)
        failures += failed
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
