//===- RaceClocks.cpp - Logical time for the race check ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaceClocks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <atomic>

using namespace tile_dialect::emulator;

void VectorClock::join(const VectorClock &other) {
  if (times.size() < other.times.size())
    times.resize(other.times.size(), 0);
  for (size_t i = 0; i < other.times.size(); ++i)
    times[i] = std::max(times[i], other.times[i]);
}

bool VectorClock::covers(const VectorClock &other) const {
  for (size_t i = 0; i < other.times.size(); ++i)
    if (other.times[i] > get(i))
      return false;
  return true;
}

/// Visits what a node points at, each once, itself included.
template <typename F> void ClusterClocks::eachNode(F visit) const {
  llvm::SmallPtrSet<const ClusterClocks *, 32> seen;
  llvm::SmallVector<const ClusterClocks *, 32> work = {this};
  seen.insert(this);
  while (!work.empty()) {
    const ClusterClocks *node = work.pop_back_val();
    visit(*node);
    for (const Pointer &part : node->parts)
      if (part && seen.insert(part.get()).second)
        work.push_back(part.get());
  }
}

void ClusterClocks::collect(uint32_t cluster, VectorClock &clock) const {
  eachNode([&](const ClusterClocks &node) {
    auto it = llvm::lower_bound(
        node.entries, cluster,
        [](const Entry &entry, uint32_t value) { return entry.first < value; });
    if (it != node.entries.end() && it->first == cluster)
      clock.join(*it->second);
  });
}

/// Chains of nodes are as long as a kernel has atomics: no recursion.
ClusterClocks::~ClusterClocks() {
  llvm::SmallVector<Pointer, 8> work;
  auto take = [&work](ClusterClocks &node) {
    for (Pointer &part : node.parts)
      if (part)
        work.push_back(std::move(part));
  };
  take(*this);
  while (!work.empty()) {
    Pointer node = work.pop_back_val();
    if (node.use_count() != 1)
      continue;
    // Nobody else has it, and what others did with it is done.
    std::atomic_thread_fence(std::memory_order_acquire);
    take(const_cast<ClusterClocks &>(*node));
  }
}

ClusterClocks::Pointer ClusterClocks::compact(const Pointer &clocks) {
  return clocks && (clocks->parts[0] || clocks->parts[1]) ? clocks->flatten()
                                                          : clocks;
}

/// One list of all that is known.
ClusterClocks::Pointer ClusterClocks::flatten() const {
  llvm::DenseMap<uint32_t, Clock> all;
  eachNode([&](const ClusterClocks &part) {
    for (const Entry &entry : part.entries) {
      Clock &clock = all[entry.first];
      if (!clock || entry.second->covers(*clock)) {
        clock = entry.second;
      } else if (!clock->covers(*entry.second)) {
        auto joined = std::make_shared<VectorClock>(*clock);
        joined->join(*entry.second);
        clock = joined;
      }
    }
  });
  auto flat = std::make_shared<ClusterClocks>();
  flat->entries.assign(all.begin(), all.end());
  llvm::sort(flat->entries,
             [](const Entry &a, const Entry &b) { return a.first < b.first; });
  flat->numEntries = flat->largestList = flat->entries.size();
  return flat;
}

ClusterClocks::Pointer ClusterClocks::join(const Pointer &a, const Pointer &b) {
  if (!b || has(a, b))
    return a;
  if (!a || has(b, a))
    return b;
  auto node = std::make_shared<ClusterClocks>();
  node->parts[0] = a;
  node->parts[1] = b;
  node->numEntries = a->numEntries + b->numEntries;
  node->largestList = std::max(a->largestList, b->largestList);
  // So a search costs no more than two lists, and a list is made only once
  // there is as much new.
  if (node->numEntries > 2 * node->largestList + 64)
    return node->flatten();
  return node;
}

ClusterClocks::Pointer ClusterClocks::with(const Pointer &base,
                                           uint32_t cluster,
                                           const VectorClock &clock) {
  auto node = std::make_shared<ClusterClocks>();
  node->entries.push_back({cluster, std::make_shared<VectorClock>(clock)});
  node->parts[0] = base;
  node->numEntries = 1 + (base ? base->numEntries : 0);
  node->largestList = base ? base->largestList : 1;
  return node;
}
