//===- LayoutAlgebra.cpp - Products and parts of layouts --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "TileDialect/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tile_dialect::layout {

Layout Layout::product(const Layout &other) const {
  Layout result = *this;
  Coords tile = getBaseTile();
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    for (Basis basis : other.bases[dim]) {
      for (unsigned d = 0; d < rank; ++d)
        basis[d] *= static_cast<int32_t>(tile[d]);
      result.bases[dim].push_back(std::move(basis));
    }
  }
  return result;
}

std::optional<Layout> Layout::divide(const Layout &tile) const {
  if (tile.rank != rank)
    return std::nullopt;
  Layout quotient;
  quotient.rank = rank;
  SmallVector<unsigned, 4> bits = getTileBits(tile);
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    ArrayRef<Basis> own = bases[dim], inner = tile.bases[dim];
    if (own.size() < inner.size() || own.take_front(inner.size()) != inner)
      return std::nullopt;
    for (Basis basis : own.drop_front(inner.size())) {
      for (unsigned d = 0; d < rank; ++d) {
        int32_t coord = basis[d] >> bits[d];
        if (coord << bits[d] != basis[d])
          return std::nullopt;
        basis[d] = coord;
      }
      quotient.bases[dim].push_back(std::move(basis));
    }
  }
  return quotient;
}

Layout Layout::sublayout(ArrayRef<HardwareDim> dims) const {
  Layout result;
  result.rank = rank;
  for (HardwareDim dim : dims)
    result.bases[static_cast<unsigned>(dim)] = getBases(dim);
  return result;
}

/// For each register the element that it holds, as an integer: the number of
/// the common tile and the place in it.
static SmallVector<uint64_t> getRegisterElements(const Expansion &expansion,
                                                 unsigned tileBits,
                                                 int64_t numRegisters) {
  SmallVector<std::pair<int64_t, uint64_t>> inTile(1, {0, 0});
  for (auto [weight, basis] :
       zip(expansion.weights, expansion.get(HardwareDim::Register)))
    for (size_t i = 0, e = inTile.size(); i < e; ++i)
      inTile.push_back({inTile[i].first + weight, inTile[i].second ^ basis});
  SmallVector<uint64_t> elements(numRegisters, 0);
  for (auto [outer, first] : enumerate(expansion.outerRegisters))
    for (auto [reg, element] : inTile)
      elements[first + reg] =
          (static_cast<uint64_t>(outer) << tileBits) | element;
  return elements;
}

bool Layout::isEquivalent(const Layout &other, ArrayRef<int64_t> shape) const {
  if (rank != other.rank || checkShape(shape) || other.checkShape(shape))
    return false;
  // Within the common tile a lane, warp or block bit means a fixed XOR.
  for (unsigned dim = 1; dim < kNumHardwareDims; ++dim)
    if (bases[dim] != other.bases[dim])
      return false;
  if (bases[0] == other.bases[0])
    return true;
  int64_t numRegisters = getNumRegisters(shape);
  if (numRegisters != other.getNumRegisters(shape))
    return false;
  ExpandedPair pair = expand(*this, other, shape);
  return getRegisterElements(pair.src, pair.tileBits, numRegisters) ==
         getRegisterElements(pair.dst, pair.tileBits, numRegisters);
}

} // namespace tile_dialect::layout
