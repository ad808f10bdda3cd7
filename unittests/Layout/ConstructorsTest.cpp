//===- ConstructorsTest.cpp - Blocked and matrix layouts --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLayouts.h"

using namespace tile_dialect::layout;
using namespace tile_dialect::layout::test;

namespace {

using Shape = llvm::ArrayRef<int64_t>;

/// What every constructor promises: the layout tiles the shape, no register of
/// a base tile is a copy, and all elements are held.
void expectSound(const Layout &layout, Shape shape) {
  ASSERT_EQ(layout.check(), std::nullopt) << layout.str();
  ASSERT_EQ(layout.checkShape(shape), std::nullopt) << layout.str();
  EXPECT_EQ(layout.getFreeMask(HardwareDim::Register), 0u) << layout.str();
  std::vector<bool> held(getNumElements(shape), false);
  forEachHolder(layout, shape, [&](Position pos) {
    Coords coords = elementOf(layout, pos, shape);
    for (size_t d = 0; d < shape.size(); ++d)
      ASSERT_TRUE(coords[d] >= 0 && coords[d] < shape[d]) << layout.str();
    held[flatten(coords, shape)] = true;
  });
  EXPECT_EQ(std::count(held.begin(), held.end(), false), 0) << layout.str();
}

TEST(Blocked, Example) {
  EXPECT_EQ(blocked({128, 64}, {1, 4}, {4, 8}, {4, 1}, {1, 0}),
            Layout(2, {{0, 1}, {0, 2}},
                   {{0, 4}, {0, 8}, {0, 16}, {1, 0}, {2, 0}},
                   {{4, 0}, {8, 0}}));
  EXPECT_EQ(blocked({64, 128}, {4, 1}, {8, 4}, {1, 4}, {0, 1}),
            Layout(2, {{1, 0}, {2, 0}},
                   {{4, 0}, {8, 0}, {16, 0}, {0, 1}, {0, 2}},
                   {{0, 4}, {0, 8}}));
  EXPECT_EQ(rowMajor({8, 64}, 32, 4),
            Layout(2, {}, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                   {{0, 32}, {1, 0}}));
}

TEST(Blocked, LanesAndWarpsAreChosen) {
  // Lanes fill rows, warps the slowest dimension.
  EXPECT_EQ(blocked({64, 64}, {1, 4}, {1, 0}, 32, 4),
            Layout(2, {{0, 1}, {0, 2}},
                   {{0, 4}, {0, 8}, {0, 16}, {0, 32}, {1, 0}},
                   {{2, 0}, {4, 0}}));
  // Left-over warps go to the next dimension.
  EXPECT_EQ(blocked({2, 128}, {1, 1}, {1, 0}, 32, 4),
            Layout(2, {}, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                   {{1, 0}, {0, 32}}));
}

TEST(Blocked, SmallTensorsHoldCopies) {
  EXPECT_EQ(blocked({16}, {4}, {0}, 32, 4),
            Layout(1, {{1}, {2}}, {{4}, {8}, {0}, {0}, {0}}, {{0}, {0}}));
  EXPECT_EQ(blocked({}, {}, {}, 32, 2),
            Layout(0, {}, BasisList(5, Basis{}), {{}}));
  // Copies keep their place among the lanes: this is the projection of the
  // layout of a tensor with 64 columns.
  EXPECT_EQ(blocked({64, 1}, {1, 1}, {4, 8}, {4, 1}, {1, 0}),
            blocked({64, 64}, {1, 1}, {4, 8}, {4, 1}, {1, 0}).collapse(1));
  EXPECT_EQ(blocked({1, 1}, {8, 8}, {1, 0}, 32, 1),
            Layout(2, {}, BasisList(5, Basis{0, 0}), {}));
}

TEST(Blocked, WarpsDoNotIdleForVectors) {
  // 12672 = 99 * 128: a vector of 4 would leave nothing for the warps.
  Layout layout = blocked({12672}, {4}, {0}, 32, 4);
  EXPECT_EQ(layout.getNumRegisters({12672}), 99);
  // With 2 warps there is room for 2.
  EXPECT_EQ(blocked({12672}, {4}, {0}, 32, 2).getNumRegisters({12672}), 198);
  // Small power-of-two tensors keep their vectors.
  EXPECT_EQ(blocked({64}, {4}, {0}, 32, 4).getContiguousPerThread(0, {64}), 4);
  // The slower dimension gives first.
  EXPECT_EQ(blocked({96, 64}, {8, 8}, {1, 0}, 32, 4)
                .getContiguousPerThread(1, {96, 64}),
            8);
}

TEST(Blocked, SoundForAllShapes) {
  const std::vector<Coords> shapes = {
      {},        {1},       {2},        {7},          {96},           {12672},
      {96, 40},  {3, 128},  {128, 3},   {1, 1},       {64, 64},       {16, 8},
      {5, 6, 7}, {4, 8, 2}, {12, 1, 8}, {2, 3, 4, 5}, {2, 2, 2, 2, 2}};
  unsigned seed = 0;
  for (const Coords &shape : shapes)
    for (int64_t size : {1, 4, 16, 100})
      for (int64_t numLanes : {1, 32})
        for (int64_t numWarps : {1, 4, 8}) {
          Rng rng(seed++);
          llvm::SmallVector<unsigned> order(shape.size());
          for (size_t d = 0; d < order.size(); ++d)
            order[d] = d;
          std::shuffle(order.begin(), order.end(), rng);
          Coords sizes(shape.size(), 1);
          if (!shape.empty())
            sizes[order[0]] = size;
          SCOPED_TRACE(toString(shape) + " by " + toString(sizes) + ", seed " +
                       std::to_string(seed - 1));
          Layout layout = blocked(shape, sizes, order, numLanes, numWarps);
          EXPECT_EQ(layout.getSize(HardwareDim::Lane), numLanes);
          EXPECT_EQ(layout.getSize(HardwareDim::Warp), numWarps);
          expectSound(layout, shape);
          expectSound(rowMajor(shape, numLanes, numWarps), shape);

          Coords lanes(shape.size(), 1), warps(shape.size(), 1);
          for (int64_t n = numLanes; n > 1 && !shape.empty(); n /= 2)
            lanes[pick(rng, shape.size())] *= 2;
          for (int64_t n = numWarps; n > 1 && !shape.empty(); n /= 2)
            warps[pick(rng, shape.size())] *= 2;
          layout =
              blocked(shape, sizes, lanes, warps, order, numLanes, numWarps);
          EXPECT_EQ(layout.getSize(HardwareDim::Lane), numLanes);
          EXPECT_EQ(layout.getSize(HardwareDim::Warp), numWarps);
          expectSound(layout, shape);
          if (::testing::Test::HasFatalFailure())
            return;
        }
}

//===----------------------------------------------------------------------===//
// Matrix instructions: the formulas of the PTX ISA, by element index
//===----------------------------------------------------------------------===//

/// Compares each element of the first instruction of each warp with
/// fn(lane, index in the fragment).
template <typename Fn>
void expectFragment(const Layout &layout, Shape shape, int64_t numElements,
                    Fn fn) {
  for (int32_t lane = 0; lane < 32; ++lane)
    for (int64_t i = 0; i < numElements; ++i)
      ASSERT_EQ(layout.getCoords({i, lane, 0, 0}, shape), fn(lane, i))
          << "lane " << lane << " element " << i;
}

Coords at(int64_t row, int64_t col) { return {row, col}; }

TEST(MmaSync, F16Fragments) {
  Coords a = {16, 16}, b = {16, 8}, c = {16, 8};
  expectFragment(mmaSyncOperand(0, 16, a, {1, 1}), a, 8, [](int l, int i) {
    int row = (i < 2 || (i >= 4 && i < 6)) ? l / 4 : l / 4 + 8;
    return at(row, l % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0));
  });
  expectFragment(mmaSyncOperand(1, 16, b, {1, 1}), b, 4, [](int l, int i) {
    return at(l % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), l / 4);
  });
  expectFragment(mmaSyncAccumulator(c, {1, 1}), c, 4, [](int l, int i) {
    return at(i < 2 ? l / 4 : l / 4 + 8, l % 4 * 2 + (i & 1));
  });
  // m16n8k8 where there is no more.
  Coords half = {16, 8};
  expectFragment(mmaSyncOperand(0, 16, half, {1, 1}), half, 4,
                 [](int l, int i) {
                   return at(i < 2 ? l / 4 : l / 4 + 8, l % 4 * 2 + (i & 1));
                 });
}

