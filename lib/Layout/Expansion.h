//===- Expansion.h - Layouts over a tile that two of them share ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layouts of one tensor may have different base tiles. Both extents divide
// the tensor's, so the larger power of two does as well: over that *common
// tile* both are plain linear maps, in which repetitions inside the common tile
// are further register bits. Elements of the common tile are packed into an
// integer (the last dimension in the lowest bits), so that XOR of coordinates
// is XOR of integers. Repetitions of the common tile behave all alike.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_LAYOUT_EXPANSION_H
#define TILEDIALECT_LIB_LAYOUT_EXPANSION_H

#include "TileDialect/Layout/Layout.h"

namespace tile_dialect::layout {

/// Log2 of the base tile's extents.
llvm::SmallVector<unsigned, 4> getTileBits(const Layout &layout);

/// Packs the coordinates of a basis, dimension d at bit shifts[d].
uint64_t packBasis(llvm::ArrayRef<int32_t> basis,
                   llvm::ArrayRef<unsigned> shifts);

/// Bit offsets of the dimensions in a packed element, and their sum at the end.
llvm::SmallVector<unsigned, 4> getShifts(llvm::ArrayRef<unsigned> tileBits);

/// Removes the bases that are zero or a combination of the bases before.
void dropDependentBases(BasisList &bases);

struct Expansion {
  /// Packed bases by hardware dimension; the register list goes on with the
  /// repetitions inside the common tile.
  llvm::SmallVector<uint64_t, 12> bases[kNumHardwareDims];
  /// What each register bit adds to the register number.
  llvm::SmallVector<int64_t, 12> weights;
  /// The first register of each repetition of the common tile, row-major.
  llvm::SmallVector<int64_t> outerRegisters;

  llvm::ArrayRef<uint64_t> get(HardwareDim dim) const {
    return bases[static_cast<unsigned>(dim)];
  }
  /// The basis of bit `i`; zero (a copy) beyond the last one.
  uint64_t get(HardwareDim dim, unsigned i) const {
    llvm::ArrayRef<uint64_t> list = get(dim);
    return i < list.size() ? list[i] : 0;
  }
  /// The register that a mask of register bits means, in repetition 0.
  int64_t getRegister(uint64_t mask) const;
};

struct ExpandedPair {
  Expansion src;
  Expansion dst;
  /// Log2 of the elements of the common tile.
  unsigned tileBits = 0;
};

ExpandedPair expand(const Layout &src, const Layout &dst,
                    llvm::ArrayRef<int64_t> shape);

} // namespace tile_dialect::layout

#endif // TILEDIALECT_LIB_LAYOUT_EXPANSION_H
