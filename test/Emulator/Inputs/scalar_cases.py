# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The catalogue of scalar PTX instructions that generate_scalar_ptx.py turns into kernels.

A case is an instruction with its modifiers and types. Its kernel loads the registers %a, %b and %c
of a lane (kinds of `ins`), runs `body` and stores the registers %d and %e (kinds of `outs`); in
bodies `%dp`, `%ap` … are the predicates of kind "pred". `rule` says how two devices' results are
compared:

    bits             bit for bit
    nan              bit for bit, but any NaN equals any NaN (PTX leaves the payload open)
    near REL ABS     floats within a relative or an absolute difference
"""
import itertools
from dataclasses import dataclass, field

ROUNDINGS = ["rn", "rz", "rm", "rp"]
INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]


@dataclass
class Case:
    group: str
    instruction: str
    outs: list
    ins: list
    body: str
    rule: str = "bits"
    threads: int = 1024
    module: str = field(default="")


def width(kind):
    """The bits of a register of a kind; predicates are loaded and stored as 32 bits."""
    name = kind.split(":")[0]
    if name in ("pred", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32", "e4m3x4", "e5m2x4", "b32"):
        return 32
    if name in ("bf16", "e4m3x2", "e5m2x2", "b8", "u8", "s8"):
        return 16
    return int(name[1:])


def call(instruction, outs, ins):
    """The instruction on the registers of its kinds in order."""
    names = ["%d", "%e"][:len(outs)]
    text = ", ".join([f"{n}p" if k == "pred" else n for n, k in zip(names, outs)] +
                     [f"{n}p" if k == "pred" else n for n, k in zip(["%a", "%b", "%c"], ins)])
    return f"{instruction} {text};"


class Catalogue:

    def __init__(self):
        self.cases = []

    def add(self, group, instruction, outs, ins, rule="bits", body=None, threads=1024):
        outs, ins = outs.split(), ins.split()
        body = body or call(instruction, outs, ins)
        self.cases.append(Case(group, instruction.strip(), outs, ins, body, rule, threads))


def suffixes(*options):
    """All combinations of optional modifiers: each option is a list that may hold ""."""
    for parts in itertools.product(*options):
        yield "".join("." + p for p in parts if p)


def wide(kind):
    return kind[0] + str(2 * int(kind[1:]))


# Integers -----------------------------------------------------------------------------------------


def integer_arithmetic(c):
    group = "integer arithmetic"
    for t in INTEGERS:
        for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            c.add(group, f"{op}.{t}", t, f"{t} {t}")
        for op in ("mad.lo", "mad.hi", "sad"):
            c.add(group, f"{op}.{t}", t, f"{t} {t} {t}")
        if t[0] == "s":
            for op in ("abs", "neg"):
                c.add(group, f"{op}.{t}", t, t)
        if t[1:] != "64":
            c.add(group, f"mul.wide.{t}", wide(t), f"{t} {t}")
            c.add(group, f"mad.wide.{t}", wide(t), f"{t} {t} {wide(t)}")
    for op in ("add.sat", "sub.sat", "min.relu", "max.relu"):
        c.add(group, f"{op}.s32", "s32", "s32 s32")
    c.add(group, "mad.hi.sat.s32", "s32", "s32 s32 s32")
    for t in ("u16x2", "s16x2"):
        for op in ("add", "min", "max"):
            c.add(group, f"{op}.{t}", t, f"{t} {t}")
    for op in ("min", "max"):
        c.add(group, f"{op}.relu.s16x2", "s16x2", "s16x2 s16x2")
    for t in ("u32", "s32"):
        for half in ("lo", "hi"):
            c.add(group, f"mul24.{half}.{t}", t, f"{t} {t}")
            c.add(group, f"mad24.{half}.{t}", t, f"{t} {t} {t}")
        for u in ("u32", "s32"):
            result = "u32" if t == u == "u32" else "s32"
            c.add(group, f"dp4a.{t}.{u}", result, f"{t} {u} {result}")
            for half in ("lo", "hi"):
                c.add(group, f"dp2a.{half}.{t}.{u}", result, f"{t} {u} {result}")
    c.add(group, "mad24.hi.sat.s32", "s32", "s32 s32 s32")


def carry_chains(c):
    group = "carry chains"
    for t in ("u32", "s32", "u64", "s64"):
        for op in ("add", "sub"):
            # The carry of the first is seen by the second, and its own by the third.
            c.add(group,
                  f"{op}.cc.{t} {op}c.cc.{t} {op}c.{t}",
                  f"{t} {t}",
                  f"{t} {t} {t}",
                  body=f"{op}.cc.{t} %d, %a, %b; {op}c.cc.{t} %e, %b, %c; {op}c.{t} %e, %e, %a;")
        for half, other in (("lo", "hi"), ("hi", "lo")):
            c.add(group,
                  f"mad.{half}.cc.{t} madc.{other}.{t}",
                  f"{t} {t}",
                  f"{t} {t} {t}",
                  body=f"mad.{half}.cc.{t} %d, %a, %b, %c; madc.{other}.{t} %e, %a, %b, %c;")
            c.add(group,
                  f"mad.{half}.cc.{t} madc.{other}.cc.{t} addc.{t}",
                  f"{t} {t}",
                  f"{t} {t} {t}",
                  body=f"mad.{half}.cc.{t} %d, %a, %b, %c; madc.{other}.cc.{t} %e, %b, %a, %c;"
                  f" addc.{t} %d, %d, %e;")


LUTS = [
    0x00, 0x01, 0x80, 0x96, 0xE8, 0xCA, 0xD8, 0x1B, 0x2D, 0x3C, 0x69, 0xC0, 0xF8, 0xFE, 0xFF, 0x5A
]


def bits(c):
    group = "bits and shifts"
    for t in ("b16", "b32", "b64"):
        for op in ("and", "or", "xor"):
            c.add(group, f"{op}.{t}", t, f"{t} {t}")
        for op in ("not", "cnot"):
            c.add(group, f"{op}.{t}", t, t)
        c.add(group, f"shl.{t}", t, f"{t} u32:shift")
    for op in ("and", "or", "xor"):
        c.add(group, f"{op}.pred", "pred", "pred pred")
    c.add(group, "not.pred", "pred", "pred")
    for t in INTEGERS + ["b16", "b32", "b64"]:
        c.add(group, f"shr.{t}", t, f"{t} u32:shift")
    for t in ("b32", "b64"):
        for op in ("popc", "clz"):
            c.add(group, f"{op}.{t}", "u32", t)
        c.add(group, f"brev.{t}", t, t)
        c.add(group,
              f"bfi.{t}",
              t,
              f"{t} {t} u32:shift",
              body=f"shr.u32 %x, %c, 8; and.b32 %x, %x, 127; and.b32 %y, %c, 127;"
              f" bfi.{t} %d, %a, %b, %y, %x;")
    for t in ("u32", "s32", "u64", "s64"):
        c.add(group, f"bfind.{t}", "u32", t)
        c.add(group, f"bfind.shiftamt.{t}", "u32", t)
        c.add(group, f"bfe.{t}", t, f"{t} u32:shift u32:shift")
    for lut in LUTS:
        c.add(group,
              f"lop3.b32 {lut:#04x}",
              "b32",
              "b32 b32 b32",
              body=f"lop3.b32 %d, %a, %b, %c, {lut};")
    for combine in ("or", "and"):
        c.add(group,
              f"lop3.{combine}.b32",
              "b32 pred",
              "b32:few b32:few pred",
              body=f"lop3.{combine}.b32 %d|%ep, %a, %b, 3, 0x28, %cp;")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        c.add(group, f"prmt.b32{mode}", "b32", "b32 b32 b32")
    for way, mode in itertools.product("lr", ("clamp", "wrap")):
        c.add(group, f"shf.{way}.{mode}.b32", "b32", "b32 b32 u32:shift")
    for mode in ("clamp", "wrap"):
        c.add(group, f"bmsk.{mode}.b32", "b32", "u32:shift u32:shift")
        for t in ("u32", "s32"):
            c.add(group, f"szext.{mode}.{t}", t, f"{t} u32:shift")
    c.add(group, "fns.b32", "b32", "b32 u32:lane s32:count")


def is_expanded_wrongly(name):
    """Forms that ptxas 13.0 expands to something else than the PTX ISA says: scalar results of .u32
    with .sat, .min or .max, vabsdiff, vmin and vmax with .min or .max, saturated parts, the part
    .h1, vmad of .u32 with .sat or a shift."""
    opcode, first, *modifiers = name.split()[0].split(".")
    saturates = "sat" in modifiers
    if opcode == "vmad":
        return "u32" in modifiers[:2] and (saturates or "shr7" in modifiers or "shr15" in modifiers)
    if opcode in ("vshl", "vshr"):
        return saturates
    if opcode not in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        return False
    if " %d" in name:
        return saturates or name.endswith(".h1")
    combines = "min" in modifiers or "max" in modifiers
    return first == "u32" and (saturates
                               or combines) or combines and opcode in ("vabsdiff", "vmin", "vmax")


def video(c):
    group = "video instructions"
    types = list(itertools.product(("u32", "s32"), repeat=3))
    parts = itertools.cycle([("", ""), (".b0", ".h1"), (".h0", ".b3"), (".b2", ""), ("", ".b1")])
    for op, (d, a, b), sat in itertools.product(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), types,
                                                ("", ".sat")):
        x, y = next(parts)
        name = f"{op}.{d}.{a}.{b}{sat}"
        c.add(group, name, "u32", "u32 u32 u32", body=f"{name} %d, %a{x}, %b{y};")
        for second in ("add", "min", "max"):
            x, y = next(parts)
            c.add(group,
                  f"{name}.{second}",
                  "u32",
                  "u32 u32 u32",
                  body=f"{name}.{second} %d, %a{x}, %b{y}, %c;")
        for part in (".b0", ".b3", ".h1"):
            x, y = next(parts)
            c.add(group,
                  f"{name} %d{part}",
                  "u32",
                  "u32 u32 u32",
                  body=f"{name} %d{part}, %a{x}, %b{y}, %c;")
    for op, d, a, mode in itertools.product(("vshl", "vshr"), ("u32", "s32"), ("u32", "s32"),
                                            ("clamp", "wrap", "sat.clamp", "sat.wrap")):
        name = f"{op}.{d}.{a}.u32.{mode}"
        x, y = next(parts)
        c.add(group, name, "u32", "u32 u32:shift u32", body=f"{name} %d, %a{x}, %b{y};")
        c.add(group,
              f"{name}.add",
              "u32",
              "u32 u32:shift u32",
              body=f"{name}.add %d, %a{x}, %b{y}, %c;")
        c.add(group,
              f"{name} %d.h0",
              "u32",
              "u32 u32:shift u32",
              body=f"{name} %d.h0, %a{x}, %b, %c;")
    for (a, b), compare in itertools.product(itertools.product(("u32", "s32"), repeat=2),
                                             ("eq", "ne", "lt", "le", "gt", "ge")):
        name = f"vset.{a}.{b}.{compare}"
        x, y = next(parts)
        c.add(group, name, "u32", "u32:close u32:close u32", body=f"{name} %d, %a{x}, %b{y};")
        c.add(group,
              f"{name}.add",
              "u32",
              "u32:close u32:close u32",
              body=f"{name}.add %d, %a, %b, %c;")
        c.add(group, f"{name} %d.b2", "u32", "u32 u32 u32", body=f"{name} %d.b2, %a{x}, %b{y}, %c;")
        for count in "24":
            for add in ("", ".add"):
                c.add(group,
                      f"vset{count}.{a}.{b}.{compare}{add}",
                      "u32",
                      "u32 u32 u32",
                      body=f"vset{count}.{a}.{b}.{compare}{add} %d, %a, %b, %c;")
    multiplications(c, group)
    selections = {
        "2": itertools.cycle([("", "", ""), (".h0", ".h13", ".h20"), (".h1", ".h32", "")]),
        "4": itertools.cycle([("", "", ""), (".b20", ".b7531", ".b0246"), (".b3", "", ".b4444")])
    }
    for op, (d, a, b), count in itertools.product(
        ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"), types, "24"):
        for mode in ("", ".sat", ".add"):
            name = f"{op}{count}.{d}.{a}.{b}{mode}"
            z, x, y = next(selections[count])
            c.add(group, name, "u32", "u32 u32 u32", body=f"{name} %d{z}, %a{x}, %b{y}, %c;")
    c.cases = [
        case for case in c.cases if case.group != group or not is_expanded_wrongly(case.instruction)
    ]


def multiplications(c, group):
    for a, b, sat, scale in itertools.product(("u32", "s32"), ("u32", "s32"), ("", ".sat"),
                                              ("", ".shr7", ".shr15")):
        for x, y, third in (("%a", "%b", "%c"), ("%a.b1", "%b.h0", "%c"), ("-%a", "%b", "%c"),
                            ("%a", "%b.h1", "-%c")):
            # What PTX does not allow for unsigned results.
            d = "u32" if a == b == "u32" and "-" not in x + third else "s32"
            name = f"vmad.{d}.{a}.{b}{sat}{scale}"
            c.add(group,
                  f"{name} {x} {y} {third}",
                  "u32",
                  "u32 u32 u32",
                  body=f"{name} %d, {x}, {y}, {third};")
        d = "u32" if a == b == "u32" else "s32"
        name = f"vmad.{d}.{a}.{b}.po{sat}{scale}"
        c.add(group, name, "u32", "u32 u32 u32", body=f"{name} %d, %a, %b, %c;")


# Floats -------------------------------------------------------------------------------------------


def float_arithmetic(c):
    for t, group in (("f32", "f32 arithmetic"), ("f64", "f64 arithmetic")):
        rule = "bits" if t == "f32" else "nan"
        ftz = ["", "ftz"] if t == "f32" else [""]
        sat = ["", "sat"] if t == "f32" else [""]
        for mods in suffixes(["", *ROUNDINGS], ftz, sat):
            for op in ("add", "sub", "mul"):
                c.add(group, f"{op}{mods}.{t}", t, f"{t} {t}", rule)
        for mods in suffixes(ROUNDINGS, ftz, sat):
            c.add(group, f"fma{mods}.{t}", t, f"{t} {t} {t}:sum", rule)
        c.add(group, f"mad.rz.{t}", t, f"{t} {t} {t}:sum", rule)
        for mods in suffixes(ROUNDINGS, ftz):
            c.add(group, f"div{mods}.{t}", t, f"{t} {t}", rule)
            for op in ("rcp", "sqrt"):
                c.add(group, f"{op}{mods}.{t}", t, t, rule)
        for mods in suffixes(ftz):
            for op in ("abs", "neg"):
                c.add(group, f"{op}{mods}.{t}", t, t, "nan")
        extra = [["", "NaN"], ["", "xorsign.abs"]] if t == "f32" else []
        for op, mods in itertools.product(("min", "max"), suffixes(ftz, *extra)):
            c.add(group, f"{op}{mods}.{t}", t, f"{t} {t}", rule)
        c.add(group, f"copysign.{t}", t, f"{t} {t}")
        for which in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            c.add(group, f"testp.{which}.{t}", "pred", t)


def half_arithmetic(c):
    for t in ("f16", "f16x2", "bf16", "bf16x2"):
        group = "f16 arithmetic" if t[0] == "f" else "bf16 arithmetic"
        ftz = ["", "ftz"] if t[0] == "f" else [""]
        sat = ["", "sat"] if t[0] == "f" else [""]
        for op in ("add", "sub", "mul"):
            for mods in suffixes(["", "rn"], ftz, sat):
                c.add(group, f"{op}{mods}.{t}", t, f"{t} {t}")
        for mods in [*suffixes(ftz, sat), *suffixes(ftz, ["relu"])]:
            c.add(group, f"fma.rn{mods}.{t}", t, f"{t} {t} {t}:sum")
        for relu in ("", ".relu"):
            c.add(group, f"fma.rn.oob{relu}.{t}", t, f"{t}:oob {t}:oob {t}:oob")
        for op, mods in itertools.product(("abs", "neg"), suffixes(ftz)):
            c.add(group, f"{op}{mods}.{t}", t, t, "nan")
        for op, mods in itertools.product(("min", "max"),
                                          suffixes(ftz, ["", "NaN"], ["", "xorsign.abs"])):
            c.add(group, f"{op}{mods}.{t}", t, f"{t} {t}")


def approximations(c):
    """The bounds are those of the PTX ISA, sections "Floating Point Instructions" and "Half
    Precision Floating Point Instructions" of each instruction, plus half an ulp since the emulator
    rounds its own result. Where the ISA names only a range of inputs, so do the inputs."""
    group = "approximations"
    half_ulp = 2.0**-24
    tiny = 2.0**-149

    def near(relative, absolute):
        return f"near {relative + half_ulp!r} {absolute!r}"

    ulp = 2.0**-23
    for ftz in ("", ".ftz"):
        # Two ulp of a subnormal result; or it is flushed on one side only.
        least = 2.0**-126 if ftz else 2 * tiny
        c.add(group, f"ex2.approx{ftz}.f32", "f32", "f32:exponent", near(2 * ulp, least))
        c.add(group, f"lg2.approx{ftz}.f32", "f32", "f32:positive", near(2.0**-22, 2.0**-22))
        c.add(group, f"rcp.approx{ftz}.f32", "f32", "f32", near(ulp, least))
        c.add(group, f"rsqrt.approx{ftz}.f32", "f32", "f32:positive", near(2.0**-22.9, least))
        c.add(group, f"sqrt.approx{ftz}.f32", "f32", "f32:positive", near(2.0**-22.9, least))
        c.add(group, f"sin.approx{ftz}.f32", "f32", "f32:angle", near(0, 2.0**-20.5))
        c.add(group, f"cos.approx{ftz}.f32", "f32", "f32:angle", near(0, 2.0**-20.5))
        c.add(group,
              f"sin.approx{ftz}.f32 wide",
              "f32",
              "f32:turns",
              near(0, 2.0**-14.7),
              body=f"sin.approx{ftz}.f32 %d, %a;")
        c.add(group,
              f"cos.approx{ftz}.f32 wide",
              "f32",
              "f32:turns",
              near(0, 2.0**-14.7),
              body=f"cos.approx{ftz}.f32 %d, %a;")
        # The bound of div.approx holds for divisors from 2^-126 to 2^126.
        c.add(group, f"div.approx{ftz}.f32", "f32", "f32 f32:divisor", near(2 * ulp, least))
        c.add(group, f"div.full{ftz}.f32", "f32", "f32 f32", near(2 * ulp, least))
    c.add(group, "tanh.approx.f32", "f32", "f32:angle", near(2.0**-11, tiny))
    for t in ("f16", "f16x2"):
        c.add(group, f"tanh.approx.{t}", t, t, near(0, 2.0**-10.987 + 2.0**-12))
        c.add(group, f"ex2.approx.{t}", t, t, near(2.0**-9.9 + 2.0**-11, 2.0**-24))
    for t in ("bf16", "bf16x2"):
        c.add(group, f"tanh.approx.{t}", t, t, near(0, 2.0**-8 + 2.0**-9))
        c.add(group, f"ex2.approx.ftz.{t}", t, t, near(2.0**-7 + 2.0**-9, 2.0**-126))
    # "A gross approximation" of about 20 bits.
    c.add(group, "rcp.approx.ftz.f64", "f64", "f64", "near 4e-6 2.3e-308")
    c.add(group, "rsqrt.approx.ftz.f64", "f64", "f64:positive", "near 4e-6 2.3e-308")
    c.add(group, "rsqrt.approx.f64", "f64", "f64:positive", "near 4e-6 2.3e-308")


def comparisons(c):
    group = "comparison and selection"
    equal = ["eq", "ne"]
    order = equal + ["lt", "le", "gt", "ge"]
    unordered = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
    types = {**{t: equal for t in ("b16", "b32", "b64")}, **{t: order for t in INTEGERS}}
    for t in ("u16", "u32", "u64"):
        types[t] = order + ["lo", "ls", "hi", "hs"]
    for t in ("f16", "bf16", "f32", "f64"):
        types[t] = order + unordered
    for t, names in types.items():
        near = ":close" if t[0] in "us" else ""
        for name in names:
            for ftz in ("", ".ftz") if t in ("f16", "f32") else ("", ):
                c.add(group, f"setp.{name}{ftz}.{t}", "pred", f"{t}{near} {t}{near}")
                for dest in ("u32", "s32", "f32"):
                    if t in ("f16", "bf16") and dest == "f32":
                        continue
                    c.add(group, f"set.{name}{ftz}.{dest}.{t}", dest, f"{t}{near} {t}{near}")
                if t in ("f16", "bf16"):
                    for dest in (t, "u16", "s16"):
                        c.add(group, f"set.{name}{ftz}.{dest}.{t}", dest, f"{t} {t}")
    for t in ("f16x2", "bf16x2"):
        for name in order + unordered:
            for ftz in ("", ".ftz") if t[0] == "f" else ("", ):
                c.add(group,
                      f"setp.{name}{ftz}.{t}",
                      "pred pred",
                      f"{t} {t}",
                      body=f"setp.{name}{ftz}.{t} %dp|%ep, %a, %b;")
                c.add(group, f"set.{name}{ftz}.{t}.{t}", t, f"{t} {t}")
    for combine, t in itertools.product(("and", "or", "xor"),
                                        ("s32", "u64", "f32", "f64", "f16", "bf16")):
        if "16" in t:
            c.add(group, f"setp.lt.{combine}.{t}", "pred", f"{t} {t} pred")
        else:
            c.add(group,
                  f"setp.lt.{combine}.{t}",
                  "pred pred",
                  f"{t} {t} pred",
                  body=f"setp.lt.{combine}.{t} %dp|%ep, %a, %b, %cp;")
        c.add(group,
              f"set.ge.{combine}.u32.{t}",
              "u32",
              f"{t} {t} pred",
              body=f"set.ge.{combine}.u32.{t} %d, %a, %b, !%cp;")
    for t in INTEGERS + ["b16", "b32", "b64", "f32", "f64"]:
        c.add(group, f"selp.{t}", t, f"{t} {t} pred")
        c.add(group, f"slct.{t}.s32", t, f"{t} {t} s32")
        c.add(group, f"slct.{t}.f32", t, f"{t} {t} f32")
        c.add(group, f"slct.ftz.{t}.f32", t, f"{t} {t} f32")


# Conversions --------------------------------------------------------------------------------------


def holds(to, source):
    """Whether every value of an integer type is one of another: then .sat is not allowed."""
    bits, source_bits = int(to[1:]), int(source[1:])
    return bits >= source_bits if to[0] == source[0] else to[0] == "s" and bits > source_bits


def conversions(c):
    group = "cvt between integers"
    narrow = ["u8", "s8"]
    for to, source in itertools.product(narrow + INTEGERS, narrow + INTEGERS):
        for sat in ("", ".sat"):
            if sat and holds(to, source):
                continue
            c.add(group, f"cvt{sat}.{to}.{source}", to, source)
    for to, sources in (("u16", "s32 s32"), ("s16", "s32 s32")):
        c.add(group, f"cvt.pack.sat.{to}.s32", "b32", sources)
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        c.add(group, f"cvt.pack.sat.{to}.s32.b32", "b32", "s32 s32 b32")
    group = "cvt of integers to floats"
    for to, source, mode in itertools.product(("f16", "bf16", "f32", "f64"), narrow + INTEGERS,
                                              ROUNDINGS):
        if to == "bf16" and source in narrow:
            continue
        for sat in ("", ".sat") if to in ("f32", "f64", "f16") else ("", ):
            c.add(group, f"cvt.{mode}{sat}.{to}.{source}", to,
                  f"{source}:ties" if source[1:] in ("32", "64") else source)
    group = "cvt of floats to integers"
    for to, source, mode in itertools.product(narrow + INTEGERS, ("f16", "bf16", "f32", "f64"),
                                              ("rni", "rzi", "rmi", "rpi")):
        if source == "bf16" and to in narrow:
            continue
        for mods in suffixes(["", "ftz"] if source == "f32" else [""],
                             ["", "sat"] if source != "bf16" else [""]):
            c.add(group, f"cvt.{mode}{mods}.{to}.{source}", to, f"{source}:whole")
    float_conversions(c)


def float_conversions(c):
    group = "cvt between floats"
    for to, source in (("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("f32", "f64"),
                       ("bf16", "f64"), ("bf16", "f16"), ("f16", "bf16")):
        for mode in ROUNDINGS:
            ftz = ["", "ftz"] if "f32" in (to, source) and "bf16" not in (to, source) else [""]
            sat = ["", "sat"] if "bf16" not in (to, source) else [""]
            for mods in suffixes(ftz, sat):
                c.add(group, f"cvt.{mode}{mods}.{to}.{source}", to, f"{source}:narrow", "nan")
    for to, source in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f32", "bf16"), ("f64",
                                                                                         "bf16")):
        ftz = ["", "ftz"] if "f32" in (to, source) and source != "bf16" else [""]
        for mods in suffixes(ftz, ["", "sat"] if source != "bf16" else [""]):
            c.add(group, f"cvt{mods}.{to}.{source}", to, source, "nan")
    for t in ("f16", "bf16", "f32", "f64"):
        for mode in ("rni", "rzi", "rmi", "rpi"):
            for mods in suffixes(["", "ftz"] if t == "f32" else [""],
                                 ["", "sat"] if t != "bf16" else [""]):
                c.add(group, f"cvt.{mode}{mods}.{t}.{t}", t, f"{t}:whole", "nan")
    for mods in suffixes(["rn", "rz"], ["", "relu"], ["", "satfinite"]):
        if mods not in (".rn", ".rz"):
            c.add(group, f"cvt{mods}.f16.f32", "f16", "f32:narrow")
            c.add(group, f"cvt{mods}.bf16.f32", "bf16", "f32:narrow")
        c.add(group, f"cvt{mods}.f16x2.f32", "f16x2", "f32:narrow f32:narrow")
        c.add(group, f"cvt{mods}.bf16x2.f32", "bf16x2", "f32:narrow f32:narrow")
        if "satfinite" not in mods:
            c.add(group, f"cvt{mods}.tf32.f32", "tf32", "f32:narrow")
    for mods in suffixes(["", "satfinite"]):
        c.add(group, f"cvt.rna{mods}.tf32.f32", "tf32", "f32:narrow")
    for t, relu in itertools.product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        c.add(group, f"cvt.rn.satfinite{relu}.{t}.f32", t, "f32:narrow f32:narrow")
        c.add(group, f"cvt.rn.satfinite{relu}.{t}.f16x2", t, "f16x2")
        c.add(group, f"cvt.rn{relu}.f16x2.{t}", "f16x2", t)


def all_cases():
    catalogue = Catalogue()
    for part in (integer_arithmetic, carry_chains, bits, video, float_arithmetic, half_arithmetic,
                 approximations, comparisons, conversions):
        first = len(catalogue.cases)
        part(catalogue)
        for case in catalogue.cases[first:]:
            case.module = part.__name__
    return catalogue.cases
