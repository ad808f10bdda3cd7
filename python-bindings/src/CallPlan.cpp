//===- CallPlan.cpp - Which argument belongs to which parameter -----------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallPlan.h"

using namespace mlir::tile::python;

static bool isSameName(PyObject *left, PyObject *right) {
  return left == right || PyUnicode_Compare(left, right) == 0;
}

/// Finds what a keyword is, and enters the argument at `argument` for it.
static bool planKeyword(const CallSignature &signature, PyObject *name,
                        unsigned argument, CallPlan &plan) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (!isSameName(signature.parameters[i].name, name))
      continue;
    if (plan.sources[i] >= 0)
      return false;
    plan.sources[i] = int16_t(argument);
    return true;
  }
  for (size_t i = 0; i < signature.options.size(); ++i) {
    if (!isSameName(signature.options[i], name))
      continue;
    plan.options.push_back({unsigned(i), argument});
    return true;
  }
  int isIgnored = PySet_Contains(signature.ignored, name);
  PyErr_Clear();
  return isIgnored == 1;
}

static bool makePlan(const CallSignature &signature, Py_ssize_t numPositional,
                     PyObject *keywords, CallPlan &plan) {
  size_t numParameters = signature.parameters.size();
  if (size_t(numPositional) > numParameters)
    return false;
  plan.numPositional = numPositional;
  plan.sources.assign(numParameters, -1);
  for (Py_ssize_t i = 0; i < numPositional; ++i)
    plan.sources[i] = int16_t(i);
  Py_ssize_t numKeywords = keywords ? PyTuple_Size(keywords) : 0;
  if (numPositional + numKeywords > INT16_MAX)
    return false;
  for (Py_ssize_t i = 0; i < numKeywords; ++i)
    if (!planKeyword(signature, PyTuple_GetItem(keywords, i),
                     unsigned(numPositional + i), plan))
      return false;
  for (size_t i = 0; i < numParameters; ++i)
    if (plan.sources[i] < 0 && !signature.parameters[i].defaultValue)
      return false;
  return true;
}

const CallPlan *CallPlans::add(const CallSignature &signature,
                               Py_ssize_t numPositional, PyObject *keywords) {
  CallPlan plan;
  if (!makePlan(signature, numPositional, keywords, plan))
    return nullptr;
  Py_XINCREF(keywords);
  plan.keywords = keywords;
  if (plans.size() < kMaxPlans) {
    plans.push_back(std::move(plan));
    return &plans.back();
  }
  // A tuple of strings: nothing runs when it dies.
  CallPlan &victim = plans[next];
  next = (next + 1) % kMaxPlans;
  Py_XDECREF(victim.keywords);
  victim = std::move(plan);
  return &victim;
}

void CallPlans::clear() {
  for (CallPlan &plan : plans)
    Py_XDECREF(plan.keywords);
  plans.clear();
  next = 0;
}
