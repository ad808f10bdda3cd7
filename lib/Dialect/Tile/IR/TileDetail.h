//===- TileDetail.h - Shared by the tile op files ------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILE_IR_TILEDETAIL_H
#define TILEDIALECT_LIB_DIALECT_TILE_IR_TILEDETAIL_H

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::tile {

using InferEncodingFn =
    function_ref<FailureOr<Attribute>(const EncodingDialectInterface &)>;

/// The interface of the dialect that `encoding` comes from, or null.
const EncodingDialectInterface *getEncodingInterface(Attribute encoding);

/// Verify that `to` has the encoding that `infer` derives from the encoding of
/// `from` (or none, if `from` has none). If the encoding's dialect has no
/// EncodingDialectInterface the two must be equal. If `infer` fails there is no
/// encoding that fits: an error, unless `optional`. `relation` says in the
/// message what `to` is, e.g. "result of trans".
LogicalResult verifyDerivedEncoding(Operation *op, RankedTensorType from,
                                    RankedTensorType to, StringRef relation,
                                    InferEncodingFn infer,
                                    bool optional = false);

/// Verify that both types have an encoding or neither has.
LogicalResult verifyBothEncoded(Operation *op, RankedTensorType a,
                                RankedTensorType b);

/// The encoding that `infer` derives from the one of `from`; that encoding
/// itself if its dialect has no interface or no rule. For builders, which
/// cannot fail: what does not fit is found by the verifier.
Attribute deriveEncoding(RankedTensorType from, InferEncodingFn infer);

/// Verify `0 <= axis < rank`.
LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t rank);

/// The element of a scalar or splat constant, or null.
TypedAttr getSplatElement(Attribute constant);
/// The element if `value` is a scalar constant, a splat constant or a
/// `tile.splat` of a constant; otherwise null.
TypedAttr getConstantElement(Value value);
/// True if `value` is the constant `expected` in every element.
bool isConstantBool(Value value, bool expected);
/// A constant of `type` (a number, or a tile of numbers) that is `element` in
/// every element.
TypedAttr getConstant(Type type, TypedAttr element);

/// Fold an elementwise op on scalars or splats: null unless every operand is
/// a constant with one element value and `fold` yields one.
OpFoldResult foldSplats(ArrayRef<Attribute> operands, Type resultType,
                        function_ref<TypedAttr(ArrayRef<TypedAttr>)> fold);

} // namespace mlir::tile

#endif // TILEDIALECT_LIB_DIALECT_TILE_IR_TILEDETAIL_H
