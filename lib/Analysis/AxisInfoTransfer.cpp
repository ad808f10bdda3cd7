//===- AxisInfoTransfer.cpp - Axis info of each op --------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisInfoDetail.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::detail;

namespace {

using DimVector = AxisInfo::DimVector;
using OperandInfo = function_ref<const AxisInfo &(Value)>;

/// The product of two powers of two, limited to the largest divisibility.
int64_t multiplyDivisibility(int64_t lhs, int64_t rhs) {
  return lhs > kMaxDivisibility / rhs ? kMaxDivisibility : lhs * rhs;
}

/// What one dimension of a result has in common.
struct DimFacts {
  int64_t contiguity = 1;
  int64_t divisibility = 1;
  int64_t constancy = 1;
};

AxisInfo collect(unsigned rank, function_ref<DimFacts(unsigned)> getFacts,
                 bool mayBeNegative = true) {
  DimVector contiguity, divisibility, constancy;
  for (unsigned dim = 0; dim < rank; ++dim) {
    DimFacts facts = getFacts(dim);
    contiguity.push_back(facts.contiguity);
    divisibility.push_back(facts.divisibility);
    constancy.push_back(facts.constancy);
  }
  return AxisInfo(contiguity, divisibility, constancy, std::nullopt,
                  mayBeNegative);
}

/// The two operands of a binary op, or a value and the one that it is combined
/// with.
struct Pair {
  const AxisInfo &lhs;
  const AxisInfo &rhs;

  unsigned getRank() const { return lhs.getRank(); }
  int64_t getConstancy(unsigned dim) const {
    return std::gcd(lhs.getConstancy(dim), rhs.getConstancy(dim));
  }
  bool mayBeNegative() const {
    return lhs.mayBeNegative() || rhs.mayBeNegative();
  }
  bool mayBothBeNegative() const {
    return lhs.mayBeNegative() && rhs.mayBeNegative();
  }
  /// Divisibility that both have at multiples of `block`.
  int64_t getCommonDivisibilityAt(unsigned dim, int64_t block) const {
    return std::min(lhs.getDivisibilityAt(dim, block),
                    rhs.getDivisibilityAt(dim, block));
  }
  /// Blocks that are a run of `lhs`, hold one value of `rhs` and do not
  /// straddle a multiple of that value.
  int64_t getAlignedRun(unsigned dim) const {
    int64_t run = std::gcd(lhs.getContiguity(dim), rhs.getConstancy(dim));
    return std::gcd(
        run, std::min(lhs.getDivisibility(dim), rhs.getElementDivisibility()));
  }
};

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<int64_t> getSplatInteger(Attribute attr) {
  auto asInteger = [](const APInt &value) {
    return value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue())
                                    : value.getSExtValue();
  };
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    if (integer.getValue().getBitWidth() <= 64)
      return asInteger(integer.getValue());
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (dense && dense.isSplat() && dense.getElementType().isIntOrIndex())
    return asInteger(dense.getSplatValue<APInt>());
  return std::nullopt;
}

AxisInfo inferConstant(arith::ConstantOp op) {
  if (std::optional<int64_t> value = getSplatInteger(op.getValue()))
    return AxisInfo::getConstant(op.getType(), *value);
  AxisInfo info = AxisInfo::getPessimistic(op.getType());
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (dense && dense.isSplat())
    return AxisInfo(info.getContiguity(), info.getDivisibility(),
                    getExtents(op.getType()));
  return info;
}

