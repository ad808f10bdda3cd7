// RUN: tile-opt %s -canonicalize -cse | FileCheck %s
// RUN: tile-opt %s -loop-invariant-code-motion | FileCheck %s --check-prefix=LICM

// Unused pure ops and loads go; everything that writes stays.
// CHECK-LABEL: func.func @dead
func.func @dead(%p: !tile.ptr<i32>, %x: i32, %y: f32, %d: !tile.desc<8xi32>, %t: tensor<8xi32>) {
  // CHECK-NEXT: tile.load %{{.*}} volatile
  // CHECK-NEXT: tile.atomic_rmw
  // CHECK-NEXT: tile.atomic_cas
  // CHECK-NEXT: tile.extern_elementwise "f"
  // CHECK-NEXT: tile.inline_asm_elementwise "f
  // CHECK-NEXT: tile.desc_store
  // CHECK-NEXT: tile.desc_reduce
  // CHECK-NEXT: tile.print
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: return
  %0 = tile.load %p : !tile.ptr<i32>
  %1 = tile.load %p volatile : !tile.ptr<i32>
  %2 = tile.atomic_rmw add %p, %x : !tile.ptr<i32>
  %3 = tile.atomic_cas %p, %x, %x : !tile.ptr<i32>
  %4 = tile.extern_elementwise "f"(%y) : (f32) -> f32
  %5 = tile.extern_elementwise pure "g"(%y) : (f32) -> f32
  %6 = tile.inline_asm_elementwise "f $0, $1;" constraints "=f,f"(%y) : (f32) -> f32
  %7 = tile.inline_asm_elementwise pure "g $0, $1;" constraints "=f,f"(%y) : (f32) -> f32
  %8 = tile.desc_load %d[%x] : !tile.desc<8xi32> -> tensor<8xi32>
  tile.desc_store %d[%x], %t : !tile.desc<8xi32>, tensor<8xi32>
  tile.desc_reduce add %d[%x], %t : !tile.desc<8xi32>, tensor<8xi32>
  %9 = tile.reduce(%t) axis 0 : (tensor<8xi32>) -> i32 {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  %10 = tile.scan(%t) axis 0 : (tensor<8xi32>) -> tensor<8xi32> {
  ^bb0(%a: i32, %b: i32):
    tile.yield %a : i32
  }
  %11 = tile.map_elementwise(%t) : (tensor<8xi32>) -> tensor<8xi32> {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.print "x"
  tile.barrier
  return
}

// Loads of one address are one; a store or a barrier between them keeps both.
// CHECK-LABEL: func.func @equal_loads
func.func @equal_loads(%p: !tile.ptr<i32>) -> (i32, i32, i32, i32) {
  // CHECK-NEXT: %[[A:.*]] = tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: %[[B:.*]] = tile.load
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: %[[C:.*]] = tile.load
  // CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[C]]
  %0 = tile.load %p : !tile.ptr<i32>
  %1 = tile.load %p : !tile.ptr<i32>
  tile.store %p, %0 : !tile.ptr<i32>
  %2 = tile.load %p : !tile.ptr<i32>
  tile.barrier
  %3 = tile.load %p : !tile.ptr<i32>
  return %0, %1, %2, %3 : i32, i32, i32, i32
}

// A loop may run zero times: what is not speculatable stays in it.
// LICM-LABEL: func.func @hoist
func.func @hoist(%p: !tile.ptr<i32>, %t: tensor<8xi32>, %n: index, %y: f32) {
  // LICM-DAG: tile.addptr
  // LICM-DAG: tile.extern_elementwise pure "g"
  // LICM-DAG: tile.reduce
  // LICM: scf.for
  // LICM: tile.load
  // LICM: tile.extern_elementwise "f"
  // LICM: tile.reduce
  // LICM-NEXT: ^bb0
  // LICM-NEXT: arith.divsi
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %q = tile.addptr %p, %one : !tile.ptr<i32>, i32
    %0 = tile.load %q : !tile.ptr<i32>
    %1 = tile.extern_elementwise "f"(%y) : (f32) -> f32
    %2 = tile.extern_elementwise pure "g"(%y) : (f32) -> f32
    %3 = tile.reduce(%t) axis 0 : (tensor<8xi32>) -> i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    %4 = tile.reduce(%t) axis 0 : (tensor<8xi32>) -> i32 {
    ^bb0(%a: i32, %b: i32):
      %s = arith.divsi %a, %b : i32
      tile.yield %s : i32
    }
  }
  return
}
