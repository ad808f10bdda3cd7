//===- TileGPUOps.cpp - Verifiers of tile_gpu ops ---------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/EnumKeyword.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile::parseEnumKeyword;
using tile::printEnumKeyword;

/// The types of `alloc`: `[init-type ->] result-type`.
static ParseResult
parseAllocTypes(OpAsmParser &parser,
                std::optional<OpAsmParser::UnresolvedOperand> init,
                Type &initType, Type &resultType) {
  if (init && (parser.parseType(initType) || parser.parseArrow()))
    return failure();
  return parser.parseType(resultType);
}

static void printAllocTypes(OpAsmPrinter &printer, AllocOp, Value,
                            Type initType, Type resultType) {
  if (initType)
    printer << initType << " -> ";
  printer << resultType;
}

#define GET_OP_CLASSES
#include "TileDialect/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"

/// Verify that a tile and a memory that `op` copies between fit together.
static LogicalResult verifyTileAndMemory(Operation *op, RankedTensorType tile,
                                         Type elementType, MemDescType memory) {
  if (tile.getShape() != memory.getShape())
    return op->emitOpError("expected memory of the shape [")
           << tile.getShape() << "] of the tile, but found ["
           << memory.getShape() << "]";
  if (elementType != memory.getElementType())
    return op->emitOpError("expected memory of the element type ")
           << elementType << ", but found " << memory.getElementType();
  return success();
}

static LogicalResult verifyMutable(Operation *op, MemDescType memory) {
  if (!memory.getMutableMemory())
    return op->emitOpError("expected mutable memory to write to");
  return success();
}

/// Verify that the view `result` of `source` keeps what a view cannot change.
static LogicalResult verifyView(Operation *op, MemDescType source,
                                MemDescType result) {
  if (source.getElementType() != result.getElementType())
    return op->emitOpError("expected a view of element type ")
           << source.getElementType() << ", but found "
           << result.getElementType();
  if (source.getMutableMemory() != result.getMutableMemory())
    return op->emitOpError("expected source and view to be both mutable or "
                           "both not");
  return success();
}

static LogicalResult verifyNoRing(Operation *op, MemDescType source) {
  if (source.isRing())
    return op->emitOpError("expected a tile, but found a ring of ")
           << source.getShape().front() << " tiles";
  return success();
}

//===----------------------------------------------------------------------===//
// ConvertLayoutOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  LayoutAttr from = getLayoutAttr(getSource().getType());
  LayoutAttr to = getLayoutAttr(getResult().getType());
  auto describe = [](Diagnostic &diag, LayoutAttr layout) -> Diagnostic & {
    return diag << layout.getNumLanes() << " lanes, " << layout.getNumWarps()
                << " warps and " << layout.getNumBlocks() << " blocks";
  };
  if (from.getNumLanes() == to.getNumLanes() &&
      from.getNumWarps() == to.getNumWarps() &&
      from.getNumBlocks() == to.getNumBlocks())
    return success();
  InFlightDiagnostic diag = emitOpError("expected a result over ");
  describe(*diag.getUnderlyingDiagnostic(), from);
  diag << ", but found one over ";
  describe(*diag.getUnderlyingDiagnostic(), to);
  return diag;
}

//===----------------------------------------------------------------------===//
// AllocOp
//===----------------------------------------------------------------------===//

int64_t AllocOp::getRequiredAlignment() {
  int64_t alignment = getResult().getType().getEncoding().getAlignment();
  return std::max<int64_t>(alignment, getAlignment().value_or(0));
}

