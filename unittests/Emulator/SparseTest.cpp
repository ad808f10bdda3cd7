//===- SparseTest.cpp - Sparse matrices and mma.m8n8k4 ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixDescriptor.h"
#include "MatrixFragments.h"
#include "SparseKernels.h"
#include <functional>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

std::string nameOf(const ::testing::TestParamInfo<SparseKernel> &info) {
  return info.param.name;
}

/// Registers of 32 of the threads of a kernel.
struct Registers {
  const uint32_t *words;
  unsigned threads = 32, first = 0;
  /// Element `e` of register `r` of a lane.
  double at(Type type, unsigned r, unsigned lane, unsigned e) const {
    return elementAt(type, words + r * threads + first + lane, e);
  }
  uint32_t word(unsigned r, unsigned lane) const {
    return words[r * threads + first + lane];
  }
};

using Matrix = std::vector<std::vector<double>>;

Matrix makeMatrix(unsigned rows, unsigned columns) {
  return Matrix(rows, std::vector<double>(columns));
}

//===----------------------------------------------------------------------===//
// Metadata, as the figures of the PTX ISA show it
//===----------------------------------------------------------------------===//

/// A (16 x k / 2) and for each element its column.
struct SparseOperand {
  Matrix values;
  std::vector<std::vector<unsigned>> columns;
};

/// The four bits of a group of four columns (f16, bf16) and so on: figures
/// "Sparse MMA metadata layout".
unsigned groupBits(Type type, unsigned row, unsigned group, unsigned selector,
                   unsigned holders, const Registers &metadata) {
  unsigned lane = row % 8 * 4 + selector * holders;
  if (bitWidth(type) >= 16) {
    // Each holder has 16 bits of row r and 16 bits of row r + 8.
    uint32_t word = metadata.word(0, lane + group / 4);
    uint32_t half = row < 8 ? word & 0xFFFF : word >> 16;
    return half >> (group % 4 * 4) & 15;
  }
  // Holders alternate between row r and row r + 8.
  uint32_t word = metadata.word(0, lane + group / 8 * 2 + (row < 8 ? 0 : 1));
  return word >> (group % 8 * 4) & 15;
}

SparseOperand sparseOperand(Type type, unsigned k, unsigned selector,
                            const Registers &a, const Registers &metadata) {
  SparseOperand operand{makeMatrix(16, k / 2), {}};
  operand.columns.resize(16);
  unsigned count = elementsPerRegister(type);
  for (unsigned r = 0; r < 8 * k / 32 / count; ++r)
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned e = 0; e < count; ++e) {
        auto at = fragmentA(16, type, l, r, e);
        operand.values[at.row][at.column] = a.at(type, r, l, e);
      }
  unsigned holders = type == Type::TF32     ? k / 8
                     : bitWidth(type) == 16 ? k / 16
                     : bitWidth(type) == 8  ? k / 16
                                            : k / 32;
  for (unsigned row = 0; row < 16; ++row) {
    auto &columns = operand.columns[row];
    for (unsigned group = 0; columns.size() < k / 2; ++group) {
      unsigned bits = groupBits(type, row, group, selector, holders, metadata);
      if (type == Type::TF32) {
        columns.push_back(2 * group + (bits == 0xE));
        continue;
      }
      unsigned width = bitWidth(type) == 4 ? 2 : 1;
      for (unsigned index : {bits & 3, bits >> 2})
        for (unsigned i = 0; i < width; ++i)
          columns.push_back((4 * group + index) * width + i);
    }
  }
  return operand;
}

//===----------------------------------------------------------------------===//
// mma.sp
//===----------------------------------------------------------------------===//

class SparseMmaKernels : public ::testing::TestWithParam<SparseKernel> {};

