// With --programmatic-launch a kernel waits for the grids before it ahead of its first access to
// memory, and lets the next one start when it has loaded; the metadata tell the launcher. Chips before
// sm_90 do not have that.

// RUN: tile-translate %s --programmatic-launch --metadata=%t.json | FileCheck %s --check-prefix=PTX
// RUN: FileCheck %s --check-prefix=YES < %t.json
// RUN: tile-translate %s --metadata=%t.json | FileCheck %s --check-prefix=PLAIN
// RUN: FileCheck %s --check-prefix=NO < %t.json
// RUN: tile-translate %s --programmatic-launch --chip=sm_80 --metadata=%t.json | FileCheck %s --check-prefix=PLAIN
// RUN: FileCheck %s --check-prefix=NO < %t.json

// PTX-NOT: {{ld|st|red}}.global
// PTX: griddepcontrol.wait;
// PTX: ld.global
// PTX: griddepcontrol.launch_dependents;
// PTX: st.global
// PLAIN-NOT: griddepcontrol
// YES: "programmatic_launch": true
// NO: "programmatic_launch": false
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @negate(%p: !tile.ptr<f32> {tile.divisibility = array<i32: 16>}) kernel {
    %i = tile.arange 0, 512 : tensor<512xi32>
    %base = tile.splat %p : tensor<512x!tile.ptr<f32>>
    %q = tile.addptr %base, %i : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    %x = tile.load %q : tensor<512x!tile.ptr<f32>>
    %y = arith.negf %x : tensor<512xf32>
    tile.store %q, %y : tensor<512x!tile.ptr<f32>>
    gpu.return
  }
}
