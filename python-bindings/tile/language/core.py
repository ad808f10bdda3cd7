# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of the kernel language that are ops: programs, shapes, memory, atomics,
reductions."""

from __future__ import annotations

from . import semantic
from . import types as ty
# Much of this is here for those who take it from this module, as it is one in Triton.
from .arguments import _axis, _type, compile_time, compile_time_int, require_size, shape_of
from .debugging import (StaticAssertion, debug_barrier, device_assert, device_print, static_assert,
                        static_print)
from .elementwise import (call, call_library, extern_elementwise, flatten_tuple,
                          inline_asm_elementwise, map_elementwise)
from .hints import assume, expect_zero, max_constancy, max_contiguous, multiple_of
from .pointers import block_pointer, tensor_descriptor
from .semantic import cast as _cast
from .semantic import show, to_tensor
from .tensor import tensor
from .types import builder, constexpr, state, unwrap

# As Triton's module of this name has it; kernels use it as a default.
CONSTEXPR_0 = constexpr(0)


def __getattr__(name: str):
    """Types and functions that Triton's module of this name has, and ours have elsewhere."""
    if name.startswith("__"):
        raise AttributeError(name)
    from .. import language
    return getattr(language if hasattr(language, name) else ty, name)


def must_use_result(function, reason=True):
    """Makes it an error to call a @jit function without doing something with its result. As
    `@must_use_result("because ...")` it adds this text to the error."""
    if isinstance(function, str):
        return lambda decorated: must_use_result(decorated, function)
    function._must_use_result = reason
    return function


# As Triton has it, for programs that use it.
_unwrap_if_constexpr = unwrap


def member(function):
    """Makes a function of tiles a method of `tensor` too."""
    setattr(tensor, function.__name__, function)
    return function


# Program ----------------------------------------------------------------------------------


def _grid_axis(axis) -> int:
    axis = compile_time_int(axis, "the axis of the grid")
    if axis not in (0, 1, 2):
        raise ValueError(f"program_id axis must be 0, 1, or 2, got {axis}")
    return axis


def program_id(axis) -> tensor:
    """The index of this program along an axis of the grid, an int32."""
    return tensor(builder().program_id(_grid_axis(axis)), ty.int32)


def num_programs(axis) -> tensor:
    """The number of programs along an axis of the grid, an int32."""
    return tensor(builder().num_programs(_grid_axis(axis)), ty.int32)


# Creation ---------------------------------------------------------------------------------


def arange(start, end) -> tensor:
    """The int32 tile `start, ..., end - 1`. Its length need not be a power of two."""
    start = compile_time_int(start, "arange's start")
    end = compile_time_int(end, "arange's end")
    if end <= start:
        raise ValueError(f"arange's end must be greater than its start, got {start} and {end}")
    require_size((end - start, ))
    return tensor(builder().arange(start, end), ty.int32, (end - start, ))


def full(shape, value, dtype) -> tensor:
    """A tile of one value."""
    shape = require_size(shape_of((shape, )))
    value = to_tensor(value)
    if value.shape:
        raise ValueError(f"full needs a scalar value, got {value.type}")
    return semantic.broadcast_to(_cast(value, _type(dtype)), shape)


def zeros(shape, dtype) -> tensor:
    return full(shape, 0, dtype)


def zeros_like(input) -> tensor:
    return full(input.shape, 0, input.dtype)


@member
def cast(input, dtype, fp_downcast_rounding=None, bitcast=False) -> tensor:
    """`input` as another type; `bitcast` keeps the bits instead of the value."""
    return _cast(to_tensor(input), _type(dtype), unwrap(fp_downcast_rounding), bool(unwrap(bitcast)))


@member
def to(self, dtype, fp_downcast_rounding=None, bitcast=False) -> tensor:
    return cast(self, dtype, fp_downcast_rounding, bitcast)


# Shapes -----------------------------------------------------------------------------------


@member
def broadcast_to(input, *shape) -> tensor:
    return semantic.broadcast_to(to_tensor(input), require_size(shape_of(shape)))


def broadcast(input, other):
    """Both operands in their common shape."""
    return semantic.broadcast_both(to_tensor(input), to_tensor(other))


@member
def expand_dims(input, axis) -> tensor:
    """`input` with new dimensions of extent 1."""
    input = to_tensor(input)
    axes = unwrap(axis)
    axes = list(axes) if isinstance(axes, (tuple, list)) else [axes]
    rank = len(input.shape) + len(axes)
    for a in sorted(_axis(a, rank) for a in axes):
        input = semantic.expand_dims(input, a)
    return input


