//===- MatrixTest.cpp - mma, wgmma and matrix moves against references ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices of small integers, whose products are exact in every type, are
// spread over registers or shared memory, multiplied by the emulator and
// compared with a plain triple loop; random values are compared within the
// documented bound.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"
#include "FloatFormats.h"
#include "MatrixFragments.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <random>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;

namespace {

struct Matrix {
  unsigned rows, columns;
  std::vector<double> values;

  Matrix(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), values(rows * columns) {}
  double &at(unsigned row, unsigned column) {
    return values[row * columns + column];
  }
  double at(unsigned row, unsigned column) const {
    return values[row * columns + column];
  }
};

std::vector<std::string> kernelsOf(const std::string &text) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += 7;
    names.push_back(text.substr(at, text.find('(', at) - at));
  }
  return names;
}

/// The bits of a small integer in a type.
uint64_t bitsOf(Type type, double value) {
  switch (type) {
  case Type::F64:
    return bitsOfDouble(value);
  case Type::F32:
  case Type::TF32:
    return bitsOfFloat(float(value));
  case Type::BF16:
    return floatToBfloat(float(value));
  case Type::F16:
    return floatToHalf(float(value));
  case Type::E4M3:
  case Type::E5M2:
    return encodeFloat(*smallFormat(type), value, Rounding::NearestEven, true);
  default:
    return uint64_t(int64_t(value));
  }
}

Matrix randomMatrix(unsigned rows, unsigned columns, Type type,
                    std::mt19937 &random) {
  Matrix matrix(rows, columns);
  for (double &value : matrix.values) {
    int number = int(random() % 15) - 7;
    if (type == Type::U8 || type == Type::U4)
      number = random() % 16;
    if (type == Type::B1)
      number = random() % 2;
    if (type == Type::E5M2)
      number = int(random() % 9) - 4;
    value = number;
  }
  return matrix;
}

/// D = C + A * B, or the popcounts of bits.
Matrix reference(const Matrix &a, const Matrix &b, const Matrix &c,
                 bool exclusiveOr) {
  Matrix d = c;
  for (unsigned i = 0; i < a.rows; ++i)
    for (unsigned j = 0; j < b.columns; ++j)
      for (unsigned k = 0; k < a.columns; ++k)
        d.at(i, j) +=
            exclusiveOr ? (a.at(i, k) != b.at(k, j)) : a.at(i, k) * b.at(k, j);
  return d;
}

/// Lane-major words of registers: word 32 * r + lane (64-bit for f64).
class RegisterFile {
public:
  explicit RegisterFile(bool wide) : wide(wide) {}
  void put(unsigned reg, unsigned lane, unsigned shift, uint64_t bits) {
    size_t word = (reg * 32 + lane) * (wide ? 2 : 1);
    if (words.size() < (reg + 1) * 32u * (wide ? 2 : 1))
      words.resize((reg + 1) * 32u * (wide ? 2 : 1));
    words[word] |= uint32_t(bits << shift);
    if (wide)
      words[word + 1] |= uint32_t(bits >> 32);
  }
  std::vector<uint32_t> words;

private:
  bool wide;
};

uint64_t maskOf(Type type) {
  unsigned bits = bitWidth(type);
  return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

void spreadA(const Matrix &matrix, Type type, unsigned first,
             RegisterFile &file) {
  unsigned count = elementsPerRegister(type);
  unsigned registers = matrix.rows * matrix.columns / 32 / count;
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned e = 0; e < count; ++e) {
        auto at = fragmentA(matrix.rows, type, l, r, e);
        file.put(first + r, l, e * bitWidth(type) % 64,
                 bitsOf(type, matrix.at(at.row, at.column)) & maskOf(type));
      }
}

void spreadB(const Matrix &matrix, Type type, unsigned first,
             RegisterFile &file) {
  unsigned count = elementsPerRegister(type);
  unsigned registers = matrix.rows * 8 / 32 / count;
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned e = 0; e < count; ++e) {
        auto at = fragmentB(type, l, r, e);
        file.put(first + r, l, e * bitWidth(type) % 64,
                 bitsOf(type, matrix.at(at.row, at.column)) & maskOf(type));
      }
}

