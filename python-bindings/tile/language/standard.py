# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the kernel language that are made of others: reductions, scans, softmax."""

from __future__ import annotations

from . import core, math, semantic
from . import types as ty
from .core import member
from .semantic import to_tensor
from .tensor import tensor
from .types import builder, state, unwrap


def __getattr__(name: str):
    """Functions that Triton's module of this name has, and ours have elsewhere."""
    if name.startswith("__"):
        raise AttributeError(name)
    from .. import language
    return getattr(language, name)


@member
def cdiv(x, div):
    """`x / div`, rounded up."""
    x, div = unwrap(x), unwrap(div)
    if not isinstance(x, tensor) and not isinstance(div, tensor):
        return (x + div - 1) // div
    return semantic.arithmetic("//", semantic.arithmetic("+", x, semantic.sub(div, 1)), div)


@member
def sigmoid(x) -> tensor:
    """`1 / (1 + exp(-x))`."""
    return semantic.true_divide(1, semantic.add(1, math.exp(semantic.negate(x))))


@member
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False) -> tensor:
    """The softmax along a dimension, the first one by default."""
    axis = 0 if unwrap(dim) is None else dim
    shifted = semantic.sub(x, max(x, axis, keep_dims=True))
    numerator = math.exp(shifted)
    return math.fdiv(numerator, sum(numerator, axis, keep_dims=True), ieee_rounding)


def _log2(x) -> int:
    """The exponent of a power of two that is known at compile time."""
    number = core.compile_time_int(x, "the argument of _log2")
    return number.bit_length() - 1


def where(condition, x, y) -> tensor:
    """`x` where `condition` is true, else `y`. Both are evaluated."""
    return semantic.select(condition, x, y)


def swizzle2d(i, j, size_i, size_j, size_g):
    """The place of program (i, j) when groups of `size_g` rows are walked column by column."""
    linear = semantic.add(semantic.arithmetic("*", i, size_j), j)
    in_group = semantic.arithmetic("*", size_g, size_j)
    group = semantic.arithmetic("//", linear, in_group)
    first = semantic.arithmetic("*", group, size_g)
    rows = math.minimum(semantic.sub(size_i, first), size_g)
    rest = semantic.arithmetic("%", linear, in_group)
    return (semantic.add(first, semantic.arithmetic("%", rest, rows)),
            semantic.arithmetic("//", rest, rows))


# Reductions -------------------------------------------------------------------------------


def _sum_type(type_, requested):
    """Small integers are summed in 32 bits; bf16 in fp32."""
    if requested is not None:
        return core._type(requested)
    if type_.is_int() and type_.primitive_bitwidth < 32:
        return ty.int32 if type_.is_int_signed() else ty.uint32
    return ty.float32 if type_.is_bf16() else type_


def _compare_type(type_):
    """Minima and maxima of narrow types are taken in 32 bits."""
    if type_.primitive_bitwidth >= 32:
        return type_
    return ty.float32 if type_.is_floating() else ty.int32


def _add(a, b):
    return semantic.add(a, b)


@member
def sum(input, axis=None, keep_dims=False, dtype=None) -> tensor:
    """The sum along an axis; of all elements without one."""
    input = to_tensor(input)
    input = semantic.cast(input, _sum_type(input.dtype, unwrap(dtype)))
    return core.reduce(input, axis, _add, keep_dims)


def _indexed(input, axis, keep_dims, tie_break_left, is_better):
    """The extreme value along an axis and its index."""
    input = to_tensor(input)
    axis = unwrap(axis)
    rank = len(input.shape)
    if axis is None:
        input = core.ravel(input)
    position = 0 if axis is None else core._axis(axis, rank)
    indices = core.arange(0, input.shape[position]) if input.shape[position] > 1 else (
        semantic.constant(0, ty.int32, (1, )))
    for d in range(len(input.shape)):
        if d != position:
            indices = semantic.expand_dims(indices, d)
    indices = semantic.broadcast_to(indices, input.shape)

    def combine(value1, index1, value2, index2):
        first = is_better(value1, value2)
        if tie_break_left:
            tie = semantic.arithmetic("&", semantic.compare("eq", value1, value2),
                                      semantic.compare("lt", index1, index2))
            first = semantic.arithmetic("|", first, tie)
        return semantic.select(first, value1, value2), semantic.select(first, index1, index2)

    value, index = core.reduce((input, indices), position, combine, axis is not None and keep_dims)
    if axis is None and unwrap(keep_dims):
        value, index = (semantic.broadcast_to(v, (1, ) * rank) for v in (value, index))
    return value, index


def _greater(a, b):
    return semantic.compare("gt", a, b)


def _less(a, b):
    return semantic.compare("lt", a, b)


