//===- Program.cpp - Reads what tile-run runs ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tile_dialect;

llvm::Expected<tile_run::Program>
tile_run::loadProgram(llvm::StringRef path, llvm::StringRef kernel,
                      const CompileRequest &compile) {
  if (!path.ends_with(".ptx") && path != "-")
    return compileProgram(path, kernel, compile);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "cannot read '" + path +
                                       "': " + buffer.getError().message());
  Program program;
  program.ptx = (*buffer)->getBuffer().str();
  program.name = path.str();
  return program;
}
