//===- TileMemoryOps.cpp - Pointers, memory and descriptors -----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tile;

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

static void addRead(Effects &effects, OpOperand &operand) {
  effects.emplace_back(MemoryEffects::Read::get(), &operand,
                       SideEffects::DefaultResource::get());
}

static void addWrite(Effects &effects, OpOperand &operand) {
  effects.emplace_back(MemoryEffects::Write::get(), &operand,
                       SideEffects::DefaultResource::get());
}

/// The zero of `type`, or null if it has none that is a constant (pointers).
static TypedAttr getZero(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<PtrType>(element))
    return {};
  return cast<TypedAttr>(Builder(type.getContext()).getZeroAttr(type));
}

//===----------------------------------------------------------------------===//
// addptr
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getConstantOffset(Value offset) {
  if (auto element =
          dyn_cast_if_present<IntegerAttr>(getConstantElement(offset)))
    return element.getValue().getSExtValue();
  return std::nullopt;
}

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (getConstantOffset(getOffset()) == 0)
    return getPtr();
  return {};
}

namespace {
/// addptr(addptr(p, c1), c2) -> addptr(p, c1 + c2). The sum stays an i32 if it
/// fits: offsets are extended before they are added, so that a wrapping sum
/// would be another address.
struct AddConstantOffsets : public OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getPtr().getDefiningOp<AddPtrOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no chain of addptr");
    std::optional<int64_t> outerOffset = getConstantOffset(op.getOffset());
    std::optional<int64_t> innerOffset = getConstantOffset(inner.getOffset());
    if (!outerOffset || !innerOffset)
      return rewriter.notifyMatchFailure(op, "offsets are not constant");
    // The address wraps modulo 2^64, and so may the sum.
    int64_t sum = static_cast<uint64_t>(*outerOffset) +
                  static_cast<uint64_t>(*innerOffset);
    bool isNarrow = getElementTypeOrSelf(op.getOffset()).isInteger(32) &&
                    getElementTypeOrSelf(inner.getOffset()).isInteger(32) &&
                    llvm::isInt<32>(sum);
    IntegerType element = rewriter.getIntegerType(isNarrow ? 32 : 64);
    Type type = getSameShape(op.getOffset().getType(), element);
    Value offset = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        getConstant(type, IntegerAttr::get(element, sum)));
    rewriter.replaceOpWithNewOp<AddPtrOp>(op, inner.getPtr(), offset);
    return success();
  }
};

/// addptr(addptr(p, splat(a)), splat(b)) -> addptr(p, splat(a + b)) for i64:
/// one scalar addition instead of one for each element.
struct AddSplatOffsets : public OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getPtr().getDefiningOp<AddPtrOp>();
    auto outerSplat = op.getOffset().getDefiningOp<SplatOp>();
    auto innerSplat =
        inner ? inner.getOffset().getDefiningOp<SplatOp>() : SplatOp();
    if (!outerSplat || !innerSplat)
      return rewriter.notifyMatchFailure(op, "no chain of splat offsets");
    if (!outerSplat.getSource().getType().isInteger(64) ||
        !innerSplat.getSource().getType().isInteger(64))
      return rewriter.notifyMatchFailure(op, "a sum of i32 may wrap");
    Value sum = arith::AddIOp::create(
        rewriter, op.getLoc(), innerSplat.getSource(), outerSplat.getSource());
    Value offset =
        SplatOp::create(rewriter, op.getLoc(), outerSplat.getType(), sum);
    rewriter.replaceOpWithNewOp<AddPtrOp>(op, inner.getPtr(), offset);
    return success();
  }
};
} // namespace

void AddPtrOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<AddConstantOffsets, AddSplatOffsets>(context);
}

//===----------------------------------------------------------------------===//
// int_to_ptr, ptr_to_int, bitcast
//===----------------------------------------------------------------------===//

OpFoldResult IntToPtrOp::fold(FoldAdaptor adaptor) {
  auto inner = getSource().getDefiningOp<PtrToIntOp>();
  if (inner && inner.getSource().getType() == getType())
    return inner.getSource();
  return {};
}

OpFoldResult PtrToIntOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getSource().getDefiningOp<IntToPtrOp>())
    return inner.getSource();
  // The address does not depend on the pointee.
  if (auto inner = getSource().getDefiningOp<BitcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return {};
}

