//===- CompilerTest.cpp - Options of the compiler ---------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Compiler.h"
#include "TileDialect/Pipelines/InitAll.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// Sets or removes an attribute that the verifier refuses.
class BreakPass : public PassWrapper<BreakPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakPass)
  explicit BreakPass(bool breaks) : breaks(breaks) {}

  void runOnOperation() override {
    if (breaks)
      getOperation()->setAttr("tile.nonsense", UnitAttr::get(&getContext()));
    else
      getOperation()->removeAttr("tile.nonsense");
  }

private:
  bool breaks;
};

/// The errors of a compilation in which one pass breaks the IR and the next one
/// mends it.
std::vector<std::string> compileBroken(bool verifyEach) {
  DialectRegistry registry;
  tile::registerAllDialects(registry);
  MLIRContext context(registry);
  std::vector<std::string> errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors.push_back(diagnostic.str());
  });
  auto module = parseSourceString<ModuleOp>(
      "gpu.module @m { gpu.func @k() kernel { gpu.return } }", &context);
  EXPECT_TRUE(module);
  tile::CompileOptions options;
  options.verifyEach = verifyEach;
  options.configurePasses = [](PassManager &passes) {
    passes.addPass(std::make_unique<BreakPass>(true));
    passes.addPass(std::make_unique<BreakPass>(false));
    return success();
  };
  auto result = tile::compileModule(*module, tile::CompileTarget::PTX, options);
  EXPECT_EQ(failed(result), !errors.empty());
  return errors;
}

TEST(CompilerTest, VerifyEachFindsThePassThatBreaksTheIR) {
  EXPECT_THAT(compileBroken(/*verifyEach=*/false), testing::IsEmpty());
  EXPECT_THAT(compileBroken(/*verifyEach=*/true),
              testing::Contains(testing::HasSubstr(
                  "the tile dialect has no attribute \"tile.nonsense\"")));
}

} // namespace
