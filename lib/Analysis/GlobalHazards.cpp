//===- GlobalHazards.cpp - Races of accesses to global memory ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Analysis/GlobalHazards.h"
#include "TileDialect/Analysis/ControlFlowEdges.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile_gpu;

//===----------------------------------------------------------------------===//
// PointerRoots
//===----------------------------------------------------------------------===//

static bool isAddress(Type type) {
  return isa<tile::PtrType, tile::DescType>(getElementTypeOrSelf(type));
}

/// Calls `visit` for each value that control flow forwards to `value`, a block
/// argument or a result of an op with regions; false if not all are known.
static bool visitForwarded(Value value, function_ref<void(Value)> visit) {
  SmallVector<Operation *> sources;
  auto arg = dyn_cast<BlockArgument>(value);
  if (arg && !arg.getOwner()->isEntryBlock()) {
    for (Block *predecessor : arg.getOwner()->getPredecessors()) {
      sources.push_back(predecessor->getTerminator());
      if (!isa<BranchOpInterface>(sources.back()))
        return false;
    }
  } else {
    Operation *parent =
        arg ? arg.getOwner()->getParentOp() : value.getDefiningOp();
    if (!tile::hasKnownControlFlow(parent))
      return false;
    sources.push_back(parent);
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        sources.push_back(&block.back());
  }
  bool found = false;
  for (Operation *source : sources)
    tile::forEachControlFlowEdge(source, [&](OpOperand &from, Value to) {
      if (to != value)
        return;
      found = true;
      visit(from.get());
    });
  return found;
}

/// The number of an argument, or the least one of those that may be the same
/// memory.
static unsigned getAliasNumber(FunctionOpInterface function, unsigned number) {
  auto getGroup = [&](unsigned index) {
    return function.getArgAttr(index, tile::kAliasGroupAttrName);
  };
  Attribute group = getGroup(number);
  for (unsigned first = 0; group && first < number; ++first)
    if (getGroup(first) == group)
      return first;
  return number;
}

/// Adds `value` if it is a root; else calls `visit` for each value that its
/// address is computed from. False if these are not known.
bool PointerRoots::follow(Value value, function_ref<void(Value)> visit) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    Operation *parent = arg.getOwner()->getParentOp();
    auto function = dyn_cast<FunctionOpInterface>(parent);
    if (arg.getOwner()->isEntryBlock() && function) {
      unsigned number = getAliasNumber(function, arg.getArgNumber());
      auto *place = llvm::lower_bound(arguments, number);
      if (place == arguments.end() || *place != number)
        arguments.insert(place, number);
      return true;
    }
    if (auto roles = dyn_cast<WarpSpecializeOp>(parent);
        roles && arg.getOwner()->isEntryBlock()) {
      visit(roles.getCaptures()[arg.getArgNumber()]);
      return true;
    }
    return visitForwarded(value, visit);
  }
  Operation *op = value.getDefiningOp();
  if (isa<RegionBranchOpInterface>(op))
    return visitForwarded(value, visit);
  if (!isa<tile::AddPtrOp, tile::BitcastOp, tile::BroadcastOp, tile::CatOp,
           tile::ExpandDimsOp, tile::GatherOp, tile::JoinOp, tile::MakeDescOp,
           tile::ReshapeOp, tile::SplatOp, tile::SplitOp, tile::TransOp,
           ConvertLayoutOp, arith::SelectOp>(op))
    return false;
  for (Value operand : op->getOperands())
    if (isAddress(operand.getType()))
      visit(operand);
  return true;
}

PointerRoots::PointerRoots(Value pointer) {
  llvm::SetVector<Value> values;
  values.insert(pointer);
  // `values` grows while it is walked.
  for (size_t i = 0; i < values.size(); ++i)
    if (!follow(values[i], [&](Value source) { values.insert(source); })) {
      *this = getUnknown();
      return;
    }
}

PointerRoots PointerRoots::getUnknown() {
  PointerRoots roots;
  roots.unknown = true;
  return roots;
}

void PointerRoots::insert(const PointerRoots &other) {
  unknown |= other.unknown;
  SmallVector<unsigned, 2> both;
  std::set_union(arguments.begin(), arguments.end(), other.arguments.begin(),
                 other.arguments.end(), std::back_inserter(both));
  arguments = std::move(both);
}

bool PointerRoots::overlaps(const PointerRoots &other) const {
  if (empty() || other.empty())
    return false;
  return unknown || other.unknown ||
         llvm::any_of(arguments, [&](unsigned number) {
           return llvm::is_contained(other.arguments, number);
         });
}

//===----------------------------------------------------------------------===//
// Accesses of ops
//===----------------------------------------------------------------------===//

/// See GlobalAccess; `type` is a number or pointer in memory, or a tile of
/// them.
static Type getSpread(Type type) {
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIntOrFloat()
                       ? std::max(element.getIntOrFloatBitWidth(), 8u)
                       : 64;
  Type bits = IntegerType::get(type.getContext(), width);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(bits) : bits;
}

GlobalAccess tile_gpu::getGlobalLoad(Operation *op) {
  if (!isa<tile::LoadOp, tile::DescLoadOp>(op) || op->use_empty())
    return {};
  return {getSpread(op->getResult(0).getType()),
          PointerRoots(op->getOperand(0))};
}

