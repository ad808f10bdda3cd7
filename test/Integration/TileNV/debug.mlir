// RUN: tile-translate %s --chip=sm_80 -o %t.ptx
// RUN: tile-run %t.ptx --kernel=print --grid=1,2 --arg=f32[1]:const(1.5) | FileCheck %s --check-prefix=PRINT
// RUN: tile-run %t.ptx --kernel=check --arg=i32:64
// RUN: not tile-run %t.ptx --kernel=check --arg=i32:63 2>&1 | FileCheck %s --check-prefix=ASSERT

gpu.module @m {

// PRINT-DAG: pid (0, 1, 0) idx (3) 100% i: 3
// PRINT-DAG: pid (0, 0, 0) idx (7) 100% i: 7
// PRINT-DAG: pid (0, 0, 0) x (operand 0) 1.500000
// PRINT-DAG: pid (0, 0, 0) x (operand 1) 0x00c0ffee
gpu.func @print(%p: !tile.ptr<f32>) kernel {
  %i = tile.arange 0, 8 : tensor<8xi32>
  tile.print "100% i: " (%i : tensor<8xi32>)
  %x = tile.load %p : !tile.ptr<f32>
  %c = arith.constant 12648430 : i32
  tile.print "x " hex (%x, %c : f32, i32)
  gpu.return
}

// ASSERT: index out of range
gpu.func @check(%n: i32) kernel {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %s = tile.splat %n : tensor<64xi32>
  %c = arith.cmpi slt, %i, %s : tensor<64xi32>
  tile.assert %c, "index out of range" : tensor<64xi1>
  gpu.return
}

}
