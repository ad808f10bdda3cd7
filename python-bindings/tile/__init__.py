# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile kernels in Python.

    import tile
    import tile.language as tl
"""

# In a build tree the extension module is in another folder of the same name.
__path__ = __import__("pkgutil").extend_path(__path__, __name__)

from . import backends, emulator, errors, knobs, language, testing
from .compiler import ASTSource, CompiledKernel, GPUTarget, compile
from .errors import (CompilationError, CompileTimeAssertionFailure, EmulatorError, OutOfResources,
                     TritonError)
from .host import cdiv, next_power_of_2
from .language import aggregate, constexpr
from .language.core import must_use_result
from .language.types import constexpr_function
from .runtime import Config, JITFunction, KernelInterface, autotune, heuristics
from .runtime.arguments import MockTensor, TensorWrapper, reinterpret
from .runtime.background import AsyncCompileMode
from .runtime.jit import interpret, jit, set_allocator

__version__ = "0.1.0"

__all__ = ["ASTSource", "AsyncCompileMode", "CompilationError", "CompileTimeAssertionFailure",
           "CompiledKernel", "Config", "EmulatorError", "GPUTarget", "JITFunction",
           "KernelInterface", "MockTensor", "OutOfResources", "TensorWrapper", "TritonError",
           "aggregate", "autotune", "cdiv", "compile", "constexpr", "constexpr_function",
           "emulator", "errors", "heuristics", "interpret", "jit", "knobs", "language",
           "must_use_result", "next_power_of_2", "reinterpret", "set_allocator", "testing"]
