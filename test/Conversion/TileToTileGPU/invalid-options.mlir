// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=3}))' 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-warps=64}))' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{threads-per-warp=12}))' 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(convert-tile-to-tile-gpu{num-ctas=2}))' 2>&1 | FileCheck %s --check-prefix=CTAS

// WARPS: [[@LINE+4]]:1: error: num-warps must be a power of two from 1 to 32, not 3
// MANY: [[@LINE+3]]:1: error: num-warps must be a power of two from 1 to 32, not 64
// LANES: [[@LINE+2]]:1: error: threads-per-warp must be a power of two from 1 to 64, not 12
// CTAS: [[@LINE+1]]:1: error: num-ctas = 2 is not supported yet
gpu.module @m {
}