LogicalResult AllocOp::verify() {
  MemDescType memory = getResult().getType();
  if (memory.getShape() != memory.getAllocShape())
    return emitOpError("expected a whole allocation, but found a view of [")
           << memory.getAllocShape() << "]";
  if (getInit()) {
    auto tile = cast<RankedTensorType>(getInit().getType());
    if (failed(verifyTileAndMemory(*this, tile, tile.getElementType(), memory)))
      return failure();
  } else if (!memory.getMutableMemory()) {
    return emitOpError("expected an initial value for memory that is not "
                       "mutable");
  }
  if (IntegerAttr attr = getAlignmentAttr()) {
    int64_t alignment = attr.getInt();
    if (alignment <= 0 || !llvm::isPowerOf2_64(alignment))
      return emitOpError("expected the alignment to be a power of two, but "
                         "found ")
             << alignment;
  }
  if (IntegerAttr offset = getOffsetAttr()) {
    int64_t alignment = getRequiredAlignment();
    if (offset.getInt() < 0 || offset.getInt() % alignment != 0)
      return emitOpError(
                 "expected a non-negative offset that is a multiple of ")
             << alignment << ", but found " << offset.getInt();
  }
  return success();
}

void AllocOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  OpResult memory = cast<OpResult>(getResult());
  effects.emplace_back(MemoryEffects::Allocate::get(), memory,
                       SharedMemoryResource::get());
  if (getInit())
    effects.emplace_back(MemoryEffects::Write::get(), memory,
                         SharedMemoryResource::get());
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LogicalResult LocalLoadOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  return verifyTileAndMemory(*this, tile, tile.getElementType(),
                             getSource().getType());
}

LogicalResult LocalStoreOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (failed(verifyMutable(*this, getDestination().getType())))
    return failure();
  return verifyTileAndMemory(*this, tile, tile.getElementType(),
                             getDestination().getType());
}

LogicalResult AsyncCopyOp::verify() {
  auto tile = cast<RankedTensorType>(getSource().getType());
  auto pointer = cast<tile::PtrType>(tile.getElementType());
  // Generic pointers of a kernel point to global memory (0 and 1 in the
  // numbering of tile.ptr).
  if (pointer.getMemorySpace() > 1)
    return emitOpError("expected pointers to global memory, but found memory "
                       "space ")
           << pointer.getMemorySpace();
  if (getOther() && !getMask())
    return emitOpError("expected a mask where there is an other");
  if (failed(verifyMutable(*this, getDestination().getType())))
    return failure();
  return verifyTileAndMemory(*this, tile, pointer.getPointeeType(),
                             getDestination().getType());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult MemDescIndexOp::verify() {
  MemDescType source = getSource().getType(), result = getResult().getType();
  if (!source.isRing())
    return emitOpError("expected a ring: a leading dimension that the order of "
                       "the encoding does not name");
  if (failed(verifyView(*this, source, result)))
    return failure();
  auto expected = MemDescType::get(
      getContext(), source.getShape().drop_front(), source.getElementType(),
      source.getEncoding(), source.getMutableMemory(),
      source.getAllocShape().drop_front());
  if (result != expected)
    return emitOpError("expected the source without its leading dimension, ")
           << expected << ", but found " << result;
  return success();
}

/// Verify that a box at `offsets` has the swizzle pattern of a tile of its own.
static LogicalResult verifySwizzleAligned(MemDescSubsliceOp op,
                                          MemDescType source) {
  int64_t span = source.getEncoding().getSwizzle();
  if (span == 0)
    return success();
  ArrayRef<int32_t> order = source.getEncoding().getOrder(),
                    offsets = op.getOffsets();
  int64_t bytes = offsets[order.back()] * source.getElementBytes();
  if (bytes % span != 0)
    return op.emitOpError("expected an offset in the contiguous dimension of a "
                          "multiple of the ")
           << span << "-byte swizzle, but found " << bytes << " bytes";
  int64_t row = 0;
  for (int32_t dim : order.drop_back())
    row = row * source.getAllocShape()[dim] + offsets[dim];
  if (row % 8 != 0)
    return op.emitOpError("expected the box to start on a multiple of 8 rows "
                          "of the swizzle, but found row ")
           << row;
  return success();
}

LogicalResult MemDescSubsliceOp::verify() {
  MemDescType source = getSource().getType(), result = getResult().getType();
  if (failed(verifyNoRing(*this, source)) ||
      failed(verifyView(*this, source, result)))
    return failure();
  if (source.getEncoding() != result.getEncoding())
    return emitOpError("expected a view with the encoding of the source, but "
                       "found ")
           << result.getEncoding();
  if (source.getAllocShape() != result.getAllocShape())
    return emitOpError("expected a view of the source's allocation of [")
           << source.getAllocShape() << "], but found ["
           << result.getAllocShape() << "]";
  ArrayRef<int64_t> shape = source.getShape(), box = result.getShape();
  if (getOffsets().size() != shape.size())
    return emitOpError("expected ")
           << shape.size() << " offsets, but found " << getOffsets().size();
  for (auto [offset, extent, limit] : llvm::zip_equal(getOffsets(), box, shape))
    if (offset < 0 || offset + extent > limit)
      return emitOpError("expected the box [")
             << box << "] at [" << getOffsets() << "] to lie within [" << shape
             << "]";
  return verifySwizzleAligned(*this, source);
}

static bool isPermutation(ArrayRef<int32_t> order, size_t rank) {
  SmallVector<int32_t> sorted(order);
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<int32_t>(0, rank));
}

