# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Casts of floats to integers that do not hold them, and shifts by more bits than there are: compiled
code, constants and the interpreter agree on what PTX's instructions make of them."""

import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = [pytest.mark.compiled, pytest.mark.emulator]

VALUES = (float("nan"), float("inf"), float("-inf"), 1e20, -1e20, -1.5, 300.0, -300.0, 127.9, 128.5, 255.5, 2049.0,
          40000.0, -40000.0, 3e9, -3e9)


@tile.jit
def cast(x, out, F: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, 16)
    value = tl.load(x + i).to(F).to(D)
    # Twice: the integer that is stored, and what arithmetic takes it for.
    tl.store(out + i, value.to(tl.int64))
    tl.store(out + 16 + i, (value > 100).to(tl.int64) + value // 2)


@tile.jit
def cast_constants(x, out, F: tl.constexpr, D: tl.constexpr, VALUES: tl.constexpr):
    for i in tl.static_range(16):
        value = tl.full((), VALUES[i], tl.float32).to(F).to(D)
        tl.store(out + i, value.to(tl.int64))
        tl.store(out + 16 + i, (value > 100).to(tl.int64) + value // 2)


@pytest.mark.parametrize("to", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["float8e5", "float8e4nv", "float16", "bfloat16", "float32", "float64"])
def test_casts(source, to):
    x = np.array(VALUES, np.float32)
    types = getattr(tl, source), getattr(tl, to)
    if source == "float64":
        # The compiler may take the fp32 that was made fp64, of which NaN is another integer.
        x[0] = 0
    results = [np.full(32, 7) for _ in range(3)]
    cast[(1, )](x, results[0], *types)
    tile.interpret(cast)[(1, )](x, results[1], *types)
    cast_constants[(1, )](x, results[2], *types, tuple(x.tolist()))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_what_integers_are():
    def cast_to(to):
        out = np.zeros(32, np.int64)
        cast[(1, )](np.array(VALUES, np.float32), out, tl.float32, getattr(tl, to))
        return dict(zip(VALUES, out.tolist()))

    found = cast_to("int32")
    assert (found[1e20], found[-1e20], found[-1.5], found[VALUES[0]]) == (2**31 - 1, -2**31, -1, 0)
    found = cast_to("uint32")
    assert (found[1e20], found[-1e20], found[3e9], found[VALUES[0]]) == (2**32 - 1, 0, 3 * 10**9, 0)
    # Those of 8 bits are the low ones of 16.
    found = cast_to("int8")
    assert (found[1e20], found[-1e20], found[300.0], found[128.5], found[VALUES[0]]) == (-1, 0, 44, -128, 0)
    assert cast_to("int64")[VALUES[0]] == -2**63


@tile.jit
def shift(x, out, COUNT: tl.constexpr):
    value, count = tl.load(x), tl.load(x + 1)
    tl.store(out, value << COUNT)
    tl.store(out + 1, value >> COUNT)
    tl.store(out + 2, value.to(tl.uint32) >> COUNT)
    tl.store(out + 3, value << count)
    tl.store(out + 4, value >> count)
    tl.store(out + 5, value.to(tl.uint32) >> count.to(tl.uint32))


@pytest.mark.parametrize("count", [3, 31, 32, 100])
def test_shifts_of_all_bits(count):
    """By a constant or not: the sign, or zeros, come in."""
    out, interpreted = np.zeros(6, np.int64), np.zeros(6, np.int64)
    x = np.array([-5, count], np.int32)
    shift[(1, )](x, out, count)
    tile.interpret(shift)[(1, )](x, interpreted, count)
    assert out.tolist() == interpreted.tolist() and out[:3].tolist() == out[3:].tolist()
    assert out[1] == -5 >> count and (out[0] == 0) == (count > 31)
