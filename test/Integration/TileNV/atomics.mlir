// RUN: tile-translate %s --chip=sm_80 -o %t.ptx
// RUN: tile-run %t.ptx --kernel=fmax --grid=4 --arg=f32[64]:uniform(7,-4,-1) --arg=f32[1]:const(-100) --arg=f32[1]:const(100) --print=1 --print=2 | FileCheck %s --check-prefix=EXTREMA
// RUN: tile-run %t.ptx --kernel=count --grid=8 --arg=i32[1]:zero --arg=i32[8]:zero --print=0 --print=1 | FileCheck %s --check-prefix=COUNT
// RUN: tile-run %t.ptx --kernel=halves --grid=4 --arg=f16[16]:zero --arg=bf16[16]:zero --expect=0:f16[16]:iota(0,4) --expect=1:bf16[16]:iota(0,4)
// RUN: tile-run %t.ptx --kernel=lock --grid=16 --arg=i32[1]:zero --arg=f32[1]:zero --expect=1:f32[1]:const(16) --expect=0:i32[1]:zero

gpu.module @m {

// The largest and the smallest of negative numbers, next to NaNs that lose: those
// with a sign are below all numbers, those without one above.
// EXTREMA: [-1.08659267]
// EXTREMA: [-3.94963503]
gpu.func @fmax(%p: !tile.ptr<f32>, %max: !tile.ptr<f32>, %min: !tile.ptr<f32>) kernel {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %ps = tile.splat %p : tensor<64x!tile.ptr<f32>>
  %pi = tile.addptr %ps, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %pi : tensor<64x!tile.ptr<f32>>
  %c7 = arith.constant dense<7> : tensor<64xi32>
  %nan = arith.constant dense<0x7FC00000> : tensor<64xf32>
  %is7 = arith.cmpi eq, %i, %c7 : tensor<64xi32>
  %low = arith.constant dense<0xFFC00000> : tensor<64xf32>
  %y = arith.select %is7, %low, %x : tensor<64xi1>, tensor<64xf32>
  %z = arith.select %is7, %nan, %x : tensor<64xi1>, tensor<64xf32>
  %maxs = tile.splat %max : tensor<64x!tile.ptr<f32>>
  %mins = tile.splat %min : tensor<64x!tile.ptr<f32>>
  %a = tile.atomic_rmw fmax %maxs, %y : tensor<64x!tile.ptr<f32>>
  %b = tile.atomic_rmw fmin %mins, %z : tensor<64x!tile.ptr<f32>>
  gpu.return
}

// Each program takes one ticket, which all its threads know.
// COUNT: [8]
// COUNT: [1, 1, 1, 1, 1, 1, 1, 1]
gpu.func @count(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>) kernel {
  %one = arith.constant 1 : i32
  %ticket = tile.atomic_rmw add %p, %one : !tile.ptr<i32>
  %i = tile.arange 0, 8 : tensor<8xi32>
  %t = tile.splat %ticket : tensor<8xi32>
  %m = arith.cmpi eq, %i, %t : tensor<8xi32>
  %ones = arith.constant dense<1> : tensor<8xi32>
  %qs = tile.splat %q : tensor<8x!tile.ptr<i32>>
  %qi = tile.addptr %qs, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  tile.store %qi, %ones mask %m : tensor<8x!tile.ptr<i32>>
  gpu.return
}

// bf16 is a loop on this chip. Threads with copies do not add twice.
gpu.func @halves(%p: !tile.ptr<f16>, %q: !tile.ptr<bf16>) kernel {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %ps = tile.splat %p : tensor<16x!tile.ptr<f16>>
  %pi = tile.addptr %ps, %i : tensor<16x!tile.ptr<f16>>, tensor<16xi32>
  %qs = tile.splat %q : tensor<16x!tile.ptr<bf16>>
  %qi = tile.addptr %qs, %i : tensor<16x!tile.ptr<bf16>>, tensor<16xi32>
  %x = arith.sitofp %i : tensor<16xi32> to tensor<16xf16>
  %y = arith.sitofp %i : tensor<16xi32> to tensor<16xbf16>
  %a = tile.atomic_rmw fadd %pi, %x : tensor<16x!tile.ptr<f16>>
  %b = tile.atomic_rmw fadd %qi, %y : tensor<16x!tile.ptr<bf16>>
  gpu.return
}

// A spin lock around a plain increment.
gpu.func @lock(%lock: !tile.ptr<i32>, %p: !tile.ptr<f32>) kernel {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %old = tile.atomic_cas %lock, %c0, %c1 sem(acquire) : !tile.ptr<i32>
    %taken = arith.cmpi ne, %old, %c0 : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %x = tile.load %p volatile : !tile.ptr<f32>
  %one = arith.constant 1.0 : f32
  %y = arith.addf %x, %one : f32
  tile.store %p, %y : !tile.ptr<f32>
  %r = tile.atomic_rmw xchg %lock, %c0 sem(release) : !tile.ptr<i32>
  gpu.return
}

}
