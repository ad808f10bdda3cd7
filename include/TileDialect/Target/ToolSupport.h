//===- ToolSupport.h - What the command-line tools share --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_TOOLSUPPORT_H
#define TILEDIALECT_TARGET_TOOLSUPPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir::tile {

/// Makes LLVM's fatal errors (an instruction that the back end cannot select,
/// say) end the process with a message and exit status 1 instead of a stack
/// dump. For the `main` of a tool only.
void installToolErrorHandler(StringRef toolName);

/// Opens `path` (`-`: standard input) into `sources` and parses it as text or
/// bytecode. Null, with the error reported, if it cannot be read or parsed.
/// Diagnostics that show source lines need a SourceMgrDiagnosticHandler for
/// `sources`.
OwningOpRef<ModuleOp> parseInput(StringRef path, llvm::SourceMgr &sources,
                                 MLIRContext &context);

/// Writes `content` to `path` (`-`: standard output), as a whole or not at all.
/// The error, if any, has been printed to stderr.
LogicalResult writeOutput(StringRef path, StringRef content,
                          StringRef toolName);

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_TOOLSUPPORT_H
