// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=4},tile-gpu-coalesce))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=4},tile-gpu-coalesce{max-vector-bytes=4}))' | FileCheck %s --check-prefix=NARROW

// CHECK-DAG: #[[$BY_FOUR:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]}>
// CHECK-DAG: #[[$BY_EIGHT:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2], [4]], lane = {{\[}}[8], [16], [32], [64], [128]], warp = {{\[}}[256], [512]]}>
// CHECK-DAG: #[[$COLUMNS:.+]] = #tile_gpu.layout<{register = {{\[}}[1, 0], [2, 0]], lane = {{\[}}[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]], warp = {{\[}}[0, 4], [0, 8]]}>
// CHECK-DAG: #[[$SINGLE:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [64]]}>

gpu.module @m {
  // Four neighbours of 4 bytes a thread; the pointers are aligned to 16 bytes.
  // CHECK-LABEL: gpu.func @vector
  // NARROW-LABEL: gpu.func @vector
  gpu.func @vector(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %n: i32) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %ns = tile.splat %n : tensor<1024xi32>
    %mask = arith.cmpi slt, %r, %ns : tensor<1024xi32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    // CHECK: %[[PTR:.+]] = tile_gpu.convert_layout {{.*}} -> tensor<1024x!tile.ptr<f32>, #[[$BY_FOUR]]>
    // CHECK: %[[MASK:.+]] = tile_gpu.convert_layout {{.*}} -> tensor<1024xi1, #[[$BY_FOUR]]>
    // CHECK: %[[LOAD:.+]] = tile.load %[[PTR]] mask %[[MASK]] : tensor<1024x!tile.ptr<f32>, #[[$BY_FOUR]]>
    // CHECK: tile_gpu.convert_layout %[[LOAD]] : {{.*}} -> tensor<1024xf32, #[[$SINGLE]]>
    // NARROW-NOT: convert_layout
    %x = tile.load %q mask %mask : tensor<1024x!tile.ptr<f32>>
    tile.store %q, %x mask %mask : tensor<1024x!tile.ptr<f32>>
    // NARROW: gpu.return
    gpu.return
  }

  // An access to 2-byte elements and one to 4-byte elements agree on the wider
  // layout.
  // CHECK-LABEL: gpu.func @group
  gpu.func @group(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>},
                  %o: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f16>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
    // CHECK: tile.load {{.*}} : tensor<1024x!tile.ptr<f16>, #[[$BY_EIGHT]]>
    %x = tile.load %q : tensor<1024x!tile.ptr<f16>>
    %y = arith.extf %x : tensor<1024xf16> to tensor<1024xf32>
    %os = tile.splat %o : tensor<1024x!tile.ptr<f32>>
    %oq = tile.addptr %os, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    // CHECK: tile.store {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$BY_EIGHT]]>
    tile.store %oq, %y : tensor<1024x!tile.ptr<f32>>
    gpu.return
  }

  // The first dimension is the one that is contiguous in memory.
  // CHECK-LABEL: gpu.func @column_major
  gpu.func @column_major(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                         %stride: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %i = tile.arange 0, 32 : tensor<32xi32>
    %row = tile.expand_dims %i 1 : tensor<32xi32> -> tensor<32x1xi32>
    %rows = tile.broadcast %row : tensor<32x1xi32> -> tensor<32x32xi32>
    %col = tile.expand_dims %i 0 : tensor<32xi32> -> tensor<1x32xi32>
    %s = tile.splat %stride : tensor<1x32xi32>
    %start = arith.muli %col, %s : tensor<1x32xi32>
    %starts = tile.broadcast %start : tensor<1x32xi32> -> tensor<32x32xi32>
    %off = arith.addi %rows, %starts : tensor<32x32xi32>
    %ps = tile.splat %p : tensor<32x32x!tile.ptr<f32>>
    %q = tile.addptr %ps, %off : tensor<32x32x!tile.ptr<f32>>, tensor<32x32xi32>
    // CHECK: tile.load {{.*}} : tensor<32x32x!tile.ptr<f32>, #[[$COLUMNS]]>
    %x = tile.load %q : tensor<32x32x!tile.ptr<f32>>
    tile.print "" (%x : tensor<32x32xf32>)
    gpu.return
  }

  // No thread goes without work for the sake of a wide access.
  // CHECK-LABEL: gpu.func @small
  gpu.func @small(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 128 : tensor<128xi32>
    %ps = tile.splat %p : tensor<128x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    // CHECK: tile.load {{.*}} : tensor<128x!tile.ptr<f32>, #[[$SINGLE]]>
    %x = tile.load %q : tensor<128x!tile.ptr<f32>>
    tile.print "" (%x : tensor<128xf32>)
    gpu.return
  }

  // Nothing is known of the pointer: single elements.
  // CHECK-LABEL: gpu.func @unaligned
  gpu.func @unaligned(%p: !tile.ptr<f32>) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    // CHECK: tile.load {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$SINGLE]]>
    %x = tile.load %q : tensor<1024x!tile.ptr<f32>>
    tile.print "" (%x : tensor<1024xf32>)
    gpu.return
  }
}
