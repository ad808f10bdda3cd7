//===- OpsBarrier.cpp - Barriers of a block and of a cluster ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Monitor.h"
#include "llvm/Support/MathExtras.h"

using namespace tile_dialect::emulator;

namespace {

enum class BarrierOp : uint32_t { Sync, Arrive, Popc, And, Or };

/// Writes the result of `bar.red` for the lanes that waited.
void writeReduction(Warp &warp, const Inst &inst, const Barrier &barrier,
                    LaneMask mask) {
  auto op = BarrierOp(inst.aux[0]);
  if (op == BarrierOp::Popc) {
    uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
    eachLane(mask, [&](unsigned l) { d[l] = barrier.lastTrueCount; });
    return;
  }
  if (op != BarrierOp::And && op != BarrierOp::Or)
    return;
  bool value = op == BarrierOp::Or
                   ? barrier.lastTrueCount > 0
                   : barrier.lastTrueCount == barrier.lastThreadCount;
  warp.setPredicate(inst.operands[0], value ? allLanes : 0, mask);
}

bool pollBarrier(Warp &warp, Split &split) {
  const Barrier &barrier = warp.block->barriers[split.wait.data[0]];
  if (barrier.phase == split.wait.data[1])
    return false;
  writeReduction(warp, *split.wait.inst, barrier, split.mask);
  return true;
}

/// Operands: [d], barrier, count, [value].  aux[1]: a count is given; aux[3]:
/// all lanes of the warp execute it together.
Step barrierLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  if (inst.aux[3] && (warp.live & ~mask))
    return Step::Converge;
  auto op = BarrierOp(inst.aux[0]);
  const Operand *sources = inst.operands + inst.numDestinations;
  unsigned first = llvm::countr_zero(mask);
  uint32_t number = warp.source<uint32_t>(sources[0])[first];
  uint32_t count = inst.aux[1] ? warp.source<uint32_t>(sources[1])[first] : 0;
  if (number >= numBarriers)
    return warp.error(Report::Kind::InvalidOperation, inst, first,
                      "there are barriers 0 to 15, found " +
                          llvm::Twine(number));
  if (inst.aux[1] && (count == 0 || count % warpSize != 0))
    return warp.error(Report::Kind::InvalidOperation, inst, first,
                      "the number of threads at a barrier must be a positive "
                      "multiple of 32, found " +
                          llvm::Twine(count));
  uint32_t most = llvm::divideCeil(warp.block->numThreads, warpSize) * warpSize;
  if (count > most)
    return warp.error(Report::Kind::InvalidOperation, inst, first,
                      "a barrier awaits " + llvm::Twine(count) +
                          " threads in a block of " +
                          llvm::Twine(warp.block->numThreads));
  Barrier &barrier = warp.block->barriers[number];
  if (!barrier.arrivals.empty() &&
      (barrier.arrivals[warp.id].arrived & mask) != 0)
    return warp.error(Report::Kind::InvalidOperation, inst, first,
                      "the thread arrives at barrier " + llvm::Twine(number) +
                          " again before its phase is complete");
  uint64_t phase = barrier.phase;
  LaneMask value = inst.aux[2] ? warp.predicate(sources[2]) : 0;
  if (!warp.block->arrive(warp, number, mask, count, op != BarrierOp::Arrive,
                          value))
    return warp.error(
        Report::Kind::InvalidOperation, inst, first,
        "barrier " + llvm::Twine(number) + " is awaited with " +
            llvm::Twine(barrier.expected) + " threads by others, with " +
            llvm::Twine(count ? count : warp.block->numThreads) + " here");
  if (op == BarrierOp::Arrive)
    return Step::Next;
  if (barrier.phase != phase) {
    writeReduction(warp, inst, barrier, mask);
    return Step::Next;
  }
  warp.wait = Wait{pollBarrier, &inst, {number, phase}};
  return Step::Wait;
}

/// aux[0]: relaxed.
Step clusterArrive(Warp &warp, const Inst &inst, LaneMask mask) {
  Cluster &cluster = *warp.block->cluster;
  if (warp.monitor)
    warp.monitor->clusterArrive(warp, cluster.barrier.phase, inst.aux[0]);
  eachLane(mask,
           [&](unsigned l) { warp.clusterPhase[l] = cluster.barrier.phase; });
  cluster.barrier.arrived += llvm::popcount(mask);
  cluster.checkBarrier();
  warp.wrote = true;
  return Step::Next;
}

bool clusterIsComplete(Warp &warp, uint64_t arrived) {
  if (warp.block->cluster->barrier.phase == arrived)
    return false;
  if (warp.monitor)
    warp.monitor->clusterWait(warp, arrived);
  return true;
}

bool pollCluster(Warp &warp, Split &split) {
  return clusterIsComplete(warp, split.wait.data[0]);
}

Step clusterWait(Warp &warp, const Inst &inst, LaneMask mask) {
  uint64_t arrived = warp.clusterPhase[llvm::countr_zero(mask)];
  if (clusterIsComplete(warp, arrived))
    return Step::Next;
  warp.wait = Wait{pollCluster, &inst, {arrived, 0}};
  return Step::Wait;
}

} // namespace

static bool decodeClusterBarrier(InstDecoder &d) {
  int op = d.takeOneOf({"arrive", "wait"});
  d.inst.aux[0] = d.takeOneOf({"release", "relaxed", "acquire"}) == 1;
  d.take("aligned");
  if (op < 0)
    return d.fail("barrier.cluster needs .arrive or .wait");
  return d.needOperands(0) && d.finish(op == 0 ? clusterArrive : clusterWait);
}

static bool decodeBarrier(InstDecoder &d) {
  if (d.statement.opcode == "bar" && d.take("warp"))
    return decodeWarpBarrier(d);
  if (d.take("cluster"))
    return decodeClusterBarrier(d);
  d.take("cta");
  int op = d.takeOneOf({"sync", "arrive", "red"});
  // `bar` is `barrier.aligned`.
  d.inst.aux[3] = d.take("aligned") || d.statement.opcode == "bar";
  if (op < 0)
    return d.fail("expected .sync, .arrive or .red");
  unsigned next = 0;
  if (op < 2) {
    d.inst.aux[0] = op;
    if (!d.needOperands(op == 1 ? 2 : 1, 2))
      return false;
  } else {
    int reduction = d.takeOneOf({"popc", "and", "or"});
    if (reduction < 0)
      return d.fail("bar.red needs .popc, .and or .or");
    d.inst.aux[0] = unsigned(BarrierOp::Popc) + reduction;
    Type type = reduction == 0 ? Type::U32 : Type::Pred;
    if (d.needType() != type)
      return d.finish(nullptr);
    if (!d.needOperands(3, 4) || !d.addDest(0, type))
      return false;
    next = 1;
  }
  unsigned last = d.numOperands() - (op == 2 ? 1 : 0);
  bool hasCount = last - next == 2;
  d.inst.aux[1] = hasCount;
  d.inst.aux[2] = op == 2;
  if (!d.addSource(next, Type::B32))
    return false;
  if (hasCount ? !d.addSource(next + 1, Type::B32)
               : !d.addConstant(Type::B32, 0))
    return false;
  if (op == 2 && !d.addSource(last, Type::Pred))
    return false;
  return d.finish(barrierLanes);
}

void tile_dialect::emulator::registerBarrierOps(OpcodeTable &table) {
  table.add("bar", decodeBarrier, InstructionClass::Barrier);
  table.add("barrier", decodeBarrier, InstructionClass::Barrier);
}
