//===- LayoutTest.cpp - Layouts as maps, both ways --------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLayouts.h"
#include <map>

using namespace tile_dialect::layout;
using namespace tile_dialect::layout::test;

namespace {

Layout designExample() {
  return Layout(2, {{0, 1}, {0, 2}}, {{0, 4}, {0, 8}, {0, 16}, {1, 0}, {2, 0}},
                {{4, 0}, {8, 0}});
}

TEST(Layout, DesignExample) {
  Layout layout = designExample();
  EXPECT_EQ(layout.check(), std::nullopt);
  EXPECT_EQ(layout.getBaseTile(), Coords({16, 32}));
  EXPECT_EQ(layout.getSize(HardwareDim::Lane), 32);
  EXPECT_EQ(layout.getSize(HardwareDim::Warp), 4);
  EXPECT_EQ(layout.getSize(HardwareDim::Block), 1);
  EXPECT_EQ(layout.getSize(HardwareDim::Register), 4);
  EXPECT_EQ(layout.getRepetitions({48, 64}), Coords({3, 2}));
  EXPECT_EQ(layout.getNumRegisters({48, 64}), 24);
  // Register 9 is register 1 of repetition 2 = (1, 0).
  EXPECT_EQ(layout.getCoords({9, 9, 2, 0}, {48, 64}), Coords({16 + 9, 5}));
  EXPECT_EQ(layout.str(),
            "{register = [[0,1],[0,2]], lane = "
            "[[0,4],[0,8],[0,16],[1,0],[2,0]], warp = [[4,0],[8,0]]}");
  EXPECT_EQ(llvm::ArrayRef<unsigned>(layout.getOrder()),
            llvm::ArrayRef<unsigned>({1, 0}));
  EXPECT_EQ(layout.getContiguousPerThread(1, {48, 64}), 4);
  EXPECT_EQ(layout.getContiguousPerThread(0, {48, 64}), 1);
}

TEST(Layout, StrNamesBlocks) {
  EXPECT_EQ(Layout(1, {}, {{1}}, {}, {{2}}).str(),
            "{register = [], lane = [[1]], warp = [], block = [[2]]}");
  EXPECT_EQ(Layout(0, {}, {{}}, {}).str(),
            "{register = [], lane = [[]], warp = []}");
}

TEST(Layout, Equality) {
  Layout layout = designExample();
  EXPECT_EQ(layout, designExample());
  EXPECT_NE(layout, layout.expandDims(0));
  EXPECT_NE(layout, Layout(2, layout.getBases(HardwareDim::Lane),
                           layout.getBases(HardwareDim::Register),
                           layout.getBases(HardwareDim::Warp)));
}

TEST(Layout, CheckRejectsMalformedBases) {
  auto message = [](const Layout &layout) {
    return layout.check().value_or("well formed");
  };
  EXPECT_EQ(message(Layout(2, {{0, 1}}, {{1}}, {})),
            "lane basis [1] has 1 coordinates, expected 2");
  EXPECT_EQ(message(Layout(2, {}, {}, {{0, -4}})),
            "warp basis [0,-4] has a negative coordinate");
  EXPECT_EQ(
      message(Layout(2, {{0, 1}}, {{0, 4}}, {{1, 0}})),
      "bases reach 2^3 elements, but do not fill the 2x8 box around them");
  EXPECT_EQ(message(Layout(1, {{3}}, {}, {})),
            "bases reach 2^1 elements, but do not fill the 4 box around them");
  EXPECT_EQ(message(Layout(1, BasisList(25, Basis{0}), {}, {})),
            "register has 25 bases, at most 24 are allowed");
  EXPECT_EQ(message(Layout(2, {{1 << 30, 0}}, {{0, 1 << 30}}, {})),
            "bases span more than 2^48 elements");
  EXPECT_EQ(message(Layout(1, {{3}, {1}}, {{2}}, {{0}}, {{4}})), "well formed");
  EXPECT_EQ(message(Layout(0, {}, BasisList(5, Basis{}), {})), "well formed");
  EXPECT_EQ(message(Layout()), "well formed");
}

TEST(Layout, CheckShape) {
  Layout layout = designExample();
  auto message = [&](llvm::ArrayRef<int64_t> shape) {
    return layout.checkShape(shape).value_or("tiled");
  };
  EXPECT_EQ(message({16}), "layout has rank 2, but the tensor has 1");
  EXPECT_EQ(message({0, 32}), "extent 0 of dimension 0 is not positive");
  EXPECT_EQ(message({16, -1}), "extent -1 of dimension 1 is not positive");
  EXPECT_EQ(message({16, 40}), "extent 40 of dimension 1 is not a multiple of "
                               "the base tile's 32");
  EXPECT_EQ(message({8, 32}),
            "extent 8 of dimension 0 is not a multiple of the "
            "base tile's 16");
  EXPECT_EQ(message({48, 96}), "tiled");
}

TEST(LayoutProperty, CoordsFollowTheDefinition) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    Case c = randomCase(rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.str());
    ASSERT_EQ(c.layout.check(), std::nullopt);
    ASSERT_EQ(c.layout.checkShape(c.shape), std::nullopt);
    auto registers = c.layout.getRegisterCoords(c.shape);
    ASSERT_EQ(int64_t(registers.size()), c.layout.getNumRegisters(c.shape));
    forEachHolder(c.layout, c.shape, [&](Position pos) {
      Coords expected = elementOf(c.layout, pos, c.shape);
      ASSERT_EQ(c.layout.getCoords(pos, c.shape), expected);
      if (pos.lane == 0 && pos.warp == 0 && pos.block == 0)
        ASSERT_EQ(registers[pos.reg], expected);
    });
  }
}

