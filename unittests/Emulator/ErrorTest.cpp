//===- ErrorTest.cpp - Modules and launches that are wrong ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"
#include <thread>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << text

/// The error of a module with one kernel that has the given body.
static std::string bodyError(const std::string &body) {
  return parseError(wrapBody(body));
}

TEST(Errors, UnknownText) {
  EXPECT_CONTAINS(bodyError("frobnicate.u32 %r1, %r2;"),
                  "unknown instruction 'frobnicate'");
  EXPECT_CONTAINS(bodyError("add.fast.u32 %r1, %r2, %r3;"),
                  "unknown modifier '.fast' of 'add'");
  EXPECT_CONTAINS(bodyError("tcgen05.alloc.cta_group::1.sync.aligned"
                            ".shared::cta.b32 [%r1], 32;"),
                  "not emulated");
  std::string error = bodyError("\nadd.u32 %r1, %r2;");
  EXPECT_CONTAINS(error, "test.ptx:");
  EXPECT_CONTAINS(error, "'add' takes 3 operands here, found 2");
  EXPECT_CONTAINS(error, "add.u32 %r1, %r2;");
}

TEST(Errors, Operands) {
  EXPECT_CONTAINS(bodyError("add.u32 %q1, %r2, %r3;"),
                  "'%q1' is not a register");
  EXPECT_CONTAINS(bodyError("add.u32 %r1, %q2, %r3;"), "'%q2' is not declared");
  EXPECT_CONTAINS(bodyError("add.u32 %r1, %d2, %r3;"),
                  "'%d2' is a register of type .b64, which does not fit .u32");
  EXPECT_CONTAINS(bodyError("add.u32 %r99, %r2, %r3;"),
                  "'%r99' is not a register");
  EXPECT_CONTAINS(bodyError("add.f32 %f1, %f2, 1;"),
                  "this literal cannot be a value of type .f32");
  EXPECT_CONTAINS(bodyError("ld.global.v2.u32 {%r1, %r2, %r3}, [%out];"),
                  "expected 2 registers, found 3");
  EXPECT_CONTAINS(bodyError("bra NOWHERE;"), "'NOWHERE' is not a label");
  EXPECT_CONTAINS(bodyError("@%r1 add.u32 %r1, %r2, %r3;"),
                  "'%r1' is not a predicate register");
  EXPECT_CONTAINS(bodyError("mul.u32 %r1, %r2, %r3;"),
                  "mul needs .lo, .hi or .wide");
  EXPECT_CONTAINS(bodyError("min.b32 %r1, %r2, %r3;"),
                  "this combination of types is not defined");
}

TEST(Errors, Structure) {
  EXPECT_CONTAINS(parseError(".version 8.0\n.target sm_90\nnonsense"),
                  "test.ptx:3: error: expected a directive of a module, found "
                  "'nonsense'");
  EXPECT_CONTAINS(parseError(".version 12.0\n"), "newer than 9.0");
  EXPECT_CONTAINS(parseError(".version 8.0\n.target sm_90\n.visible .entry k()"
                             "\n{\n  .reg .b32 %r;\n"),
                  "expected '}'");
  EXPECT_CONTAINS(bodyError(".reg .b32 %t;"), "'%t' is declared twice");
  EXPECT_CONTAINS(bodyError("add.u32 %r1, %r2, %r3"), "expected ',' or ';'");
  EXPECT_CONTAINS(bodyError("mov.u32 %r1, \"text\";"), "expected an operand");
  EXPECT_CONTAINS(bodyError("/* comment"), "not closed");
  EXPECT_CONTAINS(bodyError(std::string(5000, '{')), "nested too deep");
  EXPECT_CONTAINS(bodyError("mov.u32 %r1, " + std::string(5000, '(') + "1;"),
                  "nested too deep");
}

TEST(Errors, Launches) {
  Runner runner(wrapBody(".shared .align 4 .b8 buffer[1024];"));
  std::vector<uint64_t> out(32);
  EXPECT_CONTAINS(runner.runToError("k", Dim3{}, Dim3{32, 1, 1}),
                  "kernel 'k' takes 1 arguments, found 0");
  runner.map(out);
  EXPECT_CONTAINS(runner.runToError("kk", Dim3{}, Dim3{32, 1, 1}),
                  "there is no kernel 'kk'; the module has k");
  EXPECT_CONTAINS(runner.runToError("k", Dim3{0, 1, 1}, Dim3{32, 1, 1}),
                  "a grid of 0x1x1 has no block");
  EXPECT_CONTAINS(runner.runToError("k", Dim3{}, Dim3{1025, 1, 1}),
                  "is larger than 1024x1024x64 or 1024 threads");
  EXPECT_CONTAINS(runner.runToError("k", Dim3{}, Dim3{32, 0, 1}),
                  "has no thread");
  EXPECT_CONTAINS(runner.runToError("k", Dim3{}, Dim3{32, 1, 1}, 232448),
                  "more than the 232448 of the chip");
  EXPECT_CONTAINS(
      runner.runToError("k", Dim3{3, 1, 1}, Dim3{32, 1, 1}, 0, Dim3{2, 1, 1}),
      "is not a multiple of clusters of 2x1x1");
  Runner narrow(wrapBody(""));
  narrow.add(uint32_t(5));
  EXPECT_CONTAINS(narrow.runToError("k", Dim3{}, Dim3{32, 1, 1}),
                  "argument 0 of kernel 'k' has 8 bytes (.u64), found 4");
}

