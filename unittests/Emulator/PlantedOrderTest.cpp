//===- PlantedOrderTest.cpp - Missing barriers, fences and flags ----------===//
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

const PlantedBug bugs[] = {
    //===--- Barriers of a block -----------------------------------------===//
    {"ReadAfterWrite", race, "of shared memory is not ordered with",
     "st.shared.u32 [%me], %t;", 64, 1, 1, R"(
  st.shared.u32 [%me], %t;
+ bar.sync 0;
  xor.b32 %r1, %t, 63;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%mine], %r2;
)"},
    {"WriteAfterRead", race, "of shared memory is not ordered with",
     "st.shared.u32 [%me], %r3;", 64, 1, 1, R"(
  st.shared.u32 [%me], %t;
  bar.sync 0;
  xor.b32 %r1, %t, 63;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
+ bar.sync 0;
  add.u32 %r3, %t, 100;
  st.shared.u32 [%me], %r3;
  st.global.u32 [%mine], %r2;
)"},
    {"WriteAfterWrite", race,
     "a write of shared memory is not ordered with a write", "st.shared.u32",
     64, 1, 1, R"(
  setp.eq.u32 %p1, %t, 32;
  @%lead st.shared.u32 [%s], 1;
+ bar.sync 0;
  @%p1 st.shared.u32 [%s], 2;
)"},
    {"WriteOfTheSameValueAfterRead", race,
     "of shared memory is not ordered with", "st.shared.u32 [%me], %t;", 64, 1,
     1, R"(
  mov.u32 %r9, 0;
LOOP:
  st.shared.u32 [%me], %t;
  bar.sync 0;
  xor.b32 %r1, %t, 63;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
+ bar.sync 0;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p1, %r9, 2;
  @%p1 bra LOOP;
  st.global.u32 [%mine], %r2;
)"},
    {"LanesOfOneStore", race,
     "a write of shared memory is not ordered with a write", "st.shared.u32",
     32, 1, 1, R"(
- st.shared.u32 [%s], %t;
+ st.shared.u32 [%s], 7;
)"},
    {"LanesOfOneVectorStore", race,
     "a write of shared memory is not ordered with a write", "st.shared.v2.u32",
     32, 1, 1, R"(
  mov.u32 %r1, 5;
- st.shared.v2.u32 [%s+8], {%r1, %t};
+ st.shared.v2.u32 [%s+8], {%r1, %r1};
)"},
    {"LanesOfAWarp", race, "a read of shared memory is not ordered with",
     "ld.shared.u32", 32, 1, 1, R"(
  st.shared.u32 [%me], %t;
+ bar.warp.sync -1;
  xor.b32 %r1, %t, 31;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%mine], %r2;
)"},
    {"ShuffleOrdersNoMemory", race, "a read of shared memory is not ordered",
     "ld.shared.u32", 32, 1, 1, R"(
  st.shared.u32 [%me], %t;
- shfl.sync.bfly.b32 %r3, %t, 1, 31, -1;
+ bar.warp.sync -1;
  xor.b32 %r1, %t, 31;
  mad.lo.u32 %r1, %r1, 4, %s;
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%mine], %r2;
)"},
    {"LoadThenStoreOfAnotherLane", race,
     "a write of global memory is not ordered with a read", "st.global.u32", 32,
     1, 1, R"(
  xor.b32 %r1, %t, 31;
  mad.wide.u32 %d1, %r1, 4, %out;
  mad.wide.u32 %d2, %t, 4, %out;
  ld.global.u32 %r2, [%d1];
+ bar.warp.sync -1;
  st.global.u32 [%d2], %r2;
)"},
    {"ReaderLeftOutOfTheBarrier", race, "of shared memory is not ordered with",
     "ld.shared.u32 %r1, [%s];", 160, 1, 1, R"(
  setp.eq.u32 %p1, %w, 4;
  @%lead st.shared.u32 [%s], 5;
  bar.sync 0;
  @%p1 bra WRITE;
  ld.shared.u32 %r1, [%s];
- setp.ne.u32 %p2, %w, 1;
+ setp.ne.u32 %p2, %w, 7;
- @%p2 bar.arrive 1, 128;
+ @%p2 bar.arrive 1, 160;
  ret;
WRITE:
- bar.sync 1, 128;
+ bar.sync 1, 160;
  setp.eq.u32 %p3, %l, 0;
  @%p3 st.shared.u32 [%s], 6;
)"},
    {"NamedBarrierOfTheWrongNumber", race,
     "of shared memory is not ordered with", ".shared.u32", 64, 1, 1, R"(
  setp.eq.u32 %p1, %w, 1;
  @%p1 bra READ;
  st.shared.u32 [%me], %t;
- bar.arrive 2, 64;
+ bar.arrive 1, 64;
  ret;
READ:
- bar.sync 1, 32;
+ bar.sync 1, 64;
  ld.shared.u32 %r1, [%me+-128];
  st.global.u32 [%mine], %r1;
)"},
    {"RefillWithoutTheEmptyBarrier", Report::Kind::InvalidOperation,
     "arrives at barrier 1 again before", "bar.arrive", 64, 1, 1, R"(
  mov.u32 %r9, 0;
  setp.eq.u32 %p1, %w, 1;
  @%p1 bra CONSUME;
PRODUCE:
+ setp.eq.u32 %p3, %r9, 0;
+ @%p3 bra FIRST;
+ bar.sync 2, 64;
+FIRST:
  add.u32 %r1, %r9, %t;
  st.shared.u32 [%me], %r1;
  bar.arrive 1, 64;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p2, %r9, 3;
  @%p2 bra PRODUCE;
  ret;
CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r1, [%me+-128];
+ setp.eq.u32 %p3, %r9, 2;
+ @%p3 bra LAST;
+ bar.arrive 2, 64;
+LAST:
  st.global.u32 [%mine], %r1;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p2, %r9, 3;
  @%p2 bra CONSUME;
)"},
    {"ReadOfAtomicSums", race, "is not ordered with an atomic access",
     "ld.shared.u32", 64, 1, 1, R"(
  @%lead st.shared.u32 [%s], 0;
  bar.sync 0;
  red.shared.add.u32 [%s], 1;
+ bar.sync 0;
  ld.shared.u32 %r1, [%s];
  st.global.u32 [%mine], %r1;
)"},
    //===--- Blocks ------------------------------------------------------===//
    {"BlocksWriteOnePlace", race,
     "a write of global memory is not ordered with a write", "st.global.u32",
     32, 4, 1, R"(
  @!%lead ret;
- st.global.u32 [%out], %b;
+ red.global.max.u32 [%out], %b;
)"},
    {"CounterWithoutAtomics", race, "of global memory is not ordered with",
     "global.u32", 32, 4, 1, R"(
  @!%lead ret;
- ld.global.u32 %r1, [%out];
- add.u32 %r1, %r1, 1;
- st.global.u32 [%out], %r1;
+ red.global.add.u32 [%out], 1;
)"},
    {"AtomicsOfTheBlockOnly", race, "is not ordered with an atomic access",
     "red.relaxed.cta.global.add.u32", 32, 4, 1, R"(
  @!%lead ret;
- red.relaxed.cta.global.add.u32 [%out], 1;
+ red.relaxed.gpu.global.add.u32 [%out], 1;
)"},
    {"OverlappingTiles", race,
     "a write of global memory is not ordered with a write", "st.global.v2.u32",
     32, 2, 1, R"(
  mov.u32 %r1, %ntid.x;
- mad.lo.u32 %r2, %b, 31, %t;
+ mad.lo.u32 %r2, %b, %r1, %t;
  mad.wide.u32 %d1, %r2, 8, %out;
  st.global.v2.u32 [%d1], {%b, %t};
)"},
    //===--- Flags -------------------------------------------------------===//
    {"FlagWithoutRelease", race, "of global memory is not ordered with",
     "[%out+8]", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%out+8], 42;
