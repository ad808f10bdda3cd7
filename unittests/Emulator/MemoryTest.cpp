//===- MemoryTest.cpp - Loads, stores, atomics and addresses ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"
#include <array>
#include <cmath>
#include <cstring>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;
using U32 = uint32_t;
using U64 = uint64_t;

TEST(Memory, WidthsAndSigns) {
  std::vector<uint8_t> bytes(64);
  for (unsigned i = 0; i < 64; ++i)
    bytes[i] = 0xF0 + i * 37;
  struct Case {
    const char *type;
    unsigned size;
    bool isSigned;
  };
  const Case cases[] = {
      {"u8", 1, false},  {"s8", 1, true},   {"b8", 1, false},
      {"u16", 2, false}, {"s16", 2, true},  {"u32", 4, false},
      {"s32", 4, true},  {"u64", 8, false}, {"b64", 8, false}};
  for (const Case &c : cases) {
    Runner runner(wrapBody("ld.param.u64 %d1, [in];\n"
                           "mul.wide.u32 %d2, %t, " +
                               std::to_string(c.size) +
                               ";\nadd.u64 %d1, %d1, %d2;\nld.global." +
                               c.type +
                               " %d3, [%d1];\n"
                               "st.global.u64 [%out], %d3;",
                           8, ", .param .u64 in"));
    std::vector<U64> out(8);
    runner.map(out).map(bytes);
    runner.run("k", Dim3{}, Dim3{8, 1, 1});
    for (unsigned i = 0; i < 8; ++i) {
      U64 expected = 0;
      for (unsigned b = 0; b < c.size; ++b)
        expected |= U64(bytes[i * c.size + b]) << (8 * b);
      unsigned shift = 64 - 8 * c.size;
      if (c.isSigned)
        expected = U64(int64_t(expected << shift) >> shift);
      EXPECT_EQ(out[i], expected) << c.type;
    }
  }
}

TEST(Memory, Vectors) {
  auto out = evaluate<std::array<U32, 8>>(R"(
  .shared .align 32 .b8 buffer[1024];
  mov.u32 %r1, buffer;
  mad.lo.u32 %r1, %t, 32, %r1;
  add.u32 %r2, %t, 1;
  add.u32 %r3, %t, 2;
  add.u32 %r4, %t, 3;
  st.shared.v4.b32 [%r1], {%t, %r2, %r3, %r4};
  ld.shared.v2.b64 {%d1, %d2}, [%r1];
  st.shared.v2.b64 [%r1+16], {%d2, %d1};
  { .reg .b128 %q;
    ld.shared.b128 %q, [%r1+16];
    st.global.b128 [%out], %q; }
  ld.shared.v4.u16 {%h1, %h2, %h3, %h4}, [%r1];
  st.global.v4.b16 [%out+16], {%h4, %h3, %h2, %h1};
  st.global.v2.b8 [%out+24], {%h1, %h3};
  st.global.u16 [%out+26], 7;
  st.global.b32 [%out+28], 0f3F800000;
)");
  for (U32 t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t][0], t + 2);
    EXPECT_EQ(out[t][1], t + 3);
    EXPECT_EQ(out[t][2], t);
    EXPECT_EQ(out[t][3], t + 1);
    EXPECT_EQ(out[t][4], (t + 1) << 16);
    EXPECT_EQ(out[t][5], t << 16);
    EXPECT_EQ(out[t][6], t | (t + 1) << 8 | 7u << 16);
    EXPECT_EQ(out[t][7], 0x3F800000u);
  }
}

/// LLVM widens a load of three neighbours to four and names the bytes it needs:
/// the others may lie outside of the buffer.
TEST(Memory, UsedBytesMask) {
  auto text = [](const char *pragma) {
    return std::string(R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  )") + pragma +
           R"(
  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
  st.global.b32 [%rd2], %r3;
  ret;
}
)";
  };
  std::vector<int32_t> in = {1, 2, 3}, out = {0};
  {
    Runner runner(text(".pragma \"used_bytes_mask 0xfff\";"));
    runner.map(in).map(out).run("k", {1, 1, 1}, {1, 1, 1});
    EXPECT_EQ(out[0], 3);
  }
  {
    // The last element in part: what is behind it reads as zero.
    std::vector<uint8_t> bytes = {1, 0, 0, 0, 2, 0, 0, 0, 7, 8, 9};
    Runner runner(text(".pragma \"used_bytes_mask 0x7ff\";"));
    runner.map(bytes).map(out).run("k", {1, 1, 1}, {1, 1, 1});
    EXPECT_EQ(out[0], 0x090807);
  }
  // Without the mask, or with one of the last element, it
  // is an access out of bounds.
  for (const char *pragma : {"", ".pragma \"used_bytes_mask 0xf000\";"}) {
    Runner runner(text(pragma));
    auto result = runner.map(in).map(out).tryRun("k", {1, 1, 1}, {1, 1, 1});
    ASSERT_FALSE(bool(result)) << pragma;
    EXPECT_NE(llvm::toString(result.takeError()).find("out of bounds"),
              std::string::npos);
  }
}

