//===- RulesTest.cpp - Shape rules and algebra ------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLayouts.h"
#include <set>

using namespace tile_dialect::layout;
using namespace tile_dialect::layout::test;

namespace {

template <typename Fn> void forRandomCases(unsigned count, Fn fn) {
  for (unsigned seed = 0; seed < count; ++seed) {
    Rng rng(seed);
    Case c = randomCase(rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.str());
    fn(c, rng);
    if (::testing::Test::HasFatalFailure())
      return;
  }
}

TEST(LayoutRules, ExpandDims) {
  forRandomCases(40, [](const Case &c, Rng &rng) {
    unsigned axis = pick(rng, c.shape.size() + 1);
    Layout result = c.layout.expandDims(axis);
    Coords shape = c.shape;
    shape.insert(shape.begin() + axis, 1);
    ASSERT_EQ(result.checkShape(shape), std::nullopt);
    forEachHolder(c.layout, c.shape, [&](Position pos) {
      Coords coords = elementOf(c.layout, pos, c.shape);
      coords.insert(coords.begin() + axis, 0);
      ASSERT_EQ(elementOf(result, pos, shape), coords);
    });
    EXPECT_EQ(result.projectOut(axis), c.layout);
  });
}

/// The elements that a thread holds, without copies.
std::vector<std::set<int64_t>> getThreadSets(const Layout &layout,
                                             llvm::ArrayRef<int64_t> shape) {
  std::vector<std::set<int64_t>> sets;
  for (const std::vector<int64_t> &row : tabulate(layout, shape))
    sets.emplace_back(row.begin(), row.end());
  return sets;
}

/// Every register of a thread holds another element.
bool hasNoCopiesInThread(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  auto sets = getThreadSets(layout, shape);
  return int64_t(sets.front().size()) == layout.getNumRegisters(shape);
}

TEST(LayoutRules, ProjectOutAndCollapse) {
  forRandomCases(60, [](const Case &c, Rng &rng) {
    if (c.shape.empty())
      return;
    unsigned axis = pick(rng, c.shape.size());
    Layout projected = c.layout.projectOut(axis);
    Layout collapsed = c.layout.collapse(axis);
    Coords outShape = c.shape, oneShape = c.shape;
    outShape.erase(outShape.begin() + axis);
    oneShape[axis] = 1;
    ASSERT_EQ(projected.check(), std::nullopt);
    ASSERT_EQ(projected.checkShape(outShape), std::nullopt);
    ASSERT_EQ(collapsed.checkShape(oneShape), std::nullopt);
    EXPECT_EQ(collapsed, projected.expandDims(axis));
    EXPECT_TRUE(hasNoCopiesInThread(projected, outShape));

    std::vector<std::set<int64_t>> expected;
    forEachHolder(c.layout, c.shape, [&](Position pos) {
      Coords coords = elementOf(c.layout, pos, c.shape);
      coords.erase(coords.begin() + axis);
      if (pos.reg == 0)
        expected.emplace_back();
      expected.back().insert(flatten(coords, outShape));
    });
    EXPECT_EQ(getThreadSets(projected, outShape), expected);

    llvm::SmallVector<unsigned> kept;
    for (unsigned d = 0; d < c.shape.size(); ++d)
      if (d != axis)
        kept.push_back(d);
    EXPECT_EQ(c.layout.project(kept), projected);
  });
}

TEST(LayoutRules, ProjectPermutes) {
  Layout layout(3, {{1, 0, 0}, {0, 2, 1}}, {{0, 1, 0}}, {{0, 2, 0}});
  EXPECT_EQ(layout.project({1, 0}),
            Layout(2, {{0, 1}, {2, 0}}, {{1, 0}}, {{2, 0}}));
  EXPECT_EQ(layout.project({0}), Layout(1, {{1}}, {{0}}, {{0}}));
  EXPECT_EQ(layout.project({}), Layout(0, {}, {{}}, {{}}));
}

TEST(LayoutRules, Transpose) {
  EXPECT_EQ(Layout(3, {{1, 2, 4}}, {}, {}).transpose({2, 0, 1}),
            Layout(3, {{4, 1, 2}}, {}, {}));
  forRandomCases(40, [](const Case &c, Rng &rng) {
    llvm::SmallVector<int32_t> order(c.shape.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = d;
    std::shuffle(order.begin(), order.end(), rng);
    Layout result = c.layout.transpose(order);
    Coords shape;
    for (int32_t d : order)
      shape.push_back(c.shape[d]);
    ASSERT_EQ(result.checkShape(shape), std::nullopt);
    auto before = getThreadSets(c.layout, c.shape);
    auto after = getThreadSets(result, shape);
    ASSERT_EQ(before.size(), after.size());
    for (size_t t = 0; t < before.size(); ++t) {
      std::set<int64_t> expected;
      for (int64_t e : before[t]) {
        Coords coords = unflatten(e, c.shape), moved;
        for (int32_t d : order)
          moved.push_back(coords[d]);
        expected.insert(flatten(moved, shape));
      }
      ASSERT_EQ(after[t], expected);
    }
  });
}

TEST(LayoutRules, JoinAndSplit) {
  forRandomCases(40, [](const Case &c, Rng &) {
    Layout joined = c.layout.join();
    Coords shape = c.shape;
    shape.push_back(2);
    ASSERT_EQ(joined.checkShape(shape), std::nullopt);
    forEachHolder(c.layout, c.shape, [&](Position pos) {
      Coords coords = elementOf(c.layout, pos, c.shape);
      for (int half = 0; half < 2; ++half) {
        coords.push_back(half);
        Position at = pos;
        at.reg = pos.reg * 2 + half;
        ASSERT_EQ(elementOf(joined, at, shape), coords);
        coords.pop_back();
      }
    });
    EXPECT_EQ(joined.split(), c.layout);
  });
}

TEST(LayoutRules, SplitNeedsOneRegisterBit) {
  // A higher register bit will do.
  EXPECT_EQ(Layout(2, {{1, 0}, {0, 1}}, {{2, 0}}, {}).split(),
            Layout(1, {{1}}, {{2}}, {}));
  EXPECT_EQ(Layout(2, {{1, 0}}, {{0, 1}}, {}).split(), std::nullopt);
  EXPECT_EQ(Layout(2, {{0, 1}}, {{1, 1}}, {}).split(), std::nullopt);
  EXPECT_EQ(Layout(2, {{0, 1}}, {{0, 2}}, {}).split(), std::nullopt);
  EXPECT_EQ(Layout(2, {{1, 0}}, {}, {}).split(), std::nullopt);
  EXPECT_EQ(Layout(0, {}, {}, {}).split(), std::nullopt);
}

TEST(LayoutRules, UnrollRepetitions) {
  Layout layout(2, {{0, 1}}, {{1, 0}}, {});
  EXPECT_EQ(layout.unrollRepetitions({4, 8}),
            Layout(2, {{0, 1}, {0, 2}, {0, 4}, {2, 0}}, {{1, 0}}, {}));
  EXPECT_EQ(layout.unrollRepetitions({4, 6}), std::nullopt);
  EXPECT_EQ(layout.unrollRepetitions({6, 8}), std::nullopt);
  EXPECT_EQ(layout.unrollRepetitions({2, 1}), std::nullopt);
  unsigned unrolled = 0;
  forRandomCases(80, [&](const Case &c, Rng &) {
    std::optional<Layout> result = c.layout.unrollRepetitions(c.shape);
    bool isPowerOfTwo = true;
    for (int64_t extent : c.shape)
      isPowerOfTwo &= (extent & (extent - 1)) == 0;
    ASSERT_EQ(result.has_value(), isPowerOfTwo);
    if (!result)
      return;
    ++unrolled;
    EXPECT_EQ(result->getBaseTile(), c.shape);
    EXPECT_EQ(tabulate(*result, c.shape), tabulate(c.layout, c.shape));
    EXPECT_TRUE(result->isEquivalent(c.layout, c.shape));
  });
  EXPECT_GT(unrolled, 10u);
}

struct ReshapeCase {
  Layout layout;
  Coords from, to;
  bool possible;
};

TEST(LayoutRules, ReshapeExamples) {
  Layout rows(2, {{0, 1}}, {{0, 2}, {0, 4}}, {{1, 0}});
  Layout line(1, {{1}}, {{2}, {4}}, {{8}});
  Layout single(1, {}, {{1}}, {});
  std::vector<ReshapeCase> cases = {
      {rows, {2, 8}, {16}, true},
      {rows, {2, 8}, {2, 2, 4}, true},
      {rows, {2, 8}, {1, 16, 1}, true},
      {rows, {6, 8}, {48}, true},
      {rows, {6, 8}, {3, 16}, true},
      // Repetitions along the rows lie between lane and warp bits.
      {rows, {2, 16}, {32}, true},
      {rows, {6, 16}, {96}, true},
      {rows, {6, 16}, {3, 2, 16}, true},
      {rows, {2, 24}, {48}, false},
      {rows, {2, 24}, {2, 3, 8}, true},
      {rows, {2, 24}, {2, 6, 4}, true},
      {rows, {2, 24}, {2, 12, 2}, true},
      {rows, {2, 24}, {6, 8}, false},
      {line, {48}, {3, 16}, true},
      {line, {48}, {2, 24}, false},
      {line, {48}, {6, 8}, true},
      {line, {48}, {48, 1}, true},
      // A register bit that only repeats: 16 is no longer a multiple.
      {Layout(1, {{2}}, {{1}}, {}), {12}, {2, 6}, true},
      {Layout(1, {}, {{1}, {2}}, {}), {12}, {2, 6}, false},
      {single, {6}, {2, 3}, false},
      {single, {6}, {3, 2}, true},
      {Layout(0, {}, {{}}, {}), {}, {1, 1}, true},
      {Layout(2, {}, {{0, 0}}, {}), {1, 1}, {}, true},
      // Other counts, other shapes.
      {single, {6}, {3, 4}, false},
      {single, {7}, {7}, false},
      {single, {6}, {-3, -2}, false},
  };
  for (const ReshapeCase &c : cases) {
    SCOPED_TRACE(c.layout.str() + " from " + toString(c.from) + " to " +
                 toString(c.to));
    std::optional<Layout> result = c.layout.reshape(c.from, c.to);
    ASSERT_EQ(result.has_value(), c.possible);
    if (!result)
      continue;
    EXPECT_EQ(result->check(), std::nullopt);
    ASSERT_EQ(result->checkShape(c.to), std::nullopt);
    EXPECT_EQ(tabulate(*result, c.to), tabulate(c.layout, c.from));
  }
}

TEST(LayoutRules, ReshapeRandom) {
  unsigned reshaped = 0;
  forRandomCases(200, [&](const Case &c, Rng &rng) {
    // Split all extents into primes and 1s, then merge neighbours.
    Coords factors;
    for (int64_t extent : c.shape)
      for (int64_t prime : {2, 3})
        for (; extent % prime == 0; extent /= prime)
          factors.insert(pick(rng, 2) ? factors.begin() : factors.end(), prime);
    Coords to;
    for (int64_t f : factors)
      if (to.empty() || pick(rng, 4) == 0)
        to.push_back(f);
      else
        to.back() *= f;
    std::optional<Layout> result = c.layout.reshape(c.shape, to);
    // Power-of-two tensors can always be reshaped.
    if (c.layout.unrollRepetitions(c.shape))
      EXPECT_TRUE(result) << "to " << toString(to);
    if (!result)
      return;
    ++reshaped;
    ASSERT_EQ(result->check(), std::nullopt) << result->str();
    ASSERT_EQ(result->checkShape(to), std::nullopt) << result->str();
    EXPECT_EQ(tabulate(*result, to), tabulate(c.layout, c.shape))
        << "to " << toString(to);
    // Back again is possible, and the same map.
    std::optional<Layout> back = result->reshape(to, c.shape);
    ASSERT_TRUE(back);
    EXPECT_TRUE(back->isEquivalent(c.layout, c.shape));
  });
  EXPECT_GT(reshaped, 50u);
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

TEST(LayoutAlgebra, ProductTilesCopies) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.laneBits = options.warpBits = 1;
    options.maxTileBits = 5;
    llvm::SmallVector<unsigned> innerBits = randomTileBits(rng, options);
    llvm::SmallVector<unsigned> outerBits(innerBits.size(), 1);
    Layout inner = randomLayout(rng, innerBits, options);
    Layout outer = randomLayout(rng, outerBits, options);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + inner.str() + " x " +
                 outer.str());
    Layout product = inner.product(outer);
    ASSERT_EQ(product.check(), std::nullopt);
    Coords innerTile = inner.getBaseTile(), shape = product.getBaseTile();
    Coords outerTile = outer.getBaseTile();
    auto low = [&](HardwareDim dim, int64_t index) {
      return index % inner.getSize(dim);
    };
    auto high = [&](HardwareDim dim, int64_t index) {
      return index / inner.getSize(dim);
    };
    auto part = [](auto fn, Position pos) {
      return Position{fn(HardwareDim::Register, pos.reg),
                      int32_t(fn(HardwareDim::Lane, pos.lane)),
                      int32_t(fn(HardwareDim::Warp, pos.warp)),
                      int32_t(fn(HardwareDim::Block, pos.block))};
    };
    forEachHolder(product, shape, [&](Position pos) {
      Coords expected = elementOf(inner, part(low, pos), innerTile);
      Coords times = elementOf(outer, part(high, pos), outerTile);
      for (size_t d = 0; d < expected.size(); ++d)
        expected[d] += innerTile[d] * times[d];
      ASSERT_EQ(elementOf(product, pos, shape), expected);
    });
    EXPECT_EQ(product.divide(inner), outer);
    EXPECT_EQ(product.divide(product), Layout(inner.getRank(), {}, {}, {}));
  }
}

