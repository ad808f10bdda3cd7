//===- Libdevice.cpp - NVIDIA's bitcode library of math functions ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Libdevice.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;

/// The first function of libdevice that `module` uses but does not define.
static const llvm::Function *findUndefined(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_") &&
        !function.use_empty())
      return &function;
  return nullptr;
}

/// Runtime functions that every CUDA driver links, and the function that LLVM's
/// NVVMReflect pass replaces by a constant.
static bool isRuntimeFunction(StringRef name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" ||
         name == "free" || name == "__nvvm_reflect";
}

LogicalResult tile::checkUndefined(const llvm::Module &module, Location loc) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.use_empty() &&
        function.getIntrinsicID() == llvm::Intrinsic::not_intrinsic &&
        !isRuntimeFunction(function.getName()))
      return emitError(loc) << "function '" << function.getName()
                            << "' is called, but nothing defines it";
  return success();
}

bool tile::needsLibdevice(const llvm::Module &module) {
  return findUndefined(module) != nullptr;
}

/// The first call of `function` that has a line in the source, else `loc`.
static Location findCall(const llvm::Function &function, Location loc) {
  for (const llvm::User *user : function.users()) {
    auto *call = dyn_cast<llvm::CallBase>(user);
    const llvm::DILocation *place = call ? call->getDebugLoc().get() : nullptr;
    if (!place || !place->getLine())
      continue;
    SmallString<128> file(place->getDirectory());
    // Replaces `file` if the name is absolute.
    if (llvm::sys::path::is_absolute(place->getFilename()))
      file.clear();
    llvm::sys::path::append(file, place->getFilename());
    return FileLineColLoc::get(loc.getContext(), file, place->getLine(),
                               place->getColumn());
  }
  return loc;
}

LogicalResult tile::linkLibdevice(llvm::Module &module, StringRef path,
                                  Location loc) {
  // Lazy: only the bodies of functions that are linked get read.
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> library =
      llvm::getLazyIRFileModule(path, error, module.getContext());
  if (!library)
    return emitError(loc) << "cannot read libdevice '" << path
                          << "': " << error.getMessage();

  // The linker does not mind a call with other types.
  for (const llvm::Function &function : module) {
    const llvm::Function *definition = library->getFunction(function.getName());
    if (!definition ||
        definition->getFunctionType() == function.getFunctionType())
      continue;
    std::string called, defined;
    llvm::raw_string_ostream(called) << *function.getFunctionType();
    llvm::raw_string_ostream(defined) << *definition->getFunctionType();
    return emitError(findCall(function, loc))
           << "function '" << function.getName() << "' is called with type "
           << called << ", but in libdevice it has type " << defined;
  }

  // libdevice was built for another triple of the same machine.
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  bool failed = llvm::Linker::linkModules(
      module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded,
      [](llvm::Module &linked, const llvm::StringSet<> &names) {
        llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
          return !value.hasName() || !names.contains(value.getName());
        });
      });
  if (failed)
    return emitError(loc) << "cannot link libdevice '" << path << "'";

  if (const llvm::Function *missing = findUndefined(module))
    return emitError(findCall(*missing, loc))
           << "function '" << missing->getName() << "' is not in libdevice '"
           << path << "'";

  // __nvvm_reflect("__CUDA_FTZ") reads this: denormal numbers are kept.
  if (!module.getModuleFlag("nvvm-reflect-ftz"))
    module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0U);
  return success();
}
