// RUN: tile-opt %s --tile-gpu-distribute -split-input-file | FileCheck %s

#l = #tile_gpu.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = []}>

// Pointers are LLVM pointers; only the alignment of an argument is kept.
// CHECK-LABEL: gpu.func @pointers(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[N:.*]]: i32, %[[O:.*]]: !llvm.ptr<1>)
gpu.module @pointers {
  gpu.func @pointers(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 48>},
                     %n: i32 {tile.divisibility = array<i32: 16>},
                     %o: !tile.ptr<f16> {tile.alias_group = 0 : i32}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %ps = tile.splat %p : tensor<64x!tile.ptr<f16>, #l>
    %i = tile.arange 0, 64 : tensor<64xi32, #l>
    // CHECK-DAG: %[[G0:.*]] = llvm.getelementptr %[[P]][%[[I0:.*]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i16
    // CHECK-DAG: %[[G1:.*]] = llvm.getelementptr %[[P]][%[[I1:.*]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i16
    %q = tile.addptr %ps, %i : tensor<64x!tile.ptr<f16>, #l>, tensor<64xi32, #l>
    // CHECK: llvm.ptrtoint %[[G0]] : !llvm.ptr<1> to i64
    // CHECK: llvm.ptrtoint %[[G1]] : !llvm.ptr<1> to i64
    %a = tile.ptr_to_int %q : tensor<64x!tile.ptr<f16>, #l> -> tensor<64xi64, #l>
    %one = arith.constant dense<1> : tensor<64xi64, #l>
    %b = arith.addi %a, %one : tensor<64xi64, #l>
    // CHECK: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
    %r = tile.int_to_ptr %b : tensor<64xi64, #l> -> tensor<64x!tile.ptr<i8>, #l>
    gpu.return
  }
}

// -----

// A scalar pointer, one in shared memory, and a bitcast of pointers and numbers.
// CHECK-LABEL: gpu.func @scalars(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<3>, %[[F:.*]]: f32)
gpu.module @scalars {
  gpu.func @scalars(%p: !tile.ptr<i1, 3>, %f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c = arith.constant 3 : i64
    // CHECK: %[[G:.*]] = llvm.getelementptr %[[P]][%{{.*}}] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
    %q = tile.addptr %p, %c : !tile.ptr<i1, 3>, i64
    %r = tile.bitcast %q : !tile.ptr<i1, 3> -> !tile.ptr<f32, 3>
    // CHECK: llvm.ptrtoint %[[G]]
    %i = tile.ptr_to_int %r : !tile.ptr<f32, 3> -> i64
    // CHECK: arith.bitcast %[[F]] : f32 to i32
    %b = tile.bitcast %f : f32 -> i32
    gpu.return
  }
}
