//===- LayoutAssignment.cpp - One layout for each chain of ops --*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers the components and decides their layouts; LayoutRewriting.cpp has the
// rest.
//
//===----------------------------------------------------------------------===//

#include "LayoutAssignment.h"
#include "TileDialect/Analysis/ControlFlowEdges.h"
#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Layout;

namespace {

/// What a shape op costs if the layouts on its sides have no rule in common: a
/// trip through shared memory.
constexpr int64_t kNoRuleCost = 200;

/// Wishes beyond these are no longer looked at.
constexpr size_t kMaxCandidates = 8;

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

bool hasTileArguments(Operation *op) {
  return llvm::any_of(op->getRegions(), [](Region &region) {
    return llvm::any_of(region, [](Block &block) {
      return llvm::any_of(block.getArguments(), isTile);
    });
  });
}

bool isControlFlow(Operation *op) {
  if (isa<RegionBranchOpInterface>(op))
    return tile::hasKnownControlFlow(op);
  if (isa<RegionBranchTerminatorOpInterface>(op))
    return isa<RegionBranchOpInterface>(op->getParentOp());
  return isa<BranchOpInterface>(op);
}

unsigned getAxis(Operation *op) {
  return isa<tile::ReduceOp>(op) ? cast<tile::ReduceOp>(op).getAxis()
                                 : cast<tile::ScanOp>(op).getAxis();
}

/// The layout of the source of a shape op from that of its result, where it is
/// determined by it.
LayoutAttr invert(Operation *op, LayoutAttr result) {
  if (LayoutAttr source = getSourceLayout(op, result))
    return source;
  Layout layout = result.getLayout();
  std::optional<Layout> source =
      TypeSwitch<Operation *, std::optional<Layout>>(op)
          .Case<tile::TransOp>([&](tile::TransOp trans) {
            SmallVector<int32_t> inverse(trans.getOrder().size());
            for (auto [i, dim] : llvm::enumerate(trans.getOrder()))
              inverse[dim] = i;
            return layout.transpose(inverse);
          })
          .Case<tile::ReshapeOp>([&](tile::ReshapeOp reshape) {
            return layout.reshape(reshape.getType().getShape(),
                                  reshape.getSource().getType().getShape());
          })
          .Case<tile::JoinOp>([&](tile::JoinOp) { return layout.split(); })
          .Case<tile::SplitOp>([&](tile::SplitOp) { return layout.join(); })
          .Default([](Operation *) { return std::nullopt; });
  return source ? LayoutAttr::get(op->getContext(), *source) : LayoutAttr();
}

} // namespace

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

LayoutAssignment::LayoutAssignment(Operation *kernel, LayoutCost &cost)
    : kernel(kernel), cost(cost) {
  tile::ModuleAxisInfo axisInfo(kernel);
  kernel->walk([&](Operation *op) {
    if (auto access = getMemoryAccess(op, axisInfo))
      accesses.try_emplace(op, *access);
  });
}

void LayoutAssignment::run() {
  recordOps();
  removeConversions();
  tieValues();
  for (auto [op, role] : ops)
    addBorders(op);
  decideAll();
  setTypes();
  for (auto [op, role] : ops)
    if (role == OpRole::Flexible)
      rewriteResults(op);
  for (auto [op, role] : ops)
    rewriteOperands(op);
}

OpRole LayoutAssignment::getRole(Operation *op) {
  if (llvm::none_of(op->getOperands(), isTile) &&
      llvm::none_of(op->getResults(), isTile) && !hasTileArguments(op))
    return OpRole::None;
  if (isCreation(op))
    return OpRole::Creation;
  if (isElementwise(op))
    return OpRole::Elementwise;
  if (isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp,
          tile::DescLoadOp, tile::DescStoreOp, tile::DescReduceOp,
          tile::ReduceOp, tile::ScanOp>(op))
    return OpRole::Flexible;
  if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransOp, tile::ReshapeOp,
          tile::JoinOp, tile::SplitOp>(op))
    return OpRole::Shape;
  if (isa<tile::GatherOp, tile::CatOp, tile::HistogramOp, tile::PrintOp,
          tile::AssertOp>(op))
    return OpRole::Any;
  return isControlFlow(op) ? OpRole::ControlFlow : OpRole::Fixed;
}

