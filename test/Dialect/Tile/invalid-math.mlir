// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @fp_cast_shape(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.fp_cast' op expects its operands and results to have the same shape; found 'tensor<4xf32>' and 'tensor<8xf16>'}}
  %0 = tile.fp_cast %x : tensor<4xf32> -> tensor<8xf16>
  return
}

// -----

func.func @fp_cast_scalar(%x: f32) {
  // expected-error @below {{'tile.fp_cast' op expects its operands and results to be all scalars or all tiles; found 'f32' and 'tensor<4xf16>'}}
  %0 = tile.fp_cast %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @fp_cast_rounding(%x: f16) {
  // expected-error @below {{'tile.fp_cast' op expects a conversion that may round for round(rtz); found 'f16' to 'f32'}}
  %0 = tile.fp_cast %x round(rtz) : f16 -> f32
  return
}

// -----

func.func @fp_cast_rounding_keyword(%x: f32) {
  // expected-error @below {{expected one of rtne, rtz; found up}}
  %0 = tile.fp_cast %x round(up) : f32 -> f16
  return
}

// -----

func.func @fp_cast_integer(%x: i32) {
  // expected-error @below {{'tile.fp_cast' op operand #0 must be floating-point or tile of floating-point values, but got 'i32'}}
  %0 = tile.fp_cast %x : i32 -> f16
  return
}

// -----

func.func @mulhi_width(%x: i16) {
  // expected-error @below {{'tile.mulhi' op operand #0 must be 32-bit signless integer or 64-bit signless integer or tile of 32-bit signless integer or 64-bit signless integer values, but got 'i16'}}
  %0 = tile.mulhi %x, %x : i16
  return
}

// -----

func.func @mulhi_types(%x: i32, %y: i64) {
  // expected-error @below {{'tile.mulhi' op requires the same type for all operands and results}}
  %0 = "tile.mulhi"(%x, %y) : (i32, i64) -> i32
  return
}

// -----

func.func @sqrt_element(%x: f16) {
  // expected-error @below {{'tile.precise_sqrt' op operand #0 must be 32-bit float or 64-bit float or tile of 32-bit float or 64-bit float values, but got 'f16'}}
  %0 = tile.precise_sqrt %x : f16
  return
}

// -----

func.func @div_shape(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{'tile.precise_div' op requires the same type for all operands and results}}
  %0 = "tile.precise_div"(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_element(%x: tensor<4xi32>) {
  // expected-error @below {{'tile.clamp' op operand #0 must be}}
  %0 = tile.clamp %x, %x, %x : tensor<4xi32>
  return
}

// -----

func.func @extern_name(%x: f32) {
  // expected-error @below {{'tile.extern_elementwise' op expects the name of a function; found an empty one}}
  %0 = tile.extern_elementwise ""(%x) : (f32) -> f32
  return
}

// -----

func.func @extern_shape(%x: tensor<4xf32>, %y: f32) {
  // expected-error @below {{'tile.extern_elementwise' op expects its operands and results to be all scalars or all tiles; found 'tensor<4xf32>' and 'f32'}}
  %0 = tile.extern_elementwise "f"(%x, %y) : (tensor<4xf32>, f32) -> tensor<4xf32>
  return
}

// -----

func.func @asm_results(%x: f32) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects at least one result; found none}}
  tile.inline_asm_elementwise "" constraints "f"(%x) : (f32) -> ()
  return
}

// -----

func.func @asm_pack(%x: tensor<6xf16>) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects pack to divide the number of elements, 6; found 4}}
  %0 = tile.inline_asm_elementwise "" constraints "=r,=r,r,r" pack 4(%x) : (tensor<6xf16>) -> tensor<6xf16>
  return
}

// -----

func.func @asm_pack_sign(%x: tensor<4xf16>) {
  // expected-error @below {{attribute 'pack' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %0 = tile.inline_asm_elementwise "" constraints "=r,r" pack 0(%x) : (tensor<4xf16>) -> tensor<4xf16>
  return
}

// -----

func.func @asm_constraints(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects constraints for 2 outputs and 2 inputs; found 1 and 1}}
  %0 = tile.inline_asm_elementwise "" constraints "=f,f" pack 2(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @asm_narrow_result(%x: tensor<4xi64>) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects registers of 64 bits for result #0; found constraint 'r' of 32}}
  %0 = tile.inline_asm_elementwise "" constraints "=r,l"(%x) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @asm_narrow_argument(%x: tensor<4xi32>, %y: tensor<4xf64>) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects registers of 64 bits for argument #1; found constraint 'f' of 32}}
  %0 = tile.inline_asm_elementwise "" constraints "=d,r,f"(%x, %y) : (tensor<4xi32>, tensor<4xf64>) -> tensor<4xf64>
  return
}

