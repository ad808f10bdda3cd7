//===- MemoryAccess.cpp - How ops access global memory ----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/MemoryAccess.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Basis;
using tile_dialect::layout::HardwareDim;
using tile_dialect::layout::Layout;

namespace {

constexpr int64_t kLineBytes = 128;

int64_t getBytes(Type element) {
  if (isa<tile::PtrType>(element))
    return 8;
  return element.isIntOrFloat()
             ? std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8)
             : 8;
}

/// Dimensions by falling contiguity; the last one first among equals, as tiles
/// are mostly row-major where nothing is known.
SmallVector<unsigned, 4> getOrder(const tile::AxisInfo &info) {
  auto order = llvm::to_vector<4>(llvm::seq<unsigned>(0, info.getRank()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(info.getContiguity(a), a) >
           std::pair(info.getContiguity(b), b);
  });
  return order;
}

/// The tile that `op` reads or writes, and its pointers if it has any.
std::pair<RankedTensorType, Value> getAccessed(Operation *op) {
  using Result = std::pair<RankedTensorType, Value>;
  auto ofPointer = [](Value ptr) -> Result {
    Type pointee = tile::getPointeeLike(ptr.getType());
    return {dyn_cast_or_null<RankedTensorType>(pointee), ptr};
  };
  return TypeSwitch<Operation *, Result>(op)
      .Case<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
          [&](auto access) { return ofPointer(access.getPtr()); })
      .Case<tile::DescLoadOp>(
          [](tile::DescLoadOp load) { return Result(load.getType(), Value()); })
      .Case<tile::DescStoreOp, tile::DescReduceOp>([](auto store) {
        return Result(store.getValue().getType(), Value());
      })
      .Default([](Operation *) { return Result(); });
}

/// Elements of the box's rows that bounds do not part, and their places in
/// memory do not either.
int64_t getAlignedElements(tile::DescReduceOp op,
                           const tile::ModuleAxisInfo &axisInfo) {
  auto make = op.getDesc().getDefiningOp<tile::MakeDescOp>();
  if (!make)
    return 1;
  return std::min(
      axisInfo.getAxisInfo(op.getOffsets().back()).getDivisibility(0),
      axisInfo.getAxisInfo(make.getShape().back()).getDivisibility(0));
}

} // namespace

std::optional<MemoryAccess>
tile_gpu::getMemoryAccess(Operation *op, const tile::ModuleAxisInfo &axisInfo) {
  auto [type, ptr] = getAccessed(op);
  if (!type || !getLayoutAttr(type))
    return std::nullopt;
  MemoryAccess access;
  access.op = op;
  access.ptr = ptr;
  access.type = type;
  access.elementBytes = getBytes(type.getElementType());
  // Lanes that take turns at their neighbours cost most where each element is
  // an atomic of its own. So what keeps neighbours apart counts here.
  bool isAtomic =
      isa<tile::AtomicRMWOp, tile::AtomicCASOp, tile::DescReduceOp>(op);
  if (isAtomic)
    access.maxElements = getAtomicElements(op);
  access.isLoad = isa<tile::LoadOp, tile::DescLoadOp>(op);
  if (ptr) {
    access.order = getOrder(axisInfo.getAxisInfo(ptr));
    access.run = axisInfo.getAxisInfo(ptr).getContiguity(access.order[0]);
    access.contiguity = axisInfo.getPointerContiguity(ptr, access.order[0]);
    auto atomic = dyn_cast<tile::AtomicRMWOp>(op);
    if (atomic && atomic.getMask())
      access.maxElements = std::min(
          access.maxElements,
          axisInfo.getMaskAlignment(atomic.getMask(), access.order[0]));
    return access;
  }
  // Descriptors are row-major, and aligned as tensor copies in hardware ask.
  for (unsigned dim = type.getRank(); dim > 0; --dim)
    access.order.push_back(dim - 1);
  int64_t extent = type.getShape().back();
  access.run = extent;
  access.contiguity = std::min<int64_t>(
      extent & -extent,
      std::max<int64_t>(1, kMaxVectorBytes / access.elementBytes));
  if (auto reduce = dyn_cast<tile::DescReduceOp>(op))
    access.maxElements =
        std::min(access.maxElements, getAlignedElements(reduce, axisInfo));
  return access;
}

int64_t MemoryAccess::getVectorElements(const Layout &layout,
                                        int64_t maxBytes) const {
  int64_t widest = std::max<int64_t>(1, maxBytes / elementBytes);
  return std::min({widest, maxElements, contiguity,
                   layout.getContiguousPerThread(order[0], type.getShape())});
}

int64_t MemoryAccess::getCost(const Layout &layout) const {
  int64_t vector = getVectorElements(layout);
  int64_t instructions = layout.getNumRegisters(type.getShape()) / vector;
  // A lane bit doubles the lines that are touched, unless it stays within one
  // or (a zero basis) within one element.
  int64_t lines = 1;
  for (const Basis &basis : layout.getBases(HardwareDim::Lane)) {
    int64_t along = basis[order[0]];
    bool isElsewhere = along >= run || along * elementBytes >= kLineBytes;
    for (auto [dim, coord] : llvm::enumerate(basis))
      isElsewhere |= dim != order[0] && coord != 0;
    lines *= isElsewhere ? 2 : 1;
  }
  return std::max<int64_t>(1, instructions) * (2 + lines);
}

void tile_gpu::setAccessLayout(Operation *op, LayoutAttr layout) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      operand.set(convertTo(builder, operand.get(), layout));
  for (OpResult result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      produceIn(result, layout);
}
