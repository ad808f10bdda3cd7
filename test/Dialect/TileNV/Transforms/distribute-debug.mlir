// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>

gpu.module @m {

// Texts are shared by all assertions.
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("out of range\00")
// CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("kernel.py\00")
// CHECK-DAG: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)

// A line for each element, by one thread.
// CHECK-LABEL: gpu.func @print
// CHECK: gpu.printf "pid (%u, %u, %u) idx (%u) 100%% x: %d\0A", %[[PX:.*]], %[[PY:.*]], %[[PZ:.*]], %[[I:.*]], %[[I]] : i32, i32, i32, i32, i32
// CHECK: gpu.printf "pid (%u, %u, %u) idx (%u) 100%% x: %d\0A"
// CHECK: scf.if %[[FIRST:.*]] {
// CHECK:   gpu.printf "pid (%u, %u, %u) n (operand 0) 0x%08x\0A"
// CHECK: scf.if %[[FIRST]] {
// CHECK:   gpu.printf "pid (%u, %u, %u) n (operand 1) 0x%016llx\0A"
// CHECK: scf.if %[[FIRST]] {
// CHECK:   gpu.printf "pid (%u, %u, %u) f %f\0A"
// CHECK: scf.if %[[FIRST]] {
// CHECK:   gpu.printf "pid (%u, %u, %u) here\0A"
gpu.func @print(%n: i32, %l: i64, %f: bf16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 64 : tensor<64xi32, #l>
  tile.print "100% x: " (%i : tensor<64xi32, #l>)
  tile.print "n " hex (%n, %l : i32, i64)
  tile.print "f " (%f : bf16)
  tile.print "here"
  gpu.return
}

// One check for all elements of a thread.
// CHECK-LABEL: gpu.func @assert
// CHECK: %[[ALL:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: %[[NOT:.*]] = arith.xori %[[ALL]]
// CHECK: scf.if %[[NOT]] {
// CHECK:   %[[LINE:.*]] = arith.constant 12 : i32
// CHECK:   llvm.call @__assertfail(%{{.*}}, %{{.*}}, %[[LINE]], %{{.*}}, %{{.*}})
// CHECK: scf.if
gpu.func @assert(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 64 : tensor<64xi32, #l>
  %s = tile.splat %n : tensor<64xi32, #l>
  %c = arith.cmpi slt, %i, %s : tensor<64xi32, #l>
  tile.assert %c, "out of range" : tensor<64xi1, #l> loc("kernel.py":12:5)
  tile.assert %c, "out of range" : tensor<64xi1, #l> loc("kernel.py":13:5)
  gpu.return
}

// CHECK-LABEL: gpu.func @assume
// CHECK-SAME: (%[[C:.*]]: i1)
// CHECK: llvm.intr.assume %[[C]] : i1
gpu.func @assume(%c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  tile.assume %c
  gpu.return
}

// CHECK-LABEL: gpu.func @barrier
// CHECK: gpu.barrier
// CHECK: %[[ALL:.+]] = arith.constant -1 : i32
// CHECK: nvvm.bar.warp.sync %[[ALL]]
gpu.func @barrier() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  tile.barrier
  tile_gpu.barrier of_warp
  gpu.return
}

}
