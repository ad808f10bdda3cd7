//===- ConversionTest.cpp - Moves between layouts ---------------*- C++ -*-===//
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

struct Pair {
  Layout src, dst;
  Coords shape;

  std::string str() const {
    return src.str() + " to " + dst.str() + " over " + toString(shape);
  }
};

Layout withBases(const Layout &layout, HardwareDim dim, BasisList bases) {
  BasisList lists[kNumHardwareDims];
  for (unsigned h = 0; h < kNumHardwareDims; ++h)
    lists[h] = static_cast<HardwareDim>(h) == dim
                   ? bases
                   : layout.getBases(static_cast<HardwareDim>(h));
  return Layout(layout.getRank(), lists[0], lists[1], lists[2], lists[3]);
}

/// Another layout of the same tensor that is near `layout`, so that all kinds
/// of conversion occur.
Layout vary(const Layout &layout, Rng &rng) {
  Layout result = layout;
  auto get = [&](HardwareDim dim) { return result.getBases(dim); };
  for (unsigned step = 0, e = 1 + pick(rng, 3); step < e; ++step) {
    BasisList registers = get(HardwareDim::Register);
    BasisList lanes = get(HardwareDim::Lane);
    BasisList other = get(HardwareDim::Warp);
    switch (pick(rng, 6)) {
    case 0:
    case 1:
      std::shuffle(registers.begin(), registers.end(), rng);
      break;
    case 2: // lanes permuted
      std::shuffle(lanes.begin(), lanes.end(), rng);
      break;
    case 3: // a register and a lane bit change places
      if (!registers.empty() && !lanes.empty())
        std::swap(registers[pick(rng, registers.size())],
                  lanes[pick(rng, lanes.size())]);
      break;
    case 4: // register bits mixed
      if (registers.size() > 1)
        for (unsigned d = 0; d < layout.getRank(); ++d)
          registers[0][d] ^= registers[1][d];
      break;
    case 5:
      if (!other.empty() && !lanes.empty())
        std::swap(other[pick(rng, other.size())],
                  lanes[pick(rng, lanes.size())]);
      break;
    }
    Layout next =
        withBases(withBases(withBases(result, HardwareDim::Register, registers),
                            HardwareDim::Lane, lanes),
                  HardwareDim::Warp, other);
    // A copy among the lanes may end up as a register: allowed, but rare.
    if (!next.check())
      result = next;
  }
  return result;
}

Pair randomPair(Rng &rng) {
  RandomOptions options;
  options.laneBits = pick(rng, 4);
  options.warpBits = pick(rng, 2);
  options.blockBits = pick(rng, 2);
  options.mix = pick(rng, 2) == 0;
  options.maxTileBits = 7;
  Case c = randomCase(rng, options);
  Pair pair{c.layout, c.layout, c.shape};
  if (pick(rng, 4) != 0) {
    pair.dst = vary(c.layout, rng);
  } else {
    // An unrelated layout, maybe with another base tile.
    llvm::SmallVector<unsigned> bits;
    for (int64_t extent : c.shape) {
      unsigned b = 0;
      while (extent % (int64_t(2) << b) == 0)
        ++b;
      bits.push_back(b ? b - pick(rng, 2) : 0);
    }
    pair.dst = randomLayout(rng, bits, options);
  }
  if (pick(rng, 3) == 0)
    if (auto unrolled = pair.dst.unrollRepetitions(c.shape))
      pair.dst = *unrolled;
  if (pick(rng, 4) == 0)
    std::swap(pair.src, pair.dst);
  return pair;
}

/// For each destination register the source register that serves all threads,
/// by trying; empty if there is none for some register.
std::vector<int64_t> findRegisterMap(const Pair &pair) {
  auto src = tabulate(pair.src, pair.shape);
  auto dst = tabulate(pair.dst, pair.shape);
  std::vector<int64_t> map;
  for (size_t d = 0; d < dst[0].size(); ++d) {
    size_t s = 0;
    for (; s < src[0].size(); ++s) {
      bool serves = true;
      for (size_t t = 0; t < dst.size() && serves; ++t)
        serves = src[t][s] == dst[t][d];
      if (serves)
        break;
    }
    if (s == src[0].size())
      return {};
    map.push_back(s);
  }
  return map;
}

