// One of several targets is chosen by its chip.

// RUN: tile-opt %s --tile-nv-set-target=chip=sm_90a | FileCheck %s --check-prefix=SECOND
// RUN: tile-opt %s --tile-nv-set-target=chip=sm_86 | FileCheck %s --check-prefix=NEITHER
// RUN: not tile-opt %s --tile-nv-set-target=chip=sm_95 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SECOND: gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptx90">] {
// NEITHER: gpu.module @m [#nvvm.target<O = 3, chip = "sm_86", features = "+ptx83">] {
// UNKNOWN: [[@LINE+1]]:1: error: unknown chip 'sm_95', expected one of sm_75, {{.*}}, sm_121a
gpu.module @m [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a", features = "+ptx90">] {
}
