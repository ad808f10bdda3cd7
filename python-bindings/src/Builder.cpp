//===- Builder.cpp - Builds tile IR for the Python front end --------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Builder.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Pipelines/InitAll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <stdexcept>

using namespace mlir;
using namespace mlir::tile::python;

[[noreturn]] static void fail(const llvm::Twine &message) {
  throw std::invalid_argument(message.str());
}

//===----------------------------------------------------------------------===//
// Contexts and diagnostics
//===----------------------------------------------------------------------===//

/// The innermost file, line and column of `loc`, and the call sites around it.
static void resolveLocation(Location loc, CapturedDiagnostic &diagnostic) {
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    resolveLocation(call.getCallee(), diagnostic);
    CapturedDiagnostic caller;
    resolveLocation(call.getCaller(), caller);
    diagnostic.callers.emplace_back(caller.file, caller.line, caller.column);
    llvm::append_range(diagnostic.callers, caller.callers);
  } else if (auto place = dyn_cast<FileLineColLoc>(loc)) {
    diagnostic.file = place.getFilename().str();
    diagnostic.line = place.getLine();
    diagnostic.column = place.getColumn();
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    resolveLocation(named.getChildLoc(), diagnostic);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations()) {
      resolveLocation(part, diagnostic);
      if (diagnostic.line)
        return;
    }
  }
}

static StringRef getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

std::unique_ptr<MLIRContext> mlir::tile::python::createContext(
    std::vector<CapturedDiagnostic> &diagnostics) {
  static const DialectRegistry &registry = [] {
    // Lives as long as the process: contexts are made for each kernel.
    auto *all = new DialectRegistry;
    registerAllDialects(*all);
    return std::cref(*all);
  }();
  // A kernel is compiled faster than threads are started.
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  context->getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    CapturedDiagnostic captured;
    captured.severity = getSeverityName(diagnostic.getSeverity()).str();
    captured.message = diagnostic.str();
    resolveLocation(diagnostic.getLocation(), captured);
    for (Diagnostic &note : diagnostic.getNotes()) {
      CapturedDiagnostic place;
      resolveLocation(note.getLocation(), place);
      captured.notes.emplace_back(note.str(), place.file, place.line,
                                  place.column);
    }
    diagnostics.push_back(std::move(captured));
  });
  return context;
}

//===----------------------------------------------------------------------===//
// Module, locations, types
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder()
    : context(createContext(diagnostics)), ops(context.get()),
      location(UnknownLoc::get(context.get())) {
  context->loadDialect<TileDialect, arith::ArithDialect, gpu::GPUDialect,
                       math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect>();
}

std::string KernelBuilder::print(bool withLocations) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  // Half-built IR is printed for bug reports too.
  flags.assumeVerified();
  if (withLocations)
    flags.enableDebugInfo();
  if (module)
    module.get()->print(stream, flags);
  return text;
}

void KernelBuilder::setLocation(const std::string &file, unsigned line,
                                unsigned column) {
  Location place = FileLineColLoc::get(context.get(), file, line, column);
  location = callers.empty()
                 ? place
                 : Location(CallSiteLoc::get(place, callers.back()));
}

void KernelBuilder::enterCall() { callers.push_back(location); }

void KernelBuilder::leaveCall() {
  location = callers.back();
  callers.pop_back();
}

Type KernelBuilder::getFloatType(const std::string &name) {
  Type type = llvm::StringSwitch<Type>(name)
                  .Case("f16", ops.getF16Type())
                  .Case("bf16", ops.getBF16Type())
                  .Case("f32", ops.getF32Type())
                  .Case("f64", ops.getF64Type())
                  .Case("f8E4M3FN", Float8E4M3FNType::get(context.get()))
                  .Case("f8E5M2", Float8E5M2Type::get(context.get()))
                  .Default(nullptr);
  if (!type)
    fail("unknown floating-point type " + name);
  return type;
}

Type KernelBuilder::getPtrType(Type pointee, unsigned memorySpace) {
  return PtrType::get(pointee, memorySpace);
}

Type KernelBuilder::getTensorType(const std::vector<int64_t> &shape,
                                  Type element) {
  if (shape.empty())
    return element;
  return RankedTensorType::get(shape, element);
}

Type KernelBuilder::getDescType(const std::vector<int64_t> &shape,
                                Type element) {
  return DescType::get(shape, element);
}

