//===- RemoveLayoutConversions.cpp - Layouts for chains of ops --*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutAssignment.h"
#include "Rematerialization.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile_gpu {
#define GEN_PASS_DEF_TILEGPUREMOVELAYOUTCONVERSIONS
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tile_gpu

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

/// Every tile has a layout, as the pass needs it.
LogicalResult checkLayouts(gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isa<TensorType>(type) && !getLayoutAttr(type)) {
        op->emitOpError("makes a tile without a layout: run "
                        "convert-tile-to-tile-gpu first");
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void eraseDeadOps(gpu::GPUFuncOp kernel,
                  DenseMap<Operation *, MemoryAccess> &accesses) {
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op != kernel && isOpTriviallyDead(op)) {
      accesses.erase(op);
      op->erase();
    }
}

class TileGPURemoveLayoutConversionsPass
    : public tile_gpu::impl::TileGPURemoveLayoutConversionsBase<
          TileGPURemoveLayoutConversionsPass> {
public:
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(runOnKernel(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult runOnKernel(gpu::GPUFuncOp kernel) {
    if (failed(checkLayouts(kernel)))
      return failure();
    WalkResult found =
        kernel.walk([](ConvertLayoutOp) { return WalkResult::interrupt(); });
    if (!found.wasInterrupted())
      return success();
    LayoutCost cost;
    LayoutAssignment assignment(kernel, cost);
    assignment.run();
    eraseDeadOps(kernel, assignment.getAccesses());
    rematerializeConversions(kernel, cost, assignment.getAccesses());
    eraseDeadOps(kernel, assignment.getAccesses());
    return success();
  }
};

} // namespace
