# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs get wrong, and states that they leave: errors where kernels would be wrong, hang or
fail later."""

import dataclasses
import json
import math
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = [pytest.mark.compiled, pytest.mark.emulator]


@pytest.fixture(autouse=True)
def emulator(monkeypatch):
    """All is about the emulator."""
    monkeypatch.setattr(type(tile.runtime.driver.default), "is_active", staticmethod(lambda: False))


def run_program(*arguments) -> str:
    """What a program, which must succeed, prints."""
    return subprocess.run([sys.executable, *arguments], check=True, timeout=60, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout


@tile.jit
def add_factor(x, BLOCK: tl.constexpr, FACTOR: tl.constexpr = 1.0):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * FACTOR + 1)


@pytest.mark.parametrize("name", ["debug", "launch_pdl", "enable_fp_fusion", "sanitize_overflow"])
def test_options_that_are_flags(name):
    x = np.zeros(4, np.float32)
    for value in ("no", [], [1], 3, np.ones(2)):
        with pytest.raises(TypeError, match=f"{name} must be True or False, got "):
            add_factor[(1, )](x, BLOCK=4, **{name: value})
    for value in (np.True_, 1, tl.constexpr(True), None):
        add_factor[(1, )](x, BLOCK=4, **{name: value})
    assert x.tolist() == [4] * 4
    assert add_factor.warmup(x, BLOCK=4, grid=(1, ), enable_fp_fusion=None).options.enable_fp_fusion is True


@dataclasses.dataclass(frozen=True)
class Setting:
    value: object


@tile.jit
def scale(x, SETTING: tl.constexpr):
    tl.store(x, tl.load(x) * SETTING.value)


def test_equal_dataclasses_of_other_constants():
    signs = []
    for value in (0.0, -0.0):
        x = np.ones(1, np.float32)
        scale[(1, )](x, Setting(value))
        signs.append(math.copysign(1, x[0]))
    assert signs == [1, -1]


@tile.jit
def compare_pointers(x, out):
    tl.store(out, (x == 0).to(tl.int32))
    tl.store(out + 1, (0 != x).to(tl.int32))
    tl.store(out + 2, (tl.arange(0, 4) < x).to(tl.int32).sum())


def test_numbers_compared_with_pointers():
    out = np.full(3, 7, np.int32)
    compare_pointers[(1, )](out, out)
    assert out.tolist() == [0, 1, 4]


@tile.jit
def poll(x, VALUE: tl.constexpr):
    tl.atomic_poll(x, VALUE)


@pytest.mark.parametrize("value, message", [(1.5, "must be an integer, got fp32"),
                                            (2**40, "waits for 1099511627776, which is no int32")])
def test_polling_for_what_cannot_be(value, message):
    """Not for the number that is left of it."""
    with pytest.raises(tile.CompilationError, match=message):
        poll[(1, )](np.ones(1, np.int32), value)


def test_hooks_that_are_no_functions():
    with pytest.raises(TypeError, match="a hook is a function, got 3"):
        tile.knobs.runtime.launch_enter_hook.add(3)
    assert not tile.knobs.runtime.launch_enter_hook


def test_scopes_remove_hooks():
    names = []

    def outer(metadata):
        names.append("outer")

    def inner(metadata):
        names.append("inner")

    hooks = tile.knobs.runtime
    x = np.zeros(4, np.float32)
    try:
        hooks.launch_enter_hook.add(outer)
        chain = hooks.launch_enter_hook
        with hooks.scope():
            hooks.launch_enter_hook.add(inner)
            hooks.launch_enter_hook.remove(outer)
            add_factor[(1, )](x, BLOCK=4)
        add_factor[(1, )](x, BLOCK=4)
        with hooks.scope():
            hooks.launch_enter_hook = inner
            add_factor[(1, )](x, BLOCK=4)
        add_factor[(1, )](x, BLOCK=4)
        assert names == ["inner", "outer"] * 2 and hooks.launch_enter_hook is chain
    finally:
        hooks.reset()
    add_factor[(1, )](x, BLOCK=4)
    assert len(names) == 4


def test_extents_of_descriptors():
    x = np.zeros((8, 8), np.float32)
    for shape, block, message in [((2**32 + 8, 8), (4, 8), "shape must be numbers from 0 to 2147483647"),
                                  ((-8, 8), (4, 8), "shape must be numbers from 0"),
                                  ((8, 8), (0, 8), "block_shape must be positive"),
                                  ((8, 8), (-4, 8), "block_shape must be positive")]:
        with pytest.raises(ValueError, match=message):
            TensorDescriptor(x, shape, (8, 1), block)
    with pytest.raises(ValueError, match="at least one dimension"):
        TensorDescriptor(x, (), (), ())


def test_data_to_preload_that_are_wrong():
    data = json.loads(add_factor.warmup(tl.float32, BLOCK=4, grid=(1, )).specialization_data)
    for keys in ([], data["keys"][:2], [["*"], *data["keys"][1:]], [["*", "zz", True], *data["keys"][1:]]):
        with pytest.raises(ValueError, match="the data are not what"):
            add_factor.preload(json.dumps({**data, "keys": keys}))


def test_kernels_that_were_pickled():
    x = np.zeros(4, np.float32)
    with ThreadPoolExecutor(1) as executor, tile.AsyncCompileMode(executor):
        future = add_factor.warmup(x, BLOCK=4, grid=(1, ), num_warps=1)
        kernel = pickle.loads(pickle.dumps(future))
    kernel.run(1, 1, 1, 0, None, None, None, None, None, x, 4, 1.0)
    assert x.tolist() == [1] * 4 and kernel.hash == future.hash
    with pytest.raises(ValueError, match="or unpickled"):
        kernel.specialization_data
    with pytest.raises(TypeError, match=r"or unpickled: launch it with run\(...\)"):
        kernel[(1, )](x, 4, 1.0)


def test_masked_arrays_are_known_without_an_import():
    """An import that is under way in another thread is never over in the child of a fork."""
    with pytest.raises(TypeError, match="masked arrays"):
        add_factor[(1, )](np.ma.masked_array(np.zeros(4, np.float32)), BLOCK=4)
    program = ("import sys, numpy, tile.language\nfrom tile.runtime.arguments import as_array\n"
               "as_array(numpy.zeros(4))\nprint('numpy.ma' in sys.modules)")
    assert run_program("-c", program).strip() == "False"


class _Place:
    pass


PLACE = _Place()
PLACE.inner = _Place()
FACTOR = 3


@tl.constexpr_function
def twice(value):
    return value * 2


@tl.constexpr_function
def times_factor(value):
    return twice(value) * FACTOR


@tile.jit
def add_constants(x):
    tl.store(x, tl.load(x) + PLACE.inner.value + times_factor(1))


def test_constants_in_objects_and_below_constexpr_functions(monkeypatch):
    def added():
        x = np.zeros(1, np.float32)
        add_constants[(1, )](x)
        return x[0]

    monkeypatch.setattr(PLACE.inner, "value", 1, raising=False)
    assert added() == 7
    with monkeypatch.context() as patch:
        patch.setattr(PLACE.inner, "value", 2)
        with pytest.raises(RuntimeError, match="the variable value has changed since add_constants"):
            added()
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "FACTOR", 4)
        with pytest.raises(RuntimeError, match="the variable FACTOR has changed since add_constants"):
            added()
    assert added() == 7
    monkeypatch.setitem(globals(), "twice", tl.constexpr_function(lambda value: value * 20))
    assert added() == 61


def test_threads_that_compile_when_the_program_ends(tmp_path):
    """Python takes the GIL away from them for ever."""
    program = tmp_path / "program.py"
    program.write_text("""
import threading
import time
import numpy as np
import tile
import tile.language as tl

tile.knobs.use_cache = False

@tile.jit
def kernel(x, N: tl.constexpr):
    tl.store(x, N)

def compile_many():
    for n in range(10000):
        kernel[(1, )](np.zeros(1, np.int32), n)

kernel[(1, )](np.zeros(1, np.int32), -1)
threading.Thread(target=compile_many, daemon=True).start()
time.sleep(0.2)
""")
    for _ in range(3):
        run_program(program)


def test_sub_interpreters_are_refused():
    """They would take the types of the extension module away from the main interpreter."""
    program = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import sys
import tile
other = interpreters.create()
run = getattr(interpreters, "run_string")
run(other, f'''
import sys
sys.path[:] = {sys.path!r}
try:
    import tile
except ImportError as error:
    print(error)
''')
interpreters.destroy(other)
options = tile._C.EmulatorOptions()
options.threads = 3
print(options.threads)
"""
    refusal, threads = run_program("-c", program).splitlines()
    # Python 3.13 refuses by itself, before the package is asked.
    assert refusal in ("tile works in the main interpreter of a process only, not in a sub-interpreter",
                       "module tile._C does not support loading in subinterpreters")
    assert threads == "3"
