//===- FloatFormats.h - Small float formats and rounding ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_FLOATFORMATS_H
#define TILEDIALECT_LIB_EMULATOR_FLOATFORMATS_H

#include "Types.h"
#include <cstdint>
#include <cstring>

namespace tile_dialect::emulator {

/// Rounding of results.
enum class Rounding : uint8_t {
  NearestEven, ///< .rn
  Zero,        ///< .rz
  Down,        ///< .rm
  Up,          ///< .rp
  NearestAway, ///< .rna
  Stochastic,  ///< .rs
};

/// A binary float format below 32 bits.
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  int bias;
  /// The all-ones exponent holds infinities and NaN (IEEE); else e4m3's single
  /// NaN pattern (`hasNaN`) or plain numbers.
  bool hasInfinity;
  bool hasNaN;

  unsigned bits() const { return 1 + exponentBits + mantissaBits; }
  /// The largest finite value's encoding without sign.
  uint32_t maxFinite() const;
  uint32_t nan() const;
};

/// The format of a type, for one element of a packed type; null if the type is
/// none of the small formats.
const FloatFormat *smallFormat(Type type);

/// The exact value of an encoding.
double decodeFloat(const FloatFormat &format, uint32_t bits);
/// Rounds to a format.  `saturate` turns overflow into the largest finite value
/// (`.satfinite`); formats without infinity always do.
uint32_t encodeFloat(const FloatFormat &format, double value, Rounding rounding,
                     bool saturate);
/// `encodeFloat` with the random bits of `.rs`: they are added below the last
/// mantissa bit, of which `randomBits` are given.
uint32_t encodeStochastic(const FloatFormat &format, double value,
                          uint32_t random, unsigned randomBits, bool saturate);

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline double doubleFromBits(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}
inline uint64_t bitsOfDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

/// fp16 and bf16, fast.  NaN results are canonical (0x7FFF).
inline float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16;
  uint32_t rest = h & 0x7FFF;
  if (rest >= 0x7C00)
    return floatFromBits(sign | 0x7F800000 | (rest & 0x3FF) << 13);
  if (rest >= 0x0400)
    return floatFromBits(sign | ((rest << 13) + (112u << 23)));
  // A subnormal: rest * 2^-24, exact in float.
  return floatFromBits(sign | bitsOfFloat(float(rest) * 0x1p-24f));
}
inline uint16_t floatToHalf(float value) {
  uint32_t bits = bitsOfFloat(value);
  uint16_t sign = bits >> 16 & 0x8000;
  uint32_t rest = bits & 0x7FFFFFFF;
  if (rest > 0x7F800000)
    return 0x7FFF;
  if (rest >= 0x477FF000)
    return sign | 0x7C00;
  if (rest < 0x38800000) {
    // Adding 2^-1 puts the last bit of a subnormal half at the float's end.
    float sum = floatFromBits(rest) + 0.5f;
    return sign | uint16_t(bitsOfFloat(sum) - bitsOfFloat(0.5f));
  }
  uint32_t rounded = rest + 0xFFF + (rest >> 13 & 1);
  return sign | uint16_t((rounded - (112u << 23)) >> 13);
}
inline float bfloatToFloat(uint16_t b) {
  return floatFromBits(uint32_t(b) << 16);
}
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = bitsOfFloat(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FFF;
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// A double that rounds to any format of up to 51 bits as the exact a * b + c
/// does: rounded to odd.  The product must be exact in a double (a and b of at
/// most 26 bits).
inline double fmaToOdd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  // Knuth's two-sum: the error of the addition, exactly.
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  uint64_t bits = bitsOfDouble(sum);
  if (error == 0 || error != error || (bits & 1))
    return sum;
  // Towards the exact value, by one unit in the last place: then it is odd.
  bool grows = (error > 0) == (sum > 0);
  return doubleFromBits(grows ? bits + 1 : bits - 1);
}

/// Rounds a double to float: the nearest, or towards the given direction.
float roundToFloat(double value, Rounding rounding);
/// Rounds a float to tf32 (10 mantissa bits).
float roundToTF32(float value, Rounding rounding);

// Arithmetic in a given rounding mode (.rz, .rm, .rp), compiled so that the
// host's rounding control is honoured.
float addRounded(float a, float b, Rounding rounding);
float mulRounded(float a, float b, Rounding rounding);
float divRounded(float a, float b, Rounding rounding);
float sqrtRounded(float a, Rounding rounding);
float fmaRounded(float a, float b, float c, Rounding rounding);
double addRounded(double a, double b, Rounding rounding);
double mulRounded(double a, double b, Rounding rounding);
double divRounded(double a, double b, Rounding rounding);
double sqrtRounded(double a, Rounding rounding);
double fmaRounded(double a, double b, double c, Rounding rounding);
float intToFloat(uint64_t value, bool isSigned, Rounding rounding);
double intToDouble(uint64_t value, bool isSigned, Rounding rounding);
/// To an integral value.
double roundToInteger(double value, Rounding rounding);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_FLOATFORMATS_H
