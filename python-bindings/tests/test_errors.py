# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a wrong kernel is told: file, line, caret, types, and the calls that led there."""

import inspect
import re
import types

import numpy as np
import pytest

import tile
import tile.language as tl

X = np.zeros(128, np.float32)
THRESHOLD = 3


def failure(kernel, *args, **kwargs) -> tile.CompilationError:
    with pytest.raises(tile.CompilationError) as caught:
        kernel[(1, )](*args, **kwargs)
    return caught.value


@tile.jit
def mismatched(x):
    a = tl.load(x + tl.arange(0, 64))
    b = tl.load(x + tl.arange(0, 32))
    tl.store(x + tl.arange(0, 64), a + b)


def test_place_and_caret():
    error = failure(mismatched, X)
    line = inspect.getsourcelines(mismatched.fn)[1] + 4
    text = str(error)
    assert f"{__file__}:{line}:" in text
    assert "[64] and [32]" in text and "in mismatched" in text
    source, caret = text.splitlines()[1:3]
    assert source.strip() == "tl.store(x + tl.arange(0, 64), a + b)"
    assert source[caret.index("^"):caret.rindex("^") + 1] == "a + b"


@tile.jit
def inner(x):
    return tl.load(x) // 2


@tile.jit
def middle(x):
    return inner(x)


@tile.jit
def outer(x):
    tl.store(x, middle(x))


def test_chain_of_calls():
    text = str(failure(outer, X))
    assert "'//' needs integers, got fp32" in text
    assert re.search(r"error:.*\n.*tl.load\(x\) // 2(.*\n)*  called from .*in middle(.*\n)*  "
                     r"called from .*in outer", text)


@tile.jit
def undefined_name(x):
    tl.store(x, unknown_variable)


@tile.jit
def unknown_function(x):
    tl.loda(x)


@tile.jit
def uses_global(x):
    if tl.load(x) > THRESHOLD:
        tl.store(x, 0.0)


@tile.jit
def changes_type_in_loop(x):
    total = 0
    for i in range(10):
        total += tl.load(x + i)
    tl.store(x, total)


@tile.jit
def differs_in_branches(x, n):
    if n > 3:
        y = 1
    else:
        y = 2.0
    tl.store(x, y)


@tile.jit
def defined_in_one_branch(x, n):
    if n > 3:
        y = 1.0
    tl.store(x, y)


@tile.jit
def defined_in_loop(x, n):
    for i in range(n):
        y = 1.0
    tl.store(x, y)


@tile.jit
def tile_as_condition(x):
    if tl.load(x + tl.arange(0, 8)) > 0:
        tl.store(x, 1.0)


@tile.jit
def breaks(x, n):
    for i in range(n):
        if i > 3:
            break


@tile.jit
def returns_in_loop(x, n):
    for i in range(n):
        if i > 3:
            return


@tile.jit
def returns_value(x):
    return tl.load(x)


@tile.jit
def runtime_shape(x, n):
    tl.store(x + tl.arange(0, n), 0.0)


@tile.jit
def backward_range(x):
    tl.store(x + tl.arange(5, 4), 0.0)


@tile.jit
def bad_axis(x):
    tl.store(x, tl.sum(tl.load(x + tl.arange(0, 8)), axis=1))


@tile.jit
def wrong_mask(x):
    tl.store(x, tl.load(x, mask=tl.arange(0, 8) < 4))


@tile.jit
def other_without_mask(x):
    tl.store(x, tl.load(x, other=0.0))


@tile.jit
def not_a_pointer(x, n):
    tl.store(x, tl.load(n))


@tile.jit
def mixed_signs(x, n):
    tl.store(x, n % n.to(tl.uint32))


@tile.jit
def exp_of_int(x, n):
    tl.store(x, tl.exp(n))


@tile.jit
def subscripted(x):
    values = tl.load(x + tl.arange(0, 8))
    tl.store(x, values[0])


@tile.jit
def bad_dot(x):
    a = tl.zeros((16, 32), tl.float32)
    tl.store(x, tl.sum(tl.dot(a, a)))


@tile.jit
def bad_eviction(x):
    tl.store(x, tl.load(x, eviction_policy="evict_never"))


@tile.jit
def calls_python(x):
    tl.store(x, np.sqrt(tl.load(x)))


@tile.jit
def too_many_arguments(x):
    tl.store(x, inner(x, x))


@tile.jit
def bad_static_assert(x, N: tl.constexpr):
    tl.static_assert(N % 2 == 0, f"N must be even, got {N}")


@tile.jit
def recursive(x, n):
    recursive(x, n)


@tile.jit
def subscript_store(x):
    x[0] = 1.0


@tile.jit
def pointer_sum(x):
    tl.load(x + x)


