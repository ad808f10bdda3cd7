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

// Two sources. The lower lane of a pair has its operands in order; the other gets
// the result from it.

#l = #tile_gpu.layout<{register = [], lane = [[1], [0], [0], [0], [0]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @argmax
  // CHECK: %[[V:.*]] = llvm.load {{.*}} -> f32
  // CHECK: %[[OTHER_V:.*]], %{{.*}} = gpu.shuffle xor %[[V]], %c1_i32
  // CHECK: %[[OTHER_I:.*]], %{{.*}} = gpu.shuffle xor %[[I:[^,]*]], %c1_i32
  // CHECK-NEXT: %[[KEEP:.*]] = arith.cmpf oge, %[[V]], %[[OTHER_V]]
  // CHECK-NEXT: %[[MAX_V:.*]] = arith.select %[[KEEP]], %[[V]], %[[OTHER_V]]
  // CHECK-NEXT: %[[MAX_I:.*]] = arith.select %[[KEEP]], %[[I]], %[[OTHER_I]]
  // CHECK-NEXT: %[[ALL_V:.*]], %{{.*}} = gpu.shuffle idx %[[MAX_V]], %c0_i32
  // CHECK-NEXT: %[[ALL_I:.*]], %{{.*}} = gpu.shuffle idx %[[MAX_I]], %c0_i32
  // CHECK-NEXT: gpu.printf "%f %d", %[[ALL_V]], %[[ALL_I]]
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

// A result that is not used is not sent. Lanes that hold other rows get theirs from
// the lowest lane of their row.

#l = #tile_gpu.layout<{register = [], lane = [[0, 1], [1, 0], [0, 2], [0, 0], [2, 0]], warp = []}>
#r = #tile_gpu.layout<{register = [], lane = [[0], [1], [0], [0], [2]], warp = []}>
#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @rows_in_lanes
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
  // CHECK: gpu.shuffle xor %{{.*}}, %c1_i32
  // CHECK-COUNT-2: gpu.shuffle xor %{{.*}}, %c4_i32
  // CHECK: %[[SECOND:.*]] = arith.addi
  // CHECK: %[[FROM:.*]] = arith.andi %[[LANE]], %c18_i32
  // CHECK-NEXT: gpu.shuffle idx %[[SECOND]], %[[FROM]], %c32_i32
  // CHECK-NOT: gpu.shuffle
  gpu.func @rows_in_lanes() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<4x4xi32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<4x4xi32, #tile, mutable> -> tensor<4x4xi32, #l>
    %y:2 = tile.reduce(%x, %x) axis 1 : (tensor<4x4xi32, #l>, tensor<4x4xi32, #l>) -> (tensor<4xi32, #r>, tensor<4xi32, #r>) {
    ^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
      %p = arith.muli %a, %c : i32
      %q = arith.muli %b, %c : i32
      %s = arith.addi %q, %d : i32
      tile.yield %p, %s : i32, i32
    }
    %out = tile_gpu.alloc {offset = 1024 : i64} : !tile_gpu.memdesc<4xi32, #row, mutable>
    tile_gpu.local_store %y#1, %out : tensor<4xi32, #r>, !tile_gpu.memdesc<4xi32, #row, mutable>
    gpu.return
  }
}

// -----

// Each value is its own mirror image, so that all lanes have the same: no lane sends
// its result. A product of floats, which may fuse with one of two sums, is not.

#l = #tile_gpu.layout<{register = [], lane = [[1], [0], [0], [0], [0]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @symmetric
  // CHECK-COUNT-2: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle idx
  // CHECK-LABEL: gpu.func @may_fuse
  // CHECK-COUNT-2: gpu.shuffle xor
  // CHECK-COUNT-2: gpu.shuffle idx
  gpu.func @symmetric(%m: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.splat %m : tensor<2xf32, #l>
    %i = tile.arange 0, 2 : tensor<2xi32, #l>
    %y:2 = tile.reduce(%x, %i) axis 0 : (tensor<2xf32, #l>, tensor<2xi32, #l>) -> (f32, i32) {
    ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
      %n = arith.maximumf %b, %a : f32
      %c = arith.subf %a, %n : f32
      %d = arith.subf %b, %n : f32
      %s = arith.addf %d, %c : f32
      %t = arith.xori %bi, %ai : i32
      tile.yield %s, %t : f32, i32
    }
    gpu.printf "%f %d", %y#0, %y#1 : f32, i32
    gpu.return
  }
  gpu.func @may_fuse(%m: f32, %n: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.splat %m : tensor<2xf32, #l>
    %z = tile.splat %n : tensor<2xf32, #l>
    %y:2 = tile.reduce(%x, %z) axis 0 : (tensor<2xf32, #l>, tensor<2xf32, #l>) -> (f32, f32) {
    ^bb0(%a: f32, %aw: f32, %b: f32, %bw: f32):
      %c = arith.mulf %a, %aw : f32
      %d = arith.mulf %b, %bw : f32
      %s = arith.addf %c, %d : f32
      %w = arith.addf %aw, %bw : f32
      tile.yield %s, %w : f32, f32
    }
    gpu.printf "%f %f", %y#0, %y#1 : f32, f32
    gpu.return
  }
}

