//===- OpsFloat.cpp - Instructions on f32 and f64 ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include "Lanes.h"
#include <cfloat>
#include <cmath>

using namespace tile_dialect::emulator;

namespace {

template <typename T> constexpr T smallestNormal();
template <> constexpr float smallestNormal<float>() { return FLT_MIN; }
template <> constexpr double smallestNormal<double>() { return DBL_MIN; }

template <typename T> inline T flush(T x) {
  return std::fabs(x) < smallestNormal<T>() ? std::copysign(T(0), x) : x;
}

/// What the modifiers do to operands and results.  NaN results of f32 are
/// canonical, as PTX defines.
template <typename T, bool ftz, bool sat> struct Mode {
  static T in(T x) { return ftz ? flush(x) : x; }
  static T out(T r) {
    if (ftz)
      r = flush(r);
    if (sat)
      return r > T(0) ? (r < T(1) ? r : T(1)) : T(0);
    if constexpr (std::is_same_v<T, float>)
      return r != r ? floatFromBits(0x7FFFFFFF) : r;
    return r;
  }
};

/// Whether .ftz makes an exact result zero though it rounds to the smallest
/// normal number: the hardware flushes what is subnormal when it is rounded to
/// 24 bits as if exponents were unlimited.  `away`: it is rounded away from
/// zero, not to the nearest.
bool isTiny(double exact, bool away) {
  return away ? std::fabs(exact) <= 0x1p-126 * (1 - 0x1p-24)
              : std::fabs(exact) < 0x1p-126 * (1 - 0x1p-25);
}

// `underflows` is isTiny of the exact result.
struct Add {
  template <typename T> static T apply(T a, T b) { return a + b; }
  static bool underflows(float, float, bool) { return false; }
};
struct Sub {
  template <typename T> static T apply(T a, T b) { return a - b; }
  static bool underflows(float, float, bool) { return false; }
};
struct Mul {
  template <typename T> static T apply(T a, T b) { return a * b; }
  static bool underflows(float a, float b, bool away) {
    return isTiny(double(a) * b, away);
  }
};
struct Div {
  template <typename T> static T apply(T a, T b) { return a / b; }
  static bool underflows(float a, float b, bool away) {
    // Exact products instead of a quotient.
    double limit = std::fabs(b * 0x1p-126);
    return away ? std::fabs(a) <= limit * (1 - 0x1p-24)
                : std::fabs(a) < limit * (1 - 0x1p-25);
  }
};
/// div.approx gives zero for huge divisors (PTX ISA, "div").
struct DivApprox {
  template <typename T> static T apply(T a, T b) {
    if (std::fabs(b) > T(0x1p126f) && std::fabs(b) <= T(FLT_MAX))
      return std::isinf(a) ? T(NAN) : std::isnan(a) ? a : T(0);
    return a / b;
  }
  static bool underflows(float, float, bool) { return false; }
};
struct Rcp {
  template <typename T> static T apply(T a) { return T(1) / a; }
};
struct Sqrt {
  template <typename T> static T apply(T a) { return std::sqrt(a); }
};
struct Rsqrt {
  template <typename T> static T apply(T a) {
    return a == 0 ? std::copysign(T(INFINITY), a)
                  : T(1.0 / std::sqrt(double(a)));
  }
};
struct Ex2 {
  template <typename T> static T apply(T a) { return std::exp2(a); }
};
struct Lg2 {
  template <typename T> static T apply(T a) { return std::log2(a); }
};
struct Sin {
  template <typename T> static T apply(T a) { return std::sin(a); }
};
struct Cos {
  template <typename T> static T apply(T a) { return std::cos(a); }
};
struct Tanh {
  template <typename T> static T apply(T a) { return std::tanh(a); }
};

/// Only the upper half of the operand is read, and of the result computed
/// (`rcp.approx.ftz.f64`).
template <typename Op> struct UpperHalf {
  static double upper(double a) {
    return doubleFromBits(bitsOfDouble(a) & 0xFFFF'FFFF'0000'0000ull);
  }
  static double apply(double a) {
    double r = Op::template apply<double>(upper(a));
    return r != r ? r : upper(r);
  }
};

template <typename Op, typename T, bool ftz, bool sat>
Step unaryFloat(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  using M = Mode<T, ftz, sat>;
  forLanes(mask, [=](unsigned l) { d[l] = M::out(Op::apply(M::in(a[l]))); });
  return Step::Next;
}

template <typename Op, typename T, bool ftz, bool sat>
Step binaryFloat(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  using M = Mode<T, ftz, sat>;
  forLanes(mask, [=](unsigned l) {
    T x = M::in(a[l]), y = M::in(b[l]);
    T r = Op::apply(x, y);
    if (ftz)
      r = Op::underflows(x, y, false) ? std::copysign(T(0), r) : r;
    d[l] = M::out(r);
  });
  return Step::Next;
}

// The fused operation needs the machine's instruction to be fast: where the
// baseline lacks it, it is compiled for machines that have it and chosen at run
// time.
template <typename T>
inline void fmaLoop(const T *a, const T *b, const T *c, T *d) {
  EMULATOR_LANE_LOOP
  for (unsigned l = 0; l < warpSize; ++l)
    d[l] = std::fma(a[l], b[l], c[l]);
}
#if defined(__x86_64__) && !defined(__FMA__)
#define EMULATOR_FMA_DISPATCH 1
__attribute__((target("avx2,fma"))) void
fmaLoopFast(const float *a, const float *b, const float *c, float *d) {
  EMULATOR_LANE_LOOP
  for (unsigned l = 0; l < warpSize; ++l)
    d[l] = __builtin_fmaf(a[l], b[l], c[l]);
}
__attribute__((target("avx2,fma"))) void
fmaLoopFast(const double *a, const double *b, const double *c, double *d) {
  EMULATOR_LANE_LOOP
  for (unsigned l = 0; l < warpSize; ++l)
    d[l] = __builtin_fma(a[l], b[l], c[l]);
}
const bool hasFma =
    __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#endif

template <typename T, bool ftz, bool sat>
Step fmaFloat(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  const T *c = warp.source<T>(inst.operands[3]);
  using M = Mode<T, ftz, sat>;
  T in[3][warpSize], r[warpSize];
  if (ftz) {
    for (unsigned l = 0; l < warpSize; ++l) {
      in[0][l] = M::in(a[l]);
      in[1][l] = M::in(b[l]);
      in[2][l] = M::in(c[l]);
    }
    a = in[0];
    b = in[1];
    c = in[2];
  }
#ifdef EMULATOR_FMA_DISPATCH
  if (hasFma)
    fmaLoopFast(a, b, c, r);
  else
#endif
    fmaLoop(a, b, c, r);
  bool isNear = false;
  if (ftz)
    for (unsigned l = 0; l < warpSize; ++l)
      isNear |= std::fabs(r[l]) == smallestNormal<T>();
  if (isNear)
    for (unsigned l = 0; l < warpSize; ++l)
      if (std::fabs(r[l]) == smallestNormal<T>() &&
          isTiny(fmaToOdd(a[l], b[l], c[l]), false))
        r[l] = std::copysign(T(0), r[l]);
  forLanes(mask, [&](unsigned l) { d[l] = M::out(r[l]); });
  return Step::Next;
}

/// PTX min and max: the other operand if one is NaN, unless `.NaN` is given;
/// -0 is less than +0.
template <typename T> T minMax(T a, T b, bool isMax, bool propagates) {
  if (a != a || b != b) {
    if (propagates || (a != a && b != b))
      return std::is_same_v<T, float> ? T(floatFromBits(0x7FFFFFFF)) : T(NAN);
    return a != a ? b : a;
  }
  if (a == b)
    return std::signbit(a) == isMax ? b : a;
  return (a < b) == isMax ? b : a;
}

/// aux[0]: bit 0 max, 1 ftz, 2 NaN, 3 xorsign.abs; two or three operands.
template <typename T>
Step minMaxFloat(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const T *b = warp.source<T>(inst.operands[2]);
  const T *c =
      inst.numOperands > 3 ? warp.source<T>(inst.operands[3]) : nullptr;
  uint32_t mode = inst.aux[0];
  bool isMax = mode & 1, ftz = mode & 2, nan = mode & 4, xorSign = mode & 8;
  forLanes(mask, [&](unsigned l) {
    T x = a[l], y = b[l];
    if (ftz) {
      x = flush(x);
      y = flush(y);
    }
    bool sign = std::signbit(x) != std::signbit(y);
    if (xorSign) {
      x = std::fabs(x);
      y = std::fabs(y);
    }
    T r = minMax(x, y, isMax, nan);
    if (c) {
      T z = ftz ? flush(c[l]) : c[l];
      sign ^= std::signbit(z);
      r = minMax(r, xorSign ? std::fabs(z) : z, isMax, nan);
    }
    d[l] = xorSign && r == r ? std::copysign(r, sign ? T(-1) : T(1)) : r;
  });
  return Step::Next;
}

enum class RoundedOp : uint32_t { Add, Sub, Mul, Div, Sqrt, Rcp, Fma };

/// isTiny for results of a directed rounding, which have the magnitude of the
/// smallest normal number: they were rounded away from zero, or are exact.
bool underflows(RoundedOp op, float a, float b, float c) {
  switch (op) {
  case RoundedOp::Mul:
    return Mul::underflows(a, b, true);
  case RoundedOp::Div:
    return Div::underflows(a, b, true);
  case RoundedOp::Rcp:
    return Div::underflows(1, a, true);
  case RoundedOp::Fma:
    return isTiny(fmaToOdd(a, b, c), true);
  default:
    return false;
  }
}

/// Any operation in a directed rounding mode: aux = operation, rounding, flags
/// (1 ftz, 2 sat).
template <typename T>
Step roundedFloat(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  auto op = RoundedOp(inst.aux[0]);
  auto rounding = Rounding(inst.aux[1]);
  bool ftz = inst.aux[2] & 1, sat = inst.aux[2] & 2;
  auto in = [&](unsigned i, unsigned l) {
    T x = i < inst.numOperands ? warp.source<T>(inst.operands[i])[l] : T(0);
    return ftz ? flush(x) : x;
  };
  eachLane(mask, [&](unsigned l) {
    T a = in(1, l), b = in(2, l), r = 0;
    switch (op) {
    case RoundedOp::Add:
      r = addRounded(a, b, rounding);
      break;
    case RoundedOp::Sub:
      r = addRounded(a, -b, rounding);
      break;
    case RoundedOp::Mul:
      r = mulRounded(a, b, rounding);
      break;
    case RoundedOp::Div:
      r = divRounded(a, b, rounding);
      break;
    case RoundedOp::Sqrt:
      r = sqrtRounded(a, rounding);
      break;
    case RoundedOp::Rcp:
      r = divRounded(T(1), a, rounding);
      break;
    case RoundedOp::Fma:
      r = fmaRounded(a, b, in(3, l), rounding);
      break;
    }
    if (ftz && std::fabs(r) <= smallestNormal<T>() &&
        (std::fabs(r) < smallestNormal<T>() || underflows(op, a, b, in(3, l))))
      r = std::copysign(T(0), r);
    d[l] = sat ? Mode<T, false, true>::out(r) : Mode<T, false, false>::out(r);
  });
  return Step::Next;
}

template <typename Op, typename T> Handler pickUnary(bool ftz, bool sat) {
  static const Handler handlers[2][2] = {
      {unaryFloat<Op, T, false, false>, unaryFloat<Op, T, false, true>},
      {unaryFloat<Op, T, true, false>, unaryFloat<Op, T, true, true>}};
  return handlers[ftz][sat];
}
template <typename Op, typename T> Handler pickBinary(bool ftz, bool sat) {
  static const Handler handlers[2][2] = {
      {binaryFloat<Op, T, false, false>, binaryFloat<Op, T, false, true>},
      {binaryFloat<Op, T, true, false>, binaryFloat<Op, T, true, true>}};
  return handlers[ftz][sat];
}
template <typename T> Handler pickFma(bool ftz, bool sat) {
  static const Handler handlers[2][2] = {
      {fmaFloat<T, false, false>, fmaFloat<T, false, true>},
      {fmaFloat<T, true, false>, fmaFloat<T, true, true>}};
  return handlers[ftz][sat];
}

} // namespace

/// `.rn`, `.rz`, `.rm`, `.rp`; the nearest if none is given.
static Rounding takeRounding(InstDecoder &d, bool *given = nullptr) {
  int index = d.takeOneOf({"rn", "rz", "rm", "rp"});
  if (given)
    *given = index >= 0;
  return index < 0 ? Rounding::NearestEven : Rounding(index);
}

static bool addFloatOperands(InstDecoder &d, Type type, unsigned sources) {
  if (!d.needOperands(1 + sources) || !d.addDest(0, type))
    return false;
  for (unsigned i = 1; i <= sources; ++i)
    if (!d.addSource(i, type))
      return false;
  return true;
}

static InstructionClass classOf(Type type) {
  return type == Type::F64 ? InstructionClass::Double : InstructionClass::Float;
}

/// Finishes with the fast handler for the nearest mode, else the general one.
static bool finishRounded(InstDecoder &d, Type type, RoundedOp op,
                          Rounding rounding, bool ftz, bool sat,
                          Handler nearest) {
  if (type == Type::F64 && (ftz || sat))
    return d.fail(".ftz and .sat do not apply to .f64");
  if (rounding == Rounding::NearestEven)
    return d.finish(nearest);
  d.inst.aux[0] = uint32_t(op);
  d.inst.aux[1] = uint32_t(rounding);
  d.inst.aux[2] = (ftz ? 1 : 0) | (sat ? 2 : 0);
  return d.finish(type == Type::F64 ? roundedFloat<double>
                                    : roundedFloat<float>);
}

template <typename Op>
static bool decodeBinary(InstDecoder &d, Type type, RoundedOp op) {
  Rounding rounding = takeRounding(d);
  bool ftz = d.take("ftz"), sat = d.take("sat");
  return addFloatOperands(d, type, 2) &&
         finishRounded(d, type, op, rounding, ftz, sat,
                       type == Type::F64 ? pickBinary<Op, double>(false, false)
                                         : pickBinary<Op, float>(ftz, sat));
}

static bool decodeFma(InstDecoder &d, Type type) {
  Rounding rounding = takeRounding(d);
  bool ftz = d.take("ftz"), sat = d.take("sat");
  return addFloatOperands(d, type, 3) &&
         finishRounded(d, type, RoundedOp::Fma, rounding, ftz, sat,
                       type == Type::F64 ? pickFma<double>(false, false)
                                         : pickFma<float>(ftz, sat));
}

static bool decodeDiv(InstDecoder &d, Type type) {
  bool approx = d.take("approx"), full = d.take("full");
  bool given;
  Rounding rounding = takeRounding(d, &given);
  bool ftz = d.take("ftz");
  if (!approx && !full && !given)
    return d.fail("div of floats needs .approx, .full or a rounding");
  if (type == Type::F64)
    return (approx || full)
               ? d.finish(nullptr)
               : addFloatOperands(d, type, 2) &&
                     finishRounded(d, type, RoundedOp::Div, rounding, ftz,
                                   false,
                                   pickBinary<Div, double>(false, false));
  return addFloatOperands(d, type, 2) &&
         finishRounded(d, type, RoundedOp::Div, rounding, ftz, false,
                       approx ? pickBinary<DivApprox, float>(ftz, false)
                              : pickBinary<Div, float>(ftz, false));
}

static bool decodeMinMax(InstDecoder &d, Type type, bool isMax) {
  uint32_t mode = isMax;
  mode |= d.take("ftz") ? 2 : 0;
  mode |= d.take("NaN") ? 4 : 0;
  if (d.take("xorsign")) {
    if (!d.take("abs"))
      return d.fail("expected .xorsign.abs");
    mode |= 8;
  }
  if (type == Type::F64 && mode > 1)
    return d.fail("min and max of .f64 take no modifiers");
  d.inst.aux[0] = mode;
  return addFloatOperands(d, type, d.numOperands() == 4 ? 3 : 2) &&
         d.finish(type == Type::F64 ? minMaxFloat<double> : minMaxFloat<float>);
}

namespace {
/// The sign bit alone changes: no arithmetic happens.
struct AbsBits {
  template <typename T> static T apply(T a) { return std::fabs(a); }
};
struct NegBits {
  template <typename T> static T apply(T a) { return -a; }
};
/// As Mode, without the canonical NaN.
template <typename Op, typename T, bool ftz>
Step signFloat(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  forLanes(mask, [=](unsigned l) {
    T x = Op::apply(a[l]);
    d[l] = ftz ? flush(x) : x;
  });
  return Step::Next;
}
} // namespace

template <typename Op> static bool decodeSign(InstDecoder &d, Type type) {
  bool ftz = d.take("ftz");
  if (!addFloatOperands(d, type, 1))
    return false;
  if (type == Type::F64)
    return d.finish(ftz ? nullptr : signFloat<Op, double, false>);
  return d.finish(ftz ? signFloat<Op, float, true>
                      : signFloat<Op, float, false>);
}

bool tile_dialect::emulator::decodeFloatArithmetic(InstDecoder &d) {
  Type type = d.needType();
  if (type == Type::F32x2)
    return decodePackedFloat(d);
  if (type != Type::F32 && type != Type::F64)
    return d.finish(nullptr);
  d.inst.instructionClass = classOf(type);
  llvm::StringRef opcode = d.statement.opcode;
  if (opcode == "add")
    return decodeBinary<Add>(d, type, RoundedOp::Add);
  if (opcode == "sub")
    return decodeBinary<Sub>(d, type, RoundedOp::Sub);
  if (opcode == "mul")
    return decodeBinary<Mul>(d, type, RoundedOp::Mul);
  if (opcode == "fma" || opcode == "mad")
    return decodeFma(d, type);
  if (opcode == "div")
    return decodeDiv(d, type);
  if (opcode == "min" || opcode == "max")
    return decodeMinMax(d, type, opcode == "max");
  if (opcode == "abs")
    return decodeSign<AbsBits>(d, type);
  if (opcode == "neg")
    return decodeSign<NegBits>(d, type);
  return d.finish(nullptr);
}

static bool decodeFmaAny(InstDecoder &d) {
  return isHalfType(d.lastType()) ? decodeHalfArithmetic(d)
                                  : decodeFloatArithmetic(d);
}

/// rcp and sqrt.
template <typename Op> static bool decodeRcpSqrt(InstDecoder &d, RoundedOp op) {
  bool approx = d.take("approx");
  bool given;
  Rounding rounding = takeRounding(d, &given);
  bool ftz = d.take("ftz");
  Type type = d.needType();
  if (!approx && !given)
    return d.fail("expected .approx or a rounding");
  if (!addFloatOperands(d, type, 1))
    return false;
  if (type == Type::F32)
    return finishRounded(d, type, op, rounding, ftz, false,
                         pickUnary<Op, float>(ftz, false));
  if (type != Type::F64)
    return d.finish(nullptr);
  d.inst.instructionClass = InstructionClass::Double;
  if (approx)
    return d.finish(op == RoundedOp::Rcp && ftz
                        ? unaryFloat<UpperHalf<Op>, double, true, false>
                        : nullptr);
  return finishRounded(d, type, op, rounding, ftz, false,
                       pickUnary<Op, double>(false, false));
}

static bool decodeRcp(InstDecoder &d) {
  return decodeRcpSqrt<Rcp>(d, RoundedOp::Rcp);
}
static bool decodeSqrt(InstDecoder &d) {
  return decodeRcpSqrt<Sqrt>(d, RoundedOp::Sqrt);
}

static bool decodeRsqrt(InstDecoder &d) {
  if (!d.take("approx"))
    return d.fail("rsqrt needs .approx");
  bool ftz = d.take("ftz");
  Type type = d.needType();
  if (!addFloatOperands(d, type, 1))
    return false;
  if (type == Type::F32)
    return d.finish(pickUnary<Rsqrt, float>(ftz, false));
  if (type != Type::F64)
    return d.finish(nullptr);
  return d.finish(ftz ? unaryFloat<UpperHalf<Rsqrt>, double, true, false>
                      : unaryFloat<Rsqrt, double, false, false>);
}

/// ex2, lg2, sin, cos, tanh.
template <typename Op> static bool decodeApprox(InstDecoder &d) {
  if (isHalfType(d.lastType()))
    return decodeHalfArithmetic(d);
  if (!d.take("approx"))
    return d.fail("'" + d.statement.opcode + "' needs .approx");
  bool ftz = d.take("ftz");
  Type type = d.needType();
  if (type != Type::F32)
    return d.finish(nullptr);
  return addFloatOperands(d, type, 1) &&
         d.finish(pickUnary<Op, float>(ftz, false));
}

namespace {
struct CopySign {
  template <typename T> static T apply(T a, T b) { return std::copysign(b, a); }
};

enum class Property : uint32_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};

template <typename T>
Step testpLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const T *a = warp.source<T>(inst.operands[1]);
  LaneMask result = 0;
  for (unsigned l = 0; l < warpSize; ++l) {
    bool is = false;
    switch (Property(inst.aux[0])) {
    case Property::Finite:
      is = std::isfinite(a[l]);
      break;
    case Property::Infinite:
      is = std::isinf(a[l]);
      break;
    case Property::Number:
      is = !std::isnan(a[l]);
      break;
    case Property::NotANumber:
      is = std::isnan(a[l]);
      break;
    case Property::Normal:
      // Neither NaN nor infinite nor subnormal.
      is = std::isnormal(a[l]) || a[l] == 0;
      break;
    case Property::Subnormal:
      is = std::fpclassify(a[l]) == FP_SUBNORMAL;
      break;
    }
    result |= LaneMask(is) << l;
  }
  warp.setPredicate(inst.operands[0], result, mask);
  return Step::Next;
}
} // namespace

