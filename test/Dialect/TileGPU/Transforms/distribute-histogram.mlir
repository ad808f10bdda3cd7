// RUN: tile-opt %s -split-input-file --tile-gpu-distribute --canonicalize --cse | FileCheck %s

// Clear, barrier, count, barrier, read.

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]}>
#r = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0]]}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @histogram
  // CHECK: %[[THREAD:.*]] = arith.index_cast
  // CHECK: %[[VALUE:.*]] = llvm.load {{.*}} -> i32
  // CHECK: %[[CLEARS:.*]] = arith.cmpi ult, %[[THREAD]], %c16_i32
  // CHECK: scf.if %[[CLEARS]] {
  // CHECK: llvm.store %c0_i32
  // CHECK: gpu.barrier
  // Values outside the bins are not counted, and an element that both warps hold
  // is counted once.
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[VALUE]], %c16_i32
  // CHECK: %[[COUNTS:.*]] = arith.andi %{{.*}}, %[[INSIDE]]
  // CHECK: %[[MASKED:.*]] = arith.andi %[[COUNTS]]
  // CHECK: scf.if %[[MASKED]] {
  // CHECK: llvm.atomicrmw add %{{.*}}, %c1_i32 monotonic : !llvm.ptr<3>, i32
  // CHECK: gpu.barrier
  // CHECK: llvm.load {{.*}} -> i32
  gpu.func @histogram() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32xi32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<32xi32, #row, mutable> -> tensor<32xi32, #l>
    %i = tile.arange 0, 32 : tensor<32xi32, #l>
    %c = arith.constant dense<7> : tensor<32xi32, #l>
    %m = arith.cmpi sgt, %i, %c : tensor<32xi32, #l>
    %y = tile.histogram %x mask %m {tile_gpu.scratch = #tile_gpu.scratch<offset = 1024, bytes = 64>} : tensor<32xi32, #l> -> tensor<16xi32, #r>
    %out = tile_gpu.alloc {offset = 2048 : i64} : !tile_gpu.memdesc<16xi32, #row, mutable>
    tile_gpu.local_store %y, %out : tensor<16xi32, #r>, !tile_gpu.memdesc<16xi32, #row, mutable>
    gpu.return
  }
}
