// Values that every warp loads are those from before the program's own store,
// in each thread.

// RUN: tile-translate %s --chip=sm_80 -o %t.ptx
// RUN: tile-run %t.ptx --kernel=counter --check=race --seed=1 --arg=i32[1]:const(7) --arg=i32[128]:zero --expect=0:i32[1]:const(107) --expect=1:i32[128]:const(7)
// RUN: tile-run %t.ptx --kernel=counter --check=race --seed=2 --arg=i32[1]:const(7) --arg=i32[128]:zero --expect=0:i32[1]:const(107) --expect=1:i32[128]:const(7)
// RUN: tile-run %t.ptx --kernel=rows --check=race --seed=1 --arg=f32[64]:const(1) --arg=f32[64x64]:zero --expect=0:f32[64]:const(101) --expect=1:f32[64x64]:const(1)
// RUN: tile-run %t.ptx --kernel=rows --check=race --seed=2 --arg=f32[64]:const(1) --arg=f32[64x64]:zero --expect=0:f32[64]:const(101) --expect=1:f32[64x64]:const(1)
// RUN: tile-run %t.ptx --kernel=steps --check=race --seed=1 --arg=i32[1]:zero --arg=i32[256]:zero --expect=0:i32[1]:const(5) --expect=1:i32[256]:const(10)
// RUN: tile-run %t.ptx --kernel=few --check=race --seed=1 --arg=f32[64]:const(1) --expect=0:f32[64]:const(4)
// RUN: tile-translate %s --chip=sm_80 --num-warps=1 -o %t.1.ptx
// RUN: FileCheck %s --input-file=%t.1.ptx
// RUN: tile-run %t.1.ptx --kernel=counter --check=race --arg=i32[1]:const(7) --arg=i32[128]:zero --expect=0:i32[1]:const(107) --expect=1:i32[128]:const(7)
// RUN: tile-run %t.1.ptx --kernel=rows --check=race --arg=f32[64]:const(1) --arg=f32[64x64]:zero --expect=0:f32[64]:const(101) --expect=1:f32[64x64]:const(1)
// RUN: tile-run %t.1.ptx --kernel=steps --check=race --arg=i32[1]:zero --arg=i32[256]:zero --expect=0:i32[1]:const(5) --expect=1:i32[256]:const(10)
// RUN: tile-run %t.1.ptx --kernel=few --check=race --arg=f32[64]:const(1) --expect=0:f32[64]:const(4)

gpu.module @m [#nvvm.target<chip = "sm_80">] {

// The old count goes to all elements.
gpu.func @counter(%count: !tile.ptr<i32>, %out: !tile.ptr<i32>) kernel {
  %c100 = arith.constant 100 : i32
  %old = tile.load %count : !tile.ptr<i32>
  %new = arith.addi %old, %c100 : i32
  tile.store %count, %new : !tile.ptr<i32>
  %i = tile.arange 0, 128 : tensor<128xi32>
  %outs = tile.splat %out : tensor<128x!tile.ptr<i32>>
  %outi = tile.addptr %outs, %i : tensor<128x!tile.ptr<i32>>, tensor<128xi32>
  %olds = tile.splat %old : tensor<128xi32>
  tile.store %outi, %olds : tensor<128x!tile.ptr<i32>>
  gpu.return
}

// A row of 64 elements, which 128 threads hold twice at least, grows in place;
// the old row goes to all rows of a tile.
gpu.func @rows(%row: !tile.ptr<f32>, %out: !tile.ptr<f32>) kernel {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %rows = tile.splat %row : tensor<64x!tile.ptr<f32>>
  %rowi = tile.addptr %rows, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %old = tile.load %rowi : tensor<64x!tile.ptr<f32>>
  %c100 = arith.constant dense<100.0> : tensor<64xf32>
  %new = arith.addf %old, %c100 : tensor<64xf32>
  tile.store %rowi, %new : tensor<64x!tile.ptr<f32>>
  %c64 = arith.constant dense<64> : tensor<64xi32>
  %start = arith.muli %i, %c64 : tensor<64xi32>
  %down = tile.expand_dims %start 1 : tensor<64xi32> -> tensor<64x1xi32>
  %along = tile.expand_dims %i 0 : tensor<64xi32> -> tensor<1x64xi32>
  %downs = tile.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %alongs = tile.broadcast %along : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %alongs : tensor<64x64xi32>
  %outs = tile.splat %out : tensor<64x64x!tile.ptr<f32>>
  %outi = tile.addptr %outs, %offsets : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %flat = tile.expand_dims %old 0 : tensor<64xf32> -> tensor<1x64xf32>
  %olds = tile.broadcast %flat : tensor<1x64xf32> -> tensor<64x64xf32>
  tile.store %outi, %olds : tensor<64x64x!tile.ptr<f32>>
  gpu.return
}

// Five steps of a counter; each thread adds up what it has seen: 0 + 1 + 2 + 3 + 4.
// A barrier makes each store visible to the loads of the next step.
gpu.func @steps(%count: !tile.ptr<i32>, %out: !tile.ptr<i32>) kernel {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %sum = scf.for %step = %c0 to %c5 step %c1 iter_args(%seen = %c0) -> (i32) : i32 {
    %old = tile.load %count : !tile.ptr<i32>
    %new = arith.addi %old, %c1 : i32
    tile.store %count, %new : !tile.ptr<i32>
    tile.barrier
    %more = arith.addi %seen, %old : i32
    scf.yield %more : i32
  }
  %i = tile.arange 0, 256 : tensor<256xi32>
  %outs = tile.splat %out : tensor<256x!tile.ptr<i32>>
  %outi = tile.addptr %outs, %i : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  %sums = tile.splat %sum : tensor<256xi32>
  tile.store %outi, %sums : tensor<256x!tile.ptr<i32>>
  gpu.return
}

// Two elements, of which the lanes of a warp hold copies. Lanes may run apart.
// CHECK-LABEL: .entry few(
// CHECK: ld.global
// CHECK-NOT: st.global
// CHECK: bar.warp.sync
// CHECK: st.global
gpu.func @few(%p: !tile.ptr<f32>) kernel {
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tile.arange 0, 2 : tensor<2xi32>
  %ps = tile.splat %p : tensor<2x!tile.ptr<f32>>
  %three = arith.constant dense<3.0> : tensor<2xf32>
  scf.for %n = %c0 to %c32 step %c1 : i32 {
    %start = arith.muli %n, %c2 : i32
    %starts = tile.splat %start : tensor<2xi32>
    %at = arith.addi %starts, %i : tensor<2xi32>
    %pi = tile.addptr %ps, %at : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
    %old = tile.load %pi : tensor<2x!tile.ptr<f32>>
    %new = arith.addf %old, %three : tensor<2xf32>
    tile.store %pi, %new : tensor<2x!tile.ptr<f32>>
  }
  gpu.return
}

}
