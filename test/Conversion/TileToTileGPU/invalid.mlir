// RUN: tile-opt %s --split-input-file -allow-unregistered-dialect --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=4}))'

gpu.module @m {
  func.func @outside(%p: !tile.ptr<f32>) {
    // expected-error @below {{'tile.load' op is outside a kernel: tile ops belong into a gpu.func}}
    %x = tile.load %p : !tile.ptr<f32>
    func.call @outside(%p) : (!tile.ptr<f32>) -> ()
    return
  }
}

// -----

gpu.module @m {
  func.func private @helper()
  gpu.func @k() kernel {
    // expected-error @below {{'func.call' op is left in a kernel: helper functions must be inlined first}}
    func.call @helper() : () -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{argument #0 is a tile: pass a pointer or a descriptor}}
  gpu.func @k(%t: tensor<64xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has known_block_size [64, 1, 1], but 4 warps of 32 lanes need [128, 1, 1]}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    %c = arith.constant dense<1.0> : tensor<8xf32>
    %i = arith.constant 0 : index
    %x = arith.constant 0.0 : f32
    // expected-error @below {{'vector.transfer_read' op has no known meaning for tiles with layouts}}
    %r = vector.transfer_read %c[%i], %x : tensor<8xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{expected a tile of one or more static dimensions, found 'tensor<f32>'}}
    %c = arith.constant dense<1.0> : tensor<f32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{no layout spreads 'tensor<524287xi32>' over 4 warps: each thread would hold 524287 elements (at most 2048); use smaller tiles or more warps}}
    %c = tile.arange 0, 524287 : tensor<524287xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{each thread would hold 3001 elements (at most 2048); threads share an extent evenly only in powers of two: use a multiple of 128 and a mask, such as 3072 instead of 3001}}
    %c = tile.arange 0, 3001 : tensor<3001xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{the encoding of 'tensor<4xi32, "mine">' is no #tile_gpu.layout}}
    %c = arith.constant dense<1> : tensor<4xi32, "mine">
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{has elements of type 'i24' that differ: expected elements of 1, 8, 16, 32 or 64 bits, or one value for all}}
    %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi24>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%v: i32) kernel {
    %t = tile.splat %v : tensor<4xi32>
    // expected-error @below {{'foo.bar' op has no known meaning for tiles with layouts}}
    "foo.bar"(%t) : (tensor<4xi32>) -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'arith.constant' op expected a dense constant}}
    %c = arith.constant dense_resource<blob> : tensor<4xi32>
    gpu.return
  }
}

{-# dialect_resources: { builtin: { blob: "0x0400000001000000020000000300000004000000" } } #-}
