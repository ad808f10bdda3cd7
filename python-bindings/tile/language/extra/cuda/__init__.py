# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that only NVIDIA GPUs have."""

from ... import core, semantic
from ... import types as ty
from . import libdevice


def _register(asm: str, type_):
    return core.inline_asm_elementwise(asm, "=l" if type_ is ty.int64 else "=r", [], type_, False, 1)


def globaltimer():
    """The time in ns since some fixed moment, an int64."""
    return _register("mov.u64 $0, %globaltimer;", ty.int64)


def smid():
    """The multiprocessor that this program runs on, an int32."""
    return _register("mov.u32 $0, %smid;", ty.int32)


def num_threads():
    """Threads of a block, an int32."""
    return _register("mov.u32 $0, %ntid.x;", ty.int32)


def num_warps():
    """Warps of a block, an int32."""
    return semantic.arithmetic("//", num_threads(), 32)
