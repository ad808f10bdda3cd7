#!/usr/bin/env python3
"""Compiles and runs every example kernel and prints a table.

usage: demo.py [--build FOLDER] [--chip sm_90a] [--device cuda|emulator]
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNNER = ROOT / "test" / "Integration" / "examples.py"


def find_gpu():
    """The chip of the first GPU as `sm_90a`, or None without one."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return None
    # The attributes 75 and 76 are the two parts of the compute capability.
    parts = []
    for attribute in (75, 76):
        value = ctypes.c_int()
        if cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0):
            return None
        parts.append(value.value)
    return "sm_%d%d" % tuple(parts) + ("a" if parts[0] >= 9 else "")


def compile_example(source, chip, tool, folder):
    """(registers of the kernel, problem). Without ptxas registers are unknown."""
    metadata = folder / "metadata.json"
    command = [tool, source, f"--chip={chip}", f"--metadata={metadata}", "-o"]
    done = subprocess.run([*command, folder / "kernel.cubin", "--tile-to-cubin"],
                          capture_output=True, text=True)
    if done.returncode and "ptxas was found in none" in done.stderr:
        done = subprocess.run([*command, folder / "kernel.ptx"],
                              capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    kernel = json.loads(metadata.read_text())["kernels"][0]
    return kernel.get("registers", "-"), None


def run_example(name, chip, device, build):
    done = subprocess.run(
        [sys.executable, RUNNER, name, f"--device={device}", f"--chip={chip}",
         f"--tile-run={build / 'bin' / 'tile-run'}"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if done.returncode:
        return "WRONG", done.stdout + done.stderr
    return f"agrees with NumPy ({len(lines)} shapes)", None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--chip")
    parser.add_argument("--device", choices=("cuda", "emulator"))
    arguments = parser.parse_args()

    gpu = find_gpu()
    device = arguments.device or ("cuda" if gpu else "emulator")
    chip = arguments.chip or gpu or "sm_90a"
    print("running on the GPU" if device == "cuda"
          else "no GPU is used here: running in the emulator")

    row = "{:<14} {:<8} {:>9}  {}"
    print(row.format("example", "chip", "registers", "result"))
    failures = []
    for source in sorted((ROOT / "examples").glob("*.mlir")):
        name = source.stem
        with tempfile.TemporaryDirectory() as folder:
            registers, problem = compile_example(
                source, chip, arguments.build / "bin" / "tile-translate",
                pathlib.Path(folder))
        result = "does not compile"
        if problem is None:
            result, problem = run_example(name, chip, device, arguments.build)
        print(row.format(name, chip, registers if registers is not None else "-", result), flush=True)
        if problem:
            failures.append(f"{name}:\n{problem}")
    print("\n".join(failures), file=sys.stderr, end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