TEST_P(SparseMmaKernels, AgreesWithTripleLoop) {
  const SparseKernel &kernel = GetParam();
  unsigned selector = kernel.parts[6].back() - '0', k = kernel.k;
  bool saturate = kernel.parts.back() == "satfinite";
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<uint32_t> in = randomInputs(kernel, seed);
    std::vector<uint32_t> out = runSparseKernel(kernel, in);
    auto part = [&](unsigned i) {
      return Registers{in.data() + kernel.begin(i)};
    };
    SparseOperand a = sparseOperand(kernel.a, k, selector, part(0), part(3));
    Matrix b = makeMatrix(k, 8);
    unsigned count = elementsPerRegister(kernel.b);
    for (unsigned r = 0; r < k / 4 / count; ++r)
      for (unsigned l = 0; l < 32; ++l)
        for (unsigned e = 0; e < count; ++e) {
          auto at = fragmentB(kernel.b, l, r, e);
          b[at.row][at.column] = part(1).at(kernel.b, r, l, e);
        }
    unsigned packed = kernel.d == Type::F16 ? 2 : 1;
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned i = 0; i < 4; ++i) {
        auto at = fragmentC(16, l, i);
        double sum = part(2).at(kernel.c, i / packed, l, i % packed);
        for (unsigned s = 0; s < k / 2; ++s)
          sum += a.values[at.row][s] * b[a.columns[at.row][s]][at.column];
        expectResult(
            kernel.d, sum,
            Registers{out.data()}.at(kernel.d, i / packed, l, i % packed),
            saturate,
            "lane " + std::to_string(l) + " value " + std::to_string(i));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseMmaKernels, ::testing::ValuesIn([] {
                           auto kernels = sparseKernels("mma_m16n8k");
                           llvm::erase_if(kernels, [](const auto &kernel) {
                             return kernel.name.find("_sp") ==
                                    std::string::npos;
                           });
                           return kernels;
                         }()),
                         nameOf);

//===----------------------------------------------------------------------===//
// mma.m8n8k4
//===----------------------------------------------------------------------===//

class QuadPairKernels : public ::testing::TestWithParam<SparseKernel> {};

/// "Matrix fragments for mma.m8n8k4 with .f16 floating point type".
TEST_P(QuadPairKernels, AgreesWithTripleLoop) {
  const SparseKernel &kernel = GetParam();
  bool rowA = kernel.parts[6] == "row", rowB = kernel.parts[7] == "row";
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<uint32_t> in = randomInputs(kernel, seed);
    std::vector<uint32_t> out = runSparseKernel(kernel, in);
    Registers fromA{in.data()}, fromB{in.data() + 64}, fromC{in.data() + 128},
        fromD{out.data()};
    Matrix a[4], b[4];
    for (unsigned p = 0; p < 4; ++p)
      a[p] = makeMatrix(8, 4), b[p] = makeMatrix(4, 8);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned i = 0; i < 4; ++i) {
        unsigned pair = l % 16 / 4, upper = l < 16 ? 0 : 4;
        double x = fromA.at(Type::F16, i / 2, l, i % 2),
               y = fromB.at(Type::F16, i / 2, l, i % 2);
        (rowA ? a[pair][l % 4 + upper][i] : a[pair][i + upper][l % 4]) = x;
        (rowB ? b[pair][l % 4][i + upper] : b[pair][i][l % 4 + upper]) = y;
      }
    auto value = [](const Registers &file, Type type, unsigned l, unsigned i) {
      return type == Type::F16 ? file.at(type, i / 2, l, i % 2)
                               : file.at(type, i, l, 0);
    };
    // C may lie in another layout than D: bring it to a matrix first.
    auto place = [](Type type, unsigned l, unsigned i) {
      unsigned upper = l < 16 ? 0 : 4;
      if (type == Type::F16)
        return std::make_pair(l % 4 + upper, i);
      return std::make_pair((l & 1) + (i & 2) + upper,
                            (i & 4) + (l & 2) + (i & 1));
    };
    Matrix c[4];
    for (auto &matrix : c)
      matrix = makeMatrix(8, 8);
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned i = 0; i < 8; ++i) {
        auto [row, column] = place(kernel.c, l, i);
        c[l % 16 / 4][row][column] = value(fromC, kernel.c, l, i);
      }
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned i = 0; i < 8; ++i) {
        unsigned pair = l % 16 / 4;
        auto [row, column] = place(kernel.d, l, i);
        double sum = c[pair][row][column];
        for (unsigned k = 0; k < 4; ++k)
          sum += a[pair][row][k] * b[pair][k][column];
        expectResult(kernel.d, sum, value(fromD, kernel.d, l, i), false,
                     "lane " + std::to_string(l));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, QuadPairKernels,
                         ::testing::ValuesIn(sparseKernels("mma_m8n8k4_f16")),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Float, QuadPairKernels,
                         ::testing::ValuesIn(sparseKernels("mma_m8n8k4_f32")),
                         nameOf);

