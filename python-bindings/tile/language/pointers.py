# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block pointers, which the front end expands, and tensor descriptors."""

from __future__ import annotations

from . import semantic
from . import types as ty
from .arguments import compile_time_int
from .semantic import show, to_tensor
from .tensor import tensor
from .types import builder, unwrap


def _list(value):
    value = unwrap(value)
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _static_ints(values, what):
    return tuple(compile_time_int(v, what) for v in _list(values))


def _integers(values, type_, what):
    result = []
    for value in _list(values):
        value = to_tensor(value)
        if value.shape or not value.dtype.is_int():
            raise TypeError(f"{what} must be integer scalars, got {value.type}")
        result.append(semantic.cast(value, type_))
    return result


class block_pointer:
    """A block of a tensor in memory: `block_shape` elements at `offsets` of a tensor of
    `shape`, whose elements are `strides` apart."""

    def __init__(self, base, shape, strides, offsets, block_shape, order):
        self.base, self.tensor_shape, self.strides, self.offsets = base, shape, strides, offsets
        self.block_shape, self.order = block_shape, order

    @property
    def dtype(self):
        """That of a pointer to the block: its `element_ty` is the type of a tile."""
        return ty.block_pointer_type(self.base.dtype, self.block_shape)

    @property
    def type(self):
        return self

    @property
    def element_ty(self):
        return ty.block_type(self.base.dtype.element_ty, self.block_shape)

    @property
    def shape(self):
        return self.block_shape

    def __str__(self):
        return f"block pointer to {self.element_ty}"

    def fixed(self):
        """What is known of it at compile time."""
        return block_pointer, self.block_shape

    def parts(self):
        """The scalars that it consists of."""
        return [self.base, *self.tensor_shape, *self.strides, *self.offsets]

    def with_parts(self, parts):
        rank = len(self.block_shape)
        return block_pointer(parts[0], parts[1:1 + rank], parts[1 + rank:1 + 2 * rank],
                             parts[1 + 2 * rank:], self.block_shape, self.order)

    def advance(self, offsets):
        steps = _integers(offsets, ty.int32, "the offsets of advance")
        if len(steps) != len(self.offsets):
            raise ValueError(f"advance needs {len(self.offsets)} offsets, got {len(steps)}")
        moved = [semantic.add(o, s) for o, s in zip(self.offsets, steps)]
        return block_pointer(self.base, self.tensor_shape, self.strides, moved, self.block_shape,
                             self.order)

    def expand(self, boundary_check, padding_option):
        """The tile of pointers, its mask (None: all inside) and the value for the rest."""
        checked = [d % len(self.block_shape) for d in _static_ints(boundary_check or (), "boundary_check")]
        if padding_option not in (None, "", "zero", "nan"):
            raise ValueError(f"padding_option is '', 'zero' or 'nan', not {padding_option!r}")
        if padding_option == "nan" and not self.base.dtype.element_ty.is_floating():
            raise ValueError("padding_option 'nan' needs floating-point elements")
        pointer, mask = self.base, None
        rank = len(self.block_shape)
        for d, extent in enumerate(self.block_shape):
            index = tensor(builder().arange(0, extent), ty.int32, (extent, )) if extent > 1 else (
                semantic.constant(0, ty.int32, (1, )))
            index = semantic.add(self.offsets[d], index)
            for axis in range(rank):
                if axis != d:
                    index = semantic.expand_dims(index, axis)
            step = semantic.arithmetic("*", semantic.cast(index, ty.int64), self.strides[d])
            pointer = semantic.add(pointer, step)
            if d in checked:
                low = semantic.compare("ge", index, 0)
                high = semantic.compare("lt", semantic.cast(index, ty.int64), self.tensor_shape[d])
                inside = semantic.arithmetic("&", low, high)
                mask = inside if mask is None else semantic.arithmetic("&", mask, inside)
        fill = None
        if mask is not None:
            mask = semantic.broadcast_to(mask, self.block_shape)
            if padding_option:
                fill = float("nan") if padding_option == "nan" else 0
        return pointer, mask, fill


def make_block_ptr(base, shape, strides, offsets, block_shape, order) -> block_pointer:
    """A pointer to a block of the tensor at `base`."""
    if not isinstance(base, tensor) or not base.dtype.is_ptr() or base.shape:
        raise TypeError(f"make_block_ptr needs a scalar pointer, got {show(base)}")
    block_shape = _static_ints(block_shape, "an extent of block_shape")
    order = _static_ints(order, "order")
    shape = _integers(shape, ty.int64, "shape")
    strides = _integers(strides, ty.int64, "strides")
    offsets = _integers(offsets, ty.int32, "offsets")
    rank = len(block_shape)
    if not rank == len(shape) == len(strides) == len(offsets) == len(order):
        raise ValueError("shape, strides, offsets, block_shape and order must have one length, got "
                         f"{len(shape)}, {len(strides)}, {len(offsets)}, {rank} and {len(order)}")
    if sorted(order) != list(range(rank)):
        raise ValueError(f"order {list(order)} is no permutation of 0 ... {rank - 1}")
    if base.dtype.element_ty.is_bool():
        base = semantic.cast(base, ty.pointer_type(ty.int8))
    return block_pointer(base, shape, strides, offsets, block_shape, order)


def advance(base, offsets) -> block_pointer:
    """The block pointer, moved by `offsets` elements."""
    if not isinstance(base, block_pointer):
        raise TypeError(f"advance needs a block pointer, got {show(base)}")
    return base.advance(offsets)