void spreadC(const Matrix &matrix, Type type, unsigned first,
             RegisterFile &file) {
  unsigned values = matrix.rows * matrix.columns / 32;
  for (unsigned i = 0; i < values; ++i)
    for (unsigned l = 0; l < 32; ++l) {
      auto at = fragmentC(matrix.rows, l, i);
      bool half = type == Type::F16;
      file.put(first + (half ? i / 2 : i), l, half ? i % 2 * 16 : 0,
               bitsOf(type, matrix.at(at.row, at.column)) & maskOf(type));
    }
}

double valueOf(Type type, const std::vector<uint32_t> &words, unsigned lane,
               unsigned index, unsigned lanes = 32) {
  switch (type) {
  case Type::F16:
    return halfToFloat(words[index / 2 * lanes + lane] >> (index % 2 * 16));
  case Type::F32:
    return floatFromBits(words[index * lanes + lane]);
  case Type::S32:
    return int32_t(words[index * lanes + lane]);
  default: {
    size_t word = 2 * (index * lanes + lane);
    return doubleFromBits(words[word] | uint64_t(words[word + 1]) << 32);
  }
  }
}

const std::string &matrixText() {
  static const std::string text = readInput("Inputs/matrix.ptx");
  return text;
}

Runner &addMatrixArguments(Runner &runner, std::vector<uint32_t> &in,
                           std::vector<uint32_t> &out, uint64_t a = 0,
                           uint64_t b = 0, uint32_t scale = 0) {
  return runner.map(in).map(out).add(a).add(b).add(scale).add(uint32_t(0));
}

class MmaKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(MmaKernels, AgreesWithTripleLoop) {
  auto parts = llvm::SmallVector<llvm::StringRef>();
  llvm::StringRef(GetParam()).split(parts, '_');
  unsigned m, k;
  llvm::StringRef shape = parts[1];
  shape.consume_front("m");
  shape.consumeInteger(10, m);
  shape.consume_front("n8k");
  shape.consumeInteger(10, k);
  Type d = parseType(parts[2]), a = parseType(parts[3]),
       b = parseType(parts[4]), c = parseType(parts[5]);
  llvm::StringRef suffix = parts.size() > 6 ? parts[6] : "";
  std::mt19937 random(m * 1000 + k);
  Matrix ma = randomMatrix(m, k, a, random), mb = randomMatrix(k, 8, b, random),
         mc = randomMatrix(m, 8, c, random);
  if (c == Type::S32)
    for (double &value : mc.values)
      value = random() % 2 ? INT32_MAX - double(random() % 300)
                           : INT32_MIN + double(random() % 300);
  bool wide = a == Type::F64;
  unsigned count = elementsPerRegister(a);
  unsigned numA = m * k / 32 / count, numB = 8 * k / 32 / count;
  RegisterFile file(wide);
  spreadA(ma, a, 0, file);
  spreadB(mb, b, numA, file);
  spreadC(mc, c, numA + numB, file);
  std::vector<uint32_t> out(32 * 8);
  Runner runner(matrixText());
  addMatrixArguments(runner, file.words, out);
  runner.run(GetParam(), Dim3{1, 1, 1}, Dim3{32, 1, 1});
  Matrix expected = reference(ma, mb, mc, suffix == "xor");
  for (unsigned i = 0; i < m / 4; ++i)
    for (unsigned l = 0; l < 32; ++l) {
      auto at = fragmentC(m, l, i);
      double want = expected.at(at.row, at.column);
      if (d == Type::S32)
        want = suffix == "satfinite"
                   ? std::fmin(std::fmax(want, INT32_MIN), INT32_MAX)
                   : double(int32_t(uint32_t(int64_t(want))));
      ASSERT_EQ(valueOf(d, out, l, i), want)
          << "row " << at.row << " column " << at.column;
    }
}

INSTANTIATE_TEST_SUITE_P(All, MmaKernels,
                         ::testing::ValuesIn(kernelsOf(matrixText())),
                         [](const auto &info) { return info.param; });

