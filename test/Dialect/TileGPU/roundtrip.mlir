// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

#layout = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#other = #tile_gpu.layout<{register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[4, 0], [8, 0]]}>
#shared = #tile_gpu.shared<order = [0, 1], swizzle = 64>
#flipped = #tile_gpu.shared<order = [1, 0], swizzle = 64>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// A rank-0 layout has empty vectors as bases; blocks of a cluster are a fourth
// list.
#scalar = #tile_gpu.layout<{register = [], lane = [[], [], [], [], []], warp = [[], []]}>
#cluster = #tile_gpu.layout<{register = [], lane = [[1]], warp = [[0]], block = [[2]]}>

// CHECK-DAG: #[[$LAYOUT:.+]] = #tile_gpu.layout<{register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]]}>
// CHECK-DAG: #[[$OTHER:.+]] = #tile_gpu.layout<{register = {{\[\[}}1, 0], [2, 0]], lane
// CHECK-DAG: #[[$SHARED:.+]] = #tile_gpu.shared<order = [0, 1], swizzle = 64>
// CHECK-DAG: #[[$FLIPPED:.+]] = #tile_gpu.shared<order = [1, 0], swizzle = 64>
// CHECK-DAG: #[[$DENSE:.+]] = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// CHECK-DAG: #[[$SCALAR:.+]] = #tile_gpu.layout<{register = [], lane = {{\[\[}}], [], [], [], []], warp = {{\[\[}}], []]}>
// CHECK-DAG: #[[$CLUSTER:.+]] = #tile_gpu.layout<{register = [], lane = {{\[\[}}1]], warp = {{\[\[}}0]], block = {{\[\[}}2]]}>

// CHECK-LABEL: func.func @layouts(
// CHECK-SAME: tensor<f32, #[[$SCALAR]]>, %{{.*}}: tensor<4xf32, #[[$CLUSTER]]>
func.func @layouts(%a: tensor<f32, #scalar>, %b: tensor<4xf32, #cluster>) {
  return
}

// CHECK-LABEL: func.func @convert(
// CHECK-SAME: %[[A:.*]]: tensor<16x32xf16, #[[$LAYOUT]]>
func.func @convert(%a: tensor<16x32xf16, #layout>) -> tensor<16x32xf16, #other> {
  // CHECK: tile_gpu.convert_layout %[[A]] : tensor<16x32xf16, #[[$LAYOUT]]> -> tensor<16x32xf16, #[[$OTHER]]>
  %0 = tile_gpu.convert_layout %a : tensor<16x32xf16, #layout> -> tensor<16x32xf16, #other>
  return %0 : tensor<16x32xf16, #other>
}

// CHECK-LABEL: func.func @memory(
// CHECK-SAME: %[[A:.*]]: tensor<16x32xf16, #[[$LAYOUT]]>
func.func @memory(%a: tensor<16x32xf16, #layout>) -> tensor<16x32xf16, #layout> {
  // CHECK: %[[CONST:.*]] = tile_gpu.alloc %[[A]] : tensor<16x32xf16, #[[$LAYOUT]]> -> !tile_gpu.memdesc<16x32xf16, #[[$SHARED]]>
  %const = tile_gpu.alloc %a : tensor<16x32xf16, #layout> -> !tile_gpu.memdesc<16x32xf16, #shared>
  // CHECK: %[[MEM:.*]] = tile_gpu.alloc {alignment = 1024 : i32, offset = 2048 : i64} : !tile_gpu.memdesc<16x32xf16, #[[$SHARED]], mutable>
  %mem = tile_gpu.alloc {alignment = 1024 : i32, offset = 2048 : i64} : !tile_gpu.memdesc<16x32xf16, #shared, mutable>
  // CHECK: tile_gpu.local_store %[[A]], %[[MEM]] : tensor<16x32xf16, #[[$LAYOUT]]>, !tile_gpu.memdesc<16x32xf16, #[[$SHARED]], mutable>
  tile_gpu.local_store %a, %mem : tensor<16x32xf16, #layout>, !tile_gpu.memdesc<16x32xf16, #shared, mutable>
  // CHECK: tile_gpu.barrier{{$}}
  tile_gpu.barrier
  // CHECK: tile_gpu.barrier of_warp
  tile_gpu.barrier of_warp
  // CHECK: tile_gpu.local_load %[[CONST]] : !tile_gpu.memdesc<16x32xf16, #[[$SHARED]]> -> tensor<16x32xf16, #[[$LAYOUT]]>
  %0 = tile_gpu.local_load %const : !tile_gpu.memdesc<16x32xf16, #shared> -> tensor<16x32xf16, #layout>
  return %0 : tensor<16x32xf16, #layout>
}

