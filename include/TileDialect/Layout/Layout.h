//===- Layout.h - Linear layouts over GF(2) ---------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout says which element of a tensor each register of each lane of each
// warp of each block holds. It is a linear map over GF(2): bit i of a hardware
// index contributes its basis vector, and contributions are XORed:
//
//   element(reg, lane, warp, block) = XOR of the bases of all set bits
//
// The bases span a box of power-of-two extents, the *base tile*. A tensor's
// extents are any multiples of it; the repetitions, in row-major order of the
// repetition index (last dimension fastest), add registers:
//
//   register = repetition * registersPerTile + in-tile register
//
// A zero basis is a copy: the two holders that differ in that bit hold the same
// element. This file knows neither MLIR attributes nor any vendor.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LAYOUT_LAYOUT_H
#define TILEDIALECT_LAYOUT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tile_dialect::layout {

/// The four hardware indices a layout maps from, in the order in which they
/// are printed.
enum class HardwareDim : unsigned {
  Register = 0,
  Lane = 1,
  Warp = 2,
  Block = 3
};
inline constexpr unsigned kNumHardwareDims = 4;

/// One basis vector: a coordinate for each tensor dimension.
using Basis = llvm::SmallVector<int32_t, 3>;
using BasisList = llvm::SmallVector<Basis, 6>;
/// A tensor coordinate or a tensor shape.
using Coords = llvm::SmallVector<int64_t, 4>;

/// A hardware position.
struct Position {
  int64_t reg = 0;
  int32_t lane = 0;
  int32_t warp = 0;
  int32_t block = 0;
};

class Layout {
public:
  Layout() = default;
  /// Bases are taken as they are; use `check` to validate what a user wrote.
  Layout(unsigned rank, BasisList reg, BasisList lane, BasisList warp,
         BasisList block = {});

  /// Returns a message if the bases do not form a layout: a basis of the wrong
  /// rank, a negative coordinate, or bases that do not span a box of
  /// power-of-two extents. Returns std::nullopt if all is well.
  std::optional<std::string> check() const;
  /// Returns a message if `shape` is not tiled by the base tile.
  std::optional<std::string> checkShape(llvm::ArrayRef<int64_t> shape) const;

  unsigned getRank() const { return rank; }
  const BasisList &getBases(HardwareDim dim) const {
    return bases[static_cast<unsigned>(dim)];
  }
  /// 2^bits of that dimension: lanes, warps, blocks, registers of one base
  /// tile.
  int64_t getSize(HardwareDim dim) const;
  /// The extents of the base tile (powers of two).
  Coords getBaseTile() const;
  /// How often the base tile repeats along each dimension of `shape`.
  Coords getRepetitions(llvm::ArrayRef<int64_t> shape) const;
  /// Registers that each thread holds for a tensor of `shape`.
  int64_t getNumRegisters(llvm::ArrayRef<int64_t> shape) const;

  /// The element that `pos` holds in a tensor of `shape`.
  Coords getCoords(const Position &pos, llvm::ArrayRef<int64_t> shape) const;
  /// Coordinates of all registers at lane 0, warp 0, block 0, in order.
  llvm::SmallVector<Coords>
  getRegisterCoords(llvm::ArrayRef<int64_t> shape) const;
  /// The register of lane 0, warp 0, block 0 that holds `coords`; with copies,
  /// the lowest one. nullopt if another thread holds it.
  std::optional<int64_t> getRegisterOf(llvm::ArrayRef<int64_t> coords,
                                       llvm::ArrayRef<int64_t> shape) const;
  /// The lowest position (block, warp, lane, register bits not set where a zero
  /// or dependent basis allows a choice) that holds `coords`.
  Position getPositionOf(llvm::ArrayRef<int64_t> coords,
                         llvm::ArrayRef<int64_t> shape) const;

