//===- AsyncTest.cpp - Asynchronous copies, mbarriers, clusters ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"
#include "FloatFormats.h"
#include "TileDialect/Emulator/TensorMap.h"
#include <cmath>
#include <random>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

uint64_t mapBuffer(Runner &runner, void *data, size_t bytes, const char *name) {
  auto address = runner.emulator.memory().map(data, bytes, name);
  if (address)
    return *address;
  ADD_FAILURE() << llvm::toString(address.takeError());
  return 0;
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// The values are those that an H200 gives.
TEST(Mbarrier, CountsStatesAndPhases) {
  std::vector<uint32_t> in(16), out(15);
  Runner runner(readInput("Inputs/async.ptx"));
  runner.map(in).map(out);
  runner.run("mbarrier_states", Dim3{1, 1, 1}, Dim3{1, 1, 1});
  EXPECT_EQ(out, (std::vector<uint32_t>{3, 2, 0, 0, 1, 1, 1, 1, 0, 3, 2, 1, 0,
                                        1, 2}));
}

std::string mbarrierError(const std::string &body) {
  std::vector<uint64_t> out(32);
  Runner runner(wrapBody(
      ".shared .align 8 .b64 bar[4];\n.reg .b32 %b;\nmov.u32 %b, bar;\n" +
      body));
  runner.map(out);
  return runner.runToError("k", Dim3{1, 1, 1}, Dim3{1, 1, 1});
}

TEST(Mbarrier, Misuse) {
  std::string init = "mbarrier.init.shared.b64 [%b], 2;\n";
  std::string error = mbarrierError("mbarrier.arrive.shared.b64 %d0, [%b];\n");
  EXPECT_TRUE(contains(error, "nobody has initialised it")) << error;
  error =
      mbarrierError(init + "mbarrier.arrive.shared::cta.b64 %d0, [%b], 3;\n");
  EXPECT_TRUE(contains(error, "which awaits only 2 of 2")) << error;
  error = mbarrierError(init + "st.shared.u64 [%b], 0;\n"
                               "mbarrier.arrive.shared.b64 %d0, [%b];\n");
  EXPECT_TRUE(contains(error, "something else wrote its memory")) << error;
  error = mbarrierError("mbarrier.init.shared.b64 [%b], 0;\n");
  EXPECT_TRUE(contains(error, "counts 1 to 1048575")) << error;
  error = mbarrierError(init + "mbarrier.arrive.noComplete.shared.b64 %d0, "
                               "[%b], 2;\n");
  EXPECT_TRUE(contains(error, ".noComplete completes the phase")) << error;
  error = mbarrierError(
      init + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 1048575;\n"
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 1;\n");
  EXPECT_TRUE(contains(error, "becomes 1048576")) << error;
  error = mbarrierError(init + "mbarrier.inval.shared.b64 [%b];\n"
                               "mbarrier.arrive.shared.b64 %d0, [%b];\n");
  EXPECT_TRUE(contains(error, "nobody has initialised it")) << error;
  error =
      mbarrierError(init + "mbarrier.arrive.shared.b64 %d0, [%b];\n" + init);
  EXPECT_TRUE(contains(error, "while a phase is under way")) << error;
  error = mbarrierError("mbarrier.init.shared.b64 [%b+4], 1;\n");
  EXPECT_TRUE(contains(error, "is not a multiple of 8")) << error;
  error =
      mbarrierError(init + "mov.u64 %d1, 5;\n"
                           "mbarrier.test_wait.shared.b64 %p0, [%b], %d1;\n");
  EXPECT_TRUE(contains(error, "comes from no mbarrier.arrive")) << error;
}

TEST(Mbarrier, DeadlockNamesItsState) {
  std::string error =
      mbarrierError("mbarrier.init.shared.b64 [%b], 2;\n"
                    "mbarrier.arrive.shared.b64 %d0, [%b];\n"
                    "again: mbarrier.try_wait.shared::cta.b64 %p0, [%b], %d0;\n"
                    "@!%p0 bra again;\n");
  EXPECT_TRUE(contains(error, "deadlock")) << error;
  EXPECT_TRUE(contains(error, "1 of 2 arrivals and 0 bytes are awaited"))
      << error;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

TEST(AsyncCopy, EveryForm) {
  std::vector<uint32_t> in(1024), out(640, 0);
  std::mt19937 random(3);
  for (uint32_t &word : in)
    word = random();
  std::vector<uint32_t> shared(640);
  auto *bytes = reinterpret_cast<uint8_t *>(shared.data());
  auto *from = reinterpret_cast<const uint8_t *>(in.data());
  for (unsigned t = 0; t < 32; ++t) {
    std::memcpy(bytes + 16 * t, from + 16 * t, t & 15);
    std::memcpy(bytes + 512 + 16 * t, from + 16 * t, 8);
    std::memcpy(bytes + 520 + 16 * t, from + 512 + 16 * t, 4);
    if (t % 2 == 0)
      std::memcpy(bytes + 1024 + 16 * t, from + 16 * t, 16);
    std::memcpy(bytes + 1536 + 16 * t, from + 1024 + 16 * t, 16);
  }
  std::memcpy(bytes + 2048, from + 1536, 512);
  std::vector<uint32_t> expected = shared;
  for (unsigned i = 0; i < 128; ++i) {
    expected[i] += shared[i];
    expected[128 + i] = std::max(int32_t(shared[128 + i]), int32_t(shared[i]));
  }
  for (uint64_t seed : {0, 1, 2}) {
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = seed != 0;
    std::fill(out.begin(), out.end(), 0);
    Runner runner(readInput("Inputs/async.ptx"), options);
    runner.map(in).map(out);
    LaunchResult result =
        runner.run("async_copies", Dim3{1, 1, 1}, Dim3{32, 1, 1});
    for (unsigned i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], expected[i]) << "word " << i;
    for (const Report &report : result.reports)
      ADD_FAILURE() << report.str();
  }
}

/// Every form that ptxas accepts for sm_90 decodes.
TEST(AsyncCopy, Syntax) {
  auto parsed = Module::parse(readInput("Inputs/async_syntax.ptx"), "test.ptx");
  if (!parsed)
    FAIL() << llvm::toString(parsed.takeError());
}

TEST(AsyncCopy, LoadErrors) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_TRUE(contains(error, message)) << error;
  };
  expect("cp.async.cg.shared.global [%r0], [%d0], 8;",
         "copies 4, 8 or 16 bytes (.cg: 16), found 8");
  expect("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
         "complete_tx::bytes [%r0], [%d0, {%r1, %r2, %r3}], [%r4];",
         "with 2 coordinates");
  expect("cp.async.bulk.shared::cluster.global.bulk_group [%r0], [%d0], 16;",
         "needs .mbarrier::complete_tx::bytes");
  expect("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b32 [%d0], "
         "[%r0], 16;",
         "combination of types");
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

struct MapShape {
  TensorDataType type = TensorDataType::Float16;
  std::vector<uint64_t> dim, stride;
  std::vector<uint32_t> box, step;
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorFill fill = TensorFill::Zero;
};

MapShape denseTensor(TensorDataType type, std::vector<uint64_t> dim,
                     std::vector<uint32_t> box,
                     TensorSwizzle swizzle = TensorSwizzle::None) {
  MapShape shape;
  shape.type = type;
  shape.dim = dim;
  shape.box = box;
  shape.swizzle = swizzle;
  shape.step.assign(dim.size(), 1);
  uint64_t stride = dim[0] * elementBytes(type);
  for (size_t i = 1; i < dim.size(); ++i) {
    shape.stride.push_back(stride);
    stride *= dim[i];
  }
  return shape;
}

llvm::Error encode(const MapShape &shape, uint64_t address,
                   std::vector<uint8_t> &bytes) {
  TensorMapArguments arguments;
  arguments.dataType = shape.type;
  arguments.globalAddress = address;
  arguments.globalDim = shape.dim;
  arguments.globalStrides = shape.stride;
  arguments.boxDim = shape.box;
  arguments.elementStrides = shape.step;
  arguments.swizzle = shape.swizzle;
  arguments.fill = shape.fill;
  bytes.assign(tensorMapBytes, 0);
  return encodeTensorMap(bytes.data(), arguments);
}

std::vector<uint8_t> mapFor(const MapShape &shape, uint64_t address) {
  std::vector<uint8_t> bytes;
  if (llvm::Error error = encode(shape, address, bytes))
    ADD_FAILURE() << llvm::toString(std::move(error));
  return bytes;
}

TEST(TensorMap, RefusesWhatTheDriverRefuses) {
  auto expect = [](auto change, const std::string &message) {
    MapShape shape = denseTensor(TensorDataType::Float16, {64, 32}, {64, 8},
                                 TensorSwizzle::Bytes128);
    uint64_t address = 4096;
    change(shape, address);
    std::vector<uint8_t> bytes;
    std::string error = llvm::toString(encode(shape, address, bytes));
    EXPECT_TRUE(contains(error, message)) << error;
  };
  expect([](MapShape &, uint64_t &) {}, "");
  expect([](MapShape &, uint64_t &address) { address += 8; },
         "the address must be a multiple of 16");
  expect([](MapShape &shape, uint64_t &) { shape.box[1] = 257; },
         "box extent 1 must be 1 to 256, found 257");
  expect([](MapShape &shape, uint64_t &) { shape.dim[1] = 0; },
         "extent 1 must be 1 to 2^32, found 0");
  expect([](MapShape &shape, uint64_t &) { shape.stride[0] = 120; },
         "stride 1 must be a multiple of 16 bytes");
  expect([](MapShape &shape, uint64_t &) { shape.step[1] = 9; },
         "element stride 1 must be 1 to 8, found 9");
  expect([](MapShape &shape, uint64_t &) { shape.box[0] = 72; },
         "has 144 bytes, more than the 128 of the swizzle");
  expect([](MapShape &shape, uint64_t &) { shape.box[0] = 4; },
         "must be a multiple of 16 bytes, found 8");
  expect(
      [](MapShape &shape, uint64_t &) {
        shape.type = TensorDataType::UInt16;
        shape.fill = TensorFill::NaN;
      },
      "can be NaN in floats only");
  expect([](MapShape &shape, uint64_t &) { shape.dim.clear(); },
         "the rank must be 1 to 5, found 0");
}

/// A launch of a kernel of tma.ptx.
std::string runTensorCopy(const std::string &kernel, const MapShape &shape,
                          std::vector<int32_t> at, std::vector<uint32_t> &in,
                          std::vector<uint32_t> &out, uint32_t bytes) {
  Runner runner(readInput("Inputs/tma.ptx"));
  uint64_t inAddress = mapBuffer(runner, in.data(), in.size() * 4, "in");
  uint64_t outAddress = mapBuffer(runner, out.data(), out.size() * 4, "out");
  bool isLoad = contains(kernel, "load");
  runner.arguments.addBytes(mapFor(shape, isLoad ? inAddress : outAddress));
  runner.add(inAddress).add(outAddress);
  at.resize(5);
  for (int32_t coordinate : at)
    runner.add(coordinate);
  runner.add(bytes);
  auto result = runner.tryRun(kernel, Dim3{1, 1, 1}, Dim3{128, 1, 1});
  return result ? "" : llvm::toString(result.takeError());
}

TEST(TensorCopy, LoadsAgreeWithLoops) {
  for (unsigned mode = 0; mode < 4; ++mode) {
    for (auto [x, y, z] :
         {std::array<int, 3>{8, 3, 1}, {-8, -2, 5}, {56, 7, -1}, {200, 0, 0}}) {
      unsigned row = mode == 1 ? 16 : mode == 2 ? 32 : 64;
      MapShape shape = denseTensor(TensorDataType::Float16, {64, 9, 6},
                                   {row, 4, 3}, TensorSwizzle(mode));
      std::vector<uint32_t> in(64 * 9 * 6 / 2), out(4096 + 128);
      std::mt19937 random(mode);
      for (uint32_t &word : in)
        word = random();
      ASSERT_EQ(runTensorCopy("tma_load_3d", shape, {x, y, z}, in, out,
                              row * 4 * 3 * 2),
                "");
      EXPECT_EQ(out[4096], 1u) << "the load has not completed";
      const auto *tensor = reinterpret_cast<const uint16_t *>(in.data());
      const auto *shared = reinterpret_cast<const uint16_t *>(out.data());
      for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 4; ++j)
          for (int i = 0; i < int(row); ++i) {
            bool inside = x + i >= 0 && x + i < 64 && y + j >= 0 && y + j < 9 &&
                          z + k >= 0 && z + k < 6;
            uint16_t want =
                inside ? tensor[((z + k) * 9 + y + j) * 64 + x + i] : 0;
            unsigned byte = ((k * 4 + j) * row + i) * 2;
            if (mode)
              byte ^= byte / 128 % (1u << mode) * 16;
            ASSERT_EQ(shared[byte / 2], want)
                << "swizzle " << mode << " at " << i << "," << j << "," << k;
          }
    }
  }
}

