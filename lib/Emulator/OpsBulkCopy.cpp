//===- OpsBulkCopy.cpp - cp.async.bulk, st.async, red.async ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "Mbarrier.h"
#include "Monitor.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Issue
//===----------------------------------------------------------------------===//

/// To the nearest even; every NaN becomes one, subnormals stay.
static uint32_t roundBitsToTF32(uint32_t bits) {
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FFFE000;
  return (bits + 0xFFF + (bits >> 13 & 1)) & ~0x1FFFu;
}

static void movePiece(const BulkCopy &copy, const CopyPiece &piece,
                      const uint8_t *source) {
  unsigned element = std::max(1u, bitWidth(copy.elementType) / 8);
  if (!source) {
    for (uint32_t i = 0; i < piece.bytes; i += element)
      std::memcpy(piece.dest + i, &copy.fill,
                  std::min(element, piece.bytes - i));
    return;
  }
  if (copy.roundsToTF32) {
    for (uint32_t i = 0; i < piece.bytes; i += 4) {
      uint32_t bits;
      std::memcpy(&bits, source + i, 4);
      bits = roundBitsToTF32(bits);
      std::memcpy(piece.dest + i, &bits, 4);
    }
    return;
  }
  if (copy.reduce == ReduceOp::None) {
    std::memmove(piece.dest, source, piece.bytes);
    return;
  }
  for (uint32_t i = 0; i < piece.bytes; i += element)
    reduceElement(copy.reduce, copy.elementType, piece.dest + i, source + i);
}

static void tellMonitor(Warp &warp, const Inst &inst, unsigned lane,
                        const BulkCopy &copy, bool writes, bool start) {
  if (!warp.monitor)
    return;
  for (const BulkCopy::Touched &touched : copy.touched) {
    if (touched.writes != writes)
      continue;
    AsyncAccess access;
    access.inst = &inst;
    access.lane = lane;
    access.block = touched.block;
    access.ranges = touched.ranges;
    access.writes = writes;
    for (const SharedPlace &place : copy.mbarriers) {
      if (place.block != touched.block)
        continue;
      access.hasMbarrier = true;
      access.mbarrier = place.offset;
    }
    start ? warp.monitor->asyncStart(warp, access)
          : warp.monitor->asyncDone(warp, access);
  }
}

static void countBytes(const BulkCopy &copy, Stats &stats) {
  uint64_t bytes = 0;
  for (const CopyPiece &piece : copy.pieces)
    bytes += piece.bytes;
  // st.async comes from registers, which the copy owns.
  bool fromBlock = copy.owned != nullptr, toBlock = false;
  for (const BulkCopy::Touched &touched : copy.touched)
    (touched.writes ? toBlock : fromBlock) = true;
  stats.asyncBytes += bytes;
  (!toBlock    ? stats.asyncStoreBytes
   : fromBlock ? stats.asyncClusterBytes
               : stats.asyncLoadBytes) += bytes;
}

/// The global memory that a copy reads or writes.
static std::vector<std::pair<uint64_t, uint32_t>>
globalRanges(const Warp &warp, const BulkCopy &copy, bool writes) {
  std::vector<std::pair<uint64_t, uint32_t>> ranges;
  const Allocation *last = nullptr;
  for (const CopyPiece &piece : copy.pieces) {
    const uint8_t *host = writes ? piece.dest : piece.source;
    auto contains = [&](const Allocation &allocation) {
      return size_t(host - allocation.host) < allocation.size;
    };
    if (!host)
      continue;
    if (!last || !contains(*last)) {
      last = nullptr;
      for (const auto &allocation : warp.context->memory.allocations())
        if (contains(*allocation))
          last = allocation.get();
    }
    if (last)
      ranges.push_back({last->base + (host - last->host), piece.bytes});
  }
  return ranges;
}

/// Tells of the global memory of a copy: at its issue and, for writes, once its
/// issuer has waited for it.
static void tellGlobal(Warp &warp, const Inst &inst, unsigned lane,
                       const BulkCopy &copy, bool writes, bool isAwaited) {
  auto ranges = globalRanges(warp, copy, writes);
  if (ranges.empty())
    return;
  AsyncAccess access;
  access.inst = &inst;
  access.lane = lane;
  access.block = warp.block;
  access.globalRanges = ranges;
  access.writes = writes;
  if (writes && copy.reduce != ReduceOp::None)
    access.scope = MemoryScope::Device;
  isAwaited ? warp.monitor->asyncAwaited(warp, access)
            : warp.monitor->asyncStart(warp, access);
}

