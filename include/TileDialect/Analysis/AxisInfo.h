//===- AxisInfo.h - Contiguity, divisibility, constancy ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is known about the values of integer and pointer tiles along each
// dimension. This decides how wide a thread may access memory and which
// dimension of a tile is contiguous there.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_AXISINFO_H
#define TILEDIALECT_ANALYSIS_AXISINFO_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace mlir::tile {
class AssumeOp;

/// Facts about one value, for each of its dimensions (a scalar has one, of
/// extent 1).
///
/// Contiguity c: each aligned block of c elements along the dimension (indices
///   [k*c, (k+1)*c)) is a run v, v+1, v+2, ...; for pointers, v advances by the
///   bytes of the pointee. c divides the extent.
/// Divisibility d: the first element of each such block, at any index of the
///   other dimensions, is a multiple of d. For pointers d counts bytes. d is
///   a power of two up to 2^62, so that the fact survives arithmetic that
///   wraps around: a larger factor modulo 2^32 is none. (The known constant
///   value keeps the other factors.)
/// Constancy k: each aligned block of k elements holds one value. k divides the
///   extent.
///
/// Sign: whether no element is negative as a signed number. Signed remainders
///   and quotients have runs only where this is known.
///
/// Wrap-around: blocks of gcd(c, d) elements are runs whatever happens. A
/// longer run is one unless an index type overflows in its midst. Sums,
/// products and left shifts of numbers that are not negative are taken not
/// to overflow, so that they are not negative either; nothing else is assumed
/// of a sign (docs/rationale/AxisInfo.md).
class AxisInfo {
public:
  using DimVector = SmallVector<int64_t, 4>;

  /// Nothing known yet (a value that no execution has reached).
  AxisInfo() = default;
  AxisInfo(DimVector contiguity, DimVector divisibility, DimVector constancy,
           std::optional<int64_t> constant = std::nullopt,
           bool mayBeNegative = true);

  /// The facts that hold for any value of `type`.
  static AxisInfo getPessimistic(Type type);
  /// All elements of a value of `type` are `constant`.
  static AxisInfo getConstant(Type type, int64_t constant);

  bool isInitialized() const { return !contiguity.empty(); }
  unsigned getRank() const { return contiguity.size(); }
  int64_t getContiguity(unsigned dim) const { return contiguity[dim]; }
  int64_t getDivisibility(unsigned dim) const { return divisibility[dim]; }
  int64_t getConstancy(unsigned dim) const { return constancy[dim]; }
  const DimVector &getContiguity() const { return contiguity; }
  const DimVector &getDivisibility() const { return divisibility; }
  const DimVector &getConstancy() const { return constancy; }
  /// The value of all elements, if it is known.
  std::optional<int64_t> getConstantValue() const { return constant; }
  /// Whether an element may be negative as a signed number. False only where
  /// all elements are known not to be.
  bool mayBeNegative() const { return negative; }

  /// The divisibility of the elements whose index along `dim` is a multiple of
  /// `block`. `step` is the difference of neighbours in a run: 1, or the bytes
  /// of the pointee.
  int64_t getDivisibilityAt(unsigned dim, int64_t block,
                            int64_t step = 1) const;
  /// The divisibility of every element.
  int64_t getElementDivisibility(int64_t step = 1) const;

  /// The facts that hold for a value that is either of the two (control flow);
  /// `type` is theirs.
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs, Type type);

  bool operator==(const AxisInfo &other) const;
  bool operator!=(const AxisInfo &other) const { return !(*this == other); }
  void print(raw_ostream &os) const;

private:
  DimVector contiguity, divisibility, constancy;
  std::optional<int64_t> constant;
  bool negative = false;
};

inline raw_ostream &operator<<(raw_ostream &os, const AxisInfo &info) {
  info.print(os);
  return os;
}

/// The facts about the result `result` of its op, given those of the op's
/// operands, without regard to attributes on the op. Ops that are not known
/// give the pessimistic facts.
AxisInfo inferAxisInfo(OpResult result,
                       function_ref<const AxisInfo &(Value)> getOperandInfo);

/// Axis info of all values under an op (a module or a kernel), loops included
/// (to a fixed point). Sources of facts are the ops themselves, the
/// attributes `tile.divisibility`, `tile.contiguity` and `tile.constancy` of
/// ops and of function arguments, and `tile.assume`.
class ModuleAxisInfo {
public:
  explicit ModuleAxisInfo(Operation *root);

  /// Facts about `value`; the pessimistic ones for a value that the analysis
  /// has not seen (one made afterwards, say).
  AxisInfo getAxisInfo(Value value) const;

  /// How many neighbouring elements along `dim` one access can take: the
  /// elements are contiguous, and the address of each such group is aligned to
  /// its size in bytes. A power of two, 1 for a scalar pointer.
  int64_t getPointerContiguity(Value ptr, unsigned dim) const;
  /// The same along the dimension where it is largest.
  int64_t getPointerContiguity(Value ptr) const;
  /// The alignment in bytes of the first pointer of each contiguous run along
  /// `dim`, or along the dimension where it is largest. A power of two.
  int64_t getPointerAlignment(Value ptr, unsigned dim) const;
  int64_t getPointerAlignment(Value ptr) const;
  /// How many neighbouring elements along `dim` (or along the dimension
  /// where it is largest) share one mask bit: a power of two.
  int64_t getMaskAlignment(Value mask, unsigned dim) const;
  int64_t getMaskAlignment(Value mask) const;

private:
  /// What a `tile.assume` promises of a scalar.
  struct Promise {
    bool isNotNegative = false;
    int64_t divisibility = 1;
  };

  void collectPromises(AssumeOp assume);
  void notePromise(AssumeOp assume, Value condition);
  Promise *getPromise(AssumeOp assume, Value value);
  AxisInfo addPromises(Value value, AxisInfo info) const;
  /// One pass over all ops; true if a fact changed.
  bool propagate();
  void visitOperation(Operation *op);
  /// Joins `info` into the facts about `value`.
  void update(Value value, const AxisInfo &info);
  void set(Value value, AxisInfo info);
  const AxisInfo &lookup(Value value);

  Operation *root;
  DenseMap<Value, AxisInfo> infos;
  DenseMap<Value, Promise> promises;
  bool changed = false;
};

/// Bytes of what a pointer (or tile of pointers) points to, rounded up to whole
/// bytes; 1 for other types.
int64_t getPointeeBytes(Type ptrLike);

} // namespace mlir::tile

#endif // TILEDIALECT_ANALYSIS_AXISINFO_H
