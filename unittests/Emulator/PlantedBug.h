//===- PlantedBug.h - Kernels with a mistake and their corrected twins ----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_UNITTESTS_EMULATOR_PLANTEDBUG_H
#define TILEDIALECT_UNITTESTS_EMULATOR_PLANTEDBUG_H

#include "EmulatorTest.h"

namespace tile_dialect::emulator::test {

/// A kernel and its corrected twin in one text: lines that begin with `-` are
/// in the first one only, lines that begin with `+` in the second.
struct PlantedBug {
  const char *name;
  /// What one report on the first kernel must be, say, and point at.
  Report::Kind kind;
  const char *message;
  const char *line;
  uint32_t threads, blocks, cluster;
  std::string body;
};

inline void PrintTo(const PlantedBug &bug, std::ostream *os) {
  *os << bug.name;
}

/// The body within a kernel `k`.  It finds its thread in %t, its lane in %l,
/// its warp in %w, its block in %b; global buffers of 64 KiB in %out and %in;
/// 4 KiB of shared memory at %s, of which %me is the thread's word; mbarriers
/// at %bar; and places of its own in global memory in %mine and %from.  %lead
/// holds in thread 0.  Each line of the body has its number as source line.
inline std::string plantedKernel(const PlantedBug &bug, bool isCorrected) {
  std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n"
      ".file 1 \"kernel.cu\"\n"
      ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
      ".reg .pred %p<10>; .reg .pred %lead;\n.reg .b16 %h<10>;\n"
      ".reg .b32 %r<40>; .reg .b32 %t; .reg .b32 %l; .reg .b32 %w;\n"
      ".reg .b32 %b; .reg .b32 %s; .reg .b32 %me; .reg .b32 %bar;\n"
      ".reg .b64 %d<40>; .reg .b64 %out; .reg .b64 %in; .reg .b64 %mine;\n"
      ".reg .b64 %from;\n.reg .f32 %f<40>;\n"
      ".shared .align 1024 .b8 data[4096];\n.shared .align 8 .b64 bars[8];\n"
      "ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\n"
      "mov.u32 %t, %tid.x;\nand.b32 %l, %t, 31;\nshr.u32 %w, %t, 5;\n"
      "mov.u32 %b, %ctaid.x;\nmov.u32 %s, data;\nmov.u32 %bar, bars;\n"
      "setp.eq.u32 %lead, %t, 0;\nmad.lo.u32 %me, %t, 4, %s;\n"
      "mov.u32 %r0, %ntid.x;\nmad.lo.u32 %r0, %b, %r0, %t;\n"
      "mad.wide.u32 %mine, %r0, 8, %out;\nmad.wide.u32 %from, %r0, 16, %in;\n";
  std::istringstream lines(bug.body);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    char mark = line.empty() ? ' ' : line[0];
    if (mark == (isCorrected ? '-' : '+'))
      continue;
    if (mark == '-' || mark == '+')
      line[0] = ' ';
    text += ".loc 1 " + std::to_string(number) + " 0\n" + line + "\n";
  }
  return text + "ret;\n}\n";
}

/// What the checks say of one of the twins.
inline std::vector<Report> checkPlanted(const PlantedBug &bug, bool isCorrected,
                                        uint64_t seed) {
  EmulatorOptions options;
  options.checkRaces = options.checkUninitialized = true;
  options.seed = seed;
  // A deadlock among several host threads is known after some seconds only.
  options.threads = bug.kind == Report::Kind::Deadlock ? 1 : 1 + seed % 2;
  Runner runner(plantedKernel(bug, isCorrected), options);
  std::vector<uint64_t> out(8192), in(8192);
  for (uint64_t i = 0; i < in.size(); ++i)
    in[i] = i * 0x100000001 + 1;
  runner.map(out).map(in);
  auto result =
      runner.tryRun("k", Dim3{bug.blocks, 1, 1}, Dim3{bug.threads, 1, 1}, 0,
                    Dim3{bug.cluster, 1, 1});
  if (result)
    return result->reports;
  std::vector<Report> reports;
  llvm::handleAllErrors(result.takeError(), [&](const ReportError &error) {
    reports.push_back(error.getReport());
  });
  return reports;
}

/// Whether a report tells where it is: kernel, block, thread, lines.
inline bool isLocated(const Report &report) {
  const Location &where = report.where;
  if (where.kernel != "k")
    return false;
  // A deadlock has the position of each warp in its notes.
  if (report.kind == Report::Kind::Deadlock)
    return !report.notes.empty() &&
           report.notes[0].find("at line ") != std::string::npos &&
           report.notes[0].find("kernel.cu:") != std::string::npos;
  return where.hasBlock && where.hasThread && where.ptxLine > 0 &&
         where.sourceFile == "kernel.cu" && where.sourceLine > 0;
}

class PlantedBugTest : public testing::TestWithParam<PlantedBug> {};

/// Defines the tests of a table: the bug is found and the twin is clean,
/// whatever the order of the warps.
#define TEST_PLANTED_BUGS(suite, table)                                        \
  using suite = PlantedBugTest;                                                \
  TEST_P(suite, IsFound) {                                                     \
    const PlantedBug &bug = GetParam();                                        \
    for (uint64_t seed = 0; seed < 5; ++seed) {                                \
      bool found = false;                                                      \
      std::string text;                                                        \
      for (const Report &report : checkPlanted(bug, false, seed)) {            \
        text += report.str() + "\n";                                           \
        found |= report.kind == bug.kind && isLocated(report) &&               \
                 report.message.find(bug.message) != std::string::npos &&      \
                 report.str().find(bug.line) != std::string::npos;             \
      }                                                                        \
      EXPECT_TRUE(found) << "seed " << seed << ":\n" << text;                  \
    }                                                                          \
  }                                                                            \
  TEST_P(suite, TwinIsClean) {                                                 \
    for (uint64_t seed = 0; seed < 5; ++seed)                                  \
      for (const Report &report : checkPlanted(GetParam(), true, seed))        \
        ADD_FAILURE() << "seed " << seed << ":\n" << report.str();             \
  }                                                                            \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      All, suite, testing::ValuesIn(table),                                    \
      [](const testing::TestParamInfo<PlantedBug> &info) {                     \
        return std::string(info.param.name);                                   \
      })

} // namespace tile_dialect::emulator::test

#endif // TILEDIALECT_UNITTESTS_EMULATOR_PLANTEDBUG_H