/// The value of an op on two known constants, modulo its width.
std::optional<int64_t> foldBinary(Operation *op, int64_t lhs, int64_t rhs) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (width == 1)
    return std::nullopt;
  APInt a(width, static_cast<uint64_t>(lhs), true, /*implicitTrunc=*/true);
  APInt b(width, static_cast<uint64_t>(rhs), true, /*implicitTrunc=*/true);
  bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  bool isDivision =
      isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
  if ((isShift && b.uge(width)) || (isDivision && b.isZero()) ||
      (isDivision && a.isMinSignedValue() && b.isAllOnes()))
    return std::nullopt;
  std::optional<APInt> result =
      TypeSwitch<Operation *, std::optional<APInt>>(op)
          .Case<arith::AddIOp>([&](auto) { return a + b; })
          .Case<arith::SubIOp>([&](auto) { return a - b; })
          .Case<arith::MulIOp>([&](auto) { return a * b; })
          .Case<arith::DivSIOp>([&](auto) { return a.sdiv(b); })
          .Case<arith::DivUIOp>([&](auto) { return a.udiv(b); })
          .Case<arith::RemSIOp>([&](auto) { return a.srem(b); })
          .Case<arith::RemUIOp>([&](auto) { return a.urem(b); })
          .Case<arith::AndIOp>([&](auto) { return a & b; })
          .Case<arith::OrIOp>([&](auto) { return a | b; })
          .Case<arith::ShLIOp>([&](auto) { return a.shl(b); })
          .Case<arith::ShRSIOp>([&](auto) { return a.ashr(b); })
          .Case<arith::ShRUIOp>([&](auto) { return a.lshr(b); })
          .Default([](Operation *) { return std::nullopt; });
  if (!result)
    return std::nullopt;
  return result->getSExtValue();
}

//===----------------------------------------------------------------------===//
// Integer arithmetic
//===----------------------------------------------------------------------===//

/// lhs + rhs, or lhs - rhs.
AxisInfo inferSum(Pair in, bool isSubtraction) {
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        DimFacts facts;
        facts.contiguity =
            std::gcd(in.lhs.getContiguity(dim), in.rhs.getConstancy(dim));
        if (!isSubtraction)
          facts.contiguity =
              std::max(facts.contiguity, std::gcd(in.lhs.getConstancy(dim),
                                                  in.rhs.getContiguity(dim)));
        facts.divisibility = in.getCommonDivisibilityAt(dim, facts.contiguity);
        facts.constancy = in.getConstancy(dim);
        return facts;
      },
      isSubtraction || in.mayBeNegative());
}

/// ptr + offset * step.
AxisInfo inferAddPtr(Pair in, int64_t step) {
  return collect(in.getRank(), [&](unsigned dim) {
    DimFacts facts;
    facts.contiguity =
        std::max(std::gcd(in.lhs.getContiguity(dim), in.rhs.getConstancy(dim)),
                 std::gcd(in.lhs.getConstancy(dim), in.rhs.getContiguity(dim)));
    facts.divisibility = std::min(
        in.lhs.getDivisibilityAt(dim, facts.contiguity, step),
        multiplyDivisibility(in.rhs.getDivisibilityAt(dim, facts.contiguity),
                             powerOfTwoPart(step)));
    facts.constancy = in.getConstancy(dim);
    return facts;
  });
}

AxisInfo inferProduct(Pair in) {
  if (in.rhs.getConstantValue() == 1)
    return in.lhs;
  if (in.lhs.getConstantValue() == 1)
    return in.rhs;
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        return DimFacts{1,
                        multiplyDivisibility(in.lhs.getDivisibilityAt(dim, 1),
                                             in.rhs.getDivisibilityAt(dim, 1)),
                        in.getConstancy(dim)};
      },
      in.mayBeNegative());
}

/// lhs / rhs. `isUniform` says that a block [k*g, (k+1)*g) of dividends, where
/// g divides the divisor, has one quotient.
AxisInfo inferQuotient(Pair in, bool isUniform, bool mayBeNegative) {
  if (in.rhs.getConstantValue() == 1)
    return in.lhs;
  std::optional<int64_t> divisor = in.rhs.getConstantValue();
  bool isPowerOfTwo =
      divisor && *divisor > 0 && powerOfTwoPart(*divisor) == *divisor;
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        DimFacts facts;
        facts.constancy = in.getConstancy(dim);
        if (isUniform)
          facts.constancy = std::max(facts.constancy, in.getAlignedRun(dim));
        if (isPowerOfTwo)
          facts.divisibility =
              std::max<int64_t>(1, in.lhs.getDivisibilityAt(dim, 1) / *divisor);
        return facts;
      },
      mayBeNegative);
}

