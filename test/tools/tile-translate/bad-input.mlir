// Every kind of unusable input gives a diagnostic and a non-zero exit.

// RUN: split-file %s %t
// RUN: not tile-translate %t/absent.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not tile-translate %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not tile-translate %t/truncated.mlir 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: not tile-translate %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tile-translate %t/no-kernel.mlir 2>&1 | FileCheck %s --check-prefix=NO-KERNEL
// RUN: not tile-translate %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not tile-translate %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not tile-translate %t/two.mlir --module=third 2>&1 | FileCheck %s --check-prefix=THIRD
// RUN: tile-translate %t/two.mlir --module=second | FileCheck %s --check-prefix=SECOND
// RUN: not tile-translate %t/two.mlir --module=first --chip=sm_95 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tile-translate %t/chip.mlir 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tile-translate %t/features.mlir 2>&1 | FileCheck %s --check-prefix=FEATURES
// RUN: not tile-translate %t/requires.mlir 2>&1 | FileCheck %s --check-prefix=REQUIRES-SM
// RUN: not tile-translate %t/select.mlir 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: not tile-translate %t/host.mlir 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not tile-translate %t/asm.mlir 2>&1 | FileCheck %s --check-prefix=ASM
// RUN: not tile-translate %t/no-kernel.mlir --no-such-option 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: head -c 200 %examples/vector_add.mlir > %t/cut.mlir
// RUN: not tile-translate %t/cut.mlir 2>&1 | FileCheck %s --check-prefix=CUT

// ABSENT: error: cannot open input file '{{.*}}absent.mlir': No such file or directory
// FOLDER: error: cannot open input file '{{.*}}': Is a directory
// TRUNCATED: truncated.mlir:2:{{[0-9]+}}: error: expected
// EMPTY: error: expected a gpu.module with a kernel
// CUT: error: expected a gpu.module with a kernel
// NO-KERNEL: no-kernel.mlir:1:1: error: expected a kernel in GPU module @m, found none
// OUTSIDE: outside.mlir:1:1: error: {{.*}}gpu.module
// TWO: two.mlir:4:1: error: found several GPU modules, choose one of them with --module=NAME: @first, @second
// THIRD: error: there is no GPU module @third
// SECOND-NOT: .entry k1
// SECOND: .entry k2(
// SECOND-NOT: .entry k1
// CHIP: .mlir:1:1: error: unknown chip 'sm_95', expected one of sm_75, sm_80, sm_86, {{.*}}sm_120a
// FEATURES: features.mlir:1:1: error: unknown target feature '+ptx999'
// REQUIRES-SM: requires.mlir:3:5: error: 'nvvm.wgmma.fence.aligned' op is not supported on sm_80
// SELECT: tile-translate: error: LLVM cannot compile this module: Cannot select: intrinsic %llvm.nvvm.griddepcontrol.wait{{$}}
// SELECT-NOT: {{.}}
// HOST: host.mlir:2:3: error: expected an op of the llvm dialect after lowering
// ASM: asm.mlir:1:1: error: LLVM: {{.*}}constraint
// OPTION: Unknown command line argument '--no-such-option'

//--- truncated.mlir
gpu.module @m {
  llvm.func @k(%x: !llvm.ptr
//--- empty.mlir
//--- no-kernel.mlir
gpu.module @m {
  llvm.func @helper() {
    llvm.return
  }
}
//--- outside.mlir
gpu.func @k() kernel {
  gpu.return
}
//--- two.mlir
gpu.module @first {
  llvm.func @k1() attributes {nvvm.kernel} { llvm.return }
}
gpu.module @second {
  llvm.func @k2() attributes {nvvm.kernel} { llvm.return }
}
//--- chip.mlir
gpu.module @m [#nvvm.target<chip = "sm_95">] {
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
//--- features.mlir
gpu.module @m [#nvvm.target<chip = "sm_80", features = "+ptx999">] {
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
//--- requires.mlir
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}
//--- select.mlir
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.func @k() attributes {nvvm.kernel} {
    nvvm.griddepcontrol wait
    llvm.return
  }
}
//--- host.mlir
gpu.module @m {
  gpu.barrier
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
//--- asm.mlir
gpu.module @m {
  llvm.func @k(%v: f32) attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "mov.f32 $0, $0;", "Z" %v : (f32) -> ()
    llvm.return
  }
}
