// In the stock mlir-opt a module may have the target of another machine.

// RUN: not %mlir_opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(tile-nv-set-target)' 2>&1 | FileCheck %s
// RUN: %mlir_opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(tile-nv-set-target{chip=sm_90a})' | FileCheck %s --check-prefix=CHIP

// CHECK: [[@LINE+2]]:1: error: 'gpu.module' op expected an `#nvvm.target`, found #rocdl.target
// CHIP: gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx83">]
gpu.module @m [#rocdl.target] {
}
