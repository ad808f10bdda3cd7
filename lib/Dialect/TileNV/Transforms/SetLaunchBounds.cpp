//===- SetLaunchBounds.cpp - The tile-nv-set-launch-bounds pass -----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h"
#include "TileDialect/Dialect/TileNV/Transforms/Targets.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tile_nv {
#define GEN_PASS_DEF_TILENVSETLAUNCHBOUNDS
#include "TileDialect/Dialect/TileNV/Transforms/Passes.h.inc"
} // namespace mlir::tile_nv

using namespace mlir;
using namespace mlir::tile_nv;

namespace {

struct TileNVSetLaunchBoundsPass
    : public tile_nv::impl::TileNVSetLaunchBoundsBase<
          TileNVSetLaunchBoundsPass> {
  using Base::Base;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    ArrayAttr targets = module.getTargetsAttr();
    auto target = targets && targets.size() == 1
                      ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                      : NVVM::NVVMTargetAttr();
    const tile_dialect::ChipInfo *chip =
        target ? tile_dialect::lookupChip(target.getChip()) : nullptr;
    if (!chip) {
      module.emitOpError("has no target of a known chip: run "
                         "tile-nv-set-target first");
      return signalPassFailure();
    }
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(verify(kernel, *chip)))
        return signalPassFailure();
  }

  LogicalResult verify(gpu::GPUFuncOp kernel,
                       const tile_dialect::ChipInfo &chip);
};

/// Bytes of the parameters, each aligned to its size.
int64_t getParameterBytes(gpu::GPUFuncOp kernel) {
  int64_t bytes = 0;
  for (Type type : kernel.getArgumentTypes()) {
    int64_t size = type.isIntOrFloat() ? llvm::PowerOf2Ceil(llvm::divideCeil(
                                             type.getIntOrFloatBitWidth(), 8))
                                       : 8;
    bytes = llvm::alignTo(bytes, size) + size;
  }
  return bytes;
}

LogicalResult
TileNVSetLaunchBoundsPass::verify(gpu::GPUFuncOp kernel,
                                  const tile_dialect::ChipInfo &chip) {
  if (!isPTXIdentifier(kernel.getName()))
    return kernel.emitOpError("has a name that PTX does not allow: expected "
                              "letters, digits, _ and $; found '")
           << kernel.getName() << "'";
  // PTX ISA, Kernel Function Parameters: more since PTX 8.1.
  int64_t maxParameterBytes = chip.ptxVersion >= 81 ? 32764 : 4352;
  if (int64_t bytes = getParameterBytes(kernel); bytes > maxParameterBytes)
    return kernel.emitOpError("has parameters of ")
           << bytes << " bytes; " << chip.name << " has " << maxParameterBytes;
  if (maxRegisters < 0 || maxRegisters > chip.maxRegistersPerThread)
    return kernel.emitOpError("max-registers is ")
           << int64_t(maxRegisters) << "; expected 0 to "
           << chip.maxRegistersPerThread;
  auto shared =
      kernel->getAttrOfType<IntegerAttr>(tile_gpu::kSharedBytesAttrName);
  if (shared && shared.getInt() > chip.maxSharedBytesPerBlock)
    return kernel.emitOpError("needs ")
           << shared.getInt() << " bytes of shared memory; " << chip.name
           << " has " << chip.maxSharedBytesPerBlock << " for a block";
  int64_t threads = tile_gpu::getNumThreads(kernel);
  if (threads > chip.maxThreadsPerBlock)
    return kernel.emitOpError("needs ")
           << threads << " threads; a block on " << chip.name << " has at most "
           << chip.maxThreadsPerBlock;
  // The layouts are made for exactly this block, so it is `.reqntid`; PTX
  // allows no `.maxntid` beside it, which is what upstream makes of
  // `known_block_size`.
  kernel->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      DenseI32ArrayAttr::get(&getContext(), {int32_t(threads), 1, 1}));
  kernel.removeKnownBlockSizeAttr();
  kernel->removeAttr(tile_gpu::kSharedBytesAttrName);
  if (maxRegisters != 0)
    kernel->setAttr(
        NVVM::NVVMDialect::getMaxnregAttrName(),
        IntegerAttr::get(IntegerType::get(&getContext(), 32), maxRegisters));
  return success();
}

} // namespace