Values KernelBuilder::startKernel(const std::string &name,
                                  const std::string &chip,
                                  const std::vector<Type> &arguments,
                                  const std::vector<int64_t> &divisibilities,
                                  const std::vector<int32_t> &aliasGroups) {
  if (arguments.size() != divisibilities.size())
    fail("expected a divisibility for each argument");
  if (!aliasGroups.empty() && arguments.size() != aliasGroups.size())
    fail("expected an alias group for each argument, or none");
  module = ModuleOp::create(location);
  ops.setInsertionPointToStart(module->getBody());
  auto gpuModule = gpu::GPUModuleOp::create(ops, location, "kernels");
  if (!chip.empty()) {
    auto target = NVVM::NVVMTargetAttr::get(context.get(), /*optLevel=*/3,
                                            "nvptx64-nvidia-cuda", chip);
    gpuModule.setTargetsAttr(ops.getArrayAttr({target}));
  }
  ops.setInsertionPointToStart(gpuModule.getBody());
  auto type = ops.getFunctionType(arguments, {});
  auto func = gpu::GPUFuncOp::create(ops, location, name, type);
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), ops.getUnitAttr());
  for (auto [index, divisibility] : llvm::enumerate(divisibilities))
    if (divisibility > 1)
      func.setArgAttr(index, kDivisibilityAttrName,
                      ops.getDenseI32ArrayAttr({int32_t(divisibility)}));
  for (auto [index, group] : llvm::enumerate(aliasGroups))
    if (group >= 0)
      func.setArgAttr(index, kAliasGroupAttrName, ops.getI32IntegerAttr(group));
  ops.setInsertionPointToStart(&func.getBody().front());
  auto blockArguments = func.getBody().front().getArguments();
  return Values(blockArguments.begin(), blockArguments.end());
}

void KernelBuilder::finishKernel() { gpu::ReturnOp::create(ops, location); }

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

static Operation *createByName(OpBuilder &ops, Location loc,
                               const std::string &name, const Values &operands,
                               TypeRange results) {
  OperationState state(loc, name);
  if (!state.name.isRegistered())
    fail("unknown op " + name);
  state.addOperands(operands);
  state.addTypes(results);
  return ops.create(state);
}

Value KernelBuilder::op(const std::string &name, const Values &operands,
                        Type result) {
  return createByName(ops, loc(), name, operands, result)->getResult(0);
}

void KernelBuilder::opWithoutResult(const std::string &name,
                                    const Values &operands) {
  createByName(ops, loc(), name, operands, TypeRange());
}

/// A constant of scalar type, or a splat of a tensor type.
static Value createConstant(OpBuilder &ops, Location loc, Type type,
                            TypedAttr scalar) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(
        ops, loc, cast<TypedAttr>(DenseElementsAttr::get(tensor, scalar)));
  return arith::ConstantOp::create(ops, loc, scalar);
}

Value KernelBuilder::intConstant(Type type, int64_t value) {
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!element)
    fail("expected an integer type for an integer constant");
  APInt bits(64, value, /*isSigned=*/true);
  return createConstant(
      ops, loc(), type,
      ops.getIntegerAttr(element, bits.trunc(element.getWidth())));
}

Value KernelBuilder::floatConstant(Type type, double value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element)
    fail("expected a floating-point type for a floating-point constant");
  APFloat number(value);
  bool losesInfo;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return createConstant(ops, loc(), type, ops.getFloatAttr(element, number));
}

Value KernelBuilder::compareInts(const std::string &predicate, Value lhs,
                                 Value rhs) {
  auto kind = arith::symbolizeCmpIPredicate(predicate);
  if (!kind)
    fail("unknown predicate " + predicate);
  return arith::CmpIOp::create(ops, loc(), *kind, lhs, rhs);
}

Value KernelBuilder::compareFloats(const std::string &predicate, Value lhs,
                                   Value rhs) {
  auto kind = arith::symbolizeCmpFPredicate(predicate);
  if (!kind)
    fail("unknown predicate " + predicate);
  return arith::CmpFOp::create(ops, loc(), *kind, lhs, rhs);
}

Value KernelBuilder::castFloat(Value value, Type type, bool towardZero) {
  return FPCastOp::create(ops, loc(), type, value,
                          towardZero ? Rounding::TowardZero
                                     : Rounding::NearestEven);
}

Value KernelBuilder::clamp(Value value, Value low, Value high,
                           bool propagateNaN) {
  return ClampOp::create(ops, loc(), value.getType(), value, low, high,
                         propagateNaN);
}

Value KernelBuilder::mulHigh(Value lhs, Value rhs, bool isSigned) {
  return MulHiOp::create(ops, loc(), lhs.getType(), lhs, rhs, isSigned);
}

