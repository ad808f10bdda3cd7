//===- OpsTensorCopy.cpp - cp.async.bulk.tensor ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "TileDialect/Emulator/TensorMap.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

enum class TensorOp : uint8_t { Load, Store, Reduce, Prefetch };

struct TensorInfo {
  TensorOp op = TensorOp::Load;
  unsigned rank = 0;
  ReduceOp reduce = ReduceOp::None;
  Space sharedSpace = Space::SharedCluster;
  Operand map, shared, mbarrier, mask;
  int64_t mapOffset = 0, sharedOffset = 0, mbarrierOffset = 0;
  bool hasMask = false;
  bool isIm2col = false;
  Operand coordinates[maximalTensorRank];
  /// im2col: from the base pixels to those that are moved.
  unsigned numOffsets = 0;
  Operand offsets[maximalSpatialRank];
};

Type reduceType(TensorDataType type) {
  switch (type) {
  case TensorDataType::UInt32:
    return Type::U32;
  case TensorDataType::Int32:
    return Type::S32;
  case TensorDataType::UInt64:
    return Type::U64;
  case TensorDataType::Int64:
    return Type::S64;
  case TensorDataType::Float16:
    return Type::F16;
  case TensorDataType::BFloat16:
    return Type::BF16;
  case TensorDataType::Float32:
  case TensorDataType::Float32FTZ:
    return Type::F32;
  case TensorDataType::Float64:
    return Type::F64;
  default:
    return Type::None;
  }
}

Type fillType(TensorDataType type) {
  switch (elementBytes(type)) {
  case 1:
    return Type::B8;
  case 2:
    return Type::B16;
  case 8:
    return Type::B64;
  default:
    return Type::B32;
  }
}

/// The pattern of elements out of bounds; the NaN is the one of an H200, the
/// same for every type.
uint64_t fillBits(const TensorMap &map) {
  return map.fill == TensorFill::Zero ? 0 : 0x7FF7'7FF7'7FF7'7FF7ull;
}

/// One issued tensor copy.
class TensorWalk {
public:
  TensorWalk(Warp &warp, const Inst &inst, unsigned lane)
      : warp(warp), inst(inst), lane(lane),
        info(*static_cast<const TensorInfo *>(inst.extra)) {}

  bool issue();

private:
  bool fail(Report::Kind kind, const Twine &message) {
    warp.error(kind, inst, lane, message);
    return false;
  }
  bool writesGlobal() const {
    return info.op == TensorOp::Store || info.op == TensorOp::Reduce;
  }
  bool readMap();
  bool readCoordinates();
  bool addBlock(Block *block, uint32_t offset, BulkCopy &copy);
  bool addTile(Block *block, uint32_t offset, BulkCopy &copy);
  bool addPixels(Block *block, uint32_t offset, BulkCopy &copy);
  bool addRow(uint8_t *base, uint32_t offset, uint64_t address, bool inside,
              BulkCopy &copy);
  void addBytes(uint8_t *base, uint32_t offset, uint8_t *global, uint32_t bytes,
                BulkCopy &copy);

  Warp &warp;
  const Inst &inst;
  unsigned lane;
  const TensorInfo &info;
  TensorMap map;
  int64_t begin[maximalTensorRank] = {};
};

bool TensorWalk::readMap() {
  uint64_t address = laneAddress(warp, info.map, info.mapOffset, lane);
  if (address % 64 != 0)
    return fail(Report::Kind::Misaligned, "the address of a tensor map, 0x" +
                                              llvm::utohexstr(address, true) +
                                              ", is not a multiple of 64");
  const uint8_t *bytes =
      warp.resolve(inst, Space::Generic, address, tensorMapBytes, false, lane);
  if (!bytes)
    return false;
  if (!TensorMap::decode(bytes, map))
    return fail(Report::Kind::InvalidOperation,
                "there is no tensor map of the emulator at 0x" +
                    llvm::utohexstr(address, true));
  if (map.rank != info.rank)
    return fail(Report::Kind::InvalidOperation,
                "the tensor map has rank " + Twine(map.rank) +
                    ", the instruction " + Twine(info.rank));
  if (map.isIm2col != info.isIm2col)
    return fail(Report::Kind::InvalidOperation,
                map.isIm2col ? "the tensor map is one of the im2col mode, the "
                               "instruction is not"
                             : "the tensor map is one of the tile mode, the "
                               "instruction is not");
  return readCoordinates();
}

