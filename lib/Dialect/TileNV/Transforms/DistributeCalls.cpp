//===- DistributeCalls.cpp - Inline assembly and library functions --------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

struct ScalarExtern : public OpConversionPattern<tile::ExternElementwiseOp> {
  ScalarExtern(const TypeConverter &converter, MLIRContext *patternContext,
               DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::ExternElementwiseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<ShapedType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a scalar");
    Location loc = op.getLoc();
    // Functions know fp8 as bytes.
    auto toCall = [&](Type type) -> Type {
      return type.isFloat(8) ? rewriter.getI8Type() : type;
    };
    SmallVector<Value> operands;
    for (ValueRange range : adaptor.getArgs()) {
      Value value = range.front();
      Type type = toCall(value.getType());
      if (type != value.getType())
        value = arith::BitcastOp::create(rewriter, loc, type, value);
      operands.push_back(value);
    }
    Type type = op.getType(), called = toCall(type);
    FailureOr<Value> result =
        callFunction(rewriter, op, context.getModule(), op.getSymbol(), called,
                     operands, op.getIsPure());
    if (failed(result))
      return failure();
    if (called != type)
      *result = arith::BitcastOp::create(rewriter, loc, type, *result);
    rewriter.replaceOp(op, *result);
    return success();
  }

  DistributionContext &context;
};

//===----------------------------------------------------------------------===//
// Inline assembly
//===----------------------------------------------------------------------===//