- st.relaxed.gpu.global.u32 [%out], 1;
+ st.release.gpu.global.u32 [%out], 1;
  ret;
READ:
  ld.acquire.gpu.global.u32 %r1, [%out];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra READ;
  ld.global.u32 %r2, [%out+8];
)"},
    {"FlagWithoutAcquire", race, "of global memory is not ordered with",
     "[%out+8]", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%out+8], 42;
  st.release.gpu.global.u32 [%out], 1;
  ret;
READ:
- ld.relaxed.gpu.global.u32 %r1, [%out];
+ ld.acquire.gpu.global.u32 %r1, [%out];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra READ;
  ld.global.u32 %r2, [%out+8];
)"},
    {"FlagInAVectorWithoutRelease", race,
     "of global memory is not ordered with", "[%out+32]", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%out+32], 42;
  mov.f32 %f1, 0f3F800000;
- red.relaxed.gpu.global.add.v4.f32 [%out], {%f1, %f1, %f1, %f1};
+ red.release.gpu.global.add.v4.f32 [%out], {%f1, %f1, %f1, %f1};
  ret;
READ:
  ld.acquire.gpu.global.u32 %r1, [%out+12];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra READ;
  ld.global.u32 %r2, [%out+32];
)"},
    {"VolatileFlagWithoutFences", race, "of global memory is not ordered with",
     "[%out+8]", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%out+8], 42;
