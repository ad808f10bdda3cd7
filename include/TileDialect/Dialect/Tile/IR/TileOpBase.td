//===- TileOpBase.td - Common parts of tile op definitions -*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEOPBASE_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEOPBASE_TD

include "TileDialect/Dialect/Tile/IR/TileAttributes.td"
include "TileDialect/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A trait whose verifier is in TileTraits.h.
class Tile_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::tile::traits";
}
// Every tile among operands and results has at least one dimension, positive
// static extents and at most kMaxTileElements elements. All ops have it.
def Tile_ValidTiles : Tile_Trait<"ValidTiles">;
// Operands and results are all scalars, or all tiles of one shape and encoding.
def Tile_SameShapeAndEncoding : Tile_Trait<"SameShapeAndEncoding">;
// The same for the operands alone.
def Tile_SameOperandsShapeAndEncoding : Tile_Trait<"SameOperandsShapeAndEncoding">;
// The region is isolated arithmetic on scalars: no memory effects, no tiles.
def Tile_ScalarRegion : Tile_Trait<"ScalarRegion">;

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, !listconcat([Tile_ValidTiles], traits)>;

// The type of the optional operand `rhs`, where present, follows from `lhs`.
// `getter` is the accessor of `rhs` (its value must not be read when absent).
class Tile_OptionalTypeFrom<string summary, string lhs, string rhs, string getter, string transform>
    : TypesMatchWith<summary, lhs, rhs, transform,
        "!this->" # getter # "() || std::equal_to<>()">;

// A signed 32-bit integer.
def Tile_Int32Attr : TypedSignlessIntegerAttrBase<I32, "int32_t", "32-bit signless integer attribute">;

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEOPBASE_TD
