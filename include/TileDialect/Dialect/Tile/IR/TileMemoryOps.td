//===- TileMemoryOps.td - Pointers and memory --------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEMEMORYOPS_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEMEMORYOPS_TD

include "TileDialect/Dialect/Tile/IR/TileOpBase.td"

// Transforms used to infer types: the element (or tile of elements) that a
// pointer (or tile of pointers) points to, and an i1 of the same shape.
defvar pointee = "::mlir::tile::getPointeeLike($_self)";
defvar mask = "::mlir::tile::getI1SameShape($_self)";

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

def Tile_AddPtrOp : Tile_Op<"addptr", [
    Pure, AllTypesMatch<["ptr", "result"]>, Tile_SameShapeAndEncoding]> {
  let summary = "advance a pointer by a number of elements";
  let description = [{
    Yields `ptr + offset * size`, where `size` is the size in bytes of the
    pointee (1 for `i1`, 8 for a pointer). The offset is signed and is
    extended to 64 bits before it is scaled, so that an `i32` offset never
    overflows here; the address wraps modulo 2^64.

    `ptr` is a pointer or a tile of pointers; `offset` is an `i32` or `i64` of the
    same shape and encoding. The result has the type of `ptr`.

    Example:
    ```mlir
    %q = tile.addptr %p, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_LikeOf<AnyTypeOf<[I32, I64]>>:$offset);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure, Tile_SameShapeAndEncoding]> {
  let summary = "the pointer with a given address";
  let description = [{
    `source` is an address in the memory space of the result's pointers, an `i64`
    or a tile of them; the result has its shape and encoding.

    Example:
    ```mlir
    %p = tile.int_to_ptr %a : i64 -> !tile.ptr<f32>
    ```
  }];
  let arguments = (ins Tile_LikeOf<I64>:$source);
  let results = (outs Tile_PtrLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure, Tile_SameShapeAndEncoding]> {
  let summary = "the address of a pointer";
  let description = [{
    `source` is a pointer or a tile of pointers; the result is its address, an
    `i64`, in the memory space of the pointer, with the source's shape and encoding.

    Example:
    ```mlir
    %a = tile.ptr_to_int %p : tensor<64x!tile.ptr<f32>> -> tensor<64xi64>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$source);
  let results = (outs Tile_LikeOf<I64>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}

def Tile_BitcastOp : Tile_Op<"bitcast", [Pure, Tile_SameShapeAndEncoding]> {
  let summary = "the same bits as another type";
  let description = [{
    Between pointers to different types of one memory space, or between numbers
    of the same width. A number becomes no pointer here: see `int_to_ptr`.

    `source` is a scalar or a tile; the result has its shape and encoding.

    Example:
    ```mlir
    %i = tile.bitcast %f : tensor<64xf32> -> tensor<64xi32>
    %q = tile.bitcast %p : !tile.ptr<f32> -> !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_Any:$source);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result is what the pointer points to", "ptr", "result", pointee>,
    Tile_OptionalTypeFrom<"mask has the shape of the pointer", "ptr", "mask", "getMask", mask>,
    Tile_OptionalTypeFrom<"other has the type of the result", "ptr", "other", "getOther", pointee>]> {
  let summary = "read memory";
  let description = [{
    Each element of the result is what the corresponding element of `ptr` points
    to. Where `mask` is false nothing is read, and the element is that of `other`,
    or undefined without `other`. Pointers must be aligned to the size of their
    pointee. An `i1` is a byte in memory: zero is false, any other value is true.

    - `ptr` is a pointer or a tile of pointers; the result has its shape and
      encoding, and the pointee as element type.
    - `mask` is an `i1` of that shape and encoding.
    - `other` has the type of the result; it needs a `mask`.
    - `cache` is `none`, `ca`, `cg`, `cv` or `cs`.
    - `evict` is a hint about how long the cache should keep the line.
    - `volatile`: every read is performed, once, in program order with other
      volatile accesses; such a load counts as a write too.

    Reads memory, unless volatile has no other effect; is not speculatable.

    The result is one value for the whole program: where several warps read an
    element, each for itself, a later store or atomic of the program through the
    same argument of the kernel waits for all of them. Two arguments are taken to
    point to different memory unless `tile.alias_group` says that they may be the
    same; without it they may be the same buffer only for elementwise access in
    place. To store to an element that another element's load read, put a
    `barrier` between the two.

    Example:
    ```mlir
    %x = tile.load %p mask %m other %zero evict(evict_first)
      : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_I1Like>:$mask, Optional<Tile_Any>:$other,
    DefaultValuedAttr<Tile_CacheModifier, "::mlir::tile::CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicy, "::mlir::tile::EvictionPolicy::Normal">:$eviction,
    UnitAttr:$is_volatile);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{
    $ptr (`mask` $mask^)? (`other` $other^)?
    oilist(`cache` `(` custom<EnumKeyword>($cache) `)` | `evict` `(` custom<EnumKeyword>($eviction) `)` | `volatile` $is_volatile)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StoreOp : Tile_Op<"store", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"value is what the pointer points to", "ptr", "value", pointee>,
    Tile_OptionalTypeFrom<"mask has the shape of the pointer", "ptr", "mask", "getMask", mask>]> {
  let summary = "write memory";
  let description = [{
    Writes each element of `value` to where the corresponding element of `ptr`
    points. Where `mask` is false nothing is written. If several elements are
    written to one address, one of them stays there. Alignment and `i1` are as
    in `load`; true is stored as 1.

    - `ptr` is a pointer or a tile of pointers.
    - `value` has its shape and encoding, and the pointee as element type.
    - `mask` is an `i1` of that shape and encoding.
    - `cache` is `none`, `wb`, `cg`, `cs` or `wt`.
    - `evict` is a hint about how long the cache should keep the line.
    - `volatile`: every write is performed, once, in program order with other
      volatile accesses.

    Example:
    ```mlir
    tile.store %p, %x mask %m cache(cs) : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_Any:$value, Optional<Tile_I1Like>:$mask,
    DefaultValuedAttr<Tile_CacheModifier, "::mlir::tile::CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicy, "::mlir::tile::EvictionPolicy::Normal">:$eviction,
    UnitAttr:$is_volatile);
  let assemblyFormat = [{
    $ptr `,` $value (`mask` $mask^)?
    oilist(`cache` `(` custom<EnumKeyword>($cache) `)` | `evict` `(` custom<EnumKeyword>($eviction) `)` | `volatile` $is_volatile)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result is what the pointer points to", "ptr", "result", pointee>,
    TypesMatchWith<"value is what the pointer points to", "ptr", "value", pointee>,
    Tile_OptionalTypeFrom<"mask has the shape of the pointer", "ptr", "mask", "getMask", mask>]> {
  let summary = "atomically combine a value with memory and return the old one";
  let description = [{
    For each element, atomically replaces what `ptr` points to by its combination
    with `value`, and yields what was there before. Where `mask` is false nothing
    happens, and the result is undefined. Each element of a tile is one atomic
    access: an element is not repeated even where several threads hold a copy.

    - `kind`: `add`, `max`, `min` (signed), `umax`, `umin`, `and`, `or`, `xor` on
      `i32` and `i64`; `fadd` on `f16`, `bf16`, `f32` and `f64`; `fmax` and
      `fmin` on `f32` and `f64` by IEEE 754's total order, in which -0.0 is below
      0.0, a NaN without a sign is above and one with a sign below all numbers;
      `xchg` on any of these types.
    - `ptr` is a pointer or a tile of pointers.
    - `value` has its shape and encoding and the pointee as element type; so has
      the result.
    - `mask` is an `i1` of that shape and encoding.
    - `sem` is the memory order (default `acq_rel`) with regard to the
      threads of `scope` (default `gpu`).

    Example:
    ```mlir
    %old = tile.atomic_rmw fadd %p, %x mask %m sem(relaxed) scope(sys)
      : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_RMWKind:$kind, Tile_PtrLike:$ptr, Tile_NumberLike:$value, Optional<Tile_I1Like>:$mask,
    DefaultValuedAttr<Tile_MemSemantic, "::mlir::tile::MemSemantic::AcquireRelease">:$sem,
    DefaultValuedAttr<Tile_MemScope, "::mlir::tile::MemScope::GPU">:$scope);
  let results = (outs Tile_NumberLike:$result);
  let assemblyFormat = [{
    custom<EnumKeyword>($kind) $ptr `,` $value (`mask` $mask^)?
    oilist(`sem` `(` custom<EnumKeyword>($sem) `)` | `scope` `(` custom<EnumKeyword>($scope) `)`)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_AtomicCASOp : Tile_Op<"atomic_cas", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result is what the pointer points to", "ptr", "result", pointee>,
    TypesMatchWith<"compare is what the pointer points to", "ptr", "compare", pointee>,
    TypesMatchWith<"value is what the pointer points to", "ptr", "value", pointee>]> {
  let summary = "atomically replace memory that equals a value; return the old one";
  let description = [{
    For each element, atomically replaces what `ptr` points to by `value` if its
    bits equal those of `compare`, and yields what was there before.

    - `ptr` is a pointer or a tile of pointers to numbers of 16, 32 or 64 bits.
    - `compare` and `value` have its shape and encoding, and the pointee as
      element type; so has the result.
    - `sem` and `scope` are as in `atomic_rmw`.

    Example:
    ```mlir
    %old = tile.atomic_cas %lock, %zero, %one sem(acquire) : !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Tile_NumberLike:$compare, Tile_NumberLike:$value,
    DefaultValuedAttr<Tile_MemSemantic, "::mlir::tile::MemSemantic::AcquireRelease">:$sem,
    DefaultValuedAttr<Tile_MemScope, "::mlir::tile::MemScope::GPU">:$scope);
  let results = (outs Tile_NumberLike:$result);
  let assemblyFormat = [{
    $ptr `,` $compare `,` $value oilist(`sem` `(` custom<EnumKeyword>($sem) `)` | `scope` `(` custom<EnumKeyword>($scope) `)`)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor descriptors
//===----------------------------------------------------------------------===//

def Tile_MakeDescOp : Tile_Op<"make_desc", [Pure, AttrSizedOperandSegments]> {
  let summary = "describe a tensor in global memory";
  let description = [{
    Yields a descriptor of the tensor at `base` with `shape` elements in each
    dimension, `strides` elements apart. It is accessed in boxes of the shape of
    the descriptor's type.

    - `base` points to the element type of the descriptor, in global memory, and
      is aligned to 16 bytes.
    - `shape` has an `i32` for each dimension of the descriptor.
    - `strides` has an `i64` for each dimension. The last one must be 1; the
      others, in bytes, must be multiples of 16. (Both hold at run time.)
    - `padding` is what a load gives for elements outside the tensor: `zero`, or
      `nan` for floating-point elements.

    Example:
    ```mlir
    %d = tile.make_desc %p shape[%m, %n] strides[%s, %one]
      : !tile.ptr<f16> -> !tile.desc<128x64xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
    DefaultValuedAttr<Tile_Padding, "::mlir::tile::Padding::Zero">:$padding);
  let results = (outs Tile_DescType:$result);
  let assemblyFormat = [{
    $base `shape` `[` $shape `]` `strides` `[` $strides `]` (`padding` `(` custom<EnumKeyword>($padding)^ `)`)?
    attr-dict `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_DescLoadOp : Tile_Op<"desc_load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read a box of a described tensor";
  let description = [{
    Reads the box of the tensor that starts at `offsets`. Elements outside the
    tensor are the descriptor's padding; an offset may be negative.

    - `desc` is a descriptor.
    - `offsets` has an `i32` for each dimension of the descriptor, in elements.
    - `cache` and `evict` are as in `load`.

    The result has the element type of the box and its elements in row-major
    order: the box's shape, or that shape with some dimensions of extent 1 left
    out.

    Example:
    ```mlir
    %a = tile.desc_load %d[%i, %k] : !tile.desc<128x64xf16> -> tensor<128x64xf16>
    ```
  }];
  let arguments = (ins Tile_DescType:$desc, Variadic<I32>:$offsets,
    DefaultValuedAttr<Tile_CacheModifier, "::mlir::tile::CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicy, "::mlir::tile::EvictionPolicy::Normal">:$eviction);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = [{
    $desc `[` $offsets `]` oilist(`cache` `(` custom<EnumKeyword>($cache) `)` | `evict` `(` custom<EnumKeyword>($eviction) `)`)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DescStoreOp : Tile_Op<"desc_store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write a box of a described tensor";
  let description = [{
    Writes `value` to the box of the tensor that starts at `offsets`. Elements
    outside the tensor are not written.

    - `desc` is a descriptor.
    - `value` is a tile of the box's element type and shape (dimensions of extent
      1 may be left out).
    - `offsets` has an `i32` for each dimension of the descriptor, in elements.

    Example:
    ```mlir
    tile.desc_store %d[%i, %j], %c : !tile.desc<128x64xf16>, tensor<128x64xf16>
    ```
  }];
  let arguments = (ins Tile_DescType:$desc, Tile_NumberTensor:$value, Variadic<I32>:$offsets);
  let assemblyFormat = "$desc `[` $offsets `]` `,` $value attr-dict `:` qualified(type($desc)) `,` type($value)";
  let hasVerifier = 1;
}

def Tile_DescReduceOp : Tile_Op<"desc_reduce", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomically combine a box of a described tensor with a tile";
  let description = [{
    Combines each element of `value` with its element of the box of the tensor
    that starts at `offsets`, atomically and with relaxed order. Elements outside
    the tensor are left alone. The old values are not returned.

    - `kind` is one of `atomic_rmw`'s but `xchg`, with the same element types,
      and also `fmax` and `fmin` of `f16` and `bf16`.
    - `desc` is a descriptor.
    - `value` is a tile of the box's element type and shape (dimensions of extent
      1 may be left out).
    - `offsets` has an `i32` for each dimension of the descriptor, in elements.

    Example:
    ```mlir
    tile.desc_reduce fadd %d[%i, %j], %c
      : !tile.desc<128x64xf32>, tensor<128x64xf32>
    ```
  }];
  let arguments = (ins Tile_RMWKind:$kind, Tile_DescType:$desc, Tile_NumberTensor:$value, Variadic<I32>:$offsets);
  let assemblyFormat = "custom<EnumKeyword>($kind) $desc `[` $offsets `]` `,` $value attr-dict `:` qualified(type($desc)) `,` type($value)";
  let hasVerifier = 1;
}

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEMEMORYOPS_TD