/// Rounds to zero: the block of dividends [-g, 0) has a quotient for -g and
/// another for the rest. The sign of the divisor does not matter to a block
/// of dividends that are not negative.
AxisInfo inferSignedQuotient(Pair in) {
  return inferQuotient(in, /*isUniform=*/!in.lhs.mayBeNegative(),
                       in.mayBeNegative());
}

/// Rounds down: the block [0, g) by a negative divisor has quotient 0 for its
/// first element and a negative one for the rest.
AxisInfo inferFloorQuotient(Pair in) {
  return inferQuotient(in, /*isUniform=*/!in.rhs.mayBeNegative(),
                       in.mayBeNegative());
}

/// No unsigned quotient is larger than its dividend, and half of the largest
/// unsigned number is not negative.
AxisInfo inferUnsignedQuotient(Pair in) {
  std::optional<int64_t> divisor = in.rhs.getConstantValue();
  bool halves = divisor && *divisor > 1;
  return inferQuotient(in, /*isUniform=*/true,
                       in.lhs.mayBeNegative() && !halves);
}

/// lhs % rhs, which has the sign of the dividend if it is signed. An unsigned
/// one is not larger than either operand.
AxisInfo inferRemainder(Pair in, bool isUnsigned) {
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        DimFacts facts;
        if (isUnsigned || !in.lhs.mayBeNegative())
          facts.contiguity = in.getAlignedRun(dim);
        facts.divisibility = in.getCommonDivisibilityAt(dim, facts.contiguity);
        facts.constancy = in.getConstancy(dim);
        return facts;
      },
      isUnsigned ? in.mayBothBeNegative() : in.lhs.mayBeNegative());
}

AxisInfo inferAnd(Pair in) {
  std::optional<int64_t> mask = in.rhs.getConstantValue();
  // x & (2^k - 1) is the remainder by 2^k; x & -2^k rounds down to it.
  if (mask && *mask > 0 && *mask < kMaxDivisibility &&
      powerOfTwoPart(*mask + 1) == *mask + 1) {
    DimVector extents = in.rhs.getConstancy();
    AxisInfo modulus(DimVector(in.getRank(), 1),
                     DimVector(in.getRank(), *mask + 1), extents, *mask + 1,
                     /*mayBeNegative=*/false);
    return inferRemainder({in.lhs, modulus}, /*isUnsigned=*/true);
  }
  bool roundsDown = mask && *mask < 0 && *mask >= -kMaxDivisibility &&
                    powerOfTwoPart(*mask) == -*mask;
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        DimFacts facts;
        facts.divisibility = std::max(in.lhs.getDivisibilityAt(dim, 1),
                                      in.rhs.getDivisibilityAt(dim, 1));
        facts.constancy = in.getConstancy(dim);
        if (roundsDown)
          facts.constancy = std::max(facts.constancy, in.getAlignedRun(dim));
        return facts;
      },
      in.mayBothBeNegative());
}

AxisInfo inferShiftLeft(Pair in) {
  std::optional<int64_t> amount = in.rhs.getConstantValue();
  if (amount == 0)
    return in.lhs;
  int64_t factor = amount && *amount > 0 && *amount < 62 ? int64_t(1) << *amount
                                                         : int64_t(1);
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        return DimFacts{
            1, multiplyDivisibility(in.lhs.getDivisibilityAt(dim, 1), factor),
            in.getConstancy(dim)};
      },
      in.lhs.mayBeNegative());
}

