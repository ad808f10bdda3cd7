//===- CheckRace.cpp - Finds accesses that no synchronisation orders ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace tile_dialect::emulator;
using llvm::Twine;

/// What orders other clusters: the clock up to which each is known.
using ClusterClocks = llvm::DenseMap<uint32_t, uint32_t>;

struct RaceChecker::ClusterState {
  uint32_t clock = 1;
  uint32_t warpsPerBlock = 0;
  /// What each warp knows of each.
  std::vector<VectorClock> knows;
  ClusterClocks foreign;
  VectorClock clusterBarrier;
  /// By block: the hardware barriers and the shadow of shared memory.
  struct BlockState {
    VectorClock barriers[numBarriers];
    std::vector<std::unique_ptr<ShadowPage>> pages;
  };
  std::vector<BlockState> blocks;
  /// Mbarriers and places of atomics, by block and offset; places in global
  /// memory by address, with block ~0.
  llvm::DenseMap<std::pair<uint32_t, uint64_t>, VectorClock> places;
};

/// Shared by all host threads of a launch.
struct RaceChecker::SharedState {
  static constexpr unsigned numShards = 64;
  struct Shard {
    std::mutex lock;
    llvm::DenseMap<uint64_t, std::unique_ptr<ShadowPage>> pages;
    /// What was released at an address by atomics.
    llvm::DenseMap<uint64_t, ClusterClocks> places;
  };
  Shard shards[numShards];
};

/// The access that is being checked.
struct RaceChecker::Current {
  Warp &warp;
  const Inst &inst;
  ClusterState &state;
  uint32_t actor;
  unsigned lane = 0;
  bool writes = false, atomic = false;
  bool isShared = false;
  Block *owner = nullptr;
  const Access *access = nullptr;
  /// Only looks for conflicts, leaves no mark.
  bool onlyChecks = false;
  Stamp stamp{};
};

void ShadowPage::refine(uint64_t offset, uint32_t accessBytes) {
  unsigned needed = (offset | accessBytes) & 1 ? 1 : 2;
  if (((offset | accessBytes) & 3) == 0 || needed >= granule)
    return;
  std::vector<ShadowCell> fine(bytes / needed);
  for (uint64_t i = 0; i < fine.size(); ++i)
    fine[i] = cells[i * needed / granule];
  cells = std::move(fine);
  granule = needed;
}

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
    state->warpsPerBlock = block.numWarps;
    uint32_t actors = block.numWarps * block.cluster->numBlocks;
    state->knows.assign(actors, VectorClock(actors, 0));
    state->clusterBarrier.assign(actors, 0);
    state->blocks.resize(block.cluster->numBlocks);
  }
  auto &own = state->blocks[block.rank];
  for (VectorClock &barrier : own.barriers)
    barrier.assign(state->knows.size(), 0);
  own.pages.resize(block.shared.size() / ShadowPage::bytes + 1);
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
// Clocks
//===----------------------------------------------------------------------===//