LogicalResult BitcastOp::verify() {
  Type source = getElementTypeOrSelf(getSource());
  Type result = getElementTypeOrSelf(getType());
  auto sourcePtr = dyn_cast<PtrType>(source);
  auto resultPtr = dyn_cast<PtrType>(result);
  if (!sourcePtr != !resultPtr)
    return emitOpError(
               "expects pointers on both sides or numbers on both sides; "
               "found ")
           << source << " and " << result;
  if (sourcePtr) {
    if (sourcePtr.getMemorySpace() == resultPtr.getMemorySpace())
      return success();
    return emitOpError("expects pointers in the same memory space; found ")
           << sourcePtr.getMemorySpace() << " and "
           << resultPtr.getMemorySpace();
  }
  if (source.getIntOrFloatBitWidth() == result.getIntOrFloatBitWidth())
    return success();
  return emitOpError("expects numbers of the same width; found ")
         << source.getIntOrFloatBitWidth() << " and "
         << result.getIntOrFloatBitWidth() << " bits";
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<BitcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  Type type = getElementTypeOrSelf(getType());
  return foldSplats(
      adaptor.getSource(), getType(),
      [&](ArrayRef<TypedAttr> elements) -> TypedAttr {
        APInt bits;
        if (auto integer = dyn_cast<IntegerAttr>(elements[0]))
          bits = integer.getValue();
        else
          bits = cast<FloatAttr>(elements[0]).getValue().bitcastToAPInt();
        if (isa<IntegerType>(type))
          return IntegerAttr::get(type, bits);
        return FloatAttr::get(
            type, APFloat(cast<FloatType>(type).getFloatSemantics(), bits));
      });
}

//===----------------------------------------------------------------------===//
// load, store
//===----------------------------------------------------------------------===//

void LoadOp::getEffects(Effects &effects) {
  addRead(effects, getPtrMutable());
  if (getIsVolatile())
    addWrite(effects, getPtrMutable());
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask())
    return emitOpError("expects a mask where there is other; found none");
  if (getCache() == CacheModifier::WB || getCache() == CacheModifier::WT)
    return emitOpError(
               "expects the cache modifier none, ca, cg, cv or cs; found ")
           << stringifyCacheModifier(getCache());
  return success();
}

void StoreOp::getEffects(Effects &effects) {
  addWrite(effects, getPtrMutable());
}

LogicalResult StoreOp::verify() {
  if (getCache() == CacheModifier::CA || getCache() == CacheModifier::CV)
    return emitOpError(
               "expects the cache modifier none, wb, cg, cs or wt; found ")
           << stringifyCacheModifier(getCache());
  return success();
}

namespace {
/// Drop a mask that is true everywhere.
template <typename MemoryOp>
struct DropTrueMask : public OpRewritePattern<MemoryOp> {
  using OpRewritePattern<MemoryOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MemoryOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || !isConstantBool(op.getMask(), true))
      return rewriter.notifyMatchFailure(op, "mask is not all true");
    rewriter.modifyOpInPlace(op, [&] {
      op.getMaskMutable().clear();
      if constexpr (std::is_same_v<MemoryOp, LoadOp>)
        op.getOtherMutable().clear();
    });
    return success();
  }
};

/// An access whose mask is false everywhere is none. Elements that it leaves
/// undefined become zero.
template <typename MemoryOp>
struct DropFalseMask : public OpRewritePattern<MemoryOp> {
  using OpRewritePattern<MemoryOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MemoryOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || !isConstantBool(op.getMask(), false))
      return rewriter.notifyMatchFailure(op, "mask is not all false");
    if constexpr (std::is_same_v<MemoryOp, StoreOp>) {
      rewriter.eraseOp(op);
      return success();
    } else {
      if constexpr (std::is_same_v<MemoryOp, LoadOp>) {
        if (op.getOther()) {
          rewriter.replaceOp(op, op.getOther());
          return success();
        }
      }
      TypedAttr zero = getZero(op.getResult().getType());
      if (!zero)
        return rewriter.notifyMatchFailure(op, "no constant of the type");
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
      return success();
    }
  }
};
} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropTrueMask<LoadOp>, DropFalseMask<LoadOp>>(context);
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<DropTrueMask<StoreOp>, DropFalseMask<StoreOp>>(context);
}

//===----------------------------------------------------------------------===//
// atomics
//===----------------------------------------------------------------------===//

static bool isIntegerKind(RMWKind kind) {
  switch (kind) {
  case RMWKind::Add:
  case RMWKind::Max:
  case RMWKind::Min:
  case RMWKind::UMax:
  case RMWKind::UMin:
  case RMWKind::And:
  case RMWKind::Or:
  case RMWKind::Xor:
    return true;
  case RMWKind::FAdd:
  case RMWKind::FMax:
  case RMWKind::FMin:
  case RMWKind::Exchange:
    return false;
  }
  return false;
}

/// Verify that the element type is one that `kind` combines; `isDescriptor` for
/// the wider set of desc_reduce.
static LogicalResult verifyRMWElement(Operation *op, RMWKind kind, Type element,
                                      bool isDescriptor) {
  bool isInteger = element.isInteger(32) || element.isInteger(64);
  bool isWideFloat = element.isF32() || element.isF64();
  bool isHalf = element.isF16() || element.isBF16();
  StringRef expected;
  bool isLegal = false;
  if (isIntegerKind(kind)) {
    expected = "i32 or i64";
    isLegal = isInteger;
  } else if (kind == RMWKind::FAdd) {
    expected = "f16, bf16, f32 or f64";
    isLegal = isWideFloat || isHalf;
  } else if (kind == RMWKind::Exchange) {
    expected = "i32, i64, f16, bf16, f32 or f64";
    isLegal = isInteger || isWideFloat || isHalf;
  } else if (isDescriptor) {
    expected = "f16, bf16, f32 or f64";
    isLegal = isWideFloat || isHalf;
  } else {
    expected = "f32 or f64";
    isLegal = isWideFloat;
  }
  if (isLegal)
    return success();
  return op->emitOpError("expects elements of ")
         << expected << " for " << stringifyRMWKind(kind) << "; found "
         << element;
}

