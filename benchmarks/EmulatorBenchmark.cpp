//===- EmulatorBenchmark.cpp - Times kernels in the PTX emulator ----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: EmulatorBenchmark INPUTS add|mma|wgmma SIZE MODE THREADS
//
// Runs one kernel once and prints a line of JSON: seconds of the launch, and of
// the processors in it, bytes of its buffers, and the most memory that the
// process had before and after. INPUTS is test/Emulator/Inputs; MODE is `none`,
// or of `race`, `uninit` and `stats` with commas between.
// benchmarks/emulator.py makes a table of it.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/Emulator.h"
#include "TileDialect/Emulator/TensorMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <sys/resource.h>

using namespace tile_dialect::emulator;

static llvm::ExitOnError check("EmulatorBenchmark: ");

static const char *const vectorAdd = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %d<5>;
  .reg .f32 %f<4>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r1, [n];
  setp.ge.u32 %p, %r4, %r1;
  @%p bra DONE;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [b];
  ld.param.u64 %d3, [c];
  mul.wide.u32 %d4, %r4, 4;
  add.u64 %d1, %d1, %d4;
  add.u64 %d2, %d2, %d4;
  add.u64 %d3, %d3, %d4;
  ld.global.f32 %f1, [%d1];
  ld.global.f32 %f2, [%d2];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%d3], %f3;
DONE:
  ret;
}
)";

namespace {
struct Benchmark {
  Emulator emulator;
  Launch launch;
  std::string text;
  uint64_t bytes = 0;

  /// A buffer whose pages are all in memory.
  uint64_t buffer(uint64_t size) {
    uint64_t address = check(emulator.memory().allocate(size, "buffer"));
    std::memset(emulator.memory().hostPointer(address, size), 0, size);
    bytes += size;
    return address;
  }

  void add(uint32_t n) {
    text = vectorAdd;
    launch.kernel = "add";
    launch.grid.x = (n + 255) / 256;
    launch.block.x = 256;
    for (int i = 0; i < 3; ++i)
      launch.arguments.add(buffer(uint64_t(n) * 4));
    launch.arguments.add(n);
  }

  void mma(const std::string &inputs, uint32_t n) {
    text = read(inputs + "/gemm_mma.ptx");
    launch.kernel = "gemm";
    launch.grid = Dim3{n / 128, n / 128, 1};
    launch.block.x = 128;
    launch.dynamicSharedBytes = 3 * (128 * 32 + 32 * 128) * 2;
    launch.arguments.add(buffer(uint64_t(n) * n * 2));
    launch.arguments.add(buffer(uint64_t(n) * n * 2));
    launch.arguments.add(buffer(uint64_t(n) * n * 4));
    launch.arguments.add(n).add(n);
  }

  void wgmma(const std::string &inputs, uint32_t n) {
    text = read(inputs + "/gemm_wgmma.ptx");
    launch.kernel = "gemm";
    launch.grid = Dim3{n / 128, n / 128, 1};
    launch.block.x = 384;
    launch.dynamicSharedBytes = 3 * 2 * 128 * 64 * 2 + 128 * 128 * 2 + 48;
    map(n, 64, TensorSwizzle::Bytes128);
    map(n, 64, TensorSwizzle::Bytes128);
    map(n, 128, TensorSwizzle::None);
    launch.arguments.add(n);
  }

private:
  static std::string read(const std::string &path) {
    return check(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)))
        ->getBuffer()
        .str();
  }

  /// The tensor map of a square matrix of f16.
  void map(uint32_t n, uint32_t width, TensorSwizzle swizzle) {
    const uint64_t extents[] = {n, n}, strides[] = {uint64_t(n) * 2};
    const uint32_t box[] = {width, 128}, steps[] = {1, 1};
    TensorMapArguments arguments;
    arguments.dataType = TensorDataType::Float16;
    arguments.globalAddress = buffer(uint64_t(n) * n * 2);
    arguments.globalDim = extents;
    arguments.globalStrides = strides;
    arguments.boxDim = box;
    arguments.elementStrides = steps;
    arguments.swizzle = swizzle;
    std::vector<uint8_t> encoded(tensorMapBytes);
    check(encodeTensorMap(encoded.data(), arguments));
    launch.arguments.addBytes(encoded);
  }
};
} // namespace

/// The most resident memory so far.
static uint64_t peakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

/// Seconds that all threads have computed so far.
static double cpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) {
    return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int main(int argc, char **argv) {
  if (argc != 6) {
    llvm::errs() << "usage: EmulatorBenchmark INPUTS add|mma|wgmma SIZE MODE "
                    "THREADS\n";
    return 1;
  }
  std::string inputs = argv[1];
  llvm::StringRef name = argv[2], mode = argv[4];
  uint32_t size, threads;
  if (llvm::StringRef(argv[3]).getAsInteger(0, size) ||
      llvm::StringRef(argv[5]).getAsInteger(0, threads)) {
    llvm::errs() << "EmulatorBenchmark: SIZE and THREADS are numbers\n";
    return 1;
  }
  Benchmark benchmark;
  EmulatorOptions &options = benchmark.emulator.options();
  options.checkRaces = mode.contains("race");
  options.checkUninitialized = mode.contains("uninit");
  options.collectStats = mode.contains("stats");
  options.threads = threads;
  if (name == "add")
    benchmark.add(size);
  else if (name == "mma")
    benchmark.mma(inputs, size);
  else if (name == "wgmma")
    benchmark.wgmma(inputs, size);
  else {
    llvm::errs() << "EmulatorBenchmark: unknown kernel '" << name << "'\n";
    return 1;
  }
  auto module = check(Module::parse(benchmark.text, "benchmark.ptx"));
  uint64_t before = peakBytes();
  double cpu = cpuSeconds();
  auto start = std::chrono::steady_clock::now();
  LaunchResult result =
      check(benchmark.emulator.launch(*module, benchmark.launch));
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  cpu = cpuSeconds() - cpu;
  for (const Report &report : result.reports)
    llvm::errs() << report.str() << '\n';
  llvm::outs() << "{\"seconds\": " << seconds.count() << ", \"cpu\": " << cpu
               << ", \"buffers\": " << benchmark.bytes
               << ", \"before\": " << before << ", \"peak\": " << peakBytes()
               << "}\n";
  return result.reports.empty() ? 0 : 2;
}
