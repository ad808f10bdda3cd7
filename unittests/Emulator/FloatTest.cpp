//===- FloatTest.cpp - Float instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionTest.h"
#include <cfloat>

using namespace tile_dialect::emulator;
using namespace tile_dialect::emulator::test;
// 113 bits of mantissa: sums and products of floats are exact or far more
// precise than what they are rounded to.
using Wide = __float128;

//===----------------------------------------------------------------------===//
// A reference that rounds by hand
//===----------------------------------------------------------------------===//

namespace {
struct Format {
  unsigned exponentBits, mantissaBits;
  unsigned bits() const { return 1 + exponentBits + mantissaBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
};
constexpr Format f16{5, 10}, bf16{8, 7}, f32{8, 23}, f64{11, 52};

enum class Mode { Nearest, Zero, Down, Up };
} // namespace

static Wide power(int exponent) {
  if (exponent > -1074 && exponent < 1024)
    return std::ldexp(1.0, exponent);
  Wide result = 1;
  for (; exponent > 0; --exponent)
    result *= 2;
  for (; exponent < 0; ++exponent)
    result /= 2;
  return result;
}

static bool isNan(uint64_t bits, Format f) {
  uint64_t magnitude = lowBits(bits, f.bits() - 1);
  return magnitude > ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
}

static Wide valueOf(uint64_t bits, Format f) {
  uint64_t mantissa = lowBits(bits, f.mantissaBits);
  int exponent = lowBits(bits >> f.mantissaBits, f.exponentBits);
  bool negative = bits >> (f.bits() - 1) & 1;
  Wide value;
  if (exponent == (1 << f.exponentBits) - 1)
    value = mantissa ? __builtin_nan("") : __builtin_inf();
  else if (exponent == 0)
    value = Wide(mantissa) * power(1 - f.bias() - int(f.mantissaBits));
  else
    value = Wide(mantissa | uint64_t(1) << f.mantissaBits) *
            power(exponent - f.bias() - int(f.mantissaBits));
  return negative ? -value : value;
}

/// Rounds an exact value; `sign` is that of an exact zero.
static uint64_t roundTo(Wide value, Format f, Mode mode, bool zeroSign) {
  uint64_t infinity = ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
  if (value != value)
    return ~uint64_t(0);
  bool negative = value < 0 || (value == 0 && zeroSign);
  uint64_t sign = uint64_t(negative) << (f.bits() - 1);
  Wide magnitude = value < 0 ? -value : value;
  if (magnitude == 0)
    return sign;
  if (magnitude > Wide(DBL_MAX) * 4) {
    bool isInfinite = magnitude - magnitude != 0;
    bool toInfinity = mode == Mode::Nearest ||
                      (mode == Mode::Up && !negative) ||
                      (mode == Mode::Down && negative);
    return sign | (isInfinite || toInfinity ? infinity : infinity - 1);
  }
  // The largest encoding whose value is not above the magnitude, by bisection:
  // encodings of one sign are ordered as their values.
  uint64_t low = 0, high = infinity;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (valueOf(middle, f) <= magnitude ? low : high) = middle;
  }
  Wide below = valueOf(low, f);
  // Beyond the last finite value, the next one would be here.
  Wide above = high == infinity ? power(f.bias() + 1) : valueOf(high, f);
  if (below == magnitude)
    return sign | low;
  bool up;
  switch (mode) {
  case Mode::Nearest: {
    Wide toLow = magnitude - below, toHigh = above - magnitude;
    up = toHigh < toLow || (toHigh == toLow && (low & 1));
    break;
  }
  case Mode::Zero:
    up = false;
    break;
  case Mode::Down:
    up = negative;
    break;
  case Mode::Up:
    up = !negative;
    break;
  }
  return sign | (up ? high : low);
}

/// A sum that keeps, below its last bits, which side of it the exact one is on.
static Wide sumOf(Wide a, Wide b) {
  Wide sum = a + b;
  Wide part = sum - a;
  Wide error = (a - (sum - part)) + (b - part);
  if (!(error != 0) || error - error != 0)
    return sum;
  // Rounded to odd: no boundary of a narrower format is odd.
  unsigned __int128 bits;
  std::memcpy(&bits, &sum, 16);
  if (!(bits & 1))
    bits += (error > 0) == (sum > 0) ? 1 : -1;
  std::memcpy(&sum, &bits, 16);
  return sum;
}

