//===- ControlTest.cpp - Control flow, calls, barriers and warp instructions
//---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;
using U32 = uint32_t;

static const std::string header =
    ".version 8.6\n.target sm_90a\n.address_size 64\n";

TEST(Control, DivergentLoopReconverges) {
  // Each lane counts to its own number; behind the loop all are together.
  auto out = evaluate<U32>(R"(
  mov.u32 %r1, 0;
LOOP:
  setp.ge.u32 %p1, %r1, %t;
  @%p1 bra DONE;
  add.u32 %r1, %r1, 1;
  bra LOOP;
DONE:
  activemask.b32 %r2;
  popc.b32 %r2, %r2;
  mad.lo.u32 %r3, %r1, 100, %r2;
  st.global.u32 [%out], %r3;
)");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i * 100 + 32);
}

TEST(Control, BranchTable) {
  auto out = evaluate<U32>(R"(
  rem.u32 %r1, %t, 3;
  targets: .branchtargets A, B, C;
  brx.idx %r1, targets;
A:
  mov.u32 %r2, 10;
  bra DONE;
B:
  mov.u32 %r2, 20;
  bra DONE;
C:
  mov.u32 %r2, 30;
DONE:
  st.global.u32 [%out], %r2;
)");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i % 3 + 1) * 10);
}

TEST(Control, LanesOfOneWarpTakeTurns) {
  // A lock among the lanes of a warp: the loop that waits lies before the code
  // that unlocks.
  auto out = evaluate<U32>(R"(
  .shared .align 4 .u32 lock;
  .shared .align 4 .u32 count;
  mov.u32 %r5, lock;
  mov.u32 %r6, count;
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.shared.u32 [%r5], 0;
  @%p1 st.shared.u32 [%r6], 0;
  bar.warp.sync 0xffffffff;
RETRY:
  atom.shared.cas.b32 %r1, [%r5], 0, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra RETRY;
  ld.volatile.shared.u32 %r2, [%r6];
  add.u32 %r2, %r2, 1;
  st.volatile.shared.u32 [%r6], %r2;
  membar.cta;
  st.volatile.shared.u32 [%r5], 0;
  st.global.u32 [%out], %r2;
)");
  std::vector<bool> seen(33);
  for (U32 v : out)
    seen[v] = true;
  for (U32 i = 1; i <= 32; ++i)
    EXPECT_TRUE(seen[i]) << i;
}

TEST(Control, ShuffleWaitsForDivergedLanes) {
  // The halves of the warp reach one shuffle at different times.
  auto out = evaluate<U32>(R"(
  setp.lt.u32 %p1, %t, 16;
  mul.lo.u32 %r1, %t, 3;
  @%p1 bra SKIP;
  add.u32 %r1, %r1, 1000;
SKIP:
  shfl.sync.bfly.b32 %r2|%p2, %r1, 31, 31, 0xffffffff;
  st.global.u32 [%out], %r2;
)");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (31 - i) * 3 + (31 - i >= 16 ? 1000 : 0));
}

TEST(Control, ShuffleModes) {
  struct Case {
    const char *text;
    U32 (*source)(U32);
  };
  const Case cases[] = {
      {"shfl.sync.up.b32 %r1|%p1, %t, 3, 0, -1;",
       [](U32 i) { return i >= 3 ? i - 3 : 100 + i; }},
      {"shfl.sync.down.b32 %r1|%p1, %t, 5, 31, -1;",
       [](U32 i) { return i + 5 < 32 ? i + 5 : 100 + i; }},
      {"shfl.sync.bfly.b32 %r1|%p1, %t, 9, 31, -1;",
       [](U32 i) { return i ^ 9; }},
      {"shfl.sync.idx.b32 %r1|%p1, %t, 7, 31, -1;", [](U32) { return 7u; }},
      // Segments of eight lanes.
      {"shfl.sync.idx.b32 %r1|%p1, %t, 2, 6175, -1;",
       [](U32 i) { return i / 8 * 8 + 2; }},
      {"shfl.sync.down.b32 %r1|%p1, %t, 1, 6175, -1;",
       [](U32 i) { return i % 8 == 7 ? 100 + i : i + 1; }},
  };
  for (const Case &c : cases) {
    auto out =
        evaluate<U32>(std::string(c.text) + "\n@!%p1 add.u32 %r1, %r1, 100;\n"
                                            "st.global.u32 [%out], %r1;");
    for (U32 i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], c.source(i)) << c.text << " lane " << i;
  }
}