TEST(LayoutAlgebra, DivideRefuses) {
  Layout layout(2, {{0, 1}, {1, 0}}, {{0, 2}}, {{2, 0}});
  EXPECT_EQ(layout.divide(Layout(2, {{0, 1}}, {}, {})),
            Layout(2, {{1, 0}}, {{0, 1}}, {{2, 0}}));
  EXPECT_EQ(layout.divide(Layout(2, {{1, 0}}, {}, {})), std::nullopt);
  EXPECT_EQ(layout.divide(Layout(2, {}, {{0, 2}}, {})), std::nullopt);
  EXPECT_EQ(layout.divide(Layout(2, {{0, 1}, {1, 0}, {4, 0}}, {}, {})),
            std::nullopt);
  EXPECT_EQ(layout.divide(Layout(1, {}, {}, {})), std::nullopt);
  // The rest must not reach into the tile.
  EXPECT_EQ(Layout(1, {{1}}, {{3}}, {}).divide(Layout(1, {{1}}, {}, {})),
            std::nullopt);
}

TEST(LayoutAlgebra, Sublayout) {
  Layout layout(1, {{1}}, {{2}}, {{4}}, {{8}});
  EXPECT_EQ(layout.sublayout({HardwareDim::Lane, HardwareDim::Block}),
            Layout(1, {}, {{2}}, {}, {{8}}));
  EXPECT_EQ(layout.sublayout({}), Layout(1, {}, {}, {}));
}

