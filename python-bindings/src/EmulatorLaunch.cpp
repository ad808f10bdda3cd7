//===- EmulatorLaunch.cpp - Kernels on host memory ------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "KernelParameters.h"
#include "TileDialect/Emulator/Emulator.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::tile::python;
namespace emulator = tile_dialect::emulator;

namespace {

/// Host memory that a kernel may touch: address, bytes, whether it is
/// read-only.
using Region = std::tuple<uint64_t, uint64_t, bool>;

struct LaunchOptions {
  bool checkRaces = false;
  bool checkUninitialized = false;
  unsigned threads = 0;
  uint64_t seed = 0;
  uint64_t instructionLimit = 0;
};

/// What a launch left behind: output of prints, findings of the checks, and the
/// error that stopped the kernel (empty if none did).
struct LaunchOutcome {
  std::string output;
  std::vector<std::string> reports;
  std::string error;
  std::string errorKind;
  std::string sourceFile;
  unsigned sourceLine = 0;
  /// A signal handler raised a Python exception, which is set.
  bool wasInterrupted = false;
};

class EmulatorKernel {
public:
  EmulatorKernel(const std::string &ptx, const std::string &name,
                 const std::vector<std::string> &parameterTypes,
                 unsigned numThreads, unsigned dynamicSharedBytes)
      : name(name), parameters(parameterTypes), numThreads(numThreads),
        dynamicSharedBytes(dynamicSharedBytes) {
    auto parsed = emulator::Module::parse(ptx, name + ".ptx");
    if (!parsed)
      throw std::runtime_error(llvm::toString(parsed.takeError()));
    module = std::move(*parsed);
  }

  LaunchOutcome launch(std::array<uint32_t, 3> grid, nb::sequence arguments,
                       const std::vector<Region> &regions,
                       const LaunchOptions &options) const {
    emulator::Launch launch;
    launch.kernel = name;
    launch.grid = {grid[0], grid[1], grid[2]};
    launch.block = {numThreads, 1, 1};
    launch.dynamicSharedBytes = dynamicSharedBytes;
    for (const ParameterValue &value : parameters.pack(arguments))
      launch.arguments.addBytes(
          llvm::ArrayRef<uint8_t>(value.bytes.data(), value.size));
    LaunchOutcome outcome;
    {
      GilReleased released;
      outcome = run(launch, regions, options);
    }
    if (outcome.wasInterrupted)
      throw nb::python_error();
    return outcome;
  }

private:
  LaunchOutcome run(const emulator::Launch &launch,
                    const std::vector<Region> &regions,
                    const LaunchOptions &options) const;

  std::string name;
  KernelParameters parameters;
  unsigned numThreads, dynamicSharedBytes;
  std::unique_ptr<emulator::Module> module;
};

} // namespace

/// Views of one array may overlap; the emulator's allocations must not.
static std::vector<Region> mergeRegions(std::vector<Region> regions) {
  std::sort(regions.begin(), regions.end());
  std::vector<Region> merged;
  for (auto [address, size, readOnly] : regions) {
    if (size == 0)
      continue;
    if (!merged.empty()) {
      auto &[lastAddress, lastSize, lastReadOnly] = merged.back();
      if (address < lastAddress + lastSize) {
        lastSize = std::max(lastSize, address + size - lastAddress);
        lastReadOnly &= readOnly;
        continue;
      }
    }
    merged.emplace_back(address, size, readOnly);
  }
  return merged;
}

static void describe(llvm::Error error, LaunchOutcome &outcome) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const emulator::ReportError &report) {
        outcome.error = report.getReport().str();
        outcome.errorKind = emulator::kindName(report.getReport().kind).str();
        outcome.sourceFile = report.getReport().where.sourceFile;
        outcome.sourceLine = report.getReport().where.sourceLine;
      },
      [&](const llvm::ErrorInfoBase &other) {
        outcome.error = other.message();
      });
}

LaunchOutcome EmulatorKernel::run(const emulator::Launch &launch,
                                  const std::vector<Region> &regions,
                                  const LaunchOptions &options) const {
  LaunchOutcome outcome;
  llvm::raw_string_ostream output(outcome.output);
  emulator::EmulatorOptions config;
  config.checkRaces = options.checkRaces;
  config.checkUninitialized = options.checkUninitialized;
  config.threads = options.threads;
  config.seed = options.seed;
  config.instructionLimit = options.instructionLimit;
  config.output = &output;
  // Called on the launching thread. Python runs signal handlers on its main
  // thread alone: a launch of another one runs to its end, as other blocking
  // calls do.
  config.isInterrupted = [&outcome] {
    // A thread that stays in `withoutUnwinding` is not waited for.
    --numBusyThreads;
    PyGILState_STATE state = withoutUnwinding(PyGILState_Ensure);
    ++numBusyThreads;
    outcome.wasInterrupted = PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    return outcome.wasInterrupted;
  };
  emulator::Emulator machine(config);
  unsigned index = 0;
  for (auto [address, size, readOnly] : mergeRegions(regions)) {
    std::string regionName = "array " + std::to_string(index++);
    if (llvm::Error error = machine.memory().mapIdentity(
            reinterpret_cast<void *>(address), size, regionName, readOnly)) {
      describe(std::move(error), outcome);
      return outcome;
    }
  }
  auto result = machine.launch(*module, launch);
  if (result)
    for (const emulator::Report &report : result->reports)
      outcome.reports.push_back(report.str());
  else
    describe(result.takeError(), outcome);
  return outcome;
}

void mlir::tile::python::bindEmulator(nb::module_ &module) {
  nb::class_<LaunchOptions>(module, "EmulatorOptions")
      .def(nb::init<>())
      .def_rw("check_races", &LaunchOptions::checkRaces)
      .def_rw("check_uninitialized", &LaunchOptions::checkUninitialized)
      .def_rw("threads", &LaunchOptions::threads)
      .def_rw("seed", &LaunchOptions::seed)
      .def_rw("instruction_limit", &LaunchOptions::instructionLimit);
  nb::class_<LaunchOutcome>(module, "LaunchOutcome")
      .def_ro("output", &LaunchOutcome::output)
      .def_ro("reports", &LaunchOutcome::reports)
      .def_ro("error", &LaunchOutcome::error)
      .def_ro("error_kind", &LaunchOutcome::errorKind)
      .def_ro("source_file", &LaunchOutcome::sourceFile)
      .def_ro("source_line", &LaunchOutcome::sourceLine);
  nb::class_<EmulatorKernel>(module, "EmulatorKernel")
      .def(nb::init<const std::string &, const std::string &,
                    const std::vector<std::string> &, unsigned, unsigned>())
      .def("launch", &EmulatorKernel::launch);
}
