//===- BufferPacking.h - Places for buffers that share memory ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_BUFFERPACKING_H
#define TILEDIALECT_ANALYSIS_BUFFERPACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tile_dialect {

/// A buffer that holds `bytes` bytes from program point `begin` to program
/// point `end`, both included.
struct PackedBuffer {
  int64_t bytes = 0;
  /// A power of two.
  int64_t alignment = 1;
  int64_t begin = 0;
  int64_t end = 0;

  bool interferesWith(const PackedBuffer &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

/// Where the buffers lie.
struct Packing {
  llvm::SmallVector<int64_t> offsets;
  int64_t totalBytes = 0;
};

/// Gives each buffer an offset, a multiple of its alignment, such that buffers
/// that live at the same time do not overlap. First-fit over the interference
/// graph, once with the largest buffers first and once in program order; the
/// tighter result is taken. The result depends on the buffers alone.
Packing packBuffers(llvm::ArrayRef<PackedBuffer> buffers);

} // namespace tile_dialect

#endif // TILEDIALECT_ANALYSIS_BUFFERPACKING_H