TEST(TensorCopy, StoresClipAndReduce) {
  for (const char *op : {"store", "add", "max", "xor"}) {
    MapShape shape = denseTensor(TensorDataType::UInt32, {40, 20}, {16, 8});
    std::vector<uint32_t> in(4096), out(800), before;
    std::mt19937 random(9);
    for (auto *list : {&in, &out})
      for (uint32_t &word : *list)
        word = random();
    before = out;
    ASSERT_EQ(runTensorCopy("tma_" + std::string(op) + "_2d", shape, {28, 15},
                            in, out, 0),
              "");
    for (unsigned y = 0; y < 20; ++y)
      for (unsigned x = 0; x < 40; ++x) {
        uint32_t old = before[y * 40 + x], want = old;
        if (x >= 28 && y >= 15) {
          uint32_t value = in[(y - 15) * 16 + x - 28];
          want = op[0] == 's'   ? value
                 : op[0] == 'a' ? old + value
                 : op[0] == 'm' ? std::max(old, value)
                                : old ^ value;
        }
        ASSERT_EQ(out[y * 40 + x], want) << op << " " << x << "," << y;
      }
  }
}

TEST(TensorCopy, Misuse) {
  MapShape shape = denseTensor(TensorDataType::UInt32, {40, 20}, {16, 8});
  std::vector<uint32_t> in(4096), out(4096 + 128);
  std::string error = runTensorCopy("tma_load_2d", shape, {1, 2}, in, out, 512);
  EXPECT_TRUE(contains(error, "which is not a multiple of 16 bytes")) << error;
  error = runTensorCopy("tma_store_2d", shape, {4, -1}, in, out, 512);
  EXPECT_TRUE(contains(error, "coordinate -1 of dimension 1")) << error;
  error = runTensorCopy("tma_load_3d", shape, {0, 0, 0}, in, out, 512);
  EXPECT_TRUE(contains(error, "the tensor map has rank 2")) << error;
  std::vector<uint32_t> small(40 * 19);
  error = runTensorCopy("tma_load_2d", shape, {0, 12}, small, out, 512);
  EXPECT_TRUE(contains(error, "out of bounds")) << error;
  shape.type = TensorDataType::Float32;
  error = runTensorCopy("tma_xor_2d", shape, {0, 0}, in, out, 512);
  EXPECT_TRUE(contains(error, "not defined for the tensor's type")) << error;
}

