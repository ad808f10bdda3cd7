# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that only the machine knows, as inline assembly: they are compiled on their own and
run in the emulator on the operands."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ..compiler.kernel import CompiledKernel
from ..compiler.session import Options, Session, Source, generate
from ..runtime import emulator
from ..runtime.arguments import HOST, Array
from .formats import IN_MEMORY, Value, decode, encode


@dataclass(frozen=True)
class Operation:
    """An operation that is compiled on its own; equal ones are compiled once.

    `kind` is "asm" (`details`: text, constraints, is pure, elements for each run) or "extern"
    (`details`: the symbol). `count` is the extent of the tiles, or 0 for scalars.
    """

    kind: str
    details: tuple
    inputs: tuple
    outputs: tuple
    count: int
    chip: str
    num_warps: int

    def build(self, builder, handles, results):
        if self.kind == "extern":
            return [builder.extern_elementwise(self.details[0], handles, results[0], True)]
        text, constraints, is_pure, pack = self.details
        return builder.inline_assembly(text, constraints, handles, results, is_pure, pack)


def _native_type(builder, name: str):
    if name[0] == "i":
        return builder.int_type(int(name[1:]))
    return builder.float_type(name)


@functools.lru_cache(maxsize=256)
def _compiled(operation: Operation) -> CompiledKernel:
    """A kernel that loads the operands, applies the operation and stores its results."""
    session = Session(operation.chip)
    builder = session.builder
    builder.set_location("", 1, 1)
    elements = [_native_type(builder, name) for name in (*operation.inputs, *operation.outputs)]
    places = builder.start_kernel("operation", operation.chip, [builder.ptr_type(e, 1) for e in elements],
                                  [16] * len(elements))
    types, shape = elements, [operation.count]
    if operation.count:
        index = builder.arange(0, operation.count)
        types = [builder.tensor_type(shape, e) for e in elements]
        places = [builder.op("tile.addptr", [builder.splat(p, shape), index],
                             builder.tensor_type(shape, builder.ptr_type(e, 1)))
                  for p, e in zip(places, elements)]
    inputs = len(operation.inputs)
    handles = [builder.load(p, None, None, "", "", False) for p in places[:inputs]]
    for place, result in zip(places[inputs:], operation.build(builder, handles, types[inputs:])):
        builder.store(place, result, None, "", "")
    builder.finish_kernel()
    options = Options(num_warps=operation.num_warps)
    source = Source(session, "operation", "")
    return CompiledKernel(source, generate(source, operation.chip, options), operation.chip, options)


def _aligned(count: int, kind):
    """An array of zeros whose address is a multiple of 16."""
    raw = np.zeros(count * kind.itemsize + 16, np.uint8)
    skip = -raw.ctypes.data % 16
    return raw[skip:skip + count * kind.itemsize].view(kind)


def run(kind: str, details, arguments, types, chip: str, num_warps: int):
    """The results of an operation of the machine on values of one shape."""
    shape = types[0].shape
    size = int(np.prod(shape, dtype=np.int64))
    count = 0
    if shape:
        count = 128
        while count < size:
            count *= 2
    operation = Operation(kind, tuple(details), tuple(a.type.name for a in arguments),
                          tuple(t.name for t in types), count, chip, num_warps)
    kernel = _compiled(operation)
    arrays = [_aligned(max(1, count), IN_MEMORY[name]) for name in (*operation.inputs, *operation.outputs)]
    for array, argument in zip(arrays, arguments):
        array[:size] = encode(argument.array, argument.type.name).reshape(-1)
    regions = [Array(a.ctypes.data, None, HOST, a.ctypes.data, a.nbytes) for a in arrays]
    emulator.launch(kernel, (1, 1, 1), [a.ctypes.data for a in arrays], regions)
    return [Value(decode(array[:size].reshape(shape), t.name), t)
            for array, t in zip(arrays[len(arguments):], types)]
