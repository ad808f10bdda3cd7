//===- Monitor.h - Checks and counters that watch a launch ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_MONITOR_H
#define TILEDIALECT_LIB_EMULATOR_MONITOR_H

#include "Machine.h"

namespace tile_dialect::emulator {

/// An access to the shared memory of a block by an asynchronous engine (the
/// async proxy): bulk and tensor copies, st.async, wgmma.
struct AsyncAccess {
  const Inst *inst = nullptr;
  /// The lane that issued it.
  unsigned lane = 0;
  Block *block = nullptr;
  /// Offsets and sizes in the block's shared memory.
  llvm::ArrayRef<std::pair<uint32_t, uint32_t>> ranges;
  /// Addresses and sizes in global memory.
  llvm::ArrayRef<std::pair<uint64_t, uint32_t>> globalRanges;
  /// Of accesses to global memory: a reduction is a strong access.
  MemoryScope scope = MemoryScope::None;
  bool writes = false;
  /// Completion is signalled to an mbarrier of the same block at this offset;
  /// else to a group of the issuing thread.
  bool hasMbarrier = false;
  uint32_t mbarrier = 0;
  /// A later call tells of the same access: look for conflicts, leave no mark.
  bool onlyChecks = false;
};

/// Watches what the warps of one host thread do.  Each host thread has its own;
/// state that blocks share is in the launch.
class Monitor {
public:
  virtual ~Monitor() = default;

  /// A block starts with memory that nobody has written.
  virtual void startBlock(Block &block) {}
  virtual void endBlock(Block &block) {}
  /// The last thread of a block has ended; others of its cluster may go on.
  virtual void blockExited(Block &block) {}
  virtual void startFrame(Warp &warp, Frame &frame) {}
  /// Before an instruction is executed for the lanes of `mask`, which is not
  /// empty; false if an error was filed.
  virtual bool before(Warp &warp, const Inst &inst, LaneMask mask) {
    return true;
  }
  /// Before the memory of an access is touched; false if an error was filed.
  virtual bool access(Warp &warp, const Access &access) { return true; }
  /// A strong access that reads has been made: what another host thread wrote
  /// in between counts.
  virtual void strongRead(Warp &warp) {}
  /// The lanes of a warp arrive at a barrier of the block.
  virtual void arrive(Warp &warp, unsigned barrier, LaneMask lanes) {}
  /// A barrier has completed its phase.
  virtual void release(Block &block, unsigned barrier) {}
  /// All the named lanes of a warp met (`bar.warp.sync`, `shfl.sync` …).
  virtual void warpSync(Warp &warp, const Inst &inst, LaneMask lanes) {}
  /// A memory fence of some lanes.
  virtual void fence(Warp &warp, MemoryScope scope) {}
  /// A warp arrives at the cluster's barrier; it has seen that phase complete.
  virtual void clusterArrive(Warp &warp, uint64_t phase, bool isRelaxed) {}
  virtual void clusterWait(Warp &warp, uint64_t phase) {}
  /// Lanes initialise the mbarrier of a block, arrive at it (release), or have
  /// seen a phase of it complete (acquire).
  virtual void mbarrierInit(Warp &warp, const Inst &inst, Block &owner,
                            uint32_t offset, LaneMask lanes) {}
  virtual void mbarrierArrive(Warp &warp, const Inst &inst, Block &owner,
                              uint32_t offset, LaneMask lanes, bool isRelaxed) {
  }
  virtual void mbarrierWait(Warp &warp, Block &owner, uint32_t offset,
                            LaneMask lanes, bool isRelaxed) {}
  /// A phase has completed.
  virtual void mbarrierComplete(Block &owner, uint32_t offset) {}
  /// An asynchronous access is issued; it completes (its mbarrier is signalled
  /// behind that call, or its issuer has waited for it).
  virtual void asyncStart(Warp &warp, const AsyncAccess &access) {}
  virtual void asyncDone(Warp &warp, const AsyncAccess &access) {}
  /// The issuer has waited for writes to global memory.
  virtual void asyncAwaited(Warp &warp, const AsyncAccess &access) {}
  /// A warp waits for a wgmma of its warpgroup that another warp has seen
  /// complete; it has seen that itself.
  virtual void wgmmaAcquire(Warp &warp) {}
  virtual void wgmmaRelease(Warp &warp) {}
};

/// The monitor that the options ask for, or null.
std::unique_ptr<Monitor> createMonitor(LaunchContext &context, Worker &worker);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_MONITOR_H
