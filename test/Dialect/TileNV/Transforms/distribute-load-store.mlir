// RUN: tile-opt %s --tile-gpu-distribute | FileCheck %s

#l = #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []}>
#copies = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = []}>

gpu.module @m {

// A plain access is an LLVM one, as wide as the alignment allows.
// CHECK-LABEL: gpu.func @plain
// CHECK: %[[X:.*]] = llvm.load %[[P:.*]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: llvm.store %{{.*}}, %[[P]] {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
gpu.func @plain(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f16>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %x = tile.load %q : tensor<256x!tile.ptr<f16>, #l>
  tile.store %q, %x : tensor<256x!tile.ptr<f16>, #l>
  gpu.return
}

// A mask predicates the instruction; masked-off elements start as `other`.
// CHECK-LABEL: gpu.func @masked
// CHECK-SAME: %[[M:[a-z0-9]+]]: i1
// CHECK: %[[X:.*]] = llvm.inline_asm has_side_effects {{.*}} "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3" %{{.*}}, %[[M]], %[[O:.*]], %{{.*}}, %{{.*}}, %{{.*}} : (!llvm.ptr<1>, i1, i32, i32, i32, i32)
// CHECK: llvm.extractvalue %[[X]][0]
// CHECK: llvm.inline_asm has_side_effects {{.*}} "@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,b" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[M]]
gpu.func @masked(%p: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<f16>, #l>
  %q = tile.addptr %s, %i : tensor<256x!tile.ptr<f16>, #l>, tensor<256xi32, #l>
  %m = tile.splat %c : tensor<256xi1, #l>
  %o = arith.constant dense<2.0> : tensor<256xf16, #l>
  %x = tile.load %q mask %m other %o : tensor<256x!tile.ptr<f16>, #l>
  tile.store %q, %x mask %m : tensor<256x!tile.ptr<f16>, #l>
  gpu.return
}

// Without `other` the elements are zero.
// CHECK-LABEL: gpu.func @masked_zero
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: llvm.inline_asm has_side_effects {{.*}} "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0" %{{.*}}, %{{.*}}, %[[ZERO]]
gpu.func @masked_zero(%p: !tile.ptr<f32>, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %x = tile.load %p mask %c : !tile.ptr<f32>
  tile.store %p, %x : !tile.ptr<f32>
  gpu.return
}

// Volatile wins over a cache modifier, which wins over the eviction hint.
// CHECK-LABEL: gpu.func @modifiers
// CHECK: "ld.global.cg.b32 $0, [$1];", "=r,l"
// CHECK: "ld.global.L1::evict_first.b32 $0, [$1];", "=r,l"
// CHECK: llvm.load volatile %{{.*}} {alignment = 4 : i64}
// CHECK: "ld.global.cv.b32 $0, [$1];", "=r,l"
// CHECK: "@$2 ld.volatile.b32 $0, [$1];", "=r,l,b,0"
// CHECK: "@$2 st.global.wt.b32 [$0], $1;", "l,r,b"
// CHECK: "@$2 st.L1::no_allocate.b32 [$0], $1;", "l,r,b"
gpu.func @modifiers(%p: !tile.ptr<i32>, %g: !tile.ptr<i32, 0>, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %a = tile.load %p cache(cg) : !tile.ptr<i32>
  %b = tile.load %p evict(evict_first) : !tile.ptr<i32>
  %d = tile.load %p volatile : !tile.ptr<i32>
  %e = tile.load %p cache(cv) evict(evict_last) : !tile.ptr<i32>
  %f = tile.load %g mask %c volatile : !tile.ptr<i32, 0>
  tile.store %p, %a cache(wt) : !tile.ptr<i32>
  tile.store %g, %f evict(no_allocate) : !tile.ptr<i32, 0>
  gpu.return
}

// Shared memory knows no eviction priorities.
// CHECK-LABEL: gpu.func @shared
// CHECK: "@$2 ld.shared.b32 $0, [$1];", "=r,l,b,0"
gpu.func @shared(%s: !tile.ptr<i32, 3>, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %z = tile.load %s mask %c evict(evict_first) : !tile.ptr<i32, 3>
  tile.store %s, %z : !tile.ptr<i32, 3>
  gpu.return
}

// Of several holders of an element one stores it; a scalar is stored by thread 0.
// CHECK-LABEL: gpu.func @holders
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr<1>
// CHECK-DAG: %[[TID:.*]] = arith.index_cast
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[BIT:.*]] = arith.andi %[[TID]], %[[C16]]
// CHECK-DAG: %[[HOLDER:.*]] = arith.cmpi eq, %[[BIT]], %{{.*}}
// CHECK-DAG: %[[FIRST:.*]] = arith.cmpi eq, %[[TID]], %{{.*}}
// CHECK: llvm.inline_asm {{.*}} "@$2 st.global.b32 [$0], $1;", "l,r,b" %{{.*}}, %{{.*}}, %[[HOLDER]]
// CHECK: llvm.inline_asm {{.*}} "@$2 st.global.b32 [$0], $1;", "l,r,b" %[[P]], %{{.*}}, %[[FIRST]]
gpu.func @holders(%p: !tile.ptr<i32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 16 : tensor<16xi32, #copies>
  %s = tile.splat %p : tensor<16x!tile.ptr<i32>, #copies>
  %q = tile.addptr %s, %i : tensor<16x!tile.ptr<i32>, #copies>, tensor<16xi32, #copies>
  tile.store %q, %i : tensor<16x!tile.ptr<i32>, #copies>
  %x = tile.load %p : !tile.ptr<i32>
  tile.store %p, %x : !tile.ptr<i32>
  gpu.return
}

