// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(tile-gpu-remove-layout-conversions))' | FileCheck %s

// A chain between a load and a store takes their layout; the range and the splat
// are made in it.

// CHECK: #[[$WIDE:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane = {{\[}}[4], [8], [16], [32], [64]], warp = {{\[}}[128], [256]]}>
#narrow = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#wide = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @chain
  gpu.func @chain(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: convert_layout
    // CHECK: tile.arange 0, 1024 : tensor<1024xi32, #[[$WIDE]]>
    // CHECK: tile.store {{.*}} : tensor<1024x!tile.ptr<f32>, #[[$WIDE]]>
    // CHECK-NOT: convert_layout
    // CHECK: gpu.return
    %r = tile.arange 0, 1024 : tensor<1024xi32, #narrow>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>, #narrow>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>, #narrow>, tensor<1024xi32, #narrow>
    %qw = tile_gpu.convert_layout %q : tensor<1024x!tile.ptr<f32>, #narrow> -> tensor<1024x!tile.ptr<f32>, #wide>
    %xw = tile.load %qw : tensor<1024x!tile.ptr<f32>, #wide>
    %x = tile_gpu.convert_layout %xw : tensor<1024xf32, #wide> -> tensor<1024xf32, #narrow>
    %y = arith.mulf %x, %x : tensor<1024xf32, #narrow>
    %yw = tile_gpu.convert_layout %y : tensor<1024xf32, #narrow> -> tensor<1024xf32, #wide>
    tile.store %qw, %yw : tensor<1024x!tile.ptr<f32>, #wide>
    gpu.return
  }
}

// -----

// Loops, branches and their results follow: the pointers that a loop carries as
// well as the sum.

// CHECK: #[[$WIDE:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane
#narrow = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#wide = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @control_flow
  gpu.func @control_flow(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}, %n: i32, %c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = tile.arange 0, 1024 : tensor<1024xi32, #narrow>
    %ps = tile.splat %p : tensor<1024x!tile.ptr<f32>, #narrow>
    %q = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>, #narrow>, tensor<1024xi32, #narrow>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #narrow>
    %step = arith.constant dense<1024> : tensor<1024xi32, #narrow>
    // CHECK-NOT: convert_layout
    // CHECK: scf.for {{.*}} -> (tensor<1024x!tile.ptr<f32>, #[[$WIDE]]>, tensor<1024xf32, #[[$WIDE]]>)
    // CHECK-NOT: convert_layout
    // CHECK: scf.if {{.*}} -> (tensor<1024xf32, #[[$WIDE]]>)
    // CHECK-NOT: convert_layout
    // CHECK: gpu.return
    %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%qi = %q, %sum = %zero) -> (tensor<1024x!tile.ptr<f32>, #narrow>, tensor<1024xf32, #narrow>) : i32 {
      %qw = tile_gpu.convert_layout %qi : tensor<1024x!tile.ptr<f32>, #narrow> -> tensor<1024x!tile.ptr<f32>, #wide>
      %xw = tile.load %qw : tensor<1024x!tile.ptr<f32>, #wide>
      %x = tile_gpu.convert_layout %xw : tensor<1024xf32, #wide> -> tensor<1024xf32, #narrow>
      %y = arith.addf %sum, %x : tensor<1024xf32, #narrow>
      %next = tile.addptr %qi, %step : tensor<1024x!tile.ptr<f32>, #narrow>, tensor<1024xi32, #narrow>
      scf.yield %next, %y : tensor<1024x!tile.ptr<f32>, #narrow>, tensor<1024xf32, #narrow>
    }
    %s = scf.if %c -> tensor<1024xf32, #narrow> {
      scf.yield %l#1 : tensor<1024xf32, #narrow>
    } else {
      scf.yield %zero : tensor<1024xf32, #narrow>
    }
    %qw = tile_gpu.convert_layout %q : tensor<1024x!tile.ptr<f32>, #narrow> -> tensor<1024x!tile.ptr<f32>, #wide>
    %sw = tile_gpu.convert_layout %s : tensor<1024xf32, #narrow> -> tensor<1024xf32, #wide>
    tile.store %qw, %sw : tensor<1024x!tile.ptr<f32>, #wide>
    gpu.return
  }
}

// -----

// Transposed tiles have to change threads once, and do so in the narrow type.

