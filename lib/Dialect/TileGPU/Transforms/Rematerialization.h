//===- Rematerialization.h - Compute again instead of moving ----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_REMATERIALIZATION_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_REMATERIALIZATION_H

#include "LayoutCost.h"
#include "TileDialect/Dialect/TileGPU/Transforms/MemoryAccess.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tile_gpu {

/// Replaces each convert_layout under `kernel` whose source can be computed in
/// the wanted layout for less than the conversion costs: the ops that the
/// source depends on are cloned, up to values that are made in any layout or
/// that are cheaper to convert (narrower ones, ones outside of a loop). Values
/// that a loop carries get a second copy in the new layout. Loads are repeated
/// only if that is cheaper, too; `accesses` describes them.
void rematerializeConversions(
    Operation *kernel, LayoutCost &cost,
    const DenseMap<Operation *, MemoryAccess> &accesses);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_REMATERIALIZATION_H
