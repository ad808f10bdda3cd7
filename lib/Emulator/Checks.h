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
#include "RaceClocks.h"
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

/// Who accessed a place and when, in 64 bits: the cluster (22 bits), the actor
/// in it (9), the lane (5), the cluster's clock (26), and the scope if the
/// access was strong (2).  Zero is nobody.
class Stamp {
public:
  Stamp() = default;
  Stamp(uint64_t cluster, uint32_t actor, uint32_t lane, uint32_t clock,
        MemoryScope scope)
      : bits((cluster & clusterMask) << 42 | uint64_t(actor & 0x1FF) << 33 |
             uint64_t(lane) << 28 | uint64_t(clock & 0x3FFFFFF) << 2 |
             uint64_t(scope)) {}
  explicit operator bool() const { return bits != 0; }
  /// Of the same actor at the same time, whichever lane.
  bool isSameTime(const Stamp &other) const {
    return ((bits ^ other.bits) & ~(uint64_t(31) << 28)) == 0;
  }
  bool isSameActor(const Stamp &other) const {
    return bits >> 33 == other.bits >> 33;
  }
  uint32_t cluster() const { return bits >> 42; }
  uint32_t actor() const { return bits >> 33 & 0x1FF; }
  uint32_t lane() const { return bits >> 28 & 31; }
  uint32_t clock() const { return bits >> 2 & 0x3FFFFFF; }
  MemoryScope scope() const { return MemoryScope(bits & 3); }
  bool isStrong() const { return scope() != MemoryScope::None; }

  static constexpr uint64_t clusterMask = 0x3FFFFF;
  static constexpr uint32_t maximalActors = 512;
  /// The time of what has not ended: nobody is ordered behind it.
  static constexpr uint32_t pending = 0x3FFFFFF;

private:
  uint64_t bits = 0;
};

/// The last accesses of a piece of memory: its writer, and the last readers of
/// two warps since, each with its instruction.  All zero: nobody.
struct ShadowCell {
  Stamp write, reads[2];

  uint32_t writeInst() const { return insts & instMask; }
  uint32_t readInst(unsigned r) const {
    return insts >> (r + 1) * instBits & instMask;
  }
  /// Makes `stamp` the only access.
  void setWrite(Stamp stamp, uint32_t inst) {
    write = stamp;
    reads[0] = reads[1] = Stamp();
    insts = inst & instMask;
  }
  void setRead(unsigned r, Stamp stamp, uint32_t inst) {
    unsigned shift = (r + 1) * instBits;
    reads[r] = stamp;
    insts = (insts & ~(instMask << shift)) | (inst & instMask) << shift;
  }

private:
  static constexpr unsigned instBits = 21;
  static constexpr uint64_t instMask = (1u << instBits) - 1;
  uint64_t insts = 0;
};

/// Cells for 1,024 bytes.  A cell covers four bytes until somebody accesses
/// fewer, then two or one.
struct ShadowPage {
  static constexpr uint64_t bytes = 1024;
  static constexpr unsigned numCells = bytes / 4;
  unsigned granule = 4;
  /// In a slab (RaceState.h), or in `own`.
  ShadowCell *cells = nullptr;
  std::unique_ptr<ShadowCell[]> own;
  /// By cell: readers of shared memory beyond those in the cell.
  struct Reader {
    Stamp stamp;
    uint32_t inst = 0;
  };
  llvm::DenseMap<unsigned, llvm::SmallVector<Reader, 4>> moreReads;

  ShadowPage() : own(std::make_unique<ShadowCell[]>(numCells)) {
    cells = own.get();
  }
  /// With cells that are zero.
  explicit ShadowPage(ShadowCell *cells) : cells(cells) {}
  /// Makes the cells as small as the access at `offset` needs.
  void refine(uint64_t offset, uint32_t accessBytes);
};

/// Finds accesses that no synchronisation orders, by vector clocks over the
/// warps of a cluster and over clusters, as the memory model of the PTX ISA
/// has it: barriers order; releases and acquires order where a strong read sees
/// what a strong write (or an atomic) wrote, each of them a fence away at most.
/// The lanes of a warp release and acquire together, but are ordered among each
/// other by `bar.warp.sync` and by barriers of the block alone.
class RaceChecker {
public:
  RaceChecker(LaunchContext &context, Worker &worker);
  ~RaceChecker();

