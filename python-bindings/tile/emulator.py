# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of the emulator that runs kernels on host arrays."""

from .runtime.emulator import checks

__all__ = ["checks"]
