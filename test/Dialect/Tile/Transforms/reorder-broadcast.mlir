// RUN: tile-opt %s --tile-reorder-broadcast | FileCheck %s

// CHECK-LABEL: func.func @splats
// CHECK-SAME: %[[A:.+]]: i32, %[[B:.+]]: i32
func.func @splats(%a: i32, %b: i32) -> tensor<64xi1> {
  // CHECK: %[[SUM:.+]] = arith.addi %[[A]], %[[B]] : i32
  // CHECK: %[[LESS:.+]] = arith.cmpi slt, %[[SUM]], %[[A]] : i32
  // CHECK: %[[RESULT:.+]] = tile.splat %[[LESS]] : tensor<64xi1>
  // CHECK: return %[[RESULT]]
  %as = tile.splat %a : tensor<64xi32>
  %bs = tile.splat %b : tensor<64xi32>
  %s = arith.addi %as, %bs : tensor<64xi32>
  %l = arith.cmpi slt, %s, %as : tensor<64xi32>
  return %l : tensor<64xi1>
}

// CHECK-LABEL: func.func @pointer_and_constant
// CHECK-SAME: %[[P:.+]]: !tile.ptr<f32>
func.func @pointer_and_constant(%p: !tile.ptr<f32>) -> tensor<64x!tile.ptr<f32>> {
  // CHECK: %[[EIGHT:.+]] = arith.constant 8 : i32
  // CHECK: %[[Q:.+]] = tile.addptr %[[P]], %[[EIGHT]] : !tile.ptr<f32>, i32
  // CHECK: tile.splat %[[Q]]
  %ps = tile.splat %p : tensor<64x!tile.ptr<f32>>
  %c = arith.constant dense<8> : tensor<64xi32>
  %q = tile.addptr %ps, %c : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  return %q : tensor<64x!tile.ptr<f32>>
}

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[R:.+]]: tensor<8xi32>, %[[S:.+]]: i32
func.func @rows(%r: tensor<8xi32>, %s: i32) -> tensor<8x32xi32> {
  // CHECK: %[[SPLAT:.+]] = tile.splat %[[S]] : tensor<8xi32>
  // CHECK: %[[PRODUCT:.+]] = arith.muli %[[R]], %[[SPLAT]] : tensor<8xi32>
  // CHECK: %[[COLUMN:.+]] = tile.expand_dims %[[PRODUCT]] 1
  // CHECK: %[[RESULT:.+]] = tile.broadcast %[[COLUMN]]
  // CHECK: return %[[RESULT]]
  %column = tile.expand_dims %r 1 : tensor<8xi32> -> tensor<8x1xi32>
  %wide = tile.broadcast %column : tensor<8x1xi32> -> tensor<8x32xi32>
  %ss = tile.splat %s : tensor<8x32xi32>
  %p = arith.muli %wide, %ss : tensor<8x32xi32>
  return %p : tensor<8x32xi32>
}

// Two directions have no common small tile.
// CHECK-LABEL: func.func @rows_and_columns
func.func @rows_and_columns(%r: tensor<8x1xi32>, %c: tensor<1x32xi32>) -> tensor<8x32xi32> {
  // CHECK: tile.broadcast
  // CHECK: tile.broadcast
  // CHECK: arith.addi {{.*}} : tensor<8x32xi32>
  %rs = tile.broadcast %r : tensor<8x1xi32> -> tensor<8x32xi32>
  %cs = tile.broadcast %c : tensor<1x32xi32> -> tensor<8x32xi32>
  %s = arith.addi %rs, %cs : tensor<8x32xi32>
  return %s : tensor<8x32xi32>
}

// Facts about the result's dimensions would be lost.
// CHECK-LABEL: func.func @stated_facts
func.func @stated_facts(%r: tensor<8x1xi32>, %s: i32) -> tensor<8x32xi32> {
  %rs = tile.broadcast %r : tensor<8x1xi32> -> tensor<8x32xi32>
  %ss = tile.splat %s : tensor<8x32xi32>
  // CHECK: arith.muli {{.*}} {tile.divisibility = array<i32: 8, 8>} : tensor<8x32xi32>
  %p = arith.muli %rs, %ss {tile.divisibility = array<i32: 8, 8>} : tensor<8x32xi32>
  return %p : tensor<8x32xi32>
}

// There are no splats of index, of i4 or of i128.
// CHECK-LABEL: func.func @foreign_elements
// CHECK-SAME: %[[S:.+]]: i32, %[[C:.+]]: tensor<8x1xi32>
func.func @foreign_elements(%s: i32, %c: tensor<8x1xi32>) -> (tensor<64xindex>, tensor<64xi4>, tensor<8x32xi128>, tensor<8x32xi1>) {
  // CHECK: %[[SPLAT:.+]] = tile.splat %[[S]] : tensor<64xi32>
  %ss = tile.splat %s : tensor<64xi32>
  // CHECK: arith.index_cast %[[SPLAT]] : tensor<64xi32> to tensor<64xindex>
  %0 = arith.index_cast %ss : tensor<64xi32> to tensor<64xindex>
  // CHECK: arith.trunci %[[SPLAT]] : tensor<64xi32> to tensor<64xi4>
  %1 = arith.trunci %ss : tensor<64xi32> to tensor<64xi4>
  // CHECK: %[[WIDE:.+]] = tile.broadcast %[[C]]
  %wide = tile.broadcast %c : tensor<8x1xi32> -> tensor<8x32xi32>
  // CHECK: arith.extsi %[[WIDE]] : tensor<8x32xi32> to tensor<8x32xi128>
  %2 = arith.extsi %wide : tensor<8x32xi32> to tensor<8x32xi128>
  %k = arith.constant dense<5> : tensor<8x32xi128>
  %3 = arith.cmpi slt, %2, %k : tensor<8x32xi128>
  return %0, %1, %2, %3 : tensor<64xindex>, tensor<64xi4>, tensor<8x32xi128>, tensor<8x32xi1>
}
