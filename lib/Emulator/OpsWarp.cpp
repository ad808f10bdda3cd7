//===- OpsWarp.cpp - Instructions among the lanes of a warp ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace tile_dialect::emulator;

unsigned tile_dialect::emulator::shuffleSource(uint32_t mode, unsigned lane,
                                               uint32_t b, uint32_t c,
                                               bool &inRange) {
  int bval = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  int maxLane = (int(lane) & segment) | (clamp & ~segment);
  int minLane = int(lane) & segment;
  int from = lane;
  switch (Shuffle(mode)) {
  case Shuffle::Up:
    from -= bval;
    inRange = from >= maxLane;
    break;
  case Shuffle::Down:
    from += bval;
    inRange = from <= maxLane;
    break;
  case Shuffle::Bfly:
    from ^= bval;
    inRange = from <= maxLane;
    break;
  case Shuffle::Idx:
    from = minLane | (bval & ~segment);
    inRange = from <= maxLane;
    break;
  }
  return inRange ? from & 31 : lane;
}

namespace {

/// Operands: d, [p], a, b, c, members.  PTX ISA, "shfl.sync".
Step shflGroup(Warp &warp, const Inst &inst, LaneMask mask, LaneMask) {
  const Operand *sources = inst.operands + inst.numDestinations;
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  const uint32_t *a = warp.source<uint32_t>(sources[0]);
  const uint32_t *b = warp.source<uint32_t>(sources[1]);
  const uint32_t *c = warp.source<uint32_t>(sources[2]);
  uint32_t result[warpSize];
  LaneMask inRange = 0;
  eachLane(mask, [&](unsigned l) {
    bool p;
    result[l] = a[shuffleSource(inst.aux[0], l, b[l], c[l], p)];
    inRange |= LaneMask(p) << l;
  });
  eachLane(mask, [&](unsigned l) { d[l] = result[l]; });
  if (inst.numDestinations == 2)
    warp.setPredicate(inst.operands[1], inRange, mask);
  return Step::Next;
}

template <Step (*group)(Warp &, const Inst &, LaneMask, LaneMask)>
Step syncLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  return warp.warpSync(inst, mask, inst.operands[inst.numOperands - 1], group);
}

enum class Vote : uint32_t { All, Any, Uni, Ballot };

Step voteGroup(Warp &warp, const Inst &inst, LaneMask mask, LaneMask) {
  LaneMask value = warp.predicate(inst.operands[1]) & mask;
  auto mode = Vote(inst.aux[0]);
  if (mode == Vote::Ballot) {
    uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
    eachLane(mask, [&](unsigned l) { d[l] = value; });
    return Step::Next;
  }
  bool result = mode == Vote::All   ? value == mask
                : mode == Vote::Any ? value != 0
                                    : value == mask || value == 0;
  warp.setPredicate(inst.operands[0], result ? allLanes : 0, mask);
  return Step::Next;
}

template <typename T>
Step matchGroup(Warp &warp, const Inst &inst, LaneMask mask, LaneMask) {
  const Operand *sources = inst.operands + inst.numDestinations;
  const T *a = warp.source<T>(sources[0]);
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  bool isAll = inst.aux[0] == 1;
  uint32_t result[warpSize];
  bool allEqual = true;
  eachLane(mask, [&](unsigned l) {
    result[l] = 0;
    eachLane(mask, [&](unsigned other) {
      result[l] |= uint32_t(a[l] == a[other]) << other;
    });
    allEqual &= result[l] == mask;
  });
  eachLane(mask, [&](unsigned l) {
    d[l] = isAll ? (allEqual ? mask : 0) : result[l];
  });
  if (inst.numDestinations == 2)
    warp.setPredicate(inst.operands[1], allEqual ? allLanes : 0, mask);
  return Step::Next;
}

enum class Redux : uint32_t { Add, Min, Max, And, Or, Xor };

template <typename T>
Step reduxGroup(Warp &warp, const Inst &inst, LaneMask mask, LaneMask) {
  const T *a = warp.source<T>(inst.operands[1]);
  T *d = warp.dest<T>(inst.operands[0]);
  T result = a[llvm::countr_zero(mask)];
  eachLane(mask & (mask - 1), [&](unsigned l) {
    switch (Redux(inst.aux[0])) {
    case Redux::Add:
      result = T(uint32_t(result) + uint32_t(a[l]));
      break;
    case Redux::Min:
      result = a[l] < result ? a[l] : result;
      break;
    case Redux::Max:
      result = a[l] > result ? a[l] : result;
      break;
    case Redux::And:
      result &= a[l];
      break;
    case Redux::Or:
      result |= a[l];
      break;
    case Redux::Xor:
      result ^= a[l];
      break;
    }
  });
  eachLane(mask, [&](unsigned l) { d[l] = result; });
  return Step::Next;
}

