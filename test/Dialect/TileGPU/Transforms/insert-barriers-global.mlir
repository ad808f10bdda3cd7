// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers))" | FileCheck %s
// A second run finds nothing to do.
// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers,tile-gpu-insert-barriers))" | FileCheck %s

// Each element in one warp; in all four; in two lanes of one warp.
#unique = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#copies = #tile_gpu.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]}>
#lanes = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = [[16], [32]]}>
#dense = #tile_gpu.shared<order = [0], swizzle = 0>
#straight = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
#reversed = #tile_gpu.layout<{register = [], lane = [[16], [8], [4], [2], [1]], warp = []}>
!ptr = !tile.ptr<i32>
!uniques = tensor<128x!tile.ptr<i32>, #unique>
!copies = tensor<64x!tile.ptr<i32>, #copies>
!lanes = tensor<64x!tile.ptr<i32>, #lanes>

gpu.module @m {

// All four warps load the old value; one thread overwrites it.
// CHECK-LABEL: gpu.func @counter
// CHECK: %[[OLD:.+]] = tile.load
// CHECK-NEXT: %[[NEW:.+]] = arith.addi %[[OLD]]
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store %{{.+}}, %[[NEW]]
// CHECK-NEXT: gpu.return
gpu.func @counter(%p: !ptr, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %old = tile.load %p : !ptr
  %new = arith.addi %old, %n : i32
  tile.store %p, %new : !ptr
  gpu.return
}

// All lanes of the warp do, and may run apart.
// CHECK-LABEL: gpu.func @one_warp
// CHECK: tile.load
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @one_warp(%p: !ptr, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %old = tile.load %p : !ptr
  %new = arith.addi %old, %n : i32
  tile.store %p, %new : !ptr
  gpu.return
}

// The block's size may be any.
// CHECK-LABEL: gpu.func @unknown_size
// CHECK: tile_gpu.barrier
// CHECK-NEXT: tile.store
gpu.func @unknown_size(%p: !ptr, %n: i32) kernel {
  %old = tile.load %p : !ptr
  %new = arith.addi %old, %n : i32
  tile.store %p, %new : !ptr
  gpu.return
}

// CHECK-LABEL: gpu.func @unused
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @unused(%p: !ptr, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %old = tile.load %p volatile : !ptr
  tile.store %p, %n : !ptr
  gpu.return
}

// Two stores in a row need one barrier; the second load needs another before it
// and one after it.
// CHECK-LABEL: gpu.func @tile_in_place
// CHECK: tile.load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: gpu.return
gpu.func @tile_in_place(%p: !ptr, %x: tensor<64xi32, #copies>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !copies
  %0 = tile.load %ps : !copies
  tile.store %ps, %x : !copies
  tile.store %ps, %0 : !copies
  %1 = tile.load %ps : !copies
  %2 = tile.atomic_rmw add %ps, %1 : !copies
  gpu.return
}

// CHECK-LABEL: gpu.func @other_argument
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @other_argument(%p: !ptr, %q: !ptr, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %old = tile.load %p : !ptr
  %q1 = tile.addptr %q, %n : !ptr, i32
  tile.store %q1, %old : !ptr
  gpu.return
}

// The same arguments, which may be the same memory here.
// CHECK-LABEL: gpu.func @same_group
// CHECK: tile.load
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @same_group(%p: !ptr {tile.alias_group = 3 : i32}, %q: !ptr {tile.alias_group = 3 : i32}, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %old = tile.load %p : !ptr
  %q1 = tile.addptr %q, %n : !ptr, i32
  tile.store %q1, %old : !ptr
  gpu.return
}

// Only arguments of one group meet: the first and the last one.
// CHECK-LABEL: gpu.func @several_groups
// CHECK: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @several_groups(%p: !ptr {tile.alias_group = 0 : i32}, %q: !ptr {tile.alias_group = 1 : i32}, %r: !ptr, %s: !ptr {tile.alias_group = 1 : i32}, %t: !ptr {tile.alias_group = 0 : i32}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %old = tile.load %p : !ptr
  tile.store %q, %old : !ptr
  tile.store %r, %old : !ptr
  tile.store %t, %old : !ptr
  gpu.return
}

