// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=4},tile-gpu-coalesce))' | FileCheck %s

// An atomic alone has neighbours in a thread where the chip takes several at
// once, and only there.

// CHECK-DAG: #[[$BY_FOUR:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]],
// CHECK-DAG: #[[$SINGLE:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[1],
gpu.module @vectors [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @add
  gpu.func @add(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %x = arith.sitofp %r : tensor<1024xi32> to tensor<1024xf32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    // CHECK: tile.atomic_rmw fadd {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$BY_FOUR]]>
    %a = tile.atomic_rmw fadd %q, %x : tensor<1024x!tile.ptr<f32>>
    gpu.return
  }

  // Integers, generic pointers, other operations.
  // CHECK-LABEL: gpu.func @single
  gpu.func @single(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %g: !tile.ptr<f32, 0> {tile.divisibility = array<i32: 16>},
                   %i: !tile.ptr<i32> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %x = arith.sitofp %r : tensor<1024xi32> to tensor<1024xf32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %gs = tile.splat %g : tensor<1024x!tile.ptr<f32, 0>>
    %h = tile.addptr %gs, %r : tensor<1024x!tile.ptr<f32, 0>>, tensor<1024xi32>
    %is = tile.splat %i : tensor<1024x!tile.ptr<i32>>
    %j = tile.addptr %is, %r : tensor<1024x!tile.ptr<i32>>, tensor<1024xi32>
    // CHECK: tile.atomic_rmw fmax {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$SINGLE]]>
    %a = tile.atomic_rmw fmax %q, %x : tensor<1024x!tile.ptr<f32>>
    // CHECK: tile.atomic_rmw fadd {{.*}} : tensor<1024x!tile.ptr<f32, 0>, #[[$SINGLE]]>
    %b = tile.atomic_rmw fadd %h, %x : tensor<1024x!tile.ptr<f32, 0>>
    // CHECK: tile.atomic_rmw add {{.*}} : tensor<1024x!tile.ptr<i32>, #[[$SINGLE]]>
    %c = tile.atomic_rmw add %j, %r : tensor<1024x!tile.ptr<i32>>
    gpu.return
  }

  // A mask that may end anywhere.
  // CHECK-LABEL: gpu.func @masked
  gpu.func @masked(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %n: i32) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %x = arith.sitofp %r : tensor<1024xi32> to tensor<1024xf32>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %ns = tile.splat %n : tensor<1024xi32>
    %mask = arith.cmpi slt, %r, %ns : tensor<1024xi32>
    // CHECK: tile.atomic_rmw fadd {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$SINGLE]]>
    %a = tile.atomic_rmw fadd %q, %x mask %mask : tensor<1024x!tile.ptr<f32>>
    gpu.return
  }
}

// -----

// CHECK-DAG: #[[$SINGLE:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[1],
// CHECK-DAG: #[[$PAIRS:.+]] = #tile_gpu.layout<{register = {{\[}}[1]], lane
gpu.module @pairs [#nvvm.target<chip = "sm_80">] {
  // Older chips have pairs of f16, and no bf16.
  // CHECK-LABEL: gpu.func @f32
  gpu.func @f32(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %h: !tile.ptr<bf16> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %x = arith.sitofp %r : tensor<1024xi32> to tensor<1024xf32>
    %y = arith.sitofp %r : tensor<1024xi32> to tensor<1024xbf16>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %hs = tile.splat %h : tensor<1024x!tile.ptr<bf16>>
    %hq = tile.addptr %hs, %r : tensor<1024x!tile.ptr<bf16>>, tensor<1024xi32>
    // CHECK: tile.atomic_rmw fadd {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$SINGLE]]>
    %a = tile.atomic_rmw fadd %q, %x : tensor<1024x!tile.ptr<f32>>
    // CHECK: tile.atomic_rmw fadd {{.*}} : tensor<1024x!tile.ptr<bf16>, #[[$SINGLE]]>
    %b = tile.atomic_rmw fadd %hq, %y : tensor<1024x!tile.ptr<bf16>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16
  gpu.func @f16(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}) kernel {
    %r = tile.arange 0, 1024 : tensor<1024xi32>
    %x = arith.sitofp %r : tensor<1024xi32> to tensor<1024xf16>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f16>>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
    // CHECK: tile.atomic_rmw fadd {{.*}} : tensor<1024x!tile.ptr<f16>, #[[$PAIRS]]>
    %a = tile.atomic_rmw fadd %q, %x : tensor<1024x!tile.ptr<f16>>
    gpu.return
  }
}
