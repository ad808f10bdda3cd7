//===- MatrixFragments.cpp - Matrix multiplication on fragments ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixFragments.h"
#include "FloatFormats.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cmath>
#include <cstring>

using namespace tile_dialect::emulator;

static constexpr unsigned numLanes = 32;

unsigned tile_dialect::emulator::elementsPerRegister(Type type) {
  return type == Type::F64 ? 1 : 32 / bitWidth(type);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

MatrixCoordinate tile_dialect::emulator::fragmentA(unsigned m, Type type,
                                                   unsigned lane, unsigned reg,
                                                   unsigned element) {
  unsigned count = elementsPerRegister(type);
  unsigned group = lane / 4, column = lane % 4 * count + element;
  if (m == 8)
    return {group, column + reg * 4 * count};
  return {group + reg % 2 * 8, column + reg / 2 * 4 * count};
}

MatrixCoordinate tile_dialect::emulator::fragmentB(Type type, unsigned lane,
                                                   unsigned reg,
                                                   unsigned element) {
  unsigned count = elementsPerRegister(type);
  return {reg * 4 * count + lane % 4 * count + element, lane / 4};
}

MatrixCoordinate tile_dialect::emulator::fragmentC(unsigned m, unsigned lane,
                                                   unsigned index) {
  unsigned inTile = index % (m / 4), tile = index / (m / 4);
  return {lane / 4 + inTile / 2 * 8, tile * 8 + lane % 4 * 2 + inTile % 2};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// halfToFloat without branches, so that loops over it become vector code.
static inline float halfBitsToFloat(uint16_t half) {
  uint32_t rest = half & 0x7FFF;
  // 2^112 moves the exponent's bias from 15 to 127, subnormals included.
  uint32_t bits = bitsOfFloat(floatFromBits(rest << 13) * 0x1p112f);
  bits |= rest >= 0x7C00 ? 0x7F800000 : 0;
  return floatFromBits(bits | uint32_t(half & 0x8000) << 16);
}

using ByteTable = std::array<float, 256>;

static ByteTable makeTable(Type type) {
  ByteTable table;
  for (unsigned i = 0; i < 256; ++i)
    table[i] = decodeFloat(*smallFormat(type), i);
  return table;
}

static const ByteTable &tableOf(Type type) {
  static const ByteTable e4m3 = makeTable(Type::E4M3);
  static const ByteTable e5m2 = makeTable(Type::E5M2);
  return type == Type::E4M3 ? e4m3 : e5m2;
}

double tile_dialect::emulator::decodeElement(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16:
    return halfBitsToFloat(bits);
  case Type::BF16:
    return bfloatToFloat(bits);
  case Type::TF32:
    return floatFromBits(uint32_t(bits) & ~0x1FFFu);
  case Type::F32:
    return floatFromBits(bits);
  case Type::F64:
    return doubleFromBits(bits);
  case Type::E4M3:
  case Type::E5M2:
    return tableOf(type)[bits & 0xFF];
  case Type::S8:
    return int8_t(bits);
  case Type::U8:
    return uint8_t(bits);
  case Type::S4:
    return llvm::SignExtend64<4>(bits & 0xF);
  case Type::U4:
    return bits & 0xF;
  case Type::B1:
    return bits & 1;
  case Type::S32:
    return int32_t(bits);
  default:
    return 0;
  }
}

void tile_dialect::emulator::decodeElements(Type type, const void *data,
                                            unsigned count, double *out) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  switch (bitWidth(type)) {
  case 1:
    for (unsigned i = 0; i < count; ++i)
      out[i] = bytes[i / 8] >> i % 8 & 1;
    return;
  case 4:
    for (unsigned i = 0; i < count; ++i)
      out[i] = decodeElement(type, bytes[i / 2] >> i % 2 * 4);
    return;
  case 8:
    if (type == Type::E4M3 || type == Type::E5M2) {
      const ByteTable &table = tableOf(type);
      for (unsigned i = 0; i < count; ++i)
        out[i] = table[bytes[i]];
      return;
    }
    if (type == Type::S8) {
      for (unsigned i = 0; i < count; ++i)
        out[i] = int8_t(bytes[i]);
      return;
    }
    for (unsigned i = 0; i < count; ++i)
      out[i] = bytes[i];
    return;
  case 16:
    for (unsigned i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes + 2 * i, 2);
      out[i] = type == Type::F16 ? halfBitsToFloat(bits) : bfloatToFloat(bits);
    }
    return;
  case 32:
    for (unsigned i = 0; i < count; ++i) {
      uint32_t bits;
      std::memcpy(&bits, bytes + 4 * i, 4);
      out[i] = decodeElement(type, bits);
    }
    return;
  default:
    std::memcpy(out, data, 8 * size_t(count));
  }
}

uint32_t tile_dialect::emulator::doubleToFloatBits(double value) {
  if (value != value)
    return 0x7FFFFFFF;
  return bitsOfFloat(float(value));
}