void tile_dialect::emulator::issueBulkCopy(Warp &warp, const Inst &inst,
                                           unsigned lane, BulkCopy moved,
                                           bool inGroup) {
  auto operation = std::make_shared<AsyncOperation>();
  auto copy = std::make_shared<BulkCopy>(std::move(moved));
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    countBytes(*copy, warp.worker->stats);
    for (BulkCopy::Touched &touched : copy->touched)
      if (InFlight *inFlight = asyncOf(*touched.block).inFlight.get())
        inFlight->begin(warp, inst, lane, touched.writes, touched.ranges,
                        touched.writes ? operation->writes : operation->reads,
                        /*boundsBlock=*/true);
    tellMonitor(warp, inst, lane, *copy, false, true);
    tellMonitor(warp, inst, lane, *copy, true, true);
    if (warp.context->options.checkRaces) {
      tellGlobal(warp, inst, lane, *copy, false, false);
      tellGlobal(warp, inst, lane, *copy, true, false);
      operation->onFinishAwaited = [&warp, &inst, lane, copy] {
        tellGlobal(warp, inst, lane, *copy, true, true);
      };
    }
  }
  operation->inGroup = inGroup;
  // The reading may have been as late as this.
  if (inGroup && warp.monitor)
    operation->onAwaited = [&warp, &inst, lane, copy] {
      tellMonitor(warp, inst, lane, *copy, false, true);
    };
  // Between the reading and the end of a group the data lies here.
  auto staged = std::make_shared<std::vector<uint8_t>>();
  operation->onRead = [&warp, &inst, lane, copy, staged, inGroup] {
    if (inGroup)
      for (const CopyPiece &piece : copy->pieces)
        staged->insert(staged->end(), piece.source, piece.source + piece.bytes);
    tellMonitor(warp, inst, lane, *copy, false, false);
  };
  operation->onFinish = [&warp, &inst, lane, copy, staged, inGroup] {
    const uint8_t *next = staged->data();
    for (const CopyPiece &piece : copy->pieces) {
      movePiece(*copy, piece, inGroup ? next : piece.source);
      if (inGroup)
        next += piece.bytes;
    }
    tellMonitor(warp, inst, lane, *copy, true, false);
    for (const SharedPlace &place : copy->mbarriers)
      completeTransactions(MbarrierUser{warp, inst, lane}, place,
                           copy->signalBytes);
  };
  if (inGroup)
    asyncOf(warp).bulk[lane].open.push_back(operation);
  scheduleOperation(warp, operation);
}

//===----------------------------------------------------------------------===//
// cp.async.bulk
//===----------------------------------------------------------------------===//

