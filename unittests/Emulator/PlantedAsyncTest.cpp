//===- PlantedAsyncTest.cpp - Asynchronous copies used too early ----------===//
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

constexpr auto race = Report::Kind::Race;
constexpr auto deadlock = Report::Kind::Deadlock;

/// Thread 0 initialises two mbarriers with one arrival each.
const std::string initBarriers = R"(
  @%lead mbarrier.init.shared.b64 [%bar], 1;
  @%lead mbarrier.init.shared.b64 [%bar+8], 1;
  @%lead fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";

std::string bulkLoad(const std::string &to, const std::string &from,
                     const std::string &bytes, const std::string &barrier) {
  return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" +
         to + "], [" + from + "], " + bytes + ", [" + barrier + "];";
}

std::string wait(const std::string &label, const std::string &barrier,
                 const std::string &parity) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p9, [" + barrier +
         "], " + parity + "; @!%p9 bra " + label + ";";
}

const std::string load256 = bulkLoad("%s", "%in", "256", "%bar");
const std::string bulkStore =
    "cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;";

/// A tile of f16 at %s that all threads fill, and its descriptor in %d1.
const std::string wgmmaOperands = R"(
  st.shared.u32 [%me], 0; st.shared.u32 [%me+512], 0;
  st.shared.u32 [%me+1024], 0; st.shared.u32 [%me+1536], 0;
)";
const std::string wgmmaDescriptor = R"(
  shr.u32 %r1, %s, 4;
  cvt.u64.u32 %d1, %r1;
  or.b64 %d1, %d1, 0x800400000;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
)";
const std::string wgmma =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
    "%d1, %d1, 1, 1, 1, 0, 0; ";
const std::string wgmmaCommit = "wgmma.commit_group.sync.aligned; ";
const std::string wgmmaWait = "wgmma.wait_group.sync.aligned 0;\n";

const PlantedBug bugs[] = {
    //===--- cp.async ----------------------------------------------------===//
    {"CopyReadBeforeItsWait", race, "in flight writes", "ld.shared.u32", 32, 1,
     1, R"(
  cp.async.ca.shared.global [%me], [%from], 4;
  cp.async.commit_group;
+ cp.async.wait_group 0;
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
  cp.async.wait_all;
)"},
    {"WaitForTooFewGroups", race, "in flight writes", "ld.shared.u32", 32, 1, 1,
     R"(
  cp.async.ca.shared.global [%me], [%from], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%me+512], [%from+4], 4;
  cp.async.commit_group;
- cp.async.wait_group 1;
+ cp.async.wait_group 0;
  ld.shared.u32 %r1, [%me+512];
  st.global.u32 [%mine], %r1;
  cp.async.wait_all;
)"},
    {"CopyNeverCommitted", race, "in flight writes", "ld.shared.u32", 32, 1, 1,
     R"(
  cp.async.ca.shared.global [%me], [%from], 4;
+ cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
  cp.async.wait_all;
)"},
    {"CopyOfAnotherThread", race, "of shared memory", "shared", 64, 1, 1, R"(
  cp.async.ca.shared.global [%me], [%from], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
+ bar.sync 0;
  xor.b32 %r1, %t, 63;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%mine], %r2;
)"},
    {"CopyIntoABufferThatIsRead", race, "of shared memory is not ordered with",
     "shared", 64, 1, 1, R"(
  st.shared.u32 [%me], %t;
  bar.sync 0;
  xor.b32 %r1, %t, 63;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
+ bar.sync 0;
  cp.async.ca.shared.global [%me], [%from], 4;
  cp.async.wait_all;
  st.global.u32 [%mine], %r2;
)"},
    //===--- Bulk copies and mbarriers -----------------------------------===//
    {"BulkReadBeforeItsWait", race, "of shared memory", "ld.shared.u32", 32, 1,
     1,
     initBarriers + R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  @%lead )" +
         load256 + R"(
+ )" + wait("W", "%bar", "0") +
         R"(
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
  )" + wait("E", "%bar", "0") +
         "\n"},
    {"WaitWithTheWrongParity", race, "of shared memory", "ld.shared.u32", 32, 1,
     1,
     initBarriers + R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  @%lead )" +
         load256 + R"(
- )" + wait("W", "%bar", "1") +
         R"(
+ )" + wait("V", "%bar", "0") +
         R"(
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
  )" + wait("E", "%bar", "0") +
         "\n"},
    {"WaitForTheOtherBarrier", race, "of shared memory", "ld.shared.u32", 32, 1,
     1,
     initBarriers + R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  @%lead )" +
         load256 + R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar+8], 256;
  @%lead )" +
         bulkLoad("%s+1024", "%in", "256", "%bar+8") +
         R"(
