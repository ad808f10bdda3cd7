// RUN: tile-opt %s -split-input-file --tile-gpu-distribute --canonicalize --cse | FileCheck %s

// Registers change their numbers only: register 1 of the result holds element 2.

#a = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = []}>
#b = #tile_gpu.layout<{register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = []}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @within_thread
  // CHECK: %[[IN:.*]] = llvm.load {{.*}} -> vector<4xf32>
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  // CHECK-DAG: %[[X0:.*]] = llvm.extractelement %[[IN]][%c0_i32
  // CHECK-DAG: %[[X1:.*]] = llvm.extractelement %[[IN]][%c1_i32
  // CHECK-DAG: %[[X2:.*]] = llvm.extractelement %[[IN]][%c2_i32
  // CHECK-DAG: %[[X3:.*]] = llvm.extractelement %[[IN]][%c3_i32
  // CHECK: llvm.store %[[X0]], %[[OUT:.*]] {alignment = 4
  // CHECK: %[[OUT2:.*]] = llvm.getelementptr inbounds %[[OUT]][8]
  // CHECK: llvm.store %[[X2]], %[[OUT2]]
  // CHECK: llvm.store %[[X1]]
  // CHECK: llvm.store %[[X3]]
  gpu.func @within_thread() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<128xf32, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<128xf32, #row, mutable> -> tensor<128xf32, #a>
    %y = tile_gpu.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tile_gpu.local_store %y, %in : tensor<128xf32, #b>, !tile_gpu.memdesc<128xf32, #row, mutable>
    gpu.return
  }
}

// -----

// Two 16-bit registers share a shuffle.

#a = #tile_gpu.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0]]}>
#b = #tile_gpu.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [[0]]}>
#row = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @within_warp
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
  // CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
  // CHECK: %[[LOW:.*]], %{{.*}} = gpu.shuffle idx %[[WORD]], %[[SOURCE:.*]], %c32_i32 : i32
  // CHECK: llvm.bitcast %[[LOW]] : i32 to vector<2xf16>
  // CHECK: %[[OTHER:.*]] = arith.xori %[[SOURCE]], %c16_i32
  // CHECK: gpu.shuffle idx %[[WORD]], %[[OTHER]], %c32_i32 : i32
  // The source register depends on the lane.
  // CHECK: %[[BIT:.*]] = arith.andi %[[LANE]], %c1_i32
  // CHECK: %[[ODD:.*]] = arith.cmpi eq, %[[BIT]], %c1_i32
  // CHECK-COUNT-2: arith.select %[[ODD]]
  // CHECK-NOT: gpu.barrier
  gpu.func @within_warp() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<64xf16, #row, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<64xf16, #row, mutable> -> tensor<64xf16, #a>
    %y = tile_gpu.convert_layout %x : tensor<64xf16, #a> -> tensor<64xf16, #b>
    tile_gpu.local_store %y, %in : tensor<64xf16, #b>, !tile_gpu.memdesc<64xf16, #row, mutable>
    gpu.return
  }
}

// -----

// Between warps: wide stores, one barrier, loads with constant displacements.

#a = #tile_gpu.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#b = #tile_gpu.layout<{register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]}>
#tile = #tile_gpu.shared<order = [0, 1], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @through_shared
  // CHECK: llvm.load {{.*}} -> vector<4xf32>
  // CHECK: %[[SCRATCH:.*]] = llvm.getelementptr %{{.*}}[2048]
  // CHECK: %[[TO:.*]] = llvm.getelementptr inbounds %[[SCRATCH]]
  // CHECK: llvm.store %{{.*}}, %[[TO]] {alignment = 16 : i64} : vector<4xf32>
  // CHECK-NOT: llvm.store
  // CHECK: gpu.barrier
  // CHECK: %[[FROM:.*]] = llvm.getelementptr inbounds %[[SCRATCH]]
  // CHECK: llvm.load %[[FROM]]
  // CHECK: llvm.getelementptr inbounds %[[FROM]][128]
  // CHECK: llvm.getelementptr inbounds %[[FROM]][256]
  // CHECK: llvm.getelementptr inbounds %[[FROM]][384]
  // CHECK-NOT: gpu.barrier
  gpu.func @through_shared() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %in = tile_gpu.alloc {offset = 0 : i64} : !tile_gpu.memdesc<16x32xf32, #tile, mutable>
    %x = tile_gpu.local_load %in : !tile_gpu.memdesc<16x32xf32, #tile, mutable> -> tensor<16x32xf32, #a>
    %y = tile_gpu.convert_layout %x {tile_gpu.scratch = #tile_gpu.scratch<offset = 2048, bytes = 2048>} : tensor<16x32xf32, #a> -> tensor<16x32xf32, #b>
    tile_gpu.local_store %y, %in : tensor<16x32xf32, #b>, !tile_gpu.memdesc<16x32xf32, #tile, mutable>
    gpu.return
  }
}

// -----

// Of several holders of an element one writes it; i1 travels as a byte.

#a = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = [[16], [0]]}>
#b = #tile_gpu.layout<{register = [], lane = [[2], [1], [4], [8], [16]], warp = [[0], [0]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @copies
  // CHECK: %[[THREAD:.*]] = arith.index_cast
  // Lane bit 4 and warp bit 1.
  // CHECK: %[[COPY:.*]] = arith.andi %[[THREAD]], %c80_i32
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[COPY]], %c0_i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: %[[BYTE:.*]] = arith.extui %{{.*}} : i1 to i8
  // CHECK-NEXT: llvm.store %[[BYTE]], %{{.*}} : i8, !llvm.ptr<3>
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.barrier
  // CHECK: %[[LOADED:.*]] = llvm.load {{.*}} -> i8
  // CHECK: arith.cmpi ne, %[[LOADED]], %{{.*}} : i8
  gpu.func @copies(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = tile.arange 0, 32 : tensor<32xi32, #a>
    %c = arith.constant dense<7> : tensor<32xi32, #a>
    %x = arith.cmpi sgt, %i, %c : tensor<32xi32, #a>
    %y = tile_gpu.convert_layout %x {tile_gpu.scratch = #tile_gpu.scratch<offset = 0, bytes = 32>} : tensor<32xi1, #a> -> tensor<32xi1, #b>
    %out = tile_gpu.alloc {offset = 1024 : i64} : !tile_gpu.memdesc<32xi1, #tile_gpu.shared<order = [0], swizzle = 0>, mutable>
    tile_gpu.local_store %y, %out : tensor<32xi1, #b>, !tile_gpu.memdesc<32xi1, #tile_gpu.shared<order = [0], swizzle = 0>, mutable>
    gpu.return
  }
}