//===----------------------------------------------------------------------===//
// Matrix products of whole kernels
//===----------------------------------------------------------------------===//

struct Product {
  unsigned m = 256, n = 256, k = 512;
  std::vector<uint16_t> a, b;
  std::vector<float> expected;

  /// `transposed`: B is n x k.
  explicit Product(bool transposed) {
    std::mt19937 random(1);
    a.resize(m * k);
    b.resize(k * n);
    for (auto *list : {&a, &b})
      for (uint16_t &value : *list)
        value = floatToHalf(float(int(random() % 17) - 8) / 8);
    expected.resize(m * n);
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < n; ++j) {
        float sum = 0;
        for (unsigned l = 0; l < k; ++l)
          sum += halfToFloat(a[i * k + l]) *
                 halfToFloat(transposed ? b[j * k + l] : b[l * n + j]);
        expected[i * n + j] = sum;
      }
  }
};

constexpr uint32_t mmaSharedBytes = 3 * (128 * 32 + 32 * 128) * 2;

TEST(Gemm, MmaWithAsyncCopies) {
  Product product(false);
  for (uint64_t seed : {0, 1}) {
    std::vector<float> c(product.m * product.n);
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = seed != 0;
    Runner runner(readInput("Inputs/gemm_mma.ptx"), options);
    runner.map(product.a).map(product.b).map(c).add(product.n).add(product.k);
    LaunchResult result =
        runner.run("gemm", Dim3{2, 2, 1}, Dim3{128, 1, 1}, mmaSharedBytes);
    EXPECT_EQ(c, product.expected);
    for (const Report &report : result.reports)
      ADD_FAILURE() << report.str();
  }
}

