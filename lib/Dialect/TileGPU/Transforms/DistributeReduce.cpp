//===- DistributeReduce.cpp - Distribute tile.reduce ----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is what a reduction makes one element of. Each thread combines what its
// registers hold of a row, then lanes exchange their sums by shuffles. In each
// step the lower lane of a pair has the operands in order: its own sum and the
// other's. So the lane whose bits along the axis are all zero ends up with the
// sum of the warp, combined in order, and what the others make is not used: the
// sum goes from that lane to where it is needed. Only if the order of operands
// cannot matter to the last bit have all lanes the same sum by themselves.
//
// If several warps share a row, each writes its sum to scratch memory
// (ReduceScratch.h). After a barrier every thread reads all sums of its rows;
// but from 8 warps on, if the lanes of a warp have the same rows, each lane
// reads one, and the lanes combine them as before.
//
// As all warps that share rows do the same then, it is done once for all if it
// takes many instructions: in one of these warps if the lanes combine, else in
// one thread for each row. The results go through scratch memory as well, which
// takes another barrier.
//
// All holders of a result have the same bits: a sum that differed in its last
// bit between threads could send them different ways later. Bits of lanes and
// warps that hold copies take no part.
//
// A layout with bases that move along the axis and another dimension at once is
// converted first, and the result converted back.
//
//===----------------------------------------------------------------------===//

#include "AxisSpread.h"
#include "CombineRegion.h"
#include "DistributePatterns.h"
#include "LayoutConversion.h"
#include "ReduceScratch.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

namespace {

/// The reduction of the registers of one layout whose spread is separate.
class Reducer {
public:
  Reducer(ConversionPatternRewriter &rewriter, tile::ReduceOp op,
          DistributionContext &context, const Layout &layout,
          ArrayRef<int64_t> shape)
      : rewriter(rewriter), op(op), context(context), loc(op.getLoc()),
        combine(rewriter, op.getCombine()), layout(layout), shape(shape),
        scratch(op, layout), result(scratch.result.getLayout()),
        spread(getAxisSpread(layout, op.getAxis())),
        isCommutative(combine.isCommutative()) {
    // The region may be longer now than when memory was allocated.
    auto memory = op->getAttrOfType<ScratchAttr>(kScratchAttrName);
    scratch.isDoneOnce &= memory && memory.getBytes() >= scratch.getBytes();
  }

  /// For each register of the result's layout, the tuple of results.
  FailureOr<SmallVector<Tuple>> reduce(ArrayRef<Registers> sources);

private:
  SmallVector<Tuple> reduceInThread(ArrayRef<Registers> sources);
  void reduceOverLanes(SmallVectorImpl<Tuple> &rows, uint32_t laneMask);
  void broadcast(SmallVectorImpl<Tuple> &rows);
  LogicalResult reduceOverWarps(SmallVectorImpl<Tuple> &rows);
  void writeWarpSums(ArrayRef<Tuple> rows, Value base);
  void readInEachThread(SmallVectorImpl<Tuple> &rows, Value base);
  void readByLanes(SmallVectorImpl<Tuple> &rows, Value base);
  void finishInOneWarp(ArrayRef<Tuple> rows, Value base);
  void finishInOneThread(Value base);
  void forEachResult(
      Value base,
      llvm::function_ref<void(size_t source, TileAccess &access)> body);
  void readResults(SmallVectorImpl<Tuple> &rows, Value base);
  SmallVector<Tuple> readRowSums(Value base, Value row);
  TileAccess getAccess(Value base, int64_t rowPitch);
  Value getPlacePtr(Value base, const ReduceScratch::Part &part, Value place);
  Value getIsWriter();

