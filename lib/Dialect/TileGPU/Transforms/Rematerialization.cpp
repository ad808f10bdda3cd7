//===- Rematerialization.cpp - Compute again instead of moving --*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rematerialization.h"
#include "TileDialect/Analysis/GlobalHazards.h"
#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

/// A slice with more values is not worth looking at, and the limit keeps the
/// pass linear in the size of the kernel.
constexpr size_t kMaxSlice = 64;

/// Functions of `math`, divisions and the like take many instructions.
constexpr int64_t kExpensiveOp = 8;

/// The iter_arg of an scf.for that `value` is a result of, or `value` itself.
Value getCarrier(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp();
  return loop ? Value(loop.getRegionIterArg(result.getResultNumber())) : value;
}

/// The loop that carries `value` as an iter_arg, and its number.
scf::ForOp getLoop(Value value, unsigned &number) {
  auto arg = dyn_cast<BlockArgument>(value);
  auto loop =
      arg ? dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || arg.getArgNumber() < loop.getNumInductionVars())
    return {};
  number = arg.getArgNumber() - loop.getNumInductionVars();
  return loop;
}

int64_t getOpWeight(Operation *op) {
  if (isCreation(op))
    return 0;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
      isa<tile::ExternElementwiseOp, tile::InlineAsmElementwiseOp,
          tile::MapElementwiseOp, tile::PreciseDivOp, tile::PreciseSqrtOp>(op))
    return kExpensiveOp;
  return 1;
}

/// Ops that give the same results when they run twice, in a kernel that writes
/// to `written`. A load in another layout reads an element in another thread,
/// which nothing orders to a write of the element by the thread that held it.
bool isRepeatable(Operation *op, const PointerRoots &written) {
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    PointerRoots read(load.getPtr());
    return !load.getIsVolatile() && read.isKnown() && !read.overlaps(written);
  }
  return op->getNumRegions() == 0 && isPure(op);
}

/// How far a slice goes back.
enum class Reach {
  /// Loads are repeated.
  Loads,
  /// Loaded values are converted.
  Computations,
  /// Only one op: a conversion before a widening costs less than one after it.
  OneOp,
};

/// The values that one conversion's source depends on, with the layouts in
/// which they are to be computed.
class Slice {
public:
  Slice(LayoutCost &cost, const DenseMap<Operation *, MemoryAccess> &accesses,
        const PointerRoots &written, Reach reach)
      : cost(cost), accesses(accesses), written(written), reach(reach) {}

  /// Collects the slice of `convert`; failure if there is none.
  LogicalResult collect(ConvertLayoutOp convert);
  /// What computing the slice costs.
  int64_t getCost(ConvertLayoutOp convert);
  /// Computes it; returns the source of the conversion in its result's layout.
  Value emit(ConvertLayoutOp convert);

private:
  LogicalResult visit(Value value, LayoutAttr layout);
  LogicalResult visitOperands(Operation *op, LayoutAttr layout);
  LogicalResult addLeaf(Value value, LayoutAttr layout);
  /// `value` of the slice in `layout`.
  Value emitValue(Value value, LayoutAttr layout);
  Value emitOp(Operation *op, LayoutAttr layout);
  Value emitCarried(scf::ForOp loop, unsigned number, LayoutAttr layout);

  LayoutCost &cost;
  const DenseMap<Operation *, MemoryAccess> &accesses;
  const PointerRoots &written;
  Reach reach;
  llvm::MapVector<Value, LayoutAttr> computed, leaves;
  DenseMap<Value, Value> emitted;
};

/// The layout that the operands of `op` need for a result in `layout`; null if
/// `op` cannot be computed in another layout than it has.
LayoutAttr getOperandLayout(Operation *op, LayoutAttr layout) {
  if (isElementwise(op) || isa<tile::LoadOp>(op))
    return layout;
  if (auto trans = dyn_cast<tile::TransOp>(op)) {
    SmallVector<int32_t> inverse(trans.getOrder().size());
    for (auto [i, dim] : llvm::enumerate(trans.getOrder()))
      inverse[dim] = i;
    return LayoutAttr::get(op->getContext(),
                           layout.getLayout().transpose(inverse));
  }
  return getSourceLayout(op, layout);
}

