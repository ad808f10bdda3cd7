//===- WmmaTest.cpp - wmma against a triple loop ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseKernels.h"
#include "WmmaFragments.h"
#include <cfenv>
#include <set>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

constexpr unsigned padBytes = 16;

/// A padded matrix in memory.
struct Stored {
  Type type;
  unsigned rows, columns;
  bool isColumn;
  const uint32_t *words;

  size_t stride() const {
    return (isColumn ? rows : columns) + padBytes * 8 / bitWidth(type);
  }
  double at(unsigned row, unsigned column) const {
    size_t index = isColumn ? column * stride() + row : row * stride() + column;
    return elementAt(type, words, index);
  }
  size_t bytes() const {
    return (isColumn ? columns : rows) * stride() * bitWidth(type) / 8;
  }
};

class WmmaKernels : public ::testing::TestWithParam<SparseKernel> {};

double accumulate(double x, double y, double sum, Type type,
                  const std::string &op) {
  if (op == "xor")
    return sum + (x != y);
  if (type != Type::F64)
    return sum + x * y;
  Rounding mode = op == "rz"   ? Rounding::Zero
                  : op == "rm" ? Rounding::Down
                  : op == "rp" ? Rounding::Up
                               : Rounding::NearestEven;
  return fmaRounded(x, y, sum, mode);
}

TEST_P(WmmaKernels, AgreesWithTripleLoop) {
  const SparseKernel &kernel = GetParam();
  std::string op = kernel.parts.size() > 11 ? kernel.parts[11] : "";
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<uint32_t> in = randomInputs(kernel, seed);
    std::vector<uint32_t> out = runSparseKernel(kernel, in);
    bool columnC = kernel.parts[9] == "col";
    Stored a{kernel.a, kernel.m, kernel.k, kernel.parts[7] == "col", in.data()},
        b{kernel.b, kernel.k, kernel.n, kernel.parts[8] == "col",
          in.data() + kernel.begin(1)},
        c{kernel.c, kernel.m, kernel.n, columnC, in.data() + kernel.begin(2)},
        d{kernel.d, kernel.m, kernel.n, columnC, out.data()};
    ASSERT_EQ(d.bytes(), out.size() * 4);
    for (unsigned i = 0; i < kernel.m; ++i)
      for (unsigned j = 0; j < kernel.n; ++j) {
        double sum = c.at(i, j);
        for (unsigned k = 0; k < kernel.k; ++k)
          sum = accumulate(a.at(i, k), b.at(k, j), sum, kernel.a, op);
        expectResult(kernel.d, sum, d.at(i, j), op == "satfinite",
                     std::to_string(i) + "," + std::to_string(j));
      }
    // What lies between the rows is not written.
    EXPECT_EQ(out.back(), 0xDEADBEEF);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WmmaKernels,
                         ::testing::ValuesIn(sparseKernels("wmma")),
                         [](const auto &info) { return info.param.name; });

/// The same without specials, in the checking modes: nothing is found.
TEST(Wmma, IsCleanInTheChecks) {
  EmulatorOptions options;
  options.checkRaces = true;
  options.checkUninitialized = true;
  Runner runner(sparseText(), options);
  for (const SparseKernel &kernel : sparseKernels("wmma")) {
    SCOPED_TRACE(kernel.name);
    std::vector<uint32_t> in = randomInputs(kernel, 1), out(kernel.outWords);
    runner.arguments = Arguments();
    runner.map(in).map(out).add(uint64_t(0)).add(uint64_t(0));
    runner.add(uint32_t(1)).add(uint32_t(0));
    auto result = runner.run(kernel.name, Dim3{1, 1, 1}, Dim3{32, 1, 1});
    EXPECT_TRUE(result.reports.empty());
    EXPECT_EQ(result.stats.matrixMacs, kernel.m * kernel.n * kernel.k);
  }
}

/// A kernel of two warps and shared memory; %w is the warp.
std::vector<Report> reportsOf(const std::string &body,
                              const std::string &end = "") {
  EmulatorOptions options;
  options.checkRaces = options.checkUninitialized = true;
  std::vector<uint32_t> out(1024);
  Runner runner(wrapBody("  .shared .align 32 .b8 data[2048];\n"
                         "  ld.param.u64 %d1, [out];\n"
                         "  mov.u32 %r20, data;\n  shr.u32 %r21, %t, 5;\n"
                         "  setp.eq.u32 %p0, %r21, 0;\n" +
                         body + end),
                options);
  runner.map(out);
  return runner.run("k", Dim3{1, 1, 1}, Dim3{64, 1, 1}).reports;
}

