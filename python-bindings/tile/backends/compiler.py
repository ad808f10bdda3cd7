# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs for Triton ask the compiler of a target: its key and its options."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import SimpleNamespace

from .. import _C
from ..compiler.kernel import GPUTarget
from ..compiler.session import Options

__all__ = ["BaseBackend", "Compiler", "GPUTarget"]


class BaseBackend(ABC):
    """What the compiler of any target is."""

    def __init__(self, target: GPUTarget):
        self.target = target

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool:
        """Whether kernels for `target` are compiled by this class."""

    @abstractmethod
    def hash(self) -> str:
        """Changes with the compiler and the target."""

    @abstractmethod
    def parse_options(self, options: dict) -> SimpleNamespace:
        """All options, of which `options` gives some."""


class Compiler(BaseBackend):
    """The compiler for one target."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend in ("cuda", "cpu")

    def hash(self) -> str:
        """Changes with the compiler and the target."""
        return f"{_C.build_id()}-{self.target.chip}"

    def parse_options(self, options: dict) -> SimpleNamespace:
        """All options, of which `options` gives some; what is no option of the compiler is left out."""
        fields = Options.__dataclass_fields__
        chosen = Options(**{name: value for name, value in options.items() if name in fields})
        # Those that are computed with where the chip has no instruction for them are among them.
        supported = ("fp8e4nv", "fp8e5", "fp8e4b15")
        return SimpleNamespace(**{name: getattr(chosen, name) for name in fields},
                               supported_fp8_dtypes=supported, arch=self.target.chip,
                               backend_name=self.target.backend)
