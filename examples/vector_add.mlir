// Vector addition: out[i] = x[i] + y[i] for i < n.
//
// A kernel is a gpu.func that describes what *one program* of a grid does, on
// whole tiles. This program adds 1024 elements; the grid has ceil(n / 1024)
// programs. Nothing here says how many threads there are or which thread holds
// which element: the compiler decides that.
//
//   tile-translate vector_add.mlir --tile-to-ptx
//   tile-run vector_add.mlir --kernel=vector_add --grid=4,1,1 \
//     --arg='f32[4096]:normal(1)' --arg='f32[4096]:normal(2)' \
//     --arg='f32[4096]:const(0)' --arg=i32:4096 --print=2

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  // `tile.divisibility` is a promise of the caller: the pointers are aligned to 16
  // bytes, and n is a multiple of 16. With it the compiler makes 16-byte accesses.
  gpu.func @vector_add(%x: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                       %y: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                       %out: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                       %n: i32 {tile.divisibility = array<i32: 16>}) kernel {
    // The first element of this program, and the indices of all of its elements.
    %pid = tile.program_id x : i32
    %tile = arith.constant 1024 : i32
    %first = arith.muli %pid, %tile : i32
    %firsts = tile.splat %first : tensor<1024xi32>
    %range = tile.arange 0, 1024 : tensor<1024xi32>
    %index = arith.addi %firsts, %range : tensor<1024xi32>

    // The last program may reach past the end: mask those elements off.
    %ns = tile.splat %n : tensor<1024xi32>
    %mask = arith.cmpi slt, %index, %ns : tensor<1024xi32>

    %xs = tile.splat %x : tensor<1024x!tile.ptr<f32>>
    %x_ptrs = tile.addptr %xs, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %a = tile.load %x_ptrs mask %mask : tensor<1024x!tile.ptr<f32>>
    %ys = tile.splat %y : tensor<1024x!tile.ptr<f32>>
    %y_ptrs = tile.addptr %ys, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %b = tile.load %y_ptrs mask %mask : tensor<1024x!tile.ptr<f32>>

    %sum = arith.addf %a, %b : tensor<1024xf32>

    %outs = tile.splat %out : tensor<1024x!tile.ptr<f32>>
    %out_ptrs = tile.addptr %outs, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %out_ptrs, %sum mask %mask : tensor<1024x!tile.ptr<f32>>
    gpu.return
  }
}
