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


@tile.jit
def kinds(out, n, SIZE: tl.constexpr, SCALE: tl.constexpr):
    whole: tl.constexpr = 1 if isinstance(SIZE, int) else 0
    number: tl.constexpr = 2 if isinstance(SCALE, (int, float)) and not isinstance(SCALE, int) else 0
    truth: tl.constexpr = 4 if isinstance(SCALE, bool) or isinstance(SIZE, float | bool) else 0
    # What is known at run time only is none of them, so that `float` is not asked for its value.
    scale = 8.0 if isinstance(n, int) else n.to(tl.float32) * 16
    same: tl.constexpr = 128 if type(SIZE) == int and type(SCALE) != int else 0
    i = tl.arange(0, SIZE)
    tl.store(out + i, whole + number + truth + scale + same + float(i) + int(2.5) + bool(n))


def test_isinstance_of_python_types():
    for kernel in (kinds, tile.interpret(kinds)):
        out = np.zeros(4, np.float32)
        kernel[(1, )](out, 3, 4, 0.5)
        np.testing.assert_array_equal(out, np.arange(4) + 1 + 2 + 48 + 128 + 2 + 1)


@tile.jit
def store_as(pointer, values):
    block: tl.constexpr = pointer.dtype.element_ty
    tl.static_assert(block.scalar == tl.float16 and pointer.type.element_ty.scalar == tl.float16)
    tl.static_assert(pointer.dtype.is_ptr() and block.shape[1] == 8)
    tl.store(pointer, values.to(block.element_ty), boundary_check=(1, ))


@tile.jit
def store_blocks(out, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)[None, :]
    first = tl.make_block_ptr(out, (1, n), (n, 1), (0, 0), (1, SIZE), (1, 0))
    store_as(first, i + 0.25)
    second = tl.make_block_ptr(out, (1, n), (n, 1), (0, SIZE), (1, SIZE), (1, 0))
    tl.store(second, (i + SIZE).to(second.dtype.element_ty), boundary_check=(0, 1))


def test_types_of_block_pointers():
    """The `dtype` of a block pointer is a pointer to a type of tiles, as with Triton."""
    for kernel in (store_blocks, tile.interpret(store_blocks)):
        out = np.full(12, -1, np.float16)
        kernel[(1, )](out, 11, 8)
        np.testing.assert_array_equal(out, [*np.arange(8) + 0.25, 8, 9, 10, -1])


def test_no_name_is_suggested_for_itself():

    @tile.jit
    def element_of_number(out):
        tl.store(out, 1, mask=out.dtype.element_ty.element_ty == tl.int32)

    with pytest.raises(tile.CompilationError, match="has no attribute 'element_ty'") as raised:
        element_of_number[(1, )](np.zeros(1, np.int32))
    assert "did you mean 'element_ty'" not in str(raised.value)


def test_clocks_from_nvidia_smi(tmp_path, monkeypatch):
    tool = tmp_path / "nvidia-smi"
    tool.write_text('#!/bin/sh\n[ "$3" = --query-gpu=clocks.max.sm,clocks.max.memory ] && echo 1980, 3201\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert tile.testing.nvsmi(["clocks.max.sm", "clocks.max.memory"]) == [1980, 3201]
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="nvidia-smi"):
        tile.testing.nvsmi(["clocks.max.sm"])
    assert tile.testing._summarize_statistics([1.0, 3.0, 2.0], None, "median") == 2.0
