// Dialects and single passes of the plugin work in the stock mlir-opt, and its
// own passes work on our ops.

// RUN: %mlir_opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(gpu.module(canonicalize,convert-tile-to-tile-gpu{num-warps=2}))' \
// RUN:   | FileCheck %s

gpu.module @m {
  // CHECK: #layout = #tile_gpu.layout<
  // CHECK: gpu.func @k
  // CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
  gpu.func @k() kernel {
    // CHECK: tile.arange
    // CHECK-SAME: #layout
    %0 = tile.arange 0, 128 : tensor<128xi32>
    tile.print "x: " (%0 : tensor<128xi32>)
    gpu.return
  }
}