// -----

func.func @asm_wide(%x: f32) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects registers of 32 bits for argument #0; found constraint 'l' of 64}}
  %0 = tile.inline_asm_elementwise "" constraints "=f,l"(%x) : (f32) -> f32
  return
}

// -----

// Two elements fill a register. The second register is too narrow.
func.func @asm_narrow_packed(%x: tensor<4xf16>) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects registers of at least 32 bits for result #0; found constraint 'h' of 16}}
  %0 = tile.inline_asm_elementwise "" constraints "=r,=h,r,r" pack 4(%x) : (tensor<4xf16>) -> tensor<4xf16>
  return
}

// -----

// The digit stands for the constraint of the output.
func.func @asm_narrow_tied(%x: i64) {
  // expected-error @below {{'tile.inline_asm_elementwise' op expects registers of 64 bits for argument #0; found constraint 'h' of 16}}
  %0 = tile.inline_asm_elementwise "" constraints "=&h,0"(%x) : (i64) -> i16
  return
}

// -----

func.func @asm_no_operands() {
  // expected-error @below {{if a result is non-scalar, then at least one operand must be non-scalar}}
  %0 = tile.inline_asm_elementwise "" constraints "=f"() : () -> tensor<4xf32>
  return
}

// -----

func.func @map_operands() {
  // expected-error @below {{'tile.map_elementwise' op expects at least one operand; found none}}
  %0 = tile.map_elementwise() : () -> tensor<4xf32> {
    %c = arith.constant 0.0 : f32
    tile.yield %c : f32
  }
  return
}

// -----

func.func @map_results(%x: tensor<4xf32>) {
  // expected-error @below {{'tile.map_elementwise' op expects at least one result; found none}}
  tile.map_elementwise(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: f32):
    tile.yield
  }
  return
}

// -----

func.func @map_pack(%x: tensor<6xf32>) {
  // expected-error @below {{'tile.map_elementwise' op expects pack to divide the number of elements, 6; found 4}}
  %0 = tile.map_elementwise(%x) pack 4 : (tensor<6xf32>) -> tensor<6xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b, %c, %d : f32, f32, f32, f32
  }
  return
}

// -----