uint16_t tile_dialect::emulator::doubleToHalf(double value) {
  float narrow = float(value);
  // Round to odd first: then the second rounding is the only one that counts.
  if (double(narrow) != value && std::isfinite(narrow)) {
    uint32_t bits = bitsOfFloat(narrow);
    bool away = std::fabs(double(narrow)) > std::fabs(value);
    if ((bits & 1) == 0)
      bits += away ? -1 : 1;
    narrow = floatFromBits(bits);
  }
  return floatToHalf(narrow);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void tile_dialect::emulator::gatherA(Type type, unsigned m, unsigned k,
                                     RegisterLanes registers, double *a) {
  unsigned count = elementsPerRegister(type);
  unsigned bytes = type == Type::F64 ? 8 : 4;
  unsigned numRegisters = m * k / (numLanes * count);
  for (unsigned r = 0; r < numRegisters; ++r) {
    const auto *lanes = static_cast<const uint8_t *>(registers[r]);
    for (unsigned l = 0; l < numLanes; ++l) {
      MatrixCoordinate at = fragmentA(m, type, l, r, 0);
      decodeElements(type, lanes + l * bytes, count,
                     a + at.row * k + at.column);
    }
  }
}

void tile_dialect::emulator::gatherB(Type type, unsigned k,
                                     RegisterLanes registers, double *b) {
  unsigned count = elementsPerRegister(type);
  unsigned bytes = type == Type::F64 ? 8 : 4;
  unsigned numRegisters = k / (4 * count);
  for (unsigned r = 0; r < numRegisters; ++r) {
    const auto *lanes = static_cast<const uint8_t *>(registers[r]);
    for (unsigned l = 0; l < numLanes; ++l) {
      double elements[32];
      decodeElements(type, lanes + l * bytes, count, elements);
      MatrixCoordinate at = fragmentB(type, l, r, 0);
      for (unsigned i = 0; i < count; ++i)
        b[(at.row + i) * 8 + at.column] = elements[i];
    }
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Eight columns of one row: they stay in registers over k.
template <typename Step>
static inline void forRowsOfEight(unsigned m, unsigned n, unsigned k,
                                  const double *a, const double *b, double *d,
                                  Step step) {
  for (unsigned column = 0; column < n; column += 8) {
    for (unsigned row = 0; row < m; ++row) {
      double sum[8];
      std::memcpy(sum, d + row * n + column, sizeof(sum));
      for (unsigned i = 0; i < k; ++i) {
        double factor = a[row * k + i];
        const double *other = b + i * n + column;
        for (unsigned j = 0; j < 8; ++j)
          sum[j] = step(factor, other[j], sum[j]);
      }
      std::memcpy(d + row * n + column, sum, sizeof(sum));
    }
  }
}

void tile_dialect::emulator::multiplyAdd(unsigned m, unsigned n, unsigned k,
                                         const double *a, const double *b,
                                         double *d) {
  forRowsOfEight(m, n, k, a, b, d,
                 [](double x, double y, double z) { return x * y + z; });
}

void tile_dialect::emulator::multiplyAddRounded(Rounding rounding, unsigned m,
                                                unsigned n, unsigned k,
                                                const double *a,
                                                const double *b, double *d) {
  if (rounding == Rounding::NearestEven)
    return forRowsOfEight(m, n, k, a, b, d, [](double x, double y, double z) {
      return std::fma(x, y, z);
    });
  forRowsOfEight(m, n, k, a, b, d, [rounding](double x, double y, double z) {
    return fmaRounded(x, y, z, rounding);
  });
}

void tile_dialect::emulator::xorPopcount(unsigned m, unsigned n, unsigned k,
                                         const double *a, const double *b,
                                         double *d) {
  forRowsOfEight(m, n, k, a, b, d, [](double x, double y, double z) {
    return z + (x != y ? 1.0 : 0.0);
  });
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

void tile_dialect::emulator::gatherC(Type type, unsigned m, unsigned n,
                                     RegisterLanes registers, double *c) {
  unsigned values = m * n / numLanes;
  for (unsigned i = 0; i < values; ++i) {
    for (unsigned l = 0; l < numLanes; ++l) {
      MatrixCoordinate at = fragmentC(m, l, i);
      double &value = c[at.row * n + at.column];
      switch (type) {
      case Type::F16:
        value = halfBitsToFloat(
            static_cast<const uint16_t *>(registers[i / 2])[2 * l + i % 2]);
        break;
      case Type::F32:
        value = static_cast<const float *>(registers[i])[l];
        break;
      case Type::S32:
        value = static_cast<const int32_t *>(registers[i])[l];
        break;
      default:
        value = static_cast<const double *>(registers[i])[l];
        break;
      }
    }
  }
}

static uint32_t integerBits(double value, bool saturate) {
  if (saturate)
    value = std::fmin(std::fmax(value, INT32_MIN), INT32_MAX);
  return uint32_t(int64_t(value));
}

void tile_dialect::emulator::encodeAccumulator(Type type, double value,
                                               bool saturate, void *data,
                                               unsigned index) {
  switch (type) {
  case Type::F16:
    static_cast<uint16_t *>(data)[index] = doubleToHalf(value);
    break;
  case Type::F32:
    static_cast<uint32_t *>(data)[index] = doubleToFloatBits(value);
    break;
  case Type::S32:
    static_cast<uint32_t *>(data)[index] = integerBits(value, saturate);
    break;
  default:
    static_cast<double *>(data)[index] = value;
    break;
  }
}

void tile_dialect::emulator::scatterD(Type type, unsigned m, unsigned n,
                                      bool saturate, const double *d,
                                      void *const *registers) {
  unsigned values = m * n / numLanes;
  bool isHalf = type == Type::F16;
  for (unsigned i = 0; i < values; ++i) {
    for (unsigned l = 0; l < numLanes; ++l) {
      MatrixCoordinate at = fragmentC(m, l, i);
      encodeAccumulator(type, d[at.row * n + at.column], saturate,
                        registers[isHalf ? i / 2 : i],
                        isHalf ? 2 * l + i % 2 : l);
    }
  }
}
