//===- LayoutCost.h - What layouts cost -------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates, in instructions of one warp, by which layouts are compared. They
// need to be right about orders of magnitude only.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTCOST_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTCOST_H

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/DenseMap.h"
#include <tuple>

namespace mlir::tile_gpu {

class LayoutCost {
public:
  /// Moving a tile of `type` (its own layout does not matter) from `from` to
  /// `to`.
  int64_t getConversion(RankedTensorType type, LayoutAttr from, LayoutAttr to);

  /// A reduction or scan along `axis` of a tile of `type` in `layout`.
  int64_t getReduction(RankedTensorType type, unsigned axis, LayoutAttr layout);

  /// Registers of one tile in one thread.
  static int64_t getRegisters(RankedTensorType type, LayoutAttr layout) {
    return layout.getLayout().getNumRegisters(type.getShape());
  }

  /// How often an op runs, as far as its loops tell.
  static int64_t getFrequency(Operation *op);

private:
  tile_dialect::layout::ConversionKind classify(ArrayRef<int64_t> shape,
                                                LayoutAttr from, LayoutAttr to);

  using Key = std::tuple<ArrayRef<int64_t>, Attribute, Attribute>;
  llvm::DenseMap<Key, tile_dialect::layout::ConversionKind> kinds;
};

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTCOST_H
