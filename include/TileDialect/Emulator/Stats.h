//===- Stats.h - Counters of an emulated launch ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_EMULATOR_STATS_H
#define TILEDIALECT_EMULATOR_STATS_H

#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cstdint>

namespace tile_dialect::emulator {

/// The class that an instruction is counted in.
enum class InstructionClass : uint8_t {
  Integer,
  Float,
  Half,
  Double,
  Special, ///< ex2, sin, rcp and the like
  Convert,
  Move,
  Compare,
  Control,
  GlobalLoad,
  GlobalStore,
  SharedLoad,
  SharedStore,
  LocalAccess,
  ParameterAccess,
  Atomic,
  Warp,       ///< shfl, vote, match, redux
  Barrier,    ///< bar, mbarrier, fence
  Async,      ///< cp.async, bulk copies
  Matrix,     ///< mma, wgmma
  MatrixMove, ///< ldmatrix, stmatrix, movmatrix
  Other,
};
constexpr unsigned numInstructionClasses =
    unsigned(InstructionClass::Other) + 1;

/// Sums over all warps of a launch.  Instructions count once a warp that has a
/// live lane executes them.
struct Stats {
  std::array<uint64_t, numInstructionClasses> instructions{};
  /// Instructions times the lanes that were active in them.
  uint64_t threadInstructions = 0;
  uint64_t blocks = 0, warps = 0;
  /// Requests are executed loads and stores of a warp; sectors are the distinct
  /// aligned 32-byte pieces that they touch.
  uint64_t globalLoadRequests = 0, globalLoadSectors = 0, globalLoadBytes = 0;
  uint64_t globalStoreRequests = 0, globalStoreSectors = 0,
           globalStoreBytes = 0;
  /// A wavefront serves each of the 32 four-byte banks once; conflicts are the
  /// wavefronts above the fewest that the access's width needs.
  uint64_t sharedLoadRequests = 0, sharedLoadWavefronts = 0,
           sharedLoadConflicts = 0, sharedLoadBytes = 0;
  uint64_t sharedStoreRequests = 0, sharedStoreWavefronts = 0,
           sharedStoreConflicts = 0, sharedStoreBytes = 0;
  uint64_t atomicRequests = 0, atomicBytes = 0;
  /// Accesses to the shared memory of another block of the cluster.
  uint64_t clusterRequests = 0, clusterBytes = 0;
  /// Bytes that asynchronous copies write: all of them, and those from global
  /// to shared memory, from shared to global memory, and between blocks.
  uint64_t asyncBytes = 0, asyncLoadBytes = 0, asyncStoreBytes = 0,
           asyncClusterBytes = 0;
  /// Multiply-accumulate operations of mma and wgmma, each of which is two
  /// floating-point operations.
  uint64_t matrixMacs = 0;
  /// Arrivals of warps at barriers of the block, of the cluster and at
  /// mbarriers.
  uint64_t barriers = 0;
  uint64_t divergentBranches = 0;

  void add(const Stats &other);
  uint64_t totalInstructions() const;
  void printTable(llvm::raw_ostream &os) const;
  void printJSON(llvm::raw_ostream &os) const;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_EMULATOR_STATS_H