//===----------------------------------------------------------------------===//
// wgmma.mma_async.sp
//===----------------------------------------------------------------------===//

class SparseWgmmaKernels : public ::testing::TestWithParam<SparseKernel> {};

/// An operand in shared memory: 128-byte swizzle or none.
struct SharedMatrix {
  unsigned begin, rows;
  bool isSwizzled, isTransposed;

  unsigned leading() const {
    return isSwizzled ? 4096 : isTransposed ? 1024 : rows * 16;
  }
  unsigned stride() const { return isSwizzled ? 1024 : 128; }
  uint64_t descriptor() const {
    return uint64_t(begin >> 4) | uint64_t(leading() >> 4) << 16 |
           uint64_t(stride() >> 4) << 32 | uint64_t(isSwizzled) << 62;
  }
  /// The value of row (m or n) and k.
  double at(Type type, const uint8_t *memory, unsigned row, unsigned k) const {
    unsigned perChunk = 128 / bitWidth(type);
    unsigned inner = isTransposed ? row : k, outer = isTransposed ? k : row;
    unsigned chunk = inner / perChunk, offset = begin;
    if (isSwizzled)
      offset += outer * 128 + (chunk ^ outer % 8) * 16;
    else if (isTransposed)
      offset += outer % 8 * 16 + outer / 8 * leading() + chunk * stride();
    else
      offset += outer % 8 * 16 + outer / 8 * stride() + chunk * leading();
    std::vector<uint32_t> words(4);
    std::memcpy(words.data(), memory + offset, 16);
    return elementAt(type, words.data(), inner % perChunk);
  }
};

