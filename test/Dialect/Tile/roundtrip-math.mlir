// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s -emit-bytecode | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>, %[[I:.*]]: i32)
func.func @arithmetic(%x: tensor<64xf32>, %i: i32) {
  // CHECK: tile.fp_cast %[[X]] : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %0 = tile.fp_cast %x : tensor<64xf32> -> tensor<64xf8E4M3FN>
  // CHECK: tile.fp_cast %[[X]] round(rtz) : tensor<64xf32> -> tensor<64xbf16>
  %1 = tile.fp_cast %x round(rtz) : tensor<64xf32> -> tensor<64xbf16>
  // CHECK: tile.mulhi %[[I]], %[[I]] : i32
  %2 = tile.mulhi %i, %i : i32
  // CHECK: tile.mulhi signed %[[I]], %[[I]] : i32
  %3 = tile.mulhi signed %i, %i : i32
  // CHECK: tile.precise_sqrt %[[X]] : tensor<64xf32>
  %4 = tile.precise_sqrt %x : tensor<64xf32>
  // CHECK: tile.precise_div %[[X]], %[[X]] : tensor<64xf32>
  %5 = tile.precise_div %x, %x : tensor<64xf32>
  // CHECK: tile.clamp %[[X]], %[[X]], %[[X]] : tensor<64xf32>
  %6 = tile.clamp %x, %x, %x : tensor<64xf32>
  // CHECK: tile.clamp %[[X]], %[[X]], %[[X]] propagate_nan : tensor<64xf32>
  %7 = tile.clamp %x, %x, %x propagate_nan : tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @foreign
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>, %[[H:.*]]: tensor<64xf16>)
func.func @foreign(%x: tensor<64xf32>, %h: tensor<64xf16>) {
  // CHECK: tile.extern_elementwise pure "__nv_tanhf"(%[[X]]) : (tensor<64xf32>) -> tensor<64xf32>
  %0 = tile.extern_elementwise pure "__nv_tanhf"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tile.extern_elementwise "f" from "lib.bc"(%[[X]], %[[X]]) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi32>
  %1 = tile.extern_elementwise "f" from "lib.bc"(%x, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi32>
  // CHECK: tile.inline_asm_elementwise pure "tanh.approx.f32 $0, $1;" constraints "=f,f"(%[[X]]) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = tile.inline_asm_elementwise pure "tanh.approx.f32 $0, $1;" constraints "=f,f"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tile.inline_asm_elementwise "neg.f16x2 $0, $2; mov.b32 $1, $2;" constraints "=r,=r,r,~{memory}" pack 2(%[[H]]) : (tensor<64xf16>) -> (tensor<64xf16>, tensor<64xi16>)
  %3:2 = tile.inline_asm_elementwise "neg.f16x2 $0, $2; mov.b32 $1, $2;" constraints "=r,=r,r,~{memory}" pack 2(%h) : (tensor<64xf16>) -> (tensor<64xf16>, tensor<64xi16>)
  // CHECK: tile.inline_asm_elementwise "mov.u64 $0, %globaltimer;" constraints "=l"() : () -> i64
  %4 = tile.inline_asm_elementwise "mov.u64 $0, %globaltimer;" constraints "=l"() : () -> i64
  return
}

// CHECK-LABEL: func.func @map
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>)
func.func @map(%x: tensor<64xf32>) {
  // CHECK: tile.map_elementwise(%[[X]]) : (tensor<64xf32>) -> tensor<64xi32> {
  // CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
  // CHECK-NEXT: %[[I:.*]] = arith.fptosi %[[E]]
  // CHECK-NEXT: tile.yield %[[I]] : i32
  %0 = tile.map_elementwise(%x) : (tensor<64xf32>) -> tensor<64xi32> {
  ^bb0(%e: f32):
    %i = arith.fptosi %e : f32 to i32
    tile.yield %i : i32
  }
  // CHECK: tile.map_elementwise(%[[X]]) pack 2 : (tensor<64xf32>) -> tensor<64xf32> {
  %1 = tile.map_elementwise(%x) pack 2 : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    %r:2 = scf.if %c -> (f32, f32) {
      scf.yield %a, %b : f32, f32
    } else {
      scf.yield %b, %a : f32, f32
    }
    tile.yield %r#0, %r#1 : f32, f32
  }
  return
}

