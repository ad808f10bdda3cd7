# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The catalogue's second part: memory, atomics, warps, barriers, addresses and control flow.

In bodies %s is the address of 64 bytes of the lane in global memory, %h of 32 bytes in shared
memory, %t the thread's number, and %x, %y and %q are free for use (see scalar_cases.py for the
rest).
"""
import itertools

from scalar_cases import Catalogue, suffixes, width

SPACES = {"global": "%s", "shared": "%h", "": "%s"}


def dotted(name):
    return "." + name if name else ""


def loads_and_stores(c):
    group = "loads and stores"
    for space, address in SPACES.items():
        for t in ("u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64",
                  "f64"):
            # Loads into wider registers extend; stores from wider registers cut off.
            bits = int(t[1:])
            kept = "b64" if t[0] == "b" and bits == 64 else f"{'s' if t[0] == 's' else 'u'}64"
            register = "b64" if t[0] != "f" else f"b{bits}"
            kinds = kept if register == "b64" else f"u{bits}"
            c.add(group,
                  f"st{dotted(space)}.{t} ld{dotted(space)}.{t}",
                  kinds,
                  "u64",
                  body=f"{{ .reg .{register} %w; st{dotted(space)}.b64 [{address}], %a; "
                  f"ld{dotted(space)}.{t} %w, [{address}+{8 - bits // 8}]; "
                  f"st{dotted(space)}.{t} [{address}+16], %w; mov.b{width(kinds)} %d, %w; }}")
        for vector, t in itertools.product(("v2", "v4"), ("b8", "u16", "b32", "f32", "b64")):
            count, bits = int(vector[1]), int(t[1:])
            if count * bits > 128:
                continue
            element = max(bits, 16)
            first = [f"%w{i}" for i in range(count)]
            names = ", ".join(first)
            back = ", ".join(reversed(first))
            c.add(
                group,
                f"ld{dotted(space)}.{vector}.{t}",
                "b64 b64",
                "u64 u64",
                body=f"{{ .reg .b{element} %w<4>; st{dotted(space)}.b64 [{address}], %a; "
                f"st{dotted(space)}.b64 [{address}+8], %b; "
                f"ld{dotted(space)}.{vector}.{t} {{{names}}}, [{address}]; "
                f"st{dotted(space)}.{vector}.{t} [{address}], {{{back}}}; "
                f"ld{dotted(space)}.b64 %d, [{address}]; ld{dotted(space)}.b64 %e, [{address}+8]; }}"
            )
        c.add(group,
              f"ld{dotted(space)}.b128",
              "b64 b64",
              "u64 u64",
              body=
              f"{{ .reg .b128 %w; mov.b128 %w, {{%b, %a}}; st{dotted(space)}.b128 [{address}], %w; "
              f"ld{dotted(space)}.b128 %w, [{address}]; mov.b128 {{%d, %e}}, %w; }}")
    c.add(group,
          "ld.local",
          "u32",
          "u32 u32",
          body="{ .local .align 4 .b8 mine[64]; .reg .b64 %l; .reg .b32 %w;\n"
          "  mov.u64 %l, mine; and.b32 %x, %b, 60; cvt.u64.u32 %s, %x; add.u64 %l, %l, %s;\n"
          "  st.local.u32 [mine], 0; st.local.u32 [%l], %a; st.local.u8 [%l+1], 7;\n"
          "  ld.local.u32 %d, [%l]; ld.local.u32 %w, [mine]; add.u32 %d, %d, %w; }")
    forms = [("ld.global." + m, "st.global")
             for m in ("ca", "cg", "cs", "lu", "cv", "volatile", "weak", "L1::evict_last",
                       "L1::no_allocate", "L1::evict_first.L2::64B", "L2::128B", "L2::256B",
                       "weak.cg.L2::128B")]
    forms += [(f"ld.{sem}.{scope}.global", f"st.{store}.{scope}.global")
              for (sem,
                   store), scope in itertools.product((("relaxed", "relaxed"),
                                                       ("acquire", "release")), ("cta", "cluster",
                                                                                 "gpu", "sys"))]
    forms += [("ld.global", "st.global." + m) for m in ("wb", "cg", "cs", "wt", "volatile", "weak",
                                                        "L1::evict_last", "L1::no_allocate")]
    forms += [("ld.volatile.global", "st.volatile.global"),
              ("ld.mmio.relaxed.sys.global", "st.mmio.relaxed.sys.global")]
    for load, store in forms:
        load = load.replace("ld.global.volatile",
                            "ld.volatile.global").replace("ld.global.weak", "ld.weak.global")
        store = store.replace("st.global.volatile",
                              "st.volatile.global").replace("st.global.weak", "st.weak.global")
        c.add(group,
              f"{load} {store}",
              "u32",
              "u32",
              body=f"{store}.u32 [%s], %a; {load}.u32 %d, [%s];")
    for form in ("ld.global.nc", "ld.global.nc.L1::no_allocate.L2::128B", "ldu.global",
                 "ld.global.ca.nc"):
        c.add(group, form, "u64", "u64", body=f"{form}.u64 %d, [%i];")
    c.add(group,
          "ld.const",
          "u32",
          "u32",
          body="and.b32 %x, %a, 12; mov.u32 %d, 0; { .reg .b64 %l; mov.u64 %l, table;\n"
          "  cvt.u64.u32 %s, %x; add.u64 %l, %l, %s; ld.const.u32 %d, [%l]; }")


# Operation: types. Packed and vector forms exist in global memory alone.
ATOMICS = {
    "add": ["u32", "s32", "u64", "f32", "f64"],
    "add.noftz": ["f16", "f16x2", "bf16", "bf16x2"],
    "and": ["b32", "b64"],
    "or": ["b32", "b64"],
    "xor": ["b32", "b64"],
    "exch": ["b32", "b64"],
    "min": ["u32", "s32", "u64", "s64"],
    "max": ["u32", "s32", "u64", "s64"],
    "inc": ["u32"],
    "dec": ["u32"],
}


def atomics(c):
    group = "atomics"
    for (op, types), (space, address) in itertools.product(ATOMICS.items(), SPACES.items()):
        for t in types:
            bits = width(t)
            rule = "nan" if t[0] in "fb" and t not in ("b32", "b64") else "bits"
            close = ":close" if op in ("min", "max", "inc", "dec") else ""
            s = dotted(space)
            for kind in ("atom", "red"):
                if kind == "red" and op == "exch":
                    continue
                run = f"atom{s}.{op}.{t} %d, [{address}], %b;" if kind == "atom" else \
                    f"mov.b{bits} %d, %a; red{s}.{op}.{t} [{address}], %b;"
                c.add(group,
                      f"{kind}{s}.{op}.{t}",
                      f"{t} {t}",
                      f"{t}{close} {t}{close}",
                      rule,
                      body=f"st{s}.b{bits} [{address}], %a; {run} ld{s}.b{bits} %e, [{address}];")
    for (space, address), t in itertools.product(SPACES.items(), ("b16", "b32", "b64")):
        s, bits = dotted(space), int(t[1:])
        c.add(group,
              f"atom{s}.cas.{t}",
              f"u{bits} u{bits}",
              f"u{bits}:close u{bits}:close u{bits}",
              body=f"st{s}.b{bits} [{address}], %a; atom{s}.cas.{t} %d, [{address}], %b, %c; "
              f"ld{s}.b{bits} %e, [{address}];")
    for op in ("exch", "cas"):
        swap = "%v, %w" if op == "cas" else "%w"
        c.add(group,
              f"atom.global.{op}.b128",
              "u64 u64",
              "u64:close u64:close u64",
              body="{ .reg .b128 %v, %w; st.global.b64 [%s], %a; st.global.b64 [%s+8], %c;\n"
              "  mov.b128 %v, {%b, %c}; mov.b128 %w, {%c, %b};\n"
              f"  atom.global.{op}.b128 %w, [%s], {swap};\n"
              "  ld.global.b128 %v, [%s]; mov.b128 {%d, %e}, %v; mov.b128 {%s, %h}, %w;\n"
              "  xor.b64 %d, %d, %s; }")
    for sem, scope in itertools.product(("relaxed", "acquire", "release", "acq_rel"),
                                        ("cta", "cluster", "gpu", "sys")):
        c.add(group,
              f"atom.{sem}.{scope}.global.add.u32",
              "u32 u32",
              "u32 u32",
              body=f"st.global.u32 [%s], %a; atom.{sem}.{scope}.global.add.u32 %d, [%s], %b;"
              " ld.global.u32 %e, [%s];")
    vector_atomics(c)
    contended_atomics(c)


def vector_atomics(c):
    group = "atomics"
    for vector in ("v2", "v4"):
        count = int(vector[1])
        values = ", ".join(["%a", "%b"] * (count // 2))
        old = ", ".join(f"%w{i}" for i in range(count))
        sums = " ".join(f"xor.b32 %d, %d, %w{i};" for i in range(count))
        reads = " ".join(f"ld.global.b32 %w{i}, [%s+{4 * i}]; add.u32 %e, %e, %w{i};"
                         for i in range(count))
        stores = " ".join(f"st.global.b32 [%s+{4 * i}], {'%c' if i % 2 else '%b'};"
                          for i in range(count))
        head = f"{{ .reg .b32 %w<8>; mov.u32 %d, 0; mov.u32 %e, 0; {stores}\n  "
        c.add(group,
              f"atom.global.{vector}.f32.add",
              "u32 u32",
              "f32:finite f32:finite f32:finite",
              body=head +
              f"atom.global.{vector}.f32.add {{{old}}}, [%s], {{{values}}};\n  {sums} {reads} }}")
        c.add(group,
              f"red.global.{vector}.f32.add",
              "u32 u32",
              "f32:finite f32:finite f32:finite",
              body=head + f"red.global.{vector}.f32.add [%s], {{{values}}};\n  {reads} }}")
        for t, op in itertools.product(("f16x2", "bf16x2"), ("add", "min", "max")):
            kinds = f"{t}:finite {t}:finite {t}:finite"
            c.add(group,
                  f"atom.global.{vector}.{t}.{op}.noftz",
                  "u32 u32",
                  kinds,
                  body=head +
                  f"atom.global.{vector}.{t}.{op}.noftz {{{old}}}, [%s], {{{values}}};\n"
                  f"  {sums} {reads} }}")
            c.add(group,
                  f"red.global.{vector}.{t}.{op}.noftz",
                  "u32 u32",
                  kinds,
                  body=head +
                  f"red.global.{vector}.{t}.{op}.noftz [%s], {{{values}}};\n  {reads} }}")
    for t, op in itertools.product(("f16", "bf16"), ("add", "min", "max")):
        kinds = f"{t}:finite {t}:finite {t}:finite"
        c.add(group,
              f"red.global.v4.{t}.{op}.noftz",
              f"{t} {t}",
              kinds,
              body="st.global.v4.b16 [%s], {%a, %b, %c, %a};\n"
              f"  red.global.v4.{t}.{op}.noftz [%s], {{%b, %c, %a, %c}};\n"
              "  ld.global.v4.b16 {%a, %d, %b, %e}, [%s]; xor.b16 %d, %d, %a; xor.b16 %e, %e, %b;")


def contended_atomics(c):
    """All threads update one word: operations whose result the order does not change."""
    for op, t in (("add", "u32"), ("add", "u64"), ("and", "b32"), ("or", "b64"), ("xor", "b32"),
                  ("min", "s32"), ("max", "u64"), ("inc", "u32")):
        bits = width(t)
        start = {"and": -1, "min": 2147483647, "inc": 0}.get(op, 0)
        value = "1000" if op == "inc" else "%a"
        c.add("atomics",
              f"red.shared.{op}.{t} by all threads",
              f"{t}",
              t,
              body=f"{{ .shared .align 8 .b64 sum; st.shared.b{bits} [sum], {start}; bar.sync 0;\n"
              f"  red.shared.{op}.{t} [sum], {value}; bar.sync 0; ld.shared.b{bits} %d, [sum]; }}")


def warps(c):
    group = "warp instructions"
    clamps = {
        "up": ["0", "0x1800", "0x1c00", "0x1003"],
        "other": ["0x1f", "0x181f", "0x1c1f", "0x100b"]
    }
    for mode in ("up", "down", "bfly", "idx"):
        for clamp in clamps["up" if mode == "up" else "other"]:
            c.add(group,
                  f"shfl.sync.{mode}.b32 {clamp}",
                  "u32 pred",
                  "u32 u32:lane",
                  body=f"shfl.sync.{mode}.b32 %d|%ep, %a, %b, {clamp}, -1;")
    c.add(group,
          "shfl.sync.idx.b32 any clamp",
          "u32 pred",
          "u32 u32 u32",
          body="shfl.sync.idx.b32 %d|%ep, %a, %b, %c, -1;")
    for mode in ("all", "any", "uni"):
        c.add(group,
              f"vote.sync.{mode}.pred",
              "pred pred",
              "pred u32:lane",
              body=f"setp.gt.u32 %q, %b, 1; vote.sync.{mode}.pred %dp, %ap, -1;"
              f" vote.sync.{mode}.pred %ep, !%q, -1;")
    c.add(group, "vote.sync.ballot.b32", "u32", "pred", body="vote.sync.ballot.b32 %d, !%ap, -1;")
    for t in ("b32", "b64"):
        few = f"u{t[1:]}:few"
        c.add(group, f"match.any.sync.{t}", "u32", few, body=f"match.any.sync.{t} %d, %a, -1;")
        c.add(group,
              f"match.all.sync.{t}",
              "u32 pred",
              few,
              body=f"match.all.sync.{t} %d|%ep, %a, -1;")
    for op, t in [
            *itertools.product(("add", "min", "max"), ("u32", "s32")), ("and", "b32"),
        ("or", "b32"), ("xor", "b32")
    ]:
        c.add(group, f"redux.sync.{op}.{t}", "u32", t, body=f"redux.sync.{op}.{t} %d, %a, -1;")
    c.add(group, "elect.sync", "u32 pred", "u32", body="elect.sync %d|%ep, -1;")
    c.add(group, "activemask.b32", "u32", "u32", body="activemask.b32 %d;")
    # Among a part of the warp, in diverged code.
    lowest = "neg.s32 %x, %y; and.b32 %x, %x, %y; bfind.u32 %x, %x;"
    for name, run in (("shfl", f"{lowest} shfl.sync.idx.b32 %d, %a, %x, 0x1f, %y;"),
                      ("vote", "setp.gt.s32 %q, %a, 0; vote.sync.ballot.b32 %d, %q, %y;"),
                      ("match", "and.b32 %x, %a, 1; match.any.sync.b32 %d, %x, %y;"),
                      ("redux", "redux.sync.add.u32 %d, %a, %y;"),
                      ("bar.warp", "bar.warp.sync %y; mov.u32 %d, %y;")):
        c.add(group,
              f"{name} among some lanes",
              "u32",
              "u32 pred",
              body="mov.u32 %d, 77; vote.sync.ballot.b32 %y, %bp, -1;\n"
              f"  @!%bp bra others; {run}\nothers:\n  bar.warp.sync -1;")


def barriers(c):
    group = "barriers and fences"
    for form, count in itertools.product(("bar.red", "barrier.red", "barrier.cta.red.aligned"),
                                         ("", "1024, ")):
        c.add(
            group,
            f"{form}.popc.u32 {count}",
            "u32",
            "pred",
            body=f"{form.replace('.aligned', '')}{'.aligned' if 'aligned' in form else ''}.popc.u32"
            f" %d, 1, {count}%ap;")
        for op in ("and", "or"):
            c.add(group,
                  f"{form}.{op}.pred {count}",
                  "pred pred",
                  "pred",
                  body=f"{form}.{op}.pred %dp, 2, {count}%ap; setp.gt.u32 %q, %t, 5000;"
                  f" {form}.{op}.pred %ep, 3, {count}!%q;")
    exchange = ("st.shared.u32 [%h], %a; {wait}\n"
                "  add.u32 %x, %t, 33; and.b32 %x, %x, 1023; {{ .reg .b32 %w; mov.u32 %w, memory;\n"
                "  mad.lo.u32 %w, %x, 32, %w; ld.shared.u32 %d, [%w]; }}")
    for wait in ("bar.sync 0;", "barrier.sync 4;", "barrier.cta.sync.aligned 15, 1024;",
                 "barrier.cluster.arrive; barrier.cluster.wait;",
                 "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"):
        c.add(group, wait.rstrip(";"), "u32", "u32", body=exchange.format(wait=wait))
    # The first 512 threads only arrive; the others read, also what those have written.
    c.add(group,
          "bar.arrive bar.sync",
          "u32",
          "u32",
          body="st.shared.u32 [%h], %a; mov.u32 %d, %a; setp.lt.u32 %q, %t, 512;\n"
          "  @%q bar.arrive 1, 1024; @%q bra done; bar.sync 1, 1024;\n"
          "  add.u32 %x, %t, 33; and.b32 %x, %x, 1023; { .reg .b32 %w; mov.u32 %w, memory;\n"
          "  mad.lo.u32 %w, %x, 32, %w; ld.shared.u32 %d, [%w]; }\ndone:")
    fences = [
        f"fence{m};" for m in suffixes(["", "sc", "acq_rel"], ["cta", "cluster", "gpu", "sys"])
    ]
    fences += [
        "membar.cta;", "membar.gl;", "membar.sys;", "fence.proxy.alias;", "fence.proxy.async;",
        "fence.proxy.async.global;", "fence.proxy.async.shared::cta;",
        "fence.mbarrier_init.release.cluster;", "fence.proxy.tensormap::generic.release.gpu;",
        "fence.proxy.tensormap::generic.acquire.gpu [%s], 128;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.release.sync_restrict::shared::cta.cluster;"
    ]
    for fence in fences:
        c.add(group,
              fence.rstrip(";"),
              "u32",
              "u32",
              body=f"add.u64 %s, %s, 127; and.b64 %s, %s, -128; st.global.u32 [%o], %a; {fence}"
              " ld.global.u32 %d, [%o];")


def addresses(c):
    group = "addresses, hints and special registers"
    for space in ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
                  "param::entry"):
        c.add(
            group,
            f"isspacep.{space}",
            "u32",
            "u32",
            body="{ .local .b8 mine[16]; .reg .b64 %l; .reg .b32 %w; mov.u32 %d, 0;\n"
            f"  isspacep.{space} %q, %s; @%q or.b32 %d, %d, 1;\n"
            f"  cvta.shared.u64 %h, %h; isspacep.{space} %q, %h; @%q or.b32 %d, %d, 2;\n"
            f"  mov.u64 %l, mine; cvta.local.u64 %l, %l; isspacep.{space} %q, %l; @%q or.b32 %d, %d, 4;\n"
            f"  mov.b64 %l, in; cvta.param.u64 %l, %l; isspacep.{space} %q, %l; @%q or.b32 %d, %d, 8;\n"
            f"  mov.u64 %l, table; cvta.const.u64 %l, %l; isspacep.{space} %q, %l; @%q or.b32 %d, %d, 16;"
            " }")
    for space, address in (("global", "%s"), ("shared", "%h")):
        c.add(
            group,
            f"cvta.{space} cvta.to.{space}",
            "u32 u32",
            "u32",
            body=f"{{ .reg .b64 %g, %l; cvta.{space}.u64 %g, {address}; st.u32 [%g], %a;\n"
            f"  ld.{space}.u32 %d, [{address}]; cvta.to.{space}.u64 %l, %g; ld.{space}.u32 %e, [%l]; }}"
        )
    c.add(group,
          "mapa getctarank",
          "u32 u32",
          "u32",
          body="{ .reg .b32 %w, %v; .reg .b64 %g; cvt.u32.u64 %w, %h; st.shared.u32 [%h], %a;\n"
          "  mapa.shared::cluster.u32 %v, %w, 0; ld.shared::cluster.u32 %d, [%v];\n"
          "  getctarank.shared::cluster.u32 %e, %v; cvta.shared.u64 %g, %h; mapa.u64 %g, %g, 0;\n"
          "  ld.u32 %w, [%g]; add.u32 %d, %d, %w; getctarank.u64 %w, %g; add.u32 %e, %e, %w; }")
    policies = [
        "createpolicy.fractional.L2::evict_last.b64 %p, 1.0;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %p, 0.5;",
        "createpolicy.fractional.L2::evict_normal.b64 %p;",
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %p, [%s], 4096, 8192;"
    ]
    for policy in policies:
        c.add(group,
              policy.split()[0],
              "u32 u32",
              "u32",
              body=f"{{ .reg .b64 %p; {policy} st.global.L2::cache_hint.u32 [%s], %a, %p;\n"
              "  ld.global.L2::cache_hint.u32 %d, [%s], %p;\n"
              "  atom.global.add.L2::cache_hint.u32 %e, [%s], 1, %p;\n"
              "  red.global.add.L2::cache_hint.u32 [%s], 1, %p; ld.global.u32 %e, [%s]; }")
    hints = [
        "prefetch.global.L1 [%s];", "prefetch.global.L2 [%s];", "prefetch.L2 [%s];",
        "prefetch.global.L2::evict_last [%s];", "prefetch.global.L2::evict_normal [%s];",
        "prefetchu.L1 [%s];", "applypriority.global.L2::evict_normal [%s], 128;",
        "griddepcontrol.wait;", "griddepcontrol.launch_dependents;", "nanosleep.u32 20;",
        "pmevent 3;", "pmevent.mask 5;"
    ]
    for hint in hints:
        c.add(group,
              hint.rstrip(";"),
              "u32",
              "u32",
              body=f"st.global.u32 [%o], %a; add.u64 %s, %s, 127; and.b64 %s, %s, -128; {hint}"
              " ld.global.u32 %d, [%o];")
    c.add(group,
          "setmaxnreg",
          "u32",
          "u32",
          threads=128,
          body="setmaxnreg.dec.sync.aligned.u32 24; add.u32 %d, %a, 1;"
          " setmaxnreg.inc.sync.aligned.u32 40;")
    special_registers(c)


def special_registers(c):
    group = "addresses, hints and special registers"
    names = [
        "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z",
        "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "lanemask_eq", "lanemask_le", "lanemask_lt",
        "lanemask_ge", "lanemask_gt", "clusterid.x", "nclusterid.x", "cluster_ctaid.x",
        "cluster_nctaid.x", "cluster_ctarank", "cluster_nctarank", "dynamic_smem_size"
    ]
    for name in names:
        c.add(group, f"mov %{name}", "u32", "u32", body=f"mov.u32 %d, %{name};")
    c.add(group,
          "mov %is_explicit_cluster",
          "pred",
          "u32",
          body="mov.pred %dp, %is_explicit_cluster;")
    # Clocks do not run backwards.
    for clock in ("clock64", "globaltimer"):
        c.add(group,
              f"mov %{clock}",
              "pred",
              "u32",
              body=f"{{ .reg .b64 %l; mov.u64 %l, %{clock}; nanosleep.u32 10; mov.u64 %s, %{clock};"
              " setp.ge.u64 %dp, %s, %l; }")


def moves(c):
    group = "moves and packing"
    for t in ("b16", "u32", "s32", "f32", "b64", "f64"):
        c.add(group, f"mov.{t}", f"b{t[1:]}", f"b{t[1:]}")
    c.add(group, "mov.pred", "pred", "pred")
    c.add(group, "mov.b32 of 2 x b16", "b32", "b16 b16", body="mov.b32 %d, {%b, %a};")
    c.add(group, "mov.b32 into 2 x b16", "b16 b16", "b32", body="mov.b32 {%e, %d}, %a;")
    c.add(group, "mov.b64 of 2 x b32", "b64", "b32 b32", body="mov.b64 %d, {%b, %a};")
    c.add(group, "mov.b64 into 2 x b32", "b32 b32", "b64", body="mov.b64 {%e, %d}, %a;")
    c.add(group, "mov.b64 into 2 x b32, one dropped", "b32", "b64", body="mov.b64 {_, %d}, %a;")
    c.add(group, "mov.b64 of 4 x b16", "b64", "b16 b16", body="mov.b64 %d, {%a, %b, %b, %a};")
    c.add(group,
          "mov.b32 of 4 x b8",
          "b32",
          "b32 b32",
          body=
          "{ .reg .b8 %w<4>; mov.b32 {%w0, %w1, %w2, %w3}, %a; mov.b32 %d, {%w3, %w0, %w2, %w1}; }")
    c.add(group,
          "mov.b128",
          "b64 b64",
          "b64 b64",
          body="{ .reg .b128 %w; mov.b128 %w, {%a, %b}; mov.b128 {%e, %d}, %w; }")


def control_flow(c):
    group = "control flow"
    c.add(group,
          "a loop of 0 to 15 turns",
          "u32",
          "u32",
          body="and.b32 %x, %a, 15; mov.u32 %d, %a;\nagain:\n"
          "  setp.eq.u32 %q, %x, 0; @%q bra done; mad.lo.u32 %d, %d, 1664525, 1013904223;\n"
          "  sub.u32 %x, %x, 1; bra.uni again;\ndone:")
    c.add(group,
          "brx.idx",
          "u32",
          "u32",
          body="and.b32 %x, %a, 3; mov.u32 %d, 0; { ts: .branchtargets c0, c1, c2, c3;\n"
          "  brx.idx %x, ts;\nc0:\n  add.u32 %d, %a, 1; bra done;\nc1:\n  mul.lo.u32 %d, %a, 3;\n"
          "c2:\n  not.b32 %d, %d; bra done;\nc3:\n  shl.b32 %d, %a, 3;\ndone:\n  }")
    c.add(group,
          "exit of some lanes",
          "u32",
          "u32",
          body="setp.lt.s32 %q, %a, 0; st.global.u32 [%o], 5; @%q exit; add.u32 %d, %a, 1;")
    c.add(group,
          "call of a function",
          "u32",
          "u32 u32",
          body="{ .param .b32 p0; .param .b32 p1; .param .b32 r; st.param.b32 [p0], %a;\n"
          "  st.param.b32 [p1], %b; call.uni (r), mix, (p0, p1); ld.param.b32 %d, [r]; }")
    c.add(group,
          "call of a pointer",
          "u32",
          "u32 u32",
          body="{ .param .b32 p0; .param .b32 p1; .param .b32 r; .reg .b64 %f, %g;\n"
          "  mov.u64 %f, mix; mov.u64 %g, turn; and.b32 %x, %a, 1; setp.eq.u32 %q, %x, 0;\n"
          "  selp.b64 %f, %f, %g, %q; st.param.b32 [p0], %a; st.param.b32 [p1], %b;\n"
          "  proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
          "  call (r), %f, (p0, p1), proto; ld.param.b32 %d, [r]; }")
    c.add(
        group,
        "alloca",
        "u64",
        "u64 u64",
        body="{ .reg .b64 %k, %m, %n; stacksave.u64 %k; alloca.u64 %m, 64, 16; alloca.u64 %n, 32;\n"
        "  st.local.u64 [%m+8], %a; st.local.u64 [%n+16], %b; ld.local.u64 %d, [%m+8];\n"
        "  ld.local.u64 %n, [%n+16]; xor.b64 %d, %d, %n; stackrestore.u64 %k; }")


# What some kernels of a module use.
PREAMBLES = {
    "addresses":
    ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
    "loads_and_stores":
    ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
    "control_flow":
    """.func (.param .b32 r) mix(.param .b32 a, .param .b32 b) {
  .reg .b32 %a, %b;
  ld.param.b32 %a, [a];
  ld.param.b32 %b, [b];
  mad.lo.u32 %a, %a, 31, %b;
  st.param.b32 [r], %a;
  ret;
}
.func (.param .b32 r) turn(.param .b32 a, .param .b32 b) {
  .reg .b32 %a, %b;
  ld.param.b32 %a, [a];
  ld.param.b32 %b, [b];
  shf.l.wrap.b32 %a, %a, %b, 7;
  st.param.b32 [r], %a;
  ret;
}
""",
}


def all_cases():
    catalogue = Catalogue()
    for part in (loads_and_stores, atomics, warps, barriers, addresses, moves, control_flow):
        first = len(catalogue.cases)
        part(catalogue)
        for case in catalogue.cases[first:]:
            case.module = part.__name__
    return catalogue.cases
