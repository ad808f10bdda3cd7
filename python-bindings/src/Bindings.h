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

#include <atomic>
#include <chrono>
#include <thread>

namespace mlir::tile::python {

class KernelBuilder;

/// What `function`, which takes the GIL or runs Python code, returns. Once the
/// interpreter ends, Python (before 3.14) unwinds the stacks of other threads
/// that want the GIL, which destroys Python objects without it, or aborts the
/// process in a function that is `noexcept`: such threads stay here instead, as
/// in later Pythons, until the process is gone.
template <typename Function> auto withoutUnwinding(Function function) {
  try {
    return function();
  } catch (...) { // Nothing else is thrown by the C API.
    for (;;)
      std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

/// Threads that run code of ours without the GIL. When the program ends, the
/// process waits for them, for what they use is destroyed then.
inline std::atomic<int> numBusyThreads = 0;

/// Releases the GIL in its scope.
class GilReleased {
public:
  GilReleased() : state(PyEval_SaveThread()) { ++numBusyThreads; }
  ~GilReleased() {
    --numBusyThreads;
    withoutUnwinding([this] { PyEval_RestoreThread(state); });
  }
  GilReleased(const GilReleased &) = delete;
  GilReleased &operator=(const GilReleased &) = delete;

private:
  PyThreadState *state;
};

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
