// A product and a sum become one fma unless --fp-fusion=false.

// RUN: tile-translate %s | FileCheck %s --check-prefix=FUSED
// RUN: tile-translate %s --fp-fusion=false | FileCheck %s --check-prefix=APART

// FUSED: fma.rn.f32
// FUSED-NOT: mul.rn.f32
// APART: mul.rn.f32
// APART: add.rn.f32
gpu.module @m {
  llvm.func @k(%x: !llvm.ptr<1>, %a: f32, %b: f32, %c: f32) attributes {nvvm.kernel} {
    %product = llvm.fmul %a, %b : f32
    %sum = llvm.fadd %product, %c : f32
    llvm.store %sum, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
