//===- OpLayouts.h - Layouts that ops ask for -------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout rules of tile ops, as the passes that choose layouts need them.
// These passes give each value the layout they like best, op by op without
// regard to its neighbours, and then call `reconcileLayouts`, which puts
// conversions where an op's rule demands them.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_OPLAYOUTS_H
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_OPLAYOUTS_H

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/Builders.h"

namespace mlir::tile_gpu {

/// Ops that only make a value, at the same small cost in any layout: arange,
/// splat, constants, poison.
bool isCreation(Operation *op);

/// Ops that work on each element by itself, with operands and results in one
/// layout.
bool isElementwise(Operation *op);

/// The layout that the source of an `expand_dims` or `broadcast` needs if its
/// result has `result`; null for other ops.
LayoutAttr getSourceLayout(Operation *op, LayoutAttr result);

/// True for a `broadcast` whose operand has a layout that serves its result.
bool fitsBroadcast(Operation *op);

/// The layout in which an op that only renames coordinates (expand_dims, trans,
/// reshape, join, split) or projects them out (reduce) leaves its result, if
/// its sources have `source`. For `expand_dims` it is one of several. Null for
/// other ops, and where elements would have to move.
LayoutAttr getResultLayout(Operation *op, LayoutAttr source);

/// `value` in `layout`: itself, the source of the conversion that makes it, or
/// a new convert_layout at the builder's insertion point.
Value convertTo(OpBuilder &builder, Value value, LayoutAttr layout);

/// Gives `result` the layout `natural` and all its users a conversion to the
/// layout that it has now.
void produceIn(OpResult result, LayoutAttr natural);

/// Converts operands before, or results after, a shape op or reduction whose
/// operands and results have layouts that do not fit. Other ops are left alone.
void reconcileLayouts(Operation *op);

/// Gives a creation op another result layout (the attribute of a constant
/// changes its type with it).
void setCreationLayout(Operation *op, LayoutAttr layout);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_OPLAYOUTS_H
