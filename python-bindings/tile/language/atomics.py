# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic loads and stores, and waiting for a value of memory.

They are made of the atomics that change memory: an update that changes nothing returns what
is there, with the order and the scope that were asked for.
"""

from __future__ import annotations

from . import core, semantic
from . import types as ty
from .core import member
from .semantic import to_tensor
from .tensor import tensor
from .types import builder, interpreting, unwrap

_OF_WIDTH = {16: ty.int16, 32: ty.int32, 64: ty.int64}


def _as_integers(pointer, what: str):
    """A pointer to the bits of what `pointer` points to, and the type of that."""
    pointer = core.require_pointer(pointer, what)
    element = pointer.dtype.element_ty
    if element.primitive_bitwidth not in _OF_WIDTH:
        raise TypeError(f"{what} needs elements of 16, 32 or 64 bits, got {element}")
    integer = _OF_WIDTH[element.primitive_bitwidth]
    return semantic.cast(pointer, ty.pointer_type(integer)), element


def _order(sem, choices, what: str) -> str:
    sem = unwrap(sem) or choices[0]
    if sem not in choices:
        raise ValueError(f"sem of {what} must be '{choices[0]}' or '{choices[1]}', got {sem!r}")
    return sem


@member
def atomic_load(pointer, mask=None, sem=None, scope=None) -> tensor:
    """What `pointer` points to, read atomically; undefined where `mask` is false. `sem` is
    "acquire" or "relaxed"."""
    pointer, element = _as_integers(pointer, "atomic_load")
    sem = _order(sem, ("acquire", "relaxed"), "atomic_load")
    if element.primitive_bitwidth == 16:
        if mask is not None:
            raise ValueError("atomic_load of 16-bit elements cannot have a mask")
        bits = core.atomic_cas(pointer, 0, 0, sem, scope)
    else:
        bits = core.atomic_or(pointer, 0, mask, sem, scope)
    return semantic.cast(bits, element, bitcast=True)


@member
def atomic_store(pointer, val, mask=None, sem=None, scope=None):
    """Writes `val` atomically where `mask` is true. `sem` is "release" or "relaxed"."""
    pointer, element = _as_integers(core.require_writable(pointer, "atomic_store"), "atomic_store")
    sem = _order(sem, ("release", "relaxed"), "atomic_store")
    if element.primitive_bitwidth == 16:
        raise TypeError(f"atomic_store needs elements of 32 or 64 bits, got {element}")
    bits = semantic.cast(semantic.cast(to_tensor(val), element), pointer.dtype.element_ty, bitcast=True)
    core.atomic_xchg(pointer, bits, mask, sem, scope)


@member
def atomic_poll(pointer, expected_value, sem=None, scope=None, timeout_ns=None) -> tensor:
    """Waits until memory holds the integer `expected_value`; then true. `sem` is as for
    `atomic_load`."""
    if unwrap(timeout_ns) is not None:
        raise ValueError("atomic_poll with a timeout_ns is not supported: the threads of a program "
                         "would each measure a time of their own")
    pointer = core.require_pointer(pointer, "atomic_poll")
    element = pointer.dtype.element_ty
    if pointer.shape or not element.is_int():
        raise TypeError(f"atomic_poll needs a scalar pointer to integers, got {pointer.type}")
    expected = to_tensor(expected_value)
    if expected.shape or not expected.dtype.is_int():
        raise TypeError(f"expected_value of atomic_poll must be an integer, got {expected.type}")
    if expected.constant is not None and not semantic.fits(expected.constant, element):
        raise ValueError(f"atomic_poll waits for {expected.constant}, which is no {element}")
    expected = semantic.cast(expected, element)
    if interpreting():
        # Programs run one after the other: what is not there by now will never be.
        if not semantic.compare("eq", atomic_load(pointer, None, sem, scope), expected):
            raise RuntimeError("atomic_poll waits forever: interpreted programs run one after the "
                               "other, and none before this one wrote the expected value")
        return semantic.constant(True, ty.int1)
    loop, _ = builder().begin_while([])
    seen = atomic_load(pointer, None, sem, scope)
    builder().end_while_condition(loop, semantic.compare("ne", seen, expected).handle, [])
    builder().end_while(loop, [])
    return semantic.constant(True, ty.int1)