TEST(Errors, Accesses) {
  struct Case {
    const char *body, *message;
  };
  const Case cases[] = {
      {"ld.global.u32 %r1, [%out+256];", "read of 4 bytes at global address"},
      {"ld.global.u32 %r1, [%out+256];", "'buffer0' of 256 bytes"},
      {"ld.global.u32 %r1, [%out+256];", "thread (0,0,0)"},
      {"setp.eq.u32 %p1, %t, 31;\n@%p1 st.global.u64 [%out+8], %d1;",
       "0 bytes past its end"},
      {"setp.eq.u32 %p1, %t, 31;\n@%p1 st.global.u64 [%out+8], %d1;",
       "thread (31,0,0)"},
      {"ld.u32 %r1, [0];", "is outside of every allocation"},
      {"ld.global.u32 %r1, [%out+2];", "misaligned: access of 4 bytes"},
      {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+4];",
       "misaligned: access of 16 bytes"},
      {".shared .align 4 .b8 b[64];\nmov.u32 %r1, b;\n"
       "ld.shared.u32 %r2, [%r1+64];",
       "outside of the block's shared memory"},
      {"ld.shared.u32 %r2, [512];", "outside of the block's shared memory"},
      {".local .align 8 .b8 depot[16];\nst.local.u64 [depot+16], %d1;",
       "outside of the thread's 16 bytes of local memory"},
      {"mov.b64 %d1, out;\ncvta.param.u64 %d1, %d1;\nst.u64 [%d1], %d1;",
       "which is constant"},
      {"trap;", "trap was executed"},
      {"mov.u32 %r1, 20;\nbar.sync %r1;", "there are barriers 0 to 15"},
      {"shfl.sync.idx.b32 %r1, %t, 0, 31, 1;",
       "the executing lane is not in the member mask 0x1"},
  };
  for (const Case &c : cases) {
    Runner runner(wrapBody(c.body));
    std::vector<uint64_t> out(32);
    runner.map(out);
    EXPECT_CONTAINS(runner.runToError("k", Dim3{}, Dim3{32, 1, 1}), c.message);
  }
}

TEST(Errors, TheFirstBlockIsReported) {
  // Blocks 3 and up fail; the report does not depend on the threads.
  for (unsigned threads : {1u, 4u}) {
    EmulatorOptions options;
    options.threads = threads;
    Runner runner(wrapBody("mov.u32 %r1, %ctaid.x;\nsetp.ge.u32 %p1, %r1, 3;\n"
                           "@%p1 trap;"),
                  options);
    std::vector<uint64_t> out(32);
    runner.map(out);
    EXPECT_CONTAINS(runner.runToError("k", Dim3{64, 1, 1}, Dim3{32, 1, 1}),
                    "block (3,0,0)");
  }
}

TEST(Errors, InstructionLimit) {
  EmulatorOptions options;
  options.instructionLimit = 100000;
  Runner runner(wrapBody("LOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;"), options);
  std::vector<uint64_t> out(32);
  runner.map(out);
  EXPECT_CONTAINS(runner.runToError("k", Dim3{}, Dim3{32, 1, 1}),
                  "executed more than 100000 warp instructions");
}

/// Block 0 ends at once; the others loop, on threads that do not ask.
TEST(Errors, Interrupt) {
  for (unsigned threads : {1u, 4u}) {
    std::thread::id asker = std::this_thread::get_id();
    unsigned asked = 0;
    EmulatorOptions options;
    options.threads = threads;
    options.isInterrupted = [&] {
      EXPECT_EQ(std::this_thread::get_id(), asker);
      return ++asked == 3;
    };
    Runner runner(wrapBody("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n"
                           "@%p1 exit;\nLOOP:\nadd.u32 %r1, %r1, 1;\n"
                           "bra LOOP;"),
                  options);
    std::vector<uint64_t> out(32);
    runner.map(out);
    EXPECT_CONTAINS(runner.runToError("k", Dim3{8, 1, 1}, Dim3{64, 1, 1}),
                    "interrupted: the launch was interrupted");
    EXPECT_EQ(asked, 3u);
  }
}
