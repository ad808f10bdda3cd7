//===- AxisSpread.cpp - How an axis lies over threads ---------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisSpread.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// Adds `value` to an echelon basis of GF(2) vectors; false if it depends on
/// those before.
static bool insertVector(SmallVectorImpl<uint32_t> &vectors, uint32_t value) {
  for (uint32_t vector : vectors)
    value = std::min(value, value ^ vector);
  if (value == 0)
    return false;
  vectors.push_back(value);
  llvm::sort(vectors, std::greater<uint32_t>());
  return true;
}

AxisSpread tile_gpu::getAxisSpread(const Layout &layout, unsigned axis) {
  AxisSpread spread;
  spread.isSeparate = true;
  SmallVector<uint32_t> reached;
  for (HardwareDim dim : {HardwareDim::Register, HardwareDim::Lane,
                          HardwareDim::Warp, HardwareDim::Block}) {
    for (auto [bit, basis] : llvm::enumerate(layout.getBases(dim))) {
      if (basis[axis] == 0)
        continue;
      for (auto [other, coord] : llvm::enumerate(basis))
        spread.isSeparate &= other == axis || coord == 0;
      if (!insertVector(reached, basis[axis]))
        continue;
      if (dim == HardwareDim::Lane)
        spread.laneMask |= 1u << bit;
      else if (dim == HardwareDim::Warp)
        spread.warpMask |= 1u << bit;
      else if (dim == HardwareDim::Block)
        spread.isAcrossBlocks = true;
    }
  }
  return spread;
}

Layout tile_gpu::getWorkLayout(const Layout &layout, ArrayRef<int64_t> shape,
                               unsigned axis) {
  SmallVector<unsigned> order{axis};
  for (unsigned dim = layout.getRank(); dim-- > 0;)
    if (dim != axis)
      order.push_back(dim);
  SmallVector<int64_t> sizePerThread(layout.getRank(), 1);
  return blocked(shape, sizePerThread, order, layout.getSize(HardwareDim::Lane),
                 layout.getSize(HardwareDim::Warp));
}

SmallVector<Row> tile_gpu::getRows(const Layout &layout,
                                   ArrayRef<int64_t> shape, unsigned axis) {
  SmallVector<Row> rows;
  std::map<Coords, size_t> rowOf;
  for (auto [reg, coords] : llvm::enumerate(layout.getRegisterCoords(shape))) {
    Coords key = coords;
    key.erase(key.begin() + axis);
    auto [it, isNew] = rowOf.try_emplace(key, rows.size());
    if (isNew)
      rows.push_back({key, {}});
    rows[it->second].elements.push_back({coords[axis], reg});
  }
  for (Row &row : rows) {
    llvm::sort(row.elements);
    row.elements.erase(llvm::unique(row.elements,
                                    [](const auto &a, const auto &b) {
                                      return a.first == b.first;
                                    }),
                       row.elements.end());
  }
  return rows;
}

SmallVector<int64_t> tile_gpu::dropAxis(ArrayRef<int64_t> shape,
                                        unsigned axis) {
  SmallVector<int64_t> result(shape);
  result.erase(result.begin() + axis);
  return result;
}