  /// Bits of `dim` whose basis is zero or a combination of other bases, such
  /// that holders differing in it hold copies: bit i of the mask is set for
  /// such a bit. Of several choices the highest bits are chosen, so that the
  /// holder with all masked bits zero is unique for each element.
  uint32_t getFreeMask(HardwareDim dim) const;

  /// Number of consecutive elements along `dim` that consecutive registers
  /// 0,1,2,... of every thread hold, aligned to that number: the widest vector
  /// access that the layout allows. A power of two.
  int64_t getContiguousPerThread(unsigned dim,
                                 llvm::ArrayRef<int64_t> shape) const;
  /// Dimensions from the fastest varying to the slowest, judged by the register
  /// and then the lane bases.
  llvm::SmallVector<unsigned> getOrder() const;

  //===--------------------------------------------------------------------===//
  // Layout rules of shape operations
  //===--------------------------------------------------------------------===//

  /// Insert a dimension of extent 1 at `axis` (a zero coordinate).
  Layout expandDims(unsigned axis) const;
  /// Remove `axis`: the coordinate is dropped. Register bases that become zero
  /// (or a combination of lower register bases) go away; lanes, warps and
  /// blocks keep theirs (as copies). This is the layout of a reduction's
  /// result, and the one that an operand of expand_dims needs.
  Layout projectOut(unsigned axis) const;
  /// Zero the coordinate of `axis` (the layout that the operand of a broadcast
  /// along `axis` from extent 1 needs). Register bases go away as in
  /// `projectOut`.
  Layout collapse(unsigned axis) const;
  /// result dimension i is operand dimension order[i].
  Layout transpose(llvm::ArrayRef<int32_t> order) const;
  /// The layout of the row-major reshape from `from` to `to`, if elements can
  /// stay where they are with registers in the same order.
  std::optional<Layout> reshape(llvm::ArrayRef<int64_t> from,
                                llvm::ArrayRef<int64_t> to) const;
  /// Operand layout -> result of `join` (a new last dimension of 2, the lowest
  /// register bit) and back (nullopt if no register bit alone spans it).
  Layout join() const;
  std::optional<Layout> split() const;
  /// Repetitions over a power-of-two `shape` become register bases, so that the
  /// base tile is the whole tensor; nullopt for other shapes.
  std::optional<Layout> unrollRepetitions(llvm::ArrayRef<int64_t> shape) const;

  //===--------------------------------------------------------------------===//
  // Algebra
  //===--------------------------------------------------------------------===//

  /// Bases of `other` follow those of *this* in each hardware dimension, their
  /// coordinates multiplied by this base tile: `other` tiles copies of *this*.
  Layout product(const Layout &other) const;
  /// The layout q with product(tile, q) == *this*, if there is one.
  std::optional<Layout> divide(const Layout &tile) const;
  /// Keep only the tensor dimensions `dims`, in that order. Register bases go
  /// away as in `projectOut`.
  Layout project(llvm::ArrayRef<unsigned> dims) const;
  /// Only the bases of the hardware dimensions in `dims`; others become empty.
  Layout sublayout(llvm::ArrayRef<HardwareDim> dims) const;
  /// True if both layouts put the same elements in the same registers of the
  /// same threads of a tensor of `shape` (their bases may differ in form, e.g.
  /// by repetitions written as register bases).
  bool isEquivalent(const Layout &other, llvm::ArrayRef<int64_t> shape) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }
  /// `{register = [[0,1]], lane = [...], warp = [...]}`; empty `block` is left
  /// out.
  std::string str() const;

private:
  unsigned rank = 0;
  BasisList bases[kNumHardwareDims];
};

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

