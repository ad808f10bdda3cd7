// RUN: tile-opt %s --split-input-file --tile-gpu-distribute | FileCheck %s

// Aligned neighbours of one thread are one access where the chip has vectors.

#four = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []}>
#eight = #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []}>
#copies = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [0]], warp = []}>

gpu.module @vectors [#nvvm.target<chip = "sm_90">] {

// CHECK-LABEL: gpu.func @f32
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1> {{.*}}%[[X:[a-z0-9]+]]: f32
// CHECK: %[[P:.*]] = llvm.getelementptr
// CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f" %[[P]], %[[X]], %[[X]], %[[X]], %[[X]]
// CHECK-NOT: add.f32
gpu.func @f32(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 128 : tensor<128xi32, #four>
  %s = tile.splat %p : tensor<128x!tile.ptr<f32>, #four>
  %q = tile.addptr %s, %i : tensor<128x!tile.ptr<f32>, #four>, tensor<128xi32, #four>
  %v = tile.splat %x : tensor<128xf32, #four>
  %a = tile.atomic_rmw fadd %q, %v sem(relaxed) : tensor<128x!tile.ptr<f32>, #four>
  gpu.return
}

// The pointer is aligned to two elements, the mask to none.
// CHECK-LABEL: gpu.func @narrow
// CHECK-COUNT-2: "red.relaxed.gpu.global.add.v2.f32 [$0], {$1, $2};", "l,f,f"
// CHECK-COUNT-4: "@$2 red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,b"
gpu.func @narrow(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 8>}, %x: f32, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 128 : tensor<128xi32, #four>
  %s = tile.splat %p : tensor<128x!tile.ptr<f32>, #four>
  %q = tile.addptr %s, %i : tensor<128x!tile.ptr<f32>, #four>, tensor<128xi32, #four>
  %v = tile.splat %x : tensor<128xf32, #four>
  %a = tile.atomic_rmw fadd %q, %v sem(relaxed) : tensor<128x!tile.ptr<f32>, #four>
  %ns = tile.splat %n : tensor<128xi32, #four>
  %mask = arith.cmpi slt, %i, %ns : tensor<128xi32, #four>
  %b = tile.atomic_rmw fadd %q, %v mask %mask sem(relaxed) : tensor<128x!tile.ptr<f32>, #four>
  gpu.return
}

