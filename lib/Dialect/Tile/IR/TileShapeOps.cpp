//===- TileShapeOps.cpp - Creation and shape of tiles -----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDetail.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Verify that a shape op keeps the element type.
static LogicalResult verifySameElement(Operation *op, RankedTensorType source,
                                       RankedTensorType result) {
  if (source.getElementType() == result.getElementType())
    return success();
  return op->emitOpError("expects source and result to have the same element "
                         "type; found ")
         << source.getElementType() << " and " << result.getElementType();
}

static LogicalResult verifyResultShape(Operation *op,
                                       ArrayRef<int64_t> expected,
                                       RankedTensorType result) {
  if (expected == result.getShape())
    return success();
  return op->emitOpError("expects a result of shape [")
         << expected << "]; found [" << result.getShape() << "]";
}

/// Fold a shape op on a splat constant: the elements do not move.
static OpFoldResult foldSplatConstant(Attribute source, Type resultType) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(source))
    return splat.resizeSplat(cast<ShapedType>(resultType));
  return {};
}

namespace {
/// A shape op on a splat is a splat of the result's shape.
template <typename ShapeOp>
struct ShapeOpOfSplat : public OpRewritePattern<ShapeOp> {
  using OpRewritePattern<ShapeOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getSource().template getDefiningOp<SplatOp>();
    if (!splat)
      return rewriter.notifyMatchFailure(op, "source is no splat");
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSource());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// arange, splat
//===----------------------------------------------------------------------===//

LogicalResult ArangeOp::verify() {
  int64_t start = getStart(), end = getEnd();
  if (start >= end)
    return emitOpError("expects start < end; found ")
           << start << " and " << end;
  return verifyResultShape(*this, {end - start}, getType());
}

OpFoldResult ArangeOp::fold(FoldAdaptor adaptor) {
  if (getType().getNumElements() != 1)
    return {};
  return DenseElementsAttr::get(getType(), APInt(32, getStart(), true));
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (isa_and_present<IntegerAttr, FloatAttr>(adaptor.getSource()))
    return DenseElementsAttr::get(getType(), adaptor.getSource());
  return {};
}

//===----------------------------------------------------------------------===//
// expand_dims
//===----------------------------------------------------------------------===//

void ExpandDimsOp::build(OpBuilder &builder, OperationState &state,
                         Value source, int32_t axis) {
  RankedTensorType type = tileType(source);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, 1);
  Attribute encoding =
      deriveEncoding(type, [&](const EncodingDialectInterface &interface) {
        return interface.expandDims(type, axis);
      });
  build(builder, state,
        RankedTensorType::get(shape, type.getElementType(), encoding), source,
        axis);
}

LogicalResult ExpandDimsOp::verify() {
  RankedTensorType source = tileType(getSource()), result = getType();
  int32_t axis = getAxis();
  if (failed(verifySameElement(*this, source, result)) ||
      failed(verifyAxis(*this, axis, source.getRank() + 1)))
    return failure();
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + axis, 1);
  if (failed(verifyResultShape(*this, shape, result)))
    return failure();
  return verifyDerivedEncoding(*this, result, source, "source",
                               [&](const EncodingDialectInterface &interface) {
                                 return interface.projectOut(result, axis);
                               });
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return foldSplatConstant(adaptor.getSource(), getType());
}

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<ShapeOpOfSplat<ExpandDimsOp>>(context);
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType source = tileType(getSource()), result = getType();
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  if (source.getRank() != result.getRank())
    return emitOpError(
               "expects source and result to have the same rank; found ")
           << source.getRank() << " and " << result.getRank();
  for (int64_t i = 0, e = source.getRank(); i < e; ++i)
    if (source.getDimSize(i) != 1 &&
        source.getDimSize(i) != result.getDimSize(i))
      return emitOpError("expects the extent of source dimension ")
             << i << " to be 1 or " << result.getDimSize(i) << "; found "
             << source.getDimSize(i);
  if (failed(verifyBothEncoded(*this, source, result)))
    return failure();
  if (source.getEncoding() == result.getEncoding())
    return success();
  const EncodingDialectInterface *interface =
      getEncodingInterface(source.getEncoding());
  if (interface && interface->isBroadcast(source, result))
    return success();
  return emitOpError("expects encodings between which no element moves; found ")
         << source << " and " << result;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return foldSplatConstant(adaptor.getSource(), getType());
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<ShapeOpOfSplat<BroadcastOp>>(context);
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType source = tileType(getSource()), result = getType();
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  if (source.getNumElements() != result.getNumElements())
    return emitOpError("expects source and result to have the same number of "
                       "elements; found ")
           << source.getNumElements() << " and " << result.getNumElements();
  return verifyBothEncoded(*this, source, result);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // A chain of row-major reshapes depends on its ends alone.
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    setAllowReorder(getAllowReorder() || inner.getAllowReorder());
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  if (auto inner = getSource().getDefiningOp<ExpandDimsOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  if (auto constant =
          dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return constant.reshape(getType());
  return {};
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ShapeOpOfSplat<ReshapeOp>>(context);
}

//===----------------------------------------------------------------------===//
// trans
//===----------------------------------------------------------------------===//

static bool isPermutation(ArrayRef<int32_t> order) {
  SmallVector<bool> seen(order.size(), false);
  for (int32_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(order.size()) || seen[dim])
      return false;
    seen[dim] = true;
  }
  return true;
}

