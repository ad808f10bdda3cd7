// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers))" | FileCheck %s

// The time to find barriers is about linear in the depth of a nest of loops:
// with a factor of two for each loop this would take days.

#layout = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
!tile = tensor<16x32xf32, #layout>
!ptrs = tensor<16x32x!tile.ptr<f32>, #layout>
!mem = !tile_gpu.memdesc<16x32xf32, #dense, mutable>

gpu.module @m {

// The store before the nest conflicts with the load in it, the copy that each
// iteration of the innermost loop starts with that of the one before.
// CHECK-LABEL: gpu.func @deep
// CHECK: tile_gpu.alloc %{{.*}} {offset = 0
// CHECK: tile_gpu.alloc {offset = 2048
// CHECK-NEXT: tile_gpu.barrier
// CHECK-COUNT-40: scf.for
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.async_wait
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.async_copy
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @deep(%x: !tile, %p: !ptrs, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  %b = tile_gpu.alloc {offset = 2048 : i64} : !mem
  scf.for %i0 = %lb to %ub step %step {
  scf.for %i1 = %lb to %ub step %step {
  scf.for %i2 = %lb to %ub step %step {
  scf.for %i3 = %lb to %ub step %step {
  scf.for %i4 = %lb to %ub step %step {
  scf.for %i5 = %lb to %ub step %step {
  scf.for %i6 = %lb to %ub step %step {
  scf.for %i7 = %lb to %ub step %step {
  scf.for %i8 = %lb to %ub step %step {
  scf.for %i9 = %lb to %ub step %step {
  scf.for %i10 = %lb to %ub step %step {
  scf.for %i11 = %lb to %ub step %step {
  scf.for %i12 = %lb to %ub step %step {
  scf.for %i13 = %lb to %ub step %step {
  scf.for %i14 = %lb to %ub step %step {
  scf.for %i15 = %lb to %ub step %step {
  scf.for %i16 = %lb to %ub step %step {
  scf.for %i17 = %lb to %ub step %step {
  scf.for %i18 = %lb to %ub step %step {
  scf.for %i19 = %lb to %ub step %step {
  scf.for %i20 = %lb to %ub step %step {
  scf.for %i21 = %lb to %ub step %step {
  scf.for %i22 = %lb to %ub step %step {
  scf.for %i23 = %lb to %ub step %step {
  scf.for %i24 = %lb to %ub step %step {
  scf.for %i25 = %lb to %ub step %step {
  scf.for %i26 = %lb to %ub step %step {
  scf.for %i27 = %lb to %ub step %step {
  scf.for %i28 = %lb to %ub step %step {
  scf.for %i29 = %lb to %ub step %step {
  scf.for %i30 = %lb to %ub step %step {
  scf.for %i31 = %lb to %ub step %step {
  scf.for %i32 = %lb to %ub step %step {
  scf.for %i33 = %lb to %ub step %step {
  scf.for %i34 = %lb to %ub step %step {
  scf.for %i35 = %lb to %ub step %step {
  scf.for %i36 = %lb to %ub step %step {
  scf.for %i37 = %lb to %ub step %step {
  scf.for %i38 = %lb to %ub step %step {
  scf.for %i39 = %lb to %ub step %step {
    %0 = tile_gpu.local_load %a : !mem -> !tile
    %w = tile_gpu.async_wait pending 0
    %t = tile_gpu.async_copy %p, %b : !ptrs -> !mem
  }}}}}}}}}}}}}}}}}}}}
  }}}}}}}}}}}}}}}}}}}}
  gpu.return
}

}
