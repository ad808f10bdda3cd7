// RUN: tile-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @addptr_zero
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[T:.*]]: tensor<4x!tile.ptr<f32>>)
func.func @addptr_zero(%p: !tile.ptr<f32>, %t: tensor<4x!tile.ptr<f32>>) -> (!tile.ptr<f32>, tensor<4x!tile.ptr<f32>>) {
  // CHECK-NEXT: return %[[P]], %[[T]]
  %c = arith.constant 0 : i32
  %z = arith.constant dense<0> : tensor<4xi64>
  %0 = tile.addptr %p, %c : !tile.ptr<f32>, i32
  %1 = tile.addptr %t, %z : tensor<4x!tile.ptr<f32>>, tensor<4xi64>
  return %0, %1 : !tile.ptr<f32>, tensor<4x!tile.ptr<f32>>
}

// CHECK-LABEL: func.func @addptr_constants
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[T:.*]]: tensor<4x!tile.ptr<f32>>)
func.func @addptr_constants(%p: !tile.ptr<f32>, %t: tensor<4x!tile.ptr<f32>>) -> (!tile.ptr<f32>, tensor<4x!tile.ptr<f32>>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant -5 : i32
  // CHECK-DAG: %[[D:.*]] = arith.constant dense<12> : tensor<4xi64>
  // CHECK-DAG: tile.addptr %[[P]], %[[C]] : !tile.ptr<f32>, i32
  // CHECK-DAG: tile.addptr %[[T]], %[[D]] : tensor<4x!tile.ptr<f32>>, tensor<4xi64>
  %a = arith.constant 3 : i32
  %b = arith.constant -8 : i32
  %0 = tile.addptr %p, %a : !tile.ptr<f32>, i32
  %1 = tile.addptr %0, %b : !tile.ptr<f32>, i32
  %c = arith.constant dense<7> : tensor<4xi32>
  %d = arith.constant dense<5> : tensor<4xi64>
  %2 = tile.addptr %t, %c : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %3 = tile.addptr %2, %d : tensor<4x!tile.ptr<f32>>, tensor<4xi64>
  return %1, %3 : !tile.ptr<f32>, tensor<4x!tile.ptr<f32>>
}

// Offsets are extended before they are added: the sum does not wrap.
// CHECK-LABEL: func.func @addptr_constants_wide
func.func @addptr_constants_wide(%p: !tile.ptr<f32>) -> !tile.ptr<f32> {
  // CHECK: %[[C:.*]] = arith.constant 4294967294 : i64
  // CHECK: tile.addptr %{{.*}}, %[[C]] : !tile.ptr<f32>, i64
  %a = arith.constant 2147483647 : i32
  %0 = tile.addptr %p, %a : !tile.ptr<f32>, i32
  %1 = tile.addptr %0, %a : !tile.ptr<f32>, i32
  return %1 : !tile.ptr<f32>
}

// CHECK-LABEL: func.func @addptr_splats
// CHECK-SAME: (%[[T:.*]]: tensor<4x!tile.ptr<f32>>, %[[A:.*]]: i64, %[[B:.*]]: i64)
func.func @addptr_splats(%t: tensor<4x!tile.ptr<f32>>, %a: i64, %b: i64) -> tensor<4x!tile.ptr<f32>> {
  // CHECK-NEXT: %[[S:.*]] = arith.addi %[[A]], %[[B]] : i64
  // CHECK-NEXT: %[[O:.*]] = tile.splat %[[S]] : tensor<4xi64>
  // CHECK-NEXT: tile.addptr %[[T]], %[[O]]
  %0 = tile.splat %a : tensor<4xi64>
  %1 = tile.splat %b : tensor<4xi64>
  %2 = tile.addptr %t, %0 : tensor<4x!tile.ptr<f32>>, tensor<4xi64>
  %3 = tile.addptr %2, %1 : tensor<4x!tile.ptr<f32>>, tensor<4xi64>
  return %3 : tensor<4x!tile.ptr<f32>>
}

