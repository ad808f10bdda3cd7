//===- TileMathOps.td - Arithmetic and matrix products -----*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEMATHOPS_TD
#define TILEDIALECT_DIALECT_TILE_IR_TILEMATHOPS_TD

include "TileDialect/Dialect/Tile/IR/TileOpBase.td"

//===----------------------------------------------------------------------===//
// Elementwise arithmetic
//===----------------------------------------------------------------------===//

def Tile_FPCastOp : Tile_Op<"fp_cast", [Pure, Tile_SameShapeAndEncoding, Elementwise]> {
  let summary = "convert between floating-point types";
  let description = [{
    Converts each element to the result's element type. A value that the type
    cannot represent is rounded: to the nearest value, ties to even (`rtne`, the
    default), or toward zero (`rtz`).

    A conversion to an 8-bit type from another type saturates, as PTX
    `cvt.satfinite` does: a value beyond the largest finite one, infinity
    included, becomes the largest finite one of its sign; NaN stays NaN. Wider
    types overflow to infinity with `rtne`, to the largest finite value with `rtz`.

    `source` is a number or tile of floating-point type; the result has its shape
    and encoding. `round(rtz)` is for conversions that may round.

    Example:
    ```mlir
    %h = tile.fp_cast %x round(rtz) : tensor<64xf32> -> tensor<64xbf16>
    %q = tile.fp_cast %x : tensor<64xf32> -> tensor<64xf8E4M3FN>
    ```
  }];
  let arguments = (ins Tile_FloatLike:$source,
    DefaultValuedAttr<Tile_Rounding, "::mlir::tile::Rounding::NearestEven">:$rounding);
  let results = (outs Tile_FloatLike:$result);
  let assemblyFormat = "$source (`round` `(` custom<EnumKeyword>($rounding)^ `)`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_MulHiOp : Tile_Op<"mulhi", [Pure, SameOperandsAndResultType, Elementwise, Commutative]> {
  let summary = "the upper half of a product";
  let description = [{
    Yields the upper half of the product of `lhs` and `rhs`, which has twice
    their width. Operands are unsigned, or signed with `signed`.

    `lhs`, `rhs` and the result have one type, `i32`, `i64` or a tile of them.

    Example:
    ```mlir
    %h = tile.mulhi %a, %b : tensor<64xi32>
    %s = tile.mulhi signed %a, %b : tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile_LikeOf<AnyTypeOf<[I32, I64]>>:$lhs, Tile_LikeOf<AnyTypeOf<[I32, I64]>>:$rhs, UnitAttr:$is_signed);
  let results = (outs Tile_LikeOf<AnyTypeOf<[I32, I64]>>:$result);
  let assemblyFormat = "(`signed` $is_signed^)? $lhs `,` $rhs attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_PreciseSqrtOp : Tile_Op<"precise_sqrt", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "correctly rounded square root";
  let description = [{
    Yields the square root of `source`, rounded to nearest even, subnormal numbers
    included. `math.sqrt` may be approximate where fast math allows it; this op is not.

    `source` and the result have one type, `f32`, `f64` or a tile of them.

    Example:
    ```mlir
    %s = tile.precise_sqrt %x : tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_LikeOf<AnyTypeOf<[F32, F64]>>:$source);
  let results = (outs Tile_LikeOf<AnyTypeOf<[F32, F64]>>:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_PreciseDivOp : Tile_Op<"precise_div", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "correctly rounded division";
  let description = [{
    Yields `lhs / rhs`, rounded to nearest even, subnormal numbers included.
    `arith.divf` lowers to the faster division of 2 ulp for `f32`; this op does not.

    `lhs`, `rhs` and the result have one type, `f32`, `f64` or a tile of them.

    Example:
    ```mlir
    %q = tile.precise_div %a, %b : tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_LikeOf<AnyTypeOf<[F32, F64]>>:$lhs, Tile_LikeOf<AnyTypeOf<[F32, F64]>>:$rhs);
  let results = (outs Tile_LikeOf<AnyTypeOf<[F32, F64]>>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_ClampOp : Tile_Op<"clamp", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "limit a value to an interval";
  let description = [{
    Yields `min(max(source, min), max)`. If `source` is NaN the result is NaN with
    `propagate_nan`, and otherwise `min(min, max)`, as for numbers whose NaN
    operand loses. The result is undefined if `min` or `max` is NaN, or `min > max`.

    `source`, `min`, `max` and the result have one type, `f16`, `bf16`, `f32`,
    `f64` or a tile of them.

    Example:
    ```mlir
    %c = tile.clamp %x, %lo, %hi propagate_nan : tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_LikeOf<AnyTypeOf<[F16, BF16, F32, F64]>>:$source,
    Tile_LikeOf<AnyTypeOf<[F16, BF16, F32, F64]>>:$min, Tile_LikeOf<AnyTypeOf<[F16, BF16, F32, F64]>>:$max,
    UnitAttr:$propagate_nan);
  let results = (outs Tile_LikeOf<AnyTypeOf<[F16, BF16, F32, F64]>>:$result);
  let assemblyFormat = "$source `,` $min `,` $max (`propagate_nan` $propagate_nan^)? attr-dict `:` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Foreign code for each element
//===----------------------------------------------------------------------===//

def Tile_ExternElementwiseOp : Tile_Op<"extern_elementwise", [
    Tile_SameShapeAndEncoding, Elementwise,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "call a function of a device library for each element";
  let description = [{
    Calls the device function `symbol` with the corresponding elements of `args`.

    - `symbol` is the function's name, for instance `"__nv_tanhf"`. Its type is
      that of the elements.
    - `library` names a bitcode file to link; without it the function is
      libdevice's.
    - `args` are numbers or tiles of numbers, all of one shape and encoding. The
      result has that shape and encoding.
    - `pure`: the function has no side effects and may be called any number of
      times. Otherwise the op reads and writes memory and is not speculatable.

    Example:
    ```mlir
    %t = tile.extern_elementwise pure "__nv_tanhf"(%x) : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Variadic<Tile_NumberLike>:$args, UnitAttr:$is_pure,
                       OptionalAttr<StrAttr>:$library);
  let results = (outs Tile_NumberLike:$result);
  let assemblyFormat = [{
    (`pure` $is_pure^)? $symbol (`from` $library^)? `(` $args `)` attr-dict `:` functional-type($args, $result)
  }];
  let hasVerifier = 1;
}

def Tile_InlineAsmElementwiseOp : Tile_Op<"inline_asm_elementwise", [
    Tile_SameShapeAndEncoding, Elementwise,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "run inline assembly for each element, or each group of packed elements";
  let description = [{
    Runs `asm_string` once for every `pack` consecutive elements that a thread
    holds. Elements narrower than 32 bits are packed into 32-bit registers, the
    first one lowest: `pack` elements of `b` bits take `ceil(pack * b / 32)`
    operands.

    - `asm_string` is the assembly, with operands `$0`, `$1`, ...: first the
      registers of the results, then those of `args`.
    - `constraints` are LLVM's, as `"=r,r,r"`: outputs, then inputs. A register is
      as wide as an element of 32 or 64 bits, and holds all bits of packed ones.
    - `args` and results (at least one) are numbers, or tiles of one shape and encoding.
    - `pack` is positive; scalars need `pack` 1.
    - `pure`: the assembly has no side effects. Otherwise the op reads and writes
      memory and is not speculatable.

    Example:
    ```mlir
    %t = tile.inline_asm_elementwise pure "tanh.approx.f32 $0, $1;" constraints "=f,f" (%x)
      : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, Variadic<Tile_NumberLike>:$args,
    UnitAttr:$is_pure, DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$pack);
  let results = (outs Variadic<Tile_NumberLike>:$results);
  let assemblyFormat = [{
    (`pure` $is_pure^)? $asm_string `constraints` $constraints (`pack` $pack^)? `(` $args `)`
    attr-dict `:` functional-type($args, $results)
  }];
  let hasVerifier = 1;
}

def Tile_MapElementwiseOp : Tile_Op<"map_elementwise", [
    NoMemoryEffect, RecursivelySpeculatable, SingleBlock, IsolatedFromAbove,
    Tile_SameShapeAndEncoding, Tile_ScalarRegion]> {
  let summary = "apply a scalar region to each element, or each group of packed elements";
  let description = [{
    Runs the region once for every `pack` consecutive elements that a thread
    holds. The region may have control flow of its own (`scf`), which
    elementwise ops on tiles cannot have.

    - `args` are tiles of one shape and encoding; results have that shape and
      encoding. There is at least one result.
    - `pack` is positive.
    - The region's arguments are `pack` elements of the first operand, then `pack`
      of the second, and so on; `tile.yield` gives `pack` elements of each result
      in the same order. The region sees no value from outside, works on scalars
      and has no memory effects.

    Example:
    ```mlir
    %y = tile.map_elementwise(%x) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%e: f32):
      %n = arith.negf %e : f32
      tile.yield %n : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$args, DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$pack);
  let results = (outs Variadic<Tile_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $args `)` (`pack` $pack^)? attr-dict `:` functional-type($args, $results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product with accumulation";
  let description = [{
    Yields `acc + a * b`: `[M, K] * [K, N]` added to `[M, N]`, or a batch of such
    products with one more dimension in front of each.

    - `a` and `b` have the same element type, or are any two fp8 types.
    - `acc` and the result have one type: `i32` for `i8` operands, `f32` or `f16`
      for `f16` and fp8, `f32` for `bf16`, `f32` for `f32`, `f64` for `f64`.
    - `precision` says how `f32` operands are multiplied: rounded to `tf32` (the
      default), as three tf32 or bf16 products (`tf32x3`, `bf16x3`, `bf16x6`: six)
      that regain precision, or exactly (`ieee`). It is for `f32` operands only.
    - `max_num_imprecise_acc`: fp8 products may be summed with reduced precision
      over that many elements of `K` before they are added to `acc`; 0 leaves it
      to the target.

    The order of the additions is unspecified. Encodings, if any, are on all of
    `a`, `b` and `acc`; which ones fit is for the op that `dot` becomes.

    Example:
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
    DefaultValuedAttr<Tile_InputPrecision, "::mlir::tile::InputPrecision::TF32">:$precision,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$max_num_imprecise_acc);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc oilist(`precision` `(` custom<EnumKeyword>($precision) `)` | `max_num_imprecise_acc` `(` $max_num_imprecise_acc `)`)
    attr-dict `:` type($a) `*` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_DotScaledOp : Tile_Op<"dot_scaled", [Pure, AttrSizedOperandSegments, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product of block-scaled operands with accumulation";
  let description = [{
    Yields `acc + (a * a_scale) * (b * b_scale)`, where each scale is a power of
    two, biased by 127 (E8M0), that applies to 32 consecutive elements along `K`
    (OCP Microscaling Formats).

    - `a` is `[M, K]` and `b` is `[K, N]`, or both with a batch dimension in front.
      Their element type follows from `a_format` and `b_format`: `bf16` and
      `fp16` are those types, `e4m3` and `e5m2` are the fp8 type or raw bytes
      (`i8`), and `e2m1` is `i8` with two elements in a byte, the first one in
      the low half.
    - `a_k_pack`, `b_k_pack`: the two elements of an `e2m1` byte are neighbours
      along `K` (the default), else along `M` or `N`; the packed extent is half
      of the real one.
    - `a_scale` is `[M, K / 32]` and `b_scale` is `[N, K / 32]`, each of `i8`; an
      operand without a scale is not scaled. One of the two is present.
    - `acc` and the result are `[M, N]` of `f32`.
    - `fast_math`: a scale of 255 (NaN) need not give NaN.

    Example:
    ```mlir
    %d = tile.dot_scaled %a scale %as e4m3, %b scale %bs e2m1, %c
      : tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8>
      -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins Tile_NumberTensor:$a, Tile_NumberTensor:$b, Tile_NumberTensor:$acc,
    Optional<Tile_TensorOf<I8>>:$a_scale, Optional<Tile_TensorOf<I8>>:$b_scale,
    Tile_ScaledFormat:$a_format, Tile_ScaledFormat:$b_format, UnitAttr:$fast_math,
    DefaultValuedAttr<BoolAttr, "true">:$a_k_pack, DefaultValuedAttr<BoolAttr, "true">:$b_k_pack);
  let results = (outs Tile_NumberTensor:$result);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? custom<EnumKeyword>($a_format) `,` $b (`scale` $b_scale^)? custom<EnumKeyword>($b_format) `,` $acc (`fast_math` $fast_math^)?
    attr-dict `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEMATHOPS_TD