LogicalResult Slice::addLeaf(Value value, LayoutAttr layout) {
  leaves.try_emplace(value, layout);
  return success(leaves.lookup(value) == layout && !computed.count(value));
}

LogicalResult Slice::visitOperands(Operation *op, LayoutAttr layout) {
  if (isCreation(op))
    return success();
  LayoutAttr needed = getOperandLayout(op, layout);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) &&
        failed(visit(operand, needed)))
      return failure();
  return success();
}

LogicalResult Slice::visit(Value value, LayoutAttr layout) {
  if (getLayoutAttr(value.getType()) == layout)
    return success();
  value = getCarrier(value);
  auto it = computed.find(value);
  if (it != computed.end())
    return success(it->second == layout);
  if (leaves.count(value))
    return success(leaves.lookup(value) == layout);
  if (computed.size() >= kMaxSlice)
    return failure();

  unsigned number = 0;
  if (scf::ForOp loop = getLoop(value, number)) {
    computed[value] = layout;
    return success(succeeded(visit(loop.getInitArgs()[number], layout)) &&
                   succeeded(visit(loop.getYieldedValues()[number], layout)));
  }
  Operation *op = value.getDefiningOp();
  // A value that was converted already is converted from its source.
  if (auto inner = dyn_cast_or_null<ConvertLayoutOp>(op))
    return visit(inner.getSource(), layout);
  if (!op || op->getNumResults() != 1 || !isRepeatable(op, written) ||
      (!isCreation(op) && !getOperandLayout(op, layout)) ||
      (isa<tile::LoadOp>(op) &&
       (reach != Reach::Loads || !accesses.count(op))) ||
      (reach == Reach::OneOp && !computed.empty() && !isCreation(op)))
    return addLeaf(value, layout);
  computed[value] = layout;
  return visitOperands(op, layout);
}

LogicalResult Slice::collect(ConvertLayoutOp convert) {
  Value source = convert.getSource();
  LayoutAttr layout = getLayoutAttr(convert.getResult().getType());
  if (failed(visit(source, layout)))
    return failure();
  return success(computed.count(getCarrier(source)) > 0);
}

int64_t Slice::getCost(ConvertLayoutOp convert) {
  // An op that nobody else uses moves to the new layout instead of running
  // twice.
  auto isGone = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return user == convert ||
             (user->getNumResults() == 1 && computed.count(user->getResult(0)));
    });
  };
  int64_t total = 0;
  for (auto [value, layout] : computed) {
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    int64_t once = getOpWeight(op) * LayoutCost::getRegisters(type, layout);
    auto access = accesses.find(op);
    if (access != accesses.end())
      once = access->second.getCost(layout.getLayout());
    if (isGone(value)) {
      int64_t before =
          access != accesses.end()
              ? access->second.getCost(getLayoutAttr(type).getLayout())
              : getOpWeight(op) *
                    LayoutCost::getRegisters(type, getLayoutAttr(type));
      once = std::max<int64_t>(0, once - before);
    }
    total += once * LayoutCost::getFrequency(op);
  }
  for (auto [value, layout] : leaves) {
    Operation *place = value.getDefiningOp();
    if (!place)
      place = &value.getParentBlock()->front();
    total += LayoutCost::getFrequency(place) *
             cost.getConversion(cast<RankedTensorType>(value.getType()),
                                getLayoutAttr(value.getType()), layout);
  }
  return total;
}

Value Slice::emitOp(Operation *op, LayoutAttr layout) {
  LayoutAttr needed = isCreation(op) ? layout : getOperandLayout(op, layout);
  SmallVector<std::pair<unsigned, Value>> tiles;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (isa<RankedTensorType>(op->getOperand(i).getType()))
      tiles.emplace_back(i, emitValue(op->getOperand(i), needed));
  // Only now: a loop may have been made anew, with its results, on the way.
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *clone = builder.clone(*op);
  for (auto [i, tile] : tiles)
    clone->setOperand(i, tile);
  if (isCreation(op))
    setCreationLayout(clone, layout);
  else
    clone->getResult(0).setType(withLayout(
        cast<RankedTensorType>(clone->getResult(0).getType()), layout));
  return clone->getResult(0);
}

