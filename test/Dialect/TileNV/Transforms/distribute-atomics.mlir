// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

#l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
#copies = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = []}>

gpu.module @m [#nvvm.target<chip = "sm_80">] {

// Without a use of the result: red.
// CHECK-LABEL: gpu.func @kinds
// CHECK: "red.relaxed.gpu.global.add.u32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.max.s32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.min.s32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.max.u32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.min.u32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.and.b32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.or.b32 [$0], $1;", "l,r"
// CHECK: "red.relaxed.gpu.global.xor.b32 [$0], $1;", "l,r"
// CHECK: "atom.relaxed.gpu.global.exch.b32 $0, [$1], $2;", "=r,l,r"
gpu.func @kinds(%p: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 32 : tensor<32xi32, #l>
  %s = tile.splat %p : tensor<32x!tile.ptr<i32>, #l>
  %a = tile.atomic_rmw add %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %b = tile.atomic_rmw max %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %c = tile.atomic_rmw min %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %d = tile.atomic_rmw umax %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %e = tile.atomic_rmw umin %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %f = tile.atomic_rmw and %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %g = tile.atomic_rmw or %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %h = tile.atomic_rmw xor %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  %j = tile.atomic_rmw xchg %s, %i sem(relaxed) : tensor<32x!tile.ptr<i32>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @fadd
// CHECK: "red.relaxed.cta.global.add.f32 [$0], $1;", "l,f"
// CHECK: "red.relaxed.sys.global.add.f64 [$0], $1;", "l,d"
// CHECK: "red.relaxed.gpu.global.add.noftz.f16 [$0], $1;", "l,h"
gpu.func @fadd(%p: !tile.ptr<f32>, %q: !tile.ptr<f64>, %r: !tile.ptr<f16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %ps = tile.splat %p : tensor<32x!tile.ptr<f32>, #l>
  %qs = tile.splat %q : tensor<32x!tile.ptr<f64>, #l>
  %rs = tile.splat %r : tensor<32x!tile.ptr<f16>, #l>
  %x = arith.constant dense<1.0> : tensor<32xf32, #l>
  %y = arith.constant dense<1.0> : tensor<32xf64, #l>
  %z = arith.constant dense<1.0> : tensor<32xf16, #l>
  %a = tile.atomic_rmw fadd %ps, %x sem(relaxed) scope(cta) : tensor<32x!tile.ptr<f32>, #l>
  %b = tile.atomic_rmw fadd %qs, %y sem(relaxed) scope(sys) : tensor<32x!tile.ptr<f64>, #l>
  %c = tile.atomic_rmw fadd %rs, %z sem(relaxed) : tensor<32x!tile.ptr<f16>, #l>
  gpu.return
}

// fmax by the order of the bits, that of NaNs included.
// CHECK-LABEL: gpu.func @fmax
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>, %[[X:[a-z0-9]+]]: f32
// CHECK-NOT: arith.select
// CHECK: %[[B:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: %[[NEG:.*]] = arith.cmpi slt, %[[B]]
// CHECK: %[[POS:.*]] = arith.cmpi sge, %[[B]]
// CHECK: %[[OLD:.*]] = llvm.inline_asm {{.*}} "@$3 atom.relaxed.gpu.global.max.s32 $0, [$1], $2;", "=r,l,r,b,0" %{{.*}}, %[[B]], %[[POS]], %{{.*}} :
// CHECK: %[[OLD2:.*]] = llvm.inline_asm {{.*}} "@$3 atom.relaxed.gpu.global.min.u32 $0, [$1], $2;", "=r,l,r,b,0" %{{.*}}, %[[B]], %[[NEG]], %[[OLD]] :
// CHECK: arith.bitcast %[[OLD2]] : i32 to f32
gpu.func @fmax(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 32 : tensor<32xi32, #l>
  %s = tile.splat %p : tensor<32x!tile.ptr<f32>, #l>
  %q = tile.addptr %s, %i : tensor<32x!tile.ptr<f32>, #l>, tensor<32xi32, #l>
  %v = tile.splat %x : tensor<32xf32, #l>
  %old = tile.atomic_rmw fmax %s, %v sem(relaxed) : tensor<32x!tile.ptr<f32>, #l>
  tile.store %q, %old : tensor<32x!tile.ptr<f32>, #l>
  gpu.return
}

// What the chip lacks is a loop over a compare-and-swap.
// CHECK-LABEL: gpu.func @loop
// CHECK: %[[START:.*]] = llvm.inline_asm {{.*}} "ld.relaxed.gpu.global.b16 $0, [$1];", "=h,l"
// CHECK: scf.while (%[[OLD:.*]] = %[[START]]) : (i16) -> i16 {
// CHECK:   %[[F:.*]] = arith.bitcast %[[OLD]] : i16 to bf16
// CHECK:   %[[SUM:.*]] = arith.addf %[[F]], %{{.*}} : bf16
// CHECK:   %[[NEW:.*]] = arith.bitcast %[[SUM]] : bf16 to i16
// CHECK:   %[[FOUND:.*]] = llvm.inline_asm {{.*}} "atom.relaxed.gpu.global.cas.b16 $0, [$1], $2, $3;", "=h,l,h,h" %{{.*}}, %[[OLD]], %[[NEW]]
// CHECK:   %[[AGAIN:.*]] = arith.cmpi ne, %[[FOUND]], %[[OLD]] : i16
// CHECK:   scf.condition(%[[AGAIN]]) %[[FOUND]] : i16
gpu.func @loop(%p: !tile.ptr<bf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %s = tile.splat %p : tensor<32x!tile.ptr<bf16>, #l>
  %x = arith.constant dense<1.0> : tensor<32xbf16, #l>
  %a = tile.atomic_rmw fadd %s, %x sem(relaxed) : tensor<32x!tile.ptr<bf16>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @cas
// CHECK: "atom.relaxed.gpu.global.cas.b64 $0, [$1], $2, $3;", "=l,l,l,l"
// CHECK: "atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r"
gpu.func @cas(%p: !tile.ptr<i64>, %q: !tile.ptr<f32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %ps = tile.splat %p : tensor<32x!tile.ptr<i64>, #l>
  %qs = tile.splat %q : tensor<32x!tile.ptr<f32>, #l>
  %x = arith.constant dense<1> : tensor<32xi64, #l>
  %y = arith.constant dense<1.0> : tensor<32xf32, #l>
  %a = tile.atomic_cas %ps, %x, %x sem(relaxed) : tensor<32x!tile.ptr<i64>, #l>
  %b = tile.atomic_cas %qs, %y, %y sem(relaxed) : tensor<32x!tile.ptr<f32>, #l>
  gpu.return
}

// One holder acts; the others get the old value through shared memory.
// CHECK-LABEL: gpu.func @copies
// CHECK-DAG: %[[HOLDER:.*]] = arith.cmpi eq
// CHECK: %[[OLD:.*]] = llvm.inline_asm {{.*}} "@$3 atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,b,0" %{{.*}}, %{{.*}}, %[[HOLDER]], %{{.*}}
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %{{.*}} -> !llvm.ptr<3>, i32
// CHECK: llvm.inline_asm {{.*}} "@$2 st.shared.b32 [$0], $1;", "l,r,b" %[[PLACE]], %[[OLD]], %[[HOLDER]]
// CHECK: gpu.barrier
// CHECK: llvm.load %[[PLACE]]
gpu.func @copies(%p: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile_gpu.shared_bytes = 64 : i64} {
  %i = tile.arange 0, 16 : tensor<16xi32, #copies>
  %s = tile.splat %p : tensor<16x!tile.ptr<i32>, #copies>
  %old = tile.atomic_rmw add %s, %i sem(relaxed) {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 64>} : tensor<16x!tile.ptr<i32>, #copies>
  tile.store %s, %old : tensor<16x!tile.ptr<i32>, #copies>
  gpu.return
}

}
