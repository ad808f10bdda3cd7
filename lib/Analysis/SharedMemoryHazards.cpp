//===- SharedMemoryHazards.cpp - Where barriers are needed ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryHazards.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::tile_gpu;

//===----------------------------------------------------------------------===//
// ByteSet and PendingAccesses
//===----------------------------------------------------------------------===//

void ByteSet::insert(int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  // Ranges that touch the new one become one with it.
  auto *first = llvm::find_if(
      ranges, [&](const auto &range) { return range.second >= begin; });
  auto *last = std::find_if(first, ranges.end(), [&](const auto &range) {
    return range.first > end;
  });
  if (first != last) {
    begin = std::min(begin, first->first);
    end = std::max(end, std::prev(last)->second);
    first = ranges.erase(first, last);
  }
  ranges.insert(first, {begin, end});
}

void ByteSet::insert(const ByteSet &other) {
  for (auto [begin, end] : other.ranges)
    insert(begin, end);
}

bool ByteSet::overlaps(const ByteSet &other) const {
  const auto *a = ranges.begin(), *b = other.ranges.begin();
  while (a != ranges.end() && b != other.ranges.end()) {
    if (a->first < b->second && b->first < a->second)
      return true;
    if (a->second < b->second)
      ++a;
    else
      ++b;
  }
  return false;
}

void PendingAccesses::insert(const PendingAccesses &other) {
  reads.insert(other.reads);
  writes.insert(other.writes);
  copies.insert(other.copies);
  loads.insert(other.loads);
  stores.insert(other.stores);
  includesEntry |= other.includesEntry;
}

void OrderedAccesses::insert(const OrderedAccesses &other) {
  reads.insert(other.reads);
  writes.insert(other.writes);
  globalLoads.insert(other.globalLoads);
  globalWrites.insert(other.globalWrites);
}

/// The threads that must meet between what is pending and `ordered`.
BarrierScope
SharedMemoryHazards::getNeededScope(const OrderedAccesses &ordered,
                                    const PendingAccesses &pending) const {
  if (ordered.reads.overlaps(pending.writes) ||
      ordered.writes.overlaps(pending.writes) ||
      ordered.writes.overlaps(pending.reads))
    return BarrierScope::Block;
  return std::max(
      {pending.loads.getScopeBeforeWrites(ordered.globalWrites, globalScope),
       pending.stores.getScopeBeforeLoads(ordered.globalLoads, globalScope),
       pending.stores.getScopeBetweenWrites(ordered.globalWrites,
                                            globalScope)});
}

/// A point stays one, for no fewer threads.
void SharedMemoryHazards::addPoint(Operation *op, BarrierScope scope) {
  if (scope == BarrierScope::None)
    return;
  BarrierScope &place = points[op];
  place = std::max(place, scope);
}

/// Of the barriers. It grows whenever a point is added or becomes one for more
/// threads.
unsigned SharedMemoryHazards::getCost() const {
  constexpr unsigned kWarp = 1, kBlock = 4;
  unsigned cost = 0;
  for (auto [op, scope] : points)
    cost += scope == BarrierScope::Block ? kBlock : kWarp;
  return cost;
}

//===----------------------------------------------------------------------===//
// Accesses of an op
//===----------------------------------------------------------------------===//

/// The bytes that `memory` may be.
ByteSet SharedMemoryHazards::getBytes(Value memory) const {
  ByteSet bytes;
  // One tile of a ring, where it is known which.
  if (auto index = memory.getDefiningOp<MemDescIndexOp>()) {
    auto ring = index.getSource().getDefiningOp<AllocOp>();
    APInt tile;
    if (ring && matchPattern(index.getIndex(), m_ConstantInt(&tile)) &&
        tile.ult(ring.getResult().getType().getShape().front())) {
      int64_t tileBytes = ring.getResult().getType().getAllocTileBytes();
      int64_t begin = ring.getOffset().value_or(0) +
                      static_cast<int64_t>(tile.getZExtValue()) * tileBytes;
      bytes.insert(begin, begin + tileBytes);
      return bytes;
    }
  }
  if (isa_and_nonnull<MemDescSubsliceOp, MemDescTransOp>(
          memory.getDefiningOp()))
    return getBytes(memory.getDefiningOp()->getOperand(0));
  for (AllocOp alloc : aliasing.getAllocs(memory)) {
    int64_t begin = alloc.getOffset().value_or(0);
    bytes.insert(begin, begin + alloc.getResult().getType().getAllocBytes());
  }
  return bytes;
}

