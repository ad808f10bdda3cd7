//===- ChipInfo.h - What each NVIDIA chip can do ----------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about chips as data, without MLIR. A pass asks for a fact ("has
// wgmma"), never for a compute capability.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_CHIPINFO_H
#define TILEDIALECT_TARGET_CHIPINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tile_dialect {

/// One chip, or one architecture-specific flavour of it (`sm_90a`). Sizes are
/// in bytes. The sources are the tables of technical specifications in the CUDA
/// C++ Programming Guide, and the "Target ISA notes" of each instruction in the
/// PTX ISA.
struct ChipInfo {
  /// Name for `#nvvm.target` and ptxas, e.g. `sm_90a`.
  llvm::StringLiteral name;
  /// Compute capability times ten: 75 for 7.5, 120 for 12.0.
  int32_t computeCapability;
  /// The PTX version that we emit, times ten: 83 for 8.3. It is the lowest one
  /// that knows the chip and all that we use on it, so that the oldest possible
  /// driver loads the result:
  ///   8.3 (CUDA 12.3) has `.pragma "used_bytes_mask"`: LLVM widens a load of
  ///       three neighbours to four and says so by it, for tools that check
  ///       accesses; all chips up to sm_90a are older;
  ///   8.4 (CUDA 12.4) is the first with fp8 mma.sync, for sm_89;
  ///   8.6 (CUDA 12.7) is the first with sm_100 and sm_100a;
  ///   8.7 (CUDA 12.8) is the first with sm_120 and sm_120a;
  ///   8.8 (CUDA 12.9) is the first with sm_103 and sm_121.
  int32_t ptxVersion;

  /// Most shared memory that one block may have, by opting in to dynamic
  /// shared memory above `maxStaticSharedBytesPerBlock`.
  int32_t maxSharedBytesPerBlock;
  /// Shared memory of one multiprocessor, for all its blocks.
  int32_t sharedBytesPerSM;
  /// Most registers (32 bits) of one multiprocessor, and of one thread.
  int32_t registersPerSM = 65536;
  int32_t maxRegistersPerThread = 255;
  /// Most threads and blocks that one multiprocessor holds at a time.
  int32_t maxThreadsPerSM;
  int32_t maxBlocksPerSM;
  /// Most threads of one block, lanes of a warp.
  int32_t maxThreadsPerBlock = 1024;
  int32_t warpSize = 32;
  /// Shared memory that the driver takes from each block.
  int32_t reservedSharedBytesPerBlock;

  /// `cp.async`: copies from global to shared memory past the registers.
  bool hasAsyncCopy = false;
  /// `createpolicy` and `.L2::cache_hint` operands on loads and stores.
  bool hasCachePolicy = false;
  /// bf16 and tf32 as operands of `mma.sync`; `fma.rn.bf16`.
  bool hasBF16 = false;
  /// Add and multiply of bf16 as instructions of their own; `atom.add.bf16`.
  bool hasBF16Arithmetic = false;
  /// Conversions from and to fp8 (e4m3, e5m2) as instructions.
  bool hasFP8Conversions = false;
  /// fp8 as operands of `mma.sync`, resp. wgmma.
  bool hasFP8Mma = false;
  /// `stmatrix`; `ldmatrix` is on all chips here.
  bool hasStoreMatrix = false;
  /// `redux.sync` for 32-bit integers.
  bool hasRedux = false;
  /// `red.global.add.v4.f32` and its kind (PTX 8.1).
  bool hasVectorAtomics = false;
  /// Thread block clusters and distributed shared memory.
  bool hasClusters = false;
  /// `griddepcontrol`: programmatic dependent launch.
  bool hasGridDependencies = false;
  /// `mbarrier.try_wait` and transaction counts.
  bool hasMbarrierTryWait = false;
  /// `cp.async.bulk.tensor`: copies through tensor maps.
  bool hasTMA = false;
  /// `wgmma.mma_async`.
  bool hasWgmma = false;
  /// `setmaxnreg`.
  bool hasSetMaxRegisters = false;
  /// `tcgen05.*` and tensor memory.
  bool hasTensorMemory = false;
  /// `mma.sync` with block-scaled fp8, fp6 and fp4 operands.
  bool hasBlockScaledMma = false;
  /// `add/mul/fma.f32x2`.
  bool hasPackedF32 = false;

  /// Shared memory of one block without opting in, on every chip.
  static constexpr int32_t maxStaticSharedBytesPerBlock = 48 * 1024;
  /// Most blocks of a portable cluster.
  static constexpr int32_t maxPortableClusterSize = 8;

  /// The feature string of LLVM's NVPTX target, e.g. `+ptx80`.
  std::string getFeatures() const;
  /// The PTX version as written in PTX, e.g. `8.0`.
  std::string getPTXVersionString() const;
};

/// All chips, in the order of their compute capability.
llvm::ArrayRef<ChipInfo> getAllChips();

/// The chip called `name`, or null. The caller's diagnostic should list
/// `getChipNames()`.
const ChipInfo *lookupChip(llvm::StringRef name);

/// The names of all chips, for diagnostics: `sm_75, sm_80, ...`.
std::string getChipNames();

/// The chip that tools take if neither the command line nor the module names
/// one. sm_80 code runs on every later chip.
inline constexpr llvm::StringLiteral defaultChip = "sm_80";

} // namespace tile_dialect

#endif // TILEDIALECT_TARGET_CHIPINFO_H
