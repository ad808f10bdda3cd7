//===- LayoutRewriting.cpp - Rewrite a kernel to decided layouts *- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutAssignment.h"
#include "TileDialect/Analysis/ControlFlowEdges.h"
#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"

using namespace mlir;
using namespace mlir::tile_gpu;

void LayoutAssignment::setTypes() {
  for (auto [value, id] : ids)
    value.setType(withLayout(cast<RankedTensorType>(value.getType()),
                             components.find(find(id))->second.layout));
}

void LayoutAssignment::rewriteResults(Operation *op) {
  // The results of a reduction follow from its operands, later.
  if (isa<tile::ReduceOp>(op))
    return;
  LayoutAttr execution = getExecution(op);
  for (OpResult result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      produceIn(result, execution);
}

Value LayoutAssignment::getIn(Value value, LayoutAttr layout) {
  while (getLayoutAttr(value.getType()) != layout) {
    auto convert = value.getDefiningOp<ConvertLayoutOp>();
    if (!convert)
      break;
    value = convert.getSource();
  }
  if (getLayoutAttr(value.getType()) == layout)
    return value;
  Value &result = converted[{value, layout}];
  if (result)
    return result;
  // At the definition, so that loops and all users share it.
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Operation *op = value.getDefiningOp();
  if (op && isCreation(op)) {
    Operation *clone = builder.clone(*op);
    setCreationLayout(clone, layout);
    return result = clone->getResult(0);
  }
  return result = convertTo(builder, value, layout);
}

void LayoutAssignment::require(OpOperand &operand, LayoutAttr layout) {
  if (layout && isa<RankedTensorType>(operand.get().getType()))
    operand.set(getIn(operand.get(), layout));
}

/// Operands of one layout are in one component, but for those that are in none.
void LayoutAssignment::requireEqualOperands(Operation *op) {
  if (op->getNumOperands() < 2)
    return;
  unsigned leader = isTied(op->getOperand(0)) ? 0 : 1;
  require(op->getOpOperand(1 - leader),
          getLayoutAttr(op->getOperand(leader).getType()));
}

void LayoutAssignment::rewriteShapeOp(Operation *op) {
  LayoutAttr result = getLayoutAttr(op->getResult(0).getType());
  if (LayoutAttr needed = getSourceLayout(op, result)) {
    if (!fitsBroadcast(op))
      require(op->getOpOperand(0), needed);
    return;
  }
  if (isa<tile::JoinOp>(op))
    requireEqualOperands(op);
  reconcileLayouts(op);
}

void LayoutAssignment::rewriteOperands(Operation *op) {
  switch (getRole(op)) {
  case OpRole::Elementwise: {
    LayoutAttr layout = getLayoutAttr(op->getResult(0).getType());
    for (OpOperand &operand : op->getOpOperands())
      require(operand, layout);
    return;
  }
  case OpRole::ControlFlow:
    tile::forEachControlFlowEdge(op, [&](OpOperand &from, Value to) {
      require(from, getLayoutAttr(to.getType()));
    });
    return;
  case OpRole::Flexible:
    for (OpOperand &operand : op->getOpOperands())
      require(operand, getExecution(op));
    if (isa<tile::ReduceOp>(op))
      reconcileLayouts(op);
    return;
  case OpRole::Shape:
    return rewriteShapeOp(op);
  case OpRole::Fixed:
    for (auto [operand, layout] :
         llvm::zip_equal(op->getOpOperands(), givenOperands[op]))
      require(operand, layout);
    return;
  case OpRole::Any:
    if (isa<tile::CatOp, tile::HistogramOp>(op))
      requireEqualOperands(op);
    return;
  case OpRole::None:
  case OpRole::Creation:
    return;
  }
}