Step activeMaskLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  eachLane(mask, [&](unsigned l) { d[l] = mask; });
  return Step::Next;
}

/// The lowest member is elected.
Step electGroup(Warp &warp, const Inst &inst, LaneMask mask, LaneMask) {
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  unsigned leader = llvm::countr_zero(mask);
  eachLane(mask, [&](unsigned l) { d[l] = leader; });
  warp.setPredicate(inst.operands[1], LaneMask(1) << leader, mask);
  return Step::Next;
}

Step warpBarrierGroup(Warp &, const Inst &, LaneMask, LaneMask) {
  return Step::Next;
}

} // namespace

/// `d` or `d|p`.
static bool addPairDest(InstDecoder &d, Type type, bool needsPair) {
  const OperandSyntax &first = d.statement.operands[0];
  if (first.kind == OperandSyntax::Kind::Pair)
    return d.addDest(first.children[0], type) &&
           d.addDest(first.children[1], Type::Pred);
  if (needsPair)
    return d.fail("expected 'd|p'");
  return d.addDest(0, type);
}

static bool needSync(InstDecoder &d) {
  return d.take("sync") ||
         d.fail("'" + d.statement.opcode + "' needs .sync on this target");
}

static bool decodeShfl(InstDecoder &d) {
  if (!needSync(d))
    return false;
  int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || !d.take("b32"))
    return d.fail("shfl needs a mode and .b32");
  d.inst.aux[0] = mode;
  return d.needOperands(5) && addPairDest(d, Type::B32, false) &&
         d.addSource(1, Type::B32) && d.addSource(2, Type::B32) &&
         d.addSource(3, Type::B32) && d.addSource(4, Type::B32) &&
         d.finish(syncLanes<shflGroup>);
}

static bool decodeVote(InstDecoder &d) {
  if (!needSync(d))
    return false;
  int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0)
    return d.fail("unknown mode of vote");
  Type type = mode == 3 ? Type::B32 : Type::Pred;
  if (d.needType() != type)
    return d.finish(nullptr);
  d.inst.aux[0] = mode;
  return d.needOperands(3) && d.addDest(0, type) &&
         d.addSource(1, Type::Pred) && d.addSource(2, Type::B32) &&
         d.finish(syncLanes<voteGroup>);
}

static bool decodeMatch(InstDecoder &d) {
  int mode = d.takeOneOf({"any", "all"});
  if (mode < 0 || !needSync(d))
    return d.fail("match needs .any or .all and .sync");
  Type type = d.needType();
  d.inst.aux[0] = mode;
  if (!d.needOperands(3) || !addPairDest(d, Type::B32, false) ||
      !d.addSource(1, type) || !d.addSource(2, Type::B32))
    return false;
  return d.finish(bitWidth(type) == 32   ? syncLanes<matchGroup<uint32_t>>
                  : bitWidth(type) == 64 ? syncLanes<matchGroup<uint64_t>>
                                         : nullptr);
}

static bool decodeRedux(InstDecoder &d) {
  if (!needSync(d))
    return false;
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = d.needType();
  if (op < 0)
    return d.fail("unknown operation of redux");
  d.inst.aux[0] = op;
  if (!d.needOperands(3) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, Type::B32))
    return false;
  bool isLogic = op >= 3;
  if (type == Type::S32 && !isLogic)
    return d.finish(syncLanes<reduxGroup<int32_t>>);
  if (type == (isLogic ? Type::B32 : Type::U32))
    return d.finish(syncLanes<reduxGroup<uint32_t>>);
  return d.finish(nullptr);
}

static bool decodeActivemask(InstDecoder &d) {
  return d.take("b32") && d.needOperands(1) && d.addDest(0, Type::B32) &&
         d.finish(activeMaskLanes);
}

static bool decodeElect(InstDecoder &d) {
  return needSync(d) && d.needOperands(2) && addPairDest(d, Type::B32, true) &&
         d.addSource(1, Type::B32) && d.finish(syncLanes<electGroup>);
}

bool tile_dialect::emulator::decodeWarpBarrier(InstDecoder &d) {
  return d.take("sync") && d.needOperands(1) && d.addSource(0, Type::B32) &&
         d.finish(syncLanes<warpBarrierGroup>);
}

void tile_dialect::emulator::registerWarpOps(OpcodeTable &table) {
  constexpr auto warp = InstructionClass::Warp;
  table.add("shfl", decodeShfl, warp);
  table.add("vote", decodeVote, warp);
  table.add("match", decodeMatch, warp);
  table.add("redux", decodeRedux, warp);
  table.add("activemask", decodeActivemask, warp);
  table.add("elect", decodeElect, warp);
}