def _widen_bf16(input):
    input = to_tensor(input)
    return semantic.cast(input, ty.float32) if input.dtype.is_bf16() else input


def _extremum(input, axis, return_indices, tie_break_left, keep_dims, is_better, combine):
    input = _widen_bf16(input)
    if unwrap(return_indices):
        return _indexed(input, axis, unwrap(keep_dims), bool(unwrap(tie_break_left)), is_better)
    return core.reduce(semantic.cast(input, _compare_type(input.dtype)), axis, combine, keep_dims)


@member
def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True,
        keep_dims=False):
    """The maximum along an axis, and its index if asked for."""
    return _extremum(input, axis, return_indices, return_indices_tie_break_left, keep_dims, _greater,
                     math.maximum)


@member
def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True,
        keep_dims=False):
    """The minimum along an axis, and its index if asked for."""
    return _extremum(input, axis, return_indices, return_indices_tie_break_left, keep_dims, _less,
                     math.minimum)


@member
def argmax(input, axis, tie_break_left=True, keep_dims=False) -> tensor:
    """The index of the maximum along an axis; the first one of several."""
    return max(input, axis, True, tie_break_left, keep_dims)[1]


@member
def argmin(input, axis, tie_break_left=True, keep_dims=False) -> tensor:
    """The index of the minimum along an axis; the first one of several."""
    return min(input, axis, True, tie_break_left, keep_dims)[1]


def _bitwise(operator):
    return lambda a, b: semantic.arithmetic(operator, a, b)


def _require_integers(input, name):
    input = to_tensor(input)
    if not input.dtype.is_int():
        raise TypeError(f"{name} needs integers, got {input.type}")
    return input


@member
def xor_sum(input, axis=None, keep_dims=False) -> tensor:
    """The exclusive or along an axis."""
    return core.reduce(_require_integers(input, "xor_sum"), axis, _bitwise("^"), keep_dims)


@member
def reduce_or(input, axis, keep_dims=False) -> tensor:
    """The bitwise or along an axis."""
    return core.reduce(_require_integers(input, "reduce_or"), axis, _bitwise("|"), keep_dims)


# Scans and sorting ------------------------------------------------------------------------


@member
def cumsum(input, axis=0, reverse=False, dtype=None) -> tensor:
    """The running sum along an axis."""
    input = to_tensor(input)
    input = semantic.cast(input, _sum_type(input.dtype, unwrap(dtype)))
    return core.associative_scan(input, axis, _add, reverse)


@member
def cumprod(input, axis=0, reverse=False) -> tensor:
    """The running product along an axis."""
    return core.associative_scan(_widen_bf16(input), axis,
                                 lambda a, b: semantic.arithmetic("*", a, b), reverse)


@member
def flip(x, dim=None) -> tensor:
    """The elements along a dimension, the last one by default, in reverse order."""
    rank = len(x.shape)
    axis = rank - 1 if unwrap(dim) is None else core._axis(dim, rank)
    extent = x.shape[axis]
    index = semantic.sub(extent - 1, core.arange(0, extent))
    for d in range(rank):
        if d != axis:
            index = semantic.expand_dims(index, d)
    return core.gather(x, semantic.broadcast_to(index, x.shape), axis)


def _along(index, x, axis: int) -> tensor:
    """A tile of rank 1 as one that varies along `axis` of `x` only."""
    for d in range(len(x.shape)):
        if d != axis:
            index = semantic.expand_dims(index, d)
    return index


def _ordered(x, other):
    """The smaller and the larger of elements. A total order: NaN is larger than all numbers."""
    if x.dtype.is_floating():
        return math.minimum(x, other), math.maximum(x, other, math.PropagateNan.ALL)
    return math.minimum(x, other), math.maximum(x, other)


def _exchange(x, axis: int, distance: int, block: int, descending: bool):
    """One step of a bitonic sorting network: elements `distance` apart. Those whose position has
    the bit `block` fall and the others rise, or, if `descending`, the other way around."""
    index = core.arange(0, x.shape[axis])
    # The compiler knows exchanges by this XOR.
    partner = semantic.arithmetic("^", index, distance)
    is_upper = semantic.compare("ne", semantic.arithmetic("&", index, distance), 0)
    falls = semantic.compare("ne", semantic.arithmetic("&", index, block), 0)
    if descending:
        falls = semantic.logical_not(falls)
    takes_larger = semantic.arithmetic("^", is_upper, falls)
    other = core.gather(x, semantic.broadcast_to(_along(partner, x, axis), x.shape), axis)
    if x.dtype.is_int():
        # One comparison instead of two: of equal elements it does not matter which is taken.
        takes_smaller = _along(semantic.logical_not(takes_larger), x, axis)
        is_larger = semantic.compare("gt", other, x)
        return semantic.select(semantic.arithmetic("^", is_larger, takes_smaller), other, x)
    smaller, larger = _ordered(x, other)
    return semantic.select(_along(takes_larger, x, axis), larger, smaller)


