//===- DistributeHistogram.cpp - Distribute tile.histogram ----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scratch memory holds a counter for each bin. All threads clear the counters
// together; one holder of each element counts it by an atomic addition; all
// threads read the bins of their registers. Two barriers separate the steps.
//
//===----------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;

static constexpr int64_t kCounterBytes = 4;

namespace {

struct DistributeHistogram : public OpConversionPattern<tile::HistogramOp> {
  DistributeHistogram(const TypeConverter &converter, MLIRContext *mlirContext,
                      DistributionContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::HistogramOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    LayoutAttr layout = getLayoutAttr(type);
    if (layout.getLayout().getSize(tile_dialect::layout::HardwareDim::Block) >
        1)
      return op.emitOpError("counts between the blocks of a cluster");
    FailureOr<Value> scratch = context.getScratchPtr(rewriter, op);
    if (failed(scratch))
      return failure();
    clear(op, *scratch, rewriter);
    gpu::BarrierOp::create(rewriter, loc);
    count(op, adaptor, *scratch, rewriter);
    gpu::BarrierOp::create(rewriter, loc);
    TileAccess access(rewriter, loc, context, layout, type.getShape(),
                      BufferMap::getRowMajor(type.getShape(), kCounterBytes),
                      *scratch);
    Registers result =
        loadRegisters(rewriter, loc, access, rewriter.getI32Type(),
                      getAccessElements(layout, type.getShape(),
                                        /*contiguousDim=*/0, kCounterBytes));
    replaceWithRegisters(rewriter, op, {result});
    return success();
  }

  void clear(tile::HistogramOp op, Value scratch, OpBuilder &builder) const {
    Location loc = op.getLoc();
    int64_t numBins = op.getType().getNumElements();
    int64_t numThreads = context.getNumWarps() * context.getNumLanes();
    Value thread = context.getThreadId();
    Value zero = createI32(builder, loc, 0);
    Value bytes = arith::MulIOp::create(builder, loc, thread,
                                        createI32(builder, loc, kCounterBytes));
    Value own = createPtrAdd(builder, loc, scratch, bytes);
    for (int64_t first = 0; first < numBins; first += numThreads) {
      Value isBin;
      if (numBins - first < numThreads)
        isBin = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      thread,
                                      createI32(builder, loc, numBins - first));
      emitIf(builder, loc, isBin, [&] {
        storeVector(builder, loc, zero,
                    createPtrAdd(builder, loc, own, first * kCounterBytes));
      });
    }
  }

  void count(tile::HistogramOp op, OneToNOpAdaptor adaptor, Value scratch,
             OpBuilder &builder) const {
    Location loc = op.getLoc();
    RankedTensorType type = op.getSource().getType();
    LayoutAttr layout = getLayoutAttr(type);
    Value isHolder = context.getIsUniqueHolder(builder, layout);
    Value numBins = createI32(builder, loc, op.getType().getNumElements());
    Value one = createI32(builder, loc, 1);
    Value counterBytes = createI32(builder, loc, kCounterBytes);
    SmallVector<int64_t> seen;
    for (auto [reg, coords] : llvm::enumerate(
             layout.getLayout().getRegisterCoords(type.getShape()))) {
      // A register that holds a copy does not count.
      if (llvm::is_contained(seen, coords.front()))
        continue;
      seen.push_back(coords.front());
      Value bin = adaptor.getSource()[reg];
      Value counts = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, bin, numBins);
      counts = emitAnd(builder, loc, isHolder, counts);
      if (op.getMask())
        counts = emitAnd(builder, loc, counts, adaptor.getMask()[reg]);
      emitIf(builder, loc, counts, [&] {
        Value bytes = arith::MulIOp::create(builder, loc, bin, counterBytes);
        LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add,
                                  createPtrAdd(builder, loc, scratch, bytes),
                                  one, LLVM::AtomicOrdering::monotonic);
      });
    }
  }

  DistributionContext &context;
};

} // namespace

void tile_gpu::populateHistogramPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  patterns.add<DistributeHistogram>(converter, patterns.getContext(), context);
}

int64_t tile_gpu::getHistogramScratchBytes(tile::HistogramOp op) {
  return op.getType().getNumElements() * kCounterBytes;
}
