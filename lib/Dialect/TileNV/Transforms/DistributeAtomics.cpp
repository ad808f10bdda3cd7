//===- DistributeAtomics.cpp - Atomic read-modify-write -------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element is one atomic access, by one of the threads that hold it. Where
// others need the old value, it reaches them through shared memory.
//
// Order: a release covers what any thread of the program wrote before, and an
// acquire what any of them reads afterwards, so a barrier stands before resp.
// after the access. Several accesses share one fence on each side.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

//===----------------------------------------------------------------------===//
// One atomic
//===----------------------------------------------------------------------===//

namespace {

StringRef getScope(tile::MemScope scope) {
  switch (scope) {
  case tile::MemScope::CTA:
    return "cta";
  case tile::MemScope::GPU:
    return "gpu";
  case tile::MemScope::System:
    return "sys";
  }
  return "sys";
}

bool hasRelease(tile::MemSemantic sem) {
  return sem == tile::MemSemantic::Release ||
         sem == tile::MemSemantic::AcquireRelease;
}

bool hasAcquire(tile::MemSemantic sem) {
  return sem == tile::MemSemantic::Acquire ||
         sem == tile::MemSemantic::AcquireRelease;
}

/// `.relaxed.gpu` and so on. `red` returns nothing to synchronise with, so that
/// it has no acquire.
std::string getOrder(AtomicOrder order, bool isReduction) {
  StringRef sem = tile::stringifyMemSemantic(order.sem);
  if (isReduction)
    sem = hasRelease(order.sem) ? "release" : "relaxed";
  return "." + sem.str() + "." + getScope(order.scope).str();
}

/// `{}` stands for the width: `.add.u{}`.
StringRef getIntegerOperation(tile::RMWKind kind) {
  switch (kind) {
  case tile::RMWKind::Add:
    return ".add.u";
  case tile::RMWKind::Max:
    return ".max.s";
  case tile::RMWKind::Min:
    return ".min.s";
  case tile::RMWKind::UMax:
    return ".max.u";
  case tile::RMWKind::UMin:
    return ".min.u";
  case tile::RMWKind::And:
    return ".and.b";
  case tile::RMWKind::Or:
    return ".or.b";
  case tile::RMWKind::Xor:
    return ".xor.b";
  case tile::RMWKind::Exchange:
    return ".exch.b";
  default:
    return "";
  }
}

/// Emits `atom` or `red` with `operation` (`.add.u32`). `initial` is the result
/// where `predicate` is false.
Value emitAtomic(OpBuilder &builder, Location loc, StringRef operation,
                 Value ptr, ValueRange values, Value predicate,
                 AtomicOrder order, bool wantResult, Value initial = Value()) {
  Type type = values.front().getType();
  std::string letter(1, getConstraintLetter(type));
  bool isReduction = !wantResult && !operation.starts_with(".exch") &&
                     !operation.starts_with(".cas");
  unsigned first = isReduction ? 0 : 1;
  std::string text, constraints, list;
  SmallVector<Value> operands{ptr};
  constraints = isReduction ? "l" : "=" + letter + ",l";
  for (auto [index, value] : llvm::enumerate(values)) {
    operands.push_back(value);
    constraints += "," + letter;
    list += ", $" + std::to_string(first + 1 + index);
  }
  if (predicate) {
    text = "@$" + std::to_string(first + 1 + values.size()) + " ";
    operands.push_back(predicate);
    constraints += ",b";
  }
  if (predicate && !isReduction) {
    if (!initial)
      initial =
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    operands.push_back(initial);
    constraints += ",0";
  }
  text += isReduction ? "red" : "atom";
  text += getOrder(order, isReduction) + getStateSpace(ptr).str() +
          operation.str() + (isReduction ? " [$" : " $0, [$") +
          std::to_string(first) + "]" + list + ";";
  SmallVector<Value> results =
      emitPTX(builder, loc, text, constraints,
              isReduction ? TypeRange() : TypeRange(type), operands,
              /*pure=*/false);
  return results.empty() ? Value() : results.front();
}

/// fmax and fmin of f32 and f64 as integer atomics: the order of the bits is
/// that of the numbers, reversed for negative ones. A NaN operand becomes the
/// neutral element, so that it loses.
Value emitFloatExtremum(OpBuilder &builder, Location loc, bool isMax, Value ptr,
                        Value value, Value predicate, AtomicOrder order,
                        bool wantResult) {
  auto type = cast<FloatType>(value.getType());
  unsigned bits = type.getWidth();
  Type integer = builder.getIntegerType(bits);
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  APFloat infinity = APFloat::getInf(type.getFloatSemantics(), isMax);
  Value neutral = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(type, infinity));
  value = arith::SelectOp::create(builder, loc, isNaN, neutral, value);
  value = arith::BitcastOp::create(builder, loc, integer, value);
  Value zero = createInt(builder, loc, bits, 0);
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, value, zero);
  Value isPositive = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sge, value, zero);
  std::string width = std::to_string(bits);
  Value old = emitAtomic(
      builder, loc, (isMax ? ".max.s" : ".min.s") + width, ptr, value,
      emitAnd(builder, loc, predicate, isPositive), order, wantResult);
  old = emitAtomic(builder, loc, (isMax ? ".min.u" : ".max.u") + width, ptr,
                   value, emitAnd(builder, loc, predicate, isNegative), order,
                   wantResult, old);
  return wantResult ? arith::BitcastOp::create(builder, loc, type, old)
                    : Value();
}

