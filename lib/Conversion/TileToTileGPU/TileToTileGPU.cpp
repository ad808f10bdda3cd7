//===- TileToTileGPU.cpp - Give every tile a layout -------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The default layout is a function of a tile's shape, so the pass changes types
// in place: ops that ask for one layout of all their tiles, control flow
// included, agree by themselves, and `reconcileLayouts` sees to the others.
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Conversion/Passes.h"
#include "TileDialect/Dialect/Tile/IR/TileTraits.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/OpLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tile {
#define GEN_PASS_DEF_CONVERTTILETOTILEGPU
#include "TileDialect/Conversion/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using tile_dialect::layout::Layout;
using tile_gpu::LayoutAttr;

namespace {

/// Registers of one tile in one thread beyond which a kernel could not be
/// compiled in reasonable time, let alone run: a thread has 255 registers of
/// the machine, and LLVM takes seconds for some thousands of values.
constexpr int64_t kMaxRegisters = 2048;

bool hasTiles(Operation *op) {
  auto isTile = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

class LayoutAssigner {
public:
  LayoutAssigner(MLIRContext *context, int64_t numWarps, int64_t numLanes)
      : context(context), numWarps(numWarps), numLanes(numLanes) {}

  LogicalResult convertKernel(gpu::GPUFuncOp kernel);

private:
  LogicalResult setBlockSize(gpu::GPUFuncOp kernel);
  LogicalResult checkOp(Operation *op);
  /// `type` with its default layout, or itself if it is no tile or has an
  /// encoding; `what` names the value in an error at `loc`.
  FailureOr<Type> convertType(Type type, Location loc);
  LogicalResult convertTypes(Operation *op);

  MLIRContext *context;
  int64_t numWarps, numLanes;
  DenseMap<ArrayRef<int64_t>, LayoutAttr> defaults;
};

/// What to write instead of a tile that threads would hold too much of: its
/// largest extent as a multiple of the number of threads, if that helps.
static std::string suggestExtents(ArrayRef<int64_t> shape, int64_t threads) {
  const int64_t *largest = llvm::max_element(shape);
  int64_t multiple = llvm::alignTo(*largest, threads);
  int64_t others = llvm::product_of(shape) / *largest;
  if (multiple == *largest || multiple / threads * others > kMaxRegisters)
    return "use smaller tiles or more warps";
  return llvm::formatv("threads share an extent evenly only in powers of two: "
                       "use a multiple of {0} and a mask, such as {1} "
                       "instead of {2}",
                       threads, multiple, *largest);
}

FailureOr<Type> LayoutAssigner::convertType(Type type, Location loc) {
  if (!isa<TensorType>(type))
    return type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() == 0)
    return emitError(loc)
           << "expected a tile of one or more static dimensions, "
              "found "
           << type;
  if (tensor.getEncoding()) {
    if (tile_gpu::getLayoutAttr(tensor))
      return type;
    return emitError(loc) << "the encoding of " << type
                          << " is no #tile_gpu.layout";
  }
  ArrayRef<int64_t> shape = tensor.getShape();
  LayoutAttr &layout = defaults[shape];
  if (!layout) {
    SmallVector<int64_t> sizePerThread(shape.size(), 1);
    SmallVector<unsigned> order;
    for (unsigned dim = shape.size(); dim > 0; --dim)
      order.push_back(dim - 1);
    Layout algebra = tile_dialect::layout::blocked(shape, sizePerThread, order,
                                                   numLanes, numWarps);
    if (std::optional<std::string> problem = algebra.checkShape(shape))
      return emitError(loc) << "no layout covers " << type << ": " << *problem;
    int64_t registers = algebra.getNumRegisters(shape);
    if (registers > kMaxRegisters)
      return emitError(loc)
             << "no layout spreads " << type << " over " << numWarps
             << " warps: each thread would hold " << registers
             << " elements (at most " << kMaxRegisters << "); "
             << suggestExtents(shape, numWarps * numLanes);
    layout = LayoutAttr::get(context, algebra);
  }
  return Type(tile_gpu::withLayout(tensor, layout));
}

/// True for what a thread cannot compute with: floating-point types of other
/// machines, and complex numbers.
static bool isForeignElement(Type type) {
  if (isa<FloatType>(type))
    return !isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
                Float8E4M3FNType, Float8E5M2Type>(type);
  return isa<ComplexType>(type);
}

/// Ops of other dialects verify neither the shapes of tiles nor their elements.
static LogicalResult checkTypes(Operation *op, TypeRange types) {
  for (Type type : types) {
    if (isForeignElement(getElementTypeOrSelf(type)))
      return op->emitOpError("computes with ")
             << type << ", which kernels do not have: expected f16, bf16, f32, "
             << "f64, f8E4M3FN or f8E5M2 as floating-point type";
    // convertType reports the other shapes that have no layout.
    auto tile = dyn_cast<RankedTensorType>(type);
    bool isStatic = tile && tile.hasStaticShape() && tile.getRank() > 0;
    if (isStatic &&
        failed(tile::verifyTileShape([&] { return op->emitOpError(); },
                                     tile.getShape(), "tile")))
      return failure();
  }
  return success();
}

LogicalResult LayoutAssigner::checkOp(Operation *op) {
  if (failed(checkTypes(op, op->getOperandTypes())) ||
      failed(checkTypes(op, op->getResultTypes())))
    return failure();
  if (auto call = dyn_cast<CallOpInterface>(op))
    if (isa_and_nonnull<func::FuncDialect>(op->getDialect()))
      return op->emitOpError("is left in a kernel: helper functions must be "
                             "inlined first, and cannot be recursive");
  bool hasTileArgs = llvm::any_of(op->getRegions(), [](Region &region) {
    return llvm::any_of(region, [](Block &block) {
      return llvm::any_of(block.getArgumentTypes(), llvm::IsaPred<TensorType>);
    });
  });
  if (!hasTiles(op) && !hasTileArgs)
    return success();
  bool isKnown =
      tile_gpu::isElementwise(op) || tile_gpu::isCreation(op) ||
      isa_and_nonnull<tile::TileDialect, tile_gpu::TileGPUDialect>(
          op->getDialect()) ||
      isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface,
          BranchOpInterface>(op) ||
      (op->getDialect() &&
       op->getDialect()
           ->getRegisteredInterface<tile_gpu::DistributeDialectInterface>());
  if (!isKnown)
    return op->emitOpError("has no known meaning for tiles with layouts: "
                           "expected an elementwise op, control flow or an op "
                           "of the tile dialects");
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return op->emitOpError("expected a dense constant");
    // Elements that differ are read from a table in memory.
    Type element = dense.getElementType();
    if (!dense.isSplat() && !isa<FloatType>(element) &&
        !(element.isInteger() &&
          llvm::is_contained({1, 8, 16, 32, 64},
                             element.getIntOrFloatBitWidth())))
      return op->emitOpError("has elements of type ")
             << element << " that differ: expected elements of 1, 8, 16, 32 or "
             << "64 bits, or one value for all";
  }
  return success();
}

