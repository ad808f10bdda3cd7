// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-gpu-insert-barriers))" | FileCheck %s

#layout = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
!tile = tensor<16x32xf32, #layout>
!ptrs = tensor<16x32x!tile.ptr<f32>, #layout>
!mem = !tile_gpu.memdesc<16x32xf32, #dense, mutable>
!ring = !tile_gpu.memdesc<3x16x32xf32, #dense, mutable>

gpu.module @m {

// The store conflicts with the load of the iteration before.
// CHECK-LABEL: gpu.func @loop
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: }
// CHECK-NEXT: gpu.return
gpu.func @loop(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  scf.for %i = %lb to %ub step %step {
    tile_gpu.local_store %x, %a : !tile, !mem
    %0 = tile_gpu.local_load %a : !mem -> !tile
  }
  gpu.return
}

// A loop that only reads needs one barrier, in front of it.
// CHECK-LABEL: gpu.func @loop_of_reads
// CHECK: tile_gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: }
gpu.func @loop_of_reads(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  scf.for %i = %lb to %ub step %step {
    %0 = tile_gpu.local_load %a : !mem -> !tile
    %1 = tile_gpu.local_load %a : !mem -> !tile
  }
  gpu.return
}

// In a nest the barrier goes in front of the outermost loop that allows it.
// CHECK-LABEL: gpu.func @nest_of_reads
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: }
gpu.func @nest_of_reads(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  scf.for %i = %lb to %ub step %step {
    tile_gpu.local_store %x, %a : !tile, !mem
    scf.for %j = %lb to %ub step %step {
      scf.for %k = %lb to %ub step %step {
        %0 = tile_gpu.local_load %a : !mem -> !tile
      }
    }
  }
  gpu.return
}

// After a loop, what its last iteration did is pending, or what was before it.
// CHECK-LABEL: gpu.func @after_loop
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.local_load
gpu.func @after_loop(%x: !tile, %lb: index, %ub: index, %step: index) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  %b = tile_gpu.alloc %x {offset = 2048 : i64} : !tile -> !mem
  scf.for %i = %lb to %ub step %step {
    tile_gpu.local_store %x, %a : !tile, !mem
    tile_gpu.barrier
    tile_gpu.local_store %x, %a : !tile, !mem
  }
  %0 = tile_gpu.local_load %b : !mem -> !tile
  %1 = tile_gpu.local_load %a : !mem -> !tile
  gpu.return
}

// A pipelined loop whose copies come right after the wait has one barrier per
// iteration: it makes the copies of all threads visible, and the load of the
// iteration before is over.
// CHECK-LABEL: gpu.func @pipelined
// CHECK: scf.for
// CHECK-COUNT-1: tile_gpu.barrier
// CHECK-NOT: tile_gpu.barrier
// CHECK: tile_gpu.async_copy
// CHECK-NOT: tile_gpu.barrier
// CHECK: tile_gpu.local_load
// CHECK-NOT: tile_gpu.barrier
// CHECK: gpu.return
gpu.func @pipelined(%p: !ptrs, %lb: index, %ub: index, %step: index, %k: i32, %n: i32) kernel {
  %ring = tile_gpu.alloc {offset = 0 : i64} : !ring
  %next = tile_gpu.memdesc_index %ring[%n] : !ring -> !mem
  %now = tile_gpu.memdesc_index %ring[%k] : !ring -> !mem
  %t0 = tile_gpu.async_copy %p, %now : !ptrs -> !mem
  %g0 = tile_gpu.async_commit(%t0)
  %last = scf.for %i = %lb to %ub step %step iter_args(%g = %g0) -> !tile_gpu.token {
    %w = tile_gpu.async_wait %g pending 1
    %t = tile_gpu.async_copy %p, %next : !ptrs -> !mem
    %h = tile_gpu.async_commit(%t)
    %0 = tile_gpu.local_load %now after %w : !mem -> !tile
    scf.yield %h : !tile_gpu.token
  }
  %end = tile_gpu.async_wait pending 0
  gpu.return
}

