// What `--dump-pass-pipeline` prints of a pipeline can be run: every pass in it
// is registered.

// RUN: tile-opt %examples/softmax.mlir --tile-to-nvvm="chip=sm_90a num-warps=8" > %t.expected
// RUN: tile-opt %examples/softmax.mlir --tile-to-nvvm="chip=sm_90a num-warps=8" --dump-pass-pipeline 2>&1 >/dev/null | tail -n +2 > %t.pipeline
// RUN: FileCheck %s < %t.pipeline
// RUN: %python -c "import subprocess, sys; subprocess.run(sys.argv[2:] + ['--pass-pipeline=' + open(sys.argv[1]).read().strip()], check=True)" %t.pipeline tile-opt %examples/softmax.mlir > %t.actual
// RUN: diff %t.expected %t.actual

// CHECK: tile-nv-set-target{chip=sm_90a}
// CHECK: tile-nv-set-launch-bounds{max-registers=0