/// `lhs kind rhs` on 16-bit floating-point numbers.
Value combine(OpBuilder &builder, Location loc, tile::RMWKind kind, Value lhs,
              Value rhs) {
  switch (kind) {
  case tile::RMWKind::FAdd:
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  case tile::RMWKind::FMax:
    return arith::MaxNumFOp::create(builder, loc, lhs, rhs);
  case tile::RMWKind::FMin:
    return arith::MinNumFOp::create(builder, loc, lhs, rhs);
  default:
    return rhs;
  }
}

/// A loop over a 16-bit compare-and-swap.
Value emitAtomicLoop(OpBuilder &builder, Location loc, tile::RMWKind kind,
                     Value ptr, Value value, AtomicOrder order) {
  Type type = value.getType(), i16 = builder.getI16Type();
  order.sem = tile::MemSemantic::Relaxed;
  Value start = emitPTX(builder, loc,
                        "ld" + getOrder(order, false) +
                            getStateSpace(ptr).str() + ".b16 $0, [$1];",
                        "=h,l", i16, ptr, /*pure=*/false)
                    .front();
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange(i16), ValueRange(start),
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value old = arith::BitcastOp::create(b, l, type, args.front());
        Value combined = combine(b, l, kind, old, value);
        Value bits = arith::BitcastOp::create(b, l, i16, combined);
        Value found = emitAtomic(b, l, ".cas.b16", ptr, {args.front(), bits},
                                 Value(), order, /*wantResult=*/true);
        Value again = arith::CmpIOp::create(b, l, arith::CmpIPredicate::ne,
                                            found, args.front());
        scf::ConditionOp::create(b, l, again, found);
      },
      [](OpBuilder &b, Location l, ValueRange args) {
        scf::YieldOp::create(b, l, args);
      });
  return arith::BitcastOp::create(builder, loc, type, loop.getResult(0));
}

void emitFence(OpBuilder &builder, Location loc, tile::MemScope scope) {
  emitPTX(builder, loc, "fence.acq_rel." + getScope(scope).str() + ";", "", {},
          {}, /*pure=*/false);
}

} // namespace

bool nv_detail::isAtomicLoop(const tile_dialect::ChipInfo &chip,
                             tile::RMWKind kind, Type type) {
  if (type.getIntOrFloatBitWidth() != 16)
    return false;
  if (kind != tile::RMWKind::FAdd)
    return true;
  return type.isBF16() && !chip.hasBF16Arithmetic;
}

