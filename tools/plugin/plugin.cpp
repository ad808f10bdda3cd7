//===- plugin.cpp - The plugin for the stock mlir-opt ---------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Pipelines/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

// mlir-opt registered the upstream dialects and passes already; a pass that is
// registered twice ends the process.

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "TileDialect", TILE_DIALECT_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::tile::registerTileDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "TileDialect", TILE_DIALECT_VERSION,
          [] { mlir::tile::registerTilePasses(); }};
}