TEST(Gemm, MmaMissingWait) {
  Product product(false);
  std::vector<float> c(product.m * product.n);
  EmulatorOptions options;
  options.checkRaces = true;
  Runner runner(readInput("Inputs/gemm_mma.ptx"), options);
  runner.map(product.a).map(product.b).map(c).add(product.n).add(product.k);
  LaunchResult result = runner.run("gemm_no_wait", Dim3{2, 2, 1},
                                   Dim3{128, 1, 1}, mmaSharedBytes);
  // What was not awaited was not there.
  EXPECT_NE(c, product.expected);
  bool found = false;
  for (const Report &report : result.reports)
    found |= contains(report.str(), "an asynchronous operation in flight") &&
             contains(report.str(), "ldmatrix");
  EXPECT_TRUE(found);
}

/// Runs a kernel of gemm_wgmma.ptx; the reports as text, or the error.
std::string runWgmmaGemm(const std::string &kernel, const Product &product,
                         std::vector<uint16_t> &c, EmulatorOptions options) {
  Runner runner(readInput("Inputs/gemm_wgmma.ptx"), options);
  auto add = [&](void *data, uint64_t columns, uint64_t rows, unsigned width,
                 unsigned height, TensorSwizzle swizzle) {
    uint64_t address = mapBuffer(runner, data, columns * rows * 2, "tensor");
    runner.arguments.addBytes(
        mapFor(denseTensor(TensorDataType::Float16, {columns, rows},
                           {width, height}, swizzle),
               address));
  };
  c.assign(product.m * product.n, 0);
  add(const_cast<uint16_t *>(product.a.data()), product.k, product.m, 64, 128,
      TensorSwizzle::Bytes128);
  add(const_cast<uint16_t *>(product.b.data()), product.k, product.n, 64, 128,
      TensorSwizzle::Bytes128);
  add(c.data(), product.n, product.m, 128, 128, TensorSwizzle::None);
  runner.add(product.k);
  uint32_t shared = 3 * 2 * 128 * 64 * 2 + 128 * 128 * 2 + 48;
  auto result = runner.tryRun(kernel, Dim3{product.n / 128, product.m / 128, 1},
                              Dim3{384, 1, 1}, shared);
  if (!result)
    return llvm::toString(result.takeError());
  std::string text;
  for (const Report &report : result->reports)
    text += report.str() + "\n";
  return text;
}

