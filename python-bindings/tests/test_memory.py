# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads, stores, pointers, block pointers, descriptors, atomics."""

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def copy(src, dst, n, BLOCK: tl.constexpr, OTHER: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(src + i, mask=i < n, other=OTHER)
    tl.store(dst + i, value)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64, np.float16, np.float32,
                                   np.float64])
@pytest.mark.parametrize("n", [1, 31, 128, 200])
def test_masked_load_with_other(dtype, n):
    src = np.arange(256).astype(dtype)
    dst = np.zeros(256, dtype)
    copy[(4, )](src[:n].copy(), dst, n, 64, 1)
    expected = np.where(np.arange(256) < n, src, np.ones(1, dtype)[0])
    np.testing.assert_array_equal(dst, expected.astype(dtype))


@tile.jit
def transpose(src, dst, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    x = tl.load(src + rows[:, None] * n + columns[None, :], mask=inside)
    tl.store(dst + columns[:, None] * m + rows[None, :], x.T, mask=inside.T)


@pytest.mark.parametrize("m, n", [(32, 32), (50, 37), (1, 100)])
def test_transpose(m, n):
    src = np.random.default_rng(0).normal(size=(m, n)).astype(np.float32)
    dst = np.zeros((n, m), np.float32)
    transpose[(tile.cdiv(m, 32), tile.cdiv(n, 16))](src, dst, m, n, 32, 16)
    np.testing.assert_array_equal(dst, src.T)


@tile.jit
def strided(src, dst, stride, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(dst + i, tl.load(src + i.to(tl.int64) * stride))


@pytest.mark.parametrize("stride", [1, 2, -1, 3])
def test_strided_views(stride):
    base = np.arange(256, dtype=np.int32)
    view = base[::stride][:64] if stride > 0 else base[::-1][:64]
    dst = np.zeros(64, np.int32)
    strided[(1, )](view, dst, view.strides[0] // 4, 64)
    np.testing.assert_array_equal(dst, view)


@tile.jit
def scalar_access(src, dst, n):
    total = 0.0
    for i in range(n):
        total += tl.load(src + i)
    if tl.program_id(0) == 0:
        tl.store(dst, total)


def test_scalar_pointers():
    src, dst = np.arange(10, dtype=np.float32), np.zeros(1, np.float32)
    scalar_access[(2, )](src, dst, 10)
    assert dst[0] == 45


@tile.jit
def hinted(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(i, BLOCK), BLOCK)
    tl.assume(n > 0)
    value = tl.load(src + i, mask=i < n, eviction_policy="evict_first", cache_modifier=".cg")
    tl.store(dst + i, value, mask=i < n, cache_modifier=".cs", eviction_policy="evict_last")


@pytest.mark.compiled
def test_hints_and_cache_modifiers():
    src, dst = np.arange(300, dtype=np.float32), np.zeros(300, np.float32)
    kernel = hinted[(3, )](src, dst, 300, 128)
    np.testing.assert_array_equal(dst, src)
    assert "evict_first" in kernel.asm["tile"] and "evict(evict_last)" in kernel.asm["tile"]


@tile.jit
def block_copy(src, dst, m, n, sm, sn, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr):
    p = tl.make_block_ptr(src, (m, n), (sm, sn), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(dst, (m, n), (n, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(tl.cdiv(n, BN)):
        value = tl.load(p, boundary_check=(0, 1), padding_option=PAD)
        tl.store(q, value + 1, boundary_check=(0, 1))
        p = tl.advance(p, (0, BN))
        q = tl.advance(q, (0, BN))


@pytest.mark.parametrize("shape", [(16, 16), (20, 50), (33, 7)])
@pytest.mark.parametrize("order", "CF")
def test_block_pointers(shape, order):
    src = np.asarray(np.random.default_rng(1).normal(size=shape).astype(np.float32), order=order)
    dst = np.zeros(shape, np.float32)
    strides = [s // 4 for s in src.strides]
    block_copy[(tile.cdiv(shape[0], 16), )](src, dst, *shape, *strides, 16, 16, "zero")
    np.testing.assert_array_equal(dst, src + 1)


@tile.jit
def padded(src, dst, n, N: tl.constexpr, PAD: tl.constexpr):
    p = tl.make_block_ptr(src, (n, ), (1, ), (0, ), (N, ), (0, ))
    tl.store(dst + tl.arange(0, N), tl.load(p, boundary_check=(0, ), padding_option=PAD))


@pytest.mark.parametrize("padding, value", [("zero", 0), ("nan", np.nan)])
def test_padding_of_block_pointers(padding, value):
    src, dst = np.ones(5, np.float32), np.zeros(16, np.float32)
    padded[(1, )](src, dst, 5, 16, padding)
    np.testing.assert_array_equal(dst, [1] * 5 + [value] * 11)


@tile.jit
def through_descriptor(src, dst, m, n, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(src, [m, n], [n, 1], [BM, BN])
    target = tl.make_tensor_descriptor(dst, [m, n], [n, 1], [BM, BN])
    for j in range(0, n, BN):
        value = source.load([tl.program_id(0) * BM, j])
        target.store([tl.program_id(0) * BM, j], value * 2)


def test_tensor_descriptors():
    src = np.random.default_rng(2).normal(size=(40, 48)).astype(np.float32)
    dst = np.zeros_like(src)
    through_descriptor[(3, )](src, dst, 40, 48, 16, 32)
    np.testing.assert_array_equal(dst, src * 2)


@tile.jit
def pointer_table(table, dst, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(COUNT):
        src = tl.load(table + k).to(tl.pointer_type(tl.float32))
        tl.store(dst + k * N + i, tl.load(src + i))


@pytest.mark.emulator
def test_tables_of_pointers():
    # The table points into an array that is passed too, so that the emulator knows it.
    data = np.arange(128, dtype=np.float32)
    table = np.array([data.ctypes.data + 4 * o for o in (64, 0, 32)], np.int64)
    out = np.zeros((3, 32), np.float32)

    @tile.jit
    def kernel(table, data, dst, COUNT: tl.constexpr, N: tl.constexpr):
        pointer_table(table, dst, COUNT, N)

    kernel[(1, )](table, data, out, 3, 32)
    np.testing.assert_array_equal(out, [data[64:96], data[0:32], data[32:64]])


# Atomics ----------------------------------------------------------------------------------


@tile.jit
def histogram_by_atomics(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(out + value, 1, mask=i < n)


def test_atomic_add():
    x = np.random.default_rng(3).integers(0, 10, 500).astype(np.int32)
    out = np.zeros(10, np.int32)
    histogram_by_atomics[(4, )](x, out, 500, 128)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=10))


@tile.jit
def atomic_sum(x, out, old, N: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    total = tl.sum(tl.load(x + tl.arange(0, N)), axis=0)
    before = tl.atomic_add(out, total, sem=SEM, scope=SCOPE)
    tl.store(old + tl.program_id(0), before)


@pytest.mark.unordered
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint32, np.float16])
@pytest.mark.parametrize("sem, scope", [("relaxed", "gpu"), (None, None), ("acq_rel", "sys")])
def test_atomic_add_of_scalars_returns_the_old_value(dtype, sem, scope):
    x, out, old = np.ones(32, dtype), np.zeros(1, dtype), np.zeros(4, dtype)
    atomic_sum[(4, )](x, out, old, 32, sem, scope)
    assert out[0] == 128
    np.testing.assert_array_equal(np.sort(old), [0, 32, 64, 96])


@tile.jit
def atomic_others(x, out, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    out = out + tl.zeros((N, ), tl.int32)
    tl.atomic_max(out, value)
    tl.atomic_min(out + 1, value)
    tl.atomic_or(out + 2, value)
    tl.atomic_and(out + 3, value)
    tl.atomic_xor(out + 4, value)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_other_atomics(dtype):
    x = np.random.default_rng(4).integers(1, 1000, 64).astype(dtype)
    out = np.array([0, 10**6, 0, -1 if dtype != np.uint32 else 2**32 - 1, 0], dtype)
    atomic_others[(1, )](x, out, 64)
    np.testing.assert_array_equal(out, [x.max(), x.min(), np.bitwise_or.reduce(x),
                                        np.bitwise_and.reduce(x), np.bitwise_xor.reduce(x)])


@tile.jit
def float_max(x, out, N: tl.constexpr):
    tl.atomic_max(out + tl.zeros((N, ), tl.int32), tl.load(x + tl.arange(0, N)))


def test_atomic_max_of_floats():
    x = np.random.default_rng(5).normal(size=64).astype(np.float32)
    out = np.array([-np.inf], np.float32)
    float_max[(1, )](x, out, 64)
    assert out[0] == x.max()


@tile.jit
def float_extrema(x, out, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    old = tl.atomic_max(out + tl.arange(0, N), value)
    tl.atomic_min(out + N + tl.arange(0, N), value)
    tl.store(out + 2 * N + tl.arange(0, N), old)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_atomic_extrema_are_in_the_total_order(dtype):
    order = np.array([-np.nan, -np.inf, -2, -0.0, 0.0, 2, np.inf, np.nan], dtype)
    order[[0, -1]] = np.copysign(dtype(np.nan), [-1, 1])
    old, new = (a.ravel() for a in np.meshgrid(np.arange(8), np.arange(8)))
    out = np.concatenate([order[old], order[old], np.zeros(64, dtype)])
    float_extrema[(1, )](order[new], out, 64)
    expected = order[np.concatenate([np.maximum(old, new), np.minimum(old, new), old])]
    assert out.tobytes() == expected.tobytes()


@tile.jit
def locked_add(lock, out, n):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_spin_lock():
    lock, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    locked_add[(6, )](lock, out, 5)
    assert out[0] == 30 and lock[0] == 0


@tile.jit
def exchange_in_memory(scratch, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(scratch + i, i)
    tl.debug_barrier()
    tl.store(out + i, tl.load(scratch + N - 1 - i))


@pytest.mark.emulator
def test_debug_barrier_orders_memory():
    scratch, out = np.zeros(256, np.int32), np.zeros(256, np.int32)
    with tile.emulator.checks("race"):
        exchange_in_memory[(1, )](scratch, out, 256)
    np.testing.assert_array_equal(out, np.arange(256)[::-1])


@tile.jit
def through_host_descriptor(source, target, n, BM: tl.constexpr, BN: tl.constexpr):
    for j in range(0, n, BN):
        target.store([tl.program_id(0) * BM, j], source.load([tl.program_id(0) * BM, j]) + 1)


@pytest.mark.emulator
def test_descriptors_of_the_host():
    src = np.random.default_rng(2).normal(size=(40, 48)).astype(np.float32)
    dst = np.zeros_like(src)
    through_host_descriptor[(3, )](TensorDescriptor.from_tensor(src, [16, 32]),
                                   TensorDescriptor.from_tensor(dst, [16, 32]), 48, 16, 32)
    np.testing.assert_array_equal(dst, src + 1)
    with pytest.raises(ValueError, match="no multiple of 16 bytes"):
        TensorDescriptor.from_tensor(np.zeros((4, 5), np.float32), [4, 4])
    with pytest.raises(ValueError, match="last stride must be 1"):
        TensorDescriptor.from_tensor(src.T, [16, 32])


def set_blocks(arguments):
    for name in ("source", "target"):
        arguments[name].block_shape = [arguments["BM"], arguments["BN"]]


@pytest.mark.emulator
def test_autotuners_set_the_blocks_of_descriptors():
    """The compiler sees what the hook of a config has set."""
    tuned = tile.autotune([tile.Config({"BM": 16, "BN": n}, pre_hook=set_blocks) for n in (16, 32)],
                          key=["n"], do_bench=lambda once, quantiles: once() or 1)(through_host_descriptor)
    src = np.random.default_rng(3).normal(size=(32, 64)).astype(np.float32)
    dst = np.zeros_like(src)
    descriptors = [TensorDescriptor.from_tensor(array, [1, 1]) for array in (src, dst)]
    tuned[(2, )](*descriptors, 64)
    assert not tuned.failures
    np.testing.assert_array_equal(dst, src + 1)


def interface(description):
    return type("Made", (), {"__cuda_array_interface__": description})()


class NoAddress:
    dtype = "float32"

    def data_ptr(self):
        return "here"


@pytest.mark.parametrize("array, message", [
    (np.ma.masked_array([1.0], [True]), "masked arrays cannot be passed"),
    (interface({}), "the __cuda_array_interface__ of the Made is not as version 3"),
    (interface(None), "is not as version 3 of it says: None"),
    (interface({"typestr": "<f4", "data": "x"}), "is not as version 3"),
    (interface({"typestr": "<f4", "data": (-5, False)}), "the Made has the address -5"),
    (NoAddress(), "the NoAddress has the address 'here'"),
])
def test_arrays_that_are_none(array, message):
    with pytest.raises(TypeError, match=message):
        scalar_access[(1, )](array, np.zeros(4, np.float32), 4)


@tile.jit
def padded_with_nan(x):
    tl.make_tensor_descriptor(x, [4, 4], [4, 1], [4, 4], padding_option="nan")


@pytest.mark.compiled
def test_integers_have_no_nan():
    with pytest.raises(tile.CompilationError, match="'nan' needs floating-point elements, not int32"):
        padded_with_nan[(1, )](np.zeros(16, np.int32))