+ membar.gl;
  st.volatile.global.u32 [%out], 1;
  ret;
READ:
  ld.volatile.global.u32 %r1, [%out];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra READ;
+ membar.gl;
  ld.global.u32 %r2, [%out+8];
)"},
    {"FenceOfTheBlockOnly", race, "of global memory is not ordered with",
     "[%out+8]", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%out+8], 42;
- membar.cta;
+ membar.gl;
  st.volatile.global.u32 [%out], 1;
  ret;
READ:
  ld.volatile.global.u32 %r1, [%out];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra READ;
  membar.gl;
  ld.global.u32 %r2, [%out+8];
)"},
    {"WeakFlag", race, "of global memory is not ordered with",
     "ld.global.u32 %r1, [%out];", 32, 2, 1, R"(
  @!%lead ret;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%out+8], 42;
  fence.acq_rel.gpu;
- st.global.u32 [%out], 1;
+ st.relaxed.gpu.global.u32 [%out], 1;
  ret;
READ:
- ld.global.u32 %r1, [%out];
+ ld.relaxed.gpu.global.u32 %r1, [%out];
  setp.eq.u32 %p2, %r1, 0;
- @%p2 ret;
+ @%p2 bra READ;
  fence.acq_rel.gpu;
  ld.global.u32 %r2, [%out+8];
)"},
    {"ReleaseBeforeTheBarrier", race, "of global memory is not ordered with",
     "[%mine+", 64, 2, 1, R"(
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%mine+8], %t;
+ bar.sync 0;
  @%lead st.release.gpu.global.u32 [%out+4096], 1;
  ret;
READ:
  @!%lead bra WAIT;
SPIN:
  ld.acquire.gpu.global.u32 %r1, [%out+4096];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra SPIN;
