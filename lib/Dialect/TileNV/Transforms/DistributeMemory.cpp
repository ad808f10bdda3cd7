//===- DistributeMemory.cpp - Loads and stores ----------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers that hold consecutive elements at consecutive, aligned addresses
// become one access of up to 16 bytes. What has neither mask nor cache modifier
// is a plain LLVM load or store; the rest is PTX, whose predicate costs no
// branch.
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "TileDialect/Dialect/TileNV/IR/TileNV.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

constexpr int64_t kMaxAccessBytes = 16;

/// The widest access that the layout and the facts about pointers and mask
/// allow.
int64_t getTileWidth(const tile::ModuleAxisInfo &info, Value ptr, Value mask) {
  auto type = dyn_cast<RankedTensorType>(ptr.getType());
  tile_gpu::LayoutAttr layout = tile_gpu::getLayoutAttr(ptr.getType());
  if (!type || !layout)
    return 1;
  auto pointer = cast<tile::PtrType>(type.getElementType());
  int64_t limit =
      kMaxAccessBytes / tile_gpu::getElementBytes(pointer.getPointeeType());
  int64_t best = 1;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    int64_t width = std::min(
        {limit, layout.getLayout().getContiguousPerThread(dim, type.getShape()),
         info.getPointerContiguity(ptr, dim)});
    if (mask)
      width = std::min(width, info.getMaskAlignment(mask, dim));
    best = std::max(best, width);
  }
  return best;
}

/// The widest access to the box of a descriptor. Its base and the strides of
/// its rows are aligned to 16 bytes, and its last stride is 1, by contract.
/// What is left to know: the offset within a row, and that no access reaches
/// over the end of a row.
int64_t getBoxWidth(const tile::ModuleAxisInfo &info, Value desc, Value offset,
                    Type boxType) {
  auto type = dyn_cast<RankedTensorType>(boxType);
  tile_gpu::LayoutAttr layout = tile_gpu::getLayoutAttr(boxType);
  auto make = desc.getDefiningOp<tile::MakeDescOp>();
  if (!type || !layout || !make || type.getShape().back() == 1)
    return 1;
  // With the last dimension of extent 1 left out, the tile's last dimension is
  // another one.
  if (cast<tile::DescType>(desc.getType()).getShape().back() !=
      type.getShape().back())
    return 1;
  return std::min(
      {kMaxAccessBytes / tile_gpu::getElementBytes(type.getElementType()),
       layout.getLayout().getContiguousPerThread(type.getRank() - 1,
                                                 type.getShape()),
       info.getAxisInfo(offset).getDivisibility(0),
       info.getAxisInfo(make.getShape().back()).getDivisibility(0)});
}

/// See AccessPlan::getSameAddress.
SmallVector<size_t> findSameAddress(const tile::ModuleAxisInfo &info,
                                    tile::LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getPtr().getType());
  if (!type || !tile_gpu::getLayoutAttr(type) || load.getIsVolatile())
    return {};
  tile::AxisInfo axisInfo = info.getAxisInfo(load.getPtr());
  if (llvm::all_of(axisInfo.getConstancy(), [](int64_t n) { return n == 1; }))
    return {};
  return tile_gpu::getRepresentatives(type, axisInfo.getConstancy());
}

} // namespace

ArrayRef<size_t> AccessPlan::getSameAddress(tile::LoadOp load) const {
  auto it = sameAddress.find(load);
  return it == sameAddress.end() ? ArrayRef<size_t>() : it->second;
}

AccessPlan::AccessPlan(DistributionContext &context) {
  const tile::ModuleAxisInfo &info = context.getAxisInfo();
  context.getKernel()->walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      widths[op] = getTileWidth(info, load.getPtr(), load.getMask());
      sameAddress[op] = findSameAddress(info, load);
    } else if (auto store = dyn_cast<tile::StoreOp>(op))
      widths[op] = getTileWidth(info, store.getPtr(), store.getMask());
    else if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op))
      widths[op] =
          std::min(getTileWidth(info, atomic.getPtr(), atomic.getMask()),
                   getAtomicElements(op));
    else if (auto prefetch = dyn_cast<PrefetchOp>(op))
      widths[op] = getTileWidth(info, prefetch.getPtr(), /*mask=*/Value());
    else if (auto load = dyn_cast<tile::DescLoadOp>(op))
      widths[op] = getBoxWidth(info, load.getDesc(), load.getOffsets().back(),
                               load.getType());
    else if (auto store = dyn_cast<tile::DescStoreOp>(op))
      widths[op] = getBoxWidth(info, store.getDesc(), store.getOffsets().back(),
                               store.getValue().getType());
    else if (auto reduce = dyn_cast<tile::DescReduceOp>(op))
      widths[op] = std::min(getBoxWidth(info, reduce.getDesc(),
                                        reduce.getOffsets().back(),
                                        reduce.getValue().getType()),
                            getAtomicElements(op));
  });
}