namespace {

struct Place {
  Space space = Space::Global;
  Operand base;
  int64_t offset = 0;
};

struct BulkInfo {
  Place dest, source, mbarrier;
  Operand size, mask;
  bool hasMask = false;
  bool inGroup = false;
  ReduceOp reduce = ReduceOp::None;
  Type type = Type::B8;
};

bool isSharedSpace(Space space) { return space != Space::Global; }

bool checkAligned(Warp &warp, const Inst &inst, unsigned lane, uint64_t value,
                  const char *what) {
  if (value % 16 == 0)
    return true;
  warp.error(Report::Kind::Misaligned, inst, lane,
             Twine("the ") + what + " of a bulk copy, 0x" +
                 llvm::utohexstr(value, true) + ", is not a multiple of 16");
  return false;
}

/// Resolves one side of a copy.
bool resolveSide(Warp &warp, const Inst &inst, unsigned lane,
                 const Place &place, uint32_t bytes, bool write,
                 const char *what, SharedPlace &result) {
  uint64_t address = laneAddress(warp, place.base, place.offset, lane);
  if (!checkAligned(warp, inst, lane, address, what))
    return false;
  if (isSharedSpace(place.space))
    return locateShared(warp, inst, place.space, address, bytes, 16, write,
                        lane, result);
  result.host = warp.resolve(inst, Space::Global, address, bytes, write, lane);
  return result.host != nullptr;
}

/// Adds the copies to each block of a multicast.
bool addMulticast(Warp &warp, const Inst &inst, unsigned lane, uint32_t mask,
                  const SharedPlace &dest, const SharedPlace &mbarrier,
                  const uint8_t *source, uint32_t bytes, BulkCopy &copy) {
  Cluster &cluster = *warp.block->cluster;
  if (mask == 0 || mask >> cluster.numBlocks) {
    warp.error(Report::Kind::InvalidOperation, inst, lane,
               "the multicast mask 0x" + llvm::utohexstr(mask, true) +
                   " does not fit a cluster of " + Twine(cluster.numBlocks) +
                   " blocks");
    return false;
  }
  for (uint32_t b = 0; b < cluster.numBlocks; ++b) {
    if (!(mask >> b & 1))
      continue;
    Block *block = cluster.blocks[b].get();
    uint8_t *base = block->shared.data();
    copy.pieces.push_back({base + dest.offset, source, bytes});
    copy.mbarriers.push_back({block, mbarrier.offset, base + mbarrier.offset});
    copy.touched.push_back({block, true, {{dest.offset, bytes}}});
  }
  return true;
}

bool issueLane(Warp &warp, const Inst &inst, unsigned lane) {
  const auto &info = *static_cast<const BulkInfo *>(inst.extra);
  uint64_t size = warp.lane(info.size, lane);
  if (!checkAligned(warp, inst, lane, size, "size"))
    return false;
  SharedPlace dest, source, mbarrier;
  if (!resolveSide(warp, inst, lane, info.dest, size, true, "destination",
                   dest) ||
      !resolveSide(warp, inst, lane, info.source, size, false, "source",
                   source))
    return false;
  BulkCopy copy;
  copy.reduce = info.reduce;
  copy.elementType = info.type;
  copy.signalBytes = size;
  if (!info.inGroup && !locateShared(warp, inst, info.mbarrier.space,
                                     laneAddress(warp, info.mbarrier.base,
                                                 info.mbarrier.offset, lane),
                                     8, 8, true, lane, mbarrier))
    return false;
  if (source.block)
    copy.touched.push_back(
        {source.block, false, {{source.offset, uint32_t(size)}}});
  if (info.hasMask) {
    if (!addMulticast(warp, inst, lane, warp.lane(info.mask, lane) & 0xFFFF,
                      dest, mbarrier, source.host, size, copy))
      return false;
  } else {
    copy.pieces.push_back({dest.host, source.host, uint32_t(size)});
    if (dest.block)
      copy.touched.push_back(
          {dest.block, true, {{dest.offset, uint32_t(size)}}});
    if (!info.inGroup)
      copy.mbarriers.push_back(mbarrier);
  }
  issueBulkCopy(warp, inst, lane, std::move(copy), info.inGroup);
  return true;
}

Step bulkLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  for (unsigned l = 0; l < warpSize; ++l)
    if ((mask >> l & 1) && !issueLane(warp, inst, l))
      return Step::Error;
  return Step::Next;
}

Step commitBulk(Warp &warp, const Inst &, LaneMask mask) {
  WarpAsync &async = asyncOf(warp);
  eachLane(mask, [&](unsigned l) {
    BulkGroups &groups = async.bulk[l];
    while (!groups.committed.empty() &&
           llvm::all_of(groups.committed.front(),
                        [](const auto &op) { return op->hasFinished; }))
      groups.committed.pop_front();
    groups.committed.push_back(std::move(groups.open));
    groups.open.clear();
  });
  return Step::Next;
}

/// immediate: the groups that may stay pending; aux[0]: only the reads.
Step waitBulk(Warp &warp, const Inst &inst, LaneMask mask) {
  WarpAsync &async = asyncOf(warp);
  eachLane(mask, [&](unsigned l) {
    auto &committed = async.bulk[l].committed;
    size_t keep = inst.immediate;
    for (size_t i = 0; i + keep < committed.size(); ++i)
      for (const AsyncOperationRef &operation : committed[i]) {
        operation->await();
        if (inst.aux[0])
          continue;
        operation->finish();
        if (operation->onFinishAwaited)
          operation->onFinishAwaited();
        operation->onFinishAwaited = nullptr;
      }
    while (!inst.aux[0] && committed.size() > keep)
      committed.pop_front();
  });
  return Step::Next;
}

Step nothing(Warp &, const Inst &, LaneMask) { return Step::Next; }

} // namespace

