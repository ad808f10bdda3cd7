//===- DistributeCasts.cpp - Conversions of floating-point types ----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fp8 goes through f16 (reading) and f32 (writing): by the instructions of
// chips that have them, else by integer arithmetic that gives the same bits.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

bool isFP8(Type type) { return type.isFloat(8); }

/// The layout of an fp8 type: sign, exponent, mantissa.
struct FP8Format {
  explicit FP8Format(Type type) {
    bool isE4M3 = isa<Float8E4M3FNType>(type);
    name = isE4M3 ? "e4m3" : "e5m2";
    mantissaBits = isE4M3 ? 3 : 2;
    bias = isE4M3 ? 7 : 15;
    largest = isE4M3 ? 0x7e : 0x7b;
    // e4m3fn has no infinity: NaN.
    overflow = isE4M3 ? 0x7f : 0x7c;
  }
  StringRef name;
  int mantissaBits, bias, largest, overflow;
  static constexpr int nan = 0x7f;
};

/// Integer and f32 arithmetic for the conversions.
class Bits {
public:
  Bits(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}
  Value constant(Type type, int64_t value) {
    return createInt(builder, loc, type.getIntOrFloatBitWidth(), value);
  }
  template <typename Op> Value op(Value a, int64_t b) {
    return Op::create(builder, loc, a, constant(a.getType(), b));
  }
  template <typename Op> Value op(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(builder, loc, predicate, a,
                                 constant(a.getType(), b));
  }
  Value select(Value c, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, c, a, b);
  }
  Value bitcast(Value value, Type type) {
    return value.getType() == type
               ? value
               : arith::BitcastOp::create(builder, loc, type, value);
  }
  Value zext(Value value, Type type) {
    return arith::ExtUIOp::create(builder, loc, type, value);
  }
  Value trunc(Value value, Type type) {
    return arith::TruncIOp::create(builder, loc, type, value);
  }

  OpBuilder &builder;
  Location loc;
};

/// An fp8 number as the f16 of the same value: every fp8 number is one.
Value decodeFP8(OpBuilder &builder, Location loc,
                const tile_dialect::ChipInfo &chip, Value value) {
  Bits b(builder, loc);
  FP8Format format(value.getType());
  Type i16 = builder.getI16Type(), f16 = builder.getF16Type();
  Value byte = b.bitcast(value, builder.getI8Type());
  Value wide = b.zext(byte, i16);
  // e5m2 is the upper byte of an f16.
  if (format.mantissaBits == 2)
    return b.bitcast(b.op<arith::ShLIOp>(wide, 8), f16);
  if (chip.hasFP8Conversions) {
    Value pair = emitPTX(builder, loc, "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h",
                         builder.getI32Type(), wide, /*pure=*/true)
                     .front();
    return b.bitcast(b.trunc(pair, i16), f16);
  }
  // In place, but for the bias of the exponent: 2^8 too small. The product is
  // exact, subnormal numbers included.
  Value magnitude = b.op<arith::AndIOp>(wide, 0x7f);
  Value scaled = arith::MulFOp::create(
      builder, loc, b.bitcast(b.op<arith::ShLIOp>(magnitude, 7), f16),
      createFloat(builder, loc, f16, 256.0));
  Value sign = b.op<arith::ShLIOp>(b.op<arith::AndIOp>(wide, 0x80), 8);
  Value bits = b.op<arith::OrIOp>(b.bitcast(scaled, i16), sign);
  // As the instruction does, a NaN loses its sign.
  Value isNaN = b.compare(arith::CmpIPredicate::eq, magnitude, FP8Format::nan);
  return b.bitcast(b.select(isNaN, b.constant(i16, 0x7fff), bits), f16);
}

