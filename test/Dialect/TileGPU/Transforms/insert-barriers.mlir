// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers))" | FileCheck %s
// A second run finds nothing to do.
// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers,tile-gpu-insert-barriers))" | FileCheck %s

#layout = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#columns = #tile_gpu.layout<{register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]}>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
!tile = tensor<16x32xf32, #layout>
// 2048 bytes.
!mem = !tile_gpu.memdesc<16x32xf32, #dense, mutable>
!ring = !tile_gpu.memdesc<2x16x32xf32, #dense, mutable>

gpu.module @m {

// CHECK-LABEL: gpu.func @read_after_write
// CHECK-NEXT: tile_gpu.alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: gpu.return
gpu.func @read_after_write(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  gpu.return
}

// %b lies where %a was.
// CHECK-LABEL: gpu.func @write_after_read
// CHECK: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.alloc
// CHECK-NEXT: gpu.return
gpu.func @write_after_read(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  %b = tile_gpu.alloc %x {offset = 1024 : i64} : !tile -> !mem
  gpu.return
}

// CHECK-LABEL: gpu.func @write_after_write
// CHECK-NEXT: tile_gpu.alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: gpu.return
gpu.func @write_after_write(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  tile_gpu.local_store %x, %a : !tile, !mem
  gpu.return
}

// CHECK-LABEL: gpu.func @apart
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @apart(%x: !tile, %m: !mem) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %b = tile_gpu.alloc %x {offset = 2048 : i64} : !tile -> !mem
  gpu.return
}

// Reads do not conflict, and one barrier serves both.
// CHECK-LABEL: gpu.func @one_barrier
// CHECK-COUNT-2: tile_gpu.alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: gpu.return
gpu.func @one_barrier(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %b = tile_gpu.alloc %x {offset = 2048 : i64} : !tile -> !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  %1 = tile_gpu.local_load %b : !mem -> !tile
  %2 = tile_gpu.local_load %a : !mem -> !tile
  gpu.return
}

// CHECK-LABEL: gpu.func @barriers_of_others
// CHECK-NEXT: tile_gpu.alloc
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: gpu.return
gpu.func @barriers_of_others(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  tile.barrier
  %0 = tile_gpu.local_load %a : !mem -> !tile
  gpu.barrier
  tile_gpu.local_store %x, %a : !tile, !mem
  gpu.return
}

// Tiles of a ring at known places are apart, others may be the same.
// CHECK-LABEL: gpu.func @ring
// CHECK: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: gpu.return
gpu.func @ring(%x: !tile, %i: i32) kernel {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tile_gpu.alloc {offset = 0 : i64} : !ring
  %first = tile_gpu.memdesc_index %ring[%c0] : !ring -> !mem
  %second = tile_gpu.memdesc_index %ring[%c1] : !ring -> !mem
  %some = tile_gpu.memdesc_index %ring[%i] : !ring -> !mem
  tile_gpu.local_store %x, %first : !tile, !mem
  tile_gpu.local_store %x, %second : !tile, !mem
  tile_gpu.local_store %x, %some : !tile, !mem
  gpu.return
}

// CHECK-LABEL: gpu.func @select
// CHECK: arith.select
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
gpu.func @select(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %b = tile_gpu.alloc {offset = 2048 : i64} : !mem
  %either = arith.select %c, %b, %a : !mem
  %0 = tile_gpu.local_load %either : !mem -> !tile
  gpu.return
}

// A conversion writes its scratch memory, which %b's reader must have left, and
// holds a barrier: %a needs none, but what it reads itself is pending.
// CHECK-LABEL: gpu.func @scratch
// CHECK-NEXT: tile_gpu.alloc {{.*}}offset = 0
// CHECK-NEXT: tile_gpu.alloc {{.*}}offset = 2048
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.convert_layout
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: gpu.return
gpu.func @scratch(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %b = tile_gpu.alloc %x {offset = 2048 : i64} : !tile -> !mem
  %0 = tile_gpu.local_load %b : !mem -> !tile
  %1 = tile_gpu.convert_layout %0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 2048, bytes = 2048>} : !tile -> tensor<16x32xf32, #columns>
  %2 = tile_gpu.local_load %a : !mem -> !tile
  tile_gpu.local_store %2, %b : !tile, !mem
  gpu.return
}

// Conversions with scratch apart need none between them: each orders the reads of
// the one before.
// CHECK-LABEL: gpu.func @scratch_apart
// CHECK-NEXT: tile_gpu.convert_layout
// CHECK-NEXT: tile_gpu.convert_layout
// CHECK-NEXT: tile_gpu.convert_layout
// CHECK-NEXT: gpu.return
gpu.func @scratch_apart(%x: !tile) kernel {
  %0 = tile_gpu.convert_layout %x {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 2048>} : !tile -> tensor<16x32xf32, #columns>
  %1 = tile_gpu.convert_layout %0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 2048, bytes = 2048>} : tensor<16x32xf32, #columns> -> !tile
  %2 = tile_gpu.convert_layout %1 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 2048>} : !tile -> tensor<16x32xf32, #columns>
  gpu.return
}

// A wait is for a thread's own copies; a barrier before it does not help others.
// CHECK-LABEL: gpu.func @copy
// CHECK: tile_gpu.async_copy
// CHECK: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.async_wait
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: gpu.return
gpu.func @copy(%p: tensor<16x32x!tile.ptr<f32>, #layout>) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  %t = tile_gpu.async_copy %p, %a : tensor<16x32x!tile.ptr<f32>, #layout> -> !mem
  %g = tile_gpu.async_commit(%t)
  tile_gpu.barrier
  %w = tile_gpu.async_wait %g pending 0
  %0 = tile_gpu.local_load %a after %w : !mem -> !tile
  gpu.return
}

// A copy overwrites what others may still read.
// CHECK-LABEL: gpu.func @copy_after_read
// CHECK: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.async_copy
gpu.func @copy_after_read(%p: tensor<16x32x!tile.ptr<f32>, #layout>) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  %t = tile_gpu.async_copy %p, %a : tensor<16x32x!tile.ptr<f32>, #layout> -> !mem
  gpu.return
}

}