/// Consumes the space that comes first of what is left.
static bool takeSpace(InstDecoder &d, Space &space) {
  llvm::StringRef name = d.peek();
  if (name == "global")
    space = Space::Global;
  else if (name == "shared::cta")
    space = Space::Shared;
  else if (name == "shared::cluster")
    space = Space::SharedCluster;
  else
    return d.fail("expected .global, .shared::cta or .shared::cluster" +
                  (name.empty() ? Twine() : ", found ." + Twine(name)));
  return d.take(name);
}

static bool resolvePlace(InstDecoder &d, unsigned index, Place &place) {
  AddressOperand address;
  if (!d.resolveAddress(d.statement.operands[index], address))
    return false;
  place.base = address.base;
  place.offset = address.offset;
  d.operands.push_back(place.base);
  return true;
}

/// Operands of both kinds of bulk copies behind their modifiers.
static bool finishBulk(InstDecoder &d, BulkInfo &info) {
  bool hint = d.take("L2::cache_hint");
  unsigned count = 3 + (info.inGroup ? 0 : 1) + info.hasMask + hint;
  if (!d.needOperands(count) || !resolvePlace(d, 0, info.dest) ||
      !resolvePlace(d, 1, info.source) || !d.addSource(2, Type::U32))
    return false;
  info.size = d.operands.back();
  if (!info.inGroup) {
    if (!resolvePlace(d, 3, info.mbarrier))
      return false;
    info.mbarrier.space = info.dest.space;
  }
  if (info.hasMask) {
    if (!d.addSource(4, Type::B16))
      return false;
    info.mask = d.operands.back();
  }
  if (hint && !d.addSource(count - 1, Type::B64))
    return false;
  d.setExtra(info);
  return d.finish(bulkLanes);
}

static bool takeCompletion(InstDecoder &d, BulkInfo &info) {
  bool toGlobal = info.dest.space == Space::Global;
  if (toGlobal) {
    if (info.source.space != Space::Shared)
      return d.fail("a bulk copy to .global comes from .shared::cta");
    if (!d.take("bulk_group"))
      return d.fail("a bulk copy to .global needs .bulk_group");
    info.inGroup = true;
    return true;
  }
  if (info.source.space == Space::SharedCluster)
    return d.fail("a bulk copy cannot come from .shared::cluster");
  if (!d.take("mbarrier::complete_tx::bytes"))
    return d.fail("a bulk copy to shared memory needs "
                  ".mbarrier::complete_tx::bytes");
  return true;
}

static bool decodeWaitGroup(InstDecoder &d) {
  int64_t count;
  d.inst.aux[0] = d.take("read");
  if (!d.needOperands(1) || !d.constantValue(0, count))
    return false;
  if (count < 0)
    return d.fail("the number of pending groups is not negative");
  d.inst.immediate = count;
  return d.finish(waitBulk);
}

bool tile_dialect::emulator::decodeBulkCopy(InstDecoder &d) {
  bool prefetches = d.take("prefetch");
  if (d.take("tensor"))
    return prefetches ? decodeTensorPrefetch(d) : decodeTensorCopy(d);
  if (d.take("commit_group"))
    return d.needOperands(0) && d.finish(commitBulk);
  if (d.take("wait_group"))
    return decodeWaitGroup(d);
  if (prefetches) {
    Place source;
    bool hint = d.take("L2::cache_hint");
    if (!d.take("L2") || !d.take("global"))
      return d.fail("expected .L2.global");
    return d.needOperands(hint ? 3 : 2) && resolvePlace(d, 0, source) &&
           d.addSource(1, Type::U32) && d.finish(nothing);
  }
  BulkInfo info;
  if (!takeSpace(d, info.dest.space) || !takeSpace(d, info.source.space) ||
      !takeCompletion(d, info))
    return false;
  info.hasMask = d.take("multicast::cluster");
  if (info.hasMask && (info.inGroup || info.source.space != Space::Global))
    return d.fail("a multicast comes from .global");
  return finishBulk(d, info);
}

