//===- InsertGridDependencies.cpp - tile-nv-insert-grid-dependencies ------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileNV/IR/TileNV.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "TileDialect/Dialect/TileNV/Transforms/Targets.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tile_nv {
#define GEN_PASS_DEF_TILENVINSERTGRIDDEPENDENCIES
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h.inc"
} // namespace mlir::tile_nv

using namespace mlir;
using namespace mlir::tile_nv;
using NVVM::GridDepActionKind;

/// Whether `op` is that instruction, also as PTX in inline assembly.
static bool isGridDependency(Operation *op, GridDepActionKind kind) {
  if (auto control = dyn_cast<NVVM::GriddepcontrolOp>(op))
    return control.getKind() == kind;
  StringRef assembly =
      TypeSwitch<Operation *, StringRef>(op)
          .Case<tile::InlineAsmElementwiseOp, LLVM::InlineAsmOp>(
              [](auto inlineAsm) { return inlineAsm.getAsmString(); })
          .Default(StringRef());
  return assembly.contains(
      ("griddepcontrol." + NVVM::stringifyGridDepActionKind(kind)).str());
}

static bool hasGridDependency(gpu::GPUFuncOp kernel, GridDepActionKind kind) {
  return kernel
      .walk([&](Operation *op) {
        return isGridDependency(op, kind) ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isLoad(Operation *op) {
  return isa<tile::LoadOp, tile::DescLoadOp>(op);
}

/// The last of the loads that a block begins with, among ops that only compute,
/// and not for long; null if it begins without any.
static Operation *getLastLeadingLoad(Block &block) {
  Operation *last = nullptr;
  for (Operation &op : block) {
    if (isLoad(&op))
      last = &op;
    else if (!isa<tile::AssumeOp>(op) && // a promise, no code
             (op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
              isa<tile::DotOp, tile::DotScaledOp>(op)))
      break;
  }
  return last;
}

/// Moves what the loads up to `last` do not need behind it. Without that,
/// converted values would be held in registers while the rest is loaded.
static void sinkBehindLoads(Operation *last) {
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Operation *> others;
  auto leading = llvm::make_range(last->getBlock()->begin(),
                                  std::next(last->getIterator()));
  for (Operation &op : llvm::reverse(leading)) {
    if (!isLoad(&op) && !needed.contains(&op)) {
      others.push_back(&op);
      continue;
    }
    for (Value operand : op.getOperands())
      if (Operation *definition = operand.getDefiningOp())
        needed.insert(definition);
  }
  // From the last one on, so that they keep their order.
  for (Operation *op : others)
    op->moveAfter(last);
}

//===----------------------------------------------------------------------===//
// Prefetches ahead of the wait
//===----------------------------------------------------------------------===//

/// What the first blocks of a grid fetch together before they wait. Enough for
/// the memory to be busy until the first loads behind the wait arrive (about a
/// microsecond); with much more, what is fetched waits for the loads of the
/// grid in front instead. Measured on an H200, see docs/rationale/TileNV.md.
static constexpr int64_t kPrefetchBytes = 4 << 20;

/// Adds what `value` is computed from to `ops`, in no order. False if that is
/// not arithmetic on the arguments of the kernel and the place in the grid.
static bool collectAddress(Value value, Block &entry,
                           llvm::SetVector<Operation *> &ops) {
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value current = pending.pop_back_val();
    Operation *op = current.getDefiningOp();
    if (!op) {
      if (cast<BlockArgument>(current).getOwner() != &entry)
        return false;
      continue;
    }
    // Foreign code without side effects may still read memory.
    if (op->getBlock() != &entry || op->getNumRegions() != 0 || !isPure(op) ||
        isa<tile::InlineAsmElementwiseOp, tile::ExternElementwiseOp>(op))
      return false;
    if (ops.insert(op))
      llvm::append_range(pending, op->getOperands());
  }
  return true;
}

/// A load whose lines are worth a prefetch, and the ops that compute its
/// address and mask.
struct EarlyLoad {
  tile::LoadOp load;
  llvm::SetVector<Operation *> address;
};

/// Whether `type` is a tile of pointers that a prefetch takes: what is in
/// shared memory is in no cache.
static bool isGlobalTile(Type type) {
  return isa<RankedTensorType>(type) &&
         cast<tile::PtrType>(getElementTypeOrSelf(type)).getMemorySpace() <= 1;
}

/// The loads up to `last` from addresses that are known before any memory is
/// read. Those that all blocks read (weights, say) are left out: they are in
/// the cache soon, and until then every block would ask for the same lines.
static SmallVector<EarlyLoad> getEarlyLoads(Operation *last) {
  SmallVector<EarlyLoad> result;
  Block &entry = *last->getBlock();
  for (Operation &op :
       llvm::make_range(entry.begin(), std::next(last->getIterator()))) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load || load.getIsVolatile() || !isGlobalTile(load.getPtr().getType()))
      continue;
    EarlyLoad early{load, {}};
    if (!collectAddress(load.getPtr(), entry, early.address) ||
        llvm::none_of(early.address, llvm::IsaPred<tile::ProgramIdOp>) ||
        (load.getMask() &&
         !collectAddress(load.getMask(), entry, early.address)))
      continue;
    result.push_back(std::move(early));
  }
  return result;
}