- )" + wait("W", "%bar+8", "0") +
         R"(
+ )" + wait("V", "%bar", "0") +
         R"(
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
  )" + wait("E", "%bar", "0") +
         wait("F", "%bar+8", "0") + "\n"},
    {"TooFewBytesExpected", race, "of shared memory", "ld.shared.u32", 32, 1, 1,
     initBarriers + R"(
- @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
+ @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;
  @%lead )" +
         load256 + R"(
  @%lead )" +
         bulkLoad("%s+256", "%in+256", "256", "%bar") +
         R"(
  )" + wait("W", "%bar", "0") +
         R"(
  ld.shared.u32 %r1, [%me+256];
  ld.shared.u32 %r2, [%me];
  st.global.v2.u32 [%mine], {%r1, %r2};
  bar.warp.sync -1;
)"},
    {"TooManyBytesExpected", deadlock, "", "256 bytes are awaited", 32, 1, 1,
     initBarriers + R"(
- @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;
+ @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  @%lead )" +
         load256 + R"(
  )" + wait("W", "%bar", "0") +
         R"(
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
)"},
    {"RefillBeforeTheReaders", race, "of shared memory", "shared", 64, 1, 1,
     initBarriers + R"(
  setp.eq.u32 %p1, %w, 1;
  @%p1 bra CONSUME;
  @!%lead ret;
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  )" + load256 +
         R"(
+ )" + wait("E", "%bar+8", "0") +
         R"(
- )" + wait("V", "%bar", "0") +
         R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  )" + load256 +
         R"(
  ret;
CONSUME:
  )" + wait("W", "%bar", "0") +
         R"(
  ld.shared.u32 %r1, [%me+-128];
  bar.warp.sync -1;
  setp.eq.u32 %p2, %l, 0;
  @%p2 mbarrier.arrive.shared.b64 %d1, [%bar+8];
  )" + wait("X", "%bar", "1") +
         R"(
  st.global.u32 [%mine], %r1;
)"},
    {"BufferReleasedBeforeItIsRead", race, "of shared memory", "shared", 64, 1,
     1,
     initBarriers + R"(
  setp.eq.u32 %p1, %w, 1;
  @%p1 bra CONSUME;
  @!%lead ret;
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  )" + load256 +
         R"(
  )" + wait("E", "%bar+8", "0") +
         R"(
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  )" + load256 +
         R"(
  ret;
CONSUME:
  setp.eq.u32 %p2, %l, 0;
  )" + wait("W", "%bar", "0") +
         R"(
- @%p2 mbarrier.arrive.shared.b64 %d1, [%bar+8];
  ld.shared.u32 %r1, [%me+-128];
+ bar.warp.sync -1;
+ @%p2 mbarrier.arrive.shared.b64 %d1, [%bar+8];
  )" + wait("X", "%bar", "1") +
         R"(
  st.global.u32 [%mine], %r1;
)"},
    {"SecondRoundWithTheOldParity", race, "of shared memory", "ld.shared.u32",
     32, 1, 1,
     initBarriers + R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  @%lead )" +
         load256 + R"(
  )" + wait("W", "%bar", "0") +
         R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  @%lead )" +
         bulkLoad("%s+1024", "%in", "256", "%bar") +
         R"(
- )" + wait("X", "%bar", "0") +
         R"(
