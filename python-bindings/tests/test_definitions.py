# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How kernels may be written down: decorators, annotations, layout of the source."""

import copy
import inspect
import enum
import functools
import importlib.util
import os
import pickle
import threading
import types
from typing import Optional

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.language import constexpr as known


def call(kernel, *args, **kwargs):
    out = np.zeros(4, np.int32)
    kernel[(1, )](out, *args, **kwargs)
    return out.tolist()


@tile.jit
def annotated(out, n, A: known, B: Optional[tl.constexpr] = 2, C: "tl.constexpr" = 4):
    tl.store(out + tl.arange(0, C), n + tl.arange(0, A) + tl.arange(0, B * 2))


def test_other_names_of_constexpr():
    assert call(annotated, 3, A=4) == [3, 5, 7, 9]


def make_nested(offset):
    if True:

        @tile.jit
        def nested(out, n):
            """Lines of a string
and comments may begin further left than the function."""
# such as this one
            tl.store(out, n + offset)
            tl.store(out + 1, n + \
  1)

    return nested


def test_lines_that_are_indented_less():
    nested = make_nested(tl.constexpr(5))
    assert call(nested, 3) == [8, 4, 0, 0]
    assert call(tile.interpret(nested), 3) == [8, 4, 0, 0]


def transparent(function):

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def test_functions_below_functools_wraps():
    offset = tl.constexpr(5)

    @tile.jit
    @transparent
    def wrapped(out, n):
        tl.store(out, n + offset)

    assert call(wrapped, 3) == [8, 0, 0, 0]


class Instance:

    def __call__(self, x):
        pass


@pytest.mark.parametrize("function, message", [
    (print, "made with `def`, got <built-in function print>"),
    (int, "made with `def`, got <class 'int'>"),
    (staticmethod(make_nested), "write @tile.jit below @staticmethod"),
    (annotated, "is a kernel already"),
])
def test_no_functions(function, message):
    with pytest.raises(TypeError, match=message):
        tile.jit(function)


@pytest.mark.parametrize("function", (functools.partial(print), Instance(), 3))
def test_no_functions_to_interpret(function):
    with pytest.raises(TypeError, match="made with `def`"):
        tile.interpret(function)


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "changing.py"
    text = "import tile\n\ndef make():\n    @tile.jit\n    def first(out):\n        pass\n    return first\n"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text(text.replace("first", "other_name"))
    with pytest.raises(tile.CompilationError, match="the file has changed since it was imported"):
        module.make()
    path.write_text("\n")
    with pytest.raises(tile.CompilationError, match="the source of first cannot be found"):
        module.make()


def test_numbers_of_numpy_as_constants():
    factor = tl.constexpr(np.float32(2.5))

    @tile.jit
    def scaled(out, n):
        tl.store(out, n * factor * np.sqrt(4.0))

    assert call(scaled, 3) == call(tile.interpret(scaled), 3) == [15, 0, 0, 0]


def test_errors_can_be_sent_to_another_process():
    error = pickle.loads(pickle.dumps(tile.OutOfResources(3, 2, "shared memory")))
    assert (error.required, error.limit, error.name) == (3, 2, "shared memory")
    assert "required 3, limit 2" in str(error)
    frame = tile.errors.Frame(__file__, 3)
    error = tile.OutOfResources(3, 2, "threads", "for a reason", frame=frame, notes=["a note"])
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.frame == frame
    assert "(for a reason)" in str(error) and "a note" in str(error)


def test_kernels_copy_and_pickle_as_functions_do():
    tuned = tile.autotune([tile.Config({})], key=[])(annotated)
    for made in (copy.copy(annotated), copy.deepcopy(annotated), pickle.loads(pickle.dumps(annotated))):
        assert made is annotated
    assert call(copy.deepcopy(tuned), 3, A=4) == call(pickle.loads(pickle.dumps(tuned)), 3, A=4) == [3, 5, 7, 9]


@tile.jit
def größe_π(out, n):
    tl.store(out, n + 1)


