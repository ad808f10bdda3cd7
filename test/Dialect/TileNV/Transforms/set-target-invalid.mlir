// RUN: tile-opt %s --tile-nv-set-target --split-input-file --verify-diagnostics

// expected-error @+1 {{unknown chip 'sm_95', expected one of sm_75, sm_80}}
gpu.module @unknown [#nvvm.target<chip = "sm_95">] {
}

// -----

// expected-error @+1 {{'gpu.module' op has 2 targets: choose one with the chip option}}
gpu.module @two [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a">] {
}

// -----

// expected-error @+1 {{'gpu.module' op target features '+ptx63' are too old a PTX version for sm_90a: expected +ptx83 or newer}}
gpu.module @old [#nvvm.target<chip = "sm_90a", features = "+ptx63">] {
}

// -----

// expected-error @+1 {{'gpu.module' op invalid PTX version in target features '+ptxfoo'}}
gpu.module @version [#nvvm.target<chip = "sm_90a", features = "+ptxfoo">] {
}

// -----

// expected-error @+1 {{'gpu.module' op has a target with triple 'x86_64', expected 'nvptx64-nvidia-cuda'}}
gpu.module @triple [#nvvm.target<triple = "x86_64", chip = "sm_90a">] {
}

// -----

func.func @host() -> tensor<4xi32> {
  // expected-error @+1 {{'tile.arange' op is outside a kernel: put it in a `gpu.func` with the `kernel` attribute, in a `gpu.module`}}
  %r = tile.arange 0, 4 : tensor<4xi32>
  return %r : tensor<4xi32>
}
