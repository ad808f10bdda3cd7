//===- DistributeScan.cpp - Distribute tile.scan --------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along the axis of a scan, a thread holds runs of consecutive elements; the
// lanes' runs follow each other, then the warps', and the whole *span* of a
// block repeats. Each thread scans its runs, the lanes scan the sums of the
// runs, and each warp writes the sum of all its lanes to scratch memory:
//
//   source k: [row][span][warp's place along the axis], rows in row-major order
//
// After one barrier every thread combines what comes before each of its runs
// (the spans before, the warps before, the lanes before) with the elements of
// the run. A reverse scan is the same with all places counted from the end.
// Operands stay in order everywhere, so combinations need not be commutative.
//
// A tile whose layout is not like that is converted first and converted back,
// and so is one whose warps have so few elements of a row that their sums would
// take more memory than the conversion.
//
//===----------------------------------------------------------------------===//

#include "AxisSpread.h"
#include "CombineRegion.h"
#include "DistributePatterns.h"
#include "LayoutConversion.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// Scratch memory begins, and the part of each source begins, at a multiple of
/// the widest access.
static constexpr int64_t kPartAlignment = 16;

namespace {

/// The spread of a scan's axis, if it is register, lane, warp from the lowest
/// coordinate bits on, and registers again above.
struct ScanSpread {
  /// Consecutive elements of a thread.
  int64_t run = 1;
  /// What each bit of the lane and warp contributes to its place along the
  /// axis.
  SmallVector<int32_t> lanePlaces, warpPlaces;
  uint32_t laneMask = 0, warpMask = 0;

  int64_t getNumLanes() const { return int64_t(1) << llvm::popcount(laneMask); }
  int64_t getNumWarps() const { return int64_t(1) << llvm::popcount(warpMask); }
  int64_t getSpan() const { return run * getNumLanes() * getNumWarps(); }
};

std::optional<ScanSpread> getScanSpread(const Layout &layout, unsigned axis) {
  AxisSpread axisSpread = getAxisSpread(layout, axis);
  if (!axisSpread.isSeparate || axisSpread.isAcrossBlocks)
    return std::nullopt;
  // The one bit that sets each bit of the coordinate.
  int64_t extent = layout.getBaseTile()[axis];
  using Owner = std::pair<HardwareDim, unsigned>;
  SmallVector<std::optional<Owner>> owners(llvm::Log2_64(extent));
  for (HardwareDim dim :
       {HardwareDim::Register, HardwareDim::Lane, HardwareDim::Warp})
    for (auto [bit, basis] : llvm::enumerate(layout.getBases(dim))) {
      int32_t coord = basis[axis];
      if (coord == 0)
        continue;
      if (!llvm::isPowerOf2_32(coord) || owners[llvm::Log2_32(coord)])
        return std::nullopt;
      owners[llvm::Log2_32(coord)] = Owner(dim, bit);
    }

  ScanSpread spread;
  spread.laneMask = axisSpread.laneMask;
  spread.warpMask = axisSpread.warpMask;
  spread.lanePlaces.resize(layout.getBases(HardwareDim::Lane).size(), 0);
  spread.warpPlaces.resize(layout.getBases(HardwareDim::Warp).size(), 0);
  size_t bit = 0;
  auto isNext = [&](HardwareDim dim) {
    return bit < owners.size() && owners[bit] && owners[bit]->first == dim;
  };
  for (; isNext(HardwareDim::Register); ++bit)
    spread.run *= 2;
  for (int32_t place = 1; isNext(HardwareDim::Lane); ++bit, place *= 2)
    spread.lanePlaces[owners[bit]->second] = place;
  for (int32_t place = 1; isNext(HardwareDim::Warp); ++bit, place *= 2)
    spread.warpPlaces[owners[bit]->second] = place;
  while (isNext(HardwareDim::Register))
    ++bit;
  if (bit != owners.size())
    return std::nullopt;
  return spread;
}

/// Where the sums of warps lie in scratch memory.
struct ScanScratch {
  ScanScratch(tile::ScanOp op, const ScanSpread &spread) {
    auto type = cast<RankedTensorType>(op.getSources().front().getType());
    int64_t count =
        type.getNumElements() / spread.getSpan() * spread.getNumWarps();
    for (Value source : op.getSources()) {
      offsets.push_back(bytes);
      Type element = cast<RankedTensorType>(source.getType()).getElementType();
      bytes += llvm::alignTo(count * getElementBytes(element), kPartAlignment);
    }
  }
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// In which layout a scan runs, and the scratch memory that takes.
struct ScanPlan {
  explicit ScanPlan(tile::ScanOp op);

