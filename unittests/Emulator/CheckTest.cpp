//===- CheckTest.cpp - Races, uninitialised values, counters ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"
#include "RaceClocks.h"

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;
using U32 = uint32_t;

/// Runs a body with the given checks and returns the reports as text.
static std::string reportsOf(const std::string &body, unsigned threads,
                             unsigned blocks = 1, bool races = true,
                             bool uninitialized = false) {
  EmulatorOptions options;
  options.checkRaces = races;
  options.checkUninitialized = uninitialized;
  Runner runner(wrapBody(body), options);
  std::vector<uint64_t> out(threads);
  runner.map(out);
  LaunchResult result =
      runner.run("k", Dim3{blocks, 1, 1}, Dim3{threads, 1, 1});
  std::string text;
  for (const Report &report : result.reports)
    text += report.str() + "\n";
  return text;
}

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_NE(text.find(part), std::string::npos) << text

/// A neighbour's value through shared memory, with or without the barrier.
static std::string exchange(const std::string &barrier) {
  return R"(
  .shared .align 4 .b8 buffer[256];
  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  )" + barrier +
         R"(
  xor.b32 %r3, %t, 63;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
  st.global.u32 [%out], %r5;
)";
}

TEST(Race, MissingBarrier) {
  std::string found = reportsOf(exchange(""), 64);
  EXPECT_CONTAINS(found, "race: a read of shared memory is not ordered with a "
                         "write at line");
  EXPECT_CONTAINS(found, "ld.shared.u32 %r5, [%r4];");
  EXPECT_CONTAINS(found, "st.shared.u32 [%r2], %t;");
  EXPECT_EQ(reportsOf(exchange("bar.sync 0;"), 64), "");
  // A barrier of the warp does not order two warps.
  EXPECT_NE(reportsOf(exchange("bar.warp.sync -1;"), 64), "");
}

TEST(Race, WithinAWarp) {
  std::string body = R"(
  .shared .align 4 .b8 buffer[128];
  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  BARRIER
  xor.b32 %r3, %t, 31;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
)";
  auto with = [&](const char *barrier) {
    std::string text = body;
    return text.replace(text.find("BARRIER"), 7, barrier);
  };
  EXPECT_NE(reportsOf(with(""), 32), "");
  EXPECT_EQ(reportsOf(with("bar.warp.sync -1;"), 32), "");
  EXPECT_EQ(reportsOf(with("bar.sync 0;"), 32), "");
}

TEST(Race, BufferRefilledTooEarly) {
  std::string body = R"(
  .shared .align 4 .b8 buffer[256];
  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %t, 63;
  mad.lo.u32 %r4, %r3, 4, %r1;
  mov.u32 %r6, 0;
LOOP:
  st.shared.u32 [%r2], %t;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];
  BARRIER
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 3;
  @%p1 bra LOOP;
)";
  auto with = [&](const char *barrier) {
    std::string text = body;
    return text.replace(text.find("BARRIER"), 7, barrier);
  };
  // The values are the same in each round; make them differ.
  body.replace(body.find("st.shared.u32 [%r2], %t;"), 24,
               "add.u32 %r7, %r6, %t; st.shared.u32 [%r2], %r7;");
  EXPECT_CONTAINS(reportsOf(with(""), 64),
                  "a write of shared memory is not ordered with a read");
  EXPECT_EQ(reportsOf(with("bar.sync 1;"), 64), "");
}

TEST(Race, NamedBarriersOrderOnlyThoseWhoWait) {
  std::string body = R"(
  .shared .align 4 .u32 value;
  shr.u32 %r1, %t, 5;
  setp.eq.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %t, 0;
  @%p2 st.shared.u32 [value], 5;
  @%p1 bar.arrive 1, 64;
  setp.eq.u32 %p3, %r1, 1;
  @%p3 bar.sync 1, 64;
  setp.eq.u32 %p4, %r1, WHO;
  @%p4 ld.shared.u32 %r2, [value];
)";
  auto with = [&](const char *who) {
    std::string text = body;
    return text.replace(text.find("WHO"), 3, who);
  };
  EXPECT_EQ(reportsOf(with("1"), 96), "");
  EXPECT_NE(reportsOf(with("2"), 96), "");
}

TEST(Race, GlobalMemoryBetweenBlocks) {
  // Each block writes all of the output.
  std::string plain = "mov.u32 %r1, %ctaid.x;\n"
                      "st.global.u32 [%out], %r1;";
  EXPECT_CONTAINS(reportsOf(plain, 32, 4),
                  "a write of global memory is not ordered with a write");
  // The same value is no race that can be seen, and atomics are none.
  EXPECT_EQ(reportsOf("st.global.u32 [%out], 7;", 32, 4), "");
  EXPECT_EQ(reportsOf("red.global.add.u32 [%out], 7;", 32, 4), "");
  // An atomic and a plain access conflict.
  EXPECT_NE(reportsOf("red.global.add.u32 [%out], 7;\n"
                      "ld.global.u32 %r1, [%out];",
                      32, 4),
            "");
}

