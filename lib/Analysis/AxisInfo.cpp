//===- AxisInfo.cpp - Contiguity, divisibility, constancy -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisInfoDetail.h"
#include "TileDialect/Analysis/ControlFlowEdges.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::detail;

namespace {

/// Joins of a block argument after which what is still changing is given up.
constexpr unsigned kMaxRounds = 8;

/// Integers, pointers, and tiles of them, whose facts attributes may state.
bool carriesFacts(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrIndex() || isa<PtrType>(element);
}

} // namespace

//===----------------------------------------------------------------------===//
// AxisInfo
//===----------------------------------------------------------------------===//

AxisInfo::AxisInfo(DimVector contiguity, DimVector divisibility,
                   DimVector constancy, std::optional<int64_t> constant,
                   bool mayBeNegative)
    : contiguity(std::move(contiguity)), divisibility(std::move(divisibility)),
      constancy(std::move(constancy)), constant(constant),
      negative(mayBeNegative) {}

AxisInfo AxisInfo::getPessimistic(Type type) {
  DimVector ones(getExtents(type).size(), 1);
  return AxisInfo(ones, ones, ones);
}

AxisInfo AxisInfo::getConstant(Type type, int64_t constant) {
  DimVector extents = getExtents(type);
  return AxisInfo(DimVector(extents.size(), 1),
                  DimVector(extents.size(), powerOfTwoPart(constant)), extents,
                  constant, constant < 0);
}

int64_t AxisInfo::getDivisibilityAt(unsigned dim, int64_t block,
                                    int64_t step) const {
  // Multiples of `block` lie in a run at multiples of gcd(block, run length).
  if (block % contiguity[dim] == 0)
    return divisibility[dim];
  int64_t offset = std::gcd(block, contiguity[dim]) * powerOfTwoPart(step);
  return std::min(divisibility[dim], powerOfTwoPart(offset));
}

int64_t AxisInfo::getElementDivisibility(int64_t step) const {
  int64_t best = 1;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    best = std::max(best, getDivisibilityAt(dim, 1, step));
  return best;
}

AxisInfo AxisInfo::join(const AxisInfo &lhs, const AxisInfo &rhs, Type type) {
  if (!lhs.isInitialized())
    return rhs;
  if (!rhs.isInitialized())
    return lhs;
  int64_t step = getPointeeBytes(type);
  AxisInfo result = lhs;
  for (unsigned dim = 0; dim < lhs.getRank(); ++dim) {
    int64_t block = std::gcd(lhs.contiguity[dim], rhs.contiguity[dim]);
    result.contiguity[dim] = block;
    result.divisibility[dim] =
        std::min(lhs.getDivisibilityAt(dim, block, step),
                 rhs.getDivisibilityAt(dim, block, step));
    result.constancy[dim] = std::gcd(lhs.constancy[dim], rhs.constancy[dim]);
  }
  if (lhs.constant != rhs.constant)
    result.constant = std::nullopt;
  result.negative = lhs.negative || rhs.negative;
  return result;
}

bool AxisInfo::operator==(const AxisInfo &other) const {
  return contiguity == other.contiguity && divisibility == other.divisibility &&
         constancy == other.constancy && constant == other.constant &&
         negative == other.negative;
}

void AxisInfo::print(raw_ostream &os) const {
  auto printList = [&](StringRef name, const DimVector &list) {
    os << name << " = [";
    llvm::interleaveComma(list, os);
    os << "]";
  };
  printList("contiguity", contiguity);
  printList(", divisibility", divisibility);
  printList(", constancy", constancy);
  if (isInitialized() && !negative)
    os << ", non-negative";
  if (constant)
    os << ", constant = " << *constant;
}

int64_t tile::getPointeeBytes(Type ptrLike) {
  auto ptr = dyn_cast<PtrType>(getElementTypeOrSelf(ptrLike));
  if (!ptr)
    return 1;
  Type pointee = ptr.getPointeeType();
  if (isa<PtrType>(pointee))
    return 8;
  return pointee.isIntOrFloat()
             ? std::max<int64_t>(1, (pointee.getIntOrFloatBitWidth() + 7) / 8)
             : 1;
}

//===----------------------------------------------------------------------===//
// Facts stated by attributes
//===----------------------------------------------------------------------===//

