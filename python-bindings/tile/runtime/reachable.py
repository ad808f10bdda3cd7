# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory that a launch on the host reaches through addresses that are passed as numbers."""

from __future__ import annotations

import bisect
import gc
import sys

# Arrays of a process lie between; indices, sizes and hashes mostly do not.
_ADDRESSES = range(1 << 32, 1 << 48)
# Longer arrays of 64-bit integers are not tables of pointers.
_LONGEST_TABLE = 1 << 16


def _numbers(start: int, size: int):
    """The 64-bit integers at an address."""
    import ctypes  # slow, and rarely needed
    count = min(size // 8, _LONGEST_TABLE)
    return memoryview((ctypes.c_uint64 * count).from_address(start)).cast("B").cast("Q") if count else ()


def _live_storages():
    """Where the torch tensors of the process are: (start, size)."""
    torch = sys.modules["torch"]
    for value in gc.get_objects():
        # Not isinstance, which asks proxies of all kinds for their class. Tensors of classes that
        # run operations by themselves (fake ones, wrappers) have no memory of their own.
        kind = type(value)
        if not issubclass(kind, torch.Tensor) or (kind.__torch_dispatch__ is not
                                                  torch.Tensor.__torch_dispatch__):
            continue
        try:
            if value.device.type == "cpu":
                storage = value.untyped_storage()
                yield storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):  # sparse ones, say
            continue


def reachable(numbers, tables, known):
    """The memory, as [(start, size)], of live tensors whose addresses are among `numbers` or in
    `tables` (start, size), arrays of 64-bit integers, and not in `known` (start, size): kernels
    get lists of tensors that way."""
    if sys.modules.get("torch") is None:
        return []
    found = {n for n in numbers if n in _ADDRESSES}
    for start, size in tables:
        found.update(n for n in _numbers(start, size) if n in _ADDRESSES)
    found = sorted(a for a in found if not any(start <= a < start + size for start, size in known))
    if not found:
        return []
    storages = set()
    for start, size in _live_storages():
        position = bisect.bisect_left(found, start)
        if position < len(found) and found[position] < start + size:
            storages.add((start, size))
    return sorted(storages)
