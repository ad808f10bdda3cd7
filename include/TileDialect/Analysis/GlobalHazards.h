//===- GlobalHazards.h - Races of accesses to global memory -----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile.load whose elements have several holders becomes a load in each of
// them. A write to the same address that follows in the program may overtake
// the loads of slower warps, or lanes, and the value would differ between them.
// A load that follows a write may overtake it in the same way, and a write that
// another thread does.
// Which loads and writes may meet is told by the arguments that their pointers
// are computed from, and by `tile.alias_group` on these. What ops of other
// dialects do to memory, thread by thread, is left to who wrote them.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_GLOBALHAZARDS_H
#define TILEDIALECT_ANALYSIS_GLOBALHAZARDS_H

#include "mlir/IR/Operation.h"

namespace mlir::tile_gpu {

/// The arguments of a function that pointers (or descriptors, or tiles of
/// pointers) are computed from.
class PointerRoots {
public:
  PointerRoots() = default;
  /// Follows `pointer` back through address arithmetic, shape ops, selections
  /// and control flow. What comes from elsewhere (memory, an integer) has an
  /// unknown root.
  explicit PointerRoots(Value pointer);
  /// Roots that may be any.
  static PointerRoots getUnknown();

  void insert(const PointerRoots &other);
  void clear() { *this = PointerRoots(); }
  bool empty() const { return arguments.empty() && !unknown; }
  /// True if every root is an argument, and there is one.
  bool isKnown() const { return !arguments.empty() && !unknown; }
  /// True if an element of one set may be one of the other. Two arguments are
  /// taken to be different memory unless they have the same `tile.alias_group`;
  /// an unknown root may be any.
  bool overlaps(const PointerRoots &other) const;
  bool operator==(const PointerRoots &other) const {
    return unknown == other.unknown && arguments == other.arguments;
  }

private:
  bool follow(Value value, function_ref<void(Value)> visit);

  /// Numbers of arguments, in ascending order; of an alias group the first one
  /// stands for all.
  SmallVector<unsigned, 2> arguments;
  bool unknown = false;
};

/// Which threads wait for each other.
enum class BarrierScope {
  None,
  /// The lanes of each warp.
  Warp,
  /// All threads of the block, or of a role.
  Block,
};

/// An access to global memory, or several that are spread alike over threads.
struct GlobalAccess {
  /// Tells which threads access which bytes: a tensor of the shape and layout
  /// of what is accessed, or a scalar, of integers as wide as its elements in
  /// memory. Null if it is not known.
  Type spread;
  PointerRoots roots;
};

/// What `op` itself reads, if it is a tile.load or tile.desc_load whose result
/// is used; no roots otherwise.
GlobalAccess getGlobalLoad(Operation *op);

/// What `op` itself writes, if it is a tile op that writes global memory; no
/// roots otherwise. Assembly and functions that are not pure may write
/// anything, each thread where it has loaded from.
GlobalAccess getGlobalWrite(Operation *op);

/// The threads that must meet between a load and a write of the same address,
/// whichever comes first. Threads load an element that do not write it where
/// the loaded tile has copies, or where the two tiles are spread in different
/// ways. All threads are of one warp if `widest` is BarrierScope::Warp.
BarrierScope getScopeBetween(Type loadSpread, Type writeSpread,
                             BarrierScope widest);

/// Accesses to global memory, those that are spread alike as one.
class GlobalAccesses {
public:
  void insert(const GlobalAccess &access) { insert(access, false); }
  void insert(const GlobalAccesses &other);
  void clear() { entries.clear(); }
  /// The lanes of each warp have met since.
  void orderInWarp();
  /// The threads that must meet between these loads and `writes`.
  BarrierScope getScopeBeforeWrites(const GlobalAccesses &writes,
                                    BarrierScope widest) const;
  /// The threads that must meet between these writes and `writes`, so that the
  /// last one stays. An element of tiles that are spread alike has one writer.
  BarrierScope getScopeBetweenWrites(const GlobalAccesses &writes,
                                     BarrierScope widest) const;
  /// The threads that must meet between these writes and `loads`.
  BarrierScope getScopeBeforeLoads(const GlobalAccesses &loads,
                                   BarrierScope widest) const;
  bool operator==(const GlobalAccesses &other) const {
    return entries == other.entries;
  }

private:
  struct Entry {
    GlobalAccess access;
    bool isOrderedInWarp;
    bool operator==(const Entry &other) const {
      return access.spread == other.access.spread &&
             access.roots == other.access.roots &&
             isOrderedInWarp == other.isOrderedInWarp;
    }
  };
  void insert(const GlobalAccess &access, bool isOrderedInWarp);
  BarrierScope
  getScopeBefore(const GlobalAccesses &later,
                 function_ref<BarrierScope(Type, Type)> getScope) const;

  /// Sorted, so that equal sets are equal.
  SmallVector<Entry, 1> entries;
};

/// The roots of all writes under `function`, those of other dialects' ops
/// (unknown ones) included.
PointerRoots getAllWrittenRoots(Operation *function);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_ANALYSIS_GLOBALHAZARDS_H
