//===- CombineRegion.cpp - Inline the region of a reduction ---------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CombineRegion.h"
#include "ThreadExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;

/// Independent chains of combinations in a thread: enough to hide the latency
/// of an arithmetic instruction, and long enough each for a product to fuse
/// with the addition that takes it.
static constexpr size_t kNumChains = 4;

LogicalResult CombineRegion::distribute() {
  // Patterns move the insertion point of the rewriter that they share.
  OpBuilder::InsertionGuard guard(rewriter);
  if (succeeded(rewriter.legalize(&region)))
    return success();
  region.walk([](Operation *op) {
    if (!isa_and_nonnull<tile::TileDialect>(op->getDialect()) ||
        isa<tile::YieldOp>(op))
      return WalkResult::advance();
    op->emitOpError("is not supported in a region on scalars");
    return WalkResult::interrupt();
  });
  return failure();
}

Tuple CombineRegion::combine(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  Block &body = region.front();
  IRMapping mapping;
  size_t numSources = lhs.size();
  mapping.map(body.getArguments().take_front(numSources), lhs);
  mapping.map(body.getArguments().drop_front(numSources), rhs);
  for (Operation &op : body.without_terminator()) {
    // What the driver left between a pointer and its converted form: what uses
    // it uses the converted form.
    if (isa<UnrealizedConversionCastOp>(op) && op.getNumOperands() == 1 &&
        op.getNumResults() == 1)
      mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    else
      rewriter.clone(op, mapping);
  }
  Tuple result;
  for (Value yielded : body.getTerminator()->getOperands())
    result.push_back(mapping.lookupOrDefault(yielded));
  return result;
}

Tuple CombineRegion::combineAll(ArrayRef<Tuple> tuples) {
  SmallVector<Tuple> chains;
  size_t length = llvm::divideCeil(tuples.size(), kNumChains);
  for (size_t first = 0; first < tuples.size(); first += length) {
    ArrayRef<Tuple> part =
        tuples.slice(first, std::min(length, tuples.size() - first));
    Tuple sum = part.front();
    for (const Tuple &tuple : part.drop_front())
      sum = combine(sum, tuple);
    chains.push_back(std::move(sum));
  }
  while (chains.size() > 1) {
    SmallVector<Tuple> next;
    for (size_t i = 0; i + 1 < chains.size(); i += 2)
      next.push_back(combine(chains[i], chains[i + 1]));
    if (chains.size() % 2 != 0)
      next.push_back(chains.back());
    chains = std::move(next);
  }
  return chains.front();
}

/// True if the operands of a binary op can change places. Intrinsics of LLVM do
/// not have the trait.
static bool isCommutativeOp(Operation *op) {
  return op->hasTrait<OpTrait::IsCommutative>() ||
         isa<LLVM::MaximumOp, LLVM::MinimumOp, LLVM::MaxNumOp, LLVM::MinNumOp,
             LLVM::SMaxOp, LLVM::SMinOp, LLVM::UMaxOp, LLVM::UMinOp>(op);
}

namespace {
/// Compares values of a region with each other's mirror images: a value's is
/// the one that it becomes if the two tuples change places.
class MirrorImages {
public:
  explicit MirrorImages(Block &body) : numSources(body.getNumArguments() / 2) {}

  /// True if `b` is known to be the mirror image of `a`.
  bool isImage(Value a, Value b) {
    auto [it, isNew] = known.try_emplace({a, b}, false);
    if (!isNew)
      return it->second;
    bool result = compare(a, b);
    known[{a, b}] = result;
    return result;
  }

private:
  bool compare(Value a, Value b) {
    auto argA = dyn_cast<BlockArgument>(a), argB = dyn_cast<BlockArgument>(b);
    if (argA && argB)
      return (argA.getArgNumber() + numSources) % (2 * numSources) ==
             argB.getArgNumber();
    if (argA || argB)
      return false;
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (x->getName() != y->getName() || x->getNumRegions() != 0 ||
        cast<OpResult>(a).getResultNumber() !=
            cast<OpResult>(b).getResultNumber() ||
        a.getType() != b.getType() ||
        x->getAttrDictionary() != y->getAttrDictionary() ||
        x->getNumOperands() != y->getNumOperands())
      return false;
    auto areImages = [&](auto from, auto to) {
      return llvm::all_of_zip(from, to,
                              [&](Value v, Value w) { return isImage(v, w); });
    };
    return areImages(x->getOperands(), y->getOperands()) ||
           (isCommutativeOp(x) &&
            areImages(x->getOperands(), llvm::reverse(y->getOperands())));
  }

  unsigned numSources;
  llvm::DenseMap<std::pair<Value, Value>, bool> known;
};
} // namespace

/// True if a later pass may treat the operands of a sum unequally: of two
/// products only one can fuse with the addition.
static bool mayFuse(Operation &op) {
  if (isa<arith::MulFOp>(op))
    return true;
  auto fastMath = dyn_cast<arith::ArithFastMathInterface>(op);
  // Some ops need not have the attribute.
  arith::FastMathFlagsAttr flags =
      fastMath ? fastMath.getFastMathFlagsAttr() : nullptr;
  return flags && arith::bitEnumContainsAny(flags.getValue(),
                                            arith::FastMathFlags::reassoc);
}