  ConversionPatternRewriter &rewriter;
  tile::ReduceOp op;
  DistributionContext &context;
  Location loc;
  CombineRegion combine;
  const Layout &layout;
  ArrayRef<int64_t> shape;
  ReduceScratch scratch;
  const Layout &result;
  AxisSpread spread;
  bool isCommutative;
};

SmallVector<Tuple> Reducer::reduceInThread(ArrayRef<Registers> sources) {
  std::map<Coords, Tuple> sums;
  for (const Row &row : getRows(layout, shape, op.getAxis())) {
    SmallVector<Tuple> elements;
    for (auto [coord, reg] : row.elements) {
      Tuple &element = elements.emplace_back();
      for (const Registers &source : sources)
        element.push_back(source[reg]);
    }
    sums[row.coords] = combine.combineAll(elements);
  }
  SmallVector<Tuple> rows;
  for (const Coords &coords : result.getRegisterCoords(scratch.resultShape))
    rows.push_back(sums.at(coords));
  return rows;
}

/// Leaves in the lanes whose bits in `laneMask` are zero the sums of all lanes
/// that differ from them in these bits; in the others as well if the order of
/// operands cannot matter.
void Reducer::reduceOverLanes(SmallVectorImpl<Tuple> &rows, uint32_t laneMask) {
  for (; laneMask != 0; laneMask &= laneMask - 1) {
    uint32_t bit = laneMask & -laneMask;
    SmallVector<Tuple> others =
        shuffleTuples(rewriter, loc, rows, gpu::ShuffleMode::XOR,
                      createI32(rewriter, loc, bit), context.getNumLanes());
    for (auto [row, other] : llvm::zip_equal(rows, others))
      row = combine.combine(row, other);
  }
}

/// Gives all lanes that hold a row what the lowest of them has.
void Reducer::broadcast(SmallVectorImpl<Tuple> &rows) {
  if (isCommutative)
    return;
  uint32_t rowMask =
      ~getMaskOfEqualRows(result) & uint32_t(context.getNumLanes() - 1);
  Value lane = createI32(rewriter, loc, rowMask);
  if (rowMask != 0)
    lane = arith::AndIOp::create(rewriter, loc, context.getLaneId(), lane);
  SmallVector<Tuple> moved = shuffleTuples(
      rewriter, loc, rows, gpu::ShuffleMode::IDX, lane, context.getNumLanes());
  llvm::move(moved, rows.begin());
}

/// The places of the rows, `rowPitch` bytes apart, the first at `base`.
TileAccess Reducer::getAccess(Value base, int64_t rowPitch) {
  return TileAccess(
      rewriter, loc, context, scratch.result, scratch.resultShape,
      BufferMap::getRowMajor(scratch.resultShape, rowPitch, scratch.order),
      base);
}

/// Where the sums begin that warp `place` of those that share a row writes.
Value Reducer::getPlacePtr(Value base, const ReduceScratch::Part &part,
                           Value place) {
  Value bytes = arith::MulIOp::create(
      rewriter, loc, place, createI32(rewriter, loc, part.placePitch));
  return createPtrAdd(rewriter, loc,
                      createPtrAdd(rewriter, loc, base, part.offset), bytes);
}

/// True in one lane of those that hold the same rows.
Value Reducer::getIsWriter() {
  return emitBitsEqual(rewriter, loc, context.getLaneId(),
                       result.getFreeMask(HardwareDim::Lane));
}

/// One source of all rows.
static Registers getRegisters(ArrayRef<Tuple> rows, size_t source) {
  Registers registers;
  for (const Tuple &row : rows)
    registers.push_back(row[source]);
  return registers;
}

void Reducer::writeWarpSums(ArrayRef<Tuple> rows, Value base) {
  uint32_t warpCopies =
      result.getFreeMask(HardwareDim::Warp) & ~spread.warpMask;
  Value isWriter =
      emitAnd(rewriter, loc, getIsWriter(),
              emitBitsEqual(rewriter, loc, context.getWarpId(), warpCopies));
  Value place =
      emitCompress(rewriter, loc, context.getWarpId(), spread.warpMask);
  emitIf(rewriter, loc, isWriter, [&] {
    for (auto [source, part] : llvm::enumerate(scratch.parts)) {
      TileAccess access =
          getAccess(getPlacePtr(base, part, place), part.rowPitch);
      storeRegisters(rewriter, loc, access, getRegisters(rows, source),
                     part.rowsPerAccess);
    }
  });
}

void Reducer::readInEachThread(SmallVectorImpl<Tuple> &rows, Value base) {
  // For each row, the sums of all warps.
  SmallVector<SmallVector<Tuple>> sums(rows.size(),
                                       SmallVector<Tuple>(scratch.numPlaces));
  for (const ReduceScratch::Part &part : scratch.parts) {
    TileAccess access = getAccess(
        createPtrAdd(rewriter, loc, base, part.offset), part.rowPitch);
    for (size_t reg = 0; reg < rows.size(); reg += part.rowsPerAccess) {
      for (int64_t place = 0; place < scratch.numPlaces;
           place += part.placesPerAccess) {
        SmallVector<Value> loaded = loadVector(
            rewriter, loc, part.type, part.rowsPerAccess * part.placesPerAccess,
            createPtrAdd(rewriter, loc, access.getPtr(reg),
                         place * part.placePitch));
        for (int64_t i = 0; i < part.rowsPerAccess; ++i)
          for (int64_t k = 0; k < part.placesPerAccess; ++k)
            sums[reg + i][place + k].push_back(loaded[i + k]);
      }
    }
  }
  for (auto [row, warps] : llvm::zip_equal(rows, sums))
    row = combine.combineAll(warps);
}

void Reducer::readByLanes(SmallVectorImpl<Tuple> &rows, Value base) {
  uint32_t placeMask = scratch.numPlaces - 1;
  Value place = arith::AndIOp::create(rewriter, loc, context.getLaneId(),
                                      createI32(rewriter, loc, placeMask));
  for (auto [source, part] : llvm::enumerate(scratch.parts)) {
    TileAccess access =
        getAccess(getPlacePtr(base, part, place), part.rowPitch);
    for (auto [reg, row] : llvm::enumerate(rows))
      row[source] =
          loadVector(rewriter, loc, part.type, /*count=*/1, access.getPtr(reg))
              .front();
  }
  reduceOverLanes(rows, placeMask);
}

/// The places of the results of each source that somebody uses.
void Reducer::forEachResult(
    Value base, llvm::function_ref<void(size_t, TileAccess &)> body) {
  for (auto [source, part] : llvm::enumerate(scratch.parts)) {
    if (op.getResult(source).use_empty())
      continue;
    TileAccess access =
        getAccess(createPtrAdd(rewriter, loc, base, part.resultOffset),
                  part.elementBytes);
    body(source, access);
  }
}

/// Like readByLanes, in the first of the warps that share rows, which writes
/// the results.
void Reducer::finishInOneWarp(ArrayRef<Tuple> rows, Value base) {
  Value isFinisher = emitBitsEqual(rewriter, loc, context.getWarpId(),
                                   result.getFreeMask(HardwareDim::Warp));
  emitIf(rewriter, loc, isFinisher, [&] {
    SmallVector<Tuple> sums(rows.begin(), rows.end());
    readByLanes(sums, base);
    emitIf(rewriter, loc, getIsWriter(), [&] {
      forEachResult(base, [&](size_t source, TileAccess &access) {
        storeRegisters(rewriter, loc, access, getRegisters(sums, source),
                       scratch.parts[source].rowsPerResultAccess);
      });
    });
  });
}

/// The sums of all warps of the row that is number `row` in memory.
SmallVector<Tuple> Reducer::readRowSums(Value base, Value row) {
  SmallVector<Tuple> sums(scratch.numPlaces);
  for (const ReduceScratch::Part &part : scratch.parts) {
    Value bytes = arith::MulIOp::create(
        rewriter, loc, row, createI32(rewriter, loc, part.rowPitch));
    Value ptr = createPtrAdd(
        rewriter, loc, createPtrAdd(rewriter, loc, base, part.offset), bytes);
    for (int64_t place = 0; place < scratch.numPlaces;
         place += part.placesPerAccess)
      for (auto [i, value] : llvm::enumerate(loadVector(
               rewriter, loc, part.type, part.placesPerAccess,
               createPtrAdd(rewriter, loc, ptr, place * part.placePitch))))
        sums[place + i].push_back(value);
  }
  return sums;
}

/// Combines the sums of each row in one thread, which writes the result.
void Reducer::finishInOneThread(Value base) {
  int64_t numRows = scratch.getNumRows();
  int64_t numThreads = context.getNumWarps() * context.getNumLanes();
  for (int64_t first = 0; first < numRows; first += numThreads) {
    Value row = context.getThreadId();
    if (first != 0)
      row = arith::AddIOp::create(rewriter, loc, row,
                                  createI32(rewriter, loc, first));
    Value isRow;
    if (first + numThreads > numRows)
      isRow = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                    row, createI32(rewriter, loc, numRows));
    emitIf(rewriter, loc, isRow, [&] {
      Tuple sum = combine.combineAll(readRowSums(base, row));
      for (auto [part, value, out] :
           llvm::zip_equal(scratch.parts, sum, op.getResults())) {
        if (out.use_empty())
          continue;
        Value bytes = arith::MulIOp::create(
            rewriter, loc, row, createI32(rewriter, loc, part.elementBytes));
        Value results = createPtrAdd(rewriter, loc, base, part.resultOffset);
        storeVector(rewriter, loc, value,
                    createPtrAdd(rewriter, loc, results, bytes));
      }
    });
  }
}

