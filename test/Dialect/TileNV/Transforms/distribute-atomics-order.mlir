// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

// A release stands behind a barrier, so that it covers the whole program's
// writes; an acquire stands before one.

#l = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []}>

gpu.module @m {

// A scalar is one access, by thread 0.
// CHECK-LABEL: gpu.func @lock
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK-NOT: gpu.barrier
// CHECK: %[[OLD:.*]] = llvm.inline_asm {{.*}} "@$4 atom.acquire.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,b,0" %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST]]
// CHECK: "@$2 st.shared.b32 [$0], $1;", "l,r,b" %{{.*}}, %[[OLD]], %[[FIRST]]
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: gpu.barrier
// CHECK: llvm.inline_asm {{.*}} "@$3 atom.release.gpu.global.exch.b32 $0, [$1], $2;"
// CHECK: gpu.return
gpu.func @lock(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile_gpu.shared_bytes = 4 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %old = tile.atomic_cas %p, %c0, %c1 sem(acquire) {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 4>} : !tile.ptr<i32>
  tile.store %q, %old : !tile.ptr<i32>
  %r = tile.atomic_rmw xchg %p, %c0 sem(release) : !tile.ptr<i32>
  gpu.return
}

// `red` has no acquire, and needs none.
// CHECK-LABEL: gpu.func @unused
// CHECK: gpu.barrier
// CHECK-NEXT: llvm.inline_asm {{.*}} "@$2 red.release.gpu.global.add.u32 [$0], $1;"
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
gpu.func @unused(%p: !tile.ptr<i32>, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %r = tile.atomic_rmw add %p, %x : !tile.ptr<i32>
  gpu.return
}

// Several accesses share a fence on each side.
// CHECK-LABEL: gpu.func @tile
// CHECK: gpu.barrier
// CHECK-NEXT: llvm.inline_asm has_side_effects {{.*}} "fence.acq_rel.sys;"
// CHECK-COUNT-2: "atom.relaxed.sys.global.add.u32 $0, [$1], $2;"
// CHECK: "fence.acq_rel.sys;"
// CHECK-NEXT: gpu.barrier
gpu.func @tile(%p: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 64 : tensor<64xi32, #l>
  %s = tile.splat %p : tensor<64x!tile.ptr<i32>, #l>
  %q = tile.addptr %s, %i : tensor<64x!tile.ptr<i32>, #l>, tensor<64xi32, #l>
  %old = tile.atomic_rmw add %s, %i scope(sys) : tensor<64x!tile.ptr<i32>, #l>
  tile.store %q, %old : tensor<64x!tile.ptr<i32>, #l>
  gpu.return
}

}
