//===- LayoutRules.cpp - How shape operations change a layout ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "TileDialect/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tile_dialect::layout {

/// The layout of rank `rank` whose bases are fn(basis).
template <typename Fn>
static Layout mapBases(const Layout &layout, unsigned rank, Fn fn) {
  BasisList lists[kNumHardwareDims];
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim)
    for (const Basis &basis : layout.getBases(static_cast<HardwareDim>(dim)))
      lists[dim].push_back(fn(basis));
  return Layout(rank, std::move(lists[0]), std::move(lists[1]),
                std::move(lists[2]), std::move(lists[3]));
}

static Layout withRegisters(const Layout &layout, BasisList registers) {
  return Layout(layout.getRank(), std::move(registers),
                layout.getBases(HardwareDim::Lane),
                layout.getBases(HardwareDim::Warp),
                layout.getBases(HardwareDim::Block));
}

static Layout dropDependentRegisters(const Layout &layout) {
  BasisList registers = layout.getBases(HardwareDim::Register);
  dropDependentBases(registers);
  return withRegisters(layout, std::move(registers));
}

Layout Layout::expandDims(unsigned axis) const {
  return mapBases(*this, rank + 1, [&](Basis basis) {
    basis.insert(basis.begin() + std::min<size_t>(axis, basis.size()), 0);
    return basis;
  });
}

Layout Layout::projectOut(unsigned axis) const {
  if (axis >= rank)
    return *this;
  return dropDependentRegisters(mapBases(*this, rank - 1, [&](Basis basis) {
    basis.erase(basis.begin() + axis);
    return basis;
  }));
}

Layout Layout::collapse(unsigned axis) const {
  if (axis >= rank)
    return *this;
  return dropDependentRegisters(mapBases(*this, rank, [&](Basis basis) {
    basis[axis] = 0;
    return basis;
  }));
}

Layout Layout::project(ArrayRef<unsigned> dims) const {
  return dropDependentRegisters(
      mapBases(*this, dims.size(), [&](const Basis &basis) {
        Basis kept;
        for (unsigned d : dims)
          kept.push_back(basis[d]);
        return kept;
      }));
}

Layout Layout::transpose(ArrayRef<int32_t> order) const {
  return mapBases(*this, rank, [&](const Basis &basis) {
    Basis permuted;
    for (int32_t d : order)
      permuted.push_back(basis[d]);
    return permuted;
  });
}

Layout Layout::join() const {
  Layout result = expandDims(rank);
  Basis unit(rank + 1, 0);
  unit.back() = 1;
  BasisList &registers = result.bases[0];
  registers.insert(registers.begin(), std::move(unit));
  return result;
}

std::optional<Layout> Layout::split() const {
  if (rank == 0)
    return std::nullopt;
  Basis unit(rank, 0);
  unit.back() = 1;
  const BasisList &registers = bases[0];
  const Basis *found = llvm::find(registers, unit);
  if (found == registers.end())
    return std::nullopt;
  for (const BasisList &list : bases)
    for (const Basis &basis : list)
      if (&basis != found && basis.back() != 0)
        return std::nullopt;
  BasisList rest = registers;
  rest.erase(rest.begin() + (found - registers.begin()));
  return mapBases(withRegisters(*this, std::move(rest)), rank - 1,
                  [](Basis basis) {
                    basis.pop_back();
                    return basis;
                  });
}

//===----------------------------------------------------------------------===//
// Repetitions written as register bases
//===----------------------------------------------------------------------===//

/// Turns the lowest bit of the repetition index into the highest register bit.
static std::optional<Layout> unrollOne(const Layout &layout,
                                       ArrayRef<int64_t> shape) {
  Coords tile = layout.getBaseTile();
  for (unsigned d = layout.getRank(); d-- > 0;) {
    int64_t reps = shape[d] / tile[d];
    if (reps == 1)
      continue;
    if (reps % 2 != 0)
      return std::nullopt;
    Basis basis(layout.getRank(), 0);
    basis[d] = static_cast<int32_t>(tile[d]);
    BasisList registers = layout.getBases(HardwareDim::Register);
    registers.push_back(std::move(basis));
    return withRegisters(layout, std::move(registers));
  }
  return std::nullopt;
}

