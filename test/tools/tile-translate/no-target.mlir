// A source that names no target at all is compiled for the default chip.

// RUN: tile-translate %s | FileCheck %s

// CHECK: .target sm_80
// CHECK: .entry k()
gpu.module @m {
  gpu.func @k() kernel {
    gpu.return
  }
}
