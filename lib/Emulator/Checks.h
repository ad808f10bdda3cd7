//===- Checks.h - The parts of a monitor: counters and checks ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_CHECKS_H
#define TILEDIALECT_LIB_EMULATOR_CHECKS_H

#include "Monitor.h"
#include "llvm/ADT/DenseMap.h"

namespace tile_dialect::emulator {

/// Where an address of any space lies.
struct Place {
  Space space = Space::Global;
  /// For shared memory: whose; null if the address is in nobody's.
  Block *block = nullptr;
  /// The address in its space.
  uint64_t address = 0;
};
Place placeOf(Warp &warp, Space space, uint64_t address);

/// Counts sectors, wavefronts and bytes of an access.
void countAccess(Warp &warp, const Access &access, Stats &stats);

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// Who accessed a place and when, in 64 bits: the cluster (22 bits), the warp
/// in it (9), the lane (5), the cluster's clock (27), and whether the access
/// was atomic.  Zero is nobody.
class Stamp {
public:
  Stamp() = default;
  Stamp(uint64_t cluster, uint32_t warp, uint32_t lane, uint32_t clock,
        bool atomic)
      : bits((cluster & 0x3FFFFF) << 42 | uint64_t(warp & 0x1FF) << 33 |
             uint64_t(lane) << 28 | uint64_t(clock & 0x7FFFFFF) << 1 |
             uint64_t(atomic)) {}
  explicit operator bool() const { return bits != 0; }
  /// Of the same warp at the same time, whichever lane.
  bool isSameTime(const Stamp &other) const {
    return ((bits ^ other.bits) & ~(uint64_t(31) << 28)) == 0;
  }
  bool isSameWarp(const Stamp &other) const {
    return bits >> 33 == other.bits >> 33;
  }
  uint32_t cluster() const { return bits >> 42; }
  uint32_t warp() const { return bits >> 33 & 0x1FF; }
  uint32_t lane() const { return bits >> 28 & 31; }
  uint32_t clock() const { return bits >> 1 & 0x7FFFFFF; }
  bool isAtomic() const { return bits & 1; }

private:
  uint64_t bits = 0;
};

/// The last accesses of a piece of memory: its writer, and the last readers of
/// two warps since.
struct ShadowCell {
  Stamp write, reads[2];
  uint32_t writeInst = 0, readInsts[2] = {0, 0};
};

/// Cells for 1,024 bytes.  A cell covers four bytes until somebody accesses
/// fewer, then two or one.
struct ShadowPage {
  static constexpr uint64_t bytes = 1024;
  unsigned granule = 4;
  std::vector<ShadowCell> cells{bytes / 4};
  /// Makes the cells as small as the access at `offset` needs.
  void refine(uint64_t offset, uint32_t accessBytes);
};

/// A logical time for each warp of a cluster.
using VectorClock = std::vector<uint32_t>;

/// Finds accesses that no synchronisation orders, by vector clocks over the
/// warps of a cluster and over clusters.  The lanes of a warp are ordered by
/// `bar.warp.sync` and by barriers of the block.
class RaceChecker {
public:
  RaceChecker(LaunchContext &context, Worker &worker);
  ~RaceChecker();

  void startBlock(Block &block);
  void endBlock(Block &block);
  void access(Warp &warp, const Access &access);
  void arrive(Warp &warp, unsigned barrier);
  void release(Block &block, unsigned barrier);
  void warpSync(Warp &warp);
  void clusterArrive(Warp &warp);
  void clusterWait(Warp &warp);
  void mbarrierArrive(Warp &warp, Block &owner, uint32_t offset);
  void mbarrierWait(Warp &warp, Block &owner, uint32_t offset);
  void asyncStart(Warp &warp, const AsyncAccess &access);
  void asyncDone(Warp &warp, const AsyncAccess &access);

private:
  struct ClusterState;
  struct SharedState;
  struct Current;

  ClusterState &stateOf(const Block &block);
  uint32_t actorOf(const Warp &warp);
  void publish(Warp &warp, VectorClock &clock);
  void acquire(Warp &warp, const VectorClock &clock);
  void synchronize(Warp &warp, const Access &access, unsigned lane,
                   const Place &place);
  bool isOrdered(const Current &current, Stamp previous) const;
  void touch(const Current &current, ShadowPage &page, uint64_t address,
             uint32_t bytes);
  void touchShared(Current &current, Block &owner, uint32_t offset,
                   uint32_t bytes);
  void touchGlobal(Current &current, uint64_t address, uint32_t bytes);
  void reportRace(const Current &current, uint64_t address, Stamp other,
                  uint32_t otherInst, bool otherWrites);
  bool writesSameValue(const Current &current, uint64_t address,
                       uint32_t bytes) const;

  LaunchContext &context;
  Worker &worker;
  llvm::DenseMap<const Cluster *, std::unique_ptr<ClusterState>> clusters;
  /// The last one that was looked up.
  const Cluster *lastCluster = nullptr;
  ClusterState *lastState = nullptr;
};

//===----------------------------------------------------------------------===//
// Uninitialised values
//===----------------------------------------------------------------------===//

/// Follows through registers and memory which values somebody has written, and
/// reports those that decide an address, a branch or a result in global memory.
class UninitializedChecker {
public:
  explicit UninitializedChecker(LaunchContext &context) : context(context) {}

  void startBlock(Block &block);
  void startFrame(Warp &warp, Frame &frame);
  void before(Warp &warp, const Inst &inst, LaneMask mask);
  void access(Warp &warp, const Access &access);
  void asyncStart(const AsyncAccess &access);

private:
  LaneMask definedLanes(Warp &warp, const Operand &operand);
  void define(Warp &warp, const Operand &operand, LaneMask lanes,
              LaneMask mask);
  /// The marks of some bytes of memory, or null if all of it is initialised.
  uint8_t *marks(Warp &warp, const Place &place, uint32_t bytes, unsigned lane);
  void report(Warp &warp, const Inst &inst, LaneMask lanes, const char *what);

  LaunchContext &context;
  llvm::DenseMap<const Frame *, std::vector<LaneMask>> registers;
  llvm::DenseMap<const Block *, std::vector<uint8_t>> shared;
  struct LocalMarks {
    std::vector<uint8_t> lanes[warpSize];
  };
  llvm::DenseMap<const Warp *, LocalMarks> local;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_CHECKS_H