TEST(Control, Votes) {
  auto out = evaluate<U32>(R"(
  setp.lt.u32 %p1, %t, 10;
  vote.sync.ballot.b32 %r1, %p1, 0xffffffff;
  vote.sync.all.pred %p2, %p1, 0xffffffff;
  vote.sync.any.pred %p3, %p1, 0xffffffff;
  selp.u32 %r2, 1, 0, %p2;
  selp.u32 %r3, 2, 0, %p3;
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  and.b32 %r4, %t, 3;
  match.any.sync.b32 %r5, %r4, 0xffffffff;
  redux.sync.add.s32 %r6, %t, 0xffffffff;
  redux.sync.max.u32 %r7, %r4, 0xffffffff;
  elect.sync %r8|%p4, 0xffffffff;
  selp.u32 %r9, 1, 0, %p4;
  add.u32 %r1, %r1, %r5;
  mad.lo.u32 %r1, %r6, 7, %r1;
  mad.lo.u32 %r1, %r7, 11, %r1;
  mad.lo.u32 %r1, %r9, 13, %r1;
  st.global.u32 [%out], %r1;
)");
  for (U32 i = 0; i < 32; ++i) {
    U32 match = 0;
    for (U32 j = 0; j < 32; ++j)
      match |= U32(j % 4 == i % 4) << j;
    EXPECT_EQ(out[i],
              0x3FFu + 2 + match + 496 * 7 + 3 * 11 + (i == 0 ? 13u : 0u));
  }
}

TEST(Control, GroupsWithTheirOwnMembers) {
  // Two groups of lanes run one shuffle with different member masks.
  auto out = evaluate<U32>(R"(
  setp.lt.u32 %p1, %t, 8;
  selp.b32 %r1, 0x000000ff, 0xffffff00, %p1;
  shfl.sync.idx.b32 %r2, %t, 9, 31, %r1;
  redux.sync.add.u32 %r3, %t, %r1;
  st.global.u32 [%out], %r3;
)");
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i < 8 ? 28u : 496u - 28u);
}

TEST(Control, CallsAndRecursion) {
  Runner runner(header + R"(
.func (.param .b32 result) factorial(.param .b32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 1;
  setp.le.u32 %p1, %r1, 1;
  @%p1 bra DONE;
  sub.u32 %r3, %r1, 1;
  {
    .param .b32 p0;
    .param .b32 q0;
    st.param.b32 [p0], %r3;
    call.uni (q0), factorial, (p0);
    ld.param.b32 %r4, [q0];
  }
  mul.lo.u32 %r2, %r1, %r4;
DONE:
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .b32 result) twice(.param .b32 n)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  add.u32 %r1, %r1, %r1;
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 7;
  setp.lt.u32 %p1, %r1, 16;
  mov.b64 %d1, factorial;
  mov.b64 %d2, twice;
  selp.b64 %d3, %d1, %d2, %p1;
  {
    .param .b32 p0;
    .param .b32 q0;
    st.param.b32 [p0], %r2;
    proto : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q0), %d3, (p0), proto;
    ld.param.b32 %r3, [q0];
  }
  ld.param.u64 %d4, [out];
  mad.wide.u32 %d4, %r1, 4, %d4;
  st.global.u32 [%d4], %r3;
  ret;
}
)");
  std::vector<U32> out(32);
  runner.map(out);
  runner.run("k", Dim3{}, Dim3{32, 1, 1});
  const U32 factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (U32 i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i < 16 ? factorials[i % 8] : 2 * (i % 8));
}