/// The bits of f32 `magnitude` (sign cleared) as an fp8 number, before special
/// values: larger than the format's largest one if it does not fit.
Value roundToFP8(Bits &b, const FP8Format &format, Value magnitude,
                 tile::Rounding rounding) {
  Type f32 = b.builder.getF32Type(), i32 = b.builder.getI32Type();
  int shift = 23 - format.mantissaBits;
  bool isNearest = rounding == tile::Rounding::NearestEven;

  // Normal results: round at the last bit that is kept, then change the bias.
  Value rounded = magnitude;
  if (isNearest) {
    Value last = b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(magnitude, shift), 1);
    rounded = b.op<arith::AddIOp>(
        b.op<arith::AddIOp>(magnitude, (int64_t(1) << (shift - 1)) - 1), last);
  }
  rounded = b.op<arith::SubIOp>(rounded, int64_t(127 - format.bias) << 23);
  Value normal = b.op<arith::ShRUIOp>(rounded, shift);

  // Subnormal results are multiples of a power of two.
  int unit = 1 - format.bias - format.mantissaBits;
  Value number = b.bitcast(magnitude, f32), subnormal;
  if (isNearest) {
    // An addend whose last bit is that unit makes the addition round.
    APFloat magic =
        scalbn(APFloat(1.0f), unit + 23, APFloat::rmNearestTiesToEven);
    Value sum = arith::AddFOp::create(
        b.builder, b.loc, number,
        createFloat(b.builder, b.loc, f32, magic.convertToFloat()));
    subnormal = b.op<arith::SubIOp>(b.bitcast(sum, i32),
                                    magic.bitcastToAPInt().getZExtValue());
  } else {
    Value scaled = arith::MulFOp::create(
        b.builder, b.loc, number,
        createFloat(b.builder, b.loc, f32, double(int64_t(1) << -unit)));
    subnormal = arith::FPToUIOp::create(b.builder, b.loc, i32, scaled);
  }
  Value isSubnormal = b.compare(arith::CmpIPredicate::ult, magnitude,
                                int64_t(127 + 1 - format.bias) << 23);
  return b.select(isSubnormal, subnormal, normal);
}

Value encodeFP8(OpBuilder &builder, Location loc,
                const tile_dialect::ChipInfo &chip, Value value, Type type,
                CastOptions options) {
  Bits b(builder, loc);
  FP8Format format(type);
  Type i8 = builder.getI8Type(), i32 = builder.getI32Type();
  bool isNearest = options.rounding == tile::Rounding::NearestEven;
  if (chip.hasFP8Conversions && isNearest && options.saturate) {
    std::string text =
        ("cvt.rn.satfinite." + format.name + "x2.f32 $0, $1, $2;").str();
    Value zero = createFloat(builder, loc, builder.getF32Type(), 0.0);
    Value pair = emitPTX(builder, loc, text, "=h,f,f", builder.getI16Type(),
                         {zero, value}, /*pure=*/true)
                     .front();
    return b.bitcast(b.trunc(pair, i8), type);
  }
  Value bits = b.bitcast(value, i32);
  Value magnitude = b.op<arith::AndIOp>(bits, 0x7fffffff);
  Value code = roundToFP8(b, format, magnitude, options.rounding);
  // Toward zero, a finite number does not become infinite.
  int limit = options.saturate || !isNearest ? format.largest : format.overflow;
  code = b.op<arith::MinUIOp>(code, limit);
  constexpr int64_t infinity = 0x7f800000;
  if (limit != format.overflow && !options.saturate)
    code = b.select(b.compare(arith::CmpIPredicate::eq, magnitude, infinity),
                    b.constant(i32, format.overflow), code);
  Value sign = b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(bits, 24), 0x80);
  code = b.op<arith::OrIOp>(code, sign);
  // As the instructions do, a NaN loses its sign.
  code = b.select(b.compare(arith::CmpIPredicate::ugt, magnitude, infinity),
                  b.constant(i32, FP8Format::nan), code);
  return b.bitcast(b.trunc(code, i8), type);
}

/// f64 to f32 such that a second rounding (nearest, to fewer bits) gives what
/// one rounding would: an inexact result gets an odd last bit.
Value roundToOdd(OpBuilder &builder, Location loc, Value value) {
  Bits b(builder, loc);
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Value narrow = callIntrinsic(builder, loc, "llvm.nvvm.d2f.rz", f32, value);
  Value back = arith::ExtFOp::create(builder, loc, value.getType(), narrow);
  // Ordered: a NaN stays as it is.
  Value isInexact = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ONE, back, value);
  Value bits = b.bitcast(narrow, i32);
  Value odd = b.op<arith::OrIOp>(bits, 1);
  return b.bitcast(b.select(isInexact, odd, bits), f32);
}

/// f32 to bf16, toward zero: the upper half.
Value truncateToBF16(OpBuilder &builder, Location loc,
                     const tile_dialect::ChipInfo &chip, Value value) {
  Bits b(builder, loc);
  Type i16 = builder.getI16Type(), bf16 = builder.getBF16Type();
  if (chip.hasBF16)
    return b.bitcast(emitPTX(builder, loc, "cvt.rz.bf16.f32 $0, $1;", "=h,f",
                             i16, value, /*pure=*/true)
                         .front(),
                     bf16);
  Value bits = b.bitcast(value, builder.getI32Type());
  Value upper = b.trunc(b.op<arith::ShRUIOp>(bits, 16), i16);
  // The upper half of a NaN may look like infinity.
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  return b.bitcast(b.select(isNaN, b.constant(i16, 0x7fff), upper), bf16);
}

