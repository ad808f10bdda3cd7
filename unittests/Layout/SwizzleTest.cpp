//===- SwizzleTest.cpp - Conversions through shared memory ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLayouts.h"
#include <map>
#include <set>

using namespace tile_dialect::layout;
using namespace tile_dialect::layout::test;

namespace {

/// Wavefronts of all warps, counted as the hardware does: 4-byte (or narrower)
/// accesses of all 32 lanes together, 8-byte ones by half-warps, 16-byte ones
/// by quarter-warps; each bank delivers one word a wavefront.
struct Traffic {
  int64_t wavefronts = 0;
  int64_t ideal = 0;
  int64_t instructions = 0;
};

Traffic simulate(const SharedSwizzle &swizzle, const Layout &layout,
                 llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                 int64_t width) {
  Traffic traffic;
  int64_t accessBytes = elementBytes * width;
  int64_t phaseLanes = accessBytes == 16 ? 8 : accessBytes == 8 ? 16 : 32;
  int64_t numLanes = layout.getSize(HardwareDim::Lane);
  for (int32_t warp = 0; warp < layout.getSize(HardwareDim::Warp); ++warp)
    for (int64_t reg = 0; reg < layout.getNumRegisters(shape); reg += width) {
      ++traffic.instructions;
      for (int64_t first = 0; first < numLanes; first += phaseLanes) {
        std::map<int64_t, std::set<int64_t>> wordsOfBank;
        for (int64_t lane = first;
             lane < std::min(numLanes, first + phaseLanes); ++lane) {
          Position pos{reg, int32_t(lane), warp, 0};
          int64_t start =
              swizzledOffset(swizzle, elementOf(layout, pos, shape), shape);
          EXPECT_EQ(start % width, 0);
          for (int64_t i = 0; i < width; ++i) {
            pos.reg = reg + i;
            EXPECT_EQ(
                swizzledOffset(swizzle, elementOf(layout, pos, shape), shape),
                start + i);
          }
          for (int64_t byte = start * elementBytes;
               byte < start * elementBytes + accessBytes; ++byte)
            wordsOfBank[byte / 4 % 32].insert(byte / 4);
        }
        size_t most = 0;
        for (auto &[bank, words] : wordsOfBank)
          most = std::max(most, words.size());
        traffic.wavefronts += most;
        ++traffic.ideal;
      }
    }
  return traffic;
}

/// Every element has a place of its own in the buffer.
void expectBijection(const SharedSwizzle &swizzle,
                     llvm::ArrayRef<int64_t> shape) {
  int64_t size = swizzledBufferElements(swizzle, shape);
  ASSERT_GE(size, getNumElements(shape));
  // At most 128 bytes more than the tensor, and none for powers of two.
  ASSERT_LT(size, getNumElements(shape) + 128);
  std::vector<bool> used(size, false);
  for (int64_t e = 0; e < getNumElements(shape); ++e) {
    int64_t offset = swizzledOffset(swizzle, unflatten(e, shape), shape);
    ASSERT_TRUE(offset >= 0 && offset < size);
    ASSERT_FALSE(used[offset]) << "offset " << offset;
    used[offset] = true;
  }
}

struct Result {
  SharedSwizzle swizzle;
  Traffic writes, reads;
};

Result convert(const Layout &src, const Layout &dst,
               llvm::ArrayRef<int64_t> shape, unsigned bits) {
  Result result;
  result.swizzle = chooseSwizzle(src, dst, shape, bits);
  const SharedSwizzle &s = result.swizzle;
  expectBijection(s, shape);
  EXPECT_EQ(s.vecElements, std::min(s.writeElements, s.readElements));
  EXPECT_LE(s.writeElements * bits, 128);
  EXPECT_LE(s.readElements * bits, 128);
  result.writes = simulate(s, src, shape, bits / 8, s.writeElements);
  result.reads = simulate(s, dst, shape, bits / 8, s.readElements);
  // The counting function agrees.
  int64_t writes = 0, reads = 0;
  for (int32_t w = 0; w < src.getSize(HardwareDim::Warp); ++w)
    writes += countWavefronts(s, src, shape, bits, s.writeElements, w);
  for (int32_t w = 0; w < dst.getSize(HardwareDim::Warp); ++w)
    reads += countWavefronts(s, dst, shape, bits, s.readElements, w);
  EXPECT_EQ(writes, result.writes.wavefronts);
  EXPECT_EQ(reads, result.reads.wavefronts);
  return result;
}

std::string describe(const SharedSwizzle &s) {
  std::string text = "order";
  for (unsigned d : s.order)
    text += " " + std::to_string(d);
  text += ", write " + std::to_string(s.writeElements) + ", read " +
          std::to_string(s.readElements) + ", chunk bits " +
          std::to_string(s.chunkBits);
  for (const SharedSwizzle::Term &t : s.terms)
    text +=
        ", (i >> " + std::to_string(t.shift) + ") & " + std::to_string(t.mask);
  return text;
}

void expectNoConflicts(const Layout &src, const Layout &dst,
                       llvm::ArrayRef<int64_t> shape, unsigned bits) {
  Result r = convert(src, dst, shape, bits);
  EXPECT_EQ(r.writes.wavefronts, r.writes.ideal)
      << "writes of " << src.str() << "\nreads of " << dst.str() << "\n"
      << describe(r.swizzle);
  EXPECT_EQ(r.reads.wavefronts, r.reads.ideal)
      << "reads of " << dst.str() << "\nwrites of " << src.str() << "\n"
      << describe(r.swizzle);
}

TEST(Swizzle, RowsToColumns) {
  for (unsigned bits : {8u, 16u, 32u, 64u})
    for (Coords shape : {Coords{32, 32}, Coords{64, 64}, Coords{128, 64},
                         Coords{64, 128}, Coords{128, 128}, Coords{96, 64}})
      for (int64_t bytes : {16, 8, 4, 1}) {
        int64_t vec = std::max<int64_t>(1, bytes * 8 / bits);
        SCOPED_TRACE(toString(shape) + " of " + std::to_string(bits) +
                     " bits by " + std::to_string(vec));
        Layout rows = blocked(shape, {1, vec}, {1, 0}, 32, 4);
        Layout columns = blocked(shape, {vec, 1}, {0, 1}, 32, 4);
        expectNoConflicts(rows, columns, shape, bits);
        expectNoConflicts(columns, rows, shape, bits);
      }
}

TEST(Swizzle, SquaresToColumns) {
  Coords shape = {128, 64};
  for (unsigned bits : {8u, 16u, 32u}) {
    Layout squares = blocked(shape, {4, 4}, {1, 0}, 32, 4);
    Layout columns = blocked(shape, {4, 4}, {0, 1}, 32, 4);
    expectNoConflicts(squares, columns, shape, bits);
  }
}

TEST(Swizzle, AccumulatorsToRows) {
  for (unsigned bits : {16u, 32u})
    for (Coords shape : {Coords{64, 64}, Coords{128, 128}, Coords{64, 256}}) {
      SCOPED_TRACE(toString(shape) + " of " + std::to_string(bits) + " bits");
      Layout rows = blocked(shape, {1, 128 / bits}, {1, 0}, 32, 4);
      expectNoConflicts(wgmmaAccumulator(shape, 4, 64), rows, shape, bits);
      expectNoConflicts(mmaSyncAccumulator(shape, {2, 2}), rows, shape, bits);
      expectNoConflicts(rows, mmaSyncOperand(0, bits, shape, {2, 2}), shape,
                        bits);
      expectNoConflicts(rows, mmaSyncOperand(1, bits, shape, {2, 2}), shape,
                        bits);
    }
}

TEST(Swizzle, VectorsStayWide) {
  // Both sides along rows: 16-byte accesses and no detour.
  Coords shape = {64, 64};
  SharedSwizzle s =
      chooseSwizzle(blocked(shape, {1, 8}, {1, 0}, 32, 4),
                    blocked(shape, {2, 8}, {1, 0}, 32, 4), shape, 16);
  EXPECT_EQ(s.vecElements, 8);
  EXPECT_EQ(s.order.front(), 1u);
  EXPECT_EQ(swizzledBufferElements(s, shape), 64 * 64);
}

TEST(Swizzle, ExtentsThatAreNoPowersOfTwo) {
  for (unsigned bits : {8u, 16u, 32u})
    for (Coords shape : {Coords{96, 40}, Coords{128, 160}, Coords{3, 128},
                         Coords{128, 192}, Coords{24, 24}, Coords{5, 7}}) {
      SCOPED_TRACE(toString(shape) + " of " + std::to_string(bits) + " bits");
      Layout rows = blocked(shape, {1, 128 / bits}, {1, 0}, 32, 4);
      Layout columns = blocked(shape, {128 / bits, 1}, {0, 1}, 32, 4);
      Result r = convert(rows, columns, shape, bits);
      EXPECT_LE(r.writes.wavefronts + r.reads.wavefronts,
                2 * (r.writes.ideal + r.reads.ideal))
          << describe(r.swizzle);
    }
}

TEST(Swizzle, OtherRanks) {
  Layout scalar(0, {}, BasisList(5, Basis{}), {});
  expectNoConflicts(scalar, scalar, {}, 32);
  Layout a = blocked({1024}, {4}, {0}, 32, 4);
  Layout b = rowMajor({1024}, 32, 4);
  expectNoConflicts(a, b, {1024}, 32);
  Coords shape = {4, 32, 64};
  expectNoConflicts(blocked(shape, {1, 1, 4}, {2, 1, 0}, 32, 4),
                    blocked(shape, {1, 4, 1}, {1, 2, 0}, 32, 4), shape, 32);
  expectNoConflicts(blocked(shape, {1, 1, 4}, {2, 1, 0}, 32, 4),
                    blocked(shape, {4, 1, 1}, {0, 1, 2}, 32, 4), shape, 32);
}

TEST(SwizzleProperty, RandomLayouts) {
  int64_t wavefronts = 0, ideal = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    RandomOptions options;
    options.laneBits = 5;
    options.warpBits = 1;
    options.blockBits = 0;
    options.maxTileBits = 10;
    options.mix = seed % 2 == 0;
    Case c = randomCase(rng, options);
    llvm::SmallVector<unsigned> bits;
    for (int64_t extent : c.layout.getBaseTile())
      bits.push_back(llvm::countr_zero(uint64_t(extent)));
    Layout dst = randomLayout(rng, bits, options);
    unsigned elementBits = 8u << pick(rng, 4);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.str() + " to " +
                 dst.str());
    Result r = convert(c.layout, dst, c.shape, elementBits);
    if (::testing::Test::HasFatalFailure())
      return;
    wavefronts += r.writes.wavefronts + r.reads.wavefronts;
    ideal += r.writes.ideal + r.reads.ideal;
  }
  EXPECT_LT(wavefronts, ideal * 11 / 10);
}

} // namespace
