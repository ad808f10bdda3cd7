//===- ReduceScratch.h - The scratch memory of a reduction ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If several warps share a row of a reduction, each writes its sum of the row
// to scratch memory. The sums of each source lie
//
//   [row][place] or [place][row], place: the warp's number along the axis,
//
// as the threads read them faster. Behind the sums of all sources is the memory
// for results, if the last step is done once for all warps.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_REDUCESCRATCH_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_REDUCESCRATCH_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"

namespace mlir::tile_gpu {

/// The scratch memory of a reduction of tiles with one layout.
struct ReduceScratch {
  /// The part of one source. Offsets and pitches count bytes.
  struct Part {
    Type type;
    int64_t elementBytes;
    /// Of the sums of warps. One of the pitches is `elementBytes`.
    int64_t offset, rowPitch, placePitch;
    /// What one access to the sums may take: neighbouring registers of a
    /// thread, and neighbouring places. One of them is 1.
    int64_t rowsPerAccess, placesPerAccess;
    /// Of the results, one row after the other.
    int64_t resultOffset, rowsPerResultAccess;
  };

  /// `layout` must be one whose axis lies over registers, lanes and warps
  /// separately from the other dimensions.
  ReduceScratch(tile::ReduceOp op, const tile_dialect::layout::Layout &layout);

  int64_t getBytes() const { return sumBytes + (isDoneOnce ? resultBytes : 0); }
  int64_t getNumRows() const { return ShapedType::getNumElements(resultShape); }

  /// Warps that share a row.
  int64_t numPlaces;
  SmallVector<int64_t> resultShape;
  LayoutAttr result;
  /// Dimensions of the result, the fastest in memory first.
  SmallVector<unsigned> order;
  SmallVector<Part> parts;
  int64_t sumBytes = 0, resultBytes = 0;
  /// The lanes of a warp hold the same rows and can share the last step.
  bool isForLanes;
  /// The last step takes so many instructions that it should be done once, not
  /// by each of the warps that share a row.
  bool isDoneOnce;

private:
  void addPart(Type type);
  int64_t getLastStepWork(Region &combine) const;
};

/// The bits of the lane that do not change which rows of `result` it holds.
uint32_t getMaskOfEqualRows(const tile_dialect::layout::Layout &result);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_REDUCESCRATCH_H
