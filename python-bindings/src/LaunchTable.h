//===- LaunchTable.h - Loaded kernels by their arguments --------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_LAUNCHTABLE_H
#define TILEDIALECT_PYTHON_LAUNCHTABLE_H

#include <Python.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace mlir::tile::python {

class CudaKernel;

/// A kernel for one key. References of Python are owned, but are given back by
/// `LaunchTable::clear` alone, since that may run any code.
struct LaunchEntry {
  std::vector<uint64_t> key;
  uint64_t hash = 0;
  const CudaKernel *kernel = nullptr;
  /// The object that holds `kernel`.
  PyObject *loaded = nullptr;
  /// What a launch returns.
  PyObject *compiled = nullptr;
  /// The dict of compiled kernels that `compiled` is in, and the size that it
  /// had: a smaller one was cleared.
  PyObject *cache = nullptr;
  Py_ssize_t cacheSize = 0;
  /// Objects whose addresses are in `key`.
  std::vector<PyObject *> held;
};

/// An open-addressing hash table. It never grows past a fixed size: it is
/// cleared then, for programs whose every launch has a new constant.
class LaunchTable {
public:
  LaunchTable() = default;
  LaunchTable(const LaunchTable &) = delete;
  ~LaunchTable() { clear(); }

  LaunchEntry *find(const uint64_t *key, unsigned size);
  /// Adds an entry, or replaces the one of the same key.
  void insert(std::unique_ptr<LaunchEntry> entry);
  void clear();
  size_t size() const { return entries.size(); }

  const std::vector<std::unique_ptr<LaunchEntry>> &getEntries() const {
    return entries;
  }

private:
  static constexpr size_t kMaxEntries = 4096;

  void place(LaunchEntry *entry);

  /// Null where no entry is; a power of two, at least half of it free.
  std::vector<LaunchEntry *> slots;
  std::vector<std::unique_ptr<LaunchEntry>> entries;
  /// The one that was found last is mostly the next one, too.
  LaunchEntry *last = nullptr;
};

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_LAUNCHTABLE_H
