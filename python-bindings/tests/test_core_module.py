# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels take from `tl.core` that `tl` does not have."""

import numpy as np
import pytest

import tile
import tile.language as tl


@tile.jit
def _sign_bits(x, descending: tl.constexpr = tl.core.CONSTEXPR_0):
    type_: tl.constexpr = tl.core.get_int_dtype(bitwidth=x.dtype.primitive_bitwidth, signed=True)
    bits = x.to(type_, bitcast=True)
    return bits ^ -1 if descending else bits


@tile.jit
def _bits(x, out, flipped, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(out + i, _sign_bits(value))
    tl.store(flipped + i, _sign_bits(value, True))


@pytest.mark.parametrize("dtype, integer", [(np.float16, np.int16), (np.float32, np.int32),
                                            (np.float64, np.int64)])
def test_integers_of_a_width(dtype, integer):
    x = np.random.default_rng(0).standard_normal(32).astype(dtype)
    out, flipped = np.zeros(32, integer), np.zeros(32, integer)
    _bits[(1, )](x, out, flipped, 32)
    np.testing.assert_array_equal(out, x.view(integer))
    np.testing.assert_array_equal(flipped, ~x.view(integer))


def test_names():
    assert tl.core.get_int_dtype(8, False) is tl.uint8 and tl.core.get_int_dtype(1, True) is tl.int1
    assert tl.core.CONSTEXPR_0.value == 0
    names = {}
    exec("from tile.language.core import *", names)
    for name in ("assume", "device_print", "inline_asm_elementwise", "multiple_of", "static_assert"):
        assert names[name] is getattr(tl.core, name) is getattr(tl, name)
    with pytest.raises(ValueError, match="no integer type of 24 bits"):
        tl.core.get_int_dtype(24, True)