  /// Where the tile is converted to and back from, if its own layout will not
  /// do.
  std::optional<Layout> workLayout;
  std::optional<ScanSpread> spread;
  int64_t bytes = 0;

private:
  void convert(tile::ScanOp op, const Layout &layout, RankedTensorType type);
};

/// Where few elements of a row belong to one warp, their sums are as many as
/// the elements. Above this size a conversion, which takes one source at a
/// time, is looked at.
constexpr int64_t kLargeScratch = 16384;

int64_t getWarpSumBytes(tile::ScanOp op, const ScanSpread &spread) {
  return spread.getNumWarps() == 1 ? 0 : ScanScratch(op, spread).bytes;
}

ScanPlan::ScanPlan(tile::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getSources().front().getType());
  const Layout &layout = getLayoutAttr(type).getLayout();
  spread = getScanSpread(layout, op.getAxis());
  if (spread)
    bytes = getWarpSumBytes(op, *spread);
  if (spread && bytes <= kLargeScratch)
    return;
  ScanPlan direct = *this;
  convert(op, layout, type);
  if (direct.spread && (!spread || direct.bytes <= bytes))
    *this = direct;
}

void ScanPlan::convert(tile::ScanOp op, const Layout &layout,
                       RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  workLayout = getWorkLayout(layout, shape, op.getAxis());
  // A blocked layout has a spread: each bit moves along one dimension, those
  // of the lane before those of the warp.
  spread = getScanSpread(*workLayout, op.getAxis());
  if (!spread)
    return;
  bytes = getWarpSumBytes(op, *spread);
  for (Value source : op.getSources()) {
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    bytes = std::max({bytes,
                      getConversionBytes(layout, *workLayout, shape, element),
                      getConversionBytes(*workLayout, layout, shape, element)});
  }
}

/// The combination of all that comes before some element; there may be nothing.
struct Prefix {
  Tuple values;
  /// True where there is something before; null if everywhere.
  Value isPresent;

  bool isEmpty() const { return values.empty(); }
};

/// One run of consecutive elements of a thread.
struct Run {
  size_t row;
  int64_t span;
  SmallVector<int64_t> registers;
  /// The scan of the run by itself.
  SmallVector<Tuple> elements;
};

class Scanner {
public:
  Scanner(ConversionPatternRewriter &rewriter, tile::ScanOp op,
          DistributionContext &context, const Layout &layout,
          ArrayRef<int64_t> shape, const ScanSpread &spread)
      : rewriter(rewriter), op(op), context(context), loc(op.getLoc()),
        combine(rewriter, op.getCombine()), layout(layout), shape(shape),
        spread(spread), numSpans(shape[op.getAxis()] / spread.getSpan()) {}

  /// The results, by source and register.
  FailureOr<SmallVector<Registers>> scan(ArrayRef<Registers> sources);

private:
  void scanRuns(ArrayRef<Registers> sources);
  void scanLanes();
  LogicalResult scanWarps();
  void writeWarpSums(const ScanScratch &scratch, Value base);
  SmallVector<SmallVector<Tuple>> readWarpSums(const ScanScratch &scratch,
                                               Value base);
  void addSpans();
  SmallVector<Registers> finish(size_t numSources, size_t numRegisters);

