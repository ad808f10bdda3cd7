// RUN: tile-opt %s --tile-combine | FileCheck %s

// CHECK-LABEL: func.func @accumulate
// CHECK-SAME: %[[A:.+]]: tensor<16x16xf16>, %[[B:.+]]: tensor<16x16xf16>, %[[C:.+]]: tensor<16x16xf32>
func.func @accumulate(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  // CHECK: %[[DOT:.+]] = tile.dot %[[A]], %[[B]], %[[C]]
  // CHECK-NEXT: return %[[DOT]]
  %d = tile.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %s = arith.addf %c, %d : tensor<16x16xf32>
  return %s : tensor<16x16xf32>
}

// The product is needed by itself.
// CHECK-LABEL: func.func @product_with_two_uses
func.func @product_with_two_uses(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  // CHECK: arith.addf
  %s = arith.addf %d, %c : tensor<16x16xf32>
  return %s, %d : tensor<16x16xf32>, tensor<16x16xf32>
}

// CHECK-LABEL: func.func @other_of_load
// CHECK-SAME: %[[P:.+]]: tensor<64x!tile.ptr<f32>>, %[[MASK:.+]]: tensor<64xi1>, %[[OTHER:.+]]: tensor<64xf32>
func.func @other_of_load(%p: tensor<64x!tile.ptr<f32>>, %mask: tensor<64xi1>, %other: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: %[[LOAD:.+]] = tile.load %[[P]] mask %[[MASK]] other %[[OTHER]]
  // CHECK-NEXT: return %[[LOAD]]
  %x = tile.load %p mask %mask : tensor<64x!tile.ptr<f32>>
  %s = arith.select %mask, %x, %other : tensor<64xi1>, tensor<64xf32>
  return %s : tensor<64xf32>
}

// CHECK-LABEL: func.func @other_comes_too_late
func.func @other_comes_too_late(%p: tensor<64x!tile.ptr<f32>>, %mask: tensor<64xi1>) -> tensor<64xf32> {
  %x = tile.load %p mask %mask : tensor<64x!tile.ptr<f32>>
  %other = tile.load %p : tensor<64x!tile.ptr<f32>>
  // CHECK: arith.select
  %s = arith.select %mask, %x, %other : tensor<64xi1>, tensor<64xf32>
  return %s : tensor<64xf32>
}

// Blocks that the driver merges, and a value that does not dominate the load.
// CHECK-LABEL: func.func @other_in_blocks
// CHECK-SAME: %[[P:.+]]: tensor<64x!tile.ptr<f32>>, %[[MASK:.+]]: tensor<64xi1>
func.func @other_in_blocks(%p: tensor<64x!tile.ptr<f32>>, %mask: tensor<64xi1>, %c: i1) -> (tensor<64xf32>, tensor<64xf32>) {
  cf.br ^entry
^entry:
  // CHECK: %[[OTHER:.+]] = tile.load %[[P]] : tensor<64x!tile.ptr<f32>>
  %early = tile.load %p : tensor<64x!tile.ptr<f32>>
  cf.br ^loads
^loads:
  // CHECK: %[[X:.+]] = tile.load %[[P]] mask %[[MASK]] other %[[OTHER]]
  // CHECK: %[[Y:.+]] = tile.load %[[P]] mask %[[MASK]] : tensor
  %x = tile.load %p mask %mask : tensor<64x!tile.ptr<f32>>
  %y = tile.load %p mask %mask : tensor<64x!tile.ptr<f32>>
  cf.cond_br %c, ^selects, ^end(%early, %early : tensor<64xf32>, tensor<64xf32>)
^selects:
  // CHECK: %[[LATE:.+]] = tile.load %[[P]] : tensor<64x!tile.ptr<f32>>
  %late = tile.load %p : tensor<64x!tile.ptr<f32>>
  cf.br ^more
^more:
  %s = arith.select %mask, %x, %early : tensor<64xi1>, tensor<64xf32>
  // CHECK: arith.select %[[MASK]], %[[Y]], %[[LATE]]
  %t = arith.select %mask, %y, %late : tensor<64xi1>, tensor<64xf32>
  cf.br ^end(%s, %t : tensor<64xf32>, tensor<64xf32>)
^end(%u: tensor<64xf32>, %v: tensor<64xf32>):
  return %u, %v : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @uniform_offset
// CHECK-SAME: %[[P:.+]]: !tile.ptr<f32>, %[[X:.+]]: tensor<64xi32>, %[[S:.+]]: i32
func.func @uniform_offset(%p: !tile.ptr<f32>, %x: tensor<64xi32>, %s: i32) -> tensor<64x!tile.ptr<f32>> {
  %ps = tile.splat %p : tensor<64x!tile.ptr<f32>>
  %q = tile.addptr %ps, %x : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ss = tile.splat %s : tensor<64xi32>
  // CHECK: %[[BASE:.+]] = tile.addptr %[[P]], %[[S]] : !tile.ptr<f32>, i32
  // CHECK: %[[BASES:.+]] = tile.splat %[[BASE]]
  // CHECK: tile.addptr %[[BASES]], %[[X]]
  %r = tile.addptr %q, %ss : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  return %r : tensor<64x!tile.ptr<f32>>
}
