// RUN: tile-opt %s --tile-gpu-distribute --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @constraint(%p: !tile.ptr<f32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{expects constraints of PTX registers (b, h, r, l, f, d); found 'x'}}
    %y = tile.inline_asm_elementwise "mov.f32 $0, $1;" constraints "=f,x"(%x) : (f32) -> f32
    tile.store %p, %y : !tile.ptr<f32>
    gpu.return
  }
}
