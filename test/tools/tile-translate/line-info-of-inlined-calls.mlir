// The constants that a kernel gets outside of itself have no place in the calls
// that were inlined: of the text of an assertion, and of a table.

// RUN: tile-translate %s --tile-to-ptx --line-info | FileCheck %s

#inner = loc("helper.py":3:5)
#outer = loc("kernel.py":9:5)
#call = loc(callsite(#inner at #outer))

module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a">] {
    // CHECK: .visible .entry kernel(
    // CHECK: __assertfail
    gpu.func @kernel(%p: !tile.ptr<i32>, %n: i32) kernel {
      %zero = arith.constant 0 : i32
      %positive = arith.cmpi sgt, %n, %zero : i32 loc(#call)
      tile.assert %positive, "positive" : i1 loc(#call)
      %table = arith.constant dense<[3, 1, 4, 1]> : tensor<4xi32> loc(#call)
      %i = tile.arange 0, 4 : tensor<4xi32> loc(#call)
      %base = tile.splat %p : tensor<4x!tile.ptr<i32>> loc(#call)
      %at = tile.addptr %base, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32> loc(#call)
      tile.store %at, %table : tensor<4x!tile.ptr<i32>> loc(#call)
      gpu.return
    }
  }
}
