// RUN: tile-opt %s | FileCheck %s

// Ops whose elements may move between threads take any encodings; the others
// take equal ones where the encoding has no rules of its own.

// CHECK-LABEL: func.func @free
func.func @free(%x: tensor<4x8xf32, "a">, %i: tensor<4x2xi32, "b">) {
  // CHECK: tile.reshape
  %0 = tile.reshape %x : tensor<4x8xf32, "a"> -> tensor<32xf32, "b">
  // CHECK: tile.cat
  %1 = tile.cat %x, %x axis 0 : tensor<4x8xf32, "a"> -> tensor<8x8xf32, "b">
  // CHECK: tile.gather
  %2 = tile.gather %x[%i] axis 1 : tensor<4x8xf32, "a">, tensor<4x2xi32, "b"> -> tensor<4x2xf32, "c">
  // CHECK: tile.join
  %3 = tile.join %x, %x : tensor<4x8xf32, "a"> -> tensor<4x8x2xf32, "b">
  // CHECK: tile.split
  %4, %5 = tile.split %3 : tensor<4x8x2xf32, "b"> -> tensor<4x8xf32, "c">
  return
}

// CHECK-LABEL: func.func @equal
func.func @equal(%x: tensor<4x8xf32, "a">, %y: f32) {
  // CHECK: tile.splat
  %0 = tile.splat %y : tensor<4xf32, "a">
  // CHECK: tile.expand_dims
  %1 = tile.expand_dims %0 0 : tensor<4xf32, "a"> -> tensor<1x4xf32, "a">
  // CHECK: tile.trans
  %2 = tile.trans %x [1, 0] : tensor<4x8xf32, "a"> -> tensor<8x4xf32, "a">
  // CHECK: tile.broadcast
  %3 = tile.broadcast %1 : tensor<1x4xf32, "a"> -> tensor<8x4xf32, "a">
  // CHECK: tile.reduce
  %4 = tile.reduce(%x) axis 1 : (tensor<4x8xf32, "a">) -> tensor<4xf32, "a"> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}
