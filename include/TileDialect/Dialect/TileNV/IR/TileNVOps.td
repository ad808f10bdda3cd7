//===- TileNVOps.td - Ops of the tile_nv dialect -----------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_IR_TILENVOPS_TD
#define TILEDIALECT_DIALECT_TILENV_IR_TILENVOPS_TD

include "TileDialect/Dialect/Tile/IR/TileOpBase.td"
include "TileDialect/Dialect/TileNV/IR/TileNVDialect.td"

def TileNV_Cache : Resource<"::mlir::tile_nv::CacheResource">;

class TileNV_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileNV_Dialect, mnemonic, !listconcat([Tile_ValidTiles], traits)>;

def TileNV_PrefetchOp : TileNV_Op<"prefetch", [MemoryEffects<[MemWrite<TileNV_Cache>]>,
    Tile_OptionalTypeFrom<"mask has the shape of the pointer", "ptr", "mask", "getMask",
                          "::mlir::tile::getI1SameShape($_self)">]> {
  let summary = "bring memory into the L2 cache";
  let description = [{
    The instruction `prefetch.global.L2` (PTX ISA, "Data Movement and Conversion
    Instructions: prefetch"): starts to fetch the cache lines of the elements that
    `ptr` points to where `mask` is true, and waits for nothing. A hint: what a later
    load yields does not depend on it, not even if the memory is written in between,
    since all writes to global memory go through the L2 cache.

    - `ptr` is a tile of pointers to global memory (memory space 1, or 0, generic).
    - `mask` is an `i1` of that shape and encoding. Of neighbours that one access
      of a thread could take, the first one decides.

    Example:
    ```mlir
    tile_nv.prefetch %p mask %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_PtrLike:$ptr, Optional<Tile_I1Like>:$mask);
  let assemblyFormat = "$ptr (`mask` $mask^)? attr-dict `:` type($ptr)";
  let hasVerifier = 1;
}

#endif // TILEDIALECT_DIALECT_TILENV_IR_TILENVOPS_TD