@tile.jit
def matmul_operator(x):
    a = tl.zeros((16, 16), tl.float32)
    a @ a


@tile.jit
def needs_much(x):
    tl.store(x, tl.sum(tl.sort(tl.arange(0, 65536))))


@tile.jit
def ordered_by_none(x, n, limit=None):
    tl.store(x, n < limit)


@tile.jit
def list_in_loop(x, n):
    values = [n]
    for i in range(n):
        values.append(i)
    tl.store(x, len(values))


@tile.jit
def list_in_branch(x, n):
    values = [n]
    if n > 5:
        values.append(n)
    tl.store(x, len(values))


@tile.jit
def lambda_of_two(x, n):
    add = lambda a, b: a + b
    tl.store(x, add(n))


@tile.jit
def any_arguments(x, *rest):
    pass


@pytest.mark.parametrize("kernel, args, message", [
    (undefined_name, (), "unknown_variable is not defined"),
    (unknown_function, (), "has no attribute 'loda'"),
    (uses_global, (), "THRESHOLD is a global variable of type int.*tl.constexpr"),
    (changes_type_in_loop, (), "total has type int32 before the loop, but fp32 at the end"),
    (differs_in_branches, (8, ), "y has type int32 if the condition holds, but fp32 otherwise"),
    (defined_in_one_branch, (8, ), "y is not defined here: it was assigned in one branch"),
    (defined_in_loop, (8, ), "y is not defined here: it was assigned in a loop only"),
    (tile_as_condition, (), "a condition must be a scalar, got <\\[8\\], int1>"),
    (breaks, (8, ), "break cannot be used in kernels"),
    (returns_in_loop, (8, ), "`return` in a loop is not supported"),
    (returns_value, (), "a kernel cannot return a value"),
    (runtime_shape, (8, ), "arange's end must be known at compile time.*int32"),
    (backward_range, (), "end must be greater than its start, got 5 and 4"),
    (bad_axis, (), "axis 1 is out of range for a tile of rank 1"),
    (wrong_mask, (), "mask of a scalar pointer must be a scalar"),
    (other_without_mask, (), "`other` needs a `mask`"),
    (not_a_pointer, (8, ), "load needs a pointer or a tile of pointers, got int32"),
    (mixed_signs, (8, ), "same signedness, got int32 and uint32"),
    (exp_of_int, (8, ), "exp needs floating-point values.*got int32"),
    (subscripted, (), "can be subscripted with ':' and None only"),
    (bad_dot, (), "shapes of dot's operands do not fit: \\[16, 32\\] and \\[16, 32\\]"),
    (bad_eviction, (), "eviction_policy must be one of .*'evict_never'"),
    (calls_python, (), "is no @tile.jit function"),
    (too_many_arguments, (), "inner: too many positional arguments"),
    (bad_static_assert, (3, ), "static assertion failed: N must be even, got 3"),
    (recursive, (8, ), "cannot recurse"),
    (subscript_store, (), "only variables can be assigned"),
    (pointer_sum, (), "only an integer can be added to a pointer"),
    (matmul_operator, (), "use tl.dot"),
    (ordered_by_none, (8, ), "expected a number or a tile, got None"),
    (list_in_loop, (8, ), "values is a list that is changed in a loop of the device"),
    (list_in_branch, (8, ), "values is a list that is changed in a branch"),
    (lambda_of_two, (8, ), "missing a required argument: 'b'"),
    (any_arguments, (8, ), "cannot have the parameter \\*rest"),
], ids=lambda p: getattr(p, "__name__", ""))
def test_messages(kernel, args, message):
    error = failure(kernel, X, *args)
    assert re.search(message, str(error)), str(error)
    assert error.frame.file == __file__ and "^" in str(error)


def test_a_recursion_is_told_in_short():
    text = str(failure(recursive, X, 8))
    assert re.search("called from [0-9]+ more places", text)
    assert text.count("called from") == 11


def test_a_reproducer_that_cannot_be_written(monkeypatch):
    monkeypatch.setattr(tile.knobs, "dump_dir", "/proc/none")
    error = failure(needs_much, X)
    assert "bytes of shared memory" in str(error)
    assert any(note.startswith("the kernel's IR could not be written to /proc/none") for note in error.notes)


def test_kernels_that_need_too_much():
    error = failure(needs_much, X)
    assert isinstance(error, tile.OutOfResources) and isinstance(error, tile.CompilationError)
    assert error.name == "shared memory" and error.required > error.limit == 232448
    assert f"required {error.required}, limit 232448" in str(error)
    assert error.frame.file == __file__ and error.frame.line


