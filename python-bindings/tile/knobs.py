# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of the package: the only file that reads the environment.

Attributes may be assigned at run time. None of them changes the code that a given
kernel, with given options and target, is compiled to, except `line_info`.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "on", "true", "yes")


def _count(name: str) -> int:
    text = os.environ.get(name, "") or "0"
    if not text.isdecimal() or int(text) > 65536:
        raise ValueError(f"the environment's {name} must be a number from 0 to 65536, got {text!r}")
    return int(text)


def _toolkit_roots() -> list[str]:
    """Folders that may hold ptxas and libdevice."""
    roots = [os.environ.get("TILE_CUDA_HOME"), os.environ.get("CUDA_HOME"),
             os.environ.get("CUDA_PATH"), sys.prefix, "/usr/local/cuda"]
    return [root for root in roots if root and Path(root).exists()]


def _cache_dir() -> str:
    """The folder of compiled code: TILE_CACHE_DIR, or `tile` in the user's cache folder as the
    XDG Base Directory Specification defines it, which ignores relative paths. Empty for a
    user without a home."""
    chosen = os.environ.get("TILE_CACHE_DIR")
    if chosen:
        try:
            return os.path.abspath(os.path.expanduser(chosen))
        except OSError:  # the current folder was removed
            return ""
    for base in (os.environ.get("XDG_CACHE_HOME", ""),
                 os.path.join(os.path.expanduser("~"), ".cache")):
        if os.path.isabs(base):
            return os.path.join(base, "tile")
    return ""


cache_dir: str = _cache_dir()
# Whether compiled code is kept on disk.
use_cache: bool = bool(cache_dir) and not _flag("TILE_NO_CACHE")
# The chip that host arrays (the emulator) are compiled for.
emulator_chip: str = os.environ.get("TILE_EMULATOR_CHIP", "sm_90a")
# Path of ptxas; empty: searched in `toolkit_roots` and on PATH.
ptxas: str = os.environ.get("TILE_PTXAS", "")
toolkit_roots: list[str] = _toolkit_roots()
# Host threads of the emulator; 0: as many as there are cores.
emulator_threads: int = _count("TILE_EMULATOR_THREADS")
# Put source lines into the code; the emulator names them in its reports.
line_info: bool = not _flag("TILE_NO_LINE_INFO")
# Where reproducers of internal errors go.
dump_dir: str = os.environ.get("TILE_DUMP_DIR", "")
# Kernels are run by Python, line by line: for debuggers.
interpret: bool = _flag("TILE_INTERPRET")
# Keep the choices of all autotuners on disk.
cache_autotuning: bool = _flag("TILE_CACHE_AUTOTUNING")
# Report the winner of each autotuning run.
print_autotuning: bool = _flag("TILE_PRINT_AUTOTUNING")
# Show the progress of autotuning on a terminal, if the package rich is installed.
progress: bool = not _flag("TILE_NO_PROGRESS")


def find_ptxas():
    """Path of ptxas (empty if there is none: the compiler says where it looked), and what
    tells one version from another: size and time of the file."""
    candidates = [ptxas] if ptxas else [
        *(str(path) for root in toolkit_roots for path in (
            Path(root) / "bin/ptxas", *Path(root).glob("lib/python3*/site-packages/nvidia/*/bin/ptxas"))),
        shutil.which("ptxas") or ""]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            status = os.stat(candidate)
            return candidate, status.st_size, status.st_mtime_ns
    return ptxas, 0, 0
