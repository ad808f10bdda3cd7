//===- Approximations.cpp - Mathematical functions on f32 -----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp, log, log2, sin and cos from the hardware's approximations and minimax
// polynomials, without a device library. The polynomials are our own fits
// (Remez exchange on the relative error); docs/rationale/TileNV.md has the
// errors.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLog2E = 1.442695040888963407360;

/// Arithmetic on f32 and i32 values, written as it is read.
class Math32 {
public:
  Math32(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {
    f32 = builder.getF32Type();
    i32 = builder.getI32Type();
  }

  Value number(double value) { return createFloat(builder, loc, f32, value); }
  Value integer(int64_t value) { return createI32(builder, loc, value); }
  Value infinity() {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getFloatAttr(f32, APFloat::getInf(APFloat::IEEEsingle())));
  }
  Value negativeInfinity() {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getFloatAttr(
            f32, APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/true)));
  }

  Value add(Value a, Value b) { return binary<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return binary<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return binary<arith::MulFOp>(a, b); }
  Value min(Value a, Value b) { return binary<arith::MinNumFOp>(a, b); }
  Value max(Value a, Value b) { return binary<arith::MaxNumFOp>(a, b); }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value fma(Value a, Value b, Value c) {
    return LLVM::FMAOp::create(builder, loc, a, b, c);
  }
  Value call(StringRef name, Value x) {
    return callIntrinsic(builder, loc, name, x.getType(), x);
  }
  Value iadd(Value a, Value b) { return binary<arith::AddIOp>(a, b); }
  Value isub(Value a, Value b) { return binary<arith::SubIOp>(a, b); }
  Value iand(Value a, int64_t b) {
    return binary<arith::AndIOp>(a, integer(b));
  }
  Value shl(Value a, int64_t b) { return binary<arith::ShLIOp>(a, integer(b)); }
  Value sar(Value a, int64_t b) {
    return binary<arith::ShRSIOp>(a, integer(b));
  }
  Value bits(Value x) { return arith::BitcastOp::create(builder, loc, i32, x); }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(builder, loc, f32, x);
  }
  Value toFloat(Value x) {
    return arith::SIToFPOp::create(builder, loc, f32, x);
  }
  Value toInt(Value x) { return arith::FPToSIOp::create(builder, loc, i32, x); }
  Value select(Value c, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, c, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  /// c[0] + x c[1] + x^2 c[2] + ...
  Value polynomial(Value x, ArrayRef<double> c) {
    Value result = number(c.back());
    for (double coefficient : llvm::reverse(c.drop_back()))
      result = fma(result, x, number(coefficient));
    return result;
  }

  OpBuilder &builder;
  Location loc;
  Type f32, i32;

private:
  template <typename Op> Value binary(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
};

/// log1p(f) for sqrt(1/2) <= 1 + f <= sqrt(2): f - f^2/2 + f^3 P(f). The
/// relative error of the fit is 2^-27.3.
Value emitLog1pSmall(Math32 &m, Value f) {
  static const double c[] = {0.3333333134651184,  -0.2500081956386566,
                             0.20001226663589478, -0.16623356938362122,
                             0.14201758801937103, -0.13160182535648346,
                             0.12761574983596802, -0.07634495198726654};
  Value p = m.polynomial(f, c);
  Value square = m.mul(f, f);
  // f^2 (f P - 1/2) + f: the largest term is added last.
  Value inner = m.fma(p, f, m.number(-0.5));
  return m.fma(square, inner, f);
}

/// x = 2^exponent * (1 + fraction), with 1 + fraction between sqrt(1/2) and
/// sqrt(2), for finite positive x.
struct SplitNumber {
  Value exponent, fraction;
};
SplitNumber splitNumber(Math32 &m, Value x) {
  // Subnormal numbers are scaled into the normal range first.
  Value isTiny = m.compare(arith::CmpFPredicate::OLT, x,
                           m.number(1.17549435082228750797e-38));
  Value scaled = m.select(isTiny, m.mul(x, m.number(8388608.0)), x);
  Value bias = m.select(isTiny, m.number(-23.0), m.number(0.0));
  Value bits = m.bits(scaled);
  // The bits of sqrt(1/2), so that the exponent of what lies below it is -1.
  Value shifted = m.isub(bits, m.integer(0x3f3504f3));
  Value exponentBits = m.iand(shifted, int32_t(0xff800000));
  Value fraction = m.sub(m.fromBits(m.isub(bits, exponentBits)), m.number(1.0));
  Value exponent = m.toFloat(m.sar(exponentBits, 23));
  return {m.add(exponent, bias), fraction};
}

/// The logarithm of what `finite` does not cover: zero, negative numbers,
/// infinity and NaN.
Value selectSpecialLog(Math32 &m, Value x, Value finite) {
  // As unsigned bits, all of them but zero lie above the finite numbers:
  // x * inf + inf is inf, or NaN for negative numbers and NaN.
  Value isSpecial =
      m.compare(arith::CmpIPredicate::uge, m.bits(x), m.integer(0x7f800000));
  Value special = m.fma(x, m.infinity(), m.infinity());
  Value result = m.select(isSpecial, special, finite);
  Value isZero = m.compare(arith::CmpFPredicate::OEQ, x, m.number(0.0));
  return m.select(isZero, m.negativeInfinity(), result);
}

} // namespace

