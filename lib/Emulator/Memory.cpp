//===- Memory.cpp - The emulated device's global memory ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/Memory.h"
#include "DeviceHeap.h"
#include "TileDialect/Emulator/Report.h"
#include "Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace tile_dialect::emulator;
using llvm::Twine;

/// What lies between two allocations and is never accessible.
static constexpr uint64_t gapBytes = 1 << 16;
static constexpr uint64_t allocationAlign = 512;

static void freeOwned(Allocation &allocation) {
  if (allocation.owned)
    std::free(allocation.host - allocation.base % allocationAlign);
}

Memory::Memory() = default;

Memory::~Memory() {
  for (auto &allocation : sorted)
    freeOwned(*allocation);
}

llvm::Error Memory::insert(std::unique_ptr<Allocation> allocation) {
  uint64_t base = allocation->base;
  auto it = llvm::lower_bound(sorted, base, [](const auto &a, uint64_t value) {
    return a->base < value;
  });
  uint64_t end = base + allocation->size;
  if (end < base || end > sharedWindow)
    return makeError(Report::Kind::InvalidLaunch,
                     "'" + allocation->name +
                         "' lies outside of the emulated address space");
  bool overlaps = it != sorted.end() && (*it)->base < end;
  if (it != sorted.begin()) {
    const Allocation &before = **std::prev(it);
    overlaps |= before.base + before.size > base;
  }
  if (overlaps)
    return makeError(Report::Kind::InvalidLaunch,
                     "'" + allocation->name +
                         "' overlaps memory that is mapped already");
  sorted.insert(it, std::move(allocation));
  return llvm::Error::success();
}

llvm::Expected<uint64_t> Memory::allocate(uint64_t size, llvm::StringRef name,
                                          uint64_t misalignment) {
  misalignment %= allocationAlign;
  auto allocation = std::make_unique<Allocation>();
  void *host = nullptr;
  if (size < (uint64_t(1) << 46))
    host = std::calloc(size + misalignment + 16, 1);
  if (!host)
    return makeError(Report::Kind::InvalidLaunch,
                     "cannot allocate " + Twine(size) + " bytes for '" + name +
                         "'");
  allocation->host = static_cast<uint8_t *>(host) + misalignment;
  allocation->base = nextBase + misalignment;
  allocation->size = size;
  allocation->name = name.str();
  allocation->owned = true;
  nextBase += llvm::alignTo(size + misalignment + gapBytes, allocationAlign);
  uint64_t base = allocation->base;
  if (llvm::Error error = insert(std::move(allocation))) {
    std::free(host);
    return std::move(error);
  }
  return base;
}

llvm::Expected<uint64_t> Memory::map(void *host, uint64_t size,
                                     llvm::StringRef name, bool readOnly) {
  auto allocation = std::make_unique<Allocation>();
  allocation->host = static_cast<uint8_t *>(host);
  // The same alignment as on the host, so that atomics stay aligned.
  allocation->base =
      nextBase + reinterpret_cast<uintptr_t>(host) % allocationAlign;
  allocation->size = size;
  allocation->name = name.str();
  allocation->readOnly = readOnly;
  nextBase += llvm::alignTo(size + allocationAlign + gapBytes, allocationAlign);
  uint64_t base = allocation->base;
  if (llvm::Error error = insert(std::move(allocation)))
    return std::move(error);
  return base;
}

llvm::Error Memory::mapIdentity(void *host, uint64_t size, llvm::StringRef name,
                                bool readOnly) {
  auto allocation = std::make_unique<Allocation>();
  allocation->host = static_cast<uint8_t *>(host);
  allocation->base = reinterpret_cast<uintptr_t>(host);
  allocation->size = size;
  allocation->name = name.str();
  allocation->readOnly = readOnly;
  return insert(std::move(allocation));
}

static Allocation *findIn(llvm::ArrayRef<std::unique_ptr<Allocation>> sorted,
                          uint64_t address) {
  auto it =
      llvm::upper_bound(sorted, address, [](uint64_t value, const auto &a) {
        return value < a->base;
      });
  if (it == sorted.begin())
    return nullptr;
  Allocation *allocation = std::prev(it)->get();
  return address - allocation->base < allocation->size ? allocation : nullptr;
}

const Allocation *Memory::find(uint64_t address) const {
  return findIn(sorted, address);
}

const Allocation *Memory::nearest(uint64_t address) const {
  const Allocation *best = nullptr;
  uint64_t bestDistance = ~uint64_t(0);
  for (const auto &a : sorted) {
    uint64_t distance = 0;
    if (address < a->base)
      distance = a->base - address;
    else if (address - a->base >= a->size)
      distance = address - a->base - a->size + 1;
    if (!best || distance < bestDistance) {
      best = a.get();
      bestDistance = distance;
    }
  }
  return best;
}

void Memory::markUninitialized(uint64_t address) {
  if (Allocation *allocation = findIn(sorted, address))
    allocation->initialized = std::make_unique<uint8_t[]>(allocation->size);
}

void Memory::markInitialized(uint64_t address, uint64_t size) {
  Allocation *allocation = findIn(sorted, address);
  if (!allocation || !allocation->initialized)
    return;
  uint64_t offset = address - allocation->base;
  size = std::min(size, allocation->size - offset);
  std::memset(allocation->initialized.get() + offset, 1, size);
}

void Memory::release(uint64_t address) {
  for (auto it = sorted.begin(); it != sorted.end(); ++it) {
    if ((*it)->base != address)
      continue;
    freeOwned(**it);
    sorted.erase(it);
    return;
  }
}

llvm::Expected<DeviceHeap *> Memory::deviceHeap(uint64_t bytes) {
  if (heap)
    return heap.get();
  // An allocation of no bytes could not be found again.
  auto base = allocate(std::max<uint64_t>(bytes, 1), "device heap");
  if (!base)
    return base.takeError();
  Allocation *arena = findIn(sorted, *base);
  heap = std::make_unique<DeviceHeap>(*arena);
  arena->heap = heap.get();
  return heap.get();
}

void Memory::trackHeap() {
  for (auto &allocation : sorted)
    if (allocation->heap && !allocation->initialized) {
      allocation->initialized = std::make_unique<uint8_t[]>(allocation->size);
      // Blocks of earlier launches.
      std::memset(allocation->initialized.get(), 1, allocation->size);
    }
}

void *Memory::hostPointer(uint64_t address, uint64_t size) const {
  const Allocation *allocation = find(address);
  if (!allocation || allocation->size - (address - allocation->base) < size)
    return nullptr;
  return allocation->host + (address - allocation->base);
}
