// RUN: tile-opt %s --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(tile-gpu-remove-layout-conversions))'

gpu.module @m {
  gpu.func @k() kernel {
    // expected-error @below {{'tile.arange' op makes a tile without a layout: run convert-tile-to-tile-gpu first}}
    %r = tile.arange 0, 64 : tensor<64xi32>
    gpu.return
  }
}