Value nv_detail::emitExp2(OpBuilder &builder, Location loc, Value x,
                          bool flush) {
  return Math32(builder, loc)
      .call(flush ? "llvm.nvvm.ex2.approx.ftz" : "llvm.nvvm.ex2.approx", x);
}

Value nv_detail::emitExp(OpBuilder &builder, Location loc, Value x, bool fast,
                         bool flush) {
  Math32 m(builder, loc);
  Value log2e = m.number(kLog2E);
  if (fast)
    return emitExp2(builder, loc, m.mul(x, log2e), flush);
  // exp(x) = 2^j * 2^f with j = round(x log2 e), limited to exponents of normal
  // numbers; the difference goes to f, which is what makes results overflow,
  // become subnormal, or NaN. Adding 1.5 * 2^23 + 127 leaves j + 127 in the low
  // bits.
  constexpr double kMagic = 12582912.0 + 127.0;
  Value magic = m.number(kMagic);
  Value shifted = m.fma(x, log2e, magic);
  shifted =
      m.max(m.min(shifted, m.number(kMagic + 127.0)), m.number(kMagic - 126.0));
  Value j = m.sub(shifted, magic);
  Value scale = m.fromBits(m.shl(m.bits(shifted), 23));
  Value f = m.fma(x, log2e, m.neg(j));
  f = m.fma(x, m.number(kLog2E - 1.4426950216293335), f);
  // Where flushing f or its power matters, the product is zero anyway.
  return m.mul(emitExp2(builder, loc, f, /*flush=*/true), scale);
}

Value nv_detail::emitLog(OpBuilder &builder, Location loc, Value x, bool fast) {
  Math32 m(builder, loc);
  if (fast)
    return m.mul(m.call("llvm.nvvm.lg2.approx.f", x), m.number(kLn2));
  SplitNumber parts = splitNumber(m, x);
  Value small = emitLog1pSmall(m, parts.fraction);
  Value finite = m.fma(parts.exponent, m.number(kLn2), small);
  return selectSpecialLog(m, x, finite);
}

Value nv_detail::emitLog2(OpBuilder &builder, Location loc, Value x,
                          bool fast) {
  Math32 m(builder, loc);
  if (fast)
    return m.call("llvm.nvvm.lg2.approx.f", x);
  SplitNumber parts = splitNumber(m, x);
  Value small = emitLog1pSmall(m, parts.fraction);
  Value finite = m.fma(small, m.number(kLog2E), parts.exponent);
  return selectSpecialLog(m, x, finite);
}

//===----------------------------------------------------------------------===//
// sin and cos
//===----------------------------------------------------------------------===//

