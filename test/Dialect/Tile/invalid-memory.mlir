// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @addptr_shape(%p: tensor<4x!tile.ptr<f32>>, %i: tensor<8xi32>) {
  // expected-error @below {{'tile.addptr' op expects its operands and results to have the same shape; found 'tensor<4x!tile.ptr<f32>>' and 'tensor<8xi32>'}}
  %0 = tile.addptr %p, %i : tensor<4x!tile.ptr<f32>>, tensor<8xi32>
  return
}

// -----

func.func @addptr_scalar_offset(%p: tensor<4x!tile.ptr<f32>>, %i: i32) {
  // expected-error @below {{'tile.addptr' op expects its operands and results to be all scalars or all tiles; found 'tensor<4x!tile.ptr<f32>>' and 'i32'}}
  %0 = tile.addptr %p, %i : tensor<4x!tile.ptr<f32>>, i32
  return
}

// -----

func.func @addptr_offset(%p: !tile.ptr<f32>, %i: i16) {
  // expected-error @below {{'tile.addptr' op operand #1 must be 32-bit signless integer or 64-bit signless integer or tile of 32-bit signless integer or 64-bit signless integer values, but got 'i16'}}
  %0 = tile.addptr %p, %i : !tile.ptr<f32>, i16
  return
}

// -----

func.func @addptr_result(%p: !tile.ptr<f32>, %i: i32) {
  // expected-error @below {{'tile.addptr' op failed to verify that all of {ptr, result} have same type}}
  %0 = "tile.addptr"(%p, %i) : (!tile.ptr<f32>, i32) -> !tile.ptr<f16>
  return
}

// -----

func.func @int_to_ptr_shape(%a: tensor<4xi64>) {
  // expected-error @below {{'tile.int_to_ptr' op expects its operands and results to have the same shape}}
  %0 = tile.int_to_ptr %a : tensor<4xi64> -> tensor<8x!tile.ptr<f32>>
  return
}

// -----

func.func @ptr_to_int_width(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.ptr_to_int' op result #0 must be 64-bit signless integer or tile of 64-bit signless integer values, but got 'i32'}}
  %0 = tile.ptr_to_int %p : !tile.ptr<f32> -> i32
  return
}

// -----

func.func @bitcast_pointer(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.bitcast' op expects pointers on both sides or numbers on both sides; found '!tile.ptr<f32>' and 'i64'}}
  %0 = tile.bitcast %p : !tile.ptr<f32> -> i64
  return
}

// -----

func.func @bitcast_space(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.bitcast' op expects pointers in the same memory space; found 1 and 3}}
  %0 = tile.bitcast %p : !tile.ptr<f32> -> !tile.ptr<i32, 3>
  return
}

// -----

func.func @bitcast_width(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.bitcast' op expects numbers of the same width; found 32 and 16 bits}}
  %0 = tile.bitcast %x : tensor<4xf32> -> tensor<4xi16>
  return
}

// -----

func.func @load_pointer(%x: tensor<4xf32>) {
  // expected-error @below {{'ptr' must be pointer or tile of pointer values, but got 'tensor<4xf32>'}}
  %0 = tile.load %x : tensor<4xf32>
  return
}

// -----

func.func @load_mask(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error @below {{'tile.load' op failed to verify that mask has the shape of the pointer}}
  %0 = "tile.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tile.ptr<f32>>, tensor<8xi1>) -> tensor<4xf32>
  return
}

// -----

// expected-note @below {{prior use here}}
func.func @load_mask_custom_form(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error @below {{use of value '%m' expects different type than prior uses: 'tensor<4xi1>' vs 'tensor<8xi1>'}}
  %0 = tile.load %p mask %m : tensor<4x!tile.ptr<f32>>
  return
}

// -----

func.func @load_other_type(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<4xi1>, %o: f32) {
  // expected-error @below {{'tile.load' op failed to verify that other has the type of the result}}
  %0 = "tile.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4x!tile.ptr<f32>>, tensor<4xi1>, f32) -> tensor<4xf32>
  return
}

