//===- LaunchTest.cpp - Kernels that are launched whole ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"
#include <chrono>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

TEST(Launch, VectorAdd) {
  const char *text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
DONE:
  ret;
}
)";
  constexpr unsigned n = 1000;
  std::vector<float> a(n), b(n), c(n);
  for (unsigned i = 0; i < n; ++i) {
    a[i] = i;
    b[i] = 0.5f * i;
  }
  Runner runner(text);
  runner.emulator.options().threads = 2;
  runner.map(a).map(b).map(c).add(uint32_t(n));
  runner.run("add", Dim3{4, 1, 1}, Dim3{256, 1, 1});
  for (unsigned i = 0; i < n; ++i)
    ASSERT_EQ(c[i], 1.5f * i);
}
