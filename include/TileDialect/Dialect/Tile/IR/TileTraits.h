//===- TileTraits.h - Traits of tile ops ------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILETRAITS_H
#define TILEDIALECT_DIALECT_TILE_IR_TILETRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::tile {

/// The largest number of elements of a tile. A larger one cannot live in the
/// registers of one program, and is a mistake in a shape.
inline constexpr int64_t kMaxTileElements = int64_t(1) << 20;

/// Verify that a tile of `shape` has at least one dimension, static positive
/// extents and at most kMaxTileElements elements. `what` names the value in the
/// message ("result #0").
LogicalResult verifyTileShape(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> shape, const Twine &what);

namespace traits {
namespace impl {
LogicalResult verifyValidTiles(Operation *op);
LogicalResult verifySameShapeAndEncoding(Operation *op, bool withResults);
LogicalResult verifyScalarRegion(Operation *op);
} // namespace impl

/// Every tile among the operands and results passes verifyTileShape.
template <typename ConcreteOp>
struct ValidTiles : public OpTrait::TraitBase<ConcreteOp, ValidTiles> {
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifyValidTiles(op);
  }
};

/// Operands and results are all scalars, or all tiles of one shape and one
/// encoding.
template <typename ConcreteOp>
struct SameShapeAndEncoding
    : public OpTrait::TraitBase<ConcreteOp, SameShapeAndEncoding> {
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameShapeAndEncoding(op, /*withResults=*/true);
  }
};

/// Operands are all scalars, or all tiles of one shape and one encoding.
template <typename ConcreteOp>
struct SameOperandsShapeAndEncoding
    : public OpTrait::TraitBase<ConcreteOp, SameOperandsShapeAndEncoding> {
  static LogicalResult verifyTrait(Operation *op) {
    return impl::verifySameShapeAndEncoding(op, /*withResults=*/false);
  }
};

/// The op's only region is pure arithmetic on scalars: every op in it is free
/// of memory effects (a call is let through, since helpers are inlined later)
/// and no value in it is a tile.
template <typename ConcreteOp>
struct ScalarRegion : public OpTrait::TraitBase<ConcreteOp, ScalarRegion> {
  static LogicalResult verifyRegionTrait(Operation *op) {
    return impl::verifyScalarRegion(op);
  }
};

} // namespace traits
} // namespace mlir::tile

#endif // TILEDIALECT_DIALECT_TILE_IR_TILETRAITS_H