// -----

func.func @load_result(%p: tensor<4x!tile.ptr<f32>>) {
  // expected-error @below {{'tile.load' op failed to verify that result is what the pointer points to}}
  %0 = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x!tile.ptr<f32>>) -> tensor<4xf16>
  return
}

// -----

func.func @load_other_alone(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error @below {{'tile.load' op expects a mask where there is other; found none}}
  %0 = tile.load %p other %o : !tile.ptr<f32>
  return
}

// -----

func.func @load_cache(%p: !tile.ptr<f32>) {
  // expected-error @below {{'tile.load' op expects the cache modifier none, ca, cg, cv or cs; found wt}}
  %0 = tile.load %p cache(wt) : !tile.ptr<f32>
  return
}

// -----

func.func @load_cache_keyword(%p: !tile.ptr<f32>) {
  // expected-error @below {{expected one of none, ca, cg, cv, wb, cs, wt; found l2}}
  %0 = tile.load %p cache(l2) : !tile.ptr<f32>
  return
}

// -----

func.func @store_value(%p: tensor<4x!tile.ptr<f32>>, %x: tensor<4xf16>) {
  // expected-error @below {{'tile.store' op failed to verify that value is what the pointer points to}}
  "tile.store"(%p, %x) : (tensor<4x!tile.ptr<f32>>, tensor<4xf16>) -> ()
  return
}

// -----

func.func @store_mask(%p: tensor<4x!tile.ptr<f32>>, %x: tensor<4xf32>, %m: i1) {
  // expected-error @below {{'tile.store' op failed to verify that mask has the shape of the pointer}}
  "tile.store"(%p, %x, %m) : (tensor<4x!tile.ptr<f32>>, tensor<4xf32>, i1) -> ()
  return
}

// -----

func.func @store_cache(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @below {{'tile.store' op expects the cache modifier none, wb, cg, cs or wt; found ca}}
  tile.store %p, %x cache(ca) : !tile.ptr<f32>
  return
}

// -----

func.func @rmw_kind(%p: !tile.ptr<f32>, %x: f32) {
  // expected-error @below {{'tile.atomic_rmw' op expects elements of i32 or i64 for add; found 'f32'}}
  %0 = tile.atomic_rmw add %p, %x : !tile.ptr<f32>
  return
}

// -----

func.func @rmw_fadd(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @below {{'tile.atomic_rmw' op expects elements of f16, bf16, f32 or f64 for fadd; found 'i32'}}
  %0 = tile.atomic_rmw fadd %p, %x : !tile.ptr<i32>
  return
}

// -----

func.func @rmw_fmax(%p: !tile.ptr<f16>, %x: f16) {
  // expected-error @below {{'tile.atomic_rmw' op expects elements of f32 or f64 for fmax; found 'f16'}}
  %0 = tile.atomic_rmw fmax %p, %x : !tile.ptr<f16>
  return
}

// -----

func.func @rmw_xchg(%p: !tile.ptr<i8>, %x: i8) {
  // expected-error @below {{'tile.atomic_rmw' op expects elements of i32, i64, f16, bf16, f32 or f64 for xchg; found 'i8'}}
  %0 = tile.atomic_rmw xchg %p, %x : !tile.ptr<i8>
  return
}

// -----

func.func @rmw_kind_keyword(%p: !tile.ptr<i8>, %x: i8) {
  // expected-error @below {{expected one of add, fadd, max, min, umax, umin, fmax, fmin, and, or, xor, xchg; found sub}}
  %0 = tile.atomic_rmw sub %p, %x : !tile.ptr<i8>
  return
}

// -----

