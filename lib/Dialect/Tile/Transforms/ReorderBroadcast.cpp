//===- ReorderBroadcast.cpp - Compute before broadcasting -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEREORDERBROADCAST
#include "TileDialect/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {

/// The scalar that all elements of `value` equal: the source of a splat, or a
/// new constant. Null if it is not known.
Value getScalar(OpBuilder &builder, Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  if (auto splat = value.getDefiningOp<SplatOp>())
    return splat.getSource();
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  auto attr = cast<TypedAttr>(elements.getSplatValue<Attribute>());
  return arith::ConstantOp::create(builder, value.getLoc(), attr);
}

bool isUniform(Value value) {
  DenseElementsAttr elements;
  return !isa<RankedTensorType>(value.getType()) ||
         value.getDefiningOp<SplatOp>() ||
         (matchPattern(value, m_Constant(&elements)) && elements.isSplat());
}

/// True for the elements that ops of the tile dialect take. Other dialects have
/// tiles of more types (index, i4), of which there is no splat or broadcast.
bool hasTileElement(Type type) {
  type = getElementTypeOrSelf(type);
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E5M2Type, PtrType>(type);
}

/// Matches ops that work on each element by itself and lose nothing if they
/// work on fewer of them.
bool canReorder(Operation *op) {
  bool isElementwise = (op->hasTrait<OpTrait::Elementwise>() &&
                        !isa<InlineAsmElementwiseOp>(op)) ||
                       isa<AddPtrOp, IntToPtrOp, PtrToIntOp, BitcastOp>(op);
  if (!isElementwise || op->getNumResults() != 1 || !isPure(op) ||
      op->getNumOperands() == 0 ||
      !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !llvm::all_of(op->getOperandTypes(), hasTileElement) ||
      !hasTileElement(op->getResult(0).getType()))
    return false;
  // Facts about the result are stated for each of its dimensions.
  return llvm::none_of(op->getDiscardableAttrs(), [](NamedAttribute attr) {
    return isa_and_nonnull<TileDialect>(attr.getNameDialect());
  });
}

/// The same op on other operands, with a result of `type`.
Value cloneOn(PatternRewriter &rewriter, Operation *op, ValueRange operands,
              Type type) {
  Operation *clone = op->clone();
  clone->setOperands(operands);
  clone->getResult(0).setType(type);
  rewriter.insert(clone);
  return clone->getResult(0);
}

/// op(splat(a), splat(b)) -> splat(op(a, b)).
struct ComputeBeforeSplat : public RewritePattern {
  ComputeBeforeSplat(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!canReorder(op))
      return rewriter.notifyMatchFailure(op, "not elementwise");
    bool hasSplat = llvm::any_of(op->getOperands(), [](Value operand) {
      return operand.getDefiningOp<SplatOp>() != nullptr;
    });
    if (!hasSplat || !llvm::all_of(op->getOperands(), isUniform))
      return rewriter.notifyMatchFailure(op, "operands are not all splats");
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands())
      scalars.push_back(getScalar(rewriter, operand));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value scalar = cloneOn(rewriter, op, scalars, type.getElementType());
    rewriter.replaceOpWithNewOp<SplatOp>(op, type, scalar);
    return success();
  }
};

/// op(broadcast(a), broadcast(b), splat(c)) -> broadcast(op(a, b, splat(c))),
/// and the same for expand_dims, where `ShapeOp` has one source shape.
template <typename ShapeOp> struct ComputeBefore : public RewritePattern {
  ComputeBefore(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  static bool isSameShapeOp(ShapeOp a, ShapeOp b) {
    return a.getSource().getType().getShape() ==
               b.getSource().getType().getShape() &&
           a.getSource().getType().getEncoding() ==
               b.getSource().getType().getEncoding() &&
           a->getDiscardableAttrs().empty() &&
           b->getDiscardableAttrs().empty() &&
           a.getProperties() == b.getProperties();
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!canReorder(op))
      return rewriter.notifyMatchFailure(op, "not elementwise");
    ShapeOp first;
    for (Value operand : op->getOperands()) {
      auto shapeOp = operand.getDefiningOp<ShapeOp>();
      if (!shapeOp && !isUniform(operand))
        return rewriter.notifyMatchFailure(op, "an operand is not broadcast");
      if (!shapeOp)
        continue;
      if (first && !isSameShapeOp(first, shapeOp))
        return rewriter.notifyMatchFailure(op, "operands differ in shape");
      if (!first)
        first = shapeOp;
    }
    if (!first)
      return rewriter.notifyMatchFailure(op, "no operand is broadcast");

    RankedTensorType small = first.getSource().getType();
    SmallVector<Value> sources;
    for (Value operand : op->getOperands())
      sources.push_back(getSource(rewriter, operand, small));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value result =
        cloneOn(rewriter, op, sources, small.clone(type.getElementType()));
    auto wide = cast<ShapeOp>(first->clone());
    wide->setOperand(0, result);
    wide->getResult(0).setType(type);
    rewriter.insert(wide);
    rewriter.replaceOp(op, wide->getResults());
    return success();
  }

  static Value getSource(PatternRewriter &rewriter, Value operand,
                         RankedTensorType small) {
    if (auto shapeOp = operand.getDefiningOp<ShapeOp>())
      return shapeOp.getSource();
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      return operand;
    return SplatOp::create(rewriter, operand.getLoc(),
                           small.clone(type.getElementType()),
                           getScalar(rewriter, operand));
  }
};

class TileReorderBroadcastPass
    : public tile::impl::TileReorderBroadcastBase<TileReorderBroadcastPass> {
public:
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeBeforeSplat, ComputeBefore<BroadcastOp>,
                 ComputeBefore<ExpandDimsOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
