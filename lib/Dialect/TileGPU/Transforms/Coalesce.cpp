//===- Coalesce.cpp - Layouts for wide, coalesced accesses ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/MemoryAccess.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <vector>

namespace mlir::tile_gpu {
#define GEN_PASS_DEF_TILEGPUCOALESCE
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tile_gpu

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::HardwareDim;
using tile_dialect::layout::Layout;

namespace {

/// Accesses to tiles of one shape that are contiguous along the same dimension:
/// with one layout, values pass between them without a conversion.
struct AccessGroup {
  std::vector<MemoryAccess> accesses;
  int64_t elementsPerThread = 1;
  int64_t widestElement = 1;
};

class TileGPUCoalescePass
    : public tile_gpu::impl::TileGPUCoalesceBase<TileGPUCoalescePass> {
public:
  using TileGPUCoalesceBase::TileGPUCoalesceBase;

  void runOnOperation() override {
    if (maxVectorBytes < 1 || !llvm::isPowerOf2_64(maxVectorBytes)) {
      getOperation()->emitError("max-vector-bytes must be a power of two, not ")
          << maxVectorBytes.getValue();
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      coalesce(kernel);
  }

private:
  void coalesce(gpu::GPUFuncOp kernel) {
    tile::ModuleAxisInfo axisInfo(kernel);
    using Key = std::pair<SmallVector<int64_t>, SmallVector<unsigned>>;
    std::map<Key, size_t> index;
    std::vector<AccessGroup> groups;
    kernel.walk([&](Operation *op) {
      std::optional<MemoryAccess> access = getMemoryAccess(op, axisInfo);
      if (!access)
        return;
      Key key(SmallVector<int64_t>(access->type.getShape()),
              SmallVector<unsigned>(ArrayRef(access->order)));
      auto [it, isNew] = index.try_emplace(key, groups.size());
      if (isNew)
        groups.emplace_back();
      addAccess(groups[it->second], *access);
    });
    for (AccessGroup &group : groups)
      setLayout(group);
  }

  void addAccess(AccessGroup &group, const MemoryAccess &access) {
    int64_t widest = std::max<int64_t>(1, maxVectorBytes / access.elementBytes);
    int64_t elements =
        std::min({widest, access.maxElements, access.contiguity});
    group.elementsPerThread = std::max(group.elementsPerThread, elements);
    group.widestElement = std::max(group.widestElement, access.elementBytes);
    group.accesses.push_back(access);
  }

  void setLayout(AccessGroup &group) {
    RankedTensorType type = group.accesses.front().type;
    ArrayRef<unsigned> order = group.accesses.front().order;
    Layout old = getLayoutAttr(type).getLayout();
    int64_t numLanes = old.getSize(HardwareDim::Lane);
    int64_t numWarps = old.getSize(HardwareDim::Warp);
    // The narrowest type decides, but the widest one should not leave gaps of
    // more than its own access between lanes, nor any thread go without work.
    int64_t perThread = std::min(
        group.elementsPerThread,
        std::max<int64_t>(1, 2 * maxVectorBytes / group.widestElement));
    int64_t share = type.getNumElements() / (numLanes * numWarps);
    perThread = std::min(
        perThread, static_cast<int64_t>(llvm::bit_floor<uint64_t>(
                       static_cast<uint64_t>(std::max<int64_t>(1, share)))));
    SmallVector<int64_t> sizePerThread(type.getRank(), 1);
    sizePerThread[order[0]] = perThread;
    Layout layout = tile_dialect::layout::blocked(
        type.getShape(), sizePerThread, order, numLanes, numWarps);
    auto attr = LayoutAttr::get(type.getContext(), layout);
    for (MemoryAccess &access : group.accesses)
      setAccessLayout(access.op, attr);
  }
};

} // namespace