  Prefix join(const Prefix &first, const Prefix &second);
  Tuple apply(const Prefix &prefix, const Tuple &element);
  Value getLaneAt(Value place);
  TileAccess getAccess(Value base, Type scalarType);
  /// For each row, a register of the layout without the axis that holds it.
  SmallVector<int64_t> getRowRegisters();

  ConversionPatternRewriter &rewriter;
  tile::ScanOp op;
  DistributionContext &context;
  Location loc;
  CombineRegion combine;
  const Layout &layout;
  ArrayRef<int64_t> shape;
  const ScanSpread &spread;
  int64_t numSpans;

  SmallVector<Coords> rows;
  /// By row, then by span in the order of the scan.
  SmallVector<Run> runs;
  /// The sum of each run and of all the same runs of the lanes before.
  SmallVector<Tuple> laneSums;
  /// What comes before each run in its warp, in its span, and at all.
  SmallVector<Prefix> prefixes;
  /// The sum of the whole span of each run.
  SmallVector<Tuple> spanSums;
  /// The places of the lane and the warp along the axis, in scan order.
  Value lanePlace, warpPlace;
};

void Scanner::scanRuns(ArrayRef<Registers> sources) {
  SmallVector<Row> all = getRows(layout, shape, op.getAxis());
  for (auto [index, row] : llvm::enumerate(all)) {
    rows.push_back(row.coords);
    if (op.getReverse())
      std::reverse(row.elements.begin(), row.elements.end());
    for (auto [place, element] : llvm::enumerate(row.elements)) {
      if (place % spread.run == 0)
        runs.push_back(
            {index, static_cast<int64_t>(place) / spread.run, {}, {}});
      Run &run = runs.back();
      Tuple tuple;
      for (const Registers &source : sources)
        tuple.push_back(source[element.second]);
      if (!run.elements.empty())
        tuple = combine.combine(run.elements.back(), tuple);
      run.registers.push_back(element.second);
      run.elements.push_back(tuple);
    }
  }
  for (const Run &run : runs)
    laneSums.push_back(run.elements.back());
  prefixes.resize(runs.size());
}

/// The lane at a place along the axis (in scan order) with the other bits of
/// this lane. Bits of `place` above the places are ignored.
Value Scanner::getLaneAt(Value place) {
  int32_t last = spread.getNumLanes() - 1;
  if (op.getReverse())
    place = arith::XOrIOp::create(rewriter, loc, place,
                                  createI32(rewriter, loc, last));
  SmallVector<int32_t> bits(llvm::popcount(spread.laneMask));
  for (auto [bit, contribution] : llvm::enumerate(spread.lanePlaces))
    if (contribution != 0)
      bits[llvm::Log2_32(contribution)] = int32_t(1) << bit;
  Value lane = emitLinearMap(rewriter, loc, place, bits);
  Value rest =
      arith::AndIOp::create(rewriter, loc, context.getLaneId(),
                            createI32(rewriter, loc,
                                      int32_t(context.getNumLanes() - 1) &
                                          ~int32_t(spread.laneMask)));
  return arith::OrIOp::create(rewriter, loc, lane, rest);
}

void Scanner::scanLanes() {
  int64_t numLanes = spread.getNumLanes();
  if (numLanes == 1)
    return;
  lanePlace =
      emitLinearMap(rewriter, loc, context.getLaneId(), spread.lanePlaces,
                    op.getReverse() ? int32_t(numLanes - 1) : 0);
  auto fetch = [&](int64_t distance) {
    Value place = arith::SubIOp::create(rewriter, loc, lanePlace,
                                        createI32(rewriter, loc, distance));
    return shuffleTuples(rewriter, loc, laneSums, gpu::ShuffleMode::IDX,
                         getLaneAt(place), context.getNumLanes());
  };
  auto isFrom = [&](int64_t place) {
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                 lanePlace, createI32(rewriter, loc, place))
        .getResult();
  };
  for (int64_t distance = 1; distance < numLanes; distance *= 2) {
    SmallVector<Tuple> before = fetch(distance);
    Value hasBefore = isFrom(distance);
    for (auto [sum, other] : llvm::zip_equal(laneSums, before))
      sum = selectTuple(rewriter, loc, hasBefore, combine.combine(other, sum),
                        sum);
  }
  Value isPresent = isFrom(1);
  for (auto [prefix, before] : llvm::zip_equal(prefixes, fetch(1)))
    prefix = {before, isPresent};
}

