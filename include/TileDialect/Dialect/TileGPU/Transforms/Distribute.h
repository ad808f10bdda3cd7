//===- Distribute.h - From tiles to the scalars of a thread -----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tile-gpu-distribute` is one 1:N dialect conversion: each tile with a layout
// becomes the scalars that one thread holds, in the order of the layout's
// registers. A dialect takes part by implementing DistributeDialectInterface.
//
// Ops that are elementwise need no pattern for tiles: the generic one splits
// them into the same op on scalars. What is left for a dialect is to legalise
// its op on scalars.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_DISTRIBUTE_H
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_DISTRIBUTE_H

#include "TileDialect/Analysis/AxisInfo.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::tile_gpu {

/// Types of a kernel after distribution:
/// - a tile with a layout: one scalar for each register of a thread;
/// - `!tile.ptr<T, space>`: `!llvm.ptr<space>` (generic: `!llvm.ptr`);
/// - `!tile.desc`: base pointer, one i32 extent and one i64 stride for each
///   dimension, and an i1 that is true if padding is NaN;
/// - `!tile_gpu.memdesc`: `!llvm.ptr<3>` to its first element, and one i32 for
///   each dimension: the offset of the view within the allocation (the swizzle
///   is a function of the position in the allocation);
/// - `!tile_gpu.token`: nothing.
class DistributionTypeConverter : public TypeConverter {
public:
  explicit DistributionTypeConverter(MLIRContext *context);
};

/// What patterns need to know of the kernel that is being distributed, and the
/// values that are computed once at its entry.
class DistributionContext {
public:
  /// `threadId`, `laneId` and `warpId` are i32 values at the entry of `kernel`.
  DistributionContext(Operation *kernel, int64_t numWarps, int64_t numLanes);

  /// The `gpu.func` or other function-like op.
  Operation *getKernel() const { return kernel; }
  int64_t getNumWarps() const { return numWarps; }
  int64_t getNumLanes() const { return numLanes; }
  /// i32 index of the thread in its block, of the lane in its warp, of the warp
  /// in its block.
  Value getThreadId() const { return threadId; }
  Value getLaneId() const { return laneId; }
  Value getWarpId() const { return warpId; }

  /// What is known of the kernel's tiles. Only until the conversion starts: it
  /// replaces the values that the facts belong to.
  const tile::ModuleAxisInfo &getAxisInfo();

  /// The i32 coordinates that the lane and warp contribute: the element that
  /// register 0 of this thread holds. Computed once per layout, at the entry.
  SmallVector<Value> getThreadCoords(OpBuilder &builder, LayoutAttr layout);
  /// The i32 coordinates of each register of a tile: result[register][dim].
  SmallVector<SmallVector<Value>> getCoords(OpBuilder &builder, Location loc,
                                            RankedTensorType type);
  /// The row-major i32 index of each register's element.
  SmallVector<Value> getLinearIndices(OpBuilder &builder, Location loc,
                                      RankedTensorType type);

  /// True in the one thread that stands for all holders of the same element
  /// (the one whose free lane, warp and block bits are zero); a null value if
  /// every element has one holder.
  Value getIsUniqueHolder(OpBuilder &builder, LayoutAttr layout);
  /// True in thread 0 of the block.
  Value getIsFirstThread(OpBuilder &builder);

  /// `!llvm.ptr<3>` to byte `offset` of the kernel's shared memory.
  Value getSharedPtr(OpBuilder &builder, Location loc, int64_t offset);
  /// The scratch memory that `tile-gpu-allocate-shared-memory` gave `op`, or
  /// failure with a diagnostic if it gave none.
  FailureOr<Value> getScratchPtr(OpBuilder &builder, Operation *op);

  /// The module that holds the kernel, for symbols (functions, globals).
  Operation *getModule() const { return kernel->getParentOp(); }

private:
  /// Runs `create` with the insertion point at the end of the entry's prologue.
  template <typename T>
  T atEntry(OpBuilder &builder, llvm::function_ref<T()> create);

