//===- MatrixFragments.h - Matrix multiplication on fragments ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How mma and wgmma spread matrices over the registers of a warp, and their
// arithmetic, as functions over plain arrays.
//
// Every operand fragment of `mma.sync` follows one rule (PTX ISA, "Matrix
// fragments for mma.m16n8k*").  With E elements in a register (32 / bits; one
// for f64), g = lane / 4 and t = lane % 4:
//   A, register r, element i:  row g + 8 * (r % 2),  column 4E * (r / 2) + tE +
//   i B, register r, element i:  row 4E * r + tE + i,  column g C and D, value
//   i:          row g + 8 * (i / 2),  column 2t + i % 2
// For m = 8 the registers of A follow each other in columns.  The warps of
// wgmma hold 16 rows each, A as above and D as repeated m16n8 tiles.
//
// Arithmetic: products and sums are computed in double precision and rounded
// once for each instruction to the type of D (round to nearest even).  For
// integers and bits that is exact.  For floats the tensor cores of real chips
// align the products of a few elements and truncate, so that results of the two
// differ by up to a few units in the last place of the largest summand.  For
// f64 each step is one fused multiply-add in the order of k.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_MATRIXFRAGMENTS_H
#define TILEDIALECT_LIB_EMULATOR_MATRIXFRAGMENTS_H

#include "FloatFormats.h"
#include "Types.h"
#include <cstdint>

namespace tile_dialect::emulator {

struct MatrixCoordinate {
  unsigned row, column;
};

/// Elements of an operand of that type in one register.
unsigned elementsPerRegister(Type type);

/// The place of an element of A (m is 8 or 16).
MatrixCoordinate fragmentA(unsigned m, Type type, unsigned lane, unsigned reg,
                           unsigned element);
/// The place of an element of B.
MatrixCoordinate fragmentB(Type type, unsigned lane, unsigned reg,
                           unsigned element);
/// The place of value `index` of an accumulator of any number of columns.
MatrixCoordinate fragmentC(unsigned m, unsigned lane, unsigned index);

/// Decodes `count` packed elements that begin at `data`.  The f32 bits of tf32
/// lose the 13 that the hardware ignores.
void decodeElements(Type type, const void *data, unsigned count, double *out);

/// The value of one element that lies alone in the low bits of `bits`.
double decodeElement(Type type, uint64_t bits);

/// Registers of a warp: for each register, 32 lanes of 4 bytes (8 for f64).
using RegisterLanes = const void *const *;

/// A (m x k, row after row) and B (k x n, row after row) from registers.
void gatherA(Type type, unsigned m, unsigned k, RegisterLanes registers,
             double *a);
void gatherB(Type type, unsigned k, RegisterLanes registers, double *b);

/// d += a * b for row-major matrices; n is a multiple of 8.
void multiplyAdd(unsigned m, unsigned n, unsigned k, const double *a,
                 const double *b, double *d);
/// The same in steps of fused multiply-adds with the given rounding.
void multiplyAddRounded(Rounding rounding, unsigned m, unsigned n, unsigned k,
                        const double *a, const double *b, double *d);
/// d += popc(a xor b) for matrices of bits.
void xorPopcount(unsigned m, unsigned n, unsigned k, const double *a,
                 const double *b, double *d);

/// An accumulator of m x n (m is 8 or 16) between registers and a row-major
/// matrix.  f16 takes two values a register.  `saturate` clamps integers to 32
/// bits; else they wrap around.
void gatherC(Type type, unsigned m, unsigned n, RegisterLanes registers,
             double *c);
void scatterD(Type type, unsigned m, unsigned n, bool saturate, const double *d,
              void *const *registers);

/// Writes one value of an accumulator at position `index` of an array of its
/// type (f16, f32, s32 or f64).
void encodeAccumulator(Type type, double value, bool saturate, void *data,
                       unsigned index);

/// Rounds once, to the nearest even.
uint16_t doubleToHalf(double value);
uint32_t doubleToFloatBits(double value);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_MATRIXFRAGMENTS_H
