// A module that is lowered already goes to PTX as it is. The chip comes from the
// command line, else from the module, else it is the default; with it comes the
// PTX version.

// RUN: tile-translate %s --tile-to-ptx | FileCheck %s --check-prefixes=CHECK,SM90A
// RUN: tile-translate %s | FileCheck %s --check-prefixes=CHECK,SM90A
// RUN: tile-translate %s --chip=sm_75 | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: tile-translate %s --chip=sm_120a | FileCheck %s --check-prefixes=CHECK,SM120A
// RUN: sed 's/ \[#nvvm.target<.*>\]//' %s | tile-translate - | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: tile-translate %s -o %t.ptx && FileCheck %s --check-prefixes=CHECK,SM90A < %t.ptx

// SM75: .version 8.3
// SM75: .target sm_75
// DEFAULT: .version 8.3
// DEFAULT: .target sm_80
// SM90A: .version 8.3
// SM90A: .target sm_90a
// SM120A: .version 8.7
// SM120A: .target sm_120a

// CHECK: .visible .entry scale(
// CHECK: .reqntid 64, 1, 1
// CHECK: ld.global.b32
// CHECK: mul.f32
// CHECK: st.global.b32
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.func @scale(%x: !llvm.ptr<1>, %s: f32) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %w = llvm.fmul %v, %s : f32
    llvm.store %w, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
