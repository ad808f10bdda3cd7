//===- StatsTest.cpp - Counters against numbers counted by hand -----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlantedBug.h"

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

/// Counts a body (see plantedKernel) in one block, or in a cluster of some.
Stats count(const std::string &body, unsigned threads = 32,
            unsigned cluster = 1) {
  PlantedBug kernel{"",      Report::Kind::Race, "", "", threads, cluster,
                    cluster, "\n" + body};
  EmulatorOptions options;
  options.collectStats = true;
  options.threads = 1;
  Runner runner(plantedKernel(kernel, true), options);
  // Allocations begin at a sector, which vectors need not.
  for (const char *name : {"out", "in"}) {
    auto buffer = runner.emulator.memory().allocate(65536, name);
    if (!buffer)
      ADD_FAILURE() << llvm::toString(buffer.takeError());
    else
      runner.add(*buffer);
  }
  return runner
      .run("k", Dim3{cluster, 1, 1}, Dim3{threads, 1, 1}, 0,
           Dim3{cluster, 1, 1})
      .stats;
}

//===----------------------------------------------------------------------===//
// Global memory: a sector is 32 bytes
//===----------------------------------------------------------------------===//

struct GlobalCase {
  const char *name, *body;
  unsigned requests, sectors, bytes;
};

class GlobalStats : public testing::TestWithParam<GlobalCase> {};

TEST_P(GlobalStats, Load) {
  const GlobalCase &c = GetParam();
  Stats stats = count(c.body);
  EXPECT_EQ(stats.globalLoadRequests, c.requests);
  EXPECT_EQ(stats.globalLoadSectors, c.sectors);
  EXPECT_EQ(stats.globalLoadBytes, c.bytes);
  EXPECT_EQ(stats.globalStoreRequests, 0u);
}

const GlobalCase globalCases[] = {
    // 32 x 4 bytes in a row: 128 bytes.
    {"Coalesced", "mad.wide.u32 %d1, %t, 4, %in;\nld.global.u32 %r1, [%d1];", 1,
     4, 128},
    // The same 4 bytes further on reach into a fifth sector.
    {"CoalescedOffTheSector",
     "mad.wide.u32 %d1, %t, 4, %in;\nld.global.u32 %r1, [%d1+4];", 1, 5, 128},
    {"EightBytes", "mad.wide.u32 %d1, %t, 8, %in;\nld.global.u64 %d2, [%d1];",
     1, 8, 256},
    {"SixteenBytes",
     "mad.wide.u32 %d1, %t, 16, %in;\n"
     "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];",
     1, 16, 512},
    // Every second word: twice the sectors for the same bytes.
    {"StrideOfTwo", "mad.wide.u32 %d1, %t, 8, %in;\nld.global.u32 %r1, [%d1];",
     1, 8, 128},
    {"StrideOfARow",
     "mad.wide.u32 %d1, %t, 128, %in;\nld.global.u32 %r1, [%d1];", 1, 32, 128},
    {"OneAddress", "ld.global.u32 %r1, [%in];", 1, 1, 128},
    {"Bytes",
     "cvt.u64.u32 %d1, %t;\nadd.u64 %d1, %d1, %in;\nld.global.u8 %h1, [%d1];",
     1, 1, 32},
    // 8 lanes of 16 bytes.
    {"SomeLanes",
     "setp.lt.u32 %p1, %t, 8;\nmad.wide.u32 %d1, %t, 16, %in;\n"
     "@%p1 ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];",
     1, 4, 128},
    {"Generic", "mad.wide.u32 %d1, %t, 4, %in;\nld.u32 %r1, [%d1];", 1, 4, 128},
};

INSTANTIATE_TEST_SUITE_P(All, GlobalStats, testing::ValuesIn(globalCases),
                         [](const testing::TestParamInfo<GlobalCase> &info) {
                           return std::string(info.param.name);
                         });

//===----------------------------------------------------------------------===//
// Shared memory: 32 banks of 4 bytes
//===----------------------------------------------------------------------===//

