// RUN: tile-opt %s -split-input-file --tile-gpu-distribute --canonicalize --cse | FileCheck %s

// 16-byte chunks of a row of 128 bytes are XORed with the row mod 8.

#l = #tile_gpu.layout<{register = [[0, 1], [0, 2], [0, 4], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]}>
#swizzled = #tile_gpu.shared<order = [0, 1], swizzle = 128>
gpu.module @m {
  // CHECK-LABEL: gpu.func @swizzle
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK: %[[LINE:.*]] = arith.shrui %[[SUM]], %c7_i32
  // CHECK: %[[ROW:.*]] = arith.andi %[[LINE]], %c7_i32
  // CHECK: %[[CHUNK:.*]] = arith.shli %[[ROW]], %c4_i32
  // CHECK: %[[OFFSET:.*]] = arith.xori %[[SUM]], %[[CHUNK]]
  // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[OFFSET]]]
  // CHECK: llvm.store %{{.*}}, %[[P]] {alignment = 16 : i64} : vector<8xf16>
  // Eight rows on, the same chunk.
  // CHECK: %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][1024]
  // CHECK: llvm.store %{{.*}}, %[[Q]] {alignment = 16 : i64} : vector<8xf16>
  gpu.func @swizzle(%s: f16) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = tile.splat %s : tensor<16x64xf16, #l>
    %m = tile_gpu.alloc %x {offset = 0 : i64} : tensor<16x64xf16, #l> -> !tile_gpu.memdesc<16x64xf16, #swizzled>
    gpu.return
  }
}

// -----

// A row of two spans: two panels, one after the other.

#l = #tile_gpu.layout<{register = [[0, 1], [0, 2], [0, 4], [0, 64]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]}>
#swizzled = #tile_gpu.shared<order = [0, 1], swizzle = 128>
gpu.module @m {
  // CHECK-LABEL: gpu.func @panels
  // CHECK: llvm.store %{{.*}}, %[[P:.*]] {alignment = 16 : i64} : vector<8xf16>
  // CHECK: %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][2048]
  // CHECK: llvm.store %{{.*}}, %[[Q]] {alignment = 16 : i64} : vector<8xf16>
  gpu.func @panels(%s: f16) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = tile.splat %s : tensor<16x128xf16, #l>
    %m = tile_gpu.alloc %x {offset = 0 : i64} : tensor<16x128xf16, #l> -> !tile_gpu.memdesc<16x128xf16, #swizzled>
    gpu.return
  }
}

// -----

// A stage of a ring, a box of it, and its transpose.

#l = #tile_gpu.layout<{register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1]], warp = []}>
#plain = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#transposed = #tile_gpu.shared<order = [1, 0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @views
  // CHECK-SAME: (%[[STAGE:.*]]: i32)
  // CHECK: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c512_i32
  // CHECK: %[[TILE:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[BYTES]]]
  // CHECK: %[[OWN:.*]] = llvm.getelementptr inbounds %[[TILE]]
  // Row 4 of 16 floats.
  // CHECK: %[[BOX:.*]] = llvm.getelementptr inbounds %[[OWN]][256]
  // CHECK: llvm.load %[[BOX]]
  // CHECK: gpu.barrier
  gpu.func @views(%stage: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %ring = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<3x8x16xf32, #plain, mutable>
    %m = tile_gpu.memdesc_index %ring[%stage] : !tile_gpu.memdesc<3x8x16xf32, #plain, mutable> -> !tile_gpu.memdesc<8x16xf32, #plain, mutable>
    %box = tile_gpu.memdesc_subslice %m[4, 0] : !tile_gpu.memdesc<8x16xf32, #plain, mutable> -> !tile_gpu.memdesc<2x16xf32, #plain, mutable, 8x16>
    %t = tile_gpu.memdesc_trans %box [1, 0] : !tile_gpu.memdesc<2x16xf32, #plain, mutable, 8x16> -> !tile_gpu.memdesc<16x2xf32, #transposed, mutable, 16x8>
    %x = tile_gpu.local_load %t : !tile_gpu.memdesc<16x2xf32, #transposed, mutable, 16x8> -> tensor<16x2xf32, #l>
    tile_gpu.barrier
    tile_gpu.local_store %x, %t : tensor<16x2xf32, #l>, !tile_gpu.memdesc<16x2xf32, #transposed, mutable, 16x8>
    gpu.return
  }
}

// -----

// Without hardware for it, an asynchronous copy is a load and a store.

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @copy
  // CHECK: %[[X:.*]] = scf.if %{{.*}} -> (f32) {
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
  // CHECK: } else {
  // CHECK: scf.yield %cst : f32
  // CHECK: llvm.store %[[X]], %{{.*}} : f32, !llvm.ptr<3>
  gpu.func @copy(%p: !tile.ptr<f32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = tile.arange 0, 32 : tensor<32xi32, #l>
    %s = tile.splat %p : tensor<32x!tile.ptr<f32>, #l>
    %q = tile.addptr %s, %i : tensor<32x!tile.ptr<f32>, #l>, tensor<32xi32, #l>
    %b = tile.splat %n : tensor<32xi32, #l>
    %m = arith.cmpi slt, %i, %b : tensor<32xi32, #l>
    %d = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32xf32, #row, mutable>
    %t = tile_gpu.async_copy %q, %d mask %m : tensor<32x!tile.ptr<f32>, #l> -> !tile_gpu.memdesc<32xf32, #row, mutable>
    %g = tile_gpu.async_commit(%t)
    %w = tile_gpu.async_wait %g pending 0
    gpu.return
  }
}
