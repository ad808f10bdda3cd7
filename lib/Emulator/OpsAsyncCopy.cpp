//===- OpsAsyncCopy.cpp - cp.async and its groups ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "AsyncState.h"
#include "Mbarrier.h"
#include "Monitor.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

bool observeCopy(Warp &warp, const Inst &inst, AccessKind kind, Space space,
                 LaneMask mask, uint32_t bytes, const uint64_t *addresses) {
  if (!warp.monitor)
    return true;
  Access access;
  access.inst = &inst;
  access.space = space;
  access.kind = kind;
  access.async = true;
  access.mask = mask;
  access.bytes = bytes;
  access.addresses = addresses;
  return warp.observe(access);
}

/// The lanes that read all bytes together, the others one by one.
bool observeReads(Warp &warp, const Inst &inst, const PendingCopy &copy,
                  LaneMask reading, const uint64_t *addresses) {
  LaneMask whole = 0;
  bool good = true;
  eachLane(reading, [&](unsigned l) {
    if (copy.sourceBytes[l] == copy.bytes)
      whole |= LaneMask(1) << l;
    else
      good &= observeCopy(warp, inst, AccessKind::Read, Space::Global,
                          LaneMask(1) << l, copy.sourceBytes[l], addresses);
  });
  return good &&
         (whole == 0 || observeCopy(warp, inst, AccessKind::Read, Space::Global,
                                    whole, copy.bytes, addresses));
}

/// Operands: destination, source, source size, ignore-src.  aux: bytes, whether
/// a source size is given, and the offset of the source's address.
Step copyLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  uint32_t bytes = inst.aux[0];
  uint64_t dests[warpSize], sources[warpSize];
  warp.addresses(inst.operands[0], inst.immediate, dests);
  warp.addresses(inst.operands[1], int32_t(inst.aux[2]), sources);
  WarpAsync &async = asyncOf(warp);
  async.copies.emplace_back();
  PendingCopy &copy = async.copies.back();
  copy.bytes = bytes;
  copy.sequence = async.nextSequence++;
  LaneMask ignored = inst.aux[3] ? warp.predicate(inst.operands[3]) : 0;
  const uint32_t *sizes = warp.source<uint32_t>(inst.operands[2]);
  LaneMask reading = 0;
  std::vector<InFlight::Range> ranges;
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(mask >> l & 1))
      continue;
    uint32_t size = ignored >> l & 1 ? 0 : sizes[l];
    if (size > bytes)
      return warp.error(Report::Kind::InvalidOperation, inst, l,
                        "cp.async reads " + Twine(size) + " of " +
                            Twine(bytes) + " bytes");
    SharedPlace place;
    if (!locateShared(warp, inst, Space::Shared, dests[l], bytes, bytes, true,
                      l, place))
      return Step::Error;
    copy.dest[l] = place.host;
    copy.sourceBytes[l] = size;
    copy.group[l] = async.copyGroups[l];
    copy.source[l] = nullptr;
    ranges.push_back({place.offset, bytes});
    if (size == 0)
      continue;
    reading |= LaneMask(1) << l;
    if (sources[l] % bytes)
      return warp.error(Report::Kind::Misaligned, inst, l,
                        "cp.async of " + Twine(bytes) +
                            " bytes from an address that is no multiple of it");
    copy.source[l] =
        warp.resolve(inst, Space::Global, sources[l], size, false, l);
    if (!copy.source[l])
      return Step::Error;
  }
  copy.pending = mask;
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    uint64_t written = uint64_t(bytes) * llvm::popcount(mask);
    warp.worker->stats.asyncBytes += written;
    warp.worker->stats.asyncLoadBytes += written;
    if (!observeReads(warp, inst, copy, reading, sources) ||
        !observeCopy(warp, inst, AccessKind::Write, Space::Shared, mask, bytes,
                     dests))
      return Step::Error;
    if (InFlight *inFlight = asyncOf(*warp.block).inFlight.get()) {
      inFlight->begin(warp, inst, llvm::countr_zero(mask), true,
                      std::move(ranges), copy.inFlight);
      copy.inst = &inst;
    }
  }
  return Step::Next;
}

Step commitCopies(Warp &warp, const Inst &, LaneMask mask) {
  WarpAsync &async = asyncOf(warp);
  eachLane(mask, [&](unsigned l) { ++async.copyGroups[l]; });
  return Step::Next;
}

/// The writes of the copies that end now happen at this point of the thread.
void observeCompletion(Warp &warp, WarpAsync &async, LaneMask mask,
                       llvm::function_ref<bool(PendingCopy &, unsigned)> due) {
  if (!warp.monitor)
    return;
  for (PendingCopy &copy : async.copies) {
    if (!copy.inst)
      continue;
    uint64_t addresses[warpSize];
    LaneMask ending = 0;
    eachLane(copy.pending & mask, [&](unsigned l) {
      if (!due(copy, l))
        return;
      ending |= LaneMask(1) << l;
      addresses[l] = copy.dest[l] - warp.block->shared.data();
    });
    if (!ending)
      continue;
    // The operation itself is no conflict.
    if ((copy.pending & ~ending) == 0)
      copy.inFlight.end();
    else
      continue;
    observeCopy(warp, *copy.inst, AccessKind::Write, Space::Shared, ending,
                copy.bytes, addresses);
  }
}