TEST(MmaSync, Tf32Fragments) {
  Coords a = {16, 8}, b = {8, 8};
  expectFragment(mmaSyncOperand(0, 32, a, {1, 1}), a, 4, [](int l, int i) {
    return at(i == 0 || i == 2 ? l / 4 : l / 4 + 8, i < 2 ? l % 4 : l % 4 + 4);
  });
  expectFragment(mmaSyncOperand(1, 32, b, {1, 1}), b, 2, [](int l, int i) {
    return at(i == 0 ? l % 4 : l % 4 + 4, l / 4);
  });
}

TEST(MmaSync, Int8Fragments) {
  Coords a = {16, 32}, b = {32, 8};
  expectFragment(mmaSyncOperand(0, 8, a, {1, 1}), a, 16, [](int l, int i) {
    int row = (i < 4 || (i >= 8 && i < 12)) ? l / 4 : l / 4 + 8;
    return at(row, l % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0));
  });
  expectFragment(mmaSyncOperand(1, 8, b, {1, 1}), b, 8, [](int l, int i) {
    return at(l % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0), l / 4);
  });
}

TEST(MmaSync, WarpsAndOperandsAgree) {
  const std::vector<Coords> warpGrids = {{1, 1}, {2, 2}, {4, 1}, {1, 8}};
  for (const Coords &warps : warpGrids)
    for (unsigned bits : {8u, 16u, 32u})
      for (Coords mnk :
           {Coords{64, 64, 64}, Coords{48, 24, 96}, Coords{16, 8, 32}}) {
        SCOPED_TRACE(toString(mnk) + " warps " + toString(warps));
        Coords cShape = {mnk[0], mnk[1]}, aShape = {mnk[0], mnk[2]},
               bShape = {mnk[2], mnk[1]};
        Layout c = mmaSyncAccumulator(cShape, warps);
        Layout a = mmaSyncOperand(0, bits, aShape, warps);
        Layout b = mmaSyncOperand(1, bits, bShape, warps);
        expectSound(c, cShape);
        expectSound(a, aShape);
        expectSound(b, bShape);
        // A warp holds the rows of A and the columns of B that it needs.
        for (int32_t warp = 0; warp < c.getSize(HardwareDim::Warp); ++warp) {
          Coords first = c.getCoords({0, 0, warp, 0}, cShape);
          EXPECT_EQ(a.getCoords({0, 0, warp, 0}, aShape)[0], first[0]);
          EXPECT_EQ(b.getCoords({0, 0, warp, 0}, bShape)[1], first[1]);
        }
      }
}

