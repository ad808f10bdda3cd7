# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists and dicts in kernels: what compiled code makes of them is what Python does, or an error."""

import sys
import types

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = [pytest.mark.compiled, pytest.mark.emulator]


@tile.jit
def append(values):
    values.append(9)


@tile.jit
def append_where_positive(values, x):
    if x > 0:
        values.append(9)


@tile.jit
def choose(x, a, b):
    if x > 0:
        return a
    return b


def run(body: str, tmp_path, x: int, interpreted: bool = False) -> int:
    module = types.ModuleType(f"containers_{tmp_path.name}")
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    path = tmp_path / "containers.py"
    path.write_text(f"@tile.jit\ndef kernel(out, x):\n{lines}")
    vars(module).update(tile=tile, tl=tl, append=append, choose=choose,
                        append_where_positive=append_where_positive)
    sys.modules[module.__name__] = module
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    out = np.zeros(1, np.int32)
    (tile.interpret(module.kernel) if interpreted else module.kernel)[(1, )](out, x)
    return int(out[0])


# Bodies that an error is for: the running kernel decides which list changes, or whether.
WRONG = {
    "of a nested list": ("a = [1]\nb = [a]\nif x > 0:\n    b[0].append(2)\ntl.store(out, len(a))", "a is a list"),
    "of a list in a tuple": ("a = ([1], 2)\nif x > 0:\n    a[0].append(2)\ntl.store(out, len(a[0]))",
                             "a is a list"),
    "of a list in a dict": ("a = {'b': [1]}\nif x > 0:\n    a['b'].append(2)\ntl.store(out, len(a['b']))",
                            "a is a list"),
    "of a set": ("a = set((1, 2))\nif x > 0:\n    a.add(3)\ntl.store(out, len(a))", "a is a set"),
    "in a conditional expression": ("a = [1]\nb = append(a) if x > 0 else None\ntl.store(out, len(a))",
                                    "a is a list"),
    "in a condition": ("a = [1]\ni = 0\nwhile append(a) is None and i < x:\n    i += 1\ntl.store(out, len(a))",
                       "a is a list that is changed in a condition"),
    "in place": ("a = [1]\nif x > 0:\n    a += [2]\ntl.store(out, len(a))", "a is a list"),
    "of the caller's list": ("a = [1]\nappend_where_positive([a][0], x)\ntl.store(out, len(a))",
                             "values is a list"),
    "of what a branch assigned": ("a = [1, 2]\nb = a\nif x > 0:\n    a = [3, 4]\na.append(5)\n"
                                  "tl.store(out, len(b))", "a of a branch or loop above may be"),
    "of the other name": ("a = [1, 2]\nb = a\nif x > 0:\n    a = [3, 4]\nb.append(5)\ntl.store(out, len(a))",
                          "a of a branch or loop above may be"),
    "of an equal list": ("a = [1, 2]\nb = a\nif x > 0:\n    a = [1, 2]\na.append(5)\ntl.store(out, len(b))",
                         "a of a branch or loop above may be"),
    "in place after a branch": ("a = [1, 2]\nb = a\nif x > 0:\n    a = [3, 4]\na += [5]\n"
                                "tl.store(out, len(b))", "a of a branch or loop above may be"),
    "of two names of one list": ("a = [1, 2]\nb = a\nif x > 0:\n    a = [3, 4]\n    b = a\na.append(5)\n"
                                 "tl.store(out, len(b))", "of a branch or loop above may be"),
    "of the result of an expression": ("a = [1, 2]\nb = [3, 4]\nc = a if x > 0 else b\nc.append(5)\n"
                                       "tl.store(out, len(a))", "the result of a branch or loop above may be"),
    "of the result of a function": ("a = [1, 2]\nb = [3, 4]\nc = choose(x, a, b)\nc.append(5)\n"
                                    "tl.store(out, len(a))", "the result of a branch or loop above may be"),
    "after a loop": ("a = [1, 2]\nb = a\nfor i in range(x):\n    a = [i, i]\na.append(5)\ntl.store(out, len(b))",
                     "a of a branch or loop above may be"),
    "after a loop that names it": ("a = [1, 2]\nb = a\nfor i in range(x):\n    a = [i, i]\n    b = a\n"
                                   "b.append(5)\ntl.store(out, len(a))", "of a branch or loop above may be"),
}


@pytest.mark.parametrize("case", WRONG)
def test_changes_that_only_the_running_kernel_knows(case, tmp_path):
    body, message = WRONG[case]
    with pytest.raises(tile.CompilationError, match=message):
        run(body, tmp_path, 5)


# Bodies that do what Python does.
RIGHT = {
    "no other name": "a = [1, 2]\nif x > 0:\n    a = [3, 4]\na.append(5)\ntl.store(out, len(a) * 10 + a[0])",
    "no change": "a = [1, 2]\nb = a\nif x > 0:\n    a = [3, 4]\ntl.store(out, b[0] * 10 + a[0])",
    "a copy": "a = [1, 2]\nb = a\nif x > 0:\n    a = [3, 4]\na = list(a)\na.append(5)\n"
              "tl.store(out, len(b) * 10 + len(a))",
    "a list of the branch": "c = 0\nif x > 0:\n    a = [1]\n    b = a\n    b.append(2)\n    c = len(a)\n"
                            "tl.store(out, c)",
    "another name": "a = [1]\nb = a\nb.append(2)\na += [3]\ntl.store(out, len(b) * 10 + len(a))",
    "in place": "a = [1]\nb = a\nb *= 3\na += (3, )\ntl.store(out, len(b) * 10 + len(a))",
    "a loop": "a = [1, 2]\nfor i in range(x + 2):\n    a = [a[1], i]\na.append(5)\ntl.store(out, a[0] * 10 + len(a))",
    "strings": "a = ['s']\nfor i in range(x + 2):\n    a = ['s']\ntl.store(out, len(a))",
    "of the caller": "a = [1]\nappend(a)\ntl.store(out, len(a))",
}


@pytest.mark.parametrize("case", RIGHT)
@pytest.mark.parametrize("x", [0, 5])
def test_lists_are_as_in_python(case, x, tmp_path):
    assert run(RIGHT[case], tmp_path, x) == run(RIGHT[case], tmp_path, x, interpreted=True)