/// immediate: the groups that may stay pending; negative for `wait_all`.
Step waitCopies(Warp &warp, const Inst &inst, LaneMask mask) {
  WarpAsync &async = asyncOf(warp);
  auto due = [&](PendingCopy &copy, unsigned l) {
    return inst.immediate < 0 ||
           copy.group[l] + uint64_t(inst.immediate) < async.copyGroups[l];
  };
  observeCompletion(warp, async, mask, due);
  async.runCopies(mask, due);
  return Step::Next;
}

/// An arrival once all copies of the thread so far are done.  aux[0]: space,
/// aux[1]: noinc.
Step arriveAfterCopies(Warp &warp, const Inst &inst, LaneMask mask) {
  WarpAsync &async = asyncOf(warp);
  uint64_t end = async.nextSequence;
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(mask >> l & 1))
      continue;
    SharedPlace place;
    if (!locateShared(warp, inst, Space(inst.aux[0]),
                      laneAddress(warp, inst.operands[0], inst.immediate, l), 8,
                      8, true, l, place) ||
        (!inst.aux[1] && !incrementPending(MbarrierUser{warp, inst, l}, place)))
      return Step::Error;
    auto operation = std::make_shared<AsyncOperation>();
    operation->onFinish = [&warp, &inst, l, end, place] {
      WarpAsync &state = asyncOf(warp);
      LaneMask lane = LaneMask(1) << l;
      auto due = [&](PendingCopy &copy, unsigned) {
        return copy.sequence < end;
      };
      observeCompletion(warp, state, lane, due);
      state.runCopies(lane, due);
      if (warp.monitor)
        warp.monitor->mbarrierArrive(warp, inst, *place.block, place.offset,
                                     lane, false);
      arriveMbarrier(MbarrierUser{warp, inst, l}, place, Arrival());
    };
    scheduleOperation(warp, operation);
  }
  return Step::Next;
}

} // namespace

static bool decodeCopy(InstDecoder &d) {
  int level = d.takeOneOf({"ca", "cg"});
  if (level < 0)
    return d.fail("cp.async needs .ca or .cg");
  if (d.takeOneOf({"shared", "shared::cta"}) < 0 || !d.take("global"))
    return d.fail("cp.async copies from .global to .shared");
  bool hint = d.take("L2::cache_hint");
  d.takePrefixed("L2::");
  if (!d.needOperands(hint ? 4 : 3, hint ? 5 : 4))
    return false;
  AddressOperand dest, source;
  int64_t bytes;
  if (!d.resolveAddress(d.statement.operands[0], dest) ||
      !d.resolveAddress(d.statement.operands[1], source) ||
      !d.constantValue(2, bytes))
    return false;
  if (!(bytes == 16 || (level == 0 && (bytes == 4 || bytes == 8))))
    return d.fail("cp.async copies 4, 8 or 16 bytes (.cg: 16), found " +
                  Twine(bytes));
  if (source.offset != int32_t(source.offset))
    return d.fail("this offset is too large");
  d.operands.push_back(dest.base);
  d.operands.push_back(source.base);
  d.inst.immediate = dest.offset;
  d.inst.aux[0] = bytes;
  d.inst.aux[2] = uint32_t(source.offset);
  bool hasExtra = d.numOperands() == (hint ? 5u : 4u);
  Type type = Type::None;
  if (hasExtra) {
    const OperandSyntax &extra = d.statement.operands[3];
    d.inst.aux[3] = extra.kind == OperandSyntax::Kind::Name &&
                    d.isRegisterName(extra.name, &type) && type == Type::Pred;
  }
  if (hasExtra && !d.inst.aux[3]) {
    if (!d.addSource(3, Type::U32))
      return false;
  } else {
    d.addConstant(Type::U32, bytes);
  }
  if (d.inst.aux[3] && !d.addSource(3, Type::Pred))
    return false;
  if (hint && !d.addSource(d.numOperands() - 1, Type::B64))
    return false;
  return d.finish(copyLanes);
}

static bool decodeArriveAfterCopies(InstDecoder &d) {
  if (!d.take("arrive"))
    return d.fail("expected cp.async.mbarrier.arrive");
  d.inst.aux[1] = d.take("noinc");
  int space = d.takeOneOf({"shared", "shared::cta"});
  d.inst.aux[0] = uint32_t(space < 0 ? Space::Generic : Space::Shared);
  AddressOperand address;
  if (!d.take("b64"))
    return d.fail("cp.async.mbarrier.arrive needs .b64");
  return d.needOperands(1) && d.addAddress(0, address) &&
         d.finish(arriveAfterCopies);
}

static bool decodeCp(InstDecoder &d) {
  if (d.take("reduce"))
    return d.take("async") && d.take("bulk")
               ? decodeBulkReduce(d)
               : d.fail("expected cp.reduce.async.bulk");
  if (!d.take("async"))
    return d.fail("expected cp.async or cp.reduce.async");
  if (d.take("bulk"))
    return decodeBulkCopy(d);
  if (d.take("commit_group"))
    return d.needOperands(0) && d.finish(commitCopies);
  if (d.take("wait_all")) {
    d.inst.immediate = -1;
    return d.needOperands(0) && d.finish(waitCopies);
  }
  if (d.take("wait_group")) {
    int64_t count;
    if (!d.needOperands(1) || !d.constantValue(0, count))
      return false;
    if (count < 0)
      return d.fail("the number of pending groups is not negative");
    d.inst.immediate = count;
    return d.finish(waitCopies);
  }
  if (d.take("mbarrier"))
    return decodeArriveAfterCopies(d);
  return decodeCopy(d);
}

void tile_dialect::emulator::registerAsyncCopyOps(OpcodeTable &table) {
  table.add("cp", decodeCp, InstructionClass::Async);
}
