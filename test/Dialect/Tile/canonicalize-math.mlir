// RUN: tile-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>, %[[Y:.*]]: tensor<4xf32>)
func.func @casts(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf64>, tensor<4xbf16>, tensor<4xf32>) {
  // CHECK-DAG: %[[D:.*]] = tile.fp_cast %[[X]] : tensor<4xf16> -> tensor<4xf64>
  // CHECK-DAG: %[[B:.*]] = tile.fp_cast %[[X]] round(rtz) : tensor<4xf16> -> tensor<4xbf16>
  // CHECK-DAG: %[[N:.*]] = tile.fp_cast %[[Y]] : tensor<4xf32> -> tensor<4xf16>
  // CHECK-DAG: %[[W:.*]] = tile.fp_cast %[[N]] : tensor<4xf16> -> tensor<4xf32>
  // CHECK: return %[[X]], %[[X]], %[[D]], %[[B]], %[[W]]
  %0 = tile.fp_cast %x : tensor<4xf16> -> tensor<4xf16>
  %1 = tile.fp_cast %x : tensor<4xf16> -> tensor<4xf32>
  %2 = tile.fp_cast %1 round(rtz) : tensor<4xf32> -> tensor<4xf16>
  %3 = tile.fp_cast %1 : tensor<4xf32> -> tensor<4xf64>
  %4 = tile.fp_cast %1 round(rtz) : tensor<4xf32> -> tensor<4xbf16>
  // A narrowing conversion rounds and stays.
  %5 = tile.fp_cast %y : tensor<4xf32> -> tensor<4xf16>
  %6 = tile.fp_cast %5 : tensor<4xf16> -> tensor<4xf32>
  return %0, %2, %3, %4, %6 : tensor<4xf16>, tensor<4xf16>, tensor<4xf64>, tensor<4xbf16>, tensor<4xf32>
}

// f16 to f8E4M3FN and back to f32: the first one rounds.
// CHECK-LABEL: func.func @cast_fp8
func.func @cast_fp8(%x: f8E5M2) -> (f16, f32) {
  // CHECK-DAG: tile.fp_cast %{{.*}} : f8E5M2 -> f16
  // CHECK-DAG: tile.fp_cast %{{.*}} : f8E5M2 -> f32
  %0 = tile.fp_cast %x : f8E5M2 -> f16
  %1 = tile.fp_cast %0 : f16 -> f32
  return %0, %1 : f16, f32
}

// Infinity saturates on the way back to f8E5M2. f8E4M3FN has none.
// CHECK-LABEL: func.func @cast_fp8_there_and_back
// CHECK-SAME: (%[[X:.*]]: f8E5M2, %[[Y:.*]]: f8E4M3FN)
func.func @cast_fp8_there_and_back(%x: f8E5M2, %y: f8E4M3FN) -> (f8E5M2, f8E4M3FN) {
  // CHECK: %[[WIDE:.*]] = tile.fp_cast %[[X]] : f8E5M2 -> f32
  // CHECK: %[[BACK:.*]] = tile.fp_cast %[[WIDE]] : f32 -> f8E5M2
  // CHECK: return %[[BACK]], %[[Y]]
  %0 = tile.fp_cast %x : f8E5M2 -> f16
  %1 = tile.fp_cast %0 : f16 -> f32
  %2 = tile.fp_cast %1 : f32 -> f8E5M2
  %3 = tile.fp_cast %y : f8E4M3FN -> f32
  %4 = tile.fp_cast %3 : f32 -> f8E4M3FN
  return %2, %4 : f8E5M2, f8E4M3FN
}

// 1 + 3 * 2^-11 is halfway between 1 + 2^-10 and 1 + 2^-9: ties to even.
// CHECK-LABEL: func.func @cast_rounding
func.func @cast_rounding() -> (i16, i16, i16, i16) {
  // CHECK-DAG: %[[NEAREST:.*]] = arith.constant 15362 : i16
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 15361 : i16
  // CHECK-DAG: %[[INF:.*]] = arith.constant 31744 : i16
  // CHECK-DAG: %[[MAX:.*]] = arith.constant 31743 : i16
  // CHECK: return %[[NEAREST]], %[[ZERO]], %[[INF]], %[[MAX]]
  %a = arith.constant 1.00146484375 : f32
  %b = arith.constant 1.0e6 : f32
  %0 = tile.fp_cast %a : f32 -> f16
  %1 = tile.fp_cast %a round(rtz) : f32 -> f16
  %2 = tile.fp_cast %b : f32 -> f16
  %3 = tile.fp_cast %b round(rtz) : f32 -> f16
  %4 = tile.bitcast %0 : f16 -> i16
  %5 = tile.bitcast %1 : f16 -> i16
  %6 = tile.bitcast %2 : f16 -> i16
  %7 = tile.bitcast %3 : f16 -> i16
  return %4, %5, %6, %7 : i16, i16, i16, i16
}

