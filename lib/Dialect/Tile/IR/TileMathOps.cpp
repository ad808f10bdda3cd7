//===- TileMathOps.cpp - Arithmetic and matrix products ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tile;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isFP8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static const llvm::fltSemantics &semantics(Type type) {
  return cast<FloatType>(type).getFloatSemantics();
}

//===----------------------------------------------------------------------===//
// fp_cast
//===----------------------------------------------------------------------===//

/// True if every value of `from` is one of `to`.
static bool isWidening(Type from, Type to) {
  return APFloat::isRepresentableBy(semantics(from), semantics(to));
}

LogicalResult FPCastOp::verify() {
  Type source = getElementTypeOrSelf(getSource());
  Type result = getElementTypeOrSelf(getType());
  if (getRounding() == Rounding::NearestEven || !isWidening(source, result))
    return success();
  return emitOpError("expects a conversion that may round for round(")
         << stringifyRounding(getRounding()) << "); found " << source << " to "
         << result;
}

/// Round `value` to `type` as the op's description says.
static APFloat convertFloat(APFloat value, Type type, Rounding rounding) {
  bool losesInfo;
  if (value.isNaN())
    return APFloat::getNaN(semantics(type), value.isNegative());
  if (isFP8(type)) {
    // Saturate before the conversion: e4m3 has no infinity to come from.
    APFloat largest = APFloat::getLargest(semantics(type));
    largest.convert(value.getSemantics(), APFloat::rmTowardZero, &losesInfo);
    APFloat magnitude = value;
    magnitude.clearSign();
    if (magnitude > largest)
      return APFloat::getLargest(semantics(type), value.isNegative());
  }
  value.convert(semantics(type),
                rounding == Rounding::TowardZero ? APFloat::rmTowardZero
                                                 : APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

OpFoldResult FPCastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  Type type = getElementTypeOrSelf(getType());
  if (auto inner = getSource().getDefiningOp<FPCastOp>()) {
    Type innerSource = getElementTypeOrSelf(inner.getSource());
    // An exact first conversion has no part in the result. But there and back,
    // e5m2 loses its infinities.
    if (isWidening(innerSource, getElementTypeOrSelf(inner.getType())) &&
        !(innerSource == type && isa<Float8E5M2Type>(type))) {
      if (inner.getSource().getType() == getType())
        return inner.getSource();
      if (isWidening(innerSource, type))
        setRounding(Rounding::NearestEven);
      getSourceMutable().assign(inner.getSource());
      return getResult();
    }
  }
  return foldSplats(adaptor.getSource(), getType(),
                    [&](ArrayRef<TypedAttr> elements) -> TypedAttr {
                      auto value = dyn_cast<FloatAttr>(elements[0]);
                      if (!value)
                        return {};
                      return FloatAttr::get(
                          type,
                          convertFloat(value.getValue(), type, getRounding()));
                    });
}

//===----------------------------------------------------------------------===//
// mulhi, precise_sqrt, precise_div, clamp
//===----------------------------------------------------------------------===//

OpFoldResult MulHiOp::fold(FoldAdaptor adaptor) {
  // Constants are on the right, since the op is commutative.
  if (auto rhs =
          dyn_cast_if_present<IntegerAttr>(getSplatElement(adaptor.getRhs()))) {
    if (rhs.getValue().isZero())
      return adaptor.getRhs();
    if (rhs.getValue().isOne() && !getIsSigned())
      return Attribute(
          getConstant(getType(), IntegerAttr::get(rhs.getType(), 0)));
  }
  return foldSplats(
      adaptor.getOperands(), getType(),
      [&](ArrayRef<TypedAttr> elements) -> TypedAttr {
        auto lhs = dyn_cast<IntegerAttr>(elements[0]);
        auto rhs = dyn_cast<IntegerAttr>(elements[1]);
        if (!lhs || !rhs)
          return {};
        APInt product =
            getIsSigned()
                ? llvm::APIntOps::mulhs(lhs.getValue(), rhs.getValue())
                : llvm::APIntOps::mulhu(lhs.getValue(), rhs.getValue());
        return IntegerAttr::get(lhs.getType(), product);
      });
}

OpFoldResult PreciseSqrtOp::fold(FoldAdaptor adaptor) {
  return foldSplats(
      adaptor.getSource(), getType(),
      [&](ArrayRef<TypedAttr> elements) -> TypedAttr {
        auto value = dyn_cast<FloatAttr>(elements[0]);
        if (!value)
          return {};
        // IEEE 754 asks for a correctly rounded sqrt of the host too.
        APFloat root =
            value.getType().isF32()
                ? APFloat(std::sqrt(value.getValue().convertToFloat()))
                : APFloat(std::sqrt(value.getValue().convertToDouble()));
        return FloatAttr::get(value.getType(), root);
      });
}

OpFoldResult PreciseDivOp::fold(FoldAdaptor adaptor) {
  auto divisor =
      dyn_cast_if_present<FloatAttr>(getSplatElement(adaptor.getRhs()));
  if (divisor && divisor.getValue().isExactlyValue(1.0))
    return getLhs();
  return foldSplats(adaptor.getOperands(), getType(),
                    [&](ArrayRef<TypedAttr> elements) -> TypedAttr {
                      auto lhs = dyn_cast<FloatAttr>(elements[0]);
                      auto rhs = dyn_cast<FloatAttr>(elements[1]);
                      if (!lhs || !rhs)
                        return {};
                      APFloat quotient = lhs.getValue();
                      quotient.divide(rhs.getValue(),
                                      APFloat::rmNearestTiesToEven);
                      return FloatAttr::get(lhs.getType(), quotient);
                    });
}

OpFoldResult ClampOp::fold(FoldAdaptor adaptor) {
  return foldSplats(adaptor.getOperands(), getType(),
                    [&](ArrayRef<TypedAttr> elements) -> TypedAttr {
                      auto source = dyn_cast<FloatAttr>(elements[0]);
                      auto min = dyn_cast<FloatAttr>(elements[1]);
                      auto max = dyn_cast<FloatAttr>(elements[2]);
                      if (!source || !min || !max)
                        return {};
                      if (source.getValue().isNaN() && getPropagateNan())
                        return source;
                      // maxnum and minnum return the operand that is a number.
                      APFloat value = llvm::minnum(
                          llvm::maxnum(source.getValue(), min.getValue()),
                          max.getValue());
                      return FloatAttr::get(source.getType(), value);
                    });
}

//===----------------------------------------------------------------------===//
// extern_elementwise, inline_asm_elementwise
//===----------------------------------------------------------------------===//

/// The effects of code that is opaque: any, unless it is declared pure.
static void
getOpaqueEffects(bool isPure,
                 SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (isPure)
    return;
  effects.emplace_back(MemoryEffects::Read::get(),
                       SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(),
                       SideEffects::DefaultResource::get());
}

static Speculation::Speculatability getOpaqueSpeculatability(bool isPure) {
  return isPure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

void ExternElementwiseOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getOpaqueEffects(getIsPure(), effects);
}

Speculation::Speculatability ExternElementwiseOp::getSpeculatability() {
  return getOpaqueSpeculatability(getIsPure());
}

LogicalResult ExternElementwiseOp::verify() {
  if (getSymbol().empty())
    return emitOpError("expects the name of a function; found an empty one");
  return success();
}

void InlineAsmElementwiseOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  getOpaqueEffects(getIsPure(), effects);
}

