# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fast path of launches against the Python path, at random."""

import enum
import random

import fake_gpu
import numpy as np
import pytest
from fake_gpu import FLOAT16, INT64, CudaArray, DLPackArray, NewerTensor, PointerArray, Tensor
from launching import gpu  # noqa: F401, a fixture
from launching import Color, StubKernel, fast_launches, functions_of, helper, launched

import tile
import tile.language as tl
from tile.runtime.parameters import argument_of_key
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled


def _mixed(a, b, n, m: tl.int64, f, h: tl.float16, N: tl.constexpr, MODE: tl.constexpr = "x"):
    pass


class Size(enum.IntEnum):
    SMALL = 16


NUMBERS = [
    0, 1, -1, 2, 15, 16, 17, -16, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**63 - 1, 2**63, -2**63,
    2**64 - 16, 2**64, -2**63 - 1, True, False, 1.0, 0.0, -0.0,
    float("inf"), 1e300, 0.1, None, Size.SMALL,
    np.int32(5),
    np.int64(16),
    np.float32(1.5),
    tl.constexpr(1),
    tl.constexpr(7), (1, 2), (3, (4.0, None)), "text", helper, (1, ), (True, 2**40), ((), 16.0),
    TensorDescriptor(PointerArray(64), (4, 8), (8, 1), (2, 8)),
    TensorDescriptor(PointerArray(64), (5, 8), (8, 1), (4, 8), "nan")
]
CONSTANTS = [
    1, True, 1.0, 0.0, -0.0,
    float("nan"), None, "a", "ab", (1, True), (True, 1), [1, 2], (1, (2, "x")), tl.float32, tl.float16,
    helper, functions_of, 2**70, Color.RED, Color.GREEN, {},
    np.float32(2), (),
    tl.constexpr(3), Size.SMALL, 16, 17
]
GRIDS = [(1, ), (2, 3), (1, 2, 3), [4], 5, (0, ), lambda meta: (3, ), lambda meta: 4,
         (-1, ), (1, 2, 3, 4), ("x", ), lambda meta: (len(meta), ), (tl.constexpr(2), ), (Size.SMALL, ),
         (True, ), None, (2**40, ), lambda meta: (0, )]
OPTIONS = [("num_warps", 4), ("num_warps", 8), ("num_warps", 3), ("num_warps", True), ("num_stages", 2),
           ("num_stages", "2"), ("maxnreg", None), ("maxnreg", 32), ("launch_pdl", True),
           ("stream", 0x99), ("unknown", 1), ("n", 3), ("debug", True)]


def random_array(numbers):
    make = numbers.choice([Tensor, Tensor, Tensor, NewerTensor, PointerArray, CudaArray, DLPackArray])
    arguments = {"offset": numbers.choice([0, 4, 16, 40, 64]), "device": numbers.random() < 0.02}
    if make not in (PointerArray, CudaArray):
        arguments["dtype"] = numbers.choice([fake_gpu.FLOAT32, FLOAT16, INT64, (6, 8), (4, 16)])
    if make is PointerArray:
        arguments["dtype"] = numbers.choice(
            ["float32", "int64", "bfloat16", tl.float32,
             np.dtype("float16")])
    if make is CudaArray:
        arguments.update(typestr=numbers.choice(["<f4", "<i8", "|b1"]),
                         stream=numbers.choice([None, 1, 5]))
    return make(**arguments)


def random_call(numbers):
    """Some arguments of a usual call are replaced: what the fast path has seen must come again."""
    makers = {"a": random_array, "b": random_array, "N": lambda n: n.choice(CONSTANTS),
              "MODE": lambda n: n.choice(CONSTANTS), **dict.fromkeys("nmfh", lambda n: n.choice(NUMBERS))}
    values = {"a": Tensor(), "b": Tensor(8), "n": 6, "m": 7, "f": 0.5, "h": 0.25, "N": 4}
    for name in numbers.sample(list(makers), numbers.choice([1, 1, 2, 2, 3])):
        values[name] = makers[name](numbers)
    if numbers.random() < 0.02:
        del values[numbers.choice(list(values))]
    names = list(values)
    cut = numbers.randrange(len(names) + 1)
    keywords = names[cut:]
    numbers.shuffle(keywords)
    kwargs = {name: values[name] for name in keywords}
    if numbers.random() < 0.3:
        kwargs.update([numbers.choice(OPTIONS)])
    return [values[name] for name in names[:cut]
            ], kwargs, numbers.choice(GRIDS if numbers.random() < 0.3 else GRIDS[:3])


def outcome(function):
    """What a call launched and returned, or its error."""
    returned = []
    try:
        return launched(lambda: returned.append(function())), returned[0], None
    except Exception as error:
        return None, None, (type(error), str(error))


def test_random_calls(monkeypatch):
    monkeypatch.setattr(tile.JITFunction, "_compile", lambda self, keys, options, chip: StubKernel.of(
        [argument_of_key(p.name, k) for p, k in zip(self.params, keys)], options, chip))
    fast, slow = tile.jit(_mixed), tile.jit(_mixed)
    numbers = random.Random(5)
    calls = [random_call(numbers) for _ in range(10000)]
    errors = 0
    for args, kwargs, grid in calls + calls:
        launch, kernel, error = outcome(lambda: fast[grid](*args, **kwargs))
        expected_launch, expected_kernel, expected_error = outcome(
            lambda: slow.run(*args, grid=grid, **kwargs))
        assert error == expected_error, (args, kwargs)
        assert kernel is expected_kernel, (args, kwargs)
        assert (launch is None) == (expected_launch is None), (args, kwargs)
        assert launch is None or launch.same_as(expected_launch), (args, kwargs)
        errors += error is not None
    assert fast_launches(fast) > 6000 and fast_launches(slow) == 0 and errors > 1000