bool tile_dialect::emulator::decodeBulkReduce(InstDecoder &d) {
  if (d.take("tensor"))
    return decodeTensorReduce(d);
  BulkInfo info;
  if (!takeSpace(d, info.dest.space) || !takeSpace(d, info.source.space) ||
      !takeCompletion(d, info))
    return false;
  if (info.source.space == Space::Global)
    return d.fail("cp.reduce.async.bulk comes from .shared::cta");
  info.reduce = takeReduceOp(d);
  d.take("noftz");
  info.type = d.needType();
  if (d.failed())
    return false;
  bool isSmall = bitWidth(info.type) < 32 || info.type == Type::F32 ||
                 info.type == Type::F64;
  if (!hasReduceOp(info.reduce, info.type) || (!info.inGroup && isSmall))
    return d.finish(nullptr);
  return finishBulk(d, info);
}

//===----------------------------------------------------------------------===//
// st.async, red.async
//===----------------------------------------------------------------------===//

namespace {

struct StoreAsyncInfo {
  Place dest, mbarrier;
  unsigned first = 0, elements = 1;
  Type type = Type::B32;
  ReduceOp reduce = ReduceOp::None;
};

bool storeLane(Warp &warp, const Inst &inst, unsigned lane) {
  const auto &info = *static_cast<const StoreAsyncInfo *>(inst.extra);
  unsigned element = bitWidth(info.type) / 8, bytes = element * info.elements;
  SharedPlace dest, mbarrier;
  if (!locateShared(warp, inst, Space::SharedCluster,
                    laneAddress(warp, info.dest.base, info.dest.offset, lane),
                    bytes, bytes, true, lane, dest) ||
      !locateShared(
          warp, inst, Space::SharedCluster,
          laneAddress(warp, info.mbarrier.base, info.mbarrier.offset, lane), 8,
          8, true, lane, mbarrier))
    return false;
  if (dest.block != mbarrier.block) {
    warp.error(Report::Kind::InvalidOperation, inst, lane,
               "the destination and the mbarrier lie in different blocks");
    return false;
  }
  auto values = std::make_shared<std::vector<uint8_t>>(bytes);
  for (unsigned i = 0; i < info.elements; ++i) {
    uint64_t value = warp.lane(inst.operands[info.first + i], lane);
    std::memcpy(values->data() + i * element, &value, element);
  }
  BulkCopy copy;
  copy.pieces.push_back({dest.host, values->data(), bytes});
  copy.reduce = info.reduce;
  copy.elementType = info.type;
  copy.signalBytes = bytes;
  copy.mbarriers.push_back(mbarrier);
  copy.touched.push_back({dest.block, true, {{dest.offset, bytes}}});
  copy.owned = values;
  issueBulkCopy(warp, inst, lane, std::move(copy), false);
  return true;
}

Step storeAsyncLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  for (unsigned l = 0; l < warpSize; ++l)
    if ((mask >> l & 1) && !storeLane(warp, inst, l))
      return Step::Error;
  return Step::Next;
}

} // namespace

static bool finishStoreAsync(InstDecoder &d, StoreAsyncInfo &info) {
  d.take("shared::cluster");
  if (!d.take("mbarrier::complete_tx::bytes"))
    return d.fail("expected .mbarrier::complete_tx::bytes");
  info.type = d.needType();
  if (d.failed() || !d.needOperands(3) || !resolvePlace(d, 0, info.dest))
    return false;
  if (bitWidth(info.type) != 32 && bitWidth(info.type) != 64)
    return d.finish(nullptr);
  if (info.reduce != ReduceOp::None && !hasReduceOp(info.reduce, info.type))
    return d.finish(nullptr);
  info.first = d.operands.size();
  if (!addSourceVector(d, 1, info.type, info.elements) ||
      !resolvePlace(d, 2, info.mbarrier))
    return false;
  d.setExtra(info);
  return d.finish(storeAsyncLanes);
}

bool tile_dialect::emulator::decodeStoreAsync(InstDecoder &d) {
  StoreAsyncInfo info;
  d.inst.instructionClass = InstructionClass::Async;
  d.take("weak");
  int vector = d.takeOneOf({"v2", "v4"});
  info.elements = vector < 0 ? 1 : 2u << vector;
  return finishStoreAsync(d, info);
}

bool tile_dialect::emulator::decodeRedAsync(InstDecoder &d) {
  StoreAsyncInfo info;
  d.inst.instructionClass = InstructionClass::Async;
  d.take("relaxed");
  d.take("cluster");
  info.reduce = takeReduceOp(d);
  return !d.failed() && finishStoreAsync(d, info);
}
