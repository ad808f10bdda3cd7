// A cubin is an ELF file; its metadata has what ptxas says of each kernel.

// REQUIRES: ptxas, libdevice
// RUN: tile-translate %s --tile-to-cubin --ptxas=%ptxas --metadata=%t.json -o %t.cubin
// RUN: od -A n -c -N 4 %t.cubin | FileCheck %s --check-prefix=ELF
// RUN: FileCheck %s < %t.json
// RUN: tile-translate %s --tile-to-cubin --toolkit=%toolkit -o %t.cubin

// An option of ptxas reaches it; what ptxas reports as an error is one of ours.
// RUN: not tile-translate %s --tile-to-cubin --ptxas=%ptxas --ptxas-options=--no-such-option -o %t.none 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not tile-translate %s --tile-to-cubin --ptxas=%t.absent -o %t.none 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not test -e %t.none

// ELF: 177 E L F
// CHECK: "name": "k"
// CHECK: "registers": {{[1-9][0-9]*}}
// CHECK: "spill_load_bytes": 0
// CHECK: "spill_store_bytes": 0
// OPTION: cubin.mlir:[[#@LINE+2]]:1: error: ptxas failed: {{.*}}no-such-option
// ABSENT: cubin.mlir:[[#@LINE+1]]:1: error: cannot run '{{.*}}absent': {{.*}}No such file or directory
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.func @k(%x: !llvm.ptr<1>, %v: f32) attributes {nvvm.kernel} {
    llvm.store %v, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
