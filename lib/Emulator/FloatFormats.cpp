//===- FloatFormats.cpp - Small float formats and rounding ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file is compiled with -frounding-math: the compiler neither folds nor
// moves floating-point operations across changes of the rounding mode.
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include <cfenv>
#include <cmath>

using namespace tile_dialect::emulator;

static const FloatFormat halfFormat{5, 10, 15, true, true};
static const FloatFormat bfloatFormat{8, 7, 127, true, true};
static const FloatFormat e5m2Format{5, 2, 15, true, true};
static const FloatFormat e4m3Format{4, 3, 7, false, true};
static const FloatFormat e3m2Format{3, 2, 3, false, false};
static const FloatFormat e2m3Format{2, 3, 1, false, false};
static const FloatFormat e2m1Format{2, 1, 1, false, false};

uint32_t FloatFormat::maxFinite() const {
  uint32_t all = (1u << (exponentBits + mantissaBits)) - 1;
  if (hasInfinity)
    return (((1u << exponentBits) - 1) << mantissaBits) - 1;
  return hasNaN ? all - 1 : all;
}

uint32_t FloatFormat::nan() const {
  // Formats without NaN give their largest value.
  return hasNaN ? (1u << (exponentBits + mantissaBits)) - 1 : maxFinite();
}

const FloatFormat *tile_dialect::emulator::smallFormat(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return &halfFormat;
  case Type::BF16:
  case Type::BF16x2:
    return &bfloatFormat;
  case Type::E4M3:
  case Type::E4M3x2:
  case Type::E4M3x4:
    return &e4m3Format;
  case Type::E5M2:
  case Type::E5M2x2:
  case Type::E5M2x4:
    return &e5m2Format;
  case Type::E2M1:
  case Type::E2M1x2:
  case Type::E2M1x4:
    return &e2m1Format;
  case Type::E2M3:
  case Type::E2M3x2:
  case Type::E2M3x4:
    return &e2m3Format;
  case Type::E3M2:
  case Type::E3M2x2:
  case Type::E3M2x4:
    return &e3m2Format;
  default:
    return nullptr;
  }
}

double tile_dialect::emulator::decodeFloat(const FloatFormat &format,
                                           uint32_t bits) {
  uint32_t magnitude = bits & ((1u << (format.bits() - 1)) - 1);
  bool negative = bits >> (format.bits() - 1) & 1;
  uint32_t exponent = magnitude >> format.mantissaBits;
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  double value;
  if (format.hasInfinity && exponent == (1u << format.exponentBits) - 1)
    value = mantissa ? NAN : INFINITY;
  else if (format.hasNaN && magnitude > format.maxFinite())
    value = NAN;
  else if (exponent == 0)
    value = std::ldexp(double(mantissa),
                       1 - format.bias - int(format.mantissaBits));
  else
    value = std::ldexp(double(mantissa | 1u << format.mantissaBits),
                       int(exponent) - format.bias - int(format.mantissaBits));
  return negative ? -value : value;
}

/// Rounds a value of at least zero that is not an integer to one.
static double roundMagnitude(double scaled, bool negative, Rounding rounding) {
  double low = std::floor(scaled);
  double fraction = scaled - low;
  if (fraction == 0)
    return low;
  switch (rounding) {
  case Rounding::NearestEven:
    if (fraction == 0.5)
      return std::fmod(low, 2) == 0 ? low : low + 1;
    return fraction > 0.5 ? low + 1 : low;
  case Rounding::NearestAway:
    return fraction >= 0.5 ? low + 1 : low;
  case Rounding::Down:
    return negative ? low + 1 : low;
  case Rounding::Up:
    return negative ? low : low + 1;
  case Rounding::Zero:
  case Rounding::Stochastic:
    break;
  }
  return low;
}

/// The encoding of a magnitude that is a whole number of units of the last
/// place at `exponent`.
static uint32_t assemble(const FloatFormat &format, double units, int exponent,
                         bool negative, bool overflowsToMax) {
  uint32_t sign = uint32_t(negative) << (format.bits() - 1);
  // A carry out of the mantissa goes into the exponent by itself.
  uint64_t mantissa = uint64_t(units);
  int64_t biased = exponent + format.bias;
  int64_t code = biased >= 1
                     ? int64_t(mantissa) + ((biased - 1) << format.mantissaBits)
                     : int64_t(mantissa);
  if (code > int64_t(format.maxFinite()))
    return sign |
           (overflowsToMax ? format.maxFinite() : format.maxFinite() + 1);
  return sign | uint32_t(code);
}

/// The exponent whose unit in the last place the magnitude is rounded to.
static int roundingExponent(const FloatFormat &format, double magnitude) {
  int exponent = magnitude > 0 ? std::ilogb(magnitude) : 1 - format.bias;
  return std::max(exponent, 1 - format.bias);
}

