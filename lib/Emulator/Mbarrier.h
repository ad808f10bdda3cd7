//===- Mbarrier.h - mbarrier objects in shared memory ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_MBARRIER_H
#define TILEDIALECT_LIB_EMULATOR_MBARRIER_H

#include "Collective.h"
#include <string>

namespace tile_dialect::emulator {

/// The state of an mbarrier (PTX ISA, "Contents of the mbarrier object").  The
/// 64 bits that memory holds and that `arrive` returns are, from the highest:
/// a mark, the phase's parity, 20 bits of pending arrivals, 20 bits of expected
/// arrivals and 22 bits of the signed tx-count.
struct MbarrierState {
  static constexpr uint32_t maximalCount = (1u << 20) - 1;

  bool phase = false;
  uint32_t pending = 0;
  uint32_t expected = 0;
  int32_t transactions = 0;

  uint64_t encode() const;
  /// False if the bits are no mbarrier.
  static bool decode(uint64_t bits, MbarrierState &state);
};

/// The executing lane of an mbarrier operation.
struct MbarrierUser {
  Warp &warp;
  const Inst &inst;
  unsigned lane;
};

// Each returns false after an error was filed.

bool initMbarrier(const MbarrierUser &user, const SharedPlace &place,
                  uint32_t count);
bool invalidateMbarrier(const MbarrierUser &user, const SharedPlace &place);
bool readMbarrier(const MbarrierUser &user, const SharedPlace &place,
                  MbarrierState &state);
/// What an arrival does besides counting.
struct Arrival {
  uint32_t count = 1;
  /// Bytes that the phase awaits in addition.
  int64_t expectBytes = 0;
  /// The thread takes part in no later phase (`arrive_drop`).
  bool drop = false;
  /// The arrival must not complete the phase.
  bool noComplete = false;
};
bool arriveMbarrier(const MbarrierUser &user, const SharedPlace &place,
                    const Arrival &arrival);
bool expectTransactions(const MbarrierUser &user, const SharedPlace &place,
                        int64_t bytes);
bool completeTransactions(const MbarrierUser &user, const SharedPlace &place,
                          int64_t bytes);
/// Adds to the pending count of the current phase only.
bool incrementPending(const MbarrierUser &user, const SharedPlace &place);

/// A line for each mbarrier of a block that has something pending, for reports
/// of deadlocks.
std::string describeMbarriers(const Block &block);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_MBARRIER_H