TEST(Control, LocalMemoryOfCalls) {
  Runner runner(header + R"(
.func (.param .b64 result) fill(.param .b64 n)
{
  .local .align 8 .b8 depot[16];
  .reg .b64 %d<6>;
  mov.b64 %d1, depot;
  ld.param.b64 %d2, [n];
  st.local.b64 [%d1+8], %d2;
  cvta.local.u64 %d3, %d1;
  ld.b64 %d4, [%d3+8];
  st.param.b64 [result], %d4;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .local .align 8 .b8 depot[32];
  .reg .b32 %r<4>;
  .reg .b64 %d<8>;
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %d1, %r1;
  st.local.b64 [depot+24], %d1;
  add.u64 %d2, %d1, 5;
  {
    .param .b64 p0;
    .param .b64 q0;
    st.param.b64 [p0], %d2;
    call.uni (q0), fill, (p0);
    ld.param.b64 %d3, [q0];
  }
  ld.local.b64 %d4, [depot+24];
  mad.lo.u64 %d4, %d4, 1000, %d3;
  ld.param.u64 %d5, [out];
  mad.wide.u32 %d5, %r1, 8, %d5;
  st.global.u64 [%d5], %d4;
  ret;
}
)");
  std::vector<uint64_t> out(32);
  runner.map(out);
  runner.run("k", Dim3{}, Dim3{32, 1, 1});
  for (uint64_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i * 1000 + i + 5);
}

/// Sums of a block through shared memory, for all seeds and thread counts.
static const char *const blockSum = R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 buffer[1024];
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, buffer;
  mad.lo.u32 %r3, %r1, 4, %r2;
  mov.u32 %r9, %ctaid.x;
  add.u32 %r9, %r9, %r1;
  st.shared.u32 [%r3], %r9;
  bar.sync 0;
  mov.u32 %r4, 128;
LOOP:
  setp.ge.u32 %p1, %r1, %r4;
  @%p1 bra SKIP;
  mad.lo.u32 %r5, %r4, 4, %r3;
  ld.shared.u32 %r6, [%r5];
  ld.shared.u32 %r7, [%r3];
  add.u32 %r7, %r7, %r6;
  st.shared.u32 [%r3], %r7;
SKIP:
  bar.sync 0;
  shr.u32 %r4, %r4, 1;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra LOOP;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  ld.shared.u32 %r8, [%r2];
  ld.param.u64 %d1, [out];
  mov.u32 %r10, %ctaid.x;
  mad.wide.u32 %d1, %r10, 4, %d1;
  st.global.u32 [%d1], %r8;
  ret;
}
)";

TEST(Control, BlockBarriers) {
  for (uint64_t seed : {0, 1, 2})
    for (unsigned threads : {1u, 3u}) {
      EmulatorOptions options;
      options.seed = seed;
      options.threads = threads;
      options.checkRaces = seed == 2;
      Runner runner(header + blockSum, options);
      std::vector<U32> out(20);
      runner.map(out);
      LaunchResult result = runner.run("k", Dim3{20, 1, 1}, Dim3{256, 1, 1});
      for (U32 i = 0; i < 20; ++i)
        EXPECT_EQ(out[i], 255u * 128 + 256 * i);
      for (const Report &report : result.reports)
        ADD_FAILURE() << report.str();
    }
}

TEST(Control, NamedBarriers) {
  // Warp 1 arrives at a barrier that warp 0 waits at; both reduce at another.
  auto out = evaluate<U32>(R"(
  .shared .align 4 .u32 value;
  shr.u32 %r1, %t, 5;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra PRODUCE;
  bar.sync 3, 64;
  ld.shared.u32 %r2, [value];
  bra JOIN;
PRODUCE:
  setp.eq.u32 %p2, %t, 40;
  @%p2 st.shared.u32 [value], 77;
  bar.arrive 3, 64;
  mov.u32 %r2, 5;
JOIN:
  setp.lt.u32 %p3, %t, 45;
  barrier.cta.red.popc.aligned.u32 %r3, 1, 64, %p3;
  bar.red.or.pred %p4, 2, %p3;
  selp.u32 %r4, 1000, 0, %p4;
  mad.lo.u32 %r3, %r3, 10000, %r4;
  add.u32 %r3, %r3, %r2;
  st.global.u32 [%out], %r3;
)",
                           64);
  for (U32 i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 45u * 10000 + 1000 + (i < 32 ? 77 : 5));
}

