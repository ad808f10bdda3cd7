// RUN: tile-opt %s -split-input-file --tile-gpu-distribute --canonicalize --cse | FileCheck %s

// Shape ops whose result does not have the layout of their rule, and gather.

#row = #tile_gpu.shared<order = [0], swizzle = 0>
#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>

// The result's layout is another one than the rule gives: the rest is a layout
// conversion, here between lanes.

#a = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
#b = #tile_gpu.layout<{register = [], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @reshape
  // CHECK: gpu.shuffle idx
  // CHECK-NOT: gpu.barrier
  gpu.func @reshape() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.arange 0, 32 : tensor<32xi32, #a>
    %y = tile.reshape %x : tensor<32xi32, #a> -> tensor<4x8xi32, #b>
    %out = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<4x8xi32, #tile, mutable>
    tile_gpu.local_store %y, %out : tensor<4x8xi32, #b>, !tile_gpu.memdesc<4x8xi32, #tile, mutable>
    gpu.return
  }
}

// -----

// Extents that no bit pattern maps onto each other go through memory row-major.

#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#a = #tile_gpu.layout<{register = [], lane = [[0, 1], [0, 2], [0, 0], [0, 0], [0, 0]], warp = []}>
#b = #tile_gpu.layout<{register = [], lane = [[1, 0], [2, 0], [0, 0], [0, 0], [0, 0]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @reshape_odd
  // CHECK: scf.if
  // CHECK-COUNT-3: llvm.store
  // CHECK: }
  // CHECK: gpu.barrier
  // CHECK-COUNT-3: llvm.load
  gpu.func @reshape_odd() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<3x4xi32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<3x4xi32, #tile, mutable> -> tensor<3x4xi32, #a>
    %y = tile.reshape %x {tile_gpu.scratch = #tile_gpu.scratch<offset = 1024, bytes = 48>} : tensor<3x4xi32, #a> -> tensor<4x3xi32, #b>
    %out = tile_gpu.alloc {offset = 2048 : i64} : !tile_gpu.memdesc<4x3xi32, #tile, mutable>
    tile_gpu.local_store %y, %out : tensor<4x3xi32, #b>, !tile_gpu.memdesc<4x3xi32, #tile, mutable>
    gpu.return
  }
}

// -----

// Both halves are registers of one tile first.

#row = #tile_gpu.shared<order = [0], swizzle = 0>
#a = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
#b = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @cat_in_place
  // CHECK: %[[X:.*]] = llvm.load
  // CHECK: %[[Y:.*]] = llvm.load
  // CHECK-NOT: gpu.shuffle
  // CHECK: llvm.store %[[X]]
  // CHECK: llvm.store %[[Y]]
  // CHECK-LABEL: gpu.func @cat_between_lanes
  // CHECK: gpu.shuffle idx
  gpu.func @cat_in_place() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m0 = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32xi32, #row, mutable>
    %m1 = tile_gpu.alloc {offset = 128 : i64} : !tile_gpu.memdesc<32xi32, #row, mutable>
    %x = tile_gpu.local_load %m0 : !tile_gpu.memdesc<32xi32, #row, mutable> -> tensor<32xi32, #a>
    %y = tile_gpu.local_load %m1 : !tile_gpu.memdesc<32xi32, #row, mutable> -> tensor<32xi32, #a>
    %z = tile.cat %x, %y axis 0 : tensor<32xi32, #a> -> tensor<64xi32, #a>
    %out = tile_gpu.alloc {offset = 256 : i64} : !tile_gpu.memdesc<64xi32, #row, mutable>
    tile_gpu.local_store %z, %out : tensor<64xi32, #a>, !tile_gpu.memdesc<64xi32, #row, mutable>
    gpu.return
  }
  gpu.func @cat_between_lanes() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m0 = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<32xi32, #row, mutable>
    %m1 = tile_gpu.alloc {offset = 128 : i64} : !tile_gpu.memdesc<32xi32, #row, mutable>
    %x = tile_gpu.local_load %m0 : !tile_gpu.memdesc<32xi32, #row, mutable> -> tensor<32xi32, #a>
    %y = tile_gpu.local_load %m1 : !tile_gpu.memdesc<32xi32, #row, mutable> -> tensor<32xi32, #a>
    %z = tile.cat %x, %y axis 0 : tensor<32xi32, #a> -> tensor<64xi32, #b>
    %out = tile_gpu.alloc {offset = 256 : i64} : !tile_gpu.memdesc<64xi32, #row, mutable>
    tile_gpu.local_store %z, %out : tensor<64xi32, #b>, !tile_gpu.memdesc<64xi32, #row, mutable>
    gpu.return
  }
}

// -----

// The halves are in different lanes.

