//===- TileReduceOps.td - Reductions, scans, histograms ----*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEREDUCEOPS_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEREDUCEOPS_TD

include "TileDialect/Dialect/Tile/IR/TileOpBase.td"

def Tile_ReduceOp : Tile_Op<"reduce", [
    NoMemoryEffect, RecursivelySpeculatable, SingleBlock, IsolatedFromAbove,
    Tile_SameOperandsShapeAndEncoding, Tile_ScalarRegion]> {
  let summary = "combine the elements along an axis";
  let description = [{
    Combines all elements along `axis` into one with the region `combine`. With
    `n` sources the region combines two tuples of `n` scalars: its arguments are
    the `n` elements of the left tuple followed by the `n` of the right one, and
    `tile.yield` gives the `n` elements of the combination. The region must be
    associative. Tuples are combined in an unspecified bracketing, and the region
    may be given them in an order other than the one along the axis, so that a
    combination that is not commutative must not be used.

    `sources` is one or more tiles of one shape and encoding, and any element
    types. A result has the element type of its source. It is a scalar if
    the sources have rank 1; otherwise it is a tile without dimension `axis`, and
    with the encoding that is left once the axis is projected out.

    The region sees no value from outside, works on scalars and has no memory
    effects. A call in it stands for a function without effects.

    Example:
    ```mlir
    %sum = tile.reduce(%x) axis 1 : (tensor<64x32xf32>) -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources, Tile_Int32Attr:$axis);
  let results = (outs Variadic<Tile_Any>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "`(` $sources `)` `axis` $axis attr-dict `:` functional-type($sources, $results) $combine";
  // Infers the results' types, encoding included; the region has no block yet.
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$sources, "int32_t":$axis)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [
    NoMemoryEffect, RecursivelySpeculatable, SingleBlock, IsolatedFromAbove,
    Tile_SameShapeAndEncoding, Tile_ScalarRegion]> {
  let summary = "running combination of the elements along an axis";
  let description = [{
    Element `i` along `axis` of the results is the combination of the elements
    `0 ... i` of the sources, in that order (`i ... last`, from the last on, with
    `reverse`): an inclusive scan. The region `combine` is like that of `reduce`,
    with the elements that come earlier in the scan as its left tuple. It must be
    associative; it need not be commutative.

    `sources` is one or more tiles of one shape and encoding; a result has the
    type of its source.

    Example:
    ```mlir
    %c = tile.scan(%x) axis 0 : (tensor<128xi32>) -> tensor<128xi32> {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile.yield %s : i32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources, Tile_Int32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "`(` $sources `)` `axis` $axis (`reverse` $reverse^)? attr-dict `:` functional-type($sources, $results) $combine";
  // The results have the types of the sources; the region has no block yet.
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$sources, "int32_t":$axis, CArg<"bool", "false">:$reverse)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasFolder = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure,
    Tile_OptionalTypeFrom<"mask has the shape of the source", "source", "mask", "getMask",
      "::mlir::tile::getI1SameShape($_self)">]> {
  let summary = "count the values of a tile";
  let description = [{
    Element `v` of the result is the number of elements of `source` that equal
    `v`. Elements outside `[0, extent of the result)` and those whose `mask` is
    false are not counted.

    `source` is a tile of `i32` of rank 1; `mask` has its shape and encoding. The
    result is a tile of `i32` of rank 1 and any extent. Its encoding is free.

    Example:
    ```mlir
    %h = tile.histogram %x mask %m : tensor<1024xi32> -> tensor<256xi32>
    ```
  }];
  let arguments = (ins Tile_TensorOf<I32>:$source, Optional<Tile_I1Tensor>:$mask);
  let results = (outs Tile_TensorOf<I32>:$result);
  let assemblyFormat = "$source (`mask` $mask^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEREDUCEOPS_TD
