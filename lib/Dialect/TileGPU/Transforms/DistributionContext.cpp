//===- DistributionContext.cpp - Types and entry values of a kernel -------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::BasisList;
using tile_dialect::layout::Coords;
using tile_dialect::layout::HardwareDim;
using tile_dialect::layout::Layout;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Static shared memory of a kernel may be this large (CUDA C++ Programming
/// Guide, "Compute Capabilities"); more must be dynamic.
static constexpr int64_t kMaxStaticSharedBytes = 48 * 1024;

DistributionTypeConverter::DistributionTypeConverter(MLIRContext *context) {
  addConversion([](Type type) { return type; });
  addConversion([](tile::PtrType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), type.getMemorySpace());
  });
  addConversion(
      [](tile::DescType type, SmallVectorImpl<Type> &results) -> LogicalResult {
        MLIRContext *context = type.getContext();
        size_t rank = type.getShape().size();
        results.push_back(LLVM::LLVMPointerType::get(context, 1));
        results.append(rank, IntegerType::get(context, 32));
        results.append(rank, IntegerType::get(context, 64));
        results.push_back(IntegerType::get(context, 1));
        return success();
      });
  addConversion(
      [](MemDescType type, SmallVectorImpl<Type> &results) -> LogicalResult {
        MLIRContext *context = type.getContext();
        results.push_back(LLVM::LLVMPointerType::get(context, 3));
        results.append(type.getShape().size(), IntegerType::get(context, 32));
        return success();
      });
  addConversion([](TokenType, SmallVectorImpl<Type> &) -> LogicalResult {
    return success();
  });
  addConversion(
      [this](RankedTensorType type,
             SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        LayoutAttr layout = getLayoutAttr(type);
        if (!layout)
          return failure();
        Type element = convertType(type.getElementType());
        if (!element)
          return failure();
        results.append(layout.getLayout().getNumRegisters(type.getShape()),
                       element);
        return success();
      });
}

int64_t tile_gpu::getElementBytes(Type type) {
  if (isa<tile::PtrType, LLVM::LLVMPointerType, IndexType>(type))
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Type tile_gpu::getMemoryType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (auto ptr = dyn_cast<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), ptr.getMemorySpace());
  return type;
}

//===----------------------------------------------------------------------===//
// Dialect interfaces
//===----------------------------------------------------------------------===//

int64_t tile_gpu::getScratchBytes(Operation *op) {
  int64_t bytes = 0;
  for (Dialect *dialect : op->getContext()->getLoadedDialects())
    if (auto *interface =
            dialect->getRegisteredInterface<DistributeDialectInterface>())
      bytes = std::max(bytes, interface->getScratchBytes(op));
  return bytes;
}

bool tile_gpu::hasInternalBarrier(Operation *op) {
  for (Dialect *dialect : op->getContext()->getLoadedDialects())
    if (auto *interface =
            dialect->getRegisteredInterface<DistributeDialectInterface>())
      if (interface->hasInternalBarrier(op))
        return true;
  return false;
}

int64_t tile_gpu::getAtomicElements(Operation *op) {
  int64_t elements = 1;
  for (Dialect *dialect : op->getContext()->getLoadedDialects())
    if (auto *interface =
            dialect->getRegisteredInterface<DistributeDialectInterface>())
      elements = std::max(elements, interface->getAtomicElements(op));
  return elements;
}

//===----------------------------------------------------------------------===//
// Entry values
//===----------------------------------------------------------------------===//

static Value constantI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

DistributionContext::DistributionContext(Operation *kernel, int64_t numWarps,
                                         int64_t numLanes)
    : kernel(kernel), numWarps(numWarps), numLanes(numLanes) {
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttrName))
    sharedBytes = attr.getInt();
  Block &entry = cast<FunctionOpInterface>(kernel).getFunctionBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Location loc = kernel->getLoc();
  Value index = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  threadId =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  laneId = arith::AndIOp::create(builder, loc, threadId,
                                 constantI32(builder, loc, numLanes - 1));
  auto shift = constantI32(builder, loc, llvm::Log2_64(numLanes));
  auto warp = arith::ShRUIOp::create(builder, loc, threadId, shift);
  warpId = warp;
  prologueEnd = warp;
}

const tile::ModuleAxisInfo &DistributionContext::getAxisInfo() {
  if (!axisInfo)
    axisInfo.emplace(kernel);
  return *axisInfo;
}

template <typename T>
T DistributionContext::atEntry(OpBuilder &builder,
                               llvm::function_ref<T()> create) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(prologueEnd);
  // What `create` inserts extends the prologue, so that later entry values may
  // use it.
  Operation *next = prologueEnd->getNextNode();
  T result = create();
  prologueEnd = next ? next->getPrevNode() : &prologueEnd->getBlock()->back();
  return result;
}

