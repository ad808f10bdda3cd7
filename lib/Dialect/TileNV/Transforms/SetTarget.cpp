//===- SetTarget.cpp - The tile-nv-set-target pass ------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::tile_nv {
#define GEN_PASS_DEF_TILENVSETTARGET
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h.inc"
} // namespace mlir::tile_nv

using namespace mlir;
using namespace mlir::tile_nv;

namespace {

struct TileNVSetTargetPass
    : public tile_nv::impl::TileNVSetTargetBase<TileNVSetTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto module = dyn_cast<gpu::GPUModuleOp>(op)) {
        if (failed(setTarget(module)))
          return WalkResult::interrupt();
        return WalkResult::skip();
      }
      if (isa<tile::TileDialect>(op->getDialect())) {
        op->emitOpError("is outside a kernel: put it in a `gpu.func` with the "
                        "`kernel` attribute, in a `gpu.module`");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult setTarget(gpu::GPUModuleOp module);
};

LogicalResult TileNVSetTargetPass::setTarget(gpu::GPUModuleOp module) {
  std::string name = chip;
  NVVM::NVVMTargetAttr existing;
  if (ArrayAttr targets = module.getTargetsAttr(); targets && !targets.empty()) {
    if (targets.size() > 1 && name.empty())
      return module.emitOpError("has ")
             << targets.size() << " targets: choose one with the chip option";
    existing = dyn_cast<NVVM::NVVMTargetAttr>(targets[0]);
    if (!existing && name.empty())
      return module.emitOpError("expected an `#nvvm.target`, found ")
             << targets[0];
    if (name.empty())
      name = existing.getChip().str();
  }
  if (name.empty())
    name = tile_dialect::defaultChip.str();
  const tile_dialect::ChipInfo *info = tile_dialect::lookupChip(name);
  if (!info)
    return module.emitOpError("unknown chip '")
           << name << "'; known are " << tile_dialect::getChipNames();

  // What else the module's own target says of the same chip stays.
  if (existing && existing.getChip() == name)
    return success();
  auto target = NVVM::NVVMTargetAttr::get(
      module.getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", name,
      info->getFeatures());
  module.setTargetsAttr(ArrayAttr::get(module.getContext(), {target}));
  return success();
}

} // namespace
