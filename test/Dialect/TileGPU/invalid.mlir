// RUN: tile-opt %s -split-input-file -verify-diagnostics

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
func.func @convert_without_layout(%a: tensor<4x4xf32>) {
  // expected-error @below {{operand #0 must be tile of integer, floating-point or pointer values with a #tile_gpu.layout, but got 'tensor<4x4xf32>'}}
  %0 = tile_gpu.convert_layout %a : tensor<4x4xf32> -> tensor<4x4xf32, #layout>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
func.func @convert_shape(%a: tensor<4x4xf32, #layout>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = tile_gpu.convert_layout %a : tensor<4x4xf32, #layout> -> tensor<4x8xf32, #layout>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
func.func @convert_element(%a: tensor<4x4xf32, #layout>) {
  // expected-error @below {{requires the same element type for all operands and results}}
  %0 = tile_gpu.convert_layout %a : tensor<4x4xf32, #layout> -> tensor<4x4xf16, #layout>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#warps = #tile_gpu.layout<{register = [], lane = [[0, 2], [1, 0]], warp = [[0, 1], [2, 0]]}>
func.func @convert_warps(%a: tensor<4x4xf32, #layout>) {
  // expected-error @below {{expected a result over 4 lanes, 2 warps and 1 blocks, but found one over 4 lanes, 4 warps and 1 blocks}}
  %0 = tile_gpu.convert_layout %a : tensor<4x4xf32, #layout> -> tensor<4x4xf32, #warps>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @alloc_shape(%a: tensor<4x4xf32, #layout>) {
  // expected-error @below {{expected memory of the shape [4, 4] of the tile, but found [4, 8]}}
  %0 = tile_gpu.alloc %a : tensor<4x4xf32, #layout> -> !tile_gpu.memdesc<4x8xf32, #shared>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @alloc_element(%a: tensor<4x4xf32, #layout>) {
  // expected-error @below {{expected memory of the element type 'f32', but found 'f16'}}
  %0 = tile_gpu.alloc %a : tensor<4x4xf32, #layout> -> !tile_gpu.memdesc<4x4xf16, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected a whole allocation, but found a view of [4, 8]}}
%0 = tile_gpu.alloc : !tile_gpu.memdesc<4x4xf32, #shared, mutable, 4x8>

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected an initial value for memory that is not mutable}}
%0 = tile_gpu.alloc : !tile_gpu.memdesc<4x4xf32, #shared>

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected the alignment to be a power of two, but found 24}}
%0 = tile_gpu.alloc {alignment = 24 : i32} : !tile_gpu.memdesc<4x4xf32, #shared, mutable>

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected the alignment to be a power of two, but found -2147483648}}
%0 = tile_gpu.alloc {alignment = -2147483648 : i32} : !tile_gpu.memdesc<4x4xf32, #shared, mutable>

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 64>
// expected-error @below {{expected a non-negative offset that is a multiple of 512, but found 256}}
%0 = tile_gpu.alloc {offset = 256 : i64} : !tile_gpu.memdesc<4x16xf32, #shared, mutable>

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected a non-negative offset that is a multiple of 16, but found -16}}
%0 = tile_gpu.alloc {offset = -16 : i64} : !tile_gpu.memdesc<4x16xf32, #shared, mutable>

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @load_shape(%a: !tile_gpu.memdesc<4x8xf32, #shared>) {
  // expected-error @below {{expected memory of the shape [4, 4] of the tile, but found [4, 8]}}
  %0 = tile_gpu.local_load %a : !tile_gpu.memdesc<4x8xf32, #shared> -> tensor<4x4xf32, #layout>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @load_without_layout(%a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{result #0 must be tile of integer or floating-point values with a #tile_gpu.layout, but got 'tensor<4x4xf32>'}}
  %0 = tile_gpu.local_load %a : !tile_gpu.memdesc<4x4xf32, #shared> -> tensor<4x4xf32>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @store_element(%v: tensor<4x4xf32, #layout>, %a: !tile_gpu.memdesc<4x4xi32, #shared, mutable>) {
  // expected-error @below {{expected memory of the element type 'f32', but found 'i32'}}
  tile_gpu.local_store %v, %a : tensor<4x4xf32, #layout>, !tile_gpu.memdesc<4x4xi32, #shared, mutable>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @store_to_constant(%v: tensor<4x4xf32, #layout>, %a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected mutable memory to write to}}
  tile_gpu.local_store %v, %a : tensor<4x4xf32, #layout>, !tile_gpu.memdesc<4x4xf32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @index_of_tile(%a: !tile_gpu.memdesc<4x4xf32, #shared>, %i: i32) {
  // expected-error @below {{expected a ring: a leading dimension that the order of the encoding does not name}}
  %0 = tile_gpu.memdesc_index %a[%i] : !tile_gpu.memdesc<4x4xf32, #shared> -> !tile_gpu.memdesc<4x4xf32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @index_result(%a: !tile_gpu.memdesc<3x4x4xf32, #shared>, %i: i32) {
  // expected-error @below {{expected the source without its leading dimension, '!tile_gpu.memdesc<4x4xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>', but found '!tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>'}}
  %0 = tile_gpu.memdesc_index %a[%i] : !tile_gpu.memdesc<3x4x4xf32, #shared> -> !tile_gpu.memdesc<4x8xf32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @view_element(%a: !tile_gpu.memdesc<3x4x4xf32, #shared>, %i: i32) {
  // expected-error @below {{expected a view of element type 'f32', but found 'i32'}}
  %0 = tile_gpu.memdesc_index %a[%i] : !tile_gpu.memdesc<3x4x4xf32, #shared> -> !tile_gpu.memdesc<4x4xi32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @view_mutable(%a: !tile_gpu.memdesc<3x4x4xf32, #shared>, %i: i32) {
  // expected-error @below {{expected source and view to be both mutable or both not}}
  %0 = tile_gpu.memdesc_index %a[%i] : !tile_gpu.memdesc<3x4x4xf32, #shared> -> !tile_gpu.memdesc<4x4xf32, #shared, mutable>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @subslice_ring(%a: !tile_gpu.memdesc<3x4x4xf32, #shared>) {
  // expected-error @below {{expected a tile, but found a ring of 3 tiles}}
  %0 = tile_gpu.memdesc_subslice %a[0, 0, 0] : !tile_gpu.memdesc<3x4x4xf32, #shared> -> !tile_gpu.memdesc<2x4x4xf32, #shared, 3x4x4>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#flipped = #tile_gpu.shared<order = [1, 0], swizzle = 0>
func.func @subslice_encoding(%a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected a view with the encoding of the source, but found #tile_gpu.shared<order = [1, 0], swizzle = 0>}}
  %0 = tile_gpu.memdesc_subslice %a[0, 0] : !tile_gpu.memdesc<4x4xf32, #shared> -> !tile_gpu.memdesc<2x4xf32, #flipped, 4x4>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @subslice_allocation(%a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected a view of the source's allocation of [4, 4], but found [2, 4]}}
  %0 = tile_gpu.memdesc_subslice %a[0, 0] : !tile_gpu.memdesc<4x4xf32, #shared> -> !tile_gpu.memdesc<2x4xf32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @subslice_rank(%a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected 2 offsets, but found 1}}
  %0 = tile_gpu.memdesc_subslice %a[0] : !tile_gpu.memdesc<4x4xf32, #shared> -> !tile_gpu.memdesc<2x4xf32, #shared, 4x4>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @subslice_bounds(%a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected the box [2, 4] at [3, 0] to lie within [4, 4]}}
  %0 = tile_gpu.memdesc_subslice %a[3, 0] : !tile_gpu.memdesc<4x4xf32, #shared> -> !tile_gpu.memdesc<2x4xf32, #shared, 4x4>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @subslice_negative(%a: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected the box [2, 4] at [-1, 0] to lie within [4, 4]}}
  %0 = tile_gpu.memdesc_subslice %a[-1, 0] : !tile_gpu.memdesc<4x4xf32, #shared> -> !tile_gpu.memdesc<2x4xf32, #shared, 4x4>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 64>
func.func @subslice_columns(%a: !tile_gpu.memdesc<16x32xf32, #shared>) {
  // expected-error @below {{expected an offset in the contiguous dimension of a multiple of the 64-byte swizzle, but found 32 bytes}}
  %0 = tile_gpu.memdesc_subslice %a[0, 8] : !tile_gpu.memdesc<16x32xf32, #shared> -> !tile_gpu.memdesc<16x16xf32, #shared, 16x32>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 64>
func.func @subslice_rows(%a: !tile_gpu.memdesc<16x32xf32, #shared>) {
  // expected-error @below {{expected the box to start on a multiple of 8 rows of the swizzle, but found row 4}}
  %0 = tile_gpu.memdesc_subslice %a[4, 0] : !tile_gpu.memdesc<16x32xf32, #shared> -> !tile_gpu.memdesc<8x32xf32, #shared, 16x32>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @trans_ring(%a: !tile_gpu.memdesc<3x4x4xf32, #shared>) {
  // expected-error @below {{expected a tile, but found a ring of 3 tiles}}
  %0 = tile_gpu.memdesc_trans %a [0, 2, 1] : !tile_gpu.memdesc<3x4x4xf32, #shared> -> !tile_gpu.memdesc<3x4x4xf32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @trans_order(%a: !tile_gpu.memdesc<4x8xf32, #shared>) {
  // expected-error @below {{expected order to be a permutation of 0 to 1, but found [0, 0]}}
  %0 = tile_gpu.memdesc_trans %a [0, 0] : !tile_gpu.memdesc<4x8xf32, #shared> -> !tile_gpu.memdesc<8x4xf32, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @trans_result(%a: !tile_gpu.memdesc<4x8xf32, #shared>) {
  // The order of the encoding must change too.
  // expected-error @below {{expected the result '!tile_gpu.memdesc<8x4xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>>', but found '!tile_gpu.memdesc<8x4xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>'}}
  %0 = tile_gpu.memdesc_trans %a [1, 0] : !tile_gpu.memdesc<4x8xf32, #shared> -> !tile_gpu.memdesc<8x4xf32, #shared>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_space(%p: tensor<4x4x!tile.ptr<f32, 3>, #layout>, %d: !tile_gpu.memdesc<4x4xf32, #shared, mutable>) {
  // expected-error @below {{expected pointers to global memory, but found memory space 3}}
  %0 = tile_gpu.async_copy %p, %d : tensor<4x4x!tile.ptr<f32, 3>, #layout> -> !tile_gpu.memdesc<4x4xf32, #shared, mutable>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_shape(%p: tensor<4x4x!tile.ptr<f32>, #layout>, %d: !tile_gpu.memdesc<4x8xf32, #shared, mutable>) {
  // expected-error @below {{expected memory of the shape [4, 4] of the tile, but found [4, 8]}}
  %0 = tile_gpu.async_copy %p, %d : tensor<4x4x!tile.ptr<f32>, #layout> -> !tile_gpu.memdesc<4x8xf32, #shared, mutable>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_element(%p: tensor<4x4x!tile.ptr<f32>, #layout>, %d: !tile_gpu.memdesc<4x4xf16, #shared, mutable>) {
  // expected-error @below {{expected memory of the element type 'f32', but found 'f16'}}
  %0 = tile_gpu.async_copy %p, %d : tensor<4x4x!tile.ptr<f32>, #layout> -> !tile_gpu.memdesc<4x4xf16, #shared, mutable>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_to_constant(%p: tensor<4x4x!tile.ptr<f32>, #layout>, %d: !tile_gpu.memdesc<4x4xf32, #shared>) {
  // expected-error @below {{expected mutable memory to write to}}
  %0 = tile_gpu.async_copy %p, %d : tensor<4x4x!tile.ptr<f32>, #layout> -> !tile_gpu.memdesc<4x4xf32, #shared>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_other(%p: tensor<4x4x!tile.ptr<f32>, #layout>, %o: tensor<4x4xf32, #layout>, %d: !tile_gpu.memdesc<4x4xf32, #shared, mutable>) {
  // expected-error @below {{expected a mask where there is an other}}
  %0 = tile_gpu.async_copy %p, %d other %o : tensor<4x4x!tile.ptr<f32>, #layout> -> !tile_gpu.memdesc<4x4xf32, #shared, mutable>
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_mask(%p: tensor<4x4x!tile.ptr<f32>, #layout>, %m: tensor<4x8xi1, #layout>, %d: !tile_gpu.memdesc<4x4xf32, #shared, mutable>) {
  // expected-error @below {{failed to verify that mask has the shape and layout of the pointers}}
  %0 = "tile_gpu.async_copy"(%p, %d, %m) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<4x4x!tile.ptr<f32>, #layout>, !tile_gpu.memdesc<4x4xf32, #shared, mutable>, tensor<4x8xi1, #layout>) -> !tile_gpu.token
  return
}

// -----

#layout = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>
func.func @copy_other_type(%p: tensor<4x4x!tile.ptr<f32>, #layout>, %m: tensor<4x4xi1, #layout>, %o: tensor<4x4xi32, #layout>, %d: !tile_gpu.memdesc<4x4xf32, #shared, mutable>) {
  // expected-error @below {{failed to verify that other has the type that the pointers point to}}
  %0 = "tile_gpu.async_copy"(%p, %d, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<4x4x!tile.ptr<f32>, #layout>, !tile_gpu.memdesc<4x4xf32, #shared, mutable>, tensor<4x4xi1, #layout>, tensor<4x4xi32, #layout>) -> !tile_gpu.token
  return
}

// -----

// expected-error @below {{attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
%0 = tile_gpu.async_wait pending -1

// -----

func.func @roles_counts() {
  // expected-error @below {{expected a number of warps and of registers for each of 1 roles, but found 2 and 1}}
  tile_gpu.warp_specialize() warps [1, 4] registers [24] : () -> () {
    tile_gpu.warp_yield
  }
  return
}

// -----

func.func @roles_warps() {
  // expected-error @below {{expected a positive number of warps, but found 0}}
  tile_gpu.warp_specialize() warps [0] registers [24] : () -> () {
    tile_gpu.warp_yield
  }
  return
}

// -----

func.func @roles_registers() {
  // expected-error @below {{expected 0 or a multiple of 8 registers from 24 to 240, but found 100}}
  tile_gpu.warp_specialize() warps [1] registers [100] : () -> () {
    tile_gpu.warp_yield
  }
  return
}

// -----

func.func @roles_many_registers() {
  // expected-error @below {{expected 0 or a multiple of 8 registers from 24 to 240, but found 248}}
  tile_gpu.warp_specialize() warps [1] registers [248] : () -> () {
    tile_gpu.warp_yield
  }
  return
}

// -----

func.func @roles_arguments(%a: i32) {
  // expected-error @below {{expected role 0 to have the arguments ('i32'), but found ('i64')}}
  tile_gpu.warp_specialize(%a) warps [1] registers [24] : (i32) -> () {
  ^bb0(%b: i64):
    tile_gpu.warp_yield
  }
  return
}

// -----

func.func @roles_end() {
  // expected-error @below {{expected role 0 to end in tile_gpu.warp_yield, but found llvm.unreachable}}
  tile_gpu.warp_specialize() warps [1] registers [24] : () -> () {
    llvm.unreachable
  }
  return
}

// -----

func.func @roles_isolated(%a: i32) {
  // expected-note @below {{required by region isolation constraints}}
  tile_gpu.warp_specialize() warps [1] registers [24] : () -> () {
    // expected-error @below {{using value defined outside the region}}
    %0 = arith.addi %a, %a : i32
    tile_gpu.warp_yield
  }
  return
}

// -----

func.func @yield_outside() {
  // expected-error @below {{expects parent op 'tile_gpu.warp_specialize'}}
  tile_gpu.warp_yield
}
