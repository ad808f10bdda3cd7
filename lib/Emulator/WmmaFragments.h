//===- WmmaFragments.h - Where wmma keeps matrices in registers ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX leaves the layout of wmma fragments open.  These are the ones of sm_80 to
// sm_90 (read from what ptxas 13.0 generates), so that code which relies on
// them works as on a GPU:
//  - A fragment consists of fragments of mma.sync: A of tiles of 16 rows (8 if
//    m is 8), B of tiles of 8 columns, accumulators of both.
//  - m8n32k16 is computed as its transpose, m32n8k16, with A and B exchanged.
//  - A and B of f16 always have 8 registers; those that the matrix does not
//    fill repeat the first ones.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_WMMAFRAGMENTS_H
#define TILEDIALECT_LIB_EMULATOR_WMMAFRAGMENTS_H

#include "Collective.h"
#include "MatrixFragments.h"
#include <vector>

namespace tile_dialect::emulator {

enum class WmmaOperand : uint8_t { A, B, Accumulator };

struct WmmaFragment {
  /// False if wmma has no such operand.
  static bool make(const MatrixShape &shape, WmmaOperand operand, Type type,
                   WmmaFragment &fragment);

  /// Rows and columns of the operand, its type, and registers of a lane.
  unsigned rows = 0, columns = 0;
  Type type = Type::None;
  unsigned registers = 0;
  /// The first so many registers differ, the others repeat them.
  unsigned distinct = 0;
  /// Elements in a register and bytes of one.
  unsigned elements = 1, registerBytes = 4;
  /// The place of element e of register r of a lane, at
  /// (r * 32 + lane) * elements + e, for the distinct registers.
  std::vector<MatrixCoordinate> places;

  const MatrixCoordinate &place(unsigned reg, unsigned lane,
                                unsigned element) const {
    return places[(reg * warpSize + lane) * elements + element];
  }
  /// Reads a row-major matrix from registers; writes one to them.
  void gather(RegisterLanes sources, double *matrix) const;
  void scatter(const double *matrix, bool saturate, void *const *dests) const;
};

/// Whether wmma multiplies matrices of that type in that shape.
bool hasWmmaShape(Type type, const MatrixShape &shape);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_WMMAFRAGMENTS_H