/// True if `op` does nothing with memory but hand it on.
static bool isForwarding(Operation *op) {
  return isa<BranchOpInterface, RegionBranchOpInterface,
             RegionBranchTerminatorOpInterface, WarpSpecializeOp>(op);
}

/// What `op` itself (not its regions) accesses through memdesc values. Effects
/// on shared memory without a value only order other ops: they are no accesses.
PendingAccesses SharedMemoryHazards::getAccesses(Operation *op) const {
  PendingAccesses accesses;
  if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
    accesses.copies = getBytes(copy.getDestination());
    return accesses;
  }
  auto usesMemory = [](Type type) { return isa<MemDescType>(type); };
  if (isForwarding(op) ||
      (llvm::none_of(op->getOperandTypes(), usesMemory) && !isa<AllocOp>(op)))
    return accesses;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value memory = effect.getValue();
      if (!memory || !usesMemory(memory.getType()))
        continue;
      if (isa<MemoryEffects::Read>(effect.getEffect()))
        accesses.reads.insert(getBytes(memory));
      else if (isa<MemoryEffects::Write>(effect.getEffect()))
        accesses.writes.insert(getBytes(memory));
    }
    return accesses;
  }
  // An op that does not tell may do anything with its operands.
  for (Value operand : op->getOperands())
    if (usesMemory(operand.getType())) {
      accesses.reads.insert(getBytes(operand));
      accesses.writes.insert(getBytes(operand));
    }
  return accesses;
}

/// An op is visited many times, and its pointers may come from far away.
const GlobalAccess &SharedMemoryHazards::getGlobalAccess(Operation *op) {
  auto [it, isNew] = globalAccesses.try_emplace(op);
  if (isNew && globalScope != BarrierScope::None)
    it->second = isa<tile::LoadOp, tile::DescLoadOp>(op) ? getGlobalLoad(op)
                                                         : getGlobalWrite(op);
  return it->second;
}

void SharedMemoryHazards::visitAccess(Operation *op, PendingAccesses &state) {
  PendingAccesses accesses = getAccesses(op);
  ByteSet scratch;
  if (auto attr = op->getAttrOfType<ScratchAttr>(kScratchAttrName))
    scratch.insert(attr.getOffset(), attr.getOffset() + attr.getBytes());

  OrderedAccesses ordered;
  ordered.reads = accesses.reads;
  ordered.writes = accesses.writes;
  ordered.writes.insert(accesses.copies);
  ordered.writes.insert(scratch);
  bool isLoad = isa<tile::LoadOp, tile::DescLoadOp>(op);
  const GlobalAccess &global = getGlobalAccess(op);
  if (isLoad)
    ordered.globalLoads.insert(global);
  else
    ordered.globalWrites.insert(global);
  addPoint(op, getNeededScope(ordered, state));
  state.order(points.lookup(op));
  if (state.includesEntry)
    exposed.insert(ordered);

  if (!scratch.empty()) {
    // After the barrier of its own an op has only reads of its scratch pending.
    if (hasInternalBarrier(op))
      state.order();
    else
      state.writes.insert(scratch);
    state.reads.insert(scratch);
  }
  state.insert(accesses);
  if (isLoad)
    state.loads.insert(global);
  else if (global.spread)
    state.stores.insert(global);
}

//===----------------------------------------------------------------------===//
// Data flow
//===----------------------------------------------------------------------===//

/// Set the state at `terminator`; returns true if it was another one.
bool SharedMemoryHazards::update(TerminatorStates &states,
                                 Operation *terminator,
                                 const PendingAccesses &state) {
  auto [it, isNew] = states.try_emplace(terminator, state);
  if (isNew || it->second == state)
    return isNew;
  it->second = state;
  return true;
}

SharedMemoryHazards::SharedMemoryHazards(
    Operation *function,
    llvm::function_ref<bool(Operation *)> hasInternalBarrier,
    BarrierScope globalScope)
    : aliasing(function), hasInternalBarrier(hasInternalBarrier),
      globalScope(globalScope) {
  for (Region &region : function->getRegions())
    visitRegion(region, PendingAccesses());
}

