//===- ToolSupport.cpp - What the command-line tools share ----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/ToolSupport.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;

static void handleFatalError(void *toolName, const char *reason, bool) {
  // What follows the first line is a dump of the selection graph.
  llvm::errs() << static_cast<const char *>(toolName)
               << ": error: LLVM cannot compile this module: "
               << StringRef(reason).split('\n').first << '\n';
  std::_Exit(1);
}

void tile::installToolErrorHandler(StringRef toolName) {
  static std::string name;
  name = toolName.str();
  llvm::install_fatal_error_handler(handleFatalError, name.data());
}

OwningOpRef<ModuleOp> tile::parseInput(StringRef path, llvm::SourceMgr &sources,
                                       MLIRContext &context) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer) {
    emitError(UnknownLoc::get(&context)) << message;
    return {};
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  // The caller lowers or verifies what it reads; an invalid module ends here.
  return parseSourceFile<ModuleOp>(sources, &context);
}

LogicalResult tile::writeOutput(StringRef path, StringRef content,
                                StringRef toolName) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
  if (!file) {
    llvm::errs() << toolName << ": error: " << message << '\n';
    return failure();
  }
  file->os() << content;
  file->os().flush();
  if (file->os().has_error()) {
    llvm::errs() << toolName << ": error: cannot write '" << path
                 << "': " << file->os().error().message() << '\n';
    // A stream that dies with an error ends the process.
    file->os().clear_error();
    return failure();
  }
  file->keep();
  return success();
}
