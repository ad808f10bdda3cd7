//===- TileGPUTypes.td - Types of the tile_gpu dialect -----*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUTYPES_TD
#define TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUTYPES_TD

include "TileDialect/Dialect/Tile/IR/TileTypes.td"
include "TileDialect/Dialect/TileGPU/IR/TileGPUAttributes.td"

class TileGPU_TypeDef<string name, string typeMnemonic> : TypeDef<TileGPU_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def TileGPU_MemDescType : TileGPU_TypeDef<"MemDesc", "memdesc"> {
  let summary = "a tile, or a view of one, in shared memory";
  let description = [{
    A tile of static `shape`, laid out as `encoding` says. One leading dimension
    that the encoding's order does not name makes it a *ring*: that many tiles,
    one after the other, of which `memdesc_index` picks one.

    Memory is written once, by the initial value of its allocation, unless it is
    `mutable`.

    `allocShape` is the shape of the allocation of which this is a view: the
    strides, panels and swizzle are those of the allocation. It is printed only
    where it differs from `shape`.

    Elements are stored in whole bytes (i1 in one).

    Example:

    ```mlir
    #swizzled = #tile_gpu.shared<order = [0, 1], swizzle = 128>
    !tile_gpu.memdesc<128x64xf16, #swizzled>                     // a constant tile
    !tile_gpu.memdesc<3x128x64xf16, #swizzled, mutable>          // a ring of three
    !tile_gpu.memdesc<64x64xf16, #swizzled, mutable, 128x64>     // half of a tile
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "Type":$elementType,
    "SharedAttr":$encoding, "bool":$mutableMemory, ArrayRefParameter<"int64_t">:$allocShape);
  let builders = [
    // A whole allocation.
    TypeBuilderWithInferredContext<(ins "ArrayRef<int64_t>":$shape, "Type":$elementType,
        "SharedAttr":$encoding, "bool":$mutableMemory), [{
      return $_get(elementType.getContext(), shape, elementType, encoding,
                   mutableMemory, shape);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    /// True if the leading dimension counts tiles.
    bool isRing() const { return getRank() > getEncoding().getOrder().size(); }
    /// The extents of one tile (without the leading dimension of a ring), of this
    /// view and of the allocation.
    ArrayRef<int64_t> getTileShape() const;
    ArrayRef<int64_t> getAllocTileShape() const;
    /// Bytes of an element in memory.
    int64_t getElementBytes() const;
    /// Bytes of one tile of the allocation.
    int64_t getAllocTileBytes() const;
    /// Bytes of the allocation.
    int64_t getAllocBytes() const;
    /// The byte at which an element lies, from the start of its tile: the formula
    /// of `#tile_gpu.shared`. `coords` are coordinates in the allocation's tile
    /// (those of a view plus its offsets).
    int64_t getByteOffset(ArrayRef<int64_t> coords) const;
  }];
}

def TileGPU_TokenType : TileGPU_TypeDef<"Token", "token"> {
  let summary = "an asynchronous copy in flight, or a committed group of them";
  let description = [{
    Orders asynchronous copies by data flow: `async_copy` makes one,
    `async_commit` closes a group of them, `async_wait` waits for groups, and a
    read of what was copied takes the token of the wait. It has no value at run
    time.
  }];
}

//===----------------------------------------------------------------------===//
// Tiles with a layout
//===----------------------------------------------------------------------===//

// A tile of `element` that is spread over threads.
class TileGPU_TileOf<Type element> : Type<
  And<[Tile_TensorOf<element>.predicate,
       CPred<"::llvm::isa_and_nonnull<::mlir::tile_gpu::LayoutAttr>("
             "::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding())">]>,
  "tile of " # element.summary # " values with a #tile_gpu.layout",
  "::mlir::RankedTensorType">;
def TileGPU_Tile : TileGPU_TileOf<Tile_Element>;
def TileGPU_NumberTile : TileGPU_TileOf<Tile_Number>;
def TileGPU_PtrTile : TileGPU_TileOf<Tile_PtrType>;
def TileGPU_I1Tile : TileGPU_TileOf<I1>;

#endif // TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUTYPES_TD