func.func @rmw_value(%p: !tile.ptr<i32>, %x: i64) {
  // expected-error @below {{'tile.atomic_rmw' op failed to verify that value is what the pointer points to}}
  %0 = "tile.atomic_rmw"(%p, %x) <{kind = #tile<rmw add>}> : (!tile.ptr<i32>, i64) -> i32
  return
}

// -----

func.func @rmw_result(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @below {{'tile.atomic_rmw' op failed to verify that result is what the pointer points to}}
  %0 = "tile.atomic_rmw"(%p, %x) <{kind = #tile<rmw add>}> : (!tile.ptr<i32>, i32) -> i64
  return
}

// -----

func.func @rmw_mask(%p: !tile.ptr<i32>, %x: i32, %m: tensor<4xi1>) {
  // expected-error @below {{'tile.atomic_rmw' op failed to verify that mask has the shape of the pointer}}
  %0 = "tile.atomic_rmw"(%p, %x, %m) <{kind = #tile<rmw add>}> : (!tile.ptr<i32>, i32, tensor<4xi1>) -> i32
  return
}

// -----

func.func @cas_width(%p: !tile.ptr<i8>, %x: i8) {
  // expected-error @below {{'tile.atomic_cas' op expects elements of 16, 32 or 64 bits; found 'i8'}}
  %0 = tile.atomic_cas %p, %x, %x : !tile.ptr<i8>
  return
}

// -----

func.func @cas_compare(%p: !tile.ptr<i32>, %x: i32, %y: i64) {
  // expected-error @below {{'tile.atomic_cas' op failed to verify that compare is what the pointer points to}}
  %0 = "tile.atomic_cas"(%p, %y, %x) : (!tile.ptr<i32>, i64, i32) -> i32
  return
}

// -----

func.func @cas_value(%p: !tile.ptr<i32>, %x: i32, %y: i64) {
  // expected-error @below {{'tile.atomic_cas' op failed to verify that value is what the pointer points to}}
  %0 = "tile.atomic_cas"(%p, %x, %y) : (!tile.ptr<i32>, i32, i64) -> i32
  return
}

// -----

func.func @cas_result(%p: !tile.ptr<i32>, %x: i32) {
  // expected-error @below {{'tile.atomic_cas' op failed to verify that result is what the pointer points to}}
  %0 = "tile.atomic_cas"(%p, %x, %x) : (!tile.ptr<i32>, i32, i32) -> i64
  return
}

// -----

func.func @desc_counts(%p: !tile.ptr<f16>, %n: i32, %s: i64) {
  // expected-error @below {{'tile.make_desc' op expects a shape and a stride for each of the 2 dimensions; found 1 and 2}}
  %0 = tile.make_desc %p shape[%n] strides[%s, %s] : !tile.ptr<f16> -> !tile.desc<8x8xf16>
  return
}

// -----

func.func @desc_base(%p: !tile.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @below {{'tile.make_desc' op expects a base that points to 'f16'; found '!tile.ptr<f32>'}}
  %0 = tile.make_desc %p shape[%n] strides[%s] : !tile.ptr<f32> -> !tile.desc<8xf16>
  return
}

// -----

func.func @desc_space(%p: !tile.ptr<f16, 3>, %n: i32, %s: i64) {
  // expected-error @below {{'tile.make_desc' op expects a base in memory space 1 (global); found 3}}
  %0 = tile.make_desc %p shape[%n] strides[%s] : !tile.ptr<f16, 3> -> !tile.desc<8xf16>
  return
}

// -----

func.func @desc_padding(%p: !tile.ptr<i32>, %n: i32, %s: i64) {
  // expected-error @below {{'tile.make_desc' op expects floating-point elements for nan padding; found 'i32'}}
  %0 = tile.make_desc %p shape[%n] strides[%s] padding(nan) : !tile.ptr<i32> -> !tile.desc<8xi32>
  return
}

// -----

func.func @desc_stride(%p: !tile.ptr<f16>, %n: i32) {
  %s = arith.constant 2 : i64
  // expected-error @below {{'tile.make_desc' op expects a last stride of 1; found 2}}
  %0 = tile.make_desc %p shape[%n] strides[%s] : !tile.ptr<f16> -> !tile.desc<8xf16>
  return
}

// -----

func.func @desc_load_offsets(%d: !tile.desc<8x8xf16>, %i: i32) {
  // expected-error @below {{'tile.desc_load' op expects an offset for each of the 2 dimensions; found 1}}
  %0 = tile.desc_load %d[%i] : !tile.desc<8x8xf16> -> tensor<8x8xf16>
  return
}

// -----

func.func @desc_load_element(%d: !tile.desc<8x8xf16>, %i: i32) {
  // expected-error @below {{'tile.desc_load' op expects a tile of 'f16'; found 'f32'}}
  %0 = tile.desc_load %d[%i, %i] : !tile.desc<8x8xf16> -> tensor<8x8xf32>
  return
}

// -----

func.func @desc_load_shape(%d: !tile.desc<1x8x8xf16>, %i: i32) {
  // expected-error @below {{'tile.desc_load' op expects a tile of the box's shape [1, 8, 8], possibly without extents of 1; found [8, 4]}}
  %0 = tile.desc_load %d[%i, %i, %i] : !tile.desc<1x8x8xf16> -> tensor<8x4xf16>
  return
}

// -----

func.func @desc_load_added_extent(%d: !tile.desc<8x8xf16>, %i: i32) {
  // expected-error @below {{expects a tile of the box's shape [8, 8], possibly without extents of 1; found [1, 8, 8]}}
  %0 = tile.desc_load %d[%i, %i] : !tile.desc<8x8xf16> -> tensor<1x8x8xf16>
  return
}

// -----

func.func @desc_load_cache(%d: !tile.desc<8xf16>, %i: i32) {
  // expected-error @below {{'tile.desc_load' op expects the cache modifier none, ca, cg, cv or cs; found wb}}
  %0 = tile.desc_load %d[%i] cache(wb) : !tile.desc<8xf16> -> tensor<8xf16>
  return
}

// -----

func.func @desc_store_offsets(%d: !tile.desc<8xf16>, %x: tensor<8xf16>) {
  // expected-error @below {{'tile.desc_store' op expects an offset for each of the 1 dimensions; found 0}}
  tile.desc_store %d[], %x : !tile.desc<8xf16>, tensor<8xf16>
  return
}

// -----

func.func @desc_store_shape(%d: !tile.desc<8xf16>, %i: i32, %x: tensor<4xf16>) {
  // expected-error @below {{'tile.desc_store' op expects a tile of the box's shape [8], possibly without extents of 1; found [4]}}
  tile.desc_store %d[%i], %x : !tile.desc<8xf16>, tensor<4xf16>
  return
}

// -----

func.func @desc_reduce_kind(%d: !tile.desc<8xf16>, %i: i32, %x: tensor<8xf16>) {
  // expected-error @below {{'tile.desc_reduce' op expects elements of i32 or i64 for umax; found 'f16'}}
  tile.desc_reduce umax %d[%i], %x : !tile.desc<8xf16>, tensor<8xf16>
  return
}

// -----

func.func @desc_reduce_fmin(%d: !tile.desc<8xi32>, %i: i32, %x: tensor<8xi32>) {
  // expected-error @below {{'tile.desc_reduce' op expects elements of f16, bf16, f32 or f64 for fmin; found 'i32'}}
  tile.desc_reduce fmin %d[%i], %x : !tile.desc<8xi32>, tensor<8xi32>
  return
}

// -----

func.func @desc_reduce_xchg(%d: !tile.desc<8xf16>, %i: i32, %x: tensor<8xf16>) {
  // expected-error @below {{'tile.desc_reduce' op expects a kind that combines; found xchg}}
  tile.desc_reduce xchg %d[%i], %x : !tile.desc<8xf16>, tensor<8xf16>
  return
}
