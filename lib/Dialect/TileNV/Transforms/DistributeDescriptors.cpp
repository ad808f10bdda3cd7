//===- DistributeDescriptors.cpp - Descriptors as plain pointers ----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A descriptor is its base pointer, extents, strides and padding. Boxes are
// read and written element by element (or vector by vector), with a bounds
// check for each dimension.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

/// What a descriptor converts to: see DistributionTypeConverter.
struct DescriptorParts {
  DescriptorParts(ValueRange values, unsigned rank)
      : base(values.front()), shape(values.slice(1, rank)),
        strides(values.slice(1 + rank, rank)), isNaN(values.back()) {}

  Value base;
  ValueRange shape, strides;
  /// i1: elements outside are NaN, not zero.
  Value isNaN;
};

/// Addresses and bounds checks of the elements of one box.
class BoxAccess {
public:
  BoxAccess(OpBuilder &builder, Location loc, DistributionContext &context,
            tile::DescType desc, RankedTensorType tile, DescriptorParts parts,
            ValueRange offsets)
      : builder(builder), loc(loc), parts(parts), offsets(offsets),
        memoryType(getStorageType(desc.getElementType())),
        coords(context.getCoords(builder, loc, tile)) {
    // Dimension of the tile for each one of the box; none where it is left out.
    unsigned next = 0;
    for (int64_t extent : desc.getShape()) {
      bool kept = next < tile.getRank() && tile.getDimSize(next) == extent;
      tileDims.push_back(kept ? int64_t(next++) : -1);
    }
    indices.resize(tileDims.size());
    if (isa<FloatType>(memoryType))
      memoryType = builder.getIntegerType(memoryType.getIntOrFloatBitWidth());
  }

  /// The pointer to the element of register `reg`, and whether it is inside.
  std::pair<Value, Value> getElement(int64_t reg) {
    Value offset, inside;
    for (unsigned dim = 0; dim < tileDims.size(); ++dim) {
      const Index &index = getIndex(dim, reg);
      inside = emitAnd(builder, loc, inside, index.inside);
      offset =
          offset
              ? Value(arith::AddIOp::create(builder, loc, offset, index.offset))
              : index.offset;
    }
    Value ptr =
        LLVM::GEPOp::create(builder, loc, parts.base.getType(), memoryType,
                            parts.base, ArrayRef<LLVM::GEPArg>{offset});
    return {ptr, inside};
  }

private:
  /// The position along one dimension: elements from the base, and whether it
  /// is inside the tensor.
  struct Index {
    Value offset, inside;
  };

  /// Registers share coordinates; each one is computed once.
  const Index &getIndex(unsigned dim, int64_t reg) {
    Value coord = tileDims[dim] < 0 ? Value() : coords[reg][tileDims[dim]];
    Index &index = indices[dim][coord];
    if (index.offset)
      return index;
    Value position = offsets[dim];
    Type i64 = builder.getI64Type();
    // The sum in 64 bits does not wrap, so that constants fold into addresses.
    index.offset = arith::ExtSIOp::create(builder, loc, i64, position);
    if (coord) {
      position = arith::AddIOp::create(builder, loc, position, coord);
      Value wide = arith::ExtSIOp::create(builder, loc, i64, coord);
      index.offset = arith::AddIOp::create(builder, loc, index.offset, wide,
                                           arith::IntegerOverflowFlags::nsw);
    }
    // The last stride is 1 by contract.
    if (dim + 1 != tileDims.size())
      index.offset =
          arith::MulIOp::create(builder, loc, index.offset, parts.strides[dim]);
    // Unsigned: a negative position, or one that wrapped, is outside as well.
    index.inside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, position, parts.shape[dim]);
    return index;
  }

  OpBuilder &builder;
  Location loc;
  DescriptorParts parts;
  ValueRange offsets;
  Type memoryType;
  SmallVector<SmallVector<Value>> coords;
  SmallVector<int64_t> tileDims;
  SmallVector<llvm::DenseMap<Value, Index>> indices;
};

/// What elements outside of the tensor are; null for zero.
Value createPadding(OpBuilder &builder, Location loc, Type type, Value isNaN) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType || matchPattern(isNaN, m_Zero()))
    return Value();
  unsigned bits = floatType.getWidth();
  APInt nan = APFloat::getNaN(floatType.getFloatSemantics()).bitcastToAPInt();
  Type integer = builder.getIntegerType(bits);
  Value padding = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(integer, nan));
  padding = arith::SelectOp::create(builder, loc, isNaN, padding,
                                    createInt(builder, loc, bits, 0));
  return arith::BitcastOp::create(builder, loc, type, padding);
}

struct DistributeMakeDesc : public OpConversionPattern<tile::MakeDescOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::MakeDescOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts(adaptor.getBase());
    for (ValueRange extent : adaptor.getShape())
      llvm::append_range(parts, extent);
    for (ValueRange stride : adaptor.getStrides())
      llvm::append_range(parts, stride);
    parts.push_back(createInt(rewriter, op.getLoc(), 1,
                              op.getPadding() == tile::Padding::NaN));
    tile_gpu::replaceWithRegisters(rewriter, op, {parts});
    return success();
  }
};

