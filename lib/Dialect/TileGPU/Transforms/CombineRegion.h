//===- CombineRegion.h - Inline the region of a reduction -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_COMBINEREGION_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_COMBINEREGION_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"

namespace mlir::tile_gpu {

/// The scalars that a reduction or scan combines: one for each of its sources.
using Tuple = SmallVector<Value, 2>;

/// Inlines copies of the region of a tile.reduce, tile.scan or
/// tile.map_elementwise.
class CombineRegion {
public:
  CombineRegion(ConversionPatternRewriter &rewriter, Region &region)
      : rewriter(rewriter), region(region) {}

  /// Distributes the region in place, so that copies of it are legal. Comes
  /// before all others. An op that has no pattern fails here, with a
  /// diagnostic; among the ops that a pattern creates it would be a fatal error
  /// of the driver.
  LogicalResult distribute();
  /// The combination of two tuples, `lhs` being the one that comes first: what
  /// the region yields for the arguments `lhs`, `rhs`.
  Tuple combine(ArrayRef<Value> lhs, ArrayRef<Value> rhs);
  /// The combination of all tuples in their order (at least one).
  Tuple combineAll(ArrayRef<Tuple> tuples);
  /// True if the order of the operands is known not to matter, to the last bit:
  /// one commutative op, or ops of which each has a mirror image, what it is
  /// when the two tuples change places.
  bool isCommutative() const;

private:
  ConversionPatternRewriter &rewriter;
  Region &region;
};

/// How many ops a combination by `region` takes.
int64_t getNumCombineOps(Region &region);

/// Makes combinations of pointers ones of integers, and tile.yield of a
/// thread's values legal.
void populateCombineRegionPatterns(const DistributionTypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   ConversionTarget &target);

/// Inlines the region of tile.map_elementwise for each register.
void populateMapElementwisePatterns(const DistributionTypeConverter &converter,
                                    RewritePatternSet &patterns);

/// condition ? a : b, for each element.
Tuple selectTuple(OpBuilder &builder, Location loc, Value condition,
                  ArrayRef<Value> a, ArrayRef<Value> b);

/// Shuffles tuples; see `shuffle` in ThreadExchange.h.
SmallVector<Tuple> shuffleTuples(OpBuilder &builder, Location loc,
                                 ArrayRef<Tuple> tuples, gpu::ShuffleMode mode,
                                 Value operand, int64_t numLanes);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_COMBINEREGION_H