Value nv_detail::emitAtomicRMW(OpBuilder &builder, Location loc,
                               const tile_dialect::ChipInfo &chip,
                               tile::RMWKind kind, Value ptr, Value value,
                               Value predicate, AtomicOrder order,
                               bool wantResult) {
  Type type = value.getType();
  if (isAtomicLoop(chip, kind, type)) {
    if (!predicate)
      return emitAtomicLoop(builder, loc, kind, ptr, value, order);
    auto ifOp = scf::IfOp::create(
        builder, loc, predicate,
        [&](OpBuilder &b, Location l) {
          scf::YieldOp::create(b, l,
                               emitAtomicLoop(b, l, kind, ptr, value, order));
        },
        [&](OpBuilder &b, Location l) {
          Value zero = arith::ConstantOp::create(b, l, b.getZeroAttr(type));
          scf::YieldOp::create(b, l, zero);
        });
    return ifOp.getResult(0);
  }
  if (kind == tile::RMWKind::FAdd) {
    std::string operation = type.isF16()    ? ".add.noftz.f16"
                            : type.isBF16() ? ".add.noftz.bf16"
                            : type.isF32()  ? ".add.f32"
                                            : ".add.f64";
    return emitAtomic(builder, loc, operation, ptr, value, predicate, order,
                      wantResult);
  }
  if (kind == tile::RMWKind::FMax || kind == tile::RMWKind::FMin)
    return emitFloatExtremum(builder, loc, kind == tile::RMWKind::FMax, ptr,
                             value, predicate, order, wantResult);
  // Exchange works on the bits of any type.
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  if (type != integer)
    value = arith::BitcastOp::create(builder, loc, integer, value);
  Value old = emitAtomic(builder, loc,
                         getIntegerOperation(kind).str() + std::to_string(bits),
                         ptr, value, predicate, order, wantResult);
  if (old && type != integer)
    old = arith::BitcastOp::create(builder, loc, type, old);
  return old;
}

//===----------------------------------------------------------------------===//
// Tiles of atomics
//===----------------------------------------------------------------------===//

int64_t nv_detail::getAtomicScratchBytes(Operation *op) {
  if (!isa<tile::AtomicRMWOp, tile::AtomicCASOp>(op))
    return 0;
  Value result = op->getResult(0);
  if (result.use_empty() || !hasCopies(result.getType()))
    return 0;
  int64_t elements = 1;
  if (auto type = dyn_cast<RankedTensorType>(result.getType()))
    elements = type.getNumElements();
  return elements *
         tile_gpu::getElementBytes(getElementTypeOrSelf(result.getType()));
}

namespace {

/// Gives all holders of an element the value of the one that acted.
FailureOr<Registers> broadcastThroughShared(OpBuilder &builder, Operation *op,
                                            DistributionContext &context,
                                            Type type, Value acting,
                                            const Registers &registers) {
  Location loc = op->getLoc();
  FailureOr<Value> scratch = context.getScratchPtr(builder, op);
  if (failed(scratch))
    return failure();
  Type storage = getStorageType(registers.front().getType());
  Type element = builder.getIntegerType(storage.getIntOrFloatBitWidth());
  SmallVector<Value> indices;
  if (auto tileType = dyn_cast<RankedTensorType>(type))
    indices = context.getLinearIndices(builder, loc, tileType);
  else
    indices.push_back(createI32(builder, loc, 0));
  SmallVector<Value> addresses;
  for (Value index : indices)
    addresses.push_back(LLVM::GEPOp::create(builder, loc, scratch->getType(),
                                            element, *scratch,
                                            ArrayRef<LLVM::GEPArg>{index}));
  for (auto [reg, value] : llvm::enumerate(registers))
    if (!isCopyRegister(type, reg))
      emitStore(builder, loc, addresses[reg], value, acting, AccessFlags());
  gpu::BarrierOp::create(builder, loc);
  Registers results;
  for (auto [reg, value] : llvm::enumerate(registers))
    llvm::append_range(results,
                       emitLoad(builder, loc, addresses[reg], value.getType(),
                                /*width=*/1, Value(), {}, AccessFlags()));
  return results;
}

/// Performs `emit(register, order)` for each register that acts, with the
/// fences and barriers that `order` asks for, and replaces `op`.
LogicalResult distributeAtomic(Operation *op, DistributionContext &context,
                               ConversionPatternRewriter &rewriter,
                               AtomicOrder order, bool isLoop,
                               ArrayRef<Type> types, Value acting,
                               function_ref<Value(size_t, AtomicOrder)> emit) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  bool wantResult = !op->getResult(0).use_empty();
  bool releases = hasRelease(order.sem);
  bool acquires = hasAcquire(order.sem) && wantResult;
  bool useFences = types.size() > 1 || isLoop;
  if (releases) {
    gpu::BarrierOp::create(rewriter, loc);
    if (useFences)
      emitFence(rewriter, loc, order.scope);
  }
  AtomicOrder each = order;
  if (useFences)
    each.sem = tile::MemSemantic::Relaxed;
  Registers registers;
  for (size_t reg = 0; reg < types.size(); ++reg) {
    Value old = isCopyRegister(type, reg) ? Value() : emit(reg, each);
    if (!old)
      old = arith::ConstantOp::create(rewriter, loc,
                                      rewriter.getZeroAttr(types[reg]));
    registers.push_back(old);
  }
  if (acquires && useFences)
    emitFence(rewriter, loc, order.scope);
  if (wantResult && hasCopies(type)) {
    FailureOr<Registers> results =
        broadcastThroughShared(rewriter, op, context, type, acting, registers);
    if (failed(results))
      return failure();
    registers = *results;
  } else if (acquires) {
    gpu::BarrierOp::create(rewriter, loc);
  }
  rewriter.replaceOpWithMultiple(op, {registers});
  return success();
}

