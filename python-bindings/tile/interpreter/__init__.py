# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels as Python, with NumPy: for debuggers, prints and breakpoints."""

from .launch import InterpretedFunction, interpret, run_kernel
__all__ = ["InterpretedFunction", "interpret", "run_kernel"]
