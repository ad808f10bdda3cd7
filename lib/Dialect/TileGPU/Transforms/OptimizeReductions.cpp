//===- OptimizeReductions.cpp - Keep reductions inside a warp ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/MemoryAccess.h"
#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <vector>

namespace mlir::tile_gpu {
#define GEN_PASS_DEF_TILEGPUOPTIMIZEREDUCTIONS
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tile_gpu

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::HardwareDim;
using tile_dialect::layout::Layout;

namespace {

/// Bytes of each row that a warp should have at once if the reduced axis is not
/// the contiguous one. A sum over the rows of an 8192 x 2048 matrix of f32 that
/// read 64 bytes of a row took 22.4 us on an H200, one that read 256 bytes and
/// needed a barrier for it 19.4 us. What comes from no memory should not give
/// every element its own warp.
constexpr int64_t kBytesOfLoad = 256, kBytesOfValue = 32;

/// Lanes that share a row: enough to read whole lines, and as few steps of
/// shuffles as that allows.
int64_t getLanesPerRow(int64_t rowLength, int64_t numLanes) {
  if (rowLength <= 64)
    return std::min<int64_t>(8, numLanes);
  if (rowLength <= 128)
    return std::min<int64_t>(16, numLanes);
  return numLanes;
}

/// What the layout of a reduction's operand is made for.
struct ReductionShape {
  ArrayRef<int64_t> shape;
  unsigned axis;
  /// Dimensions, the one that is contiguous in memory first, and the elements
  /// along it that one access takes.
  SmallVector<unsigned, 4> order;
  int64_t vector;
  int64_t elementBytes;
  bool isLoaded;
  int64_t numLanes, numWarps;

  /// The largest power of two that divides an extent: what a layout can spread.
  int64_t getSpread(unsigned dim) const { return shape[dim] & -shape[dim]; }
  int64_t getNumRows() const {
    int64_t rows = 1;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (dim != axis)
        rows *= getSpread(dim);
    return rows;
  }
};

/// How many lanes lie along the axis, and how many along the other dimensions.
struct LaneSplit {
  int64_t vector, along, across;
};

LaneSplit splitRow(const ReductionShape &in) {
  int64_t spread = in.getSpread(in.axis);
  LaneSplit split{std::min(in.vector, spread), 1, 1};
  auto fitAlong = [&](int64_t lanes) {
    return std::min(lanes, spread / split.vector);
  };
  split.along = fitAlong(getLanesPerRow(in.shape[in.axis], in.numLanes));
  split.across = std::min(in.numLanes / split.along,
                          std::max<int64_t>(1, in.getNumRows() / in.numWarps));
  split.along = fitAlong(in.numLanes / split.across);
  // Idle lanes are worse than narrow accesses.
  while (split.along * split.across < in.numLanes && split.vector > 1) {
    split.vector /= 2;
    split.along = fitAlong(in.numLanes / split.across);
  }
  return split;
}

LaneSplit splitColumn(const ReductionShape &in) {
  int64_t perWarp = in.getNumRows() / in.numWarps;
  LaneSplit split;
  split.vector = std::min({in.vector, in.getSpread(in.order[0]), perWarp});
  split.across = std::min(in.numLanes, perWarp / split.vector);
  split.along = std::min(in.numLanes / split.across, in.getSpread(in.axis));
  return split;
}

/// Hands `count` (a power of two) out to the dimensions `dims` in their order,
/// as far as `left` has room.
SmallVector<int64_t> handOut(ArrayRef<unsigned> dims, int64_t count,
                             MutableArrayRef<int64_t> left) {
  SmallVector<int64_t> result(left.size(), 1);
  for (unsigned dim : dims) {
    result[dim] = std::min(count, left[dim]);
    left[dim] /= result[dim];
    count /= result[dim];
  }
  return result;
}

/// A layout that keeps the axis within a warp, or nullopt if there are too few
/// rows for that.
std::optional<Layout> getWarpLocalLayout(const ReductionShape &in) {
  int64_t rows = in.getNumRows();
  bool isRow = in.order[0] == in.axis;
  int64_t least = in.isLoaded ? kBytesOfLoad : kBytesOfValue;
  if (rows < in.numWarps ||
      (!isRow && rows / in.numWarps * in.elementBytes < least))
    return std::nullopt;
  LaneSplit split = isRow ? splitRow(in) : splitColumn(in);
  SmallVector<int64_t> left, sizePerThread(in.shape.size(), 1);
  for (unsigned dim = 0; dim < in.shape.size(); ++dim)
    left.push_back(in.getSpread(dim));
  sizePerThread[in.order[0]] = split.vector;
  left[in.order[0]] /= split.vector;
  SmallVector<unsigned> others, slowestFirst;
  for (unsigned dim : in.order)
    if (dim != in.axis)
      others.push_back(dim);
  slowestFirst.assign(others.rbegin(), others.rend());
  SmallVector<int64_t> lanes = handOut(others, split.across, left);
  lanes[in.axis] = split.along;
  SmallVector<int64_t> warps = handOut(slowestFirst, in.numWarps, left);
  Layout layout = tile_dialect::layout::blocked(in.shape, sizePerThread, lanes,
                                                warps, in.order);
  // Where the rows do not spread over all lanes and warps, the rest hold
  // copies.
  auto countBits = [&](HardwareDim dim) { return layout.getBases(dim).size(); };
  tile_dialect::layout::BasisList bases[2] = {
      layout.getBases(HardwareDim::Lane), layout.getBases(HardwareDim::Warp)};
  tile_dialect::layout::Basis copy(in.shape.size(), 0);
  bases[0].append(llvm::Log2_64(in.numLanes) - countBits(HardwareDim::Lane),
                  copy);
  bases[1].append(llvm::Log2_64(in.numWarps) - countBits(HardwareDim::Warp),
                  copy);
  return Layout(in.shape.size(), layout.getBases(HardwareDim::Register),
                bases[0], bases[1]);
}

class TileGPUOptimizeReductionsPass
    : public tile_gpu::impl::TileGPUOptimizeReductionsBase<
          TileGPUOptimizeReductionsPass> {
public:
  using TileGPUOptimizeReductionsBase::TileGPUOptimizeReductionsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      runOnKernel(kernel);
  }

private:
  void runOnKernel(gpu::GPUFuncOp kernel) {
    SmallVector<Operation *> reductions;
    kernel.walk([&](Operation *op) {
      if (isa<tile::ReduceOp, tile::ScanOp>(op) &&
          getLayoutAttr(op->getOperand(0).getType()))
        reductions.push_back(op);
    });
    if (reductions.empty())
      return;
    tile::ModuleAxisInfo axisInfo(kernel);
    accesses.clear();
    kernel.walk([&](Operation *op) {
      if (auto access = getMemoryAccess(op, axisInfo))
        accesses[access->type.getShape()].push_back(*access);
    });
    for (Operation *op : reductions)
      optimize(op);
  }

