//===- InitAll.h - Register everything --------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PIPELINES_INITALL_H
#define TILEDIALECT_PIPELINES_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tile {

/// Our dialects with their interfaces, and the upstream dialects and extensions
/// that our kernels and pipelines use.
void registerAllDialects(DialectRegistry &registry);

/// Only what this project defines: our dialects and the interfaces that we
/// attach to upstream ones. For a host (mlir-opt) that registered the rest
/// itself.
void registerTileDialects(DialectRegistry &registry);

/// Our passes and pipelines, and the upstream passes that our pipelines run.
void registerAllPasses();

/// Our passes and pipelines alone.
void registerTilePasses();

} // namespace mlir::tile

#endif // TILEDIALECT_PIPELINES_INITALL_H
