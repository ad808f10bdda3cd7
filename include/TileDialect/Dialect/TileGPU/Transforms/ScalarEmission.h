//===- ScalarEmission.h - Scalars of a thread in code -----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What patterns of `tile-gpu-distribute`, of any dialect, need to write code on
// scalars: constants, the form that a scalar has in memory, vectors of
// scalars, and predicates.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_SCALAREMISSION_H
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_SCALAREMISSION_H

#include "mlir/IR/Builders.h"

namespace mlir::tile_gpu {

/// The integer constant `value` of `bits` bits.
Value createInt(OpBuilder &builder, Location loc, unsigned bits, int64_t value);
Value createI32(OpBuilder &builder, Location loc, int64_t value);

/// The type in which memory, shuffles and registers of other widths see a
/// scalar: i1 and fp8 as i8, pointers as i64, others as they are. `type` may be
/// a scalar before or after distribution.
Type getStorageType(Type type);
/// A distributed scalar as its storage type, and back to `scalarType`. A byte
/// that is not zero is a true i1, whoever wrote it.
Value toStorage(OpBuilder &builder, Location loc, Value scalar);
Value fromStorage(OpBuilder &builder, Location loc, Value stored,
                  Type scalarType);

/// A vector of scalars of one type, which an `llvm.load` or `llvm.store`
/// takes, and the scalars of a vector of `count`. A lone scalar stays one.
Value packVector(OpBuilder &builder, Location loc, ValueRange scalars);
SmallVector<Value> unpackVector(OpBuilder &builder, Location loc, Value vector,
                                int64_t count);

/// The conjunction of two conditions, null standing for true.
Value emitAnd(OpBuilder &builder, Location loc, Value a, Value b);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_SCALAREMISSION_H
