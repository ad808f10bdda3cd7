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

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.maxnreg = -5 : i32; expected an integer from 1 to 255 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxnreg = -5 : i32} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.maxnreg = 0 : i32; expected an integer from 1 to 255 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxnreg = 0 : i32} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.maxnreg = 256 : i32; expected an integer from 1 to 255 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxnreg = 256 : i32} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.minctasm = 17 : i32; expected an integer from 1 to 16 on sm_75}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 17 : i32} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.maxntid = array<i32: 1024, 2>; expected one to three positive extents (i32) with a product of up to 1024 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxntid = array<i32: 1024, 2>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.maxntid = array<i32: 65536, 65536, 65536>; expected one to three positive extents (i32) with a product of up to 1024 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxntid = array<i32: 65536, 65536, 65536>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.reqntid = array<i32: 128, 0>; expected one to three positive extents (i32) with a product of up to 1024 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.reqntid = array<i32: 128, 0>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.reqntid = array<i32: 64, 2>, but its layouts are made for a block of 128 threads: expected these along x}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.reqntid = array<i32: 64, 2>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.maxntid = array<i32: 64>, but its layouts are made for a block of 128 threads: expected as many at least}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxntid = array<i32: 64>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has both nvvm.maxntid and nvvm.reqntid, of which PTX allows one}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxntid = array<i32: 128>, nvvm.reqntid = array<i32: 128>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.cluster_dim, but sm_80 has no clusters of blocks}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 2>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.cluster_dim = array<i32: 4, 8>; expected one to three positive extents (i32) with a product of up to 16 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 4, 8>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has nvvm.cluster_max_blocks = 17 : i32; expected an integer from 1 to 16 on sm_90a}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.cluster_max_blocks = 17 : i32} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // expected-error @+1 {{'gpu.func' op has both nvvm.cluster_dim and nvvm.cluster_max_blocks, of which PTX allows one}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 2>, nvvm.cluster_max_blocks = 4 : i32} {
    gpu.return
  }
}
