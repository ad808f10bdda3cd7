// A kernel with more shared memory than the static limit of 48 KiB: the launch
// gives it, by what the compiler says.

// RUN: tile-run %s --grid=1 --arg='i32[128]:iota' --expect='0:i32[128]:iota(127,-1)' | FileCheck %s

// CHECK: argument 0: ok
gpu.module @m {
  llvm.mlir.global external @open() {addr_space = 3 : i32, alignment = 1024 : i64, tile_gpu.shared_bytes = 65536 : i64} : !llvm.array<0 x i8>
  llvm.func @reverse(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %open = llvm.mlir.addressof @open : !llvm.ptr<3>
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c127 = llvm.mlir.constant(127 : i32) : i32
    %last = llvm.mlir.constant(16256 : i32) : i32
    %g = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %g : !llvm.ptr<1> -> i32
    %i = llvm.add %t, %last : i32
    %to = llvm.getelementptr %open[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %v, %to : i32, !llvm.ptr<3>
    nvvm.barrier0
    %j = llvm.sub %c127, %t : i32
    %k = llvm.add %j, %last : i32
    %from = llvm.getelementptr %open[%k] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %w = llvm.load %from : !llvm.ptr<3> -> i32
    llvm.store %w, %g : i32, !llvm.ptr<1>
    llvm.return
  }
}
