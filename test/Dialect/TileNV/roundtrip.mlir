// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @prefetch
// CHECK-SAME: (%[[P:.*]]: tensor<64x!tile.ptr<f32>>, %[[G:.*]]: tensor<4x8x!tile.ptr<i8, 0>>, %[[M:.*]]: tensor<64xi1>)
func.func @prefetch(%p: tensor<64x!tile.ptr<f32>>, %g: tensor<4x8x!tile.ptr<i8, 0>>, %m: tensor<64xi1>) {
  // CHECK: tile_nv.prefetch %[[P]] : tensor<64x!tile.ptr<f32>>
  tile_nv.prefetch %p : tensor<64x!tile.ptr<f32>>
  // CHECK: tile_nv.prefetch %[[P]] mask %[[M]] : tensor<64x!tile.ptr<f32>>
  tile_nv.prefetch %p mask %m : tensor<64x!tile.ptr<f32>>
  // CHECK: tile_nv.prefetch %[[G]] : tensor<4x8x!tile.ptr<i8, 0>>
  tile_nv.prefetch %g : tensor<4x8x!tile.ptr<i8, 0>>
  return
}
