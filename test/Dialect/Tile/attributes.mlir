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

// Arguments that may be the same memory.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: !tile.ptr<f32> {tile.alias_group = 0 : i32}
// CHECK-SAME: !tile.desc<8xf32> {tile.alias_group = 0 : i32}
// CHECK-SAME: tensor<8x!tile.ptr<f32>> {tile.alias_group = -1 : i32}
func.func @groups(%p: !tile.ptr<f32> {tile.alias_group = 0 : i32}, %d: !tile.desc<8xf32> {tile.alias_group = 0 : i32}, %t: tensor<8x!tile.ptr<f32>> {tile.alias_group = -1 : i32}) {
  return
}

// -----

// Wishes about loops.
// CHECK-LABEL: func.func @loops
func.func @loops(%n: index, %c: i1) {
  // CHECK: scf.for
  scf.for %i = %n to %n step %n {
    // CHECK: } {tile.disable_licm = 1 : i32, tile.disallow_acc_multi_buffer = 1 : i32, tile.flatten = 0 : i32, tile.num_stages = 3 : i32, tile.unroll_factor = 4 : i32, tile.warp_specialize = 1 : i32}
  } {tile.disable_licm = 1 : i32, tile.disallow_acc_multi_buffer = 1 : i32, tile.flatten = 0 : i32, tile.num_stages = 3 : i32, tile.unroll_factor = 4 : i32, tile.warp_specialize = 1 : i32}
  // CHECK: scf.while
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  // CHECK: } attributes {tile.disable_licm = 1 : i32}
  } attributes {tile.disable_licm = 1 : i32}
  return
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

// -----

// expected-error @below {{expects "tile.alias_group" to be an i32; found 0 : i64}}
func.func @group_width(%p: !tile.ptr<f32> {tile.alias_group = 0 : i64}) {
  return
}

// -----

// expected-error @below {{expects "tile.alias_group" on a pointer or descriptor; found 'i32'}}
func.func @group_type(%n: i32 {tile.alias_group = 0 : i32}) {
  return
}

// -----

func.func @group_of_an_op(%p: !tile.ptr<f32>) {
  // expected-error @below {{expects "tile.alias_group" on an argument of a function}}
  %0 = tile.splat %p {tile.alias_group = 0 : i32} : tensor<4x!tile.ptr<f32>>
  return
}

// -----

// expected-error @below {{expects "tile.alias_group" on an argument of a function}}
func.func private @group_of_a_result() -> (!tile.ptr<f32> {tile.alias_group = 0 : i32})

// -----

// expected-error @below {{the tile dialect has no attribute "tile.alias_groups"; did you mean 'tile.alias_group'?}}
func.func @misspelt_group(%p: !tile.ptr<f32> {tile.alias_groups = 0 : i32}) {
  return
}

// -----

func.func @misspelt_fact() {
  // expected-error @below {{the tile dialect has no attribute "tile.divisiblity"; did you mean 'tile.divisibility'?}}
  %0 = tile.program_id x {tile.divisiblity = array<i32: 16>} : i32
  return
}

// -----

// expected-error @below {{the tile dialect has no attribute "tile.constant"; did you mean 'tile.constancy'?}}
func.func @misspelt_fact_of_an_argument(%x: i32 {tile.constant = array<i32: 16>}) {
  return
}

// -----

func.func @misspelt_hint(%n: index) {
  // expected-error @below {{the tile dialect has no attribute "tile.num_stage"; did you mean 'tile.num_stages'?}}
  scf.for %i = %n to %n step %n {
  } {tile.num_stage = 3 : i32}
  return
}

// -----

// expected-error @below {{the tile dialect has no attribute "tile.nonsense"}}
module attributes {tile.nonsense} {
}

// -----

// expected-error @below {{the tile dialect has no attribute "tile.nonsense"}}
func.func private @misspelt_on_a_result() -> (i32 {tile.nonsense})

// -----

// expected-error @below {{expects "tile.divisibility" elsewhere than on a result of a function, where nothing reads it}}
func.func private @fact_of_a_result() -> (i32 {tile.divisibility = array<i32: 16>})

// -----

func.func @hint_on_no_loop(%c: i1) {
  // expected-error @below {{expects "tile.num_stages" on a loop}}
  scf.if %c {
  } {tile.num_stages = 3 : i32}
  return
}

// -----

// expected-error @below {{expects "tile.flatten" on a loop}}
func.func private @hint_on_an_argument(i32 {tile.flatten = 1 : i32})

// -----

func.func @hint_kind(%n: index) {
  // expected-error @below {{expects "tile.num_stages" to be an i32; found 3 : i64}}
  scf.for %i = %n to %n step %n {
  } {tile.num_stages = 3}
  return
}

// -----

func.func @hint_unit(%n: index) {
  // expected-error @below {{expects "tile.flatten" to be an i32; found unit}}
  scf.for %i = %n to %n step %n {
  } {tile.flatten}
  return
}

// -----

func.func @hint_value(%n: index) {
  // expected-error @below {{expects "tile.num_stages" to be at least 1; found 0}}
  scf.for %i = %n to %n step %n {
  } {tile.num_stages = 0 : i32}
  return
}

// -----

func.func @flag_value(%n: index) {
  // expected-error @below {{expects "tile.flatten" to be 0 or 1; found 2}}
  scf.for %i = %n to %n step %n {
  } {tile.flatten = 2 : i32}
  return
}
