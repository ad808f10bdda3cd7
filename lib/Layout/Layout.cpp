//===- Layout.cpp - Linear layouts over GF(2) -------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Layout/Layout.h"
#include "Expansion.h"
#include "Gf2.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace tile_dialect::layout {

/// More would be no layout of a thread's registers, but would overflow a packed
/// position.
static constexpr size_t kMaxBasesPerDim = 24;
static constexpr unsigned kMaxTileBits = 48;

static constexpr StringLiteral kDimNames[kNumHardwareDims] = {
    "register", "lane", "warp", "block"};

Layout::Layout(unsigned rank, BasisList reg, BasisList lane, BasisList warp,
               BasisList block)
    : rank(rank), bases{std::move(reg), std::move(lane), std::move(warp),
                        std::move(block)} {}

static void printBasis(raw_ostream &os, const Basis &basis) {
  os << '[';
  interleave(basis, os, ",");
  os << ']';
}

std::optional<std::string> Layout::check() const {
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    if (bases[dim].size() > kMaxBasesPerDim)
      return (Twine(kDimNames[dim]) + " has " + Twine(bases[dim].size()) +
              " bases, at most " + Twine(kMaxBasesPerDim) + " are allowed")
          .str();
    for (const Basis &basis : bases[dim]) {
      std::string text;
      raw_string_ostream os(text);
      os << kDimNames[dim] << " basis ";
      printBasis(os, basis);
      if (basis.size() != rank) {
        os << " has " << basis.size() << " coordinates, expected " << rank;
        return text;
      }
      if (any_of(basis, [](int32_t c) { return c < 0; })) {
        os << " has a negative coordinate";
        return text;
      }
    }
  }

  SmallVector<unsigned, 4> bits = getTileBits(*this);
  SmallVector<unsigned, 4> shifts = getShifts(bits);
  if (shifts.back() > kMaxTileBits)
    return "bases span more than 2^" + std::to_string(kMaxTileBits) +
           " elements";
  Gf2Solver solver;
  for (const BasisList &list : bases)
    for (const Basis &basis : list)
      solver.insert(packBasis(basis, shifts));
  if (solver.getRank() == shifts.back())
    return std::nullopt;

  std::string text;
  raw_string_ostream os(text);
  os << "bases reach 2^" << solver.getRank()
     << " elements, but do not fill the ";
  interleave(getBaseTile(), os, "x");
  os << " box around them";
  return text;
}

std::optional<std::string> Layout::checkShape(ArrayRef<int64_t> shape) const {
  if (shape.size() != rank)
    return "layout has rank " + std::to_string(rank) + ", but the tensor has " +
           std::to_string(shape.size());
  Coords tile = getBaseTile();
  for (unsigned d = 0; d < rank; ++d) {
    if (shape[d] <= 0)
      return "extent " + std::to_string(shape[d]) + " of dimension " +
             std::to_string(d) + " is not positive";
    if (shape[d] % tile[d] != 0)
      return "extent " + std::to_string(shape[d]) + " of dimension " +
             std::to_string(d) + " is not a multiple of the base tile's " +
             std::to_string(tile[d]);
  }
  return std::nullopt;
}

int64_t Layout::getSize(HardwareDim dim) const {
  return int64_t(1) << getBases(dim).size();
}

Coords Layout::getBaseTile() const {
  Coords tile;
  for (unsigned bits : getTileBits(*this))
    tile.push_back(int64_t(1) << bits);
  return tile;
}

Coords Layout::getRepetitions(ArrayRef<int64_t> shape) const {
  Coords reps = getBaseTile();
  for (size_t d = 0; d < reps.size(); ++d)
    reps[d] = d < shape.size() ? shape[d] / reps[d] : 1;
  return reps;
}

int64_t Layout::getNumRegisters(ArrayRef<int64_t> shape) const {
  int64_t count = getSize(HardwareDim::Register);
  for (int64_t reps : getRepetitions(shape))
    count *= reps;
  return count;
}

/// XORs into `coords` the bases of the bits that are set in `index`.
static void xorBases(Coords &coords, const BasisList &bases, uint64_t index) {
  for (size_t i = 0; i < bases.size(); ++i)
    if ((index >> i) & 1)
      for (size_t d = 0; d < coords.size(); ++d)
        coords[d] ^= bases[i][d];
}

