# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong kernels. The line with the mistake ends in a comment,

    # error: TEXT :: MESSAGE

where TEXT is what the caret must be under (empty: anything) and MESSAGE a regular expression of
what must be said. Arguments are made from the names of the parameters: see `arguments` in
test_errors_table.py.
"""

# pyflakes and formatters leave this file alone: it is wrong on purpose.

import collections
import math
from typing import NamedTuple

import numpy as np

import tile
import tile.language as tl

LIST = [1, 2]
COUNTER = 0
FACTOR = 2.5
NAME = "sum"


class Plain:
    """Not an aggregate."""


@tl.aggregate
class Point:
    a: tl.tensor
    SIZE: tl.constexpr


class Pair(NamedTuple):
    first: object
    second: object


def plain_python(v):
    return v * 2


@tile.jit
def helper(v, w):
    return v + w


@tile.jit
def divides(v):
    return v // 2


@tile.jit
def returns_two(v):
    return v, v


# Names ------------------------------------------------------------------------------------


@tile.jit
def undefined_name(x):
    tl.store(x, undefined + 1)  # error: undefined :: undefined is not defined


@tile.jit
def undefined_suggestion(x, n):
    offsets = tl.arange(0, 8)
    tl.store(x + offset, 1.0)  # error: offset :: offset is not defined.*offsets


@tile.jit
def unknown_function(x):
    tl.store(x, tl.exponential(1.0))  # error: tl.exponential :: no attribute 'exponential'


@tile.jit
def misspelt_function(x):
    tl.stroe(x, 1.0)  # error: tl.stroe :: no attribute 'stroe'.*'store'


@tile.jit
def unknown_method(x):
    v = tl.load(x)
    tl.store(x, v.squared())  # error: v.squared :: fp32 has no attribute.*squared


@tile.jit
def unknown_libdevice(x):
    tl.store(x, tl.extra.libdevice.airy(tl.load(x)))  # error: tl.extra.libdevice.airy :: airy


@tile.jit
def mutable_global(x):
    tl.store(x, tl.load(x) * FACTOR)  # error: FACTOR :: FACTOR is a global variable of type float.*constexpr


@tile.jit
def global_list(x):
    tl.store(x, LIST[0])  # error: LIST :: LIST is a global variable of type list


@tile.jit
def torch_name(x):
    tl.store(x, np.float32(tl.load(x)))  # error: np.float32(tl.load(x)) :: is no @tile.jit function


@tile.jit
def defined_in_one_branch(x, n):
    if n > 3:
        y = 1.0
    tl.store(x, y)  # error: y :: y is not defined here: it was assigned in one branch


@tile.jit
def defined_in_loop(x, n):
    for i in range(n):
        y = 1.0
    tl.store(x, y)  # error: y :: assigned in a loop only


@tile.jit
def used_before(x):
    total += 1  # error: total :: total is not defined


# Statements -------------------------------------------------------------------------------


@tile.jit
def uses_break(x, n):
    for i in range(n):
        if i > 3:
            break  # error: break :: break cannot be used in kernels.*condition


@tile.jit
def uses_continue(x, n):
    for i in range(n):
        if i > 3:
            continue  # error: continue :: continue cannot be used in kernels.*if


@tile.jit
def returns_in_loop(x, n):
    for i in range(n):
        if i > 3:
            return  # error: return :: `return` in a loop is not supported


@tile.jit
def returns_in_while(x, n):
    i = 0
    while i < n:
        return  # error: return :: `return` in a loop is not supported


@tile.jit
def many_ways_to_return(x, n):
    if n > 1:
        if n > 102:
            return
        tl.store(x + 1, 1.0)
    if n > 2:
        if n > 104:
            return
        tl.store(x + 2, 1.0)
    if n > 3:
        if n > 106:
            return
        tl.store(x + 3, 1.0)
    if n > 4:
        if n > 108:
            return
        tl.store(x + 4, 1.0)
    if n > 5:
        if n > 110:
            return
        tl.store(x + 5, 1.0)
    if n > 6:
        if n > 112:
            return
        tl.store(x + 6, 1.0)
    if n > 7:
        if n > 114:
            return
        tl.store(x + 7, 1.0)
    if n > 8:
        if n > 116:
            return
        tl.store(x + 8, 1.0)
    if n > 9:
        if n > 118:
            return
        tl.store(x + 9, 1.0)
    if n > 10:
        if n > 120:
            return
        tl.store(x + 10, 1.0)
    if n > 11:
        if n > 122:
            return
        tl.store(x + 11, 1.0)
    if n > 12:
        if n > 124:
            return
        tl.store(x + 12, 1.0)
    if n > 13:  # error: :: too many ways through `return`s
        if n > 126:
            return
        tl.store(x + 13, 1.0)


@tile.jit
def uses_try(x):
    try:  # error: :: try cannot be used in kernels
        tl.store(x, 1.0)
    except ValueError:
        pass


@tile.jit
def uses_raise(x):
    raise ValueError("no")  # error: raise ValueError("no") :: raise cannot be used in kernels


@tile.jit
def uses_class(x):
    class C:  # error: :: class cannot be used in kernels
        pass


@tile.jit
def nested_function(x):
    def inner(a):  # error: :: a nested function cannot be used in kernels.*@tile.jit
        return a
    tl.store(x, inner(1.0))


@tile.jit
def uses_yield(x):
    yield x  # error: yield x :: yield cannot be used in kernels


@tile.jit
def uses_del(x):
    y = 1
    del y  # error: del y :: del cannot be used in kernels


@tile.jit
def uses_global(x):
    global COUNTER  # error: global COUNTER :: global cannot be used in kernels
    COUNTER = 1


@tile.jit
def uses_import(x):
    import math  # error: import math :: import cannot be used in kernels


@tile.jit
def uses_match(x, n):
    match n:  # error: :: match cannot be used in kernels
        case 1:
            tl.store(x, 1.0)


@tile.jit
def uses_set(x):
    s = {1, 2}  # error: {1, 2} :: a set cannot be used in kernels


@tile.jit
def uses_dict_comprehension(x):
    s = {i: i for i in (1, 2)}  # error: {i: i for i in (1, 2)} :: a dict comprehension cannot be used


@tile.jit
def loop_else(x, n):
    for i in range(n):  # error: :: `else` of a loop is not supported
        tl.store(x + i, 1.0)
    else:
        tl.store(x, 2.0)


@tile.jit
def matmul_operator(x):
    a = tl.zeros((16, 16), tl.float32)
    b = a @ a  # error: a @ a :: tl.dot


@tile.jit
def subscript_assignment(x):
    x[0] = 1.0  # error: x[0] :: only variables can be assigned.*tl.store


@tile.jit
def attribute_assignment(x):
    v = tl.load(x)
    v.scale = 2  # error: v.scale :: only variables can be assigned


@tile.jit
def wrong_unpacking(x):
    a, b, c = returns_two(1)  # error: a, b, c :: 2 values for 3 variables


@tile.jit
def unpacks_tile(x):
    a, b = tl.load(x + tl.arange(0, 2))  # error: a, b :: cannot be unpacked


@tile.jit
def iterates_tile(x):
    for v in tl.load(x + tl.arange(0, 8)):  # error: tl.load(x + tl.arange(0, 8)) :: not over <\[8\], fp32>
        tl.store(x, v)


@tile.jit
def with_no_manager(x):
    with tl.load(x):  # error: tl.load(x) :: context manager
        pass


@tile.jit
def returns_value(x):
    return tl.load(x)  # error: return tl.load(x) :: a kernel cannot return a value


@tile.jit
def assigns_constexpr_parameter(x, N: tl.constexpr):
    M: tl.constexpr = tl.load(x)
    tl.store(x + tl.arange(0, M), 0.0)  # error: tl.arange(0, M) :: arange's end must be known at compile time


# Types of variables -----------------------------------------------------------------------


@tile.jit
def changes_type_in_loop(x, n):
    total = 0
    for i in range(n):  # error: :: total has type int32 before the loop, but fp32 at the end
        total += tl.load(x + i)


@tile.jit
def changes_shape_in_loop(x, n):
    total = tl.zeros((8, ), tl.float32)
    for i in range(n):  # error: :: total has type <\[8\], fp32> before the loop, but <\[1, 8\], fp32>
        total = total[None, :]


@tile.jit
def changes_type_in_while(x, n):
    i = 0
    while i < n:  # error: :: i has type int32 before the loop, but fp32
        i = i + 1.5


@tile.jit
def differs_in_branches(x, n):
    if n > 3:  # error: :: y has type int32 if the condition holds, but fp32 otherwise
        y = 1
    else:
        y = 2.0
    tl.store(x, y)


@tile.jit
def differs_in_shape(x, n):
    y = tl.zeros((8, ), tl.float32)
    if n > 3:  # error: :: y has type <\[4\], fp32> if the condition holds, but <\[8\], fp32>
        y = tl.zeros((4, ), tl.float32)
    tl.store(x + tl.arange(0, 8), y)


@tile.jit
def differs_in_conditional_expression(x, n):
    y = 1.0 if n > 3 else tl.zeros((4, ), tl.float32)  # error: 1.0 if n > 3 else tl.zeros((4, ), tl.float32) :: one type


@tile.jit
def select_returned(v, n):
    if n > 3:  # error: :: the function returns fp32 if the condition holds, but int32 otherwise
        return v
    return 0


@tile.jit
def returns_differ(x, n):
    tl.store(x, select_returned(tl.load(x), n))


@tile.jit
def tile_as_condition(x):
    if tl.load(x + tl.arange(0, 8)) > 0:  # error: tl.load(x + tl.arange(0, 8)) > 0 :: a condition must be a scalar, got <\[8\], int1>
        tl.store(x, 1.0)


@tile.jit
def tile_in_while(x):
    v = tl.load(x + tl.arange(0, 8))
    while v > 0:  # error: v > 0 :: a condition must be a scalar
        v -= 1


# Compile-time values ----------------------------------------------------------------------


@tile.jit
def runtime_shape(x, n):
    tl.store(x + tl.arange(0, n), 0.0)  # error: tl.arange(0, n) :: arange's end must be known at compile time.*int32


@tile.jit
def runtime_zeros(x, n):
    z = tl.zeros((n, ), tl.float32)  # error: tl.zeros((n, ), tl.float32) :: known at compile time


@tile.jit
def unshared_range(x):
    i = tl.arange(0, 3001)  # error: :: hold 3001 elements.*multiple of 128 and a mask, such as 3072 instead of 3001
    tl.store(x + i, i)


@tile.jit
def odd_merge(x):
    i = tl.arange(0, 96)
    tl.store(x + i, tl.bitonic_merge(tl.load(x + i)))  # error: tl.bitonic_merge(tl.load(x + i)) :: bitonic_merge needs a power of two .* got 96 in shape \[96\]: use sort


@tile.jit
def empty_range(x):
    i = tl.arange(8, 8)  # error: tl.arange(8, 8) :: greater than its start


@tile.jit
def float_range(x):
    i = tl.arange(0, 8.0)  # error: tl.arange(0, 8.0) :: arange's end must be an integer, got float 8.0


@tile.jit
def huge_tile(x):
    z = tl.zeros((4096, 4096), tl.float32)  # error: tl.zeros((4096, 4096), tl.float32) :: 16777216 elements.*1048576


@tile.jit
def huge_broadcast(x):
    i = tl.arange(0, 8192)
    tl.store(x + i[:, None] + i[None, :], 0.0)  # error: :: 67108864 elements.*1048576


@tile.jit
def negative_extent(x):
    z = tl.zeros((-8, ), tl.float32)  # error: tl.zeros((-8, ), tl.float32) :: extent.*-8


@tile.jit
def runtime_axis(x, n):
    s = tl.sum(tl.load(x + tl.arange(0, 8)), axis=n)  # error: tl.sum(tl.load(x + tl.arange(0, 8)), axis=n) :: axis must be known at compile time


@tile.jit
def runtime_static_range(x, n):
    for i in tl.static_range(n):  # error: :: static_range must be known at compile time
        tl.store(x + i, 0.0)


@tile.jit
def static_assert_of_runtime(x, n):
    tl.static_assert(n > 3)  # error: tl.static_assert(n > 3) :: static_assert's condition must be known at compile time


@tile.jit
def static_assert_fails(x, N: tl.constexpr = 6):
    tl.static_assert(N % 4 == 0, f"N is {N}")  # error: tl.static_assert(N % 4 == 0, f"N is {N}") :: static assertion failed: N is 6


@tile.jit
def assert_fails(x, N: tl.constexpr = 6):
    assert N == 8, "eight is needed"  # error: assert N == 8, "eight is needed" :: eight is needed


@tile.jit
def constexpr_division(x, N: tl.constexpr = 0):
    M: tl.constexpr = 8 // N  # error: 8 // N :: zero


@tile.jit
def zero_step(x):
    for i in range(0, 8, 0):  # error: range(0, 8, 0) :: step of a loop must not be zero
        tl.store(x + i, 0.0)


@tile.jit
def float_bounds(x, f):
    for i in range(f):  # error: range(f) :: bounds of a loop must be integer scalars, got fp32
        tl.store(x + i, 0.0)


@tile.jit
def runtime_grid_axis(x):
    p = tl.program_id(3)  # error: tl.program_id(3) :: must be 0, 1, or 2, got 3


# Shapes -----------------------------------------------------------------------------------


@tile.jit
def shapes_differ(x):
    a = tl.load(x + tl.arange(0, 64))
    b = tl.load(x + tl.arange(0, 32))
    c = a + b  # error: a + b :: \[64\] and \[32\]


@tile.jit
def wrong_axis(x):
    s = tl.sum(tl.load(x + tl.arange(0, 8)), axis=1)  # error: tl.sum(tl.load(x + tl.arange(0, 8)), axis=1) :: axis 1 is out of range for a tile of rank 1


@tile.jit
def axis_of_scalar(x):
    s = tl.max(tl.load(x), axis=0)  # error: tl.max(tl.load(x), axis=0) :: scalar


@tile.jit
def bad_reshape(x):
    v = tl.load(x + tl.arange(0, 64)).reshape(8, 16)  # error: :: cannot reshape \[64\] \(64 elements\) to \[8, 16\] \(128


@tile.jit
def bad_broadcast(x):
    v = tl.broadcast_to(tl.arange(0, 8), (4, ))  # error: tl.broadcast_to(tl.arange(0, 8), (4, )) :: cannot broadcast shape \[8\] to \[4\]


@tile.jit
def bad_permutation(x):
    v = tl.permute(tl.zeros((4, 8), tl.float32), 0, 0)  # error: :: no permutation


@tile.jit
def bad_trans(x):
    v = tl.trans(tl.arange(0, 8))  # error: tl.trans(tl.arange(0, 8)) :: at least two dimensions, got shape \[8\]


@tile.jit
def bad_split(x):
    a, b = tl.split(tl.zeros((4, 8), tl.float32))  # error: tl.split(tl.zeros((4, 8), tl.float32)) :: extent 2, got shape \[4, 8\]


@tile.jit
def bad_join(x):
    v = tl.join(tl.arange(0, 8), tl.arange(0, 16))  # error: :: \[8\] and \[16\]


@tile.jit
def bad_cat(x):
    v = tl.cat(tl.arange(0, 8), tl.arange(0, 16))  # error: :: \[8\] and \[16\]


@tile.jit
def cat_does_not_broadcast(x):
    v = tl.cat(tl.arange(0, 1), tl.arange(0, 8))  # error: :: tiles of one shape, got \[1\] and \[8\]


@tile.jit
def subscript_of_tile(x):
    v = tl.load(x + tl.arange(0, 8))
    tl.store(x, v[0])  # error: v[0] :: ':' and None only


@tile.jit
def slice_of_tile(x):
    v = tl.load(x + tl.arange(0, 8))
    w = v[2:4]  # error: v[2:4] :: ':' and None only


@tile.jit
def float_index(x):
    t = (1, 2, 3)
    y = t[1.0]  # error: t[1.0] :: integers


@tile.jit
def index_out_of_range(x):
    t = (1, 2, 3)
    y = t[3]  # error: t[3] :: out of range


@tile.jit
def runtime_tuple_index(x, n):
    t = (1, 2, 3)
    y = t[n]  # error: t[n] :: known at compile time


@tile.jit
def too_many_colons(x):
    v = tl.arange(0, 8)[:, :]  # error: tl.arange(0, 8)[:, :] :: 2 ':' for a tile of shape \[8\]


@tile.jit
def squeezes_wrong_axis(x):
    v = tl.squeeze(tl.zeros((4, 8), tl.float32), 0)  # error: :: dimension of extent 1


@tile.jit
def item_of_many(x):
    v = tl.arange(0, 8).item()  # error: tl.arange(0, 8).item() :: one element


# Operators --------------------------------------------------------------------------------


@tile.jit
def float_floor_division(x):
    tl.store(x, tl.load(x) // 2)  # error: tl.load(x) // 2 :: '//' needs integers, got fp32


@tile.jit
def in_helper(x):
    tl.store(x, divides(tl.load(x)))  # error: divides(tl.load(x)) :: '//' needs integers


@tile.jit
def float_and(x):
    v = tl.load(x) & 1  # error: tl.load(x) & 1 :: '&' needs integers, got fp32


@tile.jit
def float_shift(x):
    v = tl.load(x) << 1  # error: tl.load(x) << 1 :: '<<' needs integers


@tile.jit
def invert_float(x):
    v = ~tl.load(x)  # error: ~tl.load(x) :: '~' needs integers, got fp32


@tile.jit
def mixed_signs(x, n):
    v = n % n.to(tl.uint32)  # error: n % n.to(tl.uint32) :: same signedness, got int32 and uint32


@tile.jit
def out_of_range_number(c):
    v = tl.load(c) + 300  # error: tl.load(c) + 300 :: 300 is out of range for type int8


@tile.jit
def adds_string(x):
    v = tl.load(x) + "1"  # error: tl.load(x) + "1" :: unsupported operands of '\+'.*str


@tile.jit
def adds_none(x):
    v = tl.load(x) + None  # error: tl.load(x) + None :: unsupported operands of '\+'.*None


@tile.jit
def adds_pointers(x):
    v = tl.load(x + x)  # error: x + x :: only an integer can be added to a pointer


@tile.jit
def float_offset(x, f):
    v = tl.load(x + f)  # error: x + f :: only an integer can be added to a pointer, got fp32


@tile.jit
def multiplies_pointer(x):
    v = x * 2  # error: x * 2 :: pointer


@tile.jit
def pointer_difference(x):
    v = x - x  # error: x - x :: cast both to int64


@tile.jit
def negates_pointer(x):
    v = -x  # error: -x :: a pointer cannot be negated


@tile.jit
def exp_of_int(x, n):
    v = tl.exp(n)  # error: tl.exp(n) :: exp needs floating-point values.*got int32


@tile.jit
def umulhi_of_float(x):
    v = tl.umulhi(tl.load(x), tl.load(x))  # error: tl.umulhi(tl.load(x), tl.load(x)) :: integers, got fp32


@tile.jit
def integer_power(x, n):
    v = n**n  # error: n**n :: small constant power


@tile.jit
def pointer_power(x):
    v = tl.load(x**0)  # error: x**0 :: a pointer cannot be raised to a power


@tile.jit
def number_minus_module(x):
    v = tl.load(x + (3 - tl))  # error: 3 - tl :: unsupported operands of '-': int 3 and the module tile.language


@tile.jit
def compares_module(x, n):
    v = tl < 3  # error: tl < 3 :: the module tile.language and int 3 cannot be compared


@tile.jit
def negates_string(x, n):
    v = -"a"  # error: -"a" :: unsupported operand: str 'a'


@tile.jit
def split_of_number(x):
    v = tl.split(0)  # error: tl.split(0) :: split does not work on \(int 0\)


@tile.jit
def type_is_function(x):
    v = tl.zeros((8, ), tl.load)  # error: tl.zeros((8, ), tl.load) :: expected a type such as tl.float32, got the function load


@tile.jit
def subscript_of_function(x):
    v = tl.load[0]  # error: tl.load[0] :: the function load cannot be subscripted


@tile.jit
def cast_to_nothing(x):
    v = tl.load(x).to("float31")  # error: tl.load(x).to("float31") :: unknown type 'float31'


@tile.jit
def cast_to_value(x):
    v = tl.load(x).to(32)  # error: tl.load(x).to(32) :: expected a type such as tl.float32, got int 32


@tile.jit
def bitcast_of_other_width(x):
    v = tl.load(x).to(tl.int16, bitcast=True)  # error: tl.load(x).to(tl.int16, bitcast=True) :: fp32.*int16


@tile.jit
def rounding_of_widening(x):
    v = tl.load(x).to(tl.float64, fp_downcast_rounding="rtz")  # error: :: narrowing


@tile.jit
def pointer_to_float(x):
    v = x.to(tl.float32)  # error: x.to(tl.float32) :: a pointer can be cast to int64


@tile.jit
def foreign_float(x):
    v = tl.load(x).to(tl.float8e4b15)  # error: tl.load(x).to(tl.float8e4b15) :: fp8e4b15 is not supported


@tile.jit
def select_of_strings(x):
    v = tl.where(tl.load(x) > 0, "a", "b")  # error: tl.where(tl.load(x) > 0, "a", "b") :: got str 'a'


# Memory -----------------------------------------------------------------------------------


@tile.jit
def load_of_value(x, n):
    v = tl.load(n)  # error: tl.load(n) :: load needs a pointer or a tile of pointers, got int32


@tile.jit
def store_to_value(x, n):
    tl.store(n, 1.0)  # error: tl.store(n, 1.0) :: store needs a pointer or a tile of pointers, got int32


@tile.jit
def swapped_store(x):
    v = tl.load(x)
    tl.store(v, x)  # error: tl.store(v, x) :: store needs a pointer.*got fp32


@tile.jit
def mask_of_scalar(x):
    v = tl.load(x, mask=tl.arange(0, 8) < 4)  # error: tl.load(x, mask=tl.arange(0, 8) < 4) :: mask of a scalar pointer must be a scalar


@tile.jit
def mask_shape(x):
    v = tl.load(x + tl.arange(0, 8), mask=tl.arange(0, 16) < 4)  # error: :: \[8\] and \[16\]


@tile.jit
def store_shape(x):
    tl.store(x + tl.arange(0, 8), tl.zeros((16, ), tl.float32))  # error: :: \[8\] and \[16\]


@tile.jit
def tile_to_scalar_pointer(x):
    tl.store(x, tl.arange(0, 8))  # error: tl.store(x, tl.arange(0, 8)) :: cannot store a tile of type <\[8\], int32> to a scalar pointer


@tile.jit
def other_without_mask(x):
    v = tl.load(x, other=0.0)  # error: tl.load(x, other=0.0) :: `other` needs a `mask`


@tile.jit
def boundary_check_of_pointers(x):
    v = tl.load(x + tl.arange(0, 8), boundary_check=(0, ))  # error: :: for block pointers


@tile.jit
def bad_cache_modifier(x):
    v = tl.load(x, cache_modifier=".wb")  # error: tl.load(x, cache_modifier=".wb") :: cache_modifier must be one of .*'.wb'


@tile.jit
def bad_eviction_policy(x):
    v = tl.load(x, eviction_policy="evict_never")  # error: :: eviction_policy must be one of .*'evict_never'


@tile.jit
def unknown_keyword(x):
    v = tl.load(x, masked=True)  # error: tl.load(x, masked=True) :: unexpected keyword argument 'masked'


@tile.jit
def missing_argument(x):
    tl.store(x)  # error: tl.store(x) :: missing.*'value'


@tile.jit
def block_pointer_rank(x, n):
    p = tl.make_block_ptr(x, (n, ), (1, ), (0, ), (8, 8), (0, ))  # error: :: must have one length


@tile.jit
def block_pointer_order(x, n):
    p = tl.make_block_ptr(x, (n, ), (1, ), (0, ), (8, ), (1, ))  # error: :: no permutation


@tile.jit
def block_pointer_mask(x, n):
    p = tl.make_block_ptr(x, (n, ), (1, ), (0, ), (8, ), (0, ))
    v = tl.load(p, mask=tl.arange(0, 8) < 4)  # error: tl.load(p, mask=tl.arange(0, 8) < 4) :: boundary_check


@tile.jit
def advance_of_pointer(x):
    p = tl.advance(x, (8, ))  # error: tl.advance(x, (8, )) :: advance needs a block pointer


@tile.jit
def descriptor_stride(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [1, 2], [8, 8])  # error: :: last stride must be 1, got 2


@tile.jit
def descriptor_too_narrow(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 2])  # error: :: at least 16 bytes


@tile.jit
def descriptor_offsets(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 8])
    v = d.load([0])  # error: d.load([0]) :: expected 2 offsets, got 1


@tile.jit
def descriptor_gather(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [1, 8])
    v = d.gather(tl.arange(0, 8), 0)  # error: d.gather(tl.arange(0, 8), 0) :: not supported


@tile.jit
def load_of_descriptor(x, n):
    d = tl.make_tensor_descriptor(x, [n, n], [n, 1], [8, 8])
    v = tl.load(d)  # error: tl.load(d) :: descriptor.load


@tile.jit
def atomic_on_bytes(c):
    tl.atomic_add(c, 1)  # error: tl.atomic_add(c, 1) :: atomic_add does not work on int8


@tile.jit
def atomic_and_of_float(x):
    tl.atomic_and(x, 1)  # error: tl.atomic_and(x, 1) :: atomic_and does not work on fp32


@tile.jit
def atomic_max_of_half(h):
    tl.atomic_max(h, 1.0)  # error: tl.atomic_max(h, 1.0) :: atomic_max does not work on fp16


@tile.jit
def atomic_cas_of_bytes(c):
    tl.atomic_cas(c, 0, 1)  # error: tl.atomic_cas(c, 0, 1) :: atomic_cas does not work on int8


@tile.jit
def atomic_order(i):
    tl.atomic_add(i, 1, sem="seq_cst")  # error: tl.atomic_add(i, 1, sem="seq_cst") :: sem must be one of


@tile.jit
def multiple_of_rank(x, n):
    i = tl.multiple_of(tl.arange(0, 8), (8, 8))  # error: :: 2 values of divisibility for a tile of rank 1


# Products, reductions, scans --------------------------------------------------------------


@tile.jit
def dot_shapes(x):
    a = tl.zeros((16, 32), tl.float32)
    c = tl.dot(a, a)  # error: tl.dot(a, a) :: \[16, 32\] and \[16, 32\]; expected \[M, K\] and \[K, N\]


@tile.jit
def dot_types(x):
    c = tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float32))  # error: :: operands of one type, got fp16 and fp32


@tile.jit
def dot_of_integers(x):
    a = tl.zeros((16, 16), tl.int32)
    c = tl.dot(a, a)  # error: tl.dot(a, a) :: int8 and floats, got int32


@tile.jit
def dot_of_vectors(x):
    c = tl.dot(tl.arange(0, 8), tl.arange(0, 8))  # error: :: at least two dimensions


@tile.jit
def dot_accumulator(x):
    a = tl.zeros((16, 16), tl.float16)
    c = tl.dot(a, a, tl.zeros((16, 32), tl.float32))  # error: :: accumulator must have shape \[16, 16\]


@tile.jit
def dot_precision(x):
    a = tl.zeros((16, 16), tl.float32)
    c = tl.dot(a, a, input_precision="fp19")  # error: :: input_precision must be one of .*'fp19'


@tile.jit
def reduce_without_jit(x):
    s = tl.reduce(tl.arange(0, 8), 0, plain_python)  # error: :: plain_python is no @tile.jit function


@tile.jit
def reduce_with_wrong_count(x):
    s = tl.reduce(tl.arange(0, 8), 0, divides)  # error: :: divides: too many positional arguments


@tile.jit
def reduce_returns_too_much(x):
    s = tl.reduce((tl.arange(0, 8), tl.arange(0, 8)), 0, four_to_one)  # error: :: combine function must return 2 values, got 1


@tile.jit
def four_to_one(a, b, c, d):
    return a + b + c + d


@tile.jit
def reduce_shapes(x):
    s = tl.reduce((tl.arange(0, 8), tl.arange(0, 16)), 0, four_to_one)  # error: :: one shape, got \[8\], \[16\]


@tile.jit
def xor_of_floats(x):
    s = tl.xor_sum(tl.load(x + tl.arange(0, 8)), 0)  # error: :: xor_sum needs integers


@tile.jit
def sort_of_first_axis(x):
    v = tl.sort(tl.zeros((4, 8), tl.float32), 0)  # error: :: sort works along the last dimension only


@tile.jit
def topk_too_many(x):
    v = tl.topk(tl.arange(0, 8), 16)  # error: tl.topk(tl.arange(0, 8), 16) :: from 1 to 8, got 16


@tile.jit
def scan_of_scalar(x):
    v = tl.cumsum(tl.load(x))  # error: tl.cumsum(tl.load(x)) :: a scan needs tiles.*scalar


@tile.jit
def histogram_of_floats(x):
    v = tl.histogram(tl.load(x + tl.arange(0, 8)), 8)  # error: :: integers


@tile.jit
def gather_rank(x):
    v = tl.gather(tl.zeros((4, 8), tl.float32), tl.arange(0, 8), 0)  # error: :: rank


# Calls ------------------------------------------------------------------------------------


@tile.jit
def too_many_arguments(x):
    v = helper(1, 2, 3)  # error: helper(1, 2, 3) :: helper: too many positional arguments


@tile.jit
def too_few_arguments(x):
    v = helper(1)  # error: helper(1) :: helper: missing a required argument: 'w'


@tile.jit
def wrong_keyword(x):
    v = helper(1, u=2)  # error: helper(1, u=2) :: helper: .*'(w|u)'


@tile.jit
def recursive(x, n):
    recursive(x, n)  # error: recursive(x, n) :: cannot recurse


@tile.jit
def calls_python(x):
    v = plain_python(tl.load(x))  # error: plain_python(tl.load(x)) :: plain_python is no @tile.jit function


@tile.jit
def calls_math(x):
    v = math.sqrt(tl.load(x))  # error: math.sqrt(tl.load(x)) :: sqrt is no @tile.jit function.*tl.sqrt


@tile.jit
def calls_number(x, n):
    v = n(3)  # error: n(3) :: int32 cannot be called


@tile.jit
def launches_kernel(x):
    helper[(1, )](x, x)  # error: helper[(1, )] :: launch


@tile.jit
def makes_plain_object(x):
    v = Plain(tl.load(x))  # error: Plain(tl.load(x)) :: Plain.*tl.aggregate


@tile.jit
def star_of_tile(x):
    v = helper(*tl.load(x + tl.arange(0, 2)))  # error: :: cannot be iterated over


@tile.jit
def print_without_prefix(x):
    tl.device_print(tl.load(x))  # error: tl.device_print(tl.load(x)) :: first argument must be a string


@tile.jit
def prints_string(x):
    tl.device_print("value", "text")  # error: tl.device_print("value", "text") :: got str 'text'


@tile.jit
def aggregate_field(x):
    p = Point(tl.load(x), tl.load(x))  # error: Point(tl.load(x), tl.load(x)) :: field SIZE of Point must be known at compile time


@tile.jit
def aggregate_changed(x):
    p = Point(tl.load(x), 4)
    p.a = tl.load(x)  # error: p.a :: cannot be changed


@tile.jit
def aggregate_missing_field(x):
    p = Point(tl.load(x))  # error: Point(tl.load(x)) :: Point: missing a required argument: 'SIZE'


@tile.jit
def map_of_python(x):
    v = tl.map_elementwise(plain_python, tl.load(x + tl.arange(0, 8)))  # error: :: plain_python is no @tile.jit function


@tile.jit
def tile_subscript_in_tuple_of_names(x):
    p = Pair(1, 2)
    v = p.third  # error: p.third :: no attribute 'third'


@tile.jit
def complex_number(x):
    v = tl.load(x) + 1j  # error: tl.load(x) + 1j :: complex


@tile.jit
def huge_integer(x):
    v = 1 << 70  # error: :: does not fit in 64 bits


@tile.jit
def library_of_user(x):
    v = tl.extern_elementwise("mine", "/tmp/mine.bc", [tl.load(x)], {(tl.float32, ): ("f", tl.float32)})  # error: :: libraries .* other than libdevice are not supported


@tile.jit
def form_of_extern(x, n):
    v = tl.extern_elementwise("", "", [n], {(tl.float32, ): ("f", tl.float32), (tl.float64, ): ("g", tl.float64)})  # error: :: int32; there are forms for fp32; fp64


@tile.jit
def libdevice_of_wrong_kind(x):
    v = tl.extra.libdevice.popc(tl.load(x))  # error: tl.extra.libdevice.popc(tl.load(x)) :: libdevice.popc works on int32 or int64, got fp32


@tile.jit
def libdevice_count(x):
    v = tl.extra.libdevice.fmod(tl.load(x))  # error: tl.extra.libdevice.fmod(tl.load(x)) :: takes 2 argument\(s\), got 1


@tile.jit
def scaled_format(x):
    a = tl.zeros((16, 32), tl.uint8)
    v = tl.dot_scaled(a, None, "e3m2", a.T, None, "e4m3")  # error: :: format of lhs must be one of .*'e3m2'


@tile.jit
def old_descriptors(x):
    v = tl._experimental_descriptor_load(x, [0], [8], tl.float32)  # error: :: make_tensor_descriptor


@tile.jit
def return_in_with(x, n):
    with tl.condition(True):  # error: tl.condition(True) :: context manager
        tl.store(x, 1.0)


@tile.jit
def starred_assignment(x, n):
    first, *rest, last = (n, )  # error: first, *rest, last :: 1 values for at least 2 variables


# From passes, which find some mistakes only later -------------------------------------------


@tile.jit
def too_much_shared_memory(x):
    i = tl.arange(0, 512)
    v = tl.load(x + i[:, None] * 512 + i[None, :])
    v = tl.cumsum(v, 0) + tl.cumsum(v, 1)  # error: :: 1048576 bytes of shared memory.*largest part
    tl.store(x + i[:, None] * 512 + i[None, :], tl.gather(v, i[:, None] * 0 + i[None, :], 0))


@tile.jit
def unknown_assembly_type(x):
    v = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r", [tl.load(x)], tl.float32, True, 1)  # error: :: constraint


@tile.jit
def unknown_extern(x):
    v = tl.extern_elementwise("", "", [tl.load(x)], {(tl.float32, ): ("__nv_nothingf", tl.float32)})  # error: :: __nv_nothingf
    tl.store(x, v)
