// RUN: tile-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @splat_constant
func.func @splat_constant() -> (tensor<4x8xf16>, tensor<4xi1>) {
  // CHECK-DAG: arith.constant dense<1.500000e+00> : tensor<4x8xf16>
  // CHECK-DAG: arith.constant dense<true> : tensor<4xi1>
  %c = arith.constant 1.5 : f16
  %t = arith.constant true
  %0 = tile.splat %c : tensor<4x8xf16>
  %1 = tile.splat %t : tensor<4xi1>
  return %0, %1 : tensor<4x8xf16>, tensor<4xi1>
}

// CHECK-LABEL: func.func @arange_of_one
func.func @arange_of_one() -> tensor<1xi32> {
  // CHECK: arith.constant dense<-3> : tensor<1xi32>
  %0 = tile.arange -3, -2 : tensor<1xi32>
  return %0 : tensor<1xi32>
}

// CHECK-LABEL: func.func @arange_of_two
func.func @arange_of_two() -> tensor<2xi32> {
  // CHECK: tile.arange 0, 2
  %0 = tile.arange 0, 2 : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: func.func @shape_of_constant
func.func @shape_of_constant() -> (tensor<1x4xf32>, tensor<8x4xf32>, tensor<2x2xf32>, tensor<4x1xf32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<2.000000e+00> : tensor<1x4xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<2.000000e+00> : tensor<8x4xf32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<2x2xf32>
  // CHECK-DAG: %[[D:.*]] = arith.constant dense<2.000000e+00> : tensor<4x1xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %0 = tile.expand_dims %c 0 : tensor<4xf32> -> tensor<1x4xf32>
  %1 = tile.broadcast %0 : tensor<1x4xf32> -> tensor<8x4xf32>
  %2 = tile.reshape %c : tensor<4xf32> -> tensor<2x2xf32>
  %3 = tile.trans %0 [1, 0] : tensor<1x4xf32> -> tensor<4x1xf32>
  return %0, %1, %2, %3 : tensor<1x4xf32>, tensor<8x4xf32>, tensor<2x2xf32>, tensor<4x1xf32>
}

// CHECK-LABEL: func.func @shape_of_splat
// CHECK-SAME: (%[[X:.*]]: !tile.ptr<f32>)
func.func @shape_of_splat(%x: !tile.ptr<f32>) -> (tensor<8x4x!tile.ptr<f32>>, tensor<2x2x!tile.ptr<f32>>, tensor<4x1x!tile.ptr<f32>>) {
  // CHECK-DAG: %[[A:.*]] = tile.splat %[[X]] : tensor<8x4x!tile.ptr<f32>>
  // CHECK-DAG: %[[B:.*]] = tile.splat %[[X]] : tensor<2x2x!tile.ptr<f32>>
  // CHECK-DAG: %[[C:.*]] = tile.splat %[[X]] : tensor<4x1x!tile.ptr<f32>>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %s = tile.splat %x : tensor<4x!tile.ptr<f32>>
  %0 = tile.expand_dims %s 0 : tensor<4x!tile.ptr<f32>> -> tensor<1x4x!tile.ptr<f32>>
  %1 = tile.broadcast %0 : tensor<1x4x!tile.ptr<f32>> -> tensor<8x4x!tile.ptr<f32>>
  %2 = tile.reshape %s : tensor<4x!tile.ptr<f32>> -> tensor<2x2x!tile.ptr<f32>>
  %3 = tile.trans %0 [1, 0] : tensor<1x4x!tile.ptr<f32>> -> tensor<4x1x!tile.ptr<f32>>
  return %1, %2, %3 : tensor<8x4x!tile.ptr<f32>>, tensor<2x2x!tile.ptr<f32>>, tensor<4x1x!tile.ptr<f32>>
}

// CHECK-LABEL: func.func @no_op
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @no_op(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]]
  %0 = tile.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tile.reshape %x reorder : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tile.trans %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcast_chain
