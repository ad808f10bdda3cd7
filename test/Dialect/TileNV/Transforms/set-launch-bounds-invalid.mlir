// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-nv-set-launch-bounds))' --split-input-file --verify-diagnostics

// expected-error @+1 {{'gpu.module' op has no target of a known chip: run tile-nv-set-target first}}
gpu.module @without {
}

// -----

// expected-error @+1 {{'gpu.module' op has no target of a known chip: run tile-nv-set-target first}}
gpu.module @unknown [#nvvm.target<chip = "sm_95">] {
}

// -----

// expected-error @+1 {{'gpu.module' op has no target of a known chip: run tile-nv-set-target first}}
gpu.module @two [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a">] {
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has a name that PTX does not allow: expected letters, digits, _ and $; found 'a.b'}}
  gpu.func @"a.b"() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  // expected-error @+1 {{'gpu.func' op needs 65540 bytes of shared memory; sm_75 has 65536 for a block}}
  gpu.func @shared() kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile_gpu.shared_bytes = 65540 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op needs 2048 threads; a block on sm_90a has at most 1024}}
  gpu.func @threads() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    gpu.return
  }
}