  void optimize(Operation *op) {
    unsigned axis = isa<tile::ReduceOp>(op) ? cast<tile::ReduceOp>(op).getAxis()
                                            : cast<tile::ScanOp>(op).getAxis();
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    std::vector<MemoryAccess> &group = accesses[type.getShape()];
    const MemoryAccess *widest = getWidest(group);
    Layout current = widest ? getLayoutAttr(widest->type).getLayout()
                            : getLayoutAttr(type).getLayout();
    Layout chosen = choose(type, axis, current, widest).value_or(current);
    auto layout = LayoutAttr::get(&getContext(), chosen);
    if (getLayoutAttr(type) != layout)
      setReductionLayout(op, layout);
    for (MemoryAccess &access : group)
      retarget(access, layout);
  }

  static const MemoryAccess *getWidest(ArrayRef<MemoryAccess> group) {
    const MemoryAccess *widest = nullptr;
    int64_t best = 0;
    for (const MemoryAccess &access : group) {
      int64_t elements =
          access.getVectorElements(getLayoutAttr(access.type).getLayout());
      if (elements > best) {
        best = elements;
        widest = &access;
      }
    }
    return widest;
  }

  std::optional<Layout> choose(RankedTensorType type, unsigned axis,
                               const Layout &current,
                               const MemoryAccess *widest) const {
    if (type.getRank() < 2 || type.getDimSize(axis) > maxWarpRow)
      return std::nullopt;
    ReductionShape in{type.getShape(), axis, {}, 1, 4, widest != nullptr, 1, 1};
    in.order = widest ? widest->order : current.getOrder();
    in.vector = current.getContiguousPerThread(in.order[0], type.getShape());
    in.elementBytes = widest ? widest->elementBytes : 4;
    in.numLanes = current.getSize(HardwareDim::Lane);
    in.numWarps = current.getSize(HardwareDim::Warp);
    std::optional<Layout> layout = getWarpLocalLayout(in);
    if (!layout || layout->checkShape(type.getShape()))
      return std::nullopt;
    return layout;
  }

  /// Accesses to tiles of the same shape follow the reduction where that costs
  /// them nothing, so that one layout serves all.
  static void retarget(MemoryAccess &access, LayoutAttr layout) {
    LayoutAttr old = getLayoutAttr(access.type);
    if (old == layout || access.getVectorElements(layout.getLayout()) <
                             access.getVectorElements(old.getLayout()))
      return;
    setAccessLayout(access.op, layout);
    access.type = withLayout(access.type, layout);
  }

  static void setReductionLayout(Operation *op, LayoutAttr layout) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(convertTo(builder, operand.get(), layout));
    if (isa<tile::ReduceOp>(op))
      return reconcileLayouts(op);
    for (OpResult result : op->getResults())
      produceIn(result, layout);
  }

  DenseMap<ArrayRef<int64_t>, std::vector<MemoryAccess>> accesses;
};

} // namespace
