//===- ByteSetTest.cpp - Sets of byte addresses -----------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryHazards.h"
#include "gtest/gtest.h"
#include <bitset>
#include <random>

using mlir::tile_gpu::ByteSet;

namespace {

TEST(ByteSet, Touching) {
  ByteSet set;
  set.insert(0, 16);
  ByteSet next;
  next.insert(16, 32);
  EXPECT_FALSE(set.overlaps(next));
  set.insert(next);
  ByteSet whole;
  whole.insert(0, 32);
  EXPECT_TRUE(set == whole);
}

TEST(ByteSet, EmptyRange) {
  ByteSet set;
  set.insert(8, 8);
  EXPECT_TRUE(set.empty());
}

/// Against one bit for each address.
TEST(ByteSet, Random) {
  constexpr size_t size = 64;
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    ByteSet sets[2];
    std::bitset<size> bits[2];
    for (int side = 0; side < 2; ++side)
      for (unsigned i = random() % 6; i > 0; --i) {
        int64_t begin = random() % size;
        int64_t end = begin + random() % std::min<size_t>(10, size - begin);
        sets[side].insert(begin, end);
        for (int64_t byte = begin; byte < end; ++byte)
          bits[side].set(byte);
      }
    EXPECT_EQ(sets[0].overlaps(sets[1]), (bits[0] & bits[1]).any());
    EXPECT_EQ(sets[0] == sets[1], bits[0] == bits[1]);
    EXPECT_EQ(sets[0].empty(), bits[0].none());
    sets[0].insert(sets[1]);
    ByteSet united;
    for (size_t byte = 0; byte < size; ++byte)
      if ((bits[0] | bits[1]).test(byte))
        united.insert(byte, byte + 1);
    EXPECT_TRUE(sets[0] == united);
  }
}

} // namespace
