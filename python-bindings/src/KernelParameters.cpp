//===- KernelParameters.cpp - Python numbers as kernel parameters ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelParameters.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

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
    hasFloats |= parameters.back().kind != Kind::Integer;
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

/// The bits of a parameter of floating point.
uint64_t KernelParameters::convert(Kind kind, double value) {
  const llvm::fltSemantics &semantics =
      kind == Kind::Half     ? llvm::APFloat::IEEEhalf()
      : kind == Kind::BFloat ? llvm::APFloat::BFloat()
      : kind == Kind::Float  ? llvm::APFloat::IEEEsingle()
                             : llvm::APFloat::IEEEdouble();
  return convertFloat(value, semantics);
}

void KernelParameters::packFloats(uint64_t *values) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    Kind kind = parameters[i].kind;
    if (kind == Kind::Integer || kind == Kind::Double)
      continue;
    double value = llvm::bit_cast<double>(values[i]);
    // The compiler's conversion is the one of APFloat, but for the payloads of
    // NaNs; and it is what most launches need.
    if (kind == Kind::Float && value == value)
      values[i] = llvm::bit_cast<uint32_t>(float(value));
    else
      values[i] = convert(kind, value);
  }
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
      bits = convert(parameter.kind, value);
    }
    ParameterValue packed;
    packed.size = parameter.size;
    std::memcpy(packed.bytes.data(), &bits, sizeof bits);
    values.push_back(packed);
  }
  return values;
}
