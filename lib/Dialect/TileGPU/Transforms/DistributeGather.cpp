//===- DistributeGather.cpp - Distribute tile.gather ----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source lies row-major in scratch memory, where each thread reads what its
// indices say. An index beyond the axis reads the last element along it, so
// that no index, however wrong, reads outside the scratch memory.
//
//===----------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "LayoutConversion.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// The unsigned `index` of any width as an i32 below `extent`.
static Value emitClampedIndex(OpBuilder &builder, Location loc, Value index,
                              int64_t extent) {
  Type i32 = builder.getI32Type();
  unsigned width = index.getType().getIntOrFloatBitWidth();
  if (width < 32)
    index = arith::ExtUIOp::create(builder, loc, i32, index);
  Value last =
      arith::ConstantIntOp::create(builder, loc, index.getType(), extent - 1);
  index = arith::MinUIOp::create(builder, loc, index, last);
  if (width > 32)
    index = arith::TruncIOp::create(builder, loc, i32, index);
  return index;
}

namespace {

struct DistributeGather : public OpConversionPattern<tile::GatherOp> {
  DistributeGather(const TypeConverter &converter, MLIRContext *mlirContext,
                   DistributionContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType source = op.getSource().getType(), result = op.getType();
    LayoutAttr sourceLayout = getLayoutAttr(source);
    if (sourceLayout.getLayout().getSize(HardwareDim::Block) > 1)
      return op.emitOpError("gathers between the blocks of a cluster");
    FailureOr<Value> scratch = context.getScratchPtr(rewriter, op);
    FailureOr<Registers> indices = moveIndices(op, adaptor, rewriter);
    if (failed(scratch) || failed(indices))
      return failure();

    Location loc = op.getLoc();
    Type scalarType = adaptor.getSource().front().getType();
    int64_t bytes = getElementBytes(scalarType);
    BufferMap map = BufferMap::getRowMajor(source.getShape(), bytes);
    Value condition = context.getIsUniqueHolder(rewriter, sourceLayout);
    TileAccess writes(rewriter, loc, context, sourceLayout, source.getShape(),
                      map, *scratch);
    emitIf(rewriter, loc, condition, [&] {
      storeRegisters(rewriter, loc, writes, adaptor.getSource(),
                     getAccessElements(sourceLayout, source.getShape(),
                                       source.getRank() - 1, bytes));
    });
    gpu::BarrierOp::create(rewriter, loc);

    int64_t extent = source.getDimSize(op.getAxis());
    Registers gathered;
    for (auto [coords, index] :
         llvm::zip_equal(context.getCoords(rewriter, loc, result), *indices)) {
      coords[op.getAxis()] = emitClampedIndex(rewriter, loc, index, extent);
      Value ptr = createPtrAdd(rewriter, loc, *scratch,
                               map.emitOffset(rewriter, loc, coords));
      gathered.push_back(
          loadVector(rewriter, loc, scalarType, /*count=*/1, ptr).front());
    }
    rewriter.replaceOpWithMultiple(op, {gathered});
    return success();
  }

  /// The indices in the layout of the result.
  FailureOr<Registers> moveIndices(tile::GatherOp op, OneToNOpAdaptor adaptor,
                                   OpBuilder &builder) const {
    RankedTensorType indices = op.getIndices().getType();
    const Layout &from = getLayoutAttr(indices).getLayout();
    const Layout &to = getLayoutAttr(op.getType()).getLayout();
    FailureOr<Registers> moved =
        convertRegisters(builder, op, context, adaptor.getIndices(), from, to,
                         indices.getShape());
    // The source is about to overwrite what this read.
    if (succeeded(moved) && getConversionBytes(from, to, indices.getShape(),
                                               indices.getElementType()) != 0)
      gpu::BarrierOp::create(builder, op.getLoc());
    return moved;
  }

  DistributionContext &context;
};

} // namespace

void tile_gpu::populateGatherPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  patterns.add<DistributeGather>(converter, patterns.getContext(), context);
}

int64_t tile_gpu::getGatherScratchBytes(tile::GatherOp op) {
  RankedTensorType source = op.getSource().getType();
  RankedTensorType indices = op.getIndices().getType();
  LayoutAttr from = getLayoutAttr(indices), to = getLayoutAttr(op.getType());
  if (!from || !to)
    return 0;
  int64_t bytes =
      source.getNumElements() * getElementBytes(source.getElementType());
  return std::max(bytes, getConversionBytes(from.getLayout(), to.getLayout(),
                                            indices.getShape(),
                                            indices.getElementType()));
}
