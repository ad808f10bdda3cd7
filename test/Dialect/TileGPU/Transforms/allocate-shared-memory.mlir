// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(tile-gpu-allocate-shared-memory))" | FileCheck %s

#layout = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
#swizzled = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!tile = tensor<16x32xf32, #layout>
// 2048 bytes.
!mem = !tile_gpu.memdesc<16x32xf32, #dense, mutable>
!ring = !tile_gpu.memdesc<3x16x32xf32, #dense, mutable>
// 128 bytes.
!row = !tile_gpu.memdesc<1x32xf32, #dense, mutable>

gpu.module @m {

// CHECK-LABEL: gpu.func @no_memory
// CHECK-SAME: tile_gpu.shared_bytes = 0 : i64
gpu.func @no_memory() kernel {
  gpu.return
}

// The second allocation begins after the last use of the first one.
// CHECK-LABEL: gpu.func @one_after_the_other
// CHECK-SAME: tile_gpu.shared_bytes = 2048 : i64
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
gpu.func @one_after_the_other(%x: !tile) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  %b = tile_gpu.alloc %0 : !tile -> !mem
  %1 = tile_gpu.local_load %b : !mem -> !tile
  gpu.return
}

// CHECK-LABEL: gpu.func @at_the_same_time
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
// CHECK: tile_gpu.alloc {{.*}} {offset = 2048 : i64}
gpu.func @at_the_same_time(%x: !tile) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  %b = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  %1 = tile_gpu.local_load %b : !mem -> !tile
  gpu.return
}

// The ring of 6144 bytes lives as long as a view of it.
// CHECK-LABEL: gpu.func @view_keeps_alive
// CHECK-SAME: tile_gpu.shared_bytes = 8192 : i64
// CHECK: tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<3x
// CHECK: tile_gpu.alloc {{.*}} {offset = 6144 : i64}
gpu.func @view_keeps_alive(%x: !tile, %i: i32) kernel {
  %ring = tile_gpu.alloc : !ring
  %view = tile_gpu.memdesc_index %ring[%i] : !ring -> !mem
  tile_gpu.local_store %x, %view : !tile, !mem
  %b = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %b : !mem -> !tile
  %1 = tile_gpu.local_load %view : !mem -> !tile
  gpu.return
}

// Memory may be that of either operand of a select.
// CHECK-LABEL: gpu.func @select
// CHECK-SAME: tile_gpu.shared_bytes = 6144 : i64
gpu.func @select(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  %b = tile_gpu.alloc %x : !tile -> !mem
  %either = arith.select %c, %a, %b : !mem
  %other = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %either : !mem -> !tile
  %1 = tile_gpu.local_load %other : !mem -> !tile
  gpu.return
}

