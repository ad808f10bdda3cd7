//===- InFlight.h - Checks of asynchronous accesses ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory that an asynchronous operation reads or writes belongs to it
// from its issue until it has completed (for wgmma and cp.async: until its warp
// has waited for it).  Any other access that conflicts in that time is a race,
// whatever barriers lie between.  Registers of a wgmma in flight are guarded in
// the same way.
//
// The engines see what ordinary stores wrote only behind a fence.proxy.async.
// Each store notes who made it; a fence covers the earlier stores of the thread
// that executes it and, since fences are cumulative, those that a barrier of
// the block has ordered before it.
//
// These checks are part of the `race` mode.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_INFLIGHT_H
#define TILEDIALECT_LIB_EMULATOR_INFLIGHT_H

#include "Machine.h"
#include <deque>
#include <vector>

namespace tile_dialect::emulator {

class InFlight;

/// Operations of one owner; they end when the list does.
class InFlightList {
public:
  InFlightList() = default;
  InFlightList(InFlightList &&other) { *this = std::move(other); }
  InFlightList &operator=(InFlightList &&other) {
    end();
    entries = std::move(other.entries);
    other.entries.clear();
    return *this;
  }
  ~InFlightList() = default;
  void add(InFlight &owner, uint32_t id) { entries.push_back({&owner, id}); }
  /// Ends the operations: they have completed.
  void end();

private:
  std::vector<std::pair<InFlight *, uint32_t>> entries;
};

/// Shared memory of a block that is in flight.
class InFlight {
public:
  /// Offset and size.
  using Range = std::pair<uint32_t, uint32_t>;
  struct Entry {
    const Inst *inst = nullptr;
    Location where;
    bool writes = false;
    /// The block must not end before it.
    bool boundsBlock = false;
    std::vector<Range> ranges;
  };

  explicit InFlight(size_t sharedBytes) : cells(sharedBytes / cellBytes + 1) {}

  /// An operation begins; conflicts with others in flight are reported.
  /// `boundsBlock`: the block whose memory it is must not end before it.
  void begin(Warp &warp, const Inst &inst, unsigned lane, bool writes,
             std::vector<Range> ranges, InFlightList &list,
             bool boundsBlock = false);
  void end(uint32_t id);
  /// The operation in flight that an ordinary access conflicts with, or null.
  const Entry *conflict(uint32_t offset, uint32_t bytes, bool writes) const;
  bool isEmpty() const { return numLive == 0; }
  /// An operation in flight that the block's end is too early for, or null.
  const Entry *atExit() const;

  /// An ordinary store of a thread (its number in the block).
  void noteStore(uint32_t offset, uint32_t bytes, uint32_t thread);
  /// fence.proxy.async of a thread.
  void noteFence(uint32_t thread);
  /// A barrier has ordered what the threads of the block did.
  void noteBarrier();

private:
  static constexpr uint32_t cellBytes = 4;
  /// Ids of the last operation that writes and reads a cell plus one, and how
  /// many read it.
  struct Cell {
    uint32_t writer = 0, reader = 0;
    uint16_t numReaders = 0, numWriters = 0;
    /// The last ordinary store that no asynchronous one has replaced: the
    /// thread plus one, and when.
    uint32_t storer = 0;
    uint32_t storeTime = 0;
  };
  bool isFenced(const Cell &cell) const;
  void checkProxyFence(Warp &warp, const Inst &inst, unsigned lane,
                       llvm::ArrayRef<Range> ranges);

  std::vector<Cell> cells;
  std::deque<Entry> entries;
  std::vector<uint32_t> freeEntries;
  uint32_t numLive = 0;
  /// Counts fences and barriers.
  uint32_t time = 0, lastFence = 0;
  bool storedSinceBarrier = false;
  std::vector<uint32_t> barrierTimes;
  llvm::SmallVector<uint32_t, 0> fenceTimes;
};

/// The registers of the wgmmas of a warp that are in flight.  Registers are
/// named by the offset in their frame divided by 64.
class WgmmaRegisters {
public:
  /// What wgmma.fence has not covered since it was written.
  std::vector<bool> dirty;
  /// The group plus one that holds a register: accumulators, and sources.
  std::vector<uint64_t> accumulators, sources;
  Frame *frame = nullptr;
  const Inst *lastWgmma = nullptr;
  uint32_t numHeld = 0;
  bool usesWgmma = false;

  /// Forgets holds of groups up to `group`.
  void release(uint64_t group);
  void prepare(Frame *current);
};

/// Whether a kernel has instructions that these checks are about.
bool usesAsyncProxy(const Image &image);
/// Begins the checks for a block: from now on stores are noted.
void startInFlight(Block &block);
/// What the monitor passes on when threads meet.
void noteProxyFence(Warp &warp, LaneMask mask);
void noteBlockBarrier(Block &block);
/// Reports operations that still use the memory of a block that has ended.
void checkInFlightAtExit(Block &block);
/// Checks an ordinary access against what is in flight; files reports.
void checkSharedInFlight(Warp &warp, const Access &access);
/// Checks the registers that an instruction reads and writes against wgmmas in
/// flight, and notes what it writes for the check of wgmma.fence.
void checkRegistersInFlight(Warp &warp, const Inst &inst, LaneMask mask);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_INFLIGHT_H
