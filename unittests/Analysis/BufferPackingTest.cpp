//===- BufferPackingTest.cpp - Buffers that share memory --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/BufferPacking.h"
#include "gtest/gtest.h"
#include <random>

using namespace tile_dialect;

namespace {

using Buffers = std::vector<PackedBuffer>;

/// Checks all pairs, without the interference graph.
void expectSound(const Buffers &buffers, const Packing &packing) {
  ASSERT_EQ(packing.offsets.size(), buffers.size());
  int64_t end = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    int64_t begin = packing.offsets[i];
    EXPECT_GE(begin, 0);
    EXPECT_EQ(begin % buffers[i].alignment, 0);
    end = std::max(end, begin + buffers[i].bytes);
    for (size_t j = 0; j < i; ++j) {
      bool isAliveTogether = buffers[i].begin <= buffers[j].end &&
                             buffers[j].begin <= buffers[i].end;
      bool overlaps = begin < packing.offsets[j] + buffers[j].bytes &&
                      packing.offsets[j] < begin + buffers[i].bytes;
      EXPECT_FALSE(isAliveTogether && overlaps) << i << " and " << j;
    }
  }
  EXPECT_EQ(packing.totalBytes, end);
}

/// The most bytes that are alive at one point: no packing needs less.
int64_t getMaxAlive(const Buffers &buffers) {
  int64_t most = 0;
  for (const PackedBuffer &at : buffers) {
    int64_t bytes = 0;
    for (const PackedBuffer &buffer : buffers)
      if (buffer.begin <= at.begin && at.begin <= buffer.end)
        bytes += buffer.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

TEST(BufferPacking, Empty) {
  Packing packing = packBuffers({});
  EXPECT_TRUE(packing.offsets.empty());
  EXPECT_EQ(packing.totalBytes, 0);
}

TEST(BufferPacking, SharesDeadMemory) {
  Buffers buffers = {{100, 16, 0, 3}, {50, 16, 4, 5}, {40, 16, 5, 9}};
  Packing packing = packBuffers(buffers);
  expectSound(buffers, packing);
  // 40 bytes lie behind 50, of which the last 14 are lost to the alignment.
  EXPECT_EQ(packing.totalBytes, 104);
}

TEST(BufferPacking, EndsAreIncluded) {
  Buffers buffers = {{16, 16, 0, 3}, {16, 16, 3, 5}};
  EXPECT_EQ(packBuffers(buffers).totalBytes, 32);
}

TEST(BufferPacking, FillsHoles) {
  // The second buffer dies between two that live on.
  Buffers buffers = {
      {64, 16, 0, 9}, {64, 16, 0, 1}, {32, 16, 0, 9}, {48, 16, 3, 9}};
  Packing packing = packBuffers(buffers);
  expectSound(buffers, packing);
  EXPECT_EQ(packing.totalBytes, 160);
}

TEST(BufferPacking, Random) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    Buffers buffers;
    int64_t points = pick(1, 60), count = pick(1, 40);
    for (int64_t i = 0; i < count; ++i) {
      int64_t begin = pick(0, points);
      buffers.push_back({pick(1, 4096), int64_t(1) << pick(0, 10), begin,
                         begin + pick(0, points / 4)});
    }
    expectSound(buffers, packBuffers(buffers));
  }
}

/// With equal sizes first-fit in program order needs no more than is alive.
TEST(BufferPacking, EqualSizesAreOptimal) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Buffers buffers;
    for (int i = 0; i < 30; ++i) {
      int64_t begin = random() % 50;
      buffers.push_back({64, 16, begin, begin + int64_t(random() % 10)});
    }
    Packing packing = packBuffers(buffers);
    expectSound(buffers, packing);
    EXPECT_EQ(packing.totalBytes, getMaxAlive(buffers));
  }
}

} // namespace
