//===- AllocateSharedMemory.cpp - Places in shared memory -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryLiveness.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace mlir::tile_gpu {
#define GEN_PASS_DEF_TILEGPUALLOCATESHAREDMEMORY
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tile_gpu

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::packBuffers;
using tile_dialect::PackedBuffer;
using tile_dialect::Packing;

/// A block with no more shared memory than this does not limit how many blocks
/// a multiprocessor runs: the chips have at least 64 KiB for 16 blocks, or 100
/// KiB for 24 of which each takes 1 KiB for itself (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
static constexpr int64_t kFreeBytes = 3072;

/// Packs the buffers, if they stay small with each op's scratch memory apart
/// from that of the op with scratch after it: the barrier within the second
/// then orders the first one's reads, and none is needed between the two.
static Packing pack(ArrayRef<SharedMemoryLiveness::Buffer> buffers) {
  SmallVector<PackedBuffer> exact(buffers.begin(), buffers.end());
  SmallVector<PackedBuffer> apart = exact;
  PackedBuffer *previous = nullptr;
  for (auto [buffer, placed] : llvm::zip_equal(buffers, apart)) {
    if (isa<AllocOp>(buffer.owner))
      continue;
    if (previous)
      previous->end = std::max(previous->end, placed.end);
    previous = &placed;
  }
  Packing packing = packBuffers(apart);
  return packing.totalBytes <= kFreeBytes ? packing : packBuffers(exact);
}

namespace {
struct TileGPUAllocateSharedMemory
    : public tile_gpu::impl::TileGPUAllocateSharedMemoryBase<
          TileGPUAllocateSharedMemory> {
  using TileGPUAllocateSharedMemoryBase::TileGPUAllocateSharedMemoryBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(runOnKernel(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult runOnKernel(gpu::GPUFuncOp function) {
    SharedMemoryLiveness liveness(
        function, [](Operation *op) { return getScratchBytes(op); });
    ArrayRef<SharedMemoryLiveness::Buffer> buffers = liveness.getBuffers();
    Packing packing = pack(buffers);

    // An op that no longer needs what an earlier run gave it.
    function.walk(
        [](Operation *op) { op->removeDiscardableAttr(kScratchAttrName); });
    Builder builder(&getContext());
    for (auto [buffer, offset] : llvm::zip_equal(buffers, packing.offsets)) {
      if (auto alloc = dyn_cast<AllocOp>(buffer.owner))
        alloc.setOffset(offset);
      else
        buffer.owner->setDiscardableAttr(
            kScratchAttrName,
            ScratchAttr::get(&getContext(), offset, buffer.bytes));
    }
    function->setDiscardableAttr(kSharedBytesAttrName,
                                 builder.getI64IntegerAttr(packing.totalBytes));
    if (packing.totalBytes > maxSharedBytes) {
      reportOverflow(function, buffers, packing);
      return failure();
    }
    return success();
  }

  void reportOverflow(gpu::GPUFuncOp function,
                      ArrayRef<SharedMemoryLiveness::Buffer> buffers,
                      const Packing &packing) {
    InFlightDiagnostic diag = function.emitError("the kernel needs ")
                              << packing.totalBytes
                              << " bytes of shared memory, but a block of the "
                              << "target has " << maxSharedBytes.getValue();
    const auto *largest = std::max_element(
        buffers.begin(), buffers.end(),
        [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
    diag.attachNote(largest->owner->getLoc())
        << "the largest part, " << largest->bytes << " bytes, is for this op";
  }
};
} // namespace
