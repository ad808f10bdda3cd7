//===- ChipInfoTest.cpp - Tests of the facts about chips ------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/ChipInfo.h"
#include "gtest/gtest.h"

using namespace tile_dialect;

TEST(ChipInfoTest, FindsEveryChipByItsName) {
  ASSERT_FALSE(getAllChips().empty());
  for (const ChipInfo &chip : getAllChips())
    EXPECT_EQ(lookupChip(chip.name), &chip) << chip.name.str();
  EXPECT_EQ(lookupChip("sm_95"), nullptr);
  EXPECT_EQ(lookupChip(""), nullptr);
  EXPECT_NE(lookupChip(defaultChip), nullptr);
}

TEST(ChipInfoTest, ListsTheNamesForDiagnostics) {
  std::string names = getChipNames();
  EXPECT_EQ(names.rfind("sm_75, sm_80, ", 0), 0u) << names;
  for (const ChipInfo &chip : getAllChips())
    EXPECT_NE(names.find(chip.name.str()), std::string::npos);
}

TEST(ChipInfoTest, NamesThePTXVersion) {
  EXPECT_EQ(lookupChip("sm_90a")->getFeatures(), "+ptx83");
  EXPECT_EQ(lookupChip("sm_90a")->getPTXVersionString(), "8.3");
  EXPECT_EQ(lookupChip("sm_120a")->getPTXVersionString(), "8.7");
}

// The sizes of CUDA's table of technical specifications.
TEST(ChipInfoTest, KnowsSharedMemory) {
  EXPECT_EQ(lookupChip("sm_75")->maxSharedBytesPerBlock, 65536);
  EXPECT_EQ(lookupChip("sm_80")->maxSharedBytesPerBlock, 166912);
  EXPECT_EQ(lookupChip("sm_86")->maxSharedBytesPerBlock, 101376);
  EXPECT_EQ(lookupChip("sm_89")->maxSharedBytesPerBlock, 101376);
  EXPECT_EQ(lookupChip("sm_90a")->maxSharedBytesPerBlock, 232448);
  EXPECT_EQ(lookupChip("sm_100a")->maxSharedBytesPerBlock, 232448);
  EXPECT_EQ(lookupChip("sm_120a")->maxSharedBytesPerBlock, 101376);
}

TEST(ChipInfoTest, ABlockFitsOnAMultiprocessor) {
  for (const ChipInfo &chip : getAllChips()) {
    EXPECT_LE(chip.maxSharedBytesPerBlock + chip.reservedSharedBytesPerBlock,
              chip.sharedBytesPerSM)
        << chip.name.str();
    EXPECT_LE(chip.maxThreadsPerBlock, chip.maxThreadsPerSM);
    EXPECT_GE(chip.maxSharedBytesPerBlock,
              ChipInfo::maxStaticSharedBytesPerBlock);
  }
}

TEST(ChipInfoTest, KnowsWhatIsSpecificToOneArchitecture) {
  for (const ChipInfo &chip : getAllChips()) {
    bool isSpecific = chip.name.ends_with("a");
    EXPECT_EQ(chip.hasWgmma, chip.name == "sm_90a") << chip.name.str();
    EXPECT_EQ(chip.hasSetMaxRegisters, isSpecific) << chip.name.str();
    EXPECT_EQ(chip.hasTMA, chip.computeCapability >= 90) << chip.name.str();
    EXPECT_EQ(chip.hasAsyncCopy, chip.computeCapability >= 80)
        << chip.name.str();
    EXPECT_EQ(chip.hasFP8Conversions, chip.computeCapability >= 89)
        << chip.name.str();
  }
}
