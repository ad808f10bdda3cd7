#!/usr/bin/env python3
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes sparse.ptx: kernels that show each form of mma.sp, sparse wgmma, mma.m8n8k4 of f16, wmma,
tensor copies in the im2col mode and tensormap.replace in isolation. The parameters are those of
generate_matrix_ptx.py; tensor copies have three more, the offsets of im2col.

Behind `//:` before each kernel stand the number of threads, the words of `out`, and what `in` holds,
as KIND*WORDS: a type, or metadata (`pairs`: four bits name two of four increasing indices, `singles`:
0b0100 or 0b1110).
mma.sp: registers of A, B, C and the metadata, word 32 * r + lane each; `out` is D.
mma.m8n8k4: registers of A, B and C.
wgmma: registers of D, of A where it is in registers, and of the metadata, then 32 KiB of shared
memory; word 128 * r + thread.
wmma: the matrices A, B and C, one behind the other, each row (column) padded by 16 bytes; `out` is D,
laid out as C. Words of `out` that D does not fill keep their value.
"""
import os
import sys

from generate_matrix_ptx import BITS, HEADER, PARAMS, tma_kernel, wgmma_kernel

SPARSE_K = {"f16": (16, 32), "bf16": (16, 32), "tf32": (8, 16), "s8": (32, 64), "u8": (32, 64),
            "s4": (64, 128), "u4": (64, 128), "e4m3": (64,), "e5m2": (64,)}
WMMA_SHAPES = {16: ((16, 16, 16), (8, 32, 16), (32, 8, 16)), 8: ((16, 16, 8),), 4: ((8, 8, 4),),
               32: ((8, 8, 32),), 128: ((8, 8, 128),)}
PAD_BYTES = 16


def selectors(kind, k):
    """How many values a selector has."""
    group = {32: 2, 4: 8}.get(BITS[kind], 4)
    return 4 // (16 * k // group * 4 // 256)


def metadata_kind(kind):
    return "singles" if kind == "tf32" else "pairs"


def registers(kind, elements):
    return elements * BITS[kind] // 1024


def vector(letter, count):
    return "{" + ", ".join(f"%{letter}{r}" for r in range(count)) + "}"


def describe(threads, out_words, parts):
    return f"//: {threads} {out_words} " + " ".join(f"{kind}*{words}" for kind, words in parts)


def register_kernel(name, instruction, numbers, num_d, metadata=False):
    """A kernel that loads registers of A, B and C, executes and stores D."""
    lines = [f".visible .entry {name}{PARAMS}", "{",
             "  .reg .b32 %a<9>, %b<9>, %c<9>, %d<9>, %lane, %meta;", "  .reg .b64 %in, %out;",
             "  ld.param.u64 %in, [in];", "  ld.param.u64 %out, [out];", "  mov.u32 %lane, %tid.x;",
             "  mad.wide.u32 %in, %lane, 4, %in;", "  mad.wide.u32 %out, %lane, 4, %out;"]
    at = 0
    for letter, count in zip("abc", numbers):
        for r in range(count):
            lines.append(f"  ld.global.b32 %{letter}{r}, [%in+{at * 128}];")
            at += 1
    if metadata:
        lines.append(f"  ld.global.b32 %meta, [%in+{at * 128}];")
    lines.append("  " + instruction)
    lines += [f"  st.global.b32 [%out+{r * 128}], %d{r};" for r in range(num_d)]
    return "\n".join(lines + ["  ret;", "}", ""])


def sparse_mma_cases():
    """(k, d, a, b, selector, ordered, saturates)"""
    pairs = [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"),
             ("f32", "tf32", "tf32")]
    pairs += [("f32", a, b) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
    for types in (("s8", "u8"), ("s4", "u4")):
        pairs += [("s32", a, b) for a in types for b in types]
    for d, a, b in pairs:
        for k in SPARSE_K[a]:
            for selector in range(selectors(a, k)):
                yield k, d, a, b, selector, selector % 2 == 1, False
            yield k, d, a, b, 0, True, d == "s32"


def sparse_mma_kernel(k, d, a, b, selector, ordered, saturates):
    tail = f"sp{'o' if ordered else ''}{selector}" + ("_satfinite" if saturates else "")
    name = f"mma_m16n8k{k}_{d}_{a}_{b}_{d}_{tail}"
    num_c = 2 if d == "f16" else 4
    numbers = [registers(a, 8 * k), registers(b, 8 * k), num_c]
    operands = ", ".join([vector("d", num_c)] + [vector(x, n) for x, n in zip("abc", numbers)])
    kind = "sp::ordered_metadata" if ordered else "sp"
    sat = ".satfinite" if saturates else ""
    instruction = (f"mma.{kind}.sync.aligned.m16n8k{k}.row.col{sat}.{d}.{a}.{b}.{d}\n"
                   f"    {operands}, %meta, {selector};")
    parts = [(a, 32 * numbers[0]), (b, 32 * numbers[1]), (d, 32 * num_c), (metadata_kind(a), 32)]
    return describe(32, 32 * num_c, parts) + "\n" + register_kernel(
        name, instruction, numbers, num_c, True)


def quad_pair_cases():
    for d, c in (("f16", "f16"), ("f32", "f32"), ("f32", "f16")):
        for layout_a in ("row", "col"):
            for layout_b in ("row", "col"):
                yield d, c, layout_a, layout_b


def quad_pair_kernel(d, c, layout_a, layout_b):
    num_d, num_c = (4 if x == "f16" else 8 for x in (d, c))
    operands = ", ".join(
        [vector("d", num_d), vector("a", 2), vector("b", 2), vector("c", num_c)])
    instruction = (f"mma.sync.aligned.m8n8k4.{layout_a}.{layout_b}.{d}.f16.f16.{c}\n"
                   f"    {operands};")
    name = f"mma_m8n8k4_{d}_f16_f16_{c}_{layout_a}_{layout_b}"
    return describe(32, 32 * num_d, [("f16", 64), ("f16", 64), (c, 32 * num_c)]) + "\n" + \
        register_kernel(name, instruction, [2, 2, num_c], num_d)


def sparse_wgmma_cases():
    """(n, k, d, a, b, A in registers, transposed A, transposed B, negated, selector)"""
    for in_registers in (0, 1):
        for d, a, b in (("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"),
                        ("f32", "tf32", "tf32"), ("f32", "e4m3", "e5m2"), ("f16", "e5m2", "e4m3"),
                        ("s32", "s8", "u8"), ("s32", "u8", "s8")):
            k = SPARSE_K[a][-1]
            for selector in range(selectors(a, k)):
                yield 32, k, d, a, b, in_registers, 0, 0, 0, selector
        yield 64, 32, "f32", "f16", "f16", in_registers, 0, 0, 3, 1
        yield 8, 32, "f32", "f16", "f16", in_registers, 0, 0, 1, 0
        yield 16, 64, "s32", "s8", "s8", in_registers, 0, 0, 4, 0
        for trans_a, trans_b in ((0, 1),) if in_registers else ((0, 1), (1, 0), (1, 1)):
            yield 64, 32, "f32", "f16", "f16", in_registers, trans_a, trans_b, 0, 0


def sparse_wgmma_kernel(n, k, d, a, b, in_registers, trans_a, trans_b, special, selector):
    text = wgmma_kernel(n, k, d, a, b, in_registers, trans_a, trans_b, special)
    num_d = n // (4 if d == "f16" else 2)
    total = num_d + (4 if in_registers else 0)
    for old, new in ((f"_x{special}(", f"_x{special}_sp{selector}("),
                     (f"add.u64 %from, %in, {total * 512};",
                      f"add.u64 %from, %in, {(total + 1) * 512};"),
                     (".mma_async.", ".mma_async.sp."),
                     ("%db, %scale", f"%db, %meta, {selector}, %scale"),
                     (".reg .pred %p, %scale;", ".reg .pred %p, %scale;\n  .reg .b32 %meta;"),
                     ("  wgmma.fence",
                      f"  ld.global.b32 %meta, [%in+{total * 512}];\n  wgmma.fence")):
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    parts = [(d, 128 * num_d)] + ([(a, 512)] if in_registers else [])
    parts += [(metadata_kind(a), 128), (a, 2048), (b, 6144)]
    return describe(128, 128 * num_d, parts) + "\n" + text


def wmma_cases():
    """(shape, d, a, c, layout of A, of B, of C, space, operation)"""
    layouts = [(x, y) for x in ("row", "col") for y in ("row", "col")]
    for a, c_types, k in (("f16", ("f16", "f32"), 16), ("bf16", ("f32",), 16), ("s8", ("s32",), 16),
                          ("u8", ("s32",), 16), ("tf32", ("f32",), 8), ("f64", ("f64",), 4)):
        for shape in WMMA_SHAPES[k]:
            for i, (layout_a, layout_b) in enumerate(layouts):
                for c in c_types:
                    d = c_types[i % len(c_types)]
                    space = ("global", "generic", "shared")[i % 3]
                    yield shape, d, a, c, layout_a, layout_b, ("row", "col")[i % 2], space, ""
    for shape in WMMA_SHAPES[16]:
        yield shape, "s32", "s8", "s32", "row", "col", "row", "global", "satfinite"
    for a, k in (("s4", 32), ("u4", 32)):
        for layout, op in (("row", ""), ("col", "satfinite")):
            yield WMMA_SHAPES[k][0], "s32", a, "s32", "row", "col", layout, "shared", op
    for op in ("xor", "and"):
        yield WMMA_SHAPES[128][0], "s32", "b1", "s32", "row", "col", "row", "global", op
    for mode in ("rz", "rm", "rp"):
        yield WMMA_SHAPES[4][0], "f64", "f64", "f64", "row", "col", "row", "global", mode


def fragment_registers(kind, elements, is_operand):
    if kind == "f64":
        return elements // 32
    return 8 if is_operand and kind == "f16" else registers(kind, elements)


def extent(kind, rows, columns, layout):
    """The stride in elements and the size in bytes of a padded matrix."""
    outer, inner = (rows, columns) if layout == "row" else (columns, rows)
    stride = inner + PAD_BYTES * 8 // BITS[kind]
    return stride, outer * stride * BITS[kind] // 8


def wmma_kernel(shape, d, a, c, layout_a, layout_b, layout_c, space, op):
    m, n, k = shape
    text_shape = f"m{m}n{n}k{k}"
    name = f"mma_{text_shape}_{d}_{a}_{a}_{c}_wmma_{layout_a}_{layout_b}_{layout_c}_{space}" + \
        (f"_{op}" if op else "")
    matrices = (("a", a, m, k, layout_a), ("b", a, k, n, layout_b), ("c", c, m, n, layout_c))
    sizes = [extent(kind, rows, columns, layout)[1] for _, kind, rows, columns, layout in matrices]
    stride_d, bytes_d = extent(d, m, n, layout_c)
    reg = "f64" if a == "f64" else "b32"
    where = "" if space == "generic" else "." + space
    lines = [f".visible .entry {name}{PARAMS}", "{",
             f"  .reg .{reg} %a<9>, %b<9>, %c<9>, %d<9>;", "  .reg .b32 %t, %x, %i, %w;",
             "  .reg .b64 %in, %out, %from;", "  .reg .pred %p;",
             f"  .shared .align 32 .b8 data[{sum(sizes)}];", "  ld.param.u64 %in, [in];",
             "  ld.param.u64 %out, [out];"]
    base = "%in"
    if space == "shared":
        base = "%x"
        lines += ["  mov.u32 %t, %tid.x;", "  mov.u32 %x, data;",
                  "  mad.lo.u32 %x, %t, 4, %x;", "  mad.wide.u32 %from, %t, 4, %in;",
                  "  mad.lo.u32 %i, %t, 4, 0;", "copy:", "  ld.global.b32 %w, [%from];",
                  "  st.shared.b32 [%x], %w;", "  add.u64 %from, %from, 128;",
                  "  add.u32 %x, %x, 128;", "  add.u32 %i, %i, 128;",
                  f"  setp.lt.u32 %p, %i, {sum(sizes)};", "  @%p bra copy;", "  bar.sync 0;",
                  "  mov.u32 %x, data;"]
    at = 0
    names = []
    for (letter, kind, rows, columns, layout), size in zip(matrices, sizes):
        count = fragment_registers(kind, rows * columns, letter != "c")
        names.append(vector(letter, count))
        stride = extent(kind, rows, columns, layout)[0]
        lines.append(f"  wmma.load.{letter}.sync.aligned.{layout}.{text_shape}{where}.{kind}\n"
                     f"    {names[-1]}, [{base}+{at}], {stride};")
        at += size
    types = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{a}.{c}"
    dest = vector("d", fragment_registers(d, m * n, False))
    pop = f".{op}.popc" if a == "b1" else ""
    rounding = f".{op}" if a == "f64" and op else ""
    sat = ".satfinite" if op == "satfinite" else ""
    lines.append(f"  wmma.mma{pop}.sync.aligned.{layout_a}.{layout_b}.{text_shape}{rounding}"
                 f".{types}{sat}\n    {dest}, {', '.join(names)};")
    out_space = ".global" if space != "generic" else ""
    lines.append(f"  wmma.store.d.sync.aligned.{layout_c}.{text_shape}{out_space}.{d}"
                 f"\n    [%out], {dest}, {stride_d};")
    parts = [(kind, size // 4)
             for (_, kind, _, _, _), size in zip(matrices, sizes)]
    return describe(32, bytes_d // 4, parts) + "\n" + "\n".join(lines + ["  ret;", "}", ""])


def replaced(text, pairs):
    for old, new in pairs:
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    return text


def tensor_cases():
    """(rank, kind)"""
    for rank in (3, 4, 5):
        for kind in ("im2col", "im2colstore"):
            yield rank, kind
    yield 3, "replace"


def edit_code():
    """Makes of a tensor map one of s32 [8 x 6 x 3] at `in`, with padded rows, every second of which
    is read in boxes of 8 x 4 x 2, and swizzled by 32 bytes."""
    lines = ["  @%p bra edited;"]
    for i in range(16):
        lines += [f"  ld.param.b64 %v, [map+{8 * i}];", f"  st.shared.b64 [%copy+{8 * i}], %v;"]

    def edit(field, bits, operands):
        lines.append(f"  tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [%copy], "
                     f"{operands};")

    lines.append("  ld.param.u64 %v, [in];")
    edit("global_address", 64, "%v")
    for field, value in (("rank", 2), ("elemtype", 3), ("interleave_layout", 0),
                         ("swizzle_mode", 1), ("fill_mode", 0)):
        edit(field, 32, value)
    for i in range(3):
        edit("global_dim", 32, f"{i}, {(8, 6, 3)[i]}")
        edit("box_dim", 32, f"{i}, {(8, 4, 2)[i]}")
        edit("element_stride", 32, f"{i}, {(1, 2, 1)[i]}")
        if i < 2:
            edit("global_stride", 64, f"{i}, {(48, 288)[i]}")
    # The map goes 1 MiB behind `out`.
    lines += ["edited:", "  bar.sync 0;", "  ld.param.u64 %map, [out];",
              "  add.u64 %map, %map, 1048576;", "  setp.ge.u32 %done, %t, 32;",
              "  @%done bra copied;",
              "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
              ".sync.aligned [%map], [%copy], 128;",
              "copied:", "  bar.sync 0;",
              "  fence.proxy.tensormap::generic.acquire.gpu [%map], 128;"]
    return "\n".join(lines) + "\n"


def tensor_kernel(rank, kind):
    offsets = ", ".join(f"%o{i}" for i in range(rank - 2))
    if kind == "replace":
        return replaced(tma_kernel(rank, "load"), (
            ("tma_load_3d", "tma_replace_3d"),
            (".reg .pred %p, %done;", ".reg .pred %p, %done;\n  .reg .b64 %v;\n  .reg .b32 %copy;\n"
             "  .shared .align 128 .b8 edited_map[128];\n  mov.u32 %copy, edited_map;"),
            ("  fence.proxy.async;\n  bar.sync 0;\n",
             "  fence.proxy.async;\n  bar.sync 0;\n" + edit_code())))
    more = [(".param .u32 bytes)", ".param .u32 bytes,\n  .param .u32 o0, .param .u32 o1, "
             ".param .u32 o2)"),
            (".reg .pred %p, %done;", ".reg .pred %p, %done;\n  .reg .b16 %o<3>;")]
    if kind == "im2colstore":
        return replaced(tma_kernel(rank, "store"), more + [
            (f"tma_store_{rank}d", f"tma_im2colstore_{rank}d"),
            (".tile.bulk_group", ".im2col_no_offs.bulk_group")])
    loads = "".join(f"  ld.param.u16 %o{i}, [o{i}];\n" for i in range(3))
    return replaced(tma_kernel(rank, "load"), more + [
        (f"tma_load_{rank}d", f"tma_im2col_{rank}d"), (".tile.mbarrier", ".im2col.mbarrier"),
        ("}], [%bar];", "}], [%bar], {" + offsets + "};"),
        ("  fence.proxy.async;", loads + "  fence.proxy.async;")])


def main():
    where = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(where, "sparse.ptx"), "w", encoding="utf-8") as out:
        out.write(HEADER.replace("generate_matrix_ptx", "generate_sparse_ptx"))
        written = set()
        for cases, kernel in ((sparse_mma_cases, sparse_mma_kernel),
                              (quad_pair_cases, quad_pair_kernel),
                              (sparse_wgmma_cases, sparse_wgmma_kernel),
                              (wmma_cases, wmma_kernel), (tensor_cases, tensor_kernel)):
            for case in cases():
                if case not in written:
                    written.add(case)
                    out.write("\n" + kernel(*case))


if __name__ == "__main__":
    main()
