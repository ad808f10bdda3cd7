//===- Expansion.cpp - Layouts over a tile that two of them share ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "Gf2.h"
#include <algorithm>

using namespace llvm;

namespace tile_dialect::layout {

SmallVector<unsigned, 4> getTileBits(const Layout &layout) {
  SmallVector<uint32_t, 4> seen(layout.getRank(), 0);
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim)
    for (const Basis &basis : layout.getBases(static_cast<HardwareDim>(dim)))
      for (size_t d = 0, e = std::min(seen.size(), basis.size()); d < e; ++d)
        seen[d] |= static_cast<uint32_t>(basis[d]);
  SmallVector<unsigned, 4> bits;
  for (uint32_t mask : seen)
    bits.push_back(bit_width(mask));
  return bits;
}

uint64_t packBasis(ArrayRef<int32_t> basis, ArrayRef<unsigned> shifts) {
  uint64_t packed = 0;
  for (size_t d = 0; d < basis.size() && d < shifts.size(); ++d)
    if (basis[d] != 0 && shifts[d] < 64)
      packed |= static_cast<uint64_t>(static_cast<uint32_t>(basis[d]))
                << shifts[d];
  return packed;
}

SmallVector<unsigned, 4> getShifts(ArrayRef<unsigned> tileBits) {
  SmallVector<unsigned, 4> shifts(tileBits.size() + 1, 0);
  unsigned shift = 0;
  for (unsigned d = tileBits.size(); d-- > 0;) {
    shifts[d] = shift;
    shift += tileBits[d];
  }
  shifts.back() = shift;
  return shifts;
}

void dropDependentBases(BasisList &bases) {
  size_t rank = bases.empty() ? 0 : bases.front().size();
  SmallVector<unsigned, 4> bits(rank, 0);
  for (const Basis &basis : bases)
    for (size_t d = 0; d < rank; ++d)
      bits[d] = std::max<unsigned>(bits[d],
                                   bit_width(static_cast<uint32_t>(basis[d])));
  SmallVector<unsigned, 4> shifts = getShifts(bits);
  Gf2Solver solver;
  erase_if(bases, [&](const Basis &basis) {
    return !solver.insert(packBasis(basis, shifts));
  });
}

int64_t Expansion::getRegister(uint64_t mask) const {
  int64_t reg = 0;
  for (; mask != 0; mask &= mask - 1)
    reg += weights[countr_zero(mask)];
  return reg;
}

/// Expands `layout`, whose base tile has `ownBits`, over a tile of `tileBits`.
static Expansion expandOver(const Layout &layout, ArrayRef<int64_t> shape,
                            ArrayRef<unsigned> ownBits,
                            ArrayRef<unsigned> tileBits) {
  SmallVector<unsigned, 4> shifts = getShifts(tileBits);
  Expansion result;
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim)
    for (const Basis &basis : layout.getBases(static_cast<HardwareDim>(dim)))
      result.bases[dim].push_back(packBasis(basis, shifts));
  size_t numInTile = result.bases[0].size();
  for (size_t i = 0; i < numInTile; ++i)
    result.weights.push_back(int64_t(1) << i);

  // A step of one common tile along each dimension, in registers.
  SmallVector<int64_t, 4> steps(tileBits.size(), 0);
  int64_t weight = int64_t(1) << numInTile;
  for (unsigned d = tileBits.size(); d-- > 0;) {
    for (unsigned bit = ownBits[d]; bit < tileBits[d]; ++bit) {
      result.bases[0].push_back(uint64_t(1) << (shifts[d] + bit));
      result.weights.push_back(weight << (bit - ownBits[d]));
    }
    steps[d] = weight << (tileBits[d] - ownBits[d]);
    weight *= shape[d] >> ownBits[d];
  }

  result.outerRegisters.push_back(0);
  for (size_t d = 0; d < tileBits.size(); ++d) {
    SmallVector<int64_t> next;
    int64_t extent = shape[d] >> tileBits[d];
    next.reserve(result.outerRegisters.size() * extent);
    for (int64_t first : result.outerRegisters)
      for (int64_t i = 0; i < extent; ++i)
        next.push_back(first + i * steps[d]);
    result.outerRegisters = std::move(next);
  }
  return result;
}

ExpandedPair expand(const Layout &src, const Layout &dst,
                    ArrayRef<int64_t> shape) {
  SmallVector<unsigned, 4> srcBits = getTileBits(src);
  SmallVector<unsigned, 4> dstBits = getTileBits(dst);
  srcBits.resize(shape.size(), 0);
  dstBits.resize(shape.size(), 0);
  SmallVector<unsigned, 4> tileBits;
  for (size_t d = 0; d < shape.size(); ++d)
    tileBits.push_back(std::max(srcBits[d], dstBits[d]));
  ExpandedPair pair;
  pair.src = expandOver(src, shape, srcBits, tileBits);
  pair.dst = expandOver(dst, shape, dstBits, tileBits);
  for (unsigned bits : tileBits)
    pair.tileBits += bits;
  return pair;
}

} // namespace tile_dialect::layout
