//===- TileGPUDialect.td - The tile_gpu dialect ------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
#define TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD

include "mlir/IR/DialectBase.td"

def TileGPU_Dialect : Dialect {
  let name = "tile_gpu";
  let cppNamespace = "::mlir::tile_gpu";
  let summary = "How a tile program is spread over threads and shared memory";
  let description = [{
    After `convert-tile-to-tile-gpu` every tile (ranked tensor) in a kernel has a
    `#tile_gpu.layout` as its encoding: which element each register of each lane
    of each warp holds. Ops of `tile`, `arith`, `math` and `scf` go on working on
    such tensors; this dialect adds the ops that move elements between threads
    and through shared memory. It names no vendor.

    The number of warps of a kernel is the upstream `known_block_size` of its
    `gpu.func` divided by the lanes of a warp.

    Discardable attributes:
    - `tile_gpu.scratch` (`#tile_gpu.scratch`) on an op that needs shared memory
      of its own while it runs: where that memory is.
    - `tile_gpu.shared_bytes` (`i64`) on a `gpu.func`: the shared memory that
      `tile-gpu-allocate-shared-memory` gave it, static and dynamic together; on
      the `llvm.mlir.global` that stands for it after `tile-gpu-distribute`, if
      its size is given at launch (an array without extent): that size.

    Any other attribute of the dialect is an error.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerTypes();
    void registerInterfaces();
  }];
}

#endif // TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUDIALECT_TD
