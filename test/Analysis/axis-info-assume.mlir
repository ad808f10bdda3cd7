// RUN: tile-opt %s --tile-to-nvvm | FileCheck %s

// What tile.assume tells axis info, seen in the width of the accesses: 4
// elements a thread, at once or one by one.

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: llvm.func @sign_of_an_argument
  // CHECK: llvm.intr.assume
  // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  gpu.func @sign_of_an_argument(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
      %n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %zero = arith.constant 0 : i32
    %positive = arith.cmpi sgt, %n, %zero : i32
    tile.assume %positive
    %r = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %c = arith.constant dense<512> : tensor<512xi32>
    %x = arith.addi %r, %ns : tensor<512xi32>
    %i = arith.remsi %x, %c : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %v = tile.load %a : tensor<512x!tile.ptr<f32>>
    tile.print "" (%v : tensor<512xf32>)
    gpu.return
  }

  // Two promises at once: the constant on either side, and a multiple.
  // CHECK-LABEL: llvm.func @multiple
  // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  gpu.func @multiple(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %n: i32) kernel {
    %zero = arith.constant 0 : i32
    %sixteen = arith.constant 16 : i32
    %positive = arith.cmpi slt, %zero, %n : i32
    %rest = arith.remsi %n, %sixteen : i32
    %even = arith.cmpi eq, %rest, %zero : i32
    %both = arith.andi %positive, %even : i1
    tile.assume %both
    %r = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %c = arith.constant dense<512> : tensor<512xi32>
    %x = arith.addi %r, %ns : tensor<512xi32>
    %i = arith.remsi %x, %c : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %v = tile.load %a : tensor<512x!tile.ptr<f32>>
    tile.print "" (%v : tensor<512xf32>)
    gpu.return
  }

  // A promise in a branch says nothing elsewhere.
  // CHECK-LABEL: llvm.func @promise_in_a_branch
  // CHECK-NOT: vector<4xf32>
  // CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<1> -> f32
  gpu.func @promise_in_a_branch(
      %p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
      %n: i32 {tile.divisibility = array<i32: 16>}, %branch: i1) kernel {
    %zero = arith.constant 0 : i32
    scf.if %branch {
      %positive = arith.cmpi sgt, %n, %zero : i32
      tile.assume %positive
    }
    %r = tile.arange 0, 512 : tensor<512xi32>
    %ns = tile.splat %n : tensor<512xi32>
    %c = arith.constant dense<512> : tensor<512xi32>
    %x = arith.addi %r, %ns : tensor<512xi32>
    %i = arith.remsi %x, %c : tensor<512xi32>
    %j = arith.addi %i, %c : tensor<512xi32>
    %s = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %a = tile.addptr %s, %j : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %v = tile.load %a : tensor<512x!tile.ptr<f32>>
    tile.print "" (%v : tensor<512xf32>)
    gpu.return
  }
}
