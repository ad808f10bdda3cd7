// RUN: tile-opt %s --tile-gpu-distribute --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-note @+1 {{it is here}}
  llvm.func @helper(i32) -> f32
  gpu.func @symbol(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{calls 'helper' with type '!llvm.func<f32 (f32)>', but the module has another symbol of that name}}
    %y = tile.extern_elementwise pure "helper" (%x) : (f32) -> f32
    tile.store %p, %y : !tile.ptr<f32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rounding(%p: !tile.ptr<f16>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @+2 {{cannot round upward on this target: only to_nearest_even and toward_zero}}
    // expected-error @+1 {{failed to legalize}}
    %y = arith.truncf %x upward : f32 to f16
    tile.store %p, %y : !tile.ptr<f16>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @scratch(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @+2 {{needs 4 bytes of shared memory but has no `tile_gpu.scratch`}}
    // expected-error @+1 {{failed to legalize}}
    %old = tile.atomic_rmw add %p, %x sem(relaxed) : !tile.ptr<i32>
    tile.store %q, %old : !tile.ptr<i32>
    gpu.return
  }
}
