//===- TileGPUOps.td - Ops of the tile_gpu dialect ---------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
#define TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUOPS_TD

include "TileDialect/Dialect/Tile/IR/TileOpBase.td"
include "TileDialect/Dialect/TileGPU/IR/TileGPUTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def SharedMemory : Resource<"::mlir::tile_gpu::SharedMemoryResource">;

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, !listconcat([Tile_ValidTiles], traits)>;

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure,
    SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "the same tile in another layout";
  let description = [{
    Moves each element to the threads and registers in which the result's layout
    has it: by renaming registers, shuffles within a warp or through shared memory,
    whichever is the cheapest that fits (`tile_dialect::layout::classify`).

    `source` is a tile with a layout. The result has its shape and element type,
    and a layout over as many lanes, warps and blocks.

    Example:
    ```mlir
    %b = tile_gpu.convert_layout %a : tensor<16x32xf32, #rows> -> tensor<16x32xf32, #columns>
    ```
  }];
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def TileGPU_AllocOp : TileGPU_Op<"alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "shared memory for a tile";
  let description = [{
    Memory is static: it belongs to the op, for as long as the result is used, and
    running the op again (in a loop) gives the same memory. It is not freed by an
    op: `tile-gpu-allocate-shared-memory` finds how long it lives.

    - `init` is a tile with a layout that is written to the memory. Memory that is
      not `mutable` must have one, and holds nothing else.
    - `offset` is the memory's place, in bytes, in the kernel's shared memory. The
      pass sets it.
    - `alignment` in bytes, a power of two, is at least what the swizzle needs (8
      lines of its span; 16 without one) if it is left out.
    - The result's shape is that of the allocation and, with an `init`, that of
      `init`, as is the element type.

    Example:
    ```mlir
    %a = tile_gpu.alloc %x : tensor<64x64xf16, #layout> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %ring = tile_gpu.alloc {alignment = 1024 : i32} : !tile_gpu.memdesc<3x64x64xf16, #shared, mutable>
    ```
  }];
  let arguments = (ins Optional<TileGPU_NumberTile>:$init, OptionalAttr<I64Attr>:$offset,
    OptionalAttr<I32Attr>:$alignment);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    ($init^)? attr-dict `:` custom<AllocTypes>(ref($init), type($init), type($result))
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// The alignment in bytes that the place must have.
    int64_t getRequiredAlignment();
  }];
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load"> {
  let summary = "read a tile from shared memory";
  let description = [{
    Every thread reads the elements that the result's layout gives it.

    - `source` is the memory, with the shape and element type of the result.
    - `token` is that of the `async_wait` after which an asynchronous copy to
      `source` is complete.

    Example:
    ```mlir
    %x = tile_gpu.local_load %a after %t : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #layout>
    ```
  }];
  let arguments = (ins Arg<TileGPU_MemDescType, "the memory", [MemRead<SharedMemory>]>:$source,
    Optional<TileGPU_TokenType>:$token);
  let results = (outs TileGPU_NumberTile:$result);
  let assemblyFormat = [{
    $source (`after` $token^)? attr-dict `:` qualified(type($source)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_LocalStoreOp : TileGPU_Op<"local_store"> {
  let summary = "write a tile to shared memory";
  let description = [{
    One holder of each element writes it.

    - `value` is a tile with a layout.
    - `destination` is `mutable` memory of its shape and element type.

    Example:
    ```mlir
    tile_gpu.local_store %x, %a : tensor<64x64xf16, #layout>, !tile_gpu.memdesc<64x64xf16, #shared, mutable>
    ```
  }];
  let arguments = (ins TileGPU_NumberTile:$value,
    Arg<TileGPU_MemDescType, "the memory", [MemWrite<SharedMemory>]>:$destination);
  let assemblyFormat = [{
    $value `,` $destination attr-dict `:` type($value) `,` qualified(type($destination))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Views of shared memory
//===----------------------------------------------------------------------===//

def TileGPU_MemDescIndexOp : TileGPU_Op<"memdesc_index", [Pure]> {
  let summary = "one tile of a ring of tiles";
  let description = [{
    - `source` is a ring: its leading dimension is not in the order of its encoding.
    - `index`, an i32, is the tile to take, from 0 to the leading extent - 1;
      nothing checks it at run time.
    - The result has the type of the source without its leading dimension.

    Example:
    ```mlir
    %tile = tile_gpu.memdesc_index %ring[%stage] : !tile_gpu.memdesc<3x64x64xf16, #shared, mutable> -> !tile_gpu.memdesc<64x64xf16, #shared, mutable>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$source, I32:$index);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    $source `[` $index `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_MemDescSubsliceOp : TileGPU_Op<"memdesc_subslice", [Pure]> {
  let summary = "a box of a tile in shared memory";
  let description = [{
    The box of the result's shape that starts at `offsets`.

    - `source` is a tile (not a ring) in shared memory.
    - `offsets`, a number for each dimension, and the shape keep the box within the
      source. With a swizzle the box starts on a multiple of the span in the
      contiguous dimension and of 8 rows in the others, so that it has the pattern
      of a tile of its own.
    - The result has the element type, encoding and allocation of the source.

    Example:
    ```mlir
    %half = tile_gpu.memdesc_subslice %a[64, 0] : !tile_gpu.memdesc<128x64xf16, #shared> -> !tile_gpu.memdesc<64x64xf16, #shared, 128x64>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$source, DenseI32ArrayAttr:$offsets);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    $source `` $offsets attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_MemDescTransOp : TileGPU_Op<"memdesc_trans", [Pure]> {
  let summary = "a tile in shared memory with its dimensions permuted";
  let description = [{
    Nothing moves: the shape and the encoding's order change together.

    - `source` is a tile (not a ring) in shared memory.
    - `order` is a permutation: dimension i of the result is dimension `order[i]` of
      the source.

    Example:
    ```mlir
    #t = #tile_gpu.shared<order = [1, 0], swizzle = 128>
    %t = tile_gpu.memdesc_trans %a [1, 0] : !tile_gpu.memdesc<128x64xf16, #shared> -> !tile_gpu.memdesc<64x128xf16, #t>
    ```
  }];
  let arguments = (ins TileGPU_MemDescType:$source, DenseI32ArrayAttr:$order);
  let results = (outs TileGPU_MemDescType:$result);
  let assemblyFormat = [{
    $source $order attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let builders = [
    // The result's type follows from `order`, which must be a permutation.
    OpBuilder<(ins "Value":$source, "ArrayRef<int32_t>":$order)>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def TileGPU_AsyncCopyOp : TileGPU_Op<"async_copy", [AttrSizedOperandSegments,
    Tile_OptionalTypeFrom<"mask has the shape and layout of the pointers", "source", "mask",
      "getMask", "::mlir::tile::getI1SameShape($_self)">,
    Tile_OptionalTypeFrom<"other has the type that the pointers point to", "source", "other",
      "getOther", "::mlir::tile::getPointeeLike($_self)">]> {
  let summary = "start copying a tile from global to shared memory";
  let description = [{
    Each thread starts to copy the elements whose pointers it holds, past the
    registers. They arrive at some time before an `async_wait` for the group that
    the copy is in ends; other threads see them after a barrier that follows it.

    - `source` is a tile of pointers to global memory, with a layout.
    - `destination` is `mutable` memory of its shape, and of its pointee as element
      type. No one else may access it until the copy has arrived.
    - Where `mask`, an i1 tile, is false nothing is read; the element is that of
      `other`, or zero without `other`.
    - `cache` and `evict` are those of `tile.load`.

    Example:
    ```mlir
    %t = tile_gpu.async_copy %p, %a mask %m cache(cg) : tensor<64x64x!tile.ptr<f16>, #layout> -> !tile_gpu.memdesc<64x64xf16, #shared, mutable>
    ```
  }];
  let arguments = (ins Arg<TileGPU_PtrTile, "what to copy", [MemRead]>:$source,
    Arg<TileGPU_MemDescType, "the memory", [MemWrite<SharedMemory>]>:$destination,
    Optional<TileGPU_I1Tile>:$mask, Optional<TileGPU_NumberTile>:$other,
    DefaultValuedAttr<Tile_CacheModifier, "::mlir::tile::CacheModifier::None">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicy, "::mlir::tile::EvictionPolicy::Normal">:$eviction);
  let results = (outs TileGPU_TokenType:$token);
  let assemblyFormat = [{
    $source `,` $destination (`mask` $mask^)? (`other` $other^)?
    oilist(`cache` `(` custom<EnumKeyword>($cache) `)` | `evict` `(` custom<EnumKeyword>($eviction) `)`)
    attr-dict `:` type($source) `->` qualified(type($destination))
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCommitOp : TileGPU_Op<"async_commit", [MemoryEffects<[MemWrite<SharedMemory>]>]> {
  let summary = "close a group of asynchronous copies";
  let description = [{
    All copies that were started since the last commit form a group. Groups
    complete in the order in which they were closed.

    `tokens` are those of the copies in the group; the result stands for the group.

    Example:
    ```mlir
    %g = tile_gpu.async_commit(%t0, %t1)
    ```
  }];
  let arguments = (ins Variadic<TileGPU_TokenType>:$tokens);
  let results = (outs TileGPU_TokenType:$token);
  let assemblyFormat = "`(` $tokens `)` attr-dict";
}

def TileGPU_AsyncWaitOp : TileGPU_Op<"async_wait",
    [MemoryEffects<[MemRead<SharedMemory>, MemWrite<SharedMemory>]>]> {
  let summary = "wait until at most `pending` groups are in flight";
  let description = [{
    Each thread waits for its own copies: the elements that other threads copied
    are visible after a barrier. `tile-gpu-insert-barriers` puts it there.

    - `tokens` are those of the groups that are waited for.
    - `pending`, not negative, is the number of groups, the last ones closed, that
      may still be in flight.

    Example:
    ```mlir
    %w = tile_gpu.async_wait %g pending 1
    ```
  }];
  let arguments = (ins Variadic<TileGPU_TokenType>:$tokens, ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let results = (outs TileGPU_TokenType:$token);
  let assemblyFormat = "($tokens^)? `pending` $pending attr-dict";
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead<SharedMemory>, MemWrite<SharedMemory>]>]> {
  let summary = "wait for all threads and order their accesses to shared memory";
  let description = [{
    Every thread of the block, or of the role in a region of `warp_specialize`,
    waits for the others. What they wrote to shared memory before is visible to all
    of them after. All of them get to the op, or none.

    - `of_warp`: each thread waits for the threads of its own warp only. That orders
      their accesses to global memory as well.

    Example:
    ```mlir
    tile_gpu.barrier
    tile_gpu.barrier of_warp
    ```
  }];
  let arguments = (ins UnitAttr:$of_warp);
  let assemblyFormat = "(`of_warp` $of_warp^)? attr-dict";
}

def TileGPU_WarpSpecializeOp : TileGPU_Op<"warp_specialize", [RecursiveMemoryEffects, IsolatedFromAbove]> {
  let summary = "a region for each role, run by different warps at the same time";
  let description = [{
    Role i is run by the next `warps[i]` warps of the block, each thread of which
    may use `registers[i]` registers; tiles in it are spread over those warps. All
    threads of the block are synchronised before the roles start and after all of
    them have ended. In between, roles order their accesses to common memory
    themselves.

    - `captures` are the values from outside that the roles use; a role has an
      argument for each of them, of the same type, and uses no other value from
      outside.
    - `warps`: a positive number for each role.
    - `registers`: for each role a multiple of 8 from 24 to 240, or 0 for the
      share that the kernel was compiled for.
    - Each region ends in `warp_yield`.

    Example:
    ```mlir
    tile_gpu.warp_specialize(%ring, %n) warps [1, 4] registers [24, 240]
        : (!tile_gpu.memdesc<3x64x64xf16, #shared, mutable>, i32) -> () {
    ^bb0(%r: !tile_gpu.memdesc<3x64x64xf16, #shared, mutable>, %m: i32):
      // ... the producer
      tile_gpu.warp_yield
    }, {
    ^bb0(%r: !tile_gpu.memdesc<3x64x64xf16, #shared, mutable>, %m: i32):
      // ... the consumer
      tile_gpu.warp_yield
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$captures, DenseI32ArrayAttr:$warps, DenseI32ArrayAttr:$registers);
  let regions = (region VariadicRegion<MinSizedRegion<1>>:$roles);
  let assemblyFormat = [{
    `(` $captures `)` `warps` $warps `registers` $registers attr-dict
    `:` functional-type($captures, results) $roles
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TileGPU_WarpYieldOp : TileGPU_Op<"warp_yield", [Pure, Terminator, HasParent<"WarpSpecializeOp">]> {
  let summary = "end a role of warp_specialize";
  let description = [{
    Example:
    ```mlir
    tile_gpu.warp_yield
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUOPS_TD