// CHECK-LABEL: func.func @dot
// CHECK-SAME: (%[[A:.*]]: tensor<16x32xf32>, %[[B:.*]]: tensor<32x8xf32>, %[[C:.*]]: tensor<16x8xf32>)
func.func @dot(%a: tensor<16x32xf32>, %b: tensor<32x8xf32>, %c: tensor<16x8xf32>) {
  // CHECK: tile.dot %[[A]], %[[B]], %[[C]] : tensor<16x32xf32> * tensor<32x8xf32> -> tensor<16x8xf32>
  %0 = tile.dot %a, %b, %c : tensor<16x32xf32> * tensor<32x8xf32> -> tensor<16x8xf32>
  // CHECK: tile.dot %[[A]], %[[B]], %[[C]] precision(ieee) max_num_imprecise_acc(32) : tensor
  %1 = tile.dot %a, %b, %c precision(ieee) max_num_imprecise_acc(32) : tensor<16x32xf32> * tensor<32x8xf32> -> tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @dot_types
func.func @dot_types(%i: tensor<4x16x32xi8>, %j: tensor<4x32x8xi8>, %k: tensor<4x16x8xi32>,
                     %p: tensor<16x32xf8E4M3FN>, %q: tensor<32x8xf8E5M2>, %r: tensor<16x8xf16>) {
  // CHECK: tile.dot {{.*}} : tensor<4x16x32xi8> * tensor<4x32x8xi8> -> tensor<4x16x8xi32>
  %0 = tile.dot %i, %j, %k : tensor<4x16x32xi8> * tensor<4x32x8xi8> -> tensor<4x16x8xi32>
  // CHECK: tile.dot {{.*}} : tensor<16x32xf8E4M3FN> * tensor<32x8xf8E5M2> -> tensor<16x8xf16>
  %1 = tile.dot %p, %q, %r : tensor<16x32xf8E4M3FN> * tensor<32x8xf8E5M2> -> tensor<16x8xf16>
  return
}

// CHECK-LABEL: func.func @dot_scaled
// CHECK-SAME: (%[[A:.*]]: tensor<128x64xf8E4M3FN>, %[[AS:.*]]: tensor<128x2xi8>, %[[B:.*]]: tensor<32x128xi8>, %[[H:.*]]: tensor<64x128xbf16>, %[[C:.*]]: tensor<128x128xf32>)
func.func @dot_scaled(%a: tensor<128x64xf8E4M3FN>, %s: tensor<128x2xi8>, %b: tensor<32x128xi8>, %h: tensor<64x128xbf16>, %c: tensor<128x128xf32>) {
  // CHECK: tile.dot_scaled %[[A]] scale %[[AS]] e4m3, %[[B]] scale %[[AS]] e2m1, %[[C]] : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  %0 = tile.dot_scaled %a scale %s e4m3, %b scale %s e2m1, %c : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  // CHECK: tile.dot_scaled %[[A]] scale %[[AS]] e4m3, %[[H]] bf16, %[[C]] fast_math : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x128xbf16> -> tensor<128x128xf32>
  %1 = tile.dot_scaled %a scale %s e4m3, %h bf16, %c fast_math : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x128xbf16> -> tensor<128x128xf32>
  return
}

// CHECK-LABEL: func.func @dot_scaled_packing
func.func @dot_scaled_packing(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>, %s: tensor<128x2xi8>, %c: tensor<128x128xf32>) {
  // CHECK: tile.dot_scaled {{.*}} {a_k_pack = false, b_k_pack = false} : tensor<64x64xi8>, tensor<128x2xi8> * tensor<64x64xi8>, tensor<128x2xi8>
  %0 = tile.dot_scaled %a scale %s e2m1, %b scale %s e2m1, %c {a_k_pack = false, b_k_pack = false} : tensor<64x64xi8>, tensor<128x2xi8> * tensor<64x64xi8>, tensor<128x2xi8> -> tensor<128x128xf32>
  return
}
