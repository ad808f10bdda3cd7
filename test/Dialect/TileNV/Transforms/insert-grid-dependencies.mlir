// RUN: tile-opt %s --pass-pipeline='builtin.module(gpu.module(tile-nv-insert-grid-dependencies))' --split-input-file --verify-diagnostics | FileCheck %s

gpu.module @hopper [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @no_loads(
  // CHECK-SAME: attributes {tile_nv.programmatic_launch}
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: tile.program_id
  gpu.func @no_loads(%p: !tile.ptr<i32>) kernel {
    %x = tile.program_id x : i32
    tile.store %p, %x : !tile.ptr<i32>
    gpu.return
  }

  // The dependents start when the first loads are under way; what they do not need comes later, in
  // its order. The address of the third load needs the second.
  // CHECK-LABEL: gpu.func @loads(
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: %[[X:.*]] = tile.load
  // CHECK-NEXT: %[[I:.*]] = tile.load
  // CHECK-NEXT: %[[Q:.*]] = tile.addptr
  // CHECK-NEXT: %[[Y:.*]] = tile.load %[[Q]]
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]]
  // CHECK-NEXT: arith.negf %[[WIDE]]
  // CHECK-NEXT: arith.extf %[[Y]]
  // CHECK: tile.reduce
  // CHECK: tile.load
  // CHECK-NOT: griddepcontrol
  gpu.func @loads(%p: !tile.ptr<f16>, %q: !tile.ptr<i32>, %out: !tile.ptr<f32>) kernel {
    %x = tile.load %p : !tile.ptr<f16>
    %wide = arith.extf %x : f16 to f32
    %i = tile.load %q : !tile.ptr<i32>
    %negative = arith.negf %wide : f32
    %r = tile.addptr %p, %i : !tile.ptr<f16>, i32
    %y = tile.load %r : !tile.ptr<f16>
    %z = arith.extf %y : f16 to f32
    %tile = tile.splat %z : tensor<32xf32>
    %sum = tile.reduce(%tile) axis 0 : (tensor<32xf32>) -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %late = tile.load %out : !tile.ptr<f32>
    %total = arith.addf %late, %sum : f32
    %result = arith.addf %total, %negative : f32
    tile.store %out, %result : !tile.ptr<f32>
    gpu.return
  }

  // A kernel that waits where it likes is left alone, in a branch and as PTX too.
  // CHECK-LABEL: gpu.func @waits(
  // CHECK-SAME: attributes {tile_nv.programmatic_launch}
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NOT: griddepcontrol
  // CHECK-LABEL: gpu.func @waits_in_ptx(
  // CHECK-SAME: attributes {tile_nv.programmatic_launch}
  // CHECK-NEXT: llvm.inline_asm has_side_effects "griddepcontrol.wait;"
  // CHECK-NOT: griddepcontrol
  gpu.func @waits(%c: i1) kernel {
    scf.if %c {
      nvvm.griddepcontrol wait
    }
    gpu.return
  }
  gpu.func @waits_in_ptx() kernel {
    llvm.inline_asm has_side_effects "griddepcontrol.wait;", "" : () -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @launches(
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;"
  // CHECK-NOT: griddepcontrol
  gpu.func @launches() kernel {
    llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;", "" : () -> ()
    gpu.return
  }

  // The first blocks (4 MiB / 512 bytes) prefetch what all read a part of, ahead of the wait. Not what
  // every block reads (%w), nor what is behind a pointer from memory, a volatile access or a scalar.
  // CHECK-LABEL: gpu.func @prefetches(
  // CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[W:.*]]: !tile.ptr<f32>, %[[T:.*]]: !tile.ptr<i32>, %[[N:.*]]: i32)
  // CHECK-NEXT: %[[X:.*]] = tile.program_id x
  // CHECK: %[[I:.*]] = tile.arange
  // CHECK: %[[Q:.*]] = tile.addptr %{{.*}}, %[[I]]
  // CHECK: %[[MASK:.*]] = arith.cmpi slt
  // CHECK: %[[LIMIT:.*]] = arith.constant 8192 : i32
  // CHECK: %[[Z:.*]] = tile.program_id z
  // CHECK: %[[Y:.*]] = tile.program_id y
  // CHECK: %[[NY:.*]] = tile.num_programs y
  // CHECK: %[[ZY:.*]] = arith.muli %[[Z]], %[[NY]]
  // CHECK: %[[YZ:.*]] = arith.addi %[[Y]], %[[ZY]]
  // CHECK: %[[PX:.*]] = tile.program_id x
  // CHECK: %[[NX:.*]] = tile.num_programs x
  // CHECK: %[[YX:.*]] = arith.muli %[[YZ]], %[[NX]]
  // CHECK: %[[BLOCK:.*]] = arith.addi %[[PX]], %[[YX]]
  // CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %[[LIMIT]]
  // CHECK-NEXT: scf.if %[[FIRST]] {
  // CHECK-NEXT: tile_nv.prefetch %[[Q]] mask %[[MASK]]
  // CHECK-NEXT: }
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK: tile.load %[[Q]] mask %[[MASK]]
  // CHECK: nvvm.griddepcontrol launch_dependents
  // CHECK-NOT: prefetch
  gpu.func @prefetches(%p: !tile.ptr<f32>, %w: !tile.ptr<f32>, %t: !tile.ptr<i32>, %n: i32) kernel {
    %x = tile.program_id x : i32
    %index = tile.addptr %t, %x : !tile.ptr<i32>, i32
    %row = tile.load %index : !tile.ptr<i32>
    %i = tile.arange 0, 128 : tensor<128xi32>
    %weights = tile.splat %w : tensor<128x!tile.ptr<f32>>
    %wi = tile.addptr %weights, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %weight = tile.load %wi : tensor<128x!tile.ptr<f32>>
    %base = tile.addptr %p, %x : !tile.ptr<f32>, i32
    %bases = tile.splat %base : tensor<128x!tile.ptr<f32>>
    %q = tile.addptr %bases, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %bound = tile.splat %n : tensor<128xi32>
    %mask = arith.cmpi slt, %i, %bound : tensor<128xi32>
    %a = tile.load %q mask %mask : tensor<128x!tile.ptr<f32>>
    %b = tile.load %q volatile : tensor<128x!tile.ptr<f32>>
    %far = tile.addptr %p, %row : !tile.ptr<f32>, i32
    %fars = tile.splat %far : tensor<128x!tile.ptr<f32>>
    %r = tile.addptr %fars, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %c = tile.load %r : tensor<128x!tile.ptr<f32>>
    %sum = arith.addf %a, %c : tensor<128xf32>
    %all = arith.addf %sum, %weight : tensor<128xf32>
    tile.store %q, %all mask %mask : tensor<128x!tile.ptr<f32>>
    gpu.return
  }

  // Assembly may read memory though it is pure, so what depends on it is not prefetched. Nor is what lies
  // in shared memory.
  // CHECK-LABEL: gpu.func @prefetches_not(
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NOT: prefetch
  // CHECK: gpu.return
  gpu.func @prefetches_not(%p: !tile.ptr<f32>, %s: !tile.ptr<f32, 3>) kernel {
    %x = tile.program_id x : i32
    %i = tile.arange 0, 128 : tensor<128xi32>
    %far = tile.inline_asm_elementwise pure "ld.global.b32 $0, [somewhere];" constraints "=r,r" (%i) : (tensor<128xi32>) -> tensor<128xi32>
    %base = tile.addptr %p, %x : !tile.ptr<f32>, i32
    %bases = tile.splat %base : tensor<128x!tile.ptr<f32>>
    %q = tile.addptr %bases, %far : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %a = tile.load %q : tensor<128x!tile.ptr<f32>>
    %shared = tile.addptr %s, %x : !tile.ptr<f32, 3>, i32
    %shareds = tile.splat %shared : tensor<128x!tile.ptr<f32, 3>>
    %r = tile.addptr %shareds, %i : tensor<128x!tile.ptr<f32, 3>>, tensor<128xi32>
    %b = tile.load %r : tensor<128x!tile.ptr<f32, 3>>
    %sum = arith.addf %a, %b : tensor<128xf32>
    tile.store %q, %sum : tensor<128x!tile.ptr<f32>>
    gpu.return
  }

  // A kernel that begins with promises has the same first loads.
  // CHECK-LABEL: gpu.func @promises(
  // CHECK: scf.if
  // CHECK-NEXT: tile_nv.prefetch
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK: %[[C:.*]] = arith.cmpi sgt
  // CHECK-NEXT: tile.assume %[[C]]
  gpu.func @promises(%p: !tile.ptr<f32>, %n: i32) kernel {
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %n, %zero : i32
    tile.assume %c
    %x = tile.program_id x : i32
    %i = tile.arange 0, 128 : tensor<128xi32>
    %base = tile.addptr %p, %x : !tile.ptr<f32>, i32
    %bases = tile.splat %base : tensor<128x!tile.ptr<f32>>
    %q = tile.addptr %bases, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %a = tile.load %q : tensor<128x!tile.ptr<f32>>
    tile.store %q, %a : tensor<128x!tile.ptr<f32>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @helper() {
  // CHECK-NEXT: gpu.return
  gpu.func @helper() {
    gpu.return
  }
}

// -----

gpu.module @ampere [#nvvm.target<chip = "sm_89">] {
  // CHECK-LABEL: gpu.func @old() kernel {
  // CHECK-NEXT: gpu.return
  gpu.func @old() kernel {
    gpu.return
  }
}

// -----

// expected-error @+1 {{has no target of a known chip: run tile-nv-set-target first}}
gpu.module @no_target {
}