uint32_t tile_dialect::emulator::encodeFloat(const FloatFormat &format,
                                             double value, Rounding rounding,
                                             bool saturate) {
  if (std::isnan(value))
    return format.nan();
  bool negative = std::signbit(value);
  double magnitude = std::fabs(value);
  uint32_t sign = uint32_t(negative) << (format.bits() - 1);
  bool toMax = saturate || !format.hasInfinity;
  if (std::isinf(magnitude))
    return sign | (toMax ? format.maxFinite() : format.maxFinite() + 1);
  // Directed rounding never passes from a finite value to infinity when it
  // rounds towards zero.
  bool towardsZero = rounding == Rounding::Zero ||
                     (rounding == Rounding::Down && !negative) ||
                     (rounding == Rounding::Up && negative);
  int exponent = roundingExponent(format, magnitude);
  if (exponent > 200)
    return sign |
           (toMax || towardsZero ? format.maxFinite() : format.maxFinite() + 1);
  double units =
      roundMagnitude(std::ldexp(magnitude, int(format.mantissaBits) - exponent),
                     negative, rounding);
  return assemble(format, units, exponent, negative, toMax || towardsZero);
}

uint32_t tile_dialect::emulator::encodeStochastic(const FloatFormat &format,
                                                  double value, uint32_t random,
                                                  unsigned randomBits,
                                                  bool saturate) {
  if (std::isnan(value) || std::isinf(value))
    return encodeFloat(format, value, Rounding::NearestEven, saturate);
  double magnitude = std::fabs(value);
  int exponent = roundingExponent(format, magnitude);
  if (exponent > 200)
    return encodeFloat(format, value, Rounding::NearestEven, saturate);
  double scaled = std::ldexp(magnitude, int(format.mantissaBits) - exponent);
  double noise = std::ldexp(double(random), -int(randomBits));
  return assemble(format, std::floor(scaled + noise), exponent,
                  std::signbit(value), saturate || !format.hasInfinity);
}

//===----------------------------------------------------------------------===//
// The host's rounding modes
//===----------------------------------------------------------------------===//

namespace {
/// Sets the rounding mode for its lifetime.
class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) {
    switch (rounding) {
    case Rounding::Zero:
      std::fesetround(FE_TOWARDZERO);
      break;
    case Rounding::Down:
      std::fesetround(FE_DOWNWARD);
      break;
    case Rounding::Up:
      std::fesetround(FE_UPWARD);
      break;
    default:
      break;
    }
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
};

/// Hides a value from the optimiser, so that what is computed from it is
/// computed where it is written.
template <typename T> T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

template <typename T, typename F> T rounded(Rounding rounding, F compute) {
  RoundingScope scope(rounding);
  volatile T result = compute();
  return result;
}
} // namespace

#define EMULATOR_ROUNDED(T)                                                    \
  T tile_dialect::emulator::addRounded(T a, T b, Rounding mode) {              \
    return rounded<T>(mode, [&] { return opaque(a) + opaque(b); });            \
  }                                                                            \
  T tile_dialect::emulator::mulRounded(T a, T b, Rounding mode) {              \
    return rounded<T>(mode, [&] { return opaque(a) * opaque(b); });            \
  }                                                                            \
  T tile_dialect::emulator::divRounded(T a, T b, Rounding mode) {              \
    return rounded<T>(mode, [&] { return opaque(a) / opaque(b); });            \
  }                                                                            \
  T tile_dialect::emulator::sqrtRounded(T a, Rounding mode) {                  \
    return rounded<T>(mode, [&] { return std::sqrt(opaque(a)); });             \
  }                                                                            \
  T tile_dialect::emulator::fmaRounded(T a, T b, T c, Rounding mode) {         \
    return rounded<T>(                                                         \
        mode, [&] { return std::fma(opaque(a), opaque(b), opaque(c)); });      \
  }
EMULATOR_ROUNDED(float)
EMULATOR_ROUNDED(double)
#undef EMULATOR_ROUNDED

float tile_dialect::emulator::roundToFloat(double value, Rounding mode) {
  return rounded<float>(mode, [&] { return float(opaque(value)); });
}

float tile_dialect::emulator::intToFloat(uint64_t value, bool isSigned,
                                         Rounding mode) {
  return rounded<float>(mode, [&] {
    return isSigned ? float(opaque(int64_t(value))) : float(opaque(value));
  });
}

double tile_dialect::emulator::intToDouble(uint64_t value, bool isSigned,
                                           Rounding mode) {
  return rounded<double>(mode, [&] {
    if (isSigned)
      return double(opaque(int64_t(value)));
    // Two exact parts and one rounding, whatever the mode.
    double high = double(opaque(uint32_t(value >> 32))) * 4294967296.0;
    return opaque(high) + double(opaque(uint32_t(value)));
  });
}

float tile_dialect::emulator::roundToTF32(float value, Rounding mode) {
  uint32_t bits = bitsOfFloat(value);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return floatFromBits(0x7FFFE000);
  if (magnitude == 0x7F800000)
    return value;
  if (mode == Rounding::NearestAway)
    bits += 0x1000;
  else if (mode == Rounding::NearestEven)
    bits += 0xFFF + (bits >> 13 & 1);
  return floatFromBits(bits & ~0x1FFFu);
}

double tile_dialect::emulator::roundToInteger(double value, Rounding mode) {
  switch (mode) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    break;
  }
  double magnitude = std::fabs(value);
  if (!(magnitude < 0x1p52))
    return value;
  return std::copysign(roundMagnitude(magnitude, false, Rounding::NearestEven),
                       value);
}
