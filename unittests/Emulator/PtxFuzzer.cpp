//===- PtxFuzzer.cpp - libFuzzer target for the PTX front end ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/Module.h"

using namespace tile_dialect::emulator;

/// Any text is either a module or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto module = Module::parse(text, "fuzz.ptx");
  if (!module)
    llvm::consumeError(module.takeError());
  return 0;
}