// Both branches count, and so does the way past an if without else.
// CHECK-LABEL: gpu.func @branches
// CHECK: scf.if
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: } else {
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
gpu.func @branches(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  scf.if %c {
    %0 = tile_gpu.local_load %a : !mem -> !tile
  }
  %1 = tile_gpu.local_load %a : !mem -> !tile
  scf.if %c {
    tile_gpu.local_store %x, %a : !tile, !mem
  } else {
    %2 = tile_gpu.local_load %a : !mem -> !tile
  }
  %3 = tile_gpu.local_load %a : !mem -> !tile
  gpu.return
}

// A barrier in both branches serves what follows.
// CHECK-LABEL: gpu.func @ordered_branches
// CHECK: scf.if
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: } else {
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.local_load
gpu.func @ordered_branches(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  scf.if %c {
    tile_gpu.barrier
  } else {
    tile_gpu.barrier
  }
  %1 = tile_gpu.local_load %a : !mem -> !tile
  gpu.return
}

// CHECK-LABEL: gpu.func @while
// CHECK: scf.while
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK: do {
// CHECK: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
gpu.func @while(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  %last = scf.while (%m = %a) : (!mem) -> !mem {
    %0 = tile_gpu.local_load %m : !mem -> !tile
    scf.condition(%c) %m : !mem
  } do {
  ^bb0(%m: !mem):
    tile_gpu.local_store %x, %m : !tile, !mem
    scf.yield %m : !mem
  }
  gpu.return
}

// The same as @loop, in blocks.
// CHECK-LABEL: gpu.func @blocks
// CHECK: cf.br ^[[HEADER:.*]]
// CHECK-NEXT: ^[[HEADER]]:
// CHECK-NEXT: cf.cond_br
// CHECK-NEXT: ^{{.*}}:
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: cf.br ^[[HEADER]]
// CHECK-NEXT: ^{{.*}}:
// CHECK-NEXT: gpu.return
gpu.func @blocks(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  cf.br ^header
^header:
  cf.cond_br %c, ^body, ^exit
^body:
  tile_gpu.local_store %x, %a : !tile, !mem
  %0 = tile_gpu.local_load %a : !mem -> !tile
  cf.br ^header
^exit:
  gpu.return
}

// Where ways meet, what is pending on either counts; the memory is known through
// block arguments.
// CHECK-LABEL: gpu.func @diamond
// CHECK: tile_gpu.local_store
// CHECK: ^{{.*}}(%[[M:.*]]: !tile_gpu.memdesc<{{.*}}>):
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_load %[[M]]
// CHECK-NEXT: gpu.return
gpu.func @diamond(%x: !tile, %c: i1) kernel {
  %a = tile_gpu.alloc {offset = 0 : i64} : !mem
  %b = tile_gpu.alloc {offset = 2048 : i64} : !mem
  cf.cond_br %c, ^left, ^right
^left:
  tile_gpu.local_store %x, %a : !tile, !mem
  cf.br ^join(%a : !mem)
^right:
  cf.br ^join(%b : !mem)
^join(%m: !mem):
  %0 = tile_gpu.local_load %m : !mem -> !tile
  gpu.return
}

// All threads meet before and after the roles; within one a barrier is for its own
// warps, and what another role does is not looked at.
// CHECK-LABEL: gpu.func @roles
// CHECK-NEXT: tile_gpu.alloc
// CHECK-NEXT: tile_gpu.warp_specialize
// CHECK-NEXT: ^
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.warp_yield
// CHECK-NEXT: }, {
// CHECK-NEXT: ^
// CHECK-NEXT: tile_gpu.local_store
// CHECK-NEXT: tile_gpu.warp_yield
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.local_load
// CHECK-NEXT: gpu.return
gpu.func @roles(%x: !tile) kernel {
  %a = tile_gpu.alloc %x {offset = 0 : i64} : !tile -> !mem
  tile_gpu.warp_specialize(%a, %x) warps [4, 4] registers [0, 0] : (!mem, !tile) -> () {
  ^bb0(%m: !mem, %y: !tile):
    %0 = tile_gpu.local_load %m : !mem -> !tile
    tile_gpu.local_store %y, %m : !tile, !mem
    tile_gpu.warp_yield
  }, {
  ^bb0(%m: !mem, %y: !tile):
    tile_gpu.local_store %y, %m : !tile, !mem
    tile_gpu.warp_yield
  }
  %1 = tile_gpu.local_load %a : !mem -> !tile
  gpu.return
}

}
