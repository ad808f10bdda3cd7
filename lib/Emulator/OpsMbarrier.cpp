//===- OpsMbarrier.cpp - mbarrier instructions ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mbarrier.h"
#include "Monitor.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

enum class CountOp : uint32_t { Init, Inval, ExpectTx, CompleteTx };

/// aux[0] of all: the space; aux[3]: `.relaxed`.
bool locate(Warp &warp, const Inst &inst, const Operand &base, unsigned lane,
            SharedPlace &place) {
  return locateShared(warp, inst, Space(inst.aux[0]),
                      laneAddress(warp, base, inst.immediate, lane), 8, 8, true,
                      lane, place);
}

/// Operands: address, count.  aux[1]: the CountOp.
Step countLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  bool good = true;
  eachLane(mask, [&](unsigned l) {
    SharedPlace place;
    if (!good || !locate(warp, inst, inst.operands[0], l, place)) {
      good = false;
      return;
    }
    MbarrierUser user{warp, inst, l};
    uint32_t count = warp.lane(inst.operands[1], l);
    switch (CountOp(inst.aux[1])) {
    case CountOp::Init:
      good = initMbarrier(user, place, count);
      if (good && warp.monitor)
        warp.monitor->mbarrierInit(warp, inst, *place.block, place.offset,
                                   LaneMask(1) << l);
      break;
    case CountOp::Inval:
      good = invalidateMbarrier(user, place);
      break;
    case CountOp::ExpectTx:
      good = expectTransactions(user, place, count);
      break;
    case CountOp::CompleteTx:
      good = completeTransactions(user, place, count);
      break;
    }
  });
  return good ? Step::Next : Step::Error;
}

/// Bits of aux[1] of an arrival.
constexpr uint32_t dropFlag = 1, noCompleteFlag = 2, expectFlag = 4;

/// Operands: [state], address, count or bytes.
Step arriveLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const Operand *sources = inst.operands + inst.numDestinations;
  bool good = true;
  eachLane(mask, [&](unsigned l) {
    SharedPlace place;
    if (!good || !locate(warp, inst, sources[0], l, place)) {
      good = false;
      return;
    }
    MbarrierUser user{warp, inst, l};
    MbarrierState before;
    Arrival arrival;
    uint32_t value = warp.lane(sources[1], l);
    if (inst.aux[1] & expectFlag)
      arrival.expectBytes = value;
    else
      arrival.count = value;
    arrival.drop = inst.aux[1] & dropFlag;
    arrival.noComplete = inst.aux[1] & noCompleteFlag;
    good = readMbarrier(user, place, before);
    if (good && warp.monitor)
      warp.monitor->mbarrierArrive(warp, inst, *place.block, place.offset,
                                   LaneMask(1) << l, inst.aux[3]);
    good = good && arriveMbarrier(user, place, arrival);
    if (good && inst.numDestinations)
      warp.setLane(inst.operands[0], l, before.encode());
  });
  return good ? Step::Next : Step::Error;
}

/// Operands: p, address, state or parity.  aux[1]: parity, aux[2]: try_wait.
Step waitLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  LaneMask done = 0;
  bool good = true;
  uint64_t lastAddress = ~uint64_t(0), lastValue = 0;
  bool lastDone = false;
  eachLane(mask, [&](unsigned l) {
    if (!good)
      return;
    uint64_t address = laneAddress(warp, inst.operands[1], inst.immediate, l);
    uint64_t value = warp.lane(inst.operands[2], l);
    if (address == lastAddress && value == lastValue) {
      done |= LaneMask(lastDone) << l;
      return;
    }
    SharedPlace place;
    MbarrierState state, token;
    MbarrierUser user{warp, inst, l};
    good = locate(warp, inst, inst.operands[1], l, place) &&
           readMbarrier(user, place, state);
    if (!good)
      return;
    bool parity = value & 1;
    if (!inst.aux[1]) {
      if (!MbarrierState::decode(value, token)) {
        warp.error(Report::Kind::InvalidOperation, inst, l,
                   "the state operand comes from no mbarrier.arrive");
        good = false;
        return;
      }
      parity = token.phase;
    } else if (value > 1) {
      warp.error(Report::Kind::InvalidOperation, inst, l,
                 "a phase parity is 0 or 1, found " + Twine(value));
      good = false;
      return;
    }
    lastAddress = address;
    lastValue = value;
    lastDone = state.phase != parity;
    done |= LaneMask(lastDone) << l;
  });
  if (!good)
    return Step::Error;
  warp.setPredicate(inst.operands[0], done, mask);
  if (done && warp.monitor) {
    eachLane(done, [&](unsigned l) {
      SharedPlace place;
      if (locate(warp, inst, inst.operands[1], l, place))
        warp.monitor->mbarrierWait(warp, *place.block, place.offset,
                                   LaneMask(1) << l, inst.aux[3]);
    });
  }
  if (done == mask) {
    warp.failedPolls = 0;
    return Step::Next;
  }
  return inst.aux[2] ? Step::Yield : warp.failedPoll();
}

