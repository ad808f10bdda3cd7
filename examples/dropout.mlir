// Dropout: each element is kept with probability 1 - p and scaled by 1 / (1 - p),
// else it becomes 0.
//
// The random numbers come from Philox 4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). It is a keyed function of a counter, here
// the element's index: no state is kept, any element's number can be computed again
// by itself (in a backward pass, say), and it does not depend on how the work is
// spread over programs.

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  // One round: two 32x32 -> 64 bit products, whose halves are mixed with the other
  // counters and the key. Helper functions are inlined into the kernels.
  func.func private @philox_round(
      %c0: tensor<1024xi32>, %c1: tensor<1024xi32>, %c2: tensor<1024xi32>,
      %c3: tensor<1024xi32>, %k0: i32, %k1: i32)
      -> (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>) {
    %m0 = arith.constant dense<0xD2511F53> : tensor<1024xi32>
    %m1 = arith.constant dense<0xCD9E8D57> : tensor<1024xi32>
    %hi0 = tile.mulhi %m0, %c0 : tensor<1024xi32>
    %lo0 = arith.muli %m0, %c0 : tensor<1024xi32>
    %hi1 = tile.mulhi %m1, %c2 : tensor<1024xi32>
    %lo1 = arith.muli %m1, %c2 : tensor<1024xi32>
    %k0s = tile.splat %k0 : tensor<1024xi32>
    %k1s = tile.splat %k1 : tensor<1024xi32>
    %t0 = arith.xori %hi1, %c1 : tensor<1024xi32>
    %n0 = arith.xori %t0, %k0s : tensor<1024xi32>
    %t2 = arith.xori %hi0, %c3 : tensor<1024xi32>
    %n2 = arith.xori %t2, %k1s : tensor<1024xi32>
    return %n0, %lo1, %n2, %lo0
        : tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>
  }

  gpu.func @dropout(%x: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                    %out: !tile.ptr<f32> {tile.divisibility = array<i32: 16>},
                    %n: i32, %p: f32, %seed: i32) kernel {
    %pid = tile.program_id x : i32
    %tile = arith.constant 1024 : i32
    %first = arith.muli %pid, %tile : i32
    %firsts = tile.splat %first : tensor<1024xi32>
    %range = tile.arange 0, 1024 : tensor<1024xi32>
    %index = arith.addi %firsts, %range : tensor<1024xi32>
    %ns = tile.splat %n : tensor<1024xi32>
    %mask = arith.cmpi slt, %index, %ns : tensor<1024xi32>

    // Ten rounds; the key (seed, 0) advances by fixed constants between them.
    %zero = arith.constant dense<0> : tensor<1024xi32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %c10_i32 = arith.constant 10 : i32
    %w0 = arith.constant 0x9E3779B9 : i32
    %w1 = arith.constant 0xBB67AE85 : i32
    %random:6 = scf.for %round = %c0_i32 to %c10_i32 step %c1_i32
        iter_args(%a = %index, %b = %zero, %c = %zero, %d = %zero,
                  %k0 = %seed, %k1 = %c0_i32)
        -> (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>,
            tensor<1024xi32>, i32, i32) : i32 {
      %r:4 = func.call @philox_round(%a, %b, %c, %d, %k0, %k1)
          : (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, i32, i32)
          -> (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>)
      %k0_next = arith.addi %k0, %w0 : i32
      %k1_next = arith.addi %k1, %w1 : i32
      scf.yield %r#0, %r#1, %r#2, %r#3, %k0_next, %k1_next
          : tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, i32, i32
    }

    // The upper 24 bits as a number in [0, 1).
    %eight = arith.constant dense<8> : tensor<1024xi32>
    %bits = arith.shrui %random#0, %eight : tensor<1024xi32>
    %bits_f = arith.uitofp %bits : tensor<1024xi32> to tensor<1024xf32>
    %scale = arith.constant dense<5.9604644775390625e-08> : tensor<1024xf32>
    %uniform = arith.mulf %bits_f, %scale : tensor<1024xf32>
    %ps = tile.splat %p : tensor<1024xf32>
    %keep = arith.cmpf oge, %uniform, %ps : tensor<1024xf32>

    %xs = tile.splat %x : tensor<1024x!tile.ptr<f32>>
    %x_ptrs = tile.addptr %xs, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %x_ptrs mask %mask : tensor<1024x!tile.ptr<f32>>
    %one = arith.constant 1.0 : f32
    %q = arith.subf %one, %p : f32
    %inv = arith.divf %one, %q : f32
    %invs = tile.splat %inv : tensor<1024xf32>
    %scaled = arith.mulf %v, %invs : tensor<1024xf32>
    %zero_f = arith.constant dense<0.0> : tensor<1024xf32>
    %y = arith.select %keep, %scaled, %zero_f : tensor<1024xi1>, tensor<1024xf32>
    %outs = tile.splat %out : tensor<1024x!tile.ptr<f32>>
    %out_ptrs = tile.addptr %outs, %index : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %out_ptrs, %y mask %mask : tensor<1024x!tile.ptr<f32>>
    gpu.return
  }
}