TEST(Memory, GenericAddresses) {
  auto out = evaluate<U32>(R"(
  .shared .align 4 .u32 value;
  .local .align 4 .u32 own;
  mov.u64 %d1, value;
  cvta.shared.u64 %d2, %d1;
  st.u32 [%d2], 5;
  ld.shared.u32 %r1, [value];
  mov.u64 %d3, own;
  cvta.local.u64 %d3, %d3;
  st.u32 [%d3], %t;
  ld.local.u32 %r2, [own];
  isspacep.shared %p1, %d2;
  isspacep.local %p2, %d3;
  isspacep.global %p3, %out;
  isspacep.global %p4, %d2;
  selp.u32 %r3, 100, 0, %p1;
  selp.u32 %r4, 1000, 0, %p2;
  selp.u32 %r5, 10000, 0, %p3;
  selp.u32 %r6, 100000, 0, %p4;
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  add.u32 %r1, %r1, %r4;
  add.u32 %r1, %r1, %r5;
  add.u32 %r1, %r1, %r6;
  cvta.to.shared.u64 %d4, %d2;
  sub.u64 %d4, %d4, %d1;
  cvt.u32.u64 %r7, %d4;
  add.u32 %r1, %r1, %r7;
  st.u32 [%out], %r1;
)");
  for (U32 t = 0; t < 32; ++t)
    EXPECT_EQ(out[t], 5 + t + 11100);
}

TEST(Memory, ModuleVariables) {
  Runner runner(R"(
.version 8.0
.target sm_90
.address_size 64
.const .align 4 .f32 table[4] = {0f3F800000, 2.0, 3.0};
.global .align 8 .u64 pointers[2] = {target, generic(target)+4};
.global .align 4 .u32 target[3] = {11, 22, 33};
.global .align 1 .b8 bytes[2][3] = {{1, 2, 3}, {4}};
.global .align 4 .u32 counter = -1;
.visible .entry k(.param .u64 out)
{
  .reg .b64 %d<8>;
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  ld.param.u64 %d1, [out];
  ld.global.u64 %d2, [pointers+8];
  ld.global.u32 %r1, [%d2+4];
  st.global.u32 [%d1], %r1;
  ld.const.f32 %f1, [table+8];
  st.global.f32 [%d1+4], %f1;
  ld.global.u8 %r2, [bytes+3];
  st.global.u32 [%d1+8], %r2;
  mov.u64 %d3, counter;
  ld.global.u32 %r3, [%d3];
  st.global.u32 [%d1+12], %r3;
  atom.global.add.u32 %r4, [counter], 5;
  ret;
}
)");
  std::vector<U32> out(4);
  runner.map(out);
  runner.run("k", Dim3{}, Dim3{1, 1, 1});
  EXPECT_EQ(out[0], 33u);
  EXPECT_EQ(out[1], 0x40400000u);
  EXPECT_EQ(out[2], 4u);
  EXPECT_EQ(out[3], ~0u);
  U64 counter = runner.emulator.symbolAddress(*runner.module, "counter");
  EXPECT_EQ(
      *static_cast<U32 *>(runner.emulator.memory().hostPointer(counter, 4)),
      4u);
}

TEST(Memory, DynamicShared) {
  Runner runner(R"(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 fixed[20];
  .reg .b64 %d<8>;
  .reg .b32 %r<8>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, dynamic;
  mov.u32 %r2, fixed;
  sub.u32 %r3, %r1, %r2;
  st.global.u32 [%d1], %r3;
  mov.u32 %r4, %dynamic_smem_size;
  st.global.u32 [%d1+4], %r4;
  st.shared.u32 [dynamic+96], 9;
  ld.shared.u32 %r5, [%r1+96];
  st.global.u32 [%d1+8], %r5;
  ret;
}
)");
  std::vector<U32> out(3);
  runner.map(out);
  EXPECT_EQ(runner.module->kernels()[0].staticSharedBytes, 20u);
  runner.run("k", Dim3{}, Dim3{1, 1, 1}, 100);
  EXPECT_EQ(out[0], 32u);
  EXPECT_EQ(out[1], 100u);
  EXPECT_EQ(out[2], 9u);
}

