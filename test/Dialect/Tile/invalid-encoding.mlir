// RUN: tile-opt %s -split-input-file -verify-diagnostics

// An encoding whose dialect has no rules: equal ones fit, others do not.

func.func @addptr(%p: tensor<4x!tile.ptr<f32>, "a">, %i: tensor<4xi32, "b">) {
  // expected-error @below {{'tile.addptr' op expects its operands and results to have the same encoding; found 'tensor<4x!tile.ptr<f32>, "a">' and 'tensor<4xi32, "b">'}}
  %0 = tile.addptr %p, %i : tensor<4x!tile.ptr<f32>, "a">, tensor<4xi32, "b">
  return
}

// -----

func.func @fp_cast(%x: tensor<4xf32, "a">) {
  // expected-error @below {{'tile.fp_cast' op expects its operands and results to have the same encoding}}
  %0 = tile.fp_cast %x : tensor<4xf32, "a"> -> tensor<4xf16>
  return
}

// -----

func.func @mulhi(%x: tensor<4xi32, "a">, %y: tensor<4xi32>) {
  // expected-error @below {{'tile.mulhi' op requires the same}}
  %0 = "tile.mulhi"(%x, %y) : (tensor<4xi32, "a">, tensor<4xi32>) -> tensor<4xi32, "a">
  return
}

// -----

func.func @reduce_operands(%x: tensor<4xf32, "a">, %y: tensor<4xf32, "b">) {
  // expected-error @below {{'tile.reduce' op expects its operands to have the same encoding}}
  %0:2 = tile.reduce(%x, %y) axis 0 : (tensor<4xf32, "a">, tensor<4xf32, "b">) -> (f32, f32) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @reduce_result(%x: tensor<4x8xf32, "a">) {
  // expected-error @below {{'tile.reduce' op expects the result to have encoding "a"; found "b"}}
  %0 = tile.reduce(%x) axis 0 : (tensor<4x8xf32, "a">) -> tensor<8xf32, "b"> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_without(%x: tensor<4x8xf32, "a">) {
  // expected-error @below {{'tile.reduce' op expects all of its tiles to have an encoding, or none; found 'tensor<4x8xf32, "a">' and 'tensor<8xf32>'}}
  %0 = tile.reduce(%x) axis 0 : (tensor<4x8xf32, "a">) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @expand_dims(%x: tensor<4xf32, "a">) {
  // expected-error @below {{'tile.expand_dims' op expects the source to have encoding "b"; found "a"}}
  %0 = tile.expand_dims %x 0 : tensor<4xf32, "a"> -> tensor<1x4xf32, "b">
  return
}

// -----

func.func @trans(%x: tensor<4x8xf32, "a">) {
  // expected-error @below {{'tile.trans' op expects the result to have encoding "a"; found "b"}}
  %0 = tile.trans %x [1, 0] : tensor<4x8xf32, "a"> -> tensor<8x4xf32, "b">
  return
}

// -----

func.func @broadcast(%x: tensor<4x1xf32, "a">) {
  // expected-error @below {{'tile.broadcast' op expects encodings between which no element moves; found 'tensor<4x1xf32, "a">' and 'tensor<4x8xf32, "b">'}}
  %0 = tile.broadcast %x : tensor<4x1xf32, "a"> -> tensor<4x8xf32, "b">
  return
}

// -----

func.func @broadcast_without(%x: tensor<4x1xf32>) {
  // expected-error @below {{'tile.broadcast' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.broadcast %x : tensor<4x1xf32> -> tensor<4x8xf32, "b">
  return
}

// -----

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tile.reshape' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<32xf32, "b">
  return
}

// -----

func.func @join(%x: tensor<4xf32, "a">) {
  // expected-error @below {{'tile.join' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.join %x, %x : tensor<4xf32, "a"> -> tensor<4x2xf32>
  return
}

// -----

func.func @split(%x: tensor<4x2xf32, "a">) {
  // expected-error @below {{'tile.split' op expects all of its tiles to have an encoding, or none}}
  %0:2 = tile.split %x : tensor<4x2xf32, "a"> -> tensor<4xf32>
  return
}

// -----

func.func @cat(%x: tensor<4xf32, "a">) {
  // expected-error @below {{'tile.cat' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.cat %x, %x axis 0 : tensor<4xf32, "a"> -> tensor<8xf32>
  return
}

// -----

func.func @gather(%x: tensor<4xf32, "a">, %i: tensor<4xi32>) {
  // expected-error @below {{'tile.gather' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.gather %x[%i] axis 0 : tensor<4xf32, "a">, tensor<4xi32> -> tensor<4xf32, "a">
  return
}

// -----

func.func @histogram(%x: tensor<4xi32, "a">) {
  // expected-error @below {{'tile.histogram' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.histogram %x : tensor<4xi32, "a"> -> tensor<4xi32>
  return
}

// -----

func.func @dot(%a: tensor<16x32xf16, "a">, %b: tensor<32x8xf16>, %c: tensor<16x8xf32, "c">) {
  // expected-error @below {{'tile.dot' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16, "a"> * tensor<32x8xf16> -> tensor<16x8xf32, "c">
  return
}

// -----

func.func @dot_scaled(%a: tensor<16x64xi8, "a">, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16, "a">, %c: tensor<16x8xf32, "a">) {
  // expected-error @below {{'tile.dot_scaled' op expects all of its tiles to have an encoding, or none}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b bf16, %c : tensor<16x64xi8, "a">, tensor<16x2xi8> * tensor<64x8xbf16, "a"> -> tensor<16x8xf32, "a">
  return
}
