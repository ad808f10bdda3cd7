// RUN: tile-opt %s -tile-inline-helpers | FileCheck %s

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK-NOT: func.func private
  func.func private @double(%x: tensor<64xf32>) -> tensor<64xf32> {
    %r = arith.addf %x, %x : tensor<64xf32>
    return %r : tensor<64xf32>
  }

  func.func private @quadruple(%x: tensor<64xf32>) -> tensor<64xf32> {
    %y = func.call @double(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %z = func.call @double(%y) : (tensor<64xf32>) -> tensor<64xf32>
    return %z : tensor<64xf32>
  }

  func.func private @larger(%a: f32, %b: f32) -> f32 {
    %r = arith.maximumf %a, %b : f32
    return %r : f32
  }

  // CHECK: gpu.func @nested(%[[X:.*]]: tensor<64xf32>, %[[P:.*]]: !tile.ptr<f32>) kernel
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
  // CHECK-NEXT: %[[Z:.*]] = arith.addf %[[Y]], %[[Y]]
  // CHECK-NEXT: %[[M:.*]] = tile.reduce(%[[Z]])
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[C:.*]] = arith.maximumf %[[A]], %[[B]]
  // CHECK-NEXT: tile.yield %[[C]]
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.store %[[P]], %[[M]]
  // CHECK-NEXT: gpu.return
  gpu.func @nested(%x: tensor<64xf32>, %p: !tile.ptr<f32>) kernel {
    %y = func.call @quadruple(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %m = tile.reduce(%y) axis 0 : (tensor<64xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = func.call @larger(%a, %b) : (f32, f32) -> f32
      tile.yield %c : f32
    }
    tile.store %p, %m : !tile.ptr<f32>
    gpu.return
  }

  // An early return becomes a branch.
  func.func private @early(%c: i1, %p: !tile.ptr<i32>, %x: i32) {
    cf.cond_br %c, ^exit, ^store
  ^store:
    tile.store %p, %x : !tile.ptr<i32>
    return
  ^exit:
    return
  }

  // CHECK: gpu.func @branches
  // CHECK: cf.cond_br %{{.*}}, ^[[EXIT:.*]], ^[[STORE:.*]]
  // CHECK-NEXT: ^[[STORE]]:
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: cf.br ^[[END:.*]]
  // CHECK-NEXT: ^[[EXIT]]:
  // CHECK-NEXT: cf.br ^[[END]]
  // CHECK-NEXT: ^[[END]]:
  // CHECK-NEXT: gpu.return
  gpu.func @branches(%c: i1, %p: !tile.ptr<i32>, %x: i32) kernel {
    func.call @early(%c, %p, %x) : (i1, !tile.ptr<i32>, i32) -> ()
    gpu.return
  }

  // CHECK: gpu.func @attributions
  // CHECK-SAME: workgroup(%{{.*}} : memref<4xi32, 3>)
  // CHECK-NOT: call
  gpu.func @attributions(%x: tensor<64xf32>) workgroup(%w: memref<4xi32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%y = %x) -> tensor<64xf32> {
      %z = func.call @double(%y) : (tensor<64xf32>) -> tensor<64xf32>
      scf.yield %z : tensor<64xf32>
    }
    gpu.return
  }

  // A declaration has no body to inline.
  // CHECK: func.func private @external
  func.func private @external()
  // CHECK: gpu.func @calls_external
  // CHECK-NEXT: func.call @external
  gpu.func @calls_external() kernel {
    func.call @external() : () -> ()
    gpu.return
  }

  // Helpers may hold ops of dialects that say nothing of inlining.
  func.func private @foreign() -> i32 {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    return %0 : i32
  }
  // CHECK: gpu.func @calls_foreign
  // CHECK-NEXT: nvvm.read.ptx.sreg.tid.x
  // CHECK-NOT: call
  gpu.func @calls_foreign() kernel {
    %0 = func.call @foreign() : () -> i32
    gpu.return
  }
}