// 16-bit elements go in pairs. The old values come back, zero under the mask.
// CHECK-LABEL: gpu.func @f16
// CHECK: %[[PAIR:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
// CHECK: %[[OLD:.*]] = llvm.inline_asm {{.*}} "@$9 atom.relaxed.gpu.global.add.noftz.v4.f16x2 {$0, $1, $2, $3}, [$4], {$5, $6, $7, $8};", "=r,=r,=r,=r,l,r,r,r,r,b,0,1,2,3"
// CHECK: %[[FIRST:.*]] = llvm.extractvalue %[[OLD]][0]
// CHECK: llvm.bitcast %[[FIRST]] : i32 to vector<2xf16>
gpu.func @f16(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %o: !tile.ptr<f16>, %x: f16, %n: i32 {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #eight>
  %s = tile.splat %p : tensor<256x!tile.ptr<f16>, #eight>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f16>, #eight>, tensor<256xi32, #eight>
  %v = tile.splat %x : tensor<256xf16, #eight>
  %ns = tile.splat %n : tensor<256xi32, #eight>
  %mask = arith.cmpi slt, %i, %ns : tensor<256xi32, #eight>
  %a = tile.atomic_rmw fadd %q, %v mask %mask sem(relaxed) : tensor<256x!tile.ptr<f16>, #eight>
  %os = tile.splat %o : tensor<256x!tile.ptr<f16>, #eight>
  tile.store %os, %a mask %mask : tensor<256x!tile.ptr<f16>, #eight>
  gpu.return
}

// One holder acts for all; release is a fence before it.
// CHECK-LABEL: gpu.func @copies
// CHECK: %[[HOLDER:.*]] = arith.cmpi eq
// CHECK: gpu.barrier
// CHECK: "fence.acq_rel.sys;"
// CHECK: "@$5 red.relaxed.sys.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,b" %{{.*}}, %[[HOLDER]]
gpu.func @copies(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 64 : tensor<64xi32, #copies>
  %s = tile.splat %p : tensor<64x!tile.ptr<f32>, #copies>
  %q = tile.addptr %s, %i : tensor<64x!tile.ptr<f32>, #copies>, tensor<64xi32, #copies>
  %v = tile.splat %x : tensor<64xf32, #copies>
  %a = tile.atomic_rmw fadd %q, %v sem(release) scope(sys) : tensor<64x!tile.ptr<f32>, #copies>
  gpu.return
}

// Generic pointers have no vectors, nor have integers.
// CHECK-LABEL: gpu.func @single
// CHECK-COUNT-4: "red.relaxed.gpu.add.f32 [$0], $1;", "l,f"
// CHECK-COUNT-4: "red.relaxed.gpu.global.add.u32 [$0], $1;", "l,r"
gpu.func @single(%p: !tile.ptr<f32, 0> {tile.divisibility = array<i32: 16>}, %j: !tile.ptr<i32> {tile.divisibility = array<i32: 16>}, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 128 : tensor<128xi32, #four>
  %s = tile.splat %p : tensor<128x!tile.ptr<f32, 0>, #four>
  %q = tile.addptr %s, %i : tensor<128x!tile.ptr<f32, 0>, #four>, tensor<128xi32, #four>
  %v = tile.splat %x : tensor<128xf32, #four>
  %a = tile.atomic_rmw fadd %q, %v sem(relaxed) : tensor<128x!tile.ptr<f32, 0>, #four>
  %js = tile.splat %j : tensor<128x!tile.ptr<i32>, #four>
  %jq = tile.addptr %js, %i : tensor<128x!tile.ptr<i32>, #four>, tensor<128xi32, #four>
  %b = tile.atomic_rmw add %jq, %i sem(relaxed) : tensor<128x!tile.ptr<i32>, #four>
  gpu.return
}

// What is added to a box of a tensor.
// CHECK-LABEL: gpu.func @box
// CHECK: "@$5 red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,b"
// CHECK-NOT: add.f32
gpu.func @box(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %x: f32, %n: i32 {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %d = tile.make_desc %p shape[%n] strides[%one] : !tile.ptr<f32> -> !tile.desc<128xf32>
  %v = tile.splat %x : tensor<128xf32, #four>
  tile.desc_reduce fadd %d[%c0], %v : !tile.desc<128xf32>, tensor<128xf32, #four>
  gpu.return
}

}

// -----

#eight = #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []}>

// Older chips have pairs of f16.
gpu.module @pairs [#nvvm.target<chip = "sm_80">] {

// CHECK-LABEL: gpu.func @older
// CHECK-COUNT-4: "red.relaxed.gpu.global.add.noftz.f16x2 [$0], $1;", "l,r"
// CHECK-COUNT-8: "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f"
gpu.func @older(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %s: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %x: f16, %y: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #eight>
  %ps = tile.splat %p : tensor<256x!tile.ptr<f16>, #eight>
  %q = tile.addptr %ps, %i : tensor<256x!tile.ptr<f16>, #eight>, tensor<256xi32, #eight>
  %v = tile.splat %x : tensor<256xf16, #eight>
  %a = tile.atomic_rmw fadd %q, %v sem(relaxed) : tensor<256x!tile.ptr<f16>, #eight>
  %ss = tile.splat %s : tensor<256x!tile.ptr<f32>, #eight>
  %sq = tile.addptr %ss, %i : tensor<256x!tile.ptr<f32>, #eight>, tensor<256xi32, #eight>
  %w = tile.splat %y : tensor<256xf32, #eight>
  %b = tile.atomic_rmw fadd %sq, %w sem(relaxed) : tensor<256x!tile.ptr<f32>, #eight>
  gpu.return
}

}
