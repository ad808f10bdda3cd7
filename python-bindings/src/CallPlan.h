//===- CallPlan.h - Which argument belongs to which parameter ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_CALLPLAN_H
#define TILEDIALECT_PYTHON_CALLPLAN_H

#include "ArgumentKey.h"

#include <vector>

namespace mlir::tile::python {

/// The names that calls may use.
struct CallSignature {
  std::vector<LaunchParameter> parameters;
  /// Interned names of options that are part of the key.
  std::vector<PyObject *> options;
  /// A set of the names of options that change nothing.
  PyObject *ignored = nullptr;
};

/// Where the arguments of a call with so many positional arguments and these
/// keywords go.
struct CallPlan {
  /// A reference: keywords are a constant of the calling code, known by its
  /// address. Null if there are none.
  PyObject *keywords = nullptr;
  Py_ssize_t numPositional = -1;
  /// By parameter: the position among the arguments, or -1 for the default.
  std::vector<int16_t> sources;
  struct OptionSource {
    unsigned option;
    unsigned argument;
  };
  std::vector<OptionSource> options;

  PyObject *getArgument(const CallSignature &signature, size_t index,
                        PyObject *const *arguments) const {
    int source = sources[index];
    return source >= 0 ? arguments[source]
                       : signature.parameters[index].defaultValue;
  }
};

/// The plans of a kernel's calls of late.
class CallPlans {
public:
  CallPlans() = default;
  CallPlans(const CallPlans &) = delete;
  ~CallPlans() { clear(); }

  /// The plan of a call, or null if Python must look at it: names are unknown,
  /// given twice or missing.
  const CallPlan *find(const CallSignature &signature, Py_ssize_t numPositional,
                       PyObject *keywords) {
    for (const CallPlan &plan : plans)
      if (plan.keywords == keywords && plan.numPositional == numPositional)
        return &plan;
    return add(signature, numPositional, keywords);
  }
  void clear();

private:
  static constexpr size_t kMaxPlans = 8;

  const CallPlan *add(const CallSignature &signature, Py_ssize_t numPositional,
                      PyObject *keywords);

  std::vector<CallPlan> plans;
  size_t next = 0;
};

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_CALLPLAN_H
