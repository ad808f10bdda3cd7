//===- ChipInfo.cpp - What each NVIDIA chip can do --------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/ChipInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace tile_dialect;

namespace {

constexpr int32_t KiB = 1024;

// Each generation starts from the one before it and says what it adds. That
// holds for features that never went away again; wgmma, tensor memory and
// setmaxnreg exist in one architecture-specific flavour only, so they are set
// on that entry.

constexpr ChipInfo turing(llvm::StringLiteral name) {
  return {/*name=*/name,
          /*computeCapability=*/75,
          /*ptxVersion=*/83,
          /*maxSharedBytesPerBlock=*/64 * KiB,
          /*sharedBytesPerSM=*/64 * KiB,
          /*registersPerSM=*/65536,
          /*maxRegistersPerThread=*/255,
          /*maxThreadsPerSM=*/1024,
          /*maxBlocksPerSM=*/16,
          /*maxThreadsPerBlock=*/1024,
          /*warpSize=*/32,
          /*reservedSharedBytesPerBlock=*/0};
}

constexpr ChipInfo ampere(llvm::StringLiteral name) {
  ChipInfo chip = turing(name);
  chip.computeCapability = 80;
  chip.maxSharedBytesPerBlock = 163 * KiB;
  chip.sharedBytesPerSM = 164 * KiB;
  chip.maxThreadsPerSM = 2048;
  chip.maxBlocksPerSM = 32;
  chip.reservedSharedBytesPerBlock = 1 * KiB;
  chip.hasAsyncCopy = true;
  chip.hasCachePolicy = true;
  chip.hasBF16 = true;
  chip.hasRedux = true;
  return chip;
}

constexpr ChipInfo ampereConsumer(llvm::StringLiteral name) {
  ChipInfo chip = ampere(name);
  chip.computeCapability = 86;
  chip.maxSharedBytesPerBlock = 99 * KiB;
  chip.sharedBytesPerSM = 100 * KiB;
  chip.maxThreadsPerSM = 1536;
  chip.maxBlocksPerSM = 16;
  return chip;
}

constexpr ChipInfo ampereEmbedded(llvm::StringLiteral name) {
  ChipInfo chip = ampere(name);
  chip.computeCapability = 87;
  chip.maxThreadsPerSM = 1536;
  chip.maxBlocksPerSM = 16;
  return chip;
}

constexpr ChipInfo ada(llvm::StringLiteral name) {
  ChipInfo chip = ampereConsumer(name);
  chip.computeCapability = 89;
  chip.ptxVersion = 84;
  chip.maxBlocksPerSM = 24;
  chip.hasFP8Conversions = true;
  chip.hasFP8Mma = true;
  return chip;
}

constexpr ChipInfo hopper(llvm::StringLiteral name) {
  ChipInfo chip = ampere(name);
  chip.computeCapability = 90;
  chip.ptxVersion = 83;
  chip.maxSharedBytesPerBlock = 227 * KiB;
  chip.sharedBytesPerSM = 228 * KiB;
  chip.hasBF16Arithmetic = true;
  chip.hasVectorAtomics = true;
  chip.hasFP8Conversions = true;
  chip.hasStoreMatrix = true;
  chip.hasClusters = true;
  chip.hasGridDependencies = true;
  chip.hasMbarrierTryWait = true;
  chip.hasTMA = true;
  return chip;
}

constexpr ChipInfo hopperSpecific(llvm::StringLiteral name) {
  ChipInfo chip = hopper(name);
  chip.hasFP8Mma = true;
  chip.hasWgmma = true;
  chip.hasSetMaxRegisters = true;
  return chip;
}

constexpr ChipInfo blackwell(llvm::StringLiteral name) {
  ChipInfo chip = hopper(name);
  chip.computeCapability = 100;
  chip.ptxVersion = 86;
  chip.hasFP8Mma = true;
  chip.hasPackedF32 = true;
  return chip;
}

constexpr ChipInfo blackwellSpecific(llvm::StringLiteral name) {
  ChipInfo chip = blackwell(name);
  chip.hasSetMaxRegisters = true;
  chip.hasTensorMemory = true;
  return chip;
}

constexpr ChipInfo blackwellUltra(llvm::StringLiteral name) {
  ChipInfo chip = blackwell(name);
  chip.computeCapability = 103;
  chip.ptxVersion = 88;
  return chip;
}

constexpr ChipInfo blackwellUltraSpecific(llvm::StringLiteral name) {
  ChipInfo chip = blackwellUltra(name);
  chip.hasSetMaxRegisters = true;
  chip.hasTensorMemory = true;
  return chip;
}

constexpr ChipInfo blackwellConsumer(llvm::StringLiteral name) {
  ChipInfo chip = blackwell(name);
  chip.computeCapability = 120;
  chip.ptxVersion = 87;
  chip.maxSharedBytesPerBlock = 99 * KiB;
  chip.sharedBytesPerSM = 100 * KiB;
  chip.maxThreadsPerSM = 1536;
  chip.maxBlocksPerSM = 24;
  return chip;
}

constexpr ChipInfo blackwellConsumerSpecific(llvm::StringLiteral name) {
  ChipInfo chip = blackwellConsumer(name);
  chip.hasSetMaxRegisters = true;
  chip.hasBlockScaledMma = true;
  return chip;
}

constexpr ChipInfo withCapability(ChipInfo chip, int32_t computeCapability,
                                  int32_t ptxVersion) {
  chip.computeCapability = computeCapability;
  chip.ptxVersion = ptxVersion;
  return chip;
}

constexpr std::array chips = {
    turing("sm_75"),
    ampere("sm_80"),
    ampereConsumer("sm_86"),
    ampereEmbedded("sm_87"),
    ada("sm_89"),
    hopper("sm_90"),
    hopperSpecific("sm_90a"),
    blackwell("sm_100"),
    blackwellSpecific("sm_100a"),
    blackwellUltra("sm_103"),
    blackwellUltraSpecific("sm_103a"),
    blackwellConsumer("sm_120"),
    blackwellConsumerSpecific("sm_120a"),
    withCapability(blackwellConsumer("sm_121"), 121, 88),
    withCapability(blackwellConsumerSpecific("sm_121a"), 121, 88),
};

} // namespace

std::string ChipInfo::getFeatures() const {
  return "+ptx" + llvm::utostr(ptxVersion);
}

std::string ChipInfo::getPTXVersionString() const {
  return llvm::utostr(ptxVersion / 10) + "." + llvm::utostr(ptxVersion % 10);
}

llvm::ArrayRef<ChipInfo> tile_dialect::getAllChips() { return chips; }

const ChipInfo *tile_dialect::lookupChip(llvm::StringRef name) {
  const auto *it = llvm::find_if(
      chips, [&](const ChipInfo &chip) { return chip.name == name; });
  return it == chips.end() ? nullptr : it;
}

std::string tile_dialect::getChipNames() {
  auto names = llvm::map_range(chips, [](const ChipInfo &c) { return c.name; });
  return llvm::join(names, ", ");
}
