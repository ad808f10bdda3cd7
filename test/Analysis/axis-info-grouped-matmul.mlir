// RUN: tile-opt %s --tile-to-nvvm | FileCheck %s

// Programs of a matrix product in groups, with indices that wrap around: the
// columns of B are loaded 8 at a time once the program promises that its tile
// is in the matrix. (The number of rows of tiles of the last group is a
// difference, and nothing else bounds it.)

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: llvm.func @columns
  // CHECK: llvm.intr.assume
  // CHECK-COUNT-4: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
  // CHECK-NOT: llvm.load
  gpu.func @columns(%b: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %c: !tile.ptr<f16>,
      %m: i32 {tile.divisibility = array<i32: 16>}, %n: i32 {tile.divisibility = array<i32: 16>},
      %stride: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %pid = tile.program_id x : i32
    %m63 = arith.addi %m, %c63 : i32
    %tiles_m = arith.divsi %m63, %c64 : i32
    %n63 = arith.addi %n, %c63 : i32
    %tiles_n = arith.divsi %n63, %c64 : i32
    %in_group = arith.muli %c8, %tiles_n : i32
    %group = arith.divsi %pid, %in_group : i32
    %first = arith.muli %group, %c8 : i32
    %left = arith.subi %tiles_m, %first : i32
    %rows = arith.minsi %left, %c8 : i32
    %place = arith.remsi %pid, %in_group : i32
    %pid_n = arith.divsi %place, %rows : i32
    %inside = arith.cmpi sge, %pid_n, %c0 : i32
    tile.assume %inside

    %start = arith.muli %pid_n, %c64 : i32
    %starts = tile.splat %start : tensor<64xi32>
    %range = tile.arange 0, 64 : tensor<64xi32>
    %column = arith.addi %starts, %range : tensor<64xi32>
    %ns = tile.splat %n : tensor<64xi32>
    %wrapped = arith.remsi %column, %ns : tensor<64xi32>
    %k = tile.arange 0, 64 : tensor<64xi32>
    %k2 = tile.expand_dims %k 1 : tensor<64xi32> -> tensor<64x1xi32>
    %strides = tile.splat %stride : tensor<64x1xi32>
    %row = arith.muli %k2, %strides : tensor<64x1xi32>
    %column2 = tile.expand_dims %wrapped 0 : tensor<64xi32> -> tensor<1x64xi32>
    %rowb = tile.broadcast %row : tensor<64x1xi32> -> tensor<64x64xi32>
    %columnb = tile.broadcast %column2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %offset = arith.addi %rowb, %columnb : tensor<64x64xi32>
    %bs = tile.splat %b : tensor<64x64x!tile.ptr<f16>>
    %ptrs = tile.addptr %bs, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %v = tile.load %ptrs : tensor<64x64x!tile.ptr<f16>>
    tile.print "" (%v : tensor<64x64xf16>)
    gpu.return
  }
}
