//===- RaceState.h - What the race check remembers ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_RACESTATE_H
#define TILEDIALECT_LIB_EMULATOR_RACESTATE_H

#include "Checks.h"
#include "llvm/Support/Memory.h"
#include <optional>

namespace tile_dialect::emulator {

struct RaceChecker::ClusterState {
  /// Of a warp.  Strong accesses without an acquire put what they found aside
  /// until a fence; those without a release hand on what the last fence saw.
  /// "Wide" is what fences and accesses of the device's scope do.
  struct Actor {
    Knowledge knows;
    Knowledge found, foundWide;
    Knowledge fenced;
    ClusterClocks::Pointer fencedWide;
    /// What was acquired last; it is part of `knows`.
    ClusterClocks::Pointer lastAcquired;
  };
  struct Mbarrier {
    /// What arrivals of the phase under way and of completed ones released.
    Knowledge arriving, complete;
    /// The actor of the copies that signal it; zero: none yet.
    uint32_t engine = 0;
  };
  /// The last access that a warp made to the memory of another block.
  struct Remote {
    uint32_t clock = 0, inst = 0, lane = 0;
  };
  struct BlockState {
    Knowledge barriers[numBarriers];
    std::vector<std::unique_ptr<ShadowPage>> pages;
    std::vector<Remote> remote;
    bool hasExited = false;
  };
  struct ClusterPhase {
    uint64_t number = 0;
    Knowledge arrived;
  };

  struct LastLookup {
    ClusterClocks::Pointer in;
    uint32_t cluster = 0;
    VectorClock clock;
  };

  LastLookup lastLookup;
  uint32_t number = 0;
  uint32_t clock = 1;
  uint32_t warpsPerBlock = 0, numWarps = 0;
  std::vector<Actor> actors;
  std::vector<BlockState> blocks;
  /// A phase and the one before, some warp of which has not gone on.
  ClusterPhase phases[2];
  std::vector<Knowledge> warpgroups;
  /// Places of strong accesses by block and offset; those in global memory by
  /// address, with block ~0 - 2.
  llvm::DenseMap<std::pair<uint32_t, uint64_t>, Knowledge> places;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, Mbarrier> mbarriers;
  /// The warp that issued the last copy of each engine.
  std::vector<uint32_t> issuers;

  /// Releases what a warp did and knows into `into`.
  void publish(uint32_t actor, Knowledge &into) {
    into.join(actors[actor].knows);
    into.own.set(actor, clock++);
  }
  /// Behind whom an actor that may be an engine stands.
  uint32_t warpOf(uint32_t actor) const {
    return actor < numWarps ? actor : issuers[actor - numWarps];
  }
};

/// Shared by all host threads of a launch.
struct RaceChecker::SharedState {
  static constexpr unsigned numShards = 64;
  struct Shard {
    std::mutex lock;
    llvm::DenseMap<uint64_t, std::unique_ptr<ShadowPage>> pages;
    /// What was released at an address for the whole device.
    llvm::DenseMap<uint64_t, ClusterClocks::Pointer> places;
  };
  Shard &shardOf(uint64_t address) {
    return shards[address / ShadowPage::bytes % numShards];
  }
  Shard shards[numShards];

  /// Zero-filled memory for cells, in large pieces: most of the time would else
  /// go to page faults.
  static constexpr size_t slabPages = 1024;
  std::mutex slabLock;
  std::vector<llvm::sys::OwningMemoryBlock> slabs;
  ShadowCell *newSlab();
};

/// The access that is being checked.
struct RaceChecker::Current {
  Warp &warp;
  const Inst &inst;
  ClusterState &state;
  uint32_t actor;
  unsigned lane = 0;
  bool writes = false, isAtomic = false;
  bool isShared = false;
  MemoryScope scope = MemoryScope::None;
  Block *owner = nullptr;
  const Access *access = nullptr;
  /// Only looks for conflicts, leaves no mark.
  bool onlyChecks = false;
  /// What reports call it; null: a read, a write or an atomic access.
  const char *verb = nullptr;
  Stamp stamp{};
  /// What a release of this access hands on.
  std::optional<Knowledge> released{};
  ClusterClocks::Pointer releasedWide{};
};

/// Each element of a strong access of `bytes` at `place`: another access may
/// synchronise with one of them.
template <typename F>
void eachElement(Place place, uint32_t bytes, uint32_t elementBytes, F visit) {
  for (uint32_t offset = 0; offset < bytes; offset += elementBytes) {
    visit(place);
    place.address += elementBytes;
  }
}

/// The page of global memory of the last lane, which is locked.
struct RaceChecker::GlobalCursor {
  uint64_t index = ~uint64_t(0);
  ShadowPage *page = nullptr;
  std::unique_lock<std::mutex> lock;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_RACESTATE_H
