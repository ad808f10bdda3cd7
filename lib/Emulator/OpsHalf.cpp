//===- OpsHalf.cpp - Instructions on f16, bf16 and pairs of them ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element is computed in float or, for the fused operation, in double
// rounded to odd; the one rounding to 16 bits then gives what the exact result
// rounds to.
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include "Lanes.h"
#include <cmath>

using namespace tile_dialect::emulator;

namespace {

struct HalfFormat {
  static float load(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t store(float value) { return floatToHalf(value); }
  static constexpr float smallestNormal = 0x1p-14f;
  /// Of the numbers below one.
  static constexpr float halfUlp = 0x1p-12f;
};
struct BfloatFormat {
  static float load(uint16_t bits) { return bfloatToFloat(bits); }
  static uint16_t store(float value) { return floatToBfloat(value); }
  static constexpr float smallestNormal = 0x1p-126f;
  static constexpr float halfUlp = 0x1p-9f;
};

enum class HalfOp : uint32_t {
  Add,
  Sub,
  Mul,
  Fma,
  Min,
  Max,
  Abs,
  Neg,
  Ex2,
  Tanh,
};

enum HalfFlags : uint32_t {
  Ftz = 1,
  Sat = 2,
  ReluFlag = 4,
  NaNFlag = 8,
  XorSign = 16,
  OobFlag = 32,
};

/// What tensor copies with the NaN fill put where the tensor has no elements,
/// of either sign; `fma.oob` gives zero for it as a factor.
constexpr bool isOutOfBounds(uint16_t bits) {
  return (bits & 0x7FFF) == 0x7FF7;
}

/// Rounds a double to the format with a single rounding.
template <typename F> uint16_t storeDouble(double value) {
  // A double to float conversion could round twice: go through rounding to odd.
  float narrow = float(value);
  if (double(narrow) != value && !std::isnan(value) && !std::isinf(narrow)) {
    uint32_t bits = bitsOfFloat(narrow);
    if (!(bits & 1)) {
      bool grow = std::fabs(value) > std::fabs(double(narrow));
      if (grow)
        narrow = floatFromBits(bits + 1);
      else if ((bits & 0x7FFFFFFF) != 0)
        narrow = floatFromBits(bits - 1);
    }
  }
  return F::store(narrow);
}

template <typename F> float flushHalf(float x) {
  return std::fabs(x) < F::smallestNormal ? std::copysign(0.0f, x) : x;
}

/// Flushes an exact result that is subnormal when it is rounded as if exponents
/// were unlimited, as the hardware does.
template <typename F, typename T> T flushTiny(T exact) {
  constexpr T limit = F::smallestNormal * (1 - F::halfUlp);
  return std::fabs(exact) < limit ? std::copysign(T(0), exact) : exact;
}

template <typename F> uint16_t finishHalf(uint16_t bits, uint32_t flags) {
  if (!(flags & (Ftz | Sat | ReluFlag)))
    return bits;
  float r = F::load(bits);
  if (flags & Ftz)
    r = flushHalf<F>(r);
  if (flags & Sat)
    r = r > 0 ? (r < 1 ? r : 1.0f) : 0.0f;
  if ((flags & ReluFlag) && r == r)
    r = r > 0 ? r : 0.0f;
  return F::store(r);
}

template <typename F>
uint16_t minMaxHalf(uint16_t a, uint16_t b, bool isMax, uint32_t flags) {
  uint16_t sign = (a ^ b) & 0x8000;
  if (flags & XorSign) {
    a &= 0x7FFF;
    b &= 0x7FFF;
  }
  float x = F::load(a), y = F::load(b);
  if (flags & Ftz) {
    x = flushHalf<F>(x);
    y = flushHalf<F>(y);
  }
  float r;
  if (x != x || y != y) {
    if ((flags & NaNFlag) || (x != x && y != y))
      return 0x7FFF;
    r = x != x ? y : x;
  } else if (x == y) {
    r = std::signbit(x) == isMax ? y : x;
  } else {
    r = (x < y) == isMax ? y : x;
  }
  uint16_t bits = F::store(r);
  return flags & XorSign ? (bits & 0x7FFF) | sign : bits;
}

template <typename F, HalfOp op>
uint16_t applyHalf(uint16_t a, uint16_t b, uint16_t c, uint32_t flags) {
  if constexpr (op == HalfOp::Abs || op == HalfOp::Neg) {
    uint16_t bits = op == HalfOp::Abs ? a & 0x7FFF : a ^ 0x8000;
    return finishHalf<F>(bits, flags);
  } else if constexpr (op == HalfOp::Min || op == HalfOp::Max) {
    return finishHalf<F>(minMaxHalf<F>(a, b, op == HalfOp::Max, flags), 0);
  } else {
    float x = F::load(a), y = F::load(b);
    if (flags & Ftz) {
      x = flushHalf<F>(x);
      y = flushHalf<F>(y);
    }
    uint16_t bits;
    if constexpr (op == HalfOp::Add)
      bits = F::store(x + y);
    else if constexpr (op == HalfOp::Sub)
      bits = F::store(x - y);
    else if constexpr (op == HalfOp::Mul)
      bits = F::store(flags & Ftz ? flushTiny<F>(x * y) : x * y);
    else if constexpr (op == HalfOp::Ex2)
      bits = F::store(std::exp2(x));
    else if constexpr (op == HalfOp::Tanh)
      bits = F::store(std::tanh(x));
    else {
      if ((flags & OobFlag) && (isOutOfBounds(a) || isOutOfBounds(b)))
        return 0;
      float z = F::load(c);
      if (flags & Ftz)
        z = flushHalf<F>(z);
      double sum = fmaToOdd(x, y, z);
      bits = storeDouble<F>(flags & Ftz ? flushTiny<F>(sum) : sum);
    }
    return finishHalf<F>(bits, flags);
  }
}

template <typename F, HalfOp op, bool isPair>
Step halfLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  using T = std::conditional_t<isPair, uint32_t, uint16_t>;
  uint32_t flags = inst.aux[0];
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = inst.numOperands > 2 ? warp.source<T>(inst.operands[2]) : a;
  const T *c = inst.numOperands > 3 ? warp.source<T>(inst.operands[3]) : a;
  eachLane(mask, [&](unsigned l) {
    uint32_t low = applyHalf<F, op>(a[l], b[l], c[l], flags);
    if (isPair)
      low |=
          uint32_t(applyHalf<F, op>(uint32_t(a[l]) >> 16, uint32_t(b[l]) >> 16,
                                    uint32_t(c[l]) >> 16, flags))
          << 16;
    d[l] = low;
  });
  return Step::Next;
}

template <HalfOp op> Handler pickHalf(Type type) {
  switch (type) {
  case Type::F16:
    return halfLanes<HalfFormat, op, false>;
  case Type::F16x2:
    return halfLanes<HalfFormat, op, true>;
  case Type::BF16:
    return halfLanes<BfloatFormat, op, false>;
  case Type::BF16x2:
    return halfLanes<BfloatFormat, op, true>;
  default:
    return nullptr;
  }
}

} // namespace