// CHECK-DAG: #[[$ROWS:.+]] = #tile_gpu.layout<{register = {{\[}}[0, 1], [0, 2], [0, 4]], lane
// CHECK-DAG: #[[$COLUMNS:.+]] = #tile_gpu.layout<{register = {{\[}}[1, 0], [2, 0], [4, 0]], lane
#rows = #tile_gpu.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
#columns = #tile_gpu.layout<{register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @transpose
  gpu.func @transpose(%q: !tile.ptr<f16> {tile.divisibility = array<i32: 16>}, %o: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = tile.arange 0, 4096 : tensor<4096xi32, #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]}>>
    %off = tile.reshape %i : tensor<4096xi32, #tile_gpu.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]}>> -> tensor<64x64xi32, #rows>
    %qs = tile.splat %q : tensor<64x64x!tile.ptr<f16>, #rows>
    %os = tile.splat %o : tensor<64x64x!tile.ptr<f32>, #rows>
    %qp = tile.addptr %qs, %off : tensor<64x64x!tile.ptr<f16>, #rows>, tensor<64x64xi32, #rows>
    %op = tile.addptr %os, %off : tensor<64x64x!tile.ptr<f32>, #rows>, tensor<64x64xi32, #rows>
    // CHECK: %[[LOAD:.+]] = tile.load {{.*}} : tensor<64x64x!tile.ptr<f16>, #[[$ROWS]]>
    %x = tile.load %qp : tensor<64x64x!tile.ptr<f16>, #rows>
    // CHECK: %[[CONVERTED:.+]] = tile_gpu.convert_layout %[[LOAD]] : tensor<64x64xf16, #[[$ROWS]]> -> tensor<64x64xf16, #[[$COLUMNS]]>
    // CHECK: %[[TRANS:.+]] = tile.trans %[[CONVERTED]]
    %t = tile.trans %x [1, 0] : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    // CHECK: %[[WIDE:.+]] = arith.extf %[[TRANS]] : tensor<64x64xf16, #[[$ROWS]]>
    // CHECK: tile.store %{{.+}}, %[[WIDE]]
    %e = arith.extf %t : tensor<64x64xf16, #columns> to tensor<64x64xf32, #columns>
    %c = tile_gpu.convert_layout %e : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
    tile.store %op, %c : tensor<64x64x!tile.ptr<f32>, #rows>
    gpu.return
  }
}

// -----

// An op that the pass does not know keeps its layouts. What two of them need in
// different layouts is computed twice, in the loop that carries it, too.

// CHECK: #[[$NARROW:.+]] = #tile_gpu.layout<{register = [], lane = {{\[}}[1], [2], [4], [8], [16]], warp = {{\[}}[32], [64]]}>
// CHECK: #[[$WIDE:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane
#narrow = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#wide = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]}>
#shared = #tile_gpu.shared<order = [0], swizzle = 0>
gpu.module @m {
  // CHECK-LABEL: gpu.func @fixed
  gpu.func @fixed(%m: !tile_gpu.memdesc<1024xi32, #shared, mutable>, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK-DAG: %[[WIDE_INIT:.+]] = tile.arange 0, 1024 : tensor<1024xi32, #[[$WIDE]]>
    // CHECK-DAG: %[[NARROW_INIT:.+]] = tile.arange 0, 1024 : tensor<1024xi32, #[[$NARROW]]>
    // CHECK: %[[LOOP:.+]]:2 = scf.for {{.*}} iter_args(%[[N:.+]] = %[[NARROW_INIT]], %[[W:.+]] = %[[WIDE_INIT]])
    // CHECK: tile_gpu.local_store %[[W]]
    // CHECK: tile_gpu.local_store %[[N]]
    // CHECK-DAG: %[[W_NEXT:.+]] = arith.addi %[[W]], %{{.+}} : tensor<1024xi32, #[[$WIDE]]>
    // CHECK-DAG: %[[N_NEXT:.+]] = arith.addi %[[N]], %{{.+}} : tensor<1024xi32, #[[$NARROW]]>
    // CHECK: scf.yield %[[N_NEXT]], %[[W_NEXT]]
    // CHECK: tile_gpu.local_store %[[LOOP]]#0
    // CHECK-NOT: convert_layout
    // CHECK: gpu.return
    %r = tile.arange 0, 1024 : tensor<1024xi32, #wide>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%x = %r) -> (tensor<1024xi32, #wide>) : i32 {
      tile_gpu.local_store %x, %m : tensor<1024xi32, #wide>, !tile_gpu.memdesc<1024xi32, #shared, mutable>
      %c = tile_gpu.convert_layout %x : tensor<1024xi32, #wide> -> tensor<1024xi32, #narrow>
      tile_gpu.local_store %c, %m : tensor<1024xi32, #narrow>, !tile_gpu.memdesc<1024xi32, #shared, mutable>
      %s = tile.splat %n : tensor<1024xi32, #wide>
      %y = arith.addi %x, %s : tensor<1024xi32, #wide>
      scf.yield %y : tensor<1024xi32, #wide>
    }
    %e = tile_gpu.convert_layout %l : tensor<1024xi32, #wide> -> tensor<1024xi32, #narrow>
    tile_gpu.local_store %e, %m : tensor<1024xi32, #narrow>, !tile_gpu.memdesc<1024xi32, #shared, mutable>
    gpu.return
  }
}

