//===- CudaTest.cpp - CUDA programs that nvcc compiled ---*- C++ -*-===//
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
#include <random>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

static float halfToFloat(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double v = exponent ? std::ldexp(1024 + mantissa, exponent - 25)
                      : std::ldexp(mantissa, -24);
  return h >> 15 ? -v : v;
}

/// Halves with eight bits of mantissa, so that sums of products are exact.
static std::vector<uint16_t> smallHalves(unsigned count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint16_t> values(count);
  for (uint16_t &v : values)
    v = (random() & 1) << 15 | (13 + random() % 3) << 10 | (random() & 7) << 7;
  return values;
}

TEST(Cuda, Softmax) {
  for (unsigned columns : {32u, 100u, 1000u}) {
    EmulatorOptions options;
    options.checkRaces = options.checkUninitialized = true;
    options.threads = 2;
    Runner runner(readInput("Inputs/kernels.ptx"), options);
    std::vector<float> in(4 * columns), out(4 * columns);
    std::mt19937 random(columns);
    std::normal_distribution<float> normal(0, 3);
    for (float &v : in)
      v = normal(random);
    runner.map(in).map(out).add(int(columns));
    LaunchResult result =
        runner.run("softmax", Dim3{4, 1, 1}, Dim3{128, 1, 1}, 16);
    for (const Report &report : result.reports)
      ADD_FAILURE() << report.str();
    for (unsigned row = 0; row < 4; ++row) {
      double sum = 0;
      for (unsigned i = 0; i < columns; ++i)
        sum += std::exp(double(in[row * columns + i]));
      for (unsigned i = 0; i < columns; ++i)
        ASSERT_NEAR(out[row * columns + i],
                    std::exp(double(in[row * columns + i])) / sum, 2e-6);
    }
  }
}

TEST(Cuda, Gemm) {
  const int m = 37, n = 50, k = 70;
  EmulatorOptions options;
  options.checkRaces = true;
  options.seed = 3;
  Runner runner(readInput("Inputs/kernels.ptx"), options);
  std::vector<uint16_t> a = smallHalves(m * k, 1), b = smallHalves(k * n, 2);
  std::vector<float> c(m * n);
  runner.map(a).map(b).map(c).add(m).add(n).add(k);
  LaunchResult result = runner.run("gemm", Dim3{4, 3, 1}, Dim3{16, 16, 1});
  for (const Report &report : result.reports)
    ADD_FAILURE() << report.str();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += double(halfToFloat(a[i * k + l])) * halfToFloat(b[l * n + j]);
      ASSERT_EQ(c[i * n + j], float(sum)) << i << ", " << j;
    }
}

TEST(Cuda, Histogram) {
  EmulatorOptions options;
  options.threads = 3;
  Runner runner(readInput("Inputs/kernels.ptx"), options);
  std::vector<uint8_t> in(10001);
  std::vector<uint32_t> bins(256), expected(256);
  std::mt19937 random(1);
  for (uint8_t &v : in)
    ++expected[v = random() % 200];
  runner.map(in).map(bins).add(int(in.size()));
  runner.run("histogram", Dim3{7, 1, 1}, Dim3{96, 1, 1});
  EXPECT_EQ(bins, expected);
}

TEST(Cuda, Functions) {
  Runner runner(readInput("Inputs/kernels.ptx"));
  std::vector<float> in(256), out(256 * 16);
  for (unsigned i = 0; i < 256; ++i)
    in[i] = (int(i) - 128) * 0.037f;
  runner.map(in).map(out);
  runner.run("functions", Dim3{4, 1, 1}, Dim3{64, 1, 1});
  for (unsigned i = 0; i < 256; ++i) {
    double x = in[i];
    float xf = in[i];
    const double expected[16] = {std::sin(x),
                                 std::cos(double(xf * 1e5f)),
                                 std::exp(x),
                                 std::log(double(std::fabs(xf) + 0.1f)),
                                 std::pow(std::fabs(x), 1.7f),
                                 std::erf(x),
                                 std::tanh(x),
                                 std::exp(x),
                                 std::sqrt(x * x + 1),
                                 std::cbrt(x),
                                 std::fmod(x, double(0.7f)),
                                 std::atan2(x, 2.0),
                                 x / 3 + 1 / (x + 10),
                                 1 / (x + 20),
                                 std::floor(x) + std::rint(x) +
                                     std::trunc(double(xf * 3)),
                                 std::lgamma(std::fabs(x) + 1)};
    for (unsigned j = 0; j < 16; ++j)
      ASSERT_NEAR(out[i * 16 + j], expected[j],
                  std::fabs(expected[j]) * 2e-6 + 1e-6)
          << "function " << j << " of " << x;
  }
}

