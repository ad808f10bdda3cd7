// The stock mlir-opt runs our pipeline from the plugin, and its own
// gpu-module-to-binary makes PTX of the result.

// RUN: %mlir_opt %examples/vector_add.mlir --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(tile-to-nvvm{chip=sm_90a},gpu-module-to-binary{format=isa})' \
// RUN:   | FileCheck %s

// CHECK: gpu.binary @kernels
// CHECK-SAME: .version 8.3
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .entry vector_add