// The largest buffers come first; a swizzled tile lies on a multiple of 8 lines of
// its 128 bytes, others where they ask for.
// CHECK-LABEL: gpu.func @alignment
// CHECK-SAME: tile_gpu.shared_bytes = 4224 : i64
// CHECK: tile_gpu.alloc {offset = 2048 : i64} : !tile_gpu.memdesc<1x32xf32, #{{.*}}, mutable>
// CHECK: tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<16x32xf32
// CHECK: tile_gpu.alloc {alignment = 4096 : i32, offset = 4096 : i64}
gpu.func @alignment() kernel {
  %a = tile_gpu.alloc : !row
  %b = tile_gpu.alloc : !tile_gpu.memdesc<16x32xf32, #swizzled, mutable>
  %c = tile_gpu.alloc {alignment = 4096 : i32} : !row
  "use"(%a, %b, %c) : (!row, !tile_gpu.memdesc<16x32xf32, #swizzled, mutable>, !row) -> ()
  gpu.return
}

// What is allocated before a loop and used in it is used again in the next
// iteration: the memory in the loop must be apart, although it comes later.
// CHECK-LABEL: gpu.func @loop
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
// CHECK: scf.for
// CHECK: tile_gpu.alloc {{.*}} {offset = 2048 : i64}
gpu.func @loop(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  scf.for %i = %lb to %ub step %step {
    %0 = tile_gpu.local_load %a : !mem -> !tile
    %b = tile_gpu.alloc %0 : !tile -> !mem
    %1 = tile_gpu.local_load %b : !mem -> !tile
    "use"(%1) : (!tile) -> ()
  }
  gpu.return
}

// Within an iteration memory is shared.
// CHECK-LABEL: gpu.func @within_iteration
// CHECK-SAME: tile_gpu.shared_bytes = 2048 : i64
gpu.func @within_iteration(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  scf.for %i = %lb to %ub step %step {
    %a = tile_gpu.alloc %x : !tile -> !mem
    %0 = tile_gpu.local_load %a : !mem -> !tile
    %b = tile_gpu.alloc %0 : !tile -> !mem
    %1 = tile_gpu.local_load %b : !mem -> !tile
    "use"(%1) : (!tile) -> ()
  }
  gpu.return
}

// Memory that is handed on to the next iteration lives over the whole loop, by
// whatever name.
// CHECK-LABEL: gpu.func @loop_carried
// CHECK-SAME: tile_gpu.shared_bytes = 6144 : i64
// CHECK: tile_gpu.alloc {{.*}} {offset = [[#%d,A:]] : i64}
// CHECK: scf.for
// CHECK-NOT: offset = [[#A]] : i64
// CHECK: gpu.return
gpu.func @loop_carried(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  %last = scf.for %i = %lb to %ub step %step iter_args(%m = %a) -> !mem {
    %0 = tile_gpu.local_load %m : !mem -> !tile
    %t = tile_gpu.alloc %0 : !tile -> !mem
    %1 = tile_gpu.local_load %t : !mem -> !tile
    %b = tile_gpu.alloc %1 : !tile -> !mem
    scf.yield %b : !mem
  }
  %2 = tile_gpu.local_load %last : !mem -> !tile
  gpu.return
}

// CHECK-LABEL: gpu.func @while
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
gpu.func @while(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  %last = scf.while (%m = %a) : (!mem) -> !mem {
    %0 = tile_gpu.local_load %m : !mem -> !tile
    scf.condition(%c) %m : !mem
  } do {
  ^bb0(%m: !mem):
    %t = tile_gpu.alloc %x : !tile -> !mem
    %1 = tile_gpu.local_load %t : !mem -> !tile
    scf.yield %m : !mem
  }
  gpu.return
}

// Only one of the branches runs.
// CHECK-LABEL: gpu.func @branches
// CHECK-SAME: tile_gpu.shared_bytes = 2048 : i64
gpu.func @branches(%x: !tile, %c: i1) kernel {
  %r = scf.if %c -> !tile {
    %a = tile_gpu.alloc %x : !tile -> !mem
    %0 = tile_gpu.local_load %a : !mem -> !tile
    scf.yield %0 : !tile
  } else {
    %b = tile_gpu.alloc %x : !tile -> !mem
    %1 = tile_gpu.local_load %b : !mem -> !tile
    scf.yield %1 : !tile
  }
  gpu.return
}

// Memory that leaves a branch lives on.
// CHECK-LABEL: gpu.func @out_of_branch
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
// CHECK: tile_gpu.alloc {{.*}} {offset = 2048 : i64}
gpu.func @out_of_branch(%x: !tile, %c: i1) kernel {
  %m = scf.execute_region -> !mem {
    %a = tile_gpu.alloc %x : !tile -> !mem
    scf.yield %a : !mem
  }
  %b = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %b : !mem -> !tile
  %1 = tile_gpu.local_load %m : !mem -> !tile
  gpu.return
}

// A loop of blocks: %a is used in it and lives over all of it; %b is written before
// each use.
// CHECK-LABEL: gpu.func @blocks
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
// CHECK: tile_gpu.alloc {{.*}} {offset = 2048 : i64}
// CHECK: tile_gpu.alloc {{.*}} {offset = 2048 : i64}
gpu.func @blocks(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  cf.br ^header
^header:
  %0 = tile_gpu.local_load %a : !mem -> !tile
  cf.cond_br %c, ^body, ^exit
^body:
  %b = tile_gpu.alloc %0 : !tile -> !mem
  %1 = tile_gpu.local_load %b : !mem -> !tile
  %d = tile_gpu.alloc %1 : !tile -> !mem
  %2 = tile_gpu.local_load %d : !mem -> !tile
  cf.br ^header
^exit:
  gpu.return
}

// Block arguments carry memory, here to an earlier block.
// CHECK-LABEL: gpu.func @block_arguments
// CHECK-SAME: tile_gpu.shared_bytes = 6144 : i64
gpu.func @block_arguments(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  cf.br ^header(%a : !mem)
^header(%m: !mem):
  %t = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %t : !mem -> !tile
  %1 = tile_gpu.local_load %m : !mem -> !tile
  %b = tile_gpu.alloc %1 : !tile -> !mem
  cf.cond_br %c, ^header(%b : !mem), ^exit
^exit:
  gpu.return
}

// Blocks need not be listed in the order in which they run. %a is written in ^write
// and read in ^read each time that ^tail branches back.
// CHECK-LABEL: gpu.func @blocks_out_of_order
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
gpu.func @blocks_out_of_order(%x: !tile, %c: i1) kernel {
  cf.br ^write
^read:
  %0 = tile_gpu.local_load %a : !mem -> !tile
  cf.br ^tail
^write:
  %a = tile_gpu.alloc %x : !tile -> !mem
  cf.br ^read
^tail:
  %b = tile_gpu.alloc %x : !tile -> !mem
  %1 = tile_gpu.local_load %b : !mem -> !tile
  cf.cond_br %c, ^read, ^exit
^exit:
  gpu.return
}

// Roles run at the same time.
// CHECK-LABEL: gpu.func @roles
// CHECK-SAME: tile_gpu.shared_bytes = 6144 : i64
gpu.func @roles(%x: !tile) kernel {
  %a = tile_gpu.alloc %x : !tile -> !mem
  tile_gpu.warp_specialize(%a, %x) warps [4, 4] registers [0, 0] : (!mem, !tile) -> () {
  ^bb0(%m: !mem, %y: !tile):
    %0 = tile_gpu.local_load %m : !mem -> !tile
    %b = tile_gpu.alloc %y : !tile -> !mem
    %1 = tile_gpu.local_load %b : !mem -> !tile
    tile_gpu.warp_yield
  }, {
  ^bb0(%m: !mem, %y: !tile):
    %c = tile_gpu.alloc %y : !tile -> !mem
    %2 = tile_gpu.local_load %c : !mem -> !tile
    tile_gpu.warp_yield
  }
  gpu.return
}

// Copies to %a may be in flight until the wait for all of them.
// CHECK-LABEL: gpu.func @copies
// CHECK-SAME: tile_gpu.shared_bytes = 4096 : i64
// CHECK: tile_gpu.alloc {offset = 0 : i64}
// CHECK: tile_gpu.alloc {{.*}} {offset = 2048 : i64}
// CHECK: tile_gpu.async_wait pending 0
// CHECK: tile_gpu.alloc {{.*}} {offset = 0 : i64}
gpu.func @copies(%p: tensor<16x32x!tile.ptr<f32>, #layout>, %x: !tile) kernel {
  %a = tile_gpu.alloc : !mem
  %t = tile_gpu.async_copy %p, %a : tensor<16x32x!tile.ptr<f32>, #layout> -> !mem
  %b = tile_gpu.alloc %x : !tile -> !mem
  %0 = tile_gpu.local_load %b : !mem -> !tile
  %w = tile_gpu.async_wait pending 0
  %c = tile_gpu.alloc %0 : !tile -> !mem
  %1 = tile_gpu.local_load %c : !mem -> !tile
  gpu.return
}

}
