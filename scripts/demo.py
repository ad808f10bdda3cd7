#!/usr/bin/env python3
"""Compiles and runs every example and prints a table. In the emulator all kernels are
checked for accesses out of bounds and for races.

usage: demo.py [--build FOLDER] [--chip sm_90a] [--device cuda|emulator]
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

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


CHECKS = ("bounds", "race")

# Runs a Python example; on host arrays every kernel of it is checked.
CHECKED_SCRIPT = """
import runpy, sys
path, *checks = sys.argv[1:]
sys.argv = [path]
import tile
with tile.emulator.checks(*checks):
    runpy.run_path(path, run_name="__main__")
"""


def run_mlir(source, chip, device, build):
    """(result, problem) of an example in MLIR: its output is compared with NumPy."""
    with tempfile.TemporaryDirectory() as folder:
        registers, problem = compile_example(source, chip, build / "bin" / "tile-translate",
                                             pathlib.Path(folder))
    if problem is not None:
        return "does not compile", problem
    command = [sys.executable, RUNNER, source.stem, f"--device={device}", f"--chip={chip}",
               f"--tile-run={build / 'bin' / 'tile-run'}", f"--check={','.join(CHECKS)}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return "WRONG", done.stdout + done.stderr
    shapes = len(done.stdout.splitlines())
    return f"agrees with NumPy ({shapes} shapes, {registers} registers)", None


def run_python(source, device, build):
    """(result, problem) of an example in Python, which compares with NumPy itself."""
    environment = dict(os.environ)
    paths = [ROOT / "python-bindings", build / "python", source.parent]
    environment["PYTHONPATH"] = os.pathsep.join(
        [*map(str, paths), environment.get("PYTHONPATH", "")])
    command = [sys.executable, source]
    if device == "emulator":
        # Without a visible GPU the arrays are NumPy's, and kernels run in the emulator.
        environment["CUDA_VISIBLE_DEVICES"] = ""
        command = [sys.executable, "-c", CHECKED_SCRIPT, source, *CHECKS]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        return "WRONG", done.stdout + done.stderr
    passed = [line for line in done.stdout.splitlines() if "passed" in line]
    return f"agrees with NumPy ({len(passed)} comparisons)", None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--chip")
    parser.add_argument("--device", choices=("cuda", "emulator"))
    arguments = parser.parse_args()

    gpu = find_gpu()
    device = arguments.device or ("cuda" if gpu else "emulator")
    chip = arguments.chip or gpu or "sm_90a"
    print("running on the GPU" if device == "cuda"
          else "no GPU is used here: running in the emulator")

    row = "{:<16} {:<9} {:<7} {:<12} {:>7}  {}"
    print(row.format("example", "device", "chip", "checks", "time", "result"))
    checks = ",".join(CHECKS) if device == "emulator" else "-"
    examples = ROOT / "examples"
    python = [p for p in sorted(examples.glob("*.py")) if p.stem != "common"]
    failures = []
    for source in [*sorted(examples.glob("*.mlir")), *python]:
        start = time.monotonic()
        if source.suffix == ".py":
            result, problem = run_python(source, device, arguments.build)
        else:
            result, problem = run_mlir(source, chip, device, arguments.build)
        seconds = f"{time.monotonic() - start:.2f} s"
        # Python kernels are compiled for what the runtime finds.
        target = chip if source.suffix == ".mlir" or gpu else "-"
        print(row.format(source.name, device, target, checks, seconds, result), flush=True)
        if problem:
            failures.append(f"{source.name}:\n{problem}")
    print("\n".join(failures), file=sys.stderr, end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
