//===- SharedMemoryLiveness.cpp - When shared memory is in use --*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryLiveness.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::tile_gpu;

/// Scratch memory is accessed in vectors of up to 16 bytes.
static constexpr int64_t kScratchAlignment = 16;

SharedMemoryLiveness::SharedMemoryLiveness(
    Operation *function,
    llvm::function_ref<int64_t(Operation *)> getScratchBytes)
    : function(function) {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    Buffer buffer;
    buffer.owner = op;
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      buffer.bytes = alloc.getResult().getType().getAllocBytes();
      buffer.alignment = alloc.getRequiredAlignment();
    } else {
      buffer.bytes = getScratchBytes(op);
      buffer.alignment = kScratchAlignment;
    }
    if (buffer.bytes > 0)
      buffers.push_back(buffer);
  });
  if (buffers.empty())
    return;

  for (Region &region : function->getRegions())
    numberOps(region);
  SharedMemoryAliasing aliasing(function);
  llvm::DenseMap<Operation *, SmallVector<Range, 1>> carried;
  for (const SharedMemoryAliasing::CarriedBuffer &item :
       aliasing.getCarriedBuffers()) {
    Range range = getRange(item);
    if (range.contains(getRange(item.alloc)))
      carried[item.alloc].push_back(range);
  }

  for (Buffer &buffer : buffers) {
    Range range = getRange(buffer.owner);
    if (auto alloc = dyn_cast<AllocOp>(buffer.owner)) {
      range.extendTo(getUses(alloc, aliasing));
      if (auto it = carried.find(alloc); it != carried.end())
        for (const Range &loop : it->second)
          range.extendTo(loop);
      extendOverLoops(alloc, range);
      extendOverCopies(alloc, aliasing, range);
    } else {
      for (const Loop &loop : loops)
        if (loop.isConcurrent && loop.range.contains(range))
          range.extendTo(loop.range);
    }
    buffer.begin = range.begin;
    buffer.end = range.end;
  }
}

//===----------------------------------------------------------------------===//
// Program points
//===----------------------------------------------------------------------===//

/// True unless it is known that no region of `op` runs twice.
static bool mayLoop(Operation *op) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return !branch || branch.hasLoop();
}

void SharedMemoryLiveness::numberOps(Region &region) {
  for (Block &block : region) {
    for (Operation &op : block) {
      int64_t begin = numPoints++;
      for (Region &nested : op.getRegions())
        numberOps(nested);
      int64_t end = op.getNumRegions() == 0 ? begin : numPoints++;
      ranges[&op] = {begin, end};
      collectLoops(&op);
      if (auto wait = dyn_cast<AsyncWaitOp>(op); wait && wait.getPending() == 0)
        fullWaits.push_back(wait);
    }
  }
  collectBlockLoops(region);
}

void SharedMemoryLiveness::collectLoops(Operation *op) {
  if (op->getNumRegions() == 0)
    return;
  if (isa<WarpSpecializeOp>(op))
    loops.push_back({getRange(op), nullptr, /*isConcurrent=*/true});
  else if (mayLoop(op))
    loops.push_back({getRange(op), nullptr, /*isConcurrent=*/false});
}

void SharedMemoryLiveness::collectBlockLoops(Region &region) {
  if (region.empty() || region.hasOneBlock())
    return;
  llvm::DenseSet<Block *> before;
  for (Block &block : region) {
    before.insert(&block);
    for (Block *target : block.getSuccessors())
      if (before.contains(target))
        loops.push_back(
            {{getRange(&target->front()).begin, getRange(&block.back()).end},
             target,
             /*isConcurrent=*/false});
  }
}

SharedMemoryLiveness::Range SharedMemoryLiveness::getRange(
    const SharedMemoryAliasing::CarriedBuffer &carried) const {
  if (isa<BranchOpInterface>(carried.from))
    return {getRange(&carried.to->front()).begin, getRange(carried.from).end};
  return getRange(carried.from->getParentOp());
}

//===----------------------------------------------------------------------===//
// Ranges of allocations
//===----------------------------------------------------------------------===//

SharedMemoryLiveness::Range
SharedMemoryLiveness::getUses(AllocOp alloc,
                              const SharedMemoryAliasing &aliasing) const {
  Range range = getRange(alloc);
  for (Value alias : aliasing.getAliases(alloc))
    for (Operation *user : alias.getUsers())
      range.extendTo(getRange(user));
  return range;
}

void SharedMemoryLiveness::extendOverLoops(AllocOp alloc, Range &range) const {
  int64_t begin = getRange(alloc).begin;
  auto mustCover = [&](const Loop &loop) {
    if (!loop.range.overlaps(range) || range.contains(loop.range))
      return false;
    if (loop.isConcurrent || !loop.range.contains(begin))
      return true;
    // Allocated inside: a use is reached only through the allocation in the
    // same iteration. For a loop of blocks that holds if some path to its
    // header avoids the allocation.
    return loop.header &&
           DominanceInfo(function).dominates(alloc->getBlock(), loop.header);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Loop &loop : loops) {
      if (!mustCover(loop))
        continue;
      range.extendTo(loop.range);
      changed = true;
    }
  }
}

void SharedMemoryLiveness::extendOverCopies(
    AllocOp alloc, const SharedMemoryAliasing &aliasing, Range &range) const {
  bool isCopyTarget = llvm::any_of(aliasing.getAliases(alloc), [](Value alias) {
    return llvm::any_of(alias.getUsers(), llvm::IsaPred<AsyncCopyOp>);
  });
  if (!isCopyTarget)
    return;
  // Copies that nobody reads may still be in flight after the last use.
  int64_t end = numPoints;
  for (AsyncWaitOp wait : fullWaits) {
    int64_t point = getRange(wait).begin;
    if (point >= range.end &&
        wait->getBlock()->findAncestorOpInBlock(*alloc.getOperation())) {
      end = point;
      break;
    }
  }
  range.extendTo({range.begin, end});
  extendOverLoops(alloc, range);
}
