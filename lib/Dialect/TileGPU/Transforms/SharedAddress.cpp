//===- SharedAddress.cpp - Where elements lie in shared memory ------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Dialect/TileGPU/Transforms/SharedAddress.h"
#include "ThreadExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile_gpu;
using tile_dialect::layout::Coords;
using tile_dialect::layout::HardwareDim;
using tile_dialect::layout::Layout;

/// One access moves at most this many bytes.
static constexpr int64_t kMaxAccessBytes = 16;
/// The hardware swizzle moves chunks of 16 bytes by the number of the 128-byte
/// line (32 banks of 4 bytes) that they are in: bits 4... of an address are
/// XORed with bits 7... (PTX ISA, "Swizzling modes" of tensor copies).
static constexpr unsigned kChunkBits = 4, kLineBits = 7;

//===----------------------------------------------------------------------===//
// BufferMap
//===----------------------------------------------------------------------===//

BufferMap BufferMap::getRowMajor(ArrayRef<int64_t> shape, int64_t pitch,
                                 ArrayRef<unsigned> order) {
  BufferMap map;
  int64_t stride = pitch;
  for (size_t i = 0; i < shape.size(); ++i) {
    unsigned dim = order.empty() ? shape.size() - 1 - i : order[i];
    map.digits.push_back({dim, 0, -1, shape[dim], stride});
    stride *= shape[dim];
  }
  return map;
}

BufferMap
BufferMap::getSwizzled(ArrayRef<int64_t> shape,
                       const tile_dialect::layout::SharedSwizzle &swizzle,
                       int64_t elementBytes) {
  BufferMap map = getRowMajor(shape, elementBytes, swizzle.order);
  // The swizzle counts elements.
  unsigned log = llvm::Log2_64(elementBytes);
  for (const auto &term : swizzle.terms)
    map.terms.push_back({term.shift + log, term.mask, swizzle.chunkBits + log});
  return map;
}

BufferMap BufferMap::getShared(MemDescType type) {
  BufferMap map;
  ArrayRef<int32_t> order = type.getEncoding().getOrder();
  ArrayRef<int64_t> extents = type.getAllocTileShape();
  int64_t elementBytes = type.getElementBytes();
  int64_t span = type.getEncoding().getSwizzle();
  unsigned ring = type.isRing() ? 1 : 0;
  unsigned contiguous = order.back();
  int64_t width = extents[contiguous];
  int64_t panelWidth = span == 0 ? width : span / elementBytes;
  bool hasPanels = width > panelWidth;
  map.digits.push_back({contiguous + ring, 0,
                        hasPanels ? panelWidth - 1 : int64_t(-1),
                        std::min(width, panelWidth), elementBytes});
  int64_t stride = std::min(width, panelWidth) * elementBytes;
  for (int32_t dim : llvm::reverse(order.drop_back())) {
    map.digits.push_back({dim + ring, 0, -1, extents[dim], stride});
    stride *= extents[dim];
  }
  if (hasPanels) {
    map.digits.push_back({contiguous + ring, llvm::Log2_64(panelWidth), -1,
                          width / panelWidth, stride});
    stride *= width / panelWidth;
  }
  if (ring)
    map.digits.push_back({0, 0, -1, type.getAllocShape().front(), stride});
  if (span != 0)
    map.terms.push_back({kLineBits, (span >> kChunkBits) - 1, kChunkBits});
  return map;
}

int64_t BufferMap::getSum(ArrayRef<int64_t> coords) const {
  int64_t sum = 0;
  for (const Digit &digit : digits)
    sum += ((coords[digit.dim] >> digit.shift) & digit.mask) * digit.stride;
  return sum;
}

int64_t BufferMap::getOffset(ArrayRef<int64_t> coords) const {
  int64_t sum = getSum(coords), offset = sum;
  for (const Term &term : terms)
    offset ^= ((sum >> term.from) & term.mask) << term.to;
  return offset;
}

bool BufferMap::isLinear() const {
  // Digits are listed from the fastest: none may reach the bits of the next.
  int64_t end = 1;
  for (const Digit &digit : digits) {
    if (digit.extent == 1)
      continue;
    if (!llvm::isPowerOf2_64(digit.stride) || digit.stride < end)
      return false;
    end = digit.stride * llvm::NextPowerOf2(digit.extent - 1);
  }
  return true;
}

static Value emitShift(OpBuilder &builder, Location loc, Value value,
                       int64_t left) {
  if (left == 0)
    return value;
  Value amount = createI32(builder, loc, left < 0 ? -left : left);
  if (left > 0)
    return arith::ShLIOp::create(builder, loc, value, amount);
  return arith::ShRUIOp::create(builder, loc, value, amount);
}

static Value emitMask(OpBuilder &builder, Location loc, Value value,
                      int64_t mask) {
  if (mask == -1)
    return value;
  return arith::AndIOp::create(builder, loc, value,
                               createI32(builder, loc, mask));
}

