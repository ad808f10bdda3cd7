//===- Differential.h - The devices that are compared ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator and a GPU behind one interface, the file of results, and the
// pseudo-random inputs.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TEST_EMULATOR_INPUTS_DIFFERENTIAL_H
#define TILEDIALECT_TEST_EMULATOR_INPUTS_DIFFERENTIAL_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace differential {

using Words = std::vector<uint32_t>;
using Bytes = std::vector<uint8_t>;

[[noreturn]] void die(const std::string &message);
std::string readFile(const std::string &path);
std::vector<std::string> split(const std::string &text, char separator);

template <typename T> Bytes bytesOf(const T &value) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  return Bytes(bytes, bytes + sizeof(T));
}

/// The arguments of cuTensorMapEncodeTiled with its enumerations as numbers.
struct MapShape {
  int type = 6, swizzle = 0, fill = 0;
  std::vector<uint64_t> dim, stride;
  std::vector<uint32_t> box, step;
};

/// A launch. Clusters are what the kernel itself says.
struct Shape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
};

/// The emulator, or a GPU. Two buffers of 16 MiB, `in` and `out`, serve all
/// kernels.
class Device {
public:
  static constexpr size_t capacity = 1 << 24;

  Device();
  ~Device();

  /// Makes a PTX module the one that kernels are taken from.
  void loadText(const std::string &text);
  uint64_t inAddress() const { return in; }
  uint64_t outAddress() const { return out; }
  /// False if the encoding is refused.
  bool makeMap(const MapShape &shape, uint64_t address, uint8_t *bytes);
  void write(uint64_t address, const void *data, size_t bytes);
  void read(uint64_t address, void *data, size_t bytes);
  /// Runs a kernel to its end; the error, or nothing. After an error of a GPU
  /// the process can do nothing more with it.
  std::string launch(const std::string &kernel, const Shape &shape,
                     const std::vector<Bytes> &arguments);
  /// Runs one block; `outWords` is read and written.
  std::string run(const std::string &kernel, unsigned threads,
                  const Words &inWords, Words &outWords,
                  const std::vector<Bytes> &arguments);
  /// What the launches of `work` print.
  std::string captured(const std::function<void()> &work);

private:
  struct State;
  std::unique_ptr<State> state;
  uint64_t in = 0, out = 0;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed * 2654435769u + 12345) {}
  uint32_t next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 32);
  }

private:
  uint64_t state;
};

/// Writes named results. A kernel that a GPU stops is noted in "PATH.failed"
/// and ends the process with status 3; a run that finds it noted skips it.
class Recorder {
public:
  Recorder(Device &device, const std::string &path);

  /// Runs a kernel with one block and writes its results.
  void record(const std::string &name, const std::string &kernel,
              unsigned threads, const Words &in, size_t outWords,
              const std::vector<Bytes> &arguments, Words out = {});
  void write(const std::string &name, const Words &words);
  bool skips(const std::string &name) const { return skipped.count(name); }
  /// Reports the error of a kernel, if it is one.
  void check(const std::string &name, const std::string &error);
  int failures = 0;

private:
  Device &device;
  std::string path;
  std::ofstream file;
  std::set<std::string> skipped;
};

/// The CUDA programs, with the results that are expected of them.
void runPrograms(Device &device, Recorder &recorder, const std::string &where);
/// A kernel that an assertion stops.
void runAssert(Device &device, Recorder &recorder, const std::string &where);
/// The kernels of sparse.ptx: sparse and other less frequent tensor-core forms.
void runSparse(Device &device, Recorder &recorder, const std::string &text);
/// The kernels of a manifest that generate_scalar_ptx.py wrote to `where`.
void runScalar(Device &device, Recorder &recorder, const std::string &where);

} // namespace differential

#endif // TILEDIALECT_TEST_EMULATOR_INPUTS_DIFFERENTIAL_H