TEST(Race, BytesOfOneWord) {
  std::string body = R"(
  .shared .align 4 .b8 buffer[64];
  mov.u32 %r1, buffer;
  add.u32 %r2, %t, %r1;
  st.shared.u8 [%r2], %t;
  ld.shared.u8 %r3, [%r2];
)";
  EXPECT_EQ(reportsOf(body, 64), "");
}

TEST(Race, FlagsOrderMemory) {
  std::string body = R"(
  .shared .align 4 .u32 value;
  .shared .align 4 .u32 flag;
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.shared.u32 [flag], 0;
  bar.sync 0;
  shr.u32 %r1, %t, 5;
  setp.eq.u32 %p2, %r1, 1;
  @%p2 bra READ;
  @%p1 st.shared.u32 [value], 5;
  @%p1 atom.release.cta.shared.exch.b32 %r2, [flag], 1;
  ret;
READ:
  ld.acquire.cta.shared.u32 %r3, [flag];
  setp.eq.u32 %p3, %r3, 0;
  @%p3 bra READ;
  ld.shared.u32 %r4, [value];
)";
  EXPECT_EQ(reportsOf(body, 64), "");
}

TEST(Uninitialized, SharedMemory) {
  std::string body = R"(
  .shared .align 4 .b8 buffer[128];
  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 4, %r1;
  setp.lt.u32 %p1, %t, LIMIT;
  @%p1 st.shared.u32 [%r2], 3;
  bar.sync 0;
  ld.shared.u32 %r3, [%r2];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%out], %r3;
)";
  auto with = [&](const char *limit) {
    std::string text = body;
    return text.replace(text.find("LIMIT"), 5, limit);
  };
  std::string found = reportsOf(with("31"), 32, 1, false, true);
  EXPECT_CONTAINS(found, "what is stored to global memory depends on a value "
                         "that was never written");
  EXPECT_CONTAINS(found, "thread (31,0,0)");
  EXPECT_EQ(reportsOf(with("32"), 32, 1, false, true), "");
}

TEST(Uninitialized, RegistersAndBranches) {
  EXPECT_CONTAINS(reportsOf("setp.eq.u32 %p1, %r1, 5;\n@%p1 bra DONE;\n"
                            "st.global.u32 [%out], 1;\nDONE:",
                            32, 1, false, true),
                  "the predicate of this instruction was never written");
  EXPECT_CONTAINS(reportsOf("add.u64 %d1, %out, %d2;\n"
                            "ld.global.u32 %r1, [%d1];",
                            32, 1, false, true),
                  "the address of this access");
  // A selected value counts, the other one does not; unused halves are fine.
  EXPECT_EQ(reportsOf("setp.lt.u32 %p1, %t, 64;\n"
                      "selp.b32 %r2, %t, %r1, %p1;\n"
                      "mov.b32 %r3, {%h1, %h2};\nmov.b16 %h3, 1;\n"
                      "mov.b32 %r4, {%h3, %h2};\n"
                      "st.global.u32 [%out], %r2;",
                      32, 1, false, true),
            "");
}

