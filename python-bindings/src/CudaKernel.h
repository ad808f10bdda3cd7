//===- CudaKernel.h - A kernel that is loaded on a GPU ----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_CUDAKERNEL_H
#define TILEDIALECT_PYTHON_CUDAKERNEL_H

#include "CudaDriver.h"
#include "KernelParameters.h"

#include <array>
#include <string>
#include <vector>

namespace mlir::tile::python {

/// A kernel that is loaded in the context that was current when it was made.
class CudaKernel {
public:
  /// `isProgrammatic`: launches set programmatic stream serialisation.
  /// `isCooperative`: all blocks of a launch run at once.
  CudaKernel(nanobind::bytes image, const std::string &name,
             const std::vector<std::string> &parameterTypes,
             unsigned numThreads, unsigned dynamicSharedBytes,
             bool isProgrammatic, bool isCooperative);
  CudaKernel(const CudaKernel &) = delete;
  // The module stays loaded: a graph or a running kernel may still use it, and
  // at exit the context may be gone already.

  /// The value of a CU_FUNC_ATTRIBUTE_*.
  int getAttribute(int attribute) const;

  void launch(std::array<uint32_t, 3> grid, nanobind::sequence arguments,
              uint64_t stream) const;

  /// Throws the Python error for a launch that failed with `status`:
  /// OutOfResources if the block is too large, RuntimeError otherwise. Needs
  /// the GIL.
  [[noreturn]] void throwLaunchError(CudaStatus status) const;

  /// Launches with parameters that are packed already: `values[i]` points to
  /// the bytes of parameter i. The GIL need not be held.
  CudaStatus launchPacked(const std::array<uint32_t, 3> &grid, void **values,
                          CudaHandle stream) const {
    if (isProgrammatic || isCooperative)
      return launchWithAttributes(grid, values, stream);
    return driver.cuLaunchKernel(function, grid[0], grid[1], grid[2],
                                 numThreads, 1, 1, dynamicSharedBytes, stream,
                                 values, nullptr);
  }

  /// Whether the context of the kernel is current in this thread.
  bool isContextCurrent() const {
    CudaHandle current = nullptr;
    return driver.cuCtxGetCurrent(&current) == 0 && current == context;
  }

  const KernelParameters &getParameters() const { return parameters; }
  uint64_t getFunction() const { return reinterpret_cast<uint64_t>(function); }

private:
  CudaStatus launchWithAttributes(const std::array<uint32_t, 3> &grid,
                                  void **values, CudaHandle stream) const;
  void throwIfTooMuchShared(CudaStatus status, const char *what) const;

  const CudaDriver &driver;
  KernelParameters parameters;
  unsigned numThreads, dynamicSharedBytes;
  bool isProgrammatic, isCooperative;
  CudaHandle context = nullptr, module = nullptr, function = nullptr;
};

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_CUDAKERNEL_H
