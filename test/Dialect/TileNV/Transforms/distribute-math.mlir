// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s
// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s --check-prefix=NOMATH

// No op of math is left, which upstream would make a call of libdevice.
// NOMATH-NOT: math.

// Functions that need no library.
gpu.module @intrinsics {

// CHECK-LABEL: gpu.func @native
// CHECK: llvm.call_intrinsic "llvm.fabs"
// CHECK: llvm.call_intrinsic "llvm.floor"
// CHECK: llvm.call_intrinsic "llvm.ceil"
// CHECK: llvm.call_intrinsic "llvm.fma"
// CHECK: llvm.call_intrinsic "llvm.nvvm.sqrt.approx.f"
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// CHECK: llvm.call_intrinsic "llvm.roundeven"
// CHECK: llvm.call_intrinsic "llvm.copysign"
gpu.func @native(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = math.absf %x : f32
  %b = math.floor %a : f32
  %c = math.ceil %b : f32
  %d = math.fma %c, %x, %x : f32
  %e = math.sqrt %d : f32
  %f = math.rsqrt %e : f32
  %g = math.roundeven %f : f32
  %h = math.copysign %g, %x : f32
  tile.store %p, %h : !tile.ptr<f32>
  gpu.return
}

// 2^j 2^f, with j limited to exponents of normal numbers.
// CHECK-LABEL: gpu.func @exp
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>, %[[X:[a-z0-9]+]]: f32
// CHECK: %[[Y:.*]] = llvm.intr.fma(%[[X]], %[[LOG2E:.*]], %[[MAGIC:.*]]) :
// CHECK: %[[MIN:.*]] = llvm.intr.minnum(%[[Y]]
// CHECK: %[[T:.*]] = llvm.intr.maxnum(%[[MIN]]
// CHECK: %[[J:.*]] = arith.subf %[[T]], %[[MAGIC]] : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[T]] : f32 to i32
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[BITS]]
// CHECK: %[[SCALE:.*]] = arith.bitcast %[[SHIFTED]] : i32 to f32
// CHECK: %[[MINUS:.*]] = arith.negf %[[J]]
// CHECK: %[[F:.*]] = llvm.intr.fma(%[[X]], %[[LOG2E]], %[[MINUS]])
// CHECK: %[[G:.*]] = llvm.intr.fma(%[[X]], %{{.*}}, %[[F]])
// CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[G]])
// CHECK: arith.mulf %[[E]], %[[SCALE]]
gpu.func @exp(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = math.exp %x : f32
  tile.store %p, %y : !tile.ptr<f32>
  gpu.return
}

// `afn` takes the hardware's approximation alone.
// CHECK-LABEL: gpu.func @fast
// CHECK: %[[Y:.*]] = arith.mulf
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[Y]])
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK-NEXT: %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// CHECK: arith.mulf %[[L]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.sin.approx.f"
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cos.approx.f"
// CHECK-NEXT: "tanh.approx.f32 $0, $1;", "=f,f"
gpu.func @fast(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = math.exp %x fastmath<afn> : f32
  %b = math.exp2 %a fastmath<afn> : f32
  %c = math.log %b fastmath<afn> : f32
  %d = math.log2 %c fastmath<afn> : f32
  %e = math.sin %d fastmath<afn> : f32
  %f = math.cos %e fastmath<afn> : f32
  %g = math.tanh %f fastmath<afn> : f32
  tile.store %p, %g : !tile.ptr<f32>
  gpu.return
}

// Large angles leave the straight path.
// CHECK-LABEL: gpu.func @sin
// CHECK: llvm.call_intrinsic "llvm.rint"
// CHECK-COUNT-3: llvm.intr.fma
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt
// CHECK: %[[FINITE:.*]] = arith.cmpf olt
// CHECK: %[[SLOW:.*]] = arith.andi %[[LARGE]], %[[FINITE]]
// CHECK: scf.if %[[SLOW]] -> (f32, i32)
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.fshl"
gpu.func @sin(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = math.sin %x : f32
  tile.store %p, %y : !tile.ptr<f32>
  gpu.return
}

// f16 and bf16 are computed in f32.
// CHECK-LABEL: gpu.func @narrow
// CHECK: %[[W:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%[[W]])
// CHECK: arith.truncf %{{.*}} : f32 to bf16
gpu.func @narrow(%p: !tile.ptr<bf16>, %x: bf16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %y = math.rsqrt %x : bf16
  tile.store %p, %y : !tile.ptr<bf16>
  gpu.return
}

// CHECK-LABEL: gpu.func @integers
// CHECK: llvm.call_intrinsic "llvm.ctpop"
// CHECK: llvm.intr.ctlz
// CHECK: llvm.intr.cttz
// CHECK: llvm.intr.abs
// CHECK: scf.while
gpu.func @integers(%p: !tile.ptr<i32>, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = math.ctpop %x : i32
  %b = math.ctlz %a : i32
  %c = math.cttz %b : i32
  %d = math.absi %c : i32
  %e = math.ipowi %d, %x : i32
  tile.store %p, %e : !tile.ptr<i32>
  gpu.return
}

// CHECK-LABEL: gpu.func @classes
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>, %[[X:[a-z0-9]+]]: f32
// CHECK: arith.cmpf uno, %[[X]], %[[X]]
// CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.fabs"(%[[X]])
// CHECK: arith.cmpf oeq, %[[A]]
// CHECK: arith.cmpf olt
// CHECK: "llvm.intr.is.fpclass"(%[[X]]) <{bit = 264 : i32}>
gpu.func @classes(%p: !tile.ptr<i1>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = math.isnan %x : f32
  tile.store %p, %a : !tile.ptr<i1>
  %b = math.isinf %x : f32
  tile.store %p, %b : !tile.ptr<i1>
  %c = math.isfinite %x : f32
  tile.store %p, %c : !tile.ptr<i1>
  %d = math.isnormal %x : f32
  tile.store %p, %d : !tile.ptr<i1>
  gpu.return
}

}

// Functions of libdevice, declared once.
gpu.module @libdevice {

// CHECK-LABEL: gpu.module @libdevice
// CHECK-DAG: llvm.func @__nv_erff(f32) -> f32 attributes {{.*}}memory_effects
// CHECK-DAG: llvm.func @__nv_erf(f64) -> f64
// CHECK-DAG: llvm.func @__nv_powif(f32, i32) -> f32
// CHECK-NOT: llvm.func @__nv_erff
// CHECK-LABEL: gpu.func @calls
// CHECK: llvm.call @__nv_erff
// CHECK: llvm.call @__nv_erff
// CHECK: llvm.call @__nv_erf
// CHECK: llvm.call @__nv_exp
// CHECK: llvm.call @__nv_powif
gpu.func @calls(%p: !tile.ptr<f32>, %q: !tile.ptr<f64>, %x: f32, %d: f64, %i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = math.erf %x : f32
  %b = math.erf %a : f32
  %c = math.erf %d : f64
  %e = math.exp %c : f64
  tile.store %q, %e : !tile.ptr<f64>
  %f = math.fpowi %b, %i : f32, i32
  tile.store %p, %f : !tile.ptr<f32>
  gpu.return
}

}
