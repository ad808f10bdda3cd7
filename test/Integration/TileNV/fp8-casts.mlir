// Integer arithmetic and instructions convert alike: all f16 numbers to both fp8
// types and back.
// RUN: tile-translate %s --chip=sm_75 -o %t.75.ptx
// RUN: tile-translate %s --chip=sm_90a -o %t.90.ptx
// RUN: tile-run %t.75.ptx --kernel=encode --grid=64 --arg=i16[65536]:iota --arg=i8[65536]:zero --arg=i8[65536]:zero --out=1:%t.e4m3.npy --out=2:%t.e5m2.npy
// RUN: tile-run %t.90.ptx --kernel=encode --grid=64 --arg=i16[65536]:iota --arg=i8[65536]:zero --arg=i8[65536]:zero --expect=1:%t.e4m3.npy --expect=2:%t.e5m2.npy
// RUN: tile-run %t.75.ptx --kernel=decode --grid=1 --arg=i8[1024]:iota --arg=f32[1024]:zero --out=1:%t.f32.npy
// RUN: tile-run %t.90.ptx --kernel=decode --grid=1 --arg=i8[1024]:iota --arg=f32[1024]:zero --expect=1:%t.f32.npy
// RUN: tile-run %t.75.ptx --kernel=known --arg=f32[16]:iota(440,8) --arg=f32[16]:zero --print=1:16 | FileCheck %s
// RUN: tile-run %t.90.ptx --kernel=known --arg=f32[16]:iota(440,8) --arg=f32[16]:zero --print=1:16 | FileCheck %s

gpu.module @m {

gpu.func @encode(%p: !tile.ptr<i16> {tile.divisibility = array<i32: 16>}, %q: !tile.ptr<i8> {tile.divisibility = array<i32: 16>}, %r: !tile.ptr<i8> {tile.divisibility = array<i32: 16>}) kernel {
  %pid = tile.program_id x : i32
  %c1024 = arith.constant 1024 : i32
  %start = arith.muli %pid, %c1024 : i32
  %j = tile.arange 0, 1024 : tensor<1024xi32>
  %starts = tile.splat %start : tensor<1024xi32>
  %i = arith.addi %j, %starts : tensor<1024xi32>
  %ps = tile.splat %p : tensor<1024x!tile.ptr<i16>>
  %pi = tile.addptr %ps, %i : tensor<1024x!tile.ptr<i16>>, tensor<1024xi32>
  %b = tile.load %pi : tensor<1024x!tile.ptr<i16>>
  %x = tile.bitcast %b : tensor<1024xi16> -> tensor<1024xf16>
  %y = tile.fp_cast %x : tensor<1024xf16> -> tensor<1024xf8E4M3FN>
  %yb = tile.bitcast %y : tensor<1024xf8E4M3FN> -> tensor<1024xi8>
  %qs = tile.splat %q : tensor<1024x!tile.ptr<i8>>
  %qi = tile.addptr %qs, %i : tensor<1024x!tile.ptr<i8>>, tensor<1024xi32>
  tile.store %qi, %yb : tensor<1024x!tile.ptr<i8>>
  %z = tile.fp_cast %x : tensor<1024xf16> -> tensor<1024xf8E5M2>
  %zb = tile.bitcast %z : tensor<1024xf8E5M2> -> tensor<1024xi8>
  %rs = tile.splat %r : tensor<1024x!tile.ptr<i8>>
  %ri = tile.addptr %rs, %i : tensor<1024x!tile.ptr<i8>>, tensor<1024xi32>
  tile.store %ri, %zb : tensor<1024x!tile.ptr<i8>>
  gpu.return
}

gpu.func @decode(%p: !tile.ptr<i8> {tile.divisibility = array<i32: 16>}, %q: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %ps = tile.splat %p : tensor<1024x!tile.ptr<i8>>
  %pi = tile.addptr %ps, %i : tensor<1024x!tile.ptr<i8>>, tensor<1024xi32>
  %b = tile.load %pi : tensor<1024x!tile.ptr<i8>>
  %x = tile.bitcast %b : tensor<1024xi8> -> tensor<1024xf8E4M3FN>
  %y = tile.fp_cast %x : tensor<1024xf8E4M3FN> -> tensor<1024xf32>
  %qs = tile.splat %q : tensor<1024x!tile.ptr<f32>>
  %qi = tile.addptr %qs, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %qi, %y : tensor<1024x!tile.ptr<f32>>
  gpu.return
}

// 440, 448, 456 ... 560: ties go to even numbers, and 448 is the largest.
// CHECK: [448, 448, 448, 448, 448,
gpu.func @known(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %q: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %ps = tile.splat %p : tensor<16x!tile.ptr<f32>>
  %pi = tile.addptr %ps, %i : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %x = tile.load %pi : tensor<16x!tile.ptr<f32>>
  %y = tile.fp_cast %x : tensor<16xf32> -> tensor<16xf8E4M3FN>
  %z = tile.fp_cast %y : tensor<16xf8E4M3FN> -> tensor<16xf32>
  %qs = tile.splat %q : tensor<16x!tile.ptr<f32>>
  %qi = tile.addptr %qs, %i : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  tile.store %qi, %z : tensor<16x!tile.ptr<f32>>
  gpu.return
}

}
