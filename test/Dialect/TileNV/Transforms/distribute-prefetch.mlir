// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

#l = #tile_gpu.layout<{register = [[1], [2], [128]], lane = [[4], [8], [16], [32], [64]], warp = []}>

// One for what a load without a mask would access at once, in the state space of the pointers. Of the mask
// (%n may be any number) the first of four elements counts.
// CHECK-LABEL: gpu.func @prefetch(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>
gpu.module @kernels {
  gpu.func @prefetch(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %g: !tile.ptr<f32, 0>,
                     %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = tile.arange 0, 256 : tensor<256xi32, #l>
    %base = tile.splat %p : tensor<256x!tile.ptr<f32>, #l>
    %q = tile.addptr %base, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
    // CHECK-COUNT-2: llvm.inline_asm has_side_effects asm_dialect = att "prefetch.global.L2 [$0];", "l"
    // CHECK-NOT: prefetch
    tile_nv.prefetch %q : tensor<256x!tile.ptr<f32>, #l>
    // CHECK: %[[M0:.*]] = arith.cmpi
    // CHECK-COUNT-3: arith.cmpi
    // CHECK: %[[M1:.*]] = arith.cmpi
    // CHECK-COUNT-3: arith.cmpi
    %bound = tile.splat %n : tensor<256xi32, #l>
    %mask = arith.cmpi slt, %i, %bound : tensor<256xi32, #l>
    // CHECK: "@$1 prefetch.global.L2 [$0];", "l,b" %{{.*}}, %[[M0]]
    // CHECK: "@$1 prefetch.global.L2 [$0];", "l,b" %{{.*}}, %[[M1]]
    // CHECK-NOT: prefetch
    tile_nv.prefetch %q mask %mask : tensor<256x!tile.ptr<f32>, #l>
    %generic = tile.splat %g : tensor<256x!tile.ptr<f32, 0>, #l>
    // CHECK: "prefetch.L2 [$0];", "l"
    tile_nv.prefetch %generic : tensor<256x!tile.ptr<f32, 0>, #l>
    gpu.return
  }
}
