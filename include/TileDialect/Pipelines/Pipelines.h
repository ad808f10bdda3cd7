//===- Pipelines.h - The product's pass pipelines ---------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tool, the plugin and every binding builds code with these pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PIPELINES_PIPELINES_H
#define TILEDIALECT_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <string>

namespace mlir::tile {

/// Options of the pipelines; their command-line form is the help text.
struct TileToNVVMOptions : public PassPipelineOptions<TileToNVVMOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("Target chip, e.g. sm_90a; by default the chip of the "
                     "module's #nvvm.target"),
      llvm::cl::init("")};
  PassOptions::Option<int64_t> numWarps{
      *this, "num-warps",
      llvm::cl::desc("Warps of a block: a power of two, 1 to 32"),
      llvm::cl::init(4)};
  PassOptions::Option<int64_t> numStages{
      *this, "num-stages",
      llvm::cl::desc("Stages of software-pipelined loops, at least 1; no pass "
                     "pipelines loops yet, so it has no effect"),
      llvm::cl::init(3)};
  PassOptions::Option<int64_t> numCTAs{
      *this, "num-ctas", llvm::cl::desc("Blocks of a cluster: only 1 so far"),
      llvm::cl::init(1)};
  PassOptions::Option<int64_t> maxRegisters{
      *this, "max-registers",
      llvm::cl::desc("Most registers of a thread; 0: no limit"),
      llvm::cl::init(0)};
  PassOptions::Option<bool> programmaticLaunch{
      *this, "programmatic-launch",
      llvm::cl::desc("Kernels wait themselves for the grids before them, so "
                     "that they can be launched programmatically (sm_90 and "
                     "newer)"),
      llvm::cl::init(false)};
};

/// tile -> tile_gpu: inline helpers, give tiles layouts, choose good ones.
/// Registered as `tile-to-tile-gpu`.
void buildTileToTileGPUPipeline(OpPassManager &pm,
                                const TileToNVVMOptions &options);

/// tile -> llvm + nvvm, ready for translation or `gpu-module-to-binary`.
/// Registered as `tile-to-nvvm`.
void buildTileToNVVMPipeline(OpPassManager &pm,
                             const TileToNVVMOptions &options);

/// Registers both for the command line.
void registerTilePipelines();

} // namespace mlir::tile

#endif // TILEDIALECT_PIPELINES_PIPELINES_H
