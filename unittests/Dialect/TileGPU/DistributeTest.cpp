//===- DistributeTest.cpp - Distribution without a vendor -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a compiler sees that brings patterns of its own for `tile_gpu`, and not
// `tile_nv`: the tools load all dialects.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using testing::Contains;
using testing::HasSubstr;

namespace {

class DistributeTest : public testing::Test {
protected:
  DistributeTest() : context(getRegistry()) {
    context.loadDialect<tile_gpu::TileGPUDialect, arith::ArithDialect,
                        gpu::GPUDialect, scf::SCFDialect, LLVM::LLVMDialect>();
  }

  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    tile_gpu::registerDistributeInterface(registry);
    return registry;
  }

  /// Distributes a kernel whose reduction combines by `combine`, which takes %x
  /// and %y and gives %z. Returns the errors.
  std::vector<std::string> distribute(StringRef combine) {
    std::string source = R"(
      #l = #tile_gpu.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []}>
      gpu.module @m {
        gpu.func @k(%f: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
          %a = tile.splat %f : tensor<32xf32, #l>
          %r = tile.reduce(%a) axis 0 : (tensor<32xf32, #l>) -> f32 {
          ^bb0(%x: f32, %y: f32):
            )" + combine.str() +
                         R"(
            tile.yield %z : f32
          }
          gpu.return
        }
      })";
    std::vector<std::string> errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
    });
    auto module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    PassManager passes(&context);
    passes.nest<gpu::GPUModuleOp>().addPass(
        tile_gpu::createTileGPUDistribute());
    EXPECT_EQ(failed(passes.run(*module)), !errors.empty());
    return errors;
  }

  MLIRContext context;
};

TEST_F(DistributeTest, ArithmeticNeedsNoVendor) {
  EXPECT_THAT(distribute("%z = arith.addf %x, %y : f32"), testing::IsEmpty());
}

TEST_F(DistributeTest, OpWithoutPatternInARegion) {
  EXPECT_THAT(
      distribute("%z = tile.precise_sqrt %x : f32"),
      Contains(HasSubstr("'tile.precise_sqrt' op is not supported in a region "
                         "on scalars")));
}

} // namespace