struct DistributeAtomicRMW : public OpConversionPattern<tile::AtomicRMWOp> {
  DistributeAtomicRMW(const TypeConverter &converter,
                      MLIRContext *patternContext, DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::AtomicRMWOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the result does not convert");
    const tile_dialect::ChipInfo &chip = getChip(context.getKernel());
    Value acting = getActingThread(rewriter, context, op.getType());
    bool wantResult = !op.getResult().use_empty();
    ValueRange mask = adaptor.getMask();
    auto emit = [&](size_t reg, AtomicOrder order) {
      Value predicate = emitAnd(rewriter, op.getLoc(), acting,
                                mask.empty() ? Value() : at(mask, reg));
      return emitAtomicRMW(
          rewriter, op.getLoc(), chip, op.getKind(), at(adaptor.getPtr(), reg),
          at(adaptor.getValue(), reg), predicate, order, wantResult);
    };
    return distributeAtomic(op, context, rewriter, {op.getSem(), op.getScope()},
                            isAtomicLoop(chip, op.getKind(), types.front()),
                            types, acting, emit);
  }

  DistributionContext &context;
};

struct DistributeAtomicCAS : public OpConversionPattern<tile::AtomicCASOp> {
  DistributeAtomicCAS(const TypeConverter &converter,
                      MLIRContext *patternContext, DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::AtomicCASOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the result does not convert");
    Location loc = op.getLoc();
    Type type = types.front();
    unsigned bits = type.getIntOrFloatBitWidth();
    Type integer = rewriter.getIntegerType(bits);
    auto toBits = [&](Value value) -> Value {
      return type == integer
                 ? value
                 : arith::BitcastOp::create(rewriter, loc, integer, value);
    };
    Value acting = getActingThread(rewriter, context, op.getType());
    auto emit = [&](size_t reg, AtomicOrder order) -> Value {
      Value old = emitAtomic(rewriter, loc, ".cas.b" + std::to_string(bits),
                             at(adaptor.getPtr(), reg),
                             {toBits(at(adaptor.getCompare(), reg)),
                              toBits(at(adaptor.getValue(), reg))},
                             acting, order, /*wantResult=*/true);
      return type == integer
                 ? old
                 : arith::BitcastOp::create(rewriter, loc, type, old);
    };
    return distributeAtomic(op, context, rewriter, {op.getSem(), op.getScope()},
                            /*isLoop=*/false, types, acting, emit);
  }

  DistributionContext &context;
};

} // namespace

void nv_detail::populateAtomicPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       DistributionContext &context) {
  patterns.add<DistributeAtomicRMW, DistributeAtomicCAS>(
      converter, patterns.getContext(), context);
}
