//===- Gf2.h - Linear systems over GF(2) ------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_LAYOUT_GF2_H
#define TILEDIALECT_LIB_LAYOUT_GF2_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <cstdint>
#include <optional>

namespace tile_dialect::layout {

/// A growing set of vectors, each with a tag. `solve` writes a vector as the
/// XOR of some of them and returns the XOR of their tags. A vector that depends
/// on the ones inserted before is not kept, so earlier vectors are preferred,
/// and a solution in which tags are distinct bits, inserted lowest first, is
/// the smallest one.
class Gf2Solver {
public:
  /// Returns false if `vector` depends on the vectors before.
  bool insert(uint64_t vector, uint64_t tag = 0) {
    reduce(vector, tag);
    if (vector == 0)
      return false;
    rows.push_back({vector, tag, llvm::bit_floor(vector)});
    return true;
  }

  std::optional<uint64_t> solve(uint64_t vector) const {
    uint64_t tag = 0;
    reduce(vector, tag);
    if (vector != 0)
      return std::nullopt;
    return tag;
  }

  bool spans(uint64_t vector) const { return solve(vector).has_value(); }
  unsigned getRank() const { return rows.size(); }

private:
  struct Row {
    uint64_t vector;
    uint64_t tag;
    uint64_t pivot; // the highest bit of `vector`, clear in all later rows
  };

  void reduce(uint64_t &vector, uint64_t &tag) const {
    for (const Row &row : rows) {
      if (vector & row.pivot) {
        vector ^= row.vector;
        tag ^= row.tag;
      }
    }
  }

  llvm::SmallVector<Row, 16> rows;
};

} // namespace tile_dialect::layout

#endif // TILEDIALECT_LIB_LAYOUT_GF2_H
