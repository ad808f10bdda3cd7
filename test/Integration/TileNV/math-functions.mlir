// Functions that need no device library, on ordinary and on special numbers.
// RUN: tile-translate %s --chip=sm_75 -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: tile-run %t.ptx --kernel=functions --arg=f32[4]:iota(0.5,1.5) --arg=f32[32]:zero --print=1 | FileCheck %s --check-prefix=PLAIN
// RUN: tile-run %t.ptx --kernel=functions --arg=f32[4]:const(1e30) --arg=f32[32]:zero --print=1 | FileCheck %s --check-prefix=LARGE
// RUN: tile-run %t.ptx --kernel=functions --arg=f32[4]:const(-104) --arg=f32[32]:zero --print=1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: tile-run %t.ptx --kernel=functions --arg=f32[4]:const(1e-40) --arg=f32[32]:zero --print=1 | FileCheck %s --check-prefix=TINY

// PTX-NOT: __nv_
// PTX-NOT: .extern

// exp, exp2, log, log2, sin, cos, sqrt, rsqrt of 0.5, 2, 3.5 and 5.
// PLAIN: [1.6487{{[0-9]*}}, 7.3890{{[0-9]*}}, 33.115{{[0-9]*}}, 148.41{{[0-9]*}}, 1.4142{{[0-9]*}}, 4, 11.313{{[0-9]*}}, 32,
// PLAIN-SAME: -0.69314{{[0-9]*}}, 0.69314{{[0-9]*}}, 1.2527{{[0-9]*}}, 1.6094{{[0-9]*}}, -1, 1, 1.8073{{[0-9]*}}, 2.3219{{[0-9]*}},
// PLAIN-SAME: 0.47942{{[0-9]*}}, 0.90929{{[0-9]*}}, -0.35078{{[0-9]*}}, -0.95892{{[0-9]*}}, 0.87758{{[0-9]*}}, -0.41614{{[0-9]*}}, -0.93645{{[0-9]*}}, 0.28366{{[0-9]*}},
// PLAIN-SAME: 0.70710{{[0-9]*}}, 1.4142{{[0-9]*}}, 1.8708{{[0-9]*}}, 2.2360{{[0-9]*}}, 1.4142{{[0-9]*}}, 0.70710{{[0-9]*}}, 0.53452{{[0-9]*}}, 0.44721{{[0-9]*}}]

// The sine of the f32 nearest to 1e30 takes 100 bits of pi.
// LARGE: [inf, inf, inf, inf, inf, inf, inf, inf, 69.077{{[0-9]*}}, 69.077{{[0-9]*}}, 69.077{{[0-9]*}}, 69.077{{[0-9]*}},
// LARGE-SAME: 99.657{{[0-9]*}}, -0.79116{{[0-9]*}}, -0.79116{{[0-9]*}}, -0.79116{{[0-9]*}}, -0.79116{{[0-9]*}}, -0.61160{{[0-9]*}}, -0.61160{{[0-9]*}}, -0.61160{{[0-9]*}}, -0.61160{{[0-9]*}}, 9.9999{{[0-9]*}}e+14,

// exp(-104) is below the subnormal numbers.
// NEGATIVE: [0, 0, 0, 0, 4.9303{{[0-9]*}}e-32, 4.9303{{[0-9]*}}e-32, 4.9303{{[0-9]*}}e-32, 4.9303{{[0-9]*}}e-32, nan, nan, nan, nan, nan, nan, nan, nan,
// NEGATIVE-SAME: 0.32162{{[0-9]*}}, 0.32162{{[0-9]*}}, 0.32162{{[0-9]*}}, 0.32162{{[0-9]*}}, -0.94686{{[0-9]*}}, -0.94686{{[0-9]*}}, -0.94686{{[0-9]*}}, -0.94686{{[0-9]*}}, nan,

// A subnormal number.
// TINY: [1, 1, 1, 1, 1, 1, 1, 1, -92.103{{[0-9]*}}, -92.103{{[0-9]*}}, -92.103{{[0-9]*}}, -92.103{{[0-9]*}}, -132.87{{[0-9]*}}, -132.87{{[0-9]*}}, -132.87{{[0-9]*}}, -132.87{{[0-9]*}},
// TINY-SAME: 9.9999{{[0-9]*}}e-41, 9.9999{{[0-9]*}}e-41, 9.9999{{[0-9]*}}e-41, 9.9999{{[0-9]*}}e-41, 1, 1, 1, 1, 9.9999{{[0-9]*}}e-21,

gpu.module @m {

gpu.func @functions(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) kernel {
  %i = tile.arange 0, 4 : tensor<4xi32>
  %c4 = arith.constant dense<4> : tensor<4xi32>
  %ps = tile.splat %p : tensor<4x!tile.ptr<f32>>
  %pi = tile.addptr %ps, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %x = tile.load %pi : tensor<4x!tile.ptr<f32>>
  %qs = tile.splat %q : tensor<4x!tile.ptr<f32>>
  %q0 = tile.addptr %qs, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y0 = math.exp %x : tensor<4xf32>
  tile.store %q0, %y0 : tensor<4x!tile.ptr<f32>>
  %q1 = tile.addptr %q0, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y1 = math.exp2 %x : tensor<4xf32>
  tile.store %q1, %y1 : tensor<4x!tile.ptr<f32>>
  %q2 = tile.addptr %q1, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y2 = math.log %x : tensor<4xf32>
  tile.store %q2, %y2 : tensor<4x!tile.ptr<f32>>
  %q3 = tile.addptr %q2, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y3 = math.log2 %x : tensor<4xf32>
  tile.store %q3, %y3 : tensor<4x!tile.ptr<f32>>
  %q4 = tile.addptr %q3, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y4 = math.sin %x : tensor<4xf32>
  tile.store %q4, %y4 : tensor<4x!tile.ptr<f32>>
  %q5 = tile.addptr %q4, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y5 = math.cos %x : tensor<4xf32>
  tile.store %q5, %y5 : tensor<4x!tile.ptr<f32>>
  %q6 = tile.addptr %q5, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y6 = math.sqrt %x : tensor<4xf32>
  tile.store %q6, %y6 : tensor<4x!tile.ptr<f32>>
  %q7 = tile.addptr %q6, %c4 : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %y7 = math.rsqrt %x : tensor<4xf32>
  tile.store %q7, %y7 : tensor<4x!tile.ptr<f32>>
  gpu.return
}

}
