//===- CheckRaceOrder.cpp - What orders accesses for the race check -------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaceState.h"

using namespace tile_dialect::emulator;

RaceChecker::RaceChecker(LaunchContext &context, Worker &worker)
    : context(context), worker(worker) {
  std::lock_guard<std::mutex> guard(context.lock);
  if (!context.monitorState)
    context.monitorState = std::make_shared<SharedState>();
}

RaceChecker::~RaceChecker() = default;

void RaceChecker::startBlock(Block &block) {
  std::unique_ptr<ClusterState> &state = clusters[block.cluster];
  lastCluster = nullptr;
  if (block.rank == 0) {
    state = std::make_unique<ClusterState>();
    state->number = block.cluster->number & Stamp::clusterMask;
    state->warpsPerBlock = block.numWarps;
    state->numWarps = block.numWarps * block.cluster->numBlocks;
    state->actors.resize(state->numWarps);
    state->blocks.resize(block.cluster->numBlocks);
    state->warpgroups.resize(state->numWarps / 4 + 1);
  }
  state->blocks[block.rank].pages.resize(
      block.shared.size() / ShadowPage::bytes + 1);
}

void RaceChecker::endBlock(Block &block) {
  lastCluster = nullptr;
  if (block.rank + 1 == block.cluster->numBlocks)
    clusters.erase(block.cluster);
}

RaceChecker::ClusterState &RaceChecker::stateOf(const Block &block) {
  if (block.cluster != lastCluster) {
    lastCluster = block.cluster;
    lastState = clusters[block.cluster].get();
  }
  return *lastState;
}

