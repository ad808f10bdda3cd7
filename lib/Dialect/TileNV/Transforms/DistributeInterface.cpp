//===- DistributeInterface.cpp - tile_nv takes part in distribution -------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "TileDialect/Dialect/TileNV/IR/TileNV.h"
#include "TileDialect/Dialect/TileNV/Transforms/Distribute.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;
using tile_dialect::layout::HardwareDim;

const tile_dialect::ChipInfo &nv_detail::getChip(Operation *kernel) {
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  if (module && module.getTargetsAttr())
    for (Attribute attr : module.getTargetsAttr())
      if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(attr))
        if (const auto *chip = tile_dialect::lookupChip(target.getChip()))
          return *chip;
  return tile_dialect::getAllChips().front();
}

Value nv_detail::getActingThread(OpBuilder &builder,
                                 DistributionContext &context, Type type) {
  if (tile_gpu::LayoutAttr layout = tile_gpu::getLayoutAttr(type))
    return context.getIsUniqueHolder(builder, layout);
  return context.getIsFirstThread(builder);
}

bool nv_detail::isCopyRegister(Type type, int64_t reg) {
  tile_gpu::LayoutAttr attr = tile_gpu::getLayoutAttr(type);
  if (!attr)
    return false;
  tile_dialect::layout::Layout layout = attr.getLayout();
  int64_t inTile = reg % layout.getSize(HardwareDim::Register);
  return (inTile & layout.getFreeMask(HardwareDim::Register)) != 0;
}

bool nv_detail::hasCopies(Type type) {
  tile_gpu::LayoutAttr attr = tile_gpu::getLayoutAttr(type);
  if (!attr)
    return true;
  tile_dialect::layout::Layout layout = attr.getLayout();
  return layout.getFreeMask(HardwareDim::Register) ||
         layout.getFreeMask(HardwareDim::Lane) ||
         layout.getFreeMask(HardwareDim::Warp);
}

namespace {

struct TileNVDistributeInterface : public tile_gpu::DistributeDialectInterface {
  using DistributeDialectInterface::DistributeDialectInterface;

  void populateDistributePatterns(
      const tile_gpu::DistributionTypeConverter &converter,
      RewritePatternSet &patterns, ConversionTarget &target,
      DistributionContext &context) const override {
    auto plan = std::make_shared<const AccessPlan>(context);
    populateMemoryPatterns(converter, patterns, context, plan);
    populateDescriptorPatterns(converter, patterns, context, plan);
    populateAtomicPatterns(converter, patterns, context, plan);
    populateMathPatterns(converter, patterns, target, context);
    populateArithPatterns(converter, patterns, target, context);
    populateCastPatterns(converter, patterns, target, context);
    populateCallPatterns(converter, patterns, context);
    populateDebugPatterns(converter, patterns, context);
  }

  int64_t getScratchBytes(Operation *op) const override {
    return getAtomicScratchBytes(op);
  }

  bool hasInternalBarrier(Operation *op) const override {
    return getAtomicScratchBytes(op) != 0;
  }

  int64_t getAtomicElements(Operation *op) const override {
    return nv_detail::getAtomicElements(op);
  }
};

} // namespace

void tile_nv::registerDistributeInterface(DialectRegistry &registry) {
  registry.insert<TileNVDialect>();
  registry.addExtension(+[](MLIRContext *, TileNVDialect *dialect) {
    dialect->addInterfaces<TileNVDistributeInterface>();
  });
  registry.addExtension(+[](MLIRContext *context, tile_gpu::TileGPUDialect *) {
    // The patterns of TileNV create NVVM ops, in modules without a target, too.
    context->loadDialect<TileNVDialect, NVVM::NVVMDialect>();
  });
}