// i1 is a byte in memory; pointers are 64 bits.
// CHECK-LABEL: gpu.func @types
// CHECK: %[[B:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: %[[TRUE:.*]] = arith.cmpi ne, %[[B]], %{{.*}} : i8
// CHECK: %[[BYTE:.*]] = arith.extui %[[TRUE]] : i1 to i8
// CHECK: %[[WORD:.*]] = arith.extui %[[BYTE]] : i8 to i16
// CHECK: "@$2 st.global.b8 [$0], $1;", "l,h,b" %{{.*}}, %[[WORD]]
// CHECK: %[[A:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.inttoptr %[[A]] : i64 to !llvm.ptr<1>
// CHECK: %[[E:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: arith.bitcast %[[E]] : i8 to f8E4M3FN
gpu.func @types(%b: !tile.ptr<i1>, %p: !tile.ptr<!tile.ptr<f32>>, %e: !tile.ptr<f8E4M3FN>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %x = tile.load %b : !tile.ptr<i1>
  tile.store %b, %x : !tile.ptr<i1>
  %y = tile.load %p : !tile.ptr<!tile.ptr<f32>>
  tile.store %p, %y : !tile.ptr<!tile.ptr<f32>>
  %z = tile.load %e : !tile.ptr<f8E4M3FN>
  tile.store %e, %z : !tile.ptr<f8E4M3FN>
  gpu.return
}

}

// From sm_80 on, L2 gets the eviction priority, too, by an operand. Other hints have none.
gpu.module @cache_policy [#nvvm.target<chip = "sm_80">] {
// CHECK-LABEL: gpu.func @cache_policy
// CHECK: %[[FIRST:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l"
// CHECK: "ld.global.L1::evict_first.L2::cache_hint.b32 $0, [$1], $2;", "=r,l,l" %{{.*}}, %[[FIRST]]
// CHECK: %[[LAST:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l"
// CHECK: "@$2 ld.global.L1::evict_last.L2::cache_hint.b32 $0, [$1], $4;", "=r,l,b,0,l" %{{.*}}, %{{.*}}, %{{.*}}, %[[LAST]]
// CHECK-NOT: createpolicy
// CHECK: "ld.global.L1::no_allocate.b32
// CHECK: "@$2 ld.volatile.global.b32
// CHECK: "ld.global.cg.b32
// CHECK: %[[STORED:.*]] = llvm.inline_asm asm_dialect = att "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l"
// CHECK: "@$2 st.global.L1::evict_first.L2::cache_hint.b32 [$0], $1, $3;", "l,r,b,l" %{{.*}}, %{{.*}}, %{{.*}}, %[[STORED]]
gpu.func @cache_policy(%p: !tile.ptr<i32>, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %x = tile.load %p evict(evict_first) : !tile.ptr<i32>
  %y = tile.load %p mask %c evict(evict_last) : !tile.ptr<i32>
  %z = tile.load %p evict(no_allocate) : !tile.ptr<i32>
  %v = tile.load %p mask %c evict(evict_first) volatile : !tile.ptr<i32>
  %w = tile.load %p cache(cg) evict(evict_first) : !tile.ptr<i32>
  tile.store %p, %x mask %c evict(evict_first) : !tile.ptr<i32>
  gpu.return
}
}

// Of elements at one address one is loaded: two of the eight here, each for a block of 4. Where the
// masks of a block differ, and of volatile loads, all are.
gpu.module @same_address {
// CHECK-LABEL: gpu.func @same_address
// CHECK-COUNT-2: = llvm.load {{.*}} -> i32
// CHECK-NOT: llvm.load
// CHECK-COUNT-8: "@$2 ld.global.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-8: llvm.load volatile
// CHECK-NOT: llvm.load
gpu.func @same_address(%p: !tile.ptr<i32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %i = tile.arange 0, 256 : tensor<256xi32, #l>
  %two = arith.constant dense<2> : tensor<256xi32, #l>
  %group = arith.shrui %i, %two : tensor<256xi32, #l>
  %s = tile.splat %p : tensor<256x!tile.ptr<i32>, #l>
  %q = tile.addptr %s, %group : tensor<256x!tile.ptr<i32>, #l>, tensor<256xi32, #l>
  %x = tile.load %q : tensor<256x!tile.ptr<i32>, #l>
  %bound = tile.splat %n : tensor<256xi32, #l>
  %mask = arith.cmpi slt, %i, %bound : tensor<256xi32, #l>
  %y = tile.load %q mask %mask : tensor<256x!tile.ptr<i32>, #l>
  %z = tile.load %q volatile : tensor<256x!tile.ptr<i32>, #l>
  gpu.return
}
}