namespace {

/// Adds what `attrs` states (see the tile dialect's description) to `info`.
AxisInfo addStatedFacts(AxisInfo info, Type type,
                        function_ref<Attribute(StringRef)> getAttr) {
  auto stated = [&](StringRef name) -> ArrayRef<int32_t> {
    auto array = dyn_cast_or_null<DenseI32ArrayAttr>(getAttr(name));
    if (!array || array.size() != static_cast<int64_t>(info.getRank()))
      return {};
    return array.asArrayRef();
  };
  ArrayRef<int32_t> contiguity = stated(kContiguityAttrName);
  ArrayRef<int32_t> divisibility = stated(kDivisibilityAttrName);
  ArrayRef<int32_t> constancy = stated(kConstancyAttrName);
  if (contiguity.empty() && divisibility.empty() && constancy.empty())
    return info;
  AxisInfo::DimVector extents = getExtents(type), runs, divs, equals;
  int64_t step = getPointeeBytes(type);
  for (unsigned dim = 0; dim < info.getRank(); ++dim) {
    int64_t run = info.getContiguity(dim);
    if (!contiguity.empty() && contiguity[dim] > 0)
      run = std::max(run, std::gcd<int64_t>(contiguity[dim], extents[dim]));
    int64_t div = info.getDivisibilityAt(dim, run, step);
    if (!divisibility.empty() && divisibility[dim] > 0)
      div = std::max(div, powerOfTwoPart(divisibility[dim]));
    int64_t equal = info.getConstancy(dim);
    if (!constancy.empty() && constancy[dim] > 0)
      equal = std::max(equal, std::gcd<int64_t>(constancy[dim], extents[dim]));
    runs.push_back(run);
    divs.push_back(div);
    equals.push_back(equal);
  }
  return AxisInfo(runs, divs, equals, info.getConstantValue(),
                  info.mayBeNegative());
}

AxisInfo getArgumentInfo(BlockArgument arg) {
  AxisInfo info = AxisInfo::getPessimistic(arg.getType());
  auto func = dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
  if (!func || !arg.getOwner()->isEntryBlock() ||
      arg.getArgNumber() >= func.getNumArguments() ||
      !carriesFacts(arg.getType()))
    return info;
  return addStatedFacts(info, arg.getType(), [&](StringRef name) {
    return func.getArgAttr(arg.getArgNumber(), name);
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Facts promised by tile.assume
//===----------------------------------------------------------------------===//

/// The promise about `value`, or null if `assume` is not reached whenever there
/// is a value: one in a branch says nothing of what is computed before it.
ModuleAxisInfo::Promise *ModuleAxisInfo::getPromise(AssumeOp assume,
                                                    Value value) {
  return value.getParentBlock() == assume->getBlock() ? &promises[value]
                                                      : nullptr;
}

/// True if `x predicate bound` does not hold for a negative x.
static bool excludesNegative(arith::CmpIPredicate predicate,
                             const APInt &bound) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::sge:
  case Predicate::eq:
  case Predicate::ult:
  case Predicate::ule:
    return !bound.isNegative();
  case Predicate::sgt:
    return !bound.isNegative() || bound.isAllOnes();
  default:
    return false;
  }
}

/// `bound predicate x` as a comparison of x with the bound.
static arith::CmpIPredicate swapSides(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  case Predicate::ult:
    return Predicate::ugt;
  case Predicate::ule:
    return Predicate::uge;
  case Predicate::ugt:
    return Predicate::ult;
  case Predicate::uge:
    return Predicate::ule;
  default:
    return predicate;
  }
}

void ModuleAxisInfo::notePromise(AssumeOp assume, Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  Value value = compare.getLhs(), other = compare.getRhs();
  arith::CmpIPredicate predicate = compare.getPredicate();
  APInt bound;
  if (matchPattern(value, m_ConstantInt(&bound))) {
    std::swap(value, other);
    predicate = swapSides(predicate);
  }
  if (!matchPattern(other, m_ConstantInt(&bound)))
    return;
  if (excludesNegative(predicate, bound))
    if (Promise *promise = getPromise(assume, value))
      promise->isNotNegative = true;

  // x % divisor == 0
  Operation *remainder = value.getDefiningOp();
  APInt divisor;
  if (predicate != arith::CmpIPredicate::eq || !bound.isZero() ||
      !isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(remainder) ||
      !matchPattern(remainder->getOperand(1), m_ConstantInt(&divisor)) ||
      divisor.getBitWidth() > 64 || divisor.isZero())
    return;
  if (Promise *promise = getPromise(assume, remainder->getOperand(0)))
    promise->divisibility =
        std::max(promise->divisibility, powerOfTwoPart(divisor.getSExtValue()));
}

void ModuleAxisInfo::collectPromises(AssumeOp assume) {
  SmallVector<Value> conditions{assume.getCondition()};
  while (!conditions.empty()) {
    Value condition = conditions.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      llvm::append_range(conditions, both->getOperands());
    else
      notePromise(assume, condition);
  }
}

AxisInfo ModuleAxisInfo::addPromises(Value value, AxisInfo info) const {
  auto it = promises.find(value);
  if (it == promises.end() || !info.isInitialized() || info.getRank() != 1)
    return info;
  const Promise &promise = it->second;
  return AxisInfo(info.getContiguity(),
                  {std::max(info.getDivisibility(0), promise.divisibility)},
                  info.getConstancy(), info.getConstantValue(),
                  info.mayBeNegative() && !promise.isNotNegative);
}

//===----------------------------------------------------------------------===//
// ModuleAxisInfo
//===----------------------------------------------------------------------===//

ModuleAxisInfo::ModuleAxisInfo(Operation *root) : root(root) {
  root->walk([&](AssumeOp assume) { collectPromises(assume); });
  // Arguments that no control flow edge of ours reaches hold any value.
  DenseSet<Value> reached;
  root->walk([&](Operation *op) {
    forEachControlFlowEdge(op,
                           [&](OpOperand &, Value to) { reached.insert(to); });
    if (auto loop = dyn_cast<scf::ForOp>(op))
      reached.insert(loop.getInductionVar());
  });
  root->walk([&](Block *block) {
    for (BlockArgument arg : block->getArguments())
      if (!reached.contains(arg))
        infos[arg] = addPromises(arg, getArgumentInfo(arg));
  });
  for (unsigned round = 0; propagate(); ++round) {
    if (round < kMaxRounds)
      continue;
    // Facts that shrink a little in each round (a divisibility that a loop
    // halves) are given up: each argument can change once more.
    for (Value value : reached)
      if (infos.contains(value))
        infos[value] =
            addPromises(value, AxisInfo::getPessimistic(value.getType()));
    while (propagate()) {
    }
    break;
  }
}

bool ModuleAxisInfo::propagate() {
  changed = false;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { visitOperation(op); });
  return changed;
}

