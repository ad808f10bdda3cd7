//===- TileNVDialect.cpp - The tile_nv dialect ----------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileNV/IR/TileNV.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tile_nv;

#include "TileDialect/Dialect/TileNV/IR/TileNVDialect.cpp.inc"

#define GET_OP_CLASSES
#include "TileDialect/Dialect/TileNV/IR/TileNVOps.cpp.inc"

void TileNVDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TileDialect/Dialect/TileNV/IR/TileNVOps.cpp.inc"
      >();
}

LogicalResult PrefetchOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getPtr().getType());
  if (!type)
    return emitOpError("expects a tile of pointers, not ")
           << getPtr().getType();
  auto ptr = cast<tile::PtrType>(type.getElementType());
  if (ptr.getMemorySpace() > 1)
    return emitOpError("expects pointers to global memory, not ") << ptr;
  return success();
}

static LogicalResult emitUnknown(Operation *op, NamedAttribute attribute) {
  return op->emitError("the tile_nv dialect has no attribute ")
         << attribute.getName();
}

LogicalResult
TileNVDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  if (attribute.getName() != kProgrammaticLaunchAttrName)
    return emitUnknown(op, attribute);
  if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << attribute.getName()
                           << " is a unit attribute of functions";
  return success();
}

LogicalResult
TileNVDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                        NamedAttribute attribute) {
  return emitUnknown(op, attribute);
}

LogicalResult
TileNVDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                           NamedAttribute attribute) {
  return emitUnknown(op, attribute);
}
