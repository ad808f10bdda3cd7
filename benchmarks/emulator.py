#!/usr/bin/env python3
"""Times the PTX emulator and prints a table: a vector add and two matrix products,
without checks and with each of them, how time grows with the grid, and how memory does.

    ninja -C build EmulatorBenchmark
    python benchmarks/emulator.py [--build FOLDER] [--threads 2] [--rounds 5]

Each figure is the median of some runs, each in a process of its own; the checks of one
kernel take turns, so that all see the same machine. Ratios and growth are of processor
time, which other programs disturb less. The limits are those of the project: exits with 1
if one is passed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INPUTS = ROOT / "test" / "Emulator" / "Inputs"
MODES = ("none", "race", "uninit", "stats")
MIB = 1 << 20
# Title, kernel, size, seconds without checks at most.
KERNELS = (("vector add, 2^20 f32", "add", 1 << 20, 0.5),
           ("matrix product 512^3, mma.sync", "mma", 512, 3.0),
           ("matrix product 512^3, wgmma and TMA", "wgmma", 512, 3.0))
RACE_LIMIT = 5.0
THREAD_LIMIT = 64 * MIB


def run(program, kernel, size, mode, threads):
    command = [program, INPUTS, kernel, str(size), mode, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def median(program, cases, rounds, threads):
    """The median seconds, and processor seconds, of each (kernel, size, mode), all in turn."""
    runs = {case: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            runs[case].append(run(program, *case, threads))
    return [{case: statistics.median(r[key] for r in results) for case, results in runs.items()}
            for key in ("seconds", "cpu")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    program = options.build / "unittests" / "EmulatorBenchmark"
    if not program.exists():
        sys.exit(f"{program} is missing: ninja -C {options.build} EmulatorBenchmark")
    failures = []

    def judge(good, text):
        if not good:
            failures.append(text)
        return "" if good else "  <- above the limit"

    print(f"{options.threads} host threads, median of {options.rounds}\n")
    row = "{:<36} {:>9} {:>9} {:>9} {:>9}"
    print(row.format("seconds", *MODES))
    for title, kernel, size, limit in KERNELS:
        cases = [(kernel, size, mode) for mode in MODES]
        times, cpu = median(program, cases, options.rounds, options.threads)
        plain, race = cpu[cases[0]], cpu[cases[1]]
        note = judge(times[cases[0]] <= limit, f"{title}: {times[cases[0]]:.2f} s") + \
            judge(race <= RACE_LIMIT * plain, f"{title}: race check {race / plain:.1f}x")
        print(row.format(title, *(f"{times[case]:.3f}" for case in cases)) + note)
        print(row.format("  processor time, ratio", *(f"{cpu[case] / plain:.1f}x" for case in cases)))

    print("\n{:<36} {:>9} {:>9} {:>9}".format("vector add, blocks", 1024, 4096, 16384))
    for mode in ("none", "race"):
        cases = [("add", 256 * blocks, mode) for blocks in (1024, 4096, 16384)]
        _, cpu = median(program, cases, options.rounds, options.threads)
        growth = cpu[cases[2]] / cpu[cases[0]] / 16
        note = judge(growth < 2, f"16 times the blocks take {16 * growth:.1f} times as long")
        print("{:<36} {:>9} {:>9} {:>9}".format(
            f"  processor us a block, {mode}",
            *(f"{cpu[c] / (c[1] / 256) * 1e6:.1f}" for c in cases)) + note)

    print("\n{:<36} {:>9} {:>9} {:>9}".format("memory in MiB", "buffers", "launch", "a thread"))
    for title, kernel, size, _ in (*KERNELS, ("vector add, 2^24 f32", "add", 1 << 24, 0)):
        memory = run(program, kernel, size, "none", options.threads)
        grown = memory["peak"] - memory["before"]
        note = judge(grown <= THREAD_LIMIT * options.threads, f"{title}: {grown / MIB:.0f} MiB")
        print("{:<36} {:>9.0f} {:>9.0f} {:>9.0f}".format(
            title, memory["buffers"] / MIB, grown / MIB, grown / MIB / options.threads) + note)

    for failure in failures:
        print(f"above the limit: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
