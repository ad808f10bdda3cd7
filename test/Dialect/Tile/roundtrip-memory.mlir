// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s -emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @pointers
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[T:.*]]: tensor<64x!tile.ptr<f32>>, %[[I:.*]]: tensor<64xi32>, %[[A:.*]]: i64)
func.func @pointers(%p: !tile.ptr<f32>, %t: tensor<64x!tile.ptr<f32>>, %i: tensor<64xi32>, %a: i64) {
  // CHECK: tile.addptr %[[T]], %[[I]] : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %0 = tile.addptr %t, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  // CHECK: tile.addptr %[[P]], %[[A]] : !tile.ptr<f32>, i64
  %1 = tile.addptr %p, %a : !tile.ptr<f32>, i64
  // CHECK: tile.int_to_ptr %[[A]] : i64 -> !tile.ptr<i8, 3>
  %2 = tile.int_to_ptr %a : i64 -> !tile.ptr<i8, 3>
  // CHECK: tile.ptr_to_int %[[T]] : tensor<64x!tile.ptr<f32>> -> tensor<64xi64>
  %3 = tile.ptr_to_int %t : tensor<64x!tile.ptr<f32>> -> tensor<64xi64>
  // CHECK: tile.bitcast %[[P]] : !tile.ptr<f32> -> !tile.ptr<i32>
  %4 = tile.bitcast %p : !tile.ptr<f32> -> !tile.ptr<i32>
  // CHECK: tile.bitcast %[[I]] : tensor<64xi32> -> tensor<64xf32>
  %5 = tile.bitcast %i : tensor<64xi32> -> tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @load
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[T:.*]]: tensor<64x!tile.ptr<f32>>, %[[M:.*]]: tensor<64xi1>, %[[O:.*]]: tensor<64xf32>)
func.func @load(%p: !tile.ptr<f32>, %t: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>) {
  // CHECK: tile.load %[[P]] : !tile.ptr<f32>
  %0 = tile.load %p : !tile.ptr<f32>
  // CHECK: tile.load %[[T]] : tensor<64x!tile.ptr<f32>>
  %1 = tile.load %t : tensor<64x!tile.ptr<f32>>
  // CHECK: tile.load %[[T]] mask %[[M]] : tensor
  %2 = tile.load %t mask %m : tensor<64x!tile.ptr<f32>>
  // CHECK: tile.load %[[T]] mask %[[M]] other %[[O]] cache(ca) evict(evict_last) volatile : tensor
  %3 = tile.load %t mask %m other %o volatile evict(evict_last) cache(ca) : tensor<64x!tile.ptr<f32>>
  // CHECK: tile.load %[[T]] : tensor
  %4 = tile.load %t cache(none) evict(evict_normal) : tensor<64x!tile.ptr<f32>>
  // CHECK: tile.load %[[T]] evict(no_allocate) : tensor
  %5 = tile.load %t evict(no_allocate) : tensor<64x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @store
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f32>, %[[X:.*]]: f32, %[[T:.*]]: tensor<64x!tile.ptr<f32>>, %[[V:.*]]: tensor<64xf32>, %[[M:.*]]: tensor<64xi1>)
func.func @store(%p: !tile.ptr<f32>, %x: f32, %t: tensor<64x!tile.ptr<f32>>, %v: tensor<64xf32>, %m: tensor<64xi1>) {
  // CHECK: tile.store %[[P]], %[[X]] : !tile.ptr<f32>
  tile.store %p, %x : !tile.ptr<f32>
  // CHECK: tile.store %[[T]], %[[V]] mask %[[M]] cache(wt) evict(evict_first) volatile : tensor<64x!tile.ptr<f32>>
  tile.store %t, %v mask %m cache(wt) evict(evict_first) volatile : tensor<64x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @atomics
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<i32>, %[[X:.*]]: i32, %[[T:.*]]: tensor<64x!tile.ptr<f16>>, %[[V:.*]]: tensor<64xf16>, %[[M:.*]]: tensor<64xi1>)
func.func @atomics(%p: !tile.ptr<i32>, %x: i32, %t: tensor<64x!tile.ptr<f16>>, %v: tensor<64xf16>, %m: tensor<64xi1>) {
  // CHECK: tile.atomic_rmw add %[[P]], %[[X]] : !tile.ptr<i32>
  %0 = tile.atomic_rmw add %p, %x : !tile.ptr<i32>
  // CHECK: tile.atomic_rmw fadd %[[T]], %[[V]] mask %[[M]] sem(relaxed) scope(sys) : tensor<64x!tile.ptr<f16>>
  %1 = tile.atomic_rmw fadd %t, %v mask %m scope(sys) sem(relaxed) : tensor<64x!tile.ptr<f16>>
  // CHECK: tile.atomic_rmw xchg %[[P]], %[[X]] sem(release) scope(cta) : !tile.ptr<i32>
  %2 = tile.atomic_rmw xchg %p, %x sem(release) scope(cta) : !tile.ptr<i32>
  // CHECK: tile.atomic_cas %[[P]], %[[X]], %[[X]] sem(acquire) : !tile.ptr<i32>
  %3 = tile.atomic_cas %p, %x, %x sem(acquire) scope(gpu) : !tile.ptr<i32>
  // CHECK: tile.atomic_cas %[[T]], %[[V]], %[[V]] : tensor<64x!tile.ptr<f16>>
  %4 = tile.atomic_cas %t, %v, %v : tensor<64x!tile.ptr<f16>>
  return
}

