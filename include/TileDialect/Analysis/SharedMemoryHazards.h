//===- SharedMemoryHazards.h - Where barriers are needed --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_SHAREDMEMORYHAZARDS_H
#define TILEDIALECT_ANALYSIS_SHAREDMEMORYHAZARDS_H

#include "TileDialect/Analysis/GlobalHazards.h"
#include "TileDialect/Analysis/SharedMemoryAliasing.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tile_gpu {

/// A set of byte addresses, as disjoint [begin, end) ranges in ascending order.
class ByteSet {
public:
  void insert(int64_t begin, int64_t end);
  void insert(const ByteSet &other);
  bool overlaps(const ByteSet &other) const;
  bool empty() const { return ranges.empty(); }
  void clear() { ranges.clear(); }
  bool operator==(const ByteSet &other) const { return ranges == other.ranges; }

private:
  SmallVector<std::pair<int64_t, int64_t>, 2> ranges;
};

/// Accesses that no barrier has ordered yet: all those to shared memory, and
/// loads from global memory that several warps do.
struct PendingAccesses {
  ByteSet reads;
  ByteSet writes;
  /// What asynchronous copies write that nobody has waited for. A barrier does
  /// not order it; after a wait it is a write like any other.
  ByteSet copies;
  /// Where redundant loads read global memory.
  PointerRoots loads;

  /// A barrier: what other threads did is visible.
  void order() {
    reads.clear();
    writes.clear();
    loads.clear();
  }
  void insert(const PendingAccesses &other);
  bool operator==(const PendingAccesses &other) const {
    return reads == other.reads && writes == other.writes &&
           copies == other.copies && loads == other.loads;
  }
};

/// Finds the ops of a function before which all threads must meet, so that two
/// accesses to the same bytes of shared memory, one of them a write, are always
/// ordered: a forward data flow over blocks and structured control flow to a
/// fixed point. Barriers that are there already count.
///
/// The same flow orders loads from global memory that several warps repeat to
/// the writes that follow them (see GlobalHazards.h), so that one barrier
/// serves both.
///
/// Memory must have been given its place: `tile_gpu.alloc` its `offset`, ops
/// with scratch memory their `tile_gpu.scratch`.
class SharedMemoryHazards {
public:
  /// `hasInternalBarrier` tells whether what an op becomes holds a barrier of
  /// all threads between its writes to its scratch memory and its reads of it.
  /// `ordersGlobalLoads`: the function has more than one warp, and its loads
  /// from global memory have to be ordered to later writes, too.
  SharedMemoryHazards(Operation *function,
                      llvm::function_ref<bool(Operation *)> hasInternalBarrier,
                      bool ordersGlobalLoads = false);

  /// The ops that need a barrier in front of them.
  ArrayRef<Operation *> getBarrierPoints() const {
    return points.getArrayRef();
  }

private:
  using TerminatorStates = llvm::DenseMap<Operation *, PendingAccesses>;

  static bool update(TerminatorStates &states, Operation *terminator,
                     const PendingAccesses &state);
  PendingAccesses visitOp(Operation *op, PendingAccesses state);
  void visitAccess(Operation *op, PendingAccesses &state);
  TerminatorStates visitRegion(Region &region, const PendingAccesses &entry);
  PendingAccesses visitRegionBranch(Operation *op,
                                    const PendingAccesses &entry);
  PendingAccesses flowThroughRegions(Operation *op,
                                     const PendingAccesses &entry);
  PendingAccesses visitRoles(WarpSpecializeOp op, const PendingAccesses &entry);
  PendingAccesses visitUnknownRegions(Operation *op,
                                      const PendingAccesses &entry);

  PendingAccesses getAccesses(Operation *op) const;
  const PointerRoots &getGlobalRoots(Operation *op);
  ByteSet getBytes(Value memory) const;

  SharedMemoryAliasing aliasing;
  llvm::function_ref<bool(Operation *)> hasInternalBarrier;
  bool ordersGlobalLoads;
  /// What each op writes, or reads redundantly, in global memory.
  llvm::DenseMap<Operation *, PointerRoots> globalRoots;
  llvm::SetVector<Operation *> points;
};

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_ANALYSIS_SHAREDMEMORYHAZARDS_H
