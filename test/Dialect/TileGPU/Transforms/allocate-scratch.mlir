// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(tile-gpu-allocate-shared-memory))" | FileCheck %s

#spread = #tile_gpu.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0]]}>
#rows = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#columns = #tile_gpu.layout<{register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]}>
#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>

gpu.module @m {

// A conversion through shared memory needs as much as the tile.
// CHECK-LABEL: gpu.func @scratch
// CHECK-SAME: tile_gpu.shared_bytes = [[#%d,BYTES:]] : i64
// CHECK: tile_gpu.convert_layout {{.*}} {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = [[#BYTES]]>}
gpu.func @scratch(%x: tensor<64x64xf32, #rows>) kernel {
  %0 = tile_gpu.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  gpu.return
}

// An attribute of an earlier run, on an op that needs no memory, goes away.
// CHECK-LABEL: gpu.func @stale
// CHECK-SAME: tile_gpu.shared_bytes = 0 : i64
// CHECK-NOT: tile_gpu.scratch
gpu.func @stale(%x: tensor<64x64xf32, #rows>) kernel {
  "op"() {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 16>} : () -> ()
  gpu.return
}

// Large scratch memory is shared, one op after the other.
// CHECK-LABEL: gpu.func @large
// CHECK: scratch<offset = 0, bytes = [[#%d,BYTES:]]>
// CHECK: scratch<offset = 0, bytes = [[#BYTES]]>
gpu.func @large(%x: tensor<64x64xf32, #rows>) kernel {
  %0 = tile_gpu.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
  %1 = arith.negf %0 : tensor<64x64xf32, #columns>
  %2 = tile_gpu.convert_layout %1 : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
  gpu.return
}

// Small scratch memory is apart from that of the next op, which saves a barrier,
// but not from that of the one after.
// CHECK-LABEL: gpu.func @small
// CHECK: scratch<offset = [[#%d,A:]], bytes = [[#%d,BYTES:]]>
// CHECK-NOT: offset = [[#A]],
// CHECK: scratch<offset = [[#%d,B:]], bytes = [[#BYTES]]>
// CHECK: scratch<offset = [[#A]], bytes = [[#BYTES]]>
gpu.func @small(%x: tensor<16x32xf16, #rows>) kernel {
  %0 = tile_gpu.convert_layout %x : tensor<16x32xf16, #rows> -> tensor<16x32xf16, #columns>
  %1 = arith.negf %0 : tensor<16x32xf16, #columns>
  %2 = tile_gpu.convert_layout %1 : tensor<16x32xf16, #columns> -> tensor<16x32xf16, #rows>
  %3 = arith.negf %2 : tensor<16x32xf16, #rows>
  %4 = tile_gpu.convert_layout %3 : tensor<16x32xf16, #rows> -> tensor<16x32xf16, #columns>
  gpu.return
}

// Each row is spread over the warps alone, whose sums are as many as the
// elements: the tiles are converted one after the other, in the memory of one.
// CHECK-LABEL: gpu.func @scan
// CHECK-SAME: tile_gpu.shared_bytes = 16384 : i64
gpu.func @scan(%x: tensor<8x256xf64, #spread>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %0:3 = tile.scan(%x, %x, %x) axis 0 : (tensor<8x256xf64, #spread>, tensor<8x256xf64, #spread>, tensor<8x256xf64, #spread>) -> (tensor<8x256xf64, #spread>, tensor<8x256xf64, #spread>, tensor<8x256xf64, #spread>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %d: f64, %e: f64, %f: f64):
    %3 = arith.addf %a, %d : f64
    tile.yield %3, %b, %c : f64, f64, f64
  }
  gpu.return
}

// Two of them take no more memory than one, at the same place.
// CHECK-LABEL: gpu.func @scans
// CHECK-SAME: tile_gpu.shared_bytes = 16384 : i64
// CHECK: tile.scan({{.*}}) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0,
// CHECK: tile.scan({{.*}}) axis 0 {tile_gpu.scratch = #tile_gpu.scratch<offset = 0,
gpu.func @scans(%x: tensor<8x256xf64, #spread>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
  %0 = tile.scan(%x) axis 0 : (tensor<8x256xf64, #spread>) -> tensor<8x256xf64, #spread> {
  ^bb0(%a: f64, %b: f64):
    %2 = arith.addf %a, %b : f64
    tile.yield %2 : f64
  }
  %1 = tile.scan(%x) axis 0 : (tensor<8x256xf64, #spread>) -> tensor<8x256xf64, #spread> {
  ^bb0(%a: f64, %b: f64):
    %2 = arith.mulf %a, %b : f64
    tile.yield %2 : f64
  }
  gpu.return
}
}
