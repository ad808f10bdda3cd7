# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic that hosts need for launches."""


def cdiv(x: int, y: int) -> int:
    """`x / y`, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least `n`."""
    return 1 << max(0, n - 1).bit_length()