def _last_axis(x, dim, name: str) -> int:
    rank = len(x.shape)
    if not rank:
        raise ValueError(f"{name} needs a tile, got the scalar {x.type}")
    axis = rank - 1 if unwrap(dim) is None else core._axis(dim, rank, "dim")
    if axis != rank - 1:
        raise ValueError(f"{name} works along the last dimension only, got dim {axis} of shape "
                         f"{list(x.shape)}")
    return axis


def _is_power_of_two(extent: int) -> bool:
    return extent & (extent - 1) == 0


def _taken(x, index, axis: int) -> tensor:
    """Elements of `x` along `axis`, by a tile of indices of rank 1."""
    shape = x.shape[:axis] + index.shape + x.shape[axis + 1:]
    return core.gather(x, semantic.broadcast_to(_along(index, x, axis), shape), axis)


def _padded(x, axis: int, descending: bool):
    """`x` with a power of two as extent of `axis`, filled up with what is sorted to the end."""
    extent = x.shape[axis]
    if _is_power_of_two(extent):
        return x
    index = core.arange(0, 1 << extent.bit_length())
    if x.dtype.is_floating():
        last = float("-inf" if descending else "nan")
    else:
        last = _integer_bounds(x.dtype)[0 if descending else 1]
    is_inside = _along(semantic.compare("lt", index, extent), x, axis)
    return semantic.select(is_inside, _taken(x, math.minimum(index, extent - 1), axis),
                           semantic.constant(last, x.dtype))


def _integer_bounds(type_):
    """The smallest and the largest value of an integer type."""
    width = type_.primitive_bitwidth
    if type_.is_int_signed() and width > 1:
        return -(1 << width - 1), (1 << width - 1) - 1
    return 0, (1 << width) - 1


def _merge(x, axis: int, length: int, block: int, descending: bool):
    """Runs of `length` in order, which rise and then fall, or fall and then rise; see _exchange."""
    distance = length // 2
    while distance:
        x = _exchange(x, axis, distance, block, descending)
        distance //= 2
    return x


