//===- TileTraits.cpp - Verifiers shared by tile ops ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/TileTraits.h"
#include "TileDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Traits
//===----------------------------------------------------------------------===//

LogicalResult
tile::verifyTileShape(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> shape, const Twine &what) {
  if (shape.empty())
    return emitError() << what
                       << " must have at least one dimension; found rank 0";
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent))
      return emitError() << what
                         << " must have a static shape; found a dynamic extent";
    if (extent <= 0)
      return emitError() << what << " is invalid: tile extents must be "
                         << "positive; found " << extent;
    // Divide instead of multiplying, which may overflow.
    if (extent > kMaxTileElements / elements)
      return emitError() << what << " must have at most " << kMaxTileElements
                         << " elements; found shape [" << shape << "]";
    elements *= extent;
  }
  return success();
}

LogicalResult tile::traits::impl::verifyValidTiles(Operation *op) {
  auto verify = [&](Type type, StringRef kind, unsigned index) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return !tile ? success()
                 : verifyTileShape([&] { return op->emitOpError(); },
                                   tile.getShape(), kind + " #" + Twine(index));
  };
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(verify(type, "operand", index)))
      return failure();
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(verify(type, "result", index)))
      return failure();
  return success();
}

LogicalResult tile::traits::impl::verifySameShapeAndEncoding(Operation *op,
                                                             bool withResults) {
  SmallVector<Type> types(op->getOperandTypes());
  if (withResults)
    llvm::append_range(types, op->getResultTypes());
  if (types.empty())
    return success();
  auto first = dyn_cast<RankedTensorType>(types.front());
  for (Type type : ArrayRef(types).drop_front()) {
    auto other = dyn_cast<RankedTensorType>(type);
    if (!first && !other)
      continue;
    StringRef who = withResults ? "operands and results" : "operands";
    if (!first || !other)
      return op->emitOpError("expects its ")
             << who << " to be all scalars or all tiles; found "
             << types.front() << " and " << type;
    if (first.getShape() != other.getShape())
      return op->emitOpError("expects its ")
             << who << " to have the same shape; found " << types.front()
             << " and " << type;
    if (first.getEncoding() != other.getEncoding())
      return op->emitOpError("expects its ")
             << who << " to have the same encoding; found " << types.front()
             << " and " << type;
  }
  return success();
}

LogicalResult tile::traits::impl::verifyScalarRegion(Operation *op) {
  auto isTile = [](Type type) { return isa<ShapedType>(type); };
  auto verify = [&](Operation *inner) -> WalkResult {
    // The effects of a region op are those of the ops in it, which are walked.
    if (!inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
        !isa<CallOpInterface>(inner) && !isMemoryEffectFree(inner)) {
      InFlightDiagnostic diag =
          op->emitOpError(
              "expects its region to have no memory effects; found ")
          << inner->getName();
      diag.attachNote(inner->getLoc()) << "in the region here";
      return diag;
    }
    for (Type type :
         llvm::concat<Type>(SmallVector<Type>(inner->getOperandTypes()),
                            SmallVector<Type>(inner->getResultTypes())))
      if (isTile(type)) {
        InFlightDiagnostic diag =
            op->emitOpError("expects its region to compute on scalars; found ")
            << type;
        diag.attachNote(inner->getLoc()) << "in the region here";
        return diag;
      }
    return WalkResult::advance();
  };
  WalkResult result = op->getRegion(0).walk(verify);
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Encodings
//===----------------------------------------------------------------------===//

const EncodingDialectInterface *tile::getEncodingInterface(Attribute encoding) {
  if (!encoding)
    return nullptr;
  return dyn_cast<EncodingDialectInterface>(&encoding.getDialect());
}

LogicalResult tile::verifyDerivedEncoding(Operation *op, RankedTensorType from,
                                          RankedTensorType to,
                                          StringRef relation,
                                          InferEncodingFn infer,
                                          bool optional) {
  if (failed(verifyBothEncoded(op, from, to)))
    return failure();
  if (!from.getEncoding())
    return success();
  Attribute expected = from.getEncoding();
  const EncodingDialectInterface *interface = getEncodingInterface(expected);
  if (interface) {
    FailureOr<Attribute> inferred = infer(*interface);
    if (failed(inferred) && optional)
      return success();
    if (failed(inferred))
      return op->emitOpError("has no encoding that fits the ")
             << relation << ", for " << from;
    expected = *inferred;
    if (interface->isEquivalent(expected, to.getEncoding(), to.getShape()))
      return success();
  } else if (expected == to.getEncoding() || optional) {
    return success();
  }
  return op->emitOpError("expects the ")
         << relation << " to have encoding " << expected << "; found "
         << to.getEncoding();
}

LogicalResult tile::verifyBothEncoded(Operation *op, RankedTensorType a,
                                      RankedTensorType b) {
  if (!a.getEncoding() == !b.getEncoding())
    return success();
  return op->emitOpError(
             "expects all of its tiles to have an encoding, or none; "
             "found ")
         << a << " and " << b;
}

Attribute tile::deriveEncoding(RankedTensorType from, InferEncodingFn infer) {
  const EncodingDialectInterface *interface =
      getEncodingInterface(from.getEncoding());
  if (!interface)
    return from.getEncoding();
  FailureOr<Attribute> inferred = infer(*interface);
  return failed(inferred) ? from.getEncoding() : *inferred;
}

LogicalResult tile::verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError("expects an axis in [0, ")
         << rank << "); found " << axis;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TypedAttr tile::getSplatElement(Attribute constant) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(constant))
    return dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (isa_and_present<IntegerAttr, FloatAttr>(constant))
    return cast<TypedAttr>(constant);
  return {};
}

TypedAttr tile::getConstantElement(Value value) {
  if (!value)
    return {};
  if (auto splat = value.getDefiningOp<SplatOp>())
    value = splat.getSource();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  return getSplatElement(constant);
}

bool tile::isConstantBool(Value value, bool expected) {
  auto element = dyn_cast_if_present<IntegerAttr>(getConstantElement(value));
  return element && element.getType().isInteger(1) &&
         element.getValue().getBoolValue() == expected;
}

TypedAttr tile::getConstant(Type type, TypedAttr element) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return cast<TypedAttr>(DenseElementsAttr::get(tile, Attribute(element)));
  return element;
}

OpFoldResult
tile::foldSplats(ArrayRef<Attribute> operands, Type resultType,
                 function_ref<TypedAttr(ArrayRef<TypedAttr>)> fold) {
  SmallVector<TypedAttr> elements;
  for (Attribute operand : operands) {
    elements.push_back(getSplatElement(operand));
    if (!elements.back())
      return {};
  }
  TypedAttr result = fold(elements);
  if (!result)
    return {};
  return Attribute(getConstant(resultType, result));
}
