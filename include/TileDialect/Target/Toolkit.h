//===- Toolkit.h - Where ptxas and libdevice are ----------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a CUDA toolkit that we use may come from an installed toolkit or
// from the pip package `nvidia-cuda-nvcc`, whose files lie in another order.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_TARGET_TOOLKIT_H
#define TILEDIALECT_TARGET_TOOLKIT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace mlir::tile {

/// Folders to look in, best first. A folder is a toolkit (`bin/ptxas`,
/// `nvvm/libdevice`), or the `site-packages` of a Python, or the root of a
/// Python environment that has such packages.
struct ToolkitSearch {
  SmallVector<std::string> roots;
  /// Also look on PATH for ptxas.
  bool searchPath = true;

  /// The path of the file, or an empty string.
  std::string findPtxas() const;
  std::string findLibdevice() const;

  /// `roots`, then `$CUDA_HOME`, `$CUDA_PATH`, `$VIRTUAL_ENV`, `.venv` in the
  /// folder that holds `bin/` or `build/bin/` of the program `executable`, and
  /// /usr/local/cuda. For tools: a library must not read the environment.
  static ToolkitSearch forTool(ArrayRef<std::string> roots,
                               StringRef executable);

  /// What was searched, for a diagnostic.
  std::string describe() const;
};

} // namespace mlir::tile

#endif // TILEDIALECT_TARGET_TOOLKIT_H
