// RUN: tile-opt %s --tile-gpu-distribute -split-input-file | FileCheck %s

#l = #tile_gpu.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []}>

// A tile that a loop carries becomes one iteration argument for each register.
gpu.module @loop {
  // CHECK-LABEL: gpu.func @loop
  gpu.func @loop(%f: f32, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tile.splat %f : tensor<64xf32, #l>
    // CHECK: scf.for %{{.*}} iter_args(%[[X0:.*]] = %[[F:.*]], %[[X1:.*]] = %[[F]]) -> (f32, f32)
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<64xf32, #l>) : i32 {
      // CHECK: %[[Y0:.*]] = arith.mulf %[[X0]], %{{.*}} : f32
      // CHECK: %[[Y1:.*]] = arith.mulf %[[X1]], %{{.*}} : f32
      %y = arith.mulf %x, %a : tensor<64xf32, #l>
      // CHECK: scf.yield %[[Y0]], %[[Y1]] : f32, f32
      scf.yield %y : tensor<64xf32, #l>
    }
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []}>

gpu.module @while_if {
  // CHECK-LABEL: gpu.func @while_if
  gpu.func @while_if(%f: f32, %n: i32, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %a = tile.splat %f : tensor<64xf32, #l>
    // CHECK: scf.if %{{.*}} -> (f32, f32)
    %b = scf.if %c -> (tensor<64xf32, #l>) {
      %s = arith.addf %a, %a : tensor<64xf32, #l>
      scf.yield %s : tensor<64xf32, #l>
    } else {
      scf.yield %a : tensor<64xf32, #l>
    }
    // CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (f32, f32, i32) -> (f32, f32, i32)
    %w:2 = scf.while (%x = %b, %k = %n) : (tensor<64xf32, #l>, i32) -> (tensor<64xf32, #l>, i32) {
      %go = arith.cmpi sgt, %k, %c0 : i32
      scf.condition(%go) %x, %k : tensor<64xf32, #l>, i32
    } do {
    ^bb0(%x: tensor<64xf32, #l>, %k: i32):
      %y = arith.addf %x, %a : tensor<64xf32, #l>
      scf.yield %y, %c0 : tensor<64xf32, #l>, i32
    }
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []}>

// An early return, and a tile as a block argument.
gpu.module @blocks {
  // CHECK-LABEL: gpu.func @blocks
  gpu.func @blocks(%f: f32, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.splat %f : tensor<64xf32, #l>
    // CHECK: cf.cond_br %{{.*}}, ^[[EXIT:.*]], ^[[BODY:.*]](%{{.*}}, %{{.*}} : f32, f32)
    cf.cond_br %c, ^exit, ^body(%a : tensor<64xf32, #l>)
  // CHECK: ^[[EXIT]]:
  // CHECK-NEXT: gpu.return
  ^exit:
    gpu.return
  // CHECK: ^[[BODY]](%[[X0:.*]]: f32, %[[X1:.*]]: f32):
  ^body(%x: tensor<64xf32, #l>):
    // CHECK-NEXT: arith.addf %[[X0]], %{{.*}} : f32
    // CHECK-NEXT: arith.addf %[[X1]], %{{.*}} : f32
    %y = arith.addf %x, %a : tensor<64xf32, #l>
    gpu.return
  }
}
