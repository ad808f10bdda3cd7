//===- InsertGridDependencies.cpp - tile-nv-insert-grid-dependencies ------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileNV/IR/TileNV.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "TileDialect/Dialect/TileNV/Transforms/Targets.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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
    else if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
             isa<tile::DotOp, tile::DotScaledOp>(op))
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

static void insertGridDependencies(gpu::GPUFuncOp kernel) {
  kernel->setAttr(kProgrammaticLaunchAttrName,
                  UnitAttr::get(kernel.getContext()));
  if (hasGridDependency(kernel, GridDepActionKind::wait))
    return;
  Block &entry = kernel.getBody().front();
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToStart(&entry);
  if (!hasGridDependency(kernel, GridDepActionKind::launch_dependents)) {
    if (Operation *load = getLastLeadingLoad(entry)) {
      sinkBehindLoads(load);
      builder.setInsertionPointAfter(load);
    }
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                   GridDepActionKind::launch_dependents);
    builder.setInsertionPointToStart(&entry);
  }
  NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                 GridDepActionKind::wait);
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
