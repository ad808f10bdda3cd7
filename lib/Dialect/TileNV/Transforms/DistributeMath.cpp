//===- DistributeMath.cpp - The math dialect on scalars -------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After distribution no `math` op is left: upstream's conversion would call
// libdevice for many that need no library. f16 and bf16 are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

/// f16 and bf16 are computed in f32; other types as they are.
Type getComputeType(Type type) {
  bool isNarrow = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  return isNarrow ? Float32Type::get(type.getContext()) : type;
}

/// A function that is `name` + "f" of libdevice for f32 and `name` for f64.
FailureOr<Value> callLibdevice(OpBuilder &builder, Operation *op,
                               DistributionContext &context, StringRef name,
                               Type type, ValueRange operands) {
  std::string symbol = ("__nv_" + name + (type.isF32() ? "f" : "")).str();
  return callFunction(builder, op, context.getModule(), symbol, type, operands,
                      /*pure=*/true);
}

bool isFast(arith::FastMathFlags flags) {
  return arith::bitEnumContainsAll(flags, arith::FastMathFlags::afn);
}

/// A math op on scalars, replaced by what `emit` makes of its operands in the
/// compute type.
template <typename Op> struct ScalarMath : public OpConversionPattern<Op> {
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  using Emit = std::function<FailureOr<Value>(OpBuilder &, Op, ValueRange)>;

  ScalarMath(const TypeConverter &converter, MLIRContext *context, Emit emit,
             bool widen)
      : OpConversionPattern<Op>(converter, context), emit(std::move(emit)),
        widen(widen) {}

  LogicalResult
  matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (isa<ShapedType>(type))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    for (ValueRange range : adaptor.getOperands()) {
      Value value = range.front();
      Type compute = widen ? getComputeType(value.getType()) : value.getType();
      if (compute != value.getType())
        value = arith::ExtFOp::create(rewriter, loc, compute, value);
      operands.push_back(value);
    }
    FailureOr<Value> result = emit(rewriter, op, operands);
    if (failed(result))
      return failure();
    if (result->getType() != type)
      *result = arith::TruncFOp::create(rewriter, loc, type, *result);
    rewriter.replaceOp(op, *result);
    return success();
  }

  Emit emit;
  bool widen;
};

/// Collects the patterns.
class MathPatterns {
public:
  MathPatterns(const TypeConverter &converter, RewritePatternSet &patterns,
               DistributionContext &context)
      : converter(converter), patterns(patterns), context(context) {}

  /// `emit(builder, op, operands)`; `widen`: in f32 for narrower types.
  template <typename Op>
  void add(typename ScalarMath<Op>::Emit emit, bool widen = true) {
    patterns.add<ScalarMath<Op>>(converter, patterns.getContext(),
                                 std::move(emit), widen);
  }
  /// An intrinsic that the back end knows for all types.
  template <typename Op> void addIntrinsic(StringRef name) {
    add<Op>(
        [name](OpBuilder &b, Op op, ValueRange operands) -> FailureOr<Value> {
          return callIntrinsic(b, op.getLoc(), name, op.getType(), operands);
        },
        /*widen=*/false);
  }
  /// A function of libdevice.
  template <typename Op> void addLibdevice(StringRef name) {
    DistributionContext *ctx = &context;
    add<Op>([ctx, name](OpBuilder &b, Op op, ValueRange operands) {
      return callLibdevice(b, op, *ctx, name, operands.front().getType(),
                           operands);
    });
  }
  /// `emit32(builder, op, x)` for f32, a function of libdevice for f64.
  template <typename Op>
  void addApproximation(StringRef name,
                        std::function<Value(OpBuilder &, Op, Value)> emit32) {
    DistributionContext *ctx = &context;
    add<Op>([ctx, name, emit32](OpBuilder &b, Op op,
                                ValueRange operands) -> FailureOr<Value> {
      Type type = operands.front().getType();
      if (type.isF32())
        return emit32(b, op, operands.front());
      return callLibdevice(b, op, *ctx, name, type, operands);
    });
  }

  const TypeConverter &converter;
  RewritePatternSet &patterns;
  DistributionContext &context;
};

