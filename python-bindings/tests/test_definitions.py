# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How kernels may be written down: decorators, annotations, layout of the source."""

import functools
import importlib.util
import pickle
from typing import Optional

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.language import constexpr as known


def call(kernel, *args, **kwargs):
    out = np.zeros(4, np.int32)
    kernel[(1, )](out, *args, **kwargs)
    return out.tolist()


@tile.jit
def annotated(out, n, A: known, B: Optional[tl.constexpr] = 2, C: "tl.constexpr" = 4):
    tl.store(out + tl.arange(0, C), n + tl.arange(0, A) + tl.arange(0, B * 2))


def test_other_names_of_constexpr():
    assert call(annotated, 3, A=4) == [3, 5, 7, 9]


def make_nested(offset):
    if True:

        @tile.jit
        def nested(out, n):
            """Lines of a string
and comments may begin further left than the function."""
# such as this one
            tl.store(out, n + offset)
            tl.store(out + 1, n + \
  1)

    return nested


def test_lines_that_are_indented_less():
    nested = make_nested(tl.constexpr(5))
    assert call(nested, 3) == [8, 4, 0, 0]
    assert call(tile.interpret(nested), 3) == [8, 4, 0, 0]


def transparent(function):

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def test_functions_below_functools_wraps():
    offset = tl.constexpr(5)

    @tile.jit
    @transparent
    def wrapped(out, n):
        tl.store(out, n + offset)

    assert call(wrapped, 3) == [8, 0, 0, 0]


class Instance:

    def __call__(self, x):
        pass


@pytest.mark.parametrize("function, message", [
    (print, "made with `def`, got <built-in function print>"),
    (int, "made with `def`, got <class 'int'>"),
    (staticmethod(make_nested), "write @tile.jit below @staticmethod"),
    (annotated, "is a kernel already"),
])
def test_no_functions(function, message):
    with pytest.raises(TypeError, match=message):
        tile.jit(function)


@pytest.mark.parametrize("function", (functools.partial(print), Instance(), 3))
def test_no_functions_to_interpret(function):
    with pytest.raises(TypeError, match="made with `def`"):
        tile.interpret(function)


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "changing.py"
    text = "import tile\n\ndef make():\n    @tile.jit\n    def first(out):\n        pass\n    return first\n"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text(text.replace("first", "other_name"))
    with pytest.raises(tile.CompilationError, match="the file has changed since it was imported"):
        module.make()
    path.write_text("\n")
    with pytest.raises(tile.CompilationError, match="the source of first cannot be found"):
        module.make()


def test_numbers_of_numpy_as_constants():
    factor = tl.constexpr(np.float32(2.5))

    @tile.jit
    def scaled(out, n):
        tl.store(out, n * factor * np.sqrt(4.0))

    assert call(scaled, 3) == call(tile.interpret(scaled), 3) == [15, 0, 0, 0]


def test_errors_can_be_sent_to_another_process():
    error = pickle.loads(pickle.dumps(tile.OutOfResources(3, 2, "shared memory")))
    assert (error.required, error.limit, error.name) == (3, 2, "shared memory")
    assert "required 3, limit 2" in str(error)
