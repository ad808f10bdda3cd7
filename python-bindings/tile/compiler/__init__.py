# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler: front end and code generation."""

from . import errors
from .compiler import make_backend
from .kernel import ASTSource, CompiledKernel, GPUTarget, compile, compile_arguments
from .session import Argument, Options

__all__ = ["ASTSource", "Argument", "CompiledKernel", "GPUTarget", "Options", "compile",
           "compile_arguments", "errors", "make_backend"]
