//===- DistributeAtomics.cpp - Atomic read-modify-write -------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element is accessed by one of the threads that hold it, alone or with
// its neighbours where the chip has vectors of atomics. Where others need the
// old value, it reaches them through shared memory.
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

/// Emits `atom` or `red` with `operation` (`.add.u32`). `values` are its
/// operands behind the address, of `width` registers each. `initial` are the
/// results where `predicate` is false; if it is empty, they are zero.
SmallVector<Value> emitAtomics(OpBuilder &builder, Location loc,
                               StringRef operation, Value ptr,
                               ValueRange values, size_t width, Value predicate,
                               AtomicOrder order, bool wantResult,
                               ValueRange initial = {}) {
  Type type = values.front().getType();
  std::string letter(1, getConstraintLetter(type));
  bool isReduction = !wantResult && !operation.starts_with(".exch") &&
                     !operation.starts_with(".cas");
  size_t numResults = isReduction ? 0 : width;
  std::string text, constraints, list;
  for (size_t i = 0; i < numResults; ++i)
    constraints += "=" + letter + ",";
  constraints += "l";
  SmallVector<Value> operands{ptr};
  llvm::append_range(operands, values);
  for (size_t i = 0; i < values.size(); i += width)
    list += ", " + getOperandList(numResults + 1 + i, width);
  for (size_t i = 0; i < values.size(); ++i)
    constraints += "," + letter;
  if (predicate) {
    text = "@$" + std::to_string(numResults + operands.size()) + " ";
    operands.push_back(predicate);
    constraints += ",b";
    for (size_t i = 0; i < numResults; ++i) {
      operands.push_back(initial.empty()
                             ? Value(arith::ConstantOp::create(
                                   builder, loc, builder.getZeroAttr(type)))
                             : initial[i]);
      constraints += "," + std::to_string(i);
    }
  }
  text += isReduction ? "red" : "atom";
  text += getOrder(order, isReduction) + getStateSpace(ptr).str() +
          operation.str() + " ";
  if (!isReduction)
    text += getOperandList(0, width) + ", ";
  text += "[$" + std::to_string(numResults) + "]" + list + ";";
  return emitPTX(builder, loc, text, constraints,
                 SmallVector<Type>(numResults, type), operands,
                 /*pure=*/false);
}

/// The same for registers, not vectors of them.
Value emitAtomic(OpBuilder &builder, Location loc, StringRef operation,
                 Value ptr, ValueRange values, Value predicate,
                 AtomicOrder order, bool wantResult, Value initial = Value()) {
  SmallVector<Value> results =
      emitAtomics(builder, loc, operation, ptr, values, /*width=*/1, predicate,
                  order, wantResult, initial ? initial : ValueRange());
  return results.empty() ? Value() : results.front();
}

/// fmax and fmin of f32 and f64 as integer atomics: the order of the bits is
/// that of the numbers, reversed for negative ones. It is IEEE 754's
/// totalOrder: a NaN is beyond the infinity of its sign.
Value emitFloatExtremum(OpBuilder &builder, Location loc, bool isMax, Value ptr,
                        Value value, Value predicate, AtomicOrder order,
                        bool wantResult) {
  auto type = cast<FloatType>(value.getType());
  unsigned bits = type.getWidth();
  Type integer = builder.getIntegerType(bits);
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

int64_t nv_detail::getAtomicElements(Operation *op) {
  tile::RMWKind kind;
  Type pointee;
  if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op)) {
    auto ptr = cast<tile::PtrType>(getElementTypeOrSelf(atomic.getPtr()));
    // Vectors are for `.global` (1) alone.
    if (ptr.getMemorySpace() != 1)
      return 1;
    kind = atomic.getKind();
    pointee = ptr.getPointeeType();
  } else if (auto reduce = dyn_cast<tile::DescReduceOp>(op)) {
    kind = reduce.getKind();
    pointee = getElementTypeOrSelf(reduce.getValue());
  } else {
    return 1;
  }
  const tile_dialect::ChipInfo &chip = getChip(op);
  if (kind != tile::RMWKind::FAdd || isAtomicLoop(chip, kind, pointee))
    return 1;
  int64_t bits = pointee.getIntOrFloatBitWidth();
  // Without vectors, there are pairs of 16 bits.
  return bits > 32 ? 1 : (chip.hasVectorAtomics ? 128 : 32) / bits;
}