Value Slice::emitCarried(scf::ForOp loop, unsigned number, LayoutAttr layout) {
  Value arg = loop.getRegionIterArg(number);
  Value init = emitValue(loop.getInitArgs()[number], layout);
  // A loop with one more value, around the same body.
  OpBuilder builder(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(init);
  auto wider = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  wider->setAttrs(loop->getAttrDictionary());
  wider.getRegion().takeBody(loop.getRegion());
  Value newArg = wider.getBody()->addArgument(init.getType(), arg.getLoc());
  auto yield = cast<scf::YieldOp>(wider.getBody()->getTerminator());
  yield.getResultsMutable().append(newArg);
  loop->replaceAllUsesWith(wider->getResults().drop_back());
  loop.erase();
  // The loop's own values may depend on the argument.
  emitted[arg] = newArg;
  unsigned last = wider.getNumRegionIterArgs() - 1;
  Value next = emitValue(wider.getYieldedValues()[number], layout);
  // The next value may have needed another argument of this loop, and so made
  // the loop anew.
  auto owner =
      cast<scf::ForOp>(cast<BlockArgument>(newArg).getOwner()->getParentOp());
  owner.getBody()->getTerminator()->setOperand(last, next);
  return newArg;
}

Value Slice::emitValue(Value value, LayoutAttr layout) {
  if (getLayoutAttr(value.getType()) == layout)
    return value;
  if (auto convert = value.getDefiningOp<ConvertLayoutOp>())
    return emitValue(convert.getSource(), layout);
  Value carrier = getCarrier(value);
  if (!computed.count(carrier)) {
    Value &leaf = emitted[carrier];
    if (!leaf) {
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      leaf = convertTo(builder, value, layout);
    }
    return leaf;
  }
  Value result = emitted.lookup(carrier);
  unsigned number = 0;
  if (!result) {
    scf::ForOp loop = getLoop(carrier, number);
    result = loop ? emitCarried(loop, number, layout)
                  : emitOp(carrier.getDefiningOp(), layout);
    emitted[carrier] = result;
  }
  if (carrier == value)
    return result;
  // A result of the loop: the one that belongs to the new argument.
  auto arg = cast<BlockArgument>(result);
  auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
  return loop.getResult(arg.getArgNumber() - loop.getNumInductionVars());
}

Value Slice::emit(ConvertLayoutOp convert) {
  return emitValue(convert.getSource(),
                   getLayoutAttr(convert.getResult().getType()));
}

} // namespace

void tile_gpu::rematerializeConversions(
    Operation *kernel, LayoutCost &cost,
    const DenseMap<Operation *, MemoryAccess> &accesses) {
  SmallVector<ConvertLayoutOp> conversions;
  kernel->walk([&](ConvertLayoutOp op) { conversions.push_back(op); });
  PointerRoots written = getAllWrittenRoots(kernel);
  // The last ones first: what they need may be converted by an earlier one.
  for (ConvertLayoutOp convert : llvm::reverse(conversions)) {
    if (convert->use_empty())
      continue;
    auto type = cast<RankedTensorType>(convert.getSource().getType());
    int64_t now =
        LayoutCost::getFrequency(convert) *
        cost.getConversion(type, getLayoutAttr(type),
                           getLayoutAttr(convert.getResult().getType()));
    for (Reach reach : {Reach::Loads, Reach::Computations, Reach::OneOp}) {
      Slice slice(cost, accesses, written, reach);
      if (now == 0 || failed(slice.collect(convert)) ||
          slice.getCost(convert) >= now)
        continue;
      convert.getResult().replaceAllUsesWith(slice.emit(convert));
      break;
    }
  }
}