static bool decodeCopySign(InstDecoder &d) {
  Type type = d.needType();
  if (!addFloatOperands(d, type, 2))
    return false;
  return d.finish(type == Type::F32   ? binaryLanes<CopySign, float, float>
                  : type == Type::F64 ? binaryLanes<CopySign, double, double>
                                      : nullptr);
}

static bool decodeTestp(InstDecoder &d) {
  int property = d.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (property < 0)
    return d.fail("testp needs a property");
  Type type = d.needType();
  d.inst.aux[0] = property;
  if (!d.needOperands(2) || !d.addDest(0, Type::Pred) || !d.addSource(1, type))
    return false;
  return d.finish(type == Type::F32   ? testpLanes<float>
                  : type == Type::F64 ? testpLanes<double>
                                      : nullptr);
}

void tile_dialect::emulator::registerFloatOps(OpcodeTable &table) {
  constexpr auto floating = InstructionClass::Float;
  constexpr auto special = InstructionClass::Special;
  table.add("fma", decodeFmaAny, floating);
  table.add("rcp", decodeRcp, special);
  table.add("sqrt", decodeSqrt, special);
  table.add("rsqrt", decodeRsqrt, special);
  table.add("ex2", decodeApprox<Ex2>, special);
  table.add("lg2", decodeApprox<Lg2>, special);
  table.add("sin", decodeApprox<Sin>, special);
  table.add("cos", decodeApprox<Cos>, special);
  table.add("tanh", decodeApprox<Tanh>, special);
  table.add("copysign", decodeCopySign, floating);
  table.add("testp", decodeTestp, floating);
}
