// RUN: tile-opt %s --tile-to-nvvm | FileCheck %s

// What axis info takes of signs, seen in the width of the accesses: 4 elements
// a thread, at once or one by one.

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // The argument may be negative: for n = -512 the indices are
  // 0, -511, -510, ..., so that the first two are no neighbours.
  // CHECK-LABEL: llvm.func @remainder_of_an_argument
  gpu.func @remainder_of_an_argument(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
      %n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %c = arith.constant dense<512> : tensor<512xi32>
    %x = arith.addi %r, %ns : tensor<512xi32>
    %m = arith.remsi %x, %c : tensor<512xi32>
    %i = arith.addi %m, %c : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // CHECK-NOT: vector<4xf32>
    // CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<1> -> f32
    // CHECK-NOT: vector<4xf32>
    %v = tile.load %a : tensor<512x!tile.ptr<f32>>
    tile.print "" (%v : tensor<512xf32>)
    gpu.return
  }

  // The same of an argument that the program makes positive, as max(n, 0).
  // CHECK-LABEL: llvm.func @remainder_of_a_maximum
  gpu.func @remainder_of_a_maximum(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
      %n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %zero = arith.constant 0 : i32
    %count = arith.maxsi %n, %zero : i32
    %r = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %count : tensor<512xi32>
    %c = arith.constant dense<512> : tensor<512xi32>
    %x = arith.addi %r, %ns : tensor<512xi32>
    %i = arith.remsi %x, %c : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %v = tile.load %a : tensor<512x!tile.ptr<f32>>
    tile.print "" (%v : tensor<512xf32>)
    gpu.return
  }

  // (pid * 512 + [0, 512)) % n: no sign of the divisor spoils it.
  // CHECK-LABEL: llvm.func @index_modulo_an_argument
  gpu.func @index_modulo_an_argument(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
      %n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %pid = tile.program_id x : i32
    %size = arith.constant 512 : i32
    %first = arith.muli %pid, %size : i32
    %firsts = tile.splat %first : tensor<512xi32>
    %r = tile.arange 0, 512 : tensor<512xi32>
    %x = arith.addi %firsts, %r : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %i = arith.remsi %x, %ns : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %v = tile.load %a : tensor<512x!tile.ptr<f32>>
    tile.print "" (%v : tensor<512xf32>)
    gpu.return
  }

  // For n = -16 the quotients are 0, -1, -1, ...: the mask holds for the first
  // element alone.
  // CHECK-LABEL: llvm.func @floor_division_by_an_argument
  gpu.func @floor_division_by_an_argument(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
      %n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %zero = arith.constant dense<0> : tensor<512xi32>
    %one = arith.constant dense<1.0> : tensor<512xf32>
    %q = arith.floordivsi %r, %ns : tensor<512xi32>
    %m = arith.cmpi eq, %q, %zero : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %r : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // CHECK-NOT: st.global.v4
    // CHECK-COUNT-4: st.global.b32
    // CHECK-NOT: st.global
    tile.store %a, %one mask %m : tensor<512x!tile.ptr<f32>>
    gpu.return
  }

  // By 16 they are constant in blocks of 16.
  // CHECK-LABEL: llvm.func @floor_division_by_a_constant
  gpu.func @floor_division_by_a_constant(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 512 : tensor<512xi32>
    %sixteen = arith.constant dense<16> : tensor<512xi32>
    %zero = arith.constant dense<0> : tensor<512xi32>
    %one = arith.constant dense<1.0> : tensor<512xf32>
    %q = arith.floordivsi %r, %sixteen : tensor<512xi32>
    %m = arith.cmpi eq, %q, %zero : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %r : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    // CHECK: st.global.v4.b32
    // CHECK-NOT: st.global
    tile.store %a, %one mask %m : tensor<512x!tile.ptr<f32>>
    gpu.return
  }
}