AxisInfo inferShiftRight(Pair in, bool isSigned) {
  std::optional<int64_t> amount = in.rhs.getConstantValue();
  if (!amount || *amount < 0 || *amount >= 62)
    return collect(
        in.getRank(),
        [&](unsigned dim) { return DimFacts{1, 1, in.getConstancy(dim)}; },
        in.lhs.mayBeNegative());
  DimVector ones(in.getRank(), 1);
  AxisInfo divisor(ones, DimVector(in.getRank(), int64_t(1) << *amount),
                   in.rhs.getConstancy(), int64_t(1) << *amount,
                   /*mayBeNegative=*/false);
  Pair quotient{in.lhs, divisor};
  return isSigned ? inferFloorQuotient(quotient)
                  : inferUnsignedQuotient(quotient);
}

/// Results that are one of the operands (minimum, maximum) or a bitwise
/// combination of them.
AxisInfo inferMix(Pair in, bool mayBeNegative) {
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        return DimFacts{1, in.getCommonDivisibilityAt(dim, 1),
                        in.getConstancy(dim)};
      },
      mayBeNegative);
}

AxisInfo inferSelect(const AxisInfo &condition, bool isScalarCondition,
                     Pair in) {
  if (in.lhs.getConstantValue() && in.lhs == in.rhs)
    return in.lhs;
  return collect(
      in.getRank(),
      [&](unsigned dim) {
        int64_t run =
            std::gcd(in.lhs.getContiguity(dim), in.rhs.getContiguity(dim));
        int64_t equal = in.getConstancy(dim);
        if (!isScalarCondition) {
          run = std::gcd(run, condition.getConstancy(dim));
          equal = std::gcd(equal, condition.getConstancy(dim));
        }
        return DimFacts{run, in.getCommonDivisibilityAt(dim, run), equal};
      },
      in.mayBeNegative());
}

/// `x < y` does not change within an aligned run of x against a multiple.
AxisInfo inferCompare(arith::CmpIPredicate predicate, Pair in) {
  using Predicate = arith::CmpIPredicate;
  bool isRunOnLeft = llvm::is_contained(
      {Predicate::slt, Predicate::sge, Predicate::ult, Predicate::uge},
      predicate);
  bool isRunOnRight = llvm::is_contained(
      {Predicate::sgt, Predicate::sle, Predicate::ugt, Predicate::ule},
      predicate);
  Pair swapped{in.rhs, in.lhs};
  return collect(in.getRank(), [&](unsigned dim) {
    int64_t equal = in.getConstancy(dim);
    if (isRunOnLeft)
      equal = std::max(equal, in.getAlignedRun(dim));
    if (isRunOnRight)
      equal = std::max(equal, swapped.getAlignedRun(dim));
    return DimFacts{1, 1, equal};
  });
}