/// The constraints of a piece of inline assembly, by role.
struct Constraints {
  explicit Constraints(StringRef text) {
    SmallVector<StringRef> all;
    text.split(all, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef constraint : all) {
      constraint = constraint.trim();
      if (constraint.starts_with("~"))
        continue;
      if (constraint.consume_front("=")) {
        constraint.consume_front("&");
        outputs.push_back(constraint);
      } else {
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

  SmallVector<StringRef> outputs, inputs;
};

/// How `pack` elements of a type fill the registers of inline assembly. i1
/// takes one bit.
struct Packing {
  Packing(Type element, int64_t pack)
      : element(element),
        storage(element.isInteger(1) ? element : getStorageType(element)) {
    unsigned bits = storage.getIntOrFloatBitWidth();
    perRegister = bits < 32 ? std::min<int64_t>(pack, 32 / bits) : 1;
    numRegisters = llvm::divideCeil(pack, perRegister);
  }

  Type element, storage;
  int64_t perRegister, numRegisters;
};

/// The type that LLVM wants for a register constraint; null if any type will
/// do.
Type getRegisterType(Builder &builder, StringRef constraint) {
  if (constraint.size() != 1)
    return Type();
  switch (constraint.front()) {
  case 'b':
    return builder.getI1Type();
  case 'h':
    return builder.getI16Type();
  case 'r':
    return builder.getI32Type();
  case 'l':
    return builder.getI64Type();
  case 'f':
    return builder.getF32Type();
  case 'd':
    return builder.getF64Type();
  default:
    return Type();
  }
}

/// Elements to one register of type `type` (may be null), the first one lowest.
Value packRegister(OpBuilder &builder, Location loc, const Packing &packing,
                   ValueRange elements, Type type) {
  if (elements.size() == 1 && elements.front().getType() == type)
    return elements.front();
  Value packed;
  if (packing.perRegister == 1) {
    packed = elements.front();
    if (packed.getType() != packing.storage)
      packed = toStorage(builder, loc, packed);
  } else {
    auto vectorType = VectorType::get({packing.perRegister}, packing.storage);
    packed = LLVM::PoisonOp::create(builder, loc, vectorType);
    for (int64_t i = 0; i < packing.perRegister; ++i) {
      // A last register that is not full repeats its last element.
      Value element = elements[std::min<int64_t>(i, elements.size() - 1)];
      if (element.getType() != packing.storage)
        element = toStorage(builder, loc, element);
      packed =
          LLVM::InsertElementOp::create(builder, loc, vectorType, packed,
                                        element, createI32(builder, loc, i));
    }
  }
  unsigned bits = packing.perRegister * packing.storage.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  if (!type)
    type = builder.getIntegerType(std::max(bits, 16u));
  unsigned wanted = type.getIntOrFloatBitWidth();
  if (packed.getType() != integer)
    packed = LLVM::BitcastOp::create(builder, loc, integer, packed);
  Type wide = builder.getIntegerType(wanted);
  if (wanted > bits)
    packed = arith::ExtUIOp::create(builder, loc, wide, packed);
  else if (wanted < bits)
    packed = arith::TruncIOp::create(builder, loc, wide, packed);
  return wide == type ? packed
                      : LLVM::BitcastOp::create(builder, loc, type, packed);
}

/// The opposite, for the first `count` elements of the register.
void unpackRegister(OpBuilder &builder, Location loc, const Packing &packing,
                    Value value, int64_t count, Registers &results) {
  if (packing.perRegister == 1 && value.getType() == packing.element) {
    results.push_back(value);
    return;
  }
  unsigned bits = packing.perRegister * packing.storage.getIntOrFloatBitWidth();
  unsigned found = value.getType().getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(found);
  if (value.getType() != integer)
    value = LLVM::BitcastOp::create(builder, loc, integer, value);
  Type narrow = builder.getIntegerType(bits);
  if (found > bits)
    value = arith::TruncIOp::create(builder, loc, narrow, value);
  else if (found < bits)
    value = arith::ExtUIOp::create(builder, loc, narrow, value);
  if (packing.perRegister == 1) {
    if (packing.storage != narrow)
      value = LLVM::BitcastOp::create(builder, loc, packing.storage, value);
    results.push_back(fromStorage(builder, loc, value, packing.element));
    return;
  }
  auto vectorType = VectorType::get({packing.perRegister}, packing.storage);
  Value vector = LLVM::BitcastOp::create(builder, loc, vectorType, value);
  for (int64_t i = 0; i < count; ++i) {
    Value element = LLVM::ExtractElementOp::create(builder, loc, vector,
                                                   createI32(builder, loc, i));
    results.push_back(fromStorage(builder, loc, element, packing.element));
  }
}

/// Inline assembly on tiles (for each `pack` registers) and on scalars.
struct DistributeInlineAsm
    : public OpConversionPattern<tile::InlineAsmElementwiseOp> {
  DistributeInlineAsm(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(tile::InlineAsmElementwiseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<SmallVector<Type>> types;
    for (Type type : op.getResultTypes())
      if (failed(getTypeConverter()->convertType(type, types.emplace_back())))
        return rewriter.notifyMatchFailure(op, "a result does not convert");
    Constraints constraints(op.getConstraints());
    for (StringRef constraint :
         llvm::concat<StringRef>(constraints.outputs, constraints.inputs))
      if (!getRegisterType(rewriter, constraint)) {
        // The pass fails for the diagnostic: see tile-gpu-distribute.
        op.emitOpError("expects constraints of PTX registers (b, h, r, l, f, "
                       "d); found '")
            << constraint << "'";
        replaceByPoison(op, types, rewriter);
        return success();
      }
    SmallVector<Packing> inputs, outputs;
    for (ValueRange range : adaptor.getArgs())
      inputs.emplace_back(range.front().getType(), op.getPack());
    for (ArrayRef<Type> list : types)
      outputs.emplace_back(list.front(), op.getPack());

    int64_t numRegisters = types.front().size();
    SmallVector<Registers> results(types.size());
    for (int64_t reg = 0; reg < numRegisters; reg += op.getPack())
      emitGroup(op, adaptor.getArgs(), reg, numRegisters, constraints, inputs,
                outputs, results, rewriter);
    tile_gpu::replaceWithRegisters(rewriter, op, std::move(results));
    return success();
  }

  static void replaceByPoison(Operation *op, ArrayRef<SmallVector<Type>> types,
                              ConversionPatternRewriter &rewriter) {
    SmallVector<Registers> results;
    for (ArrayRef<Type> list : types) {
      Registers &registers = results.emplace_back();
      for (Type type : list)
        registers.push_back(
            LLVM::PoisonOp::create(rewriter, op->getLoc(), type));
    }
    tile_gpu::replaceWithRegisters(rewriter, op, std::move(results));
  }

  /// One piece of assembly, for registers `reg` to `reg + pack`.
  static void emitGroup(tile::InlineAsmElementwiseOp op,
                        ArrayRef<ValueRange> args, int64_t reg,
                        int64_t numRegisters, const Constraints &constraints,
                        ArrayRef<Packing> inputs, ArrayRef<Packing> outputs,
                        MutableArrayRef<Registers> results,
                        OpBuilder &builder) {
    Location loc = op.getLoc();
    int64_t pack = op.getPack();
    SmallVector<Value> operands;
    for (auto [range, packing] : llvm::zip_equal(args, inputs)) {
      SmallVector<Value> elements;
      // A last group that is not full repeats its last element.
      for (int64_t i = 0; i < pack; ++i)
        elements.push_back(at(range, std::min(reg + i, numRegisters - 1)));
      for (int64_t i = 0; i < pack; i += packing.perRegister) {
        Type type =
            getRegisterType(builder, constraints.inputs[operands.size()]);
        int64_t count = std::min(packing.perRegister, pack - i);
        operands.push_back(packRegister(
            builder, loc, packing, ArrayRef(elements).slice(i, count), type));
      }
    }
    SmallVector<Type> types;
    for (const Packing &packing : outputs)
      for (int64_t i = 0; i < packing.numRegisters; ++i) {
        Type type = getRegisterType(builder, constraints.outputs[types.size()]);
        unsigned bits =
            packing.perRegister * packing.storage.getIntOrFloatBitWidth();
        types.push_back(type ? type
                             : builder.getIntegerType(std::max(bits, 16u)));
      }
    SmallVector<Value> values =
        emitPTX(builder, loc, op.getAsmString(), op.getConstraints(), types,
                operands, op.getIsPure());
    size_t next = 0;
    for (auto [packing, list] : llvm::zip_equal(outputs, results)) {
      Registers elements;
      for (int64_t i = 0; i < packing.numRegisters; ++i)
        unpackRegister(
            builder, loc, packing, values[next++],
            std::min(packing.perRegister, pack - i * packing.perRegister),
            elements);
      elements.resize(std::min(pack, numRegisters - reg));
      llvm::append_range(list, elements);
    }
  }
};

} // namespace

void nv_detail::populateCallPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     DistributionContext &context) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<ScalarExtern>(converter, ctx, context);
  patterns.add<DistributeInlineAsm>(converter, ctx);
}
