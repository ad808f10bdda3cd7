//===- DistributeGather.cpp - Distribute tile.gather ----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source lies row-major in scratch memory, where each thread reads what its
// indices say. An index beyond the axis reads the last element along it, so
// that no index, however wrong, reads outside the scratch memory.
//
// A gather whose indices are the positions XOR a constant, as in the steps of a
// sorting network and in a reversal, exchanges elements between pairs of places
// that are the same bits apart in every thread: between registers, or by one
// shuffle for each register, as long as they are in one warp.
//
//===----------------------------------------------------------------------===//

#include "DistributePatterns.h"
#include "LayoutConversion.h"
#include "ThreadExchange.h"
#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using namespace tile_dialect::layout;

/// The unsigned `index` of any width as an i32 below `extent`.
static Value emitClampedIndex(OpBuilder &builder, Location loc, Value index,
                              int64_t extent) {
  Type i32 = builder.getI32Type();
  unsigned width = index.getType().getIntOrFloatBitWidth();
  if (width < 32)
    index = arith::ExtUIOp::create(builder, loc, i32, index);
  Value last =
      arith::ConstantIntOp::create(builder, loc, index.getType(), extent - 1);
  index = arith::MinUIOp::create(builder, loc, index, last);
  if (width > 32)
    index = arith::TruncIOp::create(builder, loc, i32, index);
  return index;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// The constant c for which all elements of `indices` are their position along
/// `axis`, below `extent`, XOR c; std::nullopt if no more than `depth` ops do
/// not show it.
static std::optional<int64_t> matchXorOfPosition(Value indices, unsigned axis,
                                                 int64_t extent, int depth) {
  auto match = [&](Value value) {
    return matchXorOfPosition(value, axis, extent, depth - 1);
  };
  using Result = std::optional<int64_t>;
  Operation *op = indices.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tile::ArangeOp arange) {
        return arange.getStart() == 0 && axis == 0 &&
                       arange.getType().getDimSize(0) == extent
                   ? Result(0)
                   : std::nullopt;
      })
      .Case([&](ConvertLayoutOp convert) { return match(convert.getSource()); })
      .Case([&](tile::BroadcastOp broadcast) {
        return match(broadcast.getSource());
      })
      .Case([&](tile::ExpandDimsOp expand) -> Result {
        unsigned added = expand.getAxis();
        if (added == axis)
          return std::nullopt;
        return matchXorOfPosition(expand.getSource(),
                                  added < axis ? axis - 1 : axis, extent,
                                  depth - 1);
      })
      .Case([&](arith::XOrIOp xorOp) -> Result {
        // Constants are on the right in canonical form.
        APInt constant;
        if (!matchPattern(xorOp.getRhs(), m_ConstantInt(&constant)))
          return std::nullopt;
        Result rest = match(xorOp.getLhs());
        if (!rest || !constant.isSignedIntN(62))
          return std::nullopt;
        return *rest ^ constant.getSExtValue();
      })
      .Case([&](arith::SubIOp sub) -> Result {
        // What is below a power of two, from the largest such number.
        APInt constant;
        if (!matchPattern(sub.getLhs(), m_ConstantInt(&constant)) ||
            constant != uint64_t(extent - 1))
          return std::nullopt;
        Result rest = match(sub.getRhs());
        if (!rest || *rest < 0 || *rest >= extent)
          return std::nullopt;
        return *rest ^ (extent - 1);
      })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {

/// Register i of each thread comes from register `registers[i]` of the lane
/// that is `lanes` away, as an XOR.
struct Exchange {
  SmallVector<int64_t> registers;
  int32_t lanes = 0;
};

} // namespace

/// How a gather is done without shared memory, if it can be.
static std::optional<Exchange> planExchange(tile::GatherOp op) {
  RankedTensorType type = op.getType();
  ArrayRef<int64_t> shape = type.getShape();
  LayoutAttr attr = getLayoutAttr(type);
  if (!attr || op.getSource().getType() != type)
    return std::nullopt;
  unsigned axis = op.getAxis();
  int64_t extent = shape[axis];
  if (!llvm::isPowerOf2_64(extent))
    return std::nullopt;
  // Deeper than shape ops, conversions and a few sums lie; recursion is
  // bounded.
  constexpr int kMaxDepth = 16;
  std::optional<int64_t> distance =
      matchXorOfPosition(op.getIndices(), axis, extent, kMaxDepth);
  if (!distance || *distance < 0 || *distance >= extent)
    return std::nullopt;

  // A lane and a warp mean fixed XORs of the coordinates, so what holds for the
  // first thread holds for all.
  const Layout &layout = attr.getLayout();
  Exchange exchange;
  for (auto [reg, coords] : llvm::enumerate(layout.getRegisterCoords(shape))) {
    Coords from(coords);
    from[axis] ^= *distance;
    Position position = layout.getPositionOf(from, shape);
    if (position.warp != 0 || position.block != 0 ||
        (reg != 0 && position.lane != exchange.lanes))
      return std::nullopt;
    exchange.lanes = position.lane;
    exchange.registers.push_back(position.reg);
  }
  return exchange;
}

