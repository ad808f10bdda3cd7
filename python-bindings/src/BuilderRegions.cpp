//===- BuilderRegions.cpp - Control flow, reductions and scans ------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Builder.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <stdexcept>

using namespace mlir;
using namespace mlir::tile::python;

static Values resultsOf(Operation *op) {
  return Values(op->result_begin(), op->result_end());
}

static SmallVector<Type> typesOf(const Values &values) {
  return llvm::to_vector(
      llvm::map_range(values, [](Value value) { return value.getType(); }));
}

/// Adds a block with arguments of `types` to `region`.
static Block *addBlock(Region &region, ArrayRef<Type> types, Location loc) {
  auto *block = new Block;
  region.push_back(block);
  for (Type type : types)
    block->addArgument(type, loc);
  return block;
}

std::tuple<Operation *, Value, Values> KernelBuilder::beginFor(
    Value lower, Value upper, Value step, const Values &inits,
    const std::vector<std::pair<std::string, int64_t>> &hints) {
  auto loop = scf::ForOp::create(ops, loc(), lower, upper, step, inits);
  for (const auto &[name, value] : hints)
    loop->setAttr("tile." + name, ops.getI32IntegerAttr(value));
  // The op's builder ends the body of a loop without results.
  if (!loop.getBody()->empty())
    loop.getBody()->back().erase();
  ops.setInsertionPointToEnd(loop.getBody());
  auto carried = loop.getRegionIterArgs();
  return {loop, loop.getInductionVar(), Values(carried.begin(), carried.end())};
}

Values KernelBuilder::endFor(Operation *loop, const Values &yields) {
  scf::YieldOp::create(ops, loc(), yields);
  ops.setInsertionPointAfter(loop);
  return resultsOf(loop);
}

Operation *KernelBuilder::beginIf(Value condition) {
  OperationState state(loc(), scf::IfOp::getOperationName());
  state.addOperands(condition);
  addBlock(*state.addRegion(), {}, loc());
  addBlock(*state.addRegion(), {}, loc());
  Operation *branch = ops.create(state);
  ops.setInsertionPointToEnd(&branch->getRegion(0).front());
  return branch;
}

void KernelBuilder::beginElse(Operation *branch) { resumeBranch(branch, 1); }

void KernelBuilder::resumeBranch(Operation *branch, unsigned side) {
  if (side > 1)
    throw std::invalid_argument("a branch has two sides");
  ops.setInsertionPointToEnd(&branch->getRegion(side).front());
}

Values KernelBuilder::endIf(Operation *branch, const Values &thenYields,
                            const Values &elseYields) {
  Location branchLoc = branch->getLoc();
  ops.setInsertionPointToEnd(&branch->getRegion(0).front());
  scf::YieldOp::create(ops, branchLoc, thenYields);
  ops.setInsertionPointToEnd(&branch->getRegion(1).front());
  scf::YieldOp::create(ops, branchLoc, elseYields);

  // Only now are the types of the results known: the regions move to an op that
  // has them.
  ops.setInsertionPoint(branch);
  OperationState state(branchLoc, scf::IfOp::getOperationName());
  state.addOperands(branch->getOperands());
  state.addTypes(typesOf(thenYields));
  state.addRegion();
  state.addRegion();
  Operation *result = ops.create(state);
  for (unsigned i : {0, 1})
    result->getRegion(i).takeBody(branch->getRegion(i));
  branch->erase();
  ops.setInsertionPointAfter(result);
  return resultsOf(result);
}

std::pair<Operation *, Values> KernelBuilder::beginWhile(const Values &inits) {
  SmallVector<Type> types = typesOf(inits);
  OperationState state(loc(), scf::WhileOp::getOperationName());
  state.addOperands(inits);
  state.addTypes(types);
  Block *before = addBlock(*state.addRegion(), types, loc());
  addBlock(*state.addRegion(), types, loc());
  Operation *loop = ops.create(state);
  ops.setInsertionPointToEnd(before);
  auto arguments = before->getArguments();
  return {loop, Values(arguments.begin(), arguments.end())};
}

Values KernelBuilder::endWhileCondition(Operation *loop, Value condition,
                                        const Values &values) {
  scf::ConditionOp::create(ops, loc(), condition, values);
  Block &after = loop->getRegion(1).front();
  ops.setInsertionPointToEnd(&after);
  auto arguments = after.getArguments();
  return Values(arguments.begin(), arguments.end());
}

Values KernelBuilder::endWhile(Operation *loop, const Values &yields) {
  scf::YieldOp::create(ops, loc(), yields);
  ops.setInsertionPointAfter(loop);
  return resultsOf(loop);
}

std::pair<Operation *, Values>
KernelBuilder::beginCombine(Operation *op, const std::vector<Type> &types) {
  Block *body = addBlock(op->getRegion(0), types, loc());
  ops.setInsertionPointToEnd(body);
  auto arguments = body->getArguments();
  return {op, Values(arguments.begin(), arguments.end())};
}

/// The element types of `sources`, twice: a left and a right tuple.
static std::vector<Type> combineTypes(const Values &sources) {
  std::vector<Type> types;
  for (int side = 0; side < 2; ++side)
    for (Value source : sources)
      types.push_back(getElementTypeOrSelf(source.getType()));
  return types;
}

std::pair<Operation *, Values> KernelBuilder::beginReduce(const Values &sources,
                                                          int32_t axis) {
  auto op = ReduceOp::create(ops, loc(), sources, axis);
  return beginCombine(op, combineTypes(sources));
}

std::pair<Operation *, Values>
KernelBuilder::beginScan(const Values &sources, int32_t axis, bool reverse) {
  auto op = ScanOp::create(ops, loc(), sources, axis, reverse);
  return beginCombine(op, combineTypes(sources));
}

std::pair<Operation *, Values>
KernelBuilder::beginMap(const Values &sources, const std::vector<Type> &results,
                        int32_t pack) {
  auto op = MapElementwiseOp::create(ops, loc(), results, sources, pack);
  std::vector<Type> types;
  for (Value source : sources)
    types.insert(types.end(), pack, getElementTypeOrSelf(source.getType()));
  return beginCombine(op, types);
}

Values KernelBuilder::endCombine(Operation *op, const Values &yields) {
  YieldOp::create(ops, loc(), yields);
  // What only helped the front end to find a type may be no op on scalars,
  // which is all that a combine region may hold.
  op->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *inner) {
    if (inner != op && isOpTriviallyDead(inner))
      inner->erase();
  });
  ops.setInsertionPointAfter(op);
  return resultsOf(op);
}