/// The low `width` bits of a wider number, which make a number of any sign.
AxisInfo inferTruncation(const AxisInfo &in, Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (in.getConstantValue() && width > 1 && width < 64)
    return AxisInfo::getConstant(
        type, llvm::SignExtend64(*in.getConstantValue(), width));
  if (width <= 1 || width > 62)
    return collect(in.getRank(), [&](unsigned dim) {
      return DimFacts{1, 1, in.getConstancy(dim)};
    });
  // Runs stay within half the range of the type, so that they wrap at its
  // ends only.
  int64_t half = int64_t(1) << (width - 1);
  return collect(in.getRank(), [&](unsigned dim) {
    int64_t run = std::gcd(in.getContiguity(dim), half);
    return DimFacts{run, in.getDivisibilityAt(dim, run), in.getConstancy(dim)};
  });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

AxisInfo inferArange(ArangeOp op) {
  int64_t start = static_cast<int32_t>(op.getStart());
  return AxisInfo({op.getType().getDimSize(0)}, {powerOfTwoPart(start)}, {1},
                  std::nullopt, start < 0);
}

AxisInfo inferSplat(const AxisInfo &in, Type type) {
  DimVector extents = getExtents(type);
  return AxisInfo(DimVector(extents.size(), 1),
                  DimVector(extents.size(), in.getDivisibility(0)), extents,
                  in.getConstantValue(), in.mayBeNegative());
}

AxisInfo inferExpandDims(const AxisInfo &in, unsigned axis, int64_t step) {
  DimVector contiguity = in.getContiguity(),
            divisibility = in.getDivisibility(), constancy = in.getConstancy();
  contiguity.insert(contiguity.begin() + axis, 1);
  divisibility.insert(divisibility.begin() + axis,
                      in.getElementDivisibility(step));
  constancy.insert(constancy.begin() + axis, 1);
  return AxisInfo(contiguity, divisibility, constancy, in.getConstantValue(),
                  in.mayBeNegative());
}

AxisInfo inferBroadcast(const AxisInfo &in, RankedTensorType from,
                        RankedTensorType to) {
  DimVector constancy = in.getConstancy();
  for (unsigned dim = 0; dim < in.getRank(); ++dim)
    if (from.getDimSize(dim) != to.getDimSize(dim))
      constancy[dim] = to.getDimSize(dim);
  return AxisInfo(in.getContiguity(), in.getDivisibility(), constancy,
                  in.getConstantValue(), in.mayBeNegative());
}

AxisInfo inferTrans(const AxisInfo &in, ArrayRef<int32_t> order) {
  DimVector contiguity, divisibility, constancy;
  for (int32_t dim : order) {
    contiguity.push_back(in.getContiguity(dim));
    divisibility.push_back(in.getDivisibility(dim));
    constancy.push_back(in.getConstancy(dim));
  }
  return AxisInfo(contiguity, divisibility, constancy, in.getConstantValue(),
                  in.mayBeNegative());
}

/// Facts about the dimensions [toBegin, toEnd) of a reshape's result, which
/// hold the same elements as [fromBegin, fromEnd) of its source.
struct ReshapeGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;
};

/// Splits two shapes with equal element counts into the smallest groups of
/// dimensions with equal products.
SmallVector<ReshapeGroup> getReshapeGroups(ArrayRef<int64_t> from,
                                           ArrayRef<int64_t> to) {
  SmallVector<ReshapeGroup> groups;
  unsigned i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    ReshapeGroup group{i, i, j, j};
    int64_t left = 1, right = 1;
    do {
      if (i < from.size() && (left <= right || j == to.size()))
        left *= from[i++];
      else
        right *= to[j++];
    } while (left != right && (i < from.size() || j < to.size()));
    // Trailing dimensions of extent 1 belong to the group before them.
    while (i < from.size() && from[i] == 1)
      ++i;
    while (j < to.size() && to[j] == 1)
      ++j;
    group.fromEnd = i;
    group.toEnd = j;
    groups.push_back(group);
  }
  return groups;
}

std::optional<unsigned> getLastLongDim(ArrayRef<int64_t> shape, unsigned begin,
                                       unsigned end) {
  for (unsigned dim = end; dim > begin; --dim)
    if (shape[dim - 1] != 1)
      return dim - 1;
  return std::nullopt;
}

AxisInfo inferReshape(const AxisInfo &in, RankedTensorType from,
                      RankedTensorType to, bool mayReorder, int64_t step) {
  ArrayRef<int64_t> source = from.getShape(), target = to.getShape();
  int64_t elements = in.getElementDivisibility(step);
  DimVector contiguity(target.size(), 1), constancy(target.size(), 1),
      divisibility(target.size(), elements);
  auto isUniform = [&](unsigned begin, unsigned end) {
    for (unsigned dim = begin; dim < end; ++dim)
      if (in.getConstancy(dim) != source[dim])
        return false;
    return true;
  };
  if (isUniform(0, source.size())) {
    constancy.assign(target.begin(), target.end());
  } else if (!mayReorder) {
    for (ReshapeGroup group : getReshapeGroups(source, target)) {
      if (isUniform(group.fromBegin, group.fromEnd)) {
        for (unsigned dim = group.toBegin; dim < group.toEnd; ++dim)
          constancy[dim] = target[dim];
        continue;
      }
      auto fast = getLastLongDim(source, group.fromBegin, group.fromEnd);
      auto newFast = getLastLongDim(target, group.toBegin, group.toEnd);
      if (!fast || !newFast)
        continue;
      contiguity[*newFast] =
          std::gcd(in.getContiguity(*fast), target[*newFast]);
      divisibility[*newFast] = std::max(
          elements, in.getDivisibilityAt(*fast, contiguity[*newFast], step));
      constancy[*newFast] = std::gcd(in.getConstancy(*fast), target[*newFast]);
    }
  }
  return AxisInfo(contiguity, divisibility, constancy, in.getConstantValue(),
                  in.mayBeNegative());
}

