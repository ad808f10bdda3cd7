//===- ControlFlowEdges.cpp - Values that control flow forwards -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/ControlFlowEdges.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace {

void forwardRange(Operation *op, OperandRange from, ValueRange to,
                  function_ref<void(OpOperand &, Value)> edge) {
  if (from.empty())
    return;
  unsigned first = from.getBeginOperandIndex();
  for (auto [i, target] : llvm::enumerate(to.take_front(from.size())))
    edge(op->getOpOperand(first + i), target);
}

} // namespace

void tile::forEachControlFlowEdge(Operation *op,
                                  function_ref<void(OpOperand &, Value)> edge) {
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    SmallVector<RegionSuccessor, 2> successors;
    branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
    for (RegionSuccessor &successor : successors)
      forwardRange(op, branch.getEntrySuccessorOperands(successor),
                   successor.getSuccessorInputs(), edge);
  }
  if (auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(op)) {
    if (auto parent = dyn_cast<RegionBranchOpInterface>(op->getParentOp())) {
      SmallVector<RegionSuccessor, 2> successors;
      parent.getSuccessorRegions(RegionBranchPoint(terminator), successors);
      for (RegionSuccessor &successor : successors)
        forwardRange(op, terminator.getSuccessorOperands(successor),
                     successor.getSuccessorInputs(), edge);
    }
  }
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (auto [i, successor] : llvm::enumerate(op->getSuccessors())) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      unsigned produced = operands.getProducedOperandCount();
      forwardRange(op, operands.getForwardedOperands(),
                   successor->getArguments().drop_front(produced), edge);
    }
  }
}

bool tile::hasKnownControlFlow(Operation *op) {
  if (!isa<RegionBranchOpInterface>(op))
    return false;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.empty() ||
          !isa<RegionBranchTerminatorOpInterface, BranchOpInterface>(
              block.back()))
        return false;
  return true;
}