/// The type of `source` with its dimensions permuted by `order`.
static MemDescType transposeMemory(MemDescType source,
                                   ArrayRef<int32_t> order) {
  SmallVector<int64_t> shape, allocShape;
  for (int32_t dim : order) {
    shape.push_back(source.getShape()[dim]);
    allocShape.push_back(source.getAllocShape()[dim]);
  }
  return MemDescType::get(source.getContext(), shape, source.getElementType(),
                          source.getEncoding().transpose(order),
                          source.getMutableMemory(), allocShape);
}

void MemDescTransOp::build(OpBuilder &builder, OperationState &state,
                           Value source, ArrayRef<int32_t> order) {
  build(builder, state,
        transposeMemory(cast<MemDescType>(source.getType()), order), source,
        order);
}

LogicalResult MemDescTransOp::verify() {
  MemDescType source = getSource().getType(), result = getResult().getType();
  if (failed(verifyNoRing(*this, source)))
    return failure();
  if (!isPermutation(getOrder(), source.getRank()))
    return emitOpError("expected order to be a permutation of 0 to ")
           << static_cast<int64_t>(source.getRank()) - 1 << ", but found ["
           << getOrder() << "]";
  if (MemDescType expected = transposeMemory(source, getOrder());
      result != expected)
    return emitOpError("expected the result ")
           << expected << ", but found " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// WarpSpecializeOp
//===----------------------------------------------------------------------===//

/// The range in which setmaxnreg-like instructions can set a thread's
/// registers.
static constexpr int32_t kMinRegisters = 24, kMaxRegisters = 240,
                         kRegisterStep = 8;

LogicalResult WarpSpecializeOp::verify() {
  size_t roles = getRoles().size();
  if (getWarps().size() != roles || getRegisters().size() != roles)
    return emitOpError(
               "expected a number of warps and of registers for each of ")
           << roles << " roles, but found " << getWarps().size() << " and "
           << getRegisters().size();
  for (int32_t warps : getWarps())
    if (warps <= 0)
      return emitOpError("expected a positive number of warps, but found ")
             << warps;
  for (int32_t registers : getRegisters())
    if (registers != 0 &&
        (registers < kMinRegisters || registers > kMaxRegisters ||
         registers % kRegisterStep != 0))
      return emitOpError("expected 0 or a multiple of ")
             << kRegisterStep << " registers from " << kMinRegisters << " to "
             << kMaxRegisters << ", but found " << registers;
  return success();
}

LogicalResult WarpSpecializeOp::verifyRegions() {
  for (auto [index, role] : llvm::enumerate(getRoles())) {
    if (!llvm::equal(role.getArgumentTypes(), getCaptures().getTypes()))
      return emitOpError("expected role ")
             << index << " to have the arguments (" << getCaptures().getTypes()
             << "), but found (" << role.getArgumentTypes() << ")";
    for (Block &block : role)
      if (block.getNumSuccessors() == 0 && !isa<WarpYieldOp>(block.back()))
        return emitOpError("expected role ")
               << index << " to end in tile_gpu.warp_yield, but found "
               << block.back().getName();
  }
  return success();
}
