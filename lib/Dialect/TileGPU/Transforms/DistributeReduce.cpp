//===- DistributeReduce.cpp - Distribute tile.reduce ----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is what a reduction makes one element of. Each thread combines what its
// registers hold of a row, then lanes exchange their sums by shuffles; every
// lane ends up with the sum of its warp. If several warps share a row, each
// writes its sum to scratch memory, and after one barrier every thread combines
// the sums of its rows:
//
//   source k: [row][warp's place along the axis], rows in row-major order
//
// Bits of lanes and warps that hold copies take no part.
//
// A layout with bases that move along the axis and another dimension at once is
// converted first, and the result converted back.
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
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// Scratch memory begins, and the part of each source begins, at a multiple of
/// the widest access.
static constexpr int64_t kPartAlignment = 16;
/// From this many warps on it is cheaper for the lanes to share the last step
/// (one load and log2(warps) shuffles) than for each thread to do all of it.
static constexpr int64_t kMinWarpsForLanes = 8;

namespace {

/// Where the sums of warps lie in scratch memory.
struct ReduceScratch {
  ReduceScratch(tile::ReduceOp op, int64_t numRows, int64_t numWarps) {
    for (Value source : op.getSources()) {
      offsets.push_back(bytes);
      Type type = cast<RankedTensorType>(source.getType()).getElementType();
      bytes += llvm::alignTo(numRows * numWarps * getElementBytes(type),
                             kPartAlignment);
    }
  }
  /// The byte offset of the part of each source.
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// The reduction of the registers of one layout whose spread is separate.
class Reducer {
public:
  Reducer(ConversionPatternRewriter &rewriter, tile::ReduceOp op,
          DistributionContext &context, const Layout &layout,
          ArrayRef<int64_t> shape)
      : rewriter(rewriter), op(op), context(context), loc(op.getLoc()),
        combine(rewriter, op.getCombine()), layout(layout), shape(shape),
        resultShape(dropAxis(shape, op.getAxis())),
        result(layout.projectOut(op.getAxis())),
        spread(getAxisSpread(layout, op.getAxis())) {}

  /// For each register of the result's layout, the tuple of results.
  FailureOr<SmallVector<Tuple>> reduce(ArrayRef<Registers> sources);

private:
  SmallVector<Tuple> reduceInThread(ArrayRef<Registers> sources);
  void reduceOverLanes(SmallVectorImpl<Tuple> &rows, uint32_t laneMask);
  LogicalResult reduceOverWarps(SmallVectorImpl<Tuple> &rows);
  void writeWarpSums(ArrayRef<Tuple> rows, const ReduceScratch &scratch,
                     Value base);
  void readInEachThread(SmallVectorImpl<Tuple> &rows,
                        const ReduceScratch &scratch, Value base);
  void readByLanes(SmallVectorImpl<Tuple> &rows, const ReduceScratch &scratch,
                   Value base);
  TileAccess getAccess(Value base, Type scalarType);
  bool areRowsEqualInLanes() const;

  int64_t getNumWarps() const {
    return int64_t(1) << llvm::popcount(spread.warpMask);
  }