bool tile_dialect::emulator::decodeHalfArithmetic(InstDecoder &d) {
  Type type = d.needType();
  d.inst.instructionClass = InstructionClass::Half;
  llvm::StringRef opcode = d.statement.opcode;
  uint32_t flags = 0;
  bool isArithmetic =
      opcode == "add" || opcode == "sub" || opcode == "mul" || opcode == "fma";
  bool isMinMax = opcode == "min" || opcode == "max";
  bool isApprox = opcode == "ex2" || opcode == "tanh";
  if (isArithmetic)
    d.take("rn");
  if (isApprox && !d.take("approx"))
    return d.fail("'" + opcode + "' needs .approx");
  flags |= d.take("ftz") ? Ftz : 0;
  if (isArithmetic && d.take("sat"))
    flags |= Sat;
  if (opcode == "fma" && d.take("oob"))
    flags |= OobFlag;
  if (opcode == "fma" && d.take("relu"))
    flags |= ReluFlag;
  if (isMinMax && d.take("NaN"))
    flags |= NaNFlag;
  if (isMinMax && d.take("xorsign")) {
    if (!d.take("abs"))
      return d.fail("expected .xorsign.abs");
    flags |= XorSign;
  }
  d.inst.aux[0] = flags;
  unsigned sources = opcode == "fma" ? 3 : isArithmetic || isMinMax ? 2 : 1;
  if (!d.needOperands(1 + sources) || !d.addDest(0, type))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.addSource(i, type))
      return false;
  if (opcode == "add")
    return d.finish(pickHalf<HalfOp::Add>(type));
  if (opcode == "sub")
    return d.finish(pickHalf<HalfOp::Sub>(type));
  if (opcode == "mul")
    return d.finish(pickHalf<HalfOp::Mul>(type));
  if (opcode == "fma")
    return d.finish(pickHalf<HalfOp::Fma>(type));
  if (opcode == "min")
    return d.finish(pickHalf<HalfOp::Min>(type));
  if (opcode == "max")
    return d.finish(pickHalf<HalfOp::Max>(type));
  if (opcode == "abs")
    return d.finish(pickHalf<HalfOp::Abs>(type));
  if (opcode == "neg")
    return d.finish(pickHalf<HalfOp::Neg>(type));
  if (opcode == "ex2")
    return d.finish(pickHalf<HalfOp::Ex2>(type));
  if (opcode == "tanh")
    return d.finish(pickHalf<HalfOp::Tanh>(type));
  return d.finish(nullptr);
}

void tile_dialect::emulator::registerHalfOps(OpcodeTable &) {
  // Every opcode is shared with wider types, whose file dispatches on the type.
}
