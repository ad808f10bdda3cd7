// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @reduce_operands() {
  // expected-error @below {{'tile.reduce' op expects at least one operand; found none}}
  tile.reduce() axis 0 : () -> () {
    tile.yield
  }
  return
}

// -----

func.func @reduce_results(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects as many results as operands, 2; found 1}}
  %0 = tile.reduce(%x, %x) axis 0 : (tensor<8xf32>, tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'tile.reduce' op expects its operands to have the same shape; found 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %0:2 = tile.reduce(%x, %y) axis 0 : (tensor<8xf32>, tensor<4xf32>) -> (f32, f32) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @reduce_axis(%x: tensor<8x4xf32>) {
  // expected-error @below {{'tile.reduce' op expects an axis in [0, 2); found -1}}
  %0 = tile.reduce(%x) axis -1 : (tensor<8x4xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_result_shape(%x: tensor<8x4xf32>) {
  // expected-error @below {{'tile.reduce' op expects a result of type 'tensor<4xf32>'; found 'tensor<8xf32>'}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8x4xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_result_element(%x: tensor<8x4xf32>) {
  // expected-error @below {{'tile.reduce' op expects a result of type 'tensor<4xf32>'; found 'tensor<4xi32>'}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8x4xf32>) -> tensor<4xi32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_result_scalar(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects a result of type 'f32'; found 'tensor<1xf32>'}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_arguments(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects its region to take ('f32', 'f32'); found ('f32', 'i32')}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: i32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_yield(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects its region to yield ('f32'); found ('f32', 'f32')}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-note @below {{yielded here}}
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

func.func @reduce_terminator(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects its region to end with tile.yield; found gpu.yield}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    gpu.yield %a : f32
  }
  return
}

// -----

func.func @reduce_empty(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects a non-empty block}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
  }
  return
}

// -----

func.func @reduce_no_block(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op region #0 ('combine') failed to verify constraint: region with 1 blocks}}
  %0 = "tile.reduce"(%x) <{axis = 0 : i32}> ({}) : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @reduce_two_blocks(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects region #0 to have 0 or 1 blocks}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    cf.br ^bb1
  ^bb1:
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_captures(%x: tensor<8xf32>, %y: f32) {
  // expected-note @below {{required by region isolation constraints}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{using value defined outside the region}}
    %s = arith.addf %a, %y : f32
    tile.yield %s : f32
  }
  return
}

// -----

func.func @scan_captures(%x: tensor<8xf32>, %y: f32) {
  // expected-note @below {{required by region isolation constraints}}
  %0 = tile.scan(%x) axis 0 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    // expected-error @below {{using value defined outside the region}}
    tile.yield %y : f32
  }
  return
}

// -----

func.func @map_captures(%x: tensor<8xf32>, %y: f32) {
  // expected-note @below {{required by region isolation constraints}}
  %0 = tile.map_elementwise(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    // expected-error @below {{using value defined outside the region}}
    %s = arith.addf %a, %y : f32
    tile.yield %s : f32
  }
  return
}

// -----

func.func @reduce_loads(%x: tensor<8xi64>) {
  // expected-error @below {{'tile.reduce' op expects its region to have no memory effects; found tile.load}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xi64>) -> i64 {
  ^bb0(%a: i64, %b: i64):
    %p = tile.int_to_ptr %a : i64 -> !tile.ptr<i64>
    // expected-note @below {{in the region here}}
    %v = tile.load %p : !tile.ptr<i64>
    tile.yield %v : i64
  }
  return
}

// -----

func.func @scan_nested_barrier(%x: tensor<8xi1>) {
  // expected-error @below {{'tile.scan' op expects its region to have no memory effects; found tile.barrier}}
  %0 = tile.scan(%x) axis 0 : (tensor<8xi1>) -> tensor<8xi1> {
  ^bb0(%a: i1, %b: i1):
    scf.if %a {
      // expected-note @below {{in the region here}}
      tile.barrier
    }
    tile.yield %b : i1
  }
  return
}

// -----

func.func @map_prints(%x: tensor<8xi1>) {
  // expected-error @below {{'tile.map_elementwise' op expects its region to have no memory effects; found tile.print}}
  %0 = tile.map_elementwise(%x) : (tensor<8xi1>) -> tensor<8xi1> {
  ^bb0(%a: i1):
    // expected-note @below {{in the region here}}
    tile.print "a: " (%a : i1)
    tile.yield %a : i1
  }
  return
}

// -----

func.func @reduce_unknown_effects(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects its region to have no memory effects; found gpu.barrier}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-note @below {{in the region here}}
    gpu.barrier
    tile.yield %a : f32
  }
  return
}

// -----

func.func @reduce_tiles(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.reduce' op expects its region to compute on scalars; found 'tensor<4xf32>'}}
  %0 = tile.reduce(%x) axis 0 : (tensor<8xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-note @below {{in the region here}}
    %t = tile.splat %a : tensor<4xf32>
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_type(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op expects a result of type 'tensor<8xf32>'; found 'tensor<8xf16>'}}
  %0 = tile.scan(%x) axis 0 : (tensor<8xf32>) -> tensor<8xf16> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_shape(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op expects its operands and results to have the same shape; found 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %0 = tile.scan(%x) axis 0 : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @scan_axis(%x: tensor<8xf32>) {
  // expected-error @below {{'tile.scan' op expects an axis in [0, 1); found 1}}
  %0 = tile.scan(%x) axis 1 : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @yield_elsewhere() {
  // expected-error @below {{'tile.yield' op expects parent op to be one of 'tile.reduce, tile.scan, tile.map_elementwise'}}
  tile.yield
}

// -----

func.func @histogram_rank(%x: tensor<8x8xi32>) {
  // expected-error @below {{'tile.histogram' op expects source and result to have rank 1; found 2 and 1}}
  %0 = tile.histogram %x : tensor<8x8xi32> -> tensor<16xi32>
  return
}

// -----

func.func @histogram_element(%x: tensor<8xi64>) {
  // expected-error @below {{'source' must be tile of 32-bit signless integer values, but got 'tensor<8xi64>'}}
  %0 = tile.histogram %x : tensor<8xi64> -> tensor<16xi32>
  return
}

// -----

func.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @below {{'tile.histogram' op failed to verify that mask has the shape of the source}}
  %0 = "tile.histogram"(%x, %m) : (tensor<8xi32>, tensor<4xi1>) -> tensor<16xi32>
  return
}

// -----

func.func @assert_condition(%x: i32) {
  // expected-error @below {{'tile.assert' op operand #0 must be 1-bit signless integer or tile of 1-bit signless integer values, but got 'i32'}}
  tile.assert %x, "message" : i32
  return
}

// -----

func.func @assume_condition(%x: tensor<4xi1>) {
  // expected-error @below {{'tile.assume' op operand #0 must be 1-bit signless integer, but got 'tensor<4xi1>'}}
  "tile.assume"(%x) : (tensor<4xi1>) -> ()
  return
}
