//===- TileGPUDialect.cpp - The tile_gpu dialect ----------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::tile_gpu;

#include "TileDialect/Dialect/TileGPU/IR/TileGPUDialect.cpp.inc"

namespace {
/// Every op may be inlined anywhere: none depends on the function it is in.
struct TileGPUInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void TileGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerInterfaces();
  addInterfaces<TileGPUInlinerInterface>();
  addOperations<
#define GET_OP_LIST
#include "TileDialect/Dialect/TileGPU/IR/TileGPUOps.cpp.inc"
      >();
}

Operation *TileGPUDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult TileGPUDialect::verifyOperationAttribute(Operation *op,
                                                       NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == kScratchAttrName) {
    if (!isa<ScratchAttr>(attr.getValue()))
      return op->emitError()
             << "expected '" << name
             << "' to be a #tile_gpu.scratch, but found " << attr.getValue();
    return success();
  }
  if (name == kSharedBytesAttrName) {
    // By name, because this dialect does not depend on the llvm dialect.
    if (!isa<gpu::GPUFuncOp>(op) &&
        op->getName().getStringRef() != "llvm.mlir.global")
      return op->emitError() << "expected '" << name
                             << "' on a gpu.func or an llvm.mlir.global, but "
                                "found it on "
                             << op->getName();
    auto bytes = dyn_cast<IntegerAttr>(attr.getValue());
    if (!bytes || !bytes.getType().isSignlessInteger(64) ||
        bytes.getValue().isNegative())
      return op->emitError()
             << "expected '" << name << "' to be a non-negative i64, but found "
             << attr.getValue();
    return success();
  }
  return op->emitError() << "the tile_gpu dialect has no attribute '" << name
                         << "'";
}

/// No attribute of the dialect belongs to an argument or a result.
static LogicalResult emitMisplaced(Operation *op, NamedAttribute attr,
                                   StringRef place) {
  StringRef name = attr.getName();
  if (name == kScratchAttrName || name == kSharedBytesAttrName)
    return op->emitError() << "expected '" << name
                           << "' on an op, but found it on " << place;
  return op->emitError() << "the tile_gpu dialect has no attribute '" << name
                         << "'";
}

LogicalResult TileGPUDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                       unsigned,
                                                       NamedAttribute attr) {
  return emitMisplaced(op, attr, "an argument");
}

LogicalResult TileGPUDialect::verifyRegionResultAttribute(Operation *op,
                                                          unsigned, unsigned,
                                                          NamedAttribute attr) {
  return emitMisplaced(op, attr, "a result");
}

LayoutAttr tile_gpu::getLayoutAttr(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<LayoutAttr>(tile.getEncoding()) : LayoutAttr();
}

RankedTensorType tile_gpu::withLayout(RankedTensorType type,
                                      LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

int64_t tile_gpu::getNumThreads(gpu::GPUFuncOp func) {
  std::optional<ArrayRef<int32_t>> extents = func.getKnownBlockSize();
  if (!extents)
    return 0;
  int64_t threads = 1;
  for (int32_t extent : *extents)
    threads *= extent;
  return threads;
}
