// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=2}))' | FileCheck %s

// The default layout: one element a thread, lanes along the last dimension,
// warps over the first.
// CHECK-DAG: #[[$VECTOR:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32]]}>
// CHECK-DAG: #[[$MATRIX:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[1, 0]]}>
// CHECK-DAG: #[[$ROW:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[0, 0]]}>
// CHECK-DAG: #[[$ROW_SOURCE:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[0, 32]]}>

gpu.module @m {
  // CHECK-LABEL: gpu.func @elementwise
  // CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
  gpu.func @elementwise(%n: i32) kernel {
    // CHECK: arith.constant dense<7> : tensor<64xi32, #[[$VECTOR]]>
    %c = arith.constant dense<7> : tensor<64xi32>
    // CHECK: tile.arange 0, 64 {tile.divisibility = array<i32: 8>} : tensor<64xi32, #[[$VECTOR]]>
    %r = tile.arange 0, 64 {tile.divisibility = array<i32: 8>} : tensor<64xi32>
    // CHECK: arith.addi {{.*}} : tensor<64xi32, #[[$VECTOR]]>
    %s = arith.addi %c, %r : tensor<64xi32>
    tile.print "" (%s : tensor<64xi32>)
    // CHECK-NOT: convert_layout
    gpu.return
  }

  // CHECK-LABEL: gpu.func @expand_and_broadcast
  gpu.func @expand_and_broadcast() kernel {
    // CHECK: %[[RANGE:.+]] = tile.arange
    %r = tile.arange 0, 64 : tensor<64xi32>
    // CHECK: %[[SOURCE:.+]] = tile.expand_dims %{{.+}} 0 : {{.*}} -> tensor<1x64xi32, #[[$ROW_SOURCE]]>
    %e = tile.expand_dims %r 0 : tensor<64xi32> -> tensor<1x64xi32>
    // CHECK: %[[CONVERTED:.+]] = tile_gpu.convert_layout %[[SOURCE]] : tensor<1x64xi32, #[[$ROW_SOURCE]]> -> tensor<1x64xi32, #[[$ROW]]>
    // CHECK: tile.broadcast %[[CONVERTED]] : tensor<1x64xi32, #[[$ROW]]> -> tensor<8x64xi32, #[[$MATRIX]]>
    %b = tile.broadcast %e : tensor<1x64xi32> -> tensor<8x64xi32>
    tile.print "" (%b : tensor<8x64xi32>)
    gpu.return
  }

  // CHECK-LABEL: gpu.func @reduce
  gpu.func @reduce(%x: f32) kernel {
    %t = tile.splat %x : tensor<64x32xf32>
    // CHECK: %[[SUM:.+]] = tile.reduce
    // CHECK-SAME: -> tensor<64xf32, #[[NATURAL:.+]]> {
    %s = tile.reduce(%t) axis 1 : (tensor<64x32xf32>) -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    // CHECK: tile_gpu.convert_layout %[[SUM]] : tensor<64xf32, #[[NATURAL]]> -> tensor<64xf32, #[[$VECTOR]]>
    tile.print "" (%s : tensor<64xf32>)
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_shapes
  gpu.func @other_shapes(%x: f32) kernel {
    %t = tile.splat %x : tensor<64x32xf32>
    // CHECK: %[[TRANS:.+]] = tile.trans
    // CHECK: tile_gpu.convert_layout %[[TRANS]]
    %u = tile.trans %t [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
    // CHECK: tile.join
    %j = tile.join %u, %u : tensor<32x64xf32> -> tensor<32x64x2xf32>
    // CHECK: tile.split
    %l, %r = tile.split %j : tensor<32x64x2xf32> -> tensor<32x64xf32>
    // CHECK: tile.reshape
    %v = tile.reshape %l : tensor<32x64xf32> -> tensor<2048xf32>
    %w = tile.cat %v, %v axis 0 : tensor<2048xf32> -> tensor<4096xf32>
    // CHECK: tile.print {{.*}} : tensor<4096xf32, #[[$VECTOR]]>
    tile.print "" (%w : tensor<4096xf32>)
    gpu.return
  }

  // CHECK-LABEL: gpu.func @control_flow
  gpu.func @control_flow(%n: i32, %c: i1) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %init = tile.arange 0, 64 : tensor<64xi32>
    // CHECK: scf.for {{.*}} -> (tensor<64xi32, #[[$VECTOR]]>)
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> tensor<64xi32> : i32 {
      // CHECK: scf.if {{.*}} -> (tensor<64xi32, #[[$VECTOR]]>)
      %b = scf.if %c -> tensor<64xi32> {
        %s = arith.addi %a, %a : tensor<64xi32>
        scf.yield %s : tensor<64xi32>
      } else {
        scf.yield %a : tensor<64xi32>
      }
      scf.yield %b : tensor<64xi32>
    }
    // CHECK: cf.br ^[[NEXT:.+]](%{{.+}} : tensor<64xi32, #[[$VECTOR]]>)
    cf.br ^next(%r : tensor<64xi32>)
    // CHECK: ^[[NEXT]](%{{.+}}: tensor<64xi32, #[[$VECTOR]]>):
  ^next(%s: tensor<64xi32>):
    tile.print "" (%s : tensor<64xi32>)
    gpu.return
  }

  // A helper that nobody calls any more goes away.
  // CHECK-NOT: func.func @helper
  func.func @helper(%t: tensor<64xf32>) -> tensor<64xf32> {
    return %t : tensor<64xf32>
  }
}
