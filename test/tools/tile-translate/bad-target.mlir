// What a module's target says is heeded or refused, at the module; so are names
// that PTX cannot have, at the kernel.

// RUN: split-file %s %t
// RUN: not tile-translate %t/flags.mlir 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: not tile-translate %t/link.mlir 2>&1 | FileCheck %s --check-prefix=LINK
// RUN: not tile-translate %t/level.mlir 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: tile-translate %t/level.mlir --opt-level=0 | FileCheck %s --check-prefix=PTX
// RUN: not tile-translate %t/triple.mlir 2>&1 | FileCheck %s --check-prefix=TRIPLE
// RUN: not tile-translate %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: tile-translate %t/two.mlir --chip=sm_90a | FileCheck %s --check-prefix=SECOND
// RUN: not tile-translate %t/old.mlir 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not tile-translate %t/version.mlir 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: tile-translate %t/new.mlir | FileCheck %s --check-prefix=NEW
// RUN: tile-opt %t/new.mlir --tile-to-nvvm=chip=sm_86 | tile-translate --opt-level=1 | FileCheck %s --check-prefix=PTX
// RUN: not tile-translate %t/dot.mlir 2>&1 | FileCheck %s --check-prefix=DOT
// RUN: not tile-translate %t/space.mlir 2>&1 | FileCheck %s --check-prefix=SPACE
// RUN: not tile-translate %t/digit.mlir 2>&1 | FileCheck %s --check-prefix=DIGIT
// RUN: not tile-translate %t/bounds.mlir 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: tile-translate %t/names.mlir | FileCheck %s --check-prefix=NAMES

// FLAGS: flags.mlir:1:1: error: 'gpu.module' op has a target with flags {fast, ftz}, which have no effect here
// LINK: link.mlir:1:1: error: 'gpu.module' op has a target with link = ["a.bc"]: only libdevice can be linked here
// LEVEL: level.mlir:1:1: error: 'gpu.module' op has a target with O = 0: give the optimisation level as an option (it is 3)
// TRIPLE: triple.mlir:1:1: error: 'gpu.module' op has a target with triple 'x86_64', expected 'nvptx64-nvidia-cuda'
// TWO: two.mlir:1:1: error: 'gpu.module' op has 2 targets: choose one with the chip option
// SECOND: .version 9.0
// SECOND: .target sm_90a
// OLD: old.mlir:1:1: error: 'gpu.module' op target features '+ptx63' are too old a PTX version for sm_90a: expected +ptx83 or newer
// VERSION: version.mlir:1:1: error: 'gpu.module' op invalid PTX version in target features '+ptxfoo'
// NEW: .version 8.8
// PTX: .entry k(
// DOT: dot.mlir:2:3: error: 'gpu.func' op has a name that PTX does not allow: expected letters, digits, _ and $; found 'a.b'
// SPACE: space.mlir:2:3: error: 'llvm.func' op has a name that PTX does not allow: expected letters, digits, _ and $; found 'a b'
// DIGIT: digit.mlir:2:3: error: 'gpu.func' op has a name that PTX does not allow: expected letters, digits, _ and $; found '1st'
// BOUNDS: bounds.mlir:2:3: error: 'llvm.func' op has nvvm.maxnreg = -5 : i32; expected an integer from 1 to 255 on sm_90a
// NAMES-DAG: .entry _k$1(
// NAMES-DAG: .entry $2(

//--- flags.mlir
gpu.module @m [#nvvm.target<chip = "sm_90a", flags = {fast, ftz}>] {
  gpu.func @k() kernel { gpu.return }
}
//--- link.mlir
gpu.module @m [#nvvm.target<chip = "sm_90a", link = ["a.bc"]>] {
  gpu.func @k() kernel { gpu.return }
}
//--- level.mlir
gpu.module @m [#nvvm.target<O = 0, chip = "sm_90a">] {
  gpu.func @k() kernel { gpu.return }
}
//--- triple.mlir
gpu.module @m [#nvvm.target<triple = "x86_64", chip = "sm_90a">] {
  gpu.func @k() kernel { gpu.return }
}
//--- two.mlir
gpu.module @m [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a", features = "+ptx90">] {
  gpu.func @k() kernel { gpu.return }
}
//--- old.mlir
gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptx63">] {
  gpu.func @k() kernel { gpu.return }
}
//--- version.mlir
gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptxfoo">] {
  gpu.func @k() kernel { gpu.return }
}
//--- new.mlir
gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptx88">] {
  gpu.func @k() kernel { gpu.return }
}
//--- dot.mlir
gpu.module @m {
  gpu.func @"a.b"() kernel { gpu.return }
}
//--- space.mlir
gpu.module @m {
  llvm.func @"a b"() attributes {nvvm.kernel} { llvm.return }
}
//--- digit.mlir
gpu.module @m {
  gpu.func @"1st"() kernel { gpu.return }
}
//--- names.mlir
gpu.module @m {
  gpu.func @_k$1() kernel { gpu.return }
  gpu.func @"$2"() kernel { gpu.return }
}

//--- bounds.mlir
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.func @k() attributes {nvvm.kernel, nvvm.maxnreg = -5 : i32} { llvm.return }
}
