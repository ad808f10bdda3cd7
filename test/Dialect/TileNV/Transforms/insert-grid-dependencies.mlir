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