TEST(Control, BlocksWaitForEachOther) {
  // Block 0 waits for what the last block writes.
  EmulatorOptions options;
  Runner runner(header + R"(
.visible .entry k(.param .u64 flag)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [flag];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra SIGNAL;
WAIT:
  ld.acquire.gpu.global.u32 %r2, [%d1];
  setp.lt.u32 %p2, %r2, 7;
  @%p2 bra WAIT;
  st.global.u32 [%d1+4], %r2;
  ret;
SIGNAL:
  red.release.gpu.global.add.u32 [%d1], 1;
  ret;
}
)",
                options);
  std::vector<U32> flag(2);
  runner.map(flag);
  runner.run("k", Dim3{8, 1, 1}, Dim3{1, 1, 1});
  EXPECT_EQ(flag[0], 7u);
  EXPECT_EQ(flag[1], 7u);
}

/// One thread of block 0 polls with an atomic, and tells the others, until the
/// seven blocks after it have signalled.
static const char *const pollWithBarriers = R"(
.visible .entry k(.param .u64 flag)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  .shared .align 4 .u32 found;
  ld.param.u64 %d1, [flag];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r3, %tid.x;
  setp.eq.u32 %p3, %r3, 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra SIGNAL;
WAIT:
  @%p3 atom.acquire.gpu.global.or.b32 %r2, [%d1], 0;
  @%p3 st.shared.u32 [found], %r2;
  bar.sync 0;
  ld.shared.u32 %r4, [found];
  bar.sync 0;
  setp.lt.u32 %p2, %r4, 7;
  @%p2 bra WAIT;
  st.global.u32 [%d1+4], %r4;
  ret;
SIGNAL:
  @%p3 red.release.gpu.global.add.u32 [%d1], 1;
  ret;
}
)";

TEST(Control, BlocksWaitForEachOtherWithBarriers) {
  for (unsigned seed : {0u, 5u}) {
    EmulatorOptions options;
    options.threads = 1;
    options.seed = seed;
    Runner runner(header + std::string(pollWithBarriers), options);
    std::vector<U32> flag(2);
    runner.map(flag);
    runner.run("k", Dim3{8, 1, 1}, Dim3{96, 1, 1});
    EXPECT_EQ(flag[1], 7u);
  }
}

TEST(Control, DeadlockOfLoopsWithBarriers) {
  // A block too few signals.
  for (unsigned threads : {1u, 2u}) {
    EmulatorOptions options;
    options.threads = threads;
    options.seed = threads == 1 ? 0 : 5;
    Runner runner(header + std::string(pollWithBarriers), options);
    std::vector<U32> flag(2);
    runner.map(flag);
    std::string error = runner.runToError("k", Dim3{7, 1, 1}, Dim3{96, 1, 1});
    EXPECT_NE(error.find("deadlock: no warp gets on"), std::string::npos);
  }
}

