// RUN: tile-opt %s -split-input-file --tile-gpu-distribute --canonicalize --cse | FileCheck %s

// In a thread, then over the lanes of a row: no shared memory, no barrier.

#l = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#r = #tile_gpu.layout<{register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]}>
#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @within_warp
  // CHECK-COUNT-3: arith.addf
  // CHECK: %[[S1:.*]], %{{.*}} = gpu.shuffle xor %[[S0:.*]], %c1_i32, %c32_i32 : f32
  // CHECK: %[[S2:.*]] = arith.addf %[[S0]], %[[S1]]
  // CHECK: gpu.shuffle xor %[[S2]], %c2_i32
  // CHECK: gpu.shuffle xor %{{.*}}, %c4_i32
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  gpu.func @within_warp() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<16x32xf32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<16x32xf32, #tile, mutable> -> tensor<16x32xf32, #l>
    %y = tile.reduce(%x) axis 1 : (tensor<16x32xf32, #l>) -> tensor<16xf32, #r> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    %out = tile_gpu.alloc {offset = 2048 : i64} : !tile_gpu.memdesc<16xf32, #row, mutable>
    tile_gpu.local_store %y, %out : tensor<16xf32, #r>, !tile_gpu.memdesc<16xf32, #row, mutable>
    gpu.return
  }
}

// -----

// Over warps: one lane of each writes its sum, every thread reads all of them.
// The copies in lane bit 4 take no part.

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = [[16], [32]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @between_warps
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
  // CHECK-COUNT-4: gpu.shuffle xor
  // CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0_i32
  // CHECK: scf.if %[[IS_FIRST]] {
  // CHECK: arith.muli %{{.*}}, %c4_i32
  // CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: %[[SUMS:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-COUNT-3: arith.addi
  // CHECK-NOT: gpu.barrier
  gpu.func @between_warps() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = tile.arange 0, 64 : tensor<64xi32, #l>
    %y = tile.reduce(%x) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 16>} : (tensor<64xi32, #l>) -> i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    gpu.printf "%d", %y : i32
    gpu.return
  }
}

// -----

// From 8 warps on the lanes share the last step.

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @eight_warps
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK: gpu.barrier
  // CHECK: llvm.load {{.*}} -> i32
  // CHECK-COUNT-3: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle
  gpu.func @eight_warps() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %x = tile.arange 0, 256 : tensor<256xi32, #l>
    %y = tile.reduce(%x) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 32>} : (tensor<256xi32, #l>) -> i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.maxsi %a, %b : i32
      tile.yield %s : i32
    }
    gpu.printf "%d", %y : i32
    gpu.return
  }
}

// -----

// Two sources; both lanes of a pair combine in the same order.

#l = #tile_gpu.layout<{register = [], lane = [[1], [0], [0], [0], [0]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @argmax
  // CHECK: %[[V:.*]] = llvm.load {{.*}} -> f32
  // CHECK: %[[OTHER_V:.*]], %{{.*}} = gpu.shuffle xor %[[V]]
  // CHECK: %[[OTHER_I:.*]], %{{.*}} = gpu.shuffle xor %[[I:[^,]*]]
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %c0_i32
  // CHECK: arith.select %[[FIRST]], %[[V]], %[[OTHER_V]]
  // CHECK: arith.select %[[FIRST]], %[[I]], %[[OTHER_I]]
  // CHECK: arith.select %[[FIRST]], %[[OTHER_V]], %[[V]]
  // CHECK: arith.select %[[FIRST]], %[[OTHER_I]], %[[I]]
  // CHECK: arith.cmpf oge
  gpu.func @argmax() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<2xf32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<2xf32, #row, mutable> -> tensor<2xf32, #l>
    %i = tile.arange 0, 2 : tensor<2xi32, #l>
    %y:2 = tile.reduce(%x, %i) axis 0 : (tensor<2xf32, #l>, tensor<2xi32, #l>) -> (f32, i32) {
    ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
      %c = arith.cmpf oge, %a, %b : f32
      %v = arith.select %c, %a, %b : f32
      %s = arith.select %c, %ai, %bi : i32
      tile.yield %v, %s : f32, i32
    }
    gpu.printf "%f %d", %y#0, %y#1 : f32, i32
    gpu.return
  }
}

