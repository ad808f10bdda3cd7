# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One array as several arguments of a kernel."""

import json

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.compiler.session import describe_arguments
from tile.runtime import cache, specialization
from tile.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def race_check():
    with tile.emulator.checks("race"):
        yield


def barriers(kernel):
    return kernel.asm["ptx"].count("bar.sync")


# Results ----------------------------------------------------------------------------------


@tile.jit
def _number_from_first(x, y, N: tl.constexpr):
    first, i = tl.load(x), tl.arange(0, N)
    tl.store(y + i, first + i)


@pytest.mark.emulator
@pytest.mark.parametrize("num_warps", [1, 4])
def test_a_scalar_and_a_tile(num_warps):
    """All threads load what one of them overwrites."""
    x = np.full(512, 7, np.int32)
    kernel = _number_from_first[(1, )](x, x, 512, num_warps=num_warps)
    np.testing.assert_array_equal(x, 7 + np.arange(512))
    other = _number_from_first[(1, )](x, np.zeros_like(x), 512, num_warps=num_warps)
    assert other is not kernel
    if num_warps == 4:
        assert barriers(kernel) == 1 and barriers(other) == 0


@tile.jit
def _transpose(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tile_ = tl.load(x + i[:, None] * N + i[None, :])
    tl.store(y + i[:, None] * N + i[None, :], tl.trans(tile_))


@pytest.mark.emulator
@pytest.mark.parametrize("num_warps", [1, 4])
def test_two_layouts(num_warps):
    x = np.random.default_rng(0).random((64, 64), np.float32)
    expected = x.T.copy()
    _transpose[(1, )](x, x, 64, num_warps=num_warps)
    np.testing.assert_array_equal(x, expected)


@tile.jit
def _differences_of_doubled(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i) * 2)
    tl.store(out + i[:, None] * N + i[None, :], tl.load(x + i)[:, None] - tl.load(x + i)[None, :])


@pytest.mark.emulator
def test_what_was_stored_is_loaded():
    x, out = np.arange(32, dtype=np.float32) ** 2, np.zeros((32, 32), np.float32)
    expected = 2 * (x[:, None] - x[None, :])
    _differences_of_doubled[(1, )](x, x, out, 32)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def _row_over_sum(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.load(x + i)
    tl.store(y + i, row / tl.sum(row))


@pytest.mark.emulator
def test_in_place_without_barriers():
    """Each thread overwrites what it has loaded: only the sum needs barriers."""
    x = np.ones(1024, np.float32)
    kernel = _row_over_sum[(1, )](x, x, 1024)
    assert (x == 1 / 1024).all()
    assert barriers(kernel) == barriers(_row_over_sum[(1, )](x, np.zeros_like(x), 1024))


@tile.jit
def _halve(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i).to(tl.int16))


@pytest.mark.emulator
def test_elements_of_two_sizes():
    """The threads store other bytes than they have loaded."""
    x = np.arange(1024, dtype=np.int32)
    _halve[(1, )](x, x.view(np.int16), 1024)
    np.testing.assert_array_equal(x.view(np.int16)[:1024], np.arange(1024))


@tile.jit
def _of_tuples(first, rest, N: tl.constexpr):
    value, i = tl.load(first), tl.arange(0, N)
    tl.store(rest[1] + i, value + i)


@pytest.mark.emulator
def test_tuples():
    x = np.full(512, 7, np.int32)
    _of_tuples[(1, )](x, (1, x), 512)
    np.testing.assert_array_equal(x, 7 + np.arange(512))


