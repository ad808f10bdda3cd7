//===- DistributePointers.cpp - Distribute pointer arithmetic -------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

/// Register `reg` of an operand; a scalar operand serves all registers.
Value at(ValueRange range, size_t reg) {
  return range.size() == 1 ? range.front() : range[reg];
}

/// Patterns of ops that work on each register by itself, on tiles or scalars.
template <typename Op>
struct DistributePerRegister : public OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(this->getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the result does not convert");
    Registers registers;
    for (size_t reg = 0; reg < types.size(); ++reg)
      registers.push_back(create(op, adaptor, reg, types[reg], rewriter));
    replaceWithRegisters(rewriter, op, {registers});
    return success();
  }

  virtual Value create(Op op, OneToNOpAdaptor adaptor, size_t reg, Type type,
                       OpBuilder &builder) const = 0;
};

struct DistributeAddPtr : public DistributePerRegister<tile::AddPtrOp> {
  using DistributePerRegister::DistributePerRegister;

  Value create(tile::AddPtrOp op, OneToNOpAdaptor adaptor, size_t reg,
               Type type, OpBuilder &builder) const override {
    auto pointer = cast<tile::PtrType>(getElementTypeOrSelf(op.getType()));
    // An i1 in memory is a byte, and fp8 types have no LLVM type of their own.
    Type element = getMemoryType(pointer.getPointeeType());
    if (element.isFloat(8) || isa<FloatType>(element))
      element = builder.getIntegerType(element.getIntOrFloatBitWidth());
    return LLVM::GEPOp::create(
        builder, op.getLoc(), type, element, at(adaptor.getPtr(), reg),
        ArrayRef<LLVM::GEPArg>{at(adaptor.getOffset(), reg)});
  }
};

struct DistributeIntToPtr : public DistributePerRegister<tile::IntToPtrOp> {
  using DistributePerRegister::DistributePerRegister;

  Value create(tile::IntToPtrOp op, OneToNOpAdaptor adaptor, size_t reg,
               Type type, OpBuilder &builder) const override {
    return LLVM::IntToPtrOp::create(builder, op.getLoc(), type,
                                    at(adaptor.getSource(), reg));
  }
};

struct DistributePtrToInt : public DistributePerRegister<tile::PtrToIntOp> {
  using DistributePerRegister::DistributePerRegister;

  Value create(tile::PtrToIntOp op, OneToNOpAdaptor adaptor, size_t reg,
               Type type, OpBuilder &builder) const override {
    return LLVM::PtrToIntOp::create(builder, op.getLoc(), type,
                                    at(adaptor.getSource(), reg));
  }
};

/// Pointers are opaque after conversion, so their bitcast is nothing.
struct DistributeBitcast : public DistributePerRegister<tile::BitcastOp> {
  using DistributePerRegister::DistributePerRegister;

  Value create(tile::BitcastOp op, OneToNOpAdaptor adaptor, size_t reg,
               Type type, OpBuilder &builder) const override {
    Value source = at(adaptor.getSource(), reg);
    if (source.getType() == type)
      return source;
    return arith::BitcastOp::create(builder, op.getLoc(), type, source);
  }
};

} // namespace

void tile_gpu::populatePointerPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DistributeAddPtr, DistributeIntToPtr, DistributePtrToInt,
               DistributeBitcast>(converter, patterns.getContext());
}
