// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>

// Chips without fp8 conversions: integer arithmetic.
gpu.module @old [#nvvm.target<chip = "sm_80">] {

// CHECK-LABEL: gpu.func @to_e4m3
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>, %[[X:[a-z0-9]+]]: f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: %[[MAG:.*]] = arith.andi %[[BITS]], %{{.*}} : i32
// CHECK: arith.constant 1.638400e+04 : f32
// CHECK: %[[CODE:.*]] = arith.select
// CHECK: %[[MAX:.*]] = arith.constant 126 : i32
// CHECK: %[[SAT:.*]] = arith.minui %[[CODE]], %[[MAX]] : i32
// CHECK: %[[SIGNED:.*]] = arith.ori %[[SAT]], %{{.*}} : i32
// CHECK: %[[NAN:.*]] = arith.cmpi ugt, %[[MAG]]
// CHECK: arith.select %[[NAN]], %{{.*}}, %[[SIGNED]] : i32
// CHECK: arith.trunci %{{.*}} : i32 to i8
gpu.func @to_e4m3(%p: !tile.ptr<f8E4M3FN>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.fp_cast %x : f32 -> f8E4M3FN
  tile.store %p, %y : !tile.ptr<f8E4M3FN>
  gpu.return
}

// CHECK-LABEL: gpu.func @from_e4m3
// CHECK: arith.constant 2.560000e+02 : f16
// CHECK: arith.mulf %{{.*}} : f16
// CHECK: arith.extf %{{.*}} : f16 to f32
gpu.func @from_e4m3(%p: !tile.ptr<f32>, %x: f8E4M3FN) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.fp_cast %x : f8E4M3FN -> f32
  tile.store %p, %y : !tile.ptr<f32>
  gpu.return
}

// bf16 is the upper half of an f32, as bits: LLVM would narrow arithmetic through
// an extension to f16.
// CHECK-LABEL: gpu.func @from_bf16
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<1>, %[[X:[a-z0-9]+]]: bf16
// CHECK-NOT: arith.extf {{.*}} bf16
// CHECK: %[[H:.*]] = arith.bitcast %[[X]] : bf16 to i16
// CHECK: %[[W:.*]] = arith.extui %[[H]] : i16 to i32
// CHECK: %[[S:.*]] = arith.shli %[[W]], %{{.*}} : i32
// CHECK: arith.bitcast %[[S]] : i32 to f32
// CHECK: %[[F:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.extf %[[F]] : f32 to f64
gpu.func @from_bf16(%p: !tile.ptr<f32>, %q: !tile.ptr<f64>, %x: bf16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.fp_cast %x : bf16 -> f32
  tile.store %p, %y : !tile.ptr<f32>
  %z = arith.extf %x : bf16 to f64
  tile.store %q, %z : !tile.ptr<f64>
  gpu.return
}

// e5m2 is the upper byte of an f16 on every chip.
// CHECK-LABEL: gpu.func @from_e5m2
// CHECK: %[[W:.*]] = arith.extui %{{.*}} : i8 to i16
// CHECK: %[[H:.*]] = arith.shli %[[W]], %{{.*}} : i16
// CHECK: arith.bitcast %[[H]] : i16 to f16
gpu.func @from_e5m2(%p: !tile.ptr<f16>, %x: f8E5M2) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.fp_cast %x : f8E5M2 -> f16
  tile.store %p, %y : !tile.ptr<f16>
  gpu.return
}

// From f64 through f32 with an odd last bit, so that rounding twice does no harm.
// CHECK-LABEL: gpu.func @double
// CHECK: %[[F:.*]] = llvm.call_intrinsic "llvm.nvvm.d2f.rz"
// CHECK: %[[BACK:.*]] = arith.extf %[[F]] : f32 to f64
// CHECK: %[[INEXACT:.*]] = arith.cmpf one, %[[BACK]]
// CHECK: %[[ODD:.*]] = arith.ori
// CHECK: arith.select %[[INEXACT]], %[[ODD]]
gpu.func @double(%p: !tile.ptr<f8E5M2>, %x: f64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.fp_cast %x : f64 -> f8E5M2
  tile.store %p, %y : !tile.ptr<f8E5M2>
  gpu.return
}

// arith.truncf does not saturate: 0x7f is NaN.
// CHECK-LABEL: gpu.func @truncf
// CHECK: %[[LIMIT:.*]] = arith.constant 127 : i32
// CHECK-NEXT: arith.minui %{{.*}}, %[[LIMIT]]
gpu.func @truncf(%p: !tile.ptr<f8E4M3FN>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = arith.truncf %x : f32 to f8E4M3FN
  tile.store %p, %y : !tile.ptr<f8E4M3FN>
  gpu.return
}

// CHECK-LABEL: gpu.func @toward_zero
// CHECK: "cvt.rz.f16.f32 $0, $1;", "=h,f"
// CHECK: "cvt.rz.bf16.f32 $0, $1;", "=h,f"
// CHECK: llvm.call_intrinsic "llvm.nvvm.d2f.rz"
gpu.func @toward_zero(%p: !tile.ptr<f16>, %q: !tile.ptr<bf16>, %r: !tile.ptr<f32>, %x: f32, %d: f64) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = tile.fp_cast %x round(rtz) : f32 -> f16
  tile.store %p, %a : !tile.ptr<f16>
  %b = tile.fp_cast %x round(rtz) : f32 -> bf16
  tile.store %q, %b : !tile.ptr<bf16>
  %c = arith.truncf %d toward_zero : f64 to f32
  tile.store %r, %c : !tile.ptr<f32>
  gpu.return
}

}

// Chips with fp8 conversions: two numbers an instruction.
gpu.module @new [#nvvm.target<chip = "sm_90a">] {

// CHECK-LABEL: gpu.func @pairs
// CHECK: %[[D:.*]] = llvm.inline_asm asm_dialect = att "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h"
// CHECK: arith.trunci %[[D]] : i32 to i16
// CHECK: %[[E:.*]] = llvm.inline_asm asm_dialect = att "cvt.rn.satfinite.e5m2x2.f32 $0, $2, $1;", "=h,f,f"
// CHECK: arith.trunci %[[E]] : i16 to i8
// CHECK-NOT: cvt.
gpu.func @pairs(%p: !tile.ptr<f8E5M2>, %x: f8E4M3FN) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %s = tile.splat %x : tensor<64xf8E4M3FN, #l>
  %y = tile.fp_cast %s : tensor<64xf8E4M3FN, #l> -> tensor<64xf32, #l>
  %z = tile.fp_cast %y : tensor<64xf32, #l> -> tensor<64xf8E5M2, #l>
  %ps = tile.splat %p : tensor<64x!tile.ptr<f8E5M2>, #l>
  tile.store %ps, %z : tensor<64x!tile.ptr<f8E5M2>, #l>
  gpu.return
}

// CHECK-LABEL: gpu.func @scalar
// CHECK: "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f"
gpu.func @scalar(%p: !tile.ptr<f8E4M3FN>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.fp_cast %x : f32 -> f8E4M3FN
  tile.store %p, %y : !tile.ptr<f8E4M3FN>
  gpu.return
}

}
