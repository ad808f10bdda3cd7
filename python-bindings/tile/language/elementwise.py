# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembly, functions of libraries and functions of kernels that run for every element."""

from __future__ import annotations

from . import semantic
from . import types as ty
from .arguments import _type, compile_time_int
from .semantic import cast as _cast
from .semantic import to_tensor
from .tensor import tensor
from .types import builder, state, unwrap


def inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack):
    """Runs assembly on every group of `pack` elements."""
    asm, constraints = unwrap(asm), unwrap(constraints)
    for what, text in (("asm", asm), ("constraints", constraints)):
        if not isinstance(text, str):
            raise TypeError(f"{what} must be a string, got {semantic.show(text)}")
    types = unwrap(dtype)
    is_single = not isinstance(types, (tuple, list))
    types = [_type(types)] if is_single else [_type(t) for t in types]
    tiles = [to_tensor(a) for a in unwrap(args)]
    shape = ()
    for tile in tiles:
        shape = semantic.common_shape(shape, tile.shape)
    # Assembly takes addresses as numbers.
    tiles = [_cast(t, ty.int64) if t.dtype.is_ptr() else t for t in tiles]
    handles = [semantic.broadcast_to(t, shape).handle for t in tiles]
    results = builder().inline_assembly(asm, constraints, handles,
                                        [semantic._ir(t, shape) for t in types],
                                        bool(unwrap(is_pure)), compile_time_int(pack, "pack"))
    tensors = tuple(tensor(h, t, shape) for h, t in zip(results, types))
    return tensors[0] if is_single else tensors


def call_library(symbol, args, result_type, is_pure=True) -> tensor:
    """Calls a function of libdevice for every element."""
    shape = ()
    for arg in args:
        shape = semantic.common_shape(shape, arg.shape)
    handles = [semantic.broadcast_to(a, shape).handle for a in args]
    handle = builder().extern_elementwise(symbol, handles, semantic._ir(result_type, shape), is_pure)
    return tensor(handle, result_type, shape)


def extern_elementwise(lib_name, lib_path, args, arg_type_symbol_dict, is_pure=True):
    """Calls a function of libdevice for every element. `arg_type_symbol_dict` maps tuples of
    argument types to (symbol, result type); the form that the arguments have is taken, else
    the only one."""
    if unwrap(lib_path):
        raise ValueError("libraries of device functions other than libdevice are not supported, got "
                         f"lib_path {unwrap(lib_path)!r}")
    tiles = [to_tensor(a) for a in unwrap(args)]
    types = tuple(t.dtype for t in tiles)
    forms = unwrap(arg_type_symbol_dict)
    if types not in forms:
        if len(forms) != 1:
            raise TypeError(f"no function takes arguments of types {', '.join(map(str, types))}; there "
                            "are forms for " + "; ".join(", ".join(map(str, f)) for f in forms))
        (types, ) = forms
        if len(types) != len(tiles):
            raise TypeError(f"the function takes {len(types)} argument(s), got {len(tiles)}")
        tiles = [_cast(t, _type(p)) for t, p in zip(tiles, types)]
    symbol, result = forms[types]
    return call_library(unwrap(symbol), tiles, _type(result), bool(unwrap(is_pure)))


def call(function, *args):
    """Calls a function of a kernel: a @jit function is inlined."""
    return state.compiler.call(function, list(args), {})


def flatten_tuple(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def map_elementwise(fn, *args, pack=1):
    """Applies a scalar function, which may branch and loop, to every element."""
    tiles = [to_tensor(a) for a in args]
    pack = compile_time_int(pack, "pack")
    shape = ()
    for tile in tiles:
        shape = semantic.common_shape(shape, tile.shape)
    if not shape:
        return call(fn, *tiles)
    tiles = [semantic.broadcast_to(t, shape) for t in tiles]
    if ty.interpreting():
        return state.compiler.map_elementwise(fn, tiles, pack)
    # The types of the results are known once the function was compiled: it is compiled
    # twice, and the first region is thrown away.
    types = state.compiler.result_types(fn, [tensor(None, t.dtype) for t in tiles for _ in range(pack)])
    results = [types[i] for i in range(0, len(types), pack)]
    op, values = builder().begin_map([t.handle for t in tiles],
                                     [semantic._ir(t, shape) for t in results], pack)
    scalars = [tensor(v, tiles[i // pack].dtype) for i, v in enumerate(values)]
    # Nothing in the region may stop the kernel.
    state.compiler.sanitize_overflow, checks = False, state.compiler.sanitize_overflow
    try:
        outputs = flatten_tuple(call(fn, *scalars))
    finally:
        state.compiler.sanitize_overflow = checks
    yields = [_cast(to_tensor(o), t).handle for o, t in zip(outputs, types)]
    handles = builder().end_combine(op, yields)
    tensors = tuple(tensor(h, t, shape) for h, t in zip(handles, results))
    return tensors if len(tensors) > 1 else tensors[0]
