// The two pipelines with their options.

// RUN: tile-opt %examples/vector_add.mlir --tile-to-tile-gpu="num-warps=8" | FileCheck %s --check-prefix=GPU
// RUN: tile-opt %examples/vector_add.mlir --tile-to-nvvm="chip=sm_90a num-warps=2 num-stages=3" | FileCheck %s --check-prefix=NVVM
// RUN: not tile-opt %examples/vector_add.mlir --tile-to-nvvm="chip=sm_95" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tile-opt %examples/vector_add.mlir --tile-to-nvvm="num-warps=3" 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tile-opt %examples/vector_add.mlir --tile-to-nvvm="num-stages=-5" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not tile-opt %examples/vector_add.mlir --pass-pipeline="builtin.module(tile-to-tile-gpu{num-stages=0})" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not tile-opt %examples/vector_add.mlir --tile-to-nvvm="no-such-option=3" 2>&1 | FileCheck %s --check-prefix=OPTION

// GPU: #tile_gpu.layout<
// GPU: gpu.func @vector_add
// GPU-SAME: known_block_size = array<i32: 256, 1, 1>
// GPU: tile.load
// NVVM: gpu.module @kernels [#nvvm.target<{{.*}}chip = "sm_90a", features = "+ptx83"
// NVVM-NOT: tile
// NVVM: llvm.func @vector_add({{.*}}nvvm.kernel
// NVVM-NOT: tile
// CHIP: vector_add.mlir:{{[0-9]+}}:1: error: {{.*}}'sm_95'
// WARPS: error: {{.*}}warps
// STAGES: num-stages must be at least 1, not {{-5|0}}
// OPTION: no such option
