//===- my-compiler.cpp - A compiler that links TileDialect ----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shows the parts that a compiler of one's own puts together: our dialects and
// pipeline beside a pass of one's own, and a look at the result.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Pipelines/InitAll.h"
#include "TileDialect/Pipelines/Pipelines.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

/// A pass of the downstream project: reports how many bytes each program of a
/// kernel loads.
struct ReportLoads
    : public PassWrapper<ReportLoads, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReportLoads)

  void runOnOperation() override {
    int64_t bits = 0;
    getOperation().walk([&](tile::LoadOp load) {
      if (auto type = dyn_cast<RankedTensorType>(load.getResult().getType()))
        if (type.getElementType().isIntOrFloat())
          bits += type.getNumElements() * type.getElementTypeBitWidth();
    });
    llvm::errs() << "loads per program: " << bits / 8 << " bytes\n";
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: my-compiler FILE.mlir\n";
    return 1;
  }

  DialectRegistry registry;
  tile::registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  tile::TileToNVVMOptions options;
  options.chip = tile_dialect::defaultChip.str();
  PassManager passes(&context);
  passes.addNestedPass<gpu::GPUModuleOp>(std::make_unique<ReportLoads>());
  tile::buildTileToNVVMPipeline(passes, options);
  if (failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