TEST(Wgmma, AccumulatorFragments) {
  for (int64_t n : {8, 16, 64, 96, 160, 192, 256}) {
    SCOPED_TRACE("n " + std::to_string(n));
    Coords shape = {64, n};
    Layout layout = wgmmaAccumulator(shape, 4, n);
    expectSound(layout, shape);
    ASSERT_EQ(layout.getNumRegisters(shape), n / 2);
    for (int32_t warp = 0; warp < 4; ++warp)
      for (int32_t lane = 0; lane < 32; ++lane)
        for (int64_t i = 0; i < n / 2; ++i)
          ASSERT_EQ(layout.getCoords({i, lane, warp, 0}, shape),
                    at(warp * 16 + lane / 4 + 8 * ((i / 2) % 2),
                       lane % 4 * 2 + (i & 1) + 8 * (i / 4)));
  }
}

TEST(Wgmma, InstructionsAreConsecutiveRegisters) {
  // Two groups of warps along M, two instructions along M and N for each.
  Coords shape = {256, 192};
  Layout layout = wgmmaAccumulator(shape, 8, 96);
  expectSound(layout, shape);
  ASSERT_EQ(layout.getNumRegisters(shape), 4 * 48);
  for (int64_t instr = 0; instr < 4; ++instr)
    for (int64_t i = 0; i < 48; ++i)
      ASSERT_EQ(layout.getCoords({instr * 48 + i, 0, 4, 0}, shape),
                at(64 + 128 * (instr / 2) + 8 * ((i / 2) % 2),
                   96 * (instr % 2) + (i & 1) + 8 * (i / 4)));
}