Value BufferMap::emitSum(OpBuilder &builder, Location loc,
                         ArrayRef<Value> coords) const {
  Value sum;
  for (const Digit &digit : digits) {
    if (digit.extent == 1)
      continue;
    Value part =
        emitShift(builder, loc, coords[digit.dim], -int64_t(digit.shift));
    part = emitMask(builder, loc, part, digit.mask);
    if (llvm::isPowerOf2_64(digit.stride))
      part = emitShift(builder, loc, part, llvm::Log2_64(digit.stride));
    else
      part = arith::MulIOp::create(builder, loc, part,
                                   createI32(builder, loc, digit.stride));
    sum = sum ? Value(arith::AddIOp::create(builder, loc, sum, part)) : part;
  }
  return sum ? sum : createI32(builder, loc, 0);
}

Value BufferMap::emitTerms(OpBuilder &builder, Location loc, Value sum) const {
  Value offset = sum;
  for (const Term &term : terms) {
    Value bits = emitShift(builder, loc, sum, -int64_t(term.from));
    bits = emitMask(builder, loc, bits, term.mask);
    bits = emitShift(builder, loc, bits, term.to);
    offset = arith::XOrIOp::create(builder, loc, offset, bits);
  }
  return offset;
}

Value BufferMap::emitOffset(OpBuilder &builder, Location loc,
                            ArrayRef<Value> coords) const {
  return emitTerms(builder, loc, emitSum(builder, loc, coords));
}

//===----------------------------------------------------------------------===//
// TileAccess
//===----------------------------------------------------------------------===//

TileAccess::TileAccess(OpBuilder &builder, Location loc,
                       DistributionContext &context, LayoutAttr attr,
                       ArrayRef<int64_t> shape, const BufferMap &map,
                       Value base, ValueRange offsets)
    : builder(builder), loc(loc), context(context),
      type(RankedTensorType::get(shape, builder.getI8Type(), attr)), map(map),
      base(base), offsets(offsets) {
  const Layout &layout = attr.getLayout();
  registerCoords = layout.getRegisterCoords(shape);
  std::map<Coords, int64_t> first;
  for (auto [reg, coords] : llvm::enumerate(registerCoords))
    representatives.push_back(first.try_emplace(coords, reg).first->second);

  // An offset that keeps base tiles aligned only moves the registers'
  // constants.
  bool isAligned = true;
  Coords tile = layout.getBaseTile();
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    std::optional<int64_t> &constant = constantOffsets.emplace_back();
    APInt value;
    if (matchPattern(offset, m_ConstantInt(&value)))
      constant = value.getSExtValue();
    isAligned &= constant && *constant % tile[dim] == 0;
  }
  if (!isAligned)
    return;
  this->offsets.clear();
  for (Coords &coords : registerCoords)
    for (auto [coord, offset] : llvm::zip(coords, constantOffsets))
      coord += *offset;

  bool isDisjoint = true;
  for (HardwareDim dim : {HardwareDim::Lane, HardwareDim::Warp})
    for (const auto &basis : layout.getBases(dim)) {
      threadBits |= map.getOffset(Coords(basis.begin(), basis.end()));
      for (const auto &reg : layout.getBases(HardwareDim::Register))
        for (auto [a, b] : llvm::zip_equal(basis, reg))
          isDisjoint &= (a & b) == 0;
    }
  if (map.isLinear()) {
    mode = Mode::Linear;
    threadPart =
        map.emitOffset(builder, loc, context.getThreadCoords(builder, attr));
  } else if (isDisjoint) {
    mode = Mode::Sum;
    threadPart =
        map.emitSum(builder, loc, context.getThreadCoords(builder, attr));
  }
}

int64_t TileAccess::getOffsetAlignment(unsigned dim) const {
  if (dim >= constantOffsets.size() || constantOffsets[dim] == 0)
    return int64_t(1) << 30;
  if (!constantOffsets[dim])
    return 1;
  return *constantOffsets[dim] & -*constantOffsets[dim];
}

Value TileAccess::getBasePlus(Value offset) {
  APInt value;
  if (matchPattern(offset, m_ConstantInt(&value)))
    return createPtrAdd(builder, loc, base, value.getSExtValue());
  return createPtrAdd(builder, loc, base, offset);
}

Value TileAccess::emitRegisterOffset(int64_t reg) {
  if (mode == Mode::Sum) {
    Value sum = arith::AddIOp::create(
        builder, loc, threadPart,
        createI32(builder, loc, map.getSum(registerCoords[reg])));
    return map.emitTerms(builder, loc, sum);
  }
  if (coords.empty())
    coords = context.getCoords(builder, loc, type);
  SmallVector<Value> sums;
  for (auto [dim, coord] : llvm::enumerate(coords[reg])) {
    Value sum = coord;
    if (!offsets.empty())
      sum = arith::AddIOp::create(builder, loc, coord, offsets[dim]);
    else if (!constantOffsets.empty() && *constantOffsets[dim] != 0)
      sum = arith::AddIOp::create(
          builder, loc, coord, createI32(builder, loc, *constantOffsets[dim]));
    sums.push_back(sum);
  }
  return map.emitOffset(builder, loc, sums);
}

