// RUN: tile-opt %s -split-input-file -verify-diagnostics

// A basis with another number of coordinates.
// expected-error @below {{lane basis [1] has 1 coordinates, expected 2}}
#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[1]], warp = []}>

// -----

// Bases that do not span a box.
// expected-error @below {{bases reach 2^2 elements, but do not fill the 8 box around them}}
#layout = #tile_gpu.layout<{register = [[1]], lane = [[4]], warp = []}>

// -----

// expected-error @below {{expected 'lane'}}
#layout = #tile_gpu.layout<{register = [], warp = []}>

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[1, 0]], warp = []}>
// expected-error @below {{expected a layout of rank 1 for a tensor of that rank, but found one of rank 2}}
func.func @rank(%a: tensor<4xf32, #layout>) {
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[1]], lane = [[2]], warp = []}>
// expected-error @below {{extent 6 of dimension 0}}
func.func @extent(%a: tensor<6xf32, #layout>) {
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[1]], lane = [[2]], warp = []}>
// expected-error @below {{expected a static shape for a tensor with a layout}}
func.func @dynamic(%a: tensor<?xf32, #layout>) {
  return
}

// -----

// expected-error @below {{expected order to be a permutation of 0 to 1, but found [0, 2]}}
#shared = #tile_gpu.shared<order = [0, 2], swizzle = 0>

// -----

// expected-error @below {{expected order to be a permutation of 0 to 1, but found [1, 1]}}
#shared = #tile_gpu.shared<order = [1, 1], swizzle = 0>

// -----

// expected-error @below {{expected swizzle to be 0, 32, 64 or 128 bytes, but found 48}}
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 48>

// -----

// expected-error @below {{expected a non-negative offset and a positive number of bytes, but found -16 and 32}}
#scratch = #tile_gpu.scratch<offset = -16, bytes = 32>

// -----

// expected-error @below {{expected a non-negative offset and a positive number of bytes, but found 0 and 0}}
#scratch = #tile_gpu.scratch<offset = 0, bytes = 0>

// -----

// expected-error @below {{expected 'tile_gpu.scratch' to be a #tile_gpu.scratch, but found 16 : i64}}
tile_gpu.barrier {tile_gpu.scratch = 16}

// -----

// expected-error @below {{expected 'tile_gpu.shared_bytes' on a gpu.func or an llvm.mlir.global, but found it on tile_gpu.barrier}}
tile_gpu.barrier {tile_gpu.shared_bytes = 16}

// -----

gpu.module @m {
  // expected-error @below {{expected 'tile_gpu.shared_bytes' to be a non-negative i64, but found -16 : i64}}
  gpu.func @negative() kernel attributes {tile_gpu.shared_bytes = -16 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expected 'tile_gpu.shared_bytes' to be a non-negative i64, but found 16 : i32}}
  gpu.func @width() kernel attributes {tile_gpu.shared_bytes = 16 : i32} {
    gpu.return
  }
}

// -----

// expected-error @below {{the tile_gpu dialect has no attribute 'tile_gpu.scrath'}}
tile_gpu.barrier {tile_gpu.scrath = #tile_gpu.scratch<offset = 0, bytes = 16>}

// -----

// expected-error @below {{the tile_gpu dialect has no attribute 'tile_gpu.nonsense'}}
func.func private @argument(i32 {tile_gpu.nonsense})

// -----

// expected-error @below {{expected 'tile_gpu.shared_bytes' on an op, but found it on an argument}}
func.func private @misplaced(i32 {tile_gpu.shared_bytes = 16 : i64})

// -----

// expected-error @below {{expected 'tile_gpu.scratch' on an op, but found it on a result}}
func.func private @result() -> (i32 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 16>})