const std::string eightFloats = "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}";
const std::string storeTile =
    "@%p0 wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r20], " +
    eightFloats + ";\n";
const std::string loadTile =
    "@!%p0 wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " + eightFloats +
    ", [%r20];\n";

TEST(Wmma, RaceIsFound) {
  std::string set;
  for (int i = 0; i < 8; ++i)
    set += "mov.b32 %r" + std::to_string(i) + ", 0;\n";
  auto reports = reportsOf(set + storeTile + loadTile);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].kind, Report::Kind::Race);
  EXPECT_TRUE(reportsOf(set + storeTile + "bar.sync 0;\n" + loadTile).empty());
}

TEST(Wmma, UninitializedIsFound) {
  const std::string use = "st.global.u32 [%d1], %r3;\n";
  auto reports = reportsOf(loadTile, "@!%p0 " + use);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].kind, Report::Kind::Uninitialized);
  // A register of an accumulator that nobody wrote.
  reports = reportsOf("@%p0 wmma.store.d.sync.aligned.row.m16n16k16.global.f32"
                      " [%d1], " +
                      eightFloats + ";\n");
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].kind, Report::Kind::Uninitialized);
}

/// Every element has one place, and the layouts are those of sm_80.
TEST(WmmaFragments, CoverTheMatrix) {
  struct Case {
    MatrixShape shape;
    Type type, accumulator;
  };
  const Case cases[] = {
      {{16, 16, 16}, Type::F16, Type::F32}, {{8, 32, 16}, Type::F16, Type::F16},
      {{32, 8, 16}, Type::BF16, Type::F32}, {{8, 32, 16}, Type::S8, Type::S32},
      {{16, 16, 8}, Type::TF32, Type::F32}, {{8, 8, 4}, Type::F64, Type::F64},
      {{8, 8, 32}, Type::U4, Type::S32},    {{8, 8, 128}, Type::B1, Type::S32}};
  for (const Case &test : cases)
    for (WmmaOperand operand :
         {WmmaOperand::A, WmmaOperand::B, WmmaOperand::Accumulator}) {
      WmmaFragment fragment;
      ASSERT_TRUE(WmmaFragment::make(
          test.shape, operand,
          operand == WmmaOperand::Accumulator ? test.accumulator : test.type,
          fragment));
      std::set<std::pair<unsigned, unsigned>> seen;
      for (const MatrixCoordinate &at : fragment.places) {
        EXPECT_LT(at.row, fragment.rows);
        EXPECT_LT(at.column, fragment.columns);
        EXPECT_TRUE(seen.insert({at.row, at.column}).second);
      }
      EXPECT_EQ(seen.size(), fragment.rows * fragment.columns);
    }
}

/// Places that ptxas 13.0 loads for sm_90a.
TEST(WmmaFragments, AreThoseOfTheHardware) {
  WmmaFragment fragment;
  auto place = [&](unsigned reg, unsigned lane, unsigned element) {
    auto at = fragment.place(reg, lane, element);
    return std::make_pair(at.row, at.column);
  };
  using P = std::pair<unsigned, unsigned>;
  WmmaFragment::make({16, 16, 16}, WmmaOperand::A, Type::F16, fragment);
  EXPECT_EQ(fragment.registers, 8u);
  EXPECT_EQ(fragment.distinct, 4u);
  EXPECT_EQ(place(1, 5, 1), P(9, 3));
  EXPECT_EQ(place(2, 5, 0), P(1, 10));
  WmmaFragment::make({16, 16, 16}, WmmaOperand::B, Type::F16, fragment);
  EXPECT_EQ(place(1, 5, 0), P(10, 1));
  EXPECT_EQ(place(2, 5, 1), P(3, 9));
  WmmaFragment::make({8, 32, 16}, WmmaOperand::B, Type::F16, fragment);
  EXPECT_EQ(place(1, 5, 0), P(2, 9));
  EXPECT_EQ(place(2, 5, 0), P(10, 1));
  EXPECT_EQ(place(4, 5, 0), P(2, 17));
  WmmaFragment::make({8, 32, 16}, WmmaOperand::Accumulator, Type::F32,
                     fragment);
  EXPECT_EQ(place(1, 5, 0), P(3, 1));
  EXPECT_EQ(place(2, 5, 0), P(2, 9));
  WmmaFragment::make({32, 8, 16}, WmmaOperand::Accumulator, Type::S32,
                     fragment);
  EXPECT_EQ(place(4, 5, 0), P(17, 2));
}

