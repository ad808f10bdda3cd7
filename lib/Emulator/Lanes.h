//===- Lanes.h - Loops over the lanes of a warp ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_LANES_H
#define TILEDIALECT_LIB_EMULATOR_LANES_H

#include "Decoder.h"
#include "Machine.h"
#include "llvm/ADT/bit.h"
#include <cstring>

#if defined(__clang__)
#define EMULATOR_LANE_LOOP                                                     \
  _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#elif defined(__GNUC__)
#define EMULATOR_LANE_LOOP _Pragma("GCC ivdep")
#else
#define EMULATOR_LANE_LOOP
#endif

namespace tile_dialect::emulator {

/// Calls `f(lane)` for each lane of the mask.  The full mask is a loop that can
/// be vectorised: an operand is either the same register as the destination
/// or does not overlap it.
template <typename F> inline void forLanes(LaneMask mask, F f) {
  if (mask == allLanes) {
    EMULATOR_LANE_LOOP
    for (unsigned l = 0; l < warpSize; ++l)
      f(l);
    return;
  }
  while (mask) {
    f(unsigned(llvm::countr_zero(mask)));
    mask &= mask - 1;
  }
}

/// The same without vectorisation, for bodies with side effects.
template <typename F> inline void eachLane(LaneMask mask, F f) {
  while (mask) {
    f(unsigned(llvm::countr_zero(mask)));
    mask &= mask - 1;
  }
}

/// d = Op(a), lane by lane.
template <typename Op, typename D, typename A>
Step unaryLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  D *d = warp.dest<D>(inst.operands[0]);
  const A *a = warp.source<A>(inst.operands[1]);
  forLanes(mask, [=](unsigned l) { d[l] = Op::apply(a[l]); });
  return Step::Next;
}

/// d = Op(a, b), lane by lane.
template <typename Op, typename D, typename A, typename B = A>
Step binaryLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  D *d = warp.dest<D>(inst.operands[0]);
  const A *a = warp.source<A>(inst.operands[1]);
  const B *b = warp.source<B>(inst.operands[2]);
  forLanes(mask, [=](unsigned l) { d[l] = Op::apply(a[l], b[l]); });
  return Step::Next;
}

/// d = Op(a, b, c), lane by lane.
template <typename Op, typename D, typename A, typename B = A, typename C = A>
Step ternaryLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  D *d = warp.dest<D>(inst.operands[0]);
  const A *a = warp.source<A>(inst.operands[1]);
  const B *b = warp.source<B>(inst.operands[2]);
  const C *c = warp.source<C>(inst.operands[3]);
  forLanes(mask, [=](unsigned l) { d[l] = Op::apply(a[l], b[l], c[l]); });
  return Step::Next;
}

template <typename To, typename From> inline To bitsAs(From value) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

// Opcodes that integers and floats share: each decodes what its file covers.
bool decodeFloatArithmetic(InstDecoder &decoder);
bool decodeHalfArithmetic(InstDecoder &decoder);
/// The same on .f32x2; the type is consumed.
bool decodePackedFloat(InstDecoder &decoder);
/// `bar.warp.sync`.
bool decodeWarpBarrier(InstDecoder &decoder);

enum class Shuffle : uint32_t { Up, Down, Bfly, Idx };

/// The lane whose value `lane` gets by shfl; `inRange` is the predicate result.
unsigned shuffleSource(uint32_t mode, unsigned lane, uint32_t b, uint32_t c,
                       bool &inRange);

/// Consumes the scope of a strong access or a fence.
inline MemoryScope takeScope(InstDecoder &decoder, MemoryScope otherwise) {
  static const MemoryScope scopes[] = {MemoryScope::Block, MemoryScope::Cluster,
                                       MemoryScope::Device,
                                       MemoryScope::Device};
  int scope = decoder.takeOneOf({"cta", "cluster", "gpu", "sys"});
  return scope < 0 ? otherwise : scopes[scope];
}
/// Whether a type is computed by decodeHalfArithmetic.
inline bool isHalfType(Type type) {
  return type == Type::F16 || type == Type::F16x2 || type == Type::BF16 ||
         type == Type::BF16x2;
}

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_LANES_H
