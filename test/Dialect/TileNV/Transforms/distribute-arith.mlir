// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

gpu.module @m [#nvvm.target<chip = "sm_90a">] {

// Division of 2 ulp; tile.precise_div rounds correctly, as f64 does.
// CHECK-LABEL: gpu.func @division
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.rn.f"
// CHECK: llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"
// CHECK: arith.divf %{{.*}} : f64
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[Q:.*]] = llvm.call_intrinsic "llvm.nvvm.div.full"(%[[W]], %{{.*}})
// CHECK: arith.truncf %[[Q]] : f32 to f16
gpu.func @division(%p: !tile.ptr<f32>, %q: !tile.ptr<f64>, %r: !tile.ptr<f16>, %x: f32, %d: f64, %h: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = arith.divf %x, %x : f32
  %b = tile.precise_div %a, %x : f32
  %c = tile.precise_sqrt %b : f32
  tile.store %p, %c : !tile.ptr<f32>
  %e = arith.divf %d, %d : f64
  tile.store %q, %e : !tile.ptr<f64>
  %f = arith.divf %h, %h : f16
  tile.store %r, %f : !tile.ptr<f16>
  gpu.return
}

// CHECK-LABEL: gpu.func @remainder
// CHECK: llvm.call @__nv_fmodf
gpu.func @remainder(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = arith.remf %x, %x : f32
  tile.store %p, %a : !tile.ptr<f32>
  gpu.return
}

// CHECK-LABEL: gpu.func @integers
// CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ui"
// CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ll"
// CHECK-NOT: arith.floordivsi
// CHECK: arith.divsi
gpu.func @integers(%p: !tile.ptr<i32>, %q: !tile.ptr<i64>, %x: i32, %l: i64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = tile.mulhi %x, %x : i32
  %b = tile.mulhi signed %l, %l : i64
  tile.store %q, %b : !tile.ptr<i64>
  %c = arith.floordivsi %a, %x : i32
  tile.store %p, %c : !tile.ptr<i32>
  gpu.return
}

// Extrema are intrinsics, which need no library.
// CHECK-LABEL: gpu.func @extrema
// CHECK: llvm.intr.maximum
// CHECK: llvm.intr.minnum
// CHECK: %[[A:.*]] = llvm.intr.maxnum
// CHECK: llvm.intr.minnum(%[[A]]
// CHECK: %[[B:.*]] = llvm.intr.maximum
// CHECK: llvm.intr.minimum(%[[B]]
gpu.func @extrema(%p: !tile.ptr<f32>, %x: f32, %y: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = arith.maximumf %x, %y : f32
  %b = arith.minnumf %a, %y : f32
  %c = tile.clamp %b, %x, %y : f32
  %d = tile.clamp %c, %x, %y propagate_nan : f32
  tile.store %p, %d : !tile.ptr<f32>
  gpu.return
}

// fp8 has no arithmetic of its own.
// CHECK-LABEL: gpu.func @fp8
// CHECK: "cvt.rn.f16x2.e4m3x2 $0, $1;"
// CHECK: arith.mulf %{{.*}} : f32
gpu.func @fp8(%p: !tile.ptr<f8E4M3FN>, %x: f8E4M3FN) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = arith.mulf %x, %x : f8E4M3FN
  tile.store %p, %a : !tile.ptr<f8E4M3FN>
  gpu.return
}

}
