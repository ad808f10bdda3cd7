//===- LLVMTranslation.cpp - From a lowered gpu.module to LLVM IR ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/LLVMTranslation.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

void tile::registerTargetTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

FailureOr<std::unique_ptr<llvm::Module>>
tile::translateToLLVMIR(gpu::GPUModuleOp module, llvm::LLVMContext &context,
                        bool lineInfo) {
  // Upstream's translation takes it for granted that only translatable ops are
  // left at the top level of the module.
  for (Operation &op : module.getBody()->getOperations()) {
    if (!isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect()) &&
        !isa_and_nonnull<gpu::GPUDialect>(op.getDialect())) {
      op.emitError("expected an op of the llvm dialect after lowering");
      return failure();
    }
  }

  // Upstream's verification prints to stderr without a location, so ours
  // replaces it.
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, module.getName(),
                              /*disableVerification=*/true);
  if (!result) {
    module.emitError("translation to LLVM IR failed");
    return failure();
  }
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(*result, &stream)) {
    module.emitError("the LLVM IR of this module is invalid: ") << message;
    return failure();
  }
  if (!lineInfo)
    llvm::StripDebugInfo(*result);
  return std::move(result);
}
