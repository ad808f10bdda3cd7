//===- AxisInfoDetail.h - Shared by the parts of axis info ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_ANALYSIS_AXISINFODETAIL_H
#define TILEDIALECT_LIB_ANALYSIS_AXISINFODETAIL_H

#include "TileDialect/Analysis/AxisInfo.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tile::detail {

inline constexpr int64_t kMaxDivisibility = int64_t(1) << 62;

/// The largest power of two that divides `value`, up to the largest
/// divisibility, which is that of 0.
inline int64_t powerOfTwoPart(int64_t value) {
  // Unsigned, for the least int64_t has no negative.
  auto bits = static_cast<uint64_t>(value);
  return value == 0 ? kMaxDivisibility
                    : std::min<uint64_t>(kMaxDivisibility, bits & -bits);
}

/// The extents of the dimensions that axis info has for a value of `type`.
inline AxisInfo::DimVector getExtents(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (tensor.hasStaticShape() && tensor.getRank() > 0)
      return AxisInfo::DimVector(tensor.getShape());
  return {1};
}

} // namespace mlir::tile::detail

#endif // TILEDIALECT_LIB_ANALYSIS_AXISINFODETAIL_H
