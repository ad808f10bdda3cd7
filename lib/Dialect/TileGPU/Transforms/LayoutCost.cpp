//===- LayoutCost.cpp - What layouts cost -----------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutCost.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Basis;
using tile_dialect::layout::ConversionKind;
using tile_dialect::layout::HardwareDim;
using tile_dialect::layout::Layout;

namespace {

/// A barrier of all warps and the latency of shared memory behind it.
constexpr int64_t kBarrierCost = 40;
/// A shuffle takes as long as two to four arithmetic instructions.
constexpr int64_t kShuffleCost = 3;

int64_t getBytes(RankedTensorType type) {
  Type element = type.getElementType();
  return element.isIntOrFloat()
             ? std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8)
             : 8;
}

unsigned countBitsAlong(const Layout &layout, HardwareDim dim, unsigned axis) {
  return llvm::count_if(layout.getBases(dim),
                        [&](const Basis &basis) { return basis[axis] != 0; });
}

} // namespace

ConversionKind LayoutCost::classify(ArrayRef<int64_t> shape, LayoutAttr from,
                                    LayoutAttr to) {
  auto [it, isNew] =
      kinds.try_emplace(Key(shape, from, to), ConversionKind::Identity);
  if (isNew)
    it->second =
        tile_dialect::layout::classify(from.getLayout(), to.getLayout(), shape);
  return it->second;
}

int64_t LayoutCost::getConversion(RankedTensorType type, LayoutAttr from,
                                  LayoutAttr to) {
  if (from == to)
    return 0;
  int64_t bytes = getBytes(type);
  int64_t registers = getRegisters(type, to);
  switch (classify(type.getShape(), from, to)) {
  case ConversionKind::Identity:
    return 0;
  case ConversionKind::WithinThread:
    return 1;
  case ConversionKind::WithinWarp:
    return 1 + kShuffleCost * registers * std::max<int64_t>(1, bytes / 4);
  case ConversionKind::ThroughShared:
  case ConversionKind::ThroughCluster:
    break;
  }
  return 2 * kBarrierCost + (registers + getRegisters(type, from)) * bytes / 4;
}

int64_t LayoutCost::getReduction(RankedTensorType type, unsigned axis,
                                 LayoutAttr layout) {
  Layout algebra = layout.getLayout();
  int64_t registers = getRegisters(type, layout);
  int64_t results = 1;
  if (type.getRank() > 1) {
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    results = algebra.projectOut(axis).getNumRegisters(shape);
  }
  unsigned lanes = countBitsAlong(algebra, HardwareDim::Lane, axis);
  unsigned warps = countBitsAlong(algebra, HardwareDim::Warp, axis);
  return registers + (kShuffleCost + 1) * lanes * results +
         (warps ? kBarrierCost + results * (4 + warps) : 0);
}

int64_t LayoutCost::getFrequency(Operation *op) {
  constexpr int64_t kIterations = 8, kMost = 512;
  int64_t frequency = 1;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent) && frequency < kMost)
      frequency *= kIterations;
  return frequency;
}