  void startBlock(Block &block);
  void endBlock(Block &block);
  void blockExited(Block &block);
  void access(Warp &warp, const Access &access);
  /// The strong access that `access` was told of last has been made.
  void strongRead(Warp &warp);
  void arrive(Warp &warp, unsigned barrier);
  void release(Block &block, unsigned barrier);
  void warpSync(Warp &warp);
  void fence(Warp &warp, MemoryScope scope);
  void clusterArrive(Warp &warp, uint64_t phase, bool isRelaxed);
  void clusterWait(Warp &warp, uint64_t phase);
  void mbarrierInit(Warp &warp, const Inst &inst, Block &owner, uint32_t offset,
                    LaneMask lanes);
  void mbarrierArrive(Warp &warp, const Inst &inst, Block &owner,
                      uint32_t offset, LaneMask lanes, bool isRelaxed);
  void mbarrierComplete(Block &owner, uint32_t offset);
  void mbarrierWait(Warp &warp, Block &owner, uint32_t offset, bool isRelaxed);
  void asyncStart(Warp &warp, const AsyncAccess &access);
  void asyncDone(Warp &warp, const AsyncAccess &access);
  void asyncAwaited(Warp &warp, const AsyncAccess &access);
  void wgmmaAcquire(Warp &warp);
  void wgmmaRelease(Warp &warp);

private:
  struct ClusterState;
  struct SharedState;
  struct Current;
  struct GlobalCursor;

  ClusterState &stateOf(const Block &block);
  uint32_t actorOf(const Warp &warp);
  void acquireStrong(Warp &warp, unsigned lane, const Place &place);
  void releaseStrong(Current &current, const Place &place);
  bool isOrdered(const Current &current, Stamp previous) const;
  bool isWriteOrdered(const Current &current, const ShadowCell &cell) const;
  bool checkWrite(const Current &current, const ShadowPage &page,
                  unsigned index, uint64_t address, uint32_t instIndex);
  void noteRead(const Current &current, ShadowPage &page, unsigned index,
                uint32_t instIndex);
  void touch(const Current &current, ShadowPage &page, uint64_t address,
             uint32_t bytes);
  void touchShared(Current &current, Block &owner, uint32_t offset,
                   uint32_t bytes);
  void touchGlobal(Current &current, GlobalCursor &cursor, uint64_t address,
                   uint32_t bytes);
  void noteRemote(const Current &current, Block &owner);
  void reportRace(const Current &current, uint64_t address, Stamp other,
                  uint32_t otherInst, bool otherWrites);
  Location locateOther(const Current &current, Stamp other,
                       const Inst &inst) const;
  bool writesSameValue(const Current &current, uint64_t address, uint32_t bytes,
                       const ShadowCell &cell, uint32_t instIndex) const;

  ShadowCell *takeCells();

  /// The last strong access: its places, and what each lane has acquired for
  /// the whole device (at the last element of a vector).
  struct StrongAccess {
    MemoryScope scope = MemoryScope::None;
    MemoryOrder order = MemoryOrder::Relaxed;
    LaneMask lanes = 0;
    uint32_t bytes = 0, elementBytes = 0;
    Place places[warpSize];
    ClusterClocks::Pointer acquired[warpSize];
  };

  LaunchContext &context;
  Worker &worker;
  /// What is left of this host thread's slab.
  ShadowCell *freeCells = nullptr;
  StrongAccess strong;
  size_t numFreePages = 0;
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
  /// The lanes execute an instruction that exchanges values among them.
  void exchange(Warp &warp, const Inst &inst, LaneMask lanes);
  void access(Warp &warp, const Access &access);
  void asyncStart(const AsyncAccess &access);

private:
  LaneMask definedLanes(Warp &warp, const Operand &operand);
  LaneMask definedInAll(Warp &warp, llvm::ArrayRef<Operand> operands);
  void multiply(Warp &warp, const Inst &inst, LaneMask mask);
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