/// How a tensor of `shape` is spread so that threads hold `sizePerThread`
/// consecutive elements, neighbouring lanes follow along order[0], and warps
/// follow along the rest. `order` lists dimensions fastest first. Never leaves
/// the tensor: where the tensor is smaller than the threads, left-over lanes
/// and warps hold copies (zero bases); extents that are no power of two are
/// covered by repetitions of the largest power-of-two divisor. All extents must
/// be positive, `numLanes` and `numWarps` powers of two; other sizes are
/// rounded down to one. `threadsPerWarp` and `warpsPerCTA` win over `numLanes`
/// and `numWarps`; their bits lie fastest dimension first, and what exceeds an
/// extent holds copies in place, so that the layouts of a small and of a large
/// tensor agree. If they are empty they are chosen: lanes first fill order[0],
/// then order[1]...; warps fill the *slowest* dimensions first, so that whole
/// rows stay in a warp as far as they fit. Then `sizePerThread` is also halved
/// while a tensor whose extents are no powers of two would leave warps with
/// copies.
Layout blocked(llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<int64_t> sizePerThread,
               llvm::ArrayRef<int64_t> threadsPerWarp,
               llvm::ArrayRef<int64_t> warpsPerCTA,
               llvm::ArrayRef<unsigned> order, int64_t numLanes = 32,
               int64_t numWarps = 4);
Layout blocked(llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<int64_t> sizePerThread,
               llvm::ArrayRef<unsigned> order, int64_t numLanes,
               int64_t numWarps);

/// The layout in which `numLanes * numWarps` threads take consecutive elements
/// of the row-major order, one register each, repeated.
Layout rowMajor(llvm::ArrayRef<int64_t> shape, int64_t numLanes,
                int64_t numWarps);

/// Accumulator of mma.sync.m16n8 (PTX ISA, "Matrix Fragments for mma.m16n8k16",
/// C/D), tiled to `warpsPerCTA` over a 2-D tensor of `shape`: warps lie along M
/// first, then N, and hold copies where the tensor has no room for them. Like
/// all of the following, the result passes `checkShape` only if `shape` is a
/// multiple of the instruction's tile.
Layout mmaSyncAccumulator(llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> warpsPerCTA);
/// Operand A (`index` 0, M x K) or B (1, K x N) of mma.sync for `bits`-wide
/// elements, matching the accumulator above: m16n8k(256/bits), or half that K
/// where `shape` has no more. Registers are in the order of the instruction.
Layout mmaSyncOperand(unsigned index, unsigned bits,
                      llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> warpsPerCTA);
/// Accumulator of wgmma.m64nNk* (PTX ISA, "Register Fragments for
/// wgmma.mma_async.m64nNk16", D); numWarps is a multiple of 4, groups of 4
/// warps spread over M then N of `shape`. Registers of one instruction are
/// consecutive, also where `instrN` is no power of two (then no groups are
/// spread over N).
Layout wgmmaAccumulator(llvm::ArrayRef<int64_t> shape, int64_t numWarps,
                        int64_t instrN);
/// Operand A of wgmma from registers, for `bits`-wide elements, matching the
/// accumulator above.
Layout wgmmaOperandA(llvm::ArrayRef<int64_t> shape, unsigned bits,
                     int64_t numWarps);
/// The register layout that stmatrix/ldmatrix .x4 of 16-bit elements moves:
/// four 8x8 matrices over a 16x16 tile.
Layout stmatrix(llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> warpsPerCTA);

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

enum class ConversionKind {
  /// Same elements in the same registers: nothing to do.
  Identity,
  /// Every element is already in the thread that needs it: rename registers.
  WithinThread,
  /// Every element is in the warp that needs it.
  WithinWarp,
  /// Through shared memory.
  ThroughShared,
  /// Between blocks of a cluster.
  ThroughCluster,
};

/// The cheapest way to bring a tensor of `shape` from `src` to `dst`. A
/// `WithinThread` move may use any copy that `src` holds in the same thread.
/// Moves within a warp that take many more shuffles than elements (more than 32
/// and several rounds for a register) are cheaper through shared memory, and
/// named so.
ConversionKind classify(const Layout &src, const Layout &dst,
                        llvm::ArrayRef<int64_t> shape);

/// For `WithinThread`: result register i is source register map[i].
llvm::SmallVector<int64_t> registerMap(const Layout &src, const Layout &dst,
                                       llvm::ArrayRef<int64_t> shape);