class tensor_descriptor:
    """A tensor in memory that is accessed in blocks: `load(offsets)`, `store(offsets, value)`."""

    def __init__(self, base, shape, strides, block_shape, padding):
        self.base, self.dtype = base, base.dtype.element_ty
        self.shape, self.strides, self.block_shape = shape, strides, block_shape
        self.padding = padding
        self.handle = builder().make_descriptor(base.handle, [s.handle for s in shape],
                                                [s.handle for s in strides], list(block_shape),
                                                padding == "nan")

    @property
    def type(self):
        return self

    def __str__(self):
        padding = f" padded with {self.padding}" if self.padding == "nan" else ""
        return f"tensor descriptor of {ty.block_type(self.dtype, self.block_shape)}{padding}"

    def fixed(self):
        """What is known of it at compile time."""
        return tensor_descriptor, self.block_shape, self.padding

    def parts(self):
        """The scalars that it consists of. The last stride is always 1."""
        return [self.base, *self.shape, *self.strides[:-1]]

    def with_parts(self, parts):
        """Where a branch or loop has made one of several descriptors, one is made of its parts."""
        rank = len(self.block_shape)
        return tensor_descriptor(parts[0], parts[1:1 + rank], [*parts[1 + rank:], self.strides[-1]],
                                 self.block_shape, self.padding)

    def _offsets(self, offsets):
        offsets = _integers(offsets, ty.int32, "the offsets of a descriptor")
        if len(offsets) != len(self.block_shape):
            raise ValueError(f"expected {len(self.block_shape)} offsets, got {len(offsets)}")
        return [o.handle for o in offsets]

    def load(self, offsets) -> tensor:
        result = semantic._ir(self.dtype, self.block_shape)
        handle = builder().load_descriptor(self.handle, self._offsets(offsets), result)
        return tensor(handle, self.dtype, self.block_shape)

    def gather(self, x_offsets, y_offset):
        raise TypeError("descriptor.gather is not supported: it needs the TMA of sm_100; use a tile of "
                        "pointers and tl.load")

    def scatter(self, value, x_offsets, y_offset):
        raise TypeError("descriptor.scatter is not supported: it needs the TMA of sm_100; use a tile of "
                        "pointers and tl.store")

    def _value(self, value):
        if self.base.dtype.const:
            raise ValueError("cannot store to a constant pointer")
        value = semantic.cast(to_tensor(value), self.dtype)
        if value.shape != self.block_shape:
            raise ValueError(f"the descriptor's blocks have shape {list(self.block_shape)}, got "
                             f"{value.type}")
        return value.handle

    def store(self, offsets, value):
        builder().store_descriptor(self.handle, self._offsets(offsets), self._value(value))

    def _reduce(self, kind, offsets, value):
        builder().reduce_descriptor(kind, self.handle, self._offsets(offsets), self._value(value))

    def atomic_add(self, offsets, value):
        self._reduce("fadd" if self.dtype.is_floating() else "add", offsets, value)

    def atomic_min(self, offsets, value):
        self._reduce(self._prefix() + "min", offsets, value)

    def atomic_max(self, offsets, value):
        self._reduce(self._prefix() + "max", offsets, value)

    def atomic_and(self, offsets, value):
        self._reduce("and", offsets, value)

    def atomic_or(self, offsets, value):
        self._reduce("or", offsets, value)

    def atomic_xor(self, offsets, value):
        self._reduce("xor", offsets, value)

    def _prefix(self):
        return "f" if self.dtype.is_floating() else "u" if self.dtype.is_int_unsigned() else ""


def make_tensor_descriptor(base, shape, strides, block_shape, padding_option="zero"):
    """A descriptor of the tensor at `base`. The last stride must be 1."""
    if not isinstance(base, tensor) or not base.dtype.is_ptr() or base.shape:
        raise TypeError(f"make_tensor_descriptor needs a scalar pointer, got {show(base)}")
    block_shape = _static_ints(block_shape, "an extent of block_shape")
    shape = _integers(shape, ty.int32, "shape")
    strides = _integers(strides, ty.int64, "strides")
    if not 1 <= len(block_shape) <= 5 or not len(shape) == len(strides) == len(block_shape):
        raise ValueError("shape, strides and block_shape must have one length of 1 to 5, got "
                         f"{len(shape)}, {len(strides)} and {len(block_shape)}")
    if strides[-1].constant is not None and strides[-1].constant != 1:
        raise ValueError(f"the last stride must be 1, got {strides[-1].constant}")
    padding = unwrap(padding_option)
    if padding not in ("zero", "nan"):
        raise ValueError(f"padding_option is 'zero' or 'nan', not {padding!r}")
    element = base.dtype.element_ty
    if padding == "nan" and not element.is_floating():
        raise ValueError(f"padding_option 'nan' needs floating-point elements, not {element}")
    if block_shape[-1] * element.primitive_bitwidth < 128:
        raise ValueError("the last dimension of block_shape must have at least 16 bytes, got "
                         f"{block_shape[-1]} elements of {element}")
    return tensor_descriptor(base, shape, strides, block_shape, padding)


def load_tensor_descriptor(desc, offsets) -> tensor:
    return desc.load(offsets)


def store_tensor_descriptor(desc, offsets, value):
    desc.store(offsets, value)


def _old_descriptor(*args, **kwargs):
    raise TypeError("the _experimental_descriptor functions are not supported: make a descriptor with "
                    "tl.make_tensor_descriptor, or pass a TensorDescriptor from the host")


_experimental_descriptor_load = _experimental_descriptor_store = _old_descriptor
_experimental_make_tensor_descriptor = make_tensor_descriptor
