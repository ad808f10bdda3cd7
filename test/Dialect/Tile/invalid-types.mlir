// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{a tile pointer must point to an integer (1, 8, 16, 32 or 64 bits), a floating-point number (f8E4M3FN, f8E5M2, f16, bf16, f32 or f64) or a pointer; found 'i7'}}
func.func private @pointee(!tile.ptr<i7>)

// -----

// expected-error @below {{found 'tensor<4xf32>'}}
func.func private @pointee_tile(!tile.ptr<tensor<4xf32>>)

// -----

// expected-error @below {{a tile pointer must be in memory space 0 (generic), 1 (global) or 3 (shared); found 2}}
func.func private @space(!tile.ptr<f32, 2>)

// -----

// expected-error @below {{the elements of a tile descriptor must be integers (8, 16, 32 or 64 bits) or floating-point numbers (f8E4M3FN, f8E5M2, f16, bf16, f32 or f64); found 'i1'}}
func.func private @desc_element(!tile.desc<64xi1>)

// -----

// expected-error @below {{a tile descriptor must have at most 5 dimensions; found 6}}
func.func private @desc_rank(!tile.desc<1x1x1x1x1x64xf32>)

// -----

// expected-error @below {{the box of a tile descriptor must have at least one dimension; found rank 0}}
func.func private @desc_rank_0(!tile.desc<f32>)

// -----

// expected-error @below {{the box of a tile descriptor is invalid: tile extents must be positive; found 0}}
func.func private @desc_extent(!tile.desc<64x0xf32>)

// -----

// expected-error @below {{the box of a tile descriptor must have at most 1048576 elements; found shape [1024, 2048]}}
func.func private @desc_elements(!tile.desc<1024x2048xf32>)

// -----

func.func @dynamic_extent(%x: f32) {
  // expected-error @below {{'tile.splat' op result #0 must have a static shape; found a dynamic extent}}
  %0 = tile.splat %x : tensor<4x?xf32>
  return
}

// -----

func.func @zero_extent(%x: f32) {
  // expected-error @below {{'tile.splat' op result #0 is invalid: tile extents must be positive; found 0}}
  %0 = tile.splat %x : tensor<4x0xf32>
  return
}

// -----

func.func @rank_0(%x: f32) {
  // expected-error @below {{'tile.splat' op result #0 must have at least one dimension; found rank 0}}
  %0 = tile.splat %x : tensor<f32>
  return
}

// -----

func.func @too_many_elements(%x: f32) {
  // expected-error @below {{'tile.splat' op result #0 must have at most 1048576 elements; found shape [1024, 1025]}}
  %0 = tile.splat %x : tensor<1024x1025xf32>
  return
}

// -----

// The number of elements does not fit 64 bits.
func.func @overflow(%x: tensor<4294967296x4294967296x4xf32>) {
  // expected-error @below {{'tile.trans' op operand #0 must have at most 1048576 elements}}
  %0 = tile.trans %x [0, 1, 2] : tensor<4294967296x4294967296x4xf32> -> tensor<4294967296x4294967296x4xf32>
  return
}

// -----

func.func @element_type(%x: f128) {
  // expected-error @below {{'tile.splat' op operand #0 must be integer, floating-point or pointer, but got 'f128'}}
  "tile.splat"(%x) : (f128) -> tensor<4xf128>
  return
}

// -----

func.func @tile_element(%x: tensor<4xi4>) {
  // expected-error @below {{'tile.expand_dims' op operand #0 must be tile of integer, floating-point or pointer values, but got 'tensor<4xi4>'}}
  %0 = tile.expand_dims %x 0 : tensor<4xi4> -> tensor<1x4xi4>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @below {{expected builtin.tensor, but found 'tensor<*xf32>'}}
  %0 = tile.expand_dims %x 0 : tensor<*xf32> -> tensor<4xf32>
  return
}
