// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

// How wide an access is: the least of what the layout, the contiguity and
// alignment of the pointers, and the constancy of the mask allow.

#l = #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []}>
#strided = #tile_gpu.layout<{register = [[64], [128]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>

gpu.module @m {

// CHECK-LABEL: gpu.func @alignment_8
// CHECK-COUNT-4: -> vector<2xf32>
// CHECK-NOT: llvm.load
gpu.func @alignment_8(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 8>}, %o: !tile.ptr<f32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f32>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %x = tile.load %q volatile : tensor<256x!tile.ptr<f32>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @unknown_alignment
// CHECK-COUNT-8: llvm.load volatile %{{.*}} -> f32
gpu.func @unknown_alignment(%p: !tile.ptr<f32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f32>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %x = tile.load %q volatile : tensor<256x!tile.ptr<f32>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @unknown_offsets
// CHECK-COUNT-8: llvm.load volatile %{{.*}} -> f32
gpu.func @unknown_offsets(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %t: !tile.ptr<i32> {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %ts = tile.splat %t : tensor<256x!tile.ptr<i32>, #l>
  %ti = tile.addptr %ts, %i : tensor<256x!tile.ptr<i32>, #l>, tensor<256xi32, #l>
  %j = tile.load %ti : tensor<256x!tile.ptr<i32>, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f32>, #l>
  %q = tile.addptr %s, %j : tensor<256x!tile.ptr<f32>, #l>, tensor<256xi32, #l>
  %x = tile.load %q volatile : tensor<256x!tile.ptr<f32>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @layout
// CHECK-COUNT-4: llvm.load volatile %{{.*}} -> f32
gpu.func @layout(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #strided>
  %s = tile.splat %p : tensor<256x!tile.ptr<f32>, #strided>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f32>, #strided>, tensor<256xi32, #strided>
  %x = tile.load %q volatile : tensor<256x!tile.ptr<f32>, #strided>
  gpu.return
}

// An end that is a multiple of 4 lets 4 elements share a predicate.
// CHECK-LABEL: gpu.func @mask_by_4
// CHECK-COUNT-2: ld.global.v2.b32
// CHECK-NOT: ld.global
gpu.func @mask_by_4(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %n: i32 {tile.divisibility = array<i32: 4>}, %o: !tile.ptr<f16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f16>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %ns = tile.splat %n : tensor<256xi32, #l>
  %m = arith.cmpi slt, %i, %ns : tensor<256xi32, #l>
  %x = tile.load %q mask %m : tensor<256x!tile.ptr<f16>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @mask_by_1
// CHECK-COUNT-8: ld.global.b16
gpu.func @mask_by_1(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f16>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %ns = tile.splat %n : tensor<256xi32, #l>
  %m = arith.cmpi slt, %i, %ns : tensor<256xi32, #l>
  %x = tile.load %q mask %m : tensor<256x!tile.ptr<f16>, #l>
  gpu.return
}

// No access is wider than 16 bytes.
// CHECK-LABEL: gpu.func @f64
// CHECK-COUNT-4: -> vector<2xf64>
gpu.func @f64(%p: !tile.ptr<f64> {tile.divisibility = array<i32: 64>}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f64>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f64>, #l>, tensor<256xi32, #l>
  %x = tile.load %q volatile : tensor<256x!tile.ptr<f64>, #l>
  gpu.return
}

}
