//===- TileNV.h - The tile_nv dialect ---------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_IR_TILENV_H
#define TILEDIALECT_DIALECT_TILENV_IR_TILENV_H

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TileDialect/Dialect/TileNV/IR/TileNVDialect.h.inc"

namespace mlir::tile_nv {

/// On a kernel: it waits itself for the grids before it, see TileNVDialect.td.
inline constexpr llvm::StringLiteral kProgrammaticLaunchAttrName =
    "tile_nv.programmatic_launch";

/// What caches hold, as a side effect resource: no value depends on it.
struct CacheResource : public SideEffects::Resource::Base<CacheResource> {
  StringRef getName() final { return "tile_nv.cache"; }
};

} // namespace mlir::tile_nv

#define GET_OP_CLASSES
#include "TileDialect/Dialect/TileNV/IR/TileNVOps.h.inc"

#endif // TILEDIALECT_DIALECT_TILENV_IR_TILENV_H
