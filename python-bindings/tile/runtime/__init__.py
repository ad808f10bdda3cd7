# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launching and tuning kernels."""

from ..errors import OutOfResources
from .autotuner import Config, autotune, heuristics
from .driver import driver
from .jit import JITFunction, jit

__all__ = ["Config", "JITFunction", "OutOfResources", "autotune", "driver", "heuristics", "jit"]
