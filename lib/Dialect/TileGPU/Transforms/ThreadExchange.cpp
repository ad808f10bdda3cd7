//===- ThreadExchange.cpp - Scalars in memory and between lanes -----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tile_gpu;

//===----------------------------------------------------------------------===//
// Scalars in memory
//===----------------------------------------------------------------------===//

Value tile_gpu::createPtrAdd(OpBuilder &builder, Location loc, Value ptr,
                             int64_t bytes) {
  if (bytes == 0)
    return ptr;
  return LLVM::GEPOp::create(
      builder, loc, ptr.getType(), builder.getI8Type(), ptr,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)},
      LLVM::GEPNoWrapFlags::inbounds);
}

Value tile_gpu::createPtrAdd(OpBuilder &builder, Location loc, Value ptr,
                             Value bytes) {
  return LLVM::GEPOp::create(builder, loc, ptr.getType(), builder.getI8Type(),
                             ptr, ArrayRef<LLVM::GEPArg>{bytes},
                             LLVM::GEPNoWrapFlags::inbounds);
}

static SmallVector<Value> toStorage(OpBuilder &builder, Location loc,
                                    ValueRange scalars) {
  SmallVector<Value> stored;
  for (Value scalar : scalars)
    stored.push_back(tile_gpu::toStorage(builder, loc, scalar));
  return stored;
}

void tile_gpu::storeVector(OpBuilder &builder, Location loc, ValueRange scalars,
                           Value ptr) {
  SmallVector<Value> stored = ::toStorage(builder, loc, scalars);
  int64_t bytes = getElementBytes(stored.front().getType()) *
                  static_cast<int64_t>(stored.size());
  LLVM::StoreOp::create(builder, loc, packVector(builder, loc, stored), ptr,
                        bytes);
}