//===----------------------------------------------------------------------===//
// Functions that need more than a line
//===----------------------------------------------------------------------===//

FailureOr<Value> emitSqrt(OpBuilder &builder, math::SqrtOp op,
                          ValueRange operands) {
  Type type = operands.front().getType();
  StringRef name =
      type.isF32() ? "llvm.nvvm.sqrt.approx.f" : "llvm.nvvm.sqrt.rn.d";
  return callIntrinsic(builder, op.getLoc(), name, type, operands);
}

FailureOr<Value> emitRsqrt(OpBuilder &builder, math::RsqrtOp op,
                           ValueRange operands) {
  Location loc = op.getLoc();
  Type type = operands.front().getType();
  if (type.isF32())
    return callIntrinsic(builder, loc, "llvm.nvvm.rsqrt.approx.f", type,
                         operands);
  Value root =
      callIntrinsic(builder, loc, "llvm.nvvm.sqrt.rn.d", type, operands);
  return arith::DivFOp::create(builder, loc,
                               createFloat(builder, loc, type, 1.0), root)
      .getResult();
}

/// True if the magnitude of the operand compares so with infinity.
template <typename Op>
std::function<FailureOr<Value>(OpBuilder &, Op, ValueRange)>
compareWithInfinity(arith::CmpFPredicate predicate) {
  return [predicate](OpBuilder &builder, Op op,
                     ValueRange operands) -> FailureOr<Value> {
    Location loc = op.getLoc();
    Value x = operands.front();
    auto type = cast<FloatType>(x.getType());
    Value magnitude = callIntrinsic(builder, loc, "llvm.fabs", type, x);
    Value infinity = arith::ConstantOp::create(
        builder, loc,
        builder.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics())));
    return arith::CmpFOp::create(builder, loc, predicate, magnitude, infinity)
        .getResult();
  };
}

/// base^exponent by repeated squaring. A negative exponent gives 0 but for the
/// bases 1 and -1.
FailureOr<Value> emitIPowI(OpBuilder &builder, math::IPowIOp op,
                           ValueRange operands) {
  Location loc = op.getLoc();
  Value base = operands[0], exponent = operands[1];
  auto type = cast<IntegerType>(op.getType());
  auto constant = [&](OpBuilder &b, int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  auto isOdd = [&](OpBuilder &b, Value value) -> Value {
    Value bit = arith::AndIOp::create(b, loc, value, constant(b, 1));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit,
                                 constant(b, 0));
  };
  Value zero = constant(builder, 0), one = constant(builder, 1);
  Value minusOne = constant(builder, -1);
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, exponent, zero);
  Value count =
      arith::SelectOp::create(builder, loc, isNegative, zero, exponent);
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{type, type, type}, ValueRange{one, base, count},
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value again = arith::CmpIOp::create(b, l, arith::CmpIPredicate::ne,
                                            args[2], constant(b, 0));
        scf::ConditionOp::create(b, l, again, args);
      },
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value product = arith::MulIOp::create(b, l, args[0], args[1]);
        Value result =
            arith::SelectOp::create(b, l, isOdd(b, args[2]), product, args[0]);
        Value square = arith::MulIOp::create(b, l, args[1], args[1]);
        Value rest = arith::ShRUIOp::create(b, l, args[2], constant(b, 1));
        scf::YieldOp::create(b, l, ValueRange{result, square, rest});
      });
  auto isEqual = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, base,
                                 value);
  };
  Value sign = arith::SelectOp::create(builder, loc, isOdd(builder, exponent),
                                       minusOne, one);
  Value inverse =
      arith::SelectOp::create(builder, loc, isEqual(minusOne), sign, zero);
  inverse = arith::SelectOp::create(builder, loc, isEqual(one), one, inverse);
  return arith::SelectOp::create(builder, loc, isNegative, inverse,
                                 loop.getResult(0))
      .getResult();
}