@pytest.mark.compiled
def test_letters_beyond_ascii():
    assert call(größe_π, 3) == call(tile.interpret(größe_π), 3) == [4, 0, 0, 0]
    kernel = größe_π.warmup(np.zeros(4, np.int32), 3)
    assert kernel.name == "gr_uf6_udfe__u3c0" and kernel.name in kernel.asm["ptx"]


@tile.jit
def halves(out, f: tl.float64, g: tl.float16):
    tl.static_assert(f.dtype == tl.float64 and g.dtype == tl.float16)
    tl.store(out, (f / 2 * 10).to(tl.int32))
    tl.store(out + 1, (g / 2 * 10).to(tl.int32))


@pytest.mark.parametrize("kernel", (halves, tile.interpret(halves)))
@pytest.mark.parametrize("f", (3, 3.0, np.int64(3)))
def test_integers_for_parameters_of_floating_point(kernel, f):
    assert call(kernel, f, 1) == [15, 5, 0, 0]


@pytest.mark.compiled
def test_functions_that_are_defined_anew():
    names = {"tl": tl, "STEP": tl.constexpr(100)}
    for name in ("inner", "outer", "kernel"):
        names[name] = tile.jit(types.FunctionType(globals()[f"_{name}"].__code__, names, name))
    assert call(names["kernel"], 3) == [4, 0, 0, 0]
    names["inner"] = tile.jit(types.FunctionType(_other_inner.__code__, names, "inner"))
    assert call(names["kernel"], 3) == [103, 0, 0, 0]
    # A constant that a function below uses may not change.
    names["STEP"] = tl.constexpr(7)
    with pytest.raises(RuntimeError, match="STEP has changed since kernel was compiled"):
        call(names["kernel"], 3)


def _inner(x):
    return x + 1


def _other_inner(x):
    return x + STEP  # noqa: F821


def _outer(x):
    return inner(x)  # noqa: F821


def _kernel(out, n):
    tl.store(out, outer(n))  # noqa: F821


def launches_itself():
    if not inside:
        inside.append(1)
        call(reentrant, 16)
    return 5


inside = []


@tile.jit
def reentrant(out, n):
    tl.store(out, n + launches_itself())


@pytest.mark.compiled
def test_a_launch_while_the_kernel_is_compiled():
    assert call(reentrant, 16) == [21, 0, 0, 0]


def test_a_fork_while_another_thread_compiles():
    with annotated._lock:
        child = os.fork()
        if child == 0:
            # The lock's owner may be a thread that is not here; it is this one, so take another.
            taken = []
            thread = threading.Thread(target=lambda: taken.append(annotated._lock.acquire(timeout=5)))
            thread.start()
            thread.join()
            os._exit(0 if taken == [True] else 1)
        assert os.waitpid(child, 0)[1] == 0


class Size(enum.IntEnum):
    FOUR = 4


@tile.jit
def shares_names(out, n, num_warps: tl.constexpr, stream=5):
    tl.store(out, n + num_warps + stream)


@pytest.mark.compiled
def test_options_and_other_names_as_parameters():
    out = np.zeros(1, np.int32)
    kernel = shares_names[(1, )](out, Size.FOUR, num_warps=8)
    assert out[0] == 17 and kernel.metadata.num_warps == 8
    assert shares_names[(1, )](out, 3, 2, stream=7).metadata.num_warps == 2 and out[0] == 12


def test_arguments_of_numpy():
    assert call(annotated, np.int8(3), A=np.int64(4), B=np.int32(2)) == [3, 5, 7, 9]


@pytest.mark.compiled
@pytest.mark.parametrize("kernel", (annotated, tile.interpret(annotated)))
def test_arrays_that_kernels_do_not_take(kernel):
    with pytest.raises(TypeError, match="the argument out of annotated: the array is not in the byte order"):
        kernel[(1, )](np.zeros(4, ">i4"), 3, 4)


@pytest.mark.parametrize("grid", (None, "3", (1.5, ), lambda meta: None))
@pytest.mark.compiled
def test_no_grids(grid):
    with pytest.raises(TypeError, match="a grid has one to three integers, got "):
        annotated[grid](np.zeros(4, np.int32), 3, 4)


