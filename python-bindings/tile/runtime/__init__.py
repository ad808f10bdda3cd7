# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launching and tuning kernels."""

from ..errors import OutOfResources, PTXASError
from .arguments import MockTensor, TensorWrapper, reinterpret
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import driver
from .jit import JITFunction, KernelInterface

__all__ = ["Autotuner", "Config", "Heuristics", "JITFunction", "KernelInterface", "MockTensor",
           "OutOfResources", "PTXASError", "TensorWrapper", "autotune", "driver", "heuristics", "reinterpret"]