std::vector<uint16_t> halves(const std::vector<float> &values) {
  std::vector<uint16_t> result;
  for (float value : values)
    result.push_back(floatToHalf(value));
  return result;
}

TEST(Gemm, WgmmaWithTensorCopies) {
  Product product(true);
  std::vector<uint16_t> c, expected = halves(product.expected);
  for (uint64_t seed : {0, 1, 2}) {
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = seed != 0;
    EXPECT_EQ(runWgmmaGemm("gemm", product, c, options), "");
    EXPECT_EQ(c, expected) << "seed " << seed;
  }
}

/// Each planted mistake is found, whatever the schedule is.
TEST(Gemm, WgmmaMistakes) {
  Product product(true);
  std::vector<uint16_t> c;
  for (uint64_t seed : {0, 1, 2, 3}) {
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = true;
    std::string text = runWgmmaGemm("gemm_early_release", product, c, options);
    EXPECT_TRUE(contains(text, "race")) << seed << text;
    // Without that wait, buffers are also released before they are filled.
    text = runWgmmaGemm("gemm_no_full_wait", product, c, options);
    EXPECT_TRUE(contains(text, "race") || contains(text, "deadlock") ||
                contains(text, "which awaits only 0 of 1"))
        << seed << text;
    text = runWgmmaGemm("gemm_no_proxy_fence", product, c, options);
    EXPECT_TRUE(contains(text, "without a fence.proxy.async between"))
        << seed << text;
    text = runWgmmaGemm("gemm_no_wgmma_wait", product, c, options);
    EXPECT_TRUE(contains(text, "wgmma.wait_group must come first"))
        << seed << text;
    text = runWgmmaGemm("gemm_lost_arrival", product, c, options);
    EXPECT_TRUE(contains(text, "deadlock")) << seed << text;
    EXPECT_TRUE(contains(text, "arrivals and 0 bytes are awaited"))
        << seed << text;
  }
}