TEST(Wgmma, GroupsSpreadOverMThenN) {
  Layout layout = wgmmaAccumulator({64, 256}, 8, 128);
  EXPECT_EQ(layout.getCoords({0, 0, 4, 0}, {64, 256}), at(0, 128));
  layout = wgmmaAccumulator({128, 256}, 16, 128);
  EXPECT_EQ(layout.getCoords({0, 0, 4, 0}, {128, 256}), at(64, 0));
  EXPECT_EQ(layout.getCoords({0, 0, 8, 0}, {128, 256}), at(0, 128));
  // No room: copies.
  EXPECT_EQ(wgmmaAccumulator({64, 64}, 8, 64).getFreeMask(HardwareDim::Warp),
            4u);
  EXPECT_EQ(wgmmaAccumulator({64, 192}, 8, 96).getFreeMask(HardwareDim::Warp),
            4u);
}

TEST(Wgmma, OperandAFragments) {
  Coords shape = {128, 64};
  Layout layout = wgmmaOperandA(shape, 16, 8);
  expectSound(layout, shape);
  for (int32_t warp = 0; warp < 8; ++warp)
    for (int32_t lane = 0; lane < 32; ++lane)
      for (int64_t i = 0; i < 8; ++i)
        ASSERT_EQ(layout.getCoords({i, lane, warp, 0}, shape),
                  at(warp * 16 + lane / 4 + 8 * ((i / 2) % 2),
                     lane % 4 * 2 + (i & 1) + 8 * (i / 4)));
  expectSound(wgmmaOperandA(shape, 8, 4), shape);
  expectSound(wgmmaOperandA(shape, 32, 4), shape);
  // The accumulator of a product serves as the operand of the next one.
  EXPECT_EQ(classify(wgmmaAccumulator(shape, 8, 64), layout, shape),
            ConversionKind::Identity);
}

TEST(Stmatrix, FourMatrices) {
  Coords shape = {64, 64};
  Layout layout = stmatrix(shape, {2, 2});
  expectSound(layout, shape);
  // Matrix m of four: rows 8 * (m & 1), columns 8 * (m >> 1); lane l holds two
  // elements of row l / 4.
  for (int32_t lane = 0; lane < 32; ++lane)
    for (int64_t i = 0; i < 8; ++i) {
      int64_t m = i / 2;
      ASSERT_EQ(
          layout.getCoords({i, lane, 0, 0}, shape),
          at(8 * (m & 1) + lane / 4, 8 * (m >> 1) + lane % 4 * 2 + i % 2));
    }
  EXPECT_EQ(layout.getCoords({0, 0, 3, 0}, shape), at(16, 16));
  EXPECT_EQ(
      classify(wgmmaAccumulator(shape, 4, 64), stmatrix(shape, {4, 1}), shape),
      ConversionKind::Identity);
}

} // namespace