GlobalAccess tile_gpu::getGlobalWrite(Operation *op) {
  auto getOpaque = [](bool isPure) {
    return isPure ? GlobalAccess()
                  : GlobalAccess{{}, PointerRoots::getUnknown()};
  };
  return llvm::TypeSwitch<Operation *, GlobalAccess>(op)
      .Case<tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp>(
          [](auto write) -> GlobalAccess {
            Value ptr = write.getPtr();
            return {getSpread(tile::getPointeeLike(ptr.getType())),
                    PointerRoots(ptr)};
          })
      .Case<tile::DescStoreOp, tile::DescReduceOp>(
          [](auto write) -> GlobalAccess {
            return {getSpread(write.getValue().getType()),
                    PointerRoots(write.getDesc())};
          })
      .Case<tile::ExternElementwiseOp, tile::InlineAsmElementwiseOp>(
          [&](auto opaque) { return getOpaque(opaque.getIsPure()); })
      .Default(GlobalAccess());
}

/// True if an element of a tile has a holder in more than one warp, or lane of
/// a warp.
static bool hasCopies(Type spread, tile_dialect::layout::HardwareDim dim) {
  LayoutAttr layout = getLayoutAttr(spread);
  return !layout || layout.getLayout().getFreeMask(dim) != 0;
}

BarrierScope tile_gpu::getScopeBetween(Type loadSpread, Type writeSpread,
                                       BarrierScope widest) {
  using tile_dialect::layout::HardwareDim;
  if (widest == BarrierScope::None || hasCopies(loadSpread, HardwareDim::Warp))
    return widest;
  if (writeSpread && writeSpread != loadSpread)
    return widest;
  return hasCopies(loadSpread, HardwareDim::Lane) ? BarrierScope::Warp
                                                  : BarrierScope::None;
}

/// True if `op` itself, of any dialect, may write more than shared memory and
/// the debug output. A volatile load, which counts as a write, writes nothing.
static bool mayWriteGlobalMemory(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
      op->hasTrait<OpTrait::IsTerminator>() || isa<tile::LoadOp>(op))
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) &&
           effect.getResource() == SideEffects::DefaultResource::get();
  });
}

PointerRoots tile_gpu::getAllWrittenRoots(Operation *function) {
  PointerRoots roots;
  function->walk([&](Operation *op) {
    // Barriers "write" to order other accesses.
    if (op == function || isa<tile::BarrierOp, BarrierOp>(op))
      return;
    PointerRoots written = getGlobalWrite(op).roots;
    if (written.empty() && mayWriteGlobalMemory(op))
      written = PointerRoots::getUnknown();
    roots.insert(written);
  });
  return roots;
}

//===----------------------------------------------------------------------===//
// GlobalAccesses
//===----------------------------------------------------------------------===//

void GlobalAccesses::insert(const GlobalAccess &access, bool isOrderedInWarp) {
  if (access.roots.empty())
    return;
  auto getKey = [](Type spread, bool isOrdered) {
    return std::make_pair(spread.getAsOpaquePointer(), isOrdered);
  };
  auto key = getKey(access.spread, isOrderedInWarp);
  auto *place = llvm::find_if(entries, [&](const Entry &entry) {
    return getKey(entry.access.spread, entry.isOrderedInWarp) >= key;
  });
  if (place != entries.end() &&
      getKey(place->access.spread, place->isOrderedInWarp) == key)
    place->access.roots.insert(access.roots);
  else
    entries.insert(place, {access, isOrderedInWarp});
}

void GlobalAccesses::insert(const GlobalAccesses &other) {
  for (const Entry &entry : other.entries)
    insert(entry.access, entry.isOrderedInWarp);
}

void GlobalAccesses::orderInWarp() {
  for (const Entry &entry : std::exchange(entries, {}))
    insert(entry.access, /*isOrderedInWarp=*/true);
}

/// `getScope` is asked for the spreads of an access here and of one in `later`.
BarrierScope GlobalAccesses::getScopeBefore(
    const GlobalAccesses &later,
    function_ref<BarrierScope(Type, Type)> getScope) const {
  BarrierScope scope = BarrierScope::None;
  for (const Entry &first : entries)
    for (const Entry &second : later.entries) {
      if (!first.access.roots.overlaps(second.access.roots))
        continue;
      BarrierScope needed = getScope(first.access.spread, second.access.spread);
      if (needed != BarrierScope::Warp || !first.isOrderedInWarp)
        scope = std::max(scope, needed);
    }
  return scope;
}

BarrierScope GlobalAccesses::getScopeBeforeWrites(const GlobalAccesses &writes,
                                                  BarrierScope widest) const {
  return getScopeBefore(writes, [&](Type load, Type write) {
    return getScopeBetween(load, write, widest);
  });
}

BarrierScope GlobalAccesses::getScopeBetweenWrites(const GlobalAccesses &writes,
                                                   BarrierScope widest) const {
  return getScopeBefore(writes, [&](Type first, Type second) {
    // Assembly writes where its thread has loaded from.
    return second && first != second ? widest : BarrierScope::None;
  });
}

BarrierScope GlobalAccesses::getScopeBeforeLoads(const GlobalAccesses &loads,
                                                 BarrierScope widest) const {
  return getScopeBefore(loads, [&](Type write, Type load) {
    return getScopeBetween(load, write, widest);
  });
}