@pytest.mark.compiled
@pytest.mark.parametrize("option, error", [
    ({"num_warps": 4.0}, "num_warps must be an integer, got 4.0"), ({"maxnreg": -1}, "maxnreg must be a number"),
    ({"maxnreg": 23}, "of registers from 24 to 255, or 0 or None for no limit, got 23"),
    ({"maxnreg": 256}, "got 256"),
    ({"num_stages": 2**40}, "num_stages must be a number from 0"), ({"num_warps": np.int64(3)}, "got 3"),
])
def test_no_options(option, error):
    with pytest.raises((TypeError, ValueError), match=error):
        call(annotated, 3, A=4, **option)
    call(annotated, 3, A=4, num_warps=np.int64(2))
    for limit in (0, None, 24, 255):
        call(annotated, 3, A=4, maxnreg=limit)


@pytest.mark.compiled
def test_what_a_compiled_kernel_takes():
    out = np.zeros(1, np.int32)
    kernel = shares_names.warmup(out, 3, 2, grid=(1, ))
    kernel[(1, )](out, 4, 2, 5)
    assert out[0] == 11
    for arguments in ((5, out, 2, 5), (None, 3, 2, 5), (out, 2**40, 2, 5), (out, 1.5, 2, 5)):
        with pytest.raises(TypeError, match="the kernel was compiled for "):
            kernel[(1, )](*arguments)
    for data in ("", "{}", None):
        with pytest.raises(ValueError, match="the data are not what"):
            shares_names.preload(data)


@tile.jit
def _stores_configured(out):
    tl.store(out, configuration.N)


configuration = types.ModuleType("configuration")


def test_constants_of_modules_must_not_change():
    configuration.N = tl.constexpr(4)
    out = np.zeros(1, np.int32)
    _stores_configured[(1, )](out)
    assert out[0] == 4
    configuration.N = tl.constexpr(5)
    with pytest.raises(RuntimeError, match="the variable N has changed"):
        _stores_configured[(1, )](out)
    configuration.N = tl.constexpr(4)
    _stores_configured[(1, )](out)


class Limits:
    STEP = 4
    TYPE = tl.int32


CAST = tl.int32


@tile.jit
def uses_a_class(out, n):
    tl.store(out, (n + Limits.STEP).to(CAST).to(Limits.TYPE))


@pytest.mark.compiled
def test_attributes_and_types_must_not_change(monkeypatch):
    """Nothing that a kernel finds outside of itself is compiled in unnoticed."""
    assert call(uses_a_class, 3) == [7, 0, 0, 0]
    for place, name, value in ((Limits, "STEP", 5), (Limits, "TYPE", tl.int64), (None, "CAST", tl.int8)):
        with monkeypatch.context() as patch:
            if place is None:
                patch.setitem(globals(), name, value)
            else:
                patch.setattr(place, name, value)
            with pytest.raises(RuntimeError, match=f"{name} has changed since uses_a_class was compiled"):
                call(uses_a_class, 3)
    assert call(uses_a_class, 3) == [7, 0, 0, 0]
    # A class that is defined anew is compiled anew.
    monkeypatch.setitem(globals(), "Limits", type("Limits", (), {"STEP": 6, "TYPE": tl.int32}))
    assert call(uses_a_class, 3) == [9, 0, 0, 0]


BASE = 10


@pytest.mark.compiled
def test_globals_that_are_no_constexpr(monkeypatch):

    @tile.jit
    def kernel(out, n):
        tl.store(out, n + BASE)

    with pytest.raises(tile.CompilationError, match="BASE is a global variable of type int"):
        call(kernel, 3)
    monkeypatch.setattr(tile.knobs.compilation, "allow_non_constexpr_globals", True)
    assert call(kernel, 3) == [13, 0, 0, 0]
    monkeypatch.setitem(globals(), "BASE", 20)
    with pytest.raises(RuntimeError, match="BASE has changed since kernel was compiled.* 10, now it is 20"):
        call(kernel, 3)


@pytest.mark.emulator
def test_checks_are_of_one_thread():
    import threading
    from tile.runtime import emulator
    found = []
    with tile.emulator.checks("race"):
        thread = threading.Thread(target=lambda: found.append(emulator._options().check_races))
        thread.start()
        thread.join()
        assert emulator._options().check_races
    assert found == [False] and not emulator._options().check_races