// CHECK-LABEL: func.func @views(
// CHECK-SAME: %[[I:.*]]: i32
func.func @views(%i: i32) -> !tile_gpu.memdesc<32x8xf16, #flipped, mutable, 32x16> {
  // CHECK: %[[RING:.*]] = tile_gpu.alloc : !tile_gpu.memdesc<3x16x32xf16, #[[$SHARED]], mutable>
  %ring = tile_gpu.alloc : !tile_gpu.memdesc<3x16x32xf16, #shared, mutable>
  // CHECK: %[[TILE:.*]] = tile_gpu.memdesc_index %[[RING]][%[[I]]] : !tile_gpu.memdesc<3x16x32xf16, #[[$SHARED]], mutable> -> !tile_gpu.memdesc<16x32xf16, #[[$SHARED]], mutable>
  %tile = tile_gpu.memdesc_index %ring[%i] : !tile_gpu.memdesc<3x16x32xf16, #shared, mutable> -> !tile_gpu.memdesc<16x32xf16, #shared, mutable>
  // CHECK: %[[BOX:.*]] = tile_gpu.memdesc_subslice %[[TILE]][8, 0] : !tile_gpu.memdesc<16x32xf16, #[[$SHARED]], mutable> -> !tile_gpu.memdesc<8x32xf16, #[[$SHARED]], mutable, 16x32>
  %box = tile_gpu.memdesc_subslice %tile[8, 0] : !tile_gpu.memdesc<16x32xf16, #shared, mutable> -> !tile_gpu.memdesc<8x32xf16, #shared, mutable, 16x32>
  // CHECK: tile_gpu.memdesc_trans %[[BOX]] [1, 0] : !tile_gpu.memdesc<8x32xf16, #[[$SHARED]], mutable, 16x32> -> !tile_gpu.memdesc<32x8xf16, #[[$FLIPPED]], mutable, 32x16>
  %trans = tile_gpu.memdesc_trans %box [1, 0] : !tile_gpu.memdesc<8x32xf16, #shared, mutable, 16x32> -> !tile_gpu.memdesc<32x8xf16, #flipped, mutable, 32x16>
  return %trans : !tile_gpu.memdesc<32x8xf16, #flipped, mutable, 32x16>
}

// CHECK-LABEL: func.func @async(
// CHECK-SAME: %[[P:.*]]: tensor<16x32x!tile.ptr<f16>, #[[$LAYOUT]]>, %[[M:.*]]: tensor<16x32xi1, #[[$LAYOUT]]>, %[[O:.*]]: tensor<16x32xf16, #[[$LAYOUT]]>, %[[D:.*]]: !tile_gpu.memdesc
func.func @async(%p: tensor<16x32x!tile.ptr<f16>, #layout>, %m: tensor<16x32xi1, #layout>, %o: tensor<16x32xf16, #layout>,
                 %d: !tile_gpu.memdesc<16x32xf16, #dense, mutable>) -> tensor<16x32xf16, #layout> {
  // CHECK: %[[T0:.*]] = tile_gpu.async_copy %[[P]], %[[D]] : tensor<16x32x!tile.ptr<f16>, #[[$LAYOUT]]> -> !tile_gpu.memdesc<16x32xf16, #[[$DENSE]], mutable>
  %t0 = tile_gpu.async_copy %p, %d : tensor<16x32x!tile.ptr<f16>, #layout> -> !tile_gpu.memdesc<16x32xf16, #dense, mutable>
  // CHECK: %[[T1:.*]] = tile_gpu.async_copy %[[P]], %[[D]] mask %[[M]] other %[[O]] cache(cg) evict(evict_first) :
  %t1 = tile_gpu.async_copy %p, %d mask %m other %o cache(cg) evict(evict_first) : tensor<16x32x!tile.ptr<f16>, #layout> -> !tile_gpu.memdesc<16x32xf16, #dense, mutable>
  // CHECK: %[[G:.*]] = tile_gpu.async_commit(%[[T0]], %[[T1]])
  %g = tile_gpu.async_commit(%t0, %t1)
  // CHECK: tile_gpu.async_commit()
  %h = tile_gpu.async_commit()
  // CHECK: %[[W:.*]] = tile_gpu.async_wait %[[G]] pending 1
  %w = tile_gpu.async_wait %g pending 1
  // CHECK: tile_gpu.async_wait pending 0
  %all = tile_gpu.async_wait pending 0
  // CHECK: tile_gpu.local_load %[[D]] after %[[W]] :
  %0 = tile_gpu.local_load %d after %w : !tile_gpu.memdesc<16x32xf16, #dense, mutable> -> tensor<16x32xf16, #layout>
  return %0 : tensor<16x32xf16, #layout>
}

// CHECK-LABEL: func.func @roles(
// CHECK-SAME: %[[D:.*]]: !tile_gpu.memdesc<16x32xf16, #[[$DENSE]], mutable>, %[[N:.*]]: i32
func.func @roles(%d: !tile_gpu.memdesc<16x32xf16, #dense, mutable>, %n: i32) {
  // CHECK: tile_gpu.warp_specialize(%[[D]], %[[N]]) warps [1, 4] registers [24, 0] : (!tile_gpu.memdesc<16x32xf16, #[[$DENSE]], mutable>, i32) -> () {
  // CHECK-NEXT: ^{{.*}}(%{{.*}}: !tile_gpu.memdesc<16x32xf16, #[[$DENSE]], mutable>, %{{.*}}: i32):
  // CHECK-NEXT: tile_gpu.warp_yield
  // CHECK-NEXT: }, {
  tile_gpu.warp_specialize(%d, %n) warps [1, 4] registers [24, 0] : (!tile_gpu.memdesc<16x32xf16, #dense, mutable>, i32) -> () {
  ^bb0(%a: !tile_gpu.memdesc<16x32xf16, #dense, mutable>, %b: i32):
    tile_gpu.warp_yield
  }, {
  ^bb0(%a: !tile_gpu.memdesc<16x32xf16, #dense, mutable>, %b: i32):
    tile_gpu.warp_yield
  }
  // CHECK: tile_gpu.warp_specialize() warps [4] registers [0] : () -> () {
  tile_gpu.warp_specialize() warps [4] registers [0] : () -> () {
    tile_gpu.warp_yield
  }
  return
}

gpu.module @kernels {
  // CHECK: gpu.func @attributes() kernel attributes {{{.*}}tile_gpu.shared_bytes = 1024 : i64
  gpu.func @attributes() kernel attributes {tile_gpu.shared_bytes = 1024 : i64} {
    // CHECK: tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 512>
    tile_gpu.barrier {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 512>}
    gpu.return
  }
}