TEST(Cuda, Integers) {
  Runner runner(readInput("Inputs/kernels.ptx"));
  const unsigned count = 128;
  std::vector<int64_t> in(2 * count), out(8 * count);
  std::mt19937_64 random(1);
  for (int64_t &v : in)
    v = int64_t(random()) >> (random() % 64);
  in[3] = 0;
  runner.map(in).map(out);
  runner.run("integers", Dim3{}, Dim3{count, 1, 1});
  for (unsigned i = 0; i < count; ++i) {
    int64_t a = in[2 * i], b = in[2 * i + 1];
    uint64_t ua = a, ub = b;
    unsigned __int128 wide = (unsigned __int128)ua * ub + 99;
    EXPECT_EQ(out[i * 8], b ? a / b : 0);
    EXPECT_EQ(out[i * 8 + 1], b ? a % b : 0);
    EXPECT_EQ(out[i * 8 + 2], b ? int64_t(ua / ub) : 0);
    EXPECT_EQ(out[i * 8 + 3],
              int64_t(uint64_t((unsigned __int128)ua * ub >> 64)));
    EXPECT_EQ(out[i * 8 + 4], __builtin_popcountll(ua) +
                                  (ub ? __builtin_clzll(ub) : 64) * 100 +
                                  __builtin_ffsll(a) * 10000);
    uint64_t reversed = 0;
    for (unsigned bit = 0; bit < 64; ++bit)
      reversed |= (ua >> bit & 1) << (63 - bit);
    // Bytes 0, 4, 1 and 5 of the pair (a, b).
    uint32_t la = a, lb = b;
    uint32_t permuted = (la & 255) | (lb & 255) << 8 | (la >> 8 & 255) << 16 |
                        (lb >> 8 & 255) << 24;
    EXPECT_EQ(out[i * 8 + 5], int64_t(reversed ^ uint64_t(permuted)));
    EXPECT_EQ(out[i * 8 + 6], int32_t(a) % 7 + int32_t(b) / 13);
    EXPECT_EQ(out[i * 8 + 7], int64_t(uint64_t(wide >> 64) + uint64_t(wide)));
  }
}

TEST(Cuda, NarrowFloats) {
  Runner runner(readInput("Inputs/kernels.ptx"));
  const unsigned count = 100;
  std::vector<float> in(count);
  std::vector<uint8_t> e4m3(count);
  std::vector<uint16_t> bf16(count);
  std::vector<uint32_t> half(count);
  for (unsigned i = 0; i < count; ++i)
    in[i] = (int(i) - 50) * 0.25f;
  runner.map(in).map(e4m3).map(bf16).map(half).add(int(count));
  runner.run("narrow", Dim3{}, Dim3{128, 1, 1});
  for (unsigned i = 0; i < count; ++i) {
    // Multiples of 1/4 up to 12.5 are exact in bf16 and half.
    float doubled = in[i] * 2;
    uint32_t bits;
    std::memcpy(&bits, &doubled, 4);
    EXPECT_EQ(bf16[i], bits >> 16);
    EXPECT_EQ(halfToFloat(half[i] & 0xFFFF), in[i] * 2 + 1);
    EXPECT_EQ(halfToFloat(half[i] >> 16), in[i] * 3 - 1);
    int exponent = e4m3[i] >> 3 & 15, mantissa = e4m3[i] & 7;
    double value = exponent ? std::ldexp(8 + mantissa, exponent - 10)
                            : std::ldexp(mantissa, -9);
    if (e4m3[i] >> 7)
      value = -value;
    // Half a unit in the last place of a four-bit significand.
    EXPECT_LE(std::fabs(value - in[i]), std::fabs(in[i]) / 16 + 1e-9) << in[i];
  }
}

TEST(Cuda, ControlFlow) {
  struct Packed {
    int offsets[4];
    double scale;
  } packed{{10, 20, 30, 40}, 0.5};
  Runner runner(readInput("Inputs/kernels.ptx"));
  std::vector<float> out(64);
  runner.map(out).add(packed);
  runner.run("control", Dim3{}, Dim3{64, 1, 1});
  const float ackermann[3] = {3, 4, 7};
  for (int i = 0; i < 64; ++i) {
    float expected = (i % 3 ? 1 : 3) * float(i * i) + ackermann[i % 3];
    int table[8];
    for (int j = 0; j < 8; ++j)
      table[(j * 3 + i) % 8] = j;
    switch (i % 6) {
    case 0:
      expected += 1;
      break;
    case 1:
      expected *= 2;
      break;
    case 2:
      expected -= table[i % 8];
      break;
    case 3:
      expected += packed.offsets[i % 4];
      break;
    case 4:
      expected *= 0.5f;
      break;
    default:
      break;
    }
    EXPECT_EQ(out[i], expected) << i;
  }
}

TEST(Cuda, SourceLines) {
  Runner runner(readInput("Inputs/kernels.ptx"));
  std::vector<float> in(32), out(16);
  runner.map(in).map(out);
  std::string error = runner.runToError("functions", Dim3{}, Dim3{32, 1, 1});
  EXPECT_NE(error.find("out of bounds: write of 4 bytes"), std::string::npos)
      << error;
  EXPECT_NE(error.find("from kernels.cu:"), std::string::npos) << error;
}
