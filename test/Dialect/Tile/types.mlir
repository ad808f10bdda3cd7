// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func private @pointers
// CHECK-SAME: (!tile.ptr<f32>, !tile.ptr<i8, 3>, !tile.ptr<f8E4M3FN, 0>, !tile.ptr<i1>, !tile.ptr<!tile.ptr<f16>>)
func.func private @pointers(!tile.ptr<f32, 1>, !tile.ptr<i8, 3>, !tile.ptr<f8E4M3FN, 0>, !tile.ptr<i1>, !tile.ptr<!tile.ptr<f16>>)

// CHECK-LABEL: func.func private @descriptors
// CHECK-SAME: (!tile.desc<128x64xf16>, !tile.desc<1x2x3x4x5xi32>, !tile.desc<256xf8E5M2>)
func.func private @descriptors(!tile.desc<128x64xf16>, !tile.desc<1x2x3x4x5xi32>, !tile.desc<256xf8E5M2>)
