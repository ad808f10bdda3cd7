//===- DistributeMapElementwise.cpp - A scalar region for each element ----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region is inlined for each group of registers. Its control flow may go
// other ways in other threads: it holds neither barriers nor shuffles.
//
//===----------------------------------------------------------------------===//

#include "CombineRegion.h"

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

struct DistributeMapElementwise
    : public OpConversionPattern<tile::MapElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::MapElementwiseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    for (Type type : op->getResultTypes())
      if (!getLayoutAttr(type))
        return rewriter.notifyMatchFailure(op, "a result has no layout");
    ArrayRef<ValueRange> args = adaptor.getArgs();
    size_t numRegisters = args.front().size(), pack = op.getPack();
    CombineRegion body(rewriter, op.getBody());
    if (failed(body.distribute()))
      return failure();

    SmallVector<Registers> results(op.getNumResults());
    for (size_t first = 0; first < numRegisters; first += pack) {
      // A thread may hold fewer registers than a group has elements: the last
      // one stands in for what is missing.
      Tuple elements;
      for (ValueRange registers : args)
        for (size_t i = first; i < first + pack; ++i)
          elements.push_back(registers[std::min(i, numRegisters - 1)]);
      Tuple yielded = body.combine(elements, {});
      size_t count = std::min(pack, numRegisters - first);
      for (auto [index, registers] : llvm::enumerate(results))
        llvm::append_range(registers,
                           ArrayRef<Value>(yielded).slice(index * pack, count));
    }
    replaceWithRegisters(rewriter, op, std::move(results));
    return success();
  }
};

} // namespace

void tile_gpu::populateMapElementwisePatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DistributeMapElementwise>(converter, patterns.getContext());
}
