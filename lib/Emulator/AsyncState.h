//===- AsyncState.h - Asynchronous operations in flight ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an asynchronous instruction does happens as late as the ISA allows, so
// that a kernel that does not wait sees old data:
//  - `cp.async` copies when its thread waits for it (or when an mbarrier
//  arrival
//    that tracks it fires);
//  - bulk and tensor copies are tasks of the cluster that run some scheduling
//    rounds later, or when their group is awaited;
//  - `wgmma` computes at once, since compilers move accumulators between
//    registers while it is in flight; the checks know what is in flight.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_ASYNCSTATE_H
#define TILEDIALECT_LIB_EMULATOR_ASYNCSTATE_H

#include "InFlight.h"
#include "Machine.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace tile_dialect::emulator {

/// A bulk or tensor copy: it reads its source first and completes later.
struct AsyncOperation {
  std::function<void()> onRead, onFinish;
  /// The issuing thread has waited for the reading (bulk async-groups).
  std::function<void()> onAwaited;
  /// … and for the whole.
  std::function<void()> onFinishAwaited;
  /// Entries of InFlight that end with the reading, or where it is awaited, and
  /// with the whole.
  InFlightList reads, writes;
  bool hasRead = false, hasFinished = false, inGroup = false;

  void read();
  void finish();
  /// Reads at the latest now, as seen by the issuing thread.
  void await();
};
using AsyncOperationRef = std::shared_ptr<AsyncOperation>;

/// Lets the cluster run an operation after some rounds.
void scheduleOperation(Warp &warp, AsyncOperationRef operation);

/// The bulk async-groups of a thread.
struct BulkGroups {
  std::vector<AsyncOperationRef> open;
  std::deque<std::vector<AsyncOperationRef>> committed;
};

/// A `cp.async` of a warp that has not copied for all of its lanes.
struct PendingCopy {
  LaneMask pending = 0;
  uint32_t bytes = 0;
  uint64_t sequence = 0;
  uint8_t *dest[warpSize];
  const uint8_t *source[warpSize];
  /// Bytes that are read; the rest is zero.
  uint8_t sourceBytes[warpSize];
  /// The number of the group that the copy of each lane belongs to.
  uint32_t group[warpSize];
  InFlightList inFlight;
  /// Set if the checks are on.
  const Inst *inst = nullptr;
};

/// A `wgmma` that its warp has not awaited.
struct PendingWgmma {
  const Inst *inst = nullptr;
  uint64_t group = 0;
  std::vector<InFlight::Range> ranges;
  InFlightList shared;
};

struct WarpAsync {
  std::deque<PendingCopy> copies;
  uint64_t nextSequence = 0;
  /// Groups that each lane has committed.
  uint32_t copyGroups[warpSize] = {};
  BulkGroups bulk[warpSize];
  std::deque<PendingWgmma> wgmmas;
  uint64_t wgmmaGroups = 0;
  /// Of the checks; null if they are off.
  std::unique_ptr<WgmmaRegisters> registers;

  /// Copies for `lanes` what `isDue(copy, lane)` selects.
  template <typename F> void runCopies(LaneMask lanes, F isDue);
};

struct MbarrierEntry {
  /// What the memory must hold unless it was overwritten.
  uint64_t bits = 0;
  /// Completed phases, for reports.
  uint64_t phases = 0;
};

struct BlockAsync {
  /// The mbarriers that are initialised, by offset.
  llvm::DenseMap<uint32_t, MbarrierEntry> mbarriers;
  /// Null if the checks are off.
  std::unique_ptr<InFlight> inFlight;
};

WarpAsync &asyncOf(Warp &warp);
BlockAsync &asyncOf(Block &block);

/// Copies the lane's bytes of a pending copy.
void copyLane(PendingCopy &copy, unsigned lane);

template <typename F> void WarpAsync::runCopies(LaneMask lanes, F isDue) {
  for (PendingCopy &copy : copies) {
    LaneMask left = copy.pending & lanes;
    while (left) {
      unsigned l = llvm::countr_zero(left);
      left &= left - 1;
      if (!isDue(copy, l))
        continue;
      copyLane(copy, l);
      copy.pending &= ~(LaneMask(1) << l);
    }
    if (copy.pending == 0)
      copy.inFlight.end();
  }
  while (!copies.empty() && copies.front().pending == 0)
    copies.pop_front();
}

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_ASYNCSTATE_H
