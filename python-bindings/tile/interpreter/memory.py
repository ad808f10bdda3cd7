# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that a launch may touch: the arrays that were passed."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from ..errors import MemoryAccessError
from .formats import IN_MEMORY, Value, decode, encode
from .rewrite import CODES


def kernel_place() -> str:
    """File, line and function of the kernel's statement that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code in CODES:
            return f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}"
        frame = frame.f_back
    return "outside of a kernel"


class Region:
    """Contiguous memory: its address as the kernel sees it, and its bytes on the host."""

    def __init__(self, name: str, start: int, data, itemsize: int, read_only: bool):
        self.name, self.start, self.bytes = name, start, data
        self.stop = start + len(data)
        self.itemsize, self.read_only = itemsize, read_only
        self._views = {}

    def view(self, kind):
        """The bytes as elements of a NumPy type, and the address of the first one."""
        found = self._views.get(kind)
        if found is None:
            skip = -self.start % kind.itemsize
            count = max(0, len(self.bytes) - skip) // kind.itemsize
            found = self._views[kind] = (self.bytes[skip:skip + count * kind.itemsize].view(kind),
                                         self.start + skip)
        return found


def host_bytes(address: int, size: int):
    """Memory of this process as an array of bytes."""
    if not size:
        return np.zeros(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class Memory:
    """Loads from and stores to regions, each of which is checked."""

    def __init__(self, regions):
        # Of views of one buffer the widest is asked first.
        self.regions = sorted((r for r in regions if len(r.bytes)), key=lambda r: r.start - r.stop)

    def access(self, pointer: Value, mask, action: str):
        """Where the elements are: [(region, which elements, their indices in its view)]."""
        kind = IN_MEMORY[pointer.type.pointee.name]
        addresses = pointer.array.reshape(-1)
        active = np.ones(addresses.shape, bool) if mask is None else mask.array.reshape(-1)
        places, missing = [], active
        for region in self.regions:
            if not missing.any():
                break
            inside = missing & (addresses >= region.start) & (addresses <= region.stop - kind.itemsize)
            if not inside.any():
                continue
            which = np.flatnonzero(inside)
            _, first = region.view(kind)
            offsets = addresses[which] - first
            if (offsets % kind.itemsize).any():
                bad = which[np.flatnonzero(offsets % kind.itemsize)[0]]
                self.fail(pointer, bad, kind, f"{action} is not aligned to {kind.itemsize} bytes")
            if region.read_only and action != "load":
                self.fail(pointer, which[0], kind, f"{action} to an array that is read-only")
            places.append((region, which, offsets // kind.itemsize))
            missing = missing & ~inside
        if missing.any():
            self.fail(pointer, np.flatnonzero(missing)[0], kind, f"{action} is out of bounds")
        return places

    def fail(self, pointer: Value, position: int, kind, what: str):
        address = int(pointer.array.reshape(-1)[position])
        shape = pointer.array.shape
        element = ""
        if shape:
            index = ", ".join(str(int(i)) for i in np.unravel_index(position, shape))
            element = f" of element [{index}]"
        words = what.split(" ", 1)
        text = f"{kernel_place()}: error: {words[0]}{element} {words[1]}: {kind.itemsize} byte(s) at "
        if not self.regions:
            raise MemoryAccessError(text + f"address {address:#x}; the launch has no arrays")
        region = min(self.regions, key=lambda r: max(r.start - address, address - r.stop + 1, 0))
        offset = address - region.start
        raise MemoryAccessError(
            text + f"offset {offset} (index {offset // region.itemsize}) of {region.name}, which has "
            f"{len(region.bytes)} bytes ({len(region.bytes) // region.itemsize} elements)")

    def load(self, pointer: Value, mask, other):
        """The elements; where the mask is false those of `other`, or 0."""
        name = pointer.type.pointee.name
        kind = IN_MEMORY[name]
        stored = np.zeros(pointer.array.size, kind)
        if other is not None:
            stored[:] = encode(other.array, name).reshape(-1)
        for region, which, indices in self.access(pointer, mask, "load"):
            stored[which] = region.view(kind)[0][indices]
        return decode(stored.reshape(pointer.array.shape), name)

    def store(self, pointer: Value, value: Value, mask):
        kind = IN_MEMORY[pointer.type.pointee.name]
        stored = encode(value.array, pointer.type.pointee.name).reshape(-1)
        for region, which, indices in self.access(pointer, mask, "store"):
            region.view(kind)[0][indices] = stored[which]

    def update(self, pointer: Value, mask, combine):
        """Replaces elements one after the other by `combine(old, positions)`; the old ones."""
        name = pointer.type.pointee.name
        kind = IN_MEMORY[name]
        before = np.zeros(pointer.array.size, kind)
        for region, which, indices in self.access(pointer, mask, "atomic"):
            view = region.view(kind)[0]
            # Elements that are named several times are taken in turn.
            while len(indices):
                _, first = np.unique(indices, return_index=True)
                now, where = which[first], indices[first]
                old = view[where]
                before[now] = old
                view[where] = encode(combine(decode(old, name), now), name)
                rest = np.ones(len(indices), bool)
                rest[first] = False
                which, indices = which[rest], indices[rest]
        return decode(before.reshape(pointer.array.shape), name)