TEST(Control, Deadlock) {
  Runner runner(wrapBody(R"(
  setp.ge.u32 %p1, %t, 32;
  @%p1 bar.sync 1, 64;
  @!%p1 bar.sync 2, 64;
)"));
  std::vector<uint64_t> out(64);
  runner.map(out);
  std::string error = runner.runToError("k", Dim3{}, Dim3{64, 1, 1});
  EXPECT_NE(error.find("deadlock: no warp can go on"), std::string::npos);
  EXPECT_NE(error.find("warp 1 lanes 0xffffffff at line"), std::string::npos);
  EXPECT_NE(error.find("barrier 2: 32 of 64 threads"), std::string::npos);
}

TEST(Control, DeadlockOfLoopsThatPoll) {
  Runner runner(wrapBody(R"(
WAIT:
  ld.volatile.global.u32 %r1, [%out];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
)"));
  std::vector<uint64_t> out(32);
  runner.map(out);
  std::string error = runner.runToError("k", Dim3{}, Dim3{32, 1, 1});
  EXPECT_NE(error.find("deadlock: no warp gets on"), std::string::npos);
}

TEST(Control, PrintAndAssert) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  std::string text = readInput("Inputs/print.ptx");
  EmulatorOptions options;
  options.output = &stream;
  options.threads = 2;
  Runner runner(text, options);
  runner.add(int32_t(7)).add(2.5);
  runner.run("print", Dim3{3, 1, 1}, Dim3{2, 1, 1});
  std::string expected;
  for (int block = 0; block < 3; ++block)
    for (int thread = 0; thread < 2; ++thread) {
      char line[128];
      std::snprintf(line, sizeof(line),
                    "block %d thread %d: %5d|%-6.2f|%s|%llx|%c%%\n", block,
                    thread, 7, 2.5, "text", 0x123456789abcull, 'z');
      expected += line;
    }
  EXPECT_EQ(printed, expected);
  std::string error = runner.runToError("fails", Dim3{}, Dim3{4, 1, 1});
  EXPECT_NE(error.find("assertion failed"), std::string::npos);
  EXPECT_NE(error.find("x < 7"), std::string::npos) << error;
}

TEST(Control, Cluster) {
  // Each block reads its neighbour's shared memory.
  Runner runner(header + R"(
.visible .entry k(.param .u64 out)
.reqnctapercluster 4, 1, 1
{
  .shared .align 4 .u32 value;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, value;
  st.shared.u32 [%r3], %r2;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  add.u32 %r4, %r1, 1;
  and.b32 %r4, %r4, 3;
  mapa.shared::cluster.u32 %r5, %r3, %r4;
  ld.shared::cluster.u32 %r6, [%r5];
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.param.u64 %d1, [out];
  mad.wide.u32 %d1, %r2, 4, %d1;
  st.global.u32 [%d1], %r6;
  ret;
}
)");
  std::vector<U32> out(8);
  runner.map(out);
  runner.run("k", Dim3{8, 1, 1}, Dim3{32, 1, 1});
  for (U32 i = 0; i < 8; ++i)
    EXPECT_EQ(out[i], i / 4 * 4 + (i + 1) % 4);
}

TEST(Control, Alloca) {
  // Each turn of the loop takes memory and gives it back.
  std::string body = R"(
  .reg .b64 %saved;
  stacksave.u64 %saved;
  mov.u64 %d0, 0;
  mov.u32 %r0, 0;
again:
  alloca.u64 %d1, 30000000, 64;
  and.b64 %d2, %d1, 63;
  add.u64 %d0, %d0, %d2;
  cvt.u64.u32 %d2, %r0;
  st.local.u64 [%d1+8], %d2;
  ld.local.u64 %d2, [%d1+8];
  add.u64 %d0, %d0, %d2;
  stackrestore.u64 %saved;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 10;
  @%p0 bra again;
  st.global.u64 [%out], %d0;
)";
  EXPECT_EQ(evaluate<uint64_t>(body, 1)[0], 45u);
  std::vector<uint64_t> out(1);
  auto errorOf = [&](const std::string &text) {
    Runner runner(wrapBody(text));
    runner.map(out);
    return runner.runToError("k", Dim3{}, Dim3{1, 1, 1});
  };
  std::string kept = body;
  kept.erase(kept.find("  stackrestore"), 28);
  EXPECT_NE(errorOf(kept).find("the thread's stack overflows"),
            std::string::npos);
  EXPECT_NE(errorOf("mov.u64 %d0, 12345;\nstackrestore.u64 %d0;")
                .find("stackrestore takes what stacksave gave"),
            std::string::npos);
  EXPECT_NE(parseError(wrapBody("alloca.u64 %d0, 16, 24;"))
                .find("must be a power of two"),
            std::string::npos);
}