namespace {

/// x = quadrant * pi/2 + rest, with |rest| <= pi/4 (a little more after
/// rounding) and the quadrant modulo 4.
struct ReducedAngle {
  Value rest, quadrant;
};

/// Word `index` of 2/pi after `offset` words, in units of 32 bits; word 0 is
/// the (zero) integer part. `low`, `high`: the bits of the offset, 0 to 3.
Value selectWord(Math32 &m, unsigned index, Value low, Value high) {
  static const uint32_t words[] = {0x00000000, 0xa2f9836e, 0x4e441529,
                                   0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                   0x3c439041};
  auto word = [&](unsigned offset) {
    return m.integer(int32_t(words[index + offset]));
  };
  Value even = m.select(low, word(1), word(0));
  Value odd = m.select(low, word(3), word(2));
  return m.select(high, odd, even);
}

/// Payne and Hanek's reduction of a large finite x = M 2^(e-31), with a 32-bit
/// M: of 2/pi only the 96 bits count whose product with M is below 4 and above
/// 2^-62.
ReducedAngle reduceLarge(Math32 &m, Value x) {
  OpBuilder &b = m.builder;
  Location loc = m.loc;
  Type i64 = b.getI64Type(), f64 = b.getF64Type();
  auto wide = [&](Value v) -> Value {
    return arith::ExtUIOp::create(b, loc, i64, v);
  };
  auto wideConstant = [&](int64_t v) { return createInt(b, loc, 64, v); };

  Value bits = m.bits(x);
  Value exponent = m.iand(m.sar(bits, 23), 0xff);
  // The first of the 96 bits is bit e - 1 of the table.
  Value start = m.isub(exponent, m.integer(128));
  Value offset = m.sar(start, 5);
  auto isSet = [&](int64_t mask) {
    return m.compare(arith::CmpIPredicate::ne, m.iand(offset, mask),
                     m.integer(0));
  };
  Value low = isSet(1), high = isSet(2);
  Value words[4];
  for (unsigned i = 0; i < 4; ++i)
    words[i] = selectWord(m, i, low, high);
  Value shift = m.iand(start, 31);
  Value parts[3];
  for (unsigned i = 0; i < 3; ++i)
    parts[i] = callIntrinsic(b, loc, "llvm.fshl", m.i32,
                             {words[i], words[i + 1], shift});

  Value mantissa = m.shl(bits, 8);
  mantissa =
      arith::OrIOp::create(b, loc, mantissa, m.integer(int32_t(0x80000000)));
  Value factor = wide(mantissa);
  auto product = [&](unsigned i) -> Value {
    return arith::MulIOp::create(b, loc, factor, wide(parts[i]));
  };
  auto upper = [&](Value v) -> Value {
    return arith::ShRUIOp::create(b, loc, v, wideConstant(32));
  };
  // The product modulo 2^96, of which the upper 64 bits are kept: two bits of
  // quadrant and 62 of fraction.
  Value middle = arith::AddIOp::create(b, loc, product(1), upper(product(2)));
  Value top = arith::ShLIOp::create(b, loc, product(0), wideConstant(32));
  Value sum = arith::AddIOp::create(b, loc, top, middle);

  Value quadrant = arith::TruncIOp::create(
      b, loc, m.i32, arith::ShRUIOp::create(b, loc, sum, wideConstant(62)));
  Value fraction = arith::ShLIOp::create(b, loc, sum, wideConstant(2));
  // A fraction of one half or more belongs to the next quadrant; as a signed
  // number it is negative already.
  Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        fraction, wideConstant(0));
  quadrant = m.iadd(quadrant, m.select(isUpper, m.integer(1), m.integer(0)));
  Value angle = arith::SIToFPOp::create(b, loc, f64, fraction);
  angle = arith::MulFOp::create(
      b, loc, angle,
      createFloat(b, loc, f64, 1.57079632679489661923 * 0x1p-64));
  Value rest = arith::TruncFOp::create(b, loc, m.f32, angle);
  Value isNegative = m.compare(arith::CmpIPredicate::slt, bits, m.integer(0));
  rest = m.select(isNegative, m.neg(rest), rest);
  quadrant = m.select(isNegative, m.isub(m.integer(0), quadrant), quadrant);
  return {rest, quadrant};
}

