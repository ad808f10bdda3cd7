//===- KernelParameters.h - Python numbers as kernel parameters -*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_KERNELPARAMETERS_H
#define TILEDIALECT_PYTHON_KERNELPARAMETERS_H

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::tile::python {

struct ParameterValue {
  std::array<uint8_t, 8> bytes;
  unsigned size;
};

/// The scalar parameters of a kernel, in order.
class KernelParameters {
public:
  /// Types as in the metadata: `ptr`, `i32`, `f32` ... Throws
  /// std::invalid_argument on others.
  explicit KernelParameters(const std::vector<std::string> &types);

  /// The values of `arguments` (addresses, ints, floats or bools), one for each
  /// parameter. Integers wrap; throws a Python error if one is no number.
  std::vector<ParameterValue> pack(nanobind::sequence arguments) const;

  size_t size() const { return parameters.size(); }

  /// Makes the bytes of all parameters, at the start of each element, from
  /// values that are integers in two's complement or, for parameters of
  /// floating point, the bits of a double.
  void packInPlace(uint64_t *values) const {
    if (hasFloats)
      packFloats(values);
  }

private:
  enum class Kind { Integer, Half, BFloat, Float, Double };
  struct Parameter {
    Kind kind;
    unsigned size;
  };

  static uint64_t convert(Kind kind, double value);
  void packFloats(uint64_t *values) const;

  std::vector<Parameter> parameters;
  bool hasFloats = false;
};

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_KERNELPARAMETERS_H
