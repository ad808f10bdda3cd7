//===- KernelParameters.cpp - Python numbers as kernel parameters ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelParameters.h"
#include "llvm/ADT/APFloat.h"

#include <cstring>
#include <stdexcept>

namespace nb = nanobind;
using namespace mlir::tile::python;

KernelParameters::KernelParameters(const std::vector<std::string> &types) {
  for (const std::string &type : types) {
    if (type == "ptr" || type == "i64")
      parameters.push_back({Kind::Integer, 8});
    else if (type == "i32")
      parameters.push_back({Kind::Integer, 4});
    else if (type == "i16")
      parameters.push_back({Kind::Integer, 2});
    else if (type == "i8" || type == "i1")
      parameters.push_back({Kind::Integer, 1});
    else if (type == "f16")
      parameters.push_back({Kind::Half, 2});
    else if (type == "bf16")
      parameters.push_back({Kind::BFloat, 2});
    else if (type == "f32")
      parameters.push_back({Kind::Float, 4});
    else if (type == "f64")
      parameters.push_back({Kind::Double, 8});
    else
      throw std::invalid_argument("kernel parameter of type " + type);
  }
}

/// The bits of `value` in `semantics`.
static uint64_t convertFloat(double value,
                             const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

std::vector<ParameterValue>
KernelParameters::pack(nb::sequence arguments) const {
  if (nb::len(arguments) != parameters.size())
    throw nb::type_error("wrong number of kernel parameters");
  std::vector<ParameterValue> values;
  values.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &parameter = parameters[i];
    nb::object argument = arguments[i];
    uint64_t bits = 0;
    if (parameter.kind == Kind::Integer) {
      // Two's complement of whatever sign the caller uses.
      bits = PyLong_AsUnsignedLongLongMask(argument.ptr());
      if (PyErr_Occurred())
        throw nb::python_error();
    } else {
      double value = PyFloat_AsDouble(argument.ptr());
      if (value == -1.0 && PyErr_Occurred())
        throw nb::python_error();
      const llvm::fltSemantics &semantics =
          parameter.kind == Kind::Half     ? llvm::APFloat::IEEEhalf()
          : parameter.kind == Kind::BFloat ? llvm::APFloat::BFloat()
          : parameter.kind == Kind::Float  ? llvm::APFloat::IEEEsingle()
                                           : llvm::APFloat::IEEEdouble();
      bits = convertFloat(value, semantics);
    }
    ParameterValue packed;
    packed.size = parameter.size;
    std::memcpy(packed.bytes.data(), &bits, sizeof bits);
    values.push_back(packed);
  }
  return values;
}