uint32_t RaceChecker::actorOf(const Warp &warp) {
  return warp.block->rank * warp.block->numWarps + warp.id;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void RaceChecker::arrive(Warp &warp, unsigned barrier) {
  ClusterState &state = stateOf(*warp.block);
  state.publish(actorOf(warp),
                state.blocks[warp.block->rank].barriers[barrier]);
}

void RaceChecker::release(Block &block, unsigned number) {
  ClusterState &state = stateOf(block);
  Knowledge &arrived = state.blocks[block.rank].barriers[number];
  for (uint32_t w = 0; w < block.numWarps; ++w)
    if (block.barriers[number].arrivals[w].waiting)
      state.actors[actorOf(*block.warps[w])].knows.join(arrived);
  arrived.clear();
}

void RaceChecker::warpSync(Warp &warp) {
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  state.actors[actor].knows.own.set(actor, state.clock++);
}

void RaceChecker::clusterArrive(Warp &warp, uint64_t phase, bool isRelaxed) {
  ClusterState &state = stateOf(*warp.block);
  ClusterState::ClusterPhase &slot = state.phases[phase & 1];
  if (slot.number != phase) {
    slot.number = phase;
    slot.arrived.clear();
  }
  if (isRelaxed)
    slot.arrived.join(state.actors[actorOf(warp)].fenced);
  else
    state.publish(actorOf(warp), slot.arrived);
}

void RaceChecker::clusterWait(Warp &warp, uint64_t phase) {
  ClusterState &state = stateOf(*warp.block);
  const ClusterState::ClusterPhase &slot = state.phases[phase & 1];
  if (slot.number == phase)
    state.actors[actorOf(warp)].knows.join(slot.arrived);
}

void RaceChecker::wgmmaAcquire(Warp &warp) {
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  state.actors[actor].knows.join(state.warpgroups[actor / 4]);
}

void RaceChecker::wgmmaRelease(Warp &warp) {
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  state.publish(actor, state.warpgroups[actor / 4]);
}

//===----------------------------------------------------------------------===//
// Mbarriers
//===----------------------------------------------------------------------===//

/// The initialisation is a write that those who arrive must be ordered behind.
void RaceChecker::mbarrierInit(Warp &warp, const Inst &inst, Block &owner,
                               uint32_t offset, LaneMask lanes) {
  ClusterState &state = stateOf(*warp.block);
  state.mbarriers[{owner.rank, offset}] = ClusterState::Mbarrier();
  Current current{warp, inst, state, actorOf(warp)};
  current.lane = llvm::countr_zero(lanes);
  current.writes = true;
  current.stamp = Stamp(state.number, current.actor, current.lane, state.clock,
                        MemoryScope::None);
  touchShared(current, owner, offset, 8);
}

void RaceChecker::mbarrierArrive(Warp &warp, const Inst &inst, Block &owner,
                                 uint32_t offset, LaneMask lanes,
                                 bool isRelaxed) {
  ClusterState &state = stateOf(*warp.block);
  Current current{warp, inst, state, actorOf(warp)};
  current.lane = llvm::countr_zero(lanes);
  current.onlyChecks = true;
  current.verb = "an arrival at an mbarrier";
  current.scope = MemoryScope::Cluster;
  current.stamp = Stamp(state.number, current.actor, current.lane, state.clock,
                        current.scope);
  touchShared(current, owner, offset, 8);
  noteRemote(current, owner);
  Knowledge &arriving = state.mbarriers[{owner.rank, offset}].arriving;
  if (isRelaxed)
    arriving.join(state.actors[current.actor].fenced);
  else
    state.publish(current.actor, arriving);
}

void RaceChecker::mbarrierComplete(Block &owner, uint32_t offset) {
  auto &barrier = stateOf(owner).mbarriers[{owner.rank, offset}];
  barrier.complete.join(barrier.arriving);
  barrier.arriving.clear();
}

void RaceChecker::mbarrierWait(Warp &warp, Block &owner, uint32_t offset,
                               bool isRelaxed) {
  ClusterState &state = stateOf(*warp.block);
  ClusterState::Actor &actor = state.actors[actorOf(warp)];
  (isRelaxed ? actor.found : actor.knows)
      .join(state.mbarriers[{owner.rank, offset}].complete);
}

//===----------------------------------------------------------------------===//
// Fences and strong accesses
//===----------------------------------------------------------------------===//

void RaceChecker::fence(Warp &warp, MemoryScope scope) {
  ClusterState &state = stateOf(*warp.block);
  uint32_t number = actorOf(warp);
  ClusterState::Actor &actor = state.actors[number];
  bool isWide = scope == MemoryScope::Device;
  actor.knows.join(actor.found);
  actor.found.clear();
  if (isWide) {
    actor.knows.join(actor.foundWide);
    actor.foundWide.clear();
  }
  actor.fenced = actor.knows;
  actor.fenced.own.set(number, state.clock++);
  if (isWide)
    actor.fencedWide = ClusterClocks::with(actor.fenced.others, state.number,
                                           actor.fenced.own);
}

static std::pair<uint32_t, uint64_t> keyOf(const Place &place) {
  bool isShared = place.space == Space::Shared && place.block;
  return {isShared ? place.block->rank : ~0u - 2, place.address};
}

/// What a strong read finds is known at once or, without an acquire, behind
/// the next fence.
void RaceChecker::acquireStrong(Warp &warp, unsigned lane, const Place &place) {
  ClusterState &state = stateOf(*warp.block);
  ClusterState::Actor &actor = state.actors[actorOf(warp)];
  bool acquires = strong.order == MemoryOrder::Acquire ||
                  strong.order == MemoryOrder::AcquireRelease;
  auto it = state.places.find(keyOf(place));
  if (it != state.places.end())
    (acquires ? actor.knows : actor.found).join(it->second);
  strong.acquired[lane] = nullptr;
  if (place.space == Space::Shared || strong.scope != MemoryScope::Device)
    return;
  auto &shared = *static_cast<SharedState *>(context.monitorState.get());
  auto &shard = shared.shardOf(place.address);
  ClusterClocks::Pointer wide;
  {
    std::lock_guard<std::mutex> guard(shard.lock);
    auto found = shard.places.find(place.address);
    if (found == shard.places.end())
      return;
    wide = found->second;
  }
  if (!acquires) {
    actor.foundWide.others = ClusterClocks::join(actor.foundWide.others, wide);
  } else if (actor.lastAcquired != wide) {
    actor.knows.others = ClusterClocks::join(actor.knows.others, wide);
    actor.lastAcquired = wide;
  }
  strong.acquired[lane] = std::move(wide);
}

void RaceChecker::strongRead(Warp &warp) {
  for (unsigned l = 0; l < warpSize; ++l)
    if (strong.lanes >> l & 1)
      eachElement(
          strong.places[l], strong.bytes, strong.elementBytes,
          [&](const Place &element) { acquireStrong(warp, l, element); });
}

/// A strong write hands on what its warp knows or, without a release, what it
/// knew at its last fence.  A plain one replaces what was there; an atomic goes
/// on with it, since it is part of the earlier release's sequence.
void RaceChecker::releaseStrong(Current &current, const Place &place) {
  ClusterState &state = current.state;
  ClusterState::Actor &actor = state.actors[current.actor];
  MemoryOrder order = current.access->order;
  bool releases =
      order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
  if (releases && !current.released) {
    current.released.emplace();
    state.publish(current.actor, *current.released);
    if (current.scope == MemoryScope::Device)
      current.releasedWide = ClusterClocks::with(
          current.released->others, state.number, current.released->own);
  }
  const Knowledge &handed = releases ? *current.released : actor.fenced;
  auto it = state.places.find(keyOf(place));
  if (it == state.places.end() && !handed.isEmpty())
    it = state.places.try_emplace(keyOf(place)).first;
  if (it != state.places.end()) {
    if (!current.isAtomic)
      it->second.clear();
    it->second.join(handed);
  }
  if (place.space == Space::Shared)
    return;
  ClusterClocks::Pointer wide;
  if (current.scope == MemoryScope::Device)
    wide = releases ? current.releasedWide : actor.fencedWide;
  if (!wide && current.isAtomic)
    return;
  auto &shared = *static_cast<SharedState *>(context.monitorState.get());
  auto &shard = shared.shardOf(place.address);
  std::lock_guard<std::mutex> guard(shard.lock);
  if (!wide) {
    shard.places.erase(place.address);
    return;
  }
  // Who has acquired what is there hands it on as well.
  ClusterClocks::Pointer &there = shard.places[place.address];
  bool isKnown = (order == MemoryOrder::AcquireRelease &&
                  there == strong.acquired[current.lane]) ||
                 (releases && there && there == actor.lastAcquired);
  there =
      current.isAtomic && !isKnown ? ClusterClocks::join(there, wide) : wide;
}

bool RaceChecker::isOrdered(const Current &current, Stamp previous) const {
  if (!previous)
    return true;
  const ClusterState &state = current.state;
  bool isOwnCluster = previous.cluster() == state.number;
  if (current.scope != MemoryScope::None && previous.isStrong()) {
    // Both are strong: no race if each includes the other thread.
    MemoryScope least = std::min(current.scope, previous.scope());
    MemoryScope needed = !isOwnCluster ? MemoryScope::Device
                         : previous.actor() / state.warpsPerBlock ==
                                 current.actor / state.warpsPerBlock
                             ? MemoryScope::Block
                             : MemoryScope::Cluster;
    if (least >= needed)
      return true;
  }
  Knowledge &knows = current.state.actors[current.actor].knows;
  if (isOwnCluster) {
    if (previous.actor() == current.actor && previous.lane() == current.lane)
      return true;
    if (previous.clock() <= knows.own.get(previous.actor()))
      return true;
  }
  if (!knows.others)
    return false;
  // Neighbouring places mostly were of one cluster.
  ClusterState::LastLookup &last = current.state.lastLookup;
  if (last.in != knows.others || last.cluster != previous.cluster()) {
    knows.others = ClusterClocks::compact(knows.others);
    last.in = knows.others;
    last.cluster = previous.cluster();
    last.clock.clear();
    last.in->collect(last.cluster, last.clock);
  }
  return previous.clock() <= last.clock.get(previous.actor());
}

/// A strong write that a strong read of the same warp has seen is ordered
/// before what that warp does next, whatever else is not.
bool RaceChecker::isWriteOrdered(const Current &current,
                                 const ShadowCell &cell) const {
  if (isOrdered(current, cell.write))
    return true;
  if (!cell.write.isStrong() || current.scope != MemoryScope::None)
    return false;
  for (Stamp read : cell.reads)
    if (read.isStrong() && read.isSameActor(current.stamp))
      return true;
  return false;
}
