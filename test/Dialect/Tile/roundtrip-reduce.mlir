// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s -emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce
// CHECK-SAME: (%[[X:.*]]: tensor<64x32xf32>, %[[I:.*]]: tensor<64x32xi32>, %[[V:.*]]: tensor<48xf32>)
func.func @reduce(%x: tensor<64x32xf32>, %i: tensor<64x32xi32>, %v: tensor<48xf32>) {
  // CHECK: tile.reduce(%[[V]]) axis 0 : (tensor<48xf32>) -> f32 {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK-NEXT: tile.yield %[[S]] : f32
  %0 = tile.reduce(%v) axis 0 : (tensor<48xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  // CHECK: tile.reduce(%[[X]], %[[I]]) axis 1 : (tensor<64x32xf32>, tensor<64x32xi32>) -> (tensor<64xf32>, tensor<64xi32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  %1:2 = tile.reduce(%x, %i) axis 1 : (tensor<64x32xf32>, tensor<64x32xi32>) -> (tensor<64xf32>, tensor<64xi32>) {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %c, %a, %b : f32
    %mi = arith.select %c, %ai, %bi : i32
    tile.yield %m, %mi : f32, i32
  }
  return
}

// A combine region may call a helper that is inlined later, and branch.
// CHECK-LABEL: func.func @combine_calls
func.func @combine_calls(%x: tensor<64xi32>) -> i32 {
  // CHECK: func.call @helper
  // CHECK: scf.if
  %0 = tile.reduce(%x) axis 0 : (tensor<64xi32>) -> i32 {
  ^bb0(%a: i32, %b: i32):
    %h = func.call @helper(%a, %b) : (i32, i32) -> i32
    %c = arith.cmpi slt, %a, %b : i32
    %r = scf.if %c -> i32 {
      scf.yield %h : i32
    } else {
      scf.yield %b : i32
    }
    tile.yield %r : i32
  }
  return %0 : i32
}
func.func private @helper(i32, i32) -> i32

// CHECK-LABEL: func.func @scan
// CHECK-SAME: (%[[X:.*]]: tensor<64x32xf32>)
func.func @scan(%x: tensor<64x32xf32>) {
  // CHECK: tile.scan(%[[X]]) axis 0 : (tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = tile.scan(%x) axis 0 : (tensor<64x32xf32>) -> tensor<64x32xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }
  // CHECK: tile.scan(%[[X]], %[[X]]) axis 1 reverse : (tensor<64x32xf32>, tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %1:2 = tile.scan(%x, %x) axis 1 reverse : (tensor<64x32xf32>, tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %d : f32, f32
  }
  return
}

// CHECK-LABEL: func.func @histogram
// CHECK-SAME: (%[[X:.*]]: tensor<1024xi32>, %[[M:.*]]: tensor<1024xi1>)
func.func @histogram(%x: tensor<1024xi32>, %m: tensor<1024xi1>) {
  // CHECK: tile.histogram %[[X]] : tensor<1024xi32> -> tensor<256xi32>
  %0 = tile.histogram %x : tensor<1024xi32> -> tensor<256xi32>
  // CHECK: tile.histogram %[[X]] mask %[[M]] : tensor<1024xi32> -> tensor<100xi32>
  %1 = tile.histogram %x mask %m : tensor<1024xi32> -> tensor<100xi32>
  return
}

// CHECK-LABEL: func.func @debug
// CHECK-SAME: (%[[X:.*]]: tensor<64xi32>, %[[P:.*]]: !tile.ptr<f32>, %[[M:.*]]: tensor<64xi1>, %[[C:.*]]: i1)
func.func @debug(%x: tensor<64xi32>, %p: !tile.ptr<f32>, %m: tensor<64xi1>, %c: i1) {
  // CHECK: tile.print "here"
  tile.print "here"
  // CHECK: tile.print "x: " hex(%[[X]], %[[P]] : tensor<64xi32>, !tile.ptr<f32>)
  tile.print "x: " hex (%x, %p : tensor<64xi32>, !tile.ptr<f32>)
  // CHECK: tile.assert %[[M]], "index out of range" : tensor<64xi1>
  tile.assert %m, "index out of range" : tensor<64xi1>
  // CHECK: tile.assume %[[C]]
  tile.assume %c
  // CHECK: tile.barrier
  tile.barrier
  return
}
