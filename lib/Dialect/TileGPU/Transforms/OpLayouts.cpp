//===- OpLayouts.cpp - Layouts that ops ask for -----------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Layout;

namespace {

LayoutAttr toAttr(MLIRContext *context, const std::optional<Layout> &layout) {
  return layout ? LayoutAttr::get(context, *layout) : LayoutAttr();
}

ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

} // namespace

bool tile_gpu::isCreation(Operation *op) {
  return isa<tile::ArangeOp, tile::SplatOp, arith::ConstantOp, ub::PoisonOp>(
      op);
}

bool tile_gpu::isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tile::AddPtrOp, tile::IntToPtrOp, tile::PtrToIntOp,
             tile::BitcastOp, tile::MapElementwiseOp>(op);
}

bool tile_gpu::fitsBroadcast(Operation *op) {
  auto broadcast = dyn_cast<tile::BroadcastOp>(op);
  if (!broadcast)
    return false;
  RankedTensorType from = broadcast.getSource().getType();
  auto *rules = from.getEncoding()
                    .getDialect()
                    .getRegisteredInterface<tile::EncodingDialectInterface>();
  return rules && rules->isBroadcast(from, broadcast.getType());
}

LayoutAttr tile_gpu::getSourceLayout(Operation *op, LayoutAttr result) {
  Layout layout = result.getLayout();
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return toAttr(op->getContext(), layout.projectOut(expand.getAxis()));
  auto broadcast = dyn_cast<tile::BroadcastOp>(op);
  if (!broadcast)
    return {};
  for (auto [axis, extents] : llvm::enumerate(llvm::zip_equal(
           getShape(broadcast.getSource()), getShape(broadcast.getResult()))))
    if (std::get<0>(extents) != std::get<1>(extents))
      layout = layout.collapse(axis);
  return toAttr(op->getContext(), layout);
}

LayoutAttr tile_gpu::getResultLayout(Operation *op, LayoutAttr source) {
  MLIRContext *context = op->getContext();
  Layout layout = source.getLayout();
  return TypeSwitch<Operation *, LayoutAttr>(op)
      .Case<tile::ExpandDimsOp>([&](tile::ExpandDimsOp expand) {
        return toAttr(context, layout.expandDims(expand.getAxis()));
      })
      .Case<tile::ReduceOp>([&](tile::ReduceOp reduce) {
        return layout.getRank() < 2
                   ? LayoutAttr()
                   : toAttr(context, layout.projectOut(reduce.getAxis()));
      })
      .Case<tile::TransOp>([&](tile::TransOp trans) {
        return toAttr(context, layout.transpose(trans.getOrder()));
      })
      .Case<tile::ReshapeOp>([&](tile::ReshapeOp reshape) {
        return toAttr(context, layout.reshape(getShape(reshape.getSource()),
                                              getShape(reshape.getResult())));
      })
      .Case<tile::JoinOp>(
          [&](tile::JoinOp) { return toAttr(context, layout.join()); })
      .Case<tile::SplitOp>(
          [&](tile::SplitOp) { return toAttr(context, layout.split()); })
      .Default([](Operation *) { return LayoutAttr(); });
}

Value tile_gpu::convertTo(OpBuilder &builder, Value value, LayoutAttr layout) {
  while (auto convert = value.getDefiningOp<ConvertLayoutOp>())
    value = convert.getSource();
  auto type = cast<RankedTensorType>(value.getType());
  if (getLayoutAttr(type) == layout)
    return value;
  return ConvertLayoutOp::create(builder, value.getLoc(),
                                 withLayout(type, layout), value);
}

void tile_gpu::produceIn(OpResult result, LayoutAttr natural) {
  auto type = cast<RankedTensorType>(result.getType());
  if (getLayoutAttr(type) == natural)
    return;
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  result.setType(withLayout(type, natural));
  auto convert =
      ConvertLayoutOp::create(builder, result.getLoc(), type, result);
  result.replaceAllUsesExcept(convert.getResult(), convert);
}

namespace {

void convertOperand(OpOperand &operand, LayoutAttr layout) {
  OpBuilder builder(operand.getOwner());
  operand.set(convertTo(builder, operand.get(), layout));
}

/// Reshapes whose source and result fit need nothing; others are made to fit by
/// converting the result, or else the source. Where no layout fits the op
/// itself moves the elements.
void reconcileReshape(tile::ReshapeOp op) {
  LayoutAttr from = getLayoutAttr(op.getSource().getType());
  LayoutAttr to = getLayoutAttr(op.getType());
  ArrayRef<int64_t> shape = op.getType().getShape();
  if (LayoutAttr natural = getResultLayout(op, from)) {
    if (!natural.getLayout().isEquivalent(to.getLayout(), shape))
      produceIn(cast<OpResult>(op.getResult()), natural);
    return;
  }
  std::optional<Layout> needed =
      to.getLayout().reshape(shape, op.getSource().getType().getShape());
  if (needed)
    convertOperand(op->getOpOperand(0), toAttr(op.getContext(), needed));
}

void reconcileSplit(tile::SplitOp op) {
  LayoutAttr from = getLayoutAttr(op.getSource().getType());
  LayoutAttr natural = getResultLayout(op, from);
  if (natural) {
    for (OpResult result : op->getResults())
      produceIn(result, natural);
    return;
  }
  Layout needed = getLayoutAttr(op.getLhs().getType()).getLayout().join();
  convertOperand(op->getOpOperand(0), LayoutAttr::get(op.getContext(), needed));
}

} // namespace

void tile_gpu::reconcileLayouts(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case<tile::ExpandDimsOp>([](tile::ExpandDimsOp expand) {
        convertOperand(
            expand->getOpOperand(0),
            getSourceLayout(expand, getLayoutAttr(expand.getType())));
      })
      .Case<tile::BroadcastOp>([](tile::BroadcastOp broadcast) {
        if (!fitsBroadcast(broadcast))
          convertOperand(
              broadcast->getOpOperand(0),
              getSourceLayout(broadcast, getLayoutAttr(broadcast.getType())));
      })
      .Case<tile::ReduceOp, tile::TransOp, tile::JoinOp>([](Operation *op) {
        LayoutAttr natural =
            getResultLayout(op, getLayoutAttr(op->getOperand(0).getType()));
        for (OpResult result : op->getResults())
          if (natural && isa<RankedTensorType>(result.getType()))
            produceIn(result, natural);
      })
      .Case<tile::ReshapeOp>(
          [](tile::ReshapeOp reshape) { reconcileReshape(reshape); })
      .Case<tile::SplitOp>([](tile::SplitOp split) { reconcileSplit(split); });
}

void tile_gpu::setCreationLayout(Operation *op, LayoutAttr layout) {
  RankedTensorType type =
      withLayout(cast<RankedTensorType>(op->getResult(0).getType()), layout);
  op->getResult(0).setType(type);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(elements.reshape(type));
}
