//===- GlobalHazards.h - Loads that race with later writes ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile.load whose elements have holders in several warps becomes a load in
// each of them. A write to the same address that follows in the program may
// overtake the loads of slower warps, and the value would differ between warps.
// Which loads and writes may meet is told by the arguments that their pointers
// are computed from. What ops of other dialects do to memory, thread by thread,
// is left to who wrote them.
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
  /// taken to be different memory; an unknown root may be any.
  bool overlaps(const PointerRoots &other) const;
  bool operator==(const PointerRoots &other) const {
    return unknown == other.unknown && arguments == other.arguments;
  }

private:
  bool follow(Value value, function_ref<void(Value)> visit);

  /// Numbers of arguments, in ascending order.
  SmallVector<unsigned, 2> arguments;
  bool unknown = false;
};

/// What `op` itself reads, if it is a tile.load or tile.desc_load whose result
/// is used and has a holder in more than one warp (a scalar has one in each);
/// empty otherwise. The kernel must have more than one warp.
PointerRoots getRedundantlyReadRoots(Operation *op);

/// What `op` itself writes, if it is a tile op that writes global memory; empty
/// otherwise. Assembly and functions that are not pure may write anything.
PointerRoots getWrittenRoots(Operation *op);

/// The roots of all writes under `function`, those of other dialects' ops
/// (unknown ones) included.
PointerRoots getAllWrittenRoots(Operation *function);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_ANALYSIS_GLOBALHAZARDS_H
