//===- Cubin.h - From PTX to a cubin, by ptxas ------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_CUBIN_H
#define TILEDIALECT_TARGET_CUBIN_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace mlir::tile {

/// What ptxas reports of one kernel. Sizes are in bytes.
struct KernelResources {
  std::string name;
  int64_t registers = 0;
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  int64_t staticSharedBytes = 0;
  int64_t barriers = 0;

  bool hasSpills() const { return spillStoreBytes != 0 || spillLoadBytes != 0; }
};

/// A cubin and what ptxas said of it.
struct Cubin {
  std::string binary;
  SmallVector<KernelResources> kernels;
  /// Lines of ptxas that start with `ptxas warning`.
  SmallVector<std::string> warnings;
};

/// Runs the program `ptxas` on PTX text. `options` are further command-line
/// options of it. If it cannot be run or fails, its output becomes an error at
/// `loc`.
///
/// Without further options (but `-lineinfo`), what spills and could have more
/// registers is assembled once more for one block on a multiprocessor, and the
/// result that spills less is kept: ptxas 13.0, when it cannot avoid spills,
/// aims at many blocks by as few as 32 registers, which spills twice as much
/// and more.
FailureOr<Cubin> assemblePTX(StringRef ptx, StringRef chip, StringRef ptxas,
                             ArrayRef<std::string> options, Location loc);

/// Whether all kernels of `cubin`, made from `ptx`, spill but have fewer
/// registers than their blocks leave them, and the PTX does not ask for that.
bool mayNeedFewerSpills(StringRef ptx, StringRef chip, const Cubin &cubin);

/// Reads the `-v` report of ptxas.
void parsePtxasReport(StringRef report, Cubin &cubin);

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_CUBIN_H