Speculation::Speculatability InlineAsmElementwiseOp::getSpeculatability() {
  return getOpaqueSpeculatability(getIsPure());
}

/// The number of 32-bit (or wider) registers of `pack` elements.
static int64_t countRegisters(Type type, int64_t pack) {
  int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return width >= 32 ? pack : llvm::divideCeil(pack * width, 32);
}

/// The operands among the constraints of inline assembly, without modifiers.
/// Clobbers (`~{memory}`) are no operands.
static void splitConstraints(StringRef text,
                             SmallVectorImpl<StringRef> &outputs,
                             SmallVectorImpl<StringRef> &inputs) {
  SmallVector<StringRef> constraints;
  text.split(constraints, ',', -1, /*KeepEmpty=*/false);
  for (StringRef constraint : constraints) {
    constraint = constraint.trim();
    if (constraint.consume_front("=")) {
      constraint.consume_front("&");
      outputs.push_back(constraint);
    } else if (!constraint.starts_with("~")) {
      inputs.push_back(constraint);
    }
  }
  // A digit ties an input to an output.
  for (StringRef &constraint : inputs) {
    unsigned index;
    if (!constraint.getAsInteger(10, index) && index < outputs.size())
      constraint = outputs[index];
  }
}

/// The bits of a register of class `constraint`; 0 for what is no register of
/// PTX, which is the target's to judge.
static int64_t getRegisterWidth(StringRef constraint) {
  return llvm::StringSwitch<int64_t>(constraint)
      .Case("b", 1)
      .Case("h", 16)
      .Cases({"r", "f"}, 32)
      .Cases({"l", "d"}, 64)
      .Default(0);
}