struct SharedCase {
  const char *name;
  unsigned stride;
  const char *body;
  unsigned wavefronts, conflicts, bytes;
};

class SharedStats : public testing::TestWithParam<SharedCase> {};

TEST_P(SharedStats, LoadAndStore) {
  const SharedCase &c = GetParam();
  std::string address =
      "mad.lo.u32 %r1, %t, " + std::to_string(c.stride) + ", %s;\n";
  std::string load = c.body;
  load.replace(load.find("OP"), 2, "ld.shared");
  Stats stats = count(address + load);
  EXPECT_EQ(stats.sharedLoadRequests, 1u);
  EXPECT_EQ(stats.sharedLoadWavefronts, c.wavefronts);
  EXPECT_EQ(stats.sharedLoadConflicts, c.conflicts);
  EXPECT_EQ(stats.sharedLoadBytes, c.bytes);
  EXPECT_EQ(stats.sharedStoreRequests, 0u);
}

const SharedCase sharedCases[] = {
    {"Words", 4, "OP.u32 %r2, [%r1];", 1, 0, 128},
    {"Broadcast", 0, "OP.u32 %r2, [%r1];", 1, 0, 128},
    {"TwoWayConflict", 8, "OP.u32 %r2, [%r1];", 2, 1, 128},
    {"FourWayConflict", 16, "OP.u32 %r2, [%r1];", 4, 3, 128},
    {"AllInOneBank", 128, "OP.u32 %r2, [%r1];", 32, 31, 128},
    // An odd number of words reaches every bank once, ten words every second.
    {"StrideOfNineWords", 36, "OP.u32 %r2, [%r1];", 1, 0, 128},
    {"StrideOfTenWords", 40, "OP.u32 %r2, [%r1];", 2, 1, 128},
    // 8 bytes a lane take two wavefronts, 16 bytes four.
    {"DoubleWords", 8, "OP.u64 %d1, [%r1];", 2, 0, 256},
    {"QuadWords", 16, "OP.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", 4, 0, 512},
    {"QuadWordsTwoApart", 32, "OP.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", 8, 4,
     512},
    {"Halves", 2, "OP.u16 %h1, [%r1];", 1, 0, 64},
};

INSTANTIATE_TEST_SUITE_P(All, SharedStats, testing::ValuesIn(sharedCases),
                         [](const testing::TestParamInfo<SharedCase> &info) {
                           return std::string(info.param.name);
                         });

TEST(Stats, SharedStore) {
  Stats stats = count("mad.lo.u32 %r1, %t, 8, %s;\nst.shared.u32 [%r1], %t;");
  EXPECT_EQ(stats.sharedStoreRequests, 1u);
  EXPECT_EQ(stats.sharedStoreWavefronts, 2u);
  EXPECT_EQ(stats.sharedStoreConflicts, 1u);
  EXPECT_EQ(stats.sharedStoreBytes, 128u);
}

/// Four matrices of 8 rows of 16 bytes: a wavefront each if the rows are in
/// different banks, eight each if all begin in one.
TEST(Stats, MatrixLoad) {
  const char *load =
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];";
  Stats dense = count(std::string("mad.lo.u32 %r1, %t, 16, %s;\n") + load);
  EXPECT_EQ(dense.sharedLoadWavefronts, 4u);
  EXPECT_EQ(dense.sharedLoadConflicts, 0u);
  EXPECT_EQ(dense.sharedLoadBytes, 512u);
  Stats rows = count(std::string("and.b32 %r1, %t, 7;\n"
                                 "mad.lo.u32 %r1, %r1, 128, %s;\n") +
                     load);
  EXPECT_EQ(rows.sharedLoadWavefronts, 32u);
  EXPECT_EQ(rows.sharedLoadConflicts, 28u);
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

