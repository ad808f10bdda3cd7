//===- TileNVDialect.td - The tile_nv dialect --------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_IR_TILENVDIALECT_TD
#define TILEDIALECT_DIALECT_TILENV_IR_TILENVDIALECT_TD

include "mlir/IR/DialectBase.td"

def TileNV_Dialect : Dialect {
  let name = "tile_nv";
  let cppNamespace = "::mlir::tile_nv";
  let summary = "NVIDIA instructions on tiles";
  let description = [{
    The only dialect that names NVIDIA. It says how `tile-gpu-distribute` writes
    memory accesses, atomics, mathematical functions, conversions, inline
    assembly, library calls, prints and assertions for NVIDIA's chips: as upstream
    `llvm` ops, intrinsics and PTX. See `docs/rationale/TileNV.md`.

    One discardable attribute, on functions: `tile_nv.programmatic_launch` (unit)
    says that the kernel waits itself for the grids before it, so that a launcher
    may set `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`. The pass
    `tile-nv-insert-grid-dependencies` sets it.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // TILEDIALECT_DIALECT_TILENV_IR_TILENVDIALECT_TD
