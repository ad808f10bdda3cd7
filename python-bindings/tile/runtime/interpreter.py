# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that Python runs, by the name of Triton's module `triton.runtime.interpreter`."""

from ..interpreter import InterpretedFunction

__all__ = ["InterpretedFunction"]
