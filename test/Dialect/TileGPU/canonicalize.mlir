// RUN: tile-opt %s --canonicalize | FileCheck %s

#a = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]]}>
#b = #tile_gpu.layout<{register = [[1, 0]], lane = [[0, 1], [0, 2]], warp = [[2, 0]]}>
#c = #tile_gpu.layout<{register = [[2, 0]], lane = [[0, 1], [0, 2]], warp = [[1, 0]]}>
#row = #tile_gpu.layout<{register = [[1]], lane = [[2], [4]], warp = [[8]]}>
#col = #tile_gpu.layout<{register = [[8]], lane = [[1], [2]], warp = [[4]]}>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#flipped = #tile_gpu.shared<order = [1, 0], swizzle = 0>

// CHECK-DAG: #[[$A:.+]] = #tile_gpu.layout<{register = {{\[\[}}0, 1]]
// CHECK-DAG: #[[$B:.+]] = #tile_gpu.layout<{register = {{\[\[}}1, 0]]
// CHECK-DAG: #[[$C:.+]] = #tile_gpu.layout<{register = {{\[\[}}2, 0]]
// CHECK-DAG: #[[$COL:.+]] = #tile_gpu.layout<{register = {{\[\[}}8]]

// CHECK-LABEL: @convert_to_same
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @convert_to_same(%x: tensor<4x4xf32, #a>) -> tensor<4x4xf32, #a> {
  %0 = tile_gpu.convert_layout %x : tensor<4x4xf32, #a> -> tensor<4x4xf32, #a>
  return %0 : tensor<4x4xf32, #a>
}

// CHECK-LABEL: @convert_of_convert
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: %[[Y:.*]] = tile_gpu.convert_layout %[[X]] : tensor<4x4xf32, #[[$A]]> -> tensor<4x4xf32, #[[$C]]>
// CHECK-NEXT: return %[[Y]]
func.func @convert_of_convert(%x: tensor<4x4xf32, #a>) -> tensor<4x4xf32, #c> {
  %0 = tile_gpu.convert_layout %x : tensor<4x4xf32, #a> -> tensor<4x4xf32, #b>
  %1 = tile_gpu.convert_layout %0 : tensor<4x4xf32, #b> -> tensor<4x4xf32, #c>
  return %1 : tensor<4x4xf32, #c>
}

// CHECK-LABEL: @convert_there_and_back
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @convert_there_and_back(%x: tensor<4x4xf32, #a>) -> tensor<4x4xf32, #a> {
  %0 = tile_gpu.convert_layout %x : tensor<4x4xf32, #a> -> tensor<4x4xf32, #b>
  %1 = tile_gpu.convert_layout %0 : tensor<4x4xf32, #b> -> tensor<4x4xf32, #a>
  return %1 : tensor<4x4xf32, #a>
}

// CHECK-LABEL: @convert_constant
// CHECK-NEXT: %[[X:.*]] = arith.constant dense<1.000000e+00> : tensor<4x4xf32, #[[$B]]>
// CHECK-NEXT: return %[[X]]
func.func @convert_constant() -> tensor<4x4xf32, #b> {
  %x = arith.constant dense<1.0> : tensor<4x4xf32, #a>
  %0 = tile_gpu.convert_layout %x : tensor<4x4xf32, #a> -> tensor<4x4xf32, #b>
  return %0 : tensor<4x4xf32, #b>
}

// A constant lists its elements by their coordinates, not by who holds them.
// CHECK-LABEL: @convert_elements
// CHECK-NEXT: %[[X:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi32, #[[$COL]]>
// CHECK-NEXT: return %[[X]]
func.func @convert_elements() -> tensor<16xi32, #col> {
  %x = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi32, #row>
  %0 = tile_gpu.convert_layout %x : tensor<16xi32, #row> -> tensor<16xi32, #col>
  return %0 : tensor<16xi32, #col>
}

// CHECK-LABEL: @convert_splat
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: %[[Y:.*]] = tile.splat %[[X]] : tensor<4x4xf32, #[[$B]]>
// CHECK-NEXT: return %[[Y]]
func.func @convert_splat(%x: f32) -> tensor<4x4xf32, #b> {
  %0 = tile.splat %x : tensor<4x4xf32, #a>
  %1 = tile_gpu.convert_layout %0 : tensor<4x4xf32, #a> -> tensor<4x4xf32, #b>
  return %1 : tensor<4x4xf32, #b>
}

// CHECK-LABEL: @convert_arange
// CHECK-NEXT: %[[X:.*]] = tile.arange 0, 16 : tensor<16xi32, #[[$COL]]>
// CHECK-NEXT: return %[[X]]
func.func @convert_arange() -> tensor<16xi32, #col> {
  %0 = tile.arange 0, 16 : tensor<16xi32, #row>
  %1 = tile_gpu.convert_layout %0 : tensor<16xi32, #row> -> tensor<16xi32, #col>
  return %1 : tensor<16xi32, #col>
}

// CHECK-LABEL: @unused_memory
// CHECK-NEXT: return
func.func @unused_memory(%x: tensor<4x4xf32, #a>) {
  %0 = tile_gpu.alloc %x : tensor<4x4xf32, #a> -> !tile_gpu.memdesc<4x4xf32, #dense>
  return
}