/// The part of the coordinate along `dim` that the bits of `index` contribute,
/// or null for none. Neighbouring bits with neighbouring powers of two as bases
/// move together, by one mask and one shift.
static Value emitBits(OpBuilder &builder, Location loc, Value index,
                      const BasisList &bases, unsigned dim) {
  Value sum;
  for (size_t bit = 0; bit < bases.size();) {
    int64_t basis = bases[bit][dim];
    if (basis == 0) {
      ++bit;
      continue;
    }
    size_t end = bit + 1;
    if (llvm::isPowerOf2_64(basis))
      while (end < bases.size() && bases[end][dim] == basis << (end - bit))
        ++end;
    int64_t mask = ((int64_t(1) << (end - bit)) - 1) << bit;
    Value part = arith::AndIOp::create(builder, loc, index,
                                       constantI32(builder, loc, mask));
    if (llvm::isPowerOf2_64(basis)) {
      int64_t target = llvm::Log2_64(basis);
      if (target > int64_t(bit))
        part = arith::ShLIOp::create(builder, loc, part,
                                     constantI32(builder, loc, target - bit));
      else if (target < int64_t(bit))
        part = arith::ShRUIOp::create(builder, loc, part,
                                      constantI32(builder, loc, bit - target));
    } else {
      // A basis of several bits: all of them if the index bit is set.
      Value isSet =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, part,
                                constantI32(builder, loc, 0));
      part = arith::SelectOp::create(builder, loc, isSet,
                                     constantI32(builder, loc, basis),
                                     constantI32(builder, loc, 0));
    }
    sum = sum ? Value(arith::XOrIOp::create(builder, loc, sum, part)) : part;
    bit = end;
  }
  return sum;
}

SmallVector<Value> DistributionContext::getThreadCoords(OpBuilder &builder,
                                                        LayoutAttr attr) {
  auto it = threadCoords.find(attr);
  if (it != threadCoords.end())
    return it->second;
  const Layout &layout = attr.getLayout();
  Location loc = kernel->getLoc();
  SmallVector<Value> coords = atEntry<SmallVector<Value>>(builder, [&] {
    SmallVector<Value> coords;
    for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
      Value lane = emitBits(builder, loc, laneId,
                            layout.getBases(HardwareDim::Lane), dim);
      Value warp = emitBits(builder, loc, warpId,
                            layout.getBases(HardwareDim::Warp), dim);
      if (lane && warp)
        coords.push_back(arith::XOrIOp::create(builder, loc, lane, warp));
      else if (lane || warp)
        coords.push_back(lane ? lane : warp);
      else
        coords.push_back(constantI32(builder, loc, 0));
    }
    return coords;
  });
  threadCoords[attr] = coords;
  return coords;
}

/// The coordinate bits that lanes and warps can set, along `dim`.
static int64_t getThreadBits(const Layout &layout, unsigned dim) {
  int64_t bits = 0;
  for (HardwareDim hardware : {HardwareDim::Lane, HardwareDim::Warp})
    for (const auto &basis : layout.getBases(hardware))
      bits |= basis[dim];
  return bits;
}

/// base ^ constant, as an addition where no bit overlaps: the back end folds a
/// constant addend into an address.
static Value combineWithConstant(OpBuilder &builder, Location loc, Value base,
                                 int64_t constant, int64_t baseBits) {
  if (constant == 0)
    return base;
  Value value = constantI32(builder, loc, constant);
  if ((baseBits & constant) != 0)
    return arith::XOrIOp::create(builder, loc, base, value);
  return arith::AddIOp::create(builder, loc, base, value,
                               arith::IntegerOverflowFlags::nsw |
                                   arith::IntegerOverflowFlags::nuw);
}

SmallVector<SmallVector<Value>>
DistributionContext::getCoords(OpBuilder &builder, Location loc,
                               RankedTensorType type) {
  LayoutAttr attr = getLayoutAttr(type);
  const Layout &layout = attr.getLayout();
  SmallVector<Value> base = getThreadCoords(builder, attr);
  SmallVector<int64_t> bits;
  for (unsigned dim = 0; dim < layout.getRank(); ++dim)
    bits.push_back(getThreadBits(layout, dim));
  SmallVector<SmallVector<Value>> result;
  // Registers share coordinates: make each one once.
  SmallVector<llvm::DenseMap<int64_t, Value>> made(layout.getRank());
  for (const Coords &constant : layout.getRegisterCoords(type.getShape())) {
    SmallVector<Value> &coords = result.emplace_back();
    for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
      Value &value = made[dim][constant[dim]];
      if (!value)
        value = combineWithConstant(builder, loc, base[dim], constant[dim],
                                    bits[dim]);
      coords.push_back(value);
    }
  }
  return result;
}

