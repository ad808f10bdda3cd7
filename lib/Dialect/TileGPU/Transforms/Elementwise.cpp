//===- Elementwise.cpp - Distribute elementwise ops and constants ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include <map>

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Layout;

namespace {

/// The discardable attributes of an op on tiles that its scalars keep: what the
/// tile dialects say of a tile does not hold for its elements.
DictionaryAttr getScalarAttrs(Operation *op) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!isa_and_nonnull<tile::TileDialect, TileGPUDialect>(
            attr.getNameDialect()))
      attrs.push_back(attr);
  return DictionaryAttr::get(op->getContext(), attrs);
}

/// getRepresentatives by the `tile.constancy` of `op`.
SmallVector<size_t> getEqualRegisters(Operation *op, size_t numRegisters) {
  auto constancy =
      op->getAttrOfType<DenseI32ArrayAttr>(tile::kConstancyAttrName);
  auto type = dyn_cast<RankedTensorType>(op->getResultTypes().front());
  if (!constancy || !type || constancy.size() != type.getRank() ||
      op->getNumResults() != 1 || !isMemoryEffectFree(op))
    return llvm::to_vector(llvm::seq<size_t>(0, numRegisters));
  return getRepresentatives(
      type, llvm::to_vector_of<int64_t>(constancy.asArrayRef()));
}

/// Any elementwise op on tiles, of whatever dialect: the same op on the scalars
/// of each register, once for elements that are known to be equal.
struct DistributeElementwise : public ConversionPattern {
  DistributeElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumRegions() != 0)
      return rewriter.notifyMatchFailure(op, "not elementwise");
    // Scalar ops have something to convert if they work on pointers.
    if (getTypeConverter()->isLegal(op))
      return rewriter.notifyMatchFailure(op, "scalar already");
    SmallVector<SmallVector<Type>> types;
    size_t numRegisters = 0;
    for (Type type : op->getResultTypes()) {
      if (isa<RankedTensorType>(type) && !getLayoutAttr(type))
        return rewriter.notifyMatchFailure(op, "a result has no layout");
      SmallVector<Type> &converted = types.emplace_back();
      if (failed(getTypeConverter()->convertType(type, converted)))
        return rewriter.notifyMatchFailure(op, "a result does not convert");
      numRegisters = converted.size();
    }
    if (types.empty())
      return rewriter.notifyMatchFailure(op, "no results");
    for (ValueRange range : operands)
      if (range.size() != numRegisters && range.size() != 1)
        return rewriter.notifyMatchFailure(op, "operands differ in registers");

    SmallVector<SmallVector<Value>> results(types.size());
    SmallVector<Value> scalars(operands.size());
    SmallVector<Type> scalarTypes(types.size());
    DictionaryAttr attrs = getScalarAttrs(op);
    for (auto [reg, first] :
         llvm::enumerate(getEqualRegisters(op, numRegisters))) {
      if (first != reg) {
        results.front().push_back(results.front()[first]);
        continue;
      }
      for (auto [scalar, type, range] :
           llvm::zip_equal(scalars, op->getOperandTypes(), operands))
        scalar = getLayoutAttr(type) ? range[reg] : range.front();
      for (auto [scalarType, converted] : llvm::zip_equal(scalarTypes, types))
        scalarType = converted[reg];
      Operation *scalarOp = Operation::create(
          op->getLoc(), op->getName(), scalarTypes, scalars, attrs,
          op->getPropertiesStorage(), BlockRange(), /*numRegions=*/0);
      rewriter.insert(scalarOp);
      for (auto [list, value] :
           llvm::zip_equal(results, scalarOp->getResults()))
        list.push_back(value);
    }
    replaceWithRegisters(rewriter, op, std::move(results));
    return success();
  }
};

struct DistributeConstant : public OpConversionPattern<arith::ConstantOp> {
  DistributeConstant(const TypeConverter &converter,
                     MLIRContext *patternContext, DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!type || !dense)
      return rewriter.notifyMatchFailure(op, "not a dense constant tile");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(type, types)))
      return rewriter.notifyMatchFailure(op, "the tile has no layout");
    if (!dense.isSplat()) {
      replaceWithRegisters(rewriter, op, {loadElements(op, dense, rewriter)});
      return success();
    }
    Value scalar = arith::ConstantOp::create(
        rewriter, op.getLoc(), types.front(),
        cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    replaceWithRegisters(rewriter, op,
                         {SmallVector<Value>(types.size(), scalar)});
    return success();
  }

  /// Elements that differ come from a constant table in global memory.
  Registers loadElements(arith::ConstantOp op, DenseElementsAttr dense,
                         OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = dense.getElementType();
    bool isBool = element.isInteger(1);
    Type stored = builder.getIntegerType(getElementBytes(element) * 8);
    if (isBool)
      dense =
          dense.mapValues(stored, [](const APInt &bit) { return bit.zext(8); });
    else
      dense = dense.bitcast(stored);
    dense =
        dense.reshape(RankedTensorType::get(dense.getNumElements(), stored));

    Operation *kernel = context.getKernel();
    std::string name = getUniqueName(kernel, "constant");
    LLVM::GlobalOp table;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(kernel);
      // Not at `loc`: MLIR's debug information takes the place of an inlined
      // call for one in a function.
      table = LLVM::GlobalOp::create(
          builder, kernel->getLoc(),
          LLVM::LLVMArrayType::get(stored, dense.getNumElements()),
          /*isConstant=*/true, LLVM::Linkage::Internal, name, dense,
          /*alignment=*/16, /*addrSpace=*/1);
    }
    Value base = LLVM::AddressOfOp::create(builder, loc, table);
    Registers registers;
    for (Value index : context.getLinearIndices(
             builder, loc, cast<RankedTensorType>(op.getType()))) {
      Value ptr = LLVM::GEPOp::create(builder, loc, base.getType(), stored,
                                      base, ArrayRef<LLVM::GEPArg>{index});
      Value value = LLVM::LoadOp::create(builder, loc, stored, ptr);
      if (isBool)
        value = arith::TruncIOp::create(builder, loc, element, value);
      else if (stored != element)
        value = arith::BitcastOp::create(builder, loc, element, value);
      registers.push_back(value);
    }
    return registers;
  }

  DistributionContext &context;
};

struct DistributePoison : public OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ub::PoisonOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type does not convert");
    SmallVector<Value> scalars;
    for (Type type : types)
      scalars.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type));
    replaceWithRegisters(rewriter, op, {scalars});
    return success();
  }
};

} // namespace

SmallVector<size_t> tile_gpu::getRepresentatives(RankedTensorType type,
                                                 ArrayRef<int64_t> constancy) {
  SmallVector<size_t> representatives;
  std::map<SmallVector<int64_t>, size_t> first;
  const Layout layout = getLayoutAttr(type).getLayout();
  for (auto [reg, coords] :
       llvm::enumerate(layout.getRegisterCoords(type.getShape()))) {
    // A block of a power of two that starts at a multiple of itself is one in
    // all threads: theirs are other bits of the coordinates, or the same.
    SmallVector<int64_t> block(coords.begin(), coords.end());
    for (auto [coord, extent, equal] :
         llvm::zip_equal(block, type.getShape(), constancy))
      coord = equal >= extent ? 0 : coord / (equal & -equal);
    representatives.push_back(first.try_emplace(block, reg).first->second);
  }
  return representatives;
}

void tile_gpu::populateElementwisePatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributeElementwise, DistributePoison>(converter, ctx);
  patterns.add<DistributeConstant>(converter, ctx, context);
}
