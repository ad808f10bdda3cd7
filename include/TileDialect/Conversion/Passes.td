//===- Passes.td - Conversions between dialects ------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_CONVERSION_PASSES_TD
#define TILEDIALECT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToTileGPU : Pass<"convert-tile-to-tile-gpu", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give every tile of a kernel a layout";
  let description = [{
    Takes: `gpu.func` kernels of `tile`, `arith`, `math`, `scf` and `cf` ops, with
    all calls inlined. Gives each tile a default layout (blocked; warps over the
    slowest dimension) and puts `tile_gpu.convert_layout` where an op's rule asks
    for another one. Sets `known_block_size` of each kernel to
    `num-warps * threads-per-warp` threads.
    Leaves: the same ops on tiles with layouts, without the `func.func` helpers that
    nobody calls any more. Fails on an extent that no layout spreads over the
    threads, on an op that it does not know, on tile ops outside a kernel, and on a
    `known_block_size` that asks for other threads.
  }];
  let dependentDialects = ["::mlir::tile_gpu::TileGPUDialect"];
  let options = [
    Option<"numWarps", "num-warps", "int64_t", "4", "Warps of a block: a power of two, 1 to 32">,
    Option<"threadsPerWarp", "threads-per-warp", "int64_t", "32", "Lanes of a warp: a power of two">,
    Option<"numCTAs", "num-ctas", "int64_t", "1", "Blocks of a cluster that share a program: only 1 so far">];
}

#endif // TILEDIALECT_CONVERSION_PASSES_TD
