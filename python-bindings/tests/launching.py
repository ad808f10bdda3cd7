# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches on the devices of fake_gpu: the fixture, what was launched, kernels to launch."""

import enum
import inspect

import fake_gpu
import pytest
from fake_gpu import Tensor

import tile
import tile.language as tl
from tile import _C
from tile.compiler.kernel import CompiledKernel
from tile.compiler.session import describe_arguments


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    driver = fake_gpu.load()
    if isinstance(driver, str):
        pytest.skip(driver)
    driver.fake_set_context(0)
    for device in (0, 1):
        driver.fake_set_stream(device, 0)
    driver.fake_set_capturing(0)
    driver.fake_set_launch_status(0)
    driver.fake_set_attribute_status(0)
    # The driver reads PTX.
    monkeypatch.setattr(CompiledKernel, "_image", lambda self: self.asm["ptx"].encode() + b"\0")
    yield driver
    driver.fake_set_context(-1)


def last_launch():
    driver = fake_gpu.load()
    record = driver.fake_launch(driver.fake_num_launches() - 1).contents
    return fake_gpu.Launch.from_buffer_copy(record)


def launched(function):
    """What `function` launched: a Launch or None."""
    before = fake_gpu.load().fake_num_launches()
    function()
    assert fake_gpu.load().fake_num_launches() - before in (0, 1)
    return last_launch() if fake_gpu.load().fake_num_launches() > before else None


def fast_launches(kernel):
    return kernel._launch_statistics()[1]


def twice(kernel, grid, *args, **kwargs):
    """Launches through Python, then on the fast path; both must do the same."""
    first = launched(lambda: kernel[grid](*args, **kwargs))
    before = fast_launches(kernel)
    second = launched(lambda: kernel[grid](*args, **kwargs))
    assert fast_launches(kernel) == before + 1, "the fast path did not know the arguments"
    assert first.same_as(second)
    return second


def fresh(**options):
    return tile.jit(_nothing, **options)


def _nothing(a, b, n, m, f=2.0, BLOCK: tl.constexpr = 64):
    pass


def functions_of(kernel, position, values, args=None):
    """The functions that are launched for values of one argument, on the fast path."""
    result = []
    for value in values:
        arguments = list(args or (Tensor(), Tensor(), 2, 2, 2.0))
        arguments[position] = value
        for _ in range(2):
            before = fast_launches(kernel)
            kernel[(1, )](*arguments)
        assert fast_launches(kernel) == before + 1
        result.append(last_launch().function)
    return result


class Color(enum.Enum):
    RED, GREEN = 1, 2


def helper(x):
    return x


class StubKernel:
    """A compiled kernel without code: for each signature its own function."""

    made = {}

    def __init__(self, arguments):
        self.arguments = arguments
        self.types = [_ir_type(leaf.type) for argument in arguments for leaf in argument.leaves()]
        self.by_device = {}

    @classmethod
    def of(cls, arguments, *rest):
        """One for equal arguments, of any JITFunction."""
        key = repr(describe_arguments(arguments)), repr([_exact(a.value) for a in arguments]), repr(rest)
        return cls.made.setdefault(key, cls(arguments))

    def loaded(self, device):
        if device not in self.by_device:
            sizes = {"ptr": "u64", "i64": "u64", "i32": "u32", "i1": "u8", "f32": "f32", "f16": "b16"}
            parameters = ", ".join(f".param .{sizes[t]} p" for t in self.types)
            self.by_device[device] = _C.CudaKernel(f".entry k({parameters})\0".encode(), "k", self.types,
                                                   128, 0)
        return self.by_device[device]

    def loaded_on(self, device):
        return self.by_device.get(device)


def _exact(value):
    if isinstance(value, tuple):
        return [_exact(v) for v in value]
    return type(value).__name__, id(value) if inspect.isfunction(value) else repr(value)


def _ir_type(type_):
    if type_.is_ptr():
        return "ptr"
    return f"{'f' if type_.is_floating() else 'i'}{type_.primitive_bitwidth}"
