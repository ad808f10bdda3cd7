//===- Libdevice.h - NVIDIA's bitcode library of math functions -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_LIBDEVICE_H
#define TILEDIALECT_TARGET_LIBDEVICE_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::tile {

/// True if `module` calls a function of libdevice (`__nv_*`) that it does not
/// define. Only then is the library needed.
bool needsLibdevice(const llvm::Module &module);

/// Links those functions of the bitcode file `path` that `module` needs, as
/// internal functions. Errors, at `loc`: the file is no bitcode, or a `__nv_*`
/// function is not in it or has other types than the call.
LogicalResult linkLibdevice(llvm::Module &module, StringRef path, Location loc);

/// Error, at `loc`: `module` calls a function that neither it defines nor the
/// CUDA driver does (`vprintf`, `__assertfail`, `malloc`, `free`).
LogicalResult checkUndefined(const llvm::Module &module, Location loc);

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_LIBDEVICE_H
