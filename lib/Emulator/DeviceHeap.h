//===- DeviceHeap.h - The heap of device-side malloc ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One allocation of global memory that kernels divide into blocks.  A block
// ends with a gap, and freed memory is used again only once nothing else is
// left, so that most accesses past the end or after `free` are found.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_DEVICEHEAP_H
#define TILEDIALECT_LIB_EMULATOR_DEVICEHEAP_H

#include "TileDialect/Emulator/Memory.h"
#include <map>
#include <shared_mutex>

namespace tile_dialect::emulator {

/// All functions may be called by several host threads at once.
class DeviceHeap {
public:
  /// `arena` is the memory; it must outlive the heap.
  explicit DeviceHeap(Allocation &arena) : arena(arena) {}

  /// The address of a new block, or zero if there is no room.
  uint64_t allocate(uint64_t size);
  /// False if no block begins there.
  bool release(uint64_t address);
  /// Whether the range lies within one block.
  bool contains(uint64_t address, uint64_t size) const;
  /// Says where an address lies relative to the blocks.
  std::string describe(uint64_t address) const;

private:
  uint64_t place(uint64_t size);

  Allocation &arena;
  mutable std::shared_mutex lock;
  /// By address: the sizes of blocks, and of freed ranges with their gaps.
  std::map<uint64_t, uint64_t> blocks, freed;
  /// What was never used begins here, relative to the arena.
  uint64_t used = 0;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_DEVICEHEAP_H