// A sum of i32 may wrap.
// CHECK-LABEL: func.func @addptr_narrow_splats
func.func @addptr_narrow_splats(%t: tensor<4x!tile.ptr<f32>>, %a: i32, %b: i32) -> tensor<4x!tile.ptr<f32>> {
  // CHECK-COUNT-2: tile.addptr
  // CHECK-NOT: arith.addi
  %0 = tile.splat %a : tensor<4xi32>
  %1 = tile.splat %b : tensor<4xi32>
  %2 = tile.addptr %t, %0 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %3 = tile.addptr %2, %1 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  return %3 : tensor<4x!tile.ptr<f32>>
}

// CHECK-LABEL: func.func @pointer_casts
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[A:.*]]: i64)
func.func @pointer_casts(%p: !tile.ptr<f32>, %a: i64) -> (!tile.ptr<f32>, i64) {
  // CHECK-NEXT: return %[[P]], %[[A]]
  %0 = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
  %1 = tile.int_to_ptr %0 : i64 -> !tile.ptr<f32>
  %2 = tile.int_to_ptr %a : i64 -> !tile.ptr<i8>
  %3 = tile.ptr_to_int %2 : !tile.ptr<i8> -> i64
  return %1, %3 : !tile.ptr<f32>, i64
}

// An address does not depend on the pointee, but a pointer does.
// CHECK-LABEL: func.func @pointer_types
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>)
func.func @pointer_types(%p: !tile.ptr<f32>) -> (i64, !tile.ptr<f16>) {
  // CHECK-DAG: %[[I:.*]] = tile.ptr_to_int %[[P]] : !tile.ptr<f32> -> i64
  // CHECK-DAG: %[[Q:.*]] = tile.int_to_ptr %[[I]] : i64 -> !tile.ptr<f16>
  // CHECK: return %[[I]], %[[Q]]
  %0 = tile.bitcast %p : !tile.ptr<f32> -> !tile.ptr<i8>
  %1 = tile.ptr_to_int %0 : !tile.ptr<i8> -> i64
  %2 = tile.int_to_ptr %1 : i64 -> !tile.ptr<f16>
  return %1, %2 : i64, !tile.ptr<f16>
}

// CHECK-LABEL: func.func @bitcasts
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @bitcasts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[B:.*]] = tile.bitcast %[[X]] : tensor<4xf32> -> tensor<4xi32>
  // CHECK-NEXT: return %[[X]], %[[B]], %[[X]]
  %0 = tile.bitcast %x : tensor<4xf32> -> tensor<4xf32>
  %1 = tile.bitcast %0 : tensor<4xf32> -> tensor<4xi32>
  %2 = tile.bitcast %1 : tensor<4xi32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @bitcast_constants
func.func @bitcast_constants() -> (tensor<4xi32>, f16, i8) {
  // CHECK-DAG: arith.constant dense<1065353216> : tensor<4xi32>
  // CHECK-DAG: arith.constant -2.000000e+00 : f16
  // CHECK-DAG: arith.constant 56 : i8
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  %1 = tile.bitcast %0 : tensor<4xf32> -> tensor<4xi32>
  %2 = arith.constant 0xC000 : i16
  %3 = tile.bitcast %2 : i16 -> f16
  %4 = arith.constant 1.0 : f8E4M3FN
  %5 = tile.bitcast %4 : f8E4M3FN -> i8
  return %1, %3, %5 : tensor<4xi32>, f16, i8
}

// CHECK-LABEL: func.func @load_masks
// CHECK-SAME: (%[[T:.*]]: tensor<4x!tile.ptr<f32>>, %[[O:.*]]: tensor<4xf32>)
func.func @load_masks(%t: tensor<4x!tile.ptr<f32>>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[L:.*]] = tile.load %[[T]] cache(cg) : tensor<4x!tile.ptr<f32>>
  // CHECK: return %[[L]], %[[O]], %[[Z]]
  %true = arith.constant dense<true> : tensor<4xi1>
  %false = arith.constant dense<false> : tensor<4xi1>
  %0 = tile.load %t mask %true other %o cache(cg) : tensor<4x!tile.ptr<f32>>
  %1 = tile.load %t mask %false other %o : tensor<4x!tile.ptr<f32>>
  %2 = tile.load %t mask %false volatile : tensor<4x!tile.ptr<f32>>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @load_scalar_mask
