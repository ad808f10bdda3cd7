//===- BuilderBindings.cpp - The builder as a Python class ----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Builder.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using namespace mlir::tile::python;

template <typename T> static std::string toString(T object) {
  std::string text;
  llvm::raw_string_ostream(text) << object;
  return text;
}

static void bindIR(nb::module_ &module) {
  nb::class_<Type>(module, "Type")
      .def("__str__", [](Type type) { return toString(type); })
      .def("__eq__", [](Type a, Type b) { return a == b; });
  nb::class_<Value>(module, "Value")
      .def_prop_ro("type", [](Value value) { return value.getType(); })
      .def("__eq__", [](Value a, Value b) { return a == b; })
      .def("__hash__",
           [](Value value) { return size_t(value.getAsOpaquePointer()); });
  nb::class_<Operation>(module, "Operation");
  nb::class_<CapturedDiagnostic>(module, "Diagnostic")
      .def_ro("severity", &CapturedDiagnostic::severity)
      .def_ro("message", &CapturedDiagnostic::message)
      .def_ro("file", &CapturedDiagnostic::file)
      .def_ro("line", &CapturedDiagnostic::line)
      .def_ro("column", &CapturedDiagnostic::column)
      .def_ro("callers", &CapturedDiagnostic::callers)
      .def_ro("notes", &CapturedDiagnostic::notes);
}

using BuilderClass = nb::class_<tile::python::KernelBuilder>;
using B = tile::python::KernelBuilder;

static void bindValues(BuilderClass &builder) {
  builder.def("op", &B::op)
      .def("op_without_result", &B::opWithoutResult)
      .def("int_constant", &B::intConstant)
      .def("float_constant", &B::floatConstant)
      .def("compare_ints", &B::compareInts)
      .def("compare_floats", &B::compareFloats)
      .def("cast_float", &B::castFloat)
      .def("clamp", &B::clamp)
      .def("mul_high", &B::mulHigh)
      .def("extern_elementwise", &B::externElementwise)
      .def("inline_assembly", &B::inlineAssembly)
      .def("program_id", &B::programId)
      .def("num_programs", &B::numPrograms)
      .def("arange", &B::arange)
      .def("splat", &B::splat)
      .def("expand_dims", &B::expandDims)
      .def("broadcast", &B::broadcast)
      .def("reshape", &B::reshape)
      .def("transpose", &B::transpose)
      .def("join", &B::join)
      .def("split", &B::split)
      .def("concatenate", &B::concatenate)
      .def("gather", &B::gather)
      .def("histogram", &B::histogram, "source"_a, "mask"_a.none(), "bins"_a);
}

static void bindEffects(BuilderClass &builder) {
  builder
      .def("load", &B::load, "ptr"_a, "mask"_a.none(), "other"_a.none(),
           "cache"_a, "eviction"_a, "volatile"_a)
      .def("store", &B::store, "ptr"_a, "value"_a, "mask"_a.none(), "cache"_a,
           "eviction"_a)
      .def("atomic", &B::atomic, "kind"_a, "ptr"_a, "value"_a, "mask"_a.none(),
           "order"_a, "scope"_a)
      .def("compare_and_swap", &B::compareAndSwap)
      .def("make_descriptor", &B::makeDescriptor)
      .def("load_descriptor", &B::loadDescriptor)
      .def("store_descriptor", &B::storeDescriptor)
      .def("reduce_descriptor", &B::reduceDescriptor)
      .def("dot", &B::dot)
      .def("print_values", &B::printValues)
      .def("assert_true", &B::assertTrue)
      .def("set_hint", &B::setHint);
}

static void bindRegions(BuilderClass &builder) {
  const auto reference = nb::rv_policy::reference;
  builder.def("begin_for", &B::beginFor, reference)
      .def("end_for", &B::endFor)
      .def("begin_if", &B::beginIf, reference)
      .def("begin_else", &B::beginElse)
      .def("resume_branch", &B::resumeBranch)
      .def("end_if", &B::endIf)
      .def("begin_while", &B::beginWhile, reference)
      .def("end_while_condition", &B::endWhileCondition)
      .def("end_while", &B::endWhile)
      .def("begin_reduce", &B::beginReduce, reference)
      .def("begin_scan", &B::beginScan, reference)
      .def("begin_map", &B::beginMap, reference)
      .def("end_combine", &B::endCombine);
}

void tile::python::bindBuilder(nb::module_ &module) {
  bindIR(module);
  BuilderClass builder(module, "Builder");
  builder.def(nb::init<>())
      .def("print", &B::print, "with_locations"_a = false)
      .def("set_location", &B::setLocation)
      .def("enter_call", &B::enterCall)
      .def("leave_call", &B::leaveCall)
      .def("int_type", &B::getIntType)
      .def("float_type", &B::getFloatType)
      .def("ptr_type", &B::getPtrType)
      .def("tensor_type", &B::getTensorType)
      .def("desc_type", &B::getDescType)
      .def("start_kernel", &B::startKernel, "name"_a, "chip"_a, "arguments"_a,
           "divisibilities"_a, "alias_groups"_a = std::vector<int32_t>())
      .def("finish_kernel", &B::finishKernel);
  bindValues(builder);
  bindEffects(builder);
  bindRegions(builder);
  bindCompile(module, builder);
}
