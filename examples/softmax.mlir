// Softmax over the rows of a matrix of up to 1024 columns, in one pass: a row is
// read once, stays in registers, and is written once.
//
//   out[i, j] = exp(x[i, j] - max_j x[i, j]) / sum_j exp(x[i, j] - max_j x[i, j])
//
// One program does 4 rows. The compiler gives each of its 4 warps one row, so that
// both reductions are shuffles within a warp: no shared memory, no barrier.

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @softmax(%x: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                    %out: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                    %rows: i32,
                    %cols: i32 {tile.divisibility = array<i32: 16>}) kernel {
    %pid = tile.program_id x : i32
    %c4 = arith.constant 4 : i32
    %first = arith.muli %pid, %c4 : i32

    // Row numbers as a column of shape 4x1, column numbers as a row of 1x1024.
    %firsts = tile.splat %first : tensor<4xi32>
    %row_range = tile.arange 0, 4 : tensor<4xi32>
    %row_index = arith.addi %firsts, %row_range : tensor<4xi32>
    %row = tile.expand_dims %row_index 1 : tensor<4xi32> -> tensor<4x1xi32>
    %col_index = tile.arange 0, 1024 : tensor<1024xi32>
    %col = tile.expand_dims %col_index 0 : tensor<1024xi32> -> tensor<1x1024xi32>

    // Element (i, j) is at i * cols + j, inside the matrix if i < rows, j < cols.
    %row_stride = tile.splat %cols : tensor<4x1xi32>
    %row_start = arith.muli %row, %row_stride : tensor<4x1xi32>
    %row_starts = tile.broadcast %row_start : tensor<4x1xi32> -> tensor<4x1024xi32>
    %cols2d = tile.broadcast %col : tensor<1x1024xi32> -> tensor<4x1024xi32>
    %offset = arith.addi %row_starts, %cols2d : tensor<4x1024xi32>
    %rows_t = tile.splat %rows : tensor<4x1xi32>
    %row_in = arith.cmpi slt, %row, %rows_t : tensor<4x1xi32>
    %row_ins = tile.broadcast %row_in : tensor<4x1xi1> -> tensor<4x1024xi1>
    %cols_t = tile.splat %cols : tensor<1x1024xi32>
    %col_in = arith.cmpi slt, %col, %cols_t : tensor<1x1024xi32>
    %col_ins = tile.broadcast %col_in : tensor<1x1024xi1> -> tensor<4x1024xi1>
    %mask = arith.andi %row_ins, %col_ins : tensor<4x1024xi1>

    // Elements past the end of a row read as -inf: they change no maximum, and
    // their exponential is 0.
    %xs = tile.splat %x : tensor<4x1024x!tile.ptr<f32>>
    %x_ptrs = tile.addptr %xs, %offset : tensor<4x1024x!tile.ptr<f32>>, tensor<4x1024xi32>
    %minus_inf = arith.constant dense<0xFF800000> : tensor<4x1024xf32>
    %a = tile.load %x_ptrs mask %mask other %minus_inf : tensor<4x1024x!tile.ptr<f32>>

    %max = tile.reduce (%a) axis 1 : (tensor<4x1024xf32>) -> tensor<4xf32> {
    ^bb0(%lhs: f32, %rhs: f32):
      %m = arith.maxnumf %lhs, %rhs : f32
      tile.yield %m : f32
    }
    %max_col = tile.expand_dims %max 1 : tensor<4xf32> -> tensor<4x1xf32>
    %maxs = tile.broadcast %max_col : tensor<4x1xf32> -> tensor<4x1024xf32>
    %shifted = arith.subf %a, %maxs : tensor<4x1024xf32>
    // afn: the hardware's own approximation of exp is good enough here.
    %e = math.exp %shifted fastmath<afn> : tensor<4x1024xf32>
    %sum = tile.reduce (%e) axis 1 : (tensor<4x1024xf32>) -> tensor<4xf32> {
    ^bb0(%lhs: f32, %rhs: f32):
      %s = arith.addf %lhs, %rhs : f32
      tile.yield %s : f32
    }
    %sum_col = tile.expand_dims %sum 1 : tensor<4xf32> -> tensor<4x1xf32>
    %sums = tile.broadcast %sum_col : tensor<4x1xf32> -> tensor<4x1024xf32>
    %result = arith.divf %e, %sums : tensor<4x1024xf32>

    %outs = tile.splat %out : tensor<4x1024x!tile.ptr<f32>>
    %out_ptrs = tile.addptr %outs, %offset : tensor<4x1024x!tile.ptr<f32>>, tensor<4x1024xi32>
    tile.store %out_ptrs, %result mask %mask : tensor<4x1024x!tile.ptr<f32>>
    gpu.return
  }
}