bool TensorWalk::readCoordinates() {
  for (unsigned i = 0; i < map.rank; ++i) {
    begin[i] = int32_t(warp.lane(info.coordinates[i], lane));
    // Seen on an H200: such a copy ends the kernel.
    if (begin[i] < 0 && writesGlobal())
      return fail(Report::Kind::InvalidOperation,
                  "a tensor copy to global memory begins at coordinate " +
                      Twine(begin[i]) + " of dimension " + Twine(i) +
                      "; the hardware traps on negative ones");
  }
  if (begin[0] * int64_t(map.stride[0]) % 16 != 0)
    return fail(Report::Kind::Misaligned,
                "a tensor copy begins at element " + Twine(begin[0]) +
                    " of a row, which is not a multiple of 16 bytes");
  return true;
}

/// A run of bytes of a row, cut where the swizzle does.
void TensorWalk::addBytes(uint8_t *base, uint32_t offset, uint8_t *global,
                          uint32_t bytes, BulkCopy &copy) {
  bool isLoad = info.op == TensorOp::Load;
  while (bytes > 0) {
    uint32_t part = bytes;
    if (map.swizzle != TensorSwizzle::None)
      part = std::min(part, 16 - offset % 16);
    uint8_t *shared = base + swizzleOffset(map.swizzle, offset);
    if (isLoad)
      copy.pieces.push_back({shared, global, part});
    else
      copy.pieces.push_back({global, shared, part});
    offset += part;
    bytes -= part;
    if (global)
      global += part;
  }
}

/// A row of the box: `address` is that of the element at coordinate zero of
/// dimension 0; `inside` tells of the other dimensions.
bool TensorWalk::addRow(uint8_t *base, uint32_t offset, uint64_t address,
                        bool inside, BulkCopy &copy) {
  int64_t element = map.stride[0], count = map.boxElements(0);
  int64_t first = std::clamp<int64_t>(-begin[0], 0, count);
  int64_t last =
      std::clamp<int64_t>(int64_t(map.dim[0]) - begin[0], first, count);
  if (!inside)
    first = last = count;
  bool isLoad = info.op == TensorOp::Load;
  if (isLoad)
    addBytes(base, offset, nullptr, first * element, copy);
  if (last > first) {
    uint32_t bytes = (last - first) * element;
    uint64_t from = address + (begin[0] + first) * element;
    uint8_t *global =
        warp.resolve(inst, Space::Global, from, bytes, !isLoad, lane);
    if (!global)
      return false;
    addBytes(base, offset + first * element, global, bytes, copy);
  }
  if (isLoad)
    addBytes(base, offset + last * element, nullptr, (count - last) * element,
             copy);
  return true;
}

bool TensorWalk::addTile(Block *block, uint32_t offset, BulkCopy &copy) {
  uint32_t rows = 1;
  for (unsigned i = 1; i < map.rank; ++i)
    rows *= map.boxElements(i);
  uint32_t index[maximalTensorRank] = {};
  for (uint32_t row = 0; row < rows; ++row) {
    bool inside = true;
    uint64_t address = map.address;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t at = begin[i] + int64_t(index[i]) * map.elementStride[i];
      inside &= at >= 0 && at < int64_t(map.dim[i]);
      address += at * map.stride[i];
    }
    if (!addRow(block->shared.data(), offset + row * map.rowPitch(), address,
                inside, copy))
      return false;
    for (unsigned i = 1; i < map.rank && ++index[i] == map.boxElements(i); ++i)
      index[i] = 0;
  }
  return true;
}

