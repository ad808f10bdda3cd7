//===- Memory.h - The emulated device's global memory ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_EMULATOR_MEMORY_H
#define TILEDIALECT_EMULATOR_MEMORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tile_dialect::emulator {

class DeviceHeap;

/// A range of global memory that kernels may access.
struct Allocation {
  /// The first device address and the size in bytes.
  uint64_t base = 0;
  uint64_t size = 0;
  /// The host memory behind it.
  uint8_t *host = nullptr;
  std::string name;
  /// Memory that nobody has written yet (checked in the `uninit` mode): null,
  /// or one byte for each byte, non-zero where it was written.
  std::unique_ptr<uint8_t[]> initialized;
  bool readOnly = false;
  bool owned = false;
  /// Of the heap of device-side malloc: only its blocks may be accessed.
  const DeviceHeap *heap = nullptr;

  Allocation() = default;
  Allocation(Allocation &&) = default;
  Allocation &operator=(Allocation &&) = default;
};

/// Global memory: a set of allocations that do not overlap.  Addresses are 64
/// bits wide; between two allocations that the emulator placed lies a gap, so
/// that an access past the end is always found.
class Memory {
public:
  Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory();

  /// Allocates `size` bytes, zero-filled, at an address that is `misalignment`
  /// bytes past a multiple of 512.
  llvm::Expected<uint64_t> allocate(uint64_t size, llvm::StringRef name,
                                    uint64_t misalignment = 0);
  /// Makes host memory of the caller accessible at an address that the
  /// emulator chooses.  The memory must outlive the mapping.
  llvm::Expected<uint64_t> map(void *host, uint64_t size, llvm::StringRef name,
                               bool readOnly = false);
  /// The same at the host address itself, so that pointers need no translation.
  llvm::Error mapIdentity(void *host, uint64_t size, llvm::StringRef name,
                          bool readOnly = false);
  /// Declares the bytes uninitialised until a kernel or `markInitialized`
  /// writes them.
  void markUninitialized(uint64_t address);
  void markInitialized(uint64_t address, uint64_t size);
  /// Ends an allocation or a mapping; `address` is what was returned.
  void release(uint64_t address);
  /// The host memory of [address, address + size), or null where that is not
  /// within one allocation.
  void *hostPointer(uint64_t address, uint64_t size) const;
  /// The allocation that contains `address`, or null.
  const Allocation *find(uint64_t address) const;
  /// The allocation that is closest to `address`, for messages; null if none.
  const Allocation *nearest(uint64_t address) const;

  /// The heap of device-side malloc; made with `bytes` if there is none yet.
  llvm::Expected<DeviceHeap *> deviceHeap(uint64_t bytes);
  /// Follows which bytes of its blocks were written.
  void trackHeap();
  /// The same, or null if no kernel has needed it.
  DeviceHeap *deviceHeap() { return heap.get(); }

  /// Sorted by base address.
  const std::vector<std::unique_ptr<Allocation>> &allocations() const {
    return sorted;
  }

private:
  llvm::Error insert(std::unique_ptr<Allocation> allocation);

  std::vector<std::unique_ptr<Allocation>> sorted;
  std::unique_ptr<DeviceHeap> heap;
  /// Far from what a host allocator returns and from the windows of shared,
  /// local and parameter space.
  uint64_t nextBase = 0x0100'0000'0000ull;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_EMULATOR_MEMORY_H