/// True if every destination holder finds its element in a thread of the same
/// group; threads are numbered lane fastest, `groupSize` of them a group.
bool isHeldInGroup(const Pair &pair, int64_t groupSize) {
  auto src = tabulate(pair.src, pair.shape);
  auto dst = tabulate(pair.dst, pair.shape);
  for (size_t first = 0; first < dst.size(); first += groupSize) {
    std::vector<bool> held(getNumElements(pair.shape), false);
    for (size_t t = first; t < first + groupSize; ++t)
      for (int64_t e : src[t])
        held[e] = true;
    for (size_t t = first; t < first + groupSize; ++t)
      for (int64_t e : dst[t])
        if (!held[e])
          return false;
  }
  return true;
}

/// Runs the rounds as a warp would and compares with the destination.
void simulateShuffles(const Pair &pair, llvm::ArrayRef<ShuffleRound> rounds) {
  auto src = tabulate(pair.src, pair.shape);
  auto dst = tabulate(pair.dst, pair.shape);
  int64_t numLanes = pair.dst.getSize(HardwareDim::Lane);
  for (size_t warp = 0; warp < dst.size(); warp += numLanes) {
    std::vector<std::vector<int64_t>> got(
        numLanes, std::vector<int64_t>(dst[0].size(), -1));
    int64_t lastRegister = 0;
    for (const ShuffleRound &round : rounds) {
      ASSERT_GE(round.dstRegister, lastRegister);
      lastRegister = round.dstRegister;
      for (int32_t lane = 0; lane < numLanes; ++lane) {
        int32_t from = round.laneConst;
        for (size_t i = 0; i < round.laneBases.size(); ++i)
          if ((lane >> i) % 2 != 0)
            from ^= round.laneBases[i];
        bool taken = true;
        for (size_t k = 0; k < round.predicateMasks.size(); ++k) {
          unsigned parity = 0;
          for (unsigned bit = 0; bit < 32; ++bit)
            parity ^= (unsigned(lane) & round.predicateMasks[k]) >> bit & 1;
          taken &= parity == (round.predicateValue >> k & 1);
        }
        ASSERT_EQ(round.getSourceLane(lane), from);
        ASSERT_EQ(round.isTaken(lane), taken);
        ASSERT_TRUE(from >= 0 && from < numLanes);
        if (round.staysInLane())
          ASSERT_EQ(from, lane);
        if (!taken)
          continue;
        ASSERT_EQ(got[lane][round.dstRegister], -1) << "taken twice";
        got[lane][round.dstRegister] = src[warp + from][round.srcRegister];
      }
    }
    for (int64_t lane = 0; lane < numLanes; ++lane)
      ASSERT_EQ(got[lane], dst[warp + lane]) << "lane " << lane;
  }
}

TEST(ConversionProperty, ClassifiesAndMoves) {
  std::map<ConversionKind, int> seen;
  int predicated = 0, moves = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Rng rng(seed);
    Pair pair = randomPair(rng);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + pair.str());
    ASSERT_EQ(pair.src.check(), std::nullopt);
    ASSERT_EQ(pair.dst.check(), std::nullopt);
    ConversionKind kind = classify(pair.src, pair.dst, pair.shape);
    ++seen[kind];

    bool identical =
        tabulate(pair.src, pair.shape) == tabulate(pair.dst, pair.shape);
    std::vector<int64_t> map = findRegisterMap(pair);
    auto actual = registerMap(pair.src, pair.dst, pair.shape);
    EXPECT_EQ(kind == ConversionKind::Identity, identical);
    EXPECT_EQ(kind <= ConversionKind::WithinThread, !map.empty());
    EXPECT_EQ(std::vector<int64_t>(actual.begin(), actual.end()), map);

    int64_t lanes = pair.dst.getSize(HardwareDim::Lane);
    int64_t threads = lanes * pair.dst.getSize(HardwareDim::Warp);
    EXPECT_EQ(kind == ConversionKind::ThroughCluster,
              !isHeldInGroup(pair, threads));

    auto rounds = shuffleRounds(pair.src, pair.dst, pair.shape);
    if (kind <= ConversionKind::WithinWarp) {
      EXPECT_TRUE(isHeldInGroup(pair, lanes));
      ASSERT_FALSE(rounds.empty());
    }
    if (rounds.empty())
      continue;
    ++moves;
    simulateShuffles(pair, rounds);
    if (::testing::Test::HasFatalFailure())
      return;
    predicated += !rounds.front().predicateMasks.empty();
    if (kind <= ConversionKind::WithinThread)
      for (const ShuffleRound &round : rounds)
        EXPECT_TRUE(round.staysInLane());
  }
  for (ConversionKind kind :
       {ConversionKind::Identity, ConversionKind::WithinThread,
        ConversionKind::WithinWarp, ConversionKind::ThroughShared,
        ConversionKind::ThroughCluster})
    EXPECT_GT(seen[kind], 20) << "kind " << int(kind);
  EXPECT_GT(predicated, 20);
  EXPECT_GT(moves, 100);
}