@pytest.mark.compiled
def test_kernels_of_text():
    """As programs define kernels that they write: of a template, whose source they replace."""

    def template():
        pass

    names = {"tl": tl, "tile": tile}
    text = "def doubled(out, n: tl.constexpr, twice: tl.constexpr = 2):\n    tl.store(out, helper(n) * twice)\n"
    exec(text, names)
    function = types.FunctionType(template.__code__, names, "doubled")
    function.__signature__ = inspect.signature(names["doubled"])
    kernel = tile.jit(function)
    kernel._unsafe_update_src(text)
    names["helper"] = helper = tile.jit(_inner)
    assert kernel.src == text and [p.is_constexpr for p in kernel.params] == [False, True, True]
    assert call(kernel, 3) == call(kernel, n=3, twice=2) == [8, 0, 0, 0]
    # What it calls is replaced as well.
    key = kernel.cache_key
    helper._unsafe_update_src(helper.src.replace("x + 1", "x + 2"))
    assert call(kernel, 3) == [10, 0, 0, 0] and kernel.cache_key != key
    with pytest.raises(tile.CompilationError, match="the new source of doubled is no function"):
        kernel._unsafe_update_src("x = 1")
    assert call(kernel, 3) == [10, 0, 0, 0]


def test_types_in_tables_and_generated_programs():
    for name in ("int8", "uint64", "float16", "bfloat16", "float32", "float8e5"):
        assert eval(repr(getattr(tl, name))) == getattr(tl, name)
    assert str(tl.float32) == "fp32" and repr(tl.pointer_type(tl.int8)) == "pointer<int8>"
    assert tl.dtype.SINT_TYPES == ["int8", "int16", "int32", "int64"]
    assert "int1" in tl.dtype.UINT_TYPES and "fp8e5" not in tl.dtype.STANDARD_FP_TYPES


SCALE = tl.constexpr(3)


@tile.jit
def _scaled(n):
    return n * 3


def test_compiles_that_launches_know_nothing_of(monkeypatch):
    """Of constants that a compile without a launch or one that has failed has seen nothing is left:
    they may change; and of a function that was defined anew launches notice it all the same."""

    @tile.jit
    def kernel(out, n, FAIL: tl.constexpr = False):
        tl.static_assert(not FAIL)
        tl.store(out, _scaled(n) + SCALE)

    signature = {"out": "*i32", "n": "i32"}
    tile.compile(kernel, signature)
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(4))

    @tile.jit
    def fails(out):
        tl.store(out, SCALE)
        tl.static_assert(SCALE == 5)

    with pytest.raises(tile.CompileTimeAssertionFailure):
        call(fails)
    assert call(kernel, 2) == [10, 0, 0, 0]

    @tile.jit
    def anew(n):
        return n * 5

    monkeypatch.setitem(globals(), "_scaled", anew)
    tile.compile(kernel, signature)
    assert call(kernel, 2) == [14, 0, 0, 0]
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(5))
    assert call(fails) == [5, 0, 0, 0]


class _Decorated:
    """A decorator that is an object in place of the function."""

    def __init__(self, function):
        functools.update_wrapper(self, function)

    def __call__(self, *args):
        return self.__wrapped__(*args)


@pytest.mark.parametrize("decorator", [_Decorated, functools.lru_cache])
def test_decorators_that_are_objects(decorator):

    @tile.jit
    @decorator
    def kernel(out, n):
        tl.store(out, n)

    assert call(kernel, 2) == [2, 0, 0, 0] and kernel.__globals__ is globals()


def test_heuristics_without_values():
    with pytest.raises(TypeError, match="@tile.heuristics takes a dict of functions by the names of parameters"):

        @tile.heuristics
        @tile.jit
        def kernel(out):
            tl.store(out, 1)


@tile.jit
def _unpacks_a_dict(out):
    more: tl.constexpr = {"b": 2}
    values: tl.constexpr = {"a": 1, **more, "c": 3}
    tl.store(out, values["b"] * 10 + len(values))


def test_dicts_in_dicts():
    assert call(_unpacks_a_dict) == [23, 0, 0, 0]
