//===- Emulator.h - Runs the kernels of PTX modules on the CPU ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_EMULATOR_EMULATOR_H
#define TILEDIALECT_EMULATOR_EMULATOR_H

#include "TileDialect/Emulator/Memory.h"
#include "TileDialect/Emulator/Module.h"
#include "TileDialect/Emulator/Report.h"
#include "TileDialect/Emulator/Stats.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tile_dialect::emulator {

/// How kernels are run and what is checked.  That every global access lies in
/// an allocation and every shared access in the block's window is checked
/// always, as is deadlock.
struct EmulatorOptions {
  /// Report reads of values that nobody wrote.
  bool checkUninitialized = false;
  /// Report conflicting accesses that no synchronisation orders.
  bool checkRaces = false;
  /// Go on after a finding of the checks, up to this many reports.
  unsigned maximalReports = 20;
  /// Count what Stats names.
  bool collectStats = false;
  /// Non-zero: warps run in a pseudo-random order and are preempted at random,
  /// the same for the same seed.
  uint64_t seed = 0;
  /// Host threads, at most 256; zero takes as many as the machine has cores.
  unsigned threads = 0;
  /// A launch that executes more warp instructions than this is stopped with
  /// an error; zero sets no limit.
  uint64_t instructionLimit = 0;
  /// Asked some 20 times a second, from the thread that called `launch` and
  /// from no other: true stops the launch with an error of the kind
  /// Interrupted.
  std::function<bool()> isInterrupted;
  /// Shared memory of a block in bytes; the default is that of sm_90.
  uint32_t maximalSharedBytes = 232448;
  /// Bytes of the heap that device-side malloc takes from; the default is
  /// CUDA's.
  uint64_t heapBytes = 8 << 20;
  /// What `%smid` and occupancy-like decisions see.
  unsigned multiprocessors = 132;
  /// Where vprintf writes; null means standard output.
  llvm::raw_ostream *output = nullptr;
};

/// The bytes of a kernel's arguments, one entry each.
class Arguments {
public:
  template <typename T> Arguments &add(const T &value) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    values.emplace_back(bytes, bytes + sizeof(T));
    return *this;
  }
  Arguments &addBytes(llvm::ArrayRef<uint8_t> bytes) {
    values.emplace_back(bytes.begin(), bytes.end());
    return *this;
  }
  const std::vector<std::vector<uint8_t>> &get() const { return values; }

private:
  std::vector<std::vector<uint8_t>> values;
};

/// One kernel launch.
struct Launch {
  std::string kernel;
  Dim3 grid, block;
  /// Blocks of a cluster; the default takes `.reqnctapercluster` or 1x1x1.
  Dim3 cluster{0, 0, 0};
  uint32_t dynamicSharedBytes = 0;
  Arguments arguments;
};

/// What a launch that ran to its end leaves.
struct LaunchResult {
  Stats stats;
  /// Findings of the checks that do not stop a kernel (races, uninitialised
  /// reads).
  std::vector<Report> reports;
};

/// A device: memory and the modules that are loaded into it.
class Emulator {
public:
  explicit Emulator(EmulatorOptions options = {});
  ~Emulator();

  Memory &memory() { return globalMemory; }
  const EmulatorOptions &options() const { return config; }
  EmulatorOptions &options() { return config; }

  /// Allocates and initialises the `.global` and `.const` variables of a
  /// module.  `launch` does it where it was not done.
  llvm::Error load(const Module &module);
  /// The device address of a module's variable, zero where there is none.
  uint64_t symbolAddress(const Module &module, llvm::StringRef name);
  /// Forgets a module; must be called before the module dies if the emulator
  /// outlives it.
  void unload(const Module &module);

  /// Runs a kernel to its end.  The error, a ReportError, tells of a launch
  /// that does not fit or of what stopped the kernel.
  llvm::Expected<LaunchResult> launch(const Module &module,
                                      const Launch &launch);

private:
  struct Loaded;

  EmulatorOptions config;
  Memory globalMemory;
  llvm::DenseMap<const Module *, std::unique_ptr<Loaded>> loaded;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_EMULATOR_EMULATOR_H
