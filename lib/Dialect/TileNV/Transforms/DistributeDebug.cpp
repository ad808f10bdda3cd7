//===- DistributeDebug.cpp - print, assert and barrier --------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DistributeDetail.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::tile_nv;
using namespace mlir::tile_nv::nv_detail;

namespace {

//===----------------------------------------------------------------------===//
// print
//===----------------------------------------------------------------------===//

/// Text as it stands in a format string.
std::string escapeFormat(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '%' ? std::string("%%") : std::string(1, c);
  return escaped;
}

/// A value as an argument of printf, with its conversion.
std::pair<std::string, Value> formatValue(OpBuilder &builder, Location loc,
                                          const tile_dialect::ChipInfo &chip,
                                          Value value, bool hex) {
  Type type = value.getType(), i32 = builder.getI32Type();
  if (isa<LLVM::LLVMPointerType>(type))
    return {"0x%016llx", toStorage(builder, loc, value)};
  if (isa<FloatType>(type)) {
    if (type.getIntOrFloatBitWidth() < 32)
      value =
          emitFloatCast(builder, loc, chip, value, builder.getF32Type(), {});
    return {"%f", value};
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32)
    value = hex || bits == 1
                ? Value(arith::ExtUIOp::create(builder, loc, i32, value))
                : Value(arith::ExtSIOp::create(builder, loc, i32, value));
  if (hex)
    return {"0x%0" + std::to_string(std::max(1u, bits / 4)) +
                (bits == 64 ? "llx" : "x"),
            value};
  return {bits == 64 ? "%lld" : "%d", value};
}

struct DistributePrint : public OpConversionPattern<tile::PrintOp> {
  DistributePrint(const TypeConverter &converter, MLIRContext *patternContext,
                  DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::PrintOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> position;
    for (auto dim : {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z})
      position.push_back(arith::IndexCastOp::create(
          rewriter, loc, rewriter.getI32Type(),
          gpu::BlockIdOp::create(rewriter, loc, dim)));
    std::string start = "pid (%u, %u, %u) ";
    std::string prefix = escapeFormat(op.getPrefix());
    if (op.getArgs().empty())
      printIf(rewriter, loc, context.getIsFirstThread(rewriter),
              start + prefix + "\n", position);
    for (auto [index, arg] : llvm::enumerate(op.getArgs())) {
      std::string label = prefix;
      if (op.getArgs().size() > 1)
        label += "(operand " + std::to_string(index) + ") ";
      printArgument(op, arg.getType(), adaptor.getArgs()[index], start, label,
                    position, rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// One line for each element, by the one thread that stands for its holders.
  void printArgument(tile::PrintOp op, Type type, ValueRange registers,
                     StringRef start, StringRef label, ArrayRef<Value> position,
                     OpBuilder &builder) const {
    Location loc = op.getLoc();
    const tile_dialect::ChipInfo &chip = getChip(context.getKernel());
    Value acting = getActingThread(builder, context, type);
    SmallVector<SmallVector<Value>> coords;
    if (auto tileType = dyn_cast<RankedTensorType>(type))
      coords = context.getCoords(builder, loc, tileType);
    for (auto [reg, value] : llvm::enumerate(registers)) {
      if (isCopyRegister(type, reg))
        continue;
      std::string format = start.str();
      SmallVector<Value> args(position);
      if (!coords.empty()) {
        format += "idx (";
        for (size_t dim = 0; dim < coords[reg].size(); ++dim)
          format += dim ? ", %u" : "%u";
        format += ") ";
        llvm::append_range(args, coords[reg]);
      }
      auto [conversion, argument] =
          formatValue(builder, loc, chip, value, op.getHex());
      args.push_back(argument);
      printIf(builder, loc, acting, format + label.str() + conversion + "\n",
              args);
    }
  }

  static void printIf(OpBuilder &builder, Location loc, Value condition,
                      const std::string &format, ValueRange args) {
    if (!condition) {
      gpu::PrintfOp::create(builder, loc, format, args);
      return;
    }
    scf::IfOp::create(builder, loc, condition, [&](OpBuilder &b, Location l) {
      gpu::PrintfOp::create(b, l, format, args);
      scf::YieldOp::create(b, l);
    });
  }

  DistributionContext &context;
};

//===----------------------------------------------------------------------===//
// assert
//===----------------------------------------------------------------------===//

/// The innermost file location in `loc`, if there is one.
FileLineColLoc findFileLocation(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location part) {
    found = dyn_cast<FileLineColLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

struct DistributeAssert : public OpConversionPattern<tile::AssertOp> {
  DistributeAssert(const TypeConverter &converter, MLIRContext *patternContext,
                   DistributionContext &context)
      : OpConversionPattern(converter, patternContext), context(context) {}

  LogicalResult
  matchAndRewrite(tile::AssertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value holds;
    for (Value value : adaptor.getCondition())
      holds = emitAnd(rewriter, loc, holds, value);
    Value fails = arith::XOrIOp::create(rewriter, loc, holds,
                                        createInt(rewriter, loc, 1, 1));
    LogicalResult result = success();
    scf::IfOp::create(rewriter, loc, fails, [&](OpBuilder &b, Location l) {
      result = emitCall(op, b);
      scf::YieldOp::create(b, l);
    });
    if (failed(result))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  /// CUDA's `__assertfail(message, file, line, function, size of a char)`.
  LogicalResult emitCall(tile::AssertOp op, OpBuilder &builder) const {
    Location loc = op.getLoc();
    FileLineColLoc file = findFileLocation(loc);
    StringRef fileName = file ? file.getFilename().getValue() : "unknown";
    StringRef kernel = cast<SymbolOpInterface>(context.getKernel()).getName();
    SmallVector<Value> args{getString(builder, loc, op.getMessage()),
                            getString(builder, loc, fileName),
                            createI32(builder, loc, file ? file.getLine() : 0),
                            getString(builder, loc, kernel),
                            createInt(builder, loc, 64, 1)};
    return callFunction(builder, op, context.getModule(), "__assertfail",
                        Type(), args, /*pure=*/false);
  }

  /// A pointer to the zero-terminated `text`, one global for equal texts.
  Value getString(OpBuilder &builder, Location loc, StringRef text) const {
    std::string data = text.str() + '\0';
    Block &module = context.getModule()->getRegion(0).front();
    LLVM::GlobalOp global;
    for (auto candidate : module.getOps<LLVM::GlobalOp>()) {
      auto value = dyn_cast_or_null<StringAttr>(candidate.getValueAttr());
      if (candidate.getConstant() && candidate.getAddrSpace() == 0 && value &&
          value.getValue() == data)
        global = candidate;
    }
    if (!global) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&module);
      std::string name;
      unsigned count = 0;
      do
        name = "tile_nv_text_" + std::to_string(count++);
      while (SymbolTable::lookupSymbolIn(context.getModule(), name));
      auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), data.size());
      // Not at `loc`: MLIR's debug information takes the place of an inlined
      // call for one in a function.
      global = LLVM::GlobalOp::create(
          builder, context.getModule()->getLoc(), type, /*isConstant=*/true,
          LLVM::Linkage::Internal, name, builder.getStringAttr(data));
    }
    return LLVM::AddressOfOp::create(builder, loc, global);
  }

  DistributionContext &context;
};

//===----------------------------------------------------------------------===//
// barrier
//===----------------------------------------------------------------------===//

/// `bar.sync` orders the global memory accesses of a block as well.
struct DistributeBarrier : public OpConversionPattern<tile::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::BarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    gpu::BarrierOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

/// `bar.warp.sync` orders what its lanes access in any memory.
struct DistributeWarpBarrier : public OpConversionPattern<tile_gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile_gpu::BarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getOfWarp())
      return rewriter.notifyMatchFailure(op, "is for more than a warp");
    Value allLanes = createI32(rewriter, op.getLoc(), -1);
    rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, allLanes);
    return success();
  }
};

/// A promise goes on to LLVM.
struct DistributeAssume : public OpConversionPattern<tile::AssumeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::AssumeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::AssumeOp>(op, adaptor.getCondition());
    return success();
  }
};

} // namespace

void nv_detail::populateDebugPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      DistributionContext &context) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<DistributePrint, DistributeAssert>(converter, ctx, context);
  patterns.add<DistributeBarrier, DistributeWarpBarrier, DistributeAssume>(
      converter, ctx);
}
