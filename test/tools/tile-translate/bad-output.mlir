// An output that cannot be written is an error, not a crash, and nothing is left
// behind.

// RUN: not tile-translate %s -o %t.absent/out.ptx 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not tile-translate %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not tile-translate %s --metadata=%t.absent/out.json -o %t.ptx 2>&1 | FileCheck %s --check-prefix=METADATA

// FOLDER: tile-translate: error: cannot open output file '{{.*}}out.ptx': No such file or directory
// FULL: tile-translate: error: cannot write '/dev/full': No space left on device
// METADATA: tile-translate: error: cannot open output file '{{.*}}out.json': No such file or directory
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} { llvm.return }
}
