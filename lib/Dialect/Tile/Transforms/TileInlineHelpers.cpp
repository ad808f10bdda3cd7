//===- TileInlineHelpers.cpp - Inline helper functions ----------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEINLINEHELPERS
#include "TileDialect/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;

namespace {

/// Helpers have to be inlined, whatever they hold and wherever they are called:
/// gpu.func allows it for no op, and many dialects forget to say.
class HelperInterface : public InlinerInterface {
public:
  using InlinerInterface::InlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const override {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
};

/// Inlines all helpers of one root, innermost first.
class HelperInliner {
public:
  explicit HelperInliner(MLIRContext *context) : interface(context) {}

  /// Inline everything that `function` calls into it.
  LogicalResult run(FunctionOpInterface function);
  /// Erase the private helpers that have lost all calls.
  void eraseUnusedHelpers();

  int64_t getNumInlined() const { return numInlined; }

private:
  enum class State { Active, Done };

  LogicalResult inlineCalls(Region &body);
  LogicalResult inlineOne(func::CallOp call, func::FuncOp helper);

  HelperInterface interface;
  InlinerConfig config;
  SymbolTableCollection symbols;
  llvm::DenseMap<Operation *, State> states;
  llvm::SetVector<Operation *> helpers;
  int64_t numInlined = 0;
};

LogicalResult HelperInliner::run(FunctionOpInterface function) {
  if (function.isExternal() ||
      !states.try_emplace(function, State::Active).second)
    return success();
  LogicalResult result = inlineCalls(function.getFunctionBody());
  states[function] = State::Done;
  return result;
}

LogicalResult HelperInliner::inlineCalls(Region &body) {
  SmallVector<std::pair<func::CallOp, func::FuncOp>> work;
  WalkResult walk = body.walk([&](func::CallOp call) {
    auto helper = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!helper || helper.isExternal())
      return WalkResult::advance();
    auto state = states.find(helper);
    if (state != states.end() && state->second == State::Active) {
      InFlightDiagnostic diag =
          call.emitOpError("is recursive: a helper function that calls itself "
                           "cannot be inlined");
      diag.attachNote(helper.getLoc()) << "the helper is defined here";
      return WalkResult::interrupt();
    }
    if (failed(run(cast<FunctionOpInterface>(helper.getOperation()))))
      return WalkResult::interrupt();
    work.emplace_back(call, helper);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (work.empty())
    return success();

  for (auto [call, helper] : work)
    if (failed(inlineOne(call, helper)))
      return failure();
  return success();
}

LogicalResult HelperInliner::inlineOne(func::CallOp call, func::FuncOp helper) {
  Operation *around = call->getParentOp();
  if (!helper.getBody().hasOneBlock() &&
      around->hasTrait<OpTrait::SingleBlock>()) {
    InFlightDiagnostic diag =
        call.emitOpError("cannot be inlined: the helper has several blocks (it "
                         "returns early), and the region of ")
        << around->getName() << " takes one";
    diag.attachNote(helper.getLoc()) << "the helper is defined here";
    return diag;
  }
  if (failed(inlineCall(interface, config.getCloneCallback(), call,
                        cast<CallableOpInterface>(helper.getOperation()),
                        &helper.getBody(),
                        /*shouldCloneInlinedRegion=*/true)))
    return call.emitOpError("cannot be inlined");
  call.erase();
  helpers.insert(helper);
  ++numInlined;
  return success();
}

void HelperInliner::eraseUnusedHelpers() {
  // A helper may be used by one that is erased after it.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *helper : llvm::to_vector(helpers)) {
      auto symbol = cast<SymbolOpInterface>(helper);
      if (!symbol.isPrivate() ||
          !SymbolTable::symbolKnownUseEmpty(helper, helper->getParentOp()))
        continue;
      helpers.remove(helper);
      helper->erase();
      changed = true;
    }
  }
}

class TileInlineHelpers
    : public tile::impl::TileInlineHelpersBase<TileInlineHelpers> {
public:
  using TileInlineHelpersBase::TileInlineHelpersBase;

  void runOnOperation() override {
    HelperInliner inliner(&getContext());
    SmallVector<FunctionOpInterface> functions;
    getOperation()->walk(
        [&](FunctionOpInterface function) { functions.push_back(function); });
    for (FunctionOpInterface function : functions)
      if (failed(inliner.run(function)))
        return signalPassFailure();
    inliner.eraseUnusedHelpers();
    inlined += inliner.getNumInlined();
  }
};

} // namespace
