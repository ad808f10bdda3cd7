// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu))' --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @f80(%x: f32) kernel {
    // expected-error @+1 {{computes with 'f80', which kernels do not have: expected f16, bf16, f32, f64, f8E4M3FN or f8E5M2 as floating-point type}}
    %y = arith.extf %x : f32 to f80
    %z = arith.mulf %y, %y : f80
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @complex(%x: complex<f32>, %c: i1) kernel {
    // expected-error @+1 {{computes with 'complex<f32>', which kernels do not have}}
    %y = arith.select %c, %x, %x : complex<f32>
    gpu.return
  }
}