TileAccess Scanner::getAccess(Value base, Type scalarType) {
  SmallVector<int64_t> rowShape = dropAxis(shape, op.getAxis());
  int64_t pitch = numSpans * spread.getNumWarps() * getElementBytes(scalarType);
  return TileAccess(
      rewriter, loc, context,
      LayoutAttr::get(op.getContext(), layout.projectOut(op.getAxis())),
      rowShape, BufferMap::getRowMajor(rowShape, pitch), base);
}

SmallVector<int64_t> Scanner::getRowRegisters() {
  std::map<Coords, int64_t> registerOf;
  for (auto [reg, coords] :
       llvm::enumerate(layout.projectOut(op.getAxis())
                           .getRegisterCoords(dropAxis(shape, op.getAxis()))))
    registerOf.try_emplace(coords, reg);
  SmallVector<int64_t> result;
  for (const Coords &coords : rows)
    result.push_back(registerOf.at(coords));
  return result;
}

void Scanner::writeWarpSums(const ScanScratch &scratch, Value base) {
  Layout rowLayout = layout.projectOut(op.getAxis());
  // The last lane along the axis has the sum of the warp.
  uint32_t laneMask =
      rowLayout.getFreeMask(HardwareDim::Lane) | spread.laneMask;
  uint32_t warpCopies =
      rowLayout.getFreeMask(HardwareDim::Warp) & ~spread.warpMask;
  Value isWriter =
      emitAnd(rewriter, loc,
              emitBitsEqual(rewriter, loc, context.getLaneId(), laneMask,
                            op.getReverse() ? 0 : spread.laneMask),
              emitBitsEqual(rewriter, loc, context.getWarpId(), warpCopies));
  SmallVector<int64_t> rowRegisters = getRowRegisters();
  emitIf(rewriter, loc, isWriter, [&] {
    for (auto [source, offset] : llvm::enumerate(scratch.offsets)) {
      Type type = laneSums.front()[source].getType();
      int64_t bytes = getElementBytes(type);
      Value place = arith::MulIOp::create(rewriter, loc, warpPlace,
                                          createI32(rewriter, loc, bytes));
      Value part = createPtrAdd(rewriter, loc, base, offset);
      TileAccess access =
          getAccess(createPtrAdd(rewriter, loc, part, place), type);
      for (auto [run, sum] : llvm::zip_equal(runs, laneSums)) {
        Value ptr = access.getPtr(rowRegisters[run.row]);
        ptr = createPtrAdd(rewriter, loc, ptr,
                           run.span * spread.getNumWarps() * bytes);
        storeVector(rewriter, loc, sum[source], ptr);
      }
    }
  });
}

/// The sums of all warps, by run and place.
SmallVector<SmallVector<Tuple>>
Scanner::readWarpSums(const ScanScratch &scratch, Value base) {
  int64_t numWarps = spread.getNumWarps();
  SmallVector<int64_t> rowRegisters = getRowRegisters();
  SmallVector<SmallVector<Tuple>> sums(runs.size(),
                                       SmallVector<Tuple>(numWarps));
  for (auto [source, offset] : llvm::enumerate(scratch.offsets)) {
    Type type = laneSums.front()[source].getType();
    int64_t bytes = getElementBytes(type);
    int64_t width = std::min(numWarps, kPartAlignment / bytes);
    TileAccess access =
        getAccess(createPtrAdd(rewriter, loc, base, offset), type);
    for (auto [run, warps] : llvm::zip_equal(runs, sums)) {
      Value ptr = access.getPtr(rowRegisters[run.row]);
      for (int64_t warp = 0; warp < numWarps; warp += width) {
        Value at = createPtrAdd(rewriter, loc, ptr,
                                (run.span * numWarps + warp) * bytes);
        for (auto [i, value] :
             llvm::enumerate(loadVector(rewriter, loc, type, width, at)))
          warps[warp + i].push_back(value);
      }
    }
  }
  return sums;
}

