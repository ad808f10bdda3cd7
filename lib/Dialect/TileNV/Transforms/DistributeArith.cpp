//===- DistributeArith.cpp - Arithmetic on scalars ------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of `arith` that upstream's conversion or the back end does not lower
// as we want, and the arithmetic of `tile`.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

bool isFP8(Type type) { return type.isFloat(8); }

/// An op on scalars.
template <typename Op> struct ScalarPattern : public OpConversionPattern<Op> {
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  ScalarPattern(const TypeConverter &converter, MLIRContext *patternContext,
                DistributionContext &context)
      : OpConversionPattern<Op>(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<ShapedType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    SmallVector<Value> operands;
    for (ValueRange range : adaptor.getOperands())
      operands.push_back(range.front());
    FailureOr<Value> result = emit(op, operands, rewriter);
    if (failed(result))
      return failure();
    rewriter.replaceOp(op, *result);
    return success();
  }

  virtual FailureOr<Value> emit(Op op, ValueRange operands,
                                OpBuilder &builder) const = 0;

  DistributionContext &context;
};

/// Computes in f32 what is narrower.
FailureOr<Value> inF32(OpBuilder &builder, Location loc, Type type,
                       ValueRange operands,
                       function_ref<FailureOr<Value>(Type, ValueRange)> emit) {
  if (type.isF32() || type.isF64())
    return emit(type, operands);
  Type f32 = builder.getF32Type();
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(arith::ExtFOp::create(builder, loc, f32, operand));
  FailureOr<Value> result = emit(f32, wide);
  if (failed(result))
    return failure();
  return arith::TruncFOp::create(builder, loc, type, *result).getResult();
}

/// Extrema as intrinsics: upstream's conversion would call libdevice for
/// some of them.
template <typename Op, typename Intrinsic>
struct ScalarExtremum : public ScalarPattern<Op> {
  using ScalarPattern<Op>::ScalarPattern;

  FailureOr<Value> emit(Op op, ValueRange operands,
                        OpBuilder &builder) const override {
    return Intrinsic::create(builder, op.getLoc(), operands[0], operands[1])
        .getResult();
  }
};

/// The division of 2 ulp; f64 has none and stays correctly rounded.
struct ScalarDivF : public ScalarPattern<arith::DivFOp> {
  using ScalarPattern::ScalarPattern;

  FailureOr<Value> emit(arith::DivFOp op, ValueRange operands,
                        OpBuilder &builder) const override {
    Location loc = op.getLoc();
    return inF32(builder, loc, op.getType(), operands,
                 [&](Type type, ValueRange values) -> FailureOr<Value> {
                   return callIntrinsic(builder, loc, "llvm.nvvm.div.full",
                                        type, values);
                 });
  }
};

/// The back end's expansion of frem is off for large quotients.
struct ScalarRemF : public ScalarPattern<arith::RemFOp> {
  using ScalarPattern::ScalarPattern;

  FailureOr<Value> emit(arith::RemFOp op, ValueRange operands,
                        OpBuilder &builder) const override {
    return inF32(builder, op.getLoc(), op.getType(), operands,
                 [&](Type type, ValueRange values) {
                   StringRef name = type.isF32() ? "__nv_fmodf" : "__nv_fmod";
                   return callFunction(builder, op, context.getModule(), name,
                                       type, values, /*pure=*/true);
                 });
  }
};

struct ScalarMulHi : public ScalarPattern<tile::MulHiOp> {
  using ScalarPattern::ScalarPattern;

  FailureOr<Value> emit(tile::MulHiOp op, ValueRange operands,
                        OpBuilder &builder) const override {
    Type type = op.getType();
    std::string name =
        op.getIsSigned() ? "llvm.nvvm.mulhi." : "llvm.nvvm.mulhi.u";
    name += type.isInteger(32) ? "i" : "ll";
    return callIntrinsic(builder, op.getLoc(), name, type, operands);
  }
};

struct ScalarPreciseSqrt : public ScalarPattern<tile::PreciseSqrtOp> {
  using ScalarPattern::ScalarPattern;

  FailureOr<Value> emit(tile::PreciseSqrtOp op, ValueRange operands,
                        OpBuilder &builder) const override {
    Type type = op.getType();
    StringRef name =
        type.isF32() ? "llvm.nvvm.sqrt.rn.f" : "llvm.nvvm.sqrt.rn.d";
    return callIntrinsic(builder, op.getLoc(), name, type, operands);
  }
};

struct ScalarPreciseDiv : public ScalarPattern<tile::PreciseDivOp> {
  using ScalarPattern::ScalarPattern;

