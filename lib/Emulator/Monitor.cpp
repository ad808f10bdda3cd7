//===- Monitor.cpp - Checks and counters that watch a launch ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Monitor.h"
#include "Checks.h"
#include "InFlight.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tile_dialect::emulator;

Place tile_dialect::emulator::placeOf(Warp &warp, Space space,
                                      uint64_t address) {
  Place place;
  place.space = space;
  place.address = address;
  if (space == Space::Generic) {
    uint64_t window = address & ~(windowBytes - 1);
    place.space = window == sharedWindow  ? Space::SharedCluster
                  : window == localWindow ? Space::Local
                  : window == paramWindow ? Space::Param
                                          : Space::Global;
    if (place.space != Space::Global)
      place.address -= window;
  }
  if (place.space == Space::Const)
    place.space = Space::Global;
  if (place.space != Space::Shared && place.space != Space::SharedCluster)
    return place;
  place.space = Space::Shared;
  uint32_t rank = uint32_t(place.address) >> sharedRankShift;
  place.address &= (1u << sharedRankShift) - 1;
  Cluster &cluster = *warp.block->cluster;
  if (rank == 0)
    place.block = warp.block;
  else if (rank <= cluster.numBlocks)
    place.block = cluster.blocks[rank - 1].get();
  return place;
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// Distinct aligned 32-byte pieces.
static unsigned countSectors(const Access &access) {
  llvm::SmallVector<uint64_t, 64> sectors;
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(access.mask >> l & 1))
      continue;
    uint64_t first = access.addresses[l] / 32;
    uint64_t last = (access.addresses[l] + access.bytes - 1) / 32;
    for (uint64_t s = first; s <= last; ++s)
      sectors.push_back(s);
  }
  llvm::sort(sectors);
  return std::unique(sectors.begin(), sectors.end()) - sectors.begin();
}

/// A wavefront gives each bank one 4-byte word.  Accesses of 8 and 16 bytes a
/// lane are served by half and quarter warps.
static void countWavefronts(const Access &access, uint64_t &wavefronts,
                            uint64_t &conflicts) {
  unsigned words = std::max(1u, (access.bytes + 3) / 4);
  unsigned lanesAtOnce = warpSize / std::min(words, 4u);
  for (unsigned first = 0; first < warpSize; first += lanesAtOnce) {
    llvm::SmallVector<uint64_t, 32> banks[32];
    unsigned most = 0;
    for (unsigned l = first; l < first + lanesAtOnce; ++l) {
      if (!(access.mask >> l & 1))
        continue;
      uint64_t word = access.addresses[l] / 4;
      for (unsigned w = 0; w < words; ++w) {
        auto &bank = banks[(word + w) % 32];
        if (!llvm::is_contained(bank, word + w))
          bank.push_back(word + w);
        most = std::max<unsigned>(most, bank.size());
      }
    }
    if (most == 0)
      continue;
    wavefronts += most;
    conflicts += most - 1;
  }
}

void tile_dialect::emulator::countAccess(Warp &warp, const Access &access,
                                         Stats &stats) {
  if (access.mask == 0 || access.async)
    return;
  unsigned first = llvm::countr_zero(access.mask);
  Place place = placeOf(warp, access.space, access.addresses[first]);
  uint64_t bytes = uint64_t(llvm::popcount(access.mask)) * access.bytes;
  if (access.kind == AccessKind::Atomic) {
    ++stats.atomicRequests;
    stats.atomicBytes += bytes;
    return;
  }
  bool isLoad = access.kind == AccessKind::Read;
  if (place.space == Space::Shared && place.block != warp.block) {
    ++stats.clusterRequests;
    stats.clusterBytes += bytes;
  } else if (place.space == Space::Shared) {
    ++(isLoad ? stats.sharedLoadRequests : stats.sharedStoreRequests);
    (isLoad ? stats.sharedLoadBytes : stats.sharedStoreBytes) += bytes;
    countWavefronts(
        access,
        isLoad ? stats.sharedLoadWavefronts : stats.sharedStoreWavefronts,
        isLoad ? stats.sharedLoadConflicts : stats.sharedStoreConflicts);
  } else if (place.space == Space::Global) {
    ++(isLoad ? stats.globalLoadRequests : stats.globalStoreRequests);
    (isLoad ? stats.globalLoadSectors : stats.globalStoreSectors) +=
        countSectors(access);
    (isLoad ? stats.globalLoadBytes : stats.globalStoreBytes) += bytes;
  }
}

//===----------------------------------------------------------------------===//
// The monitor of a host thread
//===----------------------------------------------------------------------===//

namespace {
class FullMonitor : public Monitor {
public:
  FullMonitor(LaunchContext &context, Worker &worker) : worker(worker) {
    counts = context.options.collectStats;
    if (context.options.checkRaces) {
      races = std::make_unique<RaceChecker>(context, worker);
      usesAsync = usesAsyncProxy(context.image);
    }
    if (context.options.checkUninitialized)
      values = std::make_unique<UninitializedChecker>(context);
  }

