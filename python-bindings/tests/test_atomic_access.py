# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic loads and stores, and programs that wait for each other."""

import numpy as np
import pytest

import tile
import tile.language as tl


@tile.jit
def copies(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.atomic_load(x + i, mask=i < n, sem="relaxed")
    tl.atomic_store(out + i, v, mask=i < n, scope="sys")


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.float64])
def test_atomic_loads_and_stores(dtype):
    x = np.arange(-7, 9).astype(dtype)
    out = np.zeros(16, dtype)
    copies[(1, )](x, out, 13, 16)
    np.testing.assert_array_equal(out, np.where(np.arange(16) < 13, x, 0))


@tile.jit
def reads_halves(x, out):
    tl.store(out, x.atomic_load())


@pytest.mark.parametrize("dtype", [np.int16, np.float16])
def test_atomic_loads_of_16_bits(dtype):
    out = np.zeros(1, np.float32)
    reads_halves[(1, )](np.array([-3], dtype), out)
    assert out[0] == -3


@tile.jit
def waits(flag, out):
    tl.store(out, tl.atomic_poll(flag, 5, sem="relaxed", scope="cta"))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint64])
def test_a_poll_that_need_not_wait(dtype):
    out = np.zeros(1, np.int32)
    waits[(1, )](np.array([5], dtype), out)
    assert out[0] == 1


@tile.jit
def first_waits_for_the_others(flag, data, out, n, HOW: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        if HOW == "poll":
            tl.atomic_poll(flag, n)
        elif HOW == "or":
            while tl.atomic_or(flag, 0, sem="acquire") < n:
                pass
        else:
            while tl.load(flag, volatile=True) < n:
                pass
        i = tl.arange(0, 8)
        tl.store(out, tl.sum(tl.load(data + i, mask=i <= n, other=0)))
    else:
        tl.store(data + pid, pid)
        tl.atomic_add(flag, 1, sem="release")


# Interpreted programs run one after the other.
@pytest.mark.compiled
@pytest.mark.parametrize("how", ["poll", "or", "volatile"])
def test_programs_wait_for_later_ones(how):
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    first_waits_for_the_others[(6, )](flag, np.zeros(8, np.int32), out, 5, how)
    assert out[0] == 15


def test_an_interpreted_poll_in_vain():
    with pytest.raises(RuntimeError, match="atomic_poll waits forever"):
        tile.interpret(waits.fn)[(1, )](np.array([4], np.int32), np.zeros(1, np.int32))


@tile.jit
def polls_for_a_while(flag):
    tl.atomic_poll(flag, 1, timeout_ns=100)


@tile.jit
def stores_in_no_order(flag):
    tl.atomic_store(flag, 1, sem="acquire")


@tile.jit
def loads_bytes(b):
    tl.atomic_load(b)


@pytest.mark.compiled
@pytest.mark.parametrize("kernel, dtype, message", [
    (polls_for_a_while, np.int32, "timeout_ns is not supported"),
    (stores_in_no_order, np.int32, "must be 'release' or 'relaxed', got 'acquire'"),
    (loads_bytes, np.int8, "needs elements of 16, 32 or 64 bits, got int8"),
])
def test_what_atomic_accesses_refuse(kernel, dtype, message):
    with pytest.raises(tile.CompilationError, match=message):
        kernel[(1, )](np.zeros(1, dtype))
