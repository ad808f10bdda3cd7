//===- DistributeShapeOps.cpp - Distribute creation and shape ops ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shape op whose result has the layout that the op's rule gives moves
// nothing: each register of the result is a register of the operand in the same
// thread.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Coords;
using tile_dialect::layout::Layout;

namespace {

/// Finds the register of thread 0 that holds an element of a tile.
class RegisterFinder {
public:
  explicit RegisterFinder(RankedTensorType type) : shape(type.getShape()) {
    auto coords = getLayoutAttr(type).getLayout().getRegisterCoords(shape);
    for (auto [reg, element] : llvm::enumerate(coords))
      registers.try_emplace(linearize(element), reg);
  }
  std::optional<int64_t> find(ArrayRef<int64_t> coords) const {
    auto it = registers.find(linearize(coords));
    return it == registers.end() ? std::nullopt : std::optional(it->second);
  }

private:
  int64_t linearize(ArrayRef<int64_t> coords) const {
    int64_t index = 0;
    for (auto [coord, extent] : llvm::zip_equal(coords, shape))
      index = index * extent + coord;
    return index;
  }
  ArrayRef<int64_t> shape;
  llvm::DenseMap<int64_t, int64_t> registers;
};

/// The coordinates of all registers of thread 0.
SmallVector<Coords> registerCoords(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return llvm::to_vector(
      getLayoutAttr(type).getLayout().getRegisterCoords(type.getShape()));
}

/// Replaces `op` by registers of its operand: result register i is the one that
/// holds `sourceOf` of the element of register i.
LogicalResult
renameRegisters(Operation *op, Value result, ValueRange source,
                RankedTensorType sourceType,
                llvm::function_ref<Coords(ArrayRef<int64_t>)> sourceOf,
                ConversionPatternRewriter &rewriter) {
  RegisterFinder finder(sourceType);
  Registers registers;
  for (const Coords &coords : registerCoords(result)) {
    std::optional<int64_t> reg = finder.find(sourceOf(coords));
    if (!reg)
      return rewriter.notifyMatchFailure(op, "an element is in another thread");
    registers.push_back(source[*reg]);
  }
  replaceWithRegisters(rewriter, op, {registers});
  return success();
}

gpu::Dimension toDimension(tile::Axis axis) {
  switch (axis) {
  case tile::Axis::X:
    return gpu::Dimension::x;
  case tile::Axis::Y:
    return gpu::Dimension::y;
  case tile::Axis::Z:
    return gpu::Dimension::z;
  }
  llvm_unreachable("all axes are handled");
}

/// program_id and num_programs: the block's position and the grid's extent.
template <typename TileOp, typename GPUOp>
struct DistributeGridOp : public OpConversionPattern<TileOp> {
  using OpConversionPattern<TileOp>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TileOp op, typename TileOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value index =
        GPUOp::create(rewriter, op.getLoc(), toDimension(op.getAxis()));
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getI32Type(),
                                                    index);
    return success();
  }
};

struct DistributeArange : public OpConversionPattern<tile::ArangeOp> {
  DistributeArange(const TypeConverter &converter, MLIRContext *patternContext,
                   DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::ArangeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!getLayoutAttr(type))
      return rewriter.notifyMatchFailure(op, "the tile has no layout");
    Registers registers;
    Value start;
    if (op.getStart() != 0)
      start = arith::ConstantIntOp::create(rewriter, op.getLoc(),
                                           int32_t(op.getStart()), 32);
    for (ArrayRef<Value> coords :
         context.getCoords(rewriter, op.getLoc(), type)) {
      Value value = coords.front();
      if (start)
        value = arith::AddIOp::create(rewriter, op.getLoc(), value, start,
                                      arith::IntegerOverflowFlags::nsw);
      registers.push_back(value);
    }
    replaceWithRegisters(rewriter, op, {registers});
    return success();
  }

  DistributionContext &context;
};

struct DistributeSplat : public OpConversionPattern<tile::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the tile has no layout");
    replaceWithRegisters(rewriter, op,
                         {Registers(types.size(), adaptor.getSource())});
    return success();
  }
};

struct DistributeExpandDims : public OpConversionPattern<tile::ExpandDimsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::ExpandDimsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return renameRegisters(
        op, op.getResult(), adaptor.getSource(), op.getSource().getType(),
        [&](ArrayRef<int64_t> coords) {
          Coords source(coords.begin(), coords.end());
          source.erase(source.begin() + op.getAxis());
          return source;
        },
        rewriter);
  }
};