Coords Layout::getCoords(const Position &pos, ArrayRef<int64_t> shape) const {
  Coords coords(rank, 0);
  size_t regBits = bases[0].size();
  xorBases(coords, bases[0], pos.reg);
  xorBases(coords, bases[1], pos.lane);
  xorBases(coords, bases[2], pos.warp);
  xorBases(coords, bases[3], pos.block);
  Coords tile = getBaseTile();
  int64_t rep = pos.reg >> regBits;
  for (unsigned d = rank; d-- > 0;) {
    int64_t reps =
        d < shape.size() ? std::max<int64_t>(shape[d] / tile[d], 1) : 1;
    coords[d] += rep % reps * tile[d];
    rep /= reps;
  }
  return coords;
}

SmallVector<Coords> Layout::getRegisterCoords(ArrayRef<int64_t> shape) const {
  Coords tile = getBaseTile();
  Coords reps = getRepetitions(shape);
  SmallVector<Coords> inTile(1, Coords(rank, 0));
  for (const Basis &basis : bases[0]) {
    for (size_t i = 0, e = inTile.size(); i < e; ++i) {
      Coords coords = inTile[i];
      for (unsigned d = 0; d < rank; ++d)
        coords[d] ^= basis[d];
      inTile.push_back(std::move(coords));
    }
  }
  SmallVector<Coords> result;
  result.reserve(getNumRegisters(shape));
  int64_t numReps = 1;
  for (int64_t count : reps)
    numReps *= count;
  Coords origin(rank, 0);
  for (int64_t rep = 0; rep < numReps; ++rep) {
    for (const Coords &offset : inTile) {
      result.push_back(origin);
      for (unsigned d = 0; d < rank; ++d)
        result.back()[d] += offset[d];
    }
    for (unsigned d = rank; d-- > 0;) {
      origin[d] += tile[d];
      if (origin[d] < reps[d] * tile[d])
        break;
      origin[d] = 0;
    }
  }
  return result;
}

namespace {
/// An element split into the repetition and the packed place in the base tile.
struct TilePosition {
  int64_t rep = 0;
  uint64_t packed = 0;
};
} // namespace

static TilePosition splitCoords(ArrayRef<int64_t> coords,
                                ArrayRef<int64_t> shape,
                                ArrayRef<unsigned> bits,
                                ArrayRef<unsigned> shifts) {
  TilePosition result;
  for (size_t d = 0; d < bits.size() && d < coords.size(); ++d) {
    int64_t tile = int64_t(1) << bits[d];
    int64_t extent = d < shape.size() ? shape[d] : tile;
    result.rep = result.rep * (extent >> bits[d]) + (coords[d] >> bits[d]);
    result.packed |= static_cast<uint64_t>(coords[d] & (tile - 1)) << shifts[d];
  }
  return result;
}

std::optional<int64_t> Layout::getRegisterOf(ArrayRef<int64_t> coords,
                                             ArrayRef<int64_t> shape) const {
  SmallVector<unsigned, 4> bits = getTileBits(*this);
  SmallVector<unsigned, 4> shifts = getShifts(bits);
  Gf2Solver solver;
  for (size_t i = 0; i < bases[0].size(); ++i)
    solver.insert(packBasis(bases[0][i], shifts), uint64_t(1) << i);
  TilePosition place = splitCoords(coords, shape, bits, shifts);
  std::optional<uint64_t> reg = solver.solve(place.packed);
  if (!reg)
    return std::nullopt;
  return (place.rep << bases[0].size()) + static_cast<int64_t>(*reg);
}

/// Calls `insert(dim, bit, packed basis)` for all bases, those of registers
/// first: a higher hardware dimension is used only where the lower ones do not
/// reach.
template <typename Fn>
static void forEachBasis(const Layout &layout, ArrayRef<unsigned> shifts,
                         Fn insert) {
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    const BasisList &list = layout.getBases(static_cast<HardwareDim>(dim));
    for (unsigned i = 0; i < list.size(); ++i)
      insert(dim, i, packBasis(list[i], shifts));
  }
}