  FailureOr<Value> emit(tile::PreciseDivOp op, ValueRange operands,
                        OpBuilder &builder) const override {
    Type type = op.getType();
    StringRef name = type.isF32() ? "llvm.nvvm.div.rn.f" : "llvm.nvvm.div.rn.d";
    return callIntrinsic(builder, op.getLoc(), name, type, operands);
  }
};

struct ScalarClamp : public ScalarPattern<tile::ClampOp> {
  using ScalarPattern::ScalarPattern;

  FailureOr<Value> emit(tile::ClampOp op, ValueRange operands,
                        OpBuilder &builder) const override {
    Location loc = op.getLoc();
    if (op.getPropagateNan()) {
      Value lower =
          arith::MaximumFOp::create(builder, loc, operands[0], operands[1]);
      return arith::MinimumFOp::create(builder, loc, lower, operands[2])
          .getResult();
    }
    Value lower =
        arith::MaxNumFOp::create(builder, loc, operands[0], operands[1]);
    return arith::MinNumFOp::create(builder, loc, lower, operands[2])
        .getResult();
  }
};

/// Arithmetic on fp8 numbers, which the hardware lacks: in f32.
struct ScalarFP8 : public ConversionPattern {
  ScalarFP8(const TypeConverter &converter, MLIRContext *patternContext,
            DistributionContext &context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/3,
                          patternContext),
        context(context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa_and_present<arith::ArithDialect, math::MathDialect>(
            op->getDialect()) ||
        isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, arith::ExtFOp,
            arith::TruncFOp>(op))
      return rewriter.notifyMatchFailure(op, "no arithmetic");
    if (llvm::none_of(op->getOperandTypes(), isFP8) &&
        llvm::none_of(op->getResultTypes(), isFP8))
      return rewriter.notifyMatchFailure(op, "no fp8 scalars");
    const tile_dialect::ChipInfo &chip = getChip(context.getKernel());
    Location loc = op->getLoc();
    Type f32 = rewriter.getF32Type();
    auto widen = [&](Type type) { return isFP8(type) ? f32 : type; };
    SmallVector<Value> wide;
    for (Value operand : operands)
      wide.push_back(emitFloatCast(rewriter, loc, chip, operand,
                                   widen(operand.getType()), {}));
    SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), widen);
    Operation *wideOp = Operation::create(
        loc, op->getName(), types, wide, op->getDiscardableAttrDictionary(),
        op->getPropertiesStorage(), BlockRange(), /*numRegions=*/0);
    rewriter.insert(wideOp);
    CastOptions options;
    options.saturate = false;
    SmallVector<Value> results;
    for (auto [value, type] :
         llvm::zip_equal(wideOp->getResults(), op->getResultTypes()))
      results.push_back(
          emitFloatCast(rewriter, loc, chip, value, type, options));
    rewriter.replaceOp(op, results);
    return success();
  }

  DistributionContext &context;
};

} // namespace

void nv_detail::populateArithPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      ConversionTarget &target,
                                      DistributionContext &context) {
  auto isLegal = [&converter](Operation *op) {
    return converter.isLegal(op) &&
           llvm::none_of(op->getOperandTypes(), isFP8) &&
           llvm::none_of(op->getResultTypes(), isFP8);
  };
  target.addDynamicallyLegalOp<arith::AddFOp, arith::CmpFOp, arith::FPToSIOp,
                               arith::FPToUIOp, arith::MulFOp, arith::NegFOp,
                               arith::SIToFPOp, arith::SubFOp, arith::UIToFPOp>(
      isLegal);
  target.addDynamicallyLegalOp<arith::DivFOp>(
      [](arith::DivFOp op) { return op.getType().isF64(); });
  target.addIllegalOp<arith::RemFOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                      arith::FloorDivSIOp, arith::MaxNumFOp, arith::MaximumFOp,
                      arith::MinNumFOp, arith::MinimumFOp>();
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  patterns.add<ScalarExtremum<arith::MaxNumFOp, LLVM::MaxNumOp>,
               ScalarExtremum<arith::MinNumFOp, LLVM::MinNumOp>,
               ScalarExtremum<arith::MaximumFOp, LLVM::MaximumOp>,
               ScalarExtremum<arith::MinimumFOp, LLVM::MinimumOp>, ScalarDivF,
               ScalarRemF, ScalarMulHi, ScalarPreciseSqrt, ScalarPreciseDiv,
               ScalarClamp, ScalarFP8>(converter, patterns.getContext(),
                                       context);
}