TEST(Conversion, RepetitionsAndBasesAreTheSame) {
  Layout src = blocked({128, 64}, {1, 4}, {8, 4}, {4, 1}, {1, 0});
  Layout unrolled = *src.unrollRepetitions({128, 64});
  EXPECT_NE(src, unrolled);
  EXPECT_EQ(classify(src, unrolled, {128, 64}), ConversionKind::Identity);
}

TEST(Conversion, RegistersAreRenamed) {
  Layout src(2, {{0, 1}, {1, 0}}, {{2, 0}}, {});
  Layout dst(2, {{1, 0}, {0, 1}}, {{2, 0}}, {});
  EXPECT_EQ(classify(src, dst, {4, 6}), ConversionKind::WithinThread);
  auto map = registerMap(src, dst, {4, 6});
  EXPECT_EQ(llvm::ArrayRef<int64_t>(map),
            llvm::ArrayRef<int64_t>({0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11}));
}

TEST(Conversion, CopiesInOneThreadServe) {
  // The source holds both elements in each thread, the destination only one.
  Layout src(1, {{1}}, {{0}}, {});
  Layout dst(1, {}, {{1}}, {});
  EXPECT_EQ(classify(src, dst, {2}), ConversionKind::WithinWarp);
  auto rounds = shuffleRounds(src, dst, {2});
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_TRUE(registerMap(src, dst, {2}).empty());
  // The other way, every lane needs the other one's element.
  EXPECT_EQ(classify(dst, src, {2}), ConversionKind::WithinWarp);
  EXPECT_EQ(shuffleRounds(dst, src, {2}).size(), 2u);
}

TEST(Conversion, ManyRoundsGoThroughShared) {
  // Five register bits change places with five lane bits: 32 rounds for each of
  // the 32 registers.
  BasisList low, high;
  for (int i = 0; i < 5; ++i) {
    low.push_back({1 << i});
    high.push_back({32 << i});
  }
  Layout src(1, low, high, {}), dst(1, high, low, {});
  EXPECT_EQ(shuffleRounds(src, dst, {1024}).size(), 1024u);
  EXPECT_EQ(classify(src, dst, {1024}), ConversionKind::ThroughShared);
}

TEST(Conversion, OneRoundForEachRegisterIsCheap) {
  // Lanes only change places.
  Layout src = rowMajor({64, 32}, 32, 1);
  Layout dst(2, {}, {{0, 2}, {0, 1}, {0, 4}, {0, 8}, {0, 16}}, {});
  EXPECT_EQ(shuffleRounds(src, dst, {64, 32}).size(), 64u);
  EXPECT_EQ(classify(src, dst, {64, 32}), ConversionKind::WithinWarp);
}

TEST(Conversion, QuadsExchangeAnAccumulator) {
  // From the accumulator of m16n8 to rows of 4 columns a thread: 2 rounds.
  Layout src = mmaSyncAccumulator({16, 8}, {1, 1});
  Layout dst(2, {{0, 1}, {0, 2}}, {{0, 4}, {1, 0}, {2, 0}, {4, 0}, {8, 0}}, {});
  EXPECT_EQ(classify(src, dst, {16, 8}), ConversionKind::WithinWarp);
  EXPECT_EQ(shuffleRounds(src, dst, {16, 8}).size(), 8u);
}

TEST(Conversion, ShapesThatDoNotFitAreRefused) {
  Layout a(1, {{1}}, {{2}}, {}), b(1, {{2}}, {{1}}, {});
  EXPECT_TRUE(registerMap(a, b, {6}).empty());
  EXPECT_TRUE(shuffleRounds(a, b, {6}).empty());
  EXPECT_EQ(classify(a, b, {2, 2}), ConversionKind::ThroughShared);
}

} // namespace
