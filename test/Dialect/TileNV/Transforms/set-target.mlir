// RUN: tile-opt %s --tile-nv-set-target | FileCheck %s
// RUN: tile-opt %s --tile-nv-set-target=chip=sm_90a | FileCheck %s --check-prefix=CHIP

// The chip's PTX version, and the default chip without a target.
// CHECK: gpu.module @none [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx83">]
// CHIP: gpu.module @none [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx83">]
gpu.module @none {
}

// CHECK: gpu.module @chip [#nvvm.target<chip = "sm_120a", features = "+ptx87">]
// CHIP: gpu.module @chip [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx83">]
gpu.module @chip [#nvvm.target<chip = "sm_120a">] {
}

// What a target says of its chip stays.
// CHECK: gpu.module @own [#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx88", flags = {fast}, link = ["a.bc"]>]
// CHIP: gpu.module @own [#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx88", flags = {fast}, link = ["a.bc"]>]
gpu.module @own [#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx88", flags = {fast}, link = ["a.bc"]>] {
}

// Features without a PTX version get the chip's.
// CHECK: gpu.module @features [#nvvm.target<chip = "sm_75", features = "+sm_75,+ptx83">]
gpu.module @features [#nvvm.target<chip = "sm_75", features = "+sm_75">] {
}