struct DistributeBroadcast : public OpConversionPattern<tile::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getSource().getType();
    return renameRegisters(
        op, op.getResult(), adaptor.getSource(), type,
        [&](ArrayRef<int64_t> coords) {
          Coords source(coords.begin(), coords.end());
          for (auto [coord, extent] : llvm::zip_equal(source, type.getShape()))
            if (extent == 1)
              coord = 0;
          return source;
        },
        rewriter);
  }
};

struct DistributeTrans : public OpConversionPattern<tile::TransOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::TransOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return renameRegisters(
        op, op.getResult(), adaptor.getSource(), op.getSource().getType(),
        [&](ArrayRef<int64_t> coords) {
          Coords source(coords.size());
          for (auto [coord, dim] : llvm::zip_equal(coords, op.getOrder()))
            source[dim] = coord;
          return source;
        },
        rewriter);
  }
};

/// A reshape by whose rule the result's layout is what it is; others go through
/// shared memory.
struct DistributeReshape : public OpConversionPattern<tile::ReshapeOp> {
  DistributeReshape(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(tile::ReshapeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType();
    RankedTensorType to = op.getType();
    if (!isRegisterRename(from, to))
      return rewriter.notifyMatchFailure(op, "elements change threads");
    return renameRegisters(
        op, op.getResult(), adaptor.getSource(), from,
        [&](ArrayRef<int64_t> coords) {
          int64_t index = 0;
          for (auto [coord, extent] : llvm::zip_equal(coords, to.getShape()))
            index = index * extent + coord;
          Coords source(from.getRank());
          for (int64_t dim = from.getRank() - 1; dim >= 0; --dim) {
            source[dim] = index % from.getDimSize(dim);
            index /= from.getDimSize(dim);
          }
          return source;
        },
        rewriter);
  }

  static bool isRegisterRename(RankedTensorType from, RankedTensorType to) {
    LayoutAttr fromLayout = getLayoutAttr(from), toLayout = getLayoutAttr(to);
    if (!fromLayout || !toLayout)
      return false;
    std::optional<Layout> reshaped =
        fromLayout.getLayout().reshape(from.getShape(), to.getShape());
    return reshaped &&
           reshaped->isEquivalent(toLayout.getLayout(), to.getShape());
  }
};

struct DistributeJoin : public OpConversionPattern<tile::JoinOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::JoinOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RegisterFinder finder(op.getLhs().getType());
    Registers registers;
    for (const Coords &coords : registerCoords(op.getResult())) {
      auto reg = finder.find(ArrayRef<int64_t>(coords).drop_back());
      if (!reg)
        return rewriter.notifyMatchFailure(op,
                                           "an element is in another thread");
      registers.push_back(coords.back() == 0 ? adaptor.getLhs()[*reg]
                                             : adaptor.getRhs()[*reg]);
    }
    replaceWithRegisters(rewriter, op, {registers});
    return success();
  }
};

struct DistributeSplit : public OpConversionPattern<tile::SplitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::SplitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Thread 0 may hold what other threads do not: ask the rule.
    RankedTensorType to = op.getLhs().getType();
    std::optional<Layout> rule =
        getLayoutAttr(op.getSource().getType()).getLayout().split();
    if (!rule ||
        !rule->isEquivalent(getLayoutAttr(to).getLayout(), to.getShape()))
      return rewriter.notifyMatchFailure(op, "elements change threads");
    RegisterFinder finder(op.getSource().getType());
    SmallVector<Registers> halves(2);
    for (const Coords &coords : registerCoords(op.getLhs()))
      for (int64_t half : {0, 1}) {
        Coords source = coords;
        source.push_back(half);
        auto reg = finder.find(source);
        if (!reg)
          return rewriter.notifyMatchFailure(op,
                                             "an element is in another thread");
        halves[half].push_back(adaptor.getSource()[*reg]);
      }
    replaceWithRegisters(rewriter, op, halves);
    return success();
  }
};

} // namespace

void tile_gpu::populateShapePatterns(const DistributionTypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     DistributionContext &context) {
  MLIRContext *ctx = patterns.getContext();
  patterns
      .add<DistributeGridOp<tile::ProgramIdOp, gpu::BlockIdOp>,
           DistributeGridOp<tile::NumProgramsOp, gpu::GridDimOp>,
           DistributeSplat, DistributeExpandDims, DistributeBroadcast,
           DistributeTrans, DistributeReshape, DistributeJoin, DistributeSplit>(
          converter, ctx);
  patterns.add<DistributeArange>(converter, ctx, context);
}
