//===- Distribute.cpp - The tile-gpu-distribute pass ----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace mlir::tile_gpu {
#define GEN_PASS_DEF_TILEGPUDISTRIBUTE
#include "TileDialect/Dialect/TileGPU/Transforms/Passes.h.inc"
} // namespace mlir::tile_gpu

using namespace mlir;
using namespace mlir::tile_gpu;

namespace {

/// The signature of a kernel: pointers become LLVM pointers; what the tile
/// dialect says of an argument is of no use any more, except its alignment.
struct DistributeSignature : public OpConversionPattern<gpu::GPUFuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::GPUFuncOp func, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = func.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    for (auto [index, input] : llvm::enumerate(type.getInputs())) {
      Type converted = getTypeConverter()->convertType(input);
      if (!converted)
        return rewriter.notifyMatchFailure(func, "an argument is no scalar");
      signature.addInputs(index, converted);
    }
    if (failed(rewriter.convertRegionTypes(&func.getBody(), *getTypeConverter(),
                                           &signature)))
      return failure();
    rewriter.modifyOpInPlace(func, [&] {
      func.setFunctionType(rewriter.getFunctionType(
          signature.getConvertedTypes(), type.getResults()));
      for (unsigned index = 0; index < type.getNumInputs(); ++index)
        convertArgAttrs(func, index, type.getInput(index));
    });
    return success();
  }

  /// Keep the alignment of a pointer argument (in bytes, a power of two).
  static void convertArgAttrs(gpu::GPUFuncOp func, unsigned index, Type type) {
    auto divisibility = func.getArgAttrOfType<DenseI32ArrayAttr>(
        index, tile::kDivisibilityAttrName);
    for (StringRef name :
         {tile::kDivisibilityAttrName, tile::kContiguityAttrName,
          tile::kConstancyAttrName, tile::kAliasGroupAttrName})
      func.removeArgAttr(index, StringAttr::get(func.getContext(), name));
    if (!divisibility || divisibility.empty() || !isa<tile::PtrType>(type))
      return;
    int64_t align = int64_t(divisibility[0]) & -int64_t(divisibility[0]);
    func.setArgAttr(
        index, LLVM::LLVMDialect::getAlignAttrName(),
        IntegerAttr::get(IntegerType::get(func.getContext(), 64), align));
  }
};

/// True if nothing of `op` is a tile, a tile pointer or another type of ours.
bool isDistributed(Operation *op, const TypeConverter &converter) {
  if (!converter.isLegal(op->getOperandTypes()) ||
      !converter.isLegal(op->getResultTypes()))
    return false;
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return converter.isLegal(&region);
  });
}

struct TileGPUDistributePass
    : public tile_gpu::impl::TileGPUDistributeBase<TileGPUDistributePass> {
  void runOnOperation() override {
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUFuncOp>()))
      if (func.isKernel() && failed(distribute(func)))
        return signalPassFailure();
  }

  LogicalResult distribute(gpu::GPUFuncOp func);
};

/// The lanes of a warp: those of the first layout in the kernel, 32 if there is
/// none.
int64_t getNumLanes(gpu::GPUFuncOp func) {
  int64_t lanes = 32;
  func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (LayoutAttr layout = getLayoutAttr(type)) {
        lanes =
            layout.getLayout().getSize(tile_dialect::layout::HardwareDim::Lane);
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return lanes;
}

/// A kernel's parameters are scalars and pointers, and its memory is ours.
LogicalResult checkParameters(gpu::GPUFuncOp func) {
  if (func.getNumWorkgroupAttributions() || func.getNumPrivateAttributions())
    return func.emitOpError("has memory attributions; the shared memory of a "
                            "tile kernel comes from tile_gpu.alloc");
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!type.isIntOrIndexOrFloat() &&
        !isa<tile::PtrType, LLVM::LLVMPointerType>(type))
      return func.emitOpError("argument #")
             << index << " of type " << type << " cannot be a kernel parameter";
  return success();
}

