# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of bad_kernels.py: what is said of each, and where the caret is."""

import re
from pathlib import Path

import numpy as np
import pytest

import tile
import bad_kernels

SOURCE = Path(bad_kernels.__file__).read_text().splitlines()
_MARK = re.compile(r"  # error: (.*)$")


def marks():
    """(name of the kernel, line, text under the caret, message)."""
    name, found = None, []
    for number, line in enumerate(SOURCE, 1):
        started = re.match(r"def (\w+)\(", line)
        if started:
            name = started[1]
        mark = _MARK.search(line)
        if mark and name:
            text, _, message = (" " + mark[1]).partition(" ::")
            found.append((name, number, text.strip(), message.strip()))
    return found


MARKS = marks()
# Kernels whose mistake is in a function that they call.
CALLERS = {"select_returned": "returns_differ"}


def arguments(kernel):
    """An argument for each parameter, by its name."""
    made = {"x": np.zeros(128, np.float32), "h": np.zeros(128, np.float16), "i": np.zeros(128, np.int32),
            "c": np.zeros(128, np.int8), "n": 24, "f": 2.5, "N": 8}
    return [made[name] if parameter.default is parameter.empty else parameter.default
            for name, parameter in zip(kernel.arg_names, kernel.compiled_function().params)]


@pytest.mark.parametrize("name, line, text, message", MARKS, ids=[m[0] for m in MARKS])
def test_message(name, line, text, message, tmp_path, monkeypatch):
    monkeypatch.setattr(tile.knobs, "dump_dir", str(tmp_path))
    kernel = getattr(bad_kernels, CALLERS.get(name, name))
    with pytest.raises(tile.CompilationError) as caught:
        kernel.warmup(*arguments(kernel), grid=(1, ))
    error, said = caught.value, str(caught.value)
    # Not in `said`, which repeats the marked line.
    assert re.search(message, "\n".join([error.message, *error.notes]), re.S), said
    # The place is in the marked line, unless a helper is to blame: then it is a caller. What is
    # about a whole kernel has it in a note.
    assert all(p.file == bad_kernels.__file__ for p in [error.frame, *error.callers]), said
    shown = said.splitlines()
    source = f"    {SOURCE[line - 1]}"
    assert source in shown, said
    caret = shown[shown.index(source) + 1]
    start, end = caret.index("^"), caret.rindex("^") + 1
    if text:
        assert source[start:].startswith(text) and (error.frame.line != line
                                                    or end - start == len(text)), said
    else:
        assert source[start] != " ", said


def test_there_are_many():
    assert len(MARKS) > 120
