//===- Tile.h - The tile dialect --------------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILE_H
#define TILEDIALECT_DIALECT_TILE_IR_TILE_H

#include "TileDialect/Dialect/Tile/IR/TileInterfaces.h"
#include "TileDialect/Dialect/Tile/IR/TileTraits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TileDialect/Dialect/Tile/IR/TileDialect.h.inc"

#include "TileDialect/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "TileDialect/Dialect/Tile/IR/TileAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "TileDialect/Dialect/Tile/IR/TileTypes.h.inc"

namespace mlir::tile {

/// The resource that `print` and `assert` write: the debug output, which no
/// memory access touches.
struct DebugResource : public SideEffects::Resource::Base<DebugResource> {
  StringRef getName() final { return "TileDebugOutput"; }
};

/// `ptr<T>` -> `T`; a tile of `ptr<T>` -> the tile of `T` with the same shape
/// and encoding; a null type for anything else.
Type getPointeeLike(Type ptrLike);
/// `i1` for a scalar, the tile of `i1` with the same shape and encoding for a
/// tile.
Type getI1SameShape(Type type);
/// The type with its element type (or itself, if a scalar) replaced.
Type getSameShape(Type type, Type elementType);

/// Names of the discardable attributes that carry facts about a value: see the
/// dialect's description.
inline constexpr llvm::StringLiteral kDivisibilityAttrName =
    "tile.divisibility";
inline constexpr llvm::StringLiteral kContiguityAttrName = "tile.contiguity";
inline constexpr llvm::StringLiteral kConstancyAttrName = "tile.constancy";
/// Name of the discardable attribute of arguments that may be the same memory.
inline constexpr llvm::StringLiteral kAliasGroupAttrName = "tile.alias_group";

} // namespace mlir::tile

#define GET_OP_CLASSES
#include "TileDialect/Dialect/Tile/IR/TileOps.h.inc"

#endif // TILEDIALECT_DIALECT_TILE_IR_TILE_H
