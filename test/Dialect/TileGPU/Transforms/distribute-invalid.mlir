// RUN: tile-opt %s --tile-gpu-distribute -split-input-file -verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{has no known_block_size: run convert-tile-to-tile-gpu before tile-gpu-distribute}}
  gpu.func @no_block_size() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has a block of 48 threads, which are no whole warps of 32}}
  gpu.func @no_whole_warps() kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @no_layout(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{result of type 'tensor<64xf32>' has no layout: run convert-tile-to-tile-gpu before tile-gpu-distribute}}
    %a = tile.splat %f : tensor<64xf32>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
gpu.module @m {
  gpu.func @warps(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @+1 {{has a layout of 2 warps of 32 lanes in a kernel of 4 warps of 32}}
    %a = tile.splat %f : tensor<64xf32, #l>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{argument #0 of type '!tile.desc<16x16xf32>' cannot be a kernel parameter}}
  gpu.func @descriptor(%d: !tile.desc<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]}>
gpu.module @m {
  gpu.func @no_scratch(%f: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.splat %f : tensor<64xf32, #l>
    // expected-error @+2 {{failed to legalize operation 'tile.reduce'}}
    // expected-error @+1 {{needs 16 bytes of shared memory but has no `tile_gpu.scratch`: run tile-gpu-allocate-shared-memory before tile-gpu-distribute}}
    %r = tile.reduce (%a) axis 0 : (tensor<64xf32, #l>) -> f32 {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      tile.yield %s : f32
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @+1 {{has memory attributions; the shared memory of a tile kernel comes from tile_gpu.alloc}}
  gpu.func @attributions(%p: !tile.ptr<f32>) workgroup(%w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