TEST(Stats, AsyncCopies) {
  Stats stats = count("cp.async.ca.shared.global [%me], [%from], 4;\n"
                      "cp.async.wait_all;");
  EXPECT_EQ(stats.asyncBytes, 128u);
  EXPECT_EQ(stats.asyncLoadBytes, 128u);
  EXPECT_EQ(stats.globalLoadRequests, 0u);
  EXPECT_EQ(stats.sharedStoreRequests, 0u);
}

TEST(Stats, BulkCopies) {
  Stats stats = count(
      "@!%lead ret;\nmbarrier.init.shared.b64 [%bar], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 1024;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], "
      "[%in], 1024, [%bar];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;\n@!%p1 bra W;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 512;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;");
  EXPECT_EQ(stats.asyncBytes, 1536u);
  EXPECT_EQ(stats.asyncLoadBytes, 1024u);
  EXPECT_EQ(stats.asyncStoreBytes, 512u);
  EXPECT_EQ(stats.asyncClusterBytes, 0u);
  EXPECT_EQ(stats.barriers, 1u);
}

TEST(Stats, Clusters) {
  Stats stats = count(
      "@%lead mbarrier.init.shared.b64 [%bar], 1;\n"
      "@%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 128;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "xor.b32 %r1, %b, 1;\nmapa.shared::cluster.u32 %r2, %me, %r1;\n"
      "mapa.shared::cluster.u32 %r3, %bar, %r1;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %t, "
      "[%r3];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;\n@!%p1 bra W;\n"
      "ld.shared::cluster.u32 %r4, [%r2];\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
      32, 2);
  EXPECT_EQ(stats.blocks, 2u);
  EXPECT_EQ(stats.asyncClusterBytes, 256u);
  EXPECT_EQ(stats.clusterRequests, 2u);
  EXPECT_EQ(stats.clusterBytes, 256u);
  EXPECT_EQ(stats.sharedLoadRequests, 0u);
  // Twice the cluster's barrier and once an mbarrier, in each block.
  EXPECT_EQ(stats.barriers, 6u);
}

TEST(Stats, MatrixProducts) {
  Stats stats = count("mov.b32 %r1, 0;\nmov.f32 %f0, 0f00000000;\n"
                      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                      "{%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, "
                      "{%f0, %f0, %f0, %f0};",
                      64);
  // Two warps.
  EXPECT_EQ(stats.matrixMacs, 2u * 16 * 8 * 16);
  EXPECT_EQ(stats.instructions[unsigned(InstructionClass::Matrix)], 2u);
  std::string text;
  llvm::raw_string_ostream os(text);
  stats.printJSON(os);
  EXPECT_NE(text.find("\"matrix_flops\": 8192"), std::string::npos) << text;
}

TEST(Stats, WarpgroupProducts) {
  Stats stats = count(
      "st.shared.u32 [%me], 0;\nshr.u32 %r1, %s, 4;\ncvt.u64.u32 %d1, %r1;\n"
      "or.b64 %d1, %d1, 0x800400000;\nmov.f32 %f0, 0f00000000;\n"
      "mov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%f0, %f1, %f2, %f3}, %d1, %d1, 1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;",
      128);
  EXPECT_EQ(stats.matrixMacs, 64u * 8 * 16);
}

TEST(Stats, BarriersAndAtomics) {
  Stats stats = count("bar.sync 0;\nbar.sync 0;\n"
                      "red.global.add.u32 [%out], 1;\n"
                      "atom.shared.add.u32 %r1, [%s], 1;",
                      96);
  // Three warps.
  EXPECT_EQ(stats.barriers, 6u);
  EXPECT_EQ(stats.atomicRequests, 6u);
  EXPECT_EQ(stats.atomicBytes, 6u * 128);
  EXPECT_EQ(stats.warps, 3u);
}

TEST(Stats, Divergence) {
  Stats stats = count("setp.lt.u32 %p1, %t, 7;\n@%p1 bra THERE;\n"
                      "add.u32 %r1, %t, 1;\nTHERE:\nsetp.lt.u32 %p2, %t, 64;\n"
                      "@%p2 bra END;\nEND:");
  EXPECT_EQ(stats.divergentBranches, 1u);
}

} // namespace
