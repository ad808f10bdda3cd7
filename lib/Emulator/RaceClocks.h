//===- RaceClocks.h - Logical time for the race check ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Actors are the warps of a cluster and, for each mbarrier, the asynchronous
// copies that signal it.  What an actor knows is the time up to which it is
// ordered behind each other actor.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_RACECLOCKS_H
#define TILEDIALECT_LIB_EMULATOR_RACECLOCKS_H

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tile_dialect::emulator {

/// A logical time for each actor of a cluster; those behind the end are at 0.
class VectorClock {
public:
  uint32_t get(uint32_t actor) const {
    return actor < times.size() ? times[actor] : 0;
  }
  void set(uint32_t actor, uint32_t time) {
    if (actor >= times.size())
      times.resize(actor + 1, 0);
    times[actor] = time;
  }
  void join(const VectorClock &other);
  /// Whether it is at no actor behind `other`.
  bool covers(const VectorClock &other) const;
  bool isEmpty() const { return times.empty(); }
  void clear() { times.clear(); }

private:
  std::vector<uint32_t> times;
};

/// What is known of other clusters.  Many blocks may release at one place (a
/// counter), each with all that the others did: so joins only point at their
/// parts, and a list of the clusters is made when somebody asks, or when the
/// parts have become much larger than the last list (blocks that hand a lock
/// on: each part has all that was before).  Immutable, so that host threads
/// share it.
class ClusterClocks {
public:
  using Clock = std::shared_ptr<const VectorClock>;
  using Pointer = std::shared_ptr<const ClusterClocks>;

  ClusterClocks() = default;
  ~ClusterClocks();

  /// Joins what is known of a cluster into `clock`.
  void collect(uint32_t cluster, VectorClock &clock) const;

  /// Whether `part`, which is not null, is known to be in it.
  static bool has(const Pointer &whole, const Pointer &part) {
    return whole && (whole == part || whole->hasPart(part.get()));
  }
  /// The union of two, of which either may be null.
  static Pointer join(const Pointer &a, const Pointer &b);
  /// The same in a form that can be searched fast; null stays null.
  static Pointer compact(const Pointer &clocks);
  /// `base`, which may be null, with a cluster's clock added.
  static Pointer with(const Pointer &base, uint32_t cluster,
                      const VectorClock &clock);

private:
  using Entry = std::pair<uint32_t, Clock>;
  bool hasPart(const ClusterClocks *part) const {
    return parts[0].get() == part || parts[1].get() == part;
  }
  template <typename F> void eachNode(F visit) const;
  Pointer flatten() const;

  /// Sorted by cluster.
  std::vector<Entry> entries;
  Pointer parts[2];
  /// The entries of all parts, and those of the largest list among them.
  size_t numEntries = 0, largestList = 0;
};

/// What an actor knows, or what was released for others.
struct Knowledge {
  VectorClock own;
  ClusterClocks::Pointer others;

  void join(const Knowledge &from) {
    own.join(from.own);
    others = ClusterClocks::join(others, from.others);
  }
  bool isEmpty() const { return own.isEmpty() && !others; }
  void clear() {
    own.clear();
    others.reset();
  }
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_RACECLOCKS_H
