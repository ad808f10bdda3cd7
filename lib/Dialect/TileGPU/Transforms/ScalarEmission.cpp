//===- ScalarEmission.cpp - Scalars of a thread in code -------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/ScalarEmission.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

Value tile_gpu::createInt(OpBuilder &builder, Location loc, unsigned bits,
                          int64_t value) {
  return arith::ConstantIntOp::create(builder, loc,
                                      builder.getIntegerType(bits), value);
}

Value tile_gpu::createI32(OpBuilder &builder, Location loc, int64_t value) {
  return createInt(builder, loc, 32, value);
}

Type tile_gpu::getStorageType(Type type) {
  if (isa<tile::PtrType, LLVM::LLVMPointerType>(type))
    return IntegerType::get(type.getContext(), 64);
  if (type.getIntOrFloatBitWidth() <= 8)
    return IntegerType::get(type.getContext(), 8);
  return type;
}

Value tile_gpu::toStorage(OpBuilder &builder, Location loc, Value scalar) {
  Type type = scalar.getType(), stored = getStorageType(type);
  if (type == stored)
    return scalar;
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(builder, loc, stored, scalar);
  if (type.isInteger())
    return arith::ExtUIOp::create(builder, loc, stored, scalar);
  return arith::BitcastOp::create(builder, loc, stored, scalar);
}

Value tile_gpu::fromStorage(OpBuilder &builder, Location loc, Value stored,
                            Type scalarType) {
  if (stored.getType() == scalarType)
    return stored;
  if (isa<LLVM::LLVMPointerType>(scalarType))
    return LLVM::IntToPtrOp::create(builder, loc, scalarType, stored);
  if (scalarType.isInteger(1))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, stored,
                                 createInt(builder, loc, 8, 0));
  if (scalarType.isInteger())
    return arith::TruncIOp::create(builder, loc, scalarType, stored);
  return arith::BitcastOp::create(builder, loc, scalarType, stored);
}

Value tile_gpu::packVector(OpBuilder &builder, Location loc,
                           ValueRange scalars) {
  if (scalars.size() == 1)
    return scalars.front();
  auto type = VectorType::get(scalars.size(), scalars.front().getType());
  Value vector = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [index, value] : llvm::enumerate(scalars))
    vector = LLVM::InsertElementOp::create(builder, loc, type, vector, value,
                                           createI32(builder, loc, index));
  return vector;
}

SmallVector<Value> tile_gpu::unpackVector(OpBuilder &builder, Location loc,
                                          Value vector, int64_t count) {
  if (count == 1)
    return {vector};
  SmallVector<Value> result;
  for (int64_t index = 0; index < count; ++index)
    result.push_back(LLVM::ExtractElementOp::create(
        builder, loc, vector, createI32(builder, loc, index)));
  return result;
}

Value tile_gpu::emitAnd(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}
