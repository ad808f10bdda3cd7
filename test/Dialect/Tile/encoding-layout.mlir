// RUN: tile-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// Ops on tiles that are spread over threads: the rules of the layout.

#t = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#trans = #tile_gpu.layout<{register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]}>
#rows = #tile_gpu.layout<{register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]}>
#column = #tile_gpu.layout<{register = [], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>

// CHECK-LABEL: func.func @fits
func.func @fits(%x: tensor<16x32xf32, #t>) {
  // CHECK: tile.trans
  %0 = tile.trans %x [1, 0] : tensor<16x32xf32, #t> -> tensor<32x16xf32, #trans>
  // CHECK: tile.reduce
  %1 = tile.reduce(%x) axis 1 : (tensor<16x32xf32, #t>) -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  // CHECK: tile.expand_dims
  %2 = tile.expand_dims %1 1 : tensor<16xf32, #rows> -> tensor<16x1xf32, #column>
  // CHECK: tile.broadcast
  %3 = tile.broadcast %2 : tensor<16x1xf32, #column> -> tensor<16x32xf32, #t>
  // CHECK: tile.reduce{{.*}} -> f32
  %4 = tile.reduce(%1) axis 0 : (tensor<16xf32, #rows>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

#t = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#other = #tile_gpu.layout<{register = [[1], [2]], lane = [[0], [0], [0], [4], [8]], warp = [[0], [0]]}>

func.func @reduce(%x: tensor<16x32xf32, #t>) {
  // expected-error @below {{'tile.reduce' op expects the result to have encoding #tile_gpu.layout<}}
  %0 = tile.reduce(%x) axis 1 : (tensor<16x32xf32, #t>) -> tensor<16xf32, #other> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

#t = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>

func.func @trans(%x: tensor<32x32xf32, #t>) {
  // expected-error @below {{'tile.trans' op expects the result to have encoding #tile_gpu.layout<}}
  %0 = tile.trans %x [1, 0] : tensor<32x32xf32, #t> -> tensor<32x32xf32, #t>
  return
}

// -----

#one = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [0], [0], [0]], warp = [[0], [0]]}>
#column = #tile_gpu.layout<{register = [], lane = [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>

func.func @expand_dims(%x: tensor<16xf32, #one>) {
  // expected-error @below {{'tile.expand_dims' op expects the source to have encoding #tile_gpu.layout<}}
  %0 = tile.expand_dims %x 1 : tensor<16xf32, #one> -> tensor<16x1xf32, #column>
  return
}

// -----

#t = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#column = #tile_gpu.layout<{register = [[1, 0], [2, 0]], lane = [[0, 0], [0, 0], [0, 0], [4, 0], [8, 0]], warp = [[0, 0], [0, 0]]}>

func.func @broadcast(%x: tensor<16x1xf32, #column>) {
  // expected-error @below {{'tile.broadcast' op expects encodings between which no element moves}}
  %0 = tile.broadcast %x : tensor<16x1xf32, #column> -> tensor<16x32xf32, #t>
  return
}

// -----

// An encoding of the dialect that is not a layout has no rules.
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 0>

func.func @no_rule(%x: tensor<32x32xf32, #shared>) {
  // expected-error @below {{'tile.trans' op has no encoding that fits the result, for 'tensor<32x32xf32, #tile_gpu.shared<}}
  %0 = tile.trans %x [1, 0] : tensor<32x32xf32, #shared> -> tensor<32x32xf32, #shared>
  return
}
