//===- Distribute.h - Distribution for NVIDIA's chips -----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_TRANSFORMS_DISTRIBUTE_H
#define TILEDIALECT_DIALECT_TILENV_TRANSFORMS_DISTRIBUTE_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tile_nv {

/// Gives TileNVDialect its implementation of
/// `tile_gpu::DistributeDialectInterface`, and loads TileNVDialect along with
/// TileGPUDialect, so that `tile-gpu-distribute` finds it.
void registerDistributeInterface(DialectRegistry &registry);

} // namespace mlir::tile_nv

#endif // TILEDIALECT_DIALECT_TILENV_TRANSFORMS_DISTRIBUTE_H