namespace {

struct DistributeGather : public OpConversionPattern<tile::GatherOp> {
  DistributeGather(const TypeConverter &converter, MLIRContext *mlirContext,
                   DistributionContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {
    // The conversion replaces indices before the gather that has them.
    context.getKernel()->walk([&](tile::GatherOp op) {
      if (std::optional<Exchange> exchange = planExchange(op))
        exchanges.try_emplace(op, std::move(*exchange));
    });
  }

  LogicalResult
  matchAndRewrite(tile::GatherOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType source = op.getSource().getType(), result = op.getType();
    LayoutAttr sourceLayout = getLayoutAttr(source);
    if (sourceLayout.getLayout().getSize(HardwareDim::Block) > 1)
      return op.emitOpError("gathers between the blocks of a cluster");
    if (auto it = exchanges.find(op); it != exchanges.end()) {
      replaceWithRegisters(
          rewriter, op,
          {exchangeRegisters(op, adaptor.getSource(), it->second, rewriter)});
      return success();
    }
    FailureOr<Value> scratch = context.getScratchPtr(rewriter, op);
    FailureOr<Registers> indices = moveIndices(op, adaptor, rewriter);
    if (failed(scratch) || failed(indices))
      return failure();

    Location loc = op.getLoc();
    Type scalarType = adaptor.getSource().front().getType();
    int64_t bytes = getElementBytes(scalarType);
    BufferMap map = BufferMap::getRowMajor(source.getShape(), bytes);
    Value condition = context.getIsUniqueHolder(rewriter, sourceLayout);
    TileAccess writes(rewriter, loc, context, sourceLayout, source.getShape(),
                      map, *scratch);
    emitIf(rewriter, loc, condition, [&] {
      storeRegisters(rewriter, loc, writes, adaptor.getSource(),
                     getAccessElements(sourceLayout, source.getShape(),
                                       source.getRank() - 1, bytes));
    });
    gpu::BarrierOp::create(rewriter, loc);

    int64_t extent = source.getDimSize(op.getAxis());
    Registers gathered;
    for (auto [coords, index] :
         llvm::zip_equal(context.getCoords(rewriter, loc, result), *indices)) {
      coords[op.getAxis()] = emitClampedIndex(rewriter, loc, index, extent);
      Value ptr = createPtrAdd(rewriter, loc, *scratch,
                               map.emitOffset(rewriter, loc, coords));
      gathered.push_back(
          loadVector(rewriter, loc, scalarType, /*count=*/1, ptr).front());
    }
    replaceWithRegisters(rewriter, op, {gathered});
    return success();
  }

  Registers exchangeRegisters(tile::GatherOp op, ValueRange source,
                              const Exchange &exchange,
                              OpBuilder &builder) const {
    Registers moved = llvm::map_to_vector(
        exchange.registers, [&](int64_t reg) { return source[reg]; });
    if (exchange.lanes == 0)
      return moved;
    Location loc = op.getLoc();
    Value lanes =
        arith::ConstantIntOp::create(builder, loc, exchange.lanes, 32);
    return shuffle(builder, loc, moved, gpu::ShuffleMode::XOR, lanes,
                   context.getNumLanes());
  }

  /// The indices in the layout of the result.
  FailureOr<Registers> moveIndices(tile::GatherOp op, OneToNOpAdaptor adaptor,
                                   OpBuilder &builder) const {
    RankedTensorType indices = op.getIndices().getType();
    const Layout &from = getLayoutAttr(indices).getLayout();
    const Layout &to = getLayoutAttr(op.getType()).getLayout();
    FailureOr<Registers> moved =
        convertRegisters(builder, op, context, adaptor.getIndices(), from, to,
                         indices.getShape());
    // The source is about to overwrite what this read.
    if (succeeded(moved) && getConversionBytes(from, to, indices.getShape(),
                                               indices.getElementType()) != 0)
      gpu::BarrierOp::create(builder, op.getLoc());
    return moved;
  }

  DistributionContext &context;
  llvm::DenseMap<Operation *, Exchange> exchanges;
};

} // namespace

void tile_gpu::populateGatherPatterns(
    const DistributionTypeConverter &converter, RewritePatternSet &patterns,
    DistributionContext &context) {
  patterns.add<DistributeGather>(converter, patterns.getContext(), context);
}

int64_t tile_gpu::getGatherScratchBytes(tile::GatherOp op) {
  RankedTensorType source = op.getSource().getType();
  RankedTensorType indices = op.getIndices().getType();
  LayoutAttr from = getLayoutAttr(indices), to = getLayoutAttr(op.getType());
  if (!from || !to || planExchange(op))
    return 0;
  int64_t bytes =
      source.getNumElements() * getElementBytes(source.getElementType());
  return std::max(bytes, getConversionBytes(from.getLayout(), to.getLayout(),
                                            indices.getShape(),
                                            indices.getElementType()));
}
