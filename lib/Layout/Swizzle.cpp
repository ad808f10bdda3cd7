//===- Swizzle.cpp - Shared memory without bank conflicts -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory serves 128 bytes, a word from each of 32 banks, in a wavefront.
// Lanes of one wavefront conflict if they touch different words of a bank.
//
// Where row-major indices are linear over GF(2) (all extents but the slowest
// are powers of two), so are the addresses, and the lanes of a wavefront span a
// vector space V. They do not conflict if the map from V to the bank is
// injective. The swizzle may add to the bank bits any linear function of the
// index bits above 128 bytes; `solveLinear` chooses it one index bit at a time
// such that the spaces of the writes and of the reads stay injective. The
// result holds for all registers and warps, whose bases only XOR a constant.
//
// For other extents the index is no linear function, and a few patterns of one
// term are tried on samples.
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include "Gf2.h"
#include "TileDialect/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace tile_dialect::layout {

/// Log2 of the bytes of a wavefront, a bank's word and the widest access.
static constexpr unsigned kWavefrontLog2 = 7;
static constexpr unsigned kWordLog2 = 2;
static constexpr unsigned kMaxAccessLog2 = 4;

static unsigned getElementLog2(unsigned elementBits) {
  unsigned bytes = std::max(1u, (elementBits + 7) / 8);
  return std::min(Log2_32_Ceil(bytes), kMaxAccessLog2);
}

/// Log2 of the elements of a word, zero if they are as large.
static unsigned getWordBits(unsigned elementLog2) {
  return kWordLog2 - std::min(elementLog2, kWordLog2);
}

static int64_t applyTerms(const SharedSwizzle &swizzle, int64_t index) {
  int64_t flips = 0;
  for (const SharedSwizzle::Term &term : swizzle.terms)
    flips ^= (index >> term.shift) & term.mask;
  return index ^ (flips << swizzle.chunkBits);
}

static int64_t getIndex(ArrayRef<unsigned> order, ArrayRef<int64_t> coords,
                        ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (unsigned d : reverse(order))
    index = index * shape[d] + coords[d];
  return index;
}

int64_t swizzledOffset(const SharedSwizzle &swizzle, ArrayRef<int64_t> coords,
                       ArrayRef<int64_t> shape) {
  return applyTerms(swizzle, getIndex(swizzle.order, coords, shape));
}

