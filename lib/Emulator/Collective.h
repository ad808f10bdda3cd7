//===- Collective.h - Helpers of instructions of whole warps ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_COLLECTIVE_H
#define TILEDIALECT_LIB_EMULATOR_COLLECTIVE_H

#include "Lanes.h"

namespace tile_dialect::emulator {

/// `m16n8k16`: three numbers.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};

/// Consumes the modifier that names a shape; an error where there is none.
bool takeShape(InstDecoder &decoder, MatrixShape &shape);

/// Adds `{a, b, …}` of exactly `count` registers, or a single register without
/// braces where `count` is one.
bool addDestVector(InstDecoder &decoder, unsigned index, Type type,
                   unsigned count);
bool addSourceVector(InstDecoder &decoder, unsigned index, Type type,
                     unsigned count);

/// What an `.aligned` instruction that needs all 32 lanes starts with: Next if
/// all are here, Converge while live lanes are elsewhere, else an error.
inline Step needWholeWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  if (LLVM_LIKELY(mask == allLanes))
    return Step::Next;
  if (mask != warp.live)
    return Step::Converge;
  return warp.error(Report::Kind::InvalidOperation, inst,
                    llvm::countr_zero(mask),
                    "this instruction needs all 32 lanes of a warp, " +
                        llvm::Twine(32 - llvm::popcount(mask)) +
                        " have exited or do not exist");
}

/// A place in the shared memory of a block of the cluster.
struct SharedPlace {
  Block *block = nullptr;
  uint32_t offset = 0;
  uint8_t *host = nullptr;
};

/// Resolves an address that must be in shared memory (`space` is Generic,
/// Shared or SharedCluster) and a multiple of `align`; false after an error.
bool locateShared(Warp &warp, const Inst &inst, Space space, uint64_t address,
                  uint32_t bytes, uint32_t align, bool write, unsigned lane,
                  SharedPlace &place);

/// The address that a lane's operand holds, plus an offset.
inline uint64_t laneAddress(Warp &warp, const Operand &base, int64_t offset,
                            unsigned lane) {
  uint64_t address = warp.lane(base, lane) + uint64_t(offset);
  return base.bytes == 4 ? uint32_t(address) : address;
}

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_COLLECTIVE_H