// -----

// A last step of many instructions: one warp does it and writes the result behind the
// sums, which all read. Nothing is broadcast between lanes.

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128], [256]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @one_warp
  // CHECK: %[[WARP:.*]] = arith.shrui %{{.*}}, %c5_i32
  // CHECK: %[[PLACE:.*]] = arith.andi %[[WARP]], %c15_i32
  // CHECK-COUNT-10: gpu.shuffle xor
  // CHECK: gpu.barrier
  // CHECK: %[[FIRST_WARP:.*]] = arith.cmpi eq, %[[PLACE]], %c0_i32
  // CHECK-NEXT: scf.if %[[FIRST_WARP]] {
  // CHECK-COUNT-8: gpu.shuffle xor
  // CHECK: scf.if
  // CHECK-COUNT-2: llvm.store
  // CHECK-NOT: gpu.shuffle
  // CHECK: gpu.barrier
  // CHECK: %[[V:.*]] = llvm.load %{{.*}} -> i32
  // CHECK: %[[I:.*]] = llvm.load %{{.*}} -> i32
  // CHECK: gpu.printf "%d %d", %[[V]], %[[I]]
  gpu.func @one_warp(%m: i32) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %x = tile.arange 0, 512 : tensor<512xi32, #l>
    %z = tile.splat %m : tensor<512xi32, #l>
    %y:2 = tile.reduce(%z, %x) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 160>} : (tensor<512xi32, #l>, tensor<512xi32, #l>) -> (i32, i32) {
    ^bb0(%a: i32, %ai: i32, %b: i32, %bi: i32):
      %g = arith.cmpi sgt, %a, %b : i32
      %e = arith.cmpi eq, %a, %b : i32
      %t = arith.cmpi slt, %ai, %bi : i32
      %u = arith.andi %e, %t : i1
      %k = arith.ori %g, %u : i1
      %v = arith.select %k, %a, %b : i32
      %i = arith.select %k, %ai, %bi : i32
      tile.yield %v, %i : i32, i32
    }
    gpu.printf "%d %d", %y#0, %y#1 : i32, i32
    gpu.return
  }
}

// -----

// Sums of 8 warps for 32 rows that lie along the lanes: place after place, so that
// the lanes read consecutive addresses. The second time, with many instructions for
// each combination, one thread for each row combines.

#l = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]}>
#r = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0], [0]]}>
#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @place_by_place
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
  // CHECK: gpu.barrier
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  // CHECK-LABEL: gpu.func @one_thread
  // CHECK: %[[THREAD:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: gpu.barrier
  // CHECK: %[[IS_ROW:.*]] = arith.cmpi ult, %[[THREAD]], %c32_i32
  // CHECK-NEXT: scf.if %[[IS_ROW]] {
  // CHECK-COUNT-8: llvm.load {{.*}} -> f32
  // CHECK-COUNT-7: arith.subf
  // CHECK-NOT: arith.subf
  // CHECK: llvm.store
  // CHECK: gpu.barrier
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  gpu.func @place_by_place() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32x32xf32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<32x32xf32, #tile, mutable> -> tensor<32x32xf32, #l>
    %y = tile.reduce(%x) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 8192, bytes = 1024>} : (tensor<32x32xf32, #l>) -> tensor<32xf32, #r> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    %out = tile_gpu.alloc {offset = 4096 : i64} : !tile_gpu.memdesc<32xf32, #row, mutable>
    tile_gpu.local_store %y, %out : tensor<32xf32, #r>, !tile_gpu.memdesc<32xf32, #row, mutable>
    gpu.return
  }
  gpu.func @one_thread() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32x32xf32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<32x32xf32, #tile, mutable> -> tensor<32x32xf32, #l>
    %y = tile.reduce(%x) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 8192, bytes = 1152>} : (tensor<32x32xf32, #l>) -> tensor<32xf32, #r> {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      %s = arith.subf %a, %m : f32
      tile.yield %s : f32
    }
    %out = tile_gpu.alloc {offset = 4096 : i64} : !tile_gpu.memdesc<32xf32, #row, mutable>
    tile_gpu.local_store %y, %out : tensor<32xf32, #r>, !tile_gpu.memdesc<32xf32, #row, mutable>
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