/// The im2col mode: base pixels run through the box of pixels, the first
/// spatial dimension fastest, from image to image; each is moved by the
/// offsets (PTX ISA, "Tensor access modes").
bool TensorWalk::addPixels(Block *block, uint32_t offset, BulkCopy &copy) {
  const unsigned spatial = map.rank - 2;
  int64_t shift[maximalSpatialRank] = {}, at[maximalTensorRank];
  for (unsigned i = 0; i < info.numOffsets; ++i)
    shift[i] = warp.lane(info.offsets[i], lane) & 0xFFFF;
  std::copy(begin, begin + maximalTensorRank, at);
  for (uint32_t pixel = 0; pixel < map.box[1]; ++pixel) {
    bool inside = true;
    uint64_t address = map.address;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t place = at[i] + (i <= spatial ? shift[i - 1] : 0);
      // As in readCoordinates: seen on an H200 wherever the walk got there.
      if (place < 0 && writesGlobal())
        return fail(Report::Kind::InvalidOperation,
                    "a tensor copy to global memory comes to coordinate " +
                        Twine(place) + " of dimension " + Twine(i) +
                        "; the hardware traps on negative ones");
      inside &= place >= 0 && place < int64_t(map.dim[i]);
      address += place * map.stride[i];
    }
    if (!addRow(block->shared.data(), offset + pixel * map.rowPitch(), address,
                inside, copy))
      return false;
    unsigned i = 1;
    for (; i <= spatial; ++i) {
      at[i] += map.elementStride[i];
      if (at[i] < int64_t(map.dim[i]) + map.upper[i - 1])
        break;
      at[i] = map.lower[i - 1];
    }
    if (i > spatial)
      ++at[spatial + 1];
  }
  return true;
}

bool TensorWalk::addBlock(Block *block, uint32_t offset, BulkCopy &copy) {
  uint32_t rows = info.isIm2col ? map.box[1] : 1;
  for (unsigned i = 1; i < map.rank && !info.isIm2col; ++i)
    rows *= map.boxElements(i);
  uint32_t pitch = map.rowPitch();
  uint64_t end = uint64_t(offset) + uint64_t(rows) * pitch;
  if (end > block->shared.size())
    return fail(Report::Kind::OutOfBounds,
                "the box of " + Twine(uint64_t(rows) * pitch) +
                    " bytes at shared address 0x" +
                    llvm::utohexstr(offset, true) +
                    " ends outside of the block's shared memory of 0x" +
                    llvm::utohexstr(block->shared.size(), true) + " bytes");
  if (!(info.isIm2col ? addPixels(block, offset, copy)
                      : addTile(block, offset, copy)))
    return false;
  copy.touched.push_back(
      {block, info.op == TensorOp::Load, {{offset, rows * pitch}}});
  return true;
}

bool TensorWalk::issue() {
  if (!readMap())
    return false;
  if (info.op == TensorOp::Prefetch)
    return true;
  BulkCopy copy;
  copy.elementType = fillType(map.dataType);
  copy.fill = fillBits(map);
  if (info.op == TensorOp::Reduce) {
    copy.reduce = info.reduce;
    copy.elementType = reduceType(map.dataType);
    if (!hasReduceOp(info.reduce, copy.elementType))
      return fail(Report::Kind::InvalidOperation,
                  "this reduction is not defined for the tensor's type");
  }
  SharedPlace shared, mbarrier;
  if (!locateShared(warp, inst, info.sharedSpace,
                    laneAddress(warp, info.shared, info.sharedOffset, lane), 16,
                    128, info.op == TensorOp::Load, lane, shared))
    return false;
  if (info.op != TensorOp::Load) {
    if (!addBlock(shared.block, shared.offset, copy))
      return false;
    issueBulkCopy(warp, inst, lane, std::move(copy), true);
    return true;
  }
  if (!locateShared(warp, inst, info.sharedSpace,
                    laneAddress(warp, info.mbarrier, info.mbarrierOffset, lane),
                    8, 8, true, lane, mbarrier))
    return false;
  copy.signalBytes = map.boxBytes();
  copy.roundsToTF32 = map.dataType == TensorDataType::TFloat32 ||
                      map.dataType == TensorDataType::TFloat32FTZ;
  if (!info.hasMask) {
    copy.mbarriers.push_back(mbarrier);
    if (!addBlock(shared.block, shared.offset, copy))
      return false;
    issueBulkCopy(warp, inst, lane, std::move(copy), false);
    return true;
  }
  Cluster &cluster = *warp.block->cluster;
  uint32_t mask = warp.lane(info.mask, lane) & 0xFFFF;
  if (mask == 0 || mask >> cluster.numBlocks)
    return fail(Report::Kind::InvalidOperation,
                "the multicast mask 0x" + llvm::utohexstr(mask, true) +
                    " does not fit a cluster of " + Twine(cluster.numBlocks) +
                    " blocks");
  for (uint32_t b = 0; b < cluster.numBlocks; ++b) {
    if (!(mask >> b & 1))
      continue;
    Block *block = cluster.blocks[b].get();
    copy.mbarriers.push_back(
        {block, mbarrier.offset, block->shared.data() + mbarrier.offset});
    if (!addBlock(block, shared.offset, copy))
      return false;
  }
  issueBulkCopy(warp, inst, lane, std::move(copy), false);
  return true;
}