@pytest.mark.parametrize("text, name, required, limit", [
    ("'gpu.func' op needs 65540 bytes of shared memory; sm_75 has 65536 for a block", "shared memory", 65540,
     65536),
    ("'gpu.func' op needs 2048 threads; a block on sm_90a has at most 1024", "threads", 2048, 1024),
    ("ptxas failed: ptxas error : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)",
     "shared memory", 65536, 49152)])
def test_what_says_that_a_kernel_needs_too_much(text, name, required, limit):
    diagnostic = types.SimpleNamespace(severity="error", message=text, file="", line=0, column=0, callers=[],
                                       notes=[])
    error = tile.errors.from_diagnostics([diagnostic], "kernel")
    assert isinstance(error, tile.OutOfResources)
    assert (error.name, error.required, error.limit) == (name, required, limit)
    assert text in str(error)


def test_kinds_of_errors():
    assert isinstance(failure(bad_static_assert, X, 3), tile.CompileTimeAssertionFailure)
    assert isinstance(failure(breaks, X, 8), tile.errors.UnsupportedLanguageConstruct)


@tile.jit
def stores(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i.to(tl.float32))


def test_internal_errors_leave_a_reproducer(tmp_path, monkeypatch):
    """Where no pass says why, the file with the kernel's IR is named."""
    from types import SimpleNamespace
    from tile.compiler import session
    from tile.errors import InternalCompilerError
    source = session.build(stores.compiled_function(), [
        session.Argument("x", tl.pointer_type(tl.float32)), session.Argument("n", tl.int32),
        session.Argument("BLOCK", value=32)], "sm_80")
    builder = source.session.builder
    gave_up = SimpleNamespace(ok=False, diagnostics=[])
    source.session.builder = SimpleNamespace(print=builder.print, compile=lambda stage, options: gave_up)
    monkeypatch.setattr(tile.knobs, "dump_dir", str(tmp_path))
    monkeypatch.setattr(tile.knobs, "use_cache", False)
    with pytest.raises(InternalCompilerError, match="please report it") as caught:
        session.generate(source, "sm_80", session.Options())
    (path, ) = tmp_path.iterdir()
    assert str(path) in str(caught.value) and path.suffix == ".mlir"
    assert "gpu.func @stores" in path.read_text()


def test_function_without_source():
    namespace = {"tile": tile}
    with pytest.raises(tile.CompilationError, match="the source of f cannot be found"):
        exec("@tile.jit\ndef f(x):\n    pass", namespace)


@pytest.mark.emulator
def test_out_of_bounds_names_the_line():
    x = np.zeros(60, np.float32)
    with pytest.raises(tile.EmulatorError) as caught:
        stores[(1, )](x, 60, 64)
    assert "out of bounds" in str(caught.value).lower() or "outofbounds" in caught.value.kind.lower()
    assert caught.value.file == __file__
    assert caught.value.line == inspect.getsourcelines(stores.fn)[1] + 3


@pytest.mark.emulator
def test_read_only_arrays():
    x = np.zeros(64, np.float32)
    x.flags.writeable = False
    with pytest.raises(tile.EmulatorError, match="read-only"):
        stores[(1, )](x, 64, 64)


@pytest.mark.emulator
def test_races_are_found():

    @tile.jit
    def racy(x, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(x + i, tl.load(x + N - 1 - i) + 1)

    x = np.zeros(256, np.float32)
    with tile.emulator.checks("race"), pytest.raises(tile.EmulatorError, match="(?i)race"):
        racy[(1, )](x, 256)


@pytest.mark.parametrize("call, message", [
    (lambda: stores[(1, )](X, 3), "missing the argument 'BLOCK'"),
    (lambda: stores[(1, )](X, 3, 32, 5), "takes 3 arguments, got 4"),
    (lambda: stores[(1, )](X, 3, BLOCK=32, width=5), "unexpected keyword argument 'width'"),
    (lambda: stores[(1, )](X, 3, 32, BLOCK=32), "several values for the argument 'BLOCK'"),
    (lambda: stores[(1, )](object(), 3, 32), "the argument x of stores is a object"),
    (lambda: stores[(1, )](X.astype(complex), 3, 32), "element type complex128"),
    (lambda: stores[(1, )](X, 2**64, 32), "does not fit in 64 bits"),
    (lambda: stores[(1, 2, 3, 4)](X, 3, 32), "one to three extents"),
    (lambda: stores[(1, )](X, 3, 32, num_warps=3), "num_warps must be a power of two"),
    (lambda: stores[(1, )](X, 3, 32, num_ctas=2), "num_ctas other than 1"),
    (lambda: stores(X, 3, 32), "launch it as stores\\[grid\\]"),
    (lambda: stores[(1, )](X, 3, {32: 1}), "must be hashable"),
])
def test_launch_errors(call, message):
    with pytest.raises((TypeError, ValueError, OverflowError, RuntimeError), match=message):
        call()