// Each thread overwrites what it has loaded, in one layout: in place, that
// needs no barrier. In another layout it does, and in another width.
// CHECK-LABEL: gpu.func @in_place
// CHECK: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @in_place(%p: !ptr {tile.alias_group = 0 : i32}, %q: !ptr {tile.alias_group = 0 : i32}, %x: tensor<64xi32, #copies>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !uniques
  %qs = tile.splat %q : !uniques
  %qc = tile.splat %q : !copies
  %0 = tile.load %ps : !uniques
  tile.store %qs, %0 : !uniques
  tile.store %qc, %x : !copies
  gpu.return
}

// CHECK-LABEL: gpu.func @other_width
// CHECK: %[[LOADED:.+]] = tile.load
// CHECK-NEXT: arith.trunci
// CHECK-NEXT: tile_gpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @other_width(%p: !ptr {tile.alias_group = 0 : i32}, %q: !tile.ptr<i16> {tile.alias_group = 0 : i32}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !uniques
  %qs = tile.splat %q : tensor<128x!tile.ptr<i16>, #unique>
  %0 = tile.load %ps : !uniques
  %1 = arith.trunci %0 : tensor<128xi32, #unique> to tensor<128xi16, #unique>
  tile.store %qs, %1 : tensor<128x!tile.ptr<i16>, #unique>
  gpu.return
}

// A flag is a byte in memory, as wide as an i8.
// CHECK-LABEL: gpu.func @flags_and_bytes
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @flags_and_bytes(%p: !tile.ptr<i1>, %x: tensor<128xi8, #unique>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : tensor<128x!tile.ptr<i1>, #unique>
  %qs = tile.bitcast %ps : tensor<128x!tile.ptr<i1>, #unique> -> tensor<128x!tile.ptr<i8>, #unique>
  %0 = tile.load %ps : tensor<128x!tile.ptr<i1>, #unique>
  tile.store %qs, %x : tensor<128x!tile.ptr<i8>, #unique>
  tile.print "" (%0 : tensor<128xi1, #unique>)
  gpu.return
}

// CHECK-LABEL: gpu.func @no_copies
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @no_copies(%p: !ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !uniques
  %0 = tile.load %ps : !uniques
  tile.store %ps, %0 : !uniques
  gpu.return
}

// Copies within a warp concern its lanes alone. One barrier serves two stores.
// CHECK-LABEL: gpu.func @lane_copies
// CHECK: tile.load
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @lane_copies(%p: !ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !lanes
  %0 = tile.load %ps : !lanes
  tile.store %ps, %0 : !lanes
  tile.store %ps, %0 : !lanes
  gpu.return
}

// CHECK-LABEL: gpu.func @lane_copies_of_other_argument
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @lane_copies_of_other_argument(%p: !ptr, %q: !ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !lanes
  %qs = tile.splat %q : !lanes
  %0 = tile.load %ps : !lanes
  tile.store %qs, %0 : !lanes
  gpu.return
}

// A barrier of warps that is there already is enough for the first store, but
// not for the second, in whose layout other warps have the elements.
// CHECK-LABEL: gpu.func @other_layout
// CHECK: tile.load
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @other_layout(%p: !ptr, %x: tensor<64xi32, #copies>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !lanes
  %pc = tile.splat %p : !copies
  %0 = tile.load %ps : !lanes
  tile_gpu.barrier of_warp
  tile.store %ps, %0 : !lanes
  tile.store %pc, %x : !copies
  gpu.return
}

// The lanes of the only warp store other elements than they have loaded.
// CHECK-LABEL: gpu.func @other_layout_in_warp
// CHECK: tile.load
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @other_layout_in_warp(%p: !ptr, %x: tensor<32xi32, #reversed>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %ps = tile.splat %p : tensor<32x!tile.ptr<i32>, #straight>
  %pr = tile.splat %p : tensor<32x!tile.ptr<i32>, #reversed>
  %0 = tile.load %ps : tensor<32x!tile.ptr<i32>, #straight>
  %1 = arith.addi %0, %0 : tensor<32xi32, #straight>
  tile.store %pr, %x : tensor<32x!tile.ptr<i32>, #reversed>
  gpu.return
}

// What a loop before has loaded is ordered to the stores of the next one once;
// a load and a store of the same loop in each iteration, to each other and to
// those of the next.
// CHECK-LABEL: gpu.func @lane_copies_in_loops
// CHECK: scf.for
// CHECK-NEXT: tile.load
// CHECK-NEXT: scf.yield
// CHECK: tile_gpu.barrier of_warp
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: gpu.return
gpu.func @lane_copies_in_loops(%p: !ptr, %x: tensor<64xi32, #lanes>, %lb: index, %ub: index, %step: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !lanes
  %r = scf.for %i = %lb to %ub step %step iter_args(%y = %x) -> (tensor<64xi32, #lanes>) {
    %0 = tile.load %ps : !lanes
    scf.yield %0 : tensor<64xi32, #lanes>
  }
  scf.for %i = %lb to %ub step %step {
    tile.store %ps, %r : !lanes
  }
  scf.for %i = %lb to %ub step %step {
    %0 = tile.load %ps : !lanes
    tile.store %ps, %0 : !lanes
  }
  gpu.return
}

// An address that comes from memory may be any.
// CHECK-LABEL: gpu.func @unknown_root
// CHECK: %[[Q:.+]] = tile.load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store %[[Q]]
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: %[[X:.+]] = tile.load %[[Q]]
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store %{{.+}}, %[[X]]
gpu.func @unknown_root(%pp: !tile.ptr<!tile.ptr<i32>>, %p: !ptr, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %q = tile.load %pp : !tile.ptr<!tile.ptr<i32>>
  tile.store %q, %n : !ptr
  %x = tile.load %q : !ptr
  tile.store %p, %x : !ptr
  gpu.return
}

// Assembly may write anywhere, unless it is pure. Loads that follow are left to
// who wrote it.
// CHECK-LABEL: gpu.func @assembly
// CHECK: tile.load
// CHECK-NEXT: tile.inline_asm_elementwise pure
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.inline_asm_elementwise
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.print
gpu.func @assembly(%p: !ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %x = tile.load %p : !ptr
  %0 = tile.inline_asm_elementwise pure "mov.b32 $0, $1;" constraints "=r,r" (%x) : (i32) -> i32
  %1 = tile.inline_asm_elementwise "mov.b32 $0, $1;" constraints "=r,r" (%0) : (i32) -> i32
  %y = tile.load %p : !ptr
  tile.print "" (%y : i32)
  gpu.return
}

// A barrier that is there already, for whatever reason, is enough.
// CHECK-LABEL: gpu.func @ordered
// CHECK: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile_gpu.alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @ordered(%p: !ptr, %n: i32, %x: tensor<128xi32, #unique>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = tile.load %p : !ptr
  tile.barrier
  tile.store %p, %0 : !ptr
  tile.barrier
  %1 = tile.load %p : !ptr
  %a = tile_gpu.alloc %x {offset = 0 : i64} : tensor<128xi32, #unique> -> !tile_gpu.memdesc<128xi32, #dense, mutable>
  %2 = tile_gpu.local_load %a : !tile_gpu.memdesc<128xi32, #dense, mutable> -> tensor<128xi32, #unique>
  tile.store %p, %1 : !ptr
  gpu.return
}

