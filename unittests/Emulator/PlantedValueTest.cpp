//===- PlantedValueTest.cpp - Bounds, undefined values, deadlocks ---------===//
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

constexpr auto bounds = Report::Kind::OutOfBounds;
constexpr auto misaligned = Report::Kind::Misaligned;
constexpr auto undefined = Report::Kind::Uninitialized;
constexpr auto deadlock = Report::Kind::Deadlock;
constexpr auto invalid = Report::Kind::InvalidOperation;

const PlantedBug bugs[] = {
    //===--- Bounds ------------------------------------------------------===//
    {"OnePastTheEnd", bounds, "read of 4 bytes at global address",
     "0 bytes past its end", 32, 1, 1, R"(
  mad.wide.u32 %d1, %t, 4, %in;
- ld.global.u32 %r1, [%d1+65412];
+ ld.global.u32 %r1, [%d1+65408];
  st.global.u32 [%mine], %r1;
)"},
    {"NegativeIndex", bounds, "write of 4 bytes at global address",
     "st.global.u32 [%d1]", 32, 1, 1, R"(
- sub.s32 %r1, %t, 1;
+ sub.s32 %r1, %t, 0;
  mad.wide.s32 %d1, %r1, 4, %out;
  st.global.u32 [%d1], %t;
)"},
    {"StrideOfTheWrongUnit", bounds, "read of 4 bytes at global address",
     "ld.global.u32 %r2", 32, 4, 1, R"(
  mad.lo.u32 %r1, %b, 4096, %t;
- shl.b32 %r1, %r1, 3;
+ shl.b32 %r1, %r1, 2;
  cvt.u64.u32 %d1, %r1;
  add.u64 %d1, %d1, %in;
  ld.global.u32 %r2, [%d1];
  st.global.u32 [%mine], %r2;
)"},
    {"NullPointer", bounds, "outside of every allocation", "ld.global.u32", 32,
     1, 1, R"(
- mov.u64 %d1, 0;
+ mov.u64 %d1, %in;
  ld.global.u32 %r2, [%d1];
)"},
    {"PastTheSharedWindow", bounds, "outside of the block's shared memory",
     "st.shared.u32", 32, 1, 1, R"(
  add.u32 %r1, %me, 4096;
- st.shared.u32 [%r1], %t;
+ st.shared.u32 [%r1+-4096], %t;
)"},
    {"BelowTheSharedWindow", bounds, "outside of the block's shared memory",
     "ld.shared.u32", 32, 1, 1, R"(
- mov.u32 %r1, 0;
+ mov.u32 %r1, %me;
  st.shared.u32 [%me], %t;
  ld.shared.u32 %r2, [%r1];
)"},
    {"PastTheLocalArray", bounds, "bytes of local memory", "st.local.u32", 32,
     1, 1, R"(
  .local .align 4 .b8 array[16];
  mov.u64 %d1, array;
- st.local.u32 [%d1+16], %t;
+ st.local.u32 [%d1+12], %t;
)"},
    {"PeerThatIsNotThere", invalid, "block 2 of a cluster of 2", "mapa", 32, 2,
     2, R"(
  st.shared.u32 [%me], %t;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
- mapa.shared::cluster.u32 %r1, %me, 2;
+ mapa.shared::cluster.u32 %r1, %me, 1;
  ld.shared::cluster.u32 %r2, [%r1];
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)"},
    {"BulkCopyPastTheEnd", bounds, "global address", "cp.async.bulk", 32, 1, 1,
     R"(
  @!%lead ret;
  mbarrier.init.shared.b64 [%bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
- add.u64 %d1, %in, 65408;
+ add.u64 %d1, %in, 65280;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 256, [%bar];
W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;
  @!%p1 bra W;
)"},
    {"MisalignedVector", misaligned, "access of 16 bytes", "ld.global.v4.u32",
     32, 1, 1, R"(
- mad.wide.u32 %d1, %t, 4, %in;
+ mad.wide.u32 %d1, %t, 16, %in;
  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];
)"},
    {"MisalignedShared", misaligned, "access of 8 bytes", "st.shared.u64", 32,
     1, 1, R"(
- st.shared.u64 [%me], %in;
+ st.shared.u32 [%me], %t;
)"},
    {"MisalignedBulkCopy", misaligned, "of a bulk copy", "cp.async.bulk", 32, 1,
     1, R"(
  @!%lead ret;
  mbarrier.init.shared.b64 [%bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
- add.u64 %d1, %in, 8;
+ add.u64 %d1, %in, 16;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%d1], 256, [%bar];
W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;
  @!%p1 bra W;
)"},
    //===--- Undefined values --------------------------------------------===//
    {"RegisterInAnAddress", undefined, "the address of this access",
     "ld.global.u32", 32, 1, 1, R"(
+ mov.u32 %r5, 3;
- and.b32 %r5, %r5, 0;
  mad.wide.u32 %d1, %r5, 4, %in;
  ld.global.u32 %r1, [%d1];
)"},
    {"RegisterInABranch", undefined, "the predicate of this instruction",
     "bra DONE", 32, 1, 1, R"(
+ mov.u32 %r5, 3;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra DONE;
  st.global.u32 [%mine], 1;
DONE:
)"},
    {"RegisterOfOneArm", undefined, "what is stored to global memory",
     "st.global.u32", 32, 1, 1, R"(
  setp.lt.u32 %p1, %t, 16;
- @%p1 mov.u32 %r1, 5;
+ selp.u32 %r1, 5, 6, %p1;
  st.global.u32 [%mine], %r1;
)"},
    {"SharedNeverWritten", undefined, "what is stored to global memory",
     "st.global.u32", 32, 1, 1, R"(
- setp.lt.u32 %p1, %t, 31;
+ setp.lt.u32 %p1, %t, 32;
  @%p1 st.shared.u32 [%me], %t;
  bar.sync 0;
  ld.shared.u32 %r1, [%me];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%mine], %r1;
)"},
    {"SharedInABranch", undefined, "the predicate of this instruction",
     "bra DONE", 32, 1, 1, R"(
+ st.shared.u32 [%me], 1;
  ld.shared.u32 %r1, [%me];
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  st.global.u32 [%mine], 1;
DONE:
)"},
    {"LocalNeverWritten", undefined, "what is stored to global memory",
     "st.global.u32", 32, 1, 1, R"(
  .local .align 4 .b8 array[16];
  mov.u64 %d1, array;
+ st.local.u32 [%d1], %t;
  ld.local.u32 %r1, [%d1];
  st.global.u32 [%mine], %r1;
)"},
    {"CopyOfTooFewBytes", undefined, "what is stored to global memory",
     "st.global.u32", 32, 1, 1, R"(
  @%lead mbarrier.init.shared.b64 [%bar], 1;
  bar.sync 0;
- @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 64;
+ @%lead mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 128;
- @%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 64, [%bar];
+ @%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 128, [%bar];
W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;
  @!%p1 bra W;
  ld.shared.u32 %r1, [%me];
  st.global.u32 [%mine], %r1;
)"},
    {"MatrixFragmentNeverLoaded", undefined, "never written", "st.global.f32",
     32, 1, 1, R"(
  mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0;
  mov.b32 %r5, 0;
+ mov.b32 %r6, 0;
  mov.f32 %f0, 0f00000000;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f0, %f0, %f0};
  st.global.f32 [%mine], %f1;
)"},
    {"ShuffleOfAnUndefinedLane", undefined, "never written", "st.global.u32",
     32, 1, 1, R"(
  setp.ne.u32 %p1, %t, 5;
- @%p1 mov.u32 %r1, %t;
+ mov.u32 %r1, %t;
  shfl.sync.idx.b32 %r2, %r1, 5, 31, -1;
  st.global.u32 [%mine], %r2;
)"},
    //===--- Deadlocks ---------------------------------------------------===//
    {"BarrierInADivergentBranch", deadlock, "no warp can go on",
     "waits for other lanes of its warp", 32, 1, 1, R"(
- setp.lt.u32 %p1, %t, 16;
+ setp.lt.u32 %p1, %t, 64;
  @%p1 bra THERE;
  bar.sync 0;
  bra DONE;
THERE:
  bar.sync 0;
DONE:
  st.global.u32 [%mine], %t;
)"},
    {"BarriersOfDifferentNumbers", deadlock, "no warp can go on",
     "32 of 64 threads have arrived", 64, 1, 1, R"(
  setp.eq.u32 %p1, %w, 0;
  @%p1 bra FIRST;
- bar.sync 2, 64;
+ bar.sync 1, 64;
  bra DONE;
FIRST:
  bar.sync 1, 64;
DONE:
)"},
    {"BarrierOfTooManyThreads", deadlock, "no warp can go on",
     "64 of 96 threads have arrived", 96, 1, 1, R"(
  setp.eq.u32 %p1, %w, 2;
  @%p1 bra OTHER;
- bar.sync 1, 96;
+ bar.sync 1, 64;
OTHER:
  bar.sync 0;
)"},
    {"BarrierOfDifferentCounts", invalid, "is awaited with", "bar.sync 1", 128,
     1, 1, R"(
  setp.eq.u32 %p1, %w, 0;
  @%p1 bra FIRST;
- bar.sync 1, 64;
+ bar.sync 1, 128;
  bra DONE;
FIRST:
  bar.sync 1, 128;
DONE:
)"},
    {"ArrivalLost", deadlock, "", "1 of 64 arrivals and 0 bytes are awaited",
     64, 1, 1, R"(
  @%lead mbarrier.init.shared.b64 [%bar], 64;
  bar.sync 0;
- @!%lead mbarrier.arrive.shared.b64 %d1, [%bar];
+ mbarrier.arrive.shared.b64 %d1, [%bar];
W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;
  @!%p1 bra W;
)"},
    {"WaitForAPhaseThatNeverComes", deadlock, "", "phase 1 (parity 1)", 64, 1,
     1, R"(
  @%lead mbarrier.init.shared.b64 [%bar], 64;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %d1, [%bar];
W: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;
  @!%p1 bra W;
- V: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 1;
+ V: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0;
  @!%p1 bra V;
)"},
    {"SpinOnAFlagThatNobodySets", deadlock, "all poll for what nobody will do",
     "block (1,0,0) warp 0", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra WAIT;
- st.release.gpu.global.u32 [%out+4], 1;
+ st.release.gpu.global.u32 [%out], 1;
  ret;
WAIT:
  ld.acquire.gpu.global.u32 %r1, [%out];
  setp.ne.u32 %p2, %r1, 1;
  @%p2 bra WAIT;
)"},
    {"ClusterBarrierWithoutABlock", deadlock, "", "cluster barrier: 32 threads",
     32, 2, 2, R"(
  setp.eq.u32 %p1, %b, 1;
- @%p1 bra WAIT;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  @!%p1 st.release.gpu.global.u32 [%out], 1;
  ret;
- WAIT:
- ld.acquire.gpu.global.u32 %r1, [%out];
- setp.ne.u32 %p2, %r1, 1;
- @%p2 bra WAIT;
- barrier.cluster.arrive.aligned;
- barrier.cluster.wait.aligned;
)"},
    {"ReductionWithoutSomeLanes", deadlock, "no warp can go on", "redux.sync",
     32, 1, 1, R"(
- setp.lt.u32 %p1, %t, 16;
+ setp.lt.u32 %p1, %t, 32;
  @!%p1 bra OTHER;
  redux.sync.add.s32 %r1, %t, -1;
OTHER:
  bar.sync 0;
)"},
    //===--- Misuse ------------------------------------------------------===//
    {"ShuffleOutsideOfItsMask", invalid, "is not in the member mask",
     "shfl.sync", 32, 1, 1, R"(
- shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffff;
+ shfl.sync.idx.b32 %r1, %t, 0, 31, -1;
)"},
    {"TooManyArrivals", invalid, "which awaits only", "mbarrier.arrive", 64, 1,
     1, R"(
- @%lead mbarrier.init.shared.b64 [%bar], 32;
+ @%lead mbarrier.init.shared.b64 [%bar], 64;
  @%lead mbarrier.init.shared.b64 [%bar+8], 64;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %d1, [%bar+8];
- mbarrier.arrive.noComplete.shared.b64 %d1, [%bar], 33;
+ mbarrier.arrive.shared.b64 %d1, [%bar];
)"},
    {"BarrierMemoryOverwritten", invalid, "something else wrote its memory",
     "mbarrier.arrive", 32, 1, 1, R"(
  @!%lead ret;
  mbarrier.init.shared.b64 [%bar], 1;
- st.shared.u64 [%bar], 0;
+ st.shared.u64 [%bar+8], 0;
  mbarrier.arrive.shared.b64 %d1, [%bar];
)"},
};

TEST_PLANTED_BUGS(PlantedValue, bugs);

} // namespace
