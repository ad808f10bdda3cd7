//===- TestLayouts.h - Random layouts and their meaning ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_UNITTESTS_LAYOUT_TESTLAYOUTS_H
#define TILEDIALECT_UNITTESTS_LAYOUT_TESTLAYOUTS_H

#include "TileDialect/Layout/Layout.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tile_dialect::layout::test {

using Rng = std::mt19937;

inline unsigned pick(Rng &rng, unsigned below) {
  return std::uniform_int_distribution<unsigned>(0, below - 1)(rng);
}

inline std::string toString(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t v : values)
    text += (text.empty() ? "" : "x") + std::to_string(v);
  return text;
}

/// A layout with a shape that it tiles.
struct Case {
  Layout layout;
  Coords shape;

  std::string str() const { return layout.str() + " over " + toString(shape); }
};

inline int64_t getNumElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

inline int64_t flatten(llvm::ArrayRef<int64_t> coords,
                       llvm::ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    index = index * shape[d] + coords[d];
  return index;
}

inline Coords unflatten(int64_t index, llvm::ArrayRef<int64_t> shape) {
  Coords coords(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 0; index /= shape[d])
    coords[d] = index % shape[d];
  return coords;
}

/// What the definition at the top of Layout.h says, written down naively.
inline Coords elementOf(const Layout &layout, const Position &pos,
                        llvm::ArrayRef<int64_t> shape) {
  Coords tile(shape.size(), 1), coords(shape.size(), 0);
  int64_t perTile = 1;
  int64_t index[4] = {pos.reg, pos.lane, pos.warp, pos.block};
  for (unsigned h = 0; h < kNumHardwareDims; ++h)
    for (const Basis &basis : layout.getBases(static_cast<HardwareDim>(h)))
      for (size_t d = 0; d < shape.size(); ++d)
        while (tile[d] <= basis[d])
          tile[d] *= 2;
  for (size_t i = 0; i < layout.getBases(HardwareDim::Register).size(); ++i)
    perTile *= 2;
  index[0] = pos.reg % perTile;
  for (unsigned h = 0; h < kNumHardwareDims; ++h)
    for (const Basis &basis : layout.getBases(static_cast<HardwareDim>(h))) {
      if (index[h] % 2 != 0)
        for (size_t d = 0; d < shape.size(); ++d)
          coords[d] = coords[d] ^ basis[d];
      index[h] /= 2;
    }
  int64_t rep = pos.reg / perTile;
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t reps = shape[d] / tile[d];
    coords[d] += rep % reps * tile[d];
    rep /= reps;
  }
  return coords;
}

/// Calls fn(position) for all holders, in ascending order of block, warp, lane,
/// register.
template <typename Fn>
void forEachHolder(const Layout &layout, llvm::ArrayRef<int64_t> shape, Fn fn) {
  int64_t numRegisters = layout.getNumRegisters(shape);
  for (int32_t b = 0; b < layout.getSize(HardwareDim::Block); ++b)
    for (int32_t w = 0; w < layout.getSize(HardwareDim::Warp); ++w)
      for (int32_t l = 0; l < layout.getSize(HardwareDim::Lane); ++l)
        for (int64_t r = 0; r < numRegisters; ++r)
          fn(Position{r, l, w, b});
}

/// All elements by thread: table[thread][register] = row-major index.
inline std::vector<std::vector<int64_t>>
tabulate(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  std::vector<std::vector<int64_t>> table;
  forEachHolder(layout, shape, [&](Position pos) {
    if (pos.reg == 0)
      table.emplace_back();
    table.back().push_back(flatten(elementOf(layout, pos, shape), shape));
  });
  return table;
}

struct RandomOptions {
  unsigned maxRank = 3;
  unsigned maxTileBits = 8;
  unsigned laneBits = 3;
  unsigned warpBits = 2;
  unsigned blockBits = 1;
  /// XOR some bases onto others.
  bool mix = true;
  /// Bases of lanes, warps and blocks that are zero or combinations of others.
  bool copies = true;
};

/// Bases of a random invertible map over a box of `extents`, with random
/// copies.
inline Layout randomLayout(Rng &rng, llvm::ArrayRef<unsigned> tileBits,
                           const RandomOptions &options) {
  unsigned rank = tileBits.size();
  std::vector<Basis> vectors;
  for (unsigned d = 0; d < rank; ++d)
    for (unsigned bit = 0; bit < tileBits[d]; ++bit) {
      Basis basis(rank, 0);
      basis[d] = 1 << bit;
      vectors.push_back(basis);
    }
  auto xorInto = [&](Basis &into, const Basis &from) {
    for (unsigned d = 0; d < rank; ++d)
      into[d] ^= from[d];
  };
  if (options.mix && vectors.size() > 1)
    for (unsigned i = 0; i < 2 * vectors.size(); ++i) {
      unsigned a = pick(rng, vectors.size()), b = pick(rng, vectors.size());
      if (a != b)
        xorInto(vectors[a], vectors[b]);
    }
  std::shuffle(vectors.begin(), vectors.end(), rng);
  BasisList lists[kNumHardwareDims];
  unsigned sizes[kNumHardwareDims] = {0, options.laneBits, options.warpBits,
                                      options.blockBits};
  for (unsigned h = 1; h < kNumHardwareDims; ++h)
    while (lists[h].size() < sizes[h]) {
      bool copy = vectors.empty() || (options.copies && pick(rng, 5) == 0);
      if (!copy) {
        lists[h].push_back(vectors.back());
        vectors.pop_back();
        continue;
      }
      Basis basis(rank, 0);
      if (options.mix && pick(rng, 2) == 0)
        for (const Basis &other : lists[1])
          if (pick(rng, 2) == 0)
            xorInto(basis, other);
      lists[h].push_back(basis);
    }
  lists[0].assign(vectors.begin(), vectors.end());
  return Layout(rank, lists[0], lists[1], lists[2], lists[3]);
}

inline llvm::SmallVector<unsigned>
randomTileBits(Rng &rng, const RandomOptions &options) {
  llvm::SmallVector<unsigned> bits(pick(rng, options.maxRank + 1), 0);
  if (!bits.empty())
    for (unsigned i = 0, e = pick(rng, options.maxTileBits + 1); i < e; ++i)
      ++bits[pick(rng, bits.size())];
  return bits;
}

inline Case randomCase(Rng &rng, const RandomOptions &options = {}) {
  llvm::SmallVector<unsigned> bits = randomTileBits(rng, options);
  Case result{randomLayout(rng, bits, options), {}};
  for (unsigned b : bits)
    result.shape.push_back((int64_t(1) << b) * (1 + pick(rng, 3)));
  return result;
}

} // namespace tile_dialect::layout::test

#endif // TILEDIALECT_UNITTESTS_LAYOUT_TESTLAYOUTS_H