TEST(LayoutProperty, PositionsInvertCoords) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    Case c = randomCase(rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.str());
    // Holders come in ascending order: the first is the lowest.
    int64_t count = getNumElements(c.shape);
    std::vector<std::optional<Position>> lowest(count);
    std::vector<std::optional<int64_t>> own(count);
    std::vector<int> unmasked(count, 0);
    uint32_t masks[kNumHardwareDims];
    for (unsigned h = 0; h < kNumHardwareDims; ++h)
      masks[h] = c.layout.getFreeMask(static_cast<HardwareDim>(h));
    int64_t perTile = c.layout.getSize(HardwareDim::Register);
    forEachHolder(c.layout, c.shape, [&](Position pos) {
      int64_t e = flatten(elementOf(c.layout, pos, c.shape), c.shape);
      if (!lowest[e])
        lowest[e] = pos;
      if (!own[e] && pos.lane == 0 && pos.warp == 0 && pos.block == 0)
        own[e] = pos.reg;
      unmasked[e] += (pos.reg % perTile & masks[0]) == 0 &&
                     (pos.lane & masks[1]) == 0 && (pos.warp & masks[2]) == 0 &&
                     (pos.block & masks[3]) == 0;
    });
    for (int64_t e = 0; e < count; ++e) {
      Coords coords = unflatten(e, c.shape);
      ASSERT_TRUE(lowest[e]) << "no holder of " << toString(coords);
      Position pos = c.layout.getPositionOf(coords, c.shape);
      ASSERT_EQ(pos.block, lowest[e]->block) << toString(coords);
      ASSERT_EQ(pos.warp, lowest[e]->warp) << toString(coords);
      ASSERT_EQ(pos.lane, lowest[e]->lane) << toString(coords);
      ASSERT_EQ(pos.reg, lowest[e]->reg) << toString(coords);
      ASSERT_EQ(c.layout.getRegisterOf(coords, c.shape), own[e]);
      ASSERT_EQ(unmasked[e], 1) << "holders of " << toString(coords);
    }
  }
}

