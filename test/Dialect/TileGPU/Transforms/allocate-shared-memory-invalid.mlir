// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(tile-gpu-allocate-shared-memory{max-shared-bytes=4096}))" -split-input-file -verify-diagnostics

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
gpu.module @m {
  // expected-error @below {{the kernel needs 6144 bytes of shared memory, but a block of the target has 4096}}
  gpu.func @too_much() kernel {
    %a = tile_gpu.alloc : !tile_gpu.memdesc<16x32xf32, #dense, mutable>
    // expected-note @below {{the largest part, 4096 bytes, is for this op}}
    %b = tile_gpu.alloc : !tile_gpu.memdesc<32x32xf32, #dense, mutable>
    "use"(%a, %b) : (!tile_gpu.memdesc<16x32xf32, #dense, mutable>, !tile_gpu.memdesc<32x32xf32, #dense, mutable>) -> ()
    gpu.return
  }
}
