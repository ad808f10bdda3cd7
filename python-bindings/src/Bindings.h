//===- Bindings.h - Parts of the extension module ---------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_BINDINGS_H
#define TILEDIALECT_PYTHON_BINDINGS_H

#include <nanobind/nanobind.h>

namespace mlir::tile::python {

class KernelBuilder;

void bindBuilder(nanobind::module_ &module);
/// `Builder.compile`, and the functions that compile text.
void bindCompile(nanobind::module_ &module,
                 nanobind::class_<KernelBuilder> &builder);
void bindEmulator(nanobind::module_ &module);
void bindCuda(nanobind::module_ &module);
/// The type that kernels are derived from.
void bindLauncher(nanobind::module_ &module);

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_BINDINGS_H
