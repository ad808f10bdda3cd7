//===- SharedMemoryAliasing.cpp - What a memdesc may point to ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/SharedMemoryAliasing.h"
#include "TileDialect/Analysis/ControlFlowEdges.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::tile_gpu;

SharedMemoryAliasing::SharedMemoryAliasing(Operation *function) {
  function->walk<WalkOrder::PreOrder>(
      [&](AllocOp alloc) { allocs.push_back(alloc); });
  for (AllocOp alloc : allocs)
    followAliases(alloc);
}

ArrayRef<AllocOp> SharedMemoryAliasing::getAllocs(Value memory) const {
  auto it = allocsOfValue.find(memory);
  return it == allocsOfValue.end() ? ArrayRef<AllocOp>() : it->second;
}

ArrayRef<Value> SharedMemoryAliasing::getAliases(AllocOp alloc) const {
  return aliasesOfAlloc.find(alloc)->second;
}

void SharedMemoryAliasing::followAliases(AllocOp alloc) {
  llvm::SetVector<Value> reached;
  auto reach = [&](Value value) {
    if (isa<MemDescType>(value.getType()) && reached.insert(value))
      allocsOfValue[value].push_back(alloc);
  };
  reach(alloc.getResult());
  // `reached` grows while it is walked.
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses())
      followUse(alloc, use, reach);
  aliasesOfAlloc[alloc].assign(reached.begin(), reached.end());
}

/// True if control that `terminator` passes to `to`, a block of the same op,
/// may have been there before.
static bool isBackward(Operation *terminator, Block *to) {
  Block *from = terminator->getBlock();
  if (to->getParent() != from->getParent())
    return to->getParent()->getRegionNumber() <=
           from->getParent()->getRegionNumber();
  // A region that follows itself, or a branch to a block that does not come
  // later.
  if (!isa<BranchOpInterface>(terminator))
    return true;
  for (Block &block : *from->getParent()) {
    if (&block == to)
      return true;
    if (&block == from)
      break;
  }
  return false;
}

void SharedMemoryAliasing::followUse(AllocOp alloc, OpOperand &use,
                                     llvm::function_ref<void(Value)> reach) {
  Operation *user = use.getOwner();
  if (auto specialize = dyn_cast<WarpSpecializeOp>(user)) {
    for (Region &role : specialize.getRoles())
      reach(role.getArgument(use.getOperandNumber()));
    return;
  }
  if (!isa<BranchOpInterface, RegionBranchOpInterface,
           RegionBranchTerminatorOpInterface>(user)) {
    for (Value result : user->getResults())
      reach(result);
    return;
  }
  tile::forEachControlFlowEdge(user, [&](OpOperand &from, Value to) {
    if (&from != &use)
      return;
    if (auto arg = dyn_cast<BlockArgument>(to);
        arg && user->hasTrait<OpTrait::IsTerminator>() &&
        isBackward(user, arg.getOwner()))
      carried.push_back({alloc, user, arg.getOwner()});
    reach(to);
  });
}