namespace {

struct DistributeLoad : public OpConversionPattern<tile::LoadOp> {
  DistributeLoad(const TypeConverter &converter, MLIRContext *context,
                 std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, context), plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(tile::LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "the result does not convert");
    AccessFlags flags{op.getCache(), op.getEviction(), op.getIsVolatile()};
    ValueRange mask = adaptor.getMask(), other = adaptor.getOther();
    int64_t width = plan->getWidth(op);
    ArrayRef<size_t> sameAddress = plan->getSameAddress(op);
    Registers registers;
    for (int64_t reg = 0, size = types.size(); reg < size; reg += width) {
      // Elements at one address are loaded once, if they are masked alike.
      int64_t first = sameAddress.empty() ? reg : sameAddress[reg];
      if (first != reg && width == 1 &&
          (mask.empty() || at(mask, reg) == at(mask, first)) &&
          (other.empty() || at(other, reg) == at(other, first))) {
        registers.push_back(registers[first]);
        continue;
      }
      SmallVector<Value> otherwise;
      for (int64_t i = 0; !other.empty() && i < width; ++i)
        otherwise.push_back(at(other, reg + i));
      llvm::append_range(registers,
                         emitLoad(rewriter, op.getLoc(),
                                  at(adaptor.getPtr(), reg), types[reg], width,
                                  mask.empty() ? Value() : at(mask, reg),
                                  otherwise, flags));
    }
    tile_gpu::replaceWithRegisters(rewriter, op, {registers});
    return success();
  }

  std::shared_ptr<const AccessPlan> plan;
};

struct DistributeStore : public OpConversionPattern<tile::StoreOp> {
  DistributeStore(const TypeConverter &converter, MLIRContext *patternContext,
                  DistributionContext &context,
                  std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, patternContext), context(context),
        plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(tile::StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    AccessFlags flags{op.getCache(), op.getEviction(), op.getIsVolatile()};
    Type type = op.getPtr().getType();
    ValueRange mask = adaptor.getMask(), values = adaptor.getValue();
    Value acting = getActingThread(rewriter, context, type);
    int64_t width = plan->getWidth(op);
    for (int64_t reg = 0, size = values.size(); reg < size; reg += width) {
      if (isCopyRegister(type, reg))
        continue;
      Value predicate = emitAnd(rewriter, op.getLoc(), acting,
                                mask.empty() ? Value() : at(mask, reg));
      emitStore(rewriter, op.getLoc(), at(adaptor.getPtr(), reg),
                values.slice(reg, width), predicate, flags);
    }
    rewriter.eraseOp(op);
    return success();
  }

  DistributionContext &context;
  std::shared_ptr<const AccessPlan> plan;
};

struct DistributePrefetch : public OpConversionPattern<PrefetchOp> {
  DistributePrefetch(const TypeConverter &converter, MLIRContext *context,
                     std::shared_ptr<const AccessPlan> plan)
      : OpConversionPattern(converter, context), plan(std::move(plan)) {}

  LogicalResult
  matchAndRewrite(PrefetchOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // What a load of the same pointers could access at once without a mask: a
    // hint may miss some elements where the first of these is masked, but one
    // for each element, if a mask is not known to be aligned, costs too much.
    // The lanes that share a line cost no more than one of them.
    ValueRange pointers = adaptor.getPtr(), mask = adaptor.getMask();
    int64_t width = plan->getWidth(op);
    for (int64_t reg = 0, size = pointers.size(); reg < size; reg += width) {
      SmallVector<Value> operands{pointers[reg]};
      std::string text = "prefetch" + getStateSpace(pointers[reg]).str() +
                         ".L2 [$0];",
                  constraints = "l";
      if (!mask.empty()) {
        operands.push_back(at(mask, reg));
        text = "@$1 " + text;
        constraints += ",b";
      }
      emitPTX(rewriter, op.getLoc(), text, constraints, {}, operands,
              /*pure=*/false);
    }
    rewriter.eraseOp(op);
    return success();
  }

  std::shared_ptr<const AccessPlan> plan;
};

} // namespace

void nv_detail::populateMemoryPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       DistributionContext &context,
                                       std::shared_ptr<const AccessPlan> plan) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributeLoad, DistributePrefetch>(converter, ctx, plan);
  patterns.add<DistributeStore>(converter, ctx, context, plan);
}