WAIT:
  bar.sync 0;
  ld.global.u32 %r2, [%mine+-504];
)"},
    {"AcquireWithoutTheBarrier", race, "of global memory is not ordered with",
     "[%mine+", 64, 2, 1, R"(
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
  st.global.u32 [%mine+8], %t;
  bar.sync 0;
  @%lead st.release.gpu.global.u32 [%out+4096], 1;
  ret;
READ:
  @!%lead bra WAIT;
SPIN:
  ld.acquire.gpu.global.u32 %r1, [%out+4096];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra SPIN;
WAIT:
+ bar.sync 0;
  ld.global.u32 %r2, [%mine+-504];
)"},
    {"LastBlockWithoutAFence", race, "of global memory is not ordered with",
     "global.u32", 32, 4, 1, R"(
  @!%lead ret;
  st.global.u32 [%mine+8], %b;
+ membar.gl;
  atom.global.add.u32 %r1, [%out], 1;
  setp.ne.u32 %p1, %r1, 3;
  @%p1 ret;
+ membar.gl;
  ld.global.u32 %r2, [%out+8];
  ld.global.u32 %r3, [%out+264];
  ld.global.u32 %r4, [%out+520];
  ld.global.u32 %r5, [%out+776];
)"},
    {"LockReleasedByARelaxedStore", race,
     "of global memory is not ordered with", "[%out+8]", 32, 4, 1, R"(
  @!%lead ret;
SPIN:
  atom.acquire.gpu.global.cas.b32 %r1, [%out], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra SPIN;
  ld.global.u32 %r2, [%out+8];
  add.u32 %r2, %r2, %b;
  add.u32 %r2, %r2, 1;
  st.global.u32 [%out+8], %r2;
- st.relaxed.gpu.global.u32 [%out], 0;
+ st.release.gpu.global.u32 [%out], 0;
)"},
    {"FlagInSharedMemory", race, "of shared memory is not ordered with",
     "[%s+8]", 64, 1, 1, R"(
  @%lead st.shared.u32 [%s], 0;
  bar.sync 0;
  setp.eq.u32 %p1, %w, 1;
  @%p1 bra READ;
  @!%lead ret;
  st.shared.u32 [%s+8], 42;
- atom.relaxed.cta.shared.exch.b32 %r1, [%s], 1;
+ atom.release.cta.shared.exch.b32 %r1, [%s], 1;
  ret;
READ:
  ld.acquire.cta.shared.u32 %r1, [%s];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra READ;
  ld.shared.u32 %r2, [%s+8];
  st.global.u32 [%mine], %r2;
)"},
    //===--- Clusters ----------------------------------------------------===//
    {"PeerReadBeforeTheClusterBarrier", race,
     "of shared memory is not ordered with", ".shared", 32, 2, 2, R"(
  st.shared.u32 [%me], %t;
- bar.sync 0;
+ barrier.cluster.arrive.aligned;
+ barrier.cluster.wait.aligned;
  xor.b32 %r1, %b, 1;
  mapa.shared::cluster.u32 %r2, %me, %r1;
  ld.shared::cluster.u32 %r3, [%r2];
  st.global.u32 [%mine], %r3;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)"},
    {"ClusterBarrierOfRelaxedArrivals", race,
     "of shared memory is not ordered with", ".shared", 32, 2, 2, R"(
  st.shared.u32 [%me], %t;
- barrier.cluster.arrive.relaxed.aligned;
+ barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  xor.b32 %r1, %b, 1;
  mapa.shared::cluster.u32 %r2, %me, %r1;
  ld.shared::cluster.u32 %r3, [%r2];
  st.global.u32 [%mine], %r3;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)"},
    {"BlockEndsBeforeAPeerHasRead", race, "which may have ended",
     "ld.shared::cluster.u32", 32, 2, 2, R"(
  st.shared.u32 [%me], %t;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  xor.b32 %r1, %b, 1;
  mapa.shared::cluster.u32 %r2, %me, %r1;
  ld.shared::cluster.u32 %r3, [%r2];
  st.global.u32 [%mine], %r3;
+ barrier.cluster.arrive.aligned;
+ barrier.cluster.wait.aligned;
)"},
    {"SecondClusterPhaseLost", race, "of shared memory is not ordered with",
     ".shared", 32, 2, 2, R"(
  st.shared.u32 [%me], %t;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  xor.b32 %r1, %b, 1;
  mapa.shared::cluster.u32 %r2, %me, %r1;
  ld.shared::cluster.u32 %r3, [%r2];
+ barrier.cluster.arrive.aligned;
+ barrier.cluster.wait.aligned;
  add.u32 %r4, %t, 50;
  st.shared.u32 [%me], %r4;
  st.global.u32 [%mine], %r3;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)"},
};

TEST_PLANTED_BUGS(PlantedOrder, bugs);

} // namespace
