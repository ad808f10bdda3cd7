// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-gpu-coalesce{max-vector-bytes=0}))' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-gpu-coalesce{max-vector-bytes=12}))' 2>&1 | FileCheck %s --check-prefix=TWELVE

// ZERO: [[@LINE+2]]:1: error: max-vector-bytes must be a power of two, not 0
// TWELVE: [[@LINE+1]]:1: error: max-vector-bytes must be a power of two, not 12
gpu.module @m {
}