/// f32 or f64 to a narrower type of 16 or 32 bits, toward zero.
Value truncateTowardZero(OpBuilder &builder, Location loc,
                         const tile_dialect::ChipInfo &chip, Value value,
                         Type type) {
  Bits b(builder, loc);
  bool isDouble = value.getType().isF64();
  if (type.isF16()) {
    std::string text =
        isDouble ? "cvt.rz.f16.f64 $0, $1;" : "cvt.rz.f16.f32 $0, $1;";
    Value bits = emitPTX(builder, loc, text, isDouble ? "=h,d" : "=h,f",
                         builder.getI16Type(), value, /*pure=*/true)
                     .front();
    return b.bitcast(bits, type);
  }
  if (isDouble)
    value = callIntrinsic(builder, loc, "llvm.nvvm.d2f.rz",
                          builder.getF32Type(), value);
  return type.isF32() ? value : truncateToBF16(builder, loc, chip, value);
}

} // namespace

/// bf16 as f32 or f64: its bits are the upper half of the f32. Not as
/// arith.extf, through which LLVM 22 narrows arithmetic: it takes `fptrunc half
/// (fmul (fpext bfloat a), (fpext bfloat b))` for a product of halves, which
/// have more bits than a bf16 but not its exponents.
static Value extendBF16(OpBuilder &builder, Location loc, Value value,
                        Type type) {
  Bits b(builder, loc);
  Value bits =
      b.zext(b.bitcast(value, builder.getI16Type()), builder.getI32Type());
  Value wide = b.bitcast(b.op<arith::ShLIOp>(bits, 16), builder.getF32Type());
  return type.isF32() ? wide : arith::ExtFOp::create(builder, loc, type, wide);
}

Value nv_detail::emitFloatCast(OpBuilder &builder, Location loc,
                               const tile_dialect::ChipInfo &chip, Value value,
                               Type type, CastOptions options) {
  Type source = value.getType(), f32 = builder.getF32Type();
  if (source == type)
    return value;
  if (isFP8(source))
    return emitFloatCast(builder, loc, chip,
                         decodeFP8(builder, loc, chip, value), type, options);
  bool isNearest = options.rounding == tile::Rounding::NearestEven;
  unsigned sourceBits = source.getIntOrFloatBitWidth();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (sourceBits == 16 && bits <= 16)
    return emitFloatCast(builder, loc, chip,
                         arith::ExtFOp::create(builder, loc, f32, value), type,
                         options);
  if (isFP8(type)) {
    if (source.isF64())
      value = isNearest ? roundToOdd(builder, loc, value)
                        : truncateTowardZero(builder, loc, chip, value, f32);
    return encodeFP8(builder, loc, chip, value, type, options);
  }
  if (bits > sourceBits && source.isBF16())
    return extendBF16(builder, loc, value, type);
  if (bits > sourceBits)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (isNearest)
    return arith::TruncFOp::create(builder, loc, type, value);
  return truncateTowardZero(builder, loc, chip, value, type);
}

namespace {

struct ScalarFPCast : public OpConversionPattern<tile::FPCastOp> {
  ScalarFPCast(const TypeConverter &converter, MLIRContext *patternContext,
               DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::FPCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<ShapedType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    CastOptions options;
    options.rounding = op.getRounding();
    rewriter.replaceOp(
        op, emitFloatCast(rewriter, op.getLoc(), getChip(context.getKernel()),
                          adaptor.getSource().front(), op.getType(), options));
    return success();
  }

  DistributionContext &context;
};

/// Tiles of fp8 on chips whose instructions convert two numbers at once.
struct DistributePairedCast : public OpConversionPattern<tile::FPCastOp> {
  DistributePairedCast(const TypeConverter &converter,
                       MLIRContext *patternContext,
                       DistributionContext &context)
      : OpConversionPattern(converter, patternContext, /*benefit=*/2),
        context(context) {}

  LogicalResult
  matchAndRewrite(tile::FPCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const tile_dialect::ChipInfo &chip = getChip(context.getKernel());
    ValueRange sources = adaptor.getSource();
    if (!chip.hasFP8Conversions || sources.size() % 2 != 0)
      return rewriter.notifyMatchFailure(op, "no pairs");
    Type source = sources.front().getType();
    Type type = getElementTypeOrSelf(op.getType());
    bool isNearest = op.getRounding() == tile::Rounding::NearestEven;
    bool decodes = isa<Float8E4M3FNType>(source);
    bool encodes = isFP8(type) && !isFP8(source) && isNearest;
    if (!decodes && !encodes)
      return rewriter.notifyMatchFailure(op, "no instruction for pairs");
    CastOptions options;
    options.rounding = op.getRounding();
    Registers results;
    for (size_t reg = 0; reg < sources.size(); reg += 2) {
      ValueRange pair = sources.slice(reg, 2);
      if (decodes)
        for (Value half : decode(rewriter, op.getLoc(), pair))
          results.push_back(
              emitFloatCast(rewriter, op.getLoc(), chip, half, type, options));
      else
        llvm::append_range(results,
                           encode(rewriter, op.getLoc(), chip, pair, type));
    }
    tile_gpu::replaceWithRegisters(rewriter, op, {results});
    return success();
  }