  void startBlock(Block &block) override {
    worker.stats.warps += block.numWarps;
    if (races)
      races->startBlock(block);
    if (usesAsync)
      startInFlight(block);
    if (values)
      values->startBlock(block);
  }
  void endBlock(Block &block) override {
    if (races)
      races->endBlock(block);
  }
  void blockExited(Block &block) override {
    if (!races)
      return;
    races->blockExited(block);
    if (usesAsync)
      checkInFlightAtExit(block);
  }
  void startFrame(Warp &warp, Frame &frame) override {
    if (values)
      values->startFrame(warp, frame);
  }
  bool before(Warp &warp, const Inst &inst, LaneMask mask) override {
    if (counts) {
      ++worker.stats.instructions[unsigned(inst.instructionClass)];
      worker.stats.threadInstructions += llvm::popcount(mask);
    }
    if (values)
      values->before(warp, inst, mask);
    if (races)
      checkRegistersInFlight(warp, inst, mask);
    return true;
  }
  bool access(Warp &warp, const Access &access) override {
    if (counts)
      countAccess(warp, access, worker.stats);
    if (races) {
      races->access(warp, access);
      checkSharedInFlight(warp, access);
    }
    if (values)
      values->access(warp, access);
    return true;
  }
  void strongRead(Warp &warp) override {
    if (races)
      races->strongRead(warp);
  }
  void arrive(Warp &warp, unsigned barrier, LaneMask) override {
    ++worker.stats.barriers;
    if (races)
      races->arrive(warp, barrier);
  }
  void release(Block &block, unsigned barrier) override {
    if (races) {
      races->release(block, barrier);
      noteBlockBarrier(block);
    }
  }
  void warpSync(Warp &warp, const Inst &inst, LaneMask lanes) override {
    if (values)
      values->exchange(warp, inst, lanes);
    // Of the instructions that name lanes, bar.warp.sync alone orders memory.
    if (races && inst.instructionClass == InstructionClass::Barrier) {
      races->warpSync(warp);
      noteBlockBarrier(*warp.block);
    }
  }
  void fence(Warp &warp, MemoryScope scope) override {
    if (races)
      races->fence(warp, scope);
  }
  void clusterArrive(Warp &warp, uint64_t phase, bool isRelaxed) override {
    ++worker.stats.barriers;
    if (races)
      races->clusterArrive(warp, phase, isRelaxed);
  }
  void clusterWait(Warp &warp, uint64_t phase) override {
    if (races) {
      races->clusterWait(warp, phase);
      noteBlockBarrier(*warp.block);
    }
  }
  void mbarrierInit(Warp &warp, const Inst &inst, Block &owner, uint32_t offset,
                    LaneMask lanes) override {
    if (races)
      races->mbarrierInit(warp, inst, owner, offset, lanes);
  }
  void mbarrierArrive(Warp &warp, const Inst &inst, Block &owner,
                      uint32_t offset, LaneMask lanes,
                      bool isRelaxed) override {
    ++worker.stats.barriers;
    if (races)
      races->mbarrierArrive(warp, inst, owner, offset, lanes, isRelaxed);
  }
  void mbarrierComplete(Block &owner, uint32_t offset) override {
    if (races)
      races->mbarrierComplete(owner, offset);
  }
  void mbarrierWait(Warp &warp, Block &owner, uint32_t offset, LaneMask,
                    bool isRelaxed) override {
    if (races) {
      races->mbarrierWait(warp, owner, offset, isRelaxed);
      noteBlockBarrier(*warp.block);
    }
  }
  void asyncStart(Warp &warp, const AsyncAccess &access) override {
    if (races)
      races->asyncStart(warp, access);
    if (values)
      values->asyncStart(access);
  }
  void asyncDone(Warp &warp, const AsyncAccess &access) override {
    if (races)
      races->asyncDone(warp, access);
  }
  void asyncAwaited(Warp &warp, const AsyncAccess &access) override {
    if (races)
      races->asyncAwaited(warp, access);
  }
  void wgmmaAcquire(Warp &warp) override {
    if (races)
      races->wgmmaAcquire(warp);
  }
  void wgmmaRelease(Warp &warp) override {
    if (races)
      races->wgmmaRelease(warp);
  }

private:
  Worker &worker;
  bool counts = false;
  /// The kernel has asynchronous instructions, and races are looked for.
  bool usesAsync = false;
  std::unique_ptr<RaceChecker> races;
  std::unique_ptr<UninitializedChecker> values;
};
} // namespace

std::unique_ptr<Monitor>
tile_dialect::emulator::createMonitor(LaunchContext &context, Worker &worker) {
  const EmulatorOptions &options = context.options;
  if (!options.collectStats && !options.checkRaces &&
      !options.checkUninitialized)
    return nullptr;
  return std::make_unique<FullMonitor>(context, worker);
}