+ )" + wait("Y", "%bar", "1") +
         R"(
  ld.shared.u32 %r1, [%me+1024];
  st.global.u32 [%mine], %r1;
  )" + wait("E", "%bar", "1") +
         "\n"},
    {"BarrierUsedBeforeItsInit", race,
     "an arrival at an mbarrier of shared memory is not ordered with",
     "mbarrier.arrive", 64, 1, 1, R"(
  @%lead mbarrier.init.shared.b64 [%bar], 64;
- @%lead st.relaxed.cta.shared.u32 [%s], 1;
+ @%lead st.release.cta.shared.u32 [%s], 1;
  setp.eq.u32 %p1, %w, 0;
  @%p1 bra ARRIVE;
SPIN:
  ld.acquire.cta.shared.u32 %r1, [%s];
  setp.ne.u32 %p2, %r1, 1;
  @%p2 bra SPIN;
ARRIVE:
  bar.warp.sync -1;
  mbarrier.arrive.shared.b64 %d1, [%bar];
)"},
    //===--- Bulk stores -------------------------------------------------===//
    {"StoreWithoutAProxyFence", race, "without a fence.proxy.async between",
     "cp.async.bulk", 32, 1, 1, R"(
  st.shared.u32 [%me], %t;
+ fence.proxy.async.shared::cta;
  bar.sync 0;
  @%lead )" + bulkStore + R"(
  @%lead cp.async.bulk.commit_group;
  @%lead cp.async.bulk.wait_group 0;
)"},
    {"ProxyFenceOfTheIssuerTooEarly", race,
     "without a fence.proxy.async between", "cp.async.bulk", 64, 1, 1, R"(
- @%lead fence.proxy.async.shared::cta;
  st.shared.u32 [%me], %t;
  bar.sync 0;
+ @%lead fence.proxy.async.shared::cta;
  @%lead )" + bulkStore + R"(
  @%lead cp.async.bulk.commit_group;
  @%lead cp.async.bulk.wait_group 0;
)"},
    {"StoreBeforeTheBarrier", race, "of shared memory", "shared", 64, 1, 1, R"(
  st.shared.u32 [%me], %t;
  fence.proxy.async.shared::cta;
+ bar.sync 0;
  @%lead cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 256;
  @%lead cp.async.bulk.commit_group;
  @%lead cp.async.bulk.wait_group 0;
)"},
    {"StoredBufferOverwritten", race, "in flight reads",
     "st.shared.u32", 32, 1, 1, R"(
  st.shared.u32 [%me], %t;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%lead )" + bulkStore + R"(
  @%lead cp.async.bulk.commit_group;
+ @%lead cp.async.bulk.wait_group.read 0;
  bar.sync 0;
  st.shared.u32 [%me], 7;
  @%lead cp.async.bulk.wait_group 0;
)"},
    {"BlockEndsBeforeItsStoreHasRead", race,
     "which ends before it has been awaited", "cp.async.bulk", 32, 1, 1, R"(
  st.shared.u32 [%me], %t;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%lead )" + bulkStore + R"(
  @%lead cp.async.bulk.commit_group;
+ @%lead cp.async.bulk.wait_group.read 0;
)"},
    {"StoreReleasedWhileInFlight", race, "of global memory is not ordered with",
     "cp.async.bulk.global", 32, 2, 1, R"(
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.shared.u32 [%me], %t;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%lead ret;
  )" + bulkStore + R"(
  cp.async.bulk.commit_group;
- cp.async.bulk.wait_group.read 0;
+ cp.async.bulk.wait_group 0;
  st.release.gpu.global.u32 [%out+4096], 1;
  ret;
READ:
  @!%lead ret;
SPIN:
  ld.acquire.gpu.global.u32 %r1, [%out+4096];
  setp.ne.u32 %p2, %r1, 1;
  @%p2 bra SPIN;
  ld.global.u32 %r2, [%out+64];
)"},
    {"StoresOfTwoBlocksOverlap", race, "of global memory is not ordered with",
     "cp.async.bulk.global", 32, 2, 1, R"(
  st.shared.u32 [%me], %b;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%lead ret;
- mad.wide.u32 %d1, %b, 64, %out;
+ mad.wide.u32 %d1, %b, 128, %out;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)"},
    {"ReductionInsteadOfStores", race, "of global memory is not ordered with",
     "cp.async.bulk.global", 32, 2, 1, R"(
  st.shared.u32 [%me], %b;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%lead ret;
- cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;
+ cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%s], 128;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)"},
    {"LoadOfWhatAnotherBlockWrites", race,
     "of global memory is not ordered with", "global", 32, 2, 1,
     initBarriers + R"(
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra LOAD;
  st.global.u32 [%mine], %t;
+ membar.gl;
  bar.warp.sync -1;
  @%lead st.release.gpu.global.u32 [%out+4096], 1;
  ret;
LOAD:
  @!%lead bra W;
+SPIN:
+ ld.acquire.gpu.global.u32 %r1, [%out+4096];
+ setp.ne.u32 %p2, %r1, 1;
+ @%p2 bra SPIN;
+ fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
  )" + bulkLoad("%s", "%out", "256", "%bar") +
         R"(
  )" + wait("W", "%bar", "0") +
         "\n"},
    //===--- wgmma -------------------------------------------------------===//
    {
        "WgmmaWithoutItsFence", race, "without a wgmma.fence between",
        "wgmma.mma_async", 128, 1, 1, wgmmaOperands + R"(
  fence.proxy.async;
  bar.sync 0;
)" + wgmmaDescriptor + R"(
+ wgmma.fence.sync.aligned;
  )" + wgmma + wgmmaCommit + wgmmaWait + "  st.global.f32 [%mine], %f0;\n"},
    {"AccumulatorsReadTooEarly", race, "wgmma.wait_group must come first",
     "st.global.f32", 128, 1, 1, wgmmaOperands + R"(
  fence.proxy.async;
  bar.sync 0;
)" + wgmmaDescriptor + R"(
  wgmma.fence.sync.aligned;
  )" + wgmma + wgmmaCommit + R"(
- st.global.f32 [%mine], %f0;
  )" + wgmmaWait + "+ st.global.f32 [%mine], %f0;\n"},
    {"WgmmaWaitForTooFewGroups", race, "wgmma.wait_group must come first",
     "st.global.f32", 128, 1, 1, wgmmaOperands + R"(
  fence.proxy.async;
  bar.sync 0;
)" + wgmmaDescriptor + R"(
  wgmma.fence.sync.aligned;
  )" + wgmma + wgmmaCommit + R"(
- wgmma.wait_group.sync.aligned 1;
+ wgmma.wait_group.sync.aligned 0;
  st.global.f32 [%mine], %f0;
  )" + wgmmaWait},
    {"WgmmaWithoutAProxyFence", race, "without a fence.proxy.async between",
     "wgmma.mma_async", 128, 1, 1,
     wgmmaOperands + R"(
+ fence.proxy.async;
  bar.sync 0;
)" + wgmmaDescriptor +
         R"(
  wgmma.fence.sync.aligned;
  )" + wgmma +
         wgmmaCommit + wgmmaWait + "  st.global.f32 [%mine], %f0;\n"},
    {"WgmmaOperandRefilled", race, "in flight reads",
     "st.shared.u32", 128, 1, 1, wgmmaOperands + R"(
  fence.proxy.async;
  bar.sync 0;
)" + wgmmaDescriptor + R"(
  wgmma.fence.sync.aligned;
  )" + wgmma + wgmmaCommit + R"(
- st.shared.u32 [%me], 1;
  )" + wgmmaWait + R"(
+ bar.sync 0;
+ st.shared.u32 [%me], 1;
  st.global.f32 [%mine], %f0;
)"},
    {"WgmmaOperandLoadedOver", race,
     "of shared memory", "shared", 128, 1, 1, initBarriers + wgmmaOperands + R"(
  fence.proxy.async;
  bar.sync 0;
)" + wgmmaDescriptor + R"(
  wgmma.fence.sync.aligned;
  )" + wgmma + wgmmaCommit + R"(
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
- @%lead )" + load256 + R"(
  )" + wgmmaWait + R"(
+ bar.sync 0;
+ @%lead )" + load256 + R"(
  )" + wait("W", "%bar", "0") + "\n  st.global.f32 [%mine], %f0;\n"},
    {"AccumulatorsNeverSet", Report::Kind::Uninitialized, "never written",
     "%f0", 128, 1, 1,
     wgmmaOperands + R"(
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %r1, %s, 4;
  cvt.u64.u32 %d1, %r1;
  or.b64 %d1, %d1, 0x800400000;
+ mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  wgmma.fence.sync.aligned;
  )" + wgmma +
         wgmmaCommit + wgmmaWait +
         "  st.global.f32 "
         "[%mine], %f0;\n"},
    //===--- Clusters ----------------------------------------------------===//
    {"StoreAsyncReadEarly", race, "of shared memory", "ld.shared.u32", 32, 2, 2,
     R"(
  @%lead mbarrier.init.shared.b64 [%bar], 1;
  @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 128;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  xor.b32 %r1, %b, 1;
  mapa.shared::cluster.u32 %r2, %me, %r1;
  mapa.shared::cluster.u32 %r3, %bar, %r1;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %t, [%r3];
+ )" + wait("W", "%bar", "0") +
         R"(
  ld.shared.u32 %r4, [%me];
  st.global.u32 [%mine], %r4;
  )" + wait("E", "%bar", "0") +
         R"(
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)"},
    {"ArrivalAtABlockThatEnds", race, "which may have ended",
     "mbarrier.arrive.release.cluster", 32, 2, 2, R"(
  @%lead mbarrier.init.shared.b64 [%bar], 1;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  xor.b32 %r1, %b, 1;
  mapa.shared::cluster.u32 %r3, %bar, %r1;
  @%lead mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
+ )" + wait("W", "%bar", "0") + "\n"},
};

TEST_PLANTED_BUGS(PlantedAsync, bugs);

} // namespace
