//===- TileGPUTypes.cpp - Types of tile_gpu ---------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;

#define GET_TYPEDEF_CLASSES
#include "TileDialect/Dialect/TileGPU/IR/TileGPUTypes.cpp.inc"

void TileGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "TileDialect/Dialect/TileGPU/IR/TileGPUTypes.cpp.inc"
      >();
}

/// The swizzle moves chunks of this many bytes...
static constexpr int64_t kChunkBytes = 16;
/// ...by the number of the line of this many bytes that they are in: one word
/// of each of the 32 banks.
static constexpr int64_t kLineBytes = 128;

//===----------------------------------------------------------------------===//
// MemDescType
//===----------------------------------------------------------------------===//

/// Parses `<128x64xf16, #shared[, mutable][, 128x128]>`.
Type MemDescType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, allocShape;
  Type elementType;
  SharedAttr encoding;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseAttribute(encoding))
    return {};
  bool isMutable = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (!isMutable && allocShape.empty() &&
        succeeded(parser.parseOptionalKeyword("mutable"))) {
      isMutable = true;
      continue;
    }
    if (parser.parseDimensionList(allocShape, /*allowDynamic=*/false,
                                  /*withTrailingX=*/false))
      return {};
    break;
  }
  if (parser.parseGreater())
    return {};
  if (allocShape.empty())
    allocShape = shape;
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, elementType, encoding, isMutable, allocShape);
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType() << ", ";
  printer.printAttribute(getEncoding());
  if (getMutableMemory())
    printer << ", mutable";
  if (getAllocShape() != getShape()) {
    printer << ", ";
    llvm::interleave(getAllocShape(), printer, "x");
  }
  printer << '>';
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type elementType,
                                  SharedAttr encoding, bool,
                                  ArrayRef<int64_t> allocShape) {
  auto isPositive = [](int64_t extent) { return extent > 0; };
  if (!llvm::all_of(shape, isPositive))
    return emitError() << "expected positive static extents, but found ["
                       << shape << "]";
  if (!elementType.isIntOrFloat())
    return emitError() << "expected an integer or floating-point element type, "
                          "but found "
                       << elementType;
  size_t tileRank = encoding.getOrder().size();
  if (shape.size() != tileRank && shape.size() != tileRank + 1)
    return emitError()
           << "expected " << tileRank << " dimensions, as the order "
           << "of the encoding has, or one more (a ring), but found "
           << shape.size();
  if (allocShape.size() != shape.size() ||
      !llvm::all_of_zip(shape, allocShape,
                        [](int64_t a, int64_t b) { return a <= b; }))
    return emitError() << "expected the shape of the allocation to contain ["
                       << shape << "], but found [" << allocShape << "]";
  // Offsets in shared memory are 32-bit, and no chip has nearly as much.
  int64_t bytes = llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  for (int64_t extent : allocShape)
    if (llvm::MulOverflow(bytes, extent, bytes) || !llvm::isInt<32>(bytes))
      return emitError() << "expected an allocation of less than 2 GiB, but "
                            "found the shape ["
                         << allocShape << "]";
  if (unsigned swizzle = encoding.getSwizzle()) {
    int64_t contiguous = encoding.getOrder().back() + (shape.size() - tileRank);
    int64_t elementBytes =
        llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
    for (int64_t extent : {shape[contiguous], allocShape[contiguous]})
      if (extent * elementBytes % swizzle != 0)
        return emitError()
               << "expected the contiguous dimension to be a multiple of the "
               << swizzle << "-byte swizzle, but found "
               << extent * elementBytes << " bytes";
    // Else the tiles of a ring would have different patterns.
    int64_t tileBytes = bytes / allocShape.front();
    if (shape.size() > tileRank && tileBytes % encoding.getAlignment() != 0)
      return emitError() << "expected the tiles of a ring to be multiples of "
                         << encoding.getAlignment() << " bytes, but found "
                         << tileBytes << " bytes";
  }
  return success();
}

ArrayRef<int64_t> MemDescType::getTileShape() const {
  return getShape().take_back(getEncoding().getOrder().size());
}

ArrayRef<int64_t> MemDescType::getAllocTileShape() const {
  return getAllocShape().take_back(getEncoding().getOrder().size());
}

int64_t MemDescType::getElementBytes() const {
  return llvm::divideCeil(getElementType().getIntOrFloatBitWidth(), 8);
}

int64_t MemDescType::getAllocTileBytes() const {
  return ShapedType::getNumElements(getAllocTileShape()) * getElementBytes();
}

int64_t MemDescType::getAllocBytes() const {
  return ShapedType::getNumElements(getAllocShape()) * getElementBytes();
}

int64_t MemDescType::getByteOffset(ArrayRef<int64_t> coords) const {
  ArrayRef<int32_t> order = getEncoding().getOrder();
  ArrayRef<int64_t> extents = getAllocTileShape();
  int64_t row = 0, rows = 1;
  for (int32_t dim : order.drop_back()) {
    row = row * extents[dim] + coords[dim];
    rows *= extents[dim];
  }
  int64_t byte = coords[order.back()] * getElementBytes();
  int64_t span = getEncoding().getSwizzle();
  if (span == 0)
    return row * extents[order.back()] * getElementBytes() + byte;
  int64_t linear = (byte / span * rows + row) * span + byte % span;
  return linear ^ (linear / kLineBytes % (span / kChunkBytes) * kChunkBytes);
}