TEST_P(SparseWgmmaKernels, AgreesWithTripleLoop) {
  SparseKernel kernel = GetParam();
  std::sscanf(kernel.parts[1].c_str(), "n%uk%u", &kernel.n, &kernel.k);
  unsigned n = kernel.n, k = kernel.k;
  bool inRegisters = kernel.parts[5] == "r";
  unsigned special = kernel.parts[7][1] - '0';
  unsigned selector = kernel.parts[8].back() - '0';
  unsigned numD = n / (kernel.d == Type::F16 ? 4 : 2);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<uint32_t> in = randomInputs(kernel, seed);
    bool isSwizzled = seed > 2, scale = seed != 3;
    SharedMatrix inA{0, 64, isSwizzled, kernel.parts[6][1] == '1'},
        inB{8192, n, isSwizzled, kernel.parts[6][2] == '1'};
    std::vector<uint32_t> out =
        runSparseKernel(kernel, in, inA.descriptor(), inB.descriptor(), scale);
    unsigned first = 128 * numD, metadata = first + (inRegisters ? 512 : 0);
    const auto *memory =
        reinterpret_cast<const uint8_t *>(in.data() + metadata + 128);
    double sign = special < 4 && (special == 1 || special == 2) ? -1 : 1;
    for (unsigned warp = 0; warp < 4; ++warp) {
      SparseOperand a = sparseOperand(kernel.a, k, selector,
                                      {in.data() + first, 128, 32 * warp},
                                      {in.data() + metadata, 128, 32 * warp});
      for (unsigned row = 0; row < 16 && !inRegisters; ++row)
        for (unsigned s = 0; s < k / 2; ++s)
          a.values[row][s] = inA.at(kernel.a, memory, warp * 16 + row, s);
      Registers c{in.data(), 128, 32 * warp}, d{out.data(), 128, 32 * warp};
      unsigned packed = kernel.d == Type::F16 ? 2 : 1;
      for (unsigned i = 0; i < n / 2; ++i)
        for (unsigned l = 0; l < 32; ++l) {
          auto at = fragmentC(16, l, i);
          double sum = scale ? c.at(kernel.d, i / packed, l, i % packed) : 0;
          for (unsigned s = 0; s < k / 2; ++s)
            sum += sign * a.values[at.row][s] *
                   inB.at(kernel.b, memory, at.column, a.columns[at.row][s]);
          expectResult(kernel.d, sum, d.at(kernel.d, i / packed, l, i % packed),
                       special == 4,
                       "row " + std::to_string(warp * 16 + at.row));
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseWgmmaKernels, ::testing::ValuesIn([] {
                           auto kernels = sparseKernels("wgmma_n");
                           return kernels;
                         }()),
                         nameOf);

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(SparseErrors, AtLoad) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("test.ptx:"), std::string::npos) << error;
  };
  const std::string four = "{%r0,%r1,%r2,%r3}", two = "{%r0,%r1}";
  const std::string half = ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " +
                           four + ", " + two + ", " + two + ", " + four;
  expect("mma.sp" + half + ", %r4, 4;",
         "the sparsity selector must be 0 to 3 here, found 4");
  expect("mma.sp" + half + ", %r4, %r5;", "must be an integer constant");
  expect("mma.sp" + half + ";", "takes 6 operands here, found 4");
  expect("mma.sp::other" + half + ", %r4, 0;", "unknown modifier '.sp::other'");
  expect("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 " + four + ", " +
             four + ", " + four + ", " + four + ", %r4, 1;",
         "the sparsity selector must be 0 to 0 here, found 1");
  expect("mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 " + four + ", " +
             two + ", " + two + ", " + four + ", %r4, 0;",
         "mma has no m16n8k8 of .f32.f16.f16.f32");
  expect("mma.sp.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 " + four + ", " +
             two + ", " + two + ", " + four + ", %r4, 0;",
         "mma.sp needs .row.col");
  expect("mma.sp.sync.aligned.m16n8k128.row.col.kind::mxf4.f32.e2m1.e2m1.f32 " +
             four + ", " + four + ", " + four + ", " + four + ", %r4, 0;",
         "mma.sp.kind::mxf4, which sm_120 has, is not emulated");
  expect("mma.sync.aligned.m8n8k4.row.f16.f16.f16.f16 " + four + ", " + two +
             ", " + two + ", " + four + ";",
         "mma.m8n8k4 needs two layouts");
  expect("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 " + four + ", " +
             two + ", " + two + ", " + four + ";",
         "mma has no m8n8k4 of .f16.f16.f16.f32");
  expect("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 " + four + ", " +
             four + ", " + two + ", " + two + ";",
         "mma has no m16n8k16 of .f32.f16.f16.f16");
  expect("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 " + four +
             ", %d0, %d1, %r0, 0, %p0, 1, 1, 0, 0;",
         "wgmma has no m64n8k16 of .f32.f16.f16");
  expect("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " + four +
             ", %d0, %d1, %r0, 2, %p0, 1, 1, 0, 0;",
         "the sparsity selector must be 0 to 1 here, found 2");
  expect("wgmma.mma_async.sp.sync.aligned.m64n8k512.s32.b1.b1.and.popc " +
             four + ", %d0, %d1, %r0, 0, %p0;",
         "wgmma has no m64n8k512");
}

TEST(SparseErrors, Metadata) {
  for (const char *name : {"mma_m16n8k16_f32_f16_f16_f32_spo1",
                           "mma_m16n8k8_f32_tf32_tf32_f32_sp0"}) {
    auto kernels = sparseKernels(name);
    ASSERT_EQ(kernels.size(), 1u) << name;
    std::vector<uint32_t> in = randomInputs(kernels[0], 1),
                          out(kernels[0].outWords);
    for (size_t i = kernels[0].begin(3); i < in.size(); ++i)
      in[i] = 0x11111111;
    Runner runner(sparseText());
    runner.map(in).map(out).add(uint64_t(0)).add(uint64_t(0));
    runner.add(uint32_t(1)).add(uint32_t(0));
    std::string error = runner.runToError(name, Dim3{1, 1, 1}, Dim3{32, 1, 1});
    EXPECT_NE(error.find(kernels[0].a == Type::TF32
                             ? "must be 0b0100 or 0b1110"
                             : "must increase in each group"),
              std::string::npos)
        << error;
  }
}

} // namespace