  ConversionPatternRewriter &rewriter;
  tile::ReduceOp op;
  DistributionContext &context;
  Location loc;
  CombineRegion combine;
  const Layout &layout;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> resultShape;
  Layout result;
  AxisSpread spread;
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
  for (const Coords &coords : result.getRegisterCoords(resultShape))
    rows.push_back(sums.at(coords));
  return rows;
}

void Reducer::reduceOverLanes(SmallVectorImpl<Tuple> &rows, uint32_t laneMask) {
  bool isCommutative = combine.isCommutative();
  for (; laneMask != 0; laneMask &= laneMask - 1) {
    uint32_t bit = laneMask & -laneMask;
    SmallVector<Tuple> others =
        shuffleTuples(rewriter, loc, rows, gpu::ShuffleMode::XOR,
                      createI32(rewriter, loc, bit), context.getNumLanes());
    // Both lanes must combine in the same order: a sum that differed in its
    // last bit between lanes could send them different ways later.
    Value isFirst;
    if (!isCommutative)
      isFirst = emitBitsEqual(rewriter, loc, context.getLaneId(), bit);
    for (auto [row, other] : llvm::zip_equal(rows, others)) {
      if (isCommutative) {
        row = combine.combine(row, other);
        continue;
      }
      Tuple lhs = selectTuple(rewriter, loc, isFirst, row, other);
      Tuple rhs = selectTuple(rewriter, loc, isFirst, other, row);
      row = combine.combine(lhs, rhs);
    }
  }
}

/// The places of the rows of a source's part whose first byte is `base`.
TileAccess Reducer::getAccess(Value base, Type scalarType) {
  int64_t pitch = getNumWarps() * getElementBytes(scalarType);
  return TileAccess(rewriter, loc, context,
                    LayoutAttr::get(op.getContext(), result), resultShape,
                    BufferMap::getRowMajor(resultShape, pitch), base);
}

/// True if all lanes of a warp hold the same rows.
bool Reducer::areRowsEqualInLanes() const {
  return llvm::all_of(
      result.getBases(HardwareDim::Lane), [](const Basis &basis) {
        return llvm::all_of(basis, [](int32_t coord) { return coord == 0; });
      });
}

void Reducer::writeWarpSums(ArrayRef<Tuple> rows, const ReduceScratch &scratch,
                            Value base) {
  uint32_t laneCopies = result.getFreeMask(HardwareDim::Lane);
  uint32_t warpCopies =
      result.getFreeMask(HardwareDim::Warp) & ~spread.warpMask;
  Value isWriter =
      emitAnd(rewriter, loc,
              emitBitsEqual(rewriter, loc, context.getLaneId(), laneCopies),
              emitBitsEqual(rewriter, loc, context.getWarpId(), warpCopies));
  Value place =
      emitCompress(rewriter, loc, context.getWarpId(), spread.warpMask);
  emitIf(rewriter, loc, isWriter, [&] {
    for (auto [source, offset] : llvm::enumerate(scratch.offsets)) {
      Type type = rows.front()[source].getType();
      Value bytes = arith::MulIOp::create(
          rewriter, loc, place,
          createI32(rewriter, loc, getElementBytes(type)));
      Value part = createPtrAdd(rewriter, loc, base, offset);
      TileAccess access =
          getAccess(createPtrAdd(rewriter, loc, part, bytes), type);
      for (auto [reg, row] : llvm::enumerate(rows))
        if (access.getRepresentative(reg) == int64_t(reg))
          storeVector(rewriter, loc, row[source], access.getPtr(reg));
    }
  });
}

void Reducer::readInEachThread(SmallVectorImpl<Tuple> &rows,
                               const ReduceScratch &scratch, Value base) {
  int64_t numWarps = getNumWarps();
  // For each row, the sums of all warps.
  SmallVector<SmallVector<Tuple>> sums(rows.size(),
                                       SmallVector<Tuple>(numWarps));
  for (auto [source, offset] : llvm::enumerate(scratch.offsets)) {
    Type type = rows.front()[source].getType();
    TileAccess access =
        getAccess(createPtrAdd(rewriter, loc, base, offset), type);
    int64_t bytes = getElementBytes(type);
    int64_t width = std::min(numWarps, kPartAlignment / bytes);
    for (auto [reg, row] : llvm::enumerate(sums)) {
      for (int64_t warp = 0; warp < numWarps; warp += width) {
        Value ptr =
            createPtrAdd(rewriter, loc, access.getPtr(reg), warp * bytes);
        for (auto [i, value] :
             llvm::enumerate(loadVector(rewriter, loc, type, width, ptr)))
          row[warp + i].push_back(value);
      }
    }
  }
  for (auto [row, warps] : llvm::zip_equal(rows, sums))
    row = combine.combineAll(warps);
}

void Reducer::readByLanes(SmallVectorImpl<Tuple> &rows,
                          const ReduceScratch &scratch, Value base) {
  uint32_t placeMask = getNumWarps() - 1;
  Value place = arith::AndIOp::create(rewriter, loc, context.getLaneId(),
                                      createI32(rewriter, loc, placeMask));
  for (auto [source, offset] : llvm::enumerate(scratch.offsets)) {
    Type type = rows.front()[source].getType();
    Value bytes = arith::MulIOp::create(
        rewriter, loc, place, createI32(rewriter, loc, getElementBytes(type)));
    Value part = createPtrAdd(rewriter, loc, base, offset);
    TileAccess access =
        getAccess(createPtrAdd(rewriter, loc, part, bytes), type);
    for (auto [reg, row] : llvm::enumerate(rows))
      row[source] =
          loadVector(rewriter, loc, type, /*count=*/1, access.getPtr(reg))
              .front();
  }
  reduceOverLanes(rows, placeMask);
}

LogicalResult Reducer::reduceOverWarps(SmallVectorImpl<Tuple> &rows) {
  FailureOr<Value> base = context.getScratchPtr(rewriter, op);
  if (failed(base))
    return failure();
  int64_t numRows = ShapedType::getNumElements(resultShape);
  ReduceScratch scratch(op, numRows, getNumWarps());
  writeWarpSums(rows, scratch, *base);
  gpu::BarrierOp::create(rewriter, loc);
  if (getNumWarps() >= kMinWarpsForLanes &&
      getNumWarps() <= context.getNumLanes() && areRowsEqualInLanes())
    readByLanes(rows, scratch, *base);
  else
    readInEachThread(rows, scratch, *base);
  return success();
}

FailureOr<SmallVector<Tuple>> Reducer::reduce(ArrayRef<Registers> sources) {
  SmallVector<Tuple> rows = reduceInThread(sources);
  reduceOverLanes(rows, spread.laneMask);
  if (spread.warpMask != 0 && failed(reduceOverWarps(rows)))
    return failure();
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
    rewriter.replaceOpWithMultiple(op, std::move(*results));
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
  RankedTensorType type = getSourceType(op);
  uint32_t warpMask = getAxisSpread(layout, op.getAxis()).warpMask;
  if (warpMask == 0)
    return 0;
  int64_t numRows = type.getNumElements() / type.getDimSize(op.getAxis());
  return ReduceScratch(op, numRows, int64_t(1) << llvm::popcount(warpMask))
      .bytes;
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
