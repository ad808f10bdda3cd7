// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers))" -split-input-file -verify-diagnostics

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
gpu.module @m {
  gpu.func @not_allocated() kernel {
    // expected-error @below {{expected an offset: tile-gpu-allocate-shared-memory must run first}}
    %a = tile_gpu.alloc : !tile_gpu.memdesc<16x32xf32, #dense, mutable>
    gpu.return
  }
}