ReducedAngle reduceAngle(Math32 &m, Value x) {
  // Cody and Waite with pi/2 in three parts of 24 bits each. Up to |x| = 105615
  // the first difference is exact.
  Value k = m.call("llvm.rint", m.mul(x, m.number(0.636619772367581343)));
  Value minusK = m.neg(k);
  Value rest = m.fma(minusK, m.number(1.5707963705062866), x);
  rest = m.fma(minusK, m.number(-4.371138828673793e-08), rest);
  rest = m.fma(minusK, m.number(-1.7151245100058819e-15), rest);
  Value quadrant = m.toInt(k);

  Value magnitude = m.call("llvm.fabs", x);
  // Infinity and NaN take the first way, which makes them NaN.
  Value isLarge =
      m.compare(arith::CmpFPredicate::OGT, magnitude, m.number(105615.0));
  Value isFinite =
      m.compare(arith::CmpFPredicate::OLT, magnitude, m.infinity());
  isLarge = arith::AndIOp::create(m.builder, m.loc, isLarge, isFinite);
  auto ifOp = scf::IfOp::create(
      m.builder, m.loc, isLarge,
      [&](OpBuilder &b, Location loc) {
        Math32 inner(b, loc);
        ReducedAngle large = reduceLarge(inner, x);
        scf::YieldOp::create(b, loc, ValueRange{large.rest, large.quadrant});
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, ValueRange{rest, quadrant});
      });
  return {ifOp.getResult(0), ifOp.getResult(1)};
}

/// sin(r) and cos(r) for |r| <= pi/4; relative errors of the fits are 2^-28 and
/// 2^-33.
std::pair<Value, Value> emitKernels(Math32 &m, Value r) {
  static const double sine[] = {-0.16666655242443085, 0.00833216030150652,
                                -0.00019515250460244715};
  static const double cosine[] = {
      -0.5, 0.04166664555668831, -0.0013887316454201937, 2.443312041577883e-05};
  Value square = m.mul(r, r);
  Value cube = m.mul(square, r);
  Value s = m.fma(m.polynomial(square, sine), cube, r);
  Value c = m.fma(m.polynomial(square, cosine), square, m.number(1.0));
  return {s, c};
}

/// The sine of quadrant * pi/2 + r, where `kernels` are those of r.
Value selectQuadrant(Math32 &m, std::pair<Value, Value> kernels,
                     Value quadrant) {
  auto isSet = [&](int64_t mask) {
    return m.compare(arith::CmpIPredicate::ne, m.iand(quadrant, mask),
                     m.integer(0));
  };
  Value value = m.select(isSet(1), kernels.second, kernels.first);
  return m.select(isSet(2), m.neg(value), value);
}

} // namespace

Value nv_detail::emitSin(OpBuilder &builder, Location loc, Value x, bool fast) {
  Math32 m(builder, loc);
  if (fast)
    return m.call("llvm.nvvm.sin.approx.f", x);
  ReducedAngle angle = reduceAngle(m, x);
  return selectQuadrant(m, emitKernels(m, angle.rest), angle.quadrant);
}

Value nv_detail::emitCos(OpBuilder &builder, Location loc, Value x, bool fast) {
  Math32 m(builder, loc);
  if (fast)
    return m.call("llvm.nvvm.cos.approx.f", x);
  ReducedAngle angle = reduceAngle(m, x);
  return selectQuadrant(m, emitKernels(m, angle.rest),
                        m.iadd(angle.quadrant, m.integer(1)));
}

std::pair<Value, Value> nv_detail::emitSinCos(OpBuilder &builder, Location loc,
                                              Value x) {
  Math32 m(builder, loc);
  ReducedAngle angle = reduceAngle(m, x);
  std::pair<Value, Value> kernels = emitKernels(m, angle.rest);
  Value cosineQuadrant = m.iadd(angle.quadrant, m.integer(1));
  return {selectQuadrant(m, kernels, angle.quadrant),
          selectQuadrant(m, kernels, cosineQuadrant)};
}