/// fadd of several neighbours. 16-bit ones are taken in pairs, which older
/// chips have, too.
static Registers emitVectorAdd(OpBuilder &builder, Location loc, Value ptr,
                               ValueRange values, Value predicate,
                               AtomicOrder order, bool wantResult) {
  Type type = values.front().getType();
  bool isPair = !type.isF32();
  SmallVector<Value> units(values);
  if (isPair) {
    units.clear();
    for (size_t i = 0; i < values.size(); i += 2)
      units.push_back(LLVM::BitcastOp::create(
          builder, loc, builder.getI32Type(),
          packVector(builder, loc, values.slice(i, 2))));
  }
  std::string operation = isPair ? ".add.noftz" : ".add";
  if (units.size() > 1)
    operation += ".v" + std::to_string(units.size());
  operation += type.isF16() ? ".f16x2" : type.isBF16() ? ".bf16x2" : ".f32";
  SmallVector<Value> results =
      emitAtomics(builder, loc, operation, ptr, units, units.size(), predicate,
                  order, wantResult);
  if (!isPair)
    return results;
  Registers elements;
  for (Value result : results) {
    Value pair = LLVM::BitcastOp::create(builder, loc,
                                         VectorType::get({2}, type), result);
    llvm::append_range(elements, unpackVector(builder, loc, pair, 2));
  }
  return elements;
}

Registers nv_detail::emitAtomicRMW(OpBuilder &builder, Location loc,
                                   const tile_dialect::ChipInfo &chip,
                                   tile::RMWKind kind, Value ptr,
                                   ValueRange values, Value predicate,
                                   AtomicOrder order, bool wantResult) {
  if (values.size() > 1)
    return emitVectorAdd(builder, loc, ptr, values, predicate, order,
                         wantResult);
  Value old = emitAtomicRMW(builder, loc, chip, kind, ptr, values.front(),
                            predicate, order, wantResult);
  return wantResult ? Registers{old} : Registers();
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

/// Performs `emit(register, order)` for each `width` registers that act, with
/// the fences and barriers that `order` asks for, and replaces `op`.
LogicalResult
distributeAtomic(Operation *op, DistributionContext &context,
                 ConversionPatternRewriter &rewriter, AtomicOrder order,
                 bool isLoop, ArrayRef<Type> types, size_t width, Value acting,
                 function_ref<Registers(size_t, AtomicOrder)> emit) {
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
  for (size_t reg = 0; reg < types.size(); reg += width) {
    if (!isCopyRegister(type, reg))
      llvm::append_range(registers, emit(reg, each));
    // What has no result, or none that anybody needs.
    while (registers.size() < reg + width)
      registers.push_back(arith::ConstantOp::create(
          rewriter, loc, rewriter.getZeroAttr(types[reg])));
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
  tile_gpu::replaceWithRegisters(rewriter, op, {registers});
  return success();
}

struct DistributeAtomicRMW : public OpConversionPattern<tile::AtomicRMWOp> {
  DistributeAtomicRMW(const TypeConverter &converter,
                      MLIRContext *patternContext, DistributionContext &context,
                      std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, patternContext), context(context),
        plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(tile::AtomicRMWOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the result does not convert");
    const tile_dialect::ChipInfo &chip = getChip(context.getKernel());
    Value acting = getActingThread(rewriter, context, op.getType());
    bool wantResult = !op.getResult().use_empty();
    ValueRange mask = adaptor.getMask(), values = adaptor.getValue();
    int64_t width = plan->getWidth(op);
    auto emit = [&](size_t reg, AtomicOrder order) {
      Value predicate = emitAnd(rewriter, op.getLoc(), acting,
                                mask.empty() ? Value() : at(mask, reg));
      return emitAtomicRMW(rewriter, op.getLoc(), chip, op.getKind(),
                           at(adaptor.getPtr(), reg), values.slice(reg, width),
                           predicate, order, wantResult);
    };
    return distributeAtomic(op, context, rewriter, {op.getSem(), op.getScope()},
                            isAtomicLoop(chip, op.getKind(), types.front()),
                            types, width, acting, emit);
  }

  DistributionContext &context;
  std::shared_ptr<const AccessPlan> plan;
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
    auto emit = [&](size_t reg, AtomicOrder order) -> Registers {
      Value old = emitAtomic(rewriter, loc, ".cas.b" + std::to_string(bits),
                             at(adaptor.getPtr(), reg),
                             {toBits(at(adaptor.getCompare(), reg)),
                              toBits(at(adaptor.getValue(), reg))},
                             acting, order, /*wantResult=*/true);
      if (type != integer)
        old = arith::BitcastOp::create(rewriter, loc, type, old);
      return {old};
    };
    return distributeAtomic(op, context, rewriter, {op.getSem(), op.getScope()},
                            /*isLoop=*/false, types, /*width=*/1, acting, emit);
  }

  DistributionContext &context;
};

} // namespace

void nv_detail::populateAtomicPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       DistributionContext &context,
                                       std::shared_ptr<const AccessPlan> plan) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributeAtomicRMW>(converter, ctx, context, std::move(plan));
  patterns.add<DistributeAtomicCAS>(converter, ctx, context);
}