TEST(Layout, FreeMaskTakesTheHighestBits) {
  // Lane bit 2 repeats bits 0 and 1; warp bit 0 is a copy, bit 1 repeats a
  // lane.
  Layout layout(1, {{8}}, {{1}, {2}, {3}, {4}}, {{0}, {4}, {16}});
  EXPECT_EQ(layout.getFreeMask(HardwareDim::Register), 0u);
  EXPECT_EQ(layout.getFreeMask(HardwareDim::Lane), 4u);
  EXPECT_EQ(layout.getFreeMask(HardwareDim::Warp), 3u);
  EXPECT_EQ(layout.getFreeMask(HardwareDim::Block), 0u);
}

/// The largest power of two of which all aligned register groups are
/// consecutive aligned elements along `dim`, by trying.
int64_t findContiguous(const Case &c, unsigned dim) {
  int64_t numRegisters = c.layout.getNumRegisters(c.shape);
  int64_t best = 1;
  for (int64_t n = 2; n <= c.shape[dim] && numRegisters % n == 0; n *= 2) {
    bool ok = true;
    Coords first;
    forEachHolder(c.layout, c.shape, [&](Position pos) {
      Coords coords = elementOf(c.layout, pos, c.shape);
      if (pos.reg % n == 0) {
        first = coords;
        ok &= coords[dim] % n == 0;
      }
      first[dim] += pos.reg % n;
      ok &= first == coords;
      first[dim] -= pos.reg % n;
    });
    if (!ok)
      break;
    best = n;
  }
  return best;
}

TEST(LayoutProperty, ContiguityIsTheWidestAccess) {
  std::map<int64_t, int> seen;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Rng rng(seed);
    Case c;
    if (seed % 3 == 0) {
      c = randomCase(rng);
    } else {
      RandomOptions options;
      options.laneBits = 1;
      options.warpBits = 1;
      options.mix = seed % 3 == 1;
      // In front of a random layout, so that there is something to find.
      unsigned rank = 1 + pick(rng, 2);
      llvm::SmallVector<unsigned> bits(rank, 1);
      Layout front(rank, {}, {}, {});
      BasisList registers;
      for (unsigned i = 0, e = pick(rng, 4); i < e; ++i) {
        Basis basis(rank, 0);
        basis[rank - 1] = 1 << i;
        registers.push_back(basis);
      }
      front = Layout(rank, registers, {}, {});
      Layout rest = seed % 2 ? randomLayout(rng, bits, options)
                             : Layout(rank, {}, {Basis(rank, 0)}, {});
      c.layout = front.product(rest);
      c.shape = c.layout.getBaseTile();
      for (int64_t &extent : c.shape)
        extent *= 1 + pick(rng, 4);
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.str());
    for (unsigned dim = 0; dim < c.shape.size(); ++dim) {
      int64_t expected = findContiguous(c, dim);
      EXPECT_EQ(c.layout.getContiguousPerThread(dim, c.shape), expected)
          << "dimension " << dim;
      ++seen[expected];
    }
  }
  EXPECT_GT(seen[2], 5);
  EXPECT_GT(seen[4], 5);
  EXPECT_GT(seen[8], 5);
}

TEST(Layout, OrderIsJudgedByRegistersThenLanes) {
  auto order = [](const Layout &layout) {
    auto result = layout.getOrder();
    return std::vector<unsigned>(result.begin(), result.end());
  };
  using V = std::vector<unsigned>;
  EXPECT_EQ(order(Layout(2, {{1, 0}}, {{0, 1}}, {})), V({0, 1}));
  EXPECT_EQ(order(Layout(2, {}, {{0, 1}, {1, 0}}, {})), V({1, 0}));
  EXPECT_EQ(order(Layout(3, {}, {{0, 1, 0}}, {})), V({1, 2, 0}));
  EXPECT_EQ(order(Layout(3, {}, {}, {})), V({2, 1, 0}));
}

} // namespace
