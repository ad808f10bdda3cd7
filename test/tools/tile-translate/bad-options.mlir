// Options out of their range are errors.

// RUN: not tile-translate %s --num-warps=3 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tile-translate %s --num-warps=64 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tile-translate %s --num-warps=many 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tile-translate %s --num-ctas=2 2>&1 | FileCheck %s --check-prefix=CTAS
// RUN: not tile-translate %s --num-stages=0 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not tile-translate %s --max-registers=300 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not tile-translate %s --opt-level=4 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: tile-translate %s --max-registers=32 --num-warps=8 | FileCheck %s

// WARPS: bad-options.mlir:[[#@LINE+10]]:1: error: num-warps must be a power of two from 1 to 32, not {{3|64}}
// NUMBER: --num-warps option: 'many' value invalid
// CTAS: bad-options.mlir:[[#@LINE+8]]:1: error: num-ctas = 2 is not supported yet
// STAGES: error: num-stages must be at least 1, not 0
// REGISTERS: bad-options.mlir:[[#@LINE+7]]:3: error: 'gpu.func' op max-registers is 300; expected 0 to 255
// LEVEL: error: the optimisation level is 4; expected 0 to 3
// CHECK: .entry k()
// CHECK: .reqntid 256
// CHECK: .maxnreg 32

gpu.module @m {
  gpu.func @k() kernel {
    gpu.return
  }
}