LogicalResult LayoutAssigner::convertTypes(Operation *op) {
  for (OpResult result : op->getResults()) {
    FailureOr<Type> type = convertType(result.getType(), result.getLoc());
    if (failed(type))
      return failure();
    if (*type == result.getType())
      continue;
    if (tile_gpu::isCreation(op))
      tile_gpu::setCreationLayout(op, tile_gpu::getLayoutAttr(*type));
    result.setType(*type);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument arg : block.getArguments()) {
        FailureOr<Type> type = convertType(arg.getType(), arg.getLoc());
        if (failed(type))
          return failure();
        arg.setType(*type);
      }
  return success();
}

LogicalResult LayoutAssigner::setBlockSize(gpu::GPUFuncOp kernel) {
  int32_t numThreads = numWarps * numLanes;
  SmallVector<int32_t, 3> size{numThreads, 1, 1};
  std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize();
  if (known && *known != ArrayRef(size)) {
    auto diag = kernel.emitOpError("has known_block_size [");
    llvm::interleaveComma(*known, diag);
    return diag << "], but " << numWarps << " warps of " << numLanes
                << " lanes need [" << numThreads << ", 1, 1]";
  }
  kernel.setKnownBlockSize(ArrayRef(size));
  return success();
}

LogicalResult LayoutAssigner::convertKernel(gpu::GPUFuncOp kernel) {
  if (!kernel.isKernel())
    return kernel.emitOpError("is no kernel: helper functions are func.func, "
                              "and are inlined");
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<TensorType>(type))
      return kernel.emitOpError("argument #")
             << i << " is a tile: pass a pointer or a descriptor";
  if (failed(setBlockSize(kernel)))
    return failure();
  WalkResult result = kernel.walk([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    if (failed(checkOp(op)) || failed(convertTypes(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || failed(convertTypes(kernel)))
    return failure();
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    tile_gpu::reconcileLayouts(op);
  return success();
}

class ConvertTileToTileGPUPass
    : public tile::impl::ConvertTileToTileGPUBase<ConvertTileToTileGPUPass> {
public:
  using ConvertTileToTileGPUBase::ConvertTileToTileGPUBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    if (failed(checkOptions(module)) || failed(removeHelpers(module)))
      return signalPassFailure();
    LayoutAssigner assigner(&getContext(), numWarps, threadsPerWarp);
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (failed(assigner.convertKernel(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult checkOptions(gpu::GPUModuleOp module) {
    if (numWarps < 1 || numWarps > 32 || !llvm::isPowerOf2_64(numWarps))
      return module.emitError("num-warps must be a power of two from 1 to 32, "
                              "not ")
             << numWarps.getValue();
    if (threadsPerWarp < 1 || threadsPerWarp > 64 ||
        !llvm::isPowerOf2_64(threadsPerWarp))
      return module.emitError("threads-per-warp must be a power of two from 1 "
                              "to 64, not ")
             << threadsPerWarp.getValue();
    if (numCTAs != 1)
      return module.emitError("num-ctas = ")
             << numCTAs.getValue()
             << " is not supported yet: a program runs on one block";
    return success();
  }

  /// Helpers whose calls were all inlined go away; any other code outside a
  /// kernel cannot hold tiles.
  LogicalResult removeHelpers(gpu::GPUModuleOp module) {
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!func.isExternal() && SymbolTable::symbolKnownUseEmpty(func, module))
        func.erase();
    for (Operation &top : *module.getBody()) {
      if (isa<gpu::GPUFuncOp>(top))
        continue;
      WalkResult result = top.walk([&](Operation *op) {
        if (!hasTiles(op) &&
            !isa_and_nonnull<tile::TileDialect>(op->getDialect()))
          return WalkResult::advance();
        op->emitOpError("is outside a kernel: tile ops belong into a gpu.func "
                        "(calls of helper functions must be inlined first, and "
                        "cannot be recursive)");
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return failure();
    }
    return success();
  }
};

} // namespace
