//===- DistributeConvertLayout.cpp - Distribute layout conversions --------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// convert_layout, and the shape ops whose result's layout is not the one that
// their rule gives. The rule renames registers; a conversion of layouts does
// the rest.
//
//===----------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "LayoutConversion.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

namespace {

const Layout &getLayout(RankedTensorType type) {
  return getLayoutAttr(type).getLayout();
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// How a reshape is done.
struct ReshapePlan {
  enum Kind {
    /// Register i becomes register i.
    Rename,
    /// Rename, then convert to the result's layout in the result's shape.
    ConvertAfter,
    /// Convert in the source's shape, then rename.
    ConvertBefore,
    /// Write and read in row-major order.
    RowMajor,
  } kind;
  /// The layout that renaming gives (ConvertAfter) or needs (ConvertBefore).
  Layout layout;
};

/// True if all copies are whole bits that mean nothing.
bool hasOnlyZeroCopies(const Layout &layout) {
  for (HardwareDim dim : {HardwareDim::Register, HardwareDim::Lane,
                          HardwareDim::Warp, HardwareDim::Block}) {
    uint32_t mask = layout.getFreeMask(dim);
    for (auto [bit, basis] : llvm::enumerate(layout.getBases(dim)))
      if (((mask >> bit) & 1) != 0 &&
          llvm::any_of(basis, [](int32_t coord) { return coord != 0; }))
        return false;
  }
  return true;
}

/// True if registers may keep their places in a reshape that may reorder: each
/// element of the source becomes one element of the result if the copies of
/// both layouts are in the same places.
bool canReorderInPlace(RankedTensorType from, RankedTensorType to) {
  const Layout &src = getLayout(from), &dst = getLayout(to);
  if (src.getNumRegisters(from.getShape()) !=
          dst.getNumRegisters(to.getShape()) ||
      !hasOnlyZeroCopies(src) || !hasOnlyZeroCopies(dst))
    return false;
  for (HardwareDim dim : {HardwareDim::Register, HardwareDim::Lane,
                          HardwareDim::Warp, HardwareDim::Block})
    if (src.getFreeMask(dim) != dst.getFreeMask(dim))
      return false;
  return true;
}

ReshapePlan planReshape(tile::ReshapeOp op) {
  RankedTensorType from = op.getSource().getType(), to = op.getType();
  const Layout &src = getLayout(from), &dst = getLayout(to);
  if (op.getAllowReorder() && canReorderInPlace(from, to))
    return {ReshapePlan::Rename, {}};
  if (auto layout = src.reshape(from.getShape(), to.getShape()))
    return {ReshapePlan::ConvertAfter, *layout};
  if (auto layout = dst.reshape(to.getShape(), from.getShape()))
    return {ReshapePlan::ConvertBefore, *layout};
  return {ReshapePlan::RowMajor, {}};
}

int64_t getReshapeBytes(tile::ReshapeOp op) {
  ReshapePlan plan = planReshape(op);
  RankedTensorType from = op.getSource().getType(), to = op.getType();
  switch (plan.kind) {
  case ReshapePlan::Rename:
    return 0;
  case ReshapePlan::ConvertAfter:
    return getConversionBytes(plan.layout, getLayout(to), to.getShape(),
                              to.getElementType());
  case ReshapePlan::ConvertBefore:
    return getConversionBytes(getLayout(from), plan.layout, from.getShape(),
                              from.getElementType());
  case ReshapePlan::RowMajor:
    return from.getNumElements() * getElementBytes(from.getElementType());
  }
  return 0;
}

FailureOr<Registers> reshapeRowMajor(tile::ReshapeOp op, ValueRange registers,
                                     DistributionContext &context,
                                     OpBuilder &builder) {
  RankedTensorType from = op.getSource().getType(), to = op.getType();
  if (getLayout(from).getSize(HardwareDim::Block) > 1)
    return op.emitOpError("moves elements between the blocks of a cluster");
  FailureOr<Value> scratch = context.getScratchPtr(builder, op);
  if (failed(scratch))
    return failure();
  Location loc = op.getLoc();
  int64_t bytes = getElementBytes(from.getElementType());
  auto access = [&](RankedTensorType type) {
    return TileAccess(builder, loc, context, getLayoutAttr(type),
                      type.getShape(),
                      BufferMap::getRowMajor(type.getShape(), bytes), *scratch);
  };
  auto elements = [&](RankedTensorType type) {
    return getAccessElements(getLayoutAttr(type), type.getShape(),
                             type.getRank() - 1, bytes);
  };
  Value condition = context.getIsUniqueHolder(builder, getLayoutAttr(from));
  TileAccess writes = access(from);
  emitIf(builder, loc, condition, [&] {
    storeRegisters(builder, loc, writes, registers, elements(from));
  });
  gpu::BarrierOp::create(builder, loc);
  TileAccess reads = access(to);
  return loadRegisters(builder, loc, reads, registers.front().getType(),
                       elements(to));
}

//===----------------------------------------------------------------------===//
// Cat and split
//===----------------------------------------------------------------------===//

/// The registers of `lhs` and `rhs`, in the layout that they share, as a tile
/// whose extent along the axis is doubled. The extents stay multiples of the
/// base tile, so both halves are repetitions of it.
Registers catInPlace(tile::CatOp op, ValueRange lhs, ValueRange rhs) {
  RankedTensorType from = op.getLhs().getType();
  const Layout &layout = getLayout(from);
  std::map<Coords, int64_t> registerOf;
  for (auto [reg, coords] :
       llvm::enumerate(layout.getRegisterCoords(from.getShape())))
    registerOf.try_emplace(coords, reg);
  int64_t extent = from.getDimSize(op.getAxis());
  Registers result;
  for (Coords &coords : layout.getRegisterCoords(op.getType().getShape())) {
    int64_t &position = coords[op.getAxis()];
    ValueRange half = position < extent ? lhs : rhs;
    position %= extent;
    result.push_back(half[registerOf.at(coords)]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

template <typename Op> struct ContextPattern : public OpConversionPattern<Op> {
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  ContextPattern(const TypeConverter &converter, MLIRContext *mlirContext,
                 DistributionContext &context, PatternBenefit benefit = 1)
      : OpConversionPattern<Op>(converter, mlirContext, benefit),
        context(context) {}

  DistributionContext &context;
};

struct DistributeConvertLayout : public ContextPattern<ConvertLayoutOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(ConvertLayoutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType(), to = op.getType();
    FailureOr<Registers> result =
        convertRegisters(rewriter, op, context, adaptor.getSource(),
                         getLayout(from), getLayout(to), to.getShape());
    if (failed(result))
      return failure();
    replaceWithRegisters(rewriter, op, {*result});
    return success();
  }
};

struct DistributeReshapeThroughShared : public ContextPattern<tile::ReshapeOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(tile::ReshapeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<Registers> result =
        reshape(op, adaptor.getSource(), planReshape(op), rewriter);
    if (failed(result))
      return failure();
    replaceWithRegisters(rewriter, op, {*result});
    return success();
  }

  FailureOr<Registers> reshape(tile::ReshapeOp op, ValueRange registers,
                               const ReshapePlan &plan,
                               OpBuilder &builder) const {
    RankedTensorType from = op.getSource().getType(), to = op.getType();
    switch (plan.kind) {
    case ReshapePlan::Rename:
      return Registers(registers);
    case ReshapePlan::ConvertAfter:
      return convertRegisters(builder, op, context, registers, plan.layout,
                              getLayout(to), to.getShape());
    case ReshapePlan::ConvertBefore:
      return convertRegisters(builder, op, context, registers, getLayout(from),
                              plan.layout, from.getShape());
    case ReshapePlan::RowMajor:
      return reshapeRowMajor(op, registers, context, builder);
    }
    return failure();
  }
};

struct DistributeCat : public ContextPattern<tile::CatOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(tile::CatOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getLhs().getType(), to = op.getType();
    Registers both = catInPlace(op, adaptor.getLhs(), adaptor.getRhs());
    FailureOr<Registers> result =
        convertRegisters(rewriter, op, context, both, getLayout(from),
                         getLayout(to), to.getShape());
    if (failed(result))
      return failure();
    replaceWithRegisters(rewriter, op, {*result});
    return success();
  }
};

struct DistributeSplitThroughShared : public ContextPattern<tile::SplitOp> {
  using ContextPattern::ContextPattern;

  LogicalResult
  matchAndRewrite(tile::SplitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType();
    RankedTensorType to = op.getLhs().getType();
    // Convert to the layout of a join, whose lowest register bit is the half.
    FailureOr<Registers> joined = convertRegisters(
        rewriter, op, context, adaptor.getSource(), getLayout(from),
        getLayout(to).join(), from.getShape());
    if (failed(joined))
      return failure();
    SmallVector<SmallVector<Value>> halves(2);
    for (auto [reg, value] : llvm::enumerate(*joined))
      halves[reg % 2].push_back(value);
    replaceWithRegisters(rewriter, op, std::move(halves));
    return success();
  }
};

} // namespace

void tile_gpu::populateConvertLayoutPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributeConvertLayout, DistributeCat>(converter, ctx, context);
  // Renaming registers is tried first.
  patterns.add<DistributeReshapeThroughShared, DistributeSplitThroughShared>(
      converter, ctx, context, /*benefit=*/0);
  populateGatherPatterns(converter, patterns, context);
}