SmallVector<Value> tile_gpu::loadVector(OpBuilder &builder, Location loc,
                                        Type scalarType, int64_t count,
                                        Value ptr) {
  Type stored = getStorageType(scalarType);
  Type type = count == 1 ? stored : VectorType::get(count, stored);
  Value loaded = LLVM::LoadOp::create(builder, loc, type, ptr,
                                      getElementBytes(stored) * count);
  SmallVector<Value> result = unpackVector(builder, loc, loaded, count);
  for (Value &value : result)
    value = fromStorage(builder, loc, value, scalarType);
  return result;
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

static Value shuffle32(OpBuilder &builder, Location loc, Value value,
                       gpu::ShuffleMode mode, Value operand, Value width) {
  return gpu::ShuffleOp::create(
             builder, loc, value, operand, width,
             gpu::ShuffleModeAttr::get(builder.getContext(), mode))
      .getShuffleResult();
}

/// Shuffles a 64-bit scalar as its halves.
static Value shuffle64(OpBuilder &builder, Location loc, Value value,
                       gpu::ShuffleMode mode, Value operand, Value width) {
  auto pair = VectorType::get(2, builder.getI32Type());
  SmallVector<Value> halves = unpackVector(
      builder, loc, LLVM::BitcastOp::create(builder, loc, pair, value), 2);
  for (Value &half : halves)
    half = shuffle32(builder, loc, half, mode, operand, width);
  return LLVM::BitcastOp::create(builder, loc, value.getType(),
                                 packVector(builder, loc, halves));
}

/// Shuffles stored scalars of one type of fewer than 32 bits, as many as fill a
/// 32-bit register at a time.
static SmallVector<Value> shuffleNarrow(OpBuilder &builder, Location loc,
                                        ValueRange stored,
                                        gpu::ShuffleMode mode, Value operand,
                                        Value width) {
  Type type = stored.front().getType(), i32 = builder.getI32Type();
  size_t perWord = 32 / type.getIntOrFloatBitWidth();
  SmallVector<Value> result;
  for (size_t first = 0; first < stored.size(); first += perWord) {
    size_t count = std::min(perWord, stored.size() - first);
    SmallVector<Value> group(stored.slice(first, count));
    group.resize(perWord, group.back());
    Value word = LLVM::BitcastOp::create(builder, loc, i32,
                                         packVector(builder, loc, group));
    word = shuffle32(builder, loc, word, mode, operand, width);
    Value vector = LLVM::BitcastOp::create(
        builder, loc, VectorType::get(perWord, type), word);
    SmallVector<Value> moved = unpackVector(builder, loc, vector, perWord);
    result.append(moved.begin(), moved.begin() + count);
  }
  return result;
}

SmallVector<Value> tile_gpu::shuffle(OpBuilder &builder, Location loc,
                                     ValueRange scalars, gpu::ShuffleMode mode,
                                     Value operand, int64_t numLanes) {
  SmallVector<Value> stored = ::toStorage(builder, loc, scalars);
  Value width = createI32(builder, loc, numLanes);
  SmallVector<Value> result;
  for (size_t first = 0; first < stored.size();) {
    Type type = stored[first].getType();
    size_t last = first + 1;
    while (last < stored.size() && stored[last].getType() == type)
      ++last;
    ValueRange run = ValueRange(stored).slice(first, last - first);
    first = last;
    unsigned bits = type.getIntOrFloatBitWidth();
    if (bits < 32) {
      llvm::append_range(
          result, shuffleNarrow(builder, loc, run, mode, operand, width));
      continue;
    }
    for (Value value : run) {
      result.push_back(
          bits == 32 ? shuffle32(builder, loc, value, mode, operand, width)
                     : shuffle64(builder, loc, value, mode, operand, width));
    }
  }
  for (auto [value, scalar] : llvm::zip_equal(result, scalars))
    value = fromStorage(builder, loc, value, scalar.getType());
  return result;
}

//===----------------------------------------------------------------------===//
// Bits of lanes and warps
//===----------------------------------------------------------------------===//

/// The bits of `index` in `mask`, moved left by `shift` (right if negative).
static Value moveBits(OpBuilder &builder, Location loc, Value index,
                      uint32_t mask, int shift) {
  Value bits = arith::AndIOp::create(builder, loc, index,
                                     createI32(builder, loc, int32_t(mask)));
  if (shift > 0)
    return arith::ShLIOp::create(builder, loc, bits,
                                 createI32(builder, loc, shift));
  if (shift < 0)
    return arith::ShRUIOp::create(builder, loc, bits,
                                  createI32(builder, loc, -shift));
  return bits;
}

/// The XOR of moved bits: `masks[shift]` says which bits move by `shift`.
static Value moveAllBits(OpBuilder &builder, Location loc, Value index,
                         const std::map<int, uint32_t> &masks) {
  Value result;
  for (auto [shift, mask] : masks) {
    Value part = moveBits(builder, loc, index, mask, shift);
    result = result ? Value(arith::XOrIOp::create(builder, loc, result, part))
                    : part;
  }
  return result ? result : createI32(builder, loc, 0);
}

Value tile_gpu::emitLinearMap(OpBuilder &builder, Location loc, Value index,
                              ArrayRef<int32_t> bases, int32_t constant) {
  std::map<int, uint32_t> masks;
  for (auto [bit, basis] : llvm::enumerate(bases))
    for (uint32_t rest = basis; rest != 0; rest &= rest - 1)
      masks[llvm::countr_zero(rest) - static_cast<int>(bit)] |= 1u << bit;
  Value result = moveAllBits(builder, loc, index, masks);
  if (constant == 0)
    return result;
  return arith::XOrIOp::create(builder, loc, result,
                               createI32(builder, loc, constant));
}

Value tile_gpu::emitCompress(OpBuilder &builder, Location loc, Value index,
                             uint32_t mask) {
  std::map<int, uint32_t> masks;
  int target = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1, ++target) {
    int bit = llvm::countr_zero(rest);
    masks[target - bit] |= 1u << bit;
  }
  return moveAllBits(builder, loc, index, masks);
}

Value tile_gpu::emitExpand(OpBuilder &builder, Location loc, Value index,
                           uint32_t mask) {
  std::map<int, uint32_t> masks;
  int source = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1, ++source)
    masks[llvm::countr_zero(rest) - source] |= 1u << source;
  return moveAllBits(builder, loc, index, masks);
}

Value tile_gpu::emitBitsEqual(OpBuilder &builder, Location loc, Value index,
                              uint32_t mask, uint32_t value) {
  if (mask == 0)
    return {};
  Value bits = moveBits(builder, loc, index, mask, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               createI32(builder, loc, int32_t(value)));
}

void tile_gpu::emitIf(OpBuilder &builder, Location loc, Value condition,
                      llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  OpBuilder::InsertionGuard guard(builder);
  auto ifOp = scf::IfOp::create(builder, loc, condition,
                                /*withElseRegion=*/false);
  builder.setInsertionPointToStart(ifOp.thenBlock());
  body();
}
