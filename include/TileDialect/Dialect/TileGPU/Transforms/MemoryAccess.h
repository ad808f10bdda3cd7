//===- MemoryAccess.h - How ops access global memory ------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_MEMORYACCESS_H
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_MEMORYACCESS_H

#include "TileDialect/Analysis/AxisInfo.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"

namespace mlir::tile_gpu {

/// The widest access of one thread to global memory, in bytes.
inline constexpr int64_t kMaxVectorBytes = 16;

/// A load, store, atomic or descriptor access of a tile.
struct MemoryAccess {
  Operation *op = nullptr;
  /// The tile of pointers; null for an access through a descriptor.
  Value ptr;
  /// The type of the tile that is read or written, as the op has it now.
  RankedTensorType type;
  int64_t elementBytes = 1;
  /// Dimensions from the one that is contiguous in memory to the others.
  SmallVector<unsigned, 4> order;
  /// Elements along order[0] that follow each other in memory.
  int64_t run = 1;
  /// Neighbours along order[0] that one aligned vector access can take,
  /// whatever its size: a power of two.
  int64_t contiguity = 1;
  /// Elements that one access can take whatever its size: what an atomic
  /// allows (`getAtomicElements`), else as many as fit.
  int64_t maxElements = kMaxVectorBytes;
  bool isLoad = false;

  /// Elements of one access if the tile has `layout`.
  int64_t getVectorElements(const tile_dialect::layout::Layout &layout,
                            int64_t maxBytes = kMaxVectorBytes) const;
  /// What the access costs one warp in `layout`: for each instruction its issue
  /// and the 128-byte lines that it touches.
  int64_t getCost(const tile_dialect::layout::Layout &layout) const;
};

/// Describes `op`; nullopt if it does not access global memory by tiles.
std::optional<MemoryAccess>
getMemoryAccess(Operation *op, const tile::ModuleAxisInfo &axisInfo);

/// Makes the op of an access work in `layout`, with conversions around it.
void setAccessLayout(Operation *op, LayoutAttr layout);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_MEMORYACCESS_H