/// `join` adds a dimension, whose elements have nothing in common but a
/// divisor; `cat` keeps the rank.
AxisInfo inferTwoTiles(Pair in, Type type, bool addsDim) {
  AxisInfo both = AxisInfo::join(in.lhs, in.rhs, type);
  both = AxisInfo(both.getContiguity(), both.getDivisibility(),
                  both.getConstancy(), std::nullopt, both.mayBeNegative());
  return addsDim ? inferExpandDims(both, both.getRank(), getPointeeBytes(type))
                 : both;
}

AxisInfo inferSplit(const AxisInfo &in) {
  return AxisInfo(DimVector(ArrayRef(in.getContiguity()).drop_back()),
                  DimVector(ArrayRef(in.getDivisibility()).drop_back()),
                  DimVector(ArrayRef(in.getConstancy()).drop_back()),
                  in.getConstantValue(), in.mayBeNegative());
}

//===----------------------------------------------------------------------===//
// Pointers, memory, the rest
//===----------------------------------------------------------------------===//

/// The same bits seen with another step between the elements of a run.
AxisInfo inferRetyped(const AxisInfo &in, int64_t oldStep, int64_t newStep) {
  if (oldStep == newStep)
    return in;
  return collect(in.getRank(), [&](unsigned dim) {
    return DimFacts{1, in.getDivisibilityAt(dim, 1, oldStep),
                    in.getConstancy(dim)};
  });
}

/// The value of a wider type: `zeroExtends` changes negative numbers.
AxisInfo inferExtension(const AxisInfo &in, bool zeroExtends) {
  if (!zeroExtends || !in.mayBeNegative())
    return in;
  return AxisInfo(in.getContiguity(), in.getDivisibility(), in.getConstancy(),
                  std::nullopt, /*mayBeNegative=*/false);
}

/// `index` has 64 bits here.
AxisInfo inferIndexCast(const AxisInfo &in, Type to, bool zeroExtends) {
  Type element = getElementTypeOrSelf(to);
  if (element.isIndex())
    return inferExtension(in, zeroExtends);
  return element.isInteger(64) ? in : inferTruncation(in, to);
}

/// Scalars that count something: positions, extents.
bool isCount(Operation *op) {
  return isa<ProgramIdOp, NumProgramsOp, gpu::ThreadIdOp, gpu::BlockIdOp,
             gpu::BlockDimOp, gpu::GridDimOp, gpu::GlobalIdOp>(op);
}

/// What is known of the sign of a result of whose value nothing else is.
bool mayResultBeNegative(Operation *op, OperandInfo getInfo) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<math::CountLeadingZerosOp, math::CountTrailingZerosOp,
            math::CtPopOp>([](auto count) {
        // Up to the width, which has to be less than the sign bit.
        Type element = getElementTypeOrSelf(count.getType());
        return !element.isIndex() && element.getIntOrFloatBitWidth() < 4;
      })
      .Case<arith::ExtUIOp>([](auto) { return false; })
      .Case<arith::CeilDivSIOp>([&](auto div) {
        return getInfo(div.getLhs()).mayBeNegative() ||
               getInfo(div.getRhs()).mayBeNegative();
      })
      .Case<arith::CeilDivUIOp>(
          [&](auto div) { return getInfo(div.getLhs()).mayBeNegative(); })
      .Default([](Operation *) { return true; });
}

