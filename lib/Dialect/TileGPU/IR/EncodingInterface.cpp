//===- EncodingInterface.cpp - Layout rules for tile ops --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Answers the `tile` dialect's questions about encodings with the rules of the
// layout algebra.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

namespace {
class LayoutEncodingInterface : public tile::EncodingDialectInterface {
public:
  using EncodingDialectInterface::EncodingDialectInterface;

  FailureOr<Attribute> projectOut(RankedTensorType operand,
                                  unsigned axis) const final {
    LayoutAttr layout = getLayoutAttr(operand);
    if (!layout || axis >= layout.getRank())
      return failure();
    return toAttr(layout.getLayout().projectOut(axis));
  }

  FailureOr<Attribute> expandDims(RankedTensorType operand,
                                  unsigned axis) const final {
    LayoutAttr layout = getLayoutAttr(operand);
    if (!layout || axis > layout.getRank())
      return failure();
    return toAttr(layout.getLayout().expandDims(axis));
  }

  bool isBroadcast(RankedTensorType operand,
                   RankedTensorType result) const final {
    LayoutAttr from = getLayoutAttr(operand), to = getLayoutAttr(result);
    if (!from || !to || operand.getRank() != result.getRank())
      return false;
    // Without the broadcast dimensions the result's layout says which element
    // of the operand each register holds a copy of.
    Layout collapsed = to.getLayout();
    for (auto [axis, extents] : llvm::enumerate(
             llvm::zip_equal(operand.getShape(), result.getShape())))
      if (std::get<0>(extents) == 1 && std::get<1>(extents) != 1)
        collapsed = collapsed.collapse(axis);
    if (collapsed == from.getLayout())
      return true;
    return !collapsed.checkShape(operand.getShape()) &&
           classify(from.getLayout(), collapsed, operand.getShape()) <=
               ConversionKind::WithinThread;
  }

  FailureOr<Attribute> transpose(RankedTensorType operand,
                                 ArrayRef<int32_t> order) const final {
    LayoutAttr layout = getLayoutAttr(operand);
    if (!layout || order.size() != layout.getRank())
      return failure();
    return toAttr(layout.getLayout().transpose(order));
  }

  FailureOr<Attribute> reshape(RankedTensorType operand,
                               ArrayRef<int64_t> shape) const final {
    LayoutAttr layout = getLayoutAttr(operand);
    if (!layout)
      return failure();
    return toAttr(layout.getLayout().reshape(operand.getShape(), shape));
  }

  FailureOr<Attribute> join(RankedTensorType operand) const final {
    LayoutAttr layout = getLayoutAttr(operand);
    if (!layout)
      return failure();
    return toAttr(layout.getLayout().join());
  }

  FailureOr<Attribute> split(RankedTensorType operand) const final {
    LayoutAttr layout = getLayoutAttr(operand);
    if (!layout || layout.getRank() == 0)
      return failure();
    return toAttr(layout.getLayout().split());
  }

  bool isEquivalent(Attribute a, Attribute b,
                    ArrayRef<int64_t> shape) const final {
    if (a == b)
      return true;
    auto layoutA = dyn_cast_or_null<LayoutAttr>(a);
    auto layoutB = dyn_cast_or_null<LayoutAttr>(b);
    if (!layoutA || !layoutB || layoutA.getRank() != shape.size() ||
        layoutB.getRank() != shape.size())
      return false;
    return layoutA.getLayout().isEquivalent(layoutB.getLayout(), shape);
  }

private:
  FailureOr<Attribute> toAttr(const std::optional<Layout> &layout) const {
    if (!layout)
      return failure();
    return Attribute(LayoutAttr::get(getContext(), *layout));
  }
};
} // namespace

void TileGPUDialect::registerInterfaces() {
  addInterfaces<LayoutEncodingInterface>();
}
