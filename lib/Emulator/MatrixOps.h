//===- MatrixOps.h - What the instructions on matrices share ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_MATRIXOPS_H
#define TILEDIALECT_LIB_EMULATOR_MATRIXOPS_H

#include "Collective.h"
#include "FloatFormats.h"
#include "MatrixFragments.h"

namespace tile_dialect::emulator {

/// A decoded `mma.sync`.
struct MmaInfo {
  MatrixShape shape;
  Type d = Type::None, a = Type::None, b = Type::None, c = Type::None;
  bool saturate = false;
  bool exclusiveOr = false;
  /// Of f64.
  Rounding rounding = Rounding::NearestEven;
  /// Of mma.sp: which threads hold the metadata; the order is checked.
  unsigned selector = 0;
  bool ordered = false;
  /// Of m8n8k4: A and B are transposed.
  bool columnA = false, rowB = false;
  /// Positions of A, B and C in the operands; D is first.  Metadata is last.
  unsigned first[3] = {0, 0, 0};
};

inline bool isSmallInteger(Type type) {
  return type == Type::S8 || type == Type::U8 || type == Type::S4 ||
         type == Type::U4;
}
inline bool isFloat8(Type type) {
  return type == Type::E4M3 || type == Type::E5M2;
}

/// Registers of an operand of A or B with so many elements.
inline unsigned registersOf(Type type, unsigned elements) {
  return elements / (warpSize * elementsPerRegister(type));
}

/// Consumes the four types.
bool takeMmaTypes(InstDecoder &decoder, MmaInfo &info);
/// Whether A and B of these types can be multiplied, and D and C be such.
bool hasTypes(const MmaInfo &info);
/// The error of a shape or types that do not exist.
bool failMma(InstDecoder &decoder, const MmaInfo &info);
/// Adds the vectors of D, A, B and C, with so many registers of A and B.
bool addMmaOperands(InstDecoder &decoder, MmaInfo &info, unsigned registersOfA,
                    unsigned registersOfB);

/// The pointers to an operand's registers.
inline void collectSources(Warp &warp, const Inst &inst, unsigned begin,
                           unsigned end, const void **pointers) {
  for (unsigned i = begin; i < end; ++i)
    pointers[i - begin] = warp.source<uint8_t>(inst.operands[i]);
}
inline void collectDests(Warp &warp, const Inst &inst, void **pointers) {
  for (unsigned i = 0; i < inst.numDestinations; ++i)
    pointers[i] = warp.dest<uint8_t>(inst.operands[i]);
}
inline void countMacs(Warp &warp, uint64_t count) {
  if (LLVM_UNLIKELY(warp.monitor != nullptr))
    warp.worker->stats.matrixMacs += count;
}

/// What is left of `mma` behind `.sp`.
bool decodeSparseMma(InstDecoder &decoder, bool ordered);
/// mma.m8n8k4 of f16; sync, aligned and the shape are consumed.
bool decodeQuadPairMma(InstDecoder &decoder, MmaInfo &info);

/// Layouts as they are written: true where `.col` stands.
llvm::SmallVector<bool, 2> takeLayouts(InstDecoder &decoder);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_MATRIXOPS_H
