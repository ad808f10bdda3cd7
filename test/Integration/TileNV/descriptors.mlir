// A box at the corner of a tensor: 10 x 24 elements of which 5 x 8 lie in the box
// of 8 x 16 at (5, 16).
// RUN: tile-translate %s --chip=sm_80 -o %t.ptx
// RUN: tile-run %t.ptx --kernel=copy --arg=f32[10x24]:iota --arg=f32[10x24]:zero --arg=i32:10 --arg=i32:24 --arg=i64:24 --arg=i32:5 --arg=i32:16 --print=1:240 | FileCheck %s --check-prefix=COPY
// RUN: tile-run %t.ptx --kernel=pad --arg=f32[10x24]:iota --arg=f32[8x16]:zero --arg=i32:10 --arg=i32:24 --arg=i64:24 --arg=i32:-1 --arg=i32:-2 --print=1:128 | FileCheck %s --check-prefix=PAD
// RUN: tile-run %t.ptx --kernel=reduce --grid=3 --arg=i32[10x24]:zero --arg=i32:10 --arg=i32:24 --arg=i64:24 --arg=i32:9 --arg=i32:22 --print=0:240 | FileCheck %s --check-prefix=REDUCE

gpu.module @m {

// COPY: {{^}}[0, 0,
// COPY-COUNT-4: 0, 0, 0, 0, 0, 0, 0, 0;
// COPY: {{^}} 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 136, 137, 138, 139, 140, 141, 142, 143;
// COPY: {{^}} 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 232, 233, 234, 235, 236, 237, 238, 239]
gpu.func @copy(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %q: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %m: i32, %n: i32 {tile.divisibility = array<i32: 8>}, %s: i64, %i: i32, %j: i32 {tile.divisibility = array<i32: 8>}) kernel {
  %one = arith.constant 1 : i64
  %d = tile.make_desc %p shape [%m, %n] strides [%s, %one] : !tile.ptr<f32> -> !tile.desc<8x16xf32>
  %e = tile.make_desc %q shape [%m, %n] strides [%s, %one] : !tile.ptr<f32> -> !tile.desc<8x16xf32>
  %x = tile.desc_load %d[%i, %j] : !tile.desc<8x16xf32> -> tensor<8x16xf32>
  tile.desc_store %e[%i, %j], %x : !tile.desc<8x16xf32>, tensor<8x16xf32>
  gpu.return
}

// PAD: [nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan;
// PAD-NEXT: nan, nan, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;
gpu.func @pad(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %q: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) kernel {
  %one = arith.constant 1 : i64
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %l16 = arith.constant 16 : i64
  %c0 = arith.constant 0 : i32
  %d = tile.make_desc %p shape [%m, %n] strides [%s, %one] padding(nan) : !tile.ptr<f32> -> !tile.desc<8x16xf32>
  %e = tile.make_desc %q shape [%c8, %c16] strides [%l16, %one] : !tile.ptr<f32> -> !tile.desc<8x16xf32>
  %x = tile.desc_load %d[%i, %j] : !tile.desc<8x16xf32> -> tensor<8x16xf32>
  tile.desc_store %e[%c0, %c0], %x : !tile.desc<8x16xf32>, tensor<8x16xf32>
  gpu.return
}

// REDUCE: 0, 0, 0, 0, 3]
gpu.func @reduce(%p: !tile.ptr<i32> {tile.divisibility = array<i32: 16>}, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) kernel {
  %one = arith.constant 1 : i64
  %x = tile.arange 0, 32 : tensor<32xi32>
  %d = tile.make_desc %p shape [%m, %n] strides [%s, %one] : !tile.ptr<i32> -> !tile.desc<1x32xi32>
  tile.desc_reduce add %d[%i, %j], %x : !tile.desc<1x32xi32>, tensor<32xi32>
  gpu.return
}

}
