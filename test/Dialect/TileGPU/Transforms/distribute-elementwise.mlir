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
    // CHECK-NEXT: arith.subf %[[D0]], %[[B0]] : f32
    // CHECK-NEXT: arith.subf %[[D1]], %[[B1]] : f32
    %e = arith.subf %d, %b : tensor<128xf32, #l>
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

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>

// What is said of a tile is not said of its elements. Elements that are known to be equal are computed
// once: all of %b, and pairs in %c, by its attribute.
// CHECK-LABEL: gpu.func @facts
// CHECK-SAME: (%[[I:.*]]: i32, %{{.*}}: !llvm.ptr<1>)
gpu.module @facts {
  gpu.func @facts(%i: i32, %t: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.splat %i : tensor<64xi32, #l>
    // CHECK: %[[B:.*]] = arith.muli %[[I]], %[[I]] {other.attr} : i32
    // CHECK-NOT: arith.muli
    %b = arith.muli %a, %a {other.attr} : tensor<64xi32, #l>
    %s = tile.splat %t : tensor<64x!tile.ptr<i32>, #l>
    %o = tile.arange 0, 64 : tensor<64xi32, #l>
    %p = tile.addptr %s, %o : tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>
    %x = tile.load %p : tensor<64x!tile.ptr<i32>, #l>
    // CHECK: %[[C:.*]] = arith.subi %{{.*}}, %[[B]] : i32
    // CHECK-NOT: arith.subi
    %c = arith.subi %x, %b {tile.constancy = array<i32: 2>} : tensor<64xi32, #l>
    // CHECK: arith.xori %{{.*}}, %[[C]] : i32
    // CHECK-NEXT: arith.xori %{{.*}}, %[[C]] : i32
    %d = arith.xori %x, %c : tensor<64xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[1], [2], [128]], lane = [[4], [8], [16], [32], [64]], warp = []}>

// A mask of 4-element blocks: one comparison for each, if the bound is a multiple of 4 (the first
// module), one for each element if nothing is known of it.
// CHECK-LABEL: gpu.func @aligned_mask
// CHECK-COUNT-2: arith.cmpi slt
// CHECK-NOT: arith.cmpi
// CHECK-LABEL: gpu.func @other_mask
// CHECK-COUNT-8: arith.cmpi slt
// CHECK-NOT: arith.cmpi
gpu.module @masks {
  gpu.func @aligned_mask(%n: i32 {tile.divisibility = array<i32: 4>}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = tile.arange 0, 256 : tensor<256xi32, #l>
    %bound = tile.splat %n : tensor<256xi32, #l>
    %mask = arith.cmpi slt, %i, %bound : tensor<256xi32, #l>
    gpu.return
  }
  gpu.func @other_mask(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = tile.arange 0, 256 : tensor<256xi32, #l>
    %bound = tile.splat %n : tensor<256xi32, #l>
    %mask = arith.cmpi slt, %i, %bound : tensor<256xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[0], [1]], lane = [[2], [4], [8], [16], [3]], warp = [[32]]}>

// Copies, a lane basis that shares a bit with a register, and repetitions (of 64): each thread holds
// two blocks of 4, in registers 0 to 3 and 4 to 7.
// CHECK-LABEL: gpu.func @odd_layout
// CHECK: %[[A:.*]] = arith.subi
// CHECK-NEXT: %[[B:.*]] = arith.subi
// CHECK-COUNT-4: arith.xori %[[A]]
// CHECK-COUNT-4: arith.xori %[[B]]
gpu.module @odd_layout {
  gpu.func @odd_layout(%t: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = tile.splat %t : tensor<128x!tile.ptr<i32>, #l>
    %o = tile.arange 0, 128 : tensor<128xi32, #l>
    %p = tile.addptr %s, %o : tensor<128x!tile.ptr<i32>, #l>, tensor<128xi32, #l>
    %x = tile.load %p : tensor<128x!tile.ptr<i32>, #l>
    %y = arith.subi %x, %o {tile.constancy = array<i32: 4>} : tensor<128xi32, #l>
    %z = arith.xori %y, %x : tensor<128xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []}>

// Sums of indices are taken not to overflow where the width of an access is at stake, but not here: if
// %b + i exceeds 2^31, its quotients by 8 are not one number for 8 elements. Those of the shift are.
// CHECK-LABEL: gpu.func @overflow
// CHECK-COUNT-8: arith.divsi
// CHECK-COUNT-8: arith.cmpi
// CHECK: arith.shrsi
// CHECK-NEXT: %{{.*}} = arith.cmpi
// CHECK-NOT: arith.cmpi
gpu.module @overflow {
  gpu.func @overflow(%a: !tile.ptr<i32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %scalar = arith.maxsi %n, %zero {tile.divisibility = array<i32: 8>} : i32
    %b = tile.splat %scalar : tensor<256xi32, #l>
    %i = tile.arange 0, 256 : tensor<256xi32, #l>
    %sum = arith.addi %b, %i : tensor<256xi32, #l>
    %eight = arith.constant dense<8> : tensor<256xi32, #l>
    %q = arith.divsi %sum, %eight : tensor<256xi32, #l>
    %c = arith.cmpi slt, %q, %b : tensor<256xi32, #l>
    %three = arith.constant dense<3> : tensor<256xi32, #l>
    %s = arith.shrsi %sum, %three : tensor<256xi32, #l>
    %d = arith.cmpi slt, %s, %b : tensor<256xi32, #l>
    gpu.return
  }
}

// -----

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>

// Packed assembly may give equal elements different results, by their place in the pack.
// CHECK-LABEL: gpu.func @packed
// CHECK-COUNT-2: arith.xori
gpu.module @packed {
  gpu.func @packed(%i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.splat %i : tensor<64xi32, #l>
    %b = tile.inline_asm_elementwise pure "mov.b32 $0, $2; add.s32 $1, $3, 1;" constraints "=r,=r,r,r" pack 2 (%a) : (tensor<64xi32, #l>) -> tensor<64xi32, #l>
    %c = arith.xori %b, %a : tensor<64xi32, #l>
    gpu.return
  }
}
