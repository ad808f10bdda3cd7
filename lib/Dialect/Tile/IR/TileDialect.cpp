//===- TileDialect.cpp - The tile dialect, its types and attributes -*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDetail.h"
#include "TileDialect/Dialect/Tile/IR/EnumKeyword.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace mlir::tile;

#include "TileDialect/Dialect/Tile/IR/TileDialect.cpp.inc"

#include "TileDialect/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "TileDialect/Dialect/Tile/IR/TileAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "TileDialect/Dialect/Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "TileDialect/Dialect/Tile/IR/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

namespace {
/// Every tile op may be inlined anywhere: none depends on its function. A
/// helper that is called in a combine region is inlined into that region.
struct TileInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable,
                       bool wouldBeCloned) const final {
    return true;
  }
  bool isLegalToInline(Region *dest, Region *src, bool wouldBeCloned,
                       IRMapping &valueMapping) const final {
    return true;
  }
  bool isLegalToInline(Operation *op, Region *dest, bool wouldBeCloned,
                       IRMapping &valueMapping) const final {
    return true;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TileDialect/Dialect/Tile/IR/TileAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "TileDialect/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TileDialect/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addInterfaces<TileInlinerInterface>();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// Verify the fact `attribute` of a value of `type`.
static LogicalResult verifyFact(function_ref<InFlightDiagnostic()> emitError,
                                NamedAttribute attribute, Type type) {
  auto name = attribute.getName();
  auto values = dyn_cast<DenseI32ArrayAttr>(attribute.getValue());
  if (!values)
    return emitError() << "expects " << name
                       << " to be a dense array of i32; found "
                       << attribute.getValue();
  for (int32_t value : values.asArrayRef())
    if (value <= 0)
      return emitError() << "expects the entries of " << name
                         << " to be positive; found " << value;
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!isa<IntegerType, IndexType, PtrType>(getElementTypeOrSelf(type)))
    return emitError() << "expects " << name
                       << " on an integer or pointer value; found " << type;
  int64_t rank = tile ? tile.getRank() : 1;
  if (values.size() == rank)
    return success();
  return emitError() << "expects " << name << " to have " << rank
                     << (rank == 1 ? " entry" : " entries") << " for " << type
                     << "; found " << values.size();
}

constexpr StringLiteral kFacts[] = {kDivisibilityAttrName, kContiguityAttrName,
                                    kConstancyAttrName};

static bool isAliasGroup(NamedAttribute attribute) {
  return attribute.getName() == kAliasGroupAttrName;
}

/// Wishes about a loop, and the least and the largest value.
struct LoopHint {
  StringLiteral name;
  int32_t min, max;
};
constexpr LoopHint kLoopHints[] = {
    {"tile.num_stages", 1, std::numeric_limits<int32_t>::max()},
    {"tile.unroll_factor", 1, std::numeric_limits<int32_t>::max()},
    {"tile.disable_licm", 0, 1},
    {"tile.disallow_acc_multi_buffer", 0, 1},
    {"tile.flatten", 0, 1},
    {"tile.warp_specialize", 0, 1}};

static bool isFact(NamedAttribute attribute) {
  return llvm::is_contained(kFacts, attribute.getName().getValue());
}

static const LoopHint *getLoopHint(NamedAttribute attribute) {
  const auto *hint = llvm::find_if(kLoopHints, [&](const LoopHint &candidate) {
    return attribute.getName() == candidate.name;
  });
  return hint == std::end(kLoopHints) ? nullptr : hint;
}

/// An attribute of the dialect that has no meaning: most often a slip.
static LogicalResult emitUnknown(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  InFlightDiagnostic diagnostic =
      op->emitError("the tile dialect has no attribute ")
      << attribute.getName();
  StringRef best;
  unsigned bestDistance = 4;
  auto consider = [&](StringRef candidate) {
    unsigned distance = name.edit_distance(candidate, true, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  };
  llvm::for_each(kFacts, consider);
  consider(kAliasGroupAttrName);
  for (const LoopHint &hint : kLoopHints)
    consider(hint.name);
  if (!best.empty())
    diagnostic << "; did you mean '" << best << "'?";
  return diagnostic;
}

static LogicalResult verifyLoopHint(Operation *op, NamedAttribute attribute,
                                    const LoopHint &hint) {
  if (!isa<LoopLikeOpInterface>(op))
    return op->emitError("expects ") << attribute.getName() << " on a loop";
  auto value = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!value || !value.getType().isSignlessInteger(32))
    return op->emitError("expects ")
           << attribute.getName() << " to be an i32; found "
           << attribute.getValue();
  if (value.getInt() >= hint.min && value.getInt() <= hint.max)
    return success();
  InFlightDiagnostic diagnostic = op->emitError("expects ")
                                  << attribute.getName() << " to be ";
  if (hint.max == 1)
    diagnostic << "0 or 1";
  else
    diagnostic << "at least " << hint.min;
  return diagnostic << "; found " << value.getInt();
}

