//===- TileOps.td - Ops of the tile dialect ----------------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry point of TableGen, and the few ops that belong to no topic.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEOPS_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEOPS_TD

include "TileDialect/Dialect/Tile/IR/TileMathOps.td"
include "TileDialect/Dialect/Tile/IR/TileMemoryOps.td"
include "TileDialect/Dialect/Tile/IR/TileReduceOps.td"
include "TileDialect/Dialect/Tile/IR/TileShapeOps.td"

// What print, assert and assume write: the debug output, which no memory access touches.
def Tile_DebugResource : Resource<"::mlir::tile::DebugResource">;

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator,
    ParentOneOf<["ReduceOp", "ScanOp", "MapElementwiseOp"]>]> {
  let summary = "end a region of reduce, scan or map_elementwise";
  let description = [{
    Gives `values` to the enclosing op, which says how many there are and of which
    types.

    Example:
    ```mlir
    tile.yield %s, %i : f32, i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite<Tile_DebugResource>]>]> {
  let summary = "print values while the kernel runs";
  let description = [{
    Prints `prefix`, the position in the grid, and the values of `args` with their
    indices; integers in base 16 with `hex`. The order of the output of different
    threads and programs is unspecified.

    - `prefix` is text.
    - `args` are scalars or tiles of any shapes.

    Example:
    ```mlir
    tile.print "x: " hex (%x : tensor<64xi32>)
    ```
  }];
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_Any>:$args, UnitAttr:$hex);
  let assemblyFormat = "$prefix (`hex` $hex^)? (`(` $args^ `:` type($args) `)`)? attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite<Tile_DebugResource>]>]> {
  let summary = "stop the kernel with a message if a condition is false";
  let description = [{
    If any element of `condition` is false, reports `message` with the location of
    the op and stops the kernel.

    - `condition` is an `i1` or a tile of them.
    - `message` is text.

    Example:
    ```mlir
    tile.assert %ok, "index out of range" : tensor<64xi1>
    ```
  }];
  let arguments = (ins Tile_I1Like:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasCanonicalizer = 1;
}

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite<Tile_DebugResource>]>]> {
  let summary = "promise that a condition holds";
  let description = [{
    Where the op is reached, `condition` is true; what the program does otherwise is
    undefined. The compiler draws its conclusions, and generates no code.

    What the analysis of axis info makes of a value that is defined in the block of
    the op (an argument of the kernel, for one that is not nested in control flow):
    it is not negative (`x >= c`, `x > c`, `x == c`, signed, with a constant `c` that
    says so), or is a multiple (`x % c == 0`). A condition may be several ones, combined by
    `arith.andi`. LLVM gets all of them.

    - `condition` is an `i1`.

    Example:
    ```mlir
    %positive = arith.cmpi sge, %n, %c0 : i32
    tile.assume %positive
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
  let hasCanonicalizer = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "make all earlier memory accesses of the program visible to later ones";
  let description = [{
    A store before the barrier is seen by every load of the same program instance
    after it, whichever thread performs them. Different program instances are not
    ordered.

    Example:
    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEOPS_TD
