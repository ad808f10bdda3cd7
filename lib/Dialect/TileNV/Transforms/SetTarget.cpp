//===- SetTarget.cpp - The tile-nv-set-target pass ------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "TileDialect/Dialect/TileNV/Transforms/Targets.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tile_nv {
#define GEN_PASS_DEF_TILENVSETTARGET
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h.inc"
} // namespace mlir::tile_nv

using namespace mlir;
using namespace mlir::tile_nv;

/// The target that `chip` names, resp. the only one; null if there is none.
static FailureOr<NVVM::NVVMTargetAttr> findTarget(gpu::GPUModuleOp module,
                                                  StringRef chip) {
  ArrayAttr targets = module.getTargetsAttr();
  if (!targets || targets.empty())
    return NVVM::NVVMTargetAttr();
  if (!chip.empty()) {
    for (auto target : targets.getAsRange<Attribute>())
      if (auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target);
          nvvm && nvvm.getChip() == chip)
        return nvvm;
    return NVVM::NVVMTargetAttr();
  }
  if (targets.size() > 1)
    return module.emitOpError("has ")
           << targets.size() << " targets: choose one with the chip option";
  auto target = dyn_cast<NVVM::NVVMTargetAttr>(targets[0]);
  if (!target)
    return module.emitOpError("expected an `#nvvm.target`, found ")
           << targets[0];
  return target;
}

/// The features of `target`, and a PTX version if they name none.
static FailureOr<std::string>
completeFeatures(gpu::GPUModuleOp module, NVVM::NVVMTargetAttr target,
                 const tile_dialect::ChipInfo &chip) {
  StringRef features = target.getFeatures();
  bool hasVersion = false;
  for (StringRef feature : llvm::split(features, ',')) {
    if (!feature.consume_front("+ptx"))
      continue;
    int32_t version;
    if (feature.getAsInteger(10, version))
      return module.emitOpError("invalid PTX version in target features '")
             << features << "'";
    if (version < chip.ptxVersion)
      return module.emitOpError("target features '")
             << features << "' are too old a PTX version for " << chip.name
             << ": expected " << chip.getFeatures() << " or newer";
    hasVersion = true;
  }
  if (hasVersion)
    return features.str();
  if (features.empty())
    return chip.getFeatures();
  return features.str() + "," + chip.getFeatures();
}

LogicalResult tile_nv::setTarget(gpu::GPUModuleOp module, StringRef chip) {
  constexpr StringLiteral triple = "nvptx64-nvidia-cuda";
  FailureOr<NVVM::NVVMTargetAttr> found = findTarget(module, chip);
  if (failed(found))
    return failure();
  NVVM::NVVMTargetAttr existing = *found;
  std::string name = !chip.empty() ? chip.str()
                     : existing    ? existing.getChip().str()
                                   : tile_dialect::defaultChip.str();
  const tile_dialect::ChipInfo *info = tile_dialect::lookupChip(name);
  if (!info)
    return module.emitError("unknown chip '")
           << name << "', expected one of " << tile_dialect::getChipNames();

  MLIRContext *context = module.getContext();
  NVVM::NVVMTargetAttr target;
  if (existing) {
    if (existing.getTriple() != triple)
      return module.emitOpError("has a target with triple '")
             << existing.getTriple() << "', expected '" << triple << "'";
    FailureOr<std::string> features = completeFeatures(module, existing, *info);
    if (failed(features))
      return failure();
    // What else the module's own target says of the same chip stays.
    target = NVVM::NVVMTargetAttr::get(
        context, existing.getO(), triple, name, *features, existing.getFlags(),
        existing.getLink(), existing.getVerifyTarget());
  } else {
    target = NVVM::NVVMTargetAttr::get(context, /*optLevel=*/3, triple, name,
                                       info->getFeatures());
  }
  module.setTargetsAttr(ArrayAttr::get(context, {target}));
  return success();
}

const tile_dialect::ChipInfo *tile_nv::getTargetChip(gpu::GPUModuleOp module) {
  ArrayAttr targets = module.getTargetsAttr();
  auto target = targets && targets.size() == 1
                    ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                    : NVVM::NVVMTargetAttr();
  const tile_dialect::ChipInfo *chip =
      target ? tile_dialect::lookupChip(target.getChip()) : nullptr;
  if (!chip)
    module.emitOpError("has no target of a known chip: run "
                       "tile-nv-set-target first");
  return chip;
}

bool tile_nv::isPTXIdentifier(StringRef name) {
  auto isFollowing = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$';
  };
  if (name.empty() || !llvm::all_of(name.drop_front(), isFollowing))
    return false;
  // A leading % is left to registers, although PTX allows it.
  return llvm::isAlpha(name.front()) ||
         (name.size() > 1 && StringRef("_$").contains(name.front()));
}

namespace {

struct TileNVSetTargetPass
    : public tile_nv::impl::TileNVSetTargetBase<TileNVSetTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    auto visit = [&](Operation *op) {
      if (auto module = dyn_cast<gpu::GPUModuleOp>(op)) {
        if (failed(setTarget(module, chip)))
          return WalkResult::interrupt();
        return WalkResult::skip();
      }
      if (isa_and_nonnull<tile::TileDialect>(op->getDialect())) {
        op->emitOpError("is outside a kernel: put it in a `gpu.func` with the "
                        "`kernel` attribute, in a `gpu.module`");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    };
    if (getOperation().walk<WalkOrder::PreOrder>(visit).wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