#row = #tile_gpu.shared<order = [0], swizzle = 0>
#a = #tile_gpu.layout<{register = [], lane = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []}>
#b = #tile_gpu.layout<{register = [], lane = [[0], [1], [2], [4], [8]], warp = []}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @split
  // CHECK: %[[EVEN:.*]] = arith.andi %{{.*}}, %c30_i32
  // CHECK: gpu.shuffle idx %{{.*}}, %[[EVEN]]
  // CHECK: %[[ODD:.*]] = arith.xori %[[EVEN]], %c1_i32
  // CHECK: gpu.shuffle idx %{{.*}}, %[[ODD]]
  gpu.func @split() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %m0 = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<16x2xi32, #tile_gpu.shared<order = [0, 1], swizzle = 0>, mutable>
    %x = tile_gpu.local_load %m0 : !tile_gpu.memdesc<16x2xi32, #tile_gpu.shared<order = [0, 1], swizzle = 0>, mutable> -> tensor<16x2xi32, #a>
    %y:2 = tile.split %x : tensor<16x2xi32, #a> -> tensor<16xi32, #b>
    %out = tile_gpu.alloc {offset = 256 : i64} : !tile_gpu.memdesc<16xi32, #row, mutable>
    tile_gpu.local_store %y#0, %out : tensor<16xi32, #b>, !tile_gpu.memdesc<16xi32, #row, mutable>
    tile_gpu.local_store %y#1, %out : tensor<16xi32, #b>, !tile_gpu.memdesc<16xi32, #row, mutable>
    gpu.return
  }
}

// -----

// An index beyond the axis reads the last element.

#row = #tile_gpu.shared<order = [0], swizzle = 0>
#a = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>
#b = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @gather
  // CHECK: %[[INDEX:.*]] = llvm.load {{.*}} -> i64
  // CHECK: %[[SCRATCH:.*]] = llvm.getelementptr %{{.*}}[1024]
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<2xf16>
  // CHECK: gpu.barrier
  // CHECK: %[[SAFE:.*]] = arith.minui %[[INDEX]], %c127_i64
  // CHECK: %[[SHORT:.*]] = arith.trunci %[[SAFE]] : i64 to i32
  // CHECK: %[[BYTES:.*]] = arith.shli %[[SHORT]], %c1_i32
  // CHECK: %[[FROM:.*]] = llvm.getelementptr inbounds %[[SCRATCH]][%[[BYTES]]]
  // CHECK: llvm.load %[[FROM]] {alignment = 2 : i64} : !llvm.ptr<3> -> f16
  gpu.func @gather() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %m0 = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<128xf16, #row, mutable>
    %m1 = tile_gpu.alloc {offset = 256 : i64} : !tile_gpu.memdesc<32xi64, #row, mutable>
    %x = tile_gpu.local_load %m0 : !tile_gpu.memdesc<128xf16, #row, mutable> -> tensor<128xf16, #a>
    %i = tile_gpu.local_load %m1 : !tile_gpu.memdesc<32xi64, #row, mutable> -> tensor<32xi64, #b>
    %y = tile.gather %x[%i] axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 1024, bytes = 256>} : tensor<128xf16, #a>, tensor<32xi64, #b> -> tensor<32xf16, #b>
    %out = tile_gpu.alloc {offset = 2048 : i64} : !tile_gpu.memdesc<32xf16, #row, mutable>
    tile_gpu.local_store %y, %out : tensor<32xf16, #b>, !tile_gpu.memdesc<32xf16, #row, mutable>
    gpu.return
  }
}

// -----

// Indices that are the position XOR a constant: elements change places between
// lanes or registers, without shared memory. Between warps there is no way
// around it.

#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#a = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[0, 64]]}>
#row = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @exchange
  // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
  // CHECK-DAG: %[[C6:.*]] = arith.constant 6 : i32
  // CHECK: %[[PAIR:.*]] = llvm.load {{.*}} -> vector<2xf32>
  // CHECK: %[[X0:.*]] = llvm.extractelement %[[PAIR]][%c0
  // CHECK: %[[X1:.*]] = llvm.extractelement %[[PAIR]][%c1
  // CHECK-NOT: gpu.barrier
  // Positions 13 away: the other register of the lane 6 away.
  // CHECK: %[[Y0:.*]], %{{.*}} = gpu.shuffle xor %[[X1]], %[[C6]], %[[C32]]
  // CHECK: %[[Y1:.*]], %{{.*}} = gpu.shuffle xor %[[X0]], %[[C6]], %[[C32]]
  // The whole order reversed: 127 away, in the other warp.
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.shuffle
  // CHECK: gpu.return
  gpu.func @exchange() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<1x128xf32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<1x128xf32, #tile, mutable> -> tensor<1x128xf32, #a>
    %p = tile.arange 0, 128 : tensor<128xi32, #row>
    %c13 = arith.constant dense<13> : tensor<128xi32, #row>
    %q = arith.xori %p, %c13 : tensor<128xi32, #row>
    %i = tile.expand_dims %q 0 : tensor<128xi32, #row> -> tensor<1x128xi32, #a>
    %y = tile.gather %x[%i] axis 1 : tensor<1x128xf32, #a>, tensor<1x128xi32, #a> -> tensor<1x128xf32, #a>
    %c127 = arith.constant dense<127> : tensor<128xi32, #row>
    %r = arith.subi %c127, %p : tensor<128xi32, #row>
    %j = tile.expand_dims %r 0 : tensor<128xi32, #row> -> tensor<1x128xi32, #a>
    %z = tile.gather %y[%j] axis 1 {tile_gpu.scratch = #tile_gpu.scratch<offset = 1024, bytes = 512>} : tensor<1x128xf32, #a>, tensor<1x128xi32, #a> -> tensor<1x128xf32, #a>
    %out = tile_gpu.alloc {offset = 2048 : i64} : !tile_gpu.memdesc<1x128xf32, #tile, mutable>
    tile_gpu.local_store %z, %out : tensor<1x128xf32, #a>, !tile_gpu.memdesc<1x128xf32, #tile, mutable>
    gpu.return
  }
}