struct ScalarSincos : public OpConversionPattern<math::SincosOp> {
  ScalarSincos(const TypeConverter &converter, MLIRContext *patternContext,
               DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(math::SincosOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getOperand().front();
    Type type = x.getType(), compute = getComputeType(type);
    if (isa<ShapedType>(op.getOperand().getType()))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    SmallVector<Value> results;
    if (compute.isF32()) {
      if (compute != type)
        x = arith::ExtFOp::create(rewriter, loc, compute, x);
      auto [sine, cosine] = emitSinCos(rewriter, loc, x);
      results = {sine, cosine};
    } else {
      for (StringRef name : {"sin", "cos"}) {
        FailureOr<Value> value =
            callLibdevice(rewriter, op, context, name, compute, x);
        if (failed(value))
          return failure();
        results.push_back(*value);
      }
    }
    if (compute != type)
      for (Value &result : results)
        result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, results);
    return success();
  }

  DistributionContext &context;
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void addIntrinsics(MathPatterns &set) {
  set.addIntrinsic<math::AbsFOp>("llvm.fabs");
  set.addIntrinsic<math::CeilOp>("llvm.ceil");
  set.addIntrinsic<math::CopySignOp>("llvm.copysign");
  set.addIntrinsic<math::FloorOp>("llvm.floor");
  set.addIntrinsic<math::FmaOp>("llvm.fma");
  set.addIntrinsic<math::RoundEvenOp>("llvm.roundeven");
  set.addIntrinsic<math::RoundOp>("llvm.round");
  set.addIntrinsic<math::TruncOp>("llvm.trunc");
  set.addIntrinsic<math::CtPopOp>("llvm.ctpop");
  set.add<math::AbsIOp>(
      [](OpBuilder &b, math::AbsIOp op, ValueRange x) -> FailureOr<Value> {
        return LLVM::AbsOp::create(b, op.getLoc(), op.getType(), x.front(),
                                   /*is_int_min_poison=*/false)
            .getResult();
      });
  set.add<math::CountLeadingZerosOp>([](OpBuilder &b,
                                        math::CountLeadingZerosOp op,
                                        ValueRange x) -> FailureOr<Value> {
    return LLVM::CountLeadingZerosOp::create(b, op.getLoc(), op.getType(),
                                             x.front(),
                                             /*is_zero_poison=*/false)
        .getResult();
  });
  set.add<math::CountTrailingZerosOp>([](OpBuilder &b,
                                         math::CountTrailingZerosOp op,
                                         ValueRange x) -> FailureOr<Value> {
    return LLVM::CountTrailingZerosOp::create(b, op.getLoc(), op.getType(),
                                              x.front(),
                                              /*is_zero_poison=*/false)
        .getResult();
  });
  set.add<math::ClampFOp>([](OpBuilder &b, math::ClampFOp op,
                             ValueRange x) -> FailureOr<Value> {
    Value upper = arith::MinimumFOp::create(b, op.getLoc(), x[0], x[2]);
    return arith::MaximumFOp::create(b, op.getLoc(), upper, x[1]).getResult();
  });
}

void addClassification(MathPatterns &set) {
  using Predicate = arith::CmpFPredicate;
  set.add<math::IsFiniteOp>(
      compareWithInfinity<math::IsFiniteOp>(Predicate::OLT));
  set.add<math::IsInfOp>(compareWithInfinity<math::IsInfOp>(Predicate::OEQ));
  set.add<math::IsNaNOp>(
      [](OpBuilder &b, math::IsNaNOp op, ValueRange x) -> FailureOr<Value> {
        return arith::CmpFOp::create(b, op.getLoc(), Predicate::UNO, x[0], x[0])
            .getResult();
      });
  set.add<math::IsNormalOp>(
      [](OpBuilder &b, math::IsNormalOp op, ValueRange x) -> FailureOr<Value> {
        // Positive and negative normal numbers (LLVM LangRef, llvm.is.fpclass).
        return LLVM::IsFPClass::create(b, op.getLoc(), op.getType(), x.front(),
                                       /*bit=*/0x108)
            .getResult();
      },
      /*widen=*/false);
}

void addApproximations(MathPatterns &set) {
  // The error of the fast exponential is below the precision of f16 and bf16.
  set.addApproximation<math::ExpOp>(
      "exp", [](OpBuilder &b, math::ExpOp op, Value x) {
        bool isNarrow = !op.getType().isF32();
        bool fast = isFast(op.getFastmath());
        return emitExp(b, op.getLoc(), x, fast || isNarrow, /*flush=*/fast);
      });
  set.addApproximation<math::Exp2Op>(
      "exp2", [](OpBuilder &b, math::Exp2Op op, Value x) {
        return emitExp2(b, op.getLoc(), x, isFast(op.getFastmath()));
      });
  set.addApproximation<math::LogOp>(
      "log", [](OpBuilder &b, math::LogOp op, Value x) {
        return emitLog(b, op.getLoc(), x, isFast(op.getFastmath()));
      });
  set.addApproximation<math::Log2Op>(
      "log2", [](OpBuilder &b, math::Log2Op op, Value x) {
        return emitLog2(b, op.getLoc(), x, isFast(op.getFastmath()));
      });
  set.addApproximation<math::SinOp>(
      "sin", [](OpBuilder &b, math::SinOp op, Value x) {
        return emitSin(b, op.getLoc(), x, isFast(op.getFastmath()));
      });
  set.addApproximation<math::CosOp>(
      "cos", [](OpBuilder &b, math::CosOp op, Value x) {
        return emitCos(b, op.getLoc(), x, isFast(op.getFastmath()));
      });
  set.add<math::SqrtOp>(emitSqrt);
  set.add<math::RsqrtOp>(emitRsqrt);
}

void addLibdeviceCalls(MathPatterns &set) {
  set.addLibdevice<math::AcosOp>("acos");
  set.addLibdevice<math::AcoshOp>("acosh");
  set.addLibdevice<math::AsinOp>("asin");
  set.addLibdevice<math::AsinhOp>("asinh");
  set.addLibdevice<math::AtanOp>("atan");
  set.addLibdevice<math::Atan2Op>("atan2");
  set.addLibdevice<math::AtanhOp>("atanh");
  set.addLibdevice<math::CbrtOp>("cbrt");
  set.addLibdevice<math::CoshOp>("cosh");
  set.addLibdevice<math::ErfOp>("erf");
  set.addLibdevice<math::ErfcOp>("erfc");
  set.addLibdevice<math::ExpM1Op>("expm1");
  set.addLibdevice<math::Log10Op>("log10");
  set.addLibdevice<math::Log1pOp>("log1p");
  set.addLibdevice<math::PowFOp>("pow");
  set.addLibdevice<math::SinhOp>("sinh");
  set.addLibdevice<math::TanOp>("tan");
  DistributionContext *context = &set.context;
  set.add<math::TanhOp>([context](OpBuilder &b, math::TanhOp op,
                                  ValueRange x) -> FailureOr<Value> {
    Type type = x.front().getType();
    if (isFast(op.getFastmath()) && type.isF32())
      return emitPTX(b, op.getLoc(), "tanh.approx.f32 $0, $1;", "=f,f", type, x,
                     /*pure=*/true)
          .front();
    return callLibdevice(b, op, *context, "tanh", type, x);
  });
  set.add<math::FPowIOp>([context](OpBuilder &b, math::FPowIOp op,
                                   ValueRange x) -> FailureOr<Value> {
    // libdevice takes an i32; a wider exponent goes the way of pow.
    Type type = x[0].getType();
    unsigned bits = x[1].getType().getIntOrFloatBitWidth();
    Value exponent = x[1];
    if (bits > 32) {
      exponent = arith::SIToFPOp::create(b, op.getLoc(), type, exponent);
      return callLibdevice(b, op, *context, "pow", type, {x[0], exponent});
    }
    if (bits < 32)
      exponent =
          arith::ExtSIOp::create(b, op.getLoc(), b.getI32Type(), exponent);
    return callLibdevice(b, op, *context, "powi", type, {x[0], exponent});
  });
}

} // namespace

void nv_detail::populateMathPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     ConversionTarget &target,
                                     DistributionContext &context) {
  target.addIllegalDialect<math::MathDialect>();
  MathPatterns set(converter, patterns, context);
  addIntrinsics(set);
  addClassification(set);
  addApproximations(set);
  addLibdeviceCalls(set);
  set.add<math::IPowIOp>(emitIPowI);
  patterns.add<ScalarSincos>(converter, patterns.getContext(), context);
}
