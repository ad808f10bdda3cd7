//===- LayoutConversion.cpp - Registers from layout to layout -------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutConversion.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

int64_t tile_gpu::getConversionBytes(const Layout &src, const Layout &dst,
                                     ArrayRef<int64_t> shape,
                                     Type elementType) {
  if (classify(src, dst, shape) != ConversionKind::ThroughShared)
    return 0;
  int64_t bytes = getElementBytes(elementType);
  return swizzledBufferElements(chooseSwizzle(src, dst, shape, 8 * bytes),
                                shape) *
         bytes;
}

//===----------------------------------------------------------------------===//
// Within a warp
//===----------------------------------------------------------------------===//

/// The lanes that take the value of `round`; null for all of them.
static Value emitRoundPredicate(OpBuilder &builder, Location loc, Value lane,
                                const ShuffleRound &round) {
  // Masks of one bit are compared together, others need the parity of their
  // bits.
  uint32_t singleMask = 0, singleValue = 0;
  Value result;
  for (auto [index, mask] : llvm::enumerate(round.predicateMasks)) {
    bool value = (round.predicateValue >> index) & 1;
    if (llvm::popcount(mask) == 1) {
      singleMask |= mask;
      singleValue |= value ? mask : 0;
      continue;
    }
    SmallVector<int32_t> bases;
    for (unsigned bit = 0; bit < 32; ++bit)
      bases.push_back((mask >> bit) & 1);
    Value parity = emitLinearMap(builder, loc, lane, bases);
    result = emitAnd(builder, loc, result,
                     emitBitsEqual(builder, loc, parity, 1, value));
  }
  return emitAnd(builder, loc, result,
                 emitBitsEqual(builder, loc, lane, singleMask, singleValue));
}

/// Shuffles all rounds that read the same lanes together, so that narrow
/// scalars share shuffles.
static Registers convertWithinWarp(OpBuilder &builder, Location loc,
                                   DistributionContext &context,
                                   ValueRange registers, const Layout &src,
                                   const Layout &dst, ArrayRef<int64_t> shape) {
  SmallVector<ShuffleRound> rounds = shuffleRounds(src, dst, shape);
  Value lane = context.getLaneId();
  using LaneMap = std::pair<SmallVector<int32_t, 5>, int32_t>;
  std::map<LaneMap, SmallVector<size_t>> groups;
  SmallVector<LaneMap> groupOrder;
  for (auto [index, round] : llvm::enumerate(rounds)) {
    LaneMap key{round.laneBases, round.laneConst};
    auto [it, isNew] = groups.try_emplace(key);
    if (isNew)
      groupOrder.push_back(key);
    it->second.push_back(index);
  }

  SmallVector<Value> moved(rounds.size());
  for (const LaneMap &key : groupOrder) {
    ArrayRef<size_t> members = groups[key];
    // Several rounds may read the same register.
    llvm::MapVector<int64_t, Value> values;
    for (size_t index : members)
      values[rounds[index].srcRegister] = registers[rounds[index].srcRegister];
    if (!rounds[members.front()].staysInLane()) {
      SmallVector<Value> scalars;
      for (auto &[reg, value] : values)
        scalars.push_back(value);
      Value source = emitLinearMap(builder, loc, lane, key.first, key.second);
      scalars = shuffle(builder, loc, scalars, gpu::ShuffleMode::IDX, source,
                        context.getNumLanes());
      for (auto [entry, value] : llvm::zip_equal(values, scalars))
        entry.second = value;
    }
    for (size_t index : members)
      moved[index] = values[rounds[index].srcRegister];
  }

  using PredicateKey = std::pair<SmallVector<uint32_t, 5>, uint32_t>;
  std::map<PredicateKey, Value> predicates;
  Registers result(dst.getNumRegisters(shape));
  for (auto [round, value] : llvm::zip_equal(rounds, moved)) {
    Value &target = result[round.dstRegister];
    if (!target) {
      // The lanes that do not take the first round take a later one.
      target = value;
      continue;
    }
    Value &taken = predicates[{round.predicateMasks, round.predicateValue}];
    if (!taken)
      taken = emitRoundPredicate(builder, loc, lane, round);
    target =
        taken
            ? Value(arith::SelectOp::create(builder, loc, taken, value, target))
            : value;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Through shared memory
//===----------------------------------------------------------------------===//

static FailureOr<Registers>
convertThroughShared(OpBuilder &builder, Operation *op,
                     DistributionContext &context, ValueRange registers,
                     const Layout &src, const Layout &dst,
                     ArrayRef<int64_t> shape) {
  FailureOr<Value> scratch = context.getScratchPtr(builder, op);
  if (failed(scratch))
    return failure();
  Location loc = op->getLoc();
  Type scalarType = registers.front().getType();
  int64_t bytes = getElementBytes(scalarType);
  SharedSwizzle swizzle = chooseSwizzle(src, dst, shape, 8 * bytes);
  BufferMap map = BufferMap::getSwizzled(shape, swizzle, bytes);

  LayoutAttr from = LayoutAttr::get(op->getContext(), src);
  Value condition = context.getIsUniqueHolder(builder, from);
  TileAccess writes(builder, loc, context, from, shape, map, *scratch);
  emitIf(builder, loc, condition, [&] {
    storeRegisters(builder, loc, writes, registers, swizzle.writeElements);
  });
  gpu::BarrierOp::create(builder, loc);
  TileAccess reads(builder, loc, context,
                   LayoutAttr::get(op->getContext(), dst), shape, map,
                   *scratch);
  return loadRegisters(builder, loc, reads, scalarType, swizzle.readElements);
}

FailureOr<Registers>
tile_gpu::convertRegisters(OpBuilder &builder, Operation *op,
                           DistributionContext &context, ValueRange registers,
                           const Layout &src, const Layout &dst,
                           ArrayRef<int64_t> shape) {
  switch (classify(src, dst, shape)) {
  case ConversionKind::Identity:
    return Registers(registers);
  case ConversionKind::WithinThread: {
    Registers result;
    for (int64_t reg : registerMap(src, dst, shape))
      result.push_back(registers[reg]);
    return result;
  }
  case ConversionKind::WithinWarp:
    return convertWithinWarp(builder, op->getLoc(), context, registers, src,
                             dst, shape);
  case ConversionKind::ThroughShared:
    return convertThroughShared(builder, op, context, registers, src, dst,
                                shape);
  case ConversionKind::ThroughCluster:
    return op->emitOpError(
        "moves elements between the blocks of a cluster, which this target's "
        "patterns do not do");
  }
  return failure();
}
