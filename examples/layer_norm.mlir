// Layer normalisation, forward: fp16 in and out, fp32 inside.
//
//   mean  = sum_j x[i, j] / cols
//   rstd  = 1 / sqrt(sum_j (x[i, j] - mean)^2 / cols + eps)
//   out[i, j] = (x[i, j] - mean) * rstd * weight[j] + bias[j]
//
// One program normalises 4 rows of up to 1024 columns and also writes the mean and
// rstd of each row, which a backward pass needs. A row stays in registers between
// the two reductions.

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @layer_norm(%x: !tile.ptr<f16> {tile.divisibility = array<i32: 16>},
                       %weight: !tile.ptr<f16> {tile.divisibility = array<i32: 16>},
                       %bias: !tile.ptr<f16> {tile.divisibility = array<i32: 16>},
                       %out: !tile.ptr<f16> {tile.divisibility = array<i32: 16>},
                       %mean: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                       %rstd: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                       %rows: i32,
                       %cols: i32 {tile.divisibility = array<i32: 16>},
                       %eps: f32) kernel {
    %pid = tile.program_id x : i32
    %c4 = arith.constant 4 : i32
    %first = arith.muli %pid, %c4 : i32
    %firsts = tile.splat %first : tensor<4xi32>
    %row_range = tile.arange 0, 4 : tensor<4xi32>
    %row = arith.addi %firsts, %row_range : tensor<4xi32>
    %rows_t = tile.splat %rows : tensor<4xi32>
    %row_in = arith.cmpi slt, %row, %rows_t : tensor<4xi32>
    %col = tile.arange 0, 1024 : tensor<1024xi32>
    %cols_t = tile.splat %cols : tensor<1024xi32>
    %col_in = arith.cmpi slt, %col, %cols_t : tensor<1024xi32>

    // Offsets and mask of the 4x1024 tile.
    %cols4 = tile.splat %cols : tensor<4xi32>
    %row_start = arith.muli %row, %cols4 : tensor<4xi32>
    %row_start_col = tile.expand_dims %row_start 1 : tensor<4xi32> -> tensor<4x1xi32>
    %row_starts = tile.broadcast %row_start_col : tensor<4x1xi32> -> tensor<4x1024xi32>
    %col_row = tile.expand_dims %col 0 : tensor<1024xi32> -> tensor<1x1024xi32>
    %cols2d = tile.broadcast %col_row : tensor<1x1024xi32> -> tensor<4x1024xi32>
    %offset = arith.addi %row_starts, %cols2d : tensor<4x1024xi32>
    %row_in_col = tile.expand_dims %row_in 1 : tensor<4xi1> -> tensor<4x1xi1>
    %row_ins = tile.broadcast %row_in_col : tensor<4x1xi1> -> tensor<4x1024xi1>
    %col_in_row = tile.expand_dims %col_in 0 : tensor<1024xi1> -> tensor<1x1024xi1>
    %col_ins = tile.broadcast %col_in_row : tensor<1x1024xi1> -> tensor<4x1024xi1>
    %mask = arith.andi %row_ins, %col_ins : tensor<4x1024xi1>

    %xs = tile.splat %x : tensor<4x1024x!tile.ptr<f16>>
    %x_ptrs = tile.addptr %xs, %offset : tensor<4x1024x!tile.ptr<f16>>, tensor<4x1024xi32>
    %zero16 = arith.constant dense<0.0> : tensor<4x1024xf16>
    %a16 = tile.load %x_ptrs mask %mask other %zero16 : tensor<4x1024x!tile.ptr<f16>>
    %a = arith.extf %a16 : tensor<4x1024xf16> to tensor<4x1024xf32>

    // mean: the elements past the end are 0 and do not count.
    %sum = tile.reduce (%a) axis 1 : (tensor<4x1024xf32>) -> tensor<4xf32> {
    ^bb0(%lhs: f32, %rhs: f32):
      %s = arith.addf %lhs, %rhs : f32
      tile.yield %s : f32
    }
    %cols_f = arith.sitofp %cols : i32 to f32
    %n = tile.splat %cols_f : tensor<4xf32>
    %mu = arith.divf %sum, %n : tensor<4xf32>
    %mu_col = tile.expand_dims %mu 1 : tensor<4xf32> -> tensor<4x1xf32>
    %mus = tile.broadcast %mu_col : tensor<4x1xf32> -> tensor<4x1024xf32>

    // Variance, with the elements past the end masked to 0 again.
    %centred = arith.subf %a, %mus : tensor<4x1024xf32>
    %zero = arith.constant dense<0.0> : tensor<4x1024xf32>
    %d = arith.select %mask, %centred, %zero : tensor<4x1024xi1>, tensor<4x1024xf32>
    %d2 = arith.mulf %d, %d : tensor<4x1024xf32>
    %sum2 = tile.reduce (%d2) axis 1 : (tensor<4x1024xf32>) -> tensor<4xf32> {
    ^bb0(%lhs: f32, %rhs: f32):
      %s = arith.addf %lhs, %rhs : f32
      tile.yield %s : f32
    }
    %var = arith.divf %sum2, %n : tensor<4xf32>
    %eps_t = tile.splat %eps : tensor<4xf32>
    %var_eps = arith.addf %var, %eps_t : tensor<4xf32>
    %r = math.rsqrt %var_eps : tensor<4xf32>

    %means = tile.splat %mean : tensor<4x!tile.ptr<f32>>
    %mean_ptrs = tile.addptr %means, %row : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    tile.store %mean_ptrs, %mu mask %row_in : tensor<4x!tile.ptr<f32>>
    %rstds = tile.splat %rstd : tensor<4x!tile.ptr<f32>>
    %rstd_ptrs = tile.addptr %rstds, %row : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    tile.store %rstd_ptrs, %r mask %row_in : tensor<4x!tile.ptr<f32>>

    // Scale and shift; every row uses the same weight and bias.
    %weights = tile.splat %weight : tensor<1024x!tile.ptr<f16>>
    %w_ptrs = tile.addptr %weights, %col : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
    %w16 = tile.load %w_ptrs mask %col_in evict(evict_last) : tensor<1024x!tile.ptr<f16>>
    %w = arith.extf %w16 : tensor<1024xf16> to tensor<1024xf32>
    %w_row = tile.expand_dims %w 0 : tensor<1024xf32> -> tensor<1x1024xf32>
    %ws = tile.broadcast %w_row : tensor<1x1024xf32> -> tensor<4x1024xf32>
    %biases = tile.splat %bias : tensor<1024x!tile.ptr<f16>>
    %b_ptrs = tile.addptr %biases, %col : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
    %b16 = tile.load %b_ptrs mask %col_in evict(evict_last) : tensor<1024x!tile.ptr<f16>>
    %b = arith.extf %b16 : tensor<1024xf16> to tensor<1024xf32>
    %b_row = tile.expand_dims %b 0 : tensor<1024xf32> -> tensor<1x1024xf32>
    %bs = tile.broadcast %b_row : tensor<1x1024xf32> -> tensor<4x1024xf32>

    %r_col = tile.expand_dims %r 1 : tensor<4xf32> -> tensor<4x1xf32>
    %rs = tile.broadcast %r_col : tensor<4x1xf32> -> tensor<4x1024xf32>
    %normal = arith.mulf %d, %rs : tensor<4x1024xf32>
    %scaled = arith.mulf %normal, %ws : tensor<4x1024xf32>
    %y = arith.addf %scaled, %bs : tensor<4x1024xf32>
    %y16 = arith.truncf %y : tensor<4x1024xf32> to tensor<4x1024xf16>
    %outs = tile.splat %out : tensor<4x1024x!tile.ptr<f16>>
    %out_ptrs = tile.addptr %outs, %offset : tensor<4x1024x!tile.ptr<f16>>, tensor<4x1024xi32>
    tile.store %out_ptrs, %y16 mask %mask : tensor<4x1024x!tile.ptr<f16>>
    gpu.return
  }
}
