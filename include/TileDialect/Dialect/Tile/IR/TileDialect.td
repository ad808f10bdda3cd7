//===- TileDialect.td - The tile dialect -------------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEDIALECT_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/DialectBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::tile";
  let summary = "What one program instance of a tile kernel computes";
  let description = [{
    A program instance works on whole tiles (ranked tensors of static shape) of
    numbers and pointers. The dialect knows nothing of threads, shared memory or
    a vendor: `tile_gpu` spreads a program over threads later, by giving the
    tensors an encoding.

    Arithmetic comes from `arith` and `math`, control flow from `scf` and
    `cf`; kernels are `gpu.func`s. This dialect adds what those lack: the
    position of the program in its grid, creation and reshaping of tiles,
    pointers, memory, matrix products, reductions and scans.

    Facts that a front end knows about an integer or pointer value are
    discardable attributes on the op that makes it (or on the argument of a
    function): `tile.divisibility`, `tile.contiguity` and `tile.constancy`,
    each a dense i32 array with an entry for each dimension (one entry for a
    scalar).

    Pointer and descriptor arguments of a kernel are taken to be different
    memory, but for those whose `tile.alias_group`, a number of type i32, is the
    same: those may be one buffer.
    ```mlir
    gpu.func @scale(%in: !tile.ptr<f32> {tile.alias_group = 0 : i32},
                    %out: !tile.ptr<f32> {tile.alias_group = 0 : i32}) kernel
    ```

    Wishes of a front end about a loop are discardable attributes of type i32 on it:
    `tile.num_stages` and `tile.unroll_factor`, and the flags (1: yes)
    `tile.disable_licm`, `tile.disallow_acc_multi_buffer`, `tile.flatten` and
    `tile.warp_specialize`.

    Any other attribute of the dialect is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEDIALECT_TD
