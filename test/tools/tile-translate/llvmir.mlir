// LLVM IR comes out before LLVM's optimisations.

// RUN: tile-translate %s --tile-to-llvmir | FileCheck %s

// CHECK-LABEL: define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1)
// CHECK: [[SUM:%.*]] = sub i32 %1, %1
// CHECK: store i32 [[SUM]], ptr addrspace(1) %0
gpu.module @m {
  llvm.func @k(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
    %sum = llvm.sub %n, %n : i32
    llvm.store %sum, %x : i32, !llvm.ptr<1>
    llvm.return
  }
}
