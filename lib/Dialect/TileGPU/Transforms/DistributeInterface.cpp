//===- DistributeInterface.cpp - The part of tile_gpu in distribution -----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CombineRegion.h"
#include "DistributePatterns.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

class TileGPUDistributeInterface : public DistributeDialectInterface {
public:
  using DistributeDialectInterface::DistributeDialectInterface;

  void populateDistributePatterns(const DistributionTypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  ConversionTarget &target,
                                  DistributionContext &context) const override {
    populateShapePatterns(converter, patterns, context);
    populatePointerPatterns(converter, patterns);
    populateReductionPatterns(converter, patterns, context);
    populateCombineRegionPatterns(converter, patterns, target);
    populateMapElementwisePatterns(converter, patterns);
    populateConvertLayoutPatterns(converter, patterns, context);
    populateSharedMemoryPatterns(converter, patterns, context);
    populateElementwisePatterns(converter, patterns, context);
  }

  int64_t getScratchBytes(Operation *op) const override {
    return std::max(getReductionScratchBytes(op),
                    getConversionScratchBytes(op));
  }

  /// All patterns write their scratch memory before a barrier and read it
  /// after.
  bool hasInternalBarrier(Operation *op) const override {
    return getScratchBytes(op) != 0;
  }
};

} // namespace

void tile_gpu::populateReductionPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  populateReducePatterns(converter, patterns, context);
  populateScanPatterns(converter, patterns, context);
  populateHistogramPatterns(converter, patterns, context);
}

int64_t tile_gpu::getReductionScratchBytes(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](tile::ReduceOp reduce) { return getReduceScratchBytes(reduce); })
      .Case([](tile::ScanOp scan) { return getScanScratchBytes(scan); })
      .Case([](tile::HistogramOp histogram) {
        return getHistogramScratchBytes(histogram);
      })
      .Default(int64_t(0));
}

void tile_gpu::registerDistributeInterface(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, TileGPUDialect *dialect) {
    dialect->addInterfaces<TileGPUDistributeInterface>();
  });
}
