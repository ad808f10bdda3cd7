#!/usr/bin/env python3
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""generate_scalar_ptx.py FOLDER: writes the scalar kernels, their inputs and a manifest.

    scalar_MODULE.ptx   kernels of scalar_cases.py and scalar_memory_cases.py
    scalar_inputs.bin   input sets: three columns of 1,024 words of 64 bits each
    scalar.txt          a line for each kernel, separated by tabs: the instruction, module, kernel,
                        threads, the input set's number, the bytes of a lane's result, then for
                        Python the result's kinds, the rule, the group, the inputs' kinds and a
                        checksum of the kernel with its inputs

A kernel takes the addresses of its inputs and of its results. Its lane i reads word i of each column
and writes its results side by side, predicates and 16-bit registers as 32 bits.
"""
import argparse
import array
import os
import sys
import zlib

import scalar_cases
import scalar_inputs
import scalar_memory_cases
from scalar_cases import width

REGISTERS = {16: ".b16", 32: ".b32", 64: ".b64", 128: ".b128"}


def declare(name, kind):
    lines = [f"  .reg {REGISTERS[width(kind)]} {name};"]
    if kind == "pred":
        lines.append(f"  .reg .pred {name}p;")
    return lines


def slot_bytes(kind):
    return max(4, width(kind) // 8)


def load_operand(name, index, kind):
    lines = declare(name, kind)
    offset = index * scalar_inputs.LANES * 8
    lines.append(f"  ld.global.b{width(kind)} {name}, [%i+{offset}];")
    if kind == "pred":
        lines.append(f"  and.b32 {name}, {name}, 1;")
        lines.append(f"  setp.ne.s32 {name}p, {name}, 0;")
    return lines


def store_result(name, kind, offset):
    if kind == "pred":
        return [f"  selp.b32 {name}, 1, 0, {name}p;", f"  st.global.b32 [%o+{offset}], {name};"]
    if width(kind) == 16:
        return [f"  cvt.u32.u16 %x, {name};", f"  st.global.b32 [%o+{offset}], %x;"]
    return [f"  st.global.b{width(kind)} [%o+{offset}], {name};"]


def kernel_text(name, case):
    stride = sum(slot_bytes(k) for k in case.outs)
    lines = [f"// {case.instruction}", f".visible .entry {name}(.param .u64 in, .param .u64 out)"]
    if case.threads % 128 == 0:
        lines.append(f".reqntid {case.threads}")
    if "setmaxnreg" in case.body:
        lines.append(".maxnreg 64")
    lines += [
        "{", "  .reg .b64 %i, %o, %s, %h;", "  .reg .b32 %t, %x, %y;", "  .reg .pred %q;",
        "  mov.u32 %t, %tid.x;", "  ld.param.u64 %i, [in];", "  ld.param.u64 %o, [out];"
    ]
    if "%s" in case.body:
        # Scratch memory of the lane in global memory, behind the results.
        lines.append("  mad.wide.u32 %s, %t, 64, %o;")
        lines.append("  add.u64 %s, %s, 65536;")
    if "%h" in case.body:
        lines += [
            "  .shared .align 16 .b8 memory[32768];", "  mov.u64 %h, memory;",
            "  mad.wide.u32 %h, %t, 32, %h;"
        ]
    lines.append("  mad.wide.u32 %i, %t, 8, %i;")
    lines.append(f"  mad.wide.u32 %o, %t, {stride}, %o;")
    for i, (register, kind) in enumerate(zip(["%a", "%b", "%c"], case.ins)):
        lines += load_operand(register, i, kind)
    for register, kind in zip(["%d", "%e"], case.outs):
        lines += declare(register, kind)
    lines += ["  " + part for part in case.body.strip().splitlines()]
    offset = 0
    for register, kind in zip(["%d", "%e"], case.outs):
        lines += store_result(register, kind, offset)
        offset += slot_bytes(kind)
    return "\n".join(lines + ["  ret;", "}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    modules, manifest, sets = {}, [], {}
    words = array.array("Q")
    for number, case in enumerate(scalar_cases.all_cases() + scalar_memory_cases.all_cases()):
        module, name = "scalar_" + case.module, f"s{number}"
        kernel = kernel_text(name, case)
        modules.setdefault(module, []).append(kernel)
        key = tuple(case.ins)
        if key not in sets:
            columns = scalar_inputs.input_set(case.ins)
            sets[key] = len(sets), zlib.crc32(repr(columns).encode())
            for values in columns:
                words.extend(values)
        number_of_set, checksum = sets[key]
        checksum = zlib.crc32(kernel.replace(f" {name}(", " (").encode(), checksum)
        lane_bytes = sum(slot_bytes(k) for k in case.outs)
        manifest.append("\t".join([
            case.instruction, module, name,
            str(case.threads),
            str(number_of_set),
            str(lane_bytes), " ".join(case.outs), case.rule, case.group, " ".join(case.ins),
            f"{checksum:08x}"
        ]))
    names = [line.split("\t")[0] for line in manifest]
    if len(set(names)) < len(names):
        sys.exit(f"cases with one name: {sorted({n for n in names if names.count(n) > 1})}")
    for module, kernels in modules.items():
        with open(os.path.join(arguments.folder, module + ".ptx"), "w", encoding="utf-8") as file:
            file.write(".version 9.0\n.target sm_90a\n.address_size 64\n\n" +
                       scalar_memory_cases.PREAMBLES.get(module[len("scalar_"):], "") +
                       "\n".join(kernels))
    if sys.byteorder == "big":
        words.byteswap()
    with open(os.path.join(arguments.folder, "scalar_inputs.bin"), "wb") as file:
        words.tofile(file)
    with open(os.path.join(arguments.folder, "scalar.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(manifest) + "\n")


if __name__ == "__main__":
    main()
