//===- ThreadExchange.h - Scalars in memory and between lanes ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the patterns that move elements between threads share: accesses to
// shared memory and shuffles of any scalar type, and predicates on the bits of
// the lane and warp.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_THREADEXCHANGE_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_THREADEXCHANGE_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/ScalarEmission.h"

namespace mlir::tile_gpu {

/// `!llvm.ptr<3>` plus bytes.
Value createPtrAdd(OpBuilder &builder, Location loc, Value ptr, int64_t bytes);
Value createPtrAdd(OpBuilder &builder, Location loc, Value ptr, Value bytes);

/// Stores consecutive scalars by one access, and loads them. The address is
/// aligned to the whole access.
void storeVector(OpBuilder &builder, Location loc, ValueRange scalars,
                 Value ptr);
SmallVector<Value> loadVector(OpBuilder &builder, Location loc, Type scalarType,
                              int64_t count, Value ptr);

/// Moves scalars of any types between the lanes of a warp. `operand` is the i32
/// operand of gpu.shuffle in `mode`. Scalars of fewer than 32 bits share
/// shuffles.
SmallVector<Value> shuffle(OpBuilder &builder, Location loc, ValueRange scalars,
                           gpu::ShuffleMode mode, Value operand,
                           int64_t numLanes);

/// The XOR of `constant` and of bases[i] for all set bits i of `index` (i32).
Value emitLinearMap(OpBuilder &builder, Location loc, Value index,
                    ArrayRef<int32_t> bases, int32_t constant = 0);
/// The bits of `index` that are set in `mask`, moved together; and the inverse.
Value emitCompress(OpBuilder &builder, Location loc, Value index,
                   uint32_t mask);
Value emitExpand(OpBuilder &builder, Location loc, Value index, uint32_t mask);

/// (index & mask) == value; null if the mask is empty.
Value emitBitsEqual(OpBuilder &builder, Location loc, Value index,
                    uint32_t mask, uint32_t value = 0);

/// Runs `body` only in threads in which `condition` holds (null: in all).
void emitIf(OpBuilder &builder, Location loc, Value condition,
            llvm::function_ref<void()> body);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_THREADEXCHANGE_H
