# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of random branches, loops and early returns: the kernel and the same text as a Python
function must agree. The programs are the same in every run."""

import importlib.util
import random

import numpy as np
import pytest


PROGRAMS = 40
INPUTS = ((5, 700), (0, 1), (1023, 2))
_OPERATORS = ("+", "*", "^", "|", "&")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Generator:
    """Writes a program. Values stay below 1024, so that Python's integers and int32 agree."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def expression(self, names, depth=0):
        choose, kind = self.random.choice, self.random.random()
        if depth > 2 or kind < 0.3:
            return choose(names + [str(self.random.randint(0, 9))])
        first, second = (self.expression(names, depth + 1) for _ in range(2))
        if kind < 0.7:
            return f"(({first} {choose(_OPERATORS)} {second}) & 1023)"
        if kind < 0.8:
            return f"({first} if {self.condition(names, depth + 1)} else {second})"
        if kind < 0.9:
            return f"{choose(['max', 'min'])}({first}, {second})"
        return f"HELPER({first}, {second})"

    def condition(self, names, depth=0):
        kind = self.random.random()
        if depth > 2 or kind < 0.7:
            first, second = (self.expression(names, 2) for _ in range(2))
            return f"({first} {self.random.choice(_COMPARISONS)} {second})"
        first = self.condition(names, depth + 1)
        if kind < 0.8:
            return f"(not {first})"
        return f"({first} {self.random.choice(['and', 'or'])} {self.condition(names, depth + 1)})"

    def block(self, names, depth, indent, returns):
        """The lines of a block; `returns`: whether it may return early."""
        lines = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.45 or depth > 2:
                made = self.assignment(names)
            elif kind < 0.7:
                made = self.branch(names, depth, returns)
            elif kind < 0.85:
                made = self.loop(names, depth)
            else:
                made = self.while_loop(names, depth)
            lines += ["    " * indent + line for line in made]
        return lines

    def assignment(self, names):
        name, kind = self.random.choice(names), self.random.random()
        value = self.expression(names)
        others = [other for other in names if other != name]
        if kind < 0.15 and others:
            return [f"{name}, {self.random.choice(others)} = {value}, {self.expression(names)}"]
        if kind < 0.3:
            return [f"{name} {self.random.choice(_OPERATORS)}= {value}", f"{name} &= 1023"]
        return [f"{name} = {value}"]

    def branch(self, names, depth, returns):
        lines = [f"if {self.condition(names)}:"] + self.block(names, depth + 1, 1, returns)
        if returns and depth < 2 and self.random.random() < 0.3:
            lines.append(f"    return {self.expression(names)}")
        if self.random.random() < 0.3:
            lines += [f"elif {self.condition(names)}:"] + self.block(names, depth + 1, 1, returns)
        if self.random.random() < 0.5:
            lines += ["else:"] + self.block(names, depth + 1, 1, returns)
            if returns and self.random.random() < 0.2:
                lines.append(f"    return {self.expression(names)}")
        return lines

    def loop(self, names, depth):
        low, end = self.random.randint(0, 3), self.expression(names, 2)
        bounds = self.random.choice([f"range({low})", f"range({end} & 3)", f"range({low}, {end} & 7, 2)",
                                     f"STATIC({low})", f"range(5, {end} & 3, -2)"])
        variable = f"i{depth}"
        return [f"for {variable} in {bounds}:"] + self.block(names + [variable], depth + 1, 1, False)

    def while_loop(self, names, depth):
        count = f"w{depth}"
        test = f"{count} > 0" + (f" and {self.condition(names, 2)}" if self.random.random() < 0.5 else "")
        return [f"{count} = {self.expression(names, 2)} & 3", f"while {test}:",
                *self.block(names, depth + 1, 1, False), f"    {count} -= 1"]


def program(seed):
    generator = Generator(seed)
    helper = "\n".join(generator.block(["a", "b"], 1, 1, True)).replace("HELPER", "max")
    body = "\n".join(generator.block(["a", "b", "c"], 0, 1, False))
    kernel = body.replace("HELPER", f"helper{seed}").replace("STATIC", "tl.static_range")
    plain = body.replace("HELPER", f"plain_helper{seed}").replace("STATIC", "range")
    return f"""
@tile.jit
def helper{seed}(a, b):
{helper.replace("STATIC", "tl.static_range")}
    return (a + b) & 1023


@tile.jit
def kernel{seed}(out, x):
    a = tl.load(x)
    b = tl.load(x + 1)
    c = 3
{kernel}
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)


def plain_helper{seed}(a, b):
{helper.replace("STATIC", "range")}
    return (a + b) & 1023


def plain{seed}(a, b):
    c = 3
{plain}
    return a, b, c
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "random_programs.py"
    path.write_text("import tile\nimport tile.language as tl\n\n" + "\n".join(map(program, range(PROGRAMS))))
    spec = importlib.util.spec_from_file_location("random_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(programs, seed):
    kernel, plain = (getattr(programs, f"{kind}{seed}") for kind in ("kernel", "plain"))
    for a, b in INPUTS:
        out = np.zeros(3, np.int32)
        kernel[(1, )](out, np.array([a, b], np.int32))
        assert tuple(out.tolist()) == plain(a, b), program(seed)
