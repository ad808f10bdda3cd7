//===- EmulatorTest.h - What the emulator's tests share ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_UNITTESTS_EMULATOR_EMULATORTEST_H
#define TILEDIALECT_UNITTESTS_EMULATOR_EMULATORTEST_H

#include "TileDialect/Emulator/Emulator.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tile_dialect::emulator::test {

/// Reads a file of test/Emulator.
inline std::string readInput(const std::string &name) {
  std::ifstream file(std::string(EMULATOR_TEST_DIR) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << "cannot read " << name;
  return text.str();
}

/// A module, a device and the arguments of a launch.
class Runner {
public:
  explicit Runner(const std::string &text, EmulatorOptions options = {})
      : emulator(options) {
    emulator.options().threads = options.threads ? options.threads : 1;
    auto parsed = Module::parse(text, "test.ptx");
    if (!parsed) {
      ADD_FAILURE() << llvm::toString(parsed.takeError());
      return;
    }
    module = std::move(*parsed);
  }

  template <typename T> Runner &map(std::vector<T> &data) {
    auto address = emulator.memory().map(
        data.data(), data.size() * sizeof(T),
        "buffer" + std::to_string(arguments.get().size()));
    if (!address) {
      ADD_FAILURE() << llvm::toString(address.takeError());
      return *this;
    }
    arguments.add(*address);
    return *this;
  }
  template <typename T> Runner &add(T value) {
    arguments.add(value);
    return *this;
  }

  llvm::Expected<LaunchResult> tryRun(const std::string &kernel, Dim3 grid,
                                      Dim3 block, uint32_t shared = 0,
                                      Dim3 cluster = Dim3{0, 0, 0}) {
    if (!module)
      return makeError(Report::Kind::InvalidLaunch, "no module");
    Launch launch;
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster;
    launch.dynamicSharedBytes = shared;
    launch.arguments = arguments;
    return emulator.launch(*module, launch);
  }
  LaunchResult run(const std::string &kernel, Dim3 grid, Dim3 block,
                   uint32_t shared = 0, Dim3 cluster = Dim3{0, 0, 0}) {
    auto result = tryRun(kernel, grid, block, shared, cluster);
    if (result)
      return std::move(*result);
    ADD_FAILURE() << llvm::toString(result.takeError());
    return LaunchResult();
  }
  /// The text of the error that a launch must end with.
  std::string runToError(const std::string &kernel, Dim3 grid, Dim3 block,
                         uint32_t shared = 0, Dim3 cluster = Dim3{0, 0, 0}) {
    auto result = tryRun(kernel, grid, block, shared, cluster);
    if (!result)
      return llvm::toString(result.takeError());
    ADD_FAILURE() << "the launch has not failed";
    return "";
  }

  Emulator emulator;
  std::unique_ptr<Module> module;
  Arguments arguments;
};

/// The message of a module that must not parse.
inline std::string parseError(const std::string &text) {
  auto parsed = Module::parse(text, "test.ptx");
  if (!parsed)
    return llvm::toString(parsed.takeError());
  ADD_FAILURE() << "the module has parsed";
  return "";
}

/// A kernel `k` with a pointer parameter `out` around some instructions, which
/// find the thread's number in %tid and may use the registers declared here.
/// Lane i's results go to out + i * bytes through %out.
inline std::string wrapBody(const std::string &body, unsigned bytes = 8,
                            const std::string &parameters = "") {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 out" +
         parameters +
         ")\n{\n"
         "  .reg .pred %p<10>;\n  .reg .b16 %h<20>;\n  .reg .b32 %r<30>;\n"
         "  .reg .b64 %d<30>;\n  .reg .f32 %f<20>;\n  .reg .f64 %e<20>;\n"
         "  .reg .b32 %t;\n  .reg .b64 %out;\n"
         "  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n"
         "  mad.wide.u32 %out, %t, " +
         std::to_string(bytes) + ", %out;\n" + body + "\n  ret;\n}\n";
}

/// Runs wrapBody in one warp and returns what it wrote.
template <typename T>
std::vector<T> evaluate(const std::string &body, unsigned threads = 32) {
  std::vector<T> out(threads);
  Runner runner(wrapBody(body, sizeof(T)));
  runner.map(out);
  runner.run("k", Dim3{1, 1, 1}, Dim3{threads, 1, 1});
  return out;
}

} // namespace tile_dialect::emulator::test

#endif // TILEDIALECT_UNITTESTS_EMULATOR_EMULATORTEST_H