void LayoutAssignment::recordOps() {
  // The type of a kernel gives the layouts of its arguments.
  for (Region &region : kernel->getRegions())
    pinned.insert(region.args_begin(), region.args_end());
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    OpRole role =
        op == kernel || isa<ConvertLayoutOp>(op) ? OpRole::None : getRole(op);
    if (role == OpRole::None)
      return;
    ops.emplace_back(op, role);
    if (role != OpRole::Fixed && role != OpRole::Flexible)
      return;
    for (Value operand : op->getOperands())
      givenOperands[op].push_back(getLayoutAttr(operand.getType()));
    for (Value result : op->getResults())
      givenResults[op].push_back(getLayoutAttr(result.getType()));
    if (role != OpRole::Fixed)
      return;
    pinned.insert(op->result_begin(), op->result_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        pinned.insert(block.args_begin(), block.args_end());
  });
}

void LayoutAssignment::removeConversions() {
  SmallVector<ConvertLayoutOp> conversions;
  kernel->walk([&](ConvertLayoutOp op) { conversions.push_back(op); });
  for (ConvertLayoutOp op : conversions) {
    op.getResult().replaceAllUsesWith(op.getSource());
    op.erase();
  }
}

bool LayoutAssignment::isTied(Value value) const {
  if (!isTile(value) || pinned.contains(value))
    return false;
  Operation *op = value.getDefiningOp();
  return !op || !isCreation(op);
}

unsigned LayoutAssignment::getId(Value value) {
  auto [it, isNew] = ids.try_emplace(value, parents.size());
  if (isNew)
    parents.push_back(it->second);
  return it->second;
}

unsigned LayoutAssignment::find(unsigned id) {
  while (parents[id] != id)
    id = parents[id] = parents[parents[id]];
  return id;
}

void LayoutAssignment::unite(ArrayRef<Value> values) {
  std::optional<unsigned> root;
  for (Value value : values) {
    if (!isTied(value))
      continue;
    unsigned id = find(getId(value));
    if (root) {
      parents[std::max(*root, id)] = std::min(*root, id);
      id = std::min(*root, id);
    }
    root = id;
  }
}

void LayoutAssignment::tieValues() {
  std::vector<Value> order;
  auto note = [&](Value value) {
    if (isTied(value) && !ids.contains(value)) {
      getId(value);
      order.push_back(value);
    }
  };
  for (auto [op, role] : ops) {
    for (Value result : op->getResults())
      note(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), note);
  }
  kernel->walk(
      [&](Block *block) { llvm::for_each(block->getArguments(), note); });

  for (auto [op, role] : ops) {
    SmallVector<Value> group;
    if (role == OpRole::ControlFlow) {
      // What one operand flows to has the operand's type, also where the value
      // itself, a constant say, has any layout: a loop's argument and result.
      DenseMap<OpOperand *, Value> targets;
      tile::forEachControlFlowEdge(op, [&](OpOperand &from, Value to) {
        if (isTile(to))
          unite({from.get(), to, targets.try_emplace(&from, to).first->second});
      });
    }
    if (role == OpRole::Elementwise ||
        isa<tile::ScanOp, tile::ReduceOp, tile::JoinOp, tile::CatOp,
            tile::HistogramOp>(op))
      group.append(op->operand_begin(), op->operand_end());
    if (role == OpRole::Elementwise || isa<tile::ScanOp, tile::SplitOp>(op))
      group.append(op->result_begin(), op->result_end());
    unite(group);
  }
  for (Value value : order) {
    Component &component = components[find(getId(value))];
    if (!component.type) {
      component.type = cast<RankedTensorType>(value.getType());
      component.original = getLayoutAttr(value.getType());
    }
  }
}

LayoutAssignment::Component *LayoutAssignment::getComponent(Value value) {
  if (!isTied(value))
    return nullptr;
  return &components.find(find(getId(value)))->second;
}

void LayoutAssignment::addBorder(Value value, Border::Kind kind, Operation *op,
                                 LayoutAttr layout, bool flowsIn) {
  if (Component *component = getComponent(value))
    component->borders.push_back(
        {kind, op, layout, flowsIn, LayoutCost::getFrequency(op)});
}

void LayoutAssignment::addBorders(Operation *op) {
  switch (getRole(op)) {
  case OpRole::Elementwise: {
    for (Value operand : op->getOperands())
      if (pinned.contains(operand) && isTile(operand))
        addBorder(op->getResult(0), Border::Given, op,
                  getLayoutAttr(operand.getType()), /*flowsIn=*/true);
    if (Component *component = getComponent(op->getResult(0)))
      component->work += LayoutCost::getFrequency(op);
    return;
  }
  case OpRole::ControlFlow:
    tile::forEachControlFlowEdge(op, [&](OpOperand &from, Value to) {
      if (pinned.contains(from.get()) && isTile(to))
        addBorder(to, Border::Given, op, getLayoutAttr(from.get().getType()),
                  /*flowsIn=*/true);
    });
    return;
  case OpRole::Flexible:
    return addFlexibleBorders(op);
  case OpRole::Shape:
    addBorder(op->getOperand(0), Border::Source, op);
    addBorder(op->getResult(0), Border::Result, op);
    return;
  case OpRole::Fixed:
    for (auto [operand, layout] :
         llvm::zip_equal(op->getOperands(), givenOperands[op]))
      addBorder(operand, Border::Given, op, layout);
    return;
  case OpRole::None:
  case OpRole::Creation:
  case OpRole::Any:
    return;
  }
}