static LogicalResult emitNotOnArgument(Operation *op,
                                       NamedAttribute attribute) {
  return op->emitError("expects ")
         << attribute.getName() << " on an argument of a function";
}

/// Verify the alias group `attribute` of an argument of `type`.
static LogicalResult verifyAliasGroup(Operation *op, NamedAttribute attribute,
                                      Type type) {
  auto value = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!value || !value.getType().isSignlessInteger(32))
    return op->emitError("expects ")
           << attribute.getName() << " to be an i32; found "
           << attribute.getValue();
  if (!isa<PtrType, DescType>(getElementTypeOrSelf(type)))
    return op->emitError("expects ")
           << attribute.getName() << " on a pointer or descriptor; found "
           << type;
  return success();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (const LoopHint *hint = getLoopHint(attribute))
    return verifyLoopHint(op, attribute, *hint);
  if (isAliasGroup(attribute))
    return emitNotOnArgument(op, attribute);
  if (!isFact(attribute))
    return emitUnknown(op, attribute);
  if (op->getNumResults() == 0)
    return op->emitError("expects ")
           << attribute.getName() << " on an op that has a result";
  for (Type type : op->getResultTypes())
    if (failed(verifyFact([&] { return op->emitError(); }, attribute, type)))
      return failure();
  return success();
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned regionIndex,
                                                    unsigned argIndex,
                                                    NamedAttribute attribute) {
  if (getLoopHint(attribute))
    return op->emitError("expects ") << attribute.getName() << " on a loop";
  if (!isFact(attribute) && !isAliasGroup(attribute))
    return emitUnknown(op, attribute);
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || argIndex >= function.getNumArguments())
    return emitNotOnArgument(op, attribute);
  Type type = function.getArgumentTypes()[argIndex];
  if (isAliasGroup(attribute))
    return verifyAliasGroup(op, attribute, type);
  return verifyFact([&] { return op->emitError(); }, attribute, type);
}

LogicalResult
TileDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                         unsigned resultIndex,
                                         NamedAttribute attribute) {
  if (isAliasGroup(attribute))
    return emitNotOnArgument(op, attribute);
  if (!isFact(attribute) && !getLoopHint(attribute))
    return emitUnknown(op, attribute);
  return op->emitError("expects ")
         << attribute.getName()
         << " elsewhere than on a result of a function, where nothing reads it";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// True for the types that a tile of numbers is made of.
static bool isNumberType(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type, Float8E4M3FNType,
          Float8E5M2Type>(type))
    return true;
  return type.isSignlessInteger(1) || type.isSignlessInteger(8) ||
         type.isSignlessInteger(16) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type pointeeType, unsigned memorySpace) {
  if (!isNumberType(pointeeType) && !isa<PtrType>(pointeeType))
    return emitError()
           << "a tile pointer must point to an integer (1, 8, 16, 32 "
              "or 64 bits), a floating-point number (f8E4M3FN, "
              "f8E5M2, f16, bf16, f32 or f64) or a pointer; found "
           << pointeeType;
  if (memorySpace != 0 && memorySpace != 1 && memorySpace != 3)
    return emitError()
           << "a tile pointer must be in memory space 0 (generic), 1 "
              "(global) or 3 (shared); found "
           << memorySpace;
  return success();
}

LogicalResult DescType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType) {
  if (!isNumberType(elementType) || elementType.isInteger(1))
    return emitError()
           << "the elements of a tile descriptor must be integers (8, "
              "16, 32 or 64 bits) or floating-point numbers "
              "(f8E4M3FN, f8E5M2, f16, bf16, f32 or f64); found "
           << elementType;
  // The number of dimensions that the hardware's tensor maps have.
  if (shape.size() > 5)
    return emitError()
           << "a tile descriptor must have at most 5 dimensions; found "
           << shape.size();
  return verifyTileShape(emitError, shape, "the box of a tile descriptor");
}

Type DescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return parser.getChecked<DescType>(loc, parser.getContext(), shape,
                                     elementType);
}

void DescType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << '>';
}

Type tile::getSameShape(Type type, Type elementType) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return tile.clone(elementType);
  return elementType;
}

Type tile::getPointeeLike(Type ptrLike) {
  auto ptr = dyn_cast<PtrType>(getElementTypeOrSelf(ptrLike));
  return ptr ? getSameShape(ptrLike, ptr.getPointeeType()) : Type();
}

Type tile::getI1SameShape(Type type) {
  return getSameShape(type, IntegerType::get(type.getContext(), 1));
}