LogicalResult Scanner::scanWarps() {
  int64_t numWarps = spread.getNumWarps();
  if (numWarps == 1)
    return success();
  FailureOr<Value> base = context.getScratchPtr(rewriter, op);
  if (failed(base))
    return failure();
  warpPlace =
      emitLinearMap(rewriter, loc, context.getWarpId(), spread.warpPlaces,
                    op.getReverse() ? int32_t(numWarps - 1) : 0);
  ScanScratch scratch(op, spread);
  writeWarpSums(scratch, *base);
  gpu::BarrierOp::create(rewriter, loc);
  SmallVector<SmallVector<Tuple>> sums = readWarpSums(scratch, *base);

  SmallVector<Value> isAt(numWarps);
  for (int64_t warp = 2; warp < numWarps; ++warp)
    isAt[warp] =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                              warpPlace, createI32(rewriter, loc, warp));
  Value isPresent =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, warpPlace,
                            createI32(rewriter, loc, 0));
  for (auto [warps, prefix] : llvm::zip_equal(sums, prefixes)) {
    // The first warp has no prefix, and the second the first one's sum.
    Tuple sum = warps.front(), before = sum;
    for (int64_t warp = 1; warp < numWarps; ++warp) {
      if (warp > 1)
        before = selectTuple(rewriter, loc, isAt[warp], sum, before);
      // The last sum counts only if another span follows.
      if (warp + 1 < numWarps || numSpans > 1)
        sum = combine.combine(sum, warps[warp]);
    }
    prefix = join({before, isPresent}, prefix);
    spanSums.push_back(sum);
  }
  return success();
}

/// Adds the sums of the spans before.
void Scanner::addSpans() {
  if (numSpans == 1)
    return;
  if (spanSums.empty()) {
    spanSums = laneSums;
    if (spread.getNumLanes() > 1) {
      Value last = createI32(rewriter, loc, spread.getNumLanes() - 1);
      spanSums = shuffleTuples(rewriter, loc, laneSums, gpu::ShuffleMode::IDX,
                               getLaneAt(last), context.getNumLanes());
    }
  }
  Prefix carry;
  for (size_t index = 0; index < runs.size(); ++index) {
    if (runs[index].span == 0)
      carry = {};
    prefixes[index] = join(carry, prefixes[index]);
    if (runs[index].span + 1 < numSpans)
      carry = join(carry, {spanSums[index], Value()});
  }
}

Prefix Scanner::join(const Prefix &first, const Prefix &second) {
  if (first.isEmpty())
    return second;
  if (second.isEmpty())
    return first;
  Tuple values = combine.combine(first.values, second.values);
  if (second.isPresent)
    values = selectTuple(rewriter, loc, second.isPresent, values, first.values);
  if (first.isPresent)
    values = selectTuple(rewriter, loc, first.isPresent, values, second.values);
  if (!first.isPresent || !second.isPresent)
    return {values, Value()};
  return {values, arith::OrIOp::create(rewriter, loc, first.isPresent,
                                       second.isPresent)};
}

Tuple Scanner::apply(const Prefix &prefix, const Tuple &element) {
  if (prefix.isEmpty())
    return element;
  Tuple sum = combine.combine(prefix.values, element);
  if (!prefix.isPresent)
    return sum;
  return selectTuple(rewriter, loc, prefix.isPresent, sum, element);
}

