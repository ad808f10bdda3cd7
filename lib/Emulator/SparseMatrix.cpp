//===- SparseMatrix.cpp - Matrices of which half is stored ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseMatrix.h"
#include <cstring>

using namespace tile_dialect::emulator;

namespace {
/// Columns that four bits of metadata describe.
unsigned groupColumns(Type type) {
  switch (bitWidth(type)) {
  case 32:
    return 2;
  case 4:
    return 8;
  default:
    return 4;
  }
}

bool isNarrow(Type type) { return bitWidth(type) <= 8; }

unsigned metadataOf(Type type, unsigned row, unsigned group, unsigned first,
                    const uint32_t *metadata) {
  unsigned half = row / 8, lane = row % 8 * 4 + first;
  if (isNarrow(type))
    return metadata[lane + group / 8 * 2 + half] >> group % 8 * 4 & 0xF;
  return metadata[lane + group / 4] >> (16 * half + group % 4 * 4) & 0xF;
}
} // namespace

unsigned tile_dialect::emulator::numSelectors(Type type, unsigned k) {
  // Of the 4 lanes that share rows, so many hold the metadata of 16 rows.
  unsigned bits = sparseRows * k / groupColumns(type) * 4;
  return 4 / (bits / (8 * 32));
}

const char *tile_dialect::emulator::sparseColumns(Type type, unsigned k,
                                                  unsigned selector,
                                                  bool ordered,
                                                  const uint32_t *metadata,
                                                  uint8_t *columns) {
  unsigned width = groupColumns(type);
  unsigned first = selector * (4 / numSelectors(type, k));
  for (unsigned row = 0; row < sparseRows; ++row) {
    for (unsigned group = 0; group < k / width; ++group) {
      unsigned bits = metadataOf(type, row, group, first, metadata);
      unsigned low = bits & 3, high = bits >> 2, begin = group * width;
      if (width == 2) {
        if (bits != 0xE && bits != 0x4)
          return "metadata of .tf32 must be 0b0100 or 0b1110 for each element";
        *columns++ = begin + low / 2;
        continue;
      }
      if (ordered && low >= high)
        return "the indices of .sp::ordered_metadata must increase in each "
               "group";
      unsigned size = width / 4;
      for (unsigned i = 0; i < size; ++i)
        *columns++ = begin + low * size + i;
      for (unsigned i = 0; i < size; ++i)
        *columns++ = begin + high * size + i;
    }
  }
  return nullptr;
}

void tile_dialect::emulator::multiplyAddSparse(unsigned n, unsigned k,
                                               const double *a,
                                               const uint8_t *columns,
                                               const double *b, double *d) {
  for (unsigned column = 0; column < n; column += 8) {
    for (unsigned row = 0; row < sparseRows; ++row) {
      double sum[8];
      std::memcpy(sum, d + row * n + column, sizeof(sum));
      for (unsigned i = row * k / 2; i < (row + 1) * k / 2; ++i) {
        const double *other = b + columns[i] * n + column;
        for (unsigned j = 0; j < 8; ++j)
          sum[j] += a[i] * other[j];
      }
      std::memcpy(d + row * n + column, sum, sizeof(sum));
    }
  }
}
