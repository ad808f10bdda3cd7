//===- Pipelines.cpp - The product's pass pipelines -----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Pipelines/Pipelines.h"
#include "TileDialect/Conversion/Passes.h"
#include "TileDialect/Dialect/Tile/Transforms/Passes.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tile::buildTileToTileGPUPipeline(OpPassManager &pm,
                                      const TileToNVVMOptions &options) {
  pm.addPass(tile_nv::createTileNVSetTarget({options.chip}));
  OpPassManager &module = pm.nest<gpu::GPUModuleOp>();
  module.addPass(tile::createTileInlineHelpers());
  module.addPass(createCanonicalizerPass());
  module.addPass(tile::createTileCombine());
  module.addPass(tile::createTileReorderBroadcast());
  module.addPass(createCSEPass());
  module.addPass(createLoopInvariantCodeMotionPass());
  module.addPass(tile::createConvertTileToTileGPU(
      {options.numWarps, /*threadsPerWarp=*/32, options.numCTAs}));
  module.addPass(tile_gpu::createTileGPUCoalesce());
  // Twice, measured on the kernels of the tests and examples. Without the first
  // run, reductions are given rows for layouts that no value keeps: an int8
  // matrix product had three times the accesses to shared memory, attention a
  // tenth more. Without the second, the conversions around rearranged
  // reductions and scans stay: up to four times the barriers.
  module.addPass(tile_gpu::createTileGPURemoveLayoutConversions());
  module.addPass(tile_gpu::createTileGPUOptimizeReductions());
  module.addPass(tile_gpu::createTileGPURemoveLayoutConversions());
  module.addPass(createCanonicalizerPass());
  module.addPass(createCSEPass());
}

void tile::buildTileToNVVMPipeline(OpPassManager &pm,
                                   const TileToNVVMOptions &options) {
  buildTileToTileGPUPipeline(pm, options);
  OpPassManager &module = pm.nest<gpu::GPUModuleOp>();
  if (options.programmaticLaunch)
    module.addPass(tile_nv::createTileNVInsertGridDependencies());
  module.addPass(tile_gpu::createTileGPUAllocateSharedMemory());
  module.addPass(tile_gpu::createTileGPUInsertBarriers());
  module.addPass(tile_gpu::createTileGPUDistribute());
  module.addPass(tile_nv::createTileNVSetLaunchBounds({options.maxRegisters}));
  module.addPass(createCSEPass());
  SCFToControlFlowPassOptions scfOptions;
  // Nothing to roll back, and without the record of it the time is a tenth on
  // kernels of hundreds of branches.
  scfOptions.allowPatternRollback = false;
  module.addPass(createSCFToControlFlowPass(scfOptions));
  ConvertGpuOpsToNVVMOpsOptions gpuOptions;
  gpuOptions.useBarePtrCallConv = true;
  module.addPass(createConvertGpuOpsToNVVMOps(gpuOptions));
  module.addPass(createReconcileUnrealizedCastsPass());
}

/// Registers a pipeline whose options are checked, as far as no pass does.
static void registerPipeline(StringRef name, StringRef description,
                             void (*build)(OpPassManager &,
                                           const tile::TileToNVVMOptions &)) {
  registerPassPipeline(
      name, description,
      [build](OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)> reportError) {
        tile::TileToNVVMOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (options.numStages < 1)
          return reportError("num-stages must be at least 1, not " +
                             Twine(options.numStages.getValue()));
        build(pm, options);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)> handle) {
        handle(tile::TileToNVVMOptions());
      });
}

void tile::registerTilePipelines() {
  registerPipeline("tile-to-tile-gpu",
                   "Give the tiles of all kernels layouts: tile -> tile_gpu",
                   buildTileToTileGPUPipeline);
  registerPipeline(
      "tile-to-nvvm",
      "Compile kernels of tiles to code of a thread: tile -> llvm + nvvm",
      buildTileToNVVMPipeline);
}
