//===- Constructors.cpp - Layouts of memory accesses and of matrix instructions
//---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace tile_dialect::layout {

static unsigned floorLog2(int64_t value) {
  return value <= 1 ? 0 : Log2_64(static_cast<uint64_t>(value));
}

namespace {
/// Hands out the coordinate bits of a tensor, lowest first in each dimension.
class BitSource {
public:
  explicit BitSource(ArrayRef<int64_t> shape) : used(shape.size(), 0) {
    for (int64_t extent : shape)
      available.push_back(
          extent <= 0 ? 0
                      : std::min<unsigned>(countr_zero(uint64_t(extent)), 30));
  }

  unsigned getLeft(unsigned dim) const { return available[dim] - used[dim]; }

  /// The next bit of `dim`; zero (a copy) if it is used up.
  Basis take(unsigned dim) {
    Basis basis(used.size(), 0);
    if (getLeft(dim) > 0)
      basis[dim] = int32_t(1) << used[dim]++;
    return basis;
  }

  /// Takes up to `count` bits of `dim`, no copies.
  unsigned takeInto(BasisList &list, unsigned dim, unsigned count) {
    count = std::min(count, getLeft(dim));
    for (unsigned i = 0; i < count; ++i)
      list.push_back(take(dim));
    return count;
  }

private:
  SmallVector<unsigned, 4> available;
  SmallVector<unsigned, 4> used;
};
} // namespace

/// `count` bits for lanes or warps, dimension by dimension as `dims` lists
/// them; what does not fit holds copies.
static BasisList fillInOrder(BitSource &source, ArrayRef<unsigned> dims,
                             unsigned count) {
  BasisList list;
  for (unsigned d : dims)
    count -= source.takeInto(list, d, count);
  list.append(count, Basis(dims.size(), 0));
  return list;
}

/// Lanes or warps as the user splits them over the dimensions.
static BasisList fillAsGiven(BitSource &source, ArrayRef<unsigned> order,
                             ArrayRef<int64_t> sizes) {
  BasisList list;
  for (unsigned d : order)
    for (unsigned i = 0, e = d < sizes.size() ? floorLog2(sizes[d]) : 0; i < e;
         ++i)
      list.push_back(source.take(d));
  return list;
}

/// Log2 of sizePerThread, within the extents.
static SmallVector<unsigned, 4>
getRegisterBits(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizePerThread) {
  BitSource source(shape);
  SmallVector<unsigned, 4> bits;
  for (size_t d = 0; d < shape.size(); ++d)
    bits.push_back(std::min(source.getLeft(d), d < sizePerThread.size()
                                                   ? floorLog2(sizePerThread[d])
                                                   : 0));
  return bits;
}

/// Repetitions beyond the base tile cost registers in each warp, also in those
/// that hold copies only. Gives bits of registers back to the warps (slowest
/// dimension first, so that vector accesses stay wide for longest).
static void shrinkForWarps(ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
                           unsigned numThreadBits,
                           SmallVectorImpl<unsigned> &registerBits) {
  BitSource source(shape);
  unsigned available = 0, wanted = numThreadBits;
  bool repeats = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    available += source.getLeft(d);
    wanted += registerBits[d];
    repeats |= !isPowerOf2_64(static_cast<uint64_t>(shape[d]));
  }
  if (!repeats)
    return;
  for (unsigned d : reverse(order))
    for (; wanted > available && registerBits[d] > 0; --wanted)
      --registerBits[d];
}

Layout blocked(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizePerThread,
               ArrayRef<int64_t> threadsPerWarp, ArrayRef<int64_t> warpsPerCTA,
               ArrayRef<unsigned> order, int64_t numLanes, int64_t numWarps) {
  unsigned laneBits = floorLog2(numLanes), warpBits = floorLog2(numWarps);
  SmallVector<unsigned, 4> registerBits = getRegisterBits(shape, sizePerThread);
  if (threadsPerWarp.empty() && warpsPerCTA.empty())
    shrinkForWarps(shape, order, laneBits + warpBits, registerBits);

  BitSource source(shape);
  BasisList registers;
  for (unsigned d : order)
    source.takeInto(registers, d, registerBits[d]);
  BasisList lanes = threadsPerWarp.empty()
                        ? fillInOrder(source, order, laneBits)
                        : fillAsGiven(source, order, threadsPerWarp);
  SmallVector<unsigned, 4> slowestFirst(reverse(order));
  BasisList warps = warpsPerCTA.empty()
                        ? fillInOrder(source, slowestFirst, warpBits)
                        : fillAsGiven(source, order, warpsPerCTA);
  return Layout(shape.size(), std::move(registers), std::move(lanes),
                std::move(warps));
}

Layout blocked(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizePerThread,
               ArrayRef<unsigned> order, int64_t numLanes, int64_t numWarps) {
  return blocked(shape, sizePerThread, {}, {}, order, numLanes, numWarps);
}