@tile.jit
def _first_row_to_all(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.load(x + i)
    y.store([0, 0], tl.broadcast_to(tl.expand_dims(row, 0) + 1, [8, N]))


@pytest.mark.emulator
def test_descriptors():
    x = np.tile(np.arange(64, dtype=np.float32), (8, 1))
    expected = x + 1
    _first_row_to_all[(1, )](x, TensorDescriptor(x, x.shape, (64, 1), (8, 64)), 64)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.emulator
def test_autotuned():
    tuned = tile.autotune([tile.Config({}, num_warps=w) for w in (1, 4)], key=["N"],
                          restore_value=["y"])(tile.jit(_number_from_first.fn))
    x = np.full(512, 7, np.int32)
    tuned[(1, )](x, x, N=512)
    np.testing.assert_array_equal(x, 7 + np.arange(512))


# What a launch is compiled for ------------------------------------------------------------


def _nothing(a, b, c, d, N: tl.constexpr = 1):
    pass


def described(*arguments, **options):
    kernel = tile.jit(_nothing, **options).warmup(*arguments, grid=(1, ))
    return list(describe_arguments(kernel.arguments).values())[:len(arguments)]


X, Y = np.zeros(64, np.float32), np.zeros(64, np.float32)


@pytest.mark.compiled
@pytest.mark.parametrize("options", [{}, {"do_not_specialize": list("abcd")},
                                     {"do_not_specialize_on_alignment": list("abcd")}])
def test_groups(options):
    def groups(*arguments):
        return [text.partition("=")[2] for text in described(*arguments, **options)]

    assert groups(X, Y, 2, 3) == ["", "", "", ""]
    assert groups(X, X, 2, 3) == ["", "a", "", ""]
    assert groups(2, X, Y, X) == ["", "", "", "b"]
    assert groups(X, Y, Y, X) == ["", "", "b", "a"]
    assert groups(X, X, X, X) == ["", "a", "a", "a"]
    assert groups(X, X[:1], X.view(np.int16), X[1:]) == ["", "a", "a", ""]
    assert groups((X, (2, Y)), None, (3, Y), X) == ["", "", "a[1][1])", "a[0]"]
    # No memory at all.
    assert groups(tl.float32, tl.float32, None, None) == ["", "", "", ""]


@pytest.mark.compiled
def test_arguments_in_the_ir():
    kernel = tile.jit(_nothing).warmup(2, X, Y, X, grid=(1, ))
    assert kernel.asm["tile"].count("tile.alias_group = 0 : i32") == 2
    assert "alias_group" not in tile.jit(_nothing).warmup(2, X, Y, None, grid=(1, )).asm["tile"]


@pytest.mark.emulator
def test_why(monkeypatch, tmp_path):
    monkeypatch.setattr(tile.knobs, "cache_dir", str(tmp_path))
    kernel = tile.jit(_row_over_sum.fn)
    kernel[(1, )](np.ones(64, np.float32), np.ones(64, np.float32), 64)
    x = np.ones(64, np.float32)
    kernel[(1, )](x, x, 64)
    assert [changes for _, _, nearest, changes in cache.explain() if nearest] == [
        ["argument y: *fp32:16 -> *fp32:16=x"]]


@pytest.mark.compiled
def test_keys_as_text():
    kernel = tile.jit(_nothing)
    descriptor = TensorDescriptor(Y, (4, 8), (8, 1), (2, 8))
    compiled = kernel.warmup(X, (Y, X), descriptor, 1, grid=(1, ))
    data = compiled.specialization_data
    assert specialization.deserialize(data)[1] == compiled.keys
    assert compiled.keys != kernel.warmup(X, (X, Y), descriptor, 1, grid=(1, )).keys
    content = json.loads(data)
    content["keys"][0].append(7)
    with pytest.raises(ValueError, match="the data are not what"):
        kernel.preload(json.dumps(content))


# Signatures -------------------------------------------------------------------------------


@pytest.mark.compiled
def test_signatures():
    constants = {"N": 512}

    def code(signature):
        return tile.compile(_number_from_first, signature=signature, constexprs=constants).asm["ptx"]

    assert "bar.sync" not in code("*i32, *i32")
    assert "bar.sync" in code("*i32, *i32=x") == code({"x": "*i32", "y": "*i32 = x"})
    assert "bar.sync" in code("*i32:16, *i32:16=x")
    for wrong in ("*i32=y, *i32", "*i32, *i32=z", "*i32=x, *i32"):
        with pytest.raises(ValueError, match="is no pointer before this one"):
            code(wrong)
    with pytest.raises(ValueError, match="is no pointer before this one"):
        tile.compile(tile.jit(_nothing), signature="*i32, i32=a, i32, i32")


@pytest.mark.compiled
def test_sources():
    """What a listener is given of a launch compiles to the same code."""
    seen = []
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.listener = lambda src, **rest: seen.append(src)
        x = np.zeros(512, np.int32)
        kernel = tile.jit(_number_from_first.fn).warmup(x, x, 512, grid=(1, ))
    assert seen[0].attrs == {(0, ): [["tt.divisibility", 16]],
                             (1, ): [["tt.divisibility", 16], ["tile.same_as", "x"]]}
    again = tile.compile(seen[0], options={"debug": True, "sanitize_overflow": False})
    assert again.asm["ptx"] == kernel.asm["ptx"] and "bar.sync" in kernel.asm["ptx"]
