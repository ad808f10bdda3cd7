# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic additions to neighbours, which chips from sm_90 on take several at a time."""

import re

import numpy as np
import pytest

import tile
import tile.language as tl

# What adds one element and, where they are aligned, as many as possible.
WIDTHS = {
    "sm_80": {"f32": ("add.f32", "add.f32"), "f16": ("add.noftz.f16", "add.noftz.f16x2"),
              "bf16": ("cas.b16", "cas.b16")},
    "sm_90a": {"f32": ("add.f32", "add.v4.f32"), "f16": ("add.noftz.f16", "add.noftz.v4.f16x2"),
               "bf16": ("add.noftz.bf16", "add.noftz.v4.bf16x2")},
}
TYPES = {"f32": tl.float32, "f16": tl.float16, "bf16": tl.bfloat16}


def encode(x, name):
    """Numbers as arrays that kernels take; bf16 as its bits."""
    if name == "bf16":
        return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.asarray(x, np.float32 if name == "f32" else np.float16)


def decode(x, name):
    return (x.astype(np.uint32) << 16).view(np.float32) if name == "bf16" else x.astype(np.float32)


def additions(kernel):
    """What the kernel's atomic instructions do, without order, scope and space."""
    return set(re.findall(r"(?:red|atom)[.\w]*global\.((?:add|cas)[.\w]*)", kernel.asm["ptx"]))


@tile.jit
def adds(x, out, old, n, N: tl.constexpr, T: tl.constexpr, MASKED: tl.constexpr, USED: tl.constexpr):
    i = tl.arange(0, N)
    at = out.to(tl.pointer_type(T), bitcast=True) + i
    v = tl.load(x.to(tl.pointer_type(T), bitcast=True) + i)
    mask = i < n if MASKED else None
    before = tl.atomic_add(at, v, mask=mask, sem="relaxed")
    if USED:
        # Where nothing is added the result is undefined.
        tl.store(old.to(tl.pointer_type(T), bitcast=True) + i, before, mask=mask)


@pytest.mark.emulator
@pytest.mark.compiled
@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("name", list(TYPES))
@pytest.mark.parametrize("how", ["plain", "even mask", "odd mask", "shifted"])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_neighbours_are_added_at_once(chip, how, name, used, monkeypatch):
    monkeypatch.setattr(tile.knobs, "emulator_chip", chip)
    rng = np.random.default_rng(7)
    size = 1024
    x, start = rng.integers(-8, 9, size), rng.integers(-8, 9, size + 8)
    first = 1 if how == "shifted" else 0
    n = {"even mask": 640, "odd mask": 645}.get(how, size)
    memory, old = encode(start, name), encode(np.full(size, 99), name)
    with tile.emulator.checks("race", "uninit"):
        kernel = adds[(1, )](encode(x, name), memory[first:], old, n, size, TYPES[name], n < size, used)
    want = start.copy()
    want[first:first + n] += x[:n]
    np.testing.assert_array_equal(decode(memory, name), want)
    if used:
        np.testing.assert_array_equal(decode(old, name)[:n], start[first:first + n])
        assert (decode(old, name)[n:] == 99).all()
    single, vector = WIDTHS[chip][name]
    assert additions(kernel) == {vector if how in ("plain", "even mask") else single}


@tile.jit
def adds_rows(index, x, out, rows, WIDTH: tl.constexpr, R: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, WIDTH)
    inside = (r < rows)[:, None]
    to = tl.load(index + r, mask=r < rows, other=0)
    v = tl.load(x + r[:, None] * WIDTH + c[None, :], mask=inside, other=0)
    tl.atomic_add(out + to[:, None] * WIDTH + c[None, :], v, mask=inside, scope="sys")


@pytest.mark.parametrize("dtype, instruction", [(np.float32, "add.v4.f32"), (np.float16, "add.noftz.v2.f16x2")])
def test_rows_are_added_to_the_same_rows(dtype, instruction, request):
    """Several programs, and several rows of one, meet in one place."""
    rng = np.random.default_rng(8)
    rows, width = 45, 64
    index = rng.integers(0, 5, rows)
    x = rng.integers(-4, 5, (rows, width)).astype(dtype)
    out = np.ones((5, width), dtype)
    with tile.emulator.checks("race", "uninit"):
        kernel = adds_rows[(6, )](index, x, out, rows, width, 8)
    want = np.ones((5, width))
    np.add.at(want, index, x)
    np.testing.assert_array_equal(out, want)
    if request.config.getoption("--device") in ("emulator", "cuda"):
        assert additions(kernel) == {instruction}


@tile.jit
def adds_twice(x, out, C: tl.constexpr):
    i = tl.arange(0, 256) % C
    tl.atomic_add(out + i, tl.load(x + tl.arange(0, 256)))


@pytest.mark.parametrize("cells", [4, 12, 96])
def test_threads_add_to_the_same_neighbours(cells):
    x = np.arange(256, dtype=np.float32)
    out = np.zeros(cells, np.float32)
    with tile.emulator.checks("race"):
        adds_twice[(3, )](x, out, cells)
    np.testing.assert_array_equal(out, [3 * x[i::cells].sum() for i in range(cells)])


@tile.jit
def hands_over(x, flags, out, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        tl.store(out + i, tl.load(x + i) * 2)
        tl.atomic_add(flags + i, tl.full((N, ), 1.0, tl.float32), sem="release")
    else:
        # The last flag of a vector is one, too.
        while tl.atomic_add(flags + N - 1, 0.0, sem="acquire") == 0:
            pass
        tl.store(out + N + i, tl.load(out + i) + 1)


@pytest.mark.compiled
def test_each_element_of_a_release_is_one():
    x = np.arange(512, dtype=np.float32)
    out = np.zeros(1024, np.float32)
    with tile.emulator.checks("race"):
        hands_over[(2, )](x, np.zeros(512, np.float32), out, 512)
    np.testing.assert_array_equal(out, np.concatenate([x * 2, x * 2 + 1]))


@tile.jit
def adds_a_box(x, out, rows, columns, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    box = tl.make_tensor_descriptor(out, [rows, columns], [stride, 1], [ROWS, COLUMNS])
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    box.atomic_add([tl.program_id(0) * ROWS, COLUMNS], tl.load(x + i))


@pytest.mark.parametrize("columns, instruction", [(48, "add.v4.f32"), (45, "add.f32")])
def test_boxes_are_added(columns, instruction, request):
    x = np.arange(512, dtype=np.float32)
    out = np.ones((20, 48), np.float32)
    with tile.emulator.checks("race", "uninit"):
        kernel = adds_a_box[(2, )](x, out, 20, columns, 48, 16, 32)
    want = np.ones((20, 48))
    added = x.reshape(16, 32)[:, :columns - 32]
    want[:16, 32:columns] += added
    want[16:, 32:columns] += added[:4]
    np.testing.assert_array_equal(out, want)
    if request.config.getoption("--device") in ("emulator", "cuda"):
        assert additions(kernel) == {instruction}