static void join(VectorClock &into, const VectorClock &from) {
  if (into.size() < from.size())
    into.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

/// Releases what the warp did and knows into a clock.
void RaceChecker::publish(Warp &warp, VectorClock &clock) {
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  join(clock, state.knows[actor]);
  clock[actor] = state.clock++;
}

void RaceChecker::acquire(Warp &warp, const VectorClock &clock) {
  join(stateOf(*warp.block).knows[actorOf(warp)], clock);
}

void RaceChecker::arrive(Warp &warp, unsigned barrier) {
  publish(warp,
          stateOf(*warp.block).blocks[warp.block->rank].barriers[barrier]);
}

void RaceChecker::release(Block &block, unsigned number) {
  VectorClock &clock = stateOf(block).blocks[block.rank].barriers[number];
  for (uint32_t w = 0; w < block.numWarps; ++w)
    if (block.barriers[number].arrivals[w].waiting)
      acquire(*block.warps[w], clock);
  std::fill(clock.begin(), clock.end(), 0);
}

void RaceChecker::warpSync(Warp &warp) {
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  state.knows[actor][actor] = state.clock++;
}

void RaceChecker::clusterArrive(Warp &warp) {
  publish(warp, stateOf(*warp.block).clusterBarrier);
}

void RaceChecker::clusterWait(Warp &warp) {
  acquire(warp, stateOf(*warp.block).clusterBarrier);
}

void RaceChecker::mbarrierArrive(Warp &warp, Block &owner, uint32_t offset) {
  publish(warp, stateOf(*warp.block).places[{owner.rank, offset}]);
}

void RaceChecker::mbarrierWait(Warp &warp, Block &owner, uint32_t offset) {
  acquire(warp, stateOf(*warp.block).places[{owner.rank, offset}]);
}

/// Atomics and other strong accesses order what is before and after them, as
/// flags and locks are used.
void RaceChecker::synchronize(Warp &warp, const Access &access, unsigned lane,
                              const Place &place) {
  ClusterState &state = stateOf(*warp.block);
  bool isShared = place.space == Space::Shared;
  uint32_t rank = isShared && place.block ? place.block->rank : ~0u - 2;
  bool reads = access.kind != AccessKind::Write;
  bool writes = access.kind != AccessKind::Read;
  VectorClock &clock = state.places[{rank, place.address}];
  if (reads)
    acquire(warp, clock);
  if (writes)
    publish(warp, clock);
  if (isShared)
    return;
  auto &shared = *static_cast<SharedState *>(context.monitorState.get());
  auto &shard =
      shared.shards[place.address / ShadowPage::bytes % SharedState::numShards];
  std::lock_guard<std::mutex> guard(shard.lock);
  ClusterClocks &clocks = shard.places[place.address];
  auto raise = [](ClusterClocks &into, uint32_t cluster, uint32_t time) {
    uint32_t &known = into[cluster];
    known = std::max(known, time);
  };
  if (reads)
    for (auto [cluster, time] : clocks)
      raise(state.foreign, cluster, time);
  if (!writes)
    return;
  for (auto [cluster, time] : state.foreign)
    raise(clocks, cluster, time);
  raise(clocks, uint32_t(warp.block->cluster->number & 0x3FFFFF),
        state.clock - 1);
}

bool RaceChecker::isOrdered(const Current &current, Stamp previous) const {
  if (!previous)
    return true;
  if (current.atomic && previous.isAtomic())
    return true;
  if (previous.cluster() == current.stamp.cluster()) {
    if (previous.warp() == current.actor && previous.lane() == current.lane)
      return true;
    return previous.clock() <=
           current.state.knows[current.actor][previous.warp()];
  }
  auto it = current.state.foreign.find(previous.cluster());
  return it != current.state.foreign.end() && previous.clock() <= it->second;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Two plain writes of the same value are no race that can be seen: replicated
/// tensors are stored so.
bool RaceChecker::writesSameValue(const Current &current, uint64_t address,
                                  uint32_t bytes) const {
  const Access *access = current.access;
  if (!access || !access->values)
    return false;
  const uint8_t *memory = nullptr;
  if (current.isShared)
    memory = current.owner->shared.data() + address;
  else
    memory = worker.global(address, bytes, false);
  if (!memory)
    return false;
  Place begin =
      placeOf(current.warp, access->space, access->addresses[current.lane]);
  for (uint32_t i = 0; i < bytes; ++i) {
    uint64_t offset = address + i - begin.address;
    const Operand &value = access->values[offset / access->elementBytes];
    uint8_t byte = current.warp.source<uint8_t>(
        value)[current.lane * value.bytes + offset % access->elementBytes];
    if (byte != memory[i])
      return false;
  }
  return true;
}

void RaceChecker::reportRace(const Current &current, uint64_t address,
                             Stamp other, uint32_t otherInst,
                             bool otherWrites) {
  Warp &warp = current.warp;
  const char *space = current.isShared ? "shared" : "global";
  const char *verb = current.atomic   ? "an atomic access"
                     : current.writes ? "a write"
                                      : "a read";
  const char *otherVerb = other.isAtomic() ? "an atomic access"
                          : otherWrites    ? "a write"
                                           : "a read";
  const Inst &first = context.image.code[otherInst];
  Report report = warp.makeReport(
      Report::Kind::Race, &current.inst, current.lane,
      Twine(verb) + " of " + space + " memory is not ordered with " +
          otherVerb + " at line " + Twine(first.line));
  // Where the other access was.
  Location where = warp.locate(&first, -1);
  const Dim3 &shape = context.clusterShape, &grid = context.clusterGrid;
  uint32_t warpsPerBlock = current.state.warpsPerBlock;
  uint32_t rank = other.warp() / warpsPerBlock;
  uint64_t cluster = other.cluster();
  where.block = Dim3{
      uint32_t(cluster % grid.x) * shape.x + rank % shape.x,
      uint32_t(cluster / grid.x % grid.y) * shape.y + rank / shape.x % shape.y,
      uint32_t(cluster / grid.x / grid.y) * shape.z + rank / shape.x / shape.y};
  const Dim3 &block = context.launch.block;
  uint32_t linear = other.warp() % warpsPerBlock * warpSize + other.lane();
  where.hasThread = true;
  where.thread = Dim3{linear % block.x, linear / block.x % block.y,
                      linear / block.x / block.y};
  report.notes.push_back((Twine(space) + " address " + Twine(address) + "; " +
                          otherVerb + " by " + where.str() + ": " +
                          where.ptxText)
                             .str());
  if (where.sourceLine)
    report.notes.push_back("the other one is from " + where.sourceFile + ":" +
                           std::to_string(where.sourceLine));
  context.report(warp.block->cluster->number, std::move(report));
}

/// Checks and marks bytes that lie within one page.
void RaceChecker::touch(const Current &current, ShadowPage &page,
                        uint64_t address, uint32_t bytes) {
  uint64_t offset = address % ShadowPage::bytes;
  page.refine(offset, bytes);
  unsigned granule = page.granule;
  uint32_t instIndex = &current.inst - context.image.code.data();
  bool reported = false;
  for (uint32_t i = 0; i < bytes; i += granule) {
    ShadowCell &cell = page.cells[(offset + i) / granule];
    // What the warp has just read is known to be fine.
    if (!current.writes && cell.reads[0].isSameTime(current.stamp) &&
        !cell.write.isSameWarp(current.stamp)) {
      cell.reads[0] = current.stamp;
      continue;
    }
    if (!reported && !isOrdered(current, cell.write) &&
        !(current.writes && !current.atomic &&
          writesSameValue(current, address + i, granule))) {
      reportRace(current, address + i, cell.write, cell.writeInst, true);
      reported = true;
    }
    if (current.writes && !reported) {
      for (unsigned r = 0; r < 2 && !reported; ++r) {
        if (isOrdered(current, cell.reads[r]) ||
            writesSameValue(current, address + i, granule))
          continue;
        reportRace(current, address + i, cell.reads[r], cell.readInsts[r],
                   false);
        reported = true;
      }
    }
    if (current.onlyChecks)
      continue;
    if (current.writes) {
      cell.write = current.stamp;
      cell.writeInst = instIndex;
      cell.reads[0] = cell.reads[1] = Stamp();
      continue;
    }
    if (cell.reads[0] && !cell.reads[0].isSameWarp(current.stamp)) {
      cell.reads[1] = cell.reads[0];
      cell.readInsts[1] = cell.readInsts[0];
    }
    cell.reads[0] = current.stamp;
    cell.readInsts[0] = instIndex;
  }
}

void RaceChecker::touchShared(Current &current, Block &owner, uint32_t offset,
                              uint32_t bytes) {
  current.isShared = true;
  current.owner = &owner;
  auto &pages = current.state.blocks[owner.rank].pages;
  while (bytes > 0) {
    uint32_t inPage = std::min<uint64_t>(bytes, ShadowPage::bytes -
                                                    offset % ShadowPage::bytes);
    size_t index = offset / ShadowPage::bytes;
    if (index >= pages.size())
      return;
    if (!pages[index])
      pages[index] = std::make_unique<ShadowPage>();
    touch(current, *pages[index], offset, inPage);
    offset += inPage;
    bytes -= inPage;
  }
}

void RaceChecker::touchGlobal(Current &current, uint64_t address,
                              uint32_t bytes) {
  current.isShared = false;
  auto &shared = *static_cast<SharedState *>(context.monitorState.get());
  while (bytes > 0) {
    uint32_t inPage = std::min<uint64_t>(
        bytes, ShadowPage::bytes - address % ShadowPage::bytes);
    uint64_t index = address / ShadowPage::bytes;
    auto &shard = shared.shards[index % SharedState::numShards];
    std::lock_guard<std::mutex> guard(shard.lock);
    std::unique_ptr<ShadowPage> &page = shard.pages[index];
    if (!page)
      page = std::make_unique<ShadowPage>();
    touch(current, *page, address, inPage);
    address += inPage;
    bytes -= inPage;
  }
}

void RaceChecker::access(Warp &warp, const Access &access) {
  ClusterState &state = stateOf(*warp.block);
  Current current{warp, *access.inst, state, actorOf(warp)};
  current.writes = access.kind != AccessKind::Read;
  current.atomic = access.kind == AccessKind::Atomic || access.strong;
  current.access = access.async ? nullptr : &access;
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(access.mask >> l & 1))
      continue;
    Place place{access.space, warp.block, access.addresses[l]};
    if (access.space != Space::Shared || place.address >> sharedRankShift)
      place = placeOf(warp, access.space, access.addresses[l]);
    if (place.space != Space::Shared && place.space != Space::Global)
      continue;
    // What is out of bounds is reported by the access itself.
    if (place.space == Space::Shared &&
        (!place.block ||
         place.address + access.bytes > place.block->shared.size()))
      continue;
    current.lane = l;
    if (current.atomic)
      synchronize(warp, access, l, place);
    current.stamp = Stamp(warp.block->cluster->number, current.actor, l,
                          state.clock, current.atomic);
    if (place.space == Space::Shared)
      touchShared(current, *place.block, place.address, access.bytes);
    else
      touchGlobal(current, place.address, access.bytes);
  }
}

