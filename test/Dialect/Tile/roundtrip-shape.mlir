// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s -emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @program
func.func @program() -> (i32, i32, i32) {
  // CHECK: tile.program_id x : i32
  %0 = tile.program_id x : i32
  // CHECK: tile.program_id y : i32
  %1 = tile.program_id y : i32
  // CHECK: tile.num_programs z : i32
  %2 = tile.num_programs z : i32
  return %0, %1, %2 : i32, i32, i32
}

// CHECK-LABEL: func.func @create
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[X:.*]]: f16)
func.func @create(%p: !tile.ptr<f32>, %x: f16) {
  // CHECK: tile.arange 0, 96 : tensor<96xi32>
  %0 = tile.arange 0, 96 : tensor<96xi32>
  // CHECK: tile.arange -4, 4 : tensor<8xi32>
  %1 = tile.arange -4, 4 : tensor<8xi32>
  // CHECK: tile.splat %[[P]] : tensor<128x!tile.ptr<f32>>
  %2 = tile.splat %p : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.splat %[[X]] : tensor<8x16xf16>
  %3 = tile.splat %x : tensor<8x16xf16>
  return
}

// CHECK-LABEL: func.func @shape
// CHECK-SAME: (%[[A:.*]]: tensor<64xf32>, %[[M:.*]]: tensor<8x1xi32>, %[[T:.*]]: tensor<2x4x8xf16>)
func.func @shape(%a: tensor<64xf32>, %m: tensor<8x1xi32>, %t: tensor<2x4x8xf16>) {
  // CHECK: tile.expand_dims %[[A]] 0 : tensor<64xf32> -> tensor<1x64xf32>
  %0 = tile.expand_dims %a 0 : tensor<64xf32> -> tensor<1x64xf32>
  // CHECK: tile.expand_dims %[[A]] 1 : tensor<64xf32> -> tensor<64x1xf32>
  %1 = tile.expand_dims %a 1 : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK: tile.broadcast %[[M]] : tensor<8x1xi32> -> tensor<8x32xi32>
  %2 = tile.broadcast %m : tensor<8x1xi32> -> tensor<8x32xi32>
  // CHECK: tile.reshape %[[A]] : tensor<64xf32> -> tensor<4x16xf32>
  %3 = tile.reshape %a : tensor<64xf32> -> tensor<4x16xf32>
  // CHECK: tile.reshape %[[A]] reorder : tensor<64xf32> -> tensor<8x8xf32>
  %4 = tile.reshape %a reorder : tensor<64xf32> -> tensor<8x8xf32>
  // CHECK: tile.trans %[[T]] [2, 0, 1] : tensor<2x4x8xf16> -> tensor<8x2x4xf16>
  %5 = tile.trans %t [2, 0, 1] : tensor<2x4x8xf16> -> tensor<8x2x4xf16>
  // CHECK: %[[J:.*]] = tile.join %[[A]], %[[A]] : tensor<64xf32> -> tensor<64x2xf32>
  %6 = tile.join %a, %a : tensor<64xf32> -> tensor<64x2xf32>
  // CHECK: tile.split %[[J]] : tensor<64x2xf32> -> tensor<64xf32>
  %7, %8 = tile.split %6 : tensor<64x2xf32> -> tensor<64xf32>
  // CHECK: tile.cat %[[T]], %[[T]] axis 1 : tensor<2x4x8xf16> -> tensor<2x8x8xf16>
  %9 = tile.cat %t, %t axis 1 : tensor<2x4x8xf16> -> tensor<2x8x8xf16>
  return
}

// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[T:.*]]: tensor<16x64xf32>, %[[I:.*]]: tensor<16x8xi32>)
func.func @gather(%t: tensor<16x64xf32>, %i: tensor<16x8xi32>) -> tensor<16x8xf32> {
  // CHECK: tile.gather %[[T]][%[[I]]] axis 1 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  %0 = tile.gather %t[%i] axis 1 : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