func.func @map_arguments(%x: tensor<6xf32>) {
  // expected-error @below {{'tile.map_elementwise' op expects its region to take ('f32', 'f32'); found ('f32')}}
  %0 = tile.map_elementwise(%x) pack 2 : (tensor<6xf32>) -> tensor<6xf32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @map_yield(%x: tensor<6xf32>) {
  // expected-error @below {{'tile.map_elementwise' op expects its region to yield ('i32'); found ('f32')}}
  %0 = tile.map_elementwise(%x) : (tensor<6xf32>) -> tensor<6xi32> {
  ^bb0(%a: f32):
    // expected-note @below {{yielded here}}
    tile.yield %a : f32
  }
  return
}

// -----

func.func @dot_rank(%a: tensor<4xf16>, %b: tensor<4x8xf16>, %c: tensor<8xf32>) {
  // expected-error @below {{'tile.dot' op expects operands of rank 2, or 3 with a batch dimension; found ranks 1, 2 and 1}}
  %0 = tile.dot %a, %b, %c : tensor<4xf16> * tensor<4x8xf16> -> tensor<8xf32>
  return
}

// -----

func.func @dot_shape(%a: tensor<16x32xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot' op expects shapes [M, K] * [K, N] -> [M, N]; found [16, 32] * [16, 8] -> [16, 8]}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_batch(%a: tensor<2x16x32xf16>, %b: tensor<3x32x8xf16>, %c: tensor<2x16x8xf32>) {
  // expected-error @below {{'tile.dot' op expects shapes [M, K] * [K, N] -> [M, N]; found [2, 16, 32] * [3, 32, 8] -> [2, 16, 8]}}
  %0 = tile.dot %a, %b, %c : tensor<2x16x32xf16> * tensor<3x32x8xf16> -> tensor<2x16x8xf32>
  return
}

// -----

func.func @dot_operands(%a: tensor<16x32xf16>, %b: tensor<32x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot' op expects a and b to have the same element type, or fp8 types; found 'f16' and 'bf16'}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_element(%a: tensor<16x32xi16>, %b: tensor<32x8xi16>, %c: tensor<16x8xi32>) {
  // expected-error @below {{'tile.dot' op expects elements of i8, f8E4M3FN, f8E5M2, f16, bf16, f32 or f64; found 'i16'}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xi16> * tensor<32x8xi16> -> tensor<16x8xi32>
  return
}

// -----

func.func @dot_accumulator(%a: tensor<16x32xbf16>, %b: tensor<32x8xbf16>, %c: tensor<16x8xf16>) {
  // expected-error @below {{'tile.dot' op expects an accumulator of f32 for elements of 'bf16'; found 'f16'}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xbf16> * tensor<32x8xbf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @dot_integer_accumulator(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot' op expects an accumulator of i32 for elements of 'i8'; found 'f32'}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x8xi8> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_precision(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot' op expects elements of f32 for precision(tf32x3); found 'f16'}}
  %0 = tile.dot %a, %b, %c precision(tf32x3) : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_imprecise(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{attribute 'max_num_imprecise_acc' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %0 = tile.dot %a, %b, %c max_num_imprecise_acc(-1) : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_result(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot' op failed to verify that all of {acc, result} have same type}}
  %0 = "tile.dot"(%a, %b, %c) : (tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf16>
  return
}

// -----

func.func @scaled_element_e2m1(%a: tensor<16x32xf16>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects a to have elements of i8 for e2m1; found 'f16'}}
  %0 = tile.dot_scaled %a scale %s e2m1, %b bf16, %c : tensor<16x32xf16>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_element_e4m3(%a: tensor<16x64xf8E5M2>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects a to have elements of f8E4M3FN or i8 for e4m3; found 'f8E5M2'}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b bf16, %c : tensor<16x64xf8E5M2>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_element_e5m2(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects a to have elements of f8E5M2 or i8 for e5m2; found 'f8E4M3FN'}}
  %0 = tile.dot_scaled %a scale %s e5m2, %b bf16, %c : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_element_bf16(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects b to have elements of bf16 for bf16; found 'f16'}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b bf16, %c : tensor<16x64xi8>, tensor<16x2xi8> * tensor<64x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_element_fp16(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects b to have elements of f16 for fp16; found 'bf16'}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b fp16, %c : tensor<16x64xi8>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_accumulator(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf16>) {
  // expected-error @below {{'tile.dot_scaled' op expects an accumulator of f32; found 'f16'}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b bf16, %c : tensor<16x64xi8>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @scaled_no_scale(%a: tensor<16x64xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects a scale for a or b; found none}}
  %0 = tile.dot_scaled %a e4m3, %b bf16, %c : tensor<16x64xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_pack(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects the format e2m1 for an operand that is not packed along K; found e4m3}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b bf16, %c {a_k_pack = false} : tensor<16x64xi8>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_shape(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects shapes [M, K] * [K, N] -> [M, N]; found [16, 128] * [64, 8] -> [16, 8]}}
  %0 = tile.dot_scaled %a scale %s e2m1, %b bf16, %c : tensor<16x64xi8>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_block(%a: tensor<16x48xi8>, %s: tensor<16x2xi8>, %b: tensor<48x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects K to be a multiple of 32; found 48}}
  %0 = tile.dot_scaled %a scale %s e4m3, %b bf16, %c : tensor<16x48xi8>, tensor<16x2xi8> * tensor<48x8xbf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_scale(%a: tensor<16x64xi8>, %s: tensor<2x8xi8>, %b: tensor<64x8xi8>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot_scaled' op expects b_scale to have shape [8, 2]; found [2, 8]}}
  %0 = tile.dot_scaled %a e4m3, %b scale %s e5m2, %c : tensor<16x64xi8> * tensor<64x8xi8>, tensor<2x8xi8> -> tensor<16x8xf32>
  return
}

// -----

func.func @scaled_format_keyword(%a: tensor<16x64xi8>, %b: tensor<64x8xi8>, %c: tensor<16x8xf32>) {
  // expected-error @below {{expected one of e2m1, e4m3, e5m2, bf16, fp16; found e3m4}}
  %0 = tile.dot_scaled %a e3m4, %b e5m2, %c : tensor<16x64xi8> * tensor<64x8xi8> -> tensor<16x8xf32>
  return
}