// -----

// A volatile load is not repeated, and an atomic keeps its layout: both values
// are moved.

#narrow = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#copies = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @kept
  gpu.func @kept(%p: tensor<128x!tile.ptr<f32>, #narrow>, %o: tensor<128x!tile.ptr<f32>, #copies>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[X:.+]] = tile.load
    // CHECK: %[[A:.+]] = tile.atomic_rmw
    // CHECK-NOT: tile.load
    // CHECK: gpu.return
    %x = tile.load %p volatile : tensor<128x!tile.ptr<f32>, #narrow>
    %y = tile_gpu.convert_layout %x : tensor<128xf32, #narrow> -> tensor<128xf32, #copies>
    %a = tile.atomic_rmw fadd %p, %x : tensor<128x!tile.ptr<f32>, #narrow>
    %b = tile_gpu.convert_layout %a : tensor<128xf32, #narrow> -> tensor<128xf32, #copies>
    tile.store %o, %y : tensor<128x!tile.ptr<f32>, #copies>
    tile.store %o, %b : tensor<128x!tile.ptr<f32>, #copies>
    gpu.return
  }
}

// -----

// A load is repeated only from an argument that the kernel does not write to:
// the thread that holds an element may have overwritten it.

#narrow = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#swapped = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[64], [32]]}>
#shared = #tile_gpu.shared<order = [0], swizzle = 0>
!mem = !tile_gpu.memdesc<128xf32, #shared, mutable>
gpu.module @m {
  // CHECK-LABEL: gpu.func @repeated
  // CHECK-COUNT-2: tile.load
  // CHECK-NOT: convert_layout
  // CHECK: gpu.return
  gpu.func @repeated(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %zero: f32, %m: !mem) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.arange 0, 128 : tensor<128xi32, #narrow>
    %ps = tile.splat %p : tensor<128x!tile.ptr<f32>, #narrow>
    %pi = tile.addptr %ps, %r : tensor<128x!tile.ptr<f32>, #narrow>, tensor<128xi32, #narrow>
    %x = tile.load %pi : tensor<128x!tile.ptr<f32>, #narrow>
    tile_gpu.local_store %x, %m : tensor<128xf32, #narrow>, !mem
    %y = tile_gpu.convert_layout %x : tensor<128xf32, #narrow> -> tensor<128xf32, #swapped>
    tile_gpu.local_store %y, %m : tensor<128xf32, #swapped>, !mem
    tile.store %q, %zero : !tile.ptr<f32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @written
  // CHECK: %[[X:.+]] = tile.load
  // CHECK-NOT: tile.load
  // CHECK: tile_gpu.convert_layout %[[X]]
  // CHECK-NOT: tile.load
  // CHECK: gpu.return
  gpu.func @written(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %zero: f32, %m: !mem) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.arange 0, 128 : tensor<128xi32, #narrow>
    %ps = tile.splat %p : tensor<128x!tile.ptr<f32>, #narrow>
    %pi = tile.addptr %ps, %r : tensor<128x!tile.ptr<f32>, #narrow>, tensor<128xi32, #narrow>
    %x = tile.load %pi : tensor<128x!tile.ptr<f32>, #narrow>
    tile_gpu.local_store %x, %m : tensor<128xf32, #narrow>, !mem
    %y = tile_gpu.convert_layout %x : tensor<128xf32, #narrow> -> tensor<128xf32, #swapped>
    tile_gpu.local_store %y, %m : tensor<128xf32, #swapped>, !mem
    tile.store %p, %zero : !tile.ptr<f32>
    gpu.return
  }

  // Nor from one that may be the same memory.
  // CHECK-LABEL: gpu.func @written_by_its_group
  // CHECK: %[[X:.+]] = tile.load
  // CHECK-NOT: tile.load
  // CHECK: tile_gpu.convert_layout %[[X]]
  // CHECK-NOT: tile.load
  // CHECK: gpu.return
  gpu.func @written_by_its_group(%p: !tile.ptr<f32> {tile.alias_group = 0 : i32}, %q: !tile.ptr<f32> {tile.alias_group = 0 : i32}, %zero: f32, %m: !mem) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.arange 0, 128 : tensor<128xi32, #narrow>
    %ps = tile.splat %p : tensor<128x!tile.ptr<f32>, #narrow>
    %pi = tile.addptr %ps, %r : tensor<128x!tile.ptr<f32>, #narrow>, tensor<128xi32, #narrow>
    %x = tile.load %pi : tensor<128x!tile.ptr<f32>, #narrow>
    tile_gpu.local_store %x, %m : tensor<128xf32, #narrow>, !mem
    %y = tile_gpu.convert_layout %x : tensor<128xf32, #narrow> -> tensor<128xf32, #swapped>
    tile_gpu.local_store %y, %m : tensor<128xf32, #swapped>, !mem
    tile.store %q, %zero : !tile.ptr<f32>
    gpu.return
  }

  // The kernel writes to an address that may be any.
  // CHECK-LABEL: gpu.func @written_anywhere
  // CHECK: %[[X:.+]] = tile.load
  // CHECK-NOT: tile.load
  // CHECK: tile_gpu.convert_layout %[[X]]
  gpu.func @written_anywhere(%p: !tile.ptr<f32>, %a: i64, %zero: f32, %m: !mem) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.arange 0, 128 : tensor<128xi32, #narrow>
    %ps = tile.splat %p : tensor<128x!tile.ptr<f32>, #narrow>
    %pi = tile.addptr %ps, %r : tensor<128x!tile.ptr<f32>, #narrow>, tensor<128xi32, #narrow>
    %x = tile.load %pi : tensor<128x!tile.ptr<f32>, #narrow>
    tile_gpu.local_store %x, %m : tensor<128xf32, #narrow>, !mem
    %y = tile_gpu.convert_layout %x : tensor<128xf32, #narrow> -> tensor<128xf32, #swapped>
    tile_gpu.local_store %y, %m : tensor<128xf32, #swapped>, !mem
    %q = tile.int_to_ptr %a : i64 -> !tile.ptr<f32>
    tile.store %q, %zero : !tile.ptr<f32>
    gpu.return
  }
}

