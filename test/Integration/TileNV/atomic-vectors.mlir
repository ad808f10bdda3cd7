// RUN: tile-translate %s --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: tile-run %t.ptx --kernel=add --grid=3 --arg=f32[512]:iota(0,1) --arg=bf16[512]:zero --expect=0:f32[512]:iota(0,4) --expect=1:bf16[512]:const(3) --check=race

// Programs add to the same vectors.
gpu.module @m {

// CHECK: red.relaxed.gpu.global.add.v4.f32
// CHECK: red.relaxed.gpu.global.add.noftz.v2.bf16x2
gpu.func @add(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %q: !tile.ptr<bf16> {tile.divisibility = array<i32: 16>}) kernel {
  %i = tile.arange 0, 512 : tensor<512xi32>
  %ps = tile.splat %p : tensor<512x!tile.ptr<f32>>
  %pi = tile.addptr %ps, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  %qs = tile.splat %q : tensor<512x!tile.ptr<bf16>>
  %qi = tile.addptr %qs, %i : tensor<512x!tile.ptr<bf16>>, tensor<512xi32>
  %x = arith.sitofp %i : tensor<512xi32> to tensor<512xf32>
  %y = arith.constant dense<1.0> : tensor<512xbf16>
  %a = tile.atomic_rmw fadd %pi, %x sem(relaxed) : tensor<512x!tile.ptr<f32>>
  %b = tile.atomic_rmw fadd %qi, %y sem(relaxed) : tensor<512x!tile.ptr<bf16>>
  gpu.return
}

}