Layout rowMajor(ArrayRef<int64_t> shape, int64_t numLanes, int64_t numWarps) {
  SmallVector<unsigned, 4> order;
  for (unsigned d = shape.size(); d-- > 0;)
    order.push_back(d);
  BitSource source(shape);
  BasisList lanes = fillInOrder(source, order, floorLog2(numLanes));
  BasisList warps = fillInOrder(source, order, floorLog2(numWarps));
  return Layout(shape.size(), {}, std::move(lanes), std::move(warps));
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// Warps of mma.sync along dimension `dim` of an operand whose tile there has
/// `tile` elements; what does not fit holds copies.
static void addWarps(BasisList &warps, unsigned dim, int64_t tile,
                     int64_t extent, int64_t count) {
  for (unsigned i = 0, e = floorLog2(count); i < e; ++i) {
    Basis basis(2, 0);
    if (extent % (tile * 2) == 0) {
      basis[dim] = static_cast<int32_t>(tile);
      tile *= 2;
    }
    warps.push_back(std::move(basis));
  }
}

static void addCopies(BasisList &list, int64_t count) {
  list.append(floorLog2(count), Basis(2, 0));
}

/// The operand rows (dimension `row`) that a lane group holds in all fragments
/// of mma and wgmma: 32-bit registers of `packed` consecutive elements along
/// `k`, four lanes along `k`, eight along `row`.
static BasisList getFragmentLanes(unsigned row, unsigned k, int32_t packed) {
  BasisList lanes;
  auto add = [&](unsigned dim, int32_t value) {
    Basis basis(2, 0);
    basis[dim] = value;
    lanes.push_back(std::move(basis));
  };
  add(k, packed);
  add(k, packed * 2);
  add(row, 1);
  add(row, 2);
  add(row, 4);
  return lanes;
}

/// Elements of `bits` in a 32-bit register, at least one.
static int32_t getPackedElements(unsigned bits) {
  return bits == 0 || bits >= 32 ? 1
                                 : static_cast<int32_t>(bit_floor(32 / bits));
}

static BasisList getPackedRegisters(unsigned k, int32_t packed) {
  BasisList registers;
  for (int32_t i = 1; i < packed; i *= 2) {
    Basis basis(2, 0);
    basis[k] = i;
    registers.push_back(std::move(basis));
  }
  return registers;
}

Layout mmaSyncAccumulator(ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> warpsPerCTA) {
  BasisList warps;
  addWarps(warps, 0, 16, shape[0], warpsPerCTA[0]);
  addWarps(warps, 1, 8, shape[1], warpsPerCTA[1]);
  return Layout(2, {{0, 1}, {8, 0}}, getFragmentLanes(0, 1, 2),
                std::move(warps));
}

Layout mmaSyncOperand(unsigned index, unsigned bits, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> warpsPerCTA) {
  unsigned k = index == 0 ? 1 : 0;
  unsigned row = 1 - k;
  int32_t packed = getPackedElements(bits);
  BasisList registers = getPackedRegisters(k, packed);
  if (index == 0)
    registers.push_back({8, 0});
  if (shape[k] % (8 * packed) == 0) {
    Basis upperHalf(2, 0);
    upperHalf[k] = 4 * packed;
    registers.push_back(std::move(upperHalf));
  }
  BasisList warps;
  if (index == 0) {
    addWarps(warps, 0, 16, shape[0], warpsPerCTA[0]);
    addCopies(warps, warpsPerCTA[1]);
  } else {
    addCopies(warps, warpsPerCTA[0]);
    addWarps(warps, 1, 8, shape[1], warpsPerCTA[1]);
  }
  return Layout(2, std::move(registers), getFragmentLanes(row, k, packed),
                std::move(warps));
}

/// The four warps of a warp group hold 16 rows each, further groups follow
/// along M. Returns how many group bits found no place there.
static unsigned addWarpGroups(BasisList &warps, int64_t extentM,
                              int64_t numWarps) {
  warps.push_back({16, 0});
  warps.push_back({32, 0});
  unsigned bits = floorLog2(numWarps / 4);
  for (int64_t tile = 64; bits > 0 && extentM % (tile * 2) == 0; tile *= 2) {
    warps.push_back({static_cast<int32_t>(tile), 0});
    --bits;
  }
  return bits;
}

Layout wgmmaAccumulator(ArrayRef<int64_t> shape, int64_t numWarps,
                        int64_t instrN) {
  // Of an N that is no power of two, e.g. 96, the base tile takes the largest
  // power of two that divides it; repetitions along N make up the instruction.
  int64_t tileN = instrN & -instrN;
  BasisList registers = {{0, 1}, {8, 0}};
  for (int64_t n = 8; n < tileN; n *= 2)
    registers.push_back({0, static_cast<int32_t>(n)});
  BasisList warps;
  unsigned left = addWarpGroups(warps, shape[0], numWarps);
  for (int64_t n = instrN;
       left > 0 && tileN == instrN && shape[1] % (n * 2) == 0; n *= 2) {
    warps.push_back({0, static_cast<int32_t>(n)});
    --left;
  }
  warps.append(left, Basis(2, 0));
  return Layout(2, std::move(registers), getFragmentLanes(0, 1, 2),
                std::move(warps));
}

Layout wgmmaOperandA(ArrayRef<int64_t> shape, unsigned bits, int64_t numWarps) {
  int32_t packed = getPackedElements(bits);
  BasisList registers = getPackedRegisters(1, packed);
  registers.push_back({8, 0});
  registers.push_back({0, 4 * packed});
  BasisList warps;
  unsigned left = addWarpGroups(warps, shape[0], numWarps);
  warps.append(left, Basis(2, 0));
  return Layout(2, std::move(registers), getFragmentLanes(0, 1, packed),
                std::move(warps));
}

Layout stmatrix(ArrayRef<int64_t> shape, ArrayRef<int64_t> warpsPerCTA) {
  BasisList warps;
  addWarps(warps, 0, 16, shape[0], warpsPerCTA[0]);
  addWarps(warps, 1, 16, shape[1], warpsPerCTA[1]);
  return Layout(2, {{0, 1}, {8, 0}, {0, 8}}, getFragmentLanes(0, 1, 2),
                std::move(warps));
}

} // namespace tile_dialect::layout
