//===- DeviceHeap.cpp - The heap of device-side malloc ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceHeap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <mutex>

using namespace tile_dialect::emulator;

static constexpr uint64_t blockAlign = 16, gapBytes = 16;

/// What a block of that size takes with its gap.
static uint64_t footprint(uint64_t size) {
  return llvm::alignTo(size, blockAlign) + gapBytes;
}

/// The address of a free range, or zero.
uint64_t DeviceHeap::place(uint64_t size) {
  if (size > arena.size)
    return 0;
  uint64_t need = footprint(size);
  if (need <= arena.size - used) {
    uint64_t address = arena.base + used;
    used += need;
    return address;
  }
  for (auto it = freed.begin(); it != freed.end(); ++it) {
    auto [address, have] = *it;
    if (have < need)
      continue;
    freed.erase(it);
    if (have > need)
      freed[address + need] = have - need;
    return address;
  }
  return 0;
}

uint64_t DeviceHeap::allocate(uint64_t size) {
  std::unique_lock<std::shared_mutex> guard(lock);
  uint64_t address = place(size);
  if (!address)
    return 0;
  blocks[address] = size;
  if (arena.initialized)
    std::memset(arena.initialized.get() + (address - arena.base), 0, size);
  return address;
}

bool DeviceHeap::release(uint64_t address) {
  std::unique_lock<std::shared_mutex> guard(lock);
  auto block = blocks.find(address);
  if (block == blocks.end())
    return false;
  uint64_t size = footprint(block->second);
  blocks.erase(block);
  // Joined with its neighbours.
  auto next = freed.lower_bound(address);
  if (next != freed.end() && next->first == address + size) {
    size += next->second;
    next = freed.erase(next);
  }
  if (next != freed.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += size;
      return true;
    }
  }
  freed[address] = size;
  return true;
}

bool DeviceHeap::contains(uint64_t address, uint64_t size) const {
  std::shared_lock<std::shared_mutex> guard(lock);
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return false;
  auto [begin, bytes] = *std::prev(next);
  return address - begin <= bytes && size <= bytes - (address - begin);
}

std::string DeviceHeap::describe(uint64_t address) const {
  std::shared_lock<std::shared_mutex> guard(lock);
  std::string text;
  llvm::raw_string_ostream os(text);
  auto range = freed.upper_bound(address);
  if (range != freed.begin() &&
      address - std::prev(range)->first < std::prev(range)->second)
    return "that memory was freed";
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return "there is no block before it";
  auto [begin, bytes] = *std::prev(next);
  os << "the block before it has " << bytes << " bytes at "
     << llvm::format_hex(begin, 2) << ", the address is " << address - begin
     << " bytes behind its beginning";
  return text;
}
