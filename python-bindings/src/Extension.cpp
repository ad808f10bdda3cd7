//===- Extension.cpp - The module tile._C ---------------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

using namespace mlir::tile::python;

NB_MODULE(_C, module) {
  // The front end keeps IR handles in frames of exceptions that users hold on
  // to; those are no leaks of ours.
  nanobind::set_leak_warnings(false);
  bindBuilder(module);
  bindEmulator(module);
  bindCuda(module);
  bindLauncher(module);
}