int64_t tile_gpu::getConversionScratchBytes(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](ConvertLayoutOp convert) {
        RankedTensorType from = convert.getSource().getType();
        RankedTensorType to = convert.getType();
        if (!getLayoutAttr(from) || !getLayoutAttr(to))
          return int64_t(0);
        return getConversionBytes(getLayout(from), getLayout(to), to.getShape(),
                                  to.getElementType());
      })
      .Case([](tile::ReshapeOp reshape) {
        if (!getLayoutAttr(reshape.getSource().getType()) ||
            !getLayoutAttr(reshape.getType()))
          return int64_t(0);
        return getReshapeBytes(reshape);
      })
      .Case([](tile::CatOp cat) {
        RankedTensorType from = cat.getLhs().getType(), to = cat.getType();
        if (!getLayoutAttr(from) || !getLayoutAttr(to))
          return int64_t(0);
        return getConversionBytes(getLayout(from), getLayout(to), to.getShape(),
                                  to.getElementType());
      })
      .Case([](tile::SplitOp split) {
        RankedTensorType from = split.getSource().getType();
        RankedTensorType to = split.getLhs().getType();
        if (!getLayoutAttr(from) || !getLayoutAttr(to))
          return int64_t(0);
        return getConversionBytes(getLayout(from), getLayout(to).join(),
                                  from.getShape(), from.getElementType());
      })
      .Case([](tile::GatherOp gather) { return getGatherScratchBytes(gather); })
      .Default(int64_t(0));
}