TEST(LayoutAlgebra, EquivalenceIsEqualTables) {
  unsigned equal = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.laneBits = options.warpBits = options.blockBits = 1;
    options.maxRank = 2;
    options.maxTileBits = 5;
    options.copies = false;
    options.mix = pick(rng, 2) == 0;
    Case a = randomCase(rng, options);
    Layout b = a.layout;
    // Write some repetitions as bases, perhaps in the wrong order.
    BasisList registers = b.getBases(HardwareDim::Register);
    for (unsigned i = 0, e = pick(rng, 3); i < e && !a.shape.empty(); ++i) {
      Basis basis(a.shape.size(), 0);
      unsigned d = pick(rng, a.shape.size());
      basis[d] =
          Layout(a.shape.size(), registers, b.getBases(HardwareDim::Lane),
                 b.getBases(HardwareDim::Warp), b.getBases(HardwareDim::Block))
              .getBaseTile()[d];
      registers.push_back(basis);
    }
    b = Layout(a.shape.size(), registers, b.getBases(HardwareDim::Lane),
               b.getBases(HardwareDim::Warp), b.getBases(HardwareDim::Block));
    if (b.checkShape(a.shape)) {
      EXPECT_FALSE(a.layout.isEquivalent(b, a.shape));
      continue;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + a.str() + " and " +
                 b.str());
    bool expected = tabulate(a.layout, a.shape) == tabulate(b, a.shape);
    EXPECT_EQ(a.layout.isEquivalent(b, a.shape), expected);
    EXPECT_EQ(b.isEquivalent(a.layout, a.shape), expected);
    equal += expected && a.layout != b;
  }
  EXPECT_GE(equal, 10u);
}

} // namespace
