// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @axis_keyword() {
  // expected-error @below {{expected one of x, y, z; found w}}
  %0 = tile.program_id w : i32
  return
}

// -----

func.func @axis_missing() {
  // expected-error @below {{expected one of x, y, z}}
  %0 = tile.program_id 0 : i32
  return
}

// -----

func.func @arange_order() {
  // expected-error @below {{'tile.arange' op expects start < end; found 4 and 4}}
  %0 = tile.arange 4, 4 : tensor<4xi32>
  return
}

// -----

func.func @arange_shape() {
  // expected-error @below {{'tile.arange' op expects a result of shape [12]; found [16]}}
  %0 = tile.arange -4, 8 : tensor<16xi32>
  return
}

// -----

func.func @arange_length() {
  // expected-error @below {{'tile.arange' op expects a result of shape [4294967295]; found [16]}}
  %0 = tile.arange -2147483648, 2147483647 : tensor<16xi32>
  return
}

// -----

func.func @arange_rank() {
  // expected-error @below {{'tile.arange' op expects a result of shape [16]; found [4, 4]}}
  %0 = tile.arange 0, 16 : tensor<4x4xi32>
  return
}

// -----

func.func @arange_element() {
  // expected-error @below {{'tile.arange' op result #0 must be tile of 32-bit signless integer values, but got 'tensor<16xi64>'}}
  %0 = tile.arange 0, 16 : tensor<16xi64>
  return
}

// -----

func.func @splat_element(%x: f32) {
  // expected-error @below {{'tile.splat' op failed to verify that operand is an element of the result}}
  %0 = "tile.splat"(%x) : (f32) -> tensor<4xf16>
  return
}

// -----

func.func @expand_dims_element(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.expand_dims' op expects source and result to have the same element type; found 'f32' and 'f16'}}
  %0 = tile.expand_dims %x 0 : tensor<4xf32> -> tensor<1x4xf16>
  return
}

// -----

func.func @expand_dims_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.expand_dims' op expects an axis in [0, 2); found 2}}
  %0 = tile.expand_dims %x 2 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @expand_dims_negative_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.expand_dims' op expects an axis in [0, 2); found -1}}
  %0 = tile.expand_dims %x -1 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @expand_dims_shape(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.expand_dims' op expects a result of shape [1, 4]; found [4, 1]}}
  %0 = tile.expand_dims %x 0 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @broadcast_rank(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.broadcast' op expects source and result to have the same rank; found 1 and 2}}
  %0 = tile.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_extent(%x: tensor<4x2xf32>) {
  // expected-error @below {{'tile.broadcast' op expects the extent of source dimension 1 to be 1 or 8; found 2}}
  %0 = tile.broadcast %x : tensor<4x2xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_element(%x: tensor<4x1xf32>) {
  // expected-error @below {{'tile.broadcast' op expects source and result to have the same element type; found 'f32' and 'i32'}}
  %0 = tile.broadcast %x : tensor<4x1xf32> -> tensor<4x8xi32>
  return
}

// -----

func.func @reshape_elements(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.reshape' op expects source and result to have the same number of elements; found 32 and 16}}
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reshape_element(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.reshape' op expects source and result to have the same element type; found 'f32' and 'i32'}}
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<32xi32>
  return
}

// -----

func.func @trans_element(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.trans' op expects source and result to have the same element type; found 'f32' and 'i32'}}
  %0 = tile.trans %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xi32>
  return
}

// -----

func.func @trans_short_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.trans' op expects order to be a permutation of [0, 2); found [0]}}
  %0 = tile.trans %x [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @trans_repeated_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.trans' op expects order to be a permutation of [0, 2); found [1, 1]}}
  %0 = tile.trans %x [1, 1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @trans_negative_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.trans' op expects order to be a permutation of [0, 2); found [-1, 0]}}
  %0 = tile.trans %x [-1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @trans_shape(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.trans' op expects a result of shape [8, 4]; found [4, 8]}}
  %0 = tile.trans %x [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @join_types(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @below {{'tile.join' op requires all operands to have the same type}}
  %0 = "tile.join"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @join_shape(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.join' op expects a result of shape [4, 2]; found [2, 4]}}
  %0 = tile.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @join_element(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.join' op expects source and result to have the same element type; found 'f32' and 'f16'}}
  %0 = tile.join %x, %x : tensor<4xf32> -> tensor<4x2xf16>
  return
}

// -----

func.func @split_element(%x: tensor<4x2xf32>) {
  // expected-error @below {{'tile.split' op expects source and result to have the same element type; found 'f32' and 'f16'}}
  %0:2 = tile.split %x : tensor<4x2xf32> -> tensor<4xf16>
  return
}

// -----

func.func @split_extent(%x: tensor<2x4xf32>) {
  // expected-error @below {{'tile.split' op expects a source of rank 2 or more with a last extent of 2; found shape [2, 4]}}
  %0:2 = tile.split %x : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @split_rank(%x: tensor<2xf32>) {
  // expected-error @below {{'tile.split' op expects a source of rank 2 or more with a last extent of 2; found shape [2]}}
  %0:2 = tile.split %x : tensor<2xf32> -> tensor<1xf32>
  return
}

// -----

func.func @split_shape(%x: tensor<4x2xf32>) {
  // expected-error @below {{'tile.split' op expects a result of shape [4]; found [8]}}
  %0:2 = tile.split %x : tensor<4x2xf32> -> tensor<8xf32>
  return
}

// -----

func.func @split_results(%x: tensor<4x2xf32>) {
  // expected-error @below {{'tile.split' op failed to verify that all of {lhs, rhs} have same type}}
  %0:2 = "tile.split"(%x) : (tensor<4x2xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @cat_types(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.cat' op requires all operands to have the same type}}
  %0 = "tile.cat"(%x, %y) <{axis = 0 : i32}> : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
  return
}

// -----

func.func @cat_element(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.cat' op expects source and result to have the same element type; found 'f32' and 'i32'}}
  %0 = tile.cat %x, %x axis 0 : tensor<4xf32> -> tensor<8xi32>
  return
}

// -----

func.func @cat_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.cat' op expects an axis in [0, 1); found 1}}
  %0 = tile.cat %x, %x axis 1 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @cat_shape(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.cat' op expects a result of shape [4, 16]; found [8, 8]}}
  %0 = tile.cat %x, %x axis 1 : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_element(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @below {{'tile.gather' op expects source and result to have the same element type; found 'f32' and 'i32'}}
  %0 = tile.gather %x[%i] axis 1 : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xi32>
  return
}

// -----

func.func @gather_axis(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @below {{'tile.gather' op expects an axis in [0, 2); found 2}}
  %0 = tile.gather %x[%i] axis 2 : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xf32>
  return
}

// -----

func.func @gather_rank(%x: tensor<4x8xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{'tile.gather' op expects source and indices to have the same rank; found 2 and 1}}
  %0 = tile.gather %x[%i] axis 1 : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @gather_extent(%x: tensor<4x8xf32>, %i: tensor<2x8xi32>) {
  // expected-error @below {{'tile.gather' op expects dimension 0 of the indices to have the source's extent 4; found 2}}
  %0 = tile.gather %x[%i] axis 1 : tensor<4x8xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}

// -----

func.func @gather_shape(%x: tensor<4x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error @below {{'tile.gather' op expects a result of shape [4, 2]; found [4, 8]}}
  %0 = tile.gather %x[%i] axis 1 : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x8xf32>
  return
}