void LayoutAssignment::addFlexibleBorders(Operation *op) {
  // The op works for the component that holds its data: what is loaded, stored
  // or reduced; failing that (a constant is stored), for its pointers.
  SmallVector<Value> byImportance;
  if (isa<tile::LoadOp, tile::DescLoadOp>(op))
    byImportance.push_back(op->getResult(0));
  bool isReduction = isa<tile::ReduceOp, tile::ScanOp>(op);
  llvm::append_range(byImportance,
                     isReduction
                         ? llvm::to_vector(op->getOperands())
                         : llvm::to_vector(llvm::reverse(op->getOperands())));
  if (auto store = dyn_cast<tile::StoreOp>(op))
    byImportance.insert(byImportance.begin(), store.getValue());
  if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op))
    byImportance.insert(byImportance.begin(), atomic.getValue());

  const Value *data =
      llvm::find_if(byImportance, [&](Value value) { return isTied(value); });
  if (data != byImportance.end()) {
    addBorder(*data, Border::Data, op);
    if (!isa<tile::PtrType>(getElementTypeOrSelf(data->getType())))
      getComponent(*data)->isData = true;
  }
  if (isReduction) {
    for (Value result : op->getResults())
      if (isa<tile::ReduceOp>(op))
        addBorder(result, Border::Result, op);
    return;
  }
  for (Value operand : op->getOperands())
    if (data == byImportance.end() || operand != *data)
      addBorder(operand, Border::Demand, op);
  if (isa<tile::AtomicRMWOp, tile::AtomicCASOp>(op))
    addBorder(op->getResult(0), Border::Demand, op, {}, /*flowsIn=*/true);
}

//===----------------------------------------------------------------------===//
// Deciding
//===----------------------------------------------------------------------===//

LayoutAttr LayoutAssignment::getExecution(Operation *op) const {
  if (LayoutAttr layout = executions.lookup(op))
    return layout;
  for (const auto *given : {&givenOperands, &givenResults}) {
    auto it = given->find(op);
    if (it == given->end())
      continue;
    for (LayoutAttr layout : it->second)
      if (layout)
        return layout;
  }
  return {};
}

LayoutAttr LayoutAssignment::getKnownLayout(Value value) {
  if (pinned.contains(value))
    return getLayoutAttr(value.getType());
  Component *component = getComponent(value);
  return component ? component->layout : LayoutAttr();
}

int64_t LayoutAssignment::getExecutionCost(Operation *op, LayoutAttr layout) {
  auto it = accesses.find(op);
  if (it != accesses.end())
    return it->second.getCost(layout.getLayout());
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return cost.getReduction(type, getAxis(op), layout);
}

LayoutAttr LayoutAssignment::chooseExecution(Operation *op,
                                             RankedTensorType type,
                                             LayoutAttr layout,
                                             int64_t &total) {
  LayoutAttr given = getExecution(op);
  int64_t conversion = cost.getConversion(type, given, layout);
  int64_t asGiven = getExecutionCost(op, given) + conversion;
  // Each element of an atomic is accessed once, however many threads hold it,
  // and a volatile access as often as the user's layout says.
  auto load = dyn_cast<tile::LoadOp>(op);
  bool keeps =
      isa<tile::AtomicRMWOp, tile::AtomicCASOp, tile::DescReduceOp>(op) ||
      (load && load.getIsVolatile());
  if (given == layout || keeps) {
    total = asGiven;
    return given;
  }
  int64_t asWished = getExecutionCost(op, layout);
  total = std::min(asGiven, asWished);
  return asWished <= asGiven ? layout : given;
}