  Operation *kernel;
  int64_t numWarps;
  int64_t numLanes;
  int64_t sharedBytes = 0;
  Value threadId, laneId, warpId, sharedBase, isFirstThread;
  std::optional<tile::ModuleAxisInfo> axisInfo;
  /// The last op of the prologue; entry values are created after it.
  Operation *prologueEnd = nullptr;
  llvm::DenseMap<Attribute, SmallVector<Value>> threadCoords;
  llvm::DenseMap<Attribute, Value> uniqueHolder;
};

/// Implemented by (or attached to) each dialect that brings patterns.
class DistributeDialectInterface
    : public DialectInterface::Base<DistributeDialectInterface> {
public:
  DistributeDialectInterface(Dialect *dialect) : Base(dialect) {}

  /// Adds patterns, and to `target` what else is illegal (an op on scalars,
  /// say). Ops with tile types or of the tile dialects are illegal already.
  /// `context` outlives the patterns.
  virtual void populateDistributePatterns(
      const DistributionTypeConverter &converter, RewritePatternSet &patterns,
      ConversionTarget &target, DistributionContext &context) const {}
  /// Shared memory that `op` needs while it runs; 0 if none or not its own op.
  virtual int64_t getScratchBytes(Operation *op) const { return 0; }
  /// True if what `op` becomes holds a barrier of all threads between its
  /// writes to its scratch memory and its reads of it.
  virtual bool hasInternalBarrier(Operation *op) const { return false; }
  /// Neighbours that the atomic `op` on global memory can take in one aligned
  /// access: a power of two.
  virtual int64_t getAtomicElements(Operation *op) const { return 1; }
};

/// The answers of all loaded dialects that implement the interface.
int64_t getScratchBytes(Operation *op);
bool hasInternalBarrier(Operation *op);
int64_t getAtomicElements(Operation *op);

/// `<kernel>_<suffix>`, with a number behind it if the kernel's module has a
/// symbol of that name already.
std::string getUniqueName(Operation *kernel, StringRef suffix);

/// The scalars of one tile value, by register.
using Registers = SmallVector<Value>;

/// `rewriter.replaceOpWithMultiple` in a time that does not depend on the size
/// of the block. MLIR looks for the last of several values, and numbers the
/// whole block to compare ops that are new in it. So if ops that differ made
/// them, one op names them all; tile-gpu-distribute takes it away at the end.
void replaceWithRegisters(ConversionPatternRewriter &rewriter, Operation *op,
                          SmallVector<Registers> results);

/// For each register of a tile of `type`, which has a layout, the first
/// register that holds an equal element, if along each dimension d every
/// aligned block of `constancy[d]` elements holds one value.
SmallVector<size_t> getRepresentatives(RankedTensorType type,
                                       ArrayRef<int64_t> constancy);

/// Bytes that an element of `type` takes in memory (i1: 1; pointers: 8).
int64_t getElementBytes(Type type);
/// The scalar type that holds `type` in memory: i1 -> i8, pointers as they
/// convert, others as they are.
Type getMemoryType(Type type);

/// Patterns of `tile_gpu` itself, for `tile` and `tile_gpu` ops and elementwise
/// ops of any dialect.
void populateShapePatterns(const DistributionTypeConverter &converter,
                           RewritePatternSet &patterns,
                           DistributionContext &context);
void populatePointerPatterns(const DistributionTypeConverter &converter,
                             RewritePatternSet &patterns);
void populateReductionPatterns(const DistributionTypeConverter &converter,
                               RewritePatternSet &patterns,
                               DistributionContext &context);
void populateConvertLayoutPatterns(const DistributionTypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   DistributionContext &context);
void populateSharedMemoryPatterns(const DistributionTypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  DistributionContext &context);
void populateElementwisePatterns(const DistributionTypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 DistributionContext &context);

/// Attaches the interface, with all the patterns above, to TileGPUDialect.
void registerDistributeInterface(DialectRegistry &registry);

/// Scratch of the ops that the patterns above lower through shared memory.
int64_t getReductionScratchBytes(Operation *op);
int64_t getConversionScratchBytes(Operation *op);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_DISTRIBUTE_H
