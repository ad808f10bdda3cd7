// fp32 arithmetic on bf16 numbers whose result is rounded to fp16: neither the
// operands nor what is between need fit in fp16.

// RUN: tile-translate %s --chip=sm_80 -o %t.80.ptx
// RUN: tile-translate %s --chip=sm_90a -o %t.90.ptx
// 2^20 * 2^-10, and 2^20 - 2^-10, which is too large.
// RUN: tile-run %t.80.ptx --arg=i16[64]:const(18816) --arg=i16[64]:const(14976) --arg=f16[64]:zero --arg=f16[64]:zero --expect=2:f16[64]:const(1024) --expect=3:f16[64]:const(inf)
// RUN: tile-run %t.90.ptx --arg=i16[64]:const(18816) --arg=i16[64]:const(14976) --arg=f16[64]:zero --arg=f16[64]:zero --expect=2:f16[64]:const(1024) --expect=3:f16[64]:const(inf)
// 2^-30 * 2^30
// RUN: tile-run %t.80.ptx --arg=i16[64]:const(12416) --arg=i16[64]:const(20096) --arg=f16[64]:zero --arg=f16[64]:zero --expect=2:f16[64]:const(1)

gpu.module @m {

gpu.func @arithmetic(%p: !tile.ptr<i16>, %q: !tile.ptr<i16>, %product: !tile.ptr<f16>, %difference: !tile.ptr<f16>) kernel {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %ps = tile.splat %p : tensor<64x!tile.ptr<i16>>
  %pi = tile.addptr %ps, %i : tensor<64x!tile.ptr<i16>>, tensor<64xi32>
  %pbits = tile.load %pi : tensor<64x!tile.ptr<i16>>
  %pnarrow = tile.bitcast %pbits : tensor<64xi16> -> tensor<64xbf16>
  %x = tile.fp_cast %pnarrow : tensor<64xbf16> -> tensor<64xf32>
  %qs = tile.splat %q : tensor<64x!tile.ptr<i16>>
  %qi = tile.addptr %qs, %i : tensor<64x!tile.ptr<i16>>, tensor<64xi32>
  %qbits = tile.load %qi : tensor<64x!tile.ptr<i16>>
  %qnarrow = tile.bitcast %qbits : tensor<64xi16> -> tensor<64xbf16>
  %y = tile.fp_cast %qnarrow : tensor<64xbf16> -> tensor<64xf32>
  %xy = arith.mulf %x, %y : tensor<64xf32>
  %half = tile.fp_cast %xy : tensor<64xf32> -> tensor<64xf16>
  %products = tile.splat %product : tensor<64x!tile.ptr<f16>>
  %producti = tile.addptr %products, %i : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
  tile.store %producti, %half : tensor<64x!tile.ptr<f16>>
  %d = arith.subf %x, %y : tensor<64xf32>
  %dhalf = tile.fp_cast %d : tensor<64xf32> -> tensor<64xf16>
  %differences = tile.splat %difference : tensor<64x!tile.ptr<f16>>
  %differencei = tile.addptr %differences, %i : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
  tile.store %differencei, %dhalf : tensor<64x!tile.ptr<f16>>
  gpu.return
}

}
