//===- Extension.cpp - The module tile._C ---------------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

#include <pthread.h>

using namespace mlir::tile::python;

/// Has the end of the program wait for `numBusyThreads`.
static void waitForBusyThreadsAtExit() {
  // A process that a fork has made has one thread, which holds the GIL.
  pthread_atfork(nullptr, nullptr, [] { numBusyThreads = 0; });
  // Python is gone by then, and threads that are done stay in
  // `withoutUnwinding`. One that goes on for longer than this may crash the
  // process, which has ended.
  Py_AtExit([] {
    for (int i = 0; numBusyThreads > 0 && i < 10000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

NB_MODULE(_C_of_main, module) {
  // The front end keeps IR handles in frames of exceptions that users hold on
  // to; those are no leaks of ours.
  nanobind::set_leak_warnings(false);
  waitForBusyThreadsAtExit();
  bindBuilder(module);
  bindEmulator(module);
  bindCuda(module);
  bindLauncher(module);
}

/// The entry point of the module. Other interpreters than the main one would
/// take the types of the bindings away from it.
extern "C" NB_EXPORT PyObject *PyInit__C() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "tile works in the main interpreter of a process only, not "
                    "in a sub-interpreter");
    return nullptr;
  }
  return PyInit__C_of_main();
}
