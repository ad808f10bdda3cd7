//===- LayoutConversion.h - Registers from layout to layout -----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine below tile_gpu.convert_layout, which other patterns use too: a
// reshape, cat or split renames registers before and after it, and a reduction
// or scan of an awkward layout works on a better one.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTCONVERSION_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTCONVERSION_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"

namespace mlir::tile_gpu {

/// Shared memory that convertRegisters needs; 0 if it needs none.
int64_t getConversionBytes(const tile_dialect::layout::Layout &src,
                           const tile_dialect::layout::Layout &dst,
                           ArrayRef<int64_t> shape, Type elementType);

/// Brings the registers of a tile of `shape` from layout `src` to `dst`, by the
/// cheapest way: renaming, shuffles, or the scratch memory of `op` (one
/// barrier, after the writes). Scratch memory must be free of other uses. Fails
/// with a diagnostic if `op` has none or elements would change their block.
FailureOr<Registers> convertRegisters(OpBuilder &builder, Operation *op,
                                      DistributionContext &context,
                                      ValueRange registers,
                                      const tile_dialect::layout::Layout &src,
                                      const tile_dialect::layout::Layout &dst,
                                      ArrayRef<int64_t> shape);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_LAYOUTCONVERSION_H
