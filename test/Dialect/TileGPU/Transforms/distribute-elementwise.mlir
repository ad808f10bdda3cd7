// RUN: tile-opt %s --tile-gpu-distribute -split-input-file -allow-unregistered-dialect | FileCheck %s

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>

// An elementwise op becomes one op for each register; its attributes stay, and a
// scalar operand serves all registers.
// CHECK-LABEL: gpu.func @elementwise(
// CHECK-SAME: %[[S:.*]]: f32, %[[C:.*]]: i1)
gpu.module @elementwise {
  gpu.func @elementwise(%s: f32, %c: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.splat %s : tensor<128xf32, #l>
    // CHECK: %[[B0:.*]] = arith.addf %[[S]], %[[S]] fastmath<contract> : f32
    // CHECK-NEXT: %[[B1:.*]] = arith.addf %[[S]], %[[S]] fastmath<contract> : f32
    %b = arith.addf %a, %a fastmath<contract> : tensor<128xf32, #l>
    // CHECK-NEXT: %[[D0:.*]] = arith.select %[[C]], %[[S]], %[[B0]] : f32
    // CHECK-NEXT: %[[D1:.*]] = arith.select %[[C]], %[[S]], %[[B1]] : f32
    %d = arith.select %c, %a, %b : tensor<128xf32, #l>
    // CHECK-NEXT: arith.cmpf olt, %[[D0]], %[[B0]] : f32
    // CHECK-NEXT: arith.cmpf olt, %[[D1]], %[[B1]] : f32
    %e = arith.cmpf olt, %d, %b : tensor<128xf32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]}>

// A constant tile of one value is one scalar constant.
// CHECK-LABEL: gpu.func @splat_constant
gpu.module @splat_constant {
  gpu.func @splat_constant(%f: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[K:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK: arith.mulf %{{.*}}, %[[K]]
    // CHECK: arith.mulf %{{.*}}, %[[K]]
    %k = arith.constant dense<2.0> : tensor<128xf32, #l>
    %a = tile.splat %f : tensor<128xf32, #l>
    %m = arith.mulf %a, %k : tensor<128xf32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = []}>

// Elements that differ come from a table in global memory; i1 is a byte there.
// CHECK: llvm.mlir.global internal constant @table_constant(dense<[3, 1, 2, 0]> : tensor<4xi32>) {addr_space = 1
// CHECK: llvm.mlir.global internal constant @table_constant_0(dense<[1, 0, 0, 1]> : tensor<4xi8>) {addr_space = 1
// CHECK-LABEL: gpu.func @table
gpu.module @table {
  gpu.func @table(%c: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @table_constant
    // CHECK: %[[PTR:.*]] = llvm.getelementptr %[[TABLE]][%{{.*}}]
    // CHECK: llvm.load %[[PTR]] : !llvm.ptr<1> -> i32
    %k = arith.constant dense<[3, 1, 2, 0]> : tensor<4xi32, #l>
    // CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i8
    // CHECK: arith.trunci %[[BYTE]] : i8 to i1
    %b = arith.constant dense<[true, false, false, true]> : tensor<4xi1, #l>
    %s = arith.select %b, %k, %k : tensor<4xi1, #l>, tensor<4xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = []}>

// What is said of a tile is not said of its elements.
// CHECK-LABEL: gpu.func @facts
gpu.module @facts {
  gpu.func @facts(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.splat %i : tensor<32x2xi32, #l>
    // CHECK: arith.muli %{{.*}}, %{{.*}} {other.attr} : i32
    // CHECK-NEXT: arith.muli %{{.*}}, %{{.*}} {other.attr} : i32
    %b = arith.muli %a, %a {other.attr, tile.constancy = array<i32: 1, 2>} : tensor<32x2xi32, #l>
    gpu.return
  }
}
