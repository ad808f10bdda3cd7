//===- AxisSpread.h - How an axis lies over threads -------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_AXISSPREAD_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_AXISSPREAD_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"

namespace mlir::tile_gpu {

/// How the elements along one axis of a tile are spread over a thread's
/// registers, the lanes and the warps.
struct AxisSpread {
  /// True if no basis moves along the axis and along another dimension at once:
  /// then the threads that hold one row differ in the bits below only, or hold
  /// copies.
  bool isSeparate = false;
  /// True if blocks share the axis.
  bool isAcrossBlocks = false;
  /// The bits of the lane and the warp that reach further elements along the
  /// axis. Bits that hold copies are not among them.
  uint32_t laneMask = 0;
  uint32_t warpMask = 0;
};

AxisSpread getAxisSpread(const tile_dialect::layout::Layout &layout,
                         unsigned axis);

/// The layout in which a reduction or scan along `axis` of a tile with `layout`
/// works if the spread of `layout` will not do: a blocked one with lanes along
/// the axis.
tile_dialect::layout::Layout
getWorkLayout(const tile_dialect::layout::Layout &layout,
              ArrayRef<int64_t> shape, unsigned axis);

/// Numbers the registers of a tile by row and, in it, by the coordinate along
/// the axis. Registers that hold copies of others are left out.
struct Row {
  /// The coordinates without the axis, in thread 0.
  tile_dialect::layout::Coords coords;
  /// (coordinate along the axis, register), sorted.
  SmallVector<std::pair<int64_t, int64_t>> elements;
};
SmallVector<Row> getRows(const tile_dialect::layout::Layout &layout,
                         ArrayRef<int64_t> shape, unsigned axis);

/// The shape without the axis.
SmallVector<int64_t> dropAxis(ArrayRef<int64_t> shape, unsigned axis);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_AXISSPREAD_H
