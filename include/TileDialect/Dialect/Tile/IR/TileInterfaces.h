//===- TileInterfaces.h - Interfaces of the tile dialect --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILE_IR_TILEINTERFACES_H
#define TILEDIALECT_DIALECT_TILE_IR_TILEINTERFACES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectInterface.h"

namespace mlir::tile {

/// Implemented by a dialect whose attributes encode tiles (`tile_gpu`). Tile
/// ops use it to verify that the encodings of operands and results fit together
/// and to infer a result's encoding; `tile` itself knows no encoding.
class EncodingDialectInterface
    : public DialectInterface::Base<EncodingDialectInterface> {
public:
  EncodingDialectInterface(Dialect *dialect) : Base(dialect) {}

  /// The encoding of a reduction's result along `axis` of `operand`, which is
  /// also the one that the operand of `expand_dims` at `axis` must have.
  virtual FailureOr<Attribute> projectOut(RankedTensorType operand,
                                          unsigned axis) const = 0;
  /// Result encoding of `expand_dims` at `axis`.
  virtual FailureOr<Attribute> expandDims(RankedTensorType operand,
                                          unsigned axis) const = 0;
  /// True if `operand` broadcasts to `result` without moving an element between
  /// threads.
  virtual bool isBroadcast(RankedTensorType operand,
                           RankedTensorType result) const = 0;
  /// Result encoding of `trans`.
  virtual FailureOr<Attribute> transpose(RankedTensorType operand,
                                         ArrayRef<int32_t> order) const = 0;
  /// Result encoding of a row-major reshape to `shape`, or failure if elements
  /// would have to move between threads.
  virtual FailureOr<Attribute> reshape(RankedTensorType operand,
                                       ArrayRef<int64_t> shape) const = 0;
  /// Result encoding of `join` / `split`.
  virtual FailureOr<Attribute> join(RankedTensorType operand) const = 0;
  virtual FailureOr<Attribute> split(RankedTensorType operand) const = 0;
  /// True if two encodings place the elements of `shape` alike.
  virtual bool isEquivalent(Attribute a, Attribute b,
                            ArrayRef<int64_t> shape) const = 0;
};

} // namespace mlir::tile

#endif // TILEDIALECT_DIALECT_TILE_IR_TILEINTERFACES_H
