//===- Launcher.h - kernel[grid](...) without Python ------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_LAUNCHER_H
#define TILEDIALECT_PYTHON_LAUNCHER_H

#include "CallPlan.h"
#include "LaunchTable.h"

#include <array>
#include <utility>
#include <vector>

namespace mlir::tile::python {

/// A variable that was compiled into a kernel: the dict of globals or the class
/// that it is in, or the cell of a closure, its name and its value (null if it
/// has none).
struct UsedGlobal {
  PyObject *holder, *name, *value;
};

/// What the launches of a kernel need; all objects are owned.
struct LaunchState {
  CallSignature signature;
  CallPlans plans;
  LaunchTable table;
  /// Constant strings; see ArgumentKey.
  PyObject *strings = nullptr;
  /// The dict of the variables that are compiled in; its values are tuples
  /// (holder, name, value at that time).
  PyObject *usedGlobals = nullptr;
  /// The latter at the time of the last entry; see `dropGlobals`.
  std::vector<UsedGlobal> globalsInUse;
  /// Code that runs while arguments are read may launch this kernel again.
  bool isReading = false;
  /// Counts `_forget_kernels`: what was launched before is not entered after
  /// it.
  uint64_t numForgotten = 0;
  uint64_t numFastLaunches = 0;
};

struct KernelObject {
  PyObject base;
  LaunchState *state;
  /// `pre_run_hooks`, a list.
  PyObject *hooks;
};

struct LauncherObject {
  PyObject base;
  vectorcallfunc vectorcall;
  KernelObject *kernel;
  PyObject *grid;
  /// Whether `extents` is what `grid` says.
  bool isFixed;
  std::array<uint32_t, 3> extents;
};

/// An owned reference.
class Reference {
public:
  explicit Reference(PyObject *object) : object(object) {}
  Reference(const Reference &) = delete;
  ~Reference() { Py_XDECREF(object); }
  PyObject *get() const { return object; }
  void reset(PyObject *other) { Py_XDECREF(std::exchange(object, other)); }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object; }

private:
  PyObject *object;
};

/// Forgets the globals that are compiled in.
void dropGlobals(LaunchState &state);

/// Reads a tuple or list of one to three ints. Returns false, without a Python
/// error, for anything else.
bool readGrid(PyObject *grid, std::array<uint32_t, 3> &extents);

/// Calls a launcher; a vectorcallfunc.
PyObject *launch(PyObject *launcher, PyObject *const *arguments,
                 size_t numArguments, PyObject *keywords);

/// `getter(device)` returns the stream of torch or CuPy. Keeps a reference.
void setStreamGetter(PyObject *getter);

/// Two lists of functions: while one of them has an element, all launches go
/// through Python. Keeps references.
void setLaunchHooks(PyObject *before, PyObject *after);

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_LAUNCHER_H
