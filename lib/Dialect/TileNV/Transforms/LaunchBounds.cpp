//===- LaunchBounds.cpp - Launch bounds that users wrote ------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileNV/Transforms/Targets.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tile_nv;

namespace {

/// The launch bounds of one kernel. LLVM writes what it finds, and ptxas
/// refuses some values, ignores others and takes the rest for something else
/// (PTX ISA, Performance-Tuning Directives and Cluster Dimension Directives).
struct LaunchBounds {
  Operation *kernel;
  const tile_dialect::ChipInfo &chip;

  LogicalResult verify();

  /// An integer from 1 to `max`, if there is one at all.
  LogicalResult verifyNumber(StringRef name, int64_t max);
  /// One to three positive integers with a product of up to `max`.
  LogicalResult verifyExtents(StringRef name, int64_t max);
  LogicalResult verifyClusters();
  LogicalResult verifyTogether(StringRef first, StringRef second);
};

} // namespace

LogicalResult LaunchBounds::verifyNumber(StringRef name, int64_t max) {
  Attribute attr = kernel->getAttr(name);
  auto number = dyn_cast_or_null<IntegerAttr>(attr);
  if (!attr || (number && number.getValue().isStrictlyPositive() &&
                number.getValue().sle(max)))
    return success();
  return kernel->emitOpError("has ")
         << name << " = " << attr << "; expected an integer from 1 to " << max
         << " on " << chip.name;
}

LogicalResult LaunchBounds::verifyExtents(StringRef name, int64_t max) {
  Attribute attr = kernel->getAttr(name);
  if (!attr)
    return success();
  auto array = dyn_cast<DenseI32ArrayAttr>(attr);
  int64_t product = 1;
  bool isValid = array && !array.empty() && array.size() <= 3;
  if (isValid) {
    for (int32_t extent : array.asArrayRef()) {
      isValid &= extent > 0;
      // Extents are 32 bits wide, and a product above `max` stays above.
      product = std::min<int64_t>(product * std::max(extent, 1), max + 1);
    }
  }
  if (isValid && product <= max)
    return success();
  return kernel->emitOpError("has ")
         << name << " = " << attr
         << "; expected one to three positive extents (i32) with a product of "
            "up to "
         << max << " on " << chip.name;
}

LogicalResult LaunchBounds::verifyTogether(StringRef first, StringRef second) {
  if (!kernel->hasAttr(first) || !kernel->hasAttr(second))
    return success();
  return kernel->emitOpError("has both ")
         << first << " and " << second << ", of which PTX allows one";
}

LogicalResult LaunchBounds::verifyClusters() {
  using NVVM::NVVMDialect;
  for (StringRef name : {NVVMDialect::getClusterDimAttrName(),
                         NVVMDialect::getClusterMaxBlocksAttrName(),
                         NVVMDialect::getBlocksAreClustersAttrName()})
    if (kernel->hasAttr(name) && !chip.hasClusters)
      return kernel->emitOpError("has ")
             << name << ", but " << chip.name << " has no clusters of blocks";
  // 8 blocks run everywhere, 16 where the host allows them (CUDA C++
  // Programming Guide, Thread Block Clusters).
  constexpr int64_t maxBlocks = 16;
  if (failed(verifyExtents(NVVMDialect::getClusterDimAttrName(), maxBlocks)) ||
      failed(
          verifyNumber(NVVMDialect::getClusterMaxBlocksAttrName(), maxBlocks)))
    return failure();
  return verifyTogether(NVVMDialect::getClusterDimAttrName(),
                        NVVMDialect::getClusterMaxBlocksAttrName());
}

LogicalResult LaunchBounds::verify() {
  using NVVM::NVVMDialect;
  if (failed(verifyNumber(NVVMDialect::getMaxnregAttrName(),
                          chip.maxRegistersPerThread)) ||
      failed(verifyNumber(NVVMDialect::getMinctasmAttrName(),
                          chip.maxBlocksPerSM)) ||
      failed(verifyExtents(NVVMDialect::getMaxntidAttrName(),
                           chip.maxThreadsPerBlock)) ||
      failed(verifyExtents(NVVMDialect::getReqntidAttrName(),
                           chip.maxThreadsPerBlock)) ||
      failed(verifyTogether(NVVMDialect::getMaxntidAttrName(),
                            NVVMDialect::getReqntidAttrName())))
    return failure();
  return verifyClusters();
}

LogicalResult tile_nv::verifyLaunchBounds(Operation *kernel,
                                          const tile_dialect::ChipInfo &chip) {
  return LaunchBounds{kernel, chip}.verify();
}
