// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

#l = #tile_gpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = []}>
#v = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>

gpu.module @m {

// Rows whose length and start are multiples of 8 are read 8 elements at a time;
// a row outside is zero.
// CHECK-LABEL: gpu.func @vector
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr<1>, %[[M:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32, %[[S:[a-z0-9]+]]: i64, %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i32
// CHECK: %[[COL:.*]] = arith.muli %[[J]]
// CHECK: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK: %[[Y:.*]] = arith.addi %[[I]], %[[ROW:.*]] : i32
// CHECK: %[[ROW64:.*]] = arith.extsi %[[ROW]] : i32 to i64
// CHECK: %[[Y64:.*]] = arith.addi %[[I64]], %[[ROW64]] overflow<nsw> : i64
// CHECK: %[[START:.*]] = arith.muli %[[Y64]], %[[S]] : i64
// CHECK: %[[INY:.*]] = arith.cmpi ult, %[[Y]], %[[M]] : i32
// CHECK: %[[X:.*]] = arith.addi %[[COL]], %{{.*}} : i32
// CHECK: %[[INX:.*]] = arith.cmpi ult, %[[X]], %[[N]] : i32
// CHECK: %[[IN:.*]] = arith.andi %[[INY]], %[[INX]] : i1
// CHECK: %[[OFFSET:.*]] = arith.addi %[[START]], %{{.*}} : i64
// CHECK: %[[PTR:.*]] = llvm.getelementptr %[[P]][%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
// CHECK: "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %[[PTR]], %[[IN]],
// CHECK-COUNT-2: "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};"
gpu.func @vector(%p: !tile.ptr<f16>, %m: i32, %n: i32 {tile.divisibility = array<i32: 8>}, %s: i64, %i: i32, %j: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %one = arith.constant 1 : i64
  %c32 = arith.constant 32 : i32
  %col = arith.muli %j, %c32 : i32
  %d = tile.make_desc %p shape [%m, %n] strides [%s, %one] : !tile.ptr<f16> -> !tile.desc<16x32xf16>
  %x = tile.desc_load %d[%i, %col] : !tile.desc<16x32xf16> -> tensor<16x32xf16, #l>
  tile.desc_store %d[%i, %col], %x : !tile.desc<16x32xf16>, tensor<16x32xf16, #l>
  gpu.return
}

// An unknown start allows single elements only. Padding with NaN.
// CHECK-LABEL: gpu.func @elements
// CHECK: arith.constant 32256 : i16
// CHECK-COUNT-16: ld.global.L1::evict_first.b16
gpu.func @elements(%p: !tile.ptr<f16>, %m: i32, %n: i32 {tile.divisibility = array<i32: 8>}, %s: i64, %i: i32, %j: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %one = arith.constant 1 : i64
  %d = tile.make_desc %p shape [%m, %n] strides [%s, %one] padding(nan) : !tile.ptr<f16> -> !tile.desc<16x32xf16>
  %x = tile.desc_load %d[%i, %j] evict(evict_first) : !tile.desc<16x32xf16> -> tensor<16x32xf16, #l>
  gpu.return
}

// A dimension of extent 1 may be left out of the tile.
// CHECK-LABEL: gpu.func @reduce
// CHECK-COUNT-2: arith.cmpi ult
// CHECK: "@$2 red.relaxed.gpu.global.add.u32 [$0], $1;", "l,r,b"
gpu.func @reduce(%p: !tile.ptr<i32>, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %one = arith.constant 1 : i64
  %x = tile.arange 0, 32 : tensor<32xi32, #v>
  %d = tile.make_desc %p shape [%m, %n] strides [%s, %one] : !tile.ptr<i32> -> !tile.desc<1x32xi32>
  tile.desc_reduce add %d[%i, %j], %x : !tile.desc<1x32xi32>, tensor<32xi32, #v>
  gpu.return
}

}