static SmallVector<int64_t> permuteShape(ArrayRef<int64_t> shape,
                                         ArrayRef<int32_t> order) {
  return llvm::map_to_vector(order, [&](int32_t dim) { return shape[dim]; });
}

void TransOp::build(OpBuilder &builder, OperationState &state, Value source,
                    ArrayRef<int32_t> order) {
  RankedTensorType type = tileType(source);
  Attribute encoding =
      deriveEncoding(type, [&](const EncodingDialectInterface &interface) {
        return interface.transpose(type, order);
      });
  build(builder, state,
        RankedTensorType::get(permuteShape(type.getShape(), order),
                              type.getElementType(), encoding),
        source, order);
}

LogicalResult TransOp::verify() {
  RankedTensorType source = tileType(getSource()), result = getType();
  ArrayRef<int32_t> order = getOrder();
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  if (static_cast<int64_t>(order.size()) != source.getRank() ||
      !isPermutation(order))
    return emitOpError("expects order to be a permutation of [0, ")
           << source.getRank() << "); found [" << order << "]";
  if (failed(verifyResultShape(*this, permuteShape(source.getShape(), order),
                               result)))
    return failure();
  return verifyDerivedEncoding(*this, source, result, "result",
                               [&](const EncodingDialectInterface &interface) {
                                 return interface.transpose(source, order);
                               });
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int32_t> order = getOrder();
  bool isIdentity = llvm::all_of(llvm::enumerate(order), [](auto it) {
    return static_cast<int64_t>(it.index()) == it.value();
  });
  if (isIdentity && getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<TransOp>()) {
    ArrayRef<int32_t> innerOrder = inner.getOrder();
    setOrder(llvm::map_to_vector(order,
                                 [&](int32_t dim) { return innerOrder[dim]; }));
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return foldSplatConstant(adaptor.getSource(), getType());
}

void TransOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<ShapeOpOfSplat<TransOp>>(context);
}

//===----------------------------------------------------------------------===//
// join, split
//===----------------------------------------------------------------------===//

LogicalResult JoinOp::verify() {
  RankedTensorType source = tileType(getLhs()), result = getType();
  SmallVector<int64_t> shape(source.getShape());
  shape.push_back(2);
  if (failed(verifySameElement(*this, source, result)) ||
      failed(verifyResultShape(*this, shape, result)))
    return failure();
  return verifyDerivedEncoding(
      *this, source, result, "result",
      [&](const EncodingDialectInterface &interface) {
        return interface.join(source);
      },
      /*optional=*/true);
}

OpFoldResult JoinOp::fold(FoldAdaptor adaptor) {
  auto split = getLhs().getDefiningOp<SplitOp>();
  if (split && getLhs() == split.getLhs() && getRhs() == split.getRhs() &&
      split.getSource().getType() == getType())
    return split.getSource();
  TypedAttr element = getSplatElement(adaptor.getLhs());
  if (element && element == getSplatElement(adaptor.getRhs()))
    return Attribute(getConstant(getType(), element));
  return {};
}

LogicalResult SplitOp::verify() {
  RankedTensorType source = tileType(getSource()), result = tileType(getLhs());
  if (failed(verifySameElement(*this, source, result)))
    return failure();
  if (source.getRank() < 2 || source.getShape().back() != 2)
    return emitOpError(
               "expects a source of rank 2 or more with a last extent of "
               "2; found shape [")
           << source.getShape() << "]";
  if (failed(verifyResultShape(*this, source.getShape().drop_back(), result)))
    return failure();
  return verifyDerivedEncoding(
      *this, source, result, "results",
      [&](const EncodingDialectInterface &interface) {
        return interface.split(source);
      },
      /*optional=*/true);
}

LogicalResult SplitOp::fold(FoldAdaptor adaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  auto join = getSource().getDefiningOp<JoinOp>();
  if (join && join.getLhs().getType() == getLhs().getType()) {
    results.assign({join.getLhs(), join.getRhs()});
    return success();
  }
  if (OpFoldResult half =
          foldSplatConstant(adaptor.getSource(), getLhs().getType())) {
    results.assign({half, half});
    return success();
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// cat, gather
//===----------------------------------------------------------------------===//

LogicalResult CatOp::verify() {
  RankedTensorType source = tileType(getLhs()), result = getType();
  if (failed(verifySameElement(*this, source, result)) ||
      failed(verifyAxis(*this, getAxis(), source.getRank())))
    return failure();
  SmallVector<int64_t> shape(source.getShape());
  shape[getAxis()] *= 2;
  if (failed(verifyResultShape(*this, shape, result)))
    return failure();
  return verifyBothEncoded(*this, source, result);
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = tileType(getSource()),
                   indices = tileType(getIndices()), result = getType();
  int32_t axis = getAxis();
  if (failed(verifySameElement(*this, source, result)) ||
      failed(verifyAxis(*this, axis, source.getRank())))
    return failure();
  if (indices.getRank() != source.getRank())
    return emitOpError(
               "expects source and indices to have the same rank; found ")
           << source.getRank() << " and " << indices.getRank();
  for (int64_t i = 0, e = source.getRank(); i < e; ++i)
    if (i != axis && indices.getDimSize(i) != source.getDimSize(i))
      return emitOpError("expects dimension ")
             << i << " of the indices to have the source's extent "
             << source.getDimSize(i) << "; found " << indices.getDimSize(i);
  if (failed(verifyResultShape(*this, indices.getShape(), result)) ||
      failed(verifyBothEncoded(*this, source, indices)))
    return failure();
  return verifyBothEncoded(*this, source, result);
}