SmallVector<Registers> Scanner::finish(size_t numSources, size_t numRegisters) {
  SmallVector<Registers> results(numSources, Registers(numRegisters));
  for (auto [run, prefix] : llvm::zip_equal(runs, prefixes))
    for (auto [reg, element] : llvm::zip_equal(run.registers, run.elements))
      for (auto [list, value] :
           llvm::zip_equal(results, apply(prefix, element)))
        list[reg] = value;
  // Registers that hold copies of others.
  std::map<Coords, int64_t> registerOf;
  for (auto [reg, coords] : llvm::enumerate(layout.getRegisterCoords(shape))) {
    int64_t first = registerOf.try_emplace(coords, reg).first->second;
    for (Registers &list : results)
      if (!list[reg])
        list[reg] = list[first];
  }
  return results;
}

FailureOr<SmallVector<Registers>> Scanner::scan(ArrayRef<Registers> sources) {
  scanRuns(sources);
  scanLanes();
  if (failed(scanWarps()))
    return failure();
  addSpans();
  return finish(sources.size(), sources.front().size());
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

struct DistributeScan : public OpConversionPattern<tile::ScanOp> {
  DistributeScan(const TypeConverter &converter, MLIRContext *mlirContext,
                 DistributionContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::ScanOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getSources().front().getType());
    const Layout &layout = getLayoutAttr(type).getLayout();
    if (layout.getSize(HardwareDim::Block) > 1)
      return op.emitOpError("scans between the blocks of a cluster");
    if (failed(CombineRegion(rewriter, op.getCombine()).distribute()))
      return failure();
    SmallVector<Registers> sources;
    for (ValueRange source : adaptor.getSources())
      sources.emplace_back(source);

    ScanPlan plan(op);
    if (!plan.spread)
      return op.emitOpError("found no layout in which axis ")
             << op.getAxis() << " is in order";
    FailureOr<SmallVector<Registers>> results =
        plan.workLayout ? scanConverted(plan, op, sources, rewriter)
                        : Scanner(rewriter, op, context, layout,
                                  type.getShape(), *plan.spread)
                              .scan(sources);
    if (failed(results))
      return failure();
    replaceWithRegisters(rewriter, op, std::move(*results));
    return success();
  }

  FailureOr<SmallVector<Registers>>
  scanConverted(const ScanPlan &plan, tile::ScanOp op,
                SmallVector<Registers> sources,
                ConversionPatternRewriter &rewriter) const {
    auto type = cast<RankedTensorType>(op.getSources().front().getType());
    ArrayRef<int64_t> shape = type.getShape();
    const Layout &layout = getLayoutAttr(type).getLayout();
    const Layout &work = *plan.workLayout;
    // All steps share the scratch memory: each begins when all threads are done
    // with the one before.
    bool isFirst = true;
    auto separate = [&] {
      if (!isFirst)
        gpu::BarrierOp::create(rewriter, op.getLoc());
      isFirst = false;
    };
    auto convert = [&](Registers &registers, const Layout &from,
                       const Layout &to) {
      separate();
      FailureOr<Registers> converted =
          convertRegisters(rewriter, op, context, registers, from, to, shape);
      if (succeeded(converted))
        registers = *converted;
      return LogicalResult(converted);
    };
    for (Registers &source : sources)
      if (failed(convert(source, layout, work)))
        return failure();
    separate();
    auto results =
        Scanner(rewriter, op, context, work, shape, *plan.spread).scan(sources);
    if (failed(results))
      return failure();
    for (Registers &list : *results)
      if (failed(convert(list, work, layout)))
        return failure();
    return results;
  }

  DistributionContext &context;
};

} // namespace

void tile_gpu::populateScanPatterns(const DistributionTypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    DistributionContext &context) {
  patterns.add<DistributeScan>(converter, patterns.getContext(), context);
}

int64_t tile_gpu::getScanScratchBytes(tile::ScanOp op) {
  return getLayoutAttr(op.getSources().front().getType()) ? ScanPlan(op).bytes
                                                          : 0;
}