int64_t LayoutAssignment::getBorderCost(Component &component,
                                        const Border &border,
                                        LayoutAttr layout) {
  Operation *op = border.op;
  RankedTensorType type = component.type;
  auto convert = [&](RankedTensorType type, LayoutAttr from, LayoutAttr to) {
    return from && to ? cost.getConversion(type, from, to) : kNoRuleCost;
  };
  switch (border.kind) {
  case Border::Data: {
    int64_t total = 0;
    chooseExecution(op, type, layout, total);
    return total;
  }
  case Border::Demand:
  case Border::Given: {
    LayoutAttr other =
        border.kind == Border::Given ? border.layout : getExecution(op);
    return border.flowsIn ? convert(type, other, layout)
                          : convert(type, layout, other);
  }
  case Border::Source: {
    LayoutAttr result = getKnownLayout(op->getResult(0));
    if (!result)
      return 0;
    if (LayoutAttr needed = getSourceLayout(op, result))
      return convert(type, layout, needed);
    return convert(cast<RankedTensorType>(op->getResult(0).getType()),
                   getResultLayout(op, layout), result);
  }
  case Border::Result: {
    LayoutAttr source = isa<tile::ReduceOp>(op)
                            ? getExecution(op)
                            : getKnownLayout(op->getOperand(0));
    if (!source)
      return 0;
    if (LayoutAttr needed = getSourceLayout(op, layout))
      return convert(cast<RankedTensorType>(op->getOperand(0).getType()),
                     source, needed);
    return convert(type, getResultLayout(op, source), layout);
  }
  }
  return 0;
}

LayoutAttr LayoutAssignment::getBorderWish(const Border &border) {
  Operation *op = border.op;
  switch (border.kind) {
  case Border::Data:
  case Border::Demand:
    return getExecution(op);
  case Border::Given:
    return border.layout;
  case Border::Source: {
    LayoutAttr result = getKnownLayout(op->getResult(0));
    return result ? invert(op, result) : LayoutAttr();
  }
  case Border::Result: {
    LayoutAttr source = isa<tile::ReduceOp>(op)
                            ? getExecution(op)
                            : getKnownLayout(op->getOperand(0));
    return source ? getResultLayout(op, source) : LayoutAttr();
  }
  }
  return {};
}

SmallVector<LayoutAttr> LayoutAssignment::getCandidates(Component &component) {
  SmallVector<LayoutAttr> candidates;
  for (const Border &border : component.borders) {
    LayoutAttr wish = getBorderWish(border);
    if (!wish || llvm::is_contained(candidates, wish) ||
        wish.getLayout().checkShape(component.type.getShape()))
      continue;
    candidates.push_back(wish);
    if (candidates.size() == kMaxCandidates)
      break;
  }
  if (!llvm::is_contained(candidates, component.original))
    candidates.push_back(component.original);
  return candidates;
}

int64_t LayoutAssignment::getCost(Component &component, LayoutAttr layout) {
  int64_t total =
      component.work * LayoutCost::getRegisters(component.type, layout);
  for (const Border &border : component.borders)
    total += border.frequency * getBorderCost(component, border, layout);
  return total;
}

void LayoutAssignment::settle(Component &component) {
  for (const Border &border : component.borders) {
    if (border.kind != Border::Data)
      continue;
    int64_t total = 0;
    executions[border.op] =
        chooseExecution(border.op, component.type, component.layout, total);
  }
}

void LayoutAssignment::decide(Component &component) {
  int64_t best = -1;
  for (LayoutAttr candidate : getCandidates(component)) {
    int64_t total = getCost(component, candidate);
    if (best >= 0 && total >= best)
      continue;
    best = total;
    component.layout = candidate;
  }
  settle(component);
}

void LayoutAssignment::decideAll() {
  // Large tiles of data come first; the small ones that are broadcast to them,
  // or reduced from them, follow at once.
  std::vector<std::pair<int64_t, Component *>> order;
  for (auto &entry : components) {
    Component &component = entry.second;
    int64_t rank = component.type.getNumElements();
    if (component.isData)
      rank += tile::kMaxTileElements;
    // Among equals, those that come first in the kernel.
    order.emplace_back((rank << 32) - static_cast<int64_t>(order.size()),
                       &component);
  }
  llvm::sort(order, [](auto &a, auto &b) { return a.first > b.first; });
  std::deque<Component *> queue;
  auto enqueueNeighbours = [&](Component &component) {
    for (const Border &border : component.borders) {
      bool isReduction = isa<tile::ReduceOp>(border.op);
      Component *next = nullptr;
      if (border.kind == Border::Result && !isReduction)
        next = getComponent(border.op->getOperand(0));
      else if ((border.kind == Border::Data && isReduction) ||
               (border.kind == Border::Source &&
                !isa<tile::ExpandDimsOp, tile::BroadcastOp>(border.op)))
        next = getComponent(border.op->getResult(0));
      if (next && !next->layout)
        queue.push_back(next);
    }
  };
  for (auto &[rank, component] : order) {
    queue.push_back(component);
    while (!queue.empty()) {
      Component *next = queue.front();
      queue.pop_front();
      if (next->layout)
        continue;
      decide(*next);
      enqueueNeighbours(*next);
    }
  }
}