/// Verify that registers hold the bits of their elements: all of them, and of
/// elements that fill a register by themselves no others. `constraints` has an
/// entry for each register of each of `types`.
static LogicalResult verifyRegisterWidths(Operation *op, StringRef role,
                                          TypeRange types, int64_t pack,
                                          ArrayRef<StringRef> constraints) {
  for (auto [number, type] : llvm::enumerate(types)) {
    int64_t width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    int64_t needed =
        width >= 32 ? width : width * std::min<int64_t>(pack, 32 / width);
    int64_t count = countRegisters(type, pack);
    for (StringRef constraint : constraints.take_front(count)) {
      int64_t found = getRegisterWidth(constraint);
      if (found == 0 || found == needed || (found > needed && width < 32))
        continue;
      return op->emitOpError("expects registers of ")
             << (width < 32 ? "at least " : "") << needed << " bits for "
             << role << " #" << number << "; found constraint '" << constraint
             << "' of " << found;
    }
    constraints = constraints.drop_front(count);
  }
  return success();
}

LogicalResult InlineAsmElementwiseOp::verify() {
  if (getResults().empty())
    return emitOpError("expects at least one result; found none");
  int64_t pack = getPack();
  auto tile = dyn_cast<RankedTensorType>(getResults().front().getType());
  int64_t elements = tile ? tile.getNumElements() : 1;
  if (elements % pack != 0)
    return emitOpError("expects pack to divide the number of elements, ")
           << elements << "; found " << pack;
  SmallVector<StringRef> outputs, inputs;
  splitConstraints(getConstraints(), outputs, inputs);
  size_t expectedOutputs = 0, expectedInputs = 0;
  for (Type type : getResults().getTypes())
    expectedOutputs += countRegisters(type, pack);
  for (Type type : getArgs().getTypes())
    expectedInputs += countRegisters(type, pack);
  if (outputs.size() != expectedOutputs || inputs.size() != expectedInputs)
    return emitOpError("expects constraints for ")
           << expectedOutputs << " outputs and " << expectedInputs
           << " inputs; found " << outputs.size() << " and " << inputs.size();
  if (failed(verifyRegisterWidths(*this, "result", getResults().getTypes(),
                                  pack, outputs)))
    return failure();
  return verifyRegisterWidths(*this, "argument", getArgs().getTypes(), pack,
                              inputs);
}

//===----------------------------------------------------------------------===//
// dot
//===----------------------------------------------------------------------===//

/// Verify `[M, K] * [K, N] -> [M, N]`, with an optional batch dimension.
static LogicalResult verifyMatrixShapes(Operation *op, ArrayRef<int64_t> a,
                                        ArrayRef<int64_t> b,
                                        ArrayRef<int64_t> acc) {
  bool isRankLegal = acc.size() == 2 || acc.size() == 3;
  if (!isRankLegal || a.size() != acc.size() || b.size() != acc.size())
    return op->emitOpError("expects operands of rank 2, or 3 with a batch "
                           "dimension; found ranks ")
           << a.size() << ", " << b.size() << " and " << acc.size();
  size_t batch = acc.size() - 2;
  bool matches = a.take_front(batch) == acc.take_front(batch) &&
                 b.take_front(batch) == acc.take_front(batch) &&
                 a[batch + 1] == b[batch] && a[batch] == acc[batch] &&
                 b[batch + 1] == acc[batch + 1];
  if (matches)
    return success();
  return op->emitOpError("expects shapes [M, K] * [K, N] -> [M, N]; found [")
         << a << "] * [" << b << "] -> [" << acc << "]";
}

/// The accumulators that `dot` has for operands of `element`, or an empty
/// string for elements that it does not multiply.
static StringRef getAccumulators(Type element) {
  if (element.isInteger(8))
    return "i32";
  if (element.isF16() || isFP8(element))
    return "f32 or f16";
  if (element.isBF16() || element.isF32())
    return "f32";
  if (element.isF64())
    return "f64";
  return "";
}

static bool isAccumulator(Type element, Type acc) {
  if (element.isInteger(8))
    return acc.isInteger(32);
  if (element.isF64())
    return acc.isF64();
  return acc.isF32() || (acc.isF16() && (element.isF16() || isFP8(element)));
}

LogicalResult DotOp::verify() {
  RankedTensorType a = tileType(getA()), b = tileType(getB()), acc = getType();
  Type aElement = a.getElementType(), bElement = b.getElementType();
  if (failed(verifyMatrixShapes(*this, a.getShape(), b.getShape(),
                                acc.getShape())))
    return failure();
  if (aElement != bElement && !(isFP8(aElement) && isFP8(bElement)))
    return emitOpError("expects a and b to have the same element type, or fp8 "
                       "types; found ")
           << aElement << " and " << bElement;
  StringRef accumulators = getAccumulators(aElement);
  if (accumulators.empty())
    return emitOpError(
               "expects elements of i8, f8E4M3FN, f8E5M2, f16, bf16, f32 "
               "or f64; found ")
           << aElement;
  if (!isAccumulator(aElement, acc.getElementType()))
    return emitOpError("expects an accumulator of ")
           << accumulators << " for elements of " << aElement << "; found "
           << acc.getElementType();
  if (getPrecision() != InputPrecision::TF32 && !aElement.isF32())
    return emitOpError("expects elements of f32 for precision(")
           << stringifyInputPrecision(getPrecision()) << "); found "
           << aElement;
  if (failed(verifyBothEncoded(*this, a, b)))
    return failure();
  return verifyBothEncoded(*this, a, acc);
}

