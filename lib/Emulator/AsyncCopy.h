//===- AsyncCopy.h - Parts of the bulk copy instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_ASYNCCOPY_H
#define TILEDIALECT_LIB_EMULATOR_ASYNCCOPY_H

#include "AsyncState.h"
#include "Collective.h"

namespace tile_dialect::emulator {

// What is left of `cp.async.bulk` and `cp.reduce.async.bulk` behind these
// words.
bool decodeBulkCopy(InstDecoder &decoder);
bool decodeBulkReduce(InstDecoder &decoder);
/// The same behind `.tensor`.
bool decodeTensorCopy(InstDecoder &decoder);
bool decodeTensorReduce(InstDecoder &decoder);
bool decodeTensorPrefetch(InstDecoder &decoder);

/// Element-wise operations of the reducing copies.
enum class ReduceOp : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Consumes the operation; None and an error where there is none.
ReduceOp takeReduceOp(InstDecoder &decoder);

/// `memory = op(memory, value)` for one element, in one step; the type is an
/// integer, bits, f16, bf16, f32 or f64.  False if there is no such operation.
bool reduceElement(ReduceOp op, Type type, uint8_t *memory,
                   const uint8_t *value);
bool hasReduceOp(ReduceOp op, Type type);

/// A run of bytes of a copy.
struct CopyPiece {
  uint8_t *dest;
  /// Null: the bytes are `fill`.
  const uint8_t *source;
  uint32_t bytes;
};

/// A bulk copy as it is issued: what moves, and what happens at its end.
struct BulkCopy {
  std::vector<CopyPiece> pieces;
  ReduceOp reduce = ReduceOp::None;
  Type elementType = Type::B8;
  /// The pattern of an element that is out of bounds.
  uint64_t fill = 0;
  /// The f32 values become tf32 ones, as loads of such tensors do.
  bool roundsToTF32 = false;
  /// Signalled at the end: an mbarrier for each receiving block, and bytes.
  llvm::SmallVector<SharedPlace, 2> mbarriers;
  int64_t signalBytes = 0;
  /// Shared memory that is read and written, by block.
  struct Touched {
    Block *block;
    bool writes;
    std::vector<InFlight::Range> ranges;
  };
  llvm::SmallVector<Touched, 2> touched;
  /// Keeps alive what pieces point to.
  std::shared_ptr<void> owned;
};

/// Issues a copy for a lane.  `inGroup`: it belongs to the lane's open bulk
/// async-group.
void issueBulkCopy(Warp &warp, const Inst &inst, unsigned lane, BulkCopy copy,
                   bool inGroup);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_ASYNCCOPY_H