static std::vector<uint64_t> floatValues(Format f, unsigned seed,
                                         unsigned count) {
  uint64_t one = uint64_t(f.bias()) << f.mantissaBits;
  uint64_t infinity = ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
  std::vector<uint64_t> values;
  for (uint64_t v :
       {uint64_t(0), uint64_t(1), uint64_t(2),
        (uint64_t(1) << f.mantissaBits) - 1, uint64_t(1) << f.mantissaBits, one,
        one + 1, one - 1, infinity - 1, infinity, infinity + 1,
        one + (uint64_t(1) << f.mantissaBits)}) {
    values.push_back(v);
    values.push_back(v | uint64_t(1) << (f.bits() - 1));
  }
  std::mt19937_64 random(seed);
  while (values.size() < count) {
    uint64_t v = lowBits(random(), f.bits());
    // Half of them near one, where rounding is what matters.
    if (random() & 1)
      v = (v & ((uint64_t(1) << f.mantissaBits) - 1)) |
          ((f.bias() + uint64_t(random() % 5) - 2) << f.mantissaBits) |
          (random() & 1) << (f.bits() - 1);
    values.push_back(v);
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

/// Runs an instruction on floats of a format and compares with the exact result
/// rounded once; NaN results must be the canonical NaN of formats below f64.
static void checkFloat(const std::string &instruction, Format f,
                       unsigned sources, Mode mode,
                       const std::function<Wide(Wide, Wide, Wide)> &exact) {
  SCOPED_TRACE(instruction);
  std::vector<std::vector<uint64_t>> inputs;
  for (unsigned s = 0; s < sources; ++s)
    inputs.push_back(floatValues(f, s + 1, 512));
  std::vector<uint64_t> results = compute(
      instruction, f.bits(), std::vector<unsigned>(sources, f.bits()), inputs);
  inputs.resize(3, std::vector<uint64_t>(512));
  for (size_t i = 0; i < results.size(); ++i) {
    uint64_t v[3] = {inputs[0][i], inputs[1][i], inputs[2][i]};
    Wide value = exact(valueOf(v[0], f), valueOf(v[1], f), valueOf(v[2], f));
    if (value != value) {
      ASSERT_TRUE(isNan(results[i], f)) << std::hex << results[i];
      if (f.bits() != 64)
        ASSERT_EQ(results[i], lowBits(~uint64_t(0) >> 1, f.bits()) >> 1 |
                                  lowBits(~uint64_t(0), f.bits() - 1));
      continue;
    }
    if (value == 0) {
      ASSERT_EQ(lowBits(results[i], f.bits() - 1), 0u);
      continue;
    }
    ASSERT_EQ(results[i], roundTo(value, f, mode, false))
        << std::hex << "for 0x" << v[0] << ", 0x" << v[1] << ", 0x" << v[2];
  }
}

static Wide root(Wide x) {
  if (x < 0)
    return __builtin_nan("");
  if (x == 0 || x > Wide(DBL_MAX))
    return x;
  Wide r = Wide(std::sqrt(double(x)));
  if (r == 0 || r > Wide(DBL_MAX))
    r = 1;
  for (unsigned i = 0; i < 4; ++i)
    r = (r + x / r) / 2;
  return r;
}

TEST(Float, RoundedArithmetic) {
  const std::pair<const char *, Mode> modes[] = {{".rn", Mode::Nearest},
                                                 {".rz", Mode::Zero},
                                                 {".rm", Mode::Down},
                                                 {".rp", Mode::Up}};
  for (auto [name, mode] : modes) {
    std::string m = name;
    auto sum = [](Wide a, Wide b, Wide) { return sumOf(a, b); };
    auto product = [](Wide a, Wide b, Wide) { return a * b; };
    auto quotient = [](Wide a, Wide b, Wide) { return a / b; };
    checkFloat("add" + m + ".f32 %x, %a, %b;", f32, 2, mode, sum);
    checkFloat("sub" + m + ".f32 %x, %a, %b;", f32, 2, mode,
               [](Wide a, Wide b, Wide) { return sumOf(a, -b); });
    checkFloat("mul" + m + ".f32 %x, %a, %b;", f32, 2, mode, product);
    checkFloat("div" + m + ".f32 %x, %a, %b;", f32, 2, mode, quotient);
    checkFloat("rcp" + m + ".f32 %x, %a;", f32, 1, mode,
               [](Wide a, Wide, Wide) { return 1 / a; });
    checkFloat("sqrt" + m + ".f32 %x, %a;", f32, 1, mode,
               [](Wide a, Wide, Wide) { return root(a); });
    checkFloat("mul" + m + ".f64 %x, %a, %b;", f64, 2, mode, product);
    checkFloat("div" + m + ".f64 %x, %a, %b;", f64, 2, mode, quotient);
  }
}

TEST(Float, FusedMultiplyAdd) {
  // The products are exact in 113 bits.
  auto fused = [](Wide a, Wide b, Wide c) { return sumOf(a * b, c); };
  checkFloat("fma.rn.f16 %x, %a, %b, %c;", f16, 3, Mode::Nearest, fused);
  checkFloat("fma.rn.f32 %x, %a, %b, %c;", f32, 3, Mode::Nearest, fused);
  checkFloat("fma.rz.f32 %x, %a, %b, %c;", f32, 3, Mode::Zero, fused);
  checkFloat("fma.rn.bf16 %x, %a, %b, %c;", bf16, 3, Mode::Nearest, fused);
  checkFloat("fma.rn.relu.f16 %x, %a, %b, %c;", f16, 3, Mode::Nearest,
             [](Wide a, Wide b, Wide c) {
               Wide r = a * b + c;
               return r < 0 ? Wide(0) : r;
             });
}

TEST(Float, Halves) {
  for (Format f : {f16, bf16}) {
    std::string t = f.exponentBits == 5 ? ".f16" : ".bf16";
    checkFloat("add" + t + " %x, %a, %b;", f, 2, Mode::Nearest,
               [](Wide a, Wide b, Wide) { return a + b; });
    checkFloat("sub.rn" + t + " %x, %a, %b;", f, 2, Mode::Nearest,
               [](Wide a, Wide b, Wide) { return a - b; });
    checkFloat("mul" + t + " %x, %a, %b;", f, 2, Mode::Nearest,
               [](Wide a, Wide b, Wide) { return a * b; });
    checkFloat("min.NaN" + t + " %x, %a, %b;", f, 2, Mode::Nearest,
               [](Wide a, Wide b, Wide) {
                 return a != a || b != b ? Wide(__builtin_nan(""))
                                         : (a < b ? a : b);
               });
  }
  checkFloat("add.sat.f16 %x, %a, %b;", f16, 2, Mode::Nearest,
             [](Wide a, Wide b, Wide) {
               Wide r = a + b;
               return r != r || r < 0 ? Wide(0) : r > 1 ? Wide(1) : r;
             });
}

TEST(Float, HalfPairs) {
  std::vector<uint64_t> a = integerValues(1, 256), b = integerValues(2, 256);
  std::vector<uint64_t> pairs =
      compute("mul.f16x2 %x, %a, %b;", 32, {32, 32}, {a, b});
  std::vector<uint64_t> low =
      compute("mul.f16 %x, %a, %b;", 16, {16, 16}, {a, b});
  for (uint64_t &v : a)
    v >>= 16;
  for (uint64_t &v : b)
    v >>= 16;
  std::vector<uint64_t> high =
      compute("mul.f16 %x, %a, %b;", 16, {16, 16}, {a, b});
  for (size_t i = 0; i < pairs.size(); ++i)
    ASSERT_EQ(pairs[i], high[i] << 16 | low[i]);
}

TEST(Float, FlushToZero) {
  auto flushed = [](float x) {
    return std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x;
  };
  std::vector<std::vector<uint64_t>> inputs = {floatValues(f32, 1, 512),
                                               floatValues(f32, 2, 512)};
  checkInstruction("mul.ftz.f32 %x, %a, %b;", 32, {32, 32}, inputs,
                   [=](uint64_t a, uint64_t b, uint64_t) {
                     float r =
                         flushed(flushed(asFloat(a)) * flushed(asFloat(b)));
                     return std::isnan(r) ? 0x7FFFFFFF : fromFloat(r);
                   });
  checkInstruction("abs.ftz.f32 %x, %a;", 32, {32}, {inputs[0]},
                   [=](uint64_t a, uint64_t, uint64_t) {
                     return fromFloat(flushed(asFloat(a))) & 0x7FFFFFFF;
                   });
}

TEST(Float, MinMax) {
  std::vector<std::vector<uint64_t>> inputs = {floatValues(f32, 1, 512),
                                               floatValues(f32, 2, 512)};
  auto reference = [](bool isMax, bool nan) {
    return [=](uint64_t a, uint64_t b, uint64_t) -> uint64_t {
      float x = asFloat(a), y = asFloat(b);
      if (std::isnan(x) || std::isnan(y)) {
        if (nan || (std::isnan(x) && std::isnan(y)))
          return 0x7FFFFFFF;
        return std::isnan(x) ? b : a;
      }
      if (x == y) // Zeros of both signs: order by the sign.
        return isMax ? (a & b) : (a | b);
      return (x > y) == isMax ? a : b;
    };
  };
  checkInstruction("min.f32 %x, %a, %b;", 32, {32, 32}, inputs,
                   reference(false, false));
  checkInstruction("max.f32 %x, %a, %b;", 32, {32, 32}, inputs,
                   reference(true, false));
  checkInstruction("max.NaN.f32 %x, %a, %b;", 32, {32, 32}, inputs,
                   reference(true, true));
}

TEST(Float, Comparisons) {
  std::vector<std::vector<uint64_t>> inputs = {floatValues(f32, 1, 512),
                                               floatValues(f32, 1, 512)};
  std::rotate(inputs[1].begin(), inputs[1].begin() + 1, inputs[1].end());
  struct Operator {
    const char *name;
    bool ordered;
    bool (*holds)(float, float);
  };
  const Operator operators[] = {
      {"eq", true, [](float a, float b) { return a == b; }},
      {"ne", true, [](float a, float b) { return a != b; }},
      {"lt", true, [](float a, float b) { return a < b; }},
      {"le", true, [](float a, float b) { return a <= b; }},
      {"gt", true, [](float a, float b) { return a > b; }},
      {"ge", true, [](float a, float b) { return a >= b; }},
      {"equ", false, [](float a, float b) { return a == b; }},
      {"neu", false, [](float a, float b) { return a != b; }},
      {"ltu", false, [](float a, float b) { return a < b; }},
      {"leu", false, [](float a, float b) { return a <= b; }},
      {"gtu", false, [](float a, float b) { return a > b; }},
      {"geu", false, [](float a, float b) { return a >= b; }},
      {"num", true, [](float, float) { return true; }},
      {"nan", false, [](float, float) { return false; }}};
  for (const Operator &op : operators)
    checkInstruction("setp." + std::string(op.name) + ".f32 %x, %a, %b;", 1,
                     {32, 32}, inputs, [=](uint64_t a, uint64_t b, uint64_t) {
                       float x = asFloat(a), y = asFloat(b);
                       bool nan = std::isnan(x) || std::isnan(y);
                       return uint64_t(nan ? !op.ordered : op.holds(x, y));
                     });
}

/// Approximations: within a relative error.
static void checkApprox(const std::string &instruction, double (*exact)(double),
                        double low, double high, double relative,
                        double absolute = 0) {
  SCOPED_TRACE(instruction);
  std::vector<uint64_t> inputs;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> pick(low, high);
  for (unsigned i = 0; i < 512; ++i)
    inputs.push_back(fromFloat(float(pick(random))));
  std::vector<uint64_t> results = compute(instruction, 32, {32}, {inputs});
  for (size_t i = 0; i < results.size(); ++i) {
    double expected = exact(asFloat(inputs[i]));
    ASSERT_NEAR(asFloat(results[i]), expected,
                std::fabs(expected) * relative + absolute)
        << "for " << asFloat(inputs[i]);
  }
}

// The bounds are those of the PTX ISA.
TEST(Float, Approximations) {
  checkApprox("ex2.approx.f32 %x, %a;", std::exp2, -100, 100, 0x1p-22);
  checkApprox("lg2.approx.f32 %x, %a;", std::log2, 0.001, 0.4, 0x1p-22);
  checkApprox(
      "rsqrt.approx.f32 %x, %a;", [](double x) { return 1 / std::sqrt(x); },
      0.001, 1000, 0x1p-22);
  checkApprox(
      "rcp.approx.f32 %x, %a;", [](double x) { return 1 / x; }, 0.1, 1000,
      0x1p-23);
  checkApprox(
      "sqrt.approx.ftz.f32 %x, %a;", [](double x) { return std::sqrt(x); }, 0,
      1e6, 0x1p-23);
  checkApprox("sin.approx.f32 %x, %a;", std::sin, -3, 3, 0, 0x1p-20);
  checkApprox("cos.approx.f32 %x, %a;", std::cos, -3, 3, 0, 0x1p-20);
  checkApprox("tanh.approx.f32 %x, %a;", std::tanh, -5, 5, 0x1p-11);
}

TEST(Float, Properties) {
  std::vector<std::vector<uint64_t>> inputs = {floatValues(f32, 1, 512)};
  checkInstruction("testp.normal.f32 %x, %a;", 1, {32}, inputs,
                   [](uint64_t a, uint64_t, uint64_t) {
                     return uint64_t(std::isnormal(asFloat(a)) ||
                                     asFloat(a) == 0);
                   });
  checkInstruction("testp.notanumber.f32 %x, %a;", 1, {32}, inputs,
                   [](uint64_t a, uint64_t, uint64_t) {
                     return uint64_t(std::isnan(asFloat(a)));
                   });
  inputs.push_back(floatValues(f32, 2, 512));
  checkInstruction("copysign.f32 %x, %a, %b;", 32, {32, 32}, inputs,
                   [](uint64_t a, uint64_t b, uint64_t) {
                     return (a & 0x80000000) | (b & 0x7FFFFFFF);
                   });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static void checkFloatConversion(const std::string &instruction, Format from,
                                 Format to, Mode mode) {
  SCOPED_TRACE(instruction);
  std::vector<uint64_t> inputs = floatValues(from, 3, 1024);
  std::vector<uint64_t> results =
      compute(instruction, to.bits(), {from.bits()}, {inputs});
  for (size_t i = 0; i < results.size(); ++i) {
    Wide value = valueOf(inputs[i], from);
    if (value != value) {
      ASSERT_TRUE(isNan(results[i], to));
      continue;
    }
    bool negative = inputs[i] >> (from.bits() - 1) & 1;
    ASSERT_EQ(results[i], roundTo(value, to, mode, negative))
        << std::hex << "for 0x" << inputs[i];
  }
}

TEST(Convert, BetweenFloats) {
  checkFloatConversion("cvt.rn.f16.f32 %x, %a;", f32, f16, Mode::Nearest);
  checkFloatConversion("cvt.rz.f16.f32 %x, %a;", f32, f16, Mode::Zero);
  checkFloatConversion("cvt.rn.bf16.f32 %x, %a;", f32, bf16, Mode::Nearest);
  checkFloatConversion("cvt.rz.bf16.f32 %x, %a;", f32, bf16, Mode::Zero);
  checkFloatConversion("cvt.f32.f16 %x, %a;", f16, f32, Mode::Nearest);
  checkFloatConversion("cvt.f32.bf16 %x, %a;", bf16, f32, Mode::Nearest);
  checkFloatConversion("cvt.f64.f32 %x, %a;", f32, f64, Mode::Nearest);
  checkFloatConversion("cvt.f64.f16 %x, %a;", f16, f64, Mode::Nearest);
  checkFloatConversion("cvt.rn.f32.f64 %x, %a;", f64, f32, Mode::Nearest);
  checkFloatConversion("cvt.rm.f32.f64 %x, %a;", f64, f32, Mode::Down);
  checkFloatConversion("cvt.rp.f32.f64 %x, %a;", f64, f32, Mode::Up);
  checkFloatConversion("cvt.rn.f16.f64 %x, %a;", f64, f16, Mode::Nearest);
  checkFloatConversion("cvt.rn.bf16.f16 %x, %a;", f16, bf16, Mode::Nearest);
}

TEST(Convert, FloatToInteger) {
  struct Kind {
    const char *name;
    Wide (*round)(Wide);
  };
  auto floorOf = [](Wide x) {
    Wide t = Wide(__int128(x));
    return t > x ? t - 1 : t;
  };
  static auto floorWide = floorOf;
  const Kind kinds[] = {{".rzi", [](Wide x) { return Wide(__int128(x)); }},
                        {".rmi", [](Wide x) { return floorWide(x); }},
                        {".rpi", [](Wide x) { return -floorWide(-x); }},
                        {".rni", [](Wide x) {
                           Wide low = floorWide(x), rest = x - low;
                           bool odd = __int128(low) & 1;
                           return rest > 0.5 || (rest == 0.5 && odd) ? low + 1
                                                                     : low;
                         }}};
  std::vector<uint64_t> inputs = floatValues(f32, 4, 256);
  for (float v : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.75f, 1e9f, 3e9f, -3e9f,
                  5e9f, 1e19f, -1e19f, 1e20f, 127.5f, 255.5f, 65535.5f})
    inputs.push_back(fromFloat(v));
  for (const Kind &kind : kinds)
    for (bool s : {false, true})
      for (unsigned n : {16u, 32u, 64u}) {
        std::string t = (s ? ".s" : ".u") + std::to_string(n);
        checkInstruction("cvt" + std::string(kind.name) + t + ".f32 %x, %a;", n,
                         {32}, {inputs},
                         [=](uint64_t a, uint64_t, uint64_t) -> uint64_t {
                           float x = asFloat(a);
                           if (std::isnan(x))
                             return n == 64 ? uint64_t(1) << 63 : 0;
                           Wide low = s ? -power(n - 1) : Wide(0);
                           Wide high = power(s ? n - 1 : n) - 1;
                           if (Wide(x) >= high + 1)
                             return uint64_t(__int128(high));
                           if (Wide(x) <= low - 1)
                             return uint64_t(__int128(low));
                           Wide r = kind.round(Wide(x));
                           r = r < low ? low : r > high ? high : r;
                           return uint64_t(__int128(r));
                         });
      }
}

TEST(Convert, IntegerToFloat) {
  const std::pair<const char *, Mode> modes[] = {{".rn", Mode::Nearest},
                                                 {".rz", Mode::Zero},
                                                 {".rm", Mode::Down},
                                                 {".rp", Mode::Up}};
  for (auto [name, mode] : modes)
    for (bool s : {false, true})
      for (unsigned n : {8u, 16u, 32u, 64u})
        for (auto [type, f] :
             {std::make_pair(".f16", f16), std::make_pair(".f32", f32),
              std::make_pair(".f64", f64), std::make_pair(".bf16", bf16)}) {
          Mode m = mode;
          Format to = f;
          checkInteger("cvt" + std::string(name) + type + (s ? ".s" : ".u") +
                           std::to_string(n) + " %x, %a;",
                       to.bits(), {std::max(n, 16u)},
                       [=](uint64_t a, uint64_t, uint64_t) {
                         a = lowBits(a, n);
                         Wide v = s ? Wide(asSigned(a, n)) : Wide(a);
                         return roundTo(v, to, m, false);
                       });
        }
}

/// All encodings of fp8 to halves and back.
TEST(Convert, Fp8) {
  std::vector<uint64_t> codes;
  for (unsigned i = 0; i < 256; ++i)
    codes.push_back(i | (255 - i) << 8);
  auto e4m3 = [](unsigned code) -> Wide {
    unsigned magnitude = code & 0x7F;
    if (magnitude == 0x7F)
      return __builtin_nan("");
    unsigned exponent = magnitude >> 3, mantissa = magnitude & 7;
    Wide v = exponent ? Wide(8 + mantissa) * power(int(exponent) - 7 - 3)
                      : Wide(mantissa) * power(-6 - 3);
    return code & 0x80 ? -v : v;
  };
  auto e5m2 = [](unsigned code) -> Wide { return valueOf(code << 8, f16); };
  std::vector<uint64_t> results =
      compute("cvt.rn.f16x2.e4m3x2 %x, %a;", 32, {16}, {codes});
  std::vector<uint64_t> others =
      compute("cvt.rn.f16x2.e5m2x2 %x, %a;", 32, {16}, {codes});
  for (unsigned i = 0; i < 256; ++i)
    for (unsigned half = 0; half < 2; ++half) {
      unsigned code = codes[i] >> (8 * half) & 0xFF;
      Wide want = e4m3(code),
           got = valueOf(lowBits(results[i] >> (16 * half), 16), f16);
      ASSERT_TRUE(want == got || (want != want && got != got)) << code;
      want = e5m2(code);
      got = valueOf(lowBits(others[i] >> (16 * half), 16), f16);
      ASSERT_TRUE(want == got || (want != want && got != got)) << code;
    }

  // To fp8: the nearest of all encodings, ties to the even one.
  std::vector<uint64_t> inputs = floatValues(f32, 5, 1024);
  for (unsigned i = 0; i < 256; ++i)
    inputs.push_back(fromFloat(0.01f * (int(i) - 128)));
  std::vector<uint64_t> packed =
      compute("cvt.rn.satfinite.e4m3x2.f32 %x, %a, %b;", 16, {32, 32},
              {inputs, std::vector<uint64_t>(inputs.rbegin(), inputs.rend())});
  for (size_t i = 0; i < inputs.size(); ++i) {
    unsigned code = packed[i] >> 8;
    Wide x = valueOf(inputs[i], f32);
    if (x != x) {
      ASSERT_EQ(code, 0x7Fu);
      continue;
    }
    Wide best = e4m3(code), distance = x > best ? x - best : best - x;
    for (unsigned other = 0; other < 256; ++other) {
      Wide v = e4m3(other);
      if (v != v)
        continue;
      Wide d = x > v ? x - v : v - x;
      ASSERT_TRUE(distance < d || v == best || (distance == d && !(code & 1)) ||
                  x > 448 || x < -448)
          << double(x) << " became " << double(best) << ", not " << double(v);
    }
    if (x > 448 || x < -448)
      ASSERT_EQ(code & 0x7F, 0x7Eu);
  }
}

/// Powers of two: the exponent of the magnitude, rounded on its bits.
TEST(Convert, UE8M0) {
  std::vector<uint64_t> inputs = floatValues(f32, 3, 512);
  for (uint64_t bits : {0x00400000, 0x00400001, 0x7F000000, 0x7F000001,
                        0x7F7FFFFF, 0x7F800000, 0x7FC00000})
    inputs.insert(inputs.end(), {bits, bits | 0x80000000});
  for (bool up : {false, true})
    for (bool finite : {false, true}) {
      auto code = [=](uint64_t bits) -> uint64_t {
        bits = lowBits(bits, 31);
        if (bits > 0x7F800000)
          return 0xFF;
        // 2^-127, the least, is a denormal number of fp32.
        uint64_t half = bits >> 23 ? 0 : 0x400000;
        uint64_t exponent = bits >> 23;
        if (up && bits < 0x7F800000 && lowBits(bits, 23) > half)
          ++exponent;
        return finite ? std::min<uint64_t>(exponent, 0xFE) : exponent;
      };
      checkInstruction(std::string("cvt.") + (up ? "rp" : "rz") +
                           (finite ? ".satfinite" : "") +
                           ".ue8m0x2.f32 %x, %a, %b;",
                       16, {32, 32}, {inputs, {inputs.rbegin(), inputs.rend()}},
                       [=](uint64_t a, uint64_t b, uint64_t) {
                         return code(a) << 8 | code(b);
                       });
    }
}

TEST(Convert, Packed) {
  checkInstruction("cvt.rn.f16x2.f32 %x, %a, %b;", 32, {32, 32},
                   {floatValues(f32, 1, 512), floatValues(f32, 2, 512)},
                   [](uint64_t a, uint64_t b, uint64_t) {
                     auto half = [](uint64_t v) -> uint64_t {
                       if (isNan(v, f32))
                         return 0x7FFF;
                       return roundTo(valueOf(v, f32), f16, Mode::Nearest,
                                      v >> 31);
                     };
                     return half(a) << 16 | half(b);
                   });
  checkInstruction("cvt.rn.relu.bf16x2.f32 %x, %a, %b;", 32, {32, 32},
                   {floatValues(f32, 1, 512), floatValues(f32, 2, 512)},
                   [](uint64_t a, uint64_t b, uint64_t) {
                     auto half = [](uint64_t v) -> uint64_t {
                       if (isNan(v, f32))
                         return 0x7FFF;
                       return v >> 31 ? 0
                                      : roundTo(valueOf(v, f32), bf16,
                                                Mode::Nearest, false);
                     };
                     return half(a) << 16 | half(b);
                   });
  checkInteger("cvt.pack.sat.s8.s32.b32 %x, %a, %b, %c;", 32, {32, 32, 32},
               [](uint64_t a, uint64_t b, uint64_t c) {
                 auto clamp = [](uint64_t v) {
                   int64_t s = asSigned(v, 32);
                   return lowBits(uint64_t(s > 127    ? int64_t(127)
                                           : s < -128 ? int64_t(-128)
                                                      : s),
                                  8);
                 };
                 return c << 16 | clamp(a) << 8 | clamp(b);
               });
  checkInstruction("cvt.rna.tf32.f32 %x, %a;", 32, {32},
                   {floatValues(f32, 1, 512)},
                   [](uint64_t a, uint64_t, uint64_t) -> uint64_t {
                     // sm_90 cuts off the payload of NaN.
                     if ((a & 0x7F800000) == 0x7F800000)
                       return a & 0xFFFFE000;
                     return (a + 0x1000) & 0xFFFFE000;
                   });
}