OpFoldResult DotOp::fold(FoldAdaptor adaptor) {
  // Integers only: 0 * infinity is not 0.
  for (Attribute operand : {adaptor.getA(), adaptor.getB()}) {
    auto element = dyn_cast_if_present<IntegerAttr>(getSplatElement(operand));
    if (element && element.getValue().isZero())
      return getAcc();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// dot_scaled
//===----------------------------------------------------------------------===//

/// Elements along K that share a scale.
static constexpr int64_t kScaleBlock = 32;

/// Verify the element type of an operand in `format`.
static LogicalResult verifyScaledElement(Operation *op, StringRef operand,
                                         ScaledFormat format, Type element) {
  StringRef expected;
  bool isLegal = false;
  switch (format) {
  case ScaledFormat::E2M1:
    expected = "i8";
    isLegal = element.isInteger(8);
    break;
  case ScaledFormat::E4M3:
    expected = "f8E4M3FN or i8";
    isLegal = element.isInteger(8) || isa<Float8E4M3FNType>(element);
    break;
  case ScaledFormat::E5M2:
    expected = "f8E5M2 or i8";
    isLegal = element.isInteger(8) || isa<Float8E5M2Type>(element);
    break;
  case ScaledFormat::BF16:
    expected = "bf16";
    isLegal = element.isBF16();
    break;
  case ScaledFormat::FP16:
    expected = "f16";
    isLegal = element.isF16();
    break;
  }
  if (isLegal)
    return success();
  return op->emitOpError("expects ")
         << operand << " to have elements of " << expected << " for "
         << stringifyScaledFormat(format) << "; found " << element;
}

/// Verify the scale of one operand, whose rows (of extent `outer`, behind
/// `batch`) are `k` elements long.
static LogicalResult verifyScale(Operation *op, StringRef name, Value scale,
                                 ArrayRef<int64_t> batch, int64_t outer,
                                 int64_t k) {
  if (!scale)
    return success();
  SmallVector<int64_t> expected(batch);
  expected.append({outer, k / kScaleBlock});
  if (k % kScaleBlock != 0)
    return op->emitOpError("expects K to be a multiple of ")
           << kScaleBlock << "; found " << k;
  if (tileType(scale).getShape() == ArrayRef<int64_t>(expected))
    return success();
  return op->emitOpError("expects ")
         << name << " to have shape [" << expected << "]; found ["
         << tileType(scale).getShape() << "]";
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType acc = getType();
  if (failed(verifyScaledElement(*this, "a", getAFormat(),
                                 tileType(getA()).getElementType())) ||
      failed(verifyScaledElement(*this, "b", getBFormat(),
                                 tileType(getB()).getElementType())))
    return failure();
  if (!acc.getElementType().isF32())
    return emitOpError("expects an accumulator of f32; found ")
           << acc.getElementType();
  if (!getAScale() && !getBScale())
    return emitOpError("expects a scale for a or b; found none");
  // Undo the packing to get the shapes of the matrices.
  SmallVector<int64_t> a(tileType(getA()).getShape());
  SmallVector<int64_t> b(tileType(getB()).getShape());
  if (a.size() >= 2 && getAFormat() == ScaledFormat::E2M1)
    a[a.size() - (getAKPack() ? 1 : 2)] *= 2;
  if (b.size() >= 2 && getBFormat() == ScaledFormat::E2M1)
    b[b.size() - (getBKPack() ? 2 : 1)] *= 2;
  if ((!getAKPack() && getAFormat() != ScaledFormat::E2M1) ||
      (!getBKPack() && getBFormat() != ScaledFormat::E2M1))
    return emitOpError(
               "expects the format e2m1 for an operand that is not packed "
               "along K; found ")
           << stringifyScaledFormat(!getAKPack() &&
                                            getAFormat() != ScaledFormat::E2M1
                                        ? getAFormat()
                                        : getBFormat());
  if (failed(verifyMatrixShapes(*this, a, b, acc.getShape())))
    return failure();
  ArrayRef<int64_t> batch = acc.getShape().drop_back(2);
  int64_t k = a.back();
  if (failed(verifyScale(*this, "a_scale", getAScale(), batch, a[batch.size()],
                         k)) ||
      failed(verifyScale(*this, "b_scale", getBScale(), batch, b.back(), k)))
    return failure();
  for (Value operand : getOperands())
    if (failed(verifyBothEncoded(*this, tileType(operand), acc)))
      return failure();
  return success();
}
