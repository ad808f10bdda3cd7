# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors of launches, by the names of Triton's module `triton.runtime.errors`."""

from ..errors import OutOfResources, PTXASError, TritonError

__all__ = ["OutOfResources", "PTXASError", "TritonError"]