PendingAccesses SharedMemoryHazards::visitOp(Operation *op,
                                             PendingAccesses state) {
  if (isa<BarrierOp, tile::BarrierOp, gpu::BarrierOp>(op)) {
    auto barrier = dyn_cast<BarrierOp>(op);
    state.order(barrier && barrier.getOfWarp() ? BarrierScope::Warp
                                               : BarrierScope::Block);
    return state;
  }
  if (auto wait = dyn_cast<AsyncWaitOp>(op)) {
    // Which copies are complete is not tracked: any of them may be.
    state.writes.insert(state.copies);
    if (wait.getPending() == 0)
      state.copies.clear();
    return state;
  }
  if (auto specialize = dyn_cast<WarpSpecializeOp>(op))
    return visitRoles(specialize, state);
  visitAccess(op, state);
  if (op->getNumRegions() == 0)
    return state;
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  return branch && !branch.hasLoop() ? flowThroughRegions(op, state)
                                     : visitLoop(op, std::move(state));
}

/// True if a block is followed by one that is not listed after it.
static bool hasBranchBack(Region &region) {
  llvm::SmallPtrSet<Block *, 8> before;
  for (Block &block : region) {
    before.insert(&block);
    if (llvm::any_of(block.getSuccessors(),
                     [&](Block *next) { return before.contains(next); }))
      return true;
  }
  return false;
}

/// Returns what is pending at the end of each block. States are computed anew
/// in each round from those of the round before (not accumulated), so that they
/// follow from the barriers that are known by then.
SharedMemoryHazards::TerminatorStates
SharedMemoryHazards::visitRegion(Region &region, const PendingAccesses &entry) {
  TerminatorStates states;
  bool isCyclic = hasBranchBack(region);
  OrderedAccesses exposedBefore = exposed;
  for (bool changed = true; changed;) {
    changed = false;
    exposed = exposedBefore;
    unsigned cost = getCost();
    for (Block &block : region) {
      if (block.empty())
        continue;
      PendingAccesses state;
      if (block.isEntryBlock())
        state = entry;
      for (Block *predecessor : block.getPredecessors())
        if (auto it = states.find(predecessor->getTerminator());
            it != states.end())
          state.insert(it->second);
      for (Operation &op : block)
        state = visitOp(&op, std::move(state));
      changed |= update(states, &block.back(), state);
    }
    changed = isCyclic && (changed || getCost() != cost);
  }
  return states;
}

PendingAccesses
SharedMemoryHazards::flowThroughLoop(Operation *op,
                                     const PendingAccesses &entry) {
  return isa<RegionBranchOpInterface>(op) ? flowThroughRegions(op, entry)
                                          : visitUnknownRegions(op, entry);
}

/// Analyses `op` as if a barrier were in front of it.
const SharedMemoryHazards::Loop &
SharedMemoryHazards::analyseLoop(Operation *op, const ByteSet &entryCopies) {
  // No barrier orders copies, so that they depend on no choice made here and
  // only grow from one visit to the next.
  ByteSet allCopies = loops[op].entryCopies;
  allCopies.insert(entryCopies);
  if (loops[op].isAnalysed && loops[op].entryCopies == allCopies)
    return loops[op];

  OrderedAccesses exposedAround = std::exchange(exposed, {});
  PendingAccesses entry;
  entry.copies = allCopies;
  entry.includesEntry = true;
  PendingAccesses result = flowThroughLoop(op, entry);
  // References into `loops` do not last over the visits of inner loops.
  Loop &loop = loops[op];
  loop = {allCopies, std::exchange(exposed, std::move(exposedAround)),
          std::move(result), /*isAnalysed=*/true};
  return loop;
}

/// The ops of a loop that belong to no loop inside it.
static llvm::DenseSet<Operation *> getOwnOps(Operation *loop) {
  llvm::DenseSet<Operation *> own;
  for (Region &region : loop->getRegions())
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      own.insert(op);
      auto branch = dyn_cast<RegionBranchOpInterface>(op);
      bool isLoop = op->getNumRegions() > 0 && !isa<WarpSpecializeOp>(op) &&
                    (!branch || branch.hasLoop());
      return isLoop ? WalkResult::skip() : WalkResult::advance();
    });
  return own;
}

