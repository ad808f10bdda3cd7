// RUN: tile-opt %s -split-input-file --tile-gpu-distribute --canonicalize --cse | FileCheck %s

// A thread's run, then the lanes: log2(lanes) shuffles for the sums, one more for
// what comes before.

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [0], [0], [0]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @lanes
  // CHECK: %[[X:.*]] = llvm.load {{.*}} -> vector<2xi32>
  // CHECK: %[[X0:.*]] = llvm.extractelement %[[X]][%c0_i32
  // CHECK: %[[X1:.*]] = llvm.extractelement %[[X]][%c1_i32
  // CHECK: %[[SUM:.*]] = arith.addi %[[X0]], %[[X1]]
  // CHECK: %[[BEFORE1:.*]], %{{.*}} = gpu.shuffle idx %[[SUM]]
  // CHECK: %[[HAS1:.*]] = arith.cmpi uge, %[[PLACE:.*]], %c1_i32
  // CHECK: %[[NEXT:.*]] = arith.addi %[[BEFORE1]], %[[SUM]]
  // CHECK: %[[SUM1:.*]] = arith.select %[[HAS1]], %[[NEXT]], %[[SUM]]
  // CHECK: gpu.shuffle idx %[[SUM1]]
  // CHECK: arith.cmpi uge, %[[PLACE]], %c2_i32
  // CHECK: %[[PREFIX:.*]], %{{.*}} = gpu.shuffle idx
  // CHECK: %[[Y0:.*]] = arith.addi %[[PREFIX]], %[[X0]]
  // CHECK: arith.select %[[HAS1]], %[[Y0]], %[[X0]]
  // CHECK: %[[Y1:.*]] = arith.addi %[[PREFIX]], %[[SUM]]
  // CHECK: arith.select %[[HAS1]], %[[Y1]], %[[SUM]]
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  gpu.func @lanes() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<8xi32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<8xi32, #row, mutable> -> tensor<8xi32, #l>
    %y = tile.scan(%x) axis 0 : (tensor<8xi32, #l>) -> tensor<8xi32, #l> {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    tile_gpu.local_store %y, %in : tensor<8xi32, #l>, !tile_gpu.memdesc<8xi32, #row, mutable>
    gpu.return
  }
}

// -----

// Reverse: the last element comes first, so the left operand is the one above.

#l = #tile_gpu.layout<{register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @reverse
  // CHECK: %[[X0:.*]] = llvm.extractelement %{{.*}}[%c0_i32
  // CHECK: %[[X1:.*]] = llvm.extractelement %{{.*}}[%c1_i32
  // CHECK: %[[Y0:.*]] = arith.subi %[[X1]], %[[X0]]
  gpu.func @reverse() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<2xi32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<2xi32, #row, mutable> -> tensor<2xi32, #l>
    %y = tile.scan(%x) axis 0 reverse : (tensor<2xi32, #l>) -> tensor<2xi32, #l> {
    ^bb0(%a: i32, %b: i32):
      %s = arith.subi %a, %b : i32
      tile.yield %s : i32
    }
    tile_gpu.local_store %y, %in : tensor<2xi32, #l>, !tile_gpu.memdesc<2xi32, #row, mutable>
    gpu.return
  }
}

// -----

// Over warps and over three spans of the block: one barrier in all.

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @warps
  // The last lane has the sum of its warp.
  // CHECK: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c31_i32
  // CHECK: scf.if %[[LAST]] {
  // CHECK-COUNT-3: llvm.store
  // CHECK: }
  // CHECK: gpu.barrier
  // CHECK-COUNT-3: llvm.load {{.*}} -> vector<2xi32>
  // CHECK-NOT: gpu.barrier
  gpu.func @warps() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<192xi32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<192xi32, #row, mutable> -> tensor<192xi32, #l>
    %y = tile.scan(%x) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 1024, bytes = 32>} : (tensor<192xi32, #l>) -> tensor<192xi32, #l> {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    tile_gpu.local_store %y, %in : tensor<192xi32, #l>, !tile_gpu.memdesc<192xi32, #row, mutable>
    gpu.return
  }
}

// -----

// Registers between lanes: converted to a layout in which runs follow each other.

#l = #tile_gpu.layout<{register = [[2]], lane = [[1], [4], [8], [16], [32]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @converted
  // CHECK: gpu.shuffle idx
  // CHECK: arith.addi
  // CHECK: gpu.shuffle idx
  gpu.func @converted() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<64xi32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<64xi32, #row, mutable> -> tensor<64xi32, #l>
    %y = tile.scan(%x) axis 0 : (tensor<64xi32, #l>) -> tensor<64xi32, #l> {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    tile_gpu.local_store %y, %in : tensor<64xi32, #l>, !tile_gpu.memdesc<64xi32, #row, mutable>
    gpu.return
  }
}
