//===- TileShapeOps.td - Program position, creation, shape -*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILESHAPEOPS_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILESHAPEOPS_TD

include "TileDialect/Dialect/Tile/IR/TileOpBase.td"

//===----------------------------------------------------------------------===//
// Position of the program
//===----------------------------------------------------------------------===//

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "position of this program instance along a grid axis";
  let description = [{
    Yields the index of the program instance along `axis` of the launch grid, in
    `[0, num_programs axis)`.

    `axis` is `x`, `y` or `z`.

    Example:
    ```mlir
    %pid = tile.program_id x : i32
    ```
  }];
  let arguments = (ins Tile_Axis:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "custom<EnumKeyword>($axis) attr-dict `:` type($result)";
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "number of program instances along a grid axis";
  let description = [{
    Yields the extent of the launch grid along `axis`, at least 1.

    `axis` is `x`, `y` or `z`.

    Example:
    ```mlir
    %n = tile.num_programs y : i32
    ```
  }];
  let arguments = (ins Tile_Axis:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "custom<EnumKeyword>($axis) attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

def Tile_ArangeOp : Tile_Op<"arange", [Pure]> {
  let summary = "consecutive integers";
  let description = [{
    Yields the tile `start, start + 1, ..., end - 1`.

    `start` and `end` are signed; `start < end`. The result has rank 1 and
    `end - start` elements of `i32`. The length need not be a power of two.

    Example:
    ```mlir
    %i = tile.arange 0, 96 : tensor<96xi32>
    ```
  }];
  let arguments = (ins Tile_Int32Attr:$start, Tile_Int32Attr:$end);
  let results = (outs Tile_TensorOf<I32>:$result);
  let assemblyFormat = "$start `,` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure,
    TypesMatchWith<"operand is an element of the result", "result", "source",
      "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "a tile whose elements are all one scalar";
  let description = [{
    Every element of the result is `source`, a number or a pointer of the
    result's element type. The result may have any shape and encoding.

    Example:
    ```mlir
    %t = tile.splat %p : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_Element:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "insert a dimension of extent 1";
  let description = [{
    The elements of `source` in a tile with one more dimension, of extent 1,
    before dimension `axis` of the source (`axis` = rank appends it).

    The result's shape is the source's with 1 inserted at `axis`. With
    encodings, the source's must be what is left of the result's once `axis` is
    projected out.

    Example:
    ```mlir
    %c = tile.expand_dims %r 1 : tensor<64xi32> -> tensor<64x1xi32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, Tile_Int32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source $axis attr-dict `:` type($source) `->` type($result)";
  // Infers the result's type, encoding included.
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "int32_t":$axis)>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeat along dimensions of extent 1";
  let description = [{
    Element `i` of the result is the element of `source` at `i`, with the index 0
    in every dimension where the source's extent is 1.

    Source and result have the same rank and element type; their extents are
    equal in each dimension, or the source's is 1. With encodings, no element
    may have to move between threads.

    Example:
    ```mlir
    %b = tile.broadcast %c : tensor<64x1xi32> -> tensor<64x32xi32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in another shape";
  let description = [{
    The elements of `source`, read in row-major order, fill the result in
    row-major order. With `reorder` they may fill it in any order that is the
    same for equal source and result types: such a reshape need not move
    elements between threads.

    Source and result have the same element type and number of elements. Their
    encodings are free: an element may have to change its thread.

    Example:
    ```mlir
    %m = tile.reshape %v : tensor<64xf32> -> tensor<8x8xf32>
    %n = tile.reshape %v reorder : tensor<64xf32> -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, UnitAttr:$allow_reorder);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source (`reorder` $allow_reorder^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_TransOp : Tile_Op<"trans", [Pure]> {
  let summary = "permute dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of `source`.

    `order` is a permutation of the source's dimensions. With encodings, the
    result's is the source's with permuted coordinates, so that no element moves.

    Example:
    ```mlir
    %t = tile.trans %m [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source $order attr-dict `:` type($source) `->` type($result)";
  // Infers the result's type, encoding included.
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::llvm::ArrayRef<int32_t>":$order)>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, SameTypeOperands]> {
  let summary = "two tiles, side by side in a new last dimension of extent 2";
  let description = [{
    Element `[i..., 0]` of the result is element `[i...]` of `lhs`, and
    `[i..., 1]` that of `rhs`.

    `lhs` and `rhs` have one type; the result's shape is theirs with 2 appended.
    With encodings, where the encoding has a rule that keeps both elements in
    their thread, the result follows it.

    Example:
    ```mlir
    %p = tile.join %re, %im : tensor<64xf32> -> tensor<64x2xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "the two halves of a last dimension of extent 2";
  let description = [{
    The inverse of `join`: element `[i...]` of `lhs` is element `[i..., 0]` of
    `source`, and that of `rhs` is element `[i..., 1]`.

    `source` has rank 2 or more and a last extent of 2; both results have its
    shape without the last dimension. With encodings, where the encoding has a
    rule that keeps elements in their thread, the results follow it.

    Example:
    ```mlir
    %re, %im = tile.split %p : tensor<64x2xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$lhs, Tile_Tensor:$rhs);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($lhs)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_CatOp : Tile_Op<"cat", [Pure, SameTypeOperands]> {
  let summary = "two tiles, one after the other along an axis";
  let description = [{
    Along `axis`, the elements of `lhs` come first, then those of `rhs`.

    `lhs` and `rhs` have one type; the result has their shape with the extent of
    `axis` doubled. Encodings are free.

    Example:
    ```mlir
    %c = tile.cat %a, %b axis 0 : tensor<32x8xf32> -> tensor<64x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs, Tile_Int32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `axis` $axis attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "pick elements of a tile by index along an axis";
  let description = [{
    Element `i` of the result is the element of `source` at `i`, with the index
    along `axis` replaced by element `i` of `indices`. An index is unsigned; one
    that is not below the extent of `axis` gives an undefined element.

    `indices` is a tile of integers of the rank of `source`, whose extents equal
    the source's in all dimensions but `axis`. The result has the shape of
    `indices` and the element type of `source`. Encodings are free.

    Example:
    ```mlir
    %g = tile.gather %t[%i] axis 1
      : tensor<16x64xf32>, tensor<16x8xi32> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, Tile_TensorOf<AnyTypeOf<[I8, I16, I32, I64]>>:$indices, Tile_Int32Attr:$axis);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `[` $indices `]` `axis` $axis attr-dict `:` type($source) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TILEDIALECT_DIALECT_TILE_IR_TILESHAPEOPS_TD