LogicalResult checkLayouts(gpu::GPUFuncOp func, int64_t numWarps,
                           int64_t numLanes) {
  using tile_dialect::layout::HardwareDim;
  WalkResult result = func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (!isa<RankedTensorType>(type))
        continue;
      LayoutAttr layout = getLayoutAttr(type);
      if (!layout) {
        op->emitOpError("result of type ")
            << type
            << " has no layout: run convert-tile-to-tile-gpu before "
               "tile-gpu-distribute";
        return WalkResult::interrupt();
      }
      int64_t warps = layout.getLayout().getSize(HardwareDim::Warp);
      int64_t lanes = layout.getLayout().getSize(HardwareDim::Lane);
      if (warps != numWarps || lanes != numLanes) {
        op->emitOpError("has a layout of ")
            << warps << " warps of " << lanes << " lanes in a kernel of "
            << numWarps << " warps of " << numLanes;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether what axis info says of the results of `op`, given that of its
/// operands, holds whatever numbers the program computes with. What it says of
/// signed quotients and remainders holds for indices, which are taken not to
/// overflow (docs/rationale/AxisInfo.md): that may decide how wide an access
/// is, but not what a number is.
bool keepsFacts(Operation *op) {
  return op->getNumRegions() == 0 &&
         !isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
              arith::CeilDivSIOp>(op);
}

/// Writes on each elementwise op which of its elements are known to be equal:
/// the conversion computes only one of them. On the op, since the facts belong
/// to values that the conversion replaces.
void stateConstancy(gpu::GPUFuncOp func, const tile::ModuleAxisInfo &axisInfo) {
  DenseSet<Value> certain;
  // Of a scalar, only the divisor and the constant matter to the ops that are
  // left, and both survive an overflow.
  auto isCertain = [&](Value value) {
    return !isa<RankedTensorType>(value.getType()) || certain.contains(value);
  };
  func.walk([&](Operation *op) {
    if (!keepsFacts(op) || !llvm::all_of(op->getOperands(), isCertain))
      return;
    certain.insert_range(op->getResults());
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
        !isMemoryEffectFree(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !isa<IntegerType, IndexType>(type.getElementType()))
      return;
    tile::AxisInfo info = axisInfo.getAxisInfo(op->getResult(0));
    if (llvm::all_of(info.getConstancy(), [](int64_t n) { return n == 1; }))
      return;
    SmallVector<int32_t> constancy(info.getConstancy().begin(),
                                   info.getConstancy().end());
    op->setAttr(tile::kConstancyAttrName,
                DenseI32ArrayAttr::get(op->getContext(), constancy));
  });
}

/// Removes what `replaceWithRegisters` left.
void removeNames(gpu::GPUFuncOp func) {
  func.walk([](UnrealizedConversionCastOp cast) {
    if (cast.getInputs().getTypes() != cast.getOutputs().getTypes())
      return;
    cast.getOutputs().replaceAllUsesWith(cast.getInputs());
    cast.erase();
  });
}

LogicalResult TileGPUDistributePass::distribute(gpu::GPUFuncOp func) {
  MLIRContext *ctx = &getContext();
  int64_t numThreads = getNumThreads(func);
  if (numThreads == 0)
    return func.emitOpError("has no known_block_size: run "
                            "convert-tile-to-tile-gpu before "
                            "tile-gpu-distribute");
  int64_t numLanes = getNumLanes(func);
  if (numThreads % numLanes != 0)
    return func.emitOpError("has a block of ")
           << numThreads << " threads, which are no whole warps of "
           << numLanes;
  int64_t numWarps = numThreads / numLanes;
  if (failed(checkParameters(func)) ||
      failed(checkLayouts(func, numWarps, numLanes)))
    return failure();

  DistributionTypeConverter converter(ctx);
  DistributionContext context(func, numWarps, numLanes);
  stateConstancy(func, context.getAxisInfo());
  RewritePatternSet patterns(ctx);
  ConversionTarget target(*ctx);
  patterns.add<DistributeSignature>(converter, ctx);

  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return isDistributed(op, converter); });
  target.addDynamicallyLegalOp<gpu::GPUFuncOp>([&](gpu::GPUFuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType()) &&
           converter.isLegal(&op.getBody());
  });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  for (Dialect *dialect : ctx->getLoadedDialects())
    if (auto *interface =
            dialect->getRegisteredInterface<DistributeDialectInterface>())
      interface->populateDistributePatterns(converter, patterns, target,
                                            context);
  target.addIllegalDialect<tile::TileDialect, TileGPUDialect>();

  ConversionConfig config;
  config.allowPatternRollback = false;
  // A pattern cannot fail on an op that another pattern made: it reports the
  // error and goes on with any value.
  bool hadError = false;
  ScopedDiagnosticHandler handler(ctx, [&](Diagnostic &diagnostic) {
    hadError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure();
  });
  LogicalResult result =
      applyPartialConversion(func, target, std::move(patterns), config);
  if (failed(result) || hadError)
    return failure();
  removeNames(func);
  return success();
}

} // namespace

void tile_gpu::replaceWithRegisters(ConversionPatternRewriter &rewriter,
                                    Operation *op,
                                    SmallVector<Registers> results) {
  for (Registers &registers : results) {
    if (llvm::all_of(registers, [&](Value value) {
          return value.getDefiningOp() == registers.front().getDefiningOp();
        }))
      continue;
    auto names = UnrealizedConversionCastOp::create(
        rewriter, op->getLoc(), TypeRange(ValueRange(registers)), registers);
    registers.assign(names->result_begin(), names->result_end());
  }
  rewriter.replaceOpWithMultiple(op, std::move(results));
}
