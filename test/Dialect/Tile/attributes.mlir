// RUN: tile-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @facts
// CHECK-SAME: {tile.divisibility = array<i32: 16>}
func.func @facts(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) {
  // CHECK: tile.program_id x {tile.constancy = array<i32: 1>, tile.contiguity = array<i32: 1>, tile.divisibility = array<i32: 8>} : i32
  %0 = tile.program_id x {tile.divisibility = array<i32: 8>, tile.contiguity = array<i32: 1>, tile.constancy = array<i32: 1>} : i32
  // CHECK: tile.splat %{{.*}} {tile.divisibility = array<i32: 16, 16>} : tensor<4x8x!tile.ptr<f32>>
  %1 = tile.splat %p {tile.divisibility = array<i32: 16, 16>} : tensor<4x8x!tile.ptr<f32>>
  // CHECK: arith.addi {{.*}} {tile.contiguity = array<i32: 1>} : i32
  %2 = arith.addi %0, %0 {tile.contiguity = array<i32: 1>} : i32
  return
}

// -----

// Facts are for functions of any kind.
gpu.module @m {
  // CHECK-LABEL: gpu.func @kernel
  // CHECK-SAME: tile.divisibility = array<i32: 16>
  gpu.func @kernel(%n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    gpu.return
  }
}

// -----

func.func @kind() {
  // expected-error @below {{expects "tile.divisibility" to be a dense array of i32; found 16 : i32}}
  %0 = tile.program_id x {tile.divisibility = 16 : i32} : i32
  return
}

// -----

func.func @width() {
  // expected-error @below {{expects "tile.contiguity" to be a dense array of i32; found array<i64: 16>}}
  %0 = tile.program_id x {tile.contiguity = array<i64: 16>} : i32
  return
}

// -----

func.func @sign() {
  // expected-error @below {{expects the entries of "tile.constancy" to be positive; found 0}}
  %0 = tile.arange 0, 8 {tile.constancy = array<i32: 0>} : tensor<8xi32>
  return
}

// -----

func.func @rank(%p: i32) {
  // expected-error @below {{expects "tile.divisibility" to have 2 entries for 'tensor<4x8xi32>'; found 1}}
  %0 = tile.splat %p {tile.divisibility = array<i32: 16>} : tensor<4x8xi32>
  return
}

// -----

func.func @scalar_rank() {
  // expected-error @below {{expects "tile.divisibility" to have 1 entry for 'i32'; found 2}}
  %0 = tile.program_id x {tile.divisibility = array<i32: 16, 1>} : i32
  return
}

// -----

func.func @type(%x: f32) {
  // expected-error @below {{expects "tile.divisibility" on an integer or pointer value; found 'f32'}}
  %0 = arith.addf %x, %x {tile.divisibility = array<i32: 16>} : f32
  return
}

// -----

func.func @no_result() {
  // expected-error @below {{expects "tile.divisibility" on an op that has a result}}
  tile.barrier {tile.divisibility = array<i32: 16>}
  return
}

// -----

// expected-error @below {{expects "tile.divisibility" to have 1 entry for '!tile.ptr<f32>'; found 3}}
func.func private @argument(!tile.ptr<f32> {tile.divisibility = array<i32: 1, 2, 3>})

// -----

// expected-error @below {{expects "tile.divisibility" on an integer or pointer value; found 'f32'}}
func.func @argument_type(%x: f32 {tile.divisibility = array<i32: 16>}) {
  return
}
