# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that apply a function to whole arrays, for tests of the language."""

import numpy as np

import tile
import tile.language as tl


@tile.jit
def _unary(x, out, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, F(tl.load(x + i)))


@tile.jit
def _binary(x, y, out, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, F(tl.load(x + i), tl.load(y + i)))


@tile.jit
def _matrix(x, out, F: tl.constexpr, M: tl.constexpr, N: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    result = F(tl.load(x + i))
    tl.store(out + tl.arange(0, COUNT), tl.ravel(result))


def unary(function, x, out_dtype=None):
    """`function` of each element of a vector."""
    out = np.zeros(x.shape, out_dtype or x.dtype)
    _unary[(1, )](x, out, function, x.size)
    return out


def binary(function, x, y, out_dtype):
    """`function` of the elements of two vectors."""
    out = np.zeros(x.shape, out_dtype)
    _binary[(1, )](x, y, out, function, x.size)
    return out


def matrix(function, x, out_shape, out_dtype=None):
    """`function` of a matrix as one tile."""
    out = np.zeros(out_shape, out_dtype or x.dtype)
    _matrix[(1, )](x, out, function, x.shape[0], x.shape[1], out.size)
    return out
