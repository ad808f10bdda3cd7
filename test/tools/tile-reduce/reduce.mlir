// What does not matter to the interesting op goes away.

// RUN: tile-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-reduce.sh' | FileCheck %s

// CHECK-NOT: @unrelated
// CHECK: @interesting
// CHECK: tile.reduce
// CHECK-NOT: @unrelated
func.func @unrelated(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %x, %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func @interesting(%x: tensor<4x64xf32>) -> tensor<4xf32> {
  %0 = "tile.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }) : (tensor<4x64xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
