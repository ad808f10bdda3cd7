# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@tl.aggregate`: classes as values of kernels."""

import numpy as np
import pytest

import tile
import tile.language as tl


def run(kernel, *args, count=1, dtype=np.int32):
    out = np.zeros(count, dtype)
    kernel[(1, )](out, *args)
    return out if count > 1 else out[0]


@tl.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

    def __init__(self, first, second):
        self.first = first
        self.second = second

    @tile.jit
    def swapped(self):
        return Pair(self.second, self.first)

    @tile.jit
    def weighted(self, a, b=1):
        return self.first * a + self.second * b

    @property
    def total(self):
        return self.first + self.second


@tile.jit
def methods(out, n):
    p = Pair(n, n + 1)
    q = p.swapped()
    tl.store(out, q.weighted(10) + p.total * 1000)


def test_methods_and_properties():
    assert run(methods, 4) == 54 + 9000


@tile.jit
def carried(out, n, N: tl.constexpr):
    p = Pair(n, tl.arange(0, N))
    for _ in range(n):
        p = Pair(p.first + 1, p.second * 2)
    if n > 100:
        p = Pair(p.first, p.second + 5)
    i = 0
    while i < 2:
        p = Pair(p.first - 1, p.second)
        i += 1
    tl.store(out + tl.arange(0, N), p.first + p.second)


def test_aggregates_in_loops_and_branches():
    np.testing.assert_array_equal(run(carried, 3, 8, count=8), 3 + 3 - 2 + 8 * np.arange(8))


@tl.aggregate
class Block:
    pointer: tl.tensor
    SIZE: tl.constexpr
    pair: Pair

    @tile.jit
    def __init__(self, pointer, SIZE: tl.constexpr):
        self.pointer = pointer + tl.arange(0, SIZE)
        self.SIZE = tl.constexpr(SIZE)
        self.pair = Pair(SIZE, SIZE * 2)

    @tile.jit
    def fill(self, value):
        tl.static_assert(self.SIZE == 8)
        tl.store(self.pointer, tl.full([self.SIZE], value, tl.int32) + self.pair.second)

    @staticmethod
    def name():
        return "block"


@tile.jit
def pick(block, flag):
    # Returned from branches.
    if flag > 3:
        return block
    return Block(block.pointer - 0, 8)


@tile.jit
def initialised(out, n):
    block = Block(out, 8)
    tl.static_assert(block.name() == "block")
    for _ in range(2):
        block.fill(n)


def test_jit_initialiser_and_constexpr_fields():
    np.testing.assert_array_equal(run(initialised, 5, count=8), np.full(8, 21))


@tl.aggregate
class Accumulator:
    value: tl.tensor
    SCALE: tl.constexpr

    @tile.jit
    def add(self, x):
        return Accumulator(self.value + x * self.SCALE, self.SCALE)


@tile.jit
def accumulate(acc, x):
    if tl.sum(x) > 10:
        return acc.add(x)
    return Accumulator(acc.value - 1, acc.SCALE)


@tile.jit
def without_initialiser(out, n, N: tl.constexpr):
    acc = Accumulator(value=tl.zeros([N], tl.int32), SCALE=3)
    for i in range(n):
        acc = accumulate(acc, tl.arange(0, N) + i)
    tl.static_assert(acc.SCALE == 3)
    tl.store(out + tl.arange(0, N), acc.value)


def test_generated_initialiser_and_early_return():
    expected = np.zeros(4, np.int64)
    for i in range(5):
        x = np.arange(4) + i
        expected += x * 3 if x.sum() > 10 else -1
    np.testing.assert_array_equal(run(without_initialiser, 5, 4, count=4), expected)


@tile.jit
def scale_changes(out, n):
    acc = Accumulator(n, 3)
    for i in range(n):
        acc = Accumulator(acc.value, 4)
    tl.store(out, acc.value)


@pytest.mark.compiled
def test_constexpr_fields_cannot_change_in_loops():
    with pytest.raises(tile.CompilationError, match="acc has type Accumulator\\(int32, int 3\\) before"):
        run(scale_changes, 4)