// CHECK-LABEL: @written_memory
// CHECK-NEXT: return
func.func @written_memory(%x: tensor<4x4xf32, #a>, %i: i32) {
  %ring = tile_gpu.alloc : !tile_gpu.memdesc<3x4x4xf32, #dense, mutable>
  %tile = tile_gpu.memdesc_index %ring[%i] : !tile_gpu.memdesc<3x4x4xf32, #dense, mutable> -> !tile_gpu.memdesc<4x4xf32, #dense, mutable>
  tile_gpu.local_store %x, %tile : tensor<4x4xf32, #a>, !tile_gpu.memdesc<4x4xf32, #dense, mutable>
  return
}

// CHECK-LABEL: @read_memory
// CHECK: tile_gpu.alloc
// CHECK: tile_gpu.local_store
// CHECK: tile_gpu.local_load
func.func @read_memory(%x: tensor<4x4xf32, #a>, %i: i32) -> tensor<4x4xf32, #a> {
  %ring = tile_gpu.alloc : !tile_gpu.memdesc<3x4x4xf32, #dense, mutable>
  %tile = tile_gpu.memdesc_index %ring[%i] : !tile_gpu.memdesc<3x4x4xf32, #dense, mutable> -> !tile_gpu.memdesc<4x4xf32, #dense, mutable>
  tile_gpu.local_store %x, %tile : tensor<4x4xf32, #a>, !tile_gpu.memdesc<4x4xf32, #dense, mutable>
  %0 = tile_gpu.local_load %tile : !tile_gpu.memdesc<4x4xf32, #dense, mutable> -> tensor<4x4xf32, #a>
  return %0 : tensor<4x4xf32, #a>
}

// CHECK-LABEL: @subslice_of_subslice
// CHECK-SAME: %[[M:.*]]: !tile_gpu.memdesc
// CHECK-NEXT: %[[V:.*]] = tile_gpu.memdesc_subslice %[[M]][3, 6] :
// CHECK-NEXT: return %[[V]]
func.func @subslice_of_subslice(%m: !tile_gpu.memdesc<8x8xf32, #dense>) -> !tile_gpu.memdesc<2x2xf32, #dense, 8x8> {
  %0 = tile_gpu.memdesc_subslice %m[2, 4] : !tile_gpu.memdesc<8x8xf32, #dense> -> !tile_gpu.memdesc<4x4xf32, #dense, 8x8>
  %1 = tile_gpu.memdesc_subslice %0[1, 2] : !tile_gpu.memdesc<4x4xf32, #dense, 8x8> -> !tile_gpu.memdesc<2x2xf32, #dense, 8x8>
  return %1 : !tile_gpu.memdesc<2x2xf32, #dense, 8x8>
}

// CHECK-LABEL: @whole_subslice
// CHECK-SAME: %[[M:.*]]: !tile_gpu.memdesc
// CHECK-NEXT: return %[[M]]
func.func @whole_subslice(%m: !tile_gpu.memdesc<8x8xf32, #dense>) -> !tile_gpu.memdesc<8x8xf32, #dense> {
  %0 = tile_gpu.memdesc_subslice %m[0, 0] : !tile_gpu.memdesc<8x8xf32, #dense> -> !tile_gpu.memdesc<8x8xf32, #dense>
  return %0 : !tile_gpu.memdesc<8x8xf32, #dense>
}

// CHECK-LABEL: @trans_there_and_back
// CHECK-SAME: %[[M:.*]]: !tile_gpu.memdesc
// CHECK-NEXT: return %[[M]]
func.func @trans_there_and_back(%m: !tile_gpu.memdesc<4x8xf32, #dense>) -> !tile_gpu.memdesc<4x8xf32, #dense> {
  %0 = tile_gpu.memdesc_trans %m [1, 0] : !tile_gpu.memdesc<4x8xf32, #dense> -> !tile_gpu.memdesc<8x4xf32, #flipped>
  %1 = tile_gpu.memdesc_trans %0 [1, 0] : !tile_gpu.memdesc<8x4xf32, #flipped> -> !tile_gpu.memdesc<4x8xf32, #dense>
  return %1 : !tile_gpu.memdesc<4x8xf32, #dense>
}

#d012 = #tile_gpu.shared<order = [0, 1, 2], swizzle = 0>
#d120 = #tile_gpu.shared<order = [2, 0, 1], swizzle = 0>
#d201 = #tile_gpu.shared<order = [1, 2, 0], swizzle = 0>

// Turning by one place twice is turning by two.
// CHECK-LABEL: @trans_of_trans
// CHECK-SAME: %[[M:.*]]: !tile_gpu.memdesc
// CHECK-NEXT: %[[T:.*]] = tile_gpu.memdesc_trans %[[M]] [2, 0, 1] : !tile_gpu.memdesc<2x4x8xf32, #{{.*}}> -> !tile_gpu.memdesc<8x2x4xf32, #{{.*}}>
// CHECK-NEXT: return %[[T]]
func.func @trans_of_trans(%m: !tile_gpu.memdesc<2x4x8xf32, #d012>) -> !tile_gpu.memdesc<8x2x4xf32, #d201> {
  %0 = tile_gpu.memdesc_trans %m [1, 2, 0] : !tile_gpu.memdesc<2x4x8xf32, #d012> -> !tile_gpu.memdesc<4x8x2xf32, #d120>
  %1 = tile_gpu.memdesc_trans %0 [1, 2, 0] : !tile_gpu.memdesc<4x8x2xf32, #d120> -> !tile_gpu.memdesc<8x2x4xf32, #d201>
  return %1 : !tile_gpu.memdesc<8x2x4xf32, #d201>
}