const AxisInfo &ModuleAxisInfo::lookup(Value value) {
  static const AxisInfo unknown;
  auto it = infos.find(value);
  return it == infos.end() ? unknown : it->second;
}

void ModuleAxisInfo::set(Value value, AxisInfo info) {
  info = addPromises(value, std::move(info));
  AxisInfo &old = infos[value];
  if (old == info)
    return;
  old = std::move(info);
  changed = true;
}

void ModuleAxisInfo::update(Value value, const AxisInfo &info) {
  if (!info.isInitialized())
    return;
  set(value, AxisInfo::join(lookup(value), info, value.getType()));
}

void ModuleAxisInfo::visitOperation(Operation *op) {
  forEachControlFlowEdge(op, [&](OpOperand &from, Value to) {
    AxisInfo info = lookup(from.get());
    update(to, info);
  });
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const AxisInfo &lower = lookup(loop.getLowerBound());
    const AxisInfo &step = lookup(loop.getStep());
    const AxisInfo &upper = lookup(loop.getUpperBound());
    // An unsigned loop may count through the numbers that are negative as
    // signed ones, as far as its upper bound lets it.
    if (lower.isInitialized() && upper.isInitialized() && step.isInitialized())
      set(loop.getInductionVar(),
          AxisInfo(
              {1},
              {std::min(lower.getDivisibility(0), step.getDivisibility(0))},
              {1}, std::nullopt,
              lower.mayBeNegative() || step.mayBeNegative() ||
                  (loop.getUnsignedCmp() && upper.mayBeNegative())));
  }
  // The results of an op with control flow come from its regions.
  if (isa<RegionBranchOpInterface>(op))
    return;
  if (llvm::any_of(op->getOperands(), [&](Value operand) {
        return !lookup(operand).isInitialized();
      }))
    return;
  for (OpResult result : op->getResults()) {
    AxisInfo info = inferAxisInfo(
        result, [&](Value value) -> const AxisInfo & { return lookup(value); });
    if (carriesFacts(result.getType()))
      info = addStatedFacts(std::move(info), result.getType(),
                            [&](StringRef name) { return op->getAttr(name); });
    set(result, std::move(info));
  }
}

AxisInfo ModuleAxisInfo::getAxisInfo(Value value) const {
  auto it = infos.find(value);
  if (it == infos.end() || !it->second.isInitialized())
    return AxisInfo::getPessimistic(value.getType());
  return it->second;
}

int64_t ModuleAxisInfo::getPointerContiguity(Value ptr, unsigned dim) const {
  AxisInfo info = getAxisInfo(ptr);
  int64_t bytes = powerOfTwoPart(getPointeeBytes(ptr.getType()));
  int64_t aligned = std::max<int64_t>(1, info.getDivisibility(dim) / bytes);
  return std::min(powerOfTwoPart(info.getContiguity(dim)), aligned);
}

int64_t ModuleAxisInfo::getPointerContiguity(Value ptr) const {
  int64_t best = 1;
  for (unsigned dim = 0, rank = getAxisInfo(ptr).getRank(); dim < rank; ++dim)
    best = std::max(best, getPointerContiguity(ptr, dim));
  return best;
}

int64_t ModuleAxisInfo::getPointerAlignment(Value ptr, unsigned dim) const {
  return getAxisInfo(ptr).getDivisibility(dim);
}

int64_t ModuleAxisInfo::getPointerAlignment(Value ptr) const {
  AxisInfo info = getAxisInfo(ptr);
  return *llvm::max_element(info.getDivisibility());
}

int64_t ModuleAxisInfo::getMaskAlignment(Value mask, unsigned dim) const {
  return powerOfTwoPart(getAxisInfo(mask).getConstancy(dim));
}

int64_t ModuleAxisInfo::getMaskAlignment(Value mask) const {
  int64_t best = 1;
  for (unsigned dim = 0, rank = getAxisInfo(mask).getRank(); dim < rank; ++dim)
    best = std::max(best, getMaskAlignment(mask, dim));
  return best;
}
