//===- LLVMTranslation.h - From a lowered gpu.module to LLVM IR -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_LLVMTRANSLATION_H
#define TILEDIALECT_TARGET_LLVMTRANSLATION_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Support/LLVM.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::tile {

/// Registers the upstream translations (builtin, gpu, llvm, nvvm) that
/// `translateToLLVMIR` needs. To be called before the module is parsed.
void registerTargetTranslations(DialectRegistry &registry);

/// Translates `module`, whose body is `llvm` and `nvvm` ops, to an LLVM module
/// in `context`. With `lineInfo` the locations of ops become debug locations,
/// if each function has a debug scope (`ensure-debug-info-scope-on-llvm-func`);
/// else the result holds no debug information. Emits an error at the op that
/// has no translation.
FailureOr<std::unique_ptr<llvm::Module>>
translateToLLVMIR(gpu::GPUModuleOp module, llvm::LLVMContext &context,
                  bool lineInfo = false);

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_LLVMTRANSLATION_H
