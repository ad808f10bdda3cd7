//===- TileNVDialect.cpp - The tile_nv dialect ----------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileNV/IR/TileNV.h"

using namespace mlir;
using namespace mlir::tile_nv;

#include "TileDialect/Dialect/TileNV/IR/TileNVDialect.cpp.inc"

void TileNVDialect::initialize() {}
