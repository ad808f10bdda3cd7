# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile kernels in Python.

    import tile
    import tile.language as tl
"""

# In a build tree the extension module is in another folder of the same name.
__path__ = __import__("pkgutil").extend_path(__path__, __name__)

from . import emulator, errors, knobs, language, testing
from .compiler import ASTSource, CompiledKernel, GPUTarget, compile
from .errors import CompilationError, CompileTimeAssertionFailure, EmulatorError, OutOfResources
from .host import cdiv, next_power_of_2
from .language import aggregate, constexpr
from .runtime import Config, JITFunction, autotune, heuristics, jit
from .runtime.arguments import TensorWrapper, reinterpret
from .runtime.jit import constexpr_function, interpret, set_allocator

__version__ = "0.1.0"

__all__ = ["ASTSource", "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel",
           "Config", "EmulatorError", "GPUTarget", "JITFunction", "OutOfResources", "TensorWrapper",
           "aggregate", "autotune", "cdiv", "compile", "constexpr", "constexpr_function",
           "emulator", "errors", "heuristics", "interpret", "jit", "knobs", "language", "next_power_of_2",
           "reinterpret", "set_allocator", "testing"]