SmallVector<Value>
DistributionContext::getLinearIndices(OpBuilder &builder, Location loc,
                                      RankedTensorType type) {
  SmallVector<Value> result;
  for (ArrayRef<Value> coords : getCoords(builder, loc, type)) {
    Value index;
    for (auto [coord, extent] : llvm::zip_equal(coords, type.getShape())) {
      if (index)
        index = arith::MulIOp::create(builder, loc, index,
                                      constantI32(builder, loc, extent));
      index = index ? Value(arith::AddIOp::create(builder, loc, index, coord))
                    : coord;
    }
    result.push_back(index ? index : constantI32(builder, loc, 0));
  }
  return result;
}

Value DistributionContext::getIsUniqueHolder(OpBuilder &builder,
                                             LayoutAttr attr) {
  auto it = uniqueHolder.find(attr);
  if (it != uniqueHolder.end())
    return it->second;
  const Layout &layout = attr.getLayout();
  uint32_t laneMask = layout.getFreeMask(HardwareDim::Lane);
  uint32_t warpMask = layout.getFreeMask(HardwareDim::Warp);
  Location loc = kernel->getLoc();
  Value result;
  if (laneMask || warpMask)
    result = atEntry<Value>(builder, [&] {
      int64_t mask = laneMask | int64_t(warpMask) * numLanes;
      Value bits = arith::AndIOp::create(builder, loc, threadId,
                                         constantI32(builder, loc, mask));
      return Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         bits, constantI32(builder, loc, 0)));
    });
  uniqueHolder[attr] = result;
  return result;
}

Value DistributionContext::getIsFirstThread(OpBuilder &builder) {
  if (!isFirstThread) {
    Location loc = kernel->getLoc();
    isFirstThread = atEntry<Value>(builder, [&] {
      return Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         threadId,
                                         constantI32(builder, loc, 0)));
    });
  }
  return isFirstThread;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

std::string tile_gpu::getUniqueName(Operation *kernel, StringRef suffix) {
  auto isTaken = [&](StringRef name) {
    return SymbolTable::lookupSymbolIn(kernel->getParentOp(), name) != nullptr;
  };
  std::string name =
      (cast<SymbolOpInterface>(kernel).getName() + "_" + suffix).str();
  if (!isTaken(name))
    return name;
  unsigned counter = 0;
  return SymbolTable::generateSymbolName<64>(name, isTaken, counter)
      .str()
      .str();
}

/// The kernel's shared memory as a global of its module: of the kernel's own
/// size if static shared memory may be that large, else the open array whose
/// size the launch gives.
static LLVM::GlobalOp createSharedMemory(OpBuilder &builder, Operation *kernel,
                                         int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(kernel);
  bool isStatic = bytes <= kMaxStaticSharedBytes;
  auto type =
      LLVM::LLVMArrayType::get(builder.getI8Type(), isStatic ? bytes : 0);
  std::string name = getUniqueName(kernel, "shared_memory");
  auto global = LLVM::GlobalOp::create(
      builder, kernel->getLoc(), type, /*isConstant=*/false,
      isStatic ? LLVM::Linkage::Internal : LLVM::Linkage::External, name,
      /*value=*/Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
  // A launcher has to know the size that the type does not say.
  if (!isStatic)
    global->setDiscardableAttr(kSharedBytesAttrName,
                               builder.getI64IntegerAttr(bytes));
  return global;
}

Value DistributionContext::getSharedPtr(OpBuilder &builder, Location loc,
                                        int64_t offset) {
  if (!sharedBase) {
    LLVM::GlobalOp global = createSharedMemory(builder, kernel, sharedBytes);
    sharedBase = atEntry<Value>(builder, [&] {
      return Value(
          LLVM::AddressOfOp::create(builder, kernel->getLoc(), global));
    });
  }
  if (offset == 0)
    return sharedBase;
  return LLVM::GEPOp::create(builder, loc, sharedBase.getType(),
                             builder.getI8Type(), sharedBase,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

FailureOr<Value> DistributionContext::getScratchPtr(OpBuilder &builder,
                                                    Operation *op) {
  auto scratch = op->getAttrOfType<ScratchAttr>(kScratchAttrName);
  if (!scratch)
    return op->emitOpError("needs ")
           << getScratchBytes(op)
           << " bytes of shared memory but has no `tile_gpu.scratch`: run "
              "tile-gpu-allocate-shared-memory before tile-gpu-distribute";
  return getSharedPtr(builder, op->getLoc(), scratch.getOffset());
}