//===----------------------------------------------------------------------===//
// Checks of what is in flight
//===----------------------------------------------------------------------===//

/// The reports of a body (see wrapBody) as text, in the `race` mode.
std::string raceReports(const std::string &body, unsigned threads) {
  EmulatorOptions options;
  options.checkRaces = true;
  std::vector<uint64_t> out(4096);
  Runner runner(wrapBody(".shared .align 1024 .b8 data[8192];\n"
                         ".reg .b32 %s;\nmov.u32 %s, data;\n" +
                         body),
                options);
  runner.map(out);
  auto result = runner.tryRun("k", Dim3{1, 1, 1}, Dim3{threads, 1, 1});
  if (!result)
    return llvm::toString(result.takeError());
  std::string text;
  for (const Report &report : result->reports)
    text += report.str() + "\n";
  return text;
}

const char *const multiplyOnce =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%f0, %f1, %f2, %f3}, %d0, %d1, 1, 1, 1, 0, 0;\n";
const char *const commitAndWait = "wgmma.commit_group.sync.aligned;\n"
                                  "wgmma.wait_group.sync.aligned 0;\n";

/// Descriptors of an operand at the beginning of `data`, which is filled.
std::string wgmmaBody(const std::string &rest) {
  return "mad.lo.u32 %r0, %t, 4, %s;\n"
         "st.shared.u32 [%r0], 0; st.shared.u32 [%r0+512], 0;\n"
         "st.shared.u32 [%r0+1024], 0; st.shared.u32 [%r0+1536], 0;\n"
         "fence.proxy.async;\nbar.sync 0;\n"
         "shr.u32 %r1, %s, 4;\ncvt.u64.u32 %d0, %r1;\n"
         "or.b64 %d0, %d0, 0x800400000;\nmov.b64 %d1, %d0;\n"
         "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0;\n"
         "mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n" +
         rest;
}

TEST(InFlight, WgmmaFence) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string store = "st.global.f32 [%out], %f3;\n";
  EXPECT_EQ(raceReports(wgmmaBody(fence + multiplyOnce + multiplyOnce +
                                  commitAndWait + store),
                        128),
            "");
  std::string text =
      raceReports(wgmmaBody(multiplyOnce + std::string(commitAndWait)), 128);
  EXPECT_TRUE(contains(text, "without a wgmma.fence between")) << text;
  text =
      raceReports(wgmmaBody(fence + multiplyOnce + store + commitAndWait), 128);
  EXPECT_TRUE(contains(text, "wgmma.wait_group must come first")) << text;
  text = raceReports(wgmmaBody(fence + multiplyOnce +
                               "st.shared.u32 [%r0], 1;\n" + commitAndWait),
                     128);
  EXPECT_TRUE(contains(text, "in flight reads")) << text;
}

TEST(InFlight, WgmmaOfPartOfAWarpgroup) {
  std::string text = raceReports(
      wgmmaBody("wgmma.fence.sync.aligned;\nsetp.gt.u32 %p0, %t, 31;\n"
                "@%p0 bra done;\n" +
                std::string(multiplyOnce) + commitAndWait + "done:\n"),
      128);
  EXPECT_TRUE(contains(text, "deadlock")) << text;
}

TEST(InFlight, SourceOfABulkStore) {
  auto body = [](const std::string &wait) {
    return "mad.lo.u32 %r0, %t, 16, %s;\n"
           "st.shared.u32 [%r0], %t;\nfence.proxy.async;\nbar.sync 0;\n"
           "setp.eq.u32 %p0, %t, 0;\n"
           "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], "
           "512;\n"
           "@%p0 cp.async.bulk.commit_group;\n" +
           wait + "bar.sync 0;\nst.shared.u32 [%r0], 7;\n" +
           "@%p0 cp.async.bulk.wait_group 0;\n";
  };
  EXPECT_EQ(raceReports(body("@%p0 cp.async.bulk.wait_group.read 0;\n"), 32),
            "");
  std::string text = raceReports(body(""), 32);
  EXPECT_TRUE(contains(text, "in flight reads")) << text;
}

