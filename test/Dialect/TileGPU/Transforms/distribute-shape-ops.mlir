// RUN: tile-opt %s --tile-gpu-distribute -split-input-file | FileCheck %s

// The coordinates of a thread are computed once, at the entry: lanes hold pairs, the
// warp bit adds 64. A register adds its constant.
#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>
gpu.module @arange {
  // CHECK-LABEL: gpu.func @arange(
  gpu.func @arange(%v: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[TID:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[LANE:.*]] = arith.andi %[[TID]], %{{.*}} : i32
    // CHECK: %[[WARP:.*]] = arith.shrui %[[TID]], %{{.*}} : i32
    // CHECK: arith.andi %[[LANE]], %c31_i32{{.*}} : i32
    // CHECK: %[[LOW:.*]] = arith.shli %{{.*}}, %c1_i32{{.*}} : i32
    // CHECK: arith.andi %[[WARP]], %c1_i32{{.*}} : i32
    // CHECK: %[[HIGH:.*]] = arith.shli %{{.*}}, %c6_i32{{.*}} : i32
    // CHECK: %[[X:.*]] = arith.xori %[[LOW]], %[[HIGH]] : i32
    // CHECK: %[[X1:.*]] = arith.addi %[[X]], %c1_i32{{.*}} overflow<nsw, nuw> : i32
    // CHECK: %[[R0:.*]] = arith.addi %[[X]], %c5_i32{{.*}} overflow<nsw> : i32
    // CHECK: %[[R1:.*]] = arith.addi %[[X1]], %c5_i32{{.*}} overflow<nsw> : i32
    %a = tile.arange 5, 133 : tensor<128xi32, #l>
    %s = tile.splat %v : tensor<128xi32, #l>
    // CHECK: arith.muli %[[R0]], %{{.*}} : i32
    // CHECK: arith.muli %[[R1]], %{{.*}} : i32
    %m = arith.muli %a, %s : tensor<128xi32, #l>
    gpu.return
  }
}

// -----

// The position of a program in its grid.
gpu.module @grid {
  // CHECK-LABEL: gpu.func @grid
  gpu.func @grid(%p: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[ID:.*]] = gpu.block_id y
    // CHECK: %[[I:.*]] = arith.index_cast %[[ID]] : index to i32
    %a = tile.program_id y : i32
    // CHECK: %[[DIM:.*]] = gpu.grid_dim z
    // CHECK: %[[N:.*]] = arith.index_cast %[[DIM]] : index to i32
    %b = tile.num_programs z : i32
    // CHECK: arith.addi %[[I]], %[[N]]
    %c = arith.addi %a, %b : i32
    gpu.return
  }
}

// -----

// Shape ops whose result has the layout of the rule rename registers: the sum of a
// column and a row is one addition for each register and nothing else.
#row = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [0], [0], [0]], warp = []}>
#row2 = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = []}>
#col = #tile_gpu.layout<{register = [], lane = [[0], [0], [1], [2], [4]], warp = []}>
#col2 = #tile_gpu.layout<{register = [], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = []}>
#l = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}>
#t = #tile_gpu.layout<{register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []}>
gpu.module @renames {
  // CHECK-LABEL: gpu.func @renames
  gpu.func @renames(%v: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %r = tile.arange 0, 8 : tensor<8xi32, #row>
    %r2 = tile.expand_dims %r 0 : tensor<8xi32, #row> -> tensor<1x8xi32, #row2>
    %rb = tile.broadcast %r2 : tensor<1x8xi32, #row2> -> tensor<8x8xi32, #l>
    %c = tile.arange 0, 8 : tensor<8xi32, #col>
    %c2 = tile.expand_dims %c 1 : tensor<8xi32, #col> -> tensor<8x1xi32, #col2>
    %cb = tile.broadcast %c2 : tensor<8x1xi32, #col2> -> tensor<8x8xi32, #l>
    // CHECK: %[[S0:.*]] = arith.muli %[[R0:.*]], %[[C:.*]] : i32
    // CHECK-NEXT: %[[S1:.*]] = arith.muli %[[R1:.*]], %[[C]] : i32
    %s = arith.muli %rb, %cb : tensor<8x8xi32, #l>
    %st = tile.trans %s [1, 0] : tensor<8x8xi32, #l> -> tensor<8x8xi32, #t>
    // CHECK-NEXT: arith.muli %[[S0]], %[[S0]] : i32
    // CHECK-NEXT: arith.muli %[[S1]], %[[S1]] : i32
    // CHECK-NEXT: gpu.return
    %q = arith.muli %st, %st : tensor<8x8xi32, #t>
    gpu.return
  }
}

// -----

// join and split of the lowest register bit.
#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
#j = #tile_gpu.layout<{register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []}>
gpu.module @join_split {
  // CHECK-LABEL: gpu.func @join_split
  // CHECK-SAME: %[[A:.*]]: i32, %[[B:.*]]: i32
  gpu.func @join_split(%a: i32, %b: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.splat %a : tensor<32xi32, #l>
    %y = tile.splat %b : tensor<32xi32, #l>
    %j = tile.join %x, %y : tensor<32xi32, #l> -> tensor<32x2xi32, #j>
    %k = arith.addi %j, %j : tensor<32x2xi32, #j>
    // CHECK: %[[A2:.*]] = arith.addi %[[A]], %[[A]]
    // CHECK: %[[B2:.*]] = arith.addi %[[B]], %[[B]]
    %u, %v = tile.split %k : tensor<32x2xi32, #j> -> tensor<32xi32, #l>
    // CHECK: arith.subi %[[A2]], %[[B2]]
    %w = arith.subi %u, %v : tensor<32xi32, #l>
    gpu.return
  }
}