def _sort(x, axis: int, count: int, descending: bool):
    """The elements along `axis` in order, behind them those of _padded: `count` of them, or the
    next power of two."""
    x = _padded(x, axis, descending)
    extent, length = x.shape[axis], 2
    while length < count:
        x = _merge(x, axis, length, length, descending)
        length *= 2
    # The better halves of two runs, one up and one down, are what their elements at equal places
    # give. Halves of the whole, since neighbouring runs lie in more distant threads.
    while extent > length:
        x = _merge(x, axis, length, extent // 2, descending)
        halves = core.reshape(x, x.shape[:axis] + (2, extent // 2))
        x = core.reduce(halves, axis, lambda a, b: _ordered(a, b)[1 if descending else 0])
        extent //= 2
    return _merge(x, axis, length, 0, descending) if extent > 1 else x


@member
def sort(x, dim=None, descending=False) -> tensor:
    """The elements along the last dimension in order; NaN is larger than all numbers."""
    x = to_tensor(x)
    axis = _last_axis(x, dim, "sort")
    result = _sort(x, axis, x.shape[axis], bool(unwrap(descending)))
    return result if result.shape == x.shape else _taken(result, core.arange(0, x.shape[axis]), axis)


@member
def bitonic_merge(x, dim=None, descending=False) -> tensor:
    """The elements along the last dimension in order, if they rise and then fall, or fall and
    then rise. Their number is a power of two."""
    x = to_tensor(x)
    axis = _last_axis(x, dim, "bitonic_merge")
    if not _is_power_of_two(x.shape[axis]):
        raise ValueError("bitonic_merge needs a power of two as extent of the last dimension, got "
                         f"{x.shape[axis]} in shape {list(x.shape)}: use sort")
    return _merge(x, axis, x.shape[axis], 0, bool(unwrap(descending)))


@member
def topk(x, k, dim=None, descending=True) -> tensor:
    """The `k` largest elements along the last dimension, the largest one first; or, if not
    `descending`, the smallest ones, the smallest one first."""
    x = to_tensor(x)
    _last_axis(x, dim, "topk")
    count = core.compile_time_int(k, "topk's k")
    if not 0 < count <= x.shape[-1]:
        raise ValueError(f"topk's k must be from 1 to {x.shape[-1]}, got {count}")
    axis = len(x.shape) - 1
    is_descending = bool(core.compile_time(descending, "topk's descending"))
    result = _sort(x, axis, count, is_descending)
    return result if result.shape[axis] == count else _taken(result, core.arange(0, count), axis)


# Matrix products --------------------------------------------------------------------------

_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


def _dot_type(a, b, out_dtype):
    """The type of the accumulator of a product."""
    if a.is_int():
        return ty.int32  # As for Triton, whatever `out_dtype` is.
    if a.is_fp64():
        return ty.float64
    if out_dtype is None or a.is_bf16() or a.is_fp32():
        return ty.float32
    if out_dtype not in (ty.float16, ty.float32):
        raise TypeError(f"dot's out_dtype is fp32, fp16 or int32, not {out_dtype}")
    return out_dtype


def _check_dot(a, b):
    for operand in (a, b):
        if len(operand.shape) < 2:
            raise ValueError(f"dot needs tiles of at least two dimensions, got {operand.type}")
    if len(a.shape) != len(b.shape) or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"the shapes of dot's operands do not fit: {list(a.shape)} and "
                         f"{list(b.shape)}; expected [M, K] and [K, N]")
    if a.dtype != b.dtype and not (a.dtype.is_fp8() and b.dtype.is_fp8()):
        raise TypeError(f"dot needs operands of one type, got {a.dtype} and {b.dtype}")
    if a.dtype.is_int() and a.dtype.primitive_bitwidth != 8:
        raise TypeError(f"dot works on int8 and floats, got {a.dtype}")


def dot(input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None,
        out_dtype=None) -> tensor:
    """The matrix product `input @ other`, added to `acc`."""
    a, b = to_tensor(input), to_tensor(other)
    _check_dot(a, b)
    precision = unwrap(input_precision)
    if precision is not None and unwrap(allow_tf32) is not None:
        raise ValueError("give input_precision or allow_tf32, not both")
    if precision is not None and precision not in _PRECISIONS:
        raise ValueError(f"input_precision must be one of {', '.join(_PRECISIONS)}, got {precision!r}")
    out = unwrap(out_dtype)
    type_ = _dot_type(a.dtype, b.dtype, None if out is None else core._type(out))
    shape = a.shape[:-1] + b.shape[-1:]
    if acc is not None:
        acc = to_tensor(acc)
        if acc.shape != shape:
            raise ValueError(f"dot's accumulator must have shape {list(shape)}, got {acc.type}")
        if out is None and acc.dtype in (ty.float16, ty.float32) and not a.dtype.is_int():
            type_ = acc.dtype if a.dtype.primitive_bitwidth < 32 else type_
        acc = semantic.cast(acc, type_)
    else:
        acc = semantic.constant(0, type_, shape)
    if len(shape) > 3:  # One dimension of batches does.
        a, b, acc = (core.reshape(x, (-1, *x.shape[-2:])) for x in (a, b, acc))
    return core.reshape(_expand_dot(a, b, acc), shape)


def _expand_dot(a, b, acc) -> tensor:
    """The product as a loop over K that adds outer products: one column of `a` and one
    row of `b` at a time. Products and sums are exact fp32, int32 or fp64."""
    wide = acc.dtype if acc.dtype.is_int() or acc.dtype.is_fp64() else ty.float32
    result_type = acc.dtype
    a, b, acc = semantic.cast(a, wide), semantic.cast(b, wide), semantic.cast(acc, wide)
    if ty.interpreting():
        return semantic.cast(state.compiler.dot(a, b, acc), result_type)
    rank, extent = len(a.shape), a.shape[-1]
    index = core.arange(0, extent) if extent > 1 else semantic.constant(0, ty.int32, (1, ))
    low, high, step = (semantic.constant(v, ty.int32).handle for v in (0, extent, 1))
    loop, k, carried = builder().begin_for(low, high, step, [acc.handle], [])
    here = semantic.compare("eq", index, tensor(k, ty.int32))
    on_columns, on_rows = here, here
    for _ in range(rank - 1):
        on_columns = semantic.expand_dims(on_columns, 0)
    for _ in range(rank - 2):
        on_rows = semantic.expand_dims(on_rows, 0)
    on_rows = semantic.expand_dims(on_rows, rank - 1)
    column = core.reduce(semantic.select(on_columns, a, 0), rank - 1, _add, keep_dims=True)
    row = core.reduce(semantic.select(on_rows, b, 0), rank - 2, _add, keep_dims=True)
    total = tensor(carried[0], wide, acc.shape)
    column, row = semantic.broadcast_to(column, acc.shape), semantic.broadcast_to(row, acc.shape)
    if wide.is_floating():
        total = semantic.elementwise("math.fma", column, row, total)
    else:
        total = semantic.add(total, semantic.arithmetic("*", column, row))
    handle = builder().end_for(loop, [total.handle])[0]
    return semantic.cast(tensor(handle, wide, acc.shape), result_type)
