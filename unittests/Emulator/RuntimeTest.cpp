//===- RuntimeTest.cpp - The heap and the stack of device code ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceHeap.h"
#include "FloatFormats.h"
#include "InstructionTest.h"

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

std::string heapText() { return readInput("Inputs/heap.ptx"); }

EmulatorOptions allChecks() {
  EmulatorOptions options;
  options.checkRaces = options.checkUninitialized = true;
  options.threads = 2;
  return options;
}

void expectClean(const LaunchResult &result) {
  for (const Report &report : result.reports)
    ADD_FAILURE() << report.str();
}

//===----------------------------------------------------------------------===//
// malloc and free
//===----------------------------------------------------------------------===//

TEST(Heap, Lists) {
  for (bool checks : {false, true}) {
    Runner runner(heapText(), checks ? allChecks() : EmulatorOptions());
    std::vector<int> out(256);
    runner.map(out);
    expectClean(runner.run("lists", Dim3{4, 1, 1}, Dim3{64, 1, 1}));
    for (int i = 0; i < 256; ++i) {
      int sum = 0;
      for (int j = 0; j < i % 7; ++j)
        sum += i + j;
      EXPECT_EQ(out[i], sum);
    }
  }
}

TEST(Heap, BlockOfABlock) {
  Runner runner(heapText(), allChecks());
  std::vector<int> out(256);
  runner.map(out);
  expectClean(runner.run("shared_block", Dim3{4, 1, 1}, Dim3{64, 1, 1}));
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], (63 - i % 64) * 3 + i / 64);
}

TEST(Heap, IsFull) {
  Runner runner(heapText());
  std::vector<int> out(32);
  runner.map(out);
  runner.run("too_much", Dim3{1, 1, 1}, Dim3{32, 1, 1});
  EXPECT_EQ(out, std::vector<int>(32, 1));
}

TEST(Heap, OutlivesALaunch) {
  Runner runner(heapText());
  runner.add(42);
  runner.run("keep", Dim3{1, 1, 1}, Dim3{1, 1, 1});
  std::vector<int> out(1);
  runner.arguments = Arguments();
  runner.map(out);
  runner.run("use_kept", Dim3{1, 1, 1}, Dim3{1, 1, 1});
  EXPECT_EQ(out[0], 42);
}

TEST(Heap, Errors) {
  auto expect = [](const char *kernel, const char *message) {
    Runner runner(heapText());
    std::vector<int> out(32);
    runner.map(out);
    std::string error = runner.runToError(kernel, Dim3{1, 1, 1}, Dim3{1, 1, 1});
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("heap.cu"), std::string::npos) << error;
  };
  expect("past_the_end",
         "is outside of every block of the device heap; the block before it "
         "has 40 bytes");
  expect("after_free", "that memory was freed");
  expect("freed_twice", "where no block of the device heap begins");
}

TEST(Heap, NeverWritten) {
  Runner runner(heapText(), allChecks());
  std::vector<int> out(32);
  runner.map(out);
  LaunchResult result =
      runner.run("never_written", Dim3{1, 1, 1}, Dim3{1, 1, 1});
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(result.reports[0].kind, Report::Kind::Uninitialized);
}

TEST(Heap, Blocks) {
  Memory memory;
  auto made = memory.deviceHeap(1024);
  ASSERT_TRUE(bool(made));
  DeviceHeap &heap = **made;
  uint64_t a = heap.allocate(100), b = heap.allocate(200),
           c = heap.allocate(600);
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(heap.allocate(300), 0u);
  EXPECT_EQ(a % 16, 0u);
  EXPECT_TRUE(heap.contains(a, 100));
  EXPECT_FALSE(heap.contains(a, 101));
  EXPECT_FALSE(heap.contains(a + 100, 1));
  EXPECT_TRUE(heap.contains(a + 99, 1));
  EXPECT_FALSE(heap.contains(a - 1, 1));
  EXPECT_FALSE(heap.release(a + 16));
  EXPECT_TRUE(heap.release(a));
  EXPECT_FALSE(heap.release(a));
  EXPECT_EQ(heap.describe(a + 4), "that memory was freed");
  EXPECT_TRUE(heap.release(b));
  // Neighbours become one range.
  EXPECT_EQ(heap.allocate(300), a);
  EXPECT_EQ(heap.allocate(uint64_t(1) << 60), 0u);
  EXPECT_EQ(heap.allocate(~uint64_t(0)), 0u);
}

TEST(Heap, ErrorsAtLoad) {
  std::string error =
      parseError(".version 8.0\n.target sm_80\n.address_size 64\n"
                 ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
                 ".extern .func other(.param .b64 n);\n"
                 ".visible .entry k()\n{\n.param .b64 p;\n"
                 "call other, (p);\nret;\n}\n");
  EXPECT_NE(error.find("the external function 'other' is not defined"),
            std::string::npos)
      << error;
}

//===----------------------------------------------------------------------===//
// alloca
//===----------------------------------------------------------------------===//

TEST(Stack, Grows) {
  for (bool checks : {false, true}) {
    Runner runner(heapText(), checks ? allChecks() : EmulatorOptions());
    std::vector<int> out(32);
    runner.map(out).add(37);
    expectClean(runner.run("stack", Dim3{1, 1, 1}, Dim3{32, 1, 1}));
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 36 * 37 / 2 * i);
  }
}

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