/// The i32 offsets of a box.
SmallVector<Value> flatten(ArrayRef<ValueRange> ranges) {
  SmallVector<Value> values;
  for (ValueRange range : ranges)
    llvm::append_range(values, range);
  return values;
}

struct DistributeDescLoad : public OpConversionPattern<tile::DescLoadOp> {
  DistributeDescLoad(const TypeConverter &converter,
                     MLIRContext *patternContext, DistributionContext &context,
                     std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, patternContext), context(context),
        plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(tile::DescLoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the result does not convert");
    auto desc = cast<tile::DescType>(op.getDesc().getType());
    DescriptorParts parts(adaptor.getDesc(), desc.getShape().size());
    SmallVector<Value> offsets = flatten(adaptor.getOffsets());
    Location loc = op.getLoc();
    BoxAccess box(rewriter, loc, context, desc,
                  cast<RankedTensorType>(op.getType()), parts, offsets);
    Value padding = createPadding(rewriter, loc, types.front(), parts.isNaN);
    AccessFlags flags{op.getCache(), op.getEviction(), /*isVolatile=*/false};
    int64_t width = plan->getWidth(op);
    SmallVector<Value> other(padding ? width : 0, padding);
    Registers registers;
    for (int64_t reg = 0, size = types.size(); reg < size; reg += width) {
      auto [ptr, inside] = box.getElement(reg);
      llvm::append_range(registers, emitLoad(rewriter, loc, ptr, types[reg],
                                             width, inside, other, flags));
    }
    tile_gpu::replaceWithRegisters(rewriter, op, {registers});
    return success();
  }

  DistributionContext &context;
  std::shared_ptr<const AccessPlan> plan;
};

struct DistributeDescStore : public OpConversionPattern<tile::DescStoreOp> {
  DistributeDescStore(const TypeConverter &converter,
                      MLIRContext *patternContext, DistributionContext &context,
                      std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, patternContext), context(context),
        plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(tile::DescStoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto desc = cast<tile::DescType>(op.getDesc().getType());
    auto type = cast<RankedTensorType>(op.getValue().getType());
    DescriptorParts parts(adaptor.getDesc(), desc.getShape().size());
    SmallVector<Value> offsets = flatten(adaptor.getOffsets());
    Location loc = op.getLoc();
    Value acting = getActingThread(rewriter, context, type);
    BoxAccess box(rewriter, loc, context, desc, type, parts, offsets);
    int64_t width = plan->getWidth(op);
    ValueRange values = adaptor.getValue();
    for (int64_t reg = 0, size = values.size(); reg < size; reg += width) {
      if (isCopyRegister(type, reg))
        continue;
      auto [ptr, inside] = box.getElement(reg);
      emitStore(rewriter, loc, ptr, values.slice(reg, width),
                emitAnd(rewriter, loc, acting, inside), AccessFlags());
    }
    rewriter.eraseOp(op);
    return success();
  }

  DistributionContext &context;
  std::shared_ptr<const AccessPlan> plan;
};

struct DistributeDescReduce : public OpConversionPattern<tile::DescReduceOp> {
  DistributeDescReduce(const TypeConverter &converter,
                       MLIRContext *patternContext,
                       DistributionContext &context,
                       std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, patternContext), context(context),
        plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(tile::DescReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto desc = cast<tile::DescType>(op.getDesc().getType());
    auto type = cast<RankedTensorType>(op.getValue().getType());
    DescriptorParts parts(adaptor.getDesc(), desc.getShape().size());
    SmallVector<Value> offsets = flatten(adaptor.getOffsets());
    Location loc = op.getLoc();
    const tile_dialect::ChipInfo &chip = getChip(context.getKernel());
    Value acting = getActingThread(rewriter, context, type);
    BoxAccess box(rewriter, loc, context, desc, type, parts, offsets);
    int64_t width = plan->getWidth(op);
    ValueRange values = adaptor.getValue();
    for (int64_t reg = 0, size = values.size(); reg < size; reg += width) {
      if (isCopyRegister(type, reg))
        continue;
      auto [ptr, inside] = box.getElement(reg);
      emitAtomicRMW(rewriter, loc, chip, op.getKind(), ptr,
                    values.slice(reg, width),
                    emitAnd(rewriter, loc, acting, inside), AtomicOrder(),
                    /*wantResult=*/false);
    }
    rewriter.eraseOp(op);
    return success();
  }

  DistributionContext &context;
  std::shared_ptr<const AccessPlan> plan;
};

} // namespace

void nv_detail::populateDescriptorPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context, std::shared_ptr<const AccessPlan> plan) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributeMakeDesc>(converter, ctx);
  patterns.add<DistributeDescLoad, DistributeDescStore, DistributeDescReduce>(
      converter, ctx, context, plan);
}
