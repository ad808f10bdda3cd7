//===- SharedMemoryLiveness.h - When shared memory is in use ----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_SHAREDMEMORYLIVENESS_H
#define TILEDIALECT_ANALYSIS_SHAREDMEMORYLIVENESS_H

#include "TileDialect/Analysis/BufferPacking.h"
#include "TileDialect/Analysis/SharedMemoryAliasing.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tile_gpu {

/// The shared memory that a function uses, and when.
///
/// Program points number the ops of the function in program order (an op with
/// regions has one point before and one after them). A buffer is alive over one
/// range of points:
/// - memory of a `tile_gpu.alloc`, from there to the last use of a value that
///   aliases it;
/// - scratch memory, while its op runs;
/// - over the whole of a loop (an op whose region may run again, or the blocks
///   between a branch back and its target), if it is allocated outside and used
///   inside, or if it is passed to the next iteration;
/// - over the whole of a `warp_specialize`, if a role uses it, because roles
/// run at
///   the same time;
/// - if an asynchronous copy writes it, until all copies are waited for.
class SharedMemoryLiveness {
public:
  struct Buffer : tile_dialect::PackedBuffer {
    /// An AllocOp, or the op whose scratch memory this is.
    Operation *owner = nullptr;
  };

  /// `getScratchBytes` says how much scratch memory an op needs (0: none).
  SharedMemoryLiveness(
      Operation *function,
      llvm::function_ref<int64_t(Operation *)> getScratchBytes);

  /// The buffers, in program order.
  ArrayRef<Buffer> getBuffers() const { return buffers; }

private:
  /// A range of program points, both ends included.
  struct Range {
    int64_t begin, end;
    bool contains(int64_t point) const {
      return begin <= point && point <= end;
    }
    bool contains(const Range &other) const {
      return begin <= other.begin && other.end <= end;
    }
    bool overlaps(const Range &other) const {
      return begin <= other.end && other.begin <= end;
    }
    void extendTo(const Range &other) {
      begin = std::min(begin, other.begin);
      end = std::max(end, other.end);
    }
  };
  /// Points over which control may come back to the start.
  struct Loop {
    Range range;
    /// The target of the branch back, for a loop of blocks; else null.
    Block *header;
    /// Every buffer that is used inside is alive over the whole range.
    bool isConcurrent;
  };

  void numberOps(Region &region);
  void collectLoops(Operation *op);
  void collectBlockLoops(Region &region);
  Range getRange(Operation *op) const { return ranges.find(op)->second; }
  Range getRange(const SharedMemoryAliasing::CarriedBuffer &carried) const;
  Range getUses(AllocOp alloc, const SharedMemoryAliasing &aliasing) const;
  void extendOverLoops(AllocOp alloc, Range &range) const;
  void extendOverCopies(AllocOp alloc, const SharedMemoryAliasing &aliasing,
                        Range &range) const;

  Operation *function;
  SmallVector<Buffer> buffers;
  SmallVector<Loop> loops;
  SmallVector<AsyncWaitOp> fullWaits;
  llvm::DenseMap<Operation *, Range> ranges;
  int64_t numPoints = 0;
};

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_ANALYSIS_SHAREDMEMORYLIVENESS_H