TEST(Specials, SixteenBitsAndVectors) {
  auto narrow = evaluate<uint32_t>("mov.u16 %h0, %tid.x;\n"
                                   "cvt.u32.u16 %r0, %h0;\n"
                                   "st.global.u32 [%out], %r0;");
  auto vector =
      evaluate<uint32_t>("mov.v4.u32 {%r0, %r1, %r2, %r3}, %ntid;\n"
                         "setp.gt.u32 %p0, %t, 15;\n"
                         "@%p0 mov.v4.u32 {%r4, %r1, %r2, %r3}, %tid;\n"
                         "@!%p0 mov.u32 %r4, 7;\n"
                         "mad.lo.u32 %r0, %r0, 100, %r4;\n"
                         "add.u32 %r0, %r0, %r1;\nadd.u32 %r0, %r0, %r3;\n"
                         "st.global.u32 [%out], %r0;");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(narrow[i], i);
    EXPECT_EQ(vector[i], 3200 + (i > 15 ? i : 7 + 1));
  }
  std::string error =
      parseError(wrapBody("mov.v4.u32 {%r0,%r1,%r2,%r3}, %laneid;"));
  EXPECT_NE(error.find("is not a special register of type .v4"),
            std::string::npos)
      << error;
}

TEST(Specials, AllOfTheISA) {
  for (const char *name : {"warpid",
                           "nwarpid",
                           "smid",
                           "nsmid",
                           "lanemask_lt",
                           "clock_hi",
                           "clock",
                           "pm3",
                           "envreg31",
                           "globaltimer_lo",
                           "globaltimer_hi",
                           "reserved_smem_offset_begin",
                           "reserved_smem_offset_end",
                           "reserved_smem_offset_cap",
                           "reserved_smem_offset_0",
                           "reserved_smem_offset_1",
                           "total_smem_size",
                           "aggr_smem_size",
                           "dynamic_smem_size",
                           "clusterid.z",
                           "nclusterid.x",
                           "cluster_ctaid.y",
                           "cluster_nctaid.z",
                           "cluster_ctarank",
                           "cluster_nctarank"})
    evaluate<uint32_t>("mov.u32 %r0, %" + std::string(name) +
                       ";\nst.global.u32 [%out], %r0;");
  for (const char *name :
       {"clock64", "globaltimer", "gridid", "pm3_64", "current_graph_exec"})
    evaluate<uint64_t>("mov.u64 %d0, %" + std::string(name) +
                       ";\nst.global.u64 [%out], %d0;");
  auto sizes = evaluate<uint32_t>(
      ".shared .align 4 .b8 data[100];\nmov.u32 %r0, data;\n"
      "st.shared.u32 [%r0], %r0;\nmov.u32 %r1, %total_smem_size;\n"
      "mov.u32 %r2, %dynamic_smem_size;\nmad.lo.u32 %r1, %r2, 1000, %r1;\n"
      "st.global.u32 [%out], %r1;");
  EXPECT_GE(sizes[0], 100u);
  EXPECT_LT(sizes[0], 5000u);
}

//===----------------------------------------------------------------------===//
// f32x2
//===----------------------------------------------------------------------===//

std::vector<uint64_t> pairsOfFloats(unsigned seed) {
  static const uint32_t special[] = {
      0,          0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00001,
      0xFFC12345, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF};
  std::mt19937 random(seed);
  auto word = [&] {
    return random() % 3 == 0 ? special[random() % 12] : uint32_t(random());
  };
  std::vector<uint64_t> values(512);
  for (uint64_t &value : values) {
    uint64_t low = word();
    value = low | uint64_t(word()) << 32;
  }
  return values;
}

TEST(PackedFloat, IsTwiceTheScalar) {
  const std::pair<const char *, Rounding> modes[] = {
      {"", Rounding::NearestEven},
      {".rn", Rounding::NearestEven},
      {".rz", Rounding::Zero},
      {".rm", Rounding::Down},
      {".rp", Rounding::Up}};
  for (const char *op : {"add", "sub", "mul", "fma"})
    for (auto [name, mode] : modes)
      for (bool ftz : {false, true}) {
        bool isFma = std::string(op) == "fma";
        if (isFma && !*name)
          continue;
        auto in = [ftz = ftz](uint64_t bits) {
          float x = asFloat(bits);
          return ftz && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
        };
        auto part = [&, mode = mode](uint64_t a, uint64_t b, uint64_t c) {
          float x = in(a), y = in(b), r;
          if (isFma)
            r = fmaRounded(x, y, in(c), mode);
          else if (op[0] == 'm')
            r = mulRounded(x, y, mode);
          else
            r = addRounded(x, op[0] == 's' ? -y : y, mode);
          return r != r ? uint64_t(0x7FFFFFFF) : fromFloat(in(fromFloat(r)));
        };
        std::string text = std::string(op) + name + (ftz ? ".ftz" : "") +
                           ".f32x2 %x, %a, %b" + (isFma ? ", %c;" : ";");
        std::vector<std::vector<uint64_t>> inputs = {pairsOfFloats(1),
                                                     pairsOfFloats(2)};
        if (isFma)
          inputs.push_back(pairsOfFloats(3));
        checkInstruction(text, 64, std::vector<unsigned>(inputs.size(), 64),
                         inputs, [&](uint64_t a, uint64_t b, uint64_t c) {
                           return part(a, b, c) |
                                  part(a >> 32, b >> 32, c >> 32) << 32;
                         });
      }
}

TEST(PackedFloat, ErrorsAtLoad) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  expect("add.sat.f32x2 %d0, %d1, %d2;", "unknown modifier '.sat'");
  expect("fma.f32x2 %d0, %d1, %d2, %d3;", "fma needs a rounding mode");
  expect("div.rn.f32x2 %d0, %d1, %d2;", "'div' has no type .f32x2");
  expect("add.f32x2 %r0, %r1, %r2;", "does not fit");
}

} // namespace