Step tensorLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  for (unsigned l = 0; l < warpSize; ++l)
    if ((mask >> l & 1) && !TensorWalk(warp, inst, l).issue())
      return Step::Error;
  return Step::Next;
}

} // namespace

static bool takeRank(InstDecoder &d, TensorInfo &info) {
  int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0)
    return d.fail("expected .1d to .5d");
  info.rank = rank + 1;
  return true;
}

/// The mode; loads and prefetches take offsets in the im2col mode.
static bool takeMode(InstDecoder &d, TensorInfo &info) {
  for (llvm::StringRef modifier : d.statement.modifiers)
    if (modifier.starts_with("im2col::") || modifier.starts_with("tile::") ||
        modifier.starts_with("cta_group"))
      return d.fail("'." + modifier +
                    "' of cp.async.bulk.tensor, which sm_100 has, is not "
                    "emulated");
  bool hasOffsets = d.take("im2col");
  info.isIm2col = hasOffsets || d.take("im2col_no_offs");
  bool isLoad = info.op == TensorOp::Load || info.op == TensorOp::Prefetch;
  if (info.isIm2col && hasOffsets != isLoad)
    return d.fail(isLoad ? "'.im2col_no_offs' is for copies to .global"
                         : "copies to .global have '.im2col_no_offs'");
  if (info.isIm2col && info.rank < 3)
    return d.fail("the im2col mode needs .3d, .4d or .5d");
  info.numOffsets = hasOffsets ? info.rank - 2 : 0;
  if (!info.isIm2col)
    d.take("tile");
  return true;
}

/// `{a, b}`: the offsets of the im2col mode; advances `index`.
static bool addOffsets(InstDecoder &d, unsigned &index, TensorInfo &info) {
  if (info.numOffsets == 0)
    return true;
  if (!addSourceVector(d, index++, Type::B16, info.numOffsets))
    return false;
  std::copy(d.operands.end() - info.numOffsets, d.operands.end(), info.offsets);
  return true;
}

static bool addMap(InstDecoder &d, unsigned index, TensorInfo &info) {
  const OperandSyntax &syntax = d.statement.operands[index];
  AddressOperand address;
  if (!d.resolveAddress(syntax, address))
    return false;
  info.map = address.base;
  info.mapOffset = address.offset;
  d.operands.push_back(info.map);
  if (syntax.children.size() != 1 ||
      syntax.children[0].kind != OperandSyntax::Kind::Vector ||
      syntax.children[0].children.size() != info.rank)
    return d.fail("expected [tensorMap, {coordinates}] with " +
                  Twine(info.rank) + " coordinates");
  for (unsigned i = 0; i < info.rank; ++i) {
    if (!d.addSource(syntax.children[0].children[i], Type::S32))
      return false;
    info.coordinates[i] = d.operands.back();
  }
  return true;
}

