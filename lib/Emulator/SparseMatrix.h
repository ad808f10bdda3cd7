//===- SparseMatrix.h - Matrices of which half is stored ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A of `mma.sp` and of sparse `wgmma` holds half of its columns; metadata says
// which (PTX ISA, "Sparse matrix storage").  Four bits describe a group of a
// row: 4 columns of which 2 are stored (2 bits name each), for 4-bit elements 8
// columns of which 2 pairs are stored, for tf32 2 columns of which 1 is stored
// (0b0100 names the first, 0b1110 the second).
//
// Where row r (0 to 15) and group g lie, t being the position of a lane in its
// four and "first" being the one that the selector names:
//   f16, bf16, tf32:  lane t = first + g / 4,  bits 16 * (r / 8) + 4 * (g % 4)
//   others:           lane t = first + g / 8 * 2 + r / 8,  bits 4 * (g % 8)
// of lane 4 * (r % 8) + t.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_SPARSEMATRIX_H
#define TILEDIALECT_LIB_EMULATOR_SPARSEMATRIX_H

#include "Types.h"
#include <cstdint>

namespace tile_dialect::emulator {

constexpr unsigned sparseRows = 16;
constexpr unsigned maximalSparseK = 128;

/// How many values a selector can have for A of 16 x k: 1, 2 or 4.
unsigned numSelectors(Type type, unsigned k);

/// Finds the column of each stored element, row after row of k / 2, from the
/// metadata of 32 lanes.  Null, or what is wrong with the metadata: with
/// `ordered`, indices of a group that do not increase.
const char *sparseColumns(Type type, unsigned k, unsigned selector,
                          bool ordered, const uint32_t *metadata,
                          uint8_t *columns);

/// d += a * b where a (16 x k / 2) holds the given columns; b is k x n and n is
/// a multiple of 8.
void multiplyAddSparse(unsigned n, unsigned k, const double *a,
                       const uint8_t *columns, const double *b, double *d);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_SPARSEMATRIX_H
