//===- DistributeSharedMemory.cpp - Distribute memdescs and their ops -----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memdesc becomes the pointer to its allocation, or to the tile of a ring
// that memdesc_index picked, and the offset of the view in it along each
// dimension. Views change no pointer otherwise, since the swizzle depends on
// the place in the allocation. Where elements lie is BufferMap::getShared's to
// say.
//
// Asynchronous copies are made synchronous here: a load and a store. A dialect
// whose chip has better adds patterns with a higher benefit.
//
//===----------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

template <typename Op> struct ContextPattern : public OpConversionPattern<Op> {
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  ContextPattern(const TypeConverter &converter, MLIRContext *mlirContext,
                 DistributionContext &context, PatternBenefit benefit = 1)
      : OpConversionPattern<Op>(converter, mlirContext, benefit),
        context(context) {}

  DistributionContext &context;
};

struct DistributeAlloc : public ContextPattern<AllocOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(AllocOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<uint64_t> offset = op.getOffset();
    if (!offset)
      return op.emitOpError("has no place in shared memory: run "
                            "tile-gpu-allocate-shared-memory before "
                            "tile-gpu-distribute");
    Location loc = op.getLoc();
    MemDescType type = op.getResult().getType();
    SmallVector<Value> converted{context.getSharedPtr(rewriter, loc, *offset)};
    converted.append(type.getRank(), createI32(rewriter, loc, 0));
    if (op.getInit())
      storeToMemDesc(rewriter, loc, context,
                     cast<RankedTensorType>(op.getInit().getType()),
                     adaptor.getInit(), type, converted);
    rewriter.replaceOpWithMultiple(op, {converted});
    return success();
  }
};

struct DistributeLocalLoad : public ContextPattern<LocalLoadOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(LocalLoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Registers result =
        loadFromMemDesc(rewriter, op.getLoc(), context, type,
                        getTypeConverter()->convertType(type.getElementType()),
                        op.getSource().getType(), adaptor.getSource());
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }
};

struct DistributeLocalStore : public ContextPattern<LocalStoreOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(LocalStoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    storeToMemDesc(rewriter, op.getLoc(), context,
                   cast<RankedTensorType>(op.getValue().getType()),
                   adaptor.getValue(), op.getDestination().getType(),
                   adaptor.getDestination());
    rewriter.eraseOp(op);
    return success();
  }
};

struct DistributeMemDescIndex : public OpConversionPattern<MemDescIndexOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MemDescIndexOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemDescType source = op.getSource().getType();
    ValueRange converted = adaptor.getSource();
    Value index = adaptor.getIndex().front();
    if (source.getShape() != source.getAllocShape())
      index = arith::AddIOp::create(rewriter, loc, index, converted[1]);
    Value bytes = arith::MulIOp::create(
        rewriter, loc, index,
        createI32(rewriter, loc, source.getAllocTileBytes()));
    SmallVector<Value> result{
        createPtrAdd(rewriter, loc, converted.front(), bytes)};
    llvm::append_range(result, converted.drop_front(2));
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }
};

struct DistributeMemDescSubslice
    : public OpConversionPattern<MemDescSubsliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MemDescSubsliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange converted = adaptor.getSource();
    MemDescType source = op.getSource().getType();
    bool isWhole = source.getShape() == source.getAllocShape();
    SmallVector<Value> result{converted.front()};
    for (auto [old, offset] :
         llvm::zip_equal(converted.drop_front(), op.getOffsets())) {
      Value sum = createI32(rewriter, loc, offset);
      APInt value;
      // Constants are what accesses fold into their addresses.
      if (!isWhole && matchPattern(old, m_ConstantInt(&value)))
        sum = createI32(rewriter, loc, offset + value.getSExtValue());
      else if (!isWhole)
        sum = arith::AddIOp::create(rewriter, loc, old, sum);
      result.push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }
};

struct DistributeMemDescTrans : public OpConversionPattern<MemDescTransOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MemDescTransOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange converted = adaptor.getSource();
    SmallVector<Value> result{converted.front()};
    for (int32_t dim : op.getOrder())
      result.push_back(converted[1 + dim]);
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }
};

/// A barrier of warps is left to a dialect that has one.
struct DistributeBarrier : public OpConversionPattern<BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(BarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getOfWarp())
      return rewriter.notifyMatchFailure(op, "is for the lanes of a warp");
    rewriter.replaceOpWithNewOp<gpu::BarrierOp>(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Synchronous copies
//===----------------------------------------------------------------------===//

struct CopySynchronously : public ContextPattern<AsyncCopyOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(AsyncCopyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto pointers = cast<RankedTensorType>(op.getSource().getType());
    auto pointer = cast<tile::PtrType>(pointers.getElementType());
    Type element = pointer.getPointeeType();
    Type scalarType = getTypeConverter()->convertType(element);
    Registers loaded;
    for (auto [reg, address] : llvm::enumerate(adaptor.getSource())) {
      Value mask = op.getMask() ? adaptor.getMask()[reg] : Value();
      Value other = op.getOther() ? adaptor.getOther()[reg] : Value();
      loaded.push_back(load(rewriter, loc, address, mask, other, scalarType));
    }
    auto tileType = RankedTensorType::get(pointers.getShape(), element,
                                          pointers.getEncoding());
    storeToMemDesc(rewriter, loc, context, tileType, loaded,
                   op.getDestination().getType(), adaptor.getDestination());
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>(1));
    return success();
  }

  /// A masked-off element is `other`, or 0 as hardware copies have it.
  static Value load(OpBuilder &builder, Location loc, Value address, Value mask,
                    Value other, Type scalarType) {
    if (!mask)
      return loadVector(builder, loc, scalarType, /*count=*/1, address).front();
    auto ifOp = scf::IfOp::create(builder, loc, scalarType, mask,
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(ifOp.thenBlock());
    Value value =
        loadVector(builder, loc, scalarType, /*count=*/1, address).front();
    scf::YieldOp::create(builder, loc, value);
    builder.setInsertionPointToStart(ifOp.elseBlock());
    if (!other)
      other = arith::ConstantOp::create(builder, loc,
                                        builder.getZeroAttr(scalarType));
    scf::YieldOp::create(builder, loc, other);
    return ifOp.getResult(0);
  }
};

/// Nothing is in flight, so there is nothing to group or to wait for. Other
/// threads see the copies after the barrier that follows a wait.
template <typename Op> struct EraseTokenOp : public OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>(1));
    return success();
  }
};

} // namespace

void tile_gpu::populateSharedMemoryPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributeAlloc, DistributeLocalLoad, DistributeLocalStore,
               CopySynchronously>(converter, ctx, context);
  patterns.add<DistributeMemDescIndex, DistributeMemDescSubslice,
               DistributeMemDescTrans, DistributeBarrier,
               EraseTokenOp<AsyncCommitOp>, EraseTokenOp<AsyncWaitOp>>(
      converter, ctx);
}