/// Equal operands give equal results; nothing else is known but a sign.
AxisInfo inferConstancyOnly(Operation *op, OperandInfo getInfo, Type type) {
  DimVector constancy = getExtents(type);
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    const AxisInfo &info = getInfo(operand);
    if (info.getRank() != constancy.size())
      return AxisInfo::getPessimistic(type);
    for (unsigned dim = 0; dim < constancy.size(); ++dim)
      constancy[dim] = std::gcd(constancy[dim], info.getConstancy(dim));
  }
  DimVector ones(constancy.size(), 1);
  return AxisInfo(ones, ones, constancy, std::nullopt,
                  mayResultBeNegative(op, getInfo));
}

std::optional<AxisInfo> inferBinary(Operation *op, OperandInfo getInfo) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isIntOrIndex())
    return std::nullopt;
  Pair in{getInfo(op->getOperand(0)), getInfo(op->getOperand(1))};
  if (in.lhs.getRank() != in.rhs.getRank())
    return std::nullopt;
  if (in.lhs.getConstantValue() && in.rhs.getConstantValue())
    if (auto value = foldBinary(op, *in.lhs.getConstantValue(),
                                *in.rhs.getConstantValue()))
      return AxisInfo::getConstant(op->getResult(0).getType(), *value);
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case<arith::AddIOp>([&](auto) { return inferSum(in, false); })
      .Case<arith::SubIOp>([&](auto) { return inferSum(in, true); })
      .Case<arith::MulIOp>([&](auto) { return inferProduct(in); })
      .Case<arith::DivSIOp>([&](auto) { return inferSignedQuotient(in); })
      .Case<arith::FloorDivSIOp>([&](auto) { return inferFloorQuotient(in); })
      .Case<arith::DivUIOp>([&](auto) { return inferUnsignedQuotient(in); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) {
        return inferConstancyOnly(op, getInfo, op->getResult(0).getType());
      })
      .Case<arith::RemSIOp>([&](auto) { return inferRemainder(in, false); })
      .Case<arith::RemUIOp>([&](auto) { return inferRemainder(in, true); })
      .Case<arith::AndIOp>([&](auto) { return inferAnd(in); })
      .Case<arith::ShLIOp>([&](auto) { return inferShiftLeft(in); })
      .Case<arith::ShRSIOp>([&](auto) { return inferShiftRight(in, true); })
      .Case<arith::ShRUIOp>([&](auto) { return inferShiftRight(in, false); })
      .Case<arith::OrIOp, arith::XOrIOp, arith::MinSIOp, arith::MaxUIOp>(
          [&](auto) { return inferMix(in, in.mayBeNegative()); })
      .Case<arith::MaxSIOp, arith::MinUIOp>(
          [&](auto) { return inferMix(in, in.mayBothBeNegative()); })
      .Case<arith::CmpIOp>(
          [&](auto cmp) { return inferCompare(cmp.getPredicate(), in); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<AxisInfo> inferCastOrPointer(Operation *op, OperandInfo getInfo) {
  auto first = [&]() -> const AxisInfo & { return getInfo(op->getOperand(0)); };
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case<arith::ExtSIOp, arith::ExtUIOp>([&](auto cast) {
        Type element = getElementTypeOrSelf(cast.getIn().getType());
        // The extension of `true` differs from the constant 1 by its sign.
        return element.isInteger(1)
                   ? inferConstancyOnly(op, getInfo, type)
                   : inferExtension(first(), isa<arith::ExtUIOp>(op));
      })
      .Case<arith::TruncIOp>(
          [&](auto) { return inferTruncation(first(), type); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](auto cast) {
        return getElementTypeOrSelf(cast.getIn().getType()).isInteger(1)
                   ? inferConstancyOnly(op, getInfo, type)
                   : inferIndexCast(first(), type,
                                    isa<arith::IndexCastUIOp>(op));
      })
      .Case<AddPtrOp>([&](AddPtrOp add) {
        return inferAddPtr({first(), getInfo(add.getOffset())},
                           getPointeeBytes(type));
      })
      .Case<IntToPtrOp, PtrToIntOp>([&](auto) {
        return inferRetyped(first(),
                            getPointeeBytes(op->getOperand(0).getType()),
                            getPointeeBytes(type));
      })
      .Case<BitcastOp>([&](auto) {
        return isa<PtrType>(getElementTypeOrSelf(type))
                   ? inferRetyped(first(),
                                  getPointeeBytes(op->getOperand(0).getType()),
                                  getPointeeBytes(type))
                   : inferConstancyOnly(op, getInfo, type);
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<AxisInfo> inferShape(Operation *op, OperandInfo getInfo) {
  Type type = op->getNumResults() > 0 ? op->getResult(0).getType() : Type();
  int64_t step = type ? getPointeeBytes(type) : 1;
  return TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
      .Case<ArangeOp>([](ArangeOp arange) { return inferArange(arange); })
      .Case<SplatOp>([&](SplatOp splat) {
        return inferSplat(getInfo(splat.getSource()), type);
      })
      .Case<ExpandDimsOp>([&](ExpandDimsOp expand) {
        return inferExpandDims(getInfo(expand.getSource()), expand.getAxis(),
                               step);
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        return inferBroadcast(getInfo(broadcast.getSource()),
                              broadcast.getSource().getType(),
                              broadcast.getType());
      })
      .Case<ReshapeOp>([&](ReshapeOp reshape) {
        return inferReshape(getInfo(reshape.getSource()),
                            reshape.getSource().getType(), reshape.getType(),
                            reshape.getAllowReorder(), step);
      })
      .Case<TransOp>([&](TransOp trans) {
        return inferTrans(getInfo(trans.getSource()), trans.getOrder());
      })
      .Case<JoinOp>([&](JoinOp join) {
        return inferTwoTiles({getInfo(join.getLhs()), getInfo(join.getRhs())},
                             join.getLhs().getType(), /*addsDim=*/true);
      })
      .Case<CatOp>([&](CatOp cat) {
        return inferTwoTiles({getInfo(cat.getLhs()), getInfo(cat.getRhs())},
                             cat.getLhs().getType(), /*addsDim=*/false);
      })
      .Case<SplitOp>(
          [&](SplitOp split) { return inferSplit(getInfo(split.getSource())); })
      .Case<tile_gpu::ConvertLayoutOp>(
          [&](auto convert) { return getInfo(convert.getSource()); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

AxisInfo tile::inferAxisInfo(OpResult result, OperandInfo getInfo) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && (!tensor.hasStaticShape() || tensor.getRank() == 0))
    return AxisInfo::getPessimistic(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return inferConstant(constant);
  if (isCount(op))
    return AxisInfo({1}, {1}, {1}, std::nullopt, /*mayBeNegative=*/false);
  if (auto info = inferShape(op, getInfo))
    return *info;
  if (auto info = inferBinary(op, getInfo))
    return *info;
  if (auto info = inferCastOrPointer(op, getInfo))
    return *info;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return inferSelect(
        getInfo(select.getCondition()),
        !isa<RankedTensorType>(select.getCondition().getType()),
        {getInfo(select.getTrueValue()), getInfo(select.getFalseValue())});
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getIsVolatile() ? AxisInfo::getPessimistic(type)
                                : inferConstancyOnly(op, getInfo, type);
  // Assembly may tell equal elements apart: by their place in a pack, or by the
  // thread that runs it.
  if (op->hasTrait<OpTrait::Elementwise>() && isPure(op) &&
      !isa<InlineAsmElementwiseOp>(op))
    return inferConstancyOnly(op, getInfo, type);
  return AxisInfo::getPessimistic(type);
}