/// For `WithinWarp`: how dst register `dstRegister` of every lane is fetched.
/// Rounds of one shuffle each, ordered by dst register: the receiving lane
/// takes `srcRegister` of the lane that is the XOR of `laneConst` and of
/// `laneBases[i]` for all set bits i of its own lane id. Where the source
/// register depends on the receiving lane, several rounds serve one register,
/// and the predicate says which lanes take the value: those with parity(lane &
/// predicateMasks[k]) == bit k of predicateValue for each k.
struct ShuffleRound {
  int64_t dstRegister;
  int64_t srcRegister;
  llvm::SmallVector<int32_t, 5> laneBases;
  int32_t laneConst = 0;
  llvm::SmallVector<uint32_t, 5> predicateMasks;
  uint32_t predicateValue = 0;

  /// True if every lane reads itself: a register move instead of a shuffle.
  bool staysInLane() const;
  /// The lane that `lane` reads.
  int32_t getSourceLane(int32_t lane) const;
  /// True if `lane` takes the value of this round.
  bool isTaken(int32_t lane) const;
};
llvm::SmallVector<ShuffleRound> shuffleRounds(const Layout &src,
                                              const Layout &dst,
                                              llvm::ArrayRef<int64_t> shape);

/// A swizzle for a conversion through shared memory without bank conflicts.
/// Let i be the row-major index of an element, `order[0]` being the fastest
/// dimension. The element lives at element offset
///   i ^ XOR over terms t of (((i >> t.shift) & t.mask) << chunkBits).
/// Every term reads bits above those that it changes, and changes bits within
/// 128 bytes only: the map is a bijection of each aligned group of
/// 2^(chunkBits + bits of the masks) elements, whatever the shape.
struct SharedSwizzle {
  struct Term {
    unsigned shift = 0;
    uint32_t mask = 0;
  };
  llvm::SmallVector<unsigned, 4> order; // fastest first
  /// Elements of one access: consecutive registers 0.. of the source (writes)
  /// and of the destination (reads), at most 16 bytes. Such a group is
  /// consecutive and aligned in the buffer.
  int64_t writeElements = 1;
  int64_t readElements = 1;
  /// The width that both sides can use.
  int64_t vecElements = 1;
  /// Log2 of the elements that stay together.
  unsigned chunkBits = 0;
  llvm::SmallVector<Term, 2> terms;
};
/// Chooses the swizzle with the fewest 32-bank wavefronts over both the writes
/// of `src` and the reads of `dst`, for elements of `elementBits` (rounded up
/// to a power of two of at least a byte). Of equal ones it takes the one with
/// the fewest memory instructions.
SharedSwizzle chooseSwizzle(const Layout &src, const Layout &dst,
                            llvm::ArrayRef<int64_t> shape,
                            unsigned elementBits);
/// The element offset of `coords` under `swizzle`.
int64_t swizzledOffset(const SharedSwizzle &swizzle,
                       llvm::ArrayRef<int64_t> coords,
                       llvm::ArrayRef<int64_t> shape);
/// Elements of the buffer that holds a tensor of `shape` under `swizzle`.
int64_t swizzledBufferElements(const SharedSwizzle &swizzle,
                               llvm::ArrayRef<int64_t> shape);
/// Wavefronts of 128 bytes that one warp (`warp` of block 0) takes to access
/// all its registers, `vecElements` consecutive ones at a time. As the hardware
/// does, 16-byte accesses go by quarter-warps and 8-byte ones by half-warps;
/// lanes that touch the same word share it.
int64_t countWavefronts(const SharedSwizzle &swizzle, const Layout &layout,
                        llvm::ArrayRef<int64_t> shape, unsigned elementBits,
                        int64_t vecElements, int32_t warp = 0);

} // namespace tile_dialect::layout

#endif // TILEDIALECT_LAYOUT_LAYOUT_H
