// Functions of libdevice are linked when they are called, and only then is the
// library looked for.

// REQUIRES: libdevice
// RUN: split-file %s %t
// RUN: tile-translate %t/call.mlir --toolkit=%toolkit | FileCheck %s
// RUN: tile-translate %t/none.mlir --libdevice=%t/absent.bc | FileCheck %s --check-prefix=NONE
// RUN: not tile-translate %t/call.mlir --libdevice=%t/absent.bc 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not tile-translate %t/call.mlir --libdevice=%t/none.mlir 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not tile-translate %t/unknown.mlir --toolkit=%toolkit 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-NOT: .func
// CHECK: .entry k(
// CHECK-NOT: call
// CHECK: ex2.approx
// NONE: .entry k(
// ABSENT: call.mlir:1:1: error: cannot read libdevice '{{.*}}absent.bc': {{.*}}o such file
// INVALID: error: cannot read libdevice '{{.*}}none.mlir'
// UNKNOWN: error: function '__nv_no_such_function' is not in libdevice

//--- call.mlir
gpu.module @m {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%x: !llvm.ptr<1>, %v: f32) attributes {nvvm.kernel} {
    %e = llvm.call @__nv_expf(%v) : (f32) -> f32
    llvm.store %e, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
//--- none.mlir
gpu.module @m {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%x: !llvm.ptr<1>, %v: f32) attributes {nvvm.kernel} {
    llvm.store %v, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
//--- unknown.mlir
gpu.module @m {
  llvm.func @__nv_no_such_function(f32) -> f32
  llvm.func @k(%x: !llvm.ptr<1>, %v: f32) attributes {nvvm.kernel} {
    %e = llvm.call @__nv_no_such_function(%v) : (f32) -> f32
    llvm.store %e, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
