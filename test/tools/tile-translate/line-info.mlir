// Lines of the source go into the PTX when asked for, without asking ptxas for
// debug code (`.target ..., debug`).

// RUN: tile-translate %s | FileCheck %s --check-prefix=NONE
// RUN: tile-translate %s --line-info | FileCheck %s --check-prefix=LINES

// NONE-NOT: .loc
// LINES: .target sm_80{{$}}
// LINES: .loc 1 [[#@LINE+5]]
// LINES: st.global
// LINES: .file 1 "{{.*}}line-info.mlir"
gpu.module @m {
  llvm.func @k(%x: !llvm.ptr<1>, %v: f32) attributes {nvvm.kernel} {
    llvm.store %v, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