Value KernelBuilder::externElementwise(const std::string &symbol,
                                       const Values &arguments, Type result,
                                       bool isPure) {
  return ExternElementwiseOp::create(ops, loc(), result, symbol, arguments,
                                     isPure, /*library=*/StringAttr());
}

Values KernelBuilder::inlineAssembly(const std::string &text,
                                     const std::string &constraints,
                                     const Values &arguments,
                                     const std::vector<Type> &results,
                                     bool isPure, int32_t pack) {
  auto op = InlineAsmElementwiseOp::create(
      ops, loc(), results, text, constraints, arguments, isPure, pack);
  return Values(op->result_begin(), op->result_end());
}

//===----------------------------------------------------------------------===//
// Program and shape
//===----------------------------------------------------------------------===//

static tile::Axis getAxis(unsigned axis) {
  if (axis > 2)
    fail("a grid has the axes 0, 1 and 2");
  return static_cast<tile::Axis>(axis);
}

Value KernelBuilder::programId(unsigned axis) {
  return ProgramIdOp::create(ops, loc(), ops.getI32Type(), getAxis(axis));
}

Value KernelBuilder::numPrograms(unsigned axis) {
  return NumProgramsOp::create(ops, loc(), ops.getI32Type(), getAxis(axis));
}

Value KernelBuilder::arange(int32_t start, int32_t end) {
  auto type = RankedTensorType::get({int64_t(end) - start}, ops.getI32Type());
  return ArangeOp::create(ops, loc(), type, start, end);
}

Value KernelBuilder::splat(Value value, const std::vector<int64_t> &shape) {
  return SplatOp::create(ops, loc(),
                         RankedTensorType::get(shape, value.getType()), value);
}

Value KernelBuilder::expandDims(Value value, int32_t axis) {
  return ExpandDimsOp::create(ops, loc(), value, axis);
}

static RankedTensorType withShape(Value value, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
}

Value KernelBuilder::broadcast(Value value, const std::vector<int64_t> &shape) {
  return BroadcastOp::create(ops, loc(), withShape(value, shape), value);
}

Value KernelBuilder::reshape(Value value, const std::vector<int64_t> &shape,
                             bool reorder) {
  return ReshapeOp::create(ops, loc(), withShape(value, shape), value, reorder);
}

Value KernelBuilder::transpose(Value value, const std::vector<int32_t> &order) {
  return TransOp::create(ops, loc(), value, order);
}

Value KernelBuilder::join(Value lhs, Value rhs) {
  auto type = cast<RankedTensorType>(lhs.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return JoinOp::create(ops, loc(), withShape(lhs, shape), lhs, rhs);
}

std::pair<Value, Value> KernelBuilder::split(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type half = withShape(value, type.getShape().drop_back());
  auto op = SplitOp::create(ops, loc(), half, half, value);
  return {op.getLhs(), op.getRhs()};
}

Value KernelBuilder::concatenate(Value lhs, Value rhs, int32_t axis) {
  auto type = cast<RankedTensorType>(lhs.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] *= 2;
  return CatOp::create(ops, loc(), withShape(lhs, shape), lhs, rhs, axis);
}

Value KernelBuilder::gather(Value source, Value indices, int32_t axis) {
  auto type = cast<RankedTensorType>(indices.getType());
  return GatherOp::create(ops, loc(), withShape(source, type.getShape()),
                          source, indices, axis);
}

Value KernelBuilder::histogram(Value source, std::optional<Value> mask,
                               int64_t bins) {
  return HistogramOp::create(ops, loc(), withShape(source, bins), source,
                             mask.value_or(Value()));
}

//===----------------------------------------------------------------------===//
// Debugging and hints
//===----------------------------------------------------------------------===//

void KernelBuilder::printValues(const std::string &prefix, const Values &values,
                                bool hex) {
  PrintOp::create(ops, loc(), prefix, values, hex);
}

void KernelBuilder::assertTrue(Value condition, const std::string &message) {
  AssertOp::create(ops, loc(), condition, message);
}

void KernelBuilder::setHint(Value value, const std::string &name,
                            const std::vector<int32_t> &values) {
  auto attribute = ops.getDenseI32ArrayAttr(values);
  std::string attributeName = "tile." + name;
  if (Operation *op = value.getDefiningOp()) {
    op->setAttr(attributeName, attribute);
    return;
  }
  auto argument = cast<BlockArgument>(value);
  if (auto func = dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp()))
    func.setArgAttr(argument.getArgNumber(), attributeName, attribute);
}