func.func @load_scalar_mask(%p: !tile.ptr<i32>, %m: i1) -> (i32, i32) {
  // CHECK: %[[A:.*]] = tile.load %{{[a-z0-9]+}} : !tile.ptr<i32>
  // CHECK: %[[B:.*]] = tile.load %{{[a-z0-9]+}} mask %{{[a-z0-9]+}} : !tile.ptr<i32>
  %true = arith.constant true
  %0 = tile.load %p mask %true : !tile.ptr<i32>
  %1 = tile.load %p mask %m : !tile.ptr<i32>
  return %0, %1 : i32, i32
}

// There is no constant pointer: the load stays.
// CHECK-LABEL: func.func @load_pointer_mask
func.func @load_pointer_mask(%p: !tile.ptr<!tile.ptr<i32>>) -> !tile.ptr<i32> {
  // CHECK: tile.load {{.*}} mask
  %false = arith.constant false
  %0 = tile.load %p mask %false : !tile.ptr<!tile.ptr<i32>>
  return %0 : !tile.ptr<i32>
}

// CHECK-LABEL: func.func @store_masks
// CHECK-SAME: (%[[T:.*]]: tensor<4x!tile.ptr<f32>>, %[[X:.*]]: tensor<4xf32>)
func.func @store_masks(%t: tensor<4x!tile.ptr<f32>>, %x: tensor<4xf32>) {
  // CHECK-NEXT: tile.store %[[T]], %[[X]] : tensor<4x!tile.ptr<f32>>
  // CHECK-NEXT: return
  %true = arith.constant dense<true> : tensor<4xi1>
  %false = arith.constant dense<false> : tensor<4xi1>
  tile.store %t, %x mask %true : tensor<4x!tile.ptr<f32>>
  tile.store %t, %x mask %false : tensor<4x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @atomic_masks
// CHECK-SAME: (%[[T:.*]]: tensor<4x!tile.ptr<i32>>, %[[X:.*]]: tensor<4xi32>)
func.func @atomic_masks(%t: tensor<4x!tile.ptr<i32>>, %x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK-NEXT: %[[Z:.*]] = arith.constant dense<0> : tensor<4xi32>
  // CHECK-NEXT: %[[A:.*]] = tile.atomic_rmw add %[[T]], %[[X]] : tensor<4x!tile.ptr<i32>>
  // CHECK-NEXT: return %[[A]], %[[Z]]
  %true = arith.constant dense<true> : tensor<4xi1>
  %false = arith.constant dense<false> : tensor<4xi1>
  %0 = tile.atomic_rmw add %t, %x mask %true : tensor<4x!tile.ptr<i32>>
  %1 = tile.atomic_rmw add %t, %x mask %false : tensor<4x!tile.ptr<i32>>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @asserts
// CHECK-SAME: (%[[M:.*]]: tensor<4xi1>)
func.func @asserts(%m: tensor<4xi1>) {
  // CHECK-NEXT: %[[F:.*]] = arith.constant false
  // CHECK-NEXT: tile.assert %[[M]], "unknown"
  // CHECK-NEXT: tile.assert %[[F]], "false"
  // CHECK-NEXT: return
  %true = arith.constant dense<true> : tensor<4xi1>
  %false = arith.constant false
  tile.assert %m, "unknown" : tensor<4xi1>
  tile.assert %true, "true" : tensor<4xi1>
  tile.assert %false, "false" : i1
  return
}

// CHECK-LABEL: func.func @assumes
// CHECK-SAME: (%[[C:.*]]: i1)
func.func @assumes(%c: i1) {
  // CHECK-NEXT: tile.assume %[[C]]
  // CHECK-NEXT: return
  %true = arith.constant true
  tile.assume %c
  tile.assume %true
  return
}
