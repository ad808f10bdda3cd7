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
    const tile_dialect::ChipInfo *chip = getTargetChip(module);
    if (!chip)
      return signalPassFailure();
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(verify(kernel, *chip)))
        return signalPassFailure();
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel())
        setBounds(kernel);
  }

  LogicalResult verify(gpu::GPUFuncOp kernel,
                       const tile_dialect::ChipInfo &chip);
  void setBounds(gpu::GPUFuncOp kernel);
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

/// What a user wrote about the block must be the block of the layouts.
LogicalResult verifyBlock(gpu::GPUFuncOp kernel, int64_t threads) {
  auto fails = [&](StringRef name, StringRef relation) {
    return kernel.emitOpError("has ")
           << name << " = " << kernel->getAttr(name) << ", but its layouts are "
           << "made for a block of " << threads << " threads: expected "
           << relation;
  };
  StringRef required = NVVM::NVVMDialect::getReqntidAttrName();
  if (auto block = kernel->getAttrOfType<DenseI32ArrayAttr>(required)) {
    ArrayRef<int32_t> extents = block.asArrayRef();
    if (extents[0] != threads ||
        llvm::any_of(extents.drop_front(), [](int32_t e) { return e != 1; }))
      return fails(required, "these along x");
  }
  StringRef most = NVVM::NVVMDialect::getMaxntidAttrName();
  if (auto block = kernel->getAttrOfType<DenseI32ArrayAttr>(most)) {
    int64_t product = 1;
    for (int32_t extent : block.asArrayRef())
      product *= extent;
    if (product < threads)
      return fails(most, "as many at least");
  }
  return success();
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
  if (failed(verifyLaunchBounds(kernel, chip)))
    return failure();
  return verifyBlock(kernel, threads);
}

void TileNVSetLaunchBoundsPass::setBounds(gpu::GPUFuncOp kernel) {
  // The layouts are made for exactly this block, so it is `.reqntid`; PTX
  // allows no `.maxntid` beside it, which is what upstream makes of
  // `known_block_size`.
  int32_t threads = tile_gpu::getNumThreads(kernel);
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  DenseI32ArrayAttr::get(&getContext(), {threads, 1, 1}));
  kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
  kernel.removeKnownBlockSizeAttr();
  kernel->removeAttr(tile_gpu::kSharedBytesAttrName);
  StringRef registers = NVVM::NVVMDialect::getMaxnregAttrName();
  if (maxRegisters != 0 && !kernel->hasAttr(registers))
    kernel->setAttr(
        registers,
        IntegerAttr::get(IntegerType::get(&getContext(), 32), maxRegisters));
}

} // namespace
