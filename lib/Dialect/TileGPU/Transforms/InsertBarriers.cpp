//===- InsertBarriers.cpp - Order accesses of different threads -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryHazards.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace mlir::tile_gpu {
#define GEN_PASS_DEF_TILEGPUINSERTBARRIERS
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tile_gpu

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {
struct TileGPUInsertBarriers
    : public tile_gpu::impl::TileGPUInsertBarriersBase<TileGPUInsertBarriers> {
  using TileGPUInsertBarriersBase::TileGPUInsertBarriersBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(runOnKernel(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult runOnKernel(gpu::GPUFuncOp kernel) {
    WalkResult walk = kernel.walk([](AllocOp alloc) {
      if (alloc.getOffset())
        return WalkResult::advance();
      alloc.emitOpError("expected an offset: tile-gpu-allocate-shared-memory "
                        "must run first");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
    // A kernel whose size is not known may have several warps. No warp has
    // fewer than 32 threads.
    int64_t numThreads = getNumThreads(kernel);
    bool hasSeveralWarps = numThreads == 0 || numThreads > 32;

    SharedMemoryHazards hazards(
        kernel, [](Operation *op) { return hasInternalBarrier(op); },
        hasSeveralWarps ? BarrierScope::Block : BarrierScope::Warp);
    OpBuilder builder(&getContext());
    for (auto [op, scope] : hazards.getBarrierPoints()) {
      builder.setInsertionPoint(op);
      BarrierOp::create(builder, op->getLoc(),
                        /*ofWarp=*/scope == BarrierScope::Warp);
    }
    return success();
  }
};
} // namespace
