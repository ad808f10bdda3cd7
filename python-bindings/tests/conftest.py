# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the package in the build tree if it is not installed; `--device=cuda` runs the
kernels of all tests on a GPU."""

import atexit
import ctypes
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

# A cache of its own: tests neither use nor leave compiled code of others.
os.environ["TILE_CACHE_DIR"] = tempfile.mkdtemp(prefix="tile-test-cache-")
atexit.register(shutil.rmtree, os.environ["TILE_CACHE_DIR"], ignore_errors=True)

ROOT = Path(__file__).resolve().parents[2]

if importlib.util.find_spec("tile") is None:
    build = Path(os.environ.get("TILE_BUILD_DIR", ROOT / "build"))
    sys.path[:0] = [str(ROOT / "python-bindings"), str(build / "python")]
sys.path.insert(0, str(Path(__file__).resolve().parent))


def pytest_addoption(parser):
    parser.addoption("--device", choices=("emulator", "cuda"), default="emulator",
                     help="where the kernels of the tests run; cuda needs torch")


def pytest_configure(config):
    config.addinivalue_line("markers", "emulator: about something that only the emulator has")
    if config.getoption("--device") == "cuda":
        _run_on_gpu()


def pytest_collection_modifyitems(config, items):
    if config.getoption("--device") == "cuda":
        skip = pytest.mark.skip(reason="emulator only")
        for item in items:
            if item.get_closest_marker("emulator"):
                item.add_marker(skip)


class _Moved:
    """A NumPy array's memory on the GPU, as launchers take it."""

    def __init__(self, array):
        import numpy
        import torch
        from tile.runtime.arguments import from_numpy
        self.host = from_numpy(array)
        self.bytes = numpy.ctypeslib.as_array(
            (ctypes.c_uint8 * self.host.size).from_address(self.host.start)) if self.host.size else None
        self.memory = torch.from_numpy(self.bytes.copy()).cuda() if self.host.size else None
        self.dtype = self.host.dtype

    def data_ptr(self):
        if self.memory is None:
            return 0
        return self.memory.data_ptr() + self.host.address - self.host.start

    def bring_back(self):
        if self.memory is not None and not self.host.read_only:
            self.bytes[:] = self.memory.cpu().numpy()


def _run_on_gpu():
    """Makes launches move their NumPy arrays to the GPU and back."""
    import numpy
    from tile.runtime.jit import JITFunction
    run = JITFunction.run

    def moved_run(self, *args, warmup=False, **kwargs):
        if warmup:
            return run(self, *args, warmup=True, **kwargs)
        moved = {}

        def move(value):
            if isinstance(value, numpy.ndarray):
                return moved.setdefault(id(value), _Moved(value))
            if isinstance(value, tuple):
                parts = [move(v) for v in value]
                return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
            return value

        kernel = run(self, *map(move, args), warmup=False, **{k: move(v) for k, v in kwargs.items()})
        for array in moved.values():
            array.bring_back()
        return kernel

    JITFunction.run = moved_run