Value TileAccess::getPtr(int64_t reg) {
  bool isConstantApart =
      mode == Mode::Linear || (mode == Mode::Sum && !map.hasTerms());
  if (!isConstantApart)
    return getBasePlus(emitRegisterOffset(reg));
  int64_t constant = map.getOffset(registerCoords[reg]);
  // Bits that the thread sets too must be XORed; all others can be added, which
  // costs nothing: they become the displacement of the access.
  int64_t flipped = mode == Mode::Linear ? constant & threadBits : 0;
  Value &pointer = pointers[flipped];
  if (!pointer) {
    Value offset = threadPart;
    if (flipped != 0)
      offset = arith::XOrIOp::create(builder, loc, offset,
                                     createI32(builder, loc, flipped));
    pointer = getBasePlus(offset);
  }
  return createPtrAdd(builder, loc, pointer, constant ^ flipped);
}

//===----------------------------------------------------------------------===//
// Accesses of whole tiles
//===----------------------------------------------------------------------===//

int64_t tile_gpu::getAccessElements(LayoutAttr layout, ArrayRef<int64_t> shape,
                                    unsigned contiguousDim,
                                    int64_t elementBytes) {
  return std::min(
      layout.getLayout().getContiguousPerThread(contiguousDim, shape),
      std::max<int64_t>(kMaxAccessBytes / elementBytes, 1));
}

void tile_gpu::storeRegisters(OpBuilder &builder, Location loc,
                              TileAccess &access, ValueRange registers,
                              int64_t vectorElements) {
  for (int64_t reg = 0; reg < access.getNumRegisters(); reg += vectorElements)
    if (access.getRepresentative(reg) == reg)
      storeVector(builder, loc, registers.slice(reg, vectorElements),
                  access.getPtr(reg));
}

Registers tile_gpu::loadRegisters(OpBuilder &builder, Location loc,
                                  TileAccess &access, Type scalarType,
                                  int64_t vectorElements) {
  Registers result(access.getNumRegisters());
  for (int64_t reg = 0; reg < access.getNumRegisters(); reg += vectorElements) {
    int64_t first = access.getRepresentative(reg);
    if (first != reg) {
      for (int64_t i = 0; i < vectorElements; ++i)
        result[reg + i] = result[first + i];
      continue;
    }
    SmallVector<Value> loaded = loadVector(builder, loc, scalarType,
                                           vectorElements, access.getPtr(reg));
    llvm::copy(loaded, result.begin() + reg);
  }
  return result;
}

/// The widest access of the tile's registers that is contiguous and aligned in
/// the memory: within a chunk of the swizzle, and within a row.
static int64_t getMemDescAccessElements(RankedTensorType tileType,
                                        MemDescType type,
                                        const TileAccess &access) {
  unsigned contiguous =
      type.getEncoding().getOrder().back() + (type.isRing() ? 1 : 0);
  int64_t elements =
      getAccessElements(getLayoutAttr(tileType), tileType.getShape(),
                        contiguous, type.getElementBytes());
  int64_t row = type.getAllocShape()[contiguous];
  return std::min(
      {elements, row & -row, access.getOffsetAlignment(contiguous)});
}

/// The offsets of a view; a whole allocation has none.
static ValueRange getViewOffsets(MemDescType type, ValueRange converted) {
  if (type.getShape() == type.getAllocShape())
    return {};
  return converted.drop_front();
}

void tile_gpu::storeToMemDesc(OpBuilder &builder, Location loc,
                              DistributionContext &context,
                              RankedTensorType tileType, ValueRange registers,
                              MemDescType type, ValueRange converted) {
  LayoutAttr layout = getLayoutAttr(tileType);
  Value condition = context.getIsUniqueHolder(builder, layout);
  TileAccess access(builder, loc, context, layout, tileType.getShape(),
                    BufferMap::getShared(type), converted.front(),
                    getViewOffsets(type, converted));
  int64_t elements = getMemDescAccessElements(tileType, type, access);
  emitIf(builder, loc, condition,
         [&] { storeRegisters(builder, loc, access, registers, elements); });
}

Registers tile_gpu::loadFromMemDesc(OpBuilder &builder, Location loc,
                                    DistributionContext &context,
                                    RankedTensorType tileType, Type scalarType,
                                    MemDescType type, ValueRange converted) {
  TileAccess access(builder, loc, context, getLayoutAttr(tileType),
                    tileType.getShape(), BufferMap::getShared(type),
                    converted.front(), getViewOffsets(type, converted));
  int64_t elements = getMemDescAccessElements(tileType, type, access);
  return loadRegisters(builder, loc, access, scalarType, elements);
}
