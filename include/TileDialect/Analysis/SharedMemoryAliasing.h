//===- SharedMemoryAliasing.h - What a memdesc may point to -----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_SHAREDMEMORYALIASING_H
#define TILEDIALECT_ANALYSIS_SHAREDMEMORYALIASING_H

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tile_gpu {

/// The allocations that each memdesc value of a function may be (a view of):
/// followed through views, branches, structured control flow and the captures
/// of `warp_specialize`. Any other op with memdesc operands and results is
/// taken to return any of its operands.
class SharedMemoryAliasing {
public:
  /// A memdesc of `alloc` that the terminator `from` passes to block `to` of a
  /// next iteration: a block before it, or a region that runs again.
  struct CarriedBuffer {
    AllocOp alloc;
    Operation *from;
    Block *to;
  };

  explicit SharedMemoryAliasing(Operation *function);

  /// The allocations in the function, in program order.
  ArrayRef<AllocOp> getAllocs() const { return allocs; }
  /// The allocations that `memory` may be; empty if it comes from outside.
  ArrayRef<AllocOp> getAllocs(Value memory) const;
  /// The values that may be (a view of) `alloc`, itself first.
  ArrayRef<Value> getAliases(AllocOp alloc) const;
  ArrayRef<CarriedBuffer> getCarriedBuffers() const { return carried; }

private:
  void followAliases(AllocOp alloc);
  void followUse(AllocOp alloc, OpOperand &use,
                 llvm::function_ref<void(Value)> reach);

  SmallVector<AllocOp> allocs;
  llvm::DenseMap<Value, SmallVector<AllocOp, 1>> allocsOfValue;
  llvm::DenseMap<Operation *, SmallVector<Value, 4>> aliasesOfAlloc;
  SmallVector<CarriedBuffer> carried;
};

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_ANALYSIS_SHAREDMEMORYALIASING_H
