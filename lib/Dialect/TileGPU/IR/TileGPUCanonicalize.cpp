//===- TileGPUCanonicalize.cpp - Folds of tile_gpu ops ----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tile_gpu;

//===----------------------------------------------------------------------===//
// ConvertLayoutOp
//===----------------------------------------------------------------------===//

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  // Elements are stored by their coordinates, whoever holds them.
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource()))
    return constant.reshape(cast<ShapedType>(getResult().getType()));
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    if (inner.getSource().getType() == getResult().getType())
      return inner.getSource();
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

namespace {
/// An op that costs the same in any layout is made in the one that is needed.
template <typename CreationOp>
struct ConvertOfCreation : public OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertLayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getSource().template getDefiningOp<CreationOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "not of a creation op");
    Operation *clone = rewriter.clone(*source);
    rewriter.modifyOpInPlace(
        clone, [&] { clone->getResult(0).setType(op.getResult().getType()); });
    rewriter.replaceOp(op, clone->getResults());
    return success();
  }
};
} // namespace

void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns
      .add<ConvertOfCreation<tile::SplatOp>, ConvertOfCreation<tile::ArangeOp>>(
          context);
}

//===----------------------------------------------------------------------===//
// AllocOp
//===----------------------------------------------------------------------===//

/// Collects in `users` all ops that use `memory` or a view of it, views before
/// their users. Returns false if one of them does more than write to it.
static bool collectWriters(Value memory, SmallVectorImpl<Operation *> &users) {
  for (OpOperand &use : memory.getUses()) {
    Operation *user = use.getOwner();
    users.push_back(user);
    if (auto store = dyn_cast<LocalStoreOp>(user))
      continue;
    if (!isa<MemDescIndexOp, MemDescSubsliceOp, MemDescTransOp>(user) ||
        !collectWriters(user->getResult(0), users))
      return false;
  }
  return true;
}

/// Memory that nobody reads need not be written (memory without any use is dead
/// by its effects alone).
LogicalResult AllocOp::canonicalize(AllocOp op, PatternRewriter &rewriter) {
  SmallVector<Operation *> users;
  if (!collectWriters(op.getResult(), users))
    return rewriter.notifyMatchFailure(op, "its memory may be read");
  for (Operation *user : llvm::reverse(users))
    rewriter.eraseOp(user);
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

OpFoldResult MemDescSubsliceOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  auto inner = getSource().getDefiningOp<MemDescSubsliceOp>();
  if (!inner)
    return {};
  SmallVector<int32_t> offsets;
  for (auto [a, b] : llvm::zip_equal(inner.getOffsets(), getOffsets()))
    offsets.push_back(a + b);
  setOffsets(offsets);
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

OpFoldResult MemDescTransOp::fold(FoldAdaptor) {
  if (llvm::equal(getOrder(), llvm::seq<int32_t>(0, getOrder().size())))
    return getSource();
  auto inner = getSource().getDefiningOp<MemDescTransOp>();
  if (!inner)
    return {};
  SmallVector<int32_t> order;
  for (int32_t dim : getOrder())
    order.push_back(inner.getOrder()[dim]);
  setOrder(order);
  getSourceMutable().assign(inner.getSource());
  return getResult();
}
