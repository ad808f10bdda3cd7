//===- Passes.h - Conversions between dialects ------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_CONVERSION_PASSES_H
#define TILEDIALECT_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::gpu {
class GPUModuleOp;
} // namespace mlir::gpu

namespace mlir::tile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "TileDialect/Conversion/Passes.h.inc"

} // namespace mlir::tile

#endif // TILEDIALECT_CONVERSION_PASSES_H
