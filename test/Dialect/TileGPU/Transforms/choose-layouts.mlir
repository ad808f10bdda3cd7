// What the passes that choose layouts make of whole kernels: no conversion is
// left in any of them.

// RUN: tile-opt %examples/vector_add.mlir --tile-to-tile-gpu=num-warps=4 | FileCheck %s --check-prefix=ADD --implicit-check-not=convert_layout
// RUN: tile-opt %examples/softmax.mlir --tile-to-tile-gpu=num-warps=4 | FileCheck %s --check-prefix=SOFTMAX --implicit-check-not=convert_layout
// RUN: tile-opt %examples/layer_norm.mlir --tile-to-tile-gpu=num-warps=4 | FileCheck %s --check-prefix=NORM --implicit-check-not=convert_layout
// RUN: tile-opt %s --tile-to-tile-gpu=num-warps=4 | FileCheck %s --check-prefix=OUTER --implicit-check-not=convert_layout

// Four neighbours a thread.
// ADD: #[[$WIDE:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]}>
// ADD-COUNT-2: tile.load {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$WIDE]]>
// ADD: tile.store {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$WIDE]]>

// Accesses, arithmetic and reductions share one layout, with a row in each warp.
// SOFTMAX: #[[$ROWS:.+]] = #tile_gpu.layout<{register = {{\[}}[0, 1], [0, 2]], lane = {{\[}}[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[}}[1, 0], [2, 0]]}>
// SOFTMAX: tile.load {{.*}} : tensor<4x1024x!tile.ptr<f32>, #[[$ROWS]]>
// SOFTMAX: tile.reduce({{.*}}) axis 1 : (tensor<4x1024xf32, #[[$ROWS]]>)
// SOFTMAX: math.exp {{.*}} : tensor<4x1024xf32, #[[$ROWS]]>
// SOFTMAX: tile.reduce({{.*}}) axis 1 : (tensor<4x1024xf32, #[[$ROWS]]>)
// SOFTMAX: tile.store {{.*}} : tensor<4x1024x!tile.ptr<f32>, #[[$ROWS]]>

// Eight neighbours of 2 bytes. The weights, which all rows use, are loaded by each
// warp by itself.
// NORM-DAG: #[[$ROWS:.+]] = #tile_gpu.layout<{register = {{\[}}[0, 1], [0, 2], [0, 4]], lane = {{\[}}[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = {{\[}}[1, 0], [2, 0]]}>
// NORM-DAG: #[[$WEIGHTS:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2], [4]], lane = {{\[}}[8], [16], [32], [64], [128]], warp = {{\[}}[0], [0]]}>
// NORM: tile.load {{.*}} : tensor<4x1024x!tile.ptr<f16>, #[[$ROWS]]>
// NORM-COUNT-2: tile.reduce({{.*}}) axis 1 : (tensor<4x1024xf32, #[[$ROWS]]>)
// NORM-COUNT-2: tile.load {{.*}} : tensor<1024x!tile.ptr<f16>, #[[$WEIGHTS]]>
// NORM: tile.store {{.*}} : tensor<4x1024x!tile.ptr<f16>, #[[$ROWS]]>

// The loop carries pointers in the layouts in which the column and the row are
// needed.
// OUTER-DAG: #[[$TILE:.+]] = #tile_gpu.layout<{register = {{\[}}[0, 1], [0, 2]], lane = {{\[}}[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = {{\[}}[2, 0], [4, 0]]}>
// OUTER-DAG: #[[$COLUMN:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0], [0], [0], [0], [1]], warp = {{\[}}[2], [4]]}>
// OUTER-DAG: #[[$ROW:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [0]], warp = {{\[}}[0], [0]]}>
// OUTER: scf.for {{.*}} -> (tensor<64x64xf32, #[[$TILE]]>, tensor<64x!tile.ptr<f32>, #[[$COLUMN]]>, tensor<64x!tile.ptr<f32>, #[[$ROW]]>)
// OUTER: tile.load {{.*}} : tensor<64x!tile.ptr<f32>, #[[$COLUMN]]>
// OUTER: tile.load {{.*}} : tensor<64x!tile.ptr<f32>, #[[$ROW]]>
// OUTER: arith.addf {{.*}} : tensor<64x64xf32, #[[$TILE]]>
// OUTER: tile.store {{.*}} : tensor<64x64x!tile.ptr<f32>, #[[$TILE]]>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @outer(%a: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %b: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %o: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %k: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %i = tile.arange 0, 64 : tensor<64xi32>
    %as = tile.splat %a : tensor<64x!tile.ptr<f32>>
    %bs = tile.splat %b : tensor<64x!tile.ptr<f32>>
    %ap0 = tile.addptr %as, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %bp0 = tile.addptr %bs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %step = arith.constant dense<64> : tensor<64xi32>
    %r:3 = scf.for %kk = %c0 to %k step %c1 iter_args(%acc = %zero, %ap = %ap0, %bp = %bp0) -> (tensor<64x64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64x!tile.ptr<f32>>) : i32 {
      %x = tile.load %ap : tensor<64x!tile.ptr<f32>>
      %y = tile.load %bp : tensor<64x!tile.ptr<f32>>
      %xe = tile.expand_dims %x 1 : tensor<64xf32> -> tensor<64x1xf32>
      %ye = tile.expand_dims %y 0 : tensor<64xf32> -> tensor<1x64xf32>
      %xb = tile.broadcast %xe : tensor<64x1xf32> -> tensor<64x64xf32>
      %yb = tile.broadcast %ye : tensor<1x64xf32> -> tensor<64x64xf32>
      %m = arith.mulf %xb, %yb : tensor<64x64xf32>
      %s = arith.addf %acc, %m : tensor<64x64xf32>
      %ap1 = tile.addptr %ap, %step : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      %bp1 = tile.addptr %bp, %step : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      scf.yield %s, %ap1, %bp1 : tensor<64x64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64x!tile.ptr<f32>>
    }
    %row = tile.expand_dims %i 1 : tensor<64xi32> -> tensor<64x1xi32>
    %col = tile.expand_dims %i 0 : tensor<64xi32> -> tensor<1x64xi32>
    %c64 = arith.constant dense<64> : tensor<64x1xi32>
    %rs = arith.muli %row, %c64 : tensor<64x1xi32>
    %rb = tile.broadcast %rs : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tile.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>
    %off = arith.addi %rb, %cb : tensor<64x64xi32>
    %os = tile.splat %o : tensor<64x64x!tile.ptr<f32>>
    %oq = tile.addptr %os, %off : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    tile.store %oq, %r#0 : tensor<64x64x!tile.ptr<f32>>
    gpu.return
  }
}