/// The issue of an asynchronous access: it must be ordered with what was
/// before.
void RaceChecker::asyncStart(Warp &warp, const AsyncAccess &access) {
  ClusterState &state = stateOf(*warp.block);
  Current current{warp, *access.inst, state, actorOf(warp)};
  current.lane = access.lane;
  current.writes = access.writes;
  current.onlyChecks = access.writes || access.onlyChecks;
  current.stamp = Stamp(warp.block->cluster->number, current.actor, access.lane,
                        state.clock, false);
  for (auto [offset, bytes] : access.ranges)
    touchShared(current, *access.block, offset, bytes);
}

/// What was written is there for those who wait for its mbarrier.
void RaceChecker::asyncDone(Warp &warp, const AsyncAccess &access) {
  if (!access.writes)
    return;
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  Stamp stamp(warp.block->cluster->number, actor, access.lane, state.clock,
              false);
  uint32_t instIndex = access.inst - context.image.code.data();
  auto &pages = state.blocks[access.block->rank].pages;
  for (auto [offset, bytes] : access.ranges)
    for (uint32_t i = offset; i < offset + bytes;) {
      std::unique_ptr<ShadowPage> &page = pages[i / ShadowPage::bytes];
      if (!page)
        page = std::make_unique<ShadowPage>();
      ShadowCell &cell = page->cells[i % ShadowPage::bytes / page->granule];
      cell.write = stamp;
      cell.writeInst = instIndex;
      cell.reads[0] = cell.reads[1] = Stamp();
      i += page->granule;
    }
  if (access.hasMbarrier)
    publish(warp, state.places[{access.block->rank, access.mbarrier}]);
}