/// The inverse of `unrollOne`.
static std::optional<Layout> rollOne(const Layout &layout,
                                     ArrayRef<int64_t> shape) {
  BasisList registers = layout.getBases(HardwareDim::Register);
  if (registers.empty())
    return std::nullopt;
  registers.pop_back();
  Layout rolled = withRegisters(layout, std::move(registers));
  std::optional<Layout> again = unrollOne(rolled, shape);
  if (!again || *again != layout)
    return std::nullopt;
  return rolled;
}

std::optional<Layout> Layout::unrollRepetitions(ArrayRef<int64_t> shape) const {
  if (checkShape(shape))
    return std::nullopt;
  Layout result = *this;
  while (std::optional<Layout> next = unrollOne(result, shape))
    result = std::move(*next);
  if (ArrayRef<int64_t>(result.getBaseTile()) != shape)
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Reshapes a layout without changing what is a register bit and what is a
/// repetition. Then each coordinate bit of the base tile must become one
/// coordinate bit, and the new bits must form a box again. The repetitions
/// follow: in either shape each begins at the first element that the ones
/// before it do not cover, so equal tiles repeat equally.
static std::optional<Layout> reshapeAsIs(const Layout &layout,
                                         ArrayRef<int64_t> from,
                                         ArrayRef<int64_t> to) {
  SmallVector<unsigned, 4> bits = getTileBits(layout);
  SmallVector<SmallVector<Basis, 8>, 4> images(from.size());
  Coords tile(to.size(), 1);
  int64_t stride = 1;
  for (unsigned d = from.size(); d-- > 0;) {
    for (unsigned bit = 0; bit < bits[d]; ++bit) {
      int64_t rest = stride << bit;
      Basis image(to.size(), 0);
      unsigned nonZero = 0;
      for (unsigned t = to.size(); t-- > 0 && rest != 0;) {
        image[t] = static_cast<int32_t>(rest % to[t]);
        rest /= to[t];
        if (image[t] == 0)
          continue;
        if (++nonZero > 1 || !isPowerOf2_32(image[t]))
          return std::nullopt;
        tile[t] = std::max<int64_t>(tile[t], int64_t(image[t]) * 2);
      }
      images[d].push_back(std::move(image));
    }
    stride *= from[d];
  }
  // Distinct row-major offsets gave distinct bits; they fill the box if there
  // are as many as the box has.
  unsigned oldBits = 0, newBits = 0;
  for (unsigned count : bits)
    oldBits += count;
  for (int64_t extent : tile)
    newBits += Log2_64(extent);
  if (oldBits != newBits)
    return std::nullopt;
  for (size_t t = 0; t < to.size(); ++t)
    if (to[t] % tile[t] != 0)
      return std::nullopt;

  return mapBases(layout, to.size(), [&](const Basis &basis) {
    Basis image(to.size(), 0);
    for (size_t d = 0; d < from.size(); ++d)
      for (uint32_t rest = basis[d]; rest != 0; rest &= rest - 1) {
        const Basis &unit = images[d][countr_zero(rest)];
        for (size_t t = 0; t < to.size(); ++t)
          image[t] ^= unit[t];
      }
    return image;
  });
}

std::optional<Layout> Layout::reshape(ArrayRef<int64_t> from,
                                      ArrayRef<int64_t> to) const {
  if (checkShape(from) || any_of(to, [](int64_t e) { return e <= 0; }))
    return std::nullopt;
  int64_t numFrom = 1, numTo = 1;
  for (int64_t extent : from)
    numFrom *= extent;
  for (int64_t extent : to)
    numTo *= extent;
  if (numFrom != numTo)
    return std::nullopt;
  if (std::optional<Layout> result = reshapeAsIs(*this, from, to))
    return result;
  // The same layout, with more or fewer repetitions written as register bits.
  for (std::optional<Layout> form = unrollOne(*this, from); form;
       form = unrollOne(*form, from))
    if (std::optional<Layout> result = reshapeAsIs(*form, from, to))
      return result;
  for (std::optional<Layout> form = rollOne(*this, from); form;
       form = rollOne(*form, from))
    if (std::optional<Layout> result = reshapeAsIs(*form, from, to))
      return result;
  return std::nullopt;
}

} // namespace tile_dialect::layout