/// Operands: count, state.
Step pendingLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  bool good = true;
  eachLane(mask, [&](unsigned l) {
    MbarrierState state;
    if (!MbarrierState::decode(warp.lane(inst.operands[1], l), state)) {
      warp.error(Report::Kind::InvalidOperation, inst, l,
                 "the state operand comes from no mbarrier.arrive");
      good = false;
    }
    warp.setLane(inst.operands[0], l, state.pending);
  });
  return good ? Step::Next : Step::Error;
}

} // namespace

/// Consumes `.sem.scope.space.b64`; `clusterOnly` is set for the space of the
/// whole cluster.
static bool takeCommon(InstDecoder &d, bool &isCluster) {
  d.inst.aux[3] = d.takeOneOf({"release", "acquire", "relaxed"}) == 2;
  d.takeOneOf({"cta", "cluster"});
  int space = d.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  isCluster = space == 2;
  d.inst.aux[0] = uint32_t(space < 0    ? Space::Generic
                           : space == 2 ? Space::SharedCluster
                                        : Space::Shared);
  return d.take("b64") || d.fail("mbarrier needs .b64");
}

static bool decodeCount(InstDecoder &d, CountOp op) {
  bool isCluster;
  AddressOperand address;
  bool hasCount = op != CountOp::Inval;
  if (!takeCommon(d, isCluster) || !d.needOperands(hasCount ? 2 : 1) ||
      !d.addAddress(0, address))
    return false;
  if (!(hasCount ? d.addSource(1, Type::U32) : d.addConstant(Type::U32, 0)))
    return false;
  if (isCluster && (op == CountOp::Init || op == CountOp::Inval))
    return d.fail("this instruction works on the block's own shared memory");
  d.inst.aux[1] = uint32_t(op);
  return d.finish(countLanes);
}

static bool decodeArrive(InstDecoder &d, bool drop) {
  bool expects = d.take("expect_tx"), noComplete = d.take("noComplete");
  bool isCluster;
  if (!takeCommon(d, isCluster))
    return false;
  // The state may be left out where it goes nowhere.
  unsigned index = 0;
  const auto &operands = d.statement.operands;
  bool hasState =
      !operands.empty() && operands[0].kind != OperandSyntax::Kind::Address;
  if (hasState) {
    if (operands[0].kind != OperandSyntax::Kind::Sink) {
      if (isCluster)
        return d.fail("an arrival in .shared::cluster returns no state: "
                      "expected '_'");
      if (!d.addDest(0, Type::B64))
        return false;
    }
    index = 1;
  }
  bool needsValue = expects || noComplete;
  AddressOperand address;
  if (!d.needOperands(index + (needsValue ? 2 : 1), index + 2) ||
      !d.addAddress(index, address))
    return false;
  bool hasValue = d.numOperands() == index + 2;
  if (!(hasValue ? d.addSource(index + 1, Type::U32)
                 : d.addConstant(Type::U32, 1)))
    return false;
  d.inst.aux[1] = (drop ? dropFlag : 0) | (noComplete ? noCompleteFlag : 0) |
                  (expects ? expectFlag : 0);
  return d.finish(arriveLanes);
}

static bool decodeWait(InstDecoder &d, bool isTry) {
  d.inst.aux[1] = d.take("parity");
  d.inst.aux[2] = isTry;
  bool isCluster;
  AddressOperand address;
  if (!takeCommon(d, isCluster) || !d.needOperands(3, isTry ? 4 : 3))
    return false;
  if (isCluster)
    return d.fail("a thread can wait only in its block's own shared memory");
  if (!d.addDest(0, Type::Pred) || !d.addAddress(1, address) ||
      !d.addSource(2, d.inst.aux[1] ? Type::U32 : Type::B64))
    return false;
  if (d.numOperands() == 4 && !d.addSource(3, Type::U32))
    return false;
  return d.finish(waitLanes);
}

static bool decodeMbarrier(InstDecoder &d) {
  int op = d.takeOneOf({"init", "inval", "complete_tx", "arrive", "arrive_drop",
                        "test_wait", "try_wait", "pending_count"});
  switch (op) {
  case 0:
    return decodeCount(d, CountOp::Init);
  case 1:
    return decodeCount(d, CountOp::Inval);
  case 2:
    return decodeCount(d, CountOp::CompleteTx);
  case 3:
    return decodeArrive(d, false);
  case 4:
    return decodeArrive(d, true);
  case 5:
  case 6:
    return decodeWait(d, op == 6);
  case 7:
    return (d.take("b64") || d.fail("mbarrier needs .b64")) &&
           d.needOperands(2) && d.addDest(0, Type::U32) &&
           d.addSource(1, Type::B64) && d.finish(pendingLanes);
  default:
    break;
  }
  if (d.take("expect_tx"))
    return decodeCount(d, CountOp::ExpectTx);
  return d.fail("unknown operation of mbarrier");
}

void tile_dialect::emulator::registerMbarrierOps(OpcodeTable &table) {
  table.add("mbarrier", decodeMbarrier, InstructionClass::Barrier);
}