void Reducer::readResults(SmallVectorImpl<Tuple> &rows, Value base) {
  forEachResult(base, [&](size_t source, TileAccess &access) {
    const ReduceScratch::Part &part = scratch.parts[source];
    Registers loaded = loadRegisters(rewriter, loc, access, part.type,
                                     part.rowsPerResultAccess);
    for (auto [row, value] : llvm::zip_equal(rows, loaded))
      row[source] = value;
  });
}

LogicalResult Reducer::reduceOverWarps(SmallVectorImpl<Tuple> &rows) {
  FailureOr<Value> base = context.getScratchPtr(rewriter, op);
  if (failed(base))
    return failure();
  writeWarpSums(rows, *base);
  gpu::BarrierOp::create(rewriter, loc);
  if (scratch.isDoneOnce) {
    if (scratch.isForLanes)
      finishInOneWarp(rows, *base);
    else
      finishInOneThread(*base);
    gpu::BarrierOp::create(rewriter, loc);
    readResults(rows, *base);
  } else if (scratch.isForLanes) {
    readByLanes(rows, *base);
    broadcast(rows);
  } else {
    readInEachThread(rows, *base);
  }
  return success();
}

FailureOr<SmallVector<Tuple>> Reducer::reduce(ArrayRef<Registers> sources) {
  SmallVector<Tuple> rows = reduceInThread(sources);
  reduceOverLanes(rows, spread.laneMask);
  if (spread.warpMask != 0) {
    if (failed(reduceOverWarps(rows)))
      return failure();
  } else if (spread.laneMask != 0) {
    broadcast(rows);
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

RankedTensorType getSourceType(tile::ReduceOp op) {
  return cast<RankedTensorType>(op.getSources().front().getType());
}

struct DistributeReduce : public OpConversionPattern<tile::ReduceOp> {
  DistributeReduce(const TypeConverter &converter, MLIRContext *mlirContext,
                   DistributionContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = getSourceType(op);
    const Layout &layout = getLayoutAttr(type).getLayout();
    AxisSpread spread = getAxisSpread(layout, op.getAxis());
    if (spread.isAcrossBlocks)
      return op.emitOpError("reduces between the blocks of a cluster");
    if (failed(CombineRegion(rewriter, op.getCombine()).distribute()))
      return failure();
    SmallVector<Registers> sources;
    for (ValueRange source : adaptor.getSources())
      sources.emplace_back(source);

    FailureOr<SmallVector<Registers>> results =
        spread.isSeparate ? reduceIn(layout, op, sources, rewriter)
                          : reduceConverted(layout, op, sources, rewriter);
    if (failed(results))
      return failure();
    replaceWithRegisters(rewriter, op, std::move(*results));
    return success();
  }

  /// The results, by source and register of the projected layout.
  FailureOr<SmallVector<Registers>>
  reduceIn(const Layout &layout, tile::ReduceOp op, ArrayRef<Registers> sources,
           ConversionPatternRewriter &rewriter) const {
    Reducer reducer(rewriter, op, context, layout,
                    getSourceType(op).getShape());
    FailureOr<SmallVector<Tuple>> rows = reducer.reduce(sources);
    if (failed(rows))
      return failure();
    SmallVector<Registers> results(sources.size());
    for (const Tuple &row : *rows)
      for (auto [list, value] : llvm::zip_equal(results, row))
        list.push_back(value);
    return results;
  }

  /// Reduces in a layout whose spread is separate.
  FailureOr<SmallVector<Registers>>
  reduceConverted(const Layout &layout, tile::ReduceOp op,
                  SmallVector<Registers> sources,
                  ConversionPatternRewriter &rewriter) const {
    ArrayRef<int64_t> shape = getSourceType(op).getShape();
    unsigned axis = op.getAxis();
    Layout work = getWorkLayout(layout, shape, axis);
    // All steps share the scratch memory: each begins when all threads are done
    // with the one before.
    bool isFirst = true;
    auto separate = [&] {
      if (!isFirst)
        gpu::BarrierOp::create(rewriter, op.getLoc());
      isFirst = false;
    };
    auto convert = [&](Registers &registers, const Layout &from,
                       const Layout &to, ArrayRef<int64_t> tileShape) {
      separate();
      FailureOr<Registers> converted = convertRegisters(
          rewriter, op, context, registers, from, to, tileShape);
      if (succeeded(converted))
        registers = *converted;
      return LogicalResult(converted);
    };
    for (Registers &source : sources)
      if (failed(convert(source, layout, work, shape)))
        return failure();
    separate();
    auto results = reduceIn(work, op, sources, rewriter);
    if (failed(results) || shape.size() == 1)
      return results;
    for (Registers &list : *results)
      if (failed(convert(list, work.projectOut(axis), layout.projectOut(axis),
                         dropAxis(shape, axis))))
        return failure();
    return results;
  }

  DistributionContext &context;
};

/// Scratch memory of a reduction in `layout` itself.
int64_t getSeparateBytes(tile::ReduceOp op, const Layout &layout) {
  if (getAxisSpread(layout, op.getAxis()).warpMask == 0)
    return 0;
  return ReduceScratch(op, layout).getBytes();
}

} // namespace

void tile_gpu::populateReducePatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  patterns.add<DistributeReduce>(converter, patterns.getContext(), context);
}

int64_t tile_gpu::getReduceScratchBytes(tile::ReduceOp op) {
  RankedTensorType type = getSourceType(op);
  LayoutAttr attr = getLayoutAttr(type);
  if (!attr)
    return 0;
  const Layout &layout = attr.getLayout();
  unsigned axis = op.getAxis();
  if (getAxisSpread(layout, axis).isSeparate)
    return getSeparateBytes(op, layout);
  ArrayRef<int64_t> shape = type.getShape();
  Layout work = getWorkLayout(layout, shape, axis);
  int64_t bytes = getSeparateBytes(op, work);
  for (Value source : op.getSources()) {
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    bytes = std::max(bytes, getConversionBytes(layout, work, shape, element));
    if (shape.size() > 1)
      bytes =
          std::max(bytes, getConversionBytes(work.projectOut(axis),
                                             layout.projectOut(axis),
                                             dropAxis(shape, axis), element));
  }
  return bytes;
}
