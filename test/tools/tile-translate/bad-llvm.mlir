// What LLVM refuses is reported at the module.

// RUN: split-file %s %t
// RUN: not tile-translate %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tile-translate %t/invalid.mlir 2>&1 | FileCheck %s --check-prefix=INVALID

// UNKNOWN: unknown.mlir:3:5: error: {{.*}}llvm.nvvm.nothing
// UNKNOWN: unknown.mlir:1:1: error: translation to LLVM IR failed
// INVALID: invalid.mlir:1:1: error: the LLVM IR of this module is invalid: immarg operand has non-immediate parameter

//--- unknown.mlir
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.call_intrinsic "llvm.nvvm.nothing"() : () -> ()
    llvm.return
  }
}
//--- invalid.mlir
gpu.module @m {
  llvm.func @k(%x: i32, %is_zero_poison: i1) attributes {nvvm.kernel} {
    %n = llvm.call_intrinsic "llvm.ctlz.i32"(%x, %is_zero_poison) : (i32, i1) -> i32
    llvm.return
  }
}
