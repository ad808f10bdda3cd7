//===- TileReduceOps.cpp - Ops with a scalar region, histograms -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDetail.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tile;

static RankedTensorType tileType(Type type) {
  return cast<RankedTensorType>(type);
}

/// Verify that the only block of `region` takes `arguments` and yields
/// `results`.
static LogicalResult verifyScalarBlock(Operation *op, Region &region,
                                       ArrayRef<Type> arguments,
                                       ArrayRef<Type> results) {
  Block &block = region.front();
  if (!llvm::equal(block.getArgumentTypes(), arguments)) {
    InFlightDiagnostic diag = op->emitOpError("expects its region to take (");
    diag << arguments << "); found (" << block.getArgumentTypes() << ")";
    return diag;
  }
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("expects its region to end with tile.yield; found ")
           << block.back().getName();
  if (!llvm::equal(yield.getValues().getTypes(), results)) {
    InFlightDiagnostic diag = op->emitOpError("expects its region to yield (");
    diag << results << "); found (" << yield.getValues().getTypes() << ")";
    diag.attachNote(yield.getLoc()) << "yielded here";
    return diag;
  }
  return success();
}

/// The types of the elements of `tiles`, each `repeat` times in a row.
static SmallVector<Type> elementTypes(TypeRange tiles, unsigned repeat = 1) {
  SmallVector<Type> types;
  for (Type tile : tiles)
    types.append(repeat, tileType(tile).getElementType());
  return types;
}

/// Verify the region of reduce and scan: 2n elements to n.
static LogicalResult verifyCombine(Operation *op, Region &combine,
                                   TypeRange sources) {
  SmallVector<Type> results = elementTypes(sources), arguments = results;
  arguments.append(results);
  return verifyScalarBlock(op, combine, arguments, results);
}

/// Verify what reduce, scan and map_elementwise ask of the numbers of operands
/// and results.
static LogicalResult verifyCounts(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("expects at least one operand; found none");
  if (op->getNumOperands() != op->getNumResults())
    return op->emitOpError("expects as many results as operands, ")
           << op->getNumOperands() << "; found " << op->getNumResults();
  return success();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// The type of the reduction of `source` along `axis`, with the encoding that
/// is derived for a result.
static Type reducedType(RankedTensorType source, int32_t axis) {
  if (source.getRank() == 1)
    return source.getElementType();
  SmallVector<int64_t> shape(source.getShape());
  shape.erase(shape.begin() + axis);
  Attribute encoding =
      deriveEncoding(source, [&](const EncodingDialectInterface &interface) {
        return interface.projectOut(source, axis);
      });
  return RankedTensorType::get(shape, source.getElementType(), encoding);
}

void ReduceOp::build(OpBuilder &builder, OperationState &state,
                     ValueRange sources, int32_t axis) {
  SmallVector<Type> results =
      llvm::map_to_vector(sources.getTypes(), [&](Type type) {
        return reducedType(tileType(type), axis);
      });
  build(builder, state, results, sources, axis);
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyCounts(*this)) ||
      failed(verifyAxis(*this, getAxis(),
                        tileType(getSources().front().getType()).getRank())))
    return failure();
  for (auto [sourceType, resultType] :
       llvm::zip_equal(getSources().getTypes(), getResults().getTypes())) {
    RankedTensorType source = tileType(sourceType);
    auto result = dyn_cast<RankedTensorType>(resultType);
    Type expected = reducedType(source, getAxis());
    auto expectedTile = dyn_cast<RankedTensorType>(expected);
    bool isSame =
        expectedTile && result
            ? expectedTile.getShape() == result.getShape() &&
                  expectedTile.getElementType() == result.getElementType()
            : expected == resultType;
    if (!isSame)
      return emitOpError("expects a result of type ")
             << expected << "; found " << resultType;
    if (result && failed(verifyDerivedEncoding(
                      *this, source, result, "result",
                      [&](const EncodingDialectInterface &interface) {
                        return interface.projectOut(source, getAxis());
                      })))
      return failure();
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombine(*this, getCombine(), getSources().getTypes());
}

namespace {
/// The reduction of one element is that element. With an encoding the reduction
/// moves nothing, which a reshape might, and stays.
struct ReduceOfOneElement : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = tileType(op.getSources().front().getType());
    if (type.getDimSize(op.getAxis()) != 1)
      return rewriter.notifyMatchFailure(op, "several elements along the axis");
    if (type.getRank() == 1 || type.getEncoding())
      return rewriter.notifyMatchFailure(op, "not a reshape");
    SmallVector<Value> results;
    for (auto [source, result] :
         llvm::zip_equal(op.getSources(), op.getResults()))
      results.push_back(
          ReshapeOp::create(rewriter, op.getLoc(), result.getType(), source));
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<ReduceOfOneElement>(context);
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

void ScanOp::build(OpBuilder &builder, OperationState &state,
                   ValueRange sources, int32_t axis, bool reverse) {
  build(builder, state, TypeRange(sources), sources, axis, reverse);
}

LogicalResult ScanOp::verify() {
  if (failed(verifyCounts(*this)) ||
      failed(verifyAxis(*this, getAxis(),
                        tileType(getSources().front().getType()).getRank())))
    return failure();
  for (auto [source, result] :
       llvm::zip_equal(getSources().getTypes(), getResults().getTypes()))
    if (source != result)
      return emitOpError("expects a result of type ")
             << source << "; found " << result;
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombine(*this, getCombine(), getSources().getTypes());
}

LogicalResult ScanOp::fold(FoldAdaptor adaptor,
                           SmallVectorImpl<OpFoldResult> &results) {
  RankedTensorType type = tileType(getSources().front().getType());
  if (type.getDimSize(getAxis()) != 1)
    return failure();
  llvm::append_range(results, getSources());
  return success();
}

//===----------------------------------------------------------------------===//
// map_elementwise
//===----------------------------------------------------------------------===//

LogicalResult MapElementwiseOp::verify() {
  if (getArgs().empty())
    return emitOpError("expects at least one operand; found none");
  if (getResults().empty())
    return emitOpError("expects at least one result; found none");
  int64_t elements = tileType(getArgs().front().getType()).getNumElements();
  if (elements % getPack() != 0)
    return emitOpError("expects pack to divide the number of elements, ")
           << elements << "; found " << getPack();
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  return verifyScalarBlock(*this, getBody(),
                           elementTypes(getArgs().getTypes(), getPack()),
                           elementTypes(getResults().getTypes(), getPack()));
}

//===----------------------------------------------------------------------===//
// histogram
//===----------------------------------------------------------------------===//

LogicalResult HistogramOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getRank() != 1 || result.getRank() != 1)
    return emitOpError("expects source and result to have rank 1; found ")
           << source.getRank() << " and " << result.getRank();
  return verifyBothEncoded(*this, source, result);
}

namespace {
struct HistogramOfTrueMask : public OpRewritePattern<HistogramOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(HistogramOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || !isConstantBool(op.getMask(), true))
      return rewriter.notifyMatchFailure(op, "mask is not all true");
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
};
} // namespace

void HistogramOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<HistogramOfTrueMask>(context);
}
