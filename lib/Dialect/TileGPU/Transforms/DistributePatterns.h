//===- DistributePatterns.h - Parts of the distribution ---------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The groups of patterns that Distribute.h names are made of these.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_DISTRIBUTEPATTERNS_H
#define TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_DISTRIBUTEPATTERNS_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"

namespace mlir::tile_gpu {

void populateReducePatterns(const DistributionTypeConverter &converter,
                            RewritePatternSet &patterns,
                            DistributionContext &context);
int64_t getReduceScratchBytes(tile::ReduceOp op);

void populateScanPatterns(const DistributionTypeConverter &converter,
                          RewritePatternSet &patterns,
                          DistributionContext &context);
int64_t getScanScratchBytes(tile::ScanOp op);

void populateHistogramPatterns(const DistributionTypeConverter &converter,
                               RewritePatternSet &patterns,
                               DistributionContext &context);
int64_t getHistogramScratchBytes(tile::HistogramOp op);

void populateGatherPatterns(const DistributionTypeConverter &converter,
                            RewritePatternSet &patterns,
                            DistributionContext &context);
int64_t getGatherScratchBytes(tile::GatherOp op);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_LIB_DIALECT_TILEGPU_TRANSFORMS_DISTRIBUTEPATTERNS_H