// fp8 saturates, infinity included; NaN stays.
// CHECK-LABEL: func.func @cast_saturation
func.func @cast_saturation() -> (f8E4M3FN, f8E4M3FN, f8E4M3FN, f8E4M3FN, f8E5M2, f8E5M2, f8E4M3FN) {
  // CHECK-DAG: %[[MAX:.*]] = arith.constant 4.480000e+02 : f8E4M3FN
  // CHECK-DAG: %[[MIN:.*]] = arith.constant -4.480000e+02 : f8E4M3FN
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7F : f8E4M3FN
  // CHECK-DAG: %[[MAX5:.*]] = arith.constant 5.734400e+04 : f8E5M2
  // CHECK-DAG: %[[NAN5:.*]] = arith.constant 0x7E : f8E5M2
  // CHECK-DAG: %[[EVEN:.*]] = arith.constant 1.000000e+00 : f8E4M3FN
  // CHECK: return %[[MAX]], %[[MAX]], %[[MIN]], %[[NAN]], %[[MAX5]], %[[NAN5]], %[[EVEN]]
  %large = arith.constant 1.0e9 : f32
  %inf = arith.constant 0x7F800000 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  // Halfway between 1 and 1.125.
  %tie = arith.constant 1.0625 : f32
  %0 = tile.fp_cast %large : f32 -> f8E4M3FN
  %1 = tile.fp_cast %inf : f32 -> f8E4M3FN
  %2 = tile.fp_cast %ninf : f32 -> f8E4M3FN
  %3 = tile.fp_cast %nan : f32 -> f8E4M3FN
  %4 = tile.fp_cast %inf : f32 -> f8E5M2
  %5 = tile.fp_cast %nan : f32 -> f8E5M2
  %6 = tile.fp_cast %tie : f32 -> f8E4M3FN
  return %0, %1, %2, %3, %4, %5, %6 : f8E4M3FN, f8E4M3FN, f8E4M3FN, f8E4M3FN, f8E5M2, f8E5M2, f8E4M3FN
}

// CHECK-LABEL: func.func @cast_tile
func.func @cast_tile() -> tensor<4xbf16> {
  // CHECK: arith.constant dense<3.140630e+00> : tensor<4xbf16>
  %0 = arith.constant dense<3.14159274> : tensor<4xf32>
  %1 = tile.fp_cast %0 : tensor<4xf32> -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @mulhi
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>)
func.func @mulhi(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, i32, i32) {
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0> : tensor<4xi32>
  // CHECK-DAG: %[[U:.*]] = arith.constant -2 : i32
  // CHECK-DAG: %[[S:.*]] = arith.constant 0 : i32
  // CHECK: return %[[Z]], %[[Z]], %[[U]], %[[S]]
  %zero = arith.constant dense<0> : tensor<4xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  %m = arith.constant -1 : i32
  %0 = tile.mulhi %zero, %x : tensor<4xi32>
  %1 = tile.mulhi %x, %one : tensor<4xi32>
  // 0xffffffff squared is 0xfffffffe00000001.
  %2 = tile.mulhi %m, %m : i32
  %3 = tile.mulhi signed %m, %m : i32
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, i32, i32
}

// The upper half of x * 1 is the sign of x.
// CHECK-LABEL: func.func @mulhi_signed_one
func.func @mulhi_signed_one(%x: i32) -> i32 {
  // CHECK: tile.mulhi signed
  %one = arith.constant 1 : i32
  %0 = tile.mulhi signed %x, %one : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @precise
// CHECK-SAME: (%[[X:.*]]: f32)
func.func @precise(%x: f32) -> (f32, f64, f32, f32) {
  // CHECK-DAG: %[[A:.*]] = arith.constant 1.41421354 : f32
  // CHECK-DAG: %[[B:.*]] = arith.constant 1.4142135623730951 : f64
  // CHECK-DAG: %[[C:.*]] = arith.constant 0.333333343 : f32
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[X]]
  %two = arith.constant 2.0 : f32
  %two64 = arith.constant 2.0 : f64
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %0 = tile.precise_sqrt %two : f32
  %1 = tile.precise_sqrt %two64 : f64
  %2 = tile.precise_div %one, %three : f32
  %3 = tile.precise_div %x, %one : f32
  return %0, %1, %2, %3 : f32, f64, f32, f32
}

// CHECK-LABEL: func.func @clamp
func.func @clamp() -> (f32, f32, f32, f32) {
  // CHECK-DAG: %[[LO:.*]] = arith.constant -1.000000e+00 : f32
  // CHECK-DAG: %[[HI:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK: return %[[HI]], %[[LO]], %[[LO]], %[[NAN]]
  %lo = arith.constant -1.0 : f32
  %hi = arith.constant 1.0 : f32
  %x = arith.constant 5.0 : f32
  %y = arith.constant -5.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %0 = tile.clamp %x, %lo, %hi : f32
  %1 = tile.clamp %y, %lo, %hi : f32
  %2 = tile.clamp %nan, %lo, %hi : f32
  %3 = tile.clamp %nan, %lo, %hi propagate_nan : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @dot_zero
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<16x8xi32>
func.func @dot_zero(%c: tensor<16x8xi32>, %b: tensor<32x8xi8>) -> tensor<16x8xi32> {
  // CHECK-NEXT: return %[[C]]
  %a = arith.constant dense<0> : tensor<16x32xi8>
  %0 = tile.dot %a, %b, %c : tensor<16x32xi8> * tensor<32x8xi8> -> tensor<16x8xi32>
  return %0 : tensor<16x8xi32>
}

// 0 * infinity is NaN.
// CHECK-LABEL: func.func @dot_float_zero
func.func @dot_float_zero(%c: tensor<16x8xf32>, %b: tensor<32x8xf16>) -> tensor<16x8xf32> {
  // CHECK: tile.dot
  %a = arith.constant dense<0.0> : tensor<16x32xf16>
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
