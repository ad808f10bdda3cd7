// Nothing moves elements between the blocks of a cluster.

// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-gpu-distribute

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = [[32]]}>
gpu.module @m {
  gpu.func @histogram() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.arange 0, 64 : tensor<64xi32, #l>
    // expected-error @below {{counts between the blocks of a cluster}}
    // expected-error @below {{failed to legalize operation 'tile.histogram'}}
    %y = tile.histogram %x : tensor<64xi32, #l> -> tensor<64xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = [[32]]}>
gpu.module @m {
  gpu.func @gather() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.arange 0, 64 : tensor<64xi32, #l>
    // expected-error @below {{gathers between the blocks of a cluster}}
    // expected-error @below {{failed to legalize operation 'tile.gather'}}
    %y = tile.gather %x[%x] axis 0 : tensor<64xi32, #l>, tensor<64xi32, #l> -> tensor<64xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = [[32]]}>
#k = #tile_gpu.layout<{register = [], lane = [[2], [4], [8], [16], [32]], warp = [], block = [[1]]}>
gpu.module @m {
  gpu.func @convert() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = tile.arange 0, 64 : tensor<64xi32, #l>
    // expected-error @below {{moves elements between the blocks of a cluster, which this target's patterns do not do}}
    // expected-error @below {{failed to legalize operation 'tile_gpu.convert_layout'}}
    %y = tile_gpu.convert_layout %x : tensor<64xi32, #l> -> tensor<64xi32, #k>
    gpu.return
  }
}