  /// Two e4m3 numbers as f16.
  static SmallVector<Value, 2> decode(OpBuilder &builder, Location loc,
                                      ValueRange pair) {
    Bits b(builder, loc);
    Type i8 = builder.getI8Type(), i16 = builder.getI16Type();
    Type f16 = builder.getF16Type();
    Value low = b.zext(b.bitcast(pair[0], i8), i16);
    Value high = b.zext(b.bitcast(pair[1], i8), i16);
    Value packed = b.op<arith::OrIOp>(low, b.op<arith::ShLIOp>(high, 8));
    Value halves = emitPTX(builder, loc, "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h",
                           builder.getI32Type(), packed, /*pure=*/true)
                       .front();
    Value first = b.trunc(halves, i16);
    Value second = b.trunc(b.op<arith::ShRUIOp>(halves, 16), i16);
    return {b.bitcast(first, f16), b.bitcast(second, f16)};
  }

  /// Two numbers of any type as fp8.
  static SmallVector<Value, 2> encode(OpBuilder &builder, Location loc,
                                      const tile_dialect::ChipInfo &chip,
                                      ValueRange pair, Type type) {
    Bits b(builder, loc);
    Type i8 = builder.getI8Type(), i16 = builder.getI16Type();
    SmallVector<Value, 2> wide;
    for (Value value : pair)
      wide.push_back(value.getType().isF64()
                         ? roundToOdd(builder, loc, value)
                         : emitFloatCast(builder, loc, chip, value,
                                         builder.getF32Type(), {}));
    std::string text =
        ("cvt.rn.satfinite." + FP8Format(type).name + "x2.f32 $0, $2, $1;")
            .str();
    Value packed =
        emitPTX(builder, loc, text, "=h,f,f", i16, wide, /*pure=*/true).front();
    Value first = b.trunc(packed, i8);
    Value second = b.trunc(b.op<arith::ShRUIOp>(packed, 8), i8);
    return {b.bitcast(first, type), b.bitcast(second, type)};
  }

  DistributionContext &context;
};

/// arith.extf of fp8 and bf16, arith.truncf to fp8 or with a rounding mode.
/// Unlike tile.fp_cast they do not saturate.
template <typename Op> struct ScalarArithCast : public OpConversionPattern<Op> {
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  ScalarArithCast(const TypeConverter &converter, MLIRContext *patternContext,
                  DistributionContext &context)
      : OpConversionPattern<Op>(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<ShapedType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    CastOptions options;
    options.saturate = false;
    if constexpr (std::is_same_v<Op, arith::TruncFOp>) {
      auto mode = op.getRoundingmode();
      if (mode == arith::RoundingMode::toward_zero)
        options.rounding = tile::Rounding::TowardZero;
      else if (mode && mode != arith::RoundingMode::to_nearest_even)
        return op.emitOpError("cannot round ")
               << arith::stringifyRoundingMode(*mode)
               << " on this target: only to_nearest_even and toward_zero";
    }
    rewriter.replaceOp(
        op, emitFloatCast(rewriter, op.getLoc(), getChip(context.getKernel()),
                          adaptor.getIn().front(), op.getType(), options));
    return success();
  }

  DistributionContext &context;
};

} // namespace

void nv_detail::populateCastPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     ConversionTarget &target,
                                     DistributionContext &context) {
  target.addDynamicallyLegalOp<arith::ExtFOp>([&converter](arith::ExtFOp op) {
    Type source = op.getIn().getType();
    return converter.isLegal(op.getOperation()) && !isFP8(source) &&
           !source.isBF16();
  });
  target.addDynamicallyLegalOp<arith::TruncFOp>(
      [&converter](arith::TruncFOp op) {
        return converter.isLegal(op.getOperation()) && !op.getRoundingmode() &&
               !isFP8(op.getType());
      });
  patterns
      .add<ScalarFPCast, DistributePairedCast, ScalarArithCast<arith::ExtFOp>,
           ScalarArithCast<arith::TruncFOp>>(converter, patterns.getContext(),
                                             context);
}