//===----------------------------------------------------------------------===//
// nvcuda::wmma
//===----------------------------------------------------------------------===//

/// Runs a kernel of wmma.cu with all checks on.
template <typename A, typename C>
void runCuda(const std::string &kernel, std::vector<A> &a, std::vector<A> &b,
             std::vector<C> &c) {
  EmulatorOptions options;
  options.checkRaces = options.checkUninitialized = true;
  Runner runner(readInput("Inputs/wmma.ptx"), options);
  runner.map(a).map(b).map(c);
  LaunchResult result = runner.run(kernel, Dim3{1, 1, 1}, Dim3{32, 1, 1});
  for (const Report &report : result.reports)
    ADD_FAILURE() << report.str();
}

double smallInteger(std::mt19937 &random) { return int(random() % 15) - 7; }

TEST(CudaWmma, Gemm) {
  const int m = 32, n = 64, k = 48;
  std::mt19937 random(11);
  std::vector<uint16_t> a(m * k), b(k * n);
  std::vector<float> c(m * n), expected(m * n);
  for (uint16_t &v : a)
    v = floatToHalf(float(smallInteger(random)));
  for (uint16_t &v : b)
    v = floatToHalf(float(smallInteger(random)));
  for (int i = 0; i < m * n; ++i) {
    c[i] = float(smallInteger(random));
    double sum = 0;
    for (int l = 0; l < k; ++l)
      sum +=
          double(halfToFloat(a[i / n * k + l])) * halfToFloat(b[l * n + i % n]);
    expected[i] = float(0.5 * sum + 2 * c[i]);
  }
  EmulatorOptions options;
  options.checkRaces = options.checkUninitialized = true;
  Runner runner(readInput("Inputs/wmma.ptx"), options);
  runner.map(a).map(b).map(c).add(m).add(n).add(k).add(0.5f).add(2.0f);
  LaunchResult result = runner.run("gemm_half", Dim3{2, 2, 1}, Dim3{64, 1, 1});
  for (const Report &report : result.reports)
    ADD_FAILURE() << report.str();
  EXPECT_EQ(c, expected);
}

TEST(CudaWmma, BfloatThroughSharedMemory) {
  std::mt19937 random(12);
  std::vector<uint16_t> a(32 * 16), b(16 * 8);
  std::vector<float> c(32 * 8);
  for (auto *list : {&a, &b})
    for (uint16_t &v : *list)
      v = floatToBfloat(float(smallInteger(random)));
  runCuda("tile_bfloat", a, b, c);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 8; ++j) {
      double sum = 1;
      for (int l = 0; l < 16; ++l)
        sum +=
            double(bfloatToFloat(a[i * 16 + l])) * bfloatToFloat(b[j * 16 + l]);
      EXPECT_EQ(c[j * 32 + i], sum);
    }
}

TEST(CudaWmma, TF32) {
  std::mt19937 random(13);
  std::vector<float> a(16 * 8), b(8 * 16), c(16 * 16);
  for (auto *list : {&a, &b})
    for (float &v : *list)
      v = float(smallInteger(random)) + 0x1p-20f;
  runCuda("tile_tf32", a, b, c);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int l = 0; l < 8; ++l)
        sum += double(roundToTF32(a[i * 8 + l], Rounding::NearestAway)) *
               roundToTF32(b[j * 8 + l], Rounding::NearestAway);
      EXPECT_EQ(c[i * 16 + j], float(sum));
    }
}

TEST(CudaWmma, Double) {
  std::mt19937 random(14);
  std::normal_distribution<double> normal;
  std::vector<double> a(8 * 4), b(4 * 8), c(64);
  for (auto *list : {&a, &b})
    for (double &v : *list)
      v = normal(random);
  runCuda("tile_double", a, b, c);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      double sum = -1;
      for (int l = 0; l < 4; ++l)
        sum = std::fma(a[i * 4 + l], b[j * 4 + l], sum);
      EXPECT_EQ(c[i * 8 + j], sum);
    }
}