int64_t swizzledBufferElements(const SharedSwizzle &swizzle,
                               ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  uint32_t masks = 0;
  for (const SharedSwizzle::Term &term : swizzle.terms)
    masks |= term.mask;
  return alignTo(count, uint64_t(1) << (swizzle.chunkBits + bit_width(masks)));
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// Wavefronts of one instruction in which lane i accesses `1 << accessLog2`
/// bytes at byte address bytes[i].
static int64_t countForInstruction(ArrayRef<int64_t> bytes,
                                   unsigned accessLog2) {
  unsigned unitLog2 = std::max(accessLog2, kWordLog2);
  size_t groups = size_t(1) << (kWavefrontLog2 - unitLog2);
  int64_t wavefronts = 0;
  for (size_t first = 0; first < bytes.size(); first += groups) {
    ArrayRef<int64_t> phase = bytes.slice(first).take_front(groups);
    SmallVector<int64_t, 32> units;
    int64_t perGroup[32] = {};
    int64_t most = 1;
    for (int64_t address : phase) {
      int64_t unit = address >> unitLog2;
      if (is_contained(units, unit))
        continue;
      units.push_back(unit);
      most = std::max(most, ++perGroup[unit & (groups - 1)]);
    }
    wavefronts += most;
  }
  return wavefronts;
}

/// Row-major index that each lane of `warp` accesses for `reg`.
static void getLaneIndices(const Layout &layout, ArrayRef<unsigned> order,
                           ArrayRef<int64_t> shape, int64_t reg, int32_t warp,
                           SmallVectorImpl<int64_t> &indices) {
  indices.clear();
  int64_t numLanes = layout.getSize(HardwareDim::Lane);
  for (int64_t lane = 0; lane < numLanes; ++lane)
    indices.push_back(getIndex(
        order,
        layout.getCoords({reg, static_cast<int32_t>(lane), warp, 0}, shape),
        shape));
}

int64_t countWavefronts(const SharedSwizzle &swizzle, const Layout &layout,
                        ArrayRef<int64_t> shape, unsigned elementBits,
                        int64_t vecElements, int32_t warp) {
  unsigned elementLog2 = getElementLog2(elementBits);
  unsigned accessLog2 = elementLog2 + Log2_64(vecElements);
  SmallVector<int64_t, 32> bytes;
  int64_t wavefronts = 0;
  for (int64_t reg = 0, e = layout.getNumRegisters(shape); reg < e;
       reg += vecElements) {
    getLaneIndices(layout, swizzle.order, shape, reg, warp, bytes);
    for (int64_t &address : bytes)
      address = applyTerms(swizzle, address) << elementLog2;
    wavefronts += countForInstruction(bytes, accessLog2);
  }
  return wavefronts;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
/// What one side of a conversion, its writes or its reads, does to the buffer.
struct Side {
  const Layout *layout;
  int64_t elements = 1; // of an access
  unsigned accessLog2 = 0;
  int64_t instructions = 1;
  /// Wavefronts without any conflict.
  int64_t ideal = 1;

  Side(const Layout &layout, ArrayRef<int64_t> shape, unsigned fastest,
       unsigned elementLog2, unsigned chunkBits)
      : layout(&layout) {
    elements = std::min(layout.getContiguousPerThread(fastest, shape),
                        int64_t(1) << chunkBits);
    elements = std::min(elements, int64_t(1) << (kMaxAccessLog2 - elementLog2));
    accessLog2 = elementLog2 + Log2_64(elements);
    instructions =
        std::max<int64_t>(layout.getNumRegisters(shape) / elements, 1);
    unsigned laneBits = layout.getBases(HardwareDim::Lane).size();
    ideal = instructions << (laneBits - std::min(laneBits, getPhaseBits()));
  }

  /// Log2 of the lanes that one wavefront can serve.
  unsigned getPhaseBits() const {
    return kWavefrontLog2 - std::max(accessLog2, kWordLog2);
  }
};

/// What a candidate costs; the lowest is best.
struct Cost {
  int64_t wavefronts = 0;
  int64_t instructions = 0;

  bool operator<(const Cost &other) const {
    return std::pair(wavefronts, instructions) <
           std::pair(other.wavefronts, other.instructions);
  }
};

/// The linear problem of one side.
struct LinearSide {
  /// The space of the lanes of one wavefront, one vector for each leading bit.
  SmallVector<uint64_t, 5> vectors;
  /// What the bank sees of the vectors whose leading bits are done.
  Gf2Solver banks;
  int64_t weight;
};
} // namespace

/// The vectors of a wavefront's lanes as row-major indices, without the bits
/// inside a word, reduced to different leading bits, lowest first.
static SmallVector<uint64_t, 5> getWavefrontSpace(const Side &side,
                                                  ArrayRef<unsigned> order,
                                                  ArrayRef<int64_t> shape,
                                                  unsigned wordBits) {
  SmallVector<uint64_t, 5> vectors;
  ArrayRef<Basis> lanes = side.layout->getBases(HardwareDim::Lane);
  for (const Basis &basis : lanes.take_front(side.getPhaseBits())) {
    Coords coords(basis.begin(), basis.end());
    uint64_t vector = getIndex(order, coords, shape);
    vector = vector >> wordBits << wordBits;
    // `vectors` is sorted; go from the highest leading bit down.
    for (uint64_t other : reverse(vectors))
      if (vector & bit_floor(other))
        vector ^= other;
    if (vector == 0)
      continue;
    vectors.insert(llvm::upper_bound(vectors, vector), vector);
  }
  return vectors;
}

/// Adds to `terms` that index bit `from` flips slot bits `slots`.
static void addTerms(SmallVectorImpl<SharedSwizzle::Term> &terms, unsigned from,
                     uint32_t slots) {
  for (; slots != 0; slots &= slots - 1) {
    unsigned slot = countr_zero(slots);
    auto *term = find_if(terms, [&](const SharedSwizzle::Term &t) {
      return t.shift == from - slot;
    });
    if (term == terms.end())
      terms.push_back({from - slot, uint32_t(1) << slot});
    else
      term->mask |= uint32_t(1) << slot;
  }
}

/// How many terms `terms` would have with `slots` flipped by `from` as well.
static size_t countTermsWith(ArrayRef<SharedSwizzle::Term> terms, unsigned from,
                             uint32_t slots) {
  SmallVector<SharedSwizzle::Term, 4> extended(terms.begin(), terms.end());
  addTerms(extended, from, slots);
  return extended.size();
}

/// Chooses which slot bits index bit `bit` flips, such that the vectors with
/// that leading bit reach a new bank on as many sides as possible.
static uint32_t chooseSlots(ArrayRef<LinearSide> sides, unsigned bit,
                            unsigned numSlotBits, const SharedSwizzle &swizzle,
                            uint64_t bankMask) {
  uint32_t best = 0;
  int64_t bestGain = -1;
  std::pair<size_t, int> bestSize;
  for (uint32_t slots = 0; slots < (uint32_t(1) << numSlotBits); ++slots) {
    int64_t gain = 0;
    for (const LinearSide &side : sides) {
      for (uint64_t vector : side.vectors) {
        if (bit_width(vector) != static_cast<int>(bit) + 1)
          continue;
        uint64_t bank = applyTerms(swizzle, vector) ^
                        (uint64_t(slots) << swizzle.chunkBits);
        if (!side.banks.spans(bank & bankMask))
          gain += side.weight;
      }
    }
    std::pair<size_t, int> size(countTermsWith(swizzle.terms, bit, slots),
                                popcount(slots));
    if (gain > bestGain || (gain == bestGain && size < bestSize)) {
      best = slots;
      bestGain = gain;
      bestSize = size;
    }
  }
  return best;
}

/// Sets the terms of `swizzle` and returns the wavefronts.
static int64_t solveLinear(SharedSwizzle &swizzle, ArrayRef<Side> sides,
                           ArrayRef<int64_t> shape, unsigned elementLog2) {
  unsigned bankEnd = kWavefrontLog2 - elementLog2;
  unsigned wordBits = getWordBits(elementLog2);
  uint64_t bankMask = (uint64_t(1) << bankEnd) - 1;
  SmallVector<LinearSide, 2> linear;
  for (const Side &side : sides) {
    LinearSide l;
    l.weight = side.ideal;
    l.vectors = getWavefrontSpace(side, swizzle.order, shape, wordBits);
    linear.push_back(std::move(l));
  }

  auto finish = [&](unsigned bit) {
    for (LinearSide &side : linear)
      for (uint64_t vector : side.vectors)
        if (bit_width(vector) == static_cast<int>(bit) + 1)
          side.banks.insert(static_cast<uint64_t>(applyTerms(swizzle, vector)) &
                            bankMask);
  };
  for (unsigned bit = 0; bit < bankEnd; ++bit)
    finish(bit);
  for (unsigned bit = bankEnd; bit < 63; ++bit) {
    bool leads = any_of(linear, [&](const LinearSide &side) {
      return any_of(side.vectors, [&](uint64_t vector) {
        return bit_width(vector) == static_cast<int>(bit) + 1;
      });
    });
    if (!leads)
      continue;
    addTerms(swizzle.terms, bit,
             chooseSlots(linear, bit, bankEnd - swizzle.chunkBits, swizzle,
                         bankMask));
    finish(bit);
  }

  int64_t wavefronts = 0;
  for (const LinearSide &side : linear)
    wavefronts += side.weight << (side.vectors.size() - side.banks.getRank());
  return wavefronts;
}

/// Tries all swizzles of one term; keeps the first of the best.
static int64_t searchOneTerm(SharedSwizzle &swizzle, ArrayRef<Side> sides,
                             ArrayRef<int64_t> shape, unsigned elementLog2) {
  // Registers and warps differ; a few stand for all.
  struct Sample {
    SmallVector<int64_t, 32> indices;
    const Side *side;
  };
  SmallVector<Sample, 8> samples;
  for (const Side &side : sides) {
    int32_t lastWarp = side.layout->getSize(HardwareDim::Warp) - 1;
    for (int64_t instruction :
         {int64_t(0), side.instructions / 3, side.instructions * 2 / 3}) {
      for (int32_t warp : {0, lastWarp}) {
        samples.push_back({{}, &side});
        getLaneIndices(*side.layout, swizzle.order, shape,
                       instruction * side.elements, warp,
                       samples.back().indices);
      }
    }
  }
  int64_t samplesPerSide = samples.size() / sides.size();
  auto evaluate = [&] {
    int64_t wavefronts = 0;
    SmallVector<int64_t, 32> bytes;
    for (const Sample &sample : samples) {
      bytes.clear();
      for (int64_t index : sample.indices)
        bytes.push_back(applyTerms(swizzle, index) << elementLog2);
      wavefronts += countForInstruction(bytes, sample.side->accessLog2) *
                    sample.side->instructions;
    }
    return divideCeil(wavefronts, samplesPerSide);
  };

  int64_t ideal = 0, total = 1;
  for (const Side &side : sides)
    ideal += side.ideal;
  for (int64_t extent : shape)
    total *= extent;
  int64_t best = evaluate();
  SmallVector<SharedSwizzle::Term, 2> bestTerms;
  unsigned maxBits = kWavefrontLog2 - elementLog2 - swizzle.chunkBits;
  for (unsigned bits = maxBits; bits > 0 && best > ideal; --bits) {
    for (unsigned shift = swizzle.chunkBits + bits;
         (total - 1) >> shift != 0 && best > ideal; ++shift) {
      swizzle.terms.assign({{shift, (uint32_t(1) << bits) - 1}});
      int64_t wavefronts = evaluate();
      if (wavefronts < best) {
        best = wavefronts;
        bestTerms = swizzle.terms;
      }
    }
  }
  swizzle.terms = std::move(bestTerms);
  return best;
}

static bool isLinear(ArrayRef<unsigned> order, ArrayRef<int64_t> shape) {
  return order.empty() || all_of(order.drop_back(), [&](unsigned d) {
           return isPowerOf2_64(static_cast<uint64_t>(shape[d]));
         });
}

SharedSwizzle chooseSwizzle(const Layout &src, const Layout &dst,
                            ArrayRef<int64_t> shape, unsigned elementBits) {
  unsigned elementLog2 = getElementLog2(elementBits);
  SharedSwizzle best;
  Cost bestCost;
  bool found = false;
  SmallVector<SmallVector<unsigned>, 2> orders = {src.getOrder()};
  if (dst.getOrder() != orders.front())
    orders.push_back(dst.getOrder());
  // A linear order is solved exactly; it wins a tie with one that is sampled.
  if (orders.size() == 2 && !isLinear(orders[0], shape) &&
      isLinear(orders[1], shape))
    std::swap(orders[0], orders[1]);
  for (const SmallVector<unsigned> &order : orders) {
    unsigned fastest = order.empty() ? 0 : order.front();
    // Chunks below a word cannot change a bank, those above the widest access
    // only take freedom away.
    unsigned lowest = getWordBits(elementLog2);
    unsigned highest = kMaxAccessLog2 - elementLog2;
    int64_t widest = std::max(src.getContiguousPerThread(fastest, shape),
                              dst.getContiguousPerThread(fastest, shape));
    highest = std::max(lowest, std::min<unsigned>(highest, Log2_64(widest)));
    for (unsigned chunkBits = highest + 1; chunkBits-- > lowest;) {
      SharedSwizzle swizzle;
      swizzle.order.assign(order.begin(), order.end());
      swizzle.chunkBits = chunkBits;
      Side sides[] = {Side(src, shape, fastest, elementLog2, chunkBits),
                      Side(dst, shape, fastest, elementLog2, chunkBits)};
      swizzle.writeElements = sides[0].elements;
      swizzle.readElements = sides[1].elements;
      swizzle.vecElements =
          std::min(swizzle.writeElements, swizzle.readElements);
      Cost cost;
      cost.wavefronts = isLinear(order, shape)
                            ? solveLinear(swizzle, sides, shape, elementLog2)
                            : searchOneTerm(swizzle, sides, shape, elementLog2);
      cost.instructions = sides[0].instructions + sides[1].instructions;
      if (!found || cost < bestCost) {
        found = true;
        best = std::move(swizzle);
        bestCost = cost;
      }
    }
  }
  return best;
}

} // namespace tile_dialect::layout
