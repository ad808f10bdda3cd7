# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the package in the build tree if it is not installed; `--device=cuda` runs the
kernels of all tests on a GPU, `--device=interpreter` in Python, and `--device=compare` in
Python and in the emulator, whose results must agree. `--checks=race,uninit` turns checks of
the emulator on for all tests."""

import atexit
import contextlib
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
    parser.addoption("--device", choices=("emulator", "cuda", "interpreter", "compare"), default="emulator",
                     help="where the kernels of the tests run; cuda needs torch")
    parser.addoption("--checks", default="", metavar="NAME,...",
                     help="what the emulator checks in all tests: race, uninit")


def pytest_configure(config):
    config.addinivalue_line("markers", "emulator: about something that only the emulator has")
    config.addinivalue_line("markers", "compiled: about compiled code; the interpreter has none")
    config.addinivalue_line("markers", "unordered: two runs may differ, by the order of programs, say")
    if config.getoption("--device") == "cuda":
        _run_on_gpu()
    if config.getoption("--device") in ("interpreter", "compare"):
        _run_in_interpreter(config.getoption("--device") == "compare")


def pytest_collection_modifyitems(config, items):
    device = config.getoption("--device")
    unwanted = {"emulator": (), "cuda": ("emulator", ), "interpreter": ("compiled", ),
                "compare": ("compiled", "unordered")}[device]
    for item in items:
        for name in unwanted:
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=f"{name} only"))


@pytest.fixture(autouse=True, scope="session")
def _checks(request):
    names = [name for name in request.config.getoption("--checks").split(",") if name]
    if not names:
        yield
        return
    import tile
    with contextlib.ExitStack() as stack:
        stack.enter_context(tile.emulator.checks(*names))
        yield


def _run_in_interpreter(compare: bool):
    """Makes launches of compiled kernels interpret them, and compare with the emulator."""
    from tile.interpreter import run_kernel
    from tile.runtime.jit import JITFunction
    run = JITFunction.run

    def interpreted_run(self, *args, grid, warmup=False, **kwargs):
        if warmup:
            return run(self, *args, grid=grid, warmup=True, **kwargs)
        plain = [p.name for p in self.params if not p.specialise]
        if not compare:
            return run_kernel(self.compiled_function(), grid, args, kwargs, plain)
        arrays = _host_arrays([*args, *kwargs.values()])
        before = [a.copy() for a, _, _ in arrays]
        run_kernel(self.compiled_function(), grid, args, kwargs, plain)
        interpreted = [a.copy() for a, _, _ in arrays]
        for (array, _, _), old in zip(arrays, before):
            array[:] = old
        kernel = run(self, *args, grid=grid, warmup=False, **kwargs)
        for (array, start, dtype), values in zip(arrays, interpreted):
            _check_agreement(self.__name__, dtype, values[start:], array[start:])
        return kernel

    JITFunction.run = interpreted_run


def _host_arrays(values):
    """The memory of all arrays that may be written: its bytes, where elements begin, their type."""
    import numpy
    from tile.interpreter.memory import host_bytes
    from tile.runtime.arguments import as_array
    from tile.tools.tensor_descriptor import TensorDescriptor
    found = {}
    for value in values:
        if isinstance(value, tuple):
            found.update(((a.ctypes.data, a.size), (a, *rest)) for a, *rest in _host_arrays(value))
            continue
        value = value.base if isinstance(value, TensorDescriptor) else value
        if not (isinstance(value, numpy.ndarray) or hasattr(value, "data_ptr")):
            continue
        array = as_array(value)
        if not array.read_only:
            start = (array.address - array.start) % array.dtype.itemsize
            found[array.start, array.size] = host_bytes(array.start, array.size), start, array.dtype
    return list(found.values())


def _check_agreement(kernel: str, dtype, interpreted, compiled):
    import numpy
    from tile.interpreter.formats import IN_MEMORY, decode
    name = dtype.ir
    whole = len(compiled) // IN_MEMORY[name].itemsize * IN_MEMORY[name].itemsize
    a, b = (decode(x[:whole].view(IN_MEMORY[name]), name) for x in (interpreted, compiled))
    if not dtype.is_floating():
        numpy.testing.assert_array_equal(a, b, f"{kernel}: interpreter and emulator")
        return
    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    finite = numpy.isfinite(b)
    epsilon = 2.0**-dtype.fp_mantissa_width
    # Sums of many terms are as exact as their largest terms.
    scale = numpy.abs(b[finite]).max(initial=0)
    tolerance = max(64 * epsilon, 1e-5 if dtype.is_fp32() else 0)
    numpy.testing.assert_array_equal(a[~finite], b[~finite], f"{kernel}: interpreter and emulator")
    numpy.testing.assert_allclose(a[finite], b[finite], rtol=tolerance, atol=tolerance * scale,
                                  err_msg=f"{kernel}: interpreter and emulator")


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


def _is_kernel_array(array) -> bool:
    """Whether launches take the array; those that do not must see it to say why."""
    from tile.runtime.arguments import as_array
    try:
        return as_array(array) is not None
    except TypeError:
        return False


def _run_on_gpu():
    """Makes launches move their NumPy arrays to the GPU and back."""
    import dataclasses
    import numpy
    from tile.runtime.arguments import TensorWrapper
    from tile.runtime.jit import JITFunction
    from tile.tools.tensor_descriptor import TensorDescriptor
    run = JITFunction.run

    def moved_run(self, *args, grid, warmup=False, **kwargs):
        moved = {}

        def move(value):
            if isinstance(value, numpy.ndarray) and _is_kernel_array(value):
                return moved.setdefault(id(value), _Moved(value))
            if isinstance(value, TensorDescriptor):
                return dataclasses.replace(value, base=move(value.base))
            if isinstance(value, TensorWrapper):
                return TensorWrapper(move(value.base), value.dtype)
            if isinstance(value, tuple):
                parts = [move(v) for v in value]
                return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
            return value

        if not warmup:
            args, kwargs = [move(v) for v in args], {k: move(v) for k, v in kwargs.items()}
        if not moved or kwargs.get("stream") is not None:
            kernel = run(self, *args, grid=grid, warmup=warmup, **kwargs)
        else:
            # As users launch: the arrays are on the GPU now, so that this comes here again
            # only for what the launcher in C++ leaves to `run`.
            kernel = self[grid](*args, **kwargs)
        for array in moved.values():
            array.bring_back()
        return kernel

    JITFunction.run = moved_run