// -----

// What a loop carries has one layout inside and after it, also where it starts
// and goes on with a constant, which has any.

// CHECK: #[[$WIDE:.+]] = #tile_gpu.layout<{register = {{\[}}[1], [2]], lane
#narrow = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]}>
#wide = #tile_gpu.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]}>
gpu.module @m {
  // CHECK-LABEL: gpu.func @carried_constant
  gpu.func @carried_constant(%p: !tile.ptr<i32> {tile.divisibility = array<i32: 16>}, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[RANGE:.+]] = tile.arange 0, 1024 : tensor<1024xi32, #[[$WIDE]]>
    // CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[RANGE]]) -> (tensor<1024xi32, #[[$WIDE]]>)
    // CHECK: scf.yield %[[RANGE]]
    %r = tile.arange 0, 1024 : tensor<1024xi32, #narrow>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %r) -> (tensor<1024xi32, #narrow>) : i32 {
      %kw = tile_gpu.convert_layout %k : tensor<1024xi32, #narrow> -> tensor<1024xi32, #wide>
      %ps = tile.splat %p : tensor<1024x!tile.ptr<i32>, #wide>
      %q = tile.addptr %ps, %kw : tensor<1024x!tile.ptr<i32>, #wide>, tensor<1024xi32, #wide>
      tile.store %q, %kw : tensor<1024x!tile.ptr<i32>, #wide>
      scf.yield %r : tensor<1024xi32, #narrow>
    }
    tile.print "" (%l : tensor<1024xi32, #narrow>)
    gpu.return
  }
}
