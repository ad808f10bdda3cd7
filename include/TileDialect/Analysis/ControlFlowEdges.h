//===- ControlFlowEdges.h - Values that control flow forwards ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_ANALYSIS_CONTROLFLOWEDGES_H
#define TILEDIALECT_ANALYSIS_CONTROLFLOWEDGES_H

#include "mlir/IR/Operation.h"

namespace mlir::tile {

/// Calls `edge(from, to)` for each value that control flow forwards at `op`:
/// - `op` has regions (scf.for, scf.while, scf.if ...): from its operands to
/// the
///   arguments of the regions that are entered first, or to its results;
/// - `op` ends such a region: to the arguments of the next region or the
///   results of the parent;
/// - `op` branches to blocks: from its operands to the block arguments.
/// `from` is the operand, so that a caller may change it.
void forEachControlFlowEdge(Operation *op,
                            function_ref<void(OpOperand &from, Value to)> edge);

/// True if forEachControlFlowEdge tells of every value that enters the regions
/// of `op` or leaves them.
bool hasKnownControlFlow(Operation *op);

} // namespace mlir::tile

#endif // TILEDIALECT_ANALYSIS_CONTROLFLOWEDGES_H
