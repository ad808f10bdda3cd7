#!/usr/bin/env python3
"""Compiles kernels to a cubin for each chip; fails on spills and warnings of ptxas.

usage: assemble.py PTXAS SOURCE...
"""

import json
import pathlib
import subprocess
import sys
import tempfile

CHIPS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")


def assemble(source, chip, ptxas, folder):
    """A problem, or None."""
    metadata = pathlib.Path(folder) / "metadata.json"
    done = subprocess.run(
        ["tile-translate", source, "--tile-to-cubin", f"--chip={chip}",
         f"--ptxas={ptxas}", f"--metadata={metadata}", "-o", f"{folder}/kernel.cubin"],
        capture_output=True, text=True)
    if done.returncode or done.stderr:
        return done.stderr or f"exit status {done.returncode}"
    kernels = json.loads(metadata.read_text())["kernels"]
    if not kernels:
        return "no kernels"
    for kernel in kernels:
        print(f"{pathlib.Path(source).name} {kernel['name']} {chip}: "
              f"{kernel['registers']} registers")
        if kernel["spill_store_bytes"] or kernel["spill_load_bytes"] or kernel["stack_bytes"]:
            return (f"{kernel['name']} spills {kernel['spill_store_bytes']} bytes, loads "
                    f"{kernel['spill_load_bytes']}, stack {kernel['stack_bytes']}")
    return None


def main():
    ptxas, *sources = sys.argv[1:]
    failures = 0
    for source in sources:
        for chip in CHIPS:
            with tempfile.TemporaryDirectory() as folder:
                problem = assemble(source, chip, ptxas, folder)
            if problem:
                print(f"{source} for {chip}: {problem}", file=sys.stderr)
                failures += 1
    return 1 if failures or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
