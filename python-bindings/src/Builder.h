//===- Builder.h - Builds tile IR for the Python front end ------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel's module under construction. The front end (tile/compiler) decides
// types and semantics; this class makes ops at the current insertion point and
// source location. Invalid uses throw std::invalid_argument: they are mistakes
// of the front end, which checks what users write before it comes here.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_BUILDER_H
#define TILEDIALECT_PYTHON_BUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mlir::tile::python {

using Values = std::vector<Value>;

/// A message of MLIR with the innermost place in the user's source.
struct CapturedDiagnostic {
  std::string severity;
  std::string message;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  /// Call sites from the inside out, when the place is in an inlined function.
  std::vector<std::tuple<std::string, unsigned, unsigned>> callers;
  /// Text and place; the line is 0 where there is none.
  std::vector<std::tuple<std::string, std::string, unsigned, unsigned>> notes;
};

/// A context with all dialects; its diagnostics go to `diagnostics` instead of
/// the terminal.
std::unique_ptr<MLIRContext>
createContext(std::vector<CapturedDiagnostic> &diagnostics);

class KernelBuilder {
public:
  KernelBuilder();

  MLIRContext &getContext() { return *context; }
  ModuleOp getModule() { return *module; }
  std::vector<CapturedDiagnostic> &getDiagnostics() { return diagnostics; }
  std::string print(bool withLocations) const;

  // Locations.
  void setLocation(const std::string &file, unsigned line, unsigned column);
  /// The current location becomes the call site of the following ones.
  void enterCall();
  void leaveCall();

  // Types.
  Type getIntType(unsigned width) { return ops.getIntegerType(width); }
  Type getFloatType(const std::string &name);
  Type getPtrType(Type pointee, unsigned memorySpace);
  Type getTensorType(const std::vector<int64_t> &shape, Type element);
  Type getDescType(const std::vector<int64_t> &shape, Type element);

  // The kernel. A divisibility of 0 or 1 says nothing; pointers of the same
  // alias group may be the same memory, those of group -1 are in none.
  Values startKernel(const std::string &name, const std::string &chip,
                     const std::vector<Type> &arguments,
                     const std::vector<int64_t> &divisibilities,
                     const std::vector<int32_t> &aliasGroups);
  void finishKernel();

  // Element-wise ops without properties, by name.
  Value op(const std::string &name, const Values &operands, Type result);
  void opWithoutResult(const std::string &name, const Values &operands);
  Value intConstant(Type type, int64_t value);
  Value floatConstant(Type type, double value);
  Value compareInts(const std::string &predicate, Value lhs, Value rhs);
  Value compareFloats(const std::string &predicate, Value lhs, Value rhs);
  Value castFloat(Value value, Type type, bool towardZero);
  Value clamp(Value value, Value low, Value high, bool propagateNaN);
  Value mulHigh(Value lhs, Value rhs, bool isSigned);
  Value externElementwise(const std::string &symbol, const Values &arguments,
                          Type result, bool isPure);
  Values inlineAssembly(const std::string &text, const std::string &constraints,
                        const Values &arguments,
                        const std::vector<Type> &results, bool isPure,
                        int32_t pack);

  // Program and shape.
  Value programId(unsigned axis);
  Value numPrograms(unsigned axis);
  Value arange(int32_t start, int32_t end);
  Value splat(Value value, const std::vector<int64_t> &shape);
  Value expandDims(Value value, int32_t axis);
  Value broadcast(Value value, const std::vector<int64_t> &shape);
  Value reshape(Value value, const std::vector<int64_t> &shape, bool reorder);
  Value transpose(Value value, const std::vector<int32_t> &order);
  Value join(Value lhs, Value rhs);
  std::pair<Value, Value> split(Value value);
  Value concatenate(Value lhs, Value rhs, int32_t axis);
  Value gather(Value source, Value indices, int32_t axis);
  Value histogram(Value source, std::optional<Value> mask, int64_t bins);

  // Memory. Enumerations by keyword, empty for the default.
  Value load(Value ptr, std::optional<Value> mask, std::optional<Value> other,
             const std::string &cache, const std::string &eviction,
             bool isVolatile);
  void store(Value ptr, Value value, std::optional<Value> mask,
             const std::string &cache, const std::string &eviction);
  Value atomic(const std::string &kind, Value ptr, Value value,
               std::optional<Value> mask, const std::string &order,
               const std::string &scope);
  Value compareAndSwap(Value ptr, Value compare, Value value,
                       const std::string &order, const std::string &scope);
  Value makeDescriptor(Value base, const Values &shape, const Values &strides,
                       const std::vector<int64_t> &box, bool padWithNaN);
  Value loadDescriptor(Value descriptor, const Values &offsets, Type result);
  void storeDescriptor(Value descriptor, const Values &offsets, Value value);
  void reduceDescriptor(const std::string &kind, Value descriptor,
                        const Values &offsets, Value value);
  Value dot(Value a, Value b, Value accumulator, const std::string &precision,
            int32_t maxNumImpreciseAcc);

  // Debugging and hints.
  void printValues(const std::string &prefix, const Values &values, bool hex);
  void assertTrue(Value condition, const std::string &message);
  /// Attaches `tile.divisibility` and the like to the op or the argument that
  /// makes `value`.
  void setHint(Value value, const std::string &name,
               const std::vector<int32_t> &values);

  // Regions. `begin` leaves the insertion point inside, `end` after the op.
  std::tuple<Operation *, Value, Values>
  beginFor(Value lower, Value upper, Value step, const Values &inits,
           const std::vector<std::pair<std::string, int64_t>> &hints);
  Values endFor(Operation *loop, const Values &yields);
  Operation *beginIf(Value condition);
  void beginElse(Operation *branch);
  /// Goes on at the end of the then-side (0) or else-side (1) of an open
  /// branch.
  void resumeBranch(Operation *branch, unsigned side);
  Values endIf(Operation *branch, const Values &thenYields,
               const Values &elseYields);
  std::pair<Operation *, Values> beginWhile(const Values &inits);
  Values endWhileCondition(Operation *loop, Value condition,
                           const Values &values);
  Values endWhile(Operation *loop, const Values &yields);
  std::pair<Operation *, Values> beginReduce(const Values &sources,
                                             int32_t axis);
  std::pair<Operation *, Values> beginScan(const Values &sources, int32_t axis,
                                           bool reverse);
  std::pair<Operation *, Values> beginMap(const Values &sources,
                                          const std::vector<Type> &results,
                                          int32_t pack);
  Values endCombine(Operation *op, const Values &yields);

private:
  Location loc() const { return location; }
  std::pair<Operation *, Values> beginCombine(Operation *op,
                                              const std::vector<Type> &types);

  std::vector<CapturedDiagnostic> diagnostics;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  OpBuilder ops;
  Location location;
  /// Call sites, outermost first.
  std::vector<Location> callers;
};

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_BUILDER_H
