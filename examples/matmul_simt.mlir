// Matrix product without tensor cores: C = A * B, fp32, row-major, any sizes.
//
// One program computes a 64x64 tile of C. Each step of the loop reads one column
// of 64 elements of A and one row of 64 elements of B, and adds their outer
// product to the tile, which stays in registers. All edges are masked: rows of A
// and columns of B past the end read as 0, and are not stored.
//
// The loop carries the two tiles of pointers and moves them by one step of k.

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @matmul_simt(%a: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                        %b: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                        %c: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                        %m: i32, %n: i32, %k: i32) kernel {
    // Rows and columns of this program's tile.
    %pid_m = tile.program_id x : i32
    %pid_n = tile.program_id y : i32
    %c64 = arith.constant 64 : i32
    %m_first = arith.muli %pid_m, %c64 : i32
    %n_first = arith.muli %pid_n, %c64 : i32
    %range = tile.arange 0, 64 : tensor<64xi32>
    %m_firsts = tile.splat %m_first : tensor<64xi32>
    %row = arith.addi %m_firsts, %range : tensor<64xi32>
    %n_firsts = tile.splat %n_first : tensor<64xi32>
    %col = arith.addi %n_firsts, %range : tensor<64xi32>
    %ms = tile.splat %m : tensor<64xi32>
    %row_in = arith.cmpi slt, %row, %ms : tensor<64xi32>
    %ns = tile.splat %n : tensor<64xi32>
    %col_in = arith.cmpi slt, %col, %ns : tensor<64xi32>

    // Pointers to the column A[rows, 0] and the row B[0, cols].
    %ks = tile.splat %k : tensor<64xi32>
    %a_offset = arith.muli %row, %ks : tensor<64xi32>
    %as = tile.splat %a : tensor<64x!tile.ptr<f32>>
    %a_first = tile.addptr %as, %a_offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %bs = tile.splat %b : tensor<64x!tile.ptr<f32>>
    %b_first = tile.addptr %bs, %col : tensor<64x!tile.ptr<f32>>, tensor<64xi32>

    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    %acc_first = arith.constant dense<0.0> : tensor<64x64xf32>
    %one = arith.constant dense<1> : tensor<64xi32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %loop:3 = scf.for %step = %c0 to %k step %c1
        iter_args(%acc = %acc_first, %a_ptr = %a_first, %b_ptr = %b_first)
        -> (tensor<64x64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64x!tile.ptr<f32>>) : i32 {
      %a_col = tile.load %a_ptr mask %row_in other %zeros : tensor<64x!tile.ptr<f32>>
      %b_row = tile.load %b_ptr mask %col_in other %zeros : tensor<64x!tile.ptr<f32>>
      %a2 = tile.expand_dims %a_col 1 : tensor<64xf32> -> tensor<64x1xf32>
      %b2 = tile.expand_dims %b_row 0 : tensor<64xf32> -> tensor<1x64xf32>
      %a_tile = tile.broadcast %a2 : tensor<64x1xf32> -> tensor<64x64xf32>
      %b_tile = tile.broadcast %b2 : tensor<1x64xf32> -> tensor<64x64xf32>
      %acc_next = math.fma %a_tile, %b_tile, %acc : tensor<64x64xf32>
      %a_next = tile.addptr %a_ptr, %one : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      %b_next = tile.addptr %b_ptr, %ns : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      scf.yield %acc_next, %a_next, %b_next
          : tensor<64x64xf32>, tensor<64x!tile.ptr<f32>>, tensor<64x!tile.ptr<f32>>
    }

    // Store the tile at C[row, col].
    %c_offset = arith.muli %row, %ns : tensor<64xi32>
    %c_row = tile.expand_dims %c_offset 1 : tensor<64xi32> -> tensor<64x1xi32>
    %c_rows = tile.broadcast %c_row : tensor<64x1xi32> -> tensor<64x64xi32>
    %col2 = tile.expand_dims %col 0 : tensor<64xi32> -> tensor<1x64xi32>
    %cols = tile.broadcast %col2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %offset = arith.addi %c_rows, %cols : tensor<64x64xi32>
    %row_in2 = tile.expand_dims %row_in 1 : tensor<64xi1> -> tensor<64x1xi1>
    %row_ins = tile.broadcast %row_in2 : tensor<64x1xi1> -> tensor<64x64xi1>
    %col_in2 = tile.expand_dims %col_in 0 : tensor<64xi1> -> tensor<1x64xi1>
    %col_ins = tile.broadcast %col_in2 : tensor<1x64xi1> -> tensor<64x64xi1>
    %mask = arith.andi %row_ins, %col_ins : tensor<64x64xi1>
    %cs = tile.splat %c : tensor<64x64x!tile.ptr<f32>>
    %c_ptrs = tile.addptr %cs, %offset : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
    tile.store %c_ptrs, %loop#0 mask %mask : tensor<64x64x!tile.ptr<f32>>
    gpu.return
  }
}