/// The formulas as the PTX ISA words them for some shapes.
TEST(MatrixFragments, AgreeWithTheISA) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane >> 2, inGroup = lane % 4;
    // mma.m16n8k16 of 16-bit floats: a0 to a7, b0 to b3, c0 to c3.
    for (unsigned i = 0; i < 8; ++i) {
      auto at = fragmentA(16, Type::F16, lane, i / 2, i % 2);
      EXPECT_EQ(at.row, i < 2 || (i >= 4 && i < 6) ? group : group + 8);
      EXPECT_EQ(at.column, inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0));
    }
    for (unsigned i = 0; i < 4; ++i) {
      auto at = fragmentB(Type::F16, lane, i / 2, i % 2);
      EXPECT_EQ(at.row, inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0));
      EXPECT_EQ(at.column, group);
      at = fragmentC(16, lane, i);
      EXPECT_EQ(at.row, i < 2 ? group : group + 8);
      EXPECT_EQ(at.column, inGroup * 2 + (i & 1));
    }
    // mma.m16n8k32 of 8-bit integers: a0 to a15, b0 to b7.
    for (unsigned i = 0; i < 16; ++i) {
      auto at = fragmentA(16, Type::S8, lane, i / 4, i % 4);
      EXPECT_EQ(at.row, i < 4 || (i >= 8 && i < 12) ? group : group + 8);
      EXPECT_EQ(at.column,
                i < 8 ? inGroup * 4 + (i & 3) : inGroup * 4 + (i & 3) + 16);
    }
    // mma.m16n8k8 of tf32: a0 to a3.
    for (unsigned i = 0; i < 4; ++i) {
      auto at = fragmentA(16, Type::TF32, lane, i, 0);
      EXPECT_EQ(at.row, i == 0 || i == 2 ? group : group + 8);
      EXPECT_EQ(at.column, i < 2 ? inGroup : inGroup + 4);
    }
    // wgmma: d0 to d127 of n = 256, and m8n8k16 of integers.
    for (unsigned i = 0; i < 128; ++i) {
      auto at = fragmentC(16, lane, i);
      EXPECT_EQ(at.row, group + 8 * (i / 2 % 2));
      EXPECT_EQ(at.column, i / 4 * 8 + inGroup * 2 + (i & 1));
    }
    EXPECT_EQ(fragmentA(8, Type::S8, lane, 0, 3).column, inGroup * 4 + 3);
    EXPECT_EQ(fragmentC(8, lane, 1).column, inGroup * 2 + 1);
  }
}

/// Sums round once: within half a unit in the last place of the exact result.
TEST(MatrixFragments, RoundOnce) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> a(16 * 16), b(16 * 8), d(16 * 8);
  for (auto *list : {&a, &b})
    for (double &value : *list)
      value = halfToFloat(floatToHalf(float(normal(random))));
  for (double &value : d)
    value = float(normal(random));
  std::vector<double> start = d;
  multiplyAdd(16, 8, 16, a.data(), b.data(), d.data());
  std::vector<uint32_t> words(4 * 32);
  void *registers[4];
  for (unsigned i = 0; i < 4; ++i)
    registers[i] = words.data() + 32 * i;
  scatterD(Type::F32, 16, 8, false, d.data(), registers);
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned l = 0; l < 32; ++l) {
      auto at = fragmentC(16, l, i);
      long double exact = start[at.row * 8 + at.column];
      for (unsigned k = 0; k < 16; ++k)
        exact += (long double)a[at.row * 16 + k] * b[k * 8 + at.column];
      EXPECT_EQ(floatFromBits(words[i * 32 + l]), float(exact));
    }
}

