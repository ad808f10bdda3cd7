// RUN: tile-opt %s -split-input-file -verify-diagnostics --tile-gpu-distribute

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
gpu.module @m {
  gpu.func @no_scratch(%f: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = tile.arange 0, 64 : tensor<64xi32, #l>
    // expected-error @below {{needs 16 bytes of shared memory but has no `tile_gpu.scratch`}}
    // expected-error @below {{failed to legalize operation 'tile.reduce'}}
    %y = tile.reduce(%x) axis 0 : (tensor<64xi32, #l>) -> i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    gpu.return
  }
}

// -----

#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  gpu.func @no_offset() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{has no place in shared memory}}
    // expected-error @below {{failed to legalize operation 'tile_gpu.alloc'}}
    %m = tile_gpu.alloc : !tile_gpu.memdesc<32xf32, #row, mutable>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = [[32]]}>
gpu.module @m {
  gpu.func @between_blocks() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.arange 0, 64 : tensor<64xi32, #l>
    // expected-error @below {{reduces between the blocks of a cluster}}
    // expected-error @below {{failed to legalize operation 'tile.reduce'}}
    %y = tile.reduce(%x) axis 0 : (tensor<64xi32, #l>) -> i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    gpu.return
  }
}
