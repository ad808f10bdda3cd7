# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that only NVIDIA GPUs have."""

from ... import elementwise, semantic, target_info
from ... import types as ty
from . import libdevice


def _register(asm: str, type_):
    constraint = "=l" if type_ is ty.int64 else "=r"
    return elementwise.inline_asm_elementwise(asm, constraint, [], type_, False, 1)


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


def _grid_control(name: str):
    if not target_info.cuda_capability_geq(9, 0):
        raise ValueError(f"gdc_{name} needs sm_90 or newer: guard it by a tl.constexpr, as by "
                         "tl.target_info.cuda_capability_geq(9, 0)")
    _register(f"griddepcontrol.{name}; mov.b32 $0, 0;", ty.int32)


def gdc_wait():
    """Waits for the grids that this one depends on (programmatic dependent launch)."""
    _grid_control("wait")


def gdc_launch_dependents():
    """Lets the grids that depend on this one start (programmatic dependent launch)."""
    _grid_control("launch_dependents")


def _convert_custom_float8(*args, **kwargs):
    raise TypeError("conversions of tl.float8e4b15 are not supported: kernels know the 8-bit floats "
                    "tl.float8e4nv and tl.float8e5")


convert_custom_float8_sm70 = convert_custom_float8_sm80 = _convert_custom_float8