TEST(InFlight, FenceOfOneThreadOnly) {
  auto body = [](const std::string &guard) {
    return "mad.lo.u32 %r0, %t, 16, %s;\nsetp.eq.u32 %p0, %t, 0;\n"
           "st.shared.u32 [%r0], %t;\n" +
           guard +
           "fence.proxy.async;\nbar.sync 0;\n"
           "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], "
           "512;\n"
           "@%p0 cp.async.bulk.commit_group;\n"
           "@%p0 cp.async.bulk.wait_group 0;\n";
  };
  EXPECT_EQ(raceReports(body(""), 32), "");
  std::string text = raceReports(body("@%p0 "), 32);
  EXPECT_TRUE(contains(text, "without a fence.proxy.async between")) << text;
}

TEST(InFlight, AsyncCopyReadEarly) {
  auto body = [](const std::string &wait) {
    return "mad.lo.u32 %r0, %t, 16, %s;\n"
           "and.b64 %d0, %out, -16;\n"
           "cp.async.cg.shared.global [%r0], [%d0], 16;\n"
           "cp.async.commit_group;\n" +
           wait + "ld.shared.u32 %r1, [%r0];\nadd.u32 %r1, %r1, 1;\n" +
           "cp.async.wait_all;\n";
  };
  EXPECT_EQ(raceReports(body("cp.async.wait_group 0;\n"), 32), "");
  std::string text = raceReports(body(""), 32);
  EXPECT_TRUE(contains(text, "in flight writes")) << text;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

TEST(Clusters, Multicast) {
  for (uint64_t seed : {0, 1, 2}) {
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = seed != 0;
    std::vector<int> tensor(256), out(2 * 4 * 256), ranks(8);
    for (int i = 0; i < 256; ++i)
      tensor[i] = i * 3;
    Runner runner(readInput("Inputs/cluster.ptx"), options);
    uint64_t address = mapBuffer(runner, tensor.data(), 1024, "tensor");
    runner.arguments.addBytes(
        mapFor(denseTensor(TensorDataType::Int32, {64, 4}, {64, 1}), address));
    runner.map(out).map(ranks);
    LaunchResult result =
        runner.run("multicast", Dim3{8, 1, 1}, Dim3{32, 1, 1});
    for (int block = 0; block < 8; ++block) {
      EXPECT_EQ(ranks[block], block % 4);
      for (int i = 0; i < 256; ++i)
        ASSERT_EQ(out[block * 256 + i], i * 3) << block << " " << i;
    }
    for (const Report &report : result.reports)
      ADD_FAILURE() << report.str();
  }
}

TEST(Clusters, Ring) {
  for (uint64_t seed : {0, 1, 2}) {
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = seed != 0;
    std::vector<int> in(8 * 128), out(8 * 160);
    for (unsigned i = 0; i < in.size(); ++i)
      in[i] = i * 7;
    Runner runner(readInput("Inputs/cluster.ptx"), options);
    runner.map(in).map(out);
    LaunchResult result = runner.run("ring", Dim3{8, 1, 1}, Dim3{32, 1, 1});
    for (int block = 0; block < 8; ++block) {
      int before = block / 4 * 4 + (block + 3) % 4;
      for (int i = 0; i < 128; ++i)
        ASSERT_EQ(out[block * 160 + i], in[before * 128 + i]);
      for (int t = 0; t < 32; ++t)
        ASSERT_EQ(out[block * 160 + 128 + t], before % 4 * 1000 + t);
    }
    for (const Report &report : result.reports)
      ADD_FAILURE() << report.str();
  }
}

TEST(Clusters, DistributedSharedMemory) {
  for (uint64_t seed : {0, 1, 2}) {
    EmulatorOptions options;
    options.seed = seed;
    options.checkRaces = seed != 0;
    std::vector<int> out(8 * 33, -1);
    Runner runner(readInput("Inputs/cluster.ptx"), options);
    runner.map(out);
    LaunchResult result =
        runner.run("distributed", Dim3{4, 2, 1}, Dim3{32, 1, 1});
    for (int block = 0; block < 8; ++block) {
      int rank = block % 4 % 2 + block / 4 * 2;
      for (int t = 0; t < 32; ++t)
        ASSERT_EQ(out[block * 33 + t], (rank + 1) % 4 * 100 + 31 - t);
      if (rank == 0)
        EXPECT_EQ(out[block * 33 + 32], 4 * 31 * 16 + 32 * 600);
    }
    for (const Report &report : result.reports)
      ADD_FAILURE() << report.str();
  }
}

} // namespace
