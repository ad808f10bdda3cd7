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
#include "llvm/ADT/MapVector.h"

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

/// Accesses that no barrier has ordered yet, to shared and to global memory.
struct PendingAccesses {
  ByteSet reads;
  ByteSet writes;
  /// What asynchronous copies write that nobody has waited for. A barrier does
  /// not order it; after a wait it is a write like any other.
  ByteSet copies;
  /// Loads from global memory.
  GlobalAccesses loads;
  /// Writes to global memory, but not those of assembly, which each thread
  /// orders to its own loads.
  GlobalAccesses stores;
  /// Whether what was pending before the innermost loop around may still be.
  /// (The copies are not meant: they are among `copies`.)
  bool includesEntry = false;

  /// A barrier: what other threads did is visible. One of the lanes of a warp
  /// is taken to order accesses to global memory only.
  void order(BarrierScope scope = BarrierScope::Block) {
    if (scope == BarrierScope::Warp) {
      loads.orderInWarp();
      stores.orderInWarp();
    }
    if (scope != BarrierScope::Block)
      return;
    reads.clear();
    writes.clear();
    loads.clear();
    stores.clear();
    includesEntry = false;
  }
  void insert(const PendingAccesses &other);
  bool operator==(const PendingAccesses &other) const {
    return reads == other.reads && writes == other.writes &&
           copies == other.copies && loads == other.loads &&
           stores == other.stores && includesEntry == other.includesEntry;
  }
};

/// What an op, or several, do that must come after a barrier if something that
/// conflicts with it is pending.
struct OrderedAccesses {
  ByteSet reads;
  /// Writes, those of asynchronous copies included.
  ByteSet writes;
  /// Loads from global memory.
  GlobalAccesses globalLoads;
  /// Writes to global memory.
  GlobalAccesses globalWrites;

  void insert(const OrderedAccesses &other);
};

/// Finds the ops of a function before which all threads must meet, so that two
/// accesses to the same bytes of shared memory, one of them a write, are always
/// ordered: a forward data flow over blocks and structured control flow to a
/// fixed point. Barriers that are there already count.
///
/// A loop is analysed by itself, as if a barrier were in front of it; whether
/// one is needed there follows from what the loop does before its first
/// barrier. So each loop is analysed once, however deep it is nested, and again
/// only if more asynchronous copies may be in flight where it begins, or to
/// see whether barriers at other places in it save the one in front.
///
/// The same flow orders loads from global memory to the writes that follow
/// them, and writes to the accesses that follow them (see GlobalHazards.h), so
/// that one barrier serves both. Where a load and a write concern the lanes of
/// one warp only, the barrier is one of theirs.
///
/// Memory must have been given its place: `tile_gpu.alloc` its `offset`, ops
/// with scratch memory their `tile_gpu.scratch`.
class SharedMemoryHazards {
public:
  /// `hasInternalBarrier` tells whether what an op becomes holds a barrier of
  /// all threads between its writes to its scratch memory and its reads of it.
  /// Loads from global memory are ordered to later writes in other threads of
  /// `globalScope`: BarrierScope::Warp if the function has one warp only.
  SharedMemoryHazards(Operation *function,
                      llvm::function_ref<bool(Operation *)> hasInternalBarrier,
                      BarrierScope globalScope = BarrierScope::None);

  /// The ops that need a barrier in front of them, and the threads it is for.
  ArrayRef<std::pair<Operation *, BarrierScope>> getBarrierPoints() const {
    return points.getArrayRef();
  }

private:
  using TerminatorStates = llvm::DenseMap<Operation *, PendingAccesses>;

  /// What is known of a loop, an op whose regions may run again.
  struct Loop {
    /// Copies that may be in flight where it begins.
    ByteSet entryCopies;
    /// What it does before its first barrier.
    OrderedAccesses exposed;
    /// What is pending after it, if only `entryCopies` are before.
    PendingAccesses result;
    bool isAnalysed = false;
  };

  static bool update(TerminatorStates &states, Operation *terminator,
                     const PendingAccesses &state);
  PendingAccesses visitOp(Operation *op, PendingAccesses state);
  void visitAccess(Operation *op, PendingAccesses &state);
  TerminatorStates visitRegion(Region &region, const PendingAccesses &entry);
  PendingAccesses visitLoop(Operation *op, PendingAccesses state);
  PendingAccesses flowThroughLoop(Operation *op, const PendingAccesses &entry);
  const Loop &analyseLoop(Operation *op, const ByteSet &entryCopies);
  bool orderInside(Operation *op, const PendingAccesses &entry);
  PendingAccesses flowThroughRegions(Operation *op,
                                     const PendingAccesses &entry);
  PendingAccesses visitRoles(WarpSpecializeOp op, const PendingAccesses &entry);
  PendingAccesses visitUnknownRegions(Operation *op,
                                      const PendingAccesses &entry);

  BarrierScope getNeededScope(const OrderedAccesses &ordered,
                              const PendingAccesses &pending) const;
  void addPoint(Operation *op, BarrierScope scope);
  unsigned getCost() const;
  PendingAccesses getAccesses(Operation *op) const;
  const GlobalAccess &getGlobalAccess(Operation *op);
  ByteSet getBytes(Value memory) const;

  SharedMemoryAliasing aliasing;
  llvm::function_ref<bool(Operation *)> hasInternalBarrier;
  BarrierScope globalScope;
  /// What each op writes, or a load reads, in global memory.
  llvm::DenseMap<Operation *, GlobalAccess> globalAccesses;
  llvm::DenseMap<Operation *, Loop> loops;
  /// What the loop that is being analysed does before its first barrier.
  OrderedAccesses exposed;
  /// Whether barriers are placed on trial.
  bool isTrial = false;
  llvm::MapVector<Operation *, BarrierScope> points;
};

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_ANALYSIS_SHAREDMEMORYHAZARDS_H
