//===- PtxasReportTest.cpp - Tests of reading ptxas' report ---------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Cubin.h"
#include "gtest/gtest.h"

using namespace mlir::tile;

TEST(PtxasReportTest, ReadsEachKernel) {
  Cubin cubin;
  parsePtxasReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
      "ptxas info    : Function properties for first\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 16 registers, used 0 barriers\n"
      "ptxas info    : Compile time = 3.1 ms\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
      "ptxas info    : Function properties for second\n"
      "    32 bytes stack frame, 28 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 2 barriers, 32 bytes "
      "cumulative stack size, 4096 bytes smem, 372 bytes cmem[0]\n",
      cubin);
  ASSERT_EQ(cubin.kernels.size(), 2u);
  EXPECT_EQ(cubin.kernels[0].name, "first");
  EXPECT_EQ(cubin.kernels[0].registers, 16);
  EXPECT_EQ(cubin.kernels[0].barriers, 0);
  EXPECT_EQ(cubin.kernels[0].staticSharedBytes, 0);
  EXPECT_FALSE(cubin.kernels[0].hasSpills());
  EXPECT_EQ(cubin.kernels[1].name, "second");
  EXPECT_EQ(cubin.kernels[1].registers, 255);
  EXPECT_EQ(cubin.kernels[1].barriers, 2);
  EXPECT_EQ(cubin.kernels[1].stackBytes, 32);
  EXPECT_EQ(cubin.kernels[1].spillStoreBytes, 28);
  EXPECT_EQ(cubin.kernels[1].spillLoadBytes, 24);
  EXPECT_EQ(cubin.kernels[1].staticSharedBytes, 4096);
  EXPECT_TRUE(cubin.kernels[1].hasSpills());
  EXPECT_TRUE(cubin.warnings.empty());
}

TEST(PtxasReportTest, PassesOverFunctionsThatAreNoKernels) {
  Cubin cubin;
  parsePtxasReport(
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for helper\n"
      "    64 bytes stack frame, 60 bytes spill stores, 60 bytes spill loads\n"
      "ptxas info    : Function properties for k\n"
      "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 1 registers, used 0 barriers\n",
      cubin);
  ASSERT_EQ(cubin.kernels.size(), 1u);
  EXPECT_EQ(cubin.kernels[0].stackBytes, 8);
  EXPECT_FALSE(cubin.kernels[0].hasSpills());
}

TEST(PtxasReportTest, KeepsWarnings) {
  Cubin cubin;
  parsePtxasReport("ptxas warning : Potential Performance Loss: wgmma\r\n"
                   "ptxas info    : 0 bytes gmem\n",
                   cubin);
  ASSERT_EQ(cubin.warnings.size(), 1u);
  EXPECT_EQ(cubin.warnings[0],
            "ptxas warning : Potential Performance Loss: wgmma");
  EXPECT_TRUE(cubin.kernels.empty());
}

TEST(PtxasReportTest, TriesAgainWhatSpillsWithRegistersLeft) {
  auto retries = [](llvm::StringRef ptx, int64_t registers, int64_t spilled) {
    Cubin cubin;
    cubin.kernels.emplace_back();
    cubin.kernels[0].registers = registers;
    cubin.kernels[0].spillStoreBytes = spilled;
    return mayNeedFewerSpills(ptx, "sm_90a", cubin);
  };
  llvm::StringRef block128 = ".entry k()\n.reqntid 128, 1, 1\n{\n}\n";
  EXPECT_TRUE(retries(block128, 32, 4));
  EXPECT_FALSE(retries(block128, 32, 0));
  EXPECT_FALSE(retries(block128, 255, 4));
  // 65536 registers for 512 threads.
  llvm::StringRef block512 = ".entry k()\n.maxntid 256, 2\n{\n}\n";
  EXPECT_TRUE(retries(block512, 120, 4));
  EXPECT_FALSE(retries(block512, 128, 4));
  EXPECT_FALSE(retries(".entry k() .reqntid 32 .maxnreg 64 {}", 64, 4));
  EXPECT_FALSE(retries(".entry k() .minnctapersm 4 {}", 64, 4));
}
