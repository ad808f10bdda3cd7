//===- TileNV.h - The tile_nv dialect ---------------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILENV_IR_TILENV_H
#define TILEDIALECT_DIALECT_TILENV_IR_TILENV_H

#include "mlir/IR/Dialect.h"

#include "TileDialect/Dialect/TileNV/IR/TileNVDialect.h.inc"

#endif // TILEDIALECT_DIALECT_TILENV_IR_TILENV_H
