// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-nv-set-launch-bounds))' | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-nv-set-launch-bounds{max-registers=64}))' | FileCheck %s --check-prefixes=CHECK,LIMIT

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // The block becomes `.reqntid`; the bytes have been checked and go.
  // CHECK-LABEL: gpu.func @kernel(
  // FREE-SAME: attributes {nvvm.reqntid = array<i32: 128, 1, 1>}
  // LIMIT-SAME: attributes {nvvm.maxnreg = 64 : i32, nvvm.reqntid = array<i32: 128, 1, 1>}
  gpu.func @kernel(%x: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile_gpu.shared_bytes = 232448 : i64} {
    gpu.return
  }

  // Only kernels have launch bounds.
  // CHECK-LABEL: gpu.func @helper() attributes {known_block_size = array<i32: 128, 1, 1>}
  gpu.func @helper() attributes {known_block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }

  // What a kernel says itself stays, where it agrees.
  // CHECK-LABEL: gpu.func @own()
  // CHECK-SAME: attributes {nvvm.maxnreg = 32 : i32, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 128, 1, 1>}
  gpu.func @own() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxnreg = 32 : i32, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 128>} {
    gpu.return
  }

  // CHECK-LABEL: gpu.func @at_most()
  // CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
  // CHECK-NOT: nvvm.maxntid
  gpu.func @at_most() kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.maxntid = array<i32: 32, 8>} {
    gpu.return
  }

  // CHECK-LABEL: gpu.func @_name$1()
  // CHECK-SAME: nvvm.reqntid
  gpu.func @_name$1() kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    gpu.return
  }
}
