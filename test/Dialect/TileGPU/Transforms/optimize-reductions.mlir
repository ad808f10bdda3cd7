// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=4},tile-gpu-optimize-reductions))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=4},tile-gpu-optimize-reductions{max-warp-row=32}))' | FileCheck %s --check-prefix=SHORT

// 8 lanes share a row of 64, 16 one of 128, a whole warp a longer one. A column
// lies within the lanes of a warp, too.
// CHECK-DAG: #[[$ROW64:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[}}[4, 0], [8, 0]]}>
// CHECK-DAG: #[[$ROW128:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = {{\[}}[2, 0], [4, 0]]}>
// CHECK-DAG: #[[$COLUMN:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = {{\[}}[0, 16], [0, 32]]}>
// CHECK-DAG: #[[$LOADED:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[0, 32], [0, 64]]}>
// CHECK-DAG: #[[$FEW:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[1, 0], [0, 32]]}>
// CHECK-DAG: #[[$VECTOR:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [64]]}>

gpu.module @m {
  // CHECK-LABEL: gpu.func @rows
  // SHORT-LABEL: gpu.func @rows
  gpu.func @rows(%x: f32) kernel {
    %a = tile.splat %x : tensor<16x64xf32>
    // CHECK: %[[A:.+]] = tile_gpu.convert_layout {{.*}} -> tensor<16x64xf32, #[[$ROW64]]>
    // CHECK: %[[SUM:.+]] = tile.reduce(%[[A]]) axis 1
    // CHECK-SAME: -> tensor<16xf32, #[[NATURAL:.+]]> {
    // CHECK: tile_gpu.convert_layout %[[SUM]] : tensor<16xf32, #[[NATURAL]]>
    // SHORT-NOT: convert_layout {{.*}} tensor<16x64xf32
    %s = tile.reduce(%a) axis 1 : (tensor<16x64xf32>) -> tensor<16xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.maxnumf %l, %r : f32
      tile.yield %m : f32
    }
    %b = tile.splat %x : tensor<16x128xf32>
    // CHECK: tile.scan({{.*}}) axis 1 : (tensor<16x128xf32, #[[$ROW128]]>)
    %t = tile.scan(%b) axis 1 : (tensor<16x128xf32>) -> tensor<16x128xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      tile.yield %m : f32
    }
    tile.print "" (%s, %t : tensor<16xf32>, tensor<16x128xf32>)
    gpu.return
  }

  // CHECK-LABEL: gpu.func @column
  gpu.func @column(%x: f32) kernel {
    %a = tile.splat %x : tensor<64x64xf32>
    // CHECK: tile.reduce({{.*}}) axis 0 : (tensor<64x64xf32, #[[$COLUMN]]>)
    %s = tile.reduce(%a) axis 0 : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      tile.yield %m : f32
    }
    tile.print "" (%s : tensor<64xf32>)
    gpu.return
  }

  // What is loaded stays as it is if each warp would read less than 256 bytes of a row: 64 columns for
  // four warps, but not 256.
  // CHECK-LABEL: gpu.func @loaded_columns
  gpu.func @loaded_columns(%p: !tile.ptr<f32>) kernel {
    %c = tile.arange 0, 64 : tensor<64xi32>
    %row = tile.expand_dims %c 0 : tensor<64xi32> -> tensor<1x64xi32>
    %i = tile.broadcast %row : tensor<1x64xi32> -> tensor<32x64xi32>
    %q = tile.splat %p : tensor<32x64x!tile.ptr<f32>>
    %qi = tile.addptr %q, %i : tensor<32x64x!tile.ptr<f32>>, tensor<32x64xi32>
    // CHECK: %[[X:.+]] = tile.load {{.*}} tensor<32x64x!tile.ptr<f32>, #[[NARROW:.+]]>
    // CHECK-NEXT: tile.reduce(%[[X]]) axis 0 : (tensor<32x64xf32, #[[NARROW]]>)
    %x = tile.load %qi : tensor<32x64x!tile.ptr<f32>>
    %s = tile.reduce(%x) axis 0 : (tensor<32x64xf32>) -> tensor<64xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      tile.yield %m : f32
    }
    %wide = tile.arange 0, 256 : tensor<256xi32>
    %wide_row = tile.expand_dims %wide 0 : tensor<256xi32> -> tensor<1x256xi32>
    %j = tile.broadcast %wide_row : tensor<1x256xi32> -> tensor<32x256xi32>
    %w = tile.splat %p : tensor<32x256x!tile.ptr<f32>>
    %wj = tile.addptr %w, %j : tensor<32x256x!tile.ptr<f32>>, tensor<32x256xi32>
    // CHECK: tile.load {{.*}} tensor<32x256x!tile.ptr<f32>, #[[$LOADED]]>
    // CHECK: tile.reduce({{.*}}) axis 0 : (tensor<32x256xf32, #[[$LOADED]]>)
    %y = tile.load %wj : tensor<32x256x!tile.ptr<f32>>
    %t = tile.reduce(%y) axis 0 : (tensor<32x256xf32>) -> tensor<256xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      tile.yield %m : f32
    }
    tile.print "" (%s, %t : tensor<64xf32>, tensor<256xf32>)
    gpu.return
  }

  // Two rows for four warps, and a single row, need all warps.
  // CHECK-LABEL: gpu.func @few_rows
  gpu.func @few_rows(%x: f32) kernel {
    %a = tile.splat %x : tensor<2x256xf32>
    // CHECK: tile.reduce({{.*}}) axis 1 : (tensor<2x256xf32, #[[$FEW]]>)
    %s = tile.reduce(%a) axis 1 : (tensor<2x256xf32>) -> tensor<2xf32> {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      tile.yield %m : f32
    }
    %b = tile.splat %x : tensor<256xf32>
    // CHECK: tile.reduce({{.*}}) axis 0 : (tensor<256xf32, #[[$VECTOR]]>)
    %t = tile.reduce(%b) axis 0 : (tensor<256xf32>) -> f32 {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      tile.yield %m : f32
    }
    tile.print "" (%s, %t : tensor<2xf32>, f32)
    gpu.return
  }
}