TEST(Memory, FarOffsets) {
  // Five GiB, of which only the touched pages exist.
  Runner runner(wrapBody("mov.u64 %d1, 5000000000;\nadd.u64 %d1, %out, %d1;\n"
                         "st.global.u8 [%d1], 77;\n"
                         "ld.global.u8 %r1, [%out+5000000000];\n"
                         "st.global.u32 [%out], %r1;"));
  auto address = runner.emulator.memory().allocate(uint64_t(5) << 30, "big");
  ASSERT_TRUE(bool(address));
  runner.add(*address);
  runner.run("k", Dim3{}, Dim3{1, 1, 1});
  auto *host = static_cast<uint8_t *>(
      runner.emulator.memory().hostPointer(*address, 5000000001));
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host[5000000000], 77);
  EXPECT_EQ(host[0], 77);
  EXPECT_EQ(
      runner.emulator.memory().hostPointer(*address, (uint64_t(5) << 30) + 1),
      nullptr);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Every thread of several blocks applies an operation to one place.
template <typename T>
static T accumulate(const std::string &instruction, T initial,
                    unsigned threads = 4) {
  EmulatorOptions options;
  options.threads = threads;
  Runner runner(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 place)
{
  .reg .b64 %d<8>;
  .reg .b32 %t, %r<8>;
  .reg .b16 %h<4>;
  .reg .f32 %f<4>;
  .reg .f64 %e<4>;
  ld.param.u64 %d1, [place];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %t, %r1, 64, %r2;
  )" + instruction + "\n  ret;\n}\n",
                options);
  // Vector atomics need 16 bytes of alignment.
  alignas(16) static thread_local uint8_t storage[16];
  std::memset(storage, 0, 16);
  std::memcpy(storage, &initial, sizeof(T));
  auto address = runner.emulator.memory().map(storage, 16, "place");
  EXPECT_TRUE(bool(address));
  runner.add(*address);
  runner.run("k", Dim3{16, 1, 1}, Dim3{64, 1, 1});
  T result;
  std::memcpy(&result, storage, sizeof(T));
  return result;
}

TEST(Atomics, Integers) {
  EXPECT_EQ(accumulate<U32>("red.global.add.u32 [%d1], %t;", 7),
            7u + 1023 * 512);
  EXPECT_EQ(accumulate<U64>("cvt.u64.u32 %d2, %t;\n"
                            "atom.global.gpu.add.u64 %d3, [%d1], %d2;",
                            1),
            1u + 1023 * 512);
  EXPECT_EQ(
      accumulate<U32>("atom.relaxed.gpu.global.max.u32 %r3, [%d1], %t;", 5),
      1023u);
  EXPECT_EQ(
      accumulate<U32>("neg.s32 %r3, %t;\nred.global.min.s32 [%d1], %r3;", 5),
      U32(-1023));
  EXPECT_EQ(accumulate<U32>("and.b32 %r3, %t, 31;\nshl.b32 %r3, 1, %r3;\n"
                            "red.or.b32 [%d1], %r3;",
                            0),
            ~0u);
  EXPECT_EQ(accumulate<U32>("red.global.xor.b32 [%d1], %t;", 9), 9u);
  EXPECT_EQ(accumulate<U32>("atom.global.inc.u32 %r3, [%d1], 99;", 0),
            1024u % 100);
  EXPECT_EQ(accumulate<U32>("atom.global.dec.u32 %r3, [%d1], 99;", 0),
            100 - 1024u % 100);
  // Compare and swap until it works.
  EXPECT_EQ(
      accumulate<U32>("{ .reg .pred %p; AGAIN: ld.volatile.global.u32 %r3,"
                      " [%d1];\nadd.u32 %r4, %r3, 2;\n"
                      "atom.global.cas.b32 %r5, [%d1], %r3, %r4;\n"
                      "setp.ne.u32 %p, %r5, %r3;\n@%p bra AGAIN; }",
                      0),
      2048u);
}

TEST(Atomics, Floats) {
  EXPECT_EQ(accumulate<float>("cvt.rn.f32.u32 %f1, %t;\n"
                              "red.global.add.f32 [%d1], %f1;",
                              0.5f),
            0.5f + 1023 * 512);
  EXPECT_EQ(accumulate<double>("atom.global.add.f64 %e1, [%d1], "
                               "0d3FE0000000000000;",
                               1.0),
            513.0);
  // Two halves that each count by one; 2048 is the last exact step.
  EXPECT_EQ(accumulate<U32>("mov.b32 %r3, 0x3C003C00;\n"
                            "red.global.add.noftz.f16x2 [%d1], %r3;",
                            0),
            0x64006400u);
  // bf16 counts to 256 and stays there.
  EXPECT_EQ(accumulate<uint16_t>("mov.b16 %h1, 0x3F80;\n"
                                 "atom.global.add.noftz.bf16 %h2, [%d1], %h1;",
                                 0),
            0x4380u);
  using Four = std::array<float, 4>;
  Four four =
      accumulate<Four>("mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
                       "red.global.v4.f32.add [%d1], {%f1, %f2, %f1, %f2};",
                       Four{1, 1, 1, 1});
  EXPECT_EQ(four, (Four{1025, 2049, 1025, 2049}));
}