Position Layout::getPositionOf(ArrayRef<int64_t> coords,
                               ArrayRef<int64_t> shape) const {
  SmallVector<unsigned, 4> bits = getTileBits(*this);
  SmallVector<unsigned, 4> shifts = getShifts(bits);
  // One tag bit for each basis that is used: at most kMaxTileBits of them.
  Gf2Solver solver;
  SmallVector<std::pair<unsigned, unsigned>, 16> used;
  forEachBasis(*this, shifts, [&](unsigned dim, unsigned i, uint64_t packed) {
    if (solver.insert(packed, uint64_t(1) << used.size()))
      used.push_back({dim, i});
  });
  TilePosition place = splitCoords(coords, shape, bits, shifts);
  uint64_t tag = solver.solve(place.packed).value_or(0);
  int64_t index[kNumHardwareDims] = {0, 0, 0, 0};
  for (; tag != 0; tag &= tag - 1) {
    auto [dim, bit] = used[countr_zero(tag)];
    index[dim] |= int64_t(1) << bit;
  }
  Position pos;
  pos.reg = (place.rep << bases[0].size()) + index[0];
  pos.lane = static_cast<int32_t>(index[1]);
  pos.warp = static_cast<int32_t>(index[2]);
  pos.block = static_cast<int32_t>(index[3]);
  return pos;
}

uint32_t Layout::getFreeMask(HardwareDim dim) const {
  SmallVector<unsigned, 4> shifts = getShifts(getTileBits(*this));
  Gf2Solver solver;
  uint32_t mask = 0;
  forEachBasis(*this, shifts, [&](unsigned d, unsigned i, uint64_t packed) {
    if (!solver.insert(packed) && d == static_cast<unsigned>(dim))
      mask |= uint32_t(1) << i;
  });
  return mask;
}

int64_t Layout::getContiguousPerThread(unsigned dim,
                                       ArrayRef<int64_t> shape) const {
  if (dim >= rank)
    return 1;
  unsigned k = 0;
  auto isUnit = [&](const Basis &basis, unsigned bit) {
    for (unsigned d = 0; d < rank; ++d)
      if (basis[d] != (d == dim ? int32_t(1) << bit : 0))
        return false;
    return true;
  };
  while (k < bases[0].size() && isUnit(bases[0][k], k))
    ++k;
  // Another basis that changes one of the low bits would permute the registers
  // of a group in some threads.
  uint32_t others = 0;
  for (unsigned h = 0; h < kNumHardwareDims; ++h)
    for (size_t i = h == 0 ? k : 0; i < bases[h].size(); ++i)
      others |= static_cast<uint32_t>(bases[h][i][dim]);
  if (others != 0)
    k = std::min<unsigned>(k, countr_zero(others));
  int64_t count = int64_t(1) << k;

  // Repetitions continue the run if a thread holds whole rows of the base tile
  // and nothing else, and `dim` repeats fastest.
  if (k != bases[0].size() || getBaseTile()[dim] != count)
    return count;
  Coords reps = getRepetitions(shape);
  for (unsigned d = dim + 1; d < rank; ++d)
    if (reps[d] != 1)
      return count;
  return count * (reps[dim] & -reps[dim]);
}

SmallVector<unsigned> Layout::getOrder() const {
  SmallVector<unsigned> order;
  for (const BasisList &list : bases)
    for (const Basis &basis : list)
      for (unsigned d = rank; d-- > 0;)
        if (basis[d] != 0 && !is_contained(order, d))
          order.push_back(d);
  for (unsigned d = rank; d-- > 0;)
    if (!is_contained(order, d))
      order.push_back(d);
  return order;
}

bool Layout::operator==(const Layout &other) const {
  return rank == other.rank && std::equal(std::begin(bases), std::end(bases),
                                          std::begin(other.bases));
}

std::string Layout::str() const {
  std::string text;
  raw_string_ostream os(text);
  os << '{';
  for (unsigned dim = 0; dim < kNumHardwareDims; ++dim) {
    if (dim == 3 && bases[dim].empty())
      continue;
    if (dim != 0)
      os << ", ";
    os << kDimNames[dim] << " = [";
    interleave(
        bases[dim], os, [&](const Basis &basis) { printBasis(os, basis); },
        ",");
    os << ']';
  }
  os << '}';
  return text;
}

} // namespace tile_dialect::layout
