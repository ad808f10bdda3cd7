//===- Combine.cpp - Combine ops into cheaper ones --------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILECOMBINE
#include "TileDialect/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

namespace {

bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    value = splat.getSource();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// dot(a, b, 0) + c -> dot(a, b, c). The sum is rounded once less often, or in
/// another order; that is what an accumulator is for.
template <typename AddOp>
struct AccumulateInDot : public OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      auto dot = op->getOperand(i).template getDefiningOp<DotOp>();
      Value addend = op->getOperand(1 - i);
      if (!dot || !dot->hasOneUse() || !isZero(dot.getAcc()))
        continue;
      // The product stays in its block: it may be in a loop that the sum is
      // not in.
      if (dot->getBlock() != op->getBlock())
        continue;
      rewriter.modifyOpInPlace(dot, [&] {
        dot.getAccMutable().assign(addend);
        dot->moveBefore(op);
      });
      rewriter.replaceOp(op, dot.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no product to accumulate in");
  }
};

/// select(mask, load(ptr, mask), other) -> load(ptr, mask, other).
struct SelectIsOtherOfLoad : public OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto load = op.getTrueValue().getDefiningOp<LoadOp>();
    if (!load || !load->hasOneUse() || !load.getMask() ||
        load.getMask() != op.getCondition())
      return rewriter.notifyMatchFailure(op, "no load under the same mask");
    // Computed anew: the driver may have merged or erased blocks since the last
    // time. In a region of one block that costs nothing.
    if (!DominanceInfo().properlyDominates(op.getFalseValue(), load))
      return rewriter.notifyMatchFailure(op, "the other value comes too late");
    rewriter.modifyOpInPlace(
        load, [&] { load.getOtherMutable().assign(op.getFalseValue()); });
    rewriter.replaceOp(op, load.getResult());
    return success();
  }
};

/// addptr(addptr(splat(p), x), splat(s)) -> addptr(splat(addptr(p, s)), x):
/// what all pointers have in common is added once, to a scalar.
struct AddUniformOffsetFirst : public OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto offset = op.getOffset().getDefiningOp<SplatOp>();
    auto inner = op.getPtr().getDefiningOp<AddPtrOp>();
    auto base = inner ? inner.getPtr().getDefiningOp<SplatOp>() : SplatOp();
    if (!offset || !base || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no uniform offset");
    if (!op->getDiscardableAttrs().empty() ||
        !inner->getDiscardableAttrs().empty())
      return rewriter.notifyMatchFailure(op, "facts are stated about it");
    Value scalar = AddPtrOp::create(rewriter, op.getLoc(), base.getSource(),
                                    offset.getSource());
    Value splat =
        SplatOp::create(rewriter, op.getLoc(), base.getType(), scalar);
    rewriter.replaceOpWithNewOp<AddPtrOp>(op, splat, inner.getOffset());
    return success();
  }
};

class TileCombinePass : public tile::impl::TileCombineBase<TileCombinePass> {
public:
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AccumulateInDot<arith::AddFOp>, AccumulateInDot<arith::AddIOp>,
                 SelectIsOtherOfLoad, AddUniformOffsetFirst>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
