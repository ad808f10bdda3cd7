//===- Conversion.cpp - The cheapest move between two layouts ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "Gf2.h"
#include "TileDialect/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace llvm;

namespace tile_dialect::layout {

/// More shuffles than this for registers that need several rounds cost more
/// than a pass through shared memory (two barriers and about 30 cycles of
/// latency).
static constexpr int64_t kMaxShuffles = 32;

/// Tags of solutions: register bits below, lane bits from here on.
static constexpr unsigned kLaneTagShift = 56;

static void insertBases(Gf2Solver &solver, ArrayRef<uint64_t> bases,
                        unsigned tagShift = 0) {
  for (auto [i, basis] : enumerate(bases))
    solver.insert(basis, uint64_t(1) << std::min<uint64_t>(tagShift + i, 63));
}

static unsigned getNumBits(const ExpandedPair &pair, HardwareDim dim) {
  return std::max(pair.src.get(dim).size(), pair.dst.get(dim).size());
}

static bool haveEqualBases(const ExpandedPair &pair, HardwareDim dim) {
  for (unsigned i = 0, e = getNumBits(pair, dim); i < e; ++i)
    if (pair.src.get(dim, i) != pair.dst.get(dim, i))
      return false;
  return true;
}

static bool spansAll(const Gf2Solver &solver, ArrayRef<uint64_t> vectors) {
  return all_of(vectors, [&](uint64_t v) { return solver.spans(v); });
}

//===----------------------------------------------------------------------===//
// Within a warp
//===----------------------------------------------------------------------===//

namespace {
/// Where a destination holder finds its element in the source, as linear maps:
/// source = XOR of registerSource over its register bits and of laneSource over
/// its lane bits.
struct WarpMove {
  SmallVector<uint64_t, 12> registerSource; // tags
  SmallVector<uint64_t, 6> laneSource;      // tags
  /// The source registers that lanes of one destination register need, relative
  /// to that of lane 0, and for each the lanes that need it.
  SmallVector<uint64_t> registerOffsets;
  SmallVector<uint32_t> predicateValues;
  SmallVector<uint32_t, 5> predicateMasks;
};
} // namespace

static uint64_t getRegisterTag(uint64_t tag) {
  return tag & ((uint64_t(1) << kLaneTagShift) - 1);
}
static int32_t getLaneTag(uint64_t tag) {
  return static_cast<int32_t>(tag >> kLaneTagShift);
}

/// Enumerates the source registers that the lanes need. `laneSource` maps lane
/// bits to register bits linearly; its image has a basis in which each vector
/// has a bit (its pivot) of its own, so the pivots tell the lanes apart.
static void computePredicates(WarpMove &move) {
  SmallVector<uint64_t, 6> image;
  SmallVector<uint64_t, 6> pivots;
  for (uint64_t tag : move.laneSource) {
    uint64_t vector = getRegisterTag(tag);
    for (auto [row, pivot] : zip(image, pivots))
      if (vector & pivot)
        vector ^= row;
    if (vector == 0)
      continue;
    uint64_t pivot = vector & -vector;
    for (uint64_t &row : image)
      if (row & pivot)
        row ^= vector;
    image.push_back(vector);
    pivots.push_back(pivot);
  }
  for (uint64_t pivot : pivots) {
    uint32_t mask = 0;
    for (auto [i, tag] : enumerate(move.laneSource))
      if (tag & pivot)
        mask |= uint32_t(1) << i;
    move.predicateMasks.push_back(mask);
  }
  move.registerOffsets.push_back(0);
  move.predicateValues.push_back(0);
  for (auto [k, row] : enumerate(image)) {
    for (size_t i = 0, e = move.registerOffsets.size(); i < e; ++i) {
      move.registerOffsets.push_back(move.registerOffsets[i] ^ row);
      move.predicateValues.push_back(move.predicateValues[i] | (1u << k));
    }
  }
}

static std::optional<WarpMove> getWarpMove(const ExpandedPair &pair) {
  if (!haveEqualBases(pair, HardwareDim::Warp) ||
      !haveEqualBases(pair, HardwareDim::Block))
    return std::nullopt;
  ArrayRef<uint64_t> registers = pair.src.get(HardwareDim::Register);
  ArrayRef<uint64_t> lanes = pair.src.get(HardwareDim::Lane);
  // A destination register is fetched from the own lane if that is possible.
  // But what differs from lane to lane should be another lane rather than
  // another register, for that needs one more round.
  Gf2Solver registersFirst, lanesFirst;
  insertBases(registersFirst, registers);
  insertBases(registersFirst, lanes, kLaneTagShift);
  insertBases(lanesFirst, lanes, kLaneTagShift);
  insertBases(lanesFirst, registers);

  WarpMove move;
  for (uint64_t basis : pair.dst.get(HardwareDim::Register)) {
    std::optional<uint64_t> tag = registersFirst.solve(basis);
    if (!tag)
      return std::nullopt;
    move.registerSource.push_back(*tag);
  }
  for (unsigned i = 0, e = getNumBits(pair, HardwareDim::Lane); i < e; ++i) {
    uint64_t basis = pair.dst.get(HardwareDim::Lane, i);
    if (basis == pair.src.get(HardwareDim::Lane, i)) {
      move.laneSource.push_back(uint64_t(1) << (kLaneTagShift + i));
      continue;
    }
    std::optional<uint64_t> tag = lanesFirst.solve(basis);
    if (!tag)
      return std::nullopt;
    move.laneSource.push_back(*tag);
  }
  computePredicates(move);
  return move;
}

bool ShuffleRound::staysInLane() const {
  if (laneConst != 0)
    return false;
  for (auto [i, basis] : enumerate(laneBases))
    if (basis != int32_t(1) << i)
      return false;
  return true;
}

int32_t ShuffleRound::getSourceLane(int32_t lane) const {
  int32_t source = laneConst;
  for (auto [i, basis] : enumerate(laneBases))
    if ((lane >> i) & 1)
      source ^= basis;
  return source;
}

bool ShuffleRound::isTaken(int32_t lane) const {
  for (auto [k, mask] : enumerate(predicateMasks))
    if ((popcount(static_cast<uint32_t>(lane) & mask) & 1u) !=
        ((predicateValue >> k) & 1u))
      return false;
  return true;
}

SmallVector<ShuffleRound> shuffleRounds(const Layout &src, const Layout &dst,
                                        ArrayRef<int64_t> shape) {
  if (src.checkShape(shape) || dst.checkShape(shape))
    return {};
  ExpandedPair pair = expand(src, dst, shape);
  std::optional<WarpMove> move = getWarpMove(pair);
  if (!move)
    return {};

  size_t numRounds = move->registerOffsets.size();
  SmallVector<ShuffleRound> rounds(dst.getNumRegisters(shape) * numRounds);
  SmallVector<int32_t, 5> laneBases;
  for (uint64_t tag : move->laneSource)
    laneBases.push_back(getLaneTag(tag));

  // Destination register and the tag of its source, for one common tile.
  SmallVector<std::pair<int64_t, uint64_t>> inTile(1, {0, 0});
  for (auto [weight, tag] : zip(pair.dst.weights, move->registerSource))
    for (size_t i = 0, e = inTile.size(); i < e; ++i)
      inTile.push_back({inTile[i].first + weight, inTile[i].second ^ tag});
  for (auto [srcFirst, dstFirst] :
       zip(pair.src.outerRegisters, pair.dst.outerRegisters)) {
    for (auto [reg, tag] : inTile) {
      for (size_t r = 0; r < numRounds; ++r) {
        ShuffleRound &round = rounds[(dstFirst + reg) * numRounds + r];
        round.dstRegister = dstFirst + reg;
        round.srcRegister =
            srcFirst + pair.src.getRegister(getRegisterTag(tag) ^
                                            move->registerOffsets[r]);
        round.laneBases = laneBases;
        round.laneConst = getLaneTag(tag);
        round.predicateMasks = move->predicateMasks;
        round.predicateValue = move->predicateValues[r];
      }
    }
  }
  return rounds;
}

//===----------------------------------------------------------------------===//
// Classification and renaming
//===----------------------------------------------------------------------===//

/// True if each destination holder finds its element in the block it is in.
static bool staysInBlock(const ExpandedPair &pair) {
  Gf2Solver solver;
  for (HardwareDim dim :
       {HardwareDim::Register, HardwareDim::Lane, HardwareDim::Warp})
    insertBases(solver, pair.src.get(dim));
  for (HardwareDim dim :
       {HardwareDim::Register, HardwareDim::Lane, HardwareDim::Warp})
    if (!spansAll(solver, pair.dst.get(dim)))
      return false;
  for (unsigned i = 0, e = getNumBits(pair, HardwareDim::Block); i < e; ++i)
    if (!solver.spans(pair.src.get(HardwareDim::Block, i) ^
                      pair.dst.get(HardwareDim::Block, i)))
      return false;
  return true;
}

/// True if a thread finds all its elements in its own registers, the same ones
/// in every thread.
static bool staysInThread(const ExpandedPair &pair) {
  for (HardwareDim dim :
       {HardwareDim::Lane, HardwareDim::Warp, HardwareDim::Block})
    if (!haveEqualBases(pair, dim))
      return false;
  Gf2Solver solver;
  insertBases(solver, pair.src.get(HardwareDim::Register));
  return spansAll(solver, pair.dst.get(HardwareDim::Register));
}

ConversionKind classify(const Layout &src, const Layout &dst,
                        ArrayRef<int64_t> shape) {
  if (src.isEquivalent(dst, shape))
    return ConversionKind::Identity;
  if (src.checkShape(shape) || dst.checkShape(shape))
    return ConversionKind::ThroughShared;
  ExpandedPair pair = expand(src, dst, shape);
  if (staysInThread(pair))
    return ConversionKind::WithinThread;
  if (!staysInBlock(pair))
    return ConversionKind::ThroughCluster;
  if (std::optional<WarpMove> move = getWarpMove(pair)) {
    int64_t rounds = move->registerOffsets.size();
    if (rounds == 1 || rounds * dst.getNumRegisters(shape) <= kMaxShuffles)
      return ConversionKind::WithinWarp;
  }
  return ConversionKind::ThroughShared;
}

SmallVector<int64_t> registerMap(const Layout &src, const Layout &dst,
                                 ArrayRef<int64_t> shape) {
  if (src.checkShape(shape) || dst.checkShape(shape))
    return {};
  ExpandedPair pair = expand(src, dst, shape);
  if (!staysInThread(pair))
    return {};
  Gf2Solver solver;
  insertBases(solver, pair.src.get(HardwareDim::Register));
  SmallVector<std::pair<int64_t, uint64_t>> inTile(1, {0, 0});
  for (auto [weight, basis] :
       zip(pair.dst.weights, pair.dst.get(HardwareDim::Register))) {
    uint64_t tag = *solver.solve(basis);
    for (size_t i = 0, e = inTile.size(); i < e; ++i)
      inTile.push_back({inTile[i].first + weight, inTile[i].second ^ tag});
  }
  SmallVector<int64_t> map(dst.getNumRegisters(shape), 0);
  for (auto [srcFirst, dstFirst] :
       zip(pair.src.outerRegisters, pair.dst.outerRegisters))
    for (auto [reg, tag] : inTile)
      map[dstFirst + reg] = srcFirst + pair.src.getRegister(tag);
  return map;
}

} // namespace tile_dialect::layout
