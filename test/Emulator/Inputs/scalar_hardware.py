#!/usr/bin/env python3
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks results of the scalar kernels against checksums of what hardware computed.

    scalar_hardware.py FOLDER RESULTS            check against scalar_hardware.txt
    scalar_hardware.py FOLDER RESULTS --write    make scalar_hardware.txt of a GPU's results

FOLDER is what generate_scalar_ptx.py wrote, RESULTS what Differential.cpp wrote. A line of
scalar_hardware.txt is a checksum of a kernel with its inputs and one of its results. A kernel that
was changed since finds no line and is counted as not measured. Approximations are left out: the
emulator need not give the hardware's bits.
"""
import argparse
import os
import sys
import zlib

from scalar_reference import halves_of, is_nan, read_results

HARDWARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scalar_hardware.txt")


def canonical(data, kinds, any_nan):
    """The results without what PTX leaves open: the payload of NaN, if `any_nan`, and what lies above
    16-bit floats (ptxas 13.0 leaves a copy of `set`'s result there)."""
    sizes = [8 if k.endswith("64") else 4 for k in kinds]
    result = bytearray(data)
    at = 0
    while at < len(data):
        for kind, size in zip(kinds, sizes):
            element = halves_of(kind) or kind
            if kind in ("f16", "bf16"):
                result[at + 2:at + 4] = bytes(2)
            step = 2 if element in ("f16", "bf16") else size
            for part in range(at, at + (step if kind == element else size), step):
                value = int.from_bytes(data[part:part + step], "little")
                if any_nan and is_nan(value, element):
                    result[part:part + step] = b"\xff" * step
            at += size
    return bytes(result)


def checksums(folder, path):
    """For each kernel: its name, the key that it and its inputs have, and its results' checksum."""
    results = read_results(path)
    with open(os.path.join(folder, "scalar.txt"), encoding="utf-8") as file:
        for line in file:
            name, _, _, _, _, _, kinds, rule, _, _, key = line.rstrip("\n").split("\t")
            if rule.startswith("near") or name not in results:
                continue
            data = results[name]
            if rule == "nan" or "f16" in kinds:
                data = canonical(data, kinds.split(), rule == "nan")
            yield name, key, f"{zlib.crc32(data):08x}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("results")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found = list(checksums(arguments.folder, arguments.results))
    if arguments.write:
        with open(HARDWARE, "w", encoding="utf-8") as file:
            file.writelines(f"{key} {checksum}\n" for _, key, checksum in found)
        return 0
    with open(HARDWARE, encoding="utf-8") as file:
        measured = dict(line.split() for line in file)
    unknown = [name for name, key, _ in found if key not in measured]
    wrong = [name for name, key, checksum in found if measured.get(key, checksum) != checksum]
    for name in wrong:
        print(f"{name}: not what the hardware computes")
    print(f"{len(found) - len(unknown)} kernels as on hardware but for {len(wrong)};"
          f" {len(unknown)} not measured")
    return bool(wrong) or len(unknown) == len(found)


if __name__ == "__main__":
    sys.exit(main())
