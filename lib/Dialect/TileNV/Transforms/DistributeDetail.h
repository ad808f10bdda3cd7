//===- DistributeDetail.h - Shared by the NVIDIA patterns -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_DIALECT_TILENV_TRANSFORMS_DISTRIBUTEDETAIL_H
#define TILEDIALECT_LIB_DIALECT_TILENV_TRANSFORMS_DISTRIBUTEDETAIL_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "TileDialect/Dialect/TileGPU/Transforms/ScalarEmission.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <memory>

namespace mlir::tile_nv::nv_detail {

using tile_gpu::createI32;
using tile_gpu::createInt;
using tile_gpu::DistributionContext;
using tile_gpu::emitAnd;
using tile_gpu::fromStorage;
using tile_gpu::getStorageType;
using tile_gpu::packVector;
using tile_gpu::Registers;
using tile_gpu::toStorage;
using tile_gpu::unpackVector;

/// The chip of the `#nvvm.target` of the module that holds `kernel`; the oldest
/// chip, whose code runs everywhere, if it names none.
const tile_dialect::ChipInfo &getChip(Operation *kernel);

//===----------------------------------------------------------------------===//
// Widths of memory accesses
//===----------------------------------------------------------------------===//

/// How many consecutive registers each memory op may access at once. Computed
/// before the conversion starts, because the facts belong to values that it
/// replaces.
class AccessPlan {
public:
  explicit AccessPlan(DistributionContext &context);
  /// Elements of one access of `op`; 1 if nothing is known.
  int64_t getWidth(Operation *op) const { return widths.lookup_or(op, 1); }
  /// For each register that `load` fills the first one that it fills from the
  /// same address; empty if that is itself for all.
  ArrayRef<size_t> getSameAddress(tile::LoadOp load) const;

private:
  llvm::DenseMap<Operation *, int64_t> widths;
  llvm::DenseMap<Operation *, SmallVector<size_t>> sameAddress;
};

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

Value createFloat(OpBuilder &builder, Location loc, Type type, double value);

/// The LLVM or NVVM intrinsic `name`, without the suffixes of its overloads.
Value callIntrinsic(OpBuilder &builder, Location loc, StringRef name, Type type,
                    ValueRange operands);
/// PTX whose results are `types`. Several results make the op yield a struct,
/// which is taken apart here. Text that is not `pure` keeps its place among
/// other accesses to memory.
SmallVector<Value> emitPTX(OpBuilder &builder, Location loc, StringRef text,
                           StringRef constraints, TypeRange types,
                           ValueRange operands, bool pure);
/// The letter of LLVM's inline assembly constraints for values of `type`.
char getConstraintLetter(Type type);
/// `{$first, $first+1, ...}`, or the one operand alone.
std::string getOperandList(unsigned first, int64_t count);
/// `.global`, `.shared` or nothing for the memory that `ptr` points to.
StringRef getStateSpace(Value ptr);

/// Calls the external function `name`, declared in `module` at first use. Fails
/// with a diagnostic at `op` if the module has another symbol of that name. A
/// `pure` function has no side effects and always returns.
FailureOr<Value> callFunction(OpBuilder &builder, Operation *op,
                              Operation *module, StringRef name, Type type,
                              ValueRange operands, bool pure);

/// How an access treats the caches.
struct AccessFlags {
  tile::CacheModifier cache = tile::CacheModifier::None;
  tile::EvictionPolicy eviction = tile::EvictionPolicy::Normal;
  bool isVolatile = false;
};

/// Loads `width` consecutive elements of `type` from `ptr`, which is aligned to
/// all of them: `width` elements are 1 to 16 bytes, a power of two. Nothing is
/// read where `predicate` (may be null) is false: `other`, or zero if it is
/// empty.
Registers emitLoad(OpBuilder &builder, Location loc, Value ptr, Type type,
                   int64_t width, Value predicate, ValueRange other,
                   AccessFlags flags);
/// The opposite.
void emitStore(OpBuilder &builder, Location loc, Value ptr, ValueRange values,
               Value predicate, AccessFlags flags);

/// One PTX atomic. Returns the old value, or null if `wantResult` is false.
/// Where `predicate` (may be null) is false nothing happens and the result is
/// zero.
struct AtomicOrder {
  tile::MemSemantic sem = tile::MemSemantic::Relaxed;
  tile::MemScope scope = tile::MemScope::GPU;
};
Value emitAtomicRMW(OpBuilder &builder, Location loc,
                    const tile_dialect::ChipInfo &chip, tile::RMWKind kind,
                    Value ptr, Value value, Value predicate, AtomicOrder order,
                    bool wantResult);
/// The same for `values.size()` consecutive elements at `ptr`, which is aligned
/// to all of them, as one access; each element is atomic for itself. Several
/// elements only where getAtomicElements allows it. Without `wantResult` the
/// result is empty.
Registers emitAtomicRMW(OpBuilder &builder, Location loc,
                        const tile_dialect::ChipInfo &chip, tile::RMWKind kind,
                        Value ptr, ValueRange values, Value predicate,
                        AtomicOrder order, bool wantResult);
/// Most elements of one access of `op`, an atomic: 1 for most.
int64_t getAtomicElements(Operation *op);
/// True if emitAtomicRMW loops over a compare-and-swap, which is relaxed.
bool isAtomicLoop(const tile_dialect::ChipInfo &chip, tile::RMWKind kind,
                  Type type);

//===----------------------------------------------------------------------===//
// Approximations of mathematical functions on f32
//===----------------------------------------------------------------------===//

/// Bounds of errors and ranges are in docs/rationale/TileNV.md. With `fast`,
/// the hardware's approximation alone; with `flush`, subnormal results are
/// zero, which saves the instructions that scale them.
Value emitExp(OpBuilder &builder, Location loc, Value x, bool fast, bool flush);
Value emitExp2(OpBuilder &builder, Location loc, Value x, bool flush);
Value emitLog(OpBuilder &builder, Location loc, Value x, bool fast);
Value emitLog2(OpBuilder &builder, Location loc, Value x, bool fast);
Value emitSin(OpBuilder &builder, Location loc, Value x, bool fast);
Value emitCos(OpBuilder &builder, Location loc, Value x, bool fast);
std::pair<Value, Value> emitSinCos(OpBuilder &builder, Location loc, Value x);

//===----------------------------------------------------------------------===//
// Conversions between floating-point types
//===----------------------------------------------------------------------===//

struct CastOptions {
  tile::Rounding rounding = tile::Rounding::NearestEven;
  /// For fp8 results: what is too large becomes the largest finite value. If
  /// not, infinity, or NaN where the type has no infinity.
  bool saturate = true;
};
/// Between any two of f8E4M3FN, f8E5M2, f16, bf16, f32 and f64.
Value emitFloatCast(OpBuilder &builder, Location loc,
                    const tile_dialect::ChipInfo &chip, Value value, Type type,
                    CastOptions options);

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

void populateMemoryPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            DistributionContext &context,
                            std::shared_ptr<const AccessPlan> plan);
void populateDescriptorPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                DistributionContext &context,
                                std::shared_ptr<const AccessPlan> plan);
void populateAtomicPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            DistributionContext &context,
                            std::shared_ptr<const AccessPlan> plan);
void populateMathPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, ConversionTarget &target,
                          DistributionContext &context);
void populateArithPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns,
                           ConversionTarget &target,
                           DistributionContext &context);
void populateCastPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns, ConversionTarget &target,
                          DistributionContext &context);
void populateCallPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          DistributionContext &context);
void populateDebugPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns,
                           DistributionContext &context);

/// Scratch memory of an atomic whose result other threads need.
int64_t getAtomicScratchBytes(Operation *op);

//===----------------------------------------------------------------------===//
// Small helpers of patterns
//===----------------------------------------------------------------------===//

/// Register `reg` of an operand; a scalar operand serves all registers.
inline Value at(ValueRange range, size_t reg) {
  return range.size() == 1 ? range.front() : range[reg];
}

/// The predicate of the one thread that acts for all holders of an element of
/// `type` (a tile or scalar type); null if every thread acts.
Value getActingThread(OpBuilder &builder, DistributionContext &context,
                      Type type);
/// True if register `reg` is a copy of another register of the same tile.
bool isCopyRegister(Type type, int64_t reg);
/// True if some element of a tile (or the scalar) has several holders.
bool hasCopies(Type type);

} // namespace mlir::tile_nv::nv_detail

#endif // TILEDIALECT_LIB_DIALECT_TILENV_TRANSFORMS_DISTRIBUTEDETAIL_H
