//===- Passes.h - Passes of the tile_gpu dialect ----------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::gpu {
class GPUModuleOp;
} // namespace mlir::gpu

namespace mlir::tile_gpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_PASSES_H