void AtomicRMWOp::getEffects(Effects &effects) {
  addRead(effects, getPtrMutable());
  addWrite(effects, getPtrMutable());
}

LogicalResult AtomicRMWOp::verify() {
  return verifyRMWElement(*this, getKind(), getElementTypeOrSelf(getValue()),
                          /*isDescriptor=*/false);
}

void AtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropTrueMask<AtomicRMWOp>, DropFalseMask<AtomicRMWOp>>(context);
}

void AtomicCASOp::getEffects(Effects &effects) {
  addRead(effects, getPtrMutable());
  addWrite(effects, getPtrMutable());
}

LogicalResult AtomicCASOp::verify() {
  Type element = getElementTypeOrSelf(getValue());
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 16 || width == 32 || width == 64)
    return success();
  return emitOpError("expects elements of 16, 32 or 64 bits; found ")
         << element;
}

//===----------------------------------------------------------------------===//
// descriptors
//===----------------------------------------------------------------------===//

static LogicalResult verifyOffsets(Operation *op, DescType desc,
                                   OperandRange offsets) {
  if (offsets.size() == desc.getShape().size())
    return success();
  return op->emitOpError("expects an offset for each of the ")
         << desc.getShape().size() << " dimensions; found " << offsets.size();
}

/// Verify that `tile` is a box of `desc`, where dimensions of extent 1 may be
/// left out.
static LogicalResult verifyBox(Operation *op, DescType desc,
                               RankedTensorType tile) {
  if (tile.getElementType() != desc.getElementType())
    return op->emitOpError("expects a tile of ")
           << desc.getElementType() << "; found " << tile.getElementType();
  // Match greedily: an extent of the box is the tile's next one, or is 1.
  ArrayRef<int64_t> rest = tile.getShape();
  bool matches = true;
  for (int64_t extent : desc.getShape()) {
    // An extent 1 of the box is left out unless the tile has one for it.
    if (!rest.empty() && rest.front() == extent)
      rest = rest.drop_front();
    else if (extent != 1)
      matches = false;
  }
  if (matches && rest.empty())
    return success();
  return op->emitOpError("expects a tile of the box's shape [")
         << desc.getShape() << "], possibly without extents of 1; found ["
         << tile.getShape() << "]";
}

LogicalResult MakeDescOp::verify() {
  DescType desc = getType();
  size_t rank = desc.getShape().size();
  if (getShape().size() != rank || getStrides().size() != rank)
    return emitOpError("expects a shape and a stride for each of the ")
           << rank << " dimensions; found " << getShape().size() << " and "
           << getStrides().size();
  PtrType base = getBase().getType();
  if (base.getPointeeType() != desc.getElementType())
    return emitOpError("expects a base that points to ")
           << desc.getElementType() << "; found " << base;
  if (base.getMemorySpace() != 1)
    return emitOpError("expects a base in memory space 1 (global); found ")
           << base.getMemorySpace();
  if (getPadding() == Padding::NaN && !isa<FloatType>(desc.getElementType()))
    return emitOpError(
               "expects floating-point elements for nan padding; found ")
           << desc.getElementType();
  // Evidence at compile time that no tensor map can have this stride.
  APInt stride;
  if (matchPattern(getStrides().back(), m_ConstantInt(&stride)) &&
      !stride.isOne())
    return emitOpError("expects a last stride of 1; found ")
           << stride.getSExtValue();
  return success();
}

void DescLoadOp::getEffects(Effects &effects) {
  addRead(effects, getDescMutable());
}

LogicalResult DescLoadOp::verify() {
  if (failed(verifyOffsets(*this, getDesc().getType(), getOffsets())))
    return failure();
  if (getCache() == CacheModifier::WB || getCache() == CacheModifier::WT)
    return emitOpError(
               "expects the cache modifier none, ca, cg, cv or cs; found ")
           << stringifyCacheModifier(getCache());
  return verifyBox(*this, getDesc().getType(), getType());
}

void DescStoreOp::getEffects(Effects &effects) {
  addWrite(effects, getDescMutable());
}

LogicalResult DescStoreOp::verify() {
  if (failed(verifyOffsets(*this, getDesc().getType(), getOffsets())))
    return failure();
  return verifyBox(*this, getDesc().getType(), getValue().getType());
}

void DescReduceOp::getEffects(Effects &effects) {
  addRead(effects, getDescMutable());
  addWrite(effects, getDescMutable());
}

LogicalResult DescReduceOp::verify() {
  if (failed(verifyOffsets(*this, getDesc().getType(), getOffsets())) ||
      failed(verifyBox(*this, getDesc().getType(), getValue().getType())))
    return failure();
  if (getKind() == RMWKind::Exchange)
    return emitOpError("expects a kind that combines; found xchg");
  return verifyRMWElement(*this, getKind(),
                          getValue().getType().getElementType(),
                          /*isDescriptor=*/true);
}