TEST(Uninitialized, Buffers) {
  EmulatorOptions options;
  options.checkUninitialized = true;
  for (bool written : {false, true}) {
    Runner runner(wrapBody("ld.global.u64 %d1, [%out];\n"
                           "st.global.u64 [%out], %d1;"),
                  options);
    std::vector<uint64_t> out(32);
    runner.map(out);
    uint64_t base = runner.emulator.memory().allocations()[0]->base;
    runner.emulator.memory().markUninitialized(base);
    if (written)
      runner.emulator.memory().markInitialized(base, 256);
    LaunchResult result = runner.run("k", Dim3{}, Dim3{32, 1, 1});
    EXPECT_EQ(result.reports.size(), written ? 0u : 1u);
  }
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

static Stats statsOf(const std::string &body, unsigned threads = 32) {
  EmulatorOptions options;
  options.collectStats = true;
  Runner runner(wrapBody(body), options);
  auto out = runner.emulator.memory().allocate(threads * 512, "out");
  runner.add(out ? *out : 0);
  return runner.run("k", Dim3{}, Dim3{threads, 1, 1}).stats;
}

TEST(Stats, GlobalSectors) {
  Stats dense = statsOf("ld.global.u64 %d1, [%out];");
  EXPECT_EQ(dense.globalLoadRequests, 1u);
  EXPECT_EQ(dense.globalLoadSectors, 8u);
  EXPECT_EQ(dense.globalLoadBytes, 256u);
  Stats sparse = statsOf("mul.wide.u32 %d1, %t, 56;\nadd.u64 %out, %out, %d1;\n"
                         "st.global.u32 [%out], %t;");
  EXPECT_EQ(sparse.globalStoreSectors, 32u);
  EXPECT_EQ(sparse.globalStoreBytes, 128u);
}

static Stats sharedLoad(const std::string &offset, const std::string &load) {
  return statsOf(".shared .align 16 .b8 buffer[8192];\nmov.u32 %r1, buffer;\n" +
                 offset + "\nadd.u32 %r2, %r2, %r1;\n" + load);
}

TEST(Stats, BankConflicts) {
  Stats s = sharedLoad("mul.lo.u32 %r2, %t, 4;", "ld.shared.u32 %r3, [%r2];");
  EXPECT_EQ(s.sharedLoadWavefronts, 1u);
  EXPECT_EQ(s.sharedLoadConflicts, 0u);
  s = sharedLoad("mul.lo.u32 %r2, %t, 128;", "ld.shared.u32 %r3, [%r2];");
  EXPECT_EQ(s.sharedLoadWavefronts, 32u);
  EXPECT_EQ(s.sharedLoadConflicts, 31u);
  s = sharedLoad("mov.u32 %r2, 0;", "ld.shared.u32 %r3, [%r2];");
  EXPECT_EQ(s.sharedLoadWavefronts, 1u);
  s = sharedLoad("mul.lo.u32 %r2, %t, 16;",
                 "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];");
  EXPECT_EQ(s.sharedLoadWavefronts, 4u);
  EXPECT_EQ(s.sharedLoadConflicts, 0u);
  s = sharedLoad("mul.lo.u32 %r2, %t, 8;", "ld.shared.u32 %r3, [%r2];");
  EXPECT_EQ(s.sharedLoadWavefronts, 2u);
}

TEST(Stats, Instructions) {
  Stats s = statsOf("add.u32 %r1, %t, 1;\nadd.f32 %f1, %f2, %f3;\n"
                    "setp.lt.u32 %p1, %t, 8;\n@%p1 add.u32 %r2, %t, 2;\n"
                    "bar.sync 0;");
  auto count = [&](InstructionClass c) { return s.instructions[unsigned(c)]; };
  EXPECT_EQ(count(InstructionClass::Integer), 3u);
  EXPECT_EQ(count(InstructionClass::Float), 1u);
  EXPECT_EQ(count(InstructionClass::Compare), 1u);
  EXPECT_EQ(count(InstructionClass::Barrier), 1u);
  EXPECT_EQ(s.barriers, 1u);
  EXPECT_EQ(s.threadInstructions, (s.totalInstructions() - 1) * 32 + 8);
  std::string text;
  llvm::raw_string_ostream os(text);
  s.printJSON(os);
  EXPECT_NE(text.find("\"warp_instructions\""), std::string::npos);
  text.clear();
  s.printTable(os);
  EXPECT_NE(text.find("warp instructions"), std::string::npos);
}

/// A lock that clusters hand on: each knows all before it.  Were the parts of
/// what they know only ever added, this would take hours.
TEST(RaceClocks, HandsOnALock) {
  constexpr uint32_t numClusters = 4000;
  ClusterClocks::Pointer there;
  for (uint32_t i = 0; i < numClusters; ++i) {
    VectorClock clock;
    clock.set(i % 4, i + 1);
    auto known = ClusterClocks::compact(ClusterClocks::join(nullptr, there));
    auto released = ClusterClocks::with(known, i, clock);
    there = ClusterClocks::join(there, released);
  }
  for (uint32_t i = 0; i < numClusters; i += 97) {
    VectorClock clock;
    there->collect(i, clock);
    EXPECT_EQ(clock.get(i % 4), i + 1);
    EXPECT_EQ(clock.get((i + 1) % 4), 0u);
  }
}

/// A counter that all release at, and nobody reads.
TEST(RaceClocks, Counts) {
  constexpr uint32_t numClusters = 100000;
  ClusterClocks::Pointer there;
  for (uint32_t i = 0; i < numClusters; ++i) {
    VectorClock clock;
    clock.set(0, i + 1);
    there = ClusterClocks::join(there, ClusterClocks::with(nullptr, i, clock));
  }
  for (uint32_t i : {0u, 77u, numClusters - 1}) {
    VectorClock clock;
    there->collect(i, clock);
    EXPECT_EQ(clock.get(0), i + 1);
  }
}