/// Barriers in the loop `op` that order it to what is pending before it, too,
/// if they are no more than those that it needs in any case. True if so. Inner
/// loops stay as they are, which bounds the time.
bool SharedMemoryHazards::orderInside(Operation *op,
                                      const PendingAccesses &entry) {
  llvm::MapVector<Operation *, BarrierScope> before = points;
  unsigned costBefore = getCost();
  llvm::DenseSet<Operation *> own = getOwnOps(op);
  points.remove_if([&](auto &point) { return own.contains(point.first); });
  OrderedAccesses exposedAround = std::exchange(exposed, {});
  isTrial = true;
  flowThroughLoop(op, entry);
  isTrial = false;
  exposed = std::move(exposedAround);
  if (getCost() > costBefore) {
    points = std::move(before);
    return false;
  }
  loops[op].isAnalysed = false;
  return true;
}

/// What is pending before a loop and conflicts with an access in it is ordered
/// by one barrier in front, which runs once, unless it takes no further one.
PendingAccesses SharedMemoryHazards::visitLoop(Operation *op,
                                               PendingAccesses state) {
  const Loop *loop = &analyseLoop(op, state.copies);
  if (getNeededScope(loop->exposed, state) == BarrierScope::Block && !isTrial &&
      orderInside(op, state))
    loop = &analyseLoop(op, state.copies);
  if (BarrierScope scope = getNeededScope(loop->exposed, state);
      scope != BarrierScope::None) {
    addPoint(op, scope);
    state.order(scope);
  }
  if (state.includesEntry)
    exposed.insert(loop->exposed);
  PendingAccesses result = loop->result;
  result.includesEntry = false;
  if (loop->result.includesEntry) {
    state.copies.clear();
    result.insert(state);
  }
  return result;
}

PendingAccesses
SharedMemoryHazards::flowThroughRegions(Operation *op,
                                        const PendingAccesses &entry) {
  auto branch = cast<RegionBranchOpInterface>(op);
  // Where each exit of a region leads to: a region, or null for the op's end.
  SmallVector<std::pair<Operation *, Region *>> edges;
  SmallVector<RegionSuccessor> successors;
  bool isCyclic = false;
  for (RegionBranchPoint point : branch.getAllRegionBranchPoints()) {
    Operation *terminator = point.getTerminatorPredecessorOrNull();
    successors.clear();
    branch.getSuccessorRegions(point, successors);
    for (RegionSuccessor &successor : successors) {
      Region *to = successor.getSuccessor();
      edges.emplace_back(terminator, to);
      isCyclic |= terminator && to &&
                  to->getRegionNumber() <=
                      terminator->getParentRegion()->getRegionNumber();
    }
  }

  TerminatorStates states;
  auto gather = [&](Region *target) {
    PendingAccesses state;
    for (auto [terminator, to] : edges) {
      if (to != target)
        continue;
      if (!terminator)
        state.insert(entry);
      else if (auto it = states.find(terminator); it != states.end())
        state.insert(it->second);
    }
    return state;
  };
  OrderedAccesses exposedBefore = exposed;
  for (bool changed = true; changed;) {
    changed = false;
    exposed = exposedBefore;
    unsigned cost = getCost();
    for (Region &region : op->getRegions())
      for (auto &[terminator, pending] : visitRegion(region, gather(&region)))
        changed |= update(states, terminator, pending);
    changed = isCyclic && (changed || getCost() != cost);
  }
  return gather(nullptr);
}

/// All threads meet before and after the roles of `op`; roles order accesses
/// to what they share themselves.
PendingAccesses SharedMemoryHazards::visitRoles(WarpSpecializeOp op,
                                                const PendingAccesses &entry) {
  PendingAccesses ordered = entry;
  ordered.order();
  PendingAccesses result = ordered;
  for (Region &role : op.getRoles())
    for (auto &[terminator, pending] : visitRegion(role, ordered))
      if (isa<WarpYieldOp>(terminator))
        result.copies.insert(pending.copies);
  return result;
}

/// Regions of which it is not known when they run may run in any order, and any
/// number of times.
PendingAccesses
SharedMemoryHazards::visitUnknownRegions(Operation *op,
                                         const PendingAccesses &entry) {
  PendingAccesses result = entry;
  for (bool changed = true; changed;) {
    PendingAccesses before = result;
    unsigned cost = getCost();
    for (Region &region : op->getRegions())
      for (auto &[terminator, pending] : visitRegion(region, before))
        result.insert(pending);
    changed = !(before == result) || getCost() != cost;
  }
  return result;
}
