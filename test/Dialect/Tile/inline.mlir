// RUN: tile-opt %s -inline -canonicalize | FileCheck %s

func.func private @scale(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c = arith.constant 2.0 : f32
  %s = tile.splat %c : tensor<64xf32>
  %r = arith.mulf %x, %s : tensor<64xf32>
  return %r : tensor<64xf32>
}

func.func private @larger(%a: f32, %b: f32) -> f32 {
  %r = arith.maximumf %a, %b : f32
  return %r : f32
}

// CHECK-LABEL: func.func @caller
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>)
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.000000e+00>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[C]]
// CHECK-NEXT: %[[M:.*]] = tile.reduce(%[[Y]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[M]]
func.func @caller(%x: tensor<64xf32>) -> f32 {
  %y = func.call @scale(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %m = tile.reduce(%y) axis 0 : (tensor<64xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %c = func.call @larger(%l, %r) : (f32, f32) -> f32
    tile.yield %c : f32
  }
  return %m : f32
}
