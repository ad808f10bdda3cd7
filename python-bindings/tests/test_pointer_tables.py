# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of the host that kernels reach through addresses in arrays or as numbers."""

import sys
import types

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.errors import TileError
from tile.runtime.reachable import reachable

pytestmark = pytest.mark.emulator


class Tensor:
    """As much of torch's class as the search for live tensors asks."""

    device = types.SimpleNamespace(type="cpu")
    __torch_dispatch__ = None

    def __init__(self, array):
        self.array = array

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.array.ctypes.data,
                                     nbytes=lambda: self.array.nbytes)


class SparseTensor(Tensor):
    """One without such memory."""

    def untyped_storage(self):
        raise NotImplementedError


class FakeTensor(Tensor):
    """One that must not be asked."""

    __torch_dispatch__ = True

    def untyped_storage(self):
        raise AssertionError


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor))


@tile.jit
def add_all(table, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(n):
        part = tl.load(table + k).to(tl.pointer_type(tl.float32))
        total += tl.load(part + i)
    tl.store(out + i, total)


@tile.jit
def copy_from(address, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(address.to(tl.pointer_type(tl.float32)) + i))


def kernels(kernel):
    return [kernel, tile.interpret(kernel)]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_tables_of_tensors(dtype):
    tensors = [Tensor(np.random.default_rng(k).normal(size=64).astype(np.float32)) for k in range(3)]
    table = np.array([t.array.ctypes.data for t in tensors], dtype)
    for kernel in kernels(add_all):
        out = np.zeros(64, np.float32)
        kernel[(1, )](table, out, 3, 64)
        np.testing.assert_allclose(out, sum(t.array for t in tensors), rtol=1e-6)


def test_addresses_as_numbers():
    tensor = Tensor(np.arange(32, dtype=np.float32))
    for kernel in kernels(copy_from):
        out = np.zeros(32, np.float32)
        kernel[(1, )](tensor.array.ctypes.data, out, 32)
        np.testing.assert_array_equal(out, tensor.array)


def test_the_end_of_a_tensor_is_checked():
    tensor = Tensor(np.zeros(32, np.float32))
    for kernel in kernels(copy_from):
        with pytest.raises(TileError, match="out of bounds"):
            kernel[(1, )](tensor.array.ctypes.data, np.zeros(64, np.float32), 64)


def test_what_is_searched():
    tensor, *_ = Tensor(np.zeros(8, np.int64)), SparseTensor(None), FakeTensor(None)
    start, size = tensor.array.ctypes.data, tensor.array.nbytes
    assert reachable([start + 8], [], []) == [(start, size)]
    assert reachable([start + size, 5, -1, 1 << 60], [], []) == []
    assert reachable([start], [], [(start - 16, 32)]) == [], "the launch has that memory"
    table = np.array([3, start], np.int64)
    assert reachable([], [(table.ctypes.data, table.nbytes)], []) == [(start, size)]
    assert reachable([], [(0, 0)], []) == []
