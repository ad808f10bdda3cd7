# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops, calls, constexprs."""

from typing import NamedTuple

import numpy as np
import pytest

import tile
import tile.language as tl

N = tl.constexpr(32)
ANNOTATED: tl.constexpr = 7


def run(kernel, *args, count=1, dtype=np.int32, **kwargs):
    """The first values that a kernel writes to its first argument."""
    out = np.zeros(count, dtype)
    kernel[(1, )](out, *args, **kwargs)
    return out[0] if count == 1 else out


@tile.jit
def branch(out, n):
    x = 1
    if n > 10:
        x = 2
        y = 5
    elif n > 5:
        x = 3
        y = 6
    else:
        y = 7
    tl.store(out, x * 10 + y)


@pytest.mark.parametrize("n, expected", [(11, 25), (6, 36), (5, 17), (-3, 17)])
def test_branches(n, expected):
    assert run(branch, n) == expected


@tile.jit
def dead_branch(out, FLAG: tl.constexpr, pointer):
    if FLAG:
        x = tl.undefined_function(out, "no types here")
    elif pointer is None:
        x = 3
    else:
        x = tl.load(pointer)
    if pointer is not None and tl.load(pointer) > 4:
        x += 100
    tl.store(out, x)


def test_constexpr_branches_are_not_compiled():
    assert run(dead_branch, False, None) == 3
    assert run(dead_branch, False, np.array([4], np.int32)) == 4
    assert run(dead_branch, False, np.array([5], np.int32)) == 105


@tile.jit
def early_return(out, n):
    if n < 0:
        return
    tl.store(out, 1)
    if n == 3:
        tl.store(out, 33)
        return
    if n > 100:
        if n > 200:
            return
        tl.store(out, 5)
    tl.debug_barrier()
    tl.store(out, tl.load(out) + 1)


@pytest.mark.parametrize("n, expected", [(-2, 0), (3, 33), (4, 2), (150, 6), (250, 1)])
def test_early_return_of_kernels(n, expected):
    assert run(early_return, n) == expected


@tile.jit
def classify(n):
    if n < 10:
        return 1, 2.0
    if n < 20:
        return 3, 4.0
    return 5, 6.0


@tile.jit
def returns_tuple(out, n):
    a, b = classify(n)
    tl.store(out, a * 10 + b.to(tl.int32))


@pytest.mark.parametrize("n, expected", [(5, 12), (15, 34), (25, 56)])
def test_early_return_of_functions(n, expected):
    assert run(returns_tuple, n) == expected


@tile.jit
def loops(out, n, step, CONST: tl.constexpr):
    total = 0
    for i in range(n):
        for j in range(i, n, step):
            total += i * 10 + j
    for k in tl.static_range(CONST):
        total += k
    for k in range(10, 0, -3):
        total += k * 1000
    for k in tl.range(0, 3, num_stages=2):
        total += 100000
    tl.store(out, total)


@pytest.mark.parametrize("n, step", [(0, 1), (5, 1), (7, 3)])
def test_loops(n, step):
    expected = sum(i * 10 + j for i in range(n) for j in range(i, n, step)) + 6 + 22000 + 300000
    assert run(loops, n, step, 4) == expected


@tile.jit
def while_loop(out, n):
    count, x = 0, n
    while (x != 1) & (count < 1000):
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        count += 1
    tl.store(out, count)


def test_while():
    assert run(while_loop, 27) == 111
    assert run(while_loop, 1) == 0