// CHECK-LABEL: func.func @descriptors
// CHECK-SAME: (%[[P:.*]]: !tile.ptr<f16>, %[[N:.*]]: i32, %[[S:.*]]: i64, %[[V:.*]]: tensor<64xf16>)
func.func @descriptors(%p: !tile.ptr<f16>, %n: i32, %s: i64, %v: tensor<64xf16>) {
  %one = arith.constant 1 : i64
  // CHECK: %[[ONE:.*]] = arith.constant 1
  // CHECK: %[[D:.*]] = tile.make_desc %[[P]] shape[%[[N]], %[[N]]] strides[%[[S]], %[[ONE]]] : !tile.ptr<f16> -> !tile.desc<1x64xf16>
  %d = tile.make_desc %p shape [%n, %n] strides [%s, %one] : !tile.ptr<f16> -> !tile.desc<1x64xf16>
  // CHECK: tile.make_desc %[[P]] shape[%[[N]]] strides[%[[ONE]]] padding(nan) : !tile.ptr<f16> -> !tile.desc<64xf16>
  %e = tile.make_desc %p shape [%n] strides [%one] padding(nan) : !tile.ptr<f16> -> !tile.desc<64xf16>
  // CHECK: tile.desc_load %[[D]][%[[N]], %[[N]]] : !tile.desc<1x64xf16> -> tensor<1x64xf16>
  %0 = tile.desc_load %d[%n, %n] : !tile.desc<1x64xf16> -> tensor<1x64xf16>
  // CHECK: tile.desc_load %[[D]][%[[N]], %[[N]]] cache(cg) evict(evict_first) : !tile.desc<1x64xf16> -> tensor<64xf16>
  %1 = tile.desc_load %d[%n, %n] cache(cg) evict(evict_first) : !tile.desc<1x64xf16> -> tensor<64xf16>
  // CHECK: tile.desc_store %[[D]][%[[N]], %[[N]]], %[[V]] : !tile.desc<1x64xf16>, tensor<64xf16>
  tile.desc_store %d[%n, %n], %v : !tile.desc<1x64xf16>, tensor<64xf16>
  // CHECK: tile.desc_reduce fmax %[[D]][%[[N]], %[[N]]], %[[V]] : !tile.desc<1x64xf16>, tensor<64xf16>
  tile.desc_reduce fmax %d[%n, %n], %v : !tile.desc<1x64xf16>, tensor<64xf16>
  return
}
