// RUN: tile-opt %s --tile-gpu-distribute --split-input-file | FileCheck %s

#l = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []}>

gpu.module @m {

// Two bytes share a register of 32 bits; an f32 has one of its own.
// CHECK-LABEL: gpu.func @packed
// CHECK: %[[V:.*]] = llvm.insertelement {{.*}} : vector<2xi8>
// CHECK: %[[H:.*]] = llvm.bitcast %{{.*}} : vector<2xi8> to i16
// CHECK: %[[R:.*]] = arith.extui %[[H]] : i16 to i32
// CHECK: %[[S:.*]] = llvm.inline_asm asm_dialect = att "shl.b32 $0, $2, 1; cvt.rn.f16x2.f32 $1, $4, $3;", "=r,=r,r,f,f" %[[R]], %{{.*}}, %{{.*}} : (i32, f32, f32) -> !llvm.struct<(i32, i32)>
// CHECK: %[[A:.*]] = llvm.extractvalue %[[S]][0]
// CHECK: %[[B:.*]] = llvm.extractvalue %[[S]][1]
// CHECK: %[[T:.*]] = arith.trunci %[[A]] : i32 to i16
// CHECK: llvm.bitcast %[[T]] : i16 to vector<2xi8>
// CHECK: llvm.bitcast %[[B]] : i32 to vector<2xf16>
// CHECK: "shl.b32
// CHECK-NOT: "shl.b32
gpu.func @packed(%p: !tile.ptr<i8>, %q: !tile.ptr<f16>, %x: i8, %y: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %xs = tile.splat %x : tensor<128xi8, #l>
  %ys = tile.splat %y : tensor<128xf32, #l>
  %a, %b = tile.inline_asm_elementwise pure "shl.b32 $0, $2, 1; cvt.rn.f16x2.f32 $1, $4, $3;" constraints "=r,=r,r,f,f" pack 2 (%xs, %ys) : (tensor<128xi8, #l>, tensor<128xf32, #l>) -> (tensor<128xi8, #l>, tensor<128xf16, #l>)
  %ps = tile.splat %p : tensor<128x!tile.ptr<i8>, #l>
  %qs = tile.splat %q : tensor<128x!tile.ptr<f16>, #l>
  tile.store %ps, %a : tensor<128x!tile.ptr<i8>, #l>
  tile.store %qs, %b : tensor<128x!tile.ptr<f16>, #l>
  gpu.return
}

// Not pure: kept in place.
// CHECK-LABEL: gpu.func @scalar
// CHECK: llvm.inline_asm has_side_effects {{.*}} "mov.u32 $0, %clock;", "=r"
gpu.func @scalar(%p: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %t = tile.inline_asm_elementwise "mov.u32 $0, %clock;" constraints "=r" () : () -> i32
  tile.store %p, %t : !tile.ptr<i32>
  gpu.return
}

}

// -----

#l = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []}>

// One declaration, a call for each element.
// CHECK: llvm.func @__nv_tanhf(f32) -> f32
// CHECK: llvm.func @my_function(f32, i32) -> f32
// CHECK-NOT: llvm.func @__nv_tanhf
// CHECK-LABEL: gpu.func @function
// CHECK: llvm.call @my_function
// CHECK-COUNT-4: llvm.call @__nv_tanhf
// CHECK-NOT: llvm.call
gpu.module @m {
gpu.func @function(%p: !tile.ptr<f32>, %x: f32, %i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = tile.extern_elementwise "my_function" from "mine.bc" (%x, %i) : (f32, i32) -> f32
  %s = tile.splat %y : tensor<128xf32, #l>
  %z = tile.extern_elementwise pure "__nv_tanhf" (%s) : (tensor<128xf32, #l>) -> tensor<128xf32, #l>
  %ps = tile.splat %p : tensor<128x!tile.ptr<f32>, #l>
  tile.store %ps, %z : tensor<128x!tile.ptr<f32>, #l>
  gpu.return
}
}
