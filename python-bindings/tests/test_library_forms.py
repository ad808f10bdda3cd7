# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What public libraries of kernels do beyond the documented language."""

import inspect

import numpy as np
import pytest

import tile
import tile.language as tl
import tile.language.core as core
from tile.language.standard import zeros_like


@tile.jit
def tiles_of_programs(out, n, tiles, TILE: tl.constexpr):
    SPAN: tl.constexpr = TILE * tiles
    start = SPAN * tl.program_id(0)
    for i in range(start, tl.minimum(start + SPAN, n), TILE):
        j = i + tl.arange(0, TILE)
        tl.store(out + j, j, mask=j < n)


def test_a_constexpr_of_run_time_values_is_a_variable():
    for kernel in (tiles_of_programs, tile.interpret(tiles_of_programs)):
        out = np.full(50, -1, np.int32)
        kernel[(3, )](out, 50, 2, 8)
        np.testing.assert_array_equal(out, [*range(48), -1, -1])


@tile.jit
def indices(out, N: tl.constexpr):
    i = tl.arange(0, N).to(core.int32)
    tl.store(out + i, core.where(i > 2, i, zeros_like(i)))


def test_modules_of_the_language_have_names_of_others():
    """They are found on demand, which a second launch does not take for a change."""
    for _ in range(2):
        out = np.zeros(8, np.int32)
        indices[(1, )](out, 8)
        np.testing.assert_array_equal(out, [0, 0, 0, 3, 4, 5, 6, 7])
    with pytest.raises(AttributeError, match="no_such_function"):
        tl.standard.no_such_function


def test_grids_with_more_ones():
    out = np.full(8, -1, np.int32)
    tiles_of_programs[(1, 1, 1, 1, 1)](out, 8, 1, 8)
    np.testing.assert_array_equal(out, range(8))
    with pytest.raises(ValueError, match="one to three extents"):
        tiles_of_programs[(1, 1, 1, 2)](out, 8, 1, 8)


@tile.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x"])
def described(x, n, SIZE: tl.constexpr = 4):
    tl.store(x + tl.arange(0, SIZE), n)


def test_descriptions_of_parameters():
    x, n, size = described.params
    assert (x.do_not_specialize, x.do_not_specialize_on_alignment, x.has_default) == (False, True, False)
    assert n.do_not_specialize and size.is_constexpr and size.has_default
    assert described.signature == inspect.signature(described.fn)