// CHECK-SAME: (%[[X:.*]]: tensor<1x1xf32>)
func.func @broadcast_chain(%x: tensor<1x1xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[X]] : tensor<1x1xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: return %[[B]]
  %0 = tile.broadcast %x : tensor<1x1xf32> -> tensor<4x1xf32>
  %1 = tile.broadcast %0 : tensor<4x1xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @reshape_chain
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @reshape_chain(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> (tensor<2x16xf32>, tensor<16x2xf32>, tensor<2x4xf32>) {
  // CHECK-DAG: %[[A:.*]] = tile.reshape %[[X]] : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK-DAG: %[[B:.*]] = tile.reshape %[[X]] reorder : tensor<4x8xf32> -> tensor<16x2xf32>
  // CHECK-DAG: %[[C:.*]] = tile.reshape %[[Y]] : tensor<8xf32> -> tensor<2x4xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]]
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tile.reshape %0 : tensor<32xf32> -> tensor<2x16xf32>
  %2 = tile.reshape %x reorder : tensor<4x8xf32> -> tensor<32xf32>
  %3 = tile.reshape %2 : tensor<32xf32> -> tensor<16x2xf32>
  %4 = tile.expand_dims %y 0 : tensor<8xf32> -> tensor<1x8xf32>
  %5 = tile.reshape %4 : tensor<1x8xf32> -> tensor<2x4xf32>
  return %1, %3, %5 : tensor<2x16xf32>, tensor<16x2xf32>, tensor<2x4xf32>
}

// An inverse pair of reshapes is nothing.
// CHECK-LABEL: func.func @reshape_back
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @reshape_back(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tile.reshape %0 : tensor<32xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Dimension i of the result is dimension inner[outer[i]] of the source.
// CHECK-LABEL: func.func @trans_chain
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x8xf32>)
func.func @trans_chain(%x: tensor<2x4x8xf32>) -> tensor<4x2x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = tile.trans %[[X]] [1, 0, 2] : tensor<2x4x8xf32> -> tensor<4x2x8xf32>
  // CHECK-NEXT: return %[[T]]
  %0 = tile.trans %x [2, 0, 1] : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %1 = tile.trans %0 [2, 1, 0] : tensor<8x2x4xf32> -> tensor<4x2x8xf32>
  return %1 : tensor<4x2x8xf32>
}

// CHECK-LABEL: func.func @trans_back
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @trans_back(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.trans %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = tile.trans %0 [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @split_join
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @split_join(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: return %[[X]], %[[Y]]
  %0 = tile.join %x, %y : tensor<4xf32> -> tensor<4x2xf32>
  %1, %2 = tile.split %0 : tensor<4x2xf32> -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @join_split
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xf32>)
func.func @join_split(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  // CHECK-NEXT: %[[L:.*]], %[[R:.*]] = tile.split
  // CHECK-NEXT: %[[S:.*]] = tile.join %[[R]], %[[L]]
  // CHECK-NEXT: return %[[X]], %[[S]]
  %0, %1 = tile.split %x : tensor<4x2xf32> -> tensor<4xf32>
  %2 = tile.join %0, %1 : tensor<4xf32> -> tensor<4x2xf32>
  %3 = tile.join %1, %0 : tensor<4xf32> -> tensor<4x2xf32>
  return %2, %3 : tensor<4x2xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @join_split_constant
func.func @join_split_constant() -> (tensor<4x2xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<1.000000e+00> : tensor<4x2xf32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: return %[[A]], %[[B]]
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %0 = tile.join %c, %c : tensor<4xf32> -> tensor<4x2xf32>
  %1, %2 = tile.split %0 : tensor<4x2xf32> -> tensor<4xf32>
  return %0, %2 : tensor<4x2xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>, %[[Y:.*]]: tensor<1xf32>)
func.func @reduce_of_one(%x: tensor<4x1xf32>, %y: tensor<1xf32>) -> (tensor<4xf32>, f32) {
  // CHECK-NEXT: %[[R:.*]] = tile.reshape %[[X]] : tensor<4x1xf32> -> tensor<4xf32>
  // CHECK-NEXT: %[[S:.*]] = tile.reduce(%[[Y]])
  // CHECK: return %[[R]], %[[S]]
  %0 = tile.reduce(%x) axis 1 : (tensor<4x1xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  %1 = tile.reduce(%y) axis 0 : (tensor<1xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %0, %1 : tensor<4xf32>, f32
}

// CHECK-LABEL: func.func @scan_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>)
func.func @scan_of_one(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tile.scan(%x) axis 1 : (tensor<4x1xf32>) -> tensor<4x1xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  return %0 : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @histogram_mask
func.func @histogram_mask(%x: tensor<64xi32>) -> tensor<16xi32> {
  // CHECK: tile.histogram %{{[a-z0-9]+}} : tensor<64xi32>
  %m = arith.constant dense<true> : tensor<64xi1>
  %0 = tile.histogram %x mask %m : tensor<64xi32> -> tensor<16xi32>
  return %0 : tensor<16xi32>
}