@tile.jit
def carried_tiles(out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.zeros((BLOCK, ), tl.int32), tl.full((BLOCK, ), 1, tl.int32)
    state = (a, b)
    for _ in range(n):
        state = (state[1], state[0] + state[1])
        if _ % 2 == 0:
            i += 1
    tl.store(out + tl.arange(0, BLOCK), state[0] + i)


def test_tiles_and_tuples_in_loops():
    np.testing.assert_array_equal(run(carried_tiles, 10, 16, count=16), 55 + np.arange(16) + 5)


@tile.jit
def carried_lists(out, n):
    pair, rounds, types = [n, [1, 2]], [0], [tl.int8, "none"]
    for i in range(n):
        types = [tl.int8, "none"]
        pair = [pair[0] + i, [pair[1][1], pair[1][0]]]
    while rounds[0] < pair[0]:
        rounds = [rounds[0] + 3]
    if n > 2:
        pair = [100, pair[1]]
    pair.append(rounds[0])
    tl.static_assert(types[0] == tl.int8)
    tl.store(out, pair[0] * 1000 + pair[1][0] * 100 + pair[2])


@pytest.mark.parametrize("n, expected", [(0, 100), (2, 3103), (3, 100206)])
def test_lists_in_loops(n, expected):
    for kernel in (carried_lists, tile.interpret(carried_lists)):
        assert run(kernel, n) == expected


@tile.jit
def apply(function: tl.constexpr, x, *, scale: tl.constexpr = 2):
    return function(x) * scale


@tile.jit
def square(x):
    return x * x


@tile.jit
def calls(out, x):
    tl.store(out, apply(square, x) + apply(square, x, scale=3))


def test_functions_as_constexprs_and_keywords():
    assert run(calls, 5) == 125


@tile.jit
def constants(out, SHAPE: tl.constexpr):
    M: tl.constexpr = SHAPE[0] * 2
    size = M + 1
    tl.static_assert(M == 8 and N == 32 and ANNOTATED == 7, f"M is {M}")
    x = tl.zeros((M, N), tl.int32) + ANNOTATED
    assert M > 2, "folded"
    names = [n for n in ("a", "b") if n != "b"]
    tl.static_assert(len(names) == 1 and names[0] == "a")
    values = tl.arange(0, size - 1) if M else None
    tl.store(out, tl.sum(x) + tl.sum(values) + (1 if SHAPE[1] else 2) + max(M, 3) + min(2, 1))


def test_constants():
    assert run(constants, (4, 0)) == 8 * 32 * 7 + 28 + 2 + 8 + 1


class Pair(NamedTuple):
    first: object
    second: object


@tile.jit
def named(out, n):
    p = Pair(n, n + 1)
    for _ in range(2):
        p = Pair(p.second, p.first)
    tl.store(out, p.first * 10 + p.second)


def test_named_tuples():
    assert run(named, 3) == 34


class Typed(NamedTuple):
    type: object
    value: object


@tile.jit
def named_as_attributes(out, run_time, known: tl.constexpr):
    tl.store(out, run_time.type * 1000 + run_time.value * 100 + known.type * 10 + known.value)


def test_fields_that_are_called_as_attributes_of_constants():
    for kernel in (named_as_attributes, tile.interpret(named_as_attributes)):
        assert run(kernel, Typed(2, 3), Typed(4, 5)) == 2345


@tile.jit
def logic(out, a, b):
    x = 0
    if a > 0 and b > 0:
        x += 1
    if a > 0 or b > 0:
        x += 2
    if not (a > 0):
        x += 4
    if 0 < a < 10:
        x += 8
    tl.store(out, x)


@pytest.mark.parametrize("a, b", [(1, 1), (0, 5), (50, -1), (-1, -1)])
def test_logic(a, b):
    a, b = a * 2, b * 2  # not 1, which would be a constant
    expected = (a > 0 and b > 0) + 2 * (a > 0 or b > 0) + 4 * (not a > 0) + 8 * (0 < a < 10)
    assert run(logic, a, b) == expected


@tile.jit
def numbers(out, i, f, b, big):
    tl.static_assert(i.dtype == tl.int32 and f.dtype == tl.float32 and b.dtype == tl.int1)
    tl.static_assert(big.dtype == tl.int64)
    tl.store(out + 0, i)
    tl.store(out + 1, f)
    tl.store(out + 2, b)
    tl.store(out + 3, big / 2**40)


def test_scalar_arguments():
    np.testing.assert_array_equal(run(numbers, -7, 2.5, True, 2**41, count=4, dtype=np.float64),
                                  [-7, 2.5, 1, 2])


@tile.jit
def lambdas(out, n):
    twice = lambda x: x * 2
    tl.store(out, twice(n) + (extra := n + 1) + extra)


@tile.jit
def lambdas_with_defaults(out, n):
    scale = lambda x, factor=n, *, offset=1: x * factor + offset
    tl.store(out, scale(n) * 10000 + scale(n, 2) * 100 + scale(factor=3, x=n, offset=0))


def test_lambda_and_walrus():
    assert run(lambdas, 5) == 22
    assert run(lambdas_with_defaults, 5) == 261115


@tile.jit
def print_values(x, N: tl.constexpr):
    tl.device_print("value", tl.load(x + tl.arange(0, N)))


@pytest.mark.emulator
def test_device_print(capsys):
    print_values[(1, )](np.array([41, 42], np.int32), 2, num_warps=1)
    assert "42" in capsys.readouterr().out


@tile.jit
def asserts(x, N: tl.constexpr):
    tl.device_assert(tl.load(x + tl.arange(0, N)) > 0, "must be positive")


@pytest.mark.emulator
@pytest.mark.compiled
def test_device_assert():
    asserts[(1, )](np.array([1, 2], np.int32), 2)
    with pytest.raises(tile.EmulatorError, match="must be positive"):
        asserts[(1, )](np.array([1, -2], np.int32), 2)