/// `x + X * (y + Y * z)` for block (x, y, z) of a grid of X * Y * Z.
static Value createLinearBlockId(OpBuilder &builder, Location loc) {
  Type i32 = builder.getI32Type();
  Value index;
  for (tile::Axis axis : {tile::Axis::Z, tile::Axis::Y, tile::Axis::X}) {
    Value id = tile::ProgramIdOp::create(builder, loc, i32, axis);
    if (index) {
      Value extent = tile::NumProgramsOp::create(builder, loc, i32, axis);
      id = arith::AddIOp::create(
          builder, loc, id, arith::MulIOp::create(builder, loc, index, extent));
    }
    index = id;
  }
  return index;
}

/// Lets the first blocks of the grid fetch what they load first, in front of
/// `wait`: the grid before this one has read all it needs when they start, and
/// the memory would be idle until its last stores are done. L2 is where all
/// global memory is coherent, so that what that grid still writes is not
/// missed.
static void prefetchBefore(Operation *wait, Operation *lastLoad) {
  SmallVector<EarlyLoad> loads = getEarlyLoads(lastLoad);
  if (loads.empty())
    return;
  llvm::SmallPtrSet<Operation *, 32> addresses;
  int64_t blockBytes = 0;
  for (EarlyLoad &early : loads) {
    addresses.insert(early.address.begin(), early.address.end());
    auto type = cast<RankedTensorType>(early.load.getType());
    blockBytes += type.getNumElements() *
                  tile_gpu::getElementBytes(type.getElementType());
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(wait->getIterator()), lastLoad->getIterator())))
    if (addresses.contains(&op))
      op.moveBefore(wait);

  OpBuilder builder(wait);
  Location loc = wait->getLoc();
  Value blocks = arith::ConstantIntOp::create(
      builder, loc, builder.getI32Type(),
      std::max<int64_t>(1, kPrefetchBytes / blockBytes));
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                            createLinearBlockId(builder, loc), blocks);
  scf::IfOp::create(
      builder, loc, isFirst, [&](OpBuilder &body, Location bodyLoc) {
        for (EarlyLoad &early : loads)
          PrefetchOp::create(body, early.load->getLoc(), early.load.getPtr(),
                             early.load.getMask());
        scf::YieldOp::create(body, bodyLoc);
      });
}

static void insertGridDependencies(gpu::GPUFuncOp kernel) {
  kernel->setAttr(kProgrammaticLaunchAttrName,
                  UnitAttr::get(kernel.getContext()));
  if (hasGridDependency(kernel, GridDepActionKind::wait))
    return;
  Block &entry = kernel.getBody().front();
  Operation *lastLoad = getLastLeadingLoad(entry);
  auto builder = OpBuilder::atBlockBegin(&entry);
  if (!hasGridDependency(kernel, GridDepActionKind::launch_dependents)) {
    if (lastLoad) {
      sinkBehindLoads(lastLoad);
      builder.setInsertionPointAfter(lastLoad);
    }
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                   GridDepActionKind::launch_dependents);
  }
  builder.setInsertionPointToStart(&entry);
  auto wait = NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                             GridDepActionKind::wait);
  if (lastLoad)
    prefetchBefore(wait, lastLoad);
}

namespace {

struct TileNVInsertGridDependenciesPass
    : public tile_nv::impl::TileNVInsertGridDependenciesBase<
          TileNVInsertGridDependenciesPass> {
  using Base::Base;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    const tile_dialect::ChipInfo *chip = getTargetChip(module);
    if (!chip)
      return signalPassFailure();
    if (!chip->hasGridDependencies)
      return;
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel())
        insertGridDependencies(kernel);
  }
};

} // namespace