// The load of one iteration meets the store of the next; the pointers are
// carried by the loop.
// CHECK-LABEL: gpu.func @back_edge
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: scf.yield
// CHECK: gpu.return
gpu.func @back_edge(%p: !ptr, %n: i32, %lb: index, %ub: index, %step: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r:2 = scf.for %i = %lb to %ub step %step iter_args(%q = %p, %x = %n) -> (!ptr, i32) {
    tile.store %q, %x : !ptr
    %y = tile.load %q : !ptr
    %next = tile.addptr %q, %n : !ptr, i32
    scf.yield %next, %y : !ptr, i32
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @loop_of_other_arguments
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @loop_of_other_arguments(%p: !ptr, %o: !ptr, %n: i32, %lb: index, %ub: index, %step: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r:2 = scf.for %i = %lb to %ub step %step iter_args(%q = %p, %w = %o) -> (!ptr, !ptr) {
    %x = tile.load %q : !ptr
    tile.store %w, %x : !ptr
    %q1 = tile.addptr %q, %n : !ptr, i32
    %w1 = tile.addptr %w, %n : !ptr, i32
    scf.yield %q1, %w1 : !ptr, !ptr
  }
  gpu.return
}

// Pointers that a loop exchanges may be either argument.
// CHECK-LABEL: gpu.func @exchanged
// CHECK: tile.load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store
gpu.func @exchanged(%p: !ptr, %o: !ptr, %lb: index, %ub: index, %step: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r:2 = scf.for %i = %lb to %ub step %step iter_args(%q = %p, %w = %o) -> (!ptr, !ptr) {
    %x = tile.load %q : !ptr
    tile.store %w, %x : !ptr
    scf.yield %w, %q : !ptr, !ptr
  }
  gpu.return
}

// What is stored is loaded again, by the threads that stored it, by others of
// the block, and of the warp.
// CHECK-LABEL: gpu.func @store_and_load
// CHECK: tile.store
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile_gpu.barrier{{$}}
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier of_warp
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.print
gpu.func @store_and_load(%p: !ptr, %q: !ptr, %x: tensor<128xi32, #unique>, %y: tensor<64xi32, #lanes>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !uniques
  %pc = tile.splat %p : !copies
  %qs = tile.splat %q : !lanes
  tile.store %ps, %x : !uniques
  %0 = tile.load %ps : !uniques
  %1 = tile.load %pc : !copies
  tile.store %qs, %y : !lanes
  %2 = tile.load %qs : !lanes
  tile.print "" (%0, %1, %2 : tensor<128xi32, #unique>, tensor<64xi32, #copies>, tensor<64xi32, #lanes>)
  gpu.return
}

// The last of two stores stays, though other threads do it.
// CHECK-LABEL: gpu.func @store_and_store
// CHECK: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile_gpu.barrier{{$}}
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.return
gpu.func @store_and_store(%p: !ptr, %q: !ptr, %x: tensor<128xi32, #unique>, %y: tensor<64xi32, #lanes>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %ps = tile.splat %p : !uniques
  %pl = tile.splat %p : !lanes
  %qs = tile.splat %q : !uniques
  tile.store %ps, %x : !uniques
  tile.store %ps, %x : !uniques
  tile.store %pl, %y : !lanes
  tile.store %qs, %x : !uniques
  gpu.return
}

// Only one branch loads; the results of branches are followed, too.
// CHECK-LABEL: gpu.func @branches
// CHECK: scf.if
// CHECK: tile.load
// CHECK: } else {
// CHECK-NOT: tile_gpu.barrier
// CHECK: tile.store
// CHECK: }
// CHECK: tile_gpu.barrier
// CHECK-NEXT: tile.store
gpu.func @branches(%p: !ptr, %o: !ptr, %c: i1, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %q, %x = scf.if %c -> (!ptr, i32) {
    %y = tile.load %p : !ptr
    scf.yield %o, %y : !ptr, i32
  } else {
    tile.store %p, %n : !ptr
    scf.yield %p, %n : !ptr, i32
  }
  tile.store %q, %x : !ptr
  gpu.return
}

// CHECK-LABEL: gpu.func @blocks
// CHECK: ^{{.+}}(%{{.+}}: !tile.ptr<i32>):
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: cf.cond_br
gpu.func @blocks(%p: !ptr, %o: !ptr, %c: i1, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  cf.br ^head(%o : !ptr)
^head(%q: !ptr):
  %x = tile.load %p : !ptr
  tile.store %q, %x : !ptr
  cf.cond_br %c, ^head(%p : !ptr), ^end
^end:
  gpu.return
}

// CHECK-LABEL: gpu.func @descriptors
// CHECK: tile.desc_load
// CHECK-NEXT: tile.desc_store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.desc_reduce
// CHECK-NEXT: gpu.return
gpu.func @descriptors(%p: !tile.ptr<i32, 1>, %o: !tile.ptr<i32, 1>, %n: i32, %s: i64) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %d = tile.make_desc %p shape[%n] strides[%s] : !tile.ptr<i32, 1> -> !tile.desc<64xi32>
  %e = tile.make_desc %o shape[%n] strides[%s] : !tile.ptr<i32, 1> -> !tile.desc<64xi32>
  %x = tile.desc_load %d[%n] : !tile.desc<64xi32> -> tensor<64xi32, #copies>
  tile.desc_store %e[%n], %x : !tile.desc<64xi32>, tensor<64xi32, #copies>
  tile.desc_reduce add %d[%n], %x : !tile.desc<64xi32>, tensor<64xi32, #copies>
  gpu.return
}

}