TEST(MatrixFragments, DoubleToHalf) {
  EXPECT_EQ(doubleToHalf(1.0), 0x3C00);
  EXPECT_EQ(doubleToHalf(65519.99), 0x7BFF);
  EXPECT_EQ(doubleToHalf(65520.0), 0x7C00);
  EXPECT_EQ(doubleToHalf(-0.0), 0x8000);
  EXPECT_EQ(doubleToHalf(0x1p-25), 0x0000);
  EXPECT_EQ(doubleToHalf(0x1.0000000001p-25), 0x0001);
  // A tie after rounding to float, which is none before.
  EXPECT_EQ(doubleToHalf(1.0 + 0x1p-11 + 0x1p-40), 0x3C01);
  EXPECT_EQ(doubleToHalf(1.0 + 0x1p-11), 0x3C00);
  EXPECT_EQ(doubleToHalf(std::nan("")), 0x7FFF);
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

const std::string &wgmmaText() {
  static const std::string text = readInput("Inputs/wgmma.ptx");
  return text;
}

/// An operand in shared memory as TMA would leave it, and its descriptor.
class SharedOperand {
public:
  /// `width` is 1, 2, 4 or 8 chunks of 16 bytes; the matrix has a row for each
  /// m or n and a column for each k.
  SharedOperand(const Matrix &matrix, Type type, unsigned width,
                bool transposed, unsigned begin, std::vector<uint8_t> &memory) {
    unsigned bits = bitWidth(type), perChunk = 128 / bits;
    unsigned atom = width * perChunk;
    unsigned leading = 16, stride = 128 * width;
    if (width == 1) {
      leading = transposed ? 128 : matrix.rows * 16;
      stride = transposed ? 256 : 128;
    } else if (transposed) {
      leading = matrix.columns / 8 * 128 * width;
    }
    for (unsigned row = 0; row < matrix.rows; ++row)
      for (unsigned k = 0; k < matrix.columns; ++k) {
        unsigned inner = transposed ? row : k, outer = transposed ? k : row;
        unsigned offset = begin;
        if (width == 1 && !transposed)
          // Core matrices of 8 rows and 16 bytes, column after column.
          offset += k / perChunk * leading + row / 8 * stride + row % 8 * 16;
        else if (width == 1)
          offset += row / perChunk * stride + k / 8 * leading + k % 8 * 16;
        else
          // Panels as wide as the swizzle.
          offset += inner / atom * leading + outer * 16 * width +
                    inner % atom / perChunk * 16;
        unsigned line = offset / 128;
        if (width > 1)
          offset ^= line % width * 16;
        unsigned bit = inner % perChunk * bits;
        uint64_t value = bitsOf(type, matrix.at(row, k)) & maskOf(type);
        for (unsigned i = 0; i < (bits + 7) / 8; ++i)
          memory[offset + bit / 8 + i] |=
              uint8_t(value >> (8 * i) << (bits < 8 ? bit % 8 : 0));
      }
    uint64_t mode = width == 8 ? 1 : width == 4 ? 2 : width == 2 ? 3 : 0;
    descriptor = uint64_t(begin >> 4) | uint64_t(leading >> 4) << 16 |
                 uint64_t(stride >> 4) << 32 | mode << 62;
  }
  uint64_t descriptor;
};

class WgmmaKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(WgmmaKernels, AgreesWithTripleLoop) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(GetParam()).split(parts, '_');
  llvm::StringRef shape = parts[1];
  unsigned n, k;
  shape.consume_front("n");
  shape.consumeInteger(10, n);
  shape.consume_front("k");
  shape.consumeInteger(10, k);
  Type d = parseType(parts[2]), a = parseType(parts[3]),
       b = parseType(parts[4]);
  bool inRegisters = parts[5] == "r";
  bool transA = parts[6][1] == '1', transB = parts[6][2] == '1';
  unsigned special = parts[7][1] - '0';
  for (unsigned width : {1u, 2u, 4u, 8u}) {
    std::mt19937 random(n * 10 + width);
    Matrix ma = randomMatrix(64, k, a, random),
           mb = randomMatrix(n, k, b, random),
           mc = randomMatrix(64, n, d, random);
    std::vector<uint8_t> memory(32768 + 64);
    // Operands lie 1,024 bytes into shared memory, as the kernel's buffer does.
    unsigned beginB = n * 16 * width > 24576 ? 0 : 8192;
    if (beginB == 0 && !inRegisters)
      continue;
    std::vector<uint8_t> *target = &memory;
    uint64_t descriptorA = 0;
    if (!inRegisters)
      descriptorA = SharedOperand(ma, a, width, transA, 0, *target).descriptor;
    uint64_t descriptorB =
        SharedOperand(mb, b, width, transB, beginB, *target).descriptor;
    unsigned numD = n / (d == Type::F16 ? 4 : 2);
    std::vector<uint32_t> in(128 * (numD + (inRegisters ? 4 : 0)));
    for (unsigned warp = 0; warp < 4; ++warp) {
      Matrix rows(16, n), rowsOfA(16, k);
      for (unsigned i = 0; i < 16; ++i) {
        for (unsigned j = 0; j < n; ++j)
          rows.at(i, j) = mc.at(warp * 16 + i, j);
        for (unsigned j = 0; j < k; ++j)
          rowsOfA.at(i, j) = ma.at(warp * 16 + i, j);
      }
      RegisterFile file(false);
      spreadC(rows, d, 0, file);
      if (inRegisters)
        spreadA(rowsOfA, a, numD, file);
      for (unsigned i = 0; i < file.words.size(); ++i)
        in[i / 32 * 128 + warp * 32 + i % 32] = file.words[i];
    }
    size_t at = in.size();
    in.resize(at + 8192);
    std::memcpy(in.data() + at, memory.data(), 32768);
    std::vector<uint32_t> out(128 * numD);
    Runner runner(wgmmaText());
    bool scale = width != 2;
    addMatrixArguments(runner, in, out, descriptorA, descriptorB, scale);
    runner.run(GetParam(), Dim3{1, 1, 1}, Dim3{128, 1, 1});
    bool negate = (special & 1) != (special >> 1 & 1);
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned i = 0; i < n / 2; ++i) {
        auto place = fragmentC(16, t % 32, i);
        unsigned row = t / 32 * 16 + place.row;
        double want = 0;
        for (unsigned j = 0; j < k; ++j)
          want += ma.at(row, j) * mb.at(place.column, j);
        want = (negate && special < 4 ? -want : want) +
               (scale ? mc.at(row, place.column) : 0);
        ASSERT_EQ(valueOf(d, out, t, i, 128), want)
            << "width " << width << " row " << row << " column "
            << place.column;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaKernels,
                         ::testing::ValuesIn(kernelsOf(wgmmaText())),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// Errors at load
//===----------------------------------------------------------------------===//

TEST(MatrixErrors, NameWhatIsNotEmulated) {
  auto expect = [](const std::string &body, const std::string &message) {
    std::string error = parseError(wrapBody(body));
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find("test.ptx:"), std::string::npos) << error;
  };
  expect("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%d0], 32;",
         "'tcgen05.alloc' (tensor memory of sm_100) is not emulated");
  expect("mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},"
         "{%r0,%r1}, {%r2}, {%f0,%f1,%f2,%f3};",
         "mma has no m16n8k12 of .f32.f16.f16.f32");
  expect("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},"
         "{%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3};",
         "operand 1 takes 4 registers here, found 2");
  expect("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r2];",
         "is emulated for .m8n8 and .b16");
  expect("wgmma.mma_async.sync.aligned.m64n20k16.f32.f16.f16 {%f0}, %d0, %d1, "
         "%p0, 1, 1, 0, 0;",
         "wgmma has no m64n20k16");
  expect("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},"
         " %d0, %d1, %p0, 2, 1, 0, 0;",
         "operand 4 must be 1 or -1, found 2");
}

TEST(MatrixErrors, PartOfAWarp) {
  Runner runner(
      wrapBody("setp.lt.u32 %p0, %t, 16;\n"
               "@%p0 movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;\n"));
  std::vector<uint64_t> out(32);
  runner.map(out);
  std::string error = runner.runToError("k", Dim3{1, 1, 1}, Dim3{32, 1, 1});
  EXPECT_NE(error.find("needs all 32 lanes"), std::string::npos) << error;
}

TEST(MatrixErrors, WgmmaWithoutWarpgroup) {
  std::vector<uint32_t> in(16384), out(16384);
  std::string text = wgmmaText();
  size_t at = text.find(".reqntid 128");
  while (at != std::string::npos) {
    text.replace(at, 12, "");
    at = text.find(".reqntid 128");
  }
  Runner runner(text);
  addMatrixArguments(runner, in, out);
  std::string error = runner.runToError("wgmma_n8k16_f32_f16_f16_s_t00_x0",
                                        Dim3{1, 1, 1}, Dim3{64, 1, 1});
  EXPECT_NE(error.find("needs a warpgroup of four warps"), std::string::npos)
      << error;
}

} // namespace