// -----

// Two rows of 16-bit elements share a shuffle.

#l = #tile_gpu.layout<{register = [[1, 0]], lane = [[0, 1], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []}>
#r = #tile_gpu.layout<{register = [[1]], lane = [[0], [2], [4], [8], [16]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @packed
  // CHECK: gpu.shuffle xor %{{.*}}, %c1_i32, %c32_i32 : i32
  // CHECK-NOT: gpu.shuffle
  // CHECK-COUNT-2: arith.maxsi {{.*}} : i16
  gpu.func @packed() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32x2xi16, #tile_gpu.shared<order = [0, 1], swizzle = 0>, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<32x2xi16, #tile_gpu.shared<order = [0, 1], swizzle = 0>, mutable> -> tensor<32x2xi16, #l>
    %y = tile.reduce(%x) axis 1 : (tensor<32x2xi16, #l>) -> tensor<32xi16, #r> {
    ^bb0(%a: i16, %b: i16):
      %s = arith.maxsi %a, %b : i16
      tile.yield %s : i16
    }
    %out = tile_gpu.alloc {offset = 1024 : i64} : !tile_gpu.memdesc<32xi16, #tile_gpu.shared<order = [0], swizzle = 0>, mutable>
    tile_gpu.local_store %y, %out : tensor<32xi16, #r>, !tile_gpu.memdesc<32xi16, #tile_gpu.shared<order = [0], swizzle = 0>, mutable>
    gpu.return
  }
}

// -----

// A lane bit that moves along both dimensions: converted first.

#l = #tile_gpu.layout<{register = [], lane = [[1, 1], [0, 1], [0, 2], [0, 4], [0, 8]], warp = []}>
#r = #tile_gpu.layout<{register = [], lane = [[1], [0], [0], [0], [0]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @mixed_bases
  // CHECK: gpu.shuffle idx
  // CHECK-COUNT-4: gpu.shuffle xor
  // CHECK: gpu.shuffle idx
  gpu.func @mixed_bases() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<2x16xi32, #tile_gpu.shared<order = [0, 1], swizzle = 0>, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<2x16xi32, #tile_gpu.shared<order = [0, 1], swizzle = 0>, mutable> -> tensor<2x16xi32, #l>
    %y = tile.reduce(%x) axis 1 : (tensor<2x16xi32, #l>) -> tensor<2xi32, #r> {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    %out = tile_gpu.alloc {offset = 1024 : i64} : !tile_gpu.memdesc<2xi32, #tile_gpu.shared<order = [0], swizzle = 0>, mutable>
    tile_gpu.local_store %y, %out : tensor<2xi32, #r>, !tile_gpu.memdesc<2xi32, #tile_gpu.shared<order = [0], swizzle = 0>, mutable>
    gpu.return
  }
}

// -----

// Pointers are converted inside the region as well.

#l = #tile_gpu.layout<{register = [], lane = [[1], [0], [0], [0], [0]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @pointers
  // CHECK: arith.select %{{.*}} : !llvm.ptr<1>
  // CHECK: llvm.ptrtoint
  gpu.func @pointers(%p: !tile.ptr<f32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = tile.arange 0, 2 : tensor<2xi32, #l>
    %s = tile.splat %p : tensor<2x!tile.ptr<f32>, #l>
    %q = tile.addptr %s, %i : tensor<2x!tile.ptr<f32>, #l>, tensor<2xi32, #l>
    %y:2 = tile.reduce(%i, %q) axis 0 : (tensor<2xi32, #l>, tensor<2x!tile.ptr<f32>, #l>) -> (i32, !tile.ptr<f32>) {
    ^bb0(%a: i32, %ap: !tile.ptr<f32>, %b: i32, %bp: !tile.ptr<f32>):
      %c = arith.cmpi sgt, %a, %b : i32
      %v = arith.select %c, %a, %b : i32
      %r = arith.select %c, %ap, %bp : !tile.ptr<f32>
      tile.yield %v, %r : i32, !tile.ptr<f32>
    }
    %z = tile.ptr_to_int %y#1 : !tile.ptr<f32> -> i64
    gpu.printf "%ld", %z : i64
    gpu.return
  }
}