bool CombineRegion::isCommutative() const {
  Block &body = region.front();
  Operation *yield = body.getTerminator();
  bool isOneOp = body.getOperations().size() == 2;
  if (!isOneOp && llvm::any_of(body.without_terminator(), mayFuse))
    return false;
  MirrorImages images(body);
  return llvm::all_of(yield->getOperands(), [&](Value value) {
    return images.isImage(value, value);
  });
}

int64_t tile_gpu::getNumCombineOps(Region &region) {
  return llvm::count_if(region.front().without_terminator(), [](Operation &op) {
    return !op.hasTrait<OpTrait::ConstantLike>() &&
           !isa<UnrealizedConversionCastOp>(op);
  });
}

Tuple tile_gpu::selectTuple(OpBuilder &builder, Location loc, Value condition,
                            ArrayRef<Value> a, ArrayRef<Value> b) {
  Tuple result;
  for (auto [first, second] : llvm::zip_equal(a, b))
    result.push_back(
        first == second
            ? first
            : arith::SelectOp::create(builder, loc, condition, first, second)
                  .getResult());
  return result;
}

SmallVector<Tuple> tile_gpu::shuffleTuples(OpBuilder &builder, Location loc,
                                           ArrayRef<Tuple> tuples,
                                           gpu::ShuffleMode mode, Value operand,
                                           int64_t numLanes) {
  SmallVector<Tuple> result(tuples.size());
  if (tuples.empty())
    return result;
  // One source after the other: its elements have one type, so narrow ones
  // share a shuffle.
  for (size_t source = 0; source < tuples.front().size(); ++source) {
    SmallVector<Value> scalars;
    for (const Tuple &tuple : tuples)
      scalars.push_back(tuple[source]);
    scalars = shuffle(builder, loc, scalars, mode, operand, numLanes);
    for (auto [tuple, scalar] : llvm::zip_equal(result, scalars))
      tuple.push_back(scalar);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

static bool isPointer(Type type) {
  return isa<tile::PtrType>(getElementTypeOrSelf(type));
}

/// A pointer (or a tile of them) as an integer, others as they are.
static Value toInteger(OpBuilder &builder, Location loc, Value value) {
  if (!isPointer(value.getType()))
    return value;
  Type type = tile::getSameShape(value.getType(), builder.getI64Type());
  return tile::PtrToIntOp::create(builder, loc, type, value);
}

static Value fromInteger(OpBuilder &builder, Location loc, Value value,
                         Type type) {
  if (!isPointer(type))
    return value;
  return tile::IntToPtrOp::create(builder, loc, type, value);
}

namespace {
/// A reduction or scan of pointers as one of integers. The region's arguments
/// then have types that distribution does not change, and the region can be
/// distributed in place.
template <typename Op>
struct CombineAsIntegers : public OpConversionPattern<Op> {
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  CombineAsIntegers(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern<Op>(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (llvm::none_of(op->getOperandTypes(), isPointer))
      return rewriter.notifyMatchFailure(op, "no pointers");
    Location loc = op.getLoc();
    SmallVector<Value> sources;
    for (Value source : op.getSources())
      sources.push_back(toInteger(rewriter, loc, source));
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(isPointer(type)
                          ? tile::getSameShape(type, rewriter.getI64Type())
                          : type);
    Operation *created = Operation::create(
        loc, op->getName(), types, sources, op->getDiscardableAttrDictionary(),
        op->getPropertiesStorage(), BlockRange(), /*numRegions=*/1);
    rewriter.insert(created);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      cloneBody(op, created->getRegion(0), rewriter);
    }
    SmallVector<Value> results;
    for (auto [result, type] :
         llvm::zip_equal(created->getResults(), op->getResultTypes()))
      results.push_back(fromInteger(rewriter, loc, result, type));
    rewriter.replaceOp(op, results);
    return success();
  }

  static void cloneBody(Op op, Region &region,
                        ConversionPatternRewriter &rewriter) {
    Block &body = op.getCombine().front();
    Location loc = op.getLoc();
    SmallVector<Type> types;
    for (Type type : body.getArgumentTypes())
      types.push_back(isPointer(type) ? rewriter.getI64Type() : type);
    Block *block = rewriter.createBlock(
        &region, {}, types, SmallVector<Location>(types.size(), loc));
    IRMapping mapping;
    for (auto [old, arg] :
         llvm::zip_equal(body.getArguments(), block->getArguments()))
      mapping.map(old, fromInteger(rewriter, loc, arg, old.getType()));
    for (Operation &inner : body.without_terminator())
      rewriter.clone(inner, mapping);
    SmallVector<Value> values;
    for (Value value : body.getTerminator()->getOperands())
      values.push_back(
          toInteger(rewriter, loc, mapping.lookupOrDefault(value)));
    tile::YieldOp::create(rewriter, loc, values);
  }
};
} // namespace

void tile_gpu::populateCombineRegionPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    ConversionTarget &target) {
  patterns
      .add<CombineAsIntegers<tile::ReduceOp>, CombineAsIntegers<tile::ScanOp>>(
          converter, patterns.getContext());
  target.addDynamicallyLegalOp<tile::YieldOp>([&](tile::YieldOp op) {
    return converter.isLegal(op->getOperandTypes());
  });
}
