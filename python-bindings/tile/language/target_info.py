# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels may ask about the chip that they are compiled for; all is known at compile time."""

from __future__ import annotations

import re

from .types import state, unwrap


def current_target():
    """The chip, as a `tile.GPUTarget`; None where it is not known, as outside of kernels."""
    from ..compiler.kernel import GPUTarget
    # The session of the front end knows the chip; of the interpreter, the builder.
    chip = getattr(state.compiler, "chip", None) or getattr(state.builder, "chip", None)
    found = re.match(r"sm_(\d+)", chip or "")
    return GPUTarget("cuda", int(found[1]), 32) if found else None


def is_cuda() -> bool:
    """Whether the kernel is compiled for an NVIDIA GPU: always, the emulator runs their code."""
    return current_target() is not None


def is_hip() -> bool:
    return False


def cuda_capability_geq(major, minor=0) -> bool:
    """Whether the chip has at least this compute capability."""
    target = current_target()
    return target is not None and target.arch >= 10 * unwrap(major) + unwrap(minor)
