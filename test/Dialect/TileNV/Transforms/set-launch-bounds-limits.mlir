// Limits that take a long signature or an option of their own.

// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-nv-set-launch-bounds{max-registers=-1}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-nv-set-launch-bounds{max-registers=256}))' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: %python -c "print('gpu.module @m [#nvvm.target<chip = \"sm_80\">] { gpu.func @k(' + ', '.join('%%%%x%%d: i64' %% i for i in range(4096)) + ') kernel attributes {known_block_size = array<i32: 32, 1, 1>} { gpu.return } }')" > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(gpu.module(tile-nv-set-launch-bounds))' 2>&1 | FileCheck %s --check-prefix=PARAMETERS

// PARAMETERS: error: 'gpu.func' op has parameters of 32768 bytes; sm_80 has 32764
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // NEGATIVE: [[@LINE+2]]:3: error: 'gpu.func' op max-registers is -1; expected 0 to 255
  // MANY: [[@LINE+1]]:3: error: 'gpu.func' op max-registers is 256; expected 0 to 255
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