@member
def unsqueeze(x, dim) -> tensor:
    """`x` with a new dimension of extent 1."""
    return expand_dims(x, dim)


@member
def squeeze(x, dim) -> tensor:
    """`x` without a dimension of extent 1."""
    axis = _axis(dim, len(x.shape), "dim")
    if x.shape[axis] != 1:
        raise ValueError(f"squeeze needs a dimension of extent 1, got dimension {axis} of shape "
                         f"{list(x.shape)}")
    return _without_axis(x, axis)


def _without_axis(x, axis: int) -> tensor:
    """`x` without `axis`, whose extent is 1."""
    shape = x.shape[:axis] + x.shape[axis + 1:]
    return _reshape(x, (shape, ), False) if shape else item(x)


@member
def item(x) -> tensor:
    """The scalar that a tile of one element holds."""
    if _count(x.shape) != 1:
        raise ValueError(f"only a tile of one element is a scalar, got {x.type}")
    while x.shape:
        x = reduce(x, 0, lambda a, b: a)
    return x


def _count(shape) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _reshape(input, shape, reorder) -> tensor:
    input = to_tensor(input)
    shape = shape_of(shape)
    if -1 in shape:
        known = -_count(shape)
        if shape.count(-1) != 1 or known == 0 or _count(input.shape) % known:
            raise ValueError(f"cannot reshape {list(input.shape)} to {list(shape)}")
        shape = tuple(_count(input.shape) // known if e == -1 else e for e in shape)
    if _count(shape) != _count(input.shape):
        raise ValueError(f"cannot reshape {list(input.shape)} ({_count(input.shape)} elements) to "
                         f"{list(shape)} ({_count(shape)} elements)")
    if not input.shape or input.constant is not None:
        return semantic.broadcast_to(input, shape) if not input.shape else tensor(
            None, input.dtype, shape, input.constant)
    if not shape:
        return item(input)
    if shape == input.shape:
        return input
    return tensor(builder().reshape(input.handle, list(shape), bool(reorder)), input.dtype, shape)


@member
def reshape(input, *shape, can_reorder=False) -> tensor:
    """The elements of `input`, in row-major order, in another shape."""
    return _reshape(input, shape, unwrap(can_reorder))


@member
def view(input, *shape) -> tensor:
    """The elements of `input`, in any order, in another shape."""
    return _reshape(input, shape, True)


@member
def ravel(x, can_reorder=False) -> tensor:
    return _reshape(x, (_count(x.shape), ), unwrap(can_reorder))


@member
def permute(input, *dims) -> tensor:
    """`input` with permuted dimensions."""
    input = to_tensor(input)
    order = [_axis(d, len(input.shape), "dimension") for d in shape_of(dims, "a dimension")]
    if sorted(order) != list(range(len(input.shape))):
        raise ValueError(f"{order} is no permutation of the dimensions of shape {list(input.shape)}")
    shape = tuple(input.shape[d] for d in order)
    if input.constant is not None:
        return tensor(None, input.dtype, shape, input.constant)
    return tensor(builder().transpose(input.handle, order), input.dtype, shape)


@member
def trans(input, *dims) -> tensor:
    """`input` with permuted dimensions; by default the last two are swapped."""
    if dims:
        return permute(input, *dims)
    rank = len(input.shape)
    if rank < 2:
        raise ValueError(f"trans needs at least two dimensions, got shape {list(input.shape)}")
    return permute(input, *range(rank - 2), rank - 1, rank - 2)


def join(a, b) -> tensor:
    """Both tiles side by side in a new last dimension."""
    a, b = semantic.promote(a, b, keep_pointers=True)
    if a.dtype != b.dtype:
        raise TypeError(f"join needs tiles of one type, got {a.type} and {b.type}")
    if not a.shape:
        a, b = semantic.broadcast_to(a, (1, )), semantic.broadcast_to(b, (1, ))
        return _reshape(tensor(builder().join(a.handle, b.handle), a.dtype, (1, 2)), (2, ), False)
    return tensor(builder().join(a.handle, b.handle), a.dtype, a.shape + (2, ))


@member
def split(a):
    """The halves of a last dimension of extent 2."""
    if not a.shape or a.shape[-1] != 2:
        raise ValueError(f"split needs a last dimension of extent 2, got shape {list(a.shape)}")
    if len(a.shape) == 1:
        return tuple(item(half) for half in split(_reshape(a, (1, 2), False)))
    lhs, rhs = builder().split(a.handle)
    return tensor(lhs, a.dtype, a.shape[:-1]), tensor(rhs, a.dtype, a.shape[:-1])


def interleave(a, b) -> tensor:
    """The elements of both tiles in turn along the last dimension."""
    c = join(a, b)
    if len(c.shape) == 1:
        return c
    return _reshape(c, c.shape[:-2] + (2 * c.shape[-2], ), False)


def cat(input, other, can_reorder=False, dim=0) -> tensor:
    """Both tiles, one after the other."""
    input, other = to_tensor(input), to_tensor(other)
    if input.shape != other.shape:
        raise ValueError(f"cat needs tiles of one shape, got {list(input.shape)} and {list(other.shape)}")
    input, other = semantic.promote(input, other)
    dim = _axis(dim, len(input.shape), "dim")
    shape = tuple(2 * e if i == dim else e for i, e in enumerate(input.shape))
    return tensor(builder().concatenate(input.handle, other.handle, dim), input.dtype, shape)


@member
def gather(src, index, axis) -> tensor:
    """Elements of `src`, picked along an axis."""
    axis = _axis(axis, len(src.shape))
    if not index.dtype.is_int() or len(index.shape) != len(src.shape):
        raise TypeError(f"gather needs integer indices of the rank of the source, got {index.type} "
                        f"for {src.type}")
    return tensor(builder().gather(src.handle, index.handle, axis), src.dtype, index.shape)


@member
def histogram(input, num_bins, mask=None) -> tensor:
    """How often each of 0 ... num_bins - 1 occurs in a tile of rank 1."""
    bins = compile_time_int(num_bins, "num_bins")
    if not input.dtype.is_int() or len(input.shape) != 1:
        raise TypeError(f"histogram needs integers in a tile of rank 1, got {input.type}")
    mask = None if mask is None else semantic.broadcast_to(semantic.truth(mask), input.shape).handle
    return tensor(builder().histogram(_cast(input, ty.int32).handle, mask, bins), ty.int32, (bins, ))


# Memory -----------------------------------------------------------------------------------

_LOAD_CACHES = {"": "", ".ca": "ca", ".cg": "cg", ".cv": "cv", ".cs": "cs"}
_STORE_CACHES = {"": "", ".wb": "wb", ".cg": "cg", ".cs": "cs", ".wt": "wt"}
_EVICTIONS = {"": "", "evict_normal": "", "evict_first": "evict_first", "evict_last": "evict_last",
              "no_allocate": "no_allocate"}


def _keyword(value, choices, what: str) -> str:
    value = unwrap(value) or ""
    if value not in choices:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return choices[value]


def require_pointer(pointer, what: str) -> tensor:
    if not isinstance(pointer, tensor) or not pointer.dtype.is_ptr():
        raise TypeError(f"{what} needs a pointer or a tile of pointers, got {show(pointer)}")
    return pointer


def require_writable(pointer, what: str) -> tensor:
    pointer = require_pointer(pointer, what)
    if pointer.dtype.const:
        raise ValueError("cannot store to a constant pointer")
    return pointer


def _mask_for(pointer: tensor, mask):
    """Pointer and mask in one shape; None for a mask that is always true."""
    mask = unwrap(mask)
    if mask is None or mask is True:
        return pointer, None
    mask = semantic.truth(mask)
    if not pointer.shape and mask.shape:
        raise ValueError(f"the mask of a scalar pointer must be a scalar, got {mask.type}")
    if mask.constant is True and not mask.shape:
        return pointer, None
    return semantic.broadcast_both(pointer, mask)


def load(pointer, mask=None, other=None, boundary_check=(), padding_option="", cache_modifier="",
         eviction_policy="", volatile=False) -> tensor:
    """What `pointer` points to; where `mask` is false, `other`, or something undefined."""
    if isinstance(pointer, tensor_descriptor):
        raise TypeError("use descriptor.load(offsets), or tl.load_tensor_descriptor")
    if isinstance(pointer, block_pointer):
        if mask is not None or other is not None:
            raise ValueError("mask and other cannot be used with block pointers: use boundary_check "
                             "and padding_option")
        pointer, mask, other = pointer.expand(boundary_check, unwrap(padding_option))
    elif unwrap(boundary_check) or unwrap(padding_option):
        raise ValueError("boundary_check and padding_option are for block pointers")
    pointer = require_pointer(pointer, "load")
    if mask is None and unwrap(other) is not None:
        raise ValueError("`other` needs a `mask`")
    pointer, mask = _mask_for(pointer, mask)
    element = pointer.dtype.element_ty
    fill = None
    if mask is not None and unwrap(other) is not None:
        fill = semantic.broadcast_to(_cast(to_tensor(other), element), pointer.shape).handle
    handle = builder().load(pointer.handle, None if mask is None else mask.handle, fill,
                            _keyword(cache_modifier, _LOAD_CACHES, "cache_modifier"),
                            _keyword(eviction_policy, _EVICTIONS, "eviction_policy"),
                            bool(unwrap(volatile)))
    return tensor(handle, element, pointer.shape)


def store(pointer, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy=""):
    """Writes `value`, cast to what `pointer` points to, where `mask` is true."""
    if isinstance(pointer, block_pointer):
        if mask is not None:
            raise ValueError("mask cannot be used with block pointers: use boundary_check")
        pointer, mask, _ = pointer.expand(boundary_check, "")
    pointer = require_writable(pointer, "store")
    value = to_tensor(value)
    if value.shape and not pointer.shape:
        raise ValueError(f"cannot store a tile of type {value.type} to a scalar pointer: make a tile of "
                         "pointers, as with `pointer + tl.arange(...)`")
    value = _cast(value, pointer.dtype.element_ty)
    shape = semantic.common_shape(pointer.shape, value.shape)
    pointer = semantic.broadcast_to(pointer, shape)
    pointer, mask = _mask_for(pointer, mask)
    value = semantic.broadcast_to(value, pointer.shape)
    builder().store(pointer.handle, value.handle, None if mask is None else mask.handle,
                    _keyword(cache_modifier, _STORE_CACHES, "cache_modifier"),
                    _keyword(eviction_policy, _EVICTIONS, "eviction_policy"))


_ORDERS = {"": "", "acq_rel": "acq_rel", "acquire": "acquire", "release": "release",
           "relaxed": "relaxed"}
_SCOPES = {"": "", "gpu": "gpu", "cta": "cta", "sys": "sys"}


_ATOMIC_INTEGERS = (ty.int32, ty.uint32, ty.int64, ty.uint64)


def _atomic(name: str, pointer, value, mask, sem, scope) -> tensor:
    pointer = require_writable(pointer, f"atomic_{name}")
    element = pointer.dtype.element_ty
    value = to_tensor(value)
    if value.shape and not pointer.shape:
        raise ValueError(f"cannot combine a tile of type {value.type} with a scalar pointer")
    if element.is_floating():
        kind = {"add": "fadd", "max": "fmax", "min": "fmin", "xchg": "xchg"}.get(name)
        allowed = (ty.float16, ty.bfloat16, ty.float32, ty.float64) if name == "add" else (
            ty.float32, ty.float64)
    else:
        unsigned = element.is_int_unsigned() and name in ("max", "min")
        kind = f"u{name}" if unsigned else name
        allowed = _ATOMIC_INTEGERS
    if kind is None or element not in allowed:
        raise TypeError(f"atomic_{name} does not work on {element}; it takes "
                        f"{', '.join(map(str, allowed if kind else _ATOMIC_INTEGERS))}")
    value = _cast(value, element)
    pointer, value = semantic.broadcast_both(pointer, value)
    pointer, mask = _mask_for(pointer, mask)
    value = semantic.broadcast_to(value, pointer.shape)
    handle = builder().atomic(kind, pointer.handle, value.handle,
                              None if mask is None else mask.handle,
                              _keyword(sem, _ORDERS, "sem"), _keyword(scope, _SCOPES, "scope"))
    return tensor(handle, element, pointer.shape)


def atomic_add(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    """Adds to memory, atomically; the old value."""
    return _atomic("add", pointer, val, mask, sem, scope)


def atomic_max(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    return _atomic("max", pointer, val, mask, sem, scope)


def atomic_min(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    return _atomic("min", pointer, val, mask, sem, scope)


def atomic_and(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    return _atomic("and", pointer, val, mask, sem, scope)


def atomic_or(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    return _atomic("or", pointer, val, mask, sem, scope)


def atomic_xor(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    return _atomic("xor", pointer, val, mask, sem, scope)


def atomic_xchg(pointer, val, mask=None, sem=None, scope=None) -> tensor:
    """Replaces memory, atomically; the old value."""
    return _atomic("xchg", pointer, val, mask, sem, scope)


def atomic_cas(pointer, cmp, val, sem=None, scope=None) -> tensor:
    """Replaces memory that equals `cmp` by `val`, atomically; the old value."""
    pointer = require_writable(pointer, "atomic_cas")
    element = pointer.dtype.element_ty
    if element.primitive_bitwidth not in (16, 32, 64):
        raise TypeError(f"atomic_cas does not work on {element}")
    cmp = _cast(to_tensor(cmp), element)
    val = _cast(to_tensor(val), element)
    shape = semantic.common_shape(semantic.common_shape(pointer.shape, cmp.shape), val.shape)
    pointer, cmp, val = (semantic.broadcast_to(x, shape) for x in (pointer, cmp, val))
    handle = builder().compare_and_swap(pointer.handle, cmp.handle, val.handle,
                                        _keyword(sem, _ORDERS, "sem"),
                                        _keyword(scope, _SCOPES, "scope"))
    return tensor(handle, element, shape)


# Reductions and scans ---------------------------------------------------------------------


def _combine(op, values, types, function):
    """Fills the region of a reduction or scan with a call of `function`."""
    count = len(types)
    scalars = [tensor(v, types[i % count]) for i, v in enumerate(values)]
    state.combining += 1
    try:
        outputs = flatten_tuple(call(function, *scalars))
    finally:
        state.combining -= 1
    if len(outputs) != count:
        raise TypeError(f"the combine function must return {count} values, got {len(outputs)}")
    yields = []
    for output, type_ in zip(outputs, types):
        output = to_tensor(output)
        if output.dtype != type_ and not (output.constant is not None):
            output = _cast(output, type_)
        yields.append(_cast(output, type_).handle)
    return builder().end_combine(op, yields)


def reduce(input, axis, combine_fn, keep_dims=False):
    """Combines the elements along an axis (all elements for None) with a function of two
    elements, or of two tuples if `input` is a tuple of tiles."""
    is_tuple = isinstance(input, (tuple, list))
    tiles = [to_tensor(t) for t in flatten_tuple(input)]
    keep_dims = bool(unwrap(keep_dims))
    shape = tiles[0].shape
    if any(t.shape != shape for t in tiles):
        raise ValueError("all tiles of a reduction must have one shape, got "
                         + ", ".join(str(list(t.shape)) for t in tiles))
    if not shape:
        raise ValueError("a scalar cannot be reduced")
    axis = unwrap(axis)
    if axis is None:
        results = tiles
        for _ in shape:
            results = _reduce_axis(results, len(results[0].shape) - 1, combine_fn)
        if keep_dims:
            results = [semantic.broadcast_to(r, (1, ) * len(shape)) for r in results]
    else:
        axis = _axis(axis, len(shape))
        results = _reduce_axis(tiles, axis, combine_fn)
        if keep_dims:
            results = [semantic.expand_dims(r, axis) for r in results]
    return tuple(results) if is_tuple else results[0]


def _reduce_axis(tiles, axis: int, combine_fn):
    if ty.interpreting():
        return state.compiler.reduce(tiles, axis, combine_fn)
    types = [t.dtype for t in tiles]
    op, values = builder().begin_reduce([t.handle for t in tiles], axis)
    handles = _combine(op, values, types, combine_fn)
    shape = tiles[0].shape[:axis] + tiles[0].shape[axis + 1:]
    return [tensor(h, t, shape) for h, t in zip(handles, types)]


def associative_scan(input, axis, combine_fn, reverse=False):
    """The running combination of the elements along an axis."""
    is_tuple = isinstance(input, (tuple, list))
    tiles = [to_tensor(t) for t in flatten_tuple(input)]
    shape = tiles[0].shape
    if not shape:
        raise ValueError(f"a scan needs tiles, got the scalar {tiles[0].type}")
    if any(t.shape != shape for t in tiles):
        raise ValueError("all tiles of a scan must have one shape, got "
                         + ", ".join(str(list(t.shape)) for t in tiles))
    axis, reverse = _axis(axis, len(shape)), bool(unwrap(reverse))
    if ty.interpreting():
        results = state.compiler.scan(tiles, axis, combine_fn, reverse)
        return results if is_tuple else results[0]
    types = [t.dtype for t in tiles]
    op, values = builder().begin_scan([t.handle for t in tiles], axis, reverse)
    handles = _combine(op, values, types, combine_fn)
    results = tuple(tensor(h, t, shape) for h, t in zip(handles, types))
    return results if is_tuple else results[0]


for _function in (store, load, atomic_add, atomic_max, atomic_min, atomic_and, atomic_or, atomic_xor,
                  atomic_xchg, atomic_cas, reduce, associative_scan):
    setattr(tensor, _function.__name__, _function)