static bool addPlace(InstDecoder &d, unsigned index, Operand &base,
                     int64_t &offset) {
  AddressOperand address;
  if (!d.resolveAddress(d.statement.operands[index], address))
    return false;
  base = address.base;
  offset = address.offset;
  d.operands.push_back(base);
  return true;
}

static bool finishTensor(InstDecoder &d, TensorInfo &info, unsigned count,
                         bool hint) {
  if (hint && !d.addSource(count - 1, Type::B64))
    return false;
  d.setExtra(info);
  return d.finish(tensorLanes);
}

/// To global memory: [map, {…}], [source].
static bool decodeStore(InstDecoder &d, TensorInfo &info) {
  if (!d.take("shared::cta"))
    return d.fail("a tensor copy to .global comes from .shared::cta");
  if (info.op == TensorOp::Reduce) {
    info.reduce = takeReduceOp(d);
    if (d.failed())
      return false;
  }
  if (!d.take("bulk_group"))
    return d.fail("a tensor copy to .global needs .bulk_group");
  bool hint = d.take("L2::cache_hint");
  info.sharedSpace = Space::Shared;
  unsigned count = 2 + hint;
  return d.needOperands(count) && addMap(d, 0, info) &&
         addPlace(d, 1, info.shared, info.sharedOffset) &&
         finishTensor(d, info, count, hint);
}

/// To shared memory: [dest], [map, {…}], [mbarrier] {, {offsets}} {, mask}.
static bool decodeLoad(InstDecoder &d, TensorInfo &info, bool isBlock) {
  info.sharedSpace = isBlock ? Space::Shared : Space::SharedCluster;
  if (!takeMode(d, info))
    return false;
  if (!d.take("global") || !d.take("mbarrier::complete_tx::bytes"))
    return d.fail("a tensor copy to shared memory needs .global and "
                  ".mbarrier::complete_tx::bytes");
  info.hasMask = d.take("multicast::cluster");
  bool hint = d.take("L2::cache_hint");
  unsigned count = 3 + (info.numOffsets > 0) + info.hasMask + hint, next = 3;
  if (!d.needOperands(count) ||
      !addPlace(d, 0, info.shared, info.sharedOffset) || !addMap(d, 1, info) ||
      !addPlace(d, 2, info.mbarrier, info.mbarrierOffset) ||
      !addOffsets(d, next, info))
    return false;
  if (info.hasMask) {
    if (!d.addSource(next, Type::B16))
      return false;
    info.mask = d.operands.back();
  }
  return finishTensor(d, info, count, hint);
}

bool tile_dialect::emulator::decodeTensorCopy(InstDecoder &d) {
  TensorInfo info;
  if (!takeRank(d, info))
    return false;
  llvm::StringRef dest = d.peek();
  if ((dest != "shared::cluster" && dest != "shared::cta" &&
       dest != "global") ||
      !d.take(dest))
    return d.fail("expected .shared::cluster, .shared::cta or .global");
  if (dest != "global")
    return decodeLoad(d, info, dest == "shared::cta");
  info.op = TensorOp::Store;
  return takeMode(d, info) && decodeStore(d, info);
}

bool tile_dialect::emulator::decodeTensorReduce(InstDecoder &d) {
  TensorInfo info;
  info.op = TensorOp::Reduce;
  if (!takeRank(d, info) || !takeMode(d, info))
    return false;
  if (!d.take("global"))
    return d.fail("a reducing tensor copy goes to .global");
  return decodeStore(d, info);
}

bool tile_dialect::emulator::decodeTensorPrefetch(InstDecoder &d) {
  TensorInfo info;
  info.op = TensorOp::Prefetch;
  if (!takeRank(d, info) || !takeMode(d, info))
    return false;
  bool hint = d.take("L2::cache_hint");
  if (!d.take("L2") || !d.take("global"))
    return d.fail("expected .L2.global");
  unsigned count = 1 + (info.numOffsets > 0) + hint, next = 1;
  return d.needOperands(count) && addMap(d, 0, info) &&
         addOffsets(d, next, info) && finishTensor(d, info, count, hint);
}
