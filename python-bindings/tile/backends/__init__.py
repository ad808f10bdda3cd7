# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The devices that kernels run on, by the names under which programs for Triton look for them."""

from __future__ import annotations

from dataclasses import dataclass

from ..runtime.driver import Driver
from .compiler import Compiler


@dataclass(frozen=True)
class Backend:
    """The classes of a backend: its compiler, and its driver."""

    compiler: type
    driver: type


# Host arrays run in the emulator, which PyTorch Inductor calls the backend "cpu".
backends = {"nvidia": Backend(Compiler, Driver), "cpu": Backend(Compiler, Driver)}
