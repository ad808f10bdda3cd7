# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation, by the names of Triton's module `triton.compiler.compiler`."""

from ..runtime.cache import triton_key
from ..runtime.hooks import LaunchMetadata as LazyDict
from .kernel import ASTSource, CompiledKernel, GPUTarget, compile

__all__ = ["ASTSource", "CompiledKernel", "GPUTarget", "LazyDict", "compile", "make_backend", "triton_key"]


def make_backend(target: GPUTarget):
    """The compiler for a target."""
    from ..backends.compiler import Compiler
    if not Compiler.supports_target(target):
        raise RuntimeError(f"only NVIDIA GPUs are supported, got {target}")
    return Compiler(target)