TEST(CudaWmma, Bytes) {
  std::mt19937 random(15);
  std::vector<int8_t> a(8 * 16), b(16 * 32);
  std::vector<int32_t> c(8 * 32);
  for (auto *list : {&a, &b})
    for (int8_t &v : *list)
      v = int8_t(random());
  runCuda("tile_bytes", a, b, c);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 32; ++j) {
      int sum = 5;
      for (int l = 0; l < 16; ++l)
        sum += a[i * 16 + l] * b[j * 16 + l];
      EXPECT_EQ(c[i * 32 + j], sum);
    }
}

TEST(CudaWmma, Bits) {
  std::mt19937 random(16);
  std::vector<uint32_t> a(8 * 4), b(8 * 4);
  std::vector<int32_t> c(64);
  for (auto *list : {&a, &b})
    for (uint32_t &v : *list)
      v = random();
  runCuda("tile_bits", a, b, c);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      int sum = 0;
      for (int l = 0; l < 4; ++l)
        sum += __builtin_popcount(a[i * 4 + l] & b[j * 4 + l]);
      EXPECT_EQ(c[i * 8 + j], sum);
    }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(WmmaErrors, AtLoad) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("test.ptx:"), std::string::npos) << error;
  };
  const std::string eight = "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}";
  expect("wmma.load.a.sync.aligned.row.m16n16k8.f16 " + eight + ", [%d0];",
         "wmma has no m16n16k8 of .f16");
  expect("wmma.load.a.sync.aligned.m16n16k16.f16 " + eight + ", [%d0];",
         "wmma needs a layout");
  expect("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0}, [%d0];",
         "operand 0 takes 8 registers here, found 1");
  expect("wmma.load.a.sync.aligned.row.m16n16k16.local.f16 " + eight +
             ", [%d0];",
         "unknown modifier '.local' of 'wmma'");
  expect("wmma.load.e.sync.aligned.row.m16n16k16.f16 " + eight + ", [%d0];",
         "wmma.load needs .a, .b or .c");
  expect("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%d0];",
         "A of elements smaller than a byte is .row, B is .col");
  expect("wmma.load.c.sync.aligned.row.m16n16k8.f16 {%r0}, [%d0];",
         "wmma has no m16n16k8 of .f16");
  expect("wmma.store.d.aligned.row.m8n8k32.s32 [%d0], {%r0,%r1};",
         "wmma needs .sync.aligned");
  expect("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 " + eight +
             ", {%r0,%r1}, {%r0,%r1}, " + eight + ";",
         "wmma.mma has no m16n16k16 of .s32.s8.u8.s32");
  expect("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite " + eight +
             ", " + eight + ", " + eight + ", " + eight + ";",
         "unknown modifier '.satfinite'");
  expect("wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r0,%r1}, "
         "{%r2}, {%r3}, {%r4,%r5};",
         "A of elements smaller than a byte");
  expect("wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0,%r1}, "
         "{%r2}, {%r3}, {%r4,%r5};",
         "needs .xor.popc or .and.popc");
}

std::string runBody(const std::string &body, size_t words = 1024) {
  std::vector<uint32_t> out(words);
  Runner runner(wrapBody("  ld.param.u64 %d1, [out];\n" + body));
  runner.map(out);
  return runner.runToError("k", Dim3{1, 1, 1}, Dim3{32, 1, 1});
}

TEST(WmmaErrors, AtRunTime) {
  auto expect = [](const std::string &error, const std::string &message) {
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("test.ptx:"), std::string::npos) << error;
  };
  const std::string load = "wmma.load.c.sync.aligned.row.m16n16k16.f32 "
                           "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, ";
  expect(runBody(load + "[%d1], 80;"), "out of bounds");
  expect(runBody(load + "[%d1+4];"), "is not a multiple of 16 bytes");
  expect(runBody(load + "[%d1], 17;"), "is not a multiple of 16 bytes");
  expect(runBody(load + "[%out];"), "different addresses or strides");
  expect(runBody(load + "[%d1], %t;"), "different addresses or strides");
  expect(runBody("setp.lt.u32 %p0, %t, 16;\n@%p0 " + load + "[%d1];"),
         "needs all 32 lanes");
}

} // namespace
